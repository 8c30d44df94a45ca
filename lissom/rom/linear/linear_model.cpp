#include "lissom/rom/linear/linear_model.hpp"

#include <Eigen/LU>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lissom/core/error.hpp"
#include "lissom/linalg/schur.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

std::string wrong_shape(const char* name, const MatrixXd& matrix, Index rows, Index cols) {
  if (matrix.rows() != rows || matrix.cols() != cols)
    return fmt::format("{} is {} by {}, expected {} by {}", name, matrix.rows(), matrix.cols(), rows, cols);
  return matrix.allFinite() ? "" : fmt::format("{} has a number that is not finite", name);
}

// What an input is at the operating point.
double input_value(const SystemEquations& equations, const InputChannel& channel, const VectorXd& held,
                   double t) {
  if (channel.input >= 0) return held[channel.input];
  const System& system = equations.system();
  const Load& load = system.loads()[channel.load];
  const int input = load.input.empty() ? -1 : system.find_input(load.input);
  const double factor = input < 0 ? 1 : held[input];
  if (load.kind == LoadKind::LineForce) return factor * load.magnitude(t);
  double size = 0;
  for (int k = 0; k < 3; ++k) size += channel.direction[k] * load.components[k](t);
  return factor * size;
}

}  // namespace

std::string inconsistency_of(const LinearModel& model) {
  const Index n = model.A.rows(), p = static_cast<Index>(model.inputs.size()),
              k = static_cast<Index>(model.outputs.size()), r = static_cast<Index>(model.range_names.size());
  const LinearReduction& reduction = model.reduction;
  for (const std::string& problem :
       {wrong_shape("A", model.A, n, n), wrong_shape("B", model.B, n, p), wrong_shape("C", model.C, k, n),
        wrong_shape("D", model.D, k, p), wrong_shape("x0", model.x0, n, 1), wrong_shape("u0", model.u0, p, 1),
        wrong_shape("y0", model.y0, k, 1), wrong_shape("range", model.range, r, n),
        wrong_shape("range_inputs", model.range_inputs, r, p),
        wrong_shape("hankel", reduction.hankel, reduction.hankel.size(), 1),
        wrong_shape("input_scale", reduction.input_scale, p, 1),
        wrong_shape("output_scale", reduction.output_scale, k, 1)})
    if (!problem.empty()) return problem;
  if (static_cast<Index>(model.states.size()) != n)
    return fmt::format("{} states are named, and A has {} rows", model.states.size(), n);
  if (!std::isfinite(model.t)) return "t is not finite";
  if (!(reduction.zero_below >= 0)) return fmt::format("zero_below is {}", reduction.zero_below);
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (!model.inputs[i].direction.allFinite())
      return fmt::format("the direction of the input '{}' is not finite", model.inputs[i].name);
    for (size_t j = 0; j < i; ++j)
      if (model.inputs[i].name == model.inputs[j].name)
        return fmt::format("two inputs are called '{}'", model.inputs[i].name);
  }
  if (reduction.source_order < n)
    return fmt::format("the model has {} states, and what it was made of {}", n, reduction.source_order);
  if (reduction.kept_exactly < 0 || reduction.kept_exactly > n)
    return fmt::format("{} of {} states are kept exactly", reduction.kept_exactly, n);
  return "";
}

double size_of_zeros(const LinearModel& model) {
  const Index n = model.order(), d = n / 2;
  if (n == 0) return 0;
  const auto largest = [](MatrixXd A) {
    balance_rows_and_columns(A);
    return real_schur(std::move(A)).eigenvalues.cwiseAbs().maxCoeff();
  };
  // a double zero is off by the root of what the stiffness is off; dampers may be far faster
  const bool mechanical =
      n % 2 == 0 && model.A.topLeftCorner(d, d).isZero(0) && model.A.topRightCorner(d, d).isIdentity(0);
  return 3e-8 * (mechanical ? std::sqrt(largest(model.A.bottomLeftCorner(d, d))) : largest(model.A));
}

LinearModel make_linear_model(SystemEquations& equations, const std::vector<Sensor>& sensors, const State& at,
                              const State& reference, const State& start) {
  const System& system = equations.system();
  const Linearisation linear = linearise(equations, sensors, at);
  if (linear.moving)
    fail_input(
        "at t = {:.6g} s the mechanism moves or is not in equilibrium, and a linear model is one of small "
        "deviations from rest; take about = \"static\", the equilibrium under the loads of that time",
        at.t);
  LinearModel model;
  model.t = at.t;
  model.A = linear.A;
  model.B = linear.B;
  model.C = linear.C;
  model.D = linear.D;
  model.states = linear.states;
  const Index d = linear.N.cols(), p = model.B.cols();
  model.u0.resize(p);
  const VectorXd held = equations.inputs(at.t);
  for (Index i = 0; i < p; ++i) {
    const InputChannel& channel = linear.channels[static_cast<size_t>(i)];
    model.inputs.push_back({linear.inputs[static_cast<size_t>(i)], linear.input_units[static_cast<size_t>(i)],
                            channel.load >= 0, channel.direction});
    model.u0[i] = input_value(equations, channel, held, at.t);
  }

  SensorBank bank(system, sensors);
  bank.start(equations, reference);
  bank.step(equations, at);
  model.outputs = bank.columns();
  model.y0.resize(static_cast<Index>(model.outputs.size()));
  bank.evaluate(equations, at, model.y0);

  // how far each coordinate moves points, over the size
  const VectorXd share = equations.displacement_scale() / equations.length();
  const MatrixXd moved = share.asDiagonal() * linear.N;
  model.range = MatrixXd::Zero(moved.rows(), 2 * d);
  model.range.leftCols(d) = moved;
  model.range_inputs = MatrixXd::Zero(moved.rows(), p);
  for (Index i = 0; i < moved.rows(); ++i)
    model.range_names.push_back(equations.row_name(static_cast<int>(i)));

  // the nearest deviation whose coordinates are those of the start
  model.x0 = VectorXd::Zero(2 * d);
  if (d > 0) {
    const Eigen::ColPivHouseholderQR<MatrixXd> onto(moved);
    model.x0.head(d) = onto.solve(share.cwiseProduct(start.q - at.q));
    model.x0.tail(d) = onto.solve(share.cwiseProduct(start.v));
  }
  model.reduction.source_order = static_cast<int>(2 * d);
  model.reduction.zero_below = size_of_zeros(model);
  model.reduction.input_scale = VectorXd::Ones(p);
  model.reduction.output_scale = VectorXd::Ones(model.y0.size());
  if (const std::string problem = inconsistency_of(model); !problem.empty())
    fail("the linearised mechanism cannot be used: {}", problem);
  return model;
}

std::optional<MatrixXd> static_gains(const LinearModel& model) {
  if (model.order() == 0) return model.D;
  if (frequencies_hz(model)[0] == 0) return std::nullopt;
  MatrixXd A = model.A;
  const VectorXd scale = balance_rows_and_columns(A);
  const Eigen::PartialPivLU<MatrixXd> lu(A);
  const MatrixXd B = scale.cwiseInverse().asDiagonal() * model.B;
  return MatrixXd(model.D - model.C * (scale.asDiagonal() * lu.solve(B)));
}

VectorXd frequencies_hz(const LinearModel& model) {
  MatrixXd A = model.A;
  balance_rows_and_columns(A);
  const Eigen::VectorXcd values = real_schur(std::move(A)).eigenvalues;
  std::vector<double> list;
  for (const std::complex<double>& value : values)
    if (value.imag() >= 0)
      list.push_back(std::abs(value) > model.reduction.zero_below ? std::abs(value) / (2 * std::numbers::pi)
                                                                  : 0);
  std::sort(list.begin(), list.end());
  return Eigen::Map<const VectorXd>(list.data(), static_cast<Index>(list.size()));
}

Linearisation as_linearisation(const LinearModel& model) {
  Linearisation out;
  out.t = model.t;
  out.A = model.A;
  out.B = model.B;
  out.C = model.C;
  out.D = model.D;
  out.states = model.states;
  for (const LinearInput& input : model.inputs) {
    out.inputs.push_back(input.name);
    out.input_units.push_back(input.unit);
  }
  for (const SensorColumn& output : model.outputs) {
    out.outputs.push_back(output.name);
    out.output_units.push_back(si_unit(output));
  }
  MatrixXd A = model.A;
  balance_rows_and_columns(A);
  out.eigenvalues = real_schur(std::move(A)).eigenvalues;
  std::stable_sort(out.eigenvalues.begin(), out.eigenvalues.end(),
                   [](const auto& a, const auto& b) { return std::abs(a) < std::abs(b); });
  for (std::complex<double>& value : out.eigenvalues) {
    if (std::abs(value) <= model.reduction.zero_below) value = 0;
    if (value.real() > model.reduction.zero_below) out.growth = std::max(out.growth, value.real());
    if (value.imag() < 0) continue;
    const double size = std::abs(value);
    out.modes.push_back({value, size / (2 * std::numbers::pi), size > 0 ? 0.0 - value.real() / size : 0, {}});
  }
  return out;
}

}  // namespace lissom
