// Energy-conserving sampling and weighting (Farhat and others 2014): the energy as a sum over few quadrature
// points with weights of their own,
//   U = 1/2 x' K_b x + sum_g omega_g c_g u(P_g x),
// so that force and tangent are exact derivatives of an energy, whatever the weights. The weights make the
// projected forces of the sum those of all points at the training states, elastic and damping forces alike.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/tile_products.hpp"
#include "lissom/mbs/ancf_kernel.hpp"
#include "lissom/rom/pod/nnls.hpp"
#include "lissom/rom/pod/pod_points.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
namespace kernel = ancf_kernel;

// Quadrature points of one kind, with what they are weighted by.
struct Points {
  bool axial = true;
  Index m = 0;         // rows of a point: D of axial, 2 D (r' and r'') of bending
  MatrixXd P;          // m points by r + 1
  VectorXd stiffness;  // points: EA or EI times l w times omega
  VectorXd beta;       // damping times the same
  Index size() const { return stiffness.size(); }
};

// Points first, first + stride, .. of the whole mechanism.
Points gather(const PodElements& model, const MatrixXd& Z, bool axial, Index first_element, Index elements) {
  const std::span<const GaussPoint> rule = axial ? ancf_axial_points() : ancf_bending_points(model.law);
  const PodPoints points =
      pod_points(model, Z, rule, static_cast<int>(first_element), static_cast<int>(elements), !axial);
  const Index D = model.dimension, count = points.weight.size();
  Points out;
  out.axial = axial;
  out.m = axial ? D : 2 * D;
  out.stiffness.resize(count);
  out.beta.resize(count);
  if (axial) {
    out.P = points.slope;
  } else {
    out.P.resize(2 * D * count, Z.cols());
    for (Index g = 0; g < count; ++g) {
      out.P.middleRows(2 * D * g, D) = points.slope.middleRows(D * g, D);
      out.P.middleRows(2 * D * g + D, D) = points.curvature.middleRows(D * g, D);
    }
  }
  for (Index g = 0; g < count; ++g) {
    const AncfProperties& p = model.elements[static_cast<size_t>(points.element[g])].properties;
    out.stiffness[g] = (axial ? p.EA : p.EI) * points.weight[g];
    out.beta[g] = p.damping * out.stiffness[g];
  }
  return out;
}

// dU/d(r', r'') of one point, and its derivative (m by m; may be null).
template <int D>
void point_force(const AncfLaw& law, bool axial, double c, const double* p, double* t, double* H) {
  if (axial && law.axial == AxialStrain::Green) {
    double square = 0;
    for (int d = 0; d < D; ++d) square += p[d] * p[d];
    const double tension = 0.5 * c * (square - 1);
    for (int d = 0; d < D; ++d) t[d] = tension * p[d];
    if (!H) return;
    for (int e = 0; e < D; ++e)
      for (int d = 0; d < D; ++d) H[e * D + d] = c * p[d] * p[e] + (d == e ? tension : 0);
    return;
  }
  Eigen::Matrix<double, 2 * D, 1> x = Eigen::Matrix<double, 2 * D, 1>::Zero(), gradient;
  Eigen::Matrix<double, 2 * D, 2 * D> hessian;
  const int m = axial ? D : 2 * D;
  std::copy(p, p + m, x.data());
  ancf_density<D>(law, axial, c, x, gradient, H ? &hessian : nullptr);
  std::copy(gradient.data(), gradient.data() + m, t);
  if (H) Eigen::Map<MatrixXd>(H, m, m) = hessian.topLeftCorner(m, m);
}

// t += damping force of one point, c = beta times its stiffness; H += cq d/dp + cv d/drate of it (may be
// null). Returns the power.
template <int D>
double add_point_damping(const AncfLaw& law, bool axial, double c, const double* p, const double* rate,
                         double cq, double cv, double* t, double* H) {
  double s[D], vs[D], by_s[D];
  std::copy(p, p + D, s);
  std::copy(rate, rate + D, vs);
  double power = 0;
  if (axial) {
    double A[D][D];
    power = law.axial == AxialStrain::Green
                ? kernel::axial_damping<AxialStrain::Green, true, double, D>(s, vs, cq, cv, by_s, A)
                : kernel::axial_damping<AxialStrain::Engineering, true, double, D>(s, vs, cq, cv, by_s, A);
    for (int i = 0; i < D; ++i) t[i] += c * by_s[i];
    if (H)
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) H[j * D + i] += c * A[i][j];
  } else {
    double k[D], vk[D], by_k[D], A[2 * D][2 * D];
    std::copy(p + D, p + 2 * D, k);
    std::copy(rate + D, rate + 2 * D, vk);
    power = kernel::curvature_damping<true, double, D>(s, k, vs, vk, cq, cv, by_s, by_k, A);
    for (int i = 0; i < D; ++i) {
      t[i] += c * by_s[i];
      t[D + i] += c * by_k[i];
    }
    if (H)
      for (int i = 0; i < 2 * D; ++i)
        for (int j = 0; j < 2 * D; ++j) H[j * 2 * D + i] += c * A[i][j];
  }
  return c * power;
}

// States that weights are trained with: x = (1, xi), and directions of the motion there, (0, v), where beams
// are damped.
struct States {
  MatrixXd x, rate;  // r + 1 by k; rate is empty without damping
};

// Elastic (or damping) forces of points, T (m points by k), at states where they are at p and move by rate.
template <int D>
void point_forces(const AncfLaw& law, const Points& points, bool damping, const MatrixXd& p,
                  const MatrixXd& rate, MatrixXd& T) {
  T.setZero(p.rows(), p.cols());
  for (Index s = 0; s < p.cols(); ++s)
    for (Index g = 0; g < points.size(); ++g) {
      const Index row = points.m * g;
      if (damping)
        add_point_damping<D>(law, points.axial, points.beta[g], &p(row, s), &rate(row, s), 0, 0, &T(row, s),
                             nullptr);
      else
        point_force<D>(law, points.axial, points.stiffness[g], &p(row, s), &T(row, s), nullptr);
    }
}

// Projected forces of points, r by k: column s is that of state s.
template <int D>
MatrixXd projected_forces(const AncfLaw& law, const Points& points, bool damping, const States& states) {
  MatrixXd T;
  const MatrixXd p = product(points.P, states.x);
  point_forces<D>(law, points, damping, p, damping ? product(points.P, states.rate) : MatrixXd(), T);
  return transposed_product(points.P, T).bottomRows(points.P.cols() - 1);
}

// The same of all points of the mechanism.
template <int D>
MatrixXd all_forces(const PodElements& model, const MatrixXd& Z, bool axial, bool damping,
                    const States& states) {
  constexpr Index at_a_time = 128;
  const Index count = static_cast<Index>(model.elements.size());
  MatrixXd forces = MatrixXd::Zero(model.order(), states.x.cols());
  for (Index first = 0; first < count; first += at_a_time)
    forces += projected_forces<D>(
        model.law, gather(model, Z, axial, first, std::min(at_a_time, count - first)), damping, states);
  return forces;
}

// What the weights are to reproduce: forces of one kind at all states.
struct Target {
  bool damping = false;
  MatrixXd forces;    // r by k
  VectorXd scale;     // k
  double error = 0;   // over all states, relative
  VectorXd by_state;  // its squares, state by state

  // States count alike, but those whose force is next to nothing against the others'. False where there is no
  // force at all.
  bool weigh() {
    scale = forces.colwise().norm();
    const double typical = scale.norm() / std::sqrt(static_cast<double>(scale.size()));
    if (!(typical > 0)) return false;
    scale = scale.cwiseMax(0.01 * typical).cwiseInverse();
    return true;
  }
  void judge(const MatrixXd& found) {
    by_state = ((found - forces) * scale.asDiagonal()).colwise().squaredNorm();
    error = std::sqrt(by_state.sum()) / (forces * scale.asDiagonal()).norm();
  }
};

// The points with these weights that are not zero.
Points weighted(const Points& points, const NnlsResult& fit) {
  Points chosen = points;
  const Index count = static_cast<Index>(fit.active.size());
  chosen.P.resize(points.m * count, points.P.cols());
  chosen.stiffness.resize(count);
  chosen.beta.resize(count);
  for (Index i = 0; i < count; ++i) {
    const Index g = fit.active[static_cast<size_t>(i)];
    chosen.P.middleRows(points.m * i, points.m) = points.P.middleRows(points.m * g, points.m);
    chosen.stiffness[i] = fit.weights[g] * points.stiffness[g];
    chosen.beta[i] = fit.weights[g] * points.beta[g];
  }
  return chosen;
}

// The points that NNLS chooses, their weights multiplied in. It sees some of the states; all of them judge,
// and those that it did worst are added until they are content.
template <int D>
Points choose(const PodElements& model, const MatrixXd& Z, bool axial, const States& states, double tolerance,
              double most_entries, EcswTraining& training) {
  constexpr Index most_candidates = 4000;
  constexpr int most_rounds = 5;
  const Index r = model.order(), k = states.x.cols();
  std::vector<Target> targets;
  for (const bool damping : {false, true}) {
    if (damping && states.rate.size() == 0) continue;
    Target target;
    target.damping = damping;
    target.forces = all_forces<D>(model, Z, axial, damping, states);
    if (target.weigh()) targets.push_back(std::move(target));
  }
  if (targets.empty()) return gather(model, Z, axial, 0, 0);
  const auto kinds = static_cast<Index>(targets.size());

  // elements as candidates, evenly where there are very many; so are states
  const Index per_element =
      static_cast<Index>((axial ? ancf_axial_points() : ancf_bending_points(model.law)).size());
  const Index elements = static_cast<Index>(model.elements.size());
  const Index step = (elements * per_element + most_candidates - 1) / most_candidates;
  PodElements some = model;
  some.elements.clear();
  for (Index e = step / 2; e < elements; e += step)
    some.elements.push_back(model.elements[static_cast<size_t>(e)]);
  const Points points = gather(some, Z, axial, 0, static_cast<Index>(some.elements.size()));
  const Index G = points.size();
  const MatrixXd p = product(points.P, states.x);
  const MatrixXd p_rate = states.rate.size() > 0 ? product(points.P, states.rate) : MatrixXd();
  const Index at_first =
      std::min(k, std::max<Index>(20, static_cast<Index>(most_entries / static_cast<double>(G * r * kinds))));
  std::vector<Index> used;
  for (Index i = 0; i < at_first; ++i) used.push_back(at_first > 1 ? i * (k - 1) / (at_first - 1) : 0);
  double total = 0;
  for (const AncfElementPlace& place : model.elements)
    total += place.properties.length * (axial ? place.properties.EA : place.properties.EI);

  double goal = tolerance;
  for (int round = 1;; ++round, goal *= 0.5) {
    const Index rows = r * kinds * static_cast<Index>(used.size());
    MatrixXd A(rows + 1, G);
    VectorXd b(rows + 1);
    Index row = 0;
    for (const Target& target : targets)
      for (const Index s : used) {
        b.segment(row, r) = target.scale[s] * target.forces.col(s);
        MatrixXd t;
        point_forces<D>(model.law, points, target.damping, p.col(s),
                        target.damping ? MatrixXd(p_rate.col(s)) : MatrixXd(), t);
        for (Index g = 0; g < G; ++g)
          A.col(g).segment(row, r).noalias() =
              target.scale[s] * points.P.block(points.m * g, 1, points.m, r)
                                    .transpose()
                                    .lazyProduct(t.col(0).segment(points.m * g, points.m));
        row += r;
      }
    // one more row: the weights together are those of all points, to a hundred times the tolerance
    const double size = 0.01 * b.head(rows).norm();
    A.row(rows) = size / total * points.stiffness.transpose();
    b[rows] = size;

    NnlsOptions options;
    // of the forces alone
    options.tolerance = goal * b.head(rows).norm() / b.norm();
    const NnlsResult fit = nnls(A, b, options);
    training.iterations += fit.iterations;
    training.total_weight = fit.weights.dot(points.stiffness) / total;
    const Points chosen = weighted(points, fit);

    // over all states
    bool content = true;
    VectorXd by_state = VectorXd::Zero(k);
    for (Target& target : targets) {
      target.judge(projected_forces<D>(model.law, chosen, target.damping, states));
      content = content && target.error <= tolerance;
      by_state += target.by_state;
    }
    if (content || !fit.reached || round == most_rounds) {
      training.reached = training.reached && content;
      for (const Target& target : targets) {
        double& error = target.damping ? training.damping_error : training.error;
        error = std::max(error, target.error);
      }
      return chosen;
    }
    // half as many again, the worst first
    for (const Index s : used) by_state[s] = -1;
    std::vector<Index> order(static_cast<size_t>(k));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index c) { return by_state[a] > by_state[c]; });
    const size_t more = used.size() / 2;
    for (size_t i = 0; i < more && by_state[order[i]] >= 0; ++i) used.push_back(order[i]);
  }
}

// x stands as (xi, 1) here, so that basis columns start on a cache line.
MatrixXd constant_last(const MatrixXd& P) {
  MatrixXd out(P.rows(), P.cols());
  out.leftCols(P.cols() - 1) = P.rightCols(P.cols() - 1);
  out.col(P.cols() - 1) = P.col(0);
  return out;
}

template <int D>
class SampledForce final : public PodForceModel {
 public:
  SampledForce(const PodElements& model, const MatrixXd& Z, const Points& axial, const Points& bending);

  std::unique_ptr<Room> room() const override { return std::make_unique<Work>(*this); }
  void add_force(const Vector& xi, const Vector& v, Room& room, Eigen::Ref<VectorXd> f) const override;
  void tangent(const Vector& xi, const Vector& v, double cq, double cv, Room& room,
               Eigen::Ref<MatrixXd> K) const override;
  double energy(const Vector& xi, Room& room) const override;
  double damping_power(const Vector& xi, const Vector& v, Room& room) const override;
  bool symmetric() const override { return !damped_; }
  double cost() const override { return ecsw_cost(static_cast<int>(r_), D, points(), law_); }
  int points() const override { return static_cast<int>(axial_.size() + bending_.size()); }

 private:
  struct Work : Room {
    explicit Work(const SampledForce& owner)
        : x(owner.P_.columns),
          p(owner.P_.rows),
          rate(owner.P_.columns),
          p_rate(owner.P_.rows),
          t(owner.P_.rows + 8),
          f(owner.P_t_.rows + 8),
          H(owner.P_.rows * 2 * D + 8),
          Y(owner.P_.rows, owner.P_.columns),
          C(owner.P_.columns * owner.P_.columns) {}
    bool at(const Vector& xi) const {
      return valid && std::equal(xi.data(), xi.data() + xi.size(), x.data());
    }
    AlignedArray x, p, rate, p_rate, t, f, H;
    PaddedRows Y;
    AlignedArray C;
    bool valid = false;
  };

  void update(const Vector& xi, Work& work) const;
  void update_rate(const Vector& v, Work& work) const;
  // visit(axial, first row, weight, weight of damping, first entry of its H)
  template <class Visit>
  void each_point(Visit visit) const {
    for (Index g = 0; g < axial_.size(); ++g) visit(true, D * g, axial_[g], axial_beta_[g], D * D * g);
    for (Index g = 0; g < bending_.size(); ++g)
      visit(false, axial_rows_ + 2 * D * g, bending_[g], bending_beta_[g], D * axial_rows_ + 4 * D * D * g);
  }

  AncfLaw law_;
  Index r_, rows_, axial_rows_;
  bool damped_;
  VectorXd axial_, axial_beta_, bending_, bending_beta_;  // weights
  PaddedRows P_, P_t_;                                    // rows by r + 1, and transposed
  PaddedRows K_;                                          // r by r + 1: constant bending
  MatrixXd K_constant_, C_constant_;                      // r by r: the same, and its damping
  double K_00_ = 0;                                       // of the energy
};

template <int D>
SampledForce<D>::SampledForce(const PodElements& model, const MatrixXd& Z, const Points& axial,
                              const Points& bending)
    : law_(model.law),
      r_(model.order()),
      rows_(axial.P.rows() + bending.P.rows()),
      axial_rows_(axial.P.rows()),
      damped_(model.damped()),
      axial_(axial.stiffness),
      axial_beta_(axial.beta),
      bending_(bending.stiffness),
      bending_beta_(bending.beta) {
  MatrixXd P(rows_, r_ + 1);
  P << axial.P, bending.P;
  P = constant_last(P);
  P_ = PaddedRows(P);
  P_t_ = PaddedRows(P.leftCols(r_).transpose());
  C_constant_ = MatrixXd::Zero(r_, r_);
  MatrixXd K = MatrixXd::Zero(r_ + 1, r_ + 1);
  if (law_.bending == BendingStrain::SecondDerivative) {
    K = pod_bending(model, Z, false);
    if (damped_) C_constant_ = pod_bending(model, Z, true).bottomRightCorner(r_, r_);
  }
  K_00_ = K(0, 0);
  K_constant_ = K.bottomRightCorner(r_, r_);
  K_ = PaddedRows(constant_last(K.bottomRows(r_)));
}

template <int D>
void SampledForce<D>::update(const Vector& xi, Work& work) const {
  if (work.at(xi)) return;
  std::copy(xi.data(), xi.data() + r_, work.x.data());
  work.x[r_] = 1;
  row_product(P_, work.x.data(), work.p.data());
  work.valid = true;
}

template <int D>
void SampledForce<D>::update_rate(const Vector& v, Work& work) const {
  std::copy(v.data(), v.data() + r_, work.rate.data());
  row_product(P_, work.rate.data(), work.p_rate.data());
}

template <int D>
void SampledForce<D>::add_force(const Vector& xi, const Vector& v, Room& room, Eigen::Ref<VectorXd> f) const {
  Work& work = static_cast<Work&>(room);
  update(xi, work);
  if (damped_) update_rate(v, work);
  each_point([&](bool axial, Index row, double c, double beta, Index) {
    point_force<D>(law_, axial, c, &work.p[row], &work.t[row], nullptr);
    if (damped_)
      add_point_damping<D>(law_, axial, beta, &work.p[row], &work.p_rate[row], 0, 0, &work.t[row], nullptr);
  });
  row_product(P_t_, work.t.data(), work.f.data());
  for (Index i = 0; i < r_; ++i) f[i] += work.f[i];
  row_product(K_, work.x.data(), work.f.data());
  for (Index i = 0; i < r_; ++i) f[i] += work.f[i];
  if (damped_) f.noalias() += C_constant_.lazyProduct(v);
}

template <int D>
void SampledForce<D>::tangent(const Vector& xi, const Vector& v, double cq, double cv, Room& room,
                              Eigen::Ref<MatrixXd> K) const {
  Work& work = static_cast<Work&>(room);
  update(xi, work);
  if (damped_) update_rate(v, work);
  // of each point H = cq (d2U + damping) + cv damping; Y = H P, and P' Y is the tangent
  each_point([&](bool axial, Index row, double c, double beta, Index h) {
    double t[2 * D] = {};
    point_force<D>(law_, axial, cq * c, &work.p[row], t, &work.H[h]);
    if (damped_)
      add_point_damping<D>(law_, axial, beta, &work.p[row], &work.p_rate[row], cq, cv, t, &work.H[h]);
  });
  mix_rows(axial_.size(), D, work.H.data(), P_.row(0), P_.columns, work.Y.row(0));
  if (bending_.size() > 0)
    mix_rows(bending_.size(), 2 * D, &work.H[axial_rows_ * D], P_.row(axial_rows_), P_.columns,
             work.Y.row(axial_rows_));
  double* C = work.C.data();
  const Index stride = P_.columns;
  tile_product(rows_, r_, P_.row(0), work.Y.row(0), stride, !damped_, C);
  if (damped_) {
    for (Index j = 0; j < r_; ++j)
      for (Index i = 0; i < r_; ++i)
        K(i, j) = C[j * stride + i] + cq * K_constant_(i, j) + cv * C_constant_(i, j);
    return;
  }
  for (Index j = 0; j < r_; ++j) {
    for (Index i = j; i < r_; ++i) K(i, j) = C[j * stride + i] + cq * K_constant_(i, j);
    for (Index i = j + 1; i < r_; ++i) K(j, i) = K(i, j);
  }
}

template <int D>
double SampledForce<D>::energy(const Vector& xi, Room& room) const {
  Work& work = static_cast<Work&>(room);
  update(xi, work);
  // 1/2 x' K x with row 0 by symmetry
  row_product(K_, work.x.data(), work.f.data());
  double sum = 0.5 * K_00_;
  for (Index i = 0; i < r_; ++i) sum += 0.5 * xi[i] * (work.f[i] + K_.row(i)[r_]);
  each_point([&](bool axial, Index row, double c, double, Index) {
    Eigen::Matrix<double, 2 * D, 1> x = Eigen::Matrix<double, 2 * D, 1>::Zero(), gradient;
    std::copy(&work.p[row], &work.p[row] + (axial ? D : 2 * D), x.data());
    sum += ancf_density<D>(law_, axial, c, x, gradient, nullptr);
  });
  return sum;
}

template <int D>
double SampledForce<D>::damping_power(const Vector& xi, const Vector& v, Room& room) const {
  if (!damped_) return 0;
  Work& work = static_cast<Work&>(room);
  update(xi, work);
  update_rate(v, work);
  double power = 0;
  each_point([&](bool axial, Index row, double, double beta, Index) {
    double t[2 * D] = {};
    power += add_point_damping<D>(law_, axial, beta, &work.p[row], &work.p_rate[row], 0, 0, t, nullptr);
  });
  for (Index j = 0; j < r_; ++j) power += v[j] * C_constant_.col(j).dot(v);
  return power;
}

template <int D>
std::unique_ptr<PodForceModel> make_sampled(const PodElements& model, const MatrixXd& xi, double tolerance,
                                            double most_entries, EcswTraining& training) {
  const MatrixXd Z = pod_columns(model);
  const Index k = xi.cols();
  States states;
  states.x.resize(xi.rows() + 1, k);
  states.x.row(0).setOnes();
  states.x.bottomRows(xi.rows()) = xi;
  if (model.damped() && k > 1) {
    // states follow each other in time, so that their differences are directions in which the beams move;
    // damping is linear in rates, whose size does not matter
    states.rate = MatrixXd::Zero(xi.rows() + 1, k);
    for (Index s = 0; s < k; ++s)
      states.rate.col(s).tail(xi.rows()) = xi.col(std::min(s + 1, k - 1)) - xi.col(std::max<Index>(s - 1, 0));
  }
  training.reached = true;
  const Points axial = choose<D>(model, Z, true, states, tolerance, most_entries, training);
  const bool samples_bending = model.law.bending != BendingStrain::SecondDerivative;
  const Points bending = samples_bending
                             ? choose<D>(model, Z, false, states, tolerance, most_entries, training)
                             : gather(model, Z, false, 0, 0);
  return std::make_unique<SampledForce<D>>(model, Z, axial, bending);
}

}  // namespace

double ecsw_cost(int r, int dimension, int points, const AncfLaw& law) {
  // a point: r' and force 2 m r, its tangent times the basis m^2 r, the rank update m r^2 / 2
  const double m = law.bending == BendingStrain::SecondDerivative ? dimension : 1.5 * dimension;
  return points * (2 * m * (r + 1) + m * m * r + 0.5 * m * r * (r + 1)) + r * (r + 1);
}

int all_points(const PodElements& model) {
  size_t each = ancf_axial_points().size();
  if (model.law.bending != BendingStrain::SecondDerivative) each += ancf_bending_points(model.law).size();
  return static_cast<int>(each * model.elements.size());
}

std::unique_ptr<PodForceModel> make_ecsw_force(const PodElements& model, const MatrixXd& xi, double tolerance,
                                               EcswTraining& training, double most_entries) {
  LISSOM_ASSERT(xi.rows() == model.order() && xi.cols() > 0);
  training = {};
  return model.dimension == 2 ? make_sampled<2>(model, xi, tolerance, most_entries, training)
                              : make_sampled<3>(model, xi, tolerance, most_entries, training);
}

}  // namespace lissom
