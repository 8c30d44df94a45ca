// Truncation of a linear model (linear_model.hpp). docs/theory/linear.md has the formulas; the numbers behind
// comments are its equations.
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/schur.hpp"
#include "lissom/linalg/symmetric_eigen.hpp"
#include "lissom/linalg/transfer_function.hpp"
#include "lissom/rom/linear/linear_model.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

namespace {

constexpr double two_pi = 2 * std::numbers::pi;
// Factors of the Gramians are square roots: what is smaller than this beside the largest is round-off.
constexpr double hankel_round_off = 1e-8;

// A part of a system in coordinates of its own. C has the rows of the outputs, then those of the range.
struct LinearPart {
  MatrixXd A, B, C;
  VectorXd x0;
  VectorXcd eigenvalues;
  Index states() const { return A.rows(); }
};

// Eigenvalues chosen, and the others: A V = V diag(A1, A2), V = Q [1 X; 0 1], A1 X - X A2 = -A12.      (2)
struct SeparatedParts {
  LinearPart chosen, rest;
};

// Rows and columns of like size, in real Schur form: what everything below begins with.
struct SchurSystem {
  RealSchur schur;
  MatrixXd B, C;  // C with the rows of the range
  VectorXd x0;
};

SchurSystem schur_system(const LinearModel& model) {
  SchurSystem out;
  MatrixXd A = model.A;
  const VectorXd scale = balance_rows_and_columns(A);
  MatrixXd C(model.C.rows() + model.range.rows(), model.A.rows());
  C << model.C, model.range;
  out.B = scale.cwiseInverse().asDiagonal() * model.B;
  out.C = C * scale.asDiagonal();
  out.x0 = model.x0.cwiseQuotient(scale);
  out.schur = real_schur(std::move(A));
  return out;
}

SeparatedParts separate_parts(SchurSystem system, const std::vector<bool>& chosen) {
  RealSchur& schur = system.schur;
  const Index n = schur.T.rows(), k = bring_to_top(schur, chosen), rest = n - k;
  const MatrixXd &T = schur.T, &Q = schur.Q;
  const MatrixXd X =
      solve_sylvester(T.topLeftCorner(k, k), T.bottomRightCorner(rest, rest), -T.topRightCorner(k, rest));
  // with X this large nothing of double precision is left
  if (k > 0 && rest > 0 && X.norm() > 1e10)
    fail("the states that are kept and those left out cannot be separated: their eigenvalues are too close");
  const MatrixXd QB = transposed_product(Q, system.B), CQ = product(system.C, Q);
  const VectorXd Qx = Q.transpose() * system.x0;
  SeparatedParts parts;
  parts.chosen = {T.topLeftCorner(k, k), QB.topRows(k) - X * QB.bottomRows(rest), CQ.leftCols(k),
                  Qx.head(k) - X * Qx.tail(rest), schur.eigenvalues.head(k)};
  parts.rest = {T.bottomRightCorner(rest, rest), QB.bottomRows(rest), CQ.rightCols(rest) + CQ.leftCols(k) * X,
                Qx.tail(rest), schur.eigenvalues.tail(rest)};
  return parts;
}

// Whether eigenvalues decay for sure: not zero, not on the axis, not to its right, round-off considered.
std::vector<bool> decaying(const VectorXcd& values, double zero) {
  const double largest = values.size() > 0 ? values.cwiseAbs().maxCoeff() : 0;
  std::vector<bool> list;
  for (const std::complex<double>& value : values) {
    const double size = std::abs(value);
    list.push_back(size > zero && value.real() < -(1e-12 * largest + 1e-9 * size));
  }
  return list;
}

// Angular frequencies [rad/s] at which gains are looked at: zero unless there are eigenvalues, evenly by ratio, and
// resonances with their slopes.
std::vector<double> gain_grid(const VectorXcd& values, double zero) {
  double lowest = 0, highest = 0;
  bool at_rest = true;
  for (const std::complex<double>& value : values) {
    const double size = std::abs(value);
    if (size <= zero) {
      at_rest = false;
      continue;
    }
    lowest = lowest == 0 ? size : std::min(lowest, size);
    highest = std::max(highest, size);
  }
  std::vector<double> grid;
  if (at_rest) grid.push_back(0);
  if (highest == 0) return grid;
  // of a large model every point costs the square of its states
  const int points = values.size() > 500 ? 60 : 300;
  const double from = lowest / 10, to = highest * 10;
  for (int i = 0; i < points; ++i) grid.push_back(from * std::pow(to / from, i / (points - 1.0)));
  for (const std::complex<double>& value : values) {
    if (value.imag() <= 0 || std::abs(value) <= zero) continue;
    for (const double widths : {-1.0, 0.0, 1.0})
      if (const double at = value.imag() - widths * value.real(); at > 0) grid.push_back(at);
  }
  std::sort(grid.begin(), grid.end());
  return grid;
}

// Sizes of inputs and outputs such that no gain is above one and every row and column has one that is one; a gain
// that is zero throughout counts as one.
struct GainScales {
  VectorXd inputs, outputs;
  MatrixXcd apply(const MatrixXcd& H) const { return outputs.asDiagonal() * H * inputs.asDiagonal(); }
};

GainScales gain_scales(const MatrixXd& largest) {
  const auto inverse = [](double value) { return value > 0 ? 1 / value : 1.0; };
  GainScales scales{VectorXd::Ones(largest.cols()), VectorXd::Ones(largest.rows())};
  if (largest.size() == 0) return scales;
  scales.outputs = largest.rowwise().maxCoeff().unaryExpr(inverse);
  scales.inputs = (scales.outputs.asDiagonal() * largest).colwise().maxCoeff().transpose().unaryExpr(inverse);
  return scales;
}

double largest_gain(const MatrixXcd& H) {
  if (H.size() == 0 || !H.allFinite()) return 0;
  return Eigen::JacobiSVD<MatrixXcd>(H).singularValues()[0];
}

// r states of a system [A B; C D] that is in the right order; the others are cut off, or follow at once:
// 0 = A21 x1 + A22 x2 + B2 u.                                                                         (6)
void reduce_states(LinearPart& part, MatrixXd& D, Index r, bool statics) {
  const Index left = part.states() - r;
  if (left == 0) return;
  if (statics) {
    const Eigen::FullPivLU<MatrixXd> lu(part.A.bottomRightCorner(left, left));
    if (!lu.isInvertible())
      fail("what is left out of the mechanism has no stiffness, so that statics = true is not possible");
    const MatrixXd of_x = lu.solve(MatrixXd(part.A.bottomLeftCorner(left, r))),
                   of_u = lu.solve(MatrixXd(part.B.bottomRows(left)));
    const MatrixXd A12 = part.A.topRightCorner(r, left), C2 = part.C.rightCols(left);
    part.A.topLeftCorner(r, r) -= A12 * of_x;
    part.B.topRows(r) -= A12 * of_u;
    part.C.leftCols(r) -= C2 * of_x;
    D -= C2 * of_u;
  }
  part.A = part.A.topLeftCorner(r, r).eval();
  part.B = part.B.topRows(r).eval();
  part.C = part.C.leftCols(r).eval();
  part.x0 = part.x0.head(r).eval();
}

// The Cholesky factor of a Gramian, up to a rotation: L L' = P. Round-off that is negative is none.
MatrixXd gramian_factor(const MatrixXd& P) {
  const MatrixXd symmetric = (P + P.transpose()) / 2;
  const SymmetricEigen eigen = symmetric_eigen(symmetric, 0, static_cast<int>(P.rows()), true);
  return eigen.vectors * eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal();
}

// Two systems side by side.
LinearPart side_by_side(const LinearPart& first, const LinearPart& second) {
  const Index a = first.states(), b = second.states();
  LinearPart both;
  both.A = MatrixXd::Zero(a + b, a + b);
  both.A.topLeftCorner(a, a) = first.A;
  both.A.bottomRightCorner(b, b) = second.A;
  both.B.resize(a + b, first.B.cols());
  both.B << first.B, second.B;
  both.C.resize(first.C.rows(), a + b);
  both.C << first.C, second.C;
  both.x0.resize(a + b);
  both.x0 << first.x0, second.x0;
  return both;
}

void take_part(LinearModel& model, const LinearPart& part, const MatrixXd& D) {
  const Index k = static_cast<Index>(model.outputs.size());
  model.A = part.A;
  model.B = part.B;
  model.C = part.C.topRows(k);
  model.range = part.C.bottomRows(part.C.rows() - k);
  model.D = D.topRows(k);
  model.range_inputs = D.bottomRows(D.rows() - k);
  model.x0 = part.x0;
}

// D with the rows of the range.
MatrixXd all_direct(const LinearModel& model) {
  MatrixXd D(model.D.rows() + model.range.rows(), model.D.cols());
  D << model.D, model.range_inputs;
  return D;
}

// ---------------------------------------------------------------------------------------- by frequency

LinearModel truncate_by_frequency(const LinearModel& model, const LinearOptions& options) {
  const Index n = model.order(), k = model.C.rows();
  SchurSystem system = schur_system(model);
  const VectorXcd& values = system.schur.eigenvalues;
  const double zero = model.reduction.zero_below;
  // by size, conjugates together; what grows is never left out
  std::vector<Index> by_size(n);
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](Index a, Index b) { return std::abs(values[a]) < std::abs(values[b]); });
  std::vector<bool> kept(n, false);
  int count = 0;
  const auto keep = [&](Index i) {
    // LAPACK has the two of a pair next to each other, the positive one first
    const Index j = values[i].imag() > 0 ? i + 1 : values[i].imag() < 0 ? i - 1 : i;
    for (const Index one : {i, j}) {
      if (kept[one]) continue;
      kept[one] = true;
      ++count;
    }
  };
  for (Index i = 0; i < n; ++i)
    if (values[i].real() > zero) keep(i);
  for (const Index i : by_size) {
    const double hz = std::abs(values[i]) / two_pi;
    if (options.order ? count >= *options.order : hz > *options.highest) break;
    keep(i);
  }
  if (count == 0)
    fail_input("highest is {:g} Hz, and the lowest frequency of the mechanism is {:.6g} Hz: no state is left",
               *options.highest, std::abs(values[by_size.front()]) / two_pi);
  double highest_kept = 0;
  for (Index i = 0; i < n; ++i) {
    if (kept[i])
      highest_kept = std::max(highest_kept, std::abs(values[i]));
    else if (std::abs(values[i]) <= zero)
      fail_input(
          "order is {}, and more states than that belong to motions without stiffness, which must not be "
          "left "
          "out: take a larger order",
          *options.order);
  }
  const VectorXcd all_values = values;
  SeparatedParts parts = separate_parts(std::move(system), kept);

  LinearModel out = model;
  LinearReduction& reduction = out.reduction;
  MatrixXd D = all_direct(model);
  LinearPart both = side_by_side(parts.chosen, parts.rest);
  // the error up to the highest frequency kept, against the gains there, resonances without damping left out
  MatrixXd C = both.C.topRows(k), C_rest = parts.rest.C.topRows(k);
  TransferFunction full(both.A, both.B, C), dropped(parts.rest.A, parts.rest.B, C_rest);
  MatrixXcd at_rest = MatrixXcd::Zero(k, model.D.cols());
  if (options.statics) at_rest = dropped(0);
  std::vector<double> grid;
  for (const double omega : gain_grid(all_values, zero))
    if (omega <= highest_kept) grid.push_back(omega);
  std::vector<MatrixXcd> gains, errors;
  MatrixXd most = model.D.cwiseAbs();
  for (const double omega : grid) {
    gains.push_back(full({0, omega}) + model.D);
    errors.push_back(dropped({0, omega}) - at_rest);
    if (gains.back().allFinite()) most = most.cwiseMax(gains.back().cwiseAbs());
  }
  const GainScales scales = gain_scales(most);
  double gain = 0;
  for (const MatrixXcd& H : gains) gain = std::max(gain, largest_gain(scales.apply(H)));
  for (size_t i = 0; i < errors.size(); ++i)
    if (const double error = largest_gain(scales.apply(errors[i])); error > reduction.error) {
      reduction.error = error;
      reduction.error_frequency = grid[i] / two_pi;
    }
  if (gain > 0) reduction.error /= gain;
  reduction.grid_from = grid.empty() ? 0 : grid.front() / two_pi;
  reduction.grid_to = grid.empty() ? 0 : grid.back() / two_pi;
  reduction.input_scale = scales.inputs;
  reduction.output_scale = scales.outputs;

  reduce_states(both, D, count, options.statics);
  take_part(out, both, D);
  out.states.clear();
  // one name a state, both of a pair with its number
  int mode = 0;
  for (Index i = 0; i < count; ++i) {
    const std::complex<double> value = parts.chosen.eigenvalues[i];
    if (value.imag() >= 0) ++mode;
    const double size = std::abs(value);
    out.states.push_back(fmt::format("mode of {:.6g} Hz, {}", size > zero ? size / two_pi : 0,
                                     value.imag() > 0   ? "first"
                                     : value.imag() < 0 ? "second"
                                                        : fmt::format("number {}", mode)));
  }
  return out;
}

// ------------------------------------------------------------------------------------------- balanced

LinearModel truncate_balanced(const LinearModel& model, const LinearOptions& options,
                              const ProgressHook& progress) {
  const Index n = model.order(), k = model.C.rows(), p = model.B.cols();
  if (p == 0)
    fail_input(
        "the mechanism has no input, so that nothing says which states matter: add a force, torque or line "
        "force, or "
        "take truncation = \"frequency\"");
  if (k == 0)
    fail_input(
        "the mechanism has no output, so that nothing says which states matter: add a sensor, or take "
        "truncation = "
        "\"frequency\"");
  if (progress) progress("separating what decays", -1);
  SchurSystem system = schur_system(model);
  const std::vector<bool> stable = decaying(system.schur.eigenvalues, model.reduction.zero_below);
  const auto decays = static_cast<int>(std::count(stable.begin(), stable.end(), true));
  const int exact = static_cast<int>(n) - decays;
  if (decays == 0)
    fail_input(
        "no motion of the mechanism decays, and balanced truncation leaves out only what does: give damping "
        "to bodies "
        "or springs, or take truncation = \"frequency\"");
  if (options.order && *options.order < exact)
    fail_input(
        "order is {}, and {} states are kept exactly because they do not decay (rigid, undamped or unstable "
        "motions): expected {} to {}; or take truncation = \"frequency\"",
        *options.order, exact, exact, n);
  SeparatedParts parts = separate_parts(std::move(system), stable);
  LinearPart& part = parts.chosen;

  // gains of what decays, and sizes of inputs and outputs
  LinearModel out = model;
  LinearReduction& reduction = out.reduction;
  MatrixXd D = all_direct(model);
  const MatrixXd direct = model.D;
  const std::vector<double> grid = gain_grid(part.eigenvalues, 0);
  TransferFunction full(part.A, part.B, part.C.topRows(k));
  std::vector<MatrixXcd> gains;
  MatrixXd most = direct.cwiseAbs();
  for (const double omega : grid) {
    gains.push_back(full({0, omega}) + direct);
    most = most.cwiseMax(gains.back().cwiseAbs());
  }
  const GainScales scales = gain_scales(most);
  double gain = largest_gain(scales.apply(direct.cast<std::complex<double>>()));
  for (const MatrixXcd& H : gains) gain = std::max(gain, largest_gain(scales.apply(H)));
  if (!(gain > 0))
    fail_input(
        "no input reaches any output, so that nothing is left to be modelled: look at loads and sensors");

  // Gramians A P + P A' = -B B', A' G + G A = -C' C; P = Lp Lp', G = Lg Lg', Lg' Lp = U S W'          (3)
  if (progress) progress("Gramians", -1);
  const MatrixXd B = part.B * scales.inputs.asDiagonal(), C = scales.outputs.asDiagonal() * part.C.topRows(k);
  const MatrixXd Lp = gramian_factor(solve_lyapunov(part.A, false, -(B * B.transpose())));
  const MatrixXd Lg = gramian_factor(solve_lyapunov(part.A, true, -(C.transpose() * C)));
  const Eigen::BDCSVD<MatrixXd> svd(transposed_product(Lg, Lp), Eigen::ComputeThinU | Eigen::ComputeThinV);
  const VectorXd S = svd.singularValues();
  Index rank = 0;
  while (rank < S.size() && S[rank] > hankel_round_off * S[0]) ++rank;
  // sum of all from each on
  VectorXd tail = VectorXd::Zero(S.size() + 1);
  for (Index i = S.size() - 1; i >= 0; --i) tail[i] = tail[i + 1] + S[i];
  Index r = 0;
  if (options.order)
    r = std::min<Index>(rank, *options.order - exact);
  else
    while (r < rank && 2 * tail[r] > options.tolerance * gain) ++r;
  // equal ones belong together
  while (r > 0 && r < rank && S[r] > (1 - 1e-9) * S[r - 1]) ++r;

  // x = Right xi, xi = Left' x with Left = Lg U S^-1/2, Right = Lp W S^-1/2                            (4)
  const VectorXd root = S.head(rank).cwiseSqrt().cwiseInverse();
  const MatrixXd left = product(Lg, svd.matrixU().leftCols(rank)) * root.asDiagonal(),
                 right = product(Lp, svd.matrixV().leftCols(rank)) * root.asDiagonal();
  LinearPart balanced;
  balanced.A = transposed_product(left, product(part.A, right));
  balanced.B = transposed_product(left, part.B);
  balanced.C = product(part.C, right);
  balanced.x0 = left.transpose() * part.x0;
  reduce_states(balanced, D, r, options.statics);

  // what it costs, on the grid and at infinity; the bound is that of (5)
  reduction.kept_exactly = exact;
  reduction.hankel = S / gain;
  reduction.bound = 2 * tail[r] / gain;
  TransferFunction small(balanced.A, balanced.B, balanced.C.topRows(k));
  const MatrixXd direct_small = D.topRows(k);
  const auto compare = [&](const MatrixXcd& difference, double omega) {
    const double error = largest_gain(scales.apply(difference)) / gain;
    if (error <= reduction.error) return;
    reduction.error = error;
    reduction.error_frequency = omega / two_pi;
  };
  for (size_t i = 0; i < grid.size(); ++i) compare(gains[i] - (small({0, grid[i]}) + direct_small), grid[i]);
  compare((direct - direct_small).cast<std::complex<double>>(), std::numeric_limits<double>::infinity());
  reduction.grid_from = grid.size() > 1 ? grid[1] / two_pi : 0;
  reduction.grid_to = grid.back() / two_pi;
  reduction.input_scale = scales.inputs;
  reduction.output_scale = scales.outputs;
  if (r > 0) {
    const VectorXcd values = real_schur(balanced.A).eigenvalues;
    if (values.real().maxCoeff() >= 0)
      fail("balanced truncation to {} states lost the stability of the mechanism to round-off: take fewer",
           r + exact);
  }

  take_part(out, side_by_side(parts.rest, balanced), D);
  out.states.clear();
  for (int i = 0; i < exact; ++i) out.states.push_back(fmt::format("kept exactly, number {}", i + 1));
  for (Index i = 0; i < r; ++i) out.states.push_back(fmt::format("balanced, number {}", i + 1));
  return out;
}

}  // namespace

LinearModel truncate(const LinearModel& model, const LinearOptions& options, const ProgressHook& progress) {
  if (const auto problems = options.problems(); !problems.empty()) {
    std::string text;
    for (const std::string& problem : problems) text += (text.empty() ? "" : "; ") + problem;
    fail_input("{}", text);
  }
  LISSOM_ASSERT(model.reduction.truncation == LinearTruncation::None);
  if (options.truncation == LinearTruncation::None) return model;
  if (model.order() == 0)
    fail_input("the mechanism has no degree of freedom, so that there is nothing to truncate");
  if (options.order && *options.order > model.order())
    fail_input("order is {}, and the linearised mechanism has {} states: expected 1 to {}", *options.order,
               model.order(), model.order());
  LinearModel whole = model;
  whole.reduction.zero_below = size_of_zeros(model);
  LinearModel out = options.truncation == LinearTruncation::Frequency
                        ? truncate_by_frequency(whole, options)
                        : truncate_balanced(whole, options, progress);
  out.reduction.truncation = options.truncation;
  out.reduction.statics = options.statics;
  if (const std::string problem = inconsistency_of(out); !problem.empty())
    fail("the truncated model cannot be used: {}", problem);
  return out;
}

}  // namespace lissom
