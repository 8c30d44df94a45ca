#include "lissom/rom/pod/pod.hpp"

#include <Eigen/SparseCholesky>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/tall_svd.hpp"
#include "lissom/rom/pod/grassmann.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// where the logarithm is still computed and its direction already noise
constexpr double right_angle_margin = 1e-3;

// To coordinates in which the weight is the identity, y = L' x with M = L L', and back; does nothing without
// weight. Beams are numbered along themselves: the natural order fills nothing in.
class Weight {
 public:
  Weight(bool weighted, const SymmetricMatrix& mass, Index rows) {
    if (!weighted) return;
    if (mass.size() != rows)
      fail_input("the mass matrix has {} rows where the snapshots have {} nodal coordinates", mass.size(),
                 rows);
    const Eigen::SimplicialLLT<SparseMatrix, Eigen::Lower, Eigen::NaturalOrdering<int>> factors(mass.lower);
    if (factors.info() != Eigen::Success)
      fail_input("the mass matrix that the snapshots are to be weighted with is not positive definite");
    L_ = factors.matrixL();
    weighted_ = true;
  }
  MatrixXd forth(const MatrixXd& X) const { return weighted_ ? MatrixXd(L_.transpose() * X) : X; }
  MatrixXd back(const MatrixXd& Y) const {
    if (!weighted_) return Y;
    return L_.triangularView<Eigen::Lower>().transpose().solve(Y);
  }

 private:
  bool weighted_ = false;
  SparseMatrix L_;
};

// Blocks of columns into one decomposition; directions below 1e-14 of the largest column are round-off.
TallSvd svd_of(MatrixXd X) {
  constexpr Index block = 64;
  TallSvdBuilder builder(X.rows());
  for (Index first = 0; first < X.cols(); first += block)
    builder.add(X.middleCols(first, std::min(block, X.cols() - first)));
  return builder.finish();
}

Index rank_of(const VectorXd& sigma, Index size) {
  const double smallest = std::numeric_limits<double>::epsilon() * static_cast<double>(size);
  Index rank = 0;
  while (rank < sigma.size() && sigma[rank] > smallest * sigma[0]) ++rank;
  return rank;
}

// Parameters of all samples, p by k, and the width of each parameter's range, one where it has none.
MatrixXd sample_points(const PodLibrary& library, VectorXd& width) {
  const Index p = static_cast<Index>(library.parameters.size());
  MatrixXd points(p, static_cast<Index>(library.samples.size()));
  for (Index i = 0; i < points.cols(); ++i)
    points.col(i) = library.samples[static_cast<size_t>(i)].parameters;
  width.resize(p);
  for (Index d = 0; d < p; ++d) {
    width[d] = points.row(d).maxCoeff() - points.row(d).minCoeff();
    if (!(width[d] > 0)) width[d] = 1;
  }
  return points;
}

int nearest_sample(const MatrixXd& points, const VectorXd& width, const VectorXd& p) {
  Index nearest = 0;
  if (p.size() == 0) return 0;
  const MatrixXd scaled = width.cwiseInverse().asDiagonal() * (points.colwise() - p);
  scaled.colwise().squaredNorm().minCoeff(&nearest);
  return static_cast<int>(nearest);
}

void check_parameters(const PodLibrary& library, const VectorXd& p) {
  if (p.size() != static_cast<Index>(library.parameters.size()))
    fail_input("the reduced model has {} parameters, and {} are given", library.parameters.size(), p.size());
  if (!p.allFinite()) fail_input("a parameter of the reduced model is not a finite number");
}

// The samples' bases side by side, weighted by their singular values: that of all snapshots together, as far
// as the samples were kept.
MatrixXd global_basis(const PodLibrary& library, int r, const Weight& weight) {
  Index columns = 0;
  for (const PodSample& sample : library.samples) columns += sample.basis.cols();
  MatrixXd all(library.nodal_coordinates(), columns);
  columns = 0;
  for (const PodSample& sample : library.samples) {
    const Index R = sample.basis.cols();
    all.middleCols(columns, R) = weight.forth(sample.basis) * sample.singular_values.head(R).asDiagonal();
    columns += R;
  }
  const TallSvd svd = svd_of(std::move(all));
  if (svd.W.cols() < r)
    fail_input("{} modes are asked for, and all samples together have {} independent ones", r, svd.W.cols());
  return weight.back(svd.W.leftCols(r));
}

}  // namespace

const std::vector<std::pair<std::string, PodOffset>>& pod_offset_names() {
  static const std::vector<std::pair<std::string, PodOffset>> names = {
      {"initial", PodOffset::Initial}, {"mean", PodOffset::Mean}, {"none", PodOffset::None}};
  return names;
}

const std::vector<std::pair<std::string, PodRule>>& pod_rule_names() {
  static const std::vector<std::pair<std::string, PodRule>> names = {
      {"singular-values", PodRule::SingularValues}, {"energy", PodRule::Energy}};
  return names;
}

const std::vector<std::pair<std::string, PodCombination>>& pod_combination_names() {
  static const std::vector<std::pair<std::string, PodCombination>> names = {
      {"grassmann", PodCombination::Grassmann},
      {"global", PodCombination::Global},
      {"nearest", PodCombination::Nearest}};
  return names;
}

int truncation_order(const VectorXd& singular_values, PodRule rule, double fraction) {
  LISSOM_ASSERT(fraction > 0 && fraction <= 1);
  const VectorXd terms = rule == PodRule::Energy ? VectorXd(singular_values.cwiseAbs2()) : singular_values;
  double total = 0, sum = 0;
  for (const double term : terms) total += term;
  int r = 0;
  while (r < terms.size() && sum < fraction * total) sum += terms[r++];
  return r;
}

PodSample make_pod_sample(const VectorXd& parameters, const MatrixXd& E, const PodOptions& options,
                          const SymmetricMatrix& mass, const VectorXd& placed) {
  const Index N = E.rows(), k = E.cols();
  if (k < 2) fail_input("a basis needs at least two snapshots of a motion, and there is {}", k);
  if (!E.allFinite()) {
    Index column = 0;
    while (E.col(column).allFinite()) ++column;
    fail_input("snapshot {} of {} has numbers that are not finite: the training run went wrong there",
               column + 1, k);
  }
  PodSample sample;
  sample.parameters = parameters;
  sample.samples = static_cast<int>(k);
  switch (options.offset) {
    case PodOffset::Initial:
      sample.offset = placed.size() > 0 ? placed : VectorXd(E.col(0));
      break;
    case PodOffset::Mean:
      sample.offset = E.rowwise().mean();
      break;
    case PodOffset::None:
      sample.offset = VectorXd::Zero(N);
      break;
  }
  const Weight weight(options.mass_weighted, mass, N);
  const TallSvd svd = svd_of(weight.forth(E.colwise() - sample.offset));
  if (svd.sigma.size() == 0 || !(svd.sigma[0] > 0))
    fail_input("the snapshots of a motion do not move: there is nothing to make a basis of");
  sample.singular_values = svd.sigma;
  const Index R = std::min<Index>(options.max_rank, rank_of(svd.sigma, std::max(N, k)));
  sample.basis = weight.back(svd.W.leftCols(R));

  // evenly, with the first and the last
  const Index kept = std::min<Index>(std::max(options.keep, 2), k);
  sample.snapshots.resize(N, kept);
  for (Index i = 0; i < kept; ++i) sample.snapshots.col(i) = E.col(i * (k - 1) / (kept - 1));
  return sample;
}

int PodLibrary::rank() const {
  Index rank = std::numeric_limits<int>::max();
  for (const PodSample& sample : samples) rank = std::min(rank, sample.basis.cols());
  return samples.empty() ? 0 : static_cast<int>(rank);
}

std::string inconsistency_of(const PodLibrary& library) {
  if (library.samples.empty()) return "it has no samples";
  const Index N = library.nodal_coordinates();
  const size_t p = library.parameters.size();
  for (size_t i = 0; i < library.samples.size(); ++i) {
    const PodSample& sample = library.samples[i];
    if (sample.parameters.size() != static_cast<Index>(p))
      return fmt::format("sample {} has {} parameters where the library has {}", i + 1,
                         sample.parameters.size(), p);
    if (sample.basis.rows() != N || sample.offset.size() != N)
      return fmt::format(
          "samples of different dimensions: sample {} has {} nodal coordinates and sample 1 has {}; all "
          "training runs need the same beams with the same elements",
          i + 1, sample.basis.rows(), N);
    if (sample.basis.cols() == 0) return fmt::format("sample {} has no modes", i + 1);
    if (sample.basis.cols() > N || sample.singular_values.size() < sample.basis.cols())
      return fmt::format("sample {} has {} modes, {} singular values and {} nodal coordinates", i + 1,
                         sample.basis.cols(), sample.singular_values.size(), N);
    if (sample.snapshots.size() > 0 && sample.snapshots.rows() != N)
      return fmt::format("the snapshots of sample {} have {} nodal coordinates where its modes have {}",
                         i + 1, sample.snapshots.rows(), N);
    if (!sample.parameters.allFinite() || !sample.basis.allFinite() || !sample.offset.allFinite() ||
        !sample.singular_values.allFinite() || !sample.snapshots.allFinite())
      return fmt::format("sample {} has numbers that are not finite", i + 1);
    if (sample.singular_values.minCoeff() < 0)
      return fmt::format("sample {} has a negative singular value", i + 1);
    for (size_t j = 0; j < i; ++j)
      if (library.samples[j].parameters == sample.parameters)
        return fmt::format("samples {} and {} have the same parameters", j + 1, i + 1);
  }
  if (library.reference >= static_cast<int>(library.samples.size()))
    return fmt::format("the reference is sample {} of {}", library.reference + 1, library.samples.size());
  return {};
}

int proposed_order(const PodLibrary& library, PodRule rule, double fraction) {
  int r = 0;
  for (const PodSample& sample : library.samples)
    r = std::max(r, truncation_order(sample.singular_values, rule, fraction));
  return r;
}

PodBasis pod_basis(const PodLibrary& library, PodCombination combination, const VectorXd& p, int r,
                   const SymmetricMatrix& mass, Diagnostics& diagnostics) {
  const std::string wrong = inconsistency_of(library);
  if (!wrong.empty()) fail_input("the library of bases does not fit together: {}", wrong);
  check_parameters(library, p);
  if (r < 1) fail_input("a basis needs one mode or more, and {} are asked for", r);
  for (size_t i = 0; i < library.samples.size(); ++i) {
    const PodSample& sample = library.samples[i];
    if (r > sample.basis.cols())
      fail_input(
          "{} modes are asked for, and sample {} has {} of them, from {} snapshots; ask for at most {}, or "
          "train with more snapshots or a larger limit of modes",
          r, i + 1, sample.basis.cols(), sample.samples, library.rank());
  }

  PodBasis out;
  out.used = combination;
  VectorXd width;
  const MatrixXd points = sample_points(library, width);
  out.nearest = nearest_sample(points, width, p);
  if (combination == PodCombination::Nearest || library.samples.size() == 1) {
    out.Psi = library.samples[static_cast<size_t>(out.nearest)].basis.leftCols(r);
    return out;
  }

  const Weight weight(library.options.mass_weighted, mass, library.nodal_coordinates());
  if (combination == PodCombination::Grassmann) {
    const int reference =
        library.reference >= 0 ? library.reference : nearest_sample(points, width, points.rowwise().mean());
    const MatrixXd U0 = weight.forth(library.samples[static_cast<size_t>(reference)].basis.leftCols(r));
    std::vector<MatrixXd> bases;
    int widest = reference;
    for (size_t i = 0; i < library.samples.size(); ++i) {
      bases.push_back(weight.forth(library.samples[i].basis.leftCols(r)));
      const double angle = static_cast<int>(i) == reference ? 0 : principal_angles(U0, bases[i])[r - 1];
      if (angle > out.largest_angle) {
        out.largest_angle = angle;
        widest = static_cast<int>(i);
      }
    }
    if (out.largest_angle < std::numbers::pi / 2 - right_angle_margin) {
      out.weights = lagrange_weights(points, p);
      MatrixXd tangent = MatrixXd::Zero(U0.rows(), r);
      for (size_t i = 0; i < bases.size(); ++i)
        if (static_cast<int>(i) != reference)
          tangent += out.weights[static_cast<Index>(i)] * grassmann_log(U0, bases[i]);
      out.Psi = weight.back(grassmann_exp(U0, tangent));
      return out;
    }
    out.used = PodCombination::Global;
    out.fallback = fmt::format(
        "with {} modes the bases of samples {} and {} stand at a right angle ({:.3f} degrees), where "
        "Grassmann "
        "interpolation is not defined",
        r, reference + 1, widest + 1, out.largest_angle * 180 / std::numbers::pi);
    diagnostics.warn("pod.right-angle", out.fallback + "; one basis of all samples is used instead");
  }
  out.Psi = global_basis(library, r, weight);
  return out;
}

VectorXd pod_offset(const PodLibrary& library, const VectorXd& p, const VectorXd& E_initial) {
  check_parameters(library, p);
  const Index N = library.nodal_coordinates();
  switch (library.options.offset) {
    case PodOffset::Initial:
      if (E_initial.size() != N)
        fail_input("the model has {} nodal coordinates where the library of bases has {}", E_initial.size(),
                   N);
      return E_initial;
    case PodOffset::Mean: {
      VectorXd width;
      const VectorXd weights = lagrange_weights(sample_points(library, width), p);
      VectorXd offset = VectorXd::Zero(N);
      for (size_t i = 0; i < library.samples.size(); ++i)
        offset += weights[static_cast<Index>(i)] * library.samples[i].offset;
      return offset;
    }
    case PodOffset::None:
      break;
  }
  return VectorXd::Zero(N);
}

double outside_range(const PodLibrary& library, const VectorXd& p, int* which) {
  check_parameters(library, p);
  double worst = 0;
  if (which) *which = -1;
  for (Index d = 0; d < p.size(); ++d) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const PodSample& sample : library.samples) {
      low = std::min(low, sample.parameters[d]);
      high = std::max(high, sample.parameters[d]);
    }
    const double excess = std::max(low - p[d], p[d] - high);
    if (!(excess > 0)) continue;
    const double outside = high > low ? excess / (high - low) : std::numeric_limits<double>::infinity();
    if (outside > worst) {
      worst = outside;
      if (which) *which = static_cast<int>(d);
    }
  }
  return worst;
}

}  // namespace lissom
