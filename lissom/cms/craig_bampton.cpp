#include "lissom/cms/craig_bampton.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lissom/core/parallel.hpp"
#include "lissom/fe/matrix_checks.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "lissom/fe/rigid_motions.hpp"
#include "lissom/fe/vibration.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/eigen_solver.hpp"

namespace lissom {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// 1e-10 in the norm of the inverse operator leaves about 1e-8 in that of M^-1, which the residual terms need
constexpr double mode_tolerance = 1e-10;

// Below so many interior rows a dense eigen-solver may have to take over, which needs K_s; above, its memory
// is better freed.
constexpr int keep_stiffness_below = 20000;

MatrixXd symmetric_part(const MatrixXd& X) {
  return 0.5 * (X + X.transpose());
}

// K X with sums in long double: what is left of them where all but a few digits cancel, as they do in K T
// with T the constraint modes of a thin body.
MatrixXd precise_product(const SymmetricMatrix& K, const MatrixXd& X) {
  MatrixXd Y(X.rows(), X.cols());
  parallel_for(X.cols(), 1, [&](Eigen::Index k) {
    std::vector<long double> y(static_cast<size_t>(X.rows()), 0);
    for (int j = 0; j < K.size(); ++j)
      for (SparseMatrix::InnerIterator it(K.lower, j); it; ++it) {
        const auto i = static_cast<size_t>(it.row());
        const long double value = it.value();
        y[i] += value * X(j, k);
        if (it.row() != j) y[static_cast<size_t>(j)] += value * X(it.row(), k);
      }
    for (Eigen::Index i = 0; i < X.rows(); ++i) Y(i, k) = static_cast<double>(y[static_cast<size_t>(i)]);
  });
  return Y;
}

// Each step of iterative refinement gains as many digits as the one before; a body that gains none in four
// is beyond help.
constexpr int most_refinements = 4;
bool refined(const MatrixXd& correction, const MatrixXd& X) {
  for (Eigen::Index k = 0; k < X.cols(); ++k)
    if (!(correction.col(k).norm() <= 1e-11 * X.col(k).norm())) return false;
  return true;
}

// The rigid motions that neither the interface nor a ground in K holds, in words; empty if there are none.
std::string free_motions(const FeModel& model, const std::vector<int>& rows) {
  const double size =
      std::max(1e-300, (model.points.rowwise().maxCoeff() - model.points.rowwise().minCoeff()).norm());
  const Eigen::Vector3d centre = model.points.rowwise().mean();
  MatrixXd R = rigid_body_modes(model.points, model.dofs, centre);
  R.rightCols(3) /= size;
  const Eigen::JacobiSVD<MatrixXd> svd(R(rows, Eigen::all), Eigen::ComputeFullV);
  int rank = 0;
  while (rank < svd.singularValues().size() && svd.singularValues()[rank] > 1e-9 * svd.singularValues()[0])
    ++rank;
  if (rank == 6) return "";
  // of those that the interface leaves, the ones without energy
  const MatrixXd left = svd.matrixV().rightCols(6 - rank), W = R * left;
  MatrixXd MW(W.rows(), W.cols());
  multiply(model.M, W, MW);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> mass(symmetric_part(transposed_product(W, MW)));
  const VectorXd length = mass.eigenvalues().cwiseMax(1e-300).cwiseSqrt();
  const MatrixXd unit = left * mass.eigenvectors() * length.cwiseInverse().asDiagonal();
  const MatrixXd motions = without_energy(model.K, R * unit, 0);
  const auto free = motions.cols();
  if (free == 0) return "";
  // translations alone, or also rotations
  const MatrixXd in_six = R.colPivHouseholderQr().solve(motions);
  const double turning = in_six.colwise().normalized().bottomRows(3).norm();
  return fmt::format("{} rigid motion{} of the body ({})", free, free == 1 ? "" : "s",
                     turning > 0.1 ? "it can turn" : "it can slide");
}

}  // namespace

InteriorChoice lowest_modes(int count, bool residuals) {
  InteriorChoice choice;
  choice.modes.resize(count);
  std::iota(choice.modes.begin(), choice.modes.end(), 0);
  choice.residuals = residuals;
  return choice;
}

struct CraigBampton::Impl {
  const FeModel& model;
  std::vector<Interface> interfaces;
  Diagnostics& diagnostics;
  ProgressHook progress;
  mutable PhaseTimes seconds;

  std::vector<int> b_rows, s_rows;  // rows of the model; interface rows in the order of the interfaces
  SymmetricMatrix K_s, M_s;
  std::unique_ptr<Cholesky> factor;
  CholeskyStats stats;
  bool released = false;
  std::unique_ptr<EigenSolver> solver;
  MatrixXd Psi, A;  // N_s by N_b
  MatrixXd K_b, M_b;
  int rigid_count = -1;
  bool delicate = false;  // round-off of the factor shows in the ten leading digits of what it solves

  VectorXd kappa;
  MatrixXd Phi;  // N_s by modes known
  MatrixXd a;    // modes known by N_b
  double worst_residual = 0;
  // with all modes known in the basis
  mutable MatrixXd B;
  mutable ResidualTerms rest;
  mutable bool rest_valid = false;

  Impl(const FeModel& m, std::vector<Interface> i, Diagnostics& d, ProgressHook p)
      : model(m), interfaces(std::move(i)), diagnostics(d), progress(std::move(p)) {}

  void tell(const char* phase, double fraction = -1) const {
    if (progress) progress(phase, fraction);
  }
  int n_b() const { return static_cast<int>(b_rows.size()); }
  int n_s() const { return static_cast<int>(s_rows.size()); }
  bool complete() const { return kappa.size() == n_s(); }

  void split();
  void factorise();
  void constraint_modes();
  void sharpen();
  void refine(MatrixXd& X, const MatrixXd& right) const;
  void count_rigid();
  void deflate(MatrixXd& X) const;
  MatrixXd interior_stiffness(const Eigen::Ref<const MatrixXd>& X) const;
  void residual_terms() const;
  void set_floor() const;
  struct Interior;
  void attach(MatrixXd Z, Interior& basis) const;
  MatrixXd left_of_answers(const MatrixXd& F, const MatrixXd& Z, const Interior& basis) const;
  InertiaAnswers attach_inertia(const BasisLoads& loads, Interior& basis) const;
  MatrixXd effective_mass(const MatrixXd& P) const;
};

void CraigBampton::Impl::split() {
  std::vector<char> is_interface(model.dof_count(), 0);
  for (const Interface& interface : interfaces)
    for (int row : interface.rows) {
      b_rows.push_back(row);
      is_interface[row] = 1;
    }
  for (int i = 0; i < model.dof_count(); ++i)
    if (!is_interface[i]) s_rows.push_back(i);
  if (b_rows.empty())
    fail_input("{}: the body has no interface; Craig-Bampton needs at least one", model.source);
  if (s_rows.empty())
    fail_input("{}: every degree of freedom belongs to an interface, nothing is left to reduce",
               model.source);
  const VectorXd mass = model.M.diagonal();
  for (int row : s_rows)
    if (!(mass[row] > 0))
      fail_input(
          "{}: {} has no mass, which makes infinite frequencies; make it part of an interface, or give it "
          "mass",
          model.source, describe_dof(model, row));
}

// K_s = L L'. An interface that does not hold the body leaves it singular, which round-off may hide: the
// rigid motions say so before.
void CraigBampton::Impl::factorise() {
  const std::string advice =
      "hold more of it: take a spider (six degrees of freedom), at least three nodes that are not on a line, "
      "or further interfaces";
  if (model.has_points() && knows_rigid_motions(model)) {
    const std::string motions = free_motions(model, b_rows);
    if (!motions.empty())
      fail_input(
          "{}: the interfaces ({} degrees of freedom) leave the interior singular: with them held, {} still "
          "cost no energy; {}",
          model.source, n_b(), motions, advice);
  }
  tell("factorisation");
  Timer timer;
  K_s = submatrix(model.K, s_rows);
  M_s = submatrix(model.M, s_rows);
  std::function<void(double)> told;
  if (progress) told = [this](double fraction) { progress("factorisation", fraction); };
  try {
    // with the pattern of both, so that K_s - sigma M_s can follow
    factor = std::make_unique<Cholesky>(add(K_s, 0.0, M_s), ordering_groups(model, s_rows), told);
  } catch (const NotPositiveDefinite& e) {
    std::vector<int> rows;
    for (int row : e.rows) rows.push_back(s_rows[row]);
    fail_input(
        "{}: the interfaces leave the interior singular: with them held, K is not positive definite; the "
        "trouble is at {}. "
        "Either a part is not connected to any interface, or {}",
        model.source, describe_dofs(model, rows), advice);
  }
  stats = factor->stats();
  seconds.add("factorisation", timer.seconds());
}

void CraigBampton::Impl::constraint_modes() {
  tell("constraint modes");
  Timer timer;
  // columns of K for unit interface displacements, then T = [Psi; I] and its products with K and M
  const int n = model.dof_count();
  MatrixXd T = MatrixXd::Zero(n, n_b()), Y(n, n_b());
  for (int j = 0; j < n_b(); ++j) T(b_rows[j], j) = 1;
  multiply(model.K, T, Y);
  Psi = -Y(s_rows, Eigen::all);
  factor->solve_in_place(Psi);
  T(s_rows, Eigen::all) = Psi;
  // The solution is as good as the factor of K_s, whose round-off a thin body magnifies: a leaf spring had a
  // coupling Phi' K T, zero by definition, that moved its eigenvalues by 2e-6. Iterative refinement with a
  // precise residual takes it away.
  multiply(model.K, T, Y);
  for (int step = 0; step < most_refinements; ++step) {
    MatrixXd precise = precise_product(model.K, T), correction = precise(s_rows, Eigen::all);
    factor->solve_in_place(correction);
    if (refined(correction, Psi)) break;
    Psi -= correction;
    T(s_rows, Eigen::all) = Psi;
    Y = precise_product(model.K, T);
  }
  K_b = symmetric_part(transposed_product(T, Y));
  multiply(model.M, T, Y);
  M_b = symmetric_part(transposed_product(T, Y));
  A = Y(s_rows, Eigen::all);
  if (!Psi.allFinite())
    fail("{}: the constraint modes are not finite numbers; is there a NaN in K?", model.source);
  seconds.add("constraint modes", timer.seconds());
}

// X <- X + K_s^-1 (right - K_s X), until it stands, the residual with sums in long double
void CraigBampton::Impl::refine(MatrixXd& X, const MatrixXd& right) const {
  MatrixXd whole = MatrixXd::Zero(model.dof_count(), X.cols());
  for (int step = 0; step < most_refinements; ++step) {
    whole(s_rows, Eigen::all) = X;
    const MatrixXd product = precise_product(model.K, whole);
    MatrixXd residual = right - product(s_rows, Eigen::all);
    factor->solve_in_place(residual);
    if (refined(residual, X)) break;
    X += residual;
  }
}

// The lowest eigenvalues anew by their energy, where round-off of the factor shows in them.
void CraigBampton::Impl::sharpen() {
  const auto whole = [this](int modes) {
    MatrixXd X = MatrixXd::Zero(model.dof_count(), modes);
    X(s_rows, Eigen::all) = Phi.leftCols(modes);
    return X;
  };
  const double roundoff = energy_roundoff(model.K, whole(1))[0];
  int count = 0;
  while (count < kappa.size() && kappa[count] < 1e10 * roundoff) ++count;
  delicate = count > 0;
  if (!delicate) return;
  const MatrixXd X = whole(count), Y = precise_product(model.K, X);
  for (int j = 0; j < count; ++j) {
    const double energy = X.col(j).dot(Y.col(j));
    // no more than round-off: the vectors are what was found
    if (std::abs(energy - kappa[j]) < roundoff) kappa[j] = energy;
  }
  std::sort(kappa.data(), kappa.data() + count);
}

// Motions without energy: they are in the span of the constraint modes. Told by the geometry where it is
// known, by the gap in the spectrum otherwise.
void CraigBampton::Impl::count_rigid() {
  const bool by_geometry = knows_nodes(model);
  if (by_geometry) {
    // of the whole body: the rows of a weak interface on a grounded body do not tell six motions apart
    std::vector<int> all(model.dof_count());
    std::iota(all.begin(), all.end(), 0);
    const Eigen::Vector3d centre = rigid_mass(model)->centre.value_or(model.points.rowwise().mean());
    rigid_count = static_cast<int>(
        rigid_motions(model, model.K, model.M, centre, all, {}, connected_parts(model.K), 1e-6 * kappa[0])
            .cols());
  }
  // the lowest motions of the interfaces, one more than can be rigid: a body of several parts has six of each
  ReducedPencil guyan;
  guyan.P.resize(0, n_b());
  guyan.K_b = K_b;
  guyan.M_b = M_b;
  const ReducedModes guyan_modes =
      PencilSolver(guyan).lowest(std::min(by_geometry ? std::max(7, rigid_count + 1) : 7, n_b()));
  const VectorXd& values = guyan_modes.values;
  if (!by_geometry) {
    // what follows the last rigid one is flexible: another interface motion, or the interior; or the energy
    // is round-off
    MatrixXd T = MatrixXd::Zero(model.dof_count(), std::min(6, n_b()));
    const MatrixXd interface = guyan_modes.vectors.leftCols(T.cols());
    T(s_rows, Eigen::all) = Psi * interface;
    T(b_rows, Eigen::all) = interface;
    const VectorXd roundoff = energy_roundoff(model.K, T);
    rigid_count = 0;
    for (int r = 1; r <= std::min(6, n_b()); ++r)
      if (std::abs(values[r - 1]) < 1e-6 * std::min(kappa[0], r < n_b() ? values[r] : kappa[0]) ||
          std::abs(values[r - 1]) < roundoff[r - 1])
        rigid_count = r;
  }
  if (rigid_count < n_b() && values[rigid_count] < 1e-9 * kappa[0])
    diagnostics.warn("reduce.mechanism",
                     "a motion besides the rigid ones costs no energy: a part of the body hangs loose "
                     "between its interfaces",
                     {model.source, 0});
}

// K_s X, by the whole body's K: a copy of K_s is not kept
MatrixXd CraigBampton::Impl::interior_stiffness(const Eigen::Ref<const MatrixXd>& X) const {
  MatrixXd whole = MatrixXd::Zero(model.dof_count(), X.cols()), product(model.dof_count(), X.cols());
  for (Eigen::Index j = 0; j < X.cols(); ++j)
    for (int k = 0; k < n_s(); ++k) whole(s_rows[k], j) = X(k, j);
  multiply(model.K, whole, product);
  return product(s_rows, Eigen::all);
}

// X <- (I - Phi Phi' M_s) X, twice
void CraigBampton::Impl::deflate(MatrixXd& X) const {
  if (Phi.cols() == 0) return;
  MatrixXd MX(X.rows(), X.cols());
  for (int pass = 0; pass < 2; ++pass) {
    multiply(M_s, X, MX);
    gemm(false, false, -1, Phi, transposed_product(Phi, MX), 1, X);
  }
}

// The columns of B are those of K_s^-1 A less the modes; what is 1e-12 of them is round-off.
void CraigBampton::Impl::set_floor() const {
  const MatrixXd known = kappa.cwiseInverse().asDiagonal() * a;
  rest.floor = 1e-24 * (rest.X_2.diagonal() + known.colwise().squaredNorm().transpose());
}

void CraigBampton::Impl::residual_terms() const {
  if (rest_valid) return;
  const Timer timer;
  tell("error bounds");
  const int n = n_b();
  rest_valid = true;
  if (complete()) {
    // nothing is left out
    rest.X_b = rest.X_2 = rest.X_3 = rest.X_4 = MatrixXd::Zero(n, n);
    B = MatrixXd::Zero(n_s(), n);
    set_floor();
    return;
  }
  B = A;
  factor->solve_in_place(B);
  if (delicate) refine(B, A);
  deflate(B);
  MatrixXd MB(n_s(), n);
  multiply(M_s, B, MB);
  // B' A_perp, with A_perp = A - M_s Phi Phi' A
  rest.X_b = symmetric_part(transposed_product(B, A) - transposed_product(MB, Phi) * a);
  rest.X_2 = symmetric_part(transposed_product(B, MB));
  MatrixXd B_2 = MB;
  factor->solve_in_place(B_2);
  if (delicate) refine(B_2, MB);
  deflate(B_2);
  rest.X_3 = symmetric_part(transposed_product(MB, B_2));
  multiply(M_s, B_2, MB);
  rest.X_4 = symmetric_part(transposed_product(B_2, MB));
  set_floor();
  seconds.add("residual terms", timer.seconds());
}

// The interior part of a basis: orthonormal in M_s, diagonal in K_s (pencil.lambda). The first `modes`
// columns are fixed-interface modes; `share` says how much of each column behind them is answers to loads,
// from 0 to 1.
struct CraigBampton::Impl::Interior {
  MatrixXd V;  // N_s by n_i
  ReducedPencil pencil;
  int modes = 0;
  VectorXd share;
};

// Static answers Z with the interfaces held join the basis: less what is there already, made orthonormal like
// the residual vectors.
void CraigBampton::Impl::attach(MatrixXd Z, Interior& basis) const {
  MatrixXd& interior = basis.V;
  MatrixXd MZ(n_s(), Z.cols());
  multiply(M_s, Z, MZ);
  const VectorXd before = Z.cwiseProduct(MZ).colwise().sum().cwiseMax(0);
  for (int pass = 0; pass < 2; ++pass) {
    multiply(M_s, Z, MZ);
    gemm(false, false, -1, interior, transposed_product(interior, MZ), 1, Z);
  }
  // answers that the basis holds already are round-off now
  std::vector<int> fresh;
  multiply(M_s, Z, MZ);
  for (int j = 0; j < Z.cols(); ++j)
    if (Z.col(j).dot(MZ.col(j)) > 1e-20 * before[j]) fresh.push_back(j);
  Z = MatrixXd(Z(Eigen::all, fresh));
  if (Z.cols() == 0) return;
  const MatrixXd KZ = interior_stiffness(Z);
  MZ.resize(n_s(), Z.cols());
  multiply(M_s, Z, MZ);
  const ResidualVectors answers = orthonormal_residuals(symmetric_part(transposed_product(Z, KZ)),
                                                        symmetric_part(transposed_product(Z, MZ)));
  const int count = static_cast<int>(answers.theta.size()), others = static_cast<int>(interior.cols());
  interior.conservativeResize(n_s(), others + count);
  gemm(false, false, 1, Z, answers.v, 0, interior.rightCols(count));
  // residual vectors are orthogonal to the modes in K too; attachments are not orthogonal to the residual
  // vectors there: diagonalise the two together
  ReducedPencil& pencil = basis.pencil;
  MatrixXd K_i = MatrixXd::Zero(others + count, others + count);
  K_i.rightCols(count) = transposed_product(interior, interior_stiffness(interior.rightCols(count)));
  K_i.bottomRows(count) = K_i.rightCols(count).transpose();
  K_i.topLeftCorner(others, others) = pencil.lambda.asDiagonal();
  const int first = basis.modes, extra = others - first + count;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(symmetric_part(K_i.bottomRightCorner(extra, extra)));
  MatrixXd rotated(n_s(), extra);
  gemm(false, false, 1, interior.rightCols(extra), eigen.eigenvectors(), 0, rotated);
  interior.rightCols(extra) = rotated;
  pencil.lambda.conservativeResize(first + extra);
  pencil.lambda.tail(extra) = eigen.eigenvalues();
  pencil.P.conservativeResize(first + extra, n_b());
  pencil.P.bottomRows(extra) = transposed_product(rotated, A);
  VectorXd share = VectorXd::Ones(extra);
  share.head(others - first) = basis.share;
  basis.share = eigen.eigenvectors().cwiseAbs2().transpose() * share;
}

// What the basis leaves out of the static answers Z = K_s^-1 F: Z - V Lambda^-1 V' F, orthogonal to V in K_s,
// which the second pass sees to where nearly all of Z is in the basis.
MatrixXd CraigBampton::Impl::left_of_answers(const MatrixXd& F, const MatrixXd& Z,
                                             const Interior& basis) const {
  MatrixXd left = Z, force = F;
  if (basis.V.cols() == 0) return left;
  for (int pass = 0; pass < 2; ++pass) {
    if (pass > 0) force = interior_stiffness(left);
    const MatrixXd coordinates =
        basis.pencil.lambda.cwiseInverse().asDiagonal() * transposed_product(basis.V, force);
    gemm(false, false, -1, basis.V, coordinates, 1, left);
  }
  return left;
}

InertiaAnswers CraigBampton::Impl::attach_inertia(const BasisLoads& loads, Interior& basis) const {
  const MatrixXd F = loads.inertia(s_rows, Eigen::all);
  MatrixXd Z = F;
  factor->solve_in_place(Z);
  if (delicate) refine(Z, F);
  const MatrixXd energy = symmetric_part(transposed_product(Z, F));
  const auto left_out = [&](const MatrixXd& left) {
    return symmetric_part(transposed_product(left, interior_stiffness(left)));
  };
  MatrixXd left = left_of_answers(F, Z, basis);
  const InertiaDirections directions = directions_left_out(energy, left_out(left), loads.inertia_tolerance);
  InertiaAnswers result;
  result.without = result.error = directions.largest;
  if (directions.combinations.cols() == 0) return result;
  const auto before = basis.V.cols();
  attach(left * directions.combinations, basis);
  result.vectors = static_cast<int>(basis.V.cols() - before);
  // measured again with the basis as it is
  left = left_of_answers(F, Z, basis);
  result.error = directions_left_out(energy, left_out(left), std::numeric_limits<double>::infinity()).largest;
  return result;
}

MatrixXd CraigBampton::Impl::effective_mass(const MatrixXd& P) const {
  if (!model.has_points() || !knows_rigid_motions(model)) return {};
  const Eigen::Vector3d centre = rigid_mass(model)->centre.value_or(model.points.rowwise().mean());
  const MatrixXd R = rigid_body_modes(model.points, model.dofs, centre)(b_rows, Eigen::all);
  return (P * R).cwiseAbs2();
}

CraigBampton::CraigBampton(const FeModel& model, std::vector<Interface> interfaces, Diagnostics& diagnostics,
                           const ProgressHook& progress)
    : impl_(std::make_unique<Impl>(model, std::move(interfaces), diagnostics, progress)) {
  Impl& s = *impl_;
  s.split();
  s.factorise();
  s.constraint_modes();
  EigenSolverOptions options;
  options.tolerance = mode_tolerance;
  options.block = 8;
  options.verify = false;
  s.solver = std::make_unique<EigenSolver>(s.K_s, s.M_s, *s.factor, 0.0, MatrixXd(s.n_s(), 0), options);
}

CraigBampton::~CraigBampton() = default;

const std::vector<Interface>& CraigBampton::interfaces() const {
  return impl_->interfaces;
}
int CraigBampton::interior_size() const {
  return impl_->n_s();
}
int CraigBampton::interface_size() const {
  return impl_->n_b();
}
int CraigBampton::rigid_count() const {
  return impl_->rigid_count;
}
int CraigBampton::modes_known() const {
  return static_cast<int>(impl_->kappa.size());
}
const VectorXd& CraigBampton::kappa() const {
  return impl_->kappa;
}
double CraigBampton::worst_residual() const {
  return impl_->worst_residual;
}
const PhaseTimes& CraigBampton::seconds() const {
  return impl_->seconds;
}
const CholeskyStats& CraigBampton::factor_stats() const {
  return impl_->stats;
}

void CraigBampton::release() {
  Impl& s = *impl_;
  s.solver.reset();
  s.factor.reset();
  SparseMatrix().swap(s.K_s.lower);
  SparseMatrix().swap(s.M_s.lower);
  for (MatrixXd* X : {&s.Psi, &s.A, &s.Phi, &s.B}) X->resize(0, 0);
  s.released = true;
}

void CraigBampton::need_modes(int count) {
  Impl& s = *impl_;
  count = std::min(count, s.n_s());
  if (count <= modes_known()) return;
  LISSOM_ASSERT(!s.released);
  const Timer timer;
  // the solver looks at K_s itself only where a dense method takes over
  const bool may_be_dense = s.n_s() < keep_stiffness_below;
  if (!may_be_dense && count > s.n_s() / 8)
    fail_input(
        "{}: {} fixed-interface modes of {} are too many; lower max_modes or count, or ask for fewer modes "
        "or a larger tolerance",
        s.model.source, count, s.n_s());
  if (!may_be_dense) SparseMatrix().swap(s.K_s.lower);  // resize() would keep the memory
  EigenPairs pairs = s.solver->lowest(count, [&s](std::string_view, double fraction) {
    if (s.progress) s.progress("fixed-interface modes", fraction);
  });
  s.kappa = std::move(pairs.values);
  s.Phi = std::move(pairs.vectors);
  s.sharpen();
  s.worst_residual = pairs.residuals.maxCoeff();
  s.a = transposed_product(s.Phi, s.A);
  s.rest_valid = false;
  s.seconds.add("fixed-interface modes", timer.seconds());
  if (s.rigid_count >= 0) return;

  // the first time: is the interior held, and which motions of the body are rigid?
  VectorXd lowest = VectorXd::Zero(s.model.dof_count());
  lowest(s.s_rows) = s.Phi.col(0);
  const double roundoff = energy_roundoff(s.model.K, lowest)[0];
  if (!(s.kappa[0] > roundoff))
    fail_input(
        "{}: the interfaces leave the interior singular: with them held, the lowest eigenvalue is {:.2e}, "
        "which round-off alone makes of the entries of K ({:.2e}); hold more of the body",
        s.model.source, s.kappa[0], roundoff);
  s.count_rigid();
}

ModeCount CraigBampton::count_modes() {
  Impl& s = *impl_;
  LISSOM_ASSERT(!s.released && modes_known() > 0);
  ModeCount result;
  if (s.complete()) return result;
  s.tell("counting the modes");
  VectorXd last = VectorXd::Zero(s.model.dof_count());
  last(s.s_rows) = s.Phi.col(modes_known() - 1);
  const CountPlace place = count_place(s.kappa, energy_roundoff(s.model.K, last)[0]);
  if (!(place.shift > 0)) return result;
  const SymmetricMatrix again = s.K_s.size() > 0 ? SymmetricMatrix{} : submatrix(s.model.K, s.s_rows);
  result = count_below(s.K_s.size() > 0 ? s.K_s : again, s.M_s, *s.factor, place.shift, place.width);
  result.found = place.found;
  s.seconds.add("count", result.seconds);
  return result;
}

void CraigBampton::restore(int missing) {
  Impl& s = *impl_;
  const SymmetricMatrix again = s.K_s.size() > 0 ? SymmetricMatrix{} : submatrix(s.model.K, s.s_rows);
  s.factor->refactor(add(s.K_s.size() > 0 ? s.K_s : again, 0.0, s.M_s));
  if (missing == 0) return;
  const int known = modes_known();
  s.kappa.resize(0);
  s.solver->expect_lost(missing);
  need_modes(known);
}

ReducedProblem CraigBampton::problem(const InteriorChoice& choice) const {
  const Impl& s = *impl_;
  LISSOM_ASSERT(!s.released);
  s.residual_terms();
  ReducedProblem problem;
  problem.enriched = choice.residuals;
  problem.kappa = s.kappa;
  problem.plain.lambda = s.kappa(choice.modes);
  problem.plain.P = s.a(choice.modes, Eigen::all);
  problem.plain.K_b = s.K_b;
  problem.plain.M_b = s.M_b;
  // what is known but not kept returns to the residual
  ResidualTerms& X = problem.residual;
  X = s.rest;
  X.kappa_next = s.complete() ? std::numeric_limits<double>::infinity() : s.kappa[modes_known() - 1];
  std::vector<char> kept(modes_known(), 0);
  for (int j : choice.modes) kept[j] = 1;
  for (int j = modes_known() - 1; j >= 0; --j) {
    if (kept[j]) continue;
    const VectorXd aj = s.a.row(j).transpose();
    const double k = s.kappa[j];
    X.kappa_next = k;
    X.X_b += aj / k * aj.transpose();
    X.X_2 += aj / (k * k) * aj.transpose();
    X.X_3 += aj / (k * k * k) * aj.transpose();
    X.X_4 += aj / (k * k * k * k) * aj.transpose();
  }
  return problem;
}

VectorXd CraigBampton::roundoff(int count) const {
  const Impl& s = *impl_;
  const ReducedProblem all = problem(lowest_modes(modes_known(), true));
  const ResidualVectors vectors = orthonormal_residuals(all.residual);
  const ReducedPencil pencil = pencil_of(all, vectors);
  const int first = std::max(0, s.rigid_count);
  count = std::min(count, pencil.size() - first);
  if (count <= 0) return {};
  const MatrixXd y = PencilSolver(pencil).lowest(first + count).vectors.rightCols(count);
  MatrixXd interior(s.n_s(), count), whole(s.model.dof_count(), count);
  const auto extra = vectors.theta.size();
  gemm(false, false, 1, s.Psi, MatrixXd(y.bottomRows(s.n_b())), 0, interior);
  gemm(false, false, 1, s.Phi, MatrixXd(y.topRows(modes_known())), 1, interior);
  if (extra > 0)
    gemm(false, false, 1, s.B, MatrixXd(vectors.v * y.middleRows(modes_known(), extra)), 1, interior);
  whole(s.s_rows, Eigen::all) = interior;
  whole(s.b_rows, Eigen::all) = y.bottomRows(s.n_b());
  // constraint modes and solves bring more than the products of K do: up to 4.1 times as much was seen on rods of slenderness
  // 400 with OpenBLAS's kernels for Haswell and Zen; measured, not derived
  return 8 * energy_roundoff(s.model.K, whole);
}

CraigBamptonBasis CraigBampton::basis(const InteriorChoice& choice, const BasisLoads& loads) const {
  const Impl& s = *impl_;
  CraigBamptonBasis result;
  const ReducedProblem small = problem(choice);
  const int n_s = s.n_s(), n_b = s.n_b(), n_modes = static_cast<int>(choice.modes.size());
  ResidualVectors vectors;
  MatrixXd interior = s.Phi(Eigen::all, choice.modes);
  if (choice.residuals) {
    // B of what is not kept: that of all modes known, and the known ones left out
    vectors = orthonormal_residuals(small.residual);
    MatrixXd B = s.B;
    std::vector<int> left_out;
    for (int j = 0, k = 0; j < modes_known(); ++j) {
      if (k < n_modes && choice.modes[k] == j)
        ++k;
      else
        left_out.push_back(j);
    }
    if (!left_out.empty()) {
      const MatrixXd coefficients = s.kappa(left_out).cwiseInverse().asDiagonal() * s.a(left_out, Eigen::all);
      gemm(false, false, 1, MatrixXd(s.Phi(Eigen::all, left_out)), coefficients, 1, B);
    }
    interior.conservativeResize(n_s, n_modes + vectors.theta.size());
    gemm(false, false, 1, B, vectors.v, 0, interior.rightCols(vectors.theta.size()));
  }
  result.pencil = pencil_of(small, vectors);
  result.modes = n_modes;
  const int residuals = static_cast<int>(interior.cols()) - n_modes;
  Impl::Interior inside{std::move(interior), std::move(result.pencil), n_modes, {}};
  inside.share = VectorXd::Zero(residuals);
  if (loads.forces.cols() > 0) {
    MatrixXd Z = loads.forces(s.s_rows, Eigen::all);
    s.factor->solve_in_place(Z);
    s.attach(std::move(Z), inside);
  }
  if (loads.inertia.cols() > 0) result.inertia = s.attach_inertia(loads, inside);
  interior = std::move(inside.V);
  result.pencil = std::move(inside.pencil);
  // as many are called attachment modes as there are: those that have most of them
  std::vector<int> order(inside.share.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int x, int y) { return inside.share[x] > inside.share[y]; });
  result.attachment.assign(order.size(), 0);
  for (size_t j = 0; j + residuals < order.size(); ++j) result.attachment[order[j]] = 1;

  const int n_i = static_cast<int>(interior.cols());
  result.T = MatrixXd::Zero(s.model.dof_count(), n_i + n_b);
  for (int j = 0; j < n_i; ++j)
    for (int k = 0; k < n_s; ++k) result.T(s.s_rows[k], j) = interior(k, j);
  for (int j = 0; j < n_b; ++j) {
    for (int k = 0; k < n_s; ++k) result.T(s.s_rows[k], n_i + j) = s.Psi(k, j);
    result.T(s.b_rows[j], n_i + j) = 1;
  }
  result.effective_mass = s.effective_mass(result.pencil.P);
  return result;
}

}  // namespace lissom
