#include "lissom/fe/vibration.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>

#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_checks.hpp"
#include "lissom/fe/named_nodes.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "lissom/fe/rigid_motions.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/eigen_solver.hpp"

namespace lissom {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// Factorisations that the search for a shift may cost; each follows the estimate by a factor of ten or more.
constexpr int max_shifts = 6;

// A value near the lowest elastic eigenvalue of the free body, and displacement fields that reach it.
struct ElasticEstimate {
  double value = 0;
  MatrixXd fields;  // dofs by a few: M-orthonormal, the lowest of those tried; none without nodes
};

// Rayleigh-Ritz with all displacement fields that are quadratic in the coordinates. An upper bound, close for
// compact and slender bodies alike (a free beam: 720 for 500), and far too high where such a field does not
// suit the body: a spider's face cannot follow it, and thick blocks that a thin leaf joins need not bend.
ElasticEstimate quadratic_fields(const FeModel& model) {
  const int n = model.dof_count();
  if (!knows_nodes(model)) {
    // without nodes: far below the elements' own frequencies, by what meshes of usual fineness have
    VectorXd ratio(n);
    const VectorXd k = model.K.diagonal(), m = model.M.diagonal();
    for (int i = 0; i < n; ++i) ratio[i] = m[i] > 0 ? k[i] / m[i] : 0;
    std::nth_element(ratio.data(), ratio.data() + n / 2, ratio.data() + n);
    return {1e-6 * ratio[n / 2], MatrixXd(n, 0)};
  }
  const Eigen::Vector3d low = model.points.rowwise().minCoeff(), high = model.points.rowwise().maxCoeff();
  const Eigen::Vector3d centre = 0.5 * (low + high);
  const Eigen::Vector3d half = (0.5 * (high - low)).cwiseMax(1e-6 * (high - low).norm() + 1e-300);
  // ten monomials of degree 0 to 2 in each direction
  const auto monomials = [](const Eigen::Vector3d& s) {
    Eigen::Matrix<double, 10, 1> f;
    f << 1, s[0], s[1], s[2], s[0] * s[0], s[1] * s[1], s[2] * s[2], s[0] * s[1], s[1] * s[2], s[2] * s[0];
    return f;
  };
  const auto gradients = [&](const Eigen::Vector3d& s) {
    Eigen::Matrix<double, 10, 3> g;
    g << 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2 * s[0], 0, 0, 0, 2 * s[1], 0, 0, 0, 2 * s[2], s[1], s[0], 0, 0,
        s[2], s[1], s[2], 0, s[0];
    return Eigen::Matrix<double, 10, 3>(g * half.cwiseInverse().asDiagonal());
  };
  MatrixXd fields = MatrixXd::Zero(n, 30);
  for (int i = 0; i < n; ++i) {
    const Dof dof = model.dofs[i];
    if (dof.node < 0) continue;
    const Eigen::Vector3d s = (model.points.col(dof.node) - centre).cwiseQuotient(half);
    if (dof.direction < 3) {
      fields.row(i).segment(10 * dof.direction, 10) = monomials(s).transpose();
    } else {
      // a rotation is half the curl of the displacement
      const int a = (dof.direction - 3 + 1) % 3, b = (dof.direction - 3 + 2) % 3;
      const Eigen::Matrix<double, 10, 3> g = gradients(s);
      fields.row(i).segment(10 * b, 10) += 0.5 * g.col(a).transpose();
      fields.row(i).segment(10 * a, 10) -= 0.5 * g.col(b).transpose();
    }
  }
  MatrixXd KF(n, 30), MF(n, 30), k(30, 30), m(30, 30);
  multiply(model.K, fields, KF);
  multiply(model.M, fields, MF);
  gemm(true, false, 1, fields, KF, 0, k);
  gemm(true, false, 1, fields, MF, 0, m);
  // drop fields that the body cannot tell apart
  const VectorXd scale = m.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  m = scale.asDiagonal() * m * scale.asDiagonal();
  k = scale.asDiagonal() * k * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> gram(m);
  int dropped = 0;
  while (dropped < 30 && gram.eigenvalues()[dropped] < 1e-9) ++dropped;
  const MatrixXd basis = gram.eigenvectors().rightCols(30 - dropped) *
                         gram.eigenvalues().tail(30 - dropped).cwiseSqrt().cwiseInverse().asDiagonal();
  if (basis.cols() == 0 || !basis.allFinite() || !k.allFinite())
    fail(
        "{}: K and M have numbers too large or too small to compute with; are E and rho in the units of the "
        "body?",
        model.source);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> ritz(basis.transpose() * k * basis);
  // the first six are rigid; fewer fields than that is a body of a few nodes, where any positive value will
  // do
  const VectorXd& values = ritz.eigenvalues();
  const Eigen::Index index = values.size() > 6 ? 6 : values.size() - 1;
  ElasticEstimate result;
  result.value = values[index];
  const Eigen::Index few = std::min<Eigen::Index>(index + 6, values.size());
  result.fields = fields * (scale.asDiagonal() * (basis * ritz.eigenvectors().leftCols(few)));
  return result;
}

// The same after a step of inverse iteration with K - sigma M: what a field has of high modes, where it does
// not suit the body, is gone. `fields` become those of the new estimate.
double smoothed_estimate(const FeModel& model, const Cholesky& factor, const std::vector<int>& keep,
                         MatrixXd& fields) {
  const auto n = static_cast<Eigen::Index>(keep.size());
  MatrixXd MF(fields.rows(), fields.cols());
  multiply(model.M, fields, MF);
  MatrixXd answers = MF(keep, Eigen::all);
  factor.solve_in_place(answers);
  fields.setZero();
  for (Eigen::Index i = 0; i < n; ++i) fields.row(keep[i]) = answers.row(i);
  const Eigen::Index count = fields.cols();
  MatrixXd KF(fields.rows(), count), k(count, count), m(count, count);
  multiply(model.K, fields, KF);
  multiply(model.M, fields, MF);
  gemm(true, false, 1, fields, KF, 0, k);
  gemm(true, false, 1, fields, MF, 0, m);
  const VectorXd scale = m.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  m = scale.asDiagonal() * m * scale.asDiagonal();
  k = scale.asDiagonal() * k * scale.asDiagonal();
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> ritz(0.5 * (k + k.transpose()),
                                                                0.5 * (m + m.transpose()));
  if (ritz.info() != Eigen::Success || !ritz.eigenvalues().allFinite()) return -1;
  fields = (fields * (scale.asDiagonal() * ritz.eigenvectors())).eval();
  return ritz.eigenvalues()[std::min<Eigen::Index>(6, count - 1)];
}

// A shift far beyond the lowest eigenvalue hides it: the eigen-solver sees lambda - sigma only. Where the
// estimate falls when its fields are smoothed, it was wrong, and shift and factorisation follow. A value that
// falls to round-off is that of a mechanism, which is no scale: then all stays as it was. Returns the
// estimate that is left.
double follow_estimate(const FeModel& model, const SymmetricMatrix& K, const SymmetricMatrix& M,
                       const std::vector<int>& keep, const ElasticEstimate& estimate, double& shift,
                       Cholesky& factor) {
  MatrixXd fields = estimate.fields;
  const double first_shift = shift;
  double elastic = estimate.value;
  for (int round = 0; round < max_shifts && fields.cols() > 6; ++round) {
    const double smoothed = smoothed_estimate(model, factor, keep, fields);
    if (smoothed > 0.1 * elastic) break;
    const bool real = smoothed > 100 * energy_roundoff(model.K, fields.col(6))[0];
    if (!real && shift == first_shift) break;
    elastic = real ? smoothed : estimate.value;
    shift = real ? -0.1 * elastic : first_shift;
    factor.refactor(add(K, -shift, M));
    if (!real) break;
  }
  return elastic;
}

void refuse_massless(const FeModel& model, const std::vector<int>& keep) {
  const VectorXd diagonal = model.M.diagonal();
  std::vector<int> massless;
  for (int row : keep)
    if (!(diagonal[row] > 0)) massless.push_back(row);
  if (massless.empty()) return;
  fail_input(
      "{}: {} degrees of freedom have no mass, which makes infinite frequencies: {}; give every node a mass, "
      "or "
      "fix or remove these",
      model.source, massless.size(), describe_dofs(model, massless));
}

// A zero frequency that is no rigid motion: a hinge or a dangling piece. Tells which nodes move most.
void warn_of_mechanisms(const FeModel& model, const ModeSet& modes, Diagnostics& diagnostics) {
  for (int i = modes.rigid_count; i < modes.count(); ++i) {
    if (modes.eigenvalues[i] > energy_roundoff(model.K, modes.shapes.col(i))[0]) break;
    std::vector<int> rows(model.dof_count());
    std::iota(rows.begin(), rows.end(), 0);
    const auto larger = [&](int a, int b) {
      return std::abs(modes.shapes(a, i)) > std::abs(modes.shapes(b, i));
    };
    std::partial_sort(rows.begin(), rows.begin() + std::min<int>(4, model.dof_count()), rows.end(), larger);
    rows.resize(std::min<int>(4, model.dof_count()));
    diagnostics.warn(
        "modes.mechanism",
        fmt::format("mode {} costs no energy and is no rigid motion of the whole body: something hangs "
                    "loose; it moves most at {}",
                    i + 1, describe_dofs(model, rows)),
        {model.source, 0});
  }
}

// Modes between two frequencies: how many lie below either of them.
struct Slice {
  ModeCount upper;
  int lower = 0;     // modes below the slice
  double shift = 0;  // of the factorisation that is left in `factor`, where the slice has a lower end
};

Slice count_slice(const FeModel& model, const SymmetricMatrix& K, const SymmetricMatrix& M, Cholesky& factor,
                  const VibrationOptions& options) {
  // an end upon a mode moves by so much
  constexpr double width = 1e-9;
  const auto count_at = [&](double hz) {
    const double lambda = std::pow(2 * std::numbers::pi * hz, 2);
    const ModeCount count = count_below(K, M, factor, lambda, width * lambda);
    if (!count.known())
      fail(
          "{}: the modes below {:g} Hz cannot be counted, because a pivot vanishes there; take another "
          "frequency",
          model.source, hz);
    return count;
  };
  Slice slice;
  slice.upper = count_at(options.up_to_hz);
  if (options.from_hz > 0) {
    const ModeCount lower = count_at(options.from_hz);
    slice.lower = lower.counted;
    slice.shift = lower.below;
    slice.upper.seconds += lower.seconds;
  }
  if (slice.upper.counted <= slice.lower)
    fail_input("{}: no mode lies between {:g} and {:g} Hz; {} below", model.source, options.from_hz,
               options.up_to_hz, slice.lower == 1 ? "1 lies" : fmt::format("{} lie", slice.lower));
  return slice;
}

// All pairs of a slice. As many are asked for as were counted: one beyond the upper end has taken the place
// of one that was missed.
CountedPairs lowest_in_slice(EigenSolver&& solver, const Slice& slice, const ProgressHook& progress) {
  constexpr int most_rounds = 4;
  // values are upper bounds, by the square of a residual of 1e-9 and round-off
  constexpr double slack = 1e-8;
  CountedPairs result;
  const int count = slice.upper.counted - slice.lower;
  for (int round = 0;; ++round) {
    result.pairs = solver.lowest(count, progress);
    result.count = slice.upper;
    const auto inside =
        static_cast<int>((result.pairs.values.array() <= slice.upper.below * (1 + slack)).count());
    result.count.found = slice.lower + inside;
    if (result.count.missing() <= 0) return result;
    if (round == most_rounds)
      fail(
          "{} modes lie below {:.6g} Hz by Sylvester's law of inertia, but the eigen-solver found {} of them",
          slice.upper.counted, hertz(slice.upper.below), result.count.found);
    result.lost += result.count.missing();
    solver.expect_lost(result.count.missing());
  }
}

}  // namespace

std::vector<int> ordering_groups(const FeModel& model, const std::vector<int>& keep) {
  std::vector<int> group(keep.size());
  const int nodes = static_cast<int>(std::max<Eigen::Index>(model.points.cols(), model.node_ids.size()));
  for (size_t k = 0; k < keep.size(); ++k) {
    const int node = model.dofs.empty() ? -1 : model.dofs[keep[k]].node;
    group[k] = node >= 0 ? node : nodes + keep[k];
  }
  return group;
}

std::vector<int> fixed_rows(const FeModel& model, const std::vector<std::string>& fix) {
  std::vector<int> nodes;
  for (const std::string& what : fix) {
    const std::vector<int> named = named_nodes(model, what, "to fix");
    nodes.insert(nodes.end(), named.begin(), named.end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::vector<int> rows;
  for (const NodeRows& of_node : rows_of_nodes(model, nodes, "to fix"))
    std::copy_if(of_node.begin(), of_node.end(), std::back_inserter(rows), [](int row) { return row >= 0; });
  std::sort(rows.begin(), rows.end());
  return rows;
}

MatrixXd node_displacements(const FeModel& model, const Eigen::Ref<const MatrixXd>& q) {
  if (model.recovery.size() > 0) return model.recovery * q;
  if (!model.dofs.empty() && model.has_points()) {
    MatrixXd u = MatrixXd::Zero(3 * model.points.cols(), q.cols());
    for (int i = 0; i < model.dof_count(); ++i)
      if (model.dofs[i].node >= 0 && model.dofs[i].direction < 3)
        u.row(3 * model.dofs[i].node + model.dofs[i].direction) = q.row(i);
    return u;
  }
  return q;
}

Vibration compute_modes(const FeModel& model, const VibrationOptions& options, Diagnostics& diagnostics,
                        const ProgressHook& progress) {
  Vibration result;
  ModeSet& modes = result.modes;
  const auto tell = [&](const char* phase, double fraction) {
    if (progress) progress(phase, fraction);
  };
  if (options.shift > 0) fail_input("the shift is {}, expected a negative number (rad2/s2)", options.shift);

  // rows held and rows kept
  const std::vector<int> fixed = fixed_rows(model, options.fix);
  std::vector<int> keep;
  for (int i = 0, f = 0; i < model.dof_count(); ++i) {
    if (f < static_cast<int>(fixed.size()) && fixed[f] == i)
      ++f;
    else
      keep.push_back(i);
  }
  const int n = static_cast<int>(keep.size());
  const bool slice = options.up_to_hz > 0;
  if (!slice && options.count < 1) fail_input("the number of modes is {}, expected 1 or more", options.count);
  if (!(options.from_hz >= 0) || (options.from_hz > 0 && !(options.from_hz < options.up_to_hz)))
    fail_input("from_hz is {:g}, expected 0 or more and less than up_to_hz, which is {:g}", options.from_hz,
               options.up_to_hz);
  if (!slice && options.count > n)
    fail_input("{}: {} modes were asked for, but the body has only {} free degrees of freedom", model.source,
               options.count, n);
  refuse_massless(model, keep);
  const ConnectedParts parts = connected_parts(model.K);
  result.parts = parts.count;
  refuse_parts(model, parts, options.allow_parts, "--allow-parts", "modes.parts", diagnostics);

  // shift and factorisation
  tell("ordering", -1);
  Timer shift_timer;
  const ElasticEstimate estimate = quadratic_fields(model);
  double elastic = estimate.value;
  if (!(elastic > 0) || !std::isfinite(elastic))
    fail("{}: no elastic energy was found in the body (estimate of the lowest eigenvalue: {}); is K zero?",
         model.source, elastic);
  double shift = options.shift < 0 ? options.shift : -0.1 * elastic;
  result.seconds.add("shift", shift_timer.seconds());
  Timer factor_timer;
  const bool all = fixed.empty();
  const SymmetricMatrix Kf = all ? SymmetricMatrix{} : submatrix(model.K, keep);
  const SymmetricMatrix Mf = all ? SymmetricMatrix{} : submatrix(model.M, keep);
  const SymmetricMatrix &K = all ? model.K : Kf, &M = all ? model.M : Mf;
  std::unique_ptr<Cholesky> factor;
  try {
    std::function<void(double)> told;
    if (progress) told = [&](double fraction) { progress("factorisation", fraction); };
    factor = std::make_unique<Cholesky>(add(K, -shift, M), ordering_groups(model, keep), told);
    if (options.shift == 0) elastic = follow_estimate(model, K, M, keep, estimate, shift, *factor);
  } catch (const NotPositiveDefinite& e) {
    std::vector<int> rows;
    for (int row : e.rows) rows.push_back(keep[row]);
    throw NotPositiveDefinite(
        fmt::format("{}: K - sigma M with sigma = {:.3g} is not positive definite; the trouble is at {}. "
                    "Either K or M "
                    "has a negative eigenvalue (wrong entries?), or something there hangs loose",
                    model.source, shift, describe_dofs(model, rows)),
        rows);
  }
  result.factor = factor->stats();
  result.seconds.add("factorisation", factor_timer.seconds());

  // modes
  Timer eigen_timer;
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  if (knows_nodes(model)) centre = rigid_mass(model)->centre.value_or(model.points.rowwise().mean());
  MatrixXd rigid = rigid_motions(model, K, M, centre, keep, fixed, parts, 1e-5 * elastic);
  EigenSolverOptions solver_options;
  solver_options.tolerance = options.tolerance;
  solver_options.block = options.block;
  solver_options.look_for_lost = options.look_for_lost;
  const auto roundoff_of = [&](const VectorXd& x) { return energy_roundoff(K, x)[0]; };
  if (options.forces.cols() > 0) {
    LISSOM_ASSERT(options.forces.rows() == model.dof_count());
    const MatrixXd forces = options.forces(keep, Eigen::all);
    MatrixXd answers = forces, MX(n, forces.cols());
    factor->solve_in_place(answers);
    // z <- (K - sigma M)^-1 (f - sigma M z) goes to K^-1 f in every flexible mode
    for (int term = 1; term < answer_terms; ++term) {
      multiply(M, answers, MX);
      answers = forces - shift * MX;
      factor->solve_in_place(answers);
    }
    result.answers = MatrixXd::Zero(model.dof_count(), answers.cols());
    for (int k = 0; k < n; ++k) result.answers.row(keep[k]) = answers.row(k);
  }
  int count = options.count;
  CountedPairs counted;
  if (slice) {
    const Slice between = count_slice(model, K, M, *factor, options);
    count = between.upper.counted - between.lower;
    result.below = between.lower;
    if (between.shift > 0) {
      shift = between.shift;
      rigid.resize(n, 0);
    } else {
      factor->refactor(add(K, -shift, M));
    }
    counted = lowest_in_slice(EigenSolver(K, M, *factor, shift, rigid, solver_options), between, progress);
  } else {
    EigenSolver solver(K, M, *factor, shift, rigid, solver_options);
    if (options.count_modes)
      counted = lowest_counted(solver, K, M, *factor, shift, count, roundoff_of, progress);
    else
      counted.pairs = solver.lowest(count, progress);
  }
  EigenPairs& pairs = counted.pairs;
  result.counted = counted.count;
  if (counted.lost > 0)
    diagnostics.warn("modes.counted",
                     fmt::format("the eigen-solver had missed {}, which the count of the modes below "
                                 "{:.6g} Hz told; they were found then",
                                 plural(counted.lost, "mode"), hertz(counted.count.below)),
                     {model.source, 0});
  if (options.count_modes && counted.count.found >= 0 && !counted.count.confirmed())
    diagnostics.warn(
        "modes.count",
        fmt::format("the count of the modes below {:.6g} Hz is no confirmation ({}): round-off "
                    "of the factorisation, whose pivots grew by {:.1e}, stands in the way",
                    hertz(counted.count.below),
                    counted.count.known()
                        ? fmt::format("{} were counted, {} found", counted.count.counted, counted.count.found)
                        : std::string("none was possible"),
                    counted.count.growth),
        {model.source, 0});
  if (counted.count.known()) result.seconds.add("count", counted.count.seconds);
  if (pairs.recovered > 0)
    diagnostics.warn(
        "modes.recovered",
        fmt::format("{} copies of multiple eigenvalues were found by the check for lost ones only",
                    pairs.recovered),
        {model.source, 0});
  result.solves = pairs.solves, result.restarts = pairs.restarts, result.recovered = pairs.recovered;
  result.orthogonality = pairs.orthogonality;
  result.seconds.add("eigenvalues", eigen_timer.seconds() - counted.count.seconds);

  // the solver may return any combination of the rigid motions: take the pure ones, and sort the round-off of
  // their zeros
  const int rigid_count = std::min<int>(static_cast<int>(rigid.cols()), count);
  if (rigid_count == rigid.cols()) {
    pairs.vectors.leftCols(rigid_count) = rigid;
    for (int i = 0; i < rigid_count; ++i) pairs.values[i] = rigid.col(i).dot(K.full() * rigid.col(i));
    std::sort(pairs.values.data(), pairs.values.data() + rigid_count);
  }

  // over all degrees of freedom again
  modes.eigenvalues = std::move(pairs.values);
  modes.frequencies_hz = modes.eigenvalues.cwiseMax(0).cwiseSqrt() / (2 * std::numbers::pi);
  modes.residuals = std::move(pairs.residuals);
  modes.rigid_count = rigid_count;
  modes.fixed_sets = options.fix;
  modes.shift = shift;
  if (all) {
    modes.shapes = std::move(pairs.vectors);
  } else {
    modes.shapes = MatrixXd::Zero(model.dof_count(), count);
    for (int k = 0; k < n; ++k) modes.shapes.row(keep[k]) = pairs.vectors.row(k);
  }
  // effective masses: how much of each rigid motion about the centre of mass a mode carries
  if (knows_nodes(model)) {
    const MatrixXd R = rigid_body_modes(model.points, model.dofs, centre);
    MatrixXd MR(R.rows(), 6);
    multiply(model.M, R, MR);
    modes.effective_mass = (modes.shapes.transpose() * MR).cwiseAbs2();
  }
  warn_of_mechanisms(model, modes, diagnostics);
  return result;
}

}  // namespace lissom
