#include "lissom/time/linearise.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/time/tangent_space.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

namespace {

// Full matrices of twice this order and their eigenvalues take minutes.
constexpr Index most_coordinates = 2000;

// to += J' by, on the coordinates that the marker depends on.
void add_transposed(const SystemEquations& equations, const MarkerRef& ref, const MarkerKinematics& marker,
                    const Vector12d& by, VectorXd& to) {
  Index k = 0;
  for (const int i : equations.marker_columns(ref)) to[i] += marker.J.col(k++).dot(by);
}

// Forces on the coordinates of a unit of a load.
VectorXd unit_forces(SystemEquations& equations, const InputChannel& channel, double t, const VectorXd& q,
                     const VectorXd& v) {
  const System& system = equations.system();
  Load unit = system.loads()[channel.load];
  if (unit.kind == LoadKind::LineForce)
    unit.magnitude = TimeFunction(1);
  else
    for (int k = 0; k < 3; ++k) unit.components[k] = TimeFunction(channel.direction[k]);
  MarkerKinematics first, second;
  equations.marker(unit.first, q, v, false, first);
  equations.marker(unit.second, q, v, false, second);
  LoadEvaluation evaluation;
  evaluate_load(unit, t, first.m, first.rate, second.m, second.rate, false, evaluation);
  VectorXd forces = VectorXd::Zero(q.size());
  add_transposed(equations, unit.first, first, evaluation.force.segment<12>(0), forces);
  add_transposed(equations, unit.second, second, evaluation.force.segment<12>(12), forces);
  return forces;
}

// ---------------------------------------------------------------------------- independent coordinates

// A coordinate that may be independent: of a joint, or of the system itself.
struct Candidate {
  int joint = -1;
  bool angle = false;  // of a joint: its angle, or its distance
  int coordinate = -1;
  std::string name;
  double weight = 1;  // its preference, in metres of a unit
};

// d candidate / dq (n).
VectorXd gradient(SystemEquations& equations, const Candidate& candidate, const VectorXd& q,
                  const VectorXd& v) {
  const System& system = equations.system();
  VectorXd row = VectorXd::Zero(q.size());
  if (candidate.joint < 0) {
    row[candidate.coordinate] = 1;
    return row;
  }
  const Joint& joint = system.joints()[candidate.joint];
  MarkerKinematics first, second;
  equations.marker(joint.first, q, v, false, first);
  equations.marker(joint.second, q, v, false, second);
  // derivatives with respect to both markers
  Vector12d of_first = Vector12d::Zero(), of_second = Vector12d::Zero();
  if (candidate.angle) {
    const double s = second.axis(0).dot(first.axis(1)), c = second.axis(0).dot(first.axis(0));
    const double size = s * s + c * c;
    of_second.segment<3>(3) = (c * first.axis(1) - s * first.axis(0)) / size;
    of_first.segment<3>(6) = c / size * second.axis(0);
    of_first.segment<3>(3) = -s / size * second.axis(0);
  } else {
    of_second.head<3>() = first.axis(2);
    of_first.head<3>() = -first.axis(2);
    of_first.segment<3>(9) = second.position() - first.position();
  }
  add_transposed(equations, joint.first, first, of_first, row);
  add_transposed(equations, joint.second, second, of_second, row);
  return row;
}

std::vector<Candidate> candidates(SystemEquations& equations, const State& state) {
  const System& system = equations.system();
  const double length = equations.length();
  std::vector<Candidate> list;
  for (size_t j = 0; j < system.joints().size(); ++j) {
    const Joint& joint = system.joints()[j];
    const JointTraits& kind = traits(joint.kind);
    const bool turns = kind.turns && !kind.driven, slides = kind.slides && !kind.driven;
    if (!system.marker_rotates(joint.first)) continue;
    // a thousand times as welcome as others
    if (turns && system.marker_rotates(joint.second))
      list.push_back(
          {static_cast<int>(j), true, -1, fmt::format("joint '{}', angle", joint.name), 1e3 * length});
    if (slides)
      list.push_back({static_cast<int>(j), false, -1, fmt::format("joint '{}', distance", joint.name), 1e3});
  }
  const VectorXd& scale = equations.displacement_scale();
  for (int i = 0; i < equations.coordinates(); ++i) {
    // what stands still is better than what goes round
    const double still = state.v[i] == 0 ? 1 : 1e-2;
    VectorXd unit = VectorXd::Zero(equations.coordinates());
    unit[i] = 1;
    list.push_back(
        {-1, false, i, name_direction(equations, unit), still * (scale[i] > 0 ? scale[i] : length)});
  }
  return list;
}

// z with dz = Y dq, and the derivatives of Y along the motion.
struct Chart {
  std::vector<std::string> names;
  MatrixXd Y, rate, curvature;  // d by n
};

Chart make_chart(SystemEquations& equations, const State& state, const MatrixXd& kernel, bool moving) {
  const Index n = equations.coordinates(), d = kernel.cols();
  Chart chart;
  std::vector<Candidate> chosen;
  if (equations.is_ode()) {
    for (const Candidate& one : candidates(equations, state))
      if (one.joint < 0) chosen.push_back(one);
  } else {
    const std::vector<Candidate> all = candidates(equations, state);
    MatrixXd rows(d, static_cast<Index>(all.size()));
    for (size_t i = 0; i < all.size(); ++i)
      rows.col(static_cast<Index>(i)) =
          all[i].weight * (kernel.transpose() * gradient(equations, all[i], state.q, state.v));
    const Eigen::ColPivHouseholderQR<MatrixXd> qr(rows);
    std::vector<Index> order;
    for (Index i = 0; i < d; ++i) order.push_back(qr.colsPermutation().indices()[i]);
    std::sort(order.begin(), order.end());
    for (const Index i : order) chosen.push_back(all[i]);
  }
  const auto fill = [&](const VectorXd& q, MatrixXd& Y) {
    Y.resize(d, n);
    for (Index i = 0; i < d; ++i) Y.row(i) = gradient(equations, chosen[i], q, state.v).transpose();
  };
  for (const Candidate& one : chosen) chart.names.push_back(one.name);
  fill(state.q, chart.Y);
  chart.rate = chart.curvature = MatrixXd::Zero(d, n);
  if (!moving || equations.is_ode()) return chart;
  // along the motion, a ten-thousandth of the size forth and back
  const VectorXd& scale = equations.displacement_scale();
  const double speed = scale.cwiseProduct(state.v).lpNorm<Eigen::Infinity>() / equations.length();
  const double rate = std::sqrt(scale.cwiseProduct(state.a).lpNorm<Eigen::Infinity>() / equations.length());
  const double h = 1e-4 / (speed + rate);
  MatrixXd ahead, behind;
  fill(state.q + h * (state.v + h / 2 * state.a), ahead);
  fill(state.q - h * (state.v - h / 2 * state.a), behind);
  chart.rate = (ahead - behind) / (2 * h);
  chart.curvature = (ahead - 2 * chart.Y + behind) / (h * h);
  return chart;
}

// How far points get within a second from rest under accelerations a [m]: x of (K + M / s^2) x = M a along the
// directions of motion, which is a s^2 where nothing holds and a / omega^2 where something does. Round-off of stiff
// modes accelerates, and gets nowhere.
double reach(const MotionMatrices& motion, const MatrixXd& kernel, const VectorXd& a, const VectorXd& scale) {
  if (kernel.cols() == 0 || a.isZero(0)) return 0;
  const MatrixXd both = product(MatrixXd(kernel.transpose()), product(MatrixXd(motion.K + motion.M), kernel));
  const VectorXd pulled = kernel.transpose() * (motion.M * a);
  const VectorXd x = kernel * Eigen::PartialPivLU<MatrixXd>(both).solve(pulled);
  return scale.cwiseProduct(x).lpNorm<Eigen::Infinity>();
}

// [M c G'; c G 0] of a state, with several right-hand sides.
class Accelerations {
 public:
  Accelerations(SystemEquations& equations, const State& state)
      : n_(equations.coordinates()),
        m_(equations.constraints()),
        c_(equations.typical_mass()),
        matrix_(static_cast<int>(n_ + m_), equations.blocks()) {
    equations.jacobian(state, 1, {0, 0, 1, c_, c_}, matrix_);
    if (!matrix_.factorise())
      fail(
          "at {:.6g} s the mechanism cannot be linearised: {} has no mass and no constraint, or depends on "
          "others",
          state.t, equations.row_name(std::max(0, matrix_.singular_row())));
  }
  // da and dlambda with M da + G' dlambda = forces, G da = curvature; columns.
  void solve(const MatrixXd& forces, const MatrixXd& curvature, MatrixXd& da, MatrixXd& dlambda) {
    da.resize(n_, forces.cols());
    dlambda.resize(m_, forces.cols());
    VectorXd x(n_ + m_);
    for (Index i = 0; i < forces.cols(); ++i) {
      x << forces.col(i), c_ * curvature.col(i);
      matrix_.solve_in_place(x);
      da.col(i) = x.head(n_);
      dlambda.col(i) = c_ * x.tail(m_);
    }
  }

 private:
  Index n_, m_;
  double c_;
  NewtonMatrix matrix_;
};

// The loads that can be inputs, then the system's inputs; names and units go to `out`.
std::vector<InputChannel> find_channels(const System& system, double t, Linearisation& out) {
  std::vector<InputChannel> channels;
  for (size_t l = 0; l < system.loads().size(); ++l) {
    const Load& load = system.loads()[l];
    if (holds(load.kind)) continue;
    InputChannel channel;
    channel.load = static_cast<int>(l);
    if (load.kind != LoadKind::LineForce) {
      for (int k = 0; k < 3; ++k) channel.direction[k] = load.components[k](t);
      // a load that is zero now: its direction at any later time
      for (double later = 1e-6; channel.direction.isZero(0) && later < 1e6; later *= 10)
        for (int k = 0; k < 3; ++k) channel.direction[k] = load.components[k](later);
      if (channel.direction.isZero(0)) continue;
      channel.direction.normalize();
    }
    channels.push_back(channel);
    out.inputs.push_back(load.name);
    out.input_units.push_back(load.kind == LoadKind::Torque ? "N m" : "N");
  }
  for (size_t k = 0; k < system.inputs().size(); ++k) {
    InputChannel channel;
    channel.input = static_cast<int>(k);
    channels.push_back(channel);
    out.inputs.push_back(system.inputs()[k].name);
    out.input_units.emplace_back("1");
  }
  return channels;
}

// How the value of a load that is measured follows a channel of its own.
double own_value(const System& system, const SystemEquations& equations, const InputChannel& channel,
                 int load, double t) {
  if (channel.load >= 0) return channel.load == load ? 1 : 0;
  const Load& measured = system.loads()[load];
  if (measured.input != system.inputs()[channel.input].name) return 0;
  if (measured.kind == LoadKind::LineForce) return measured.magnitude(t);
  // the size of a vector, which grows whichever way the input goes
  Eigen::Vector3d f;
  for (int k = 0; k < 3; ++k) f[k] = measured.components[k](t);
  return equations.inputs(t)[channel.input] < 0 ? -f.norm() : f.norm();
}

// Eigenvalues, shapes and who takes part, of A.
void find_modes(const System& system, const MatrixXd& M, const MatrixXd& velocity_map, const VectorXd& scale,
                Linearisation& out) {
  const Index n = out.N.rows(), d = out.N.cols();
  if (d == 0) return;
  // balanced: coordinates by their mass, displacements and velocities of one size at the highest frequency
  VectorXd size(2 * d);
  for (Index i = 0; i < d; ++i) {
    const double mass = out.N.col(i).dot(M * out.N.col(i));
    size[i] = mass > 0 ? std::sqrt(mass) : 1;
  }
  size.tail(d) = size.head(d);
  MatrixXd balanced = size.asDiagonal() * out.A * size.cwiseInverse().asDiagonal();
  const double omega = std::sqrt(balanced.bottomLeftCorner(d, d).norm());
  if (omega > 0) {
    balanced.topRightCorner(d, d) *= omega;
    balanced.bottomLeftCorner(d, d) /= omega;
    size.head(d) *= omega;
  }
  const Eigen::EigenSolver<MatrixXd> eigen(balanced);
  if (eigen.info() != Eigen::Success) fail("the eigenvalues of the linearised mechanism were not found");
  std::vector<Index> order(2 * d);
  std::iota(order.begin(), order.end(), 0);
  const VectorXcd& values = eigen.eigenvalues();
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return std::abs(values[a]) < std::abs(values[b]); });
  out.eigenvalues.resize(2 * d);
  double largest = 0;
  for (Index i = 0; i < 2 * d; ++i) {
    out.eigenvalues[i] = values[order[i]];
    largest = std::max(largest, std::abs(values[i]));
  }
  // double zeros come out as the root of round-off
  const double round_off = 1e-7 * largest;
  for (const std::complex<double>& value : out.eigenvalues)
    if (value.real() > round_off) out.growth = std::max(out.growth, value.real());

  std::vector<VectorXcd> shapes;
  for (const Index i : order) {
    if (values[i].imag() < 0) continue;
    LinearMode mode;
    mode.eigenvalue = values[i];
    mode.frequency = std::abs(values[i]) / (2 * std::numbers::pi);
    mode.damping = std::abs(values[i]) > 0 ? 0.0 - values[i].real() / std::abs(values[i]) : 0;
    const VectorXcd x = eigen.eigenvectors().col(i).cwiseQuotient(size.cast<std::complex<double>>());
    VectorXcd shape = out.N * x.head(d);
    const VectorXcd speed = out.N * x.tail(d) + velocity_map * x.head(d);
    double total = 0;
    std::vector<std::pair<int, double>> shares;
    for (size_t b = 0; b < system.bodies().size(); ++b) {
      const int first = system.offset(static_cast<int>(b)), count = system.bodies()[b]->coordinates();
      const VectorXcd part = speed.segment(first, count);
      const double energy = part.dot(M.block(first, first, count, count) * part).real();
      shares.emplace_back(static_cast<int>(b), std::max(energy, 0.0));
      total += std::max(energy, 0.0);
    }
    if (total > 0)
      for (auto& share : shares) share.second /= total;
    std::stable_sort(shares.begin(), shares.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    mode.bodies = std::move(shares);
    out.modes.push_back(std::move(mode));
    Index at = 0;
    const double peak = shape.cwiseProduct(scale.cast<std::complex<double>>()).cwiseAbs().maxCoeff(&at);
    if (peak > 0) shape /= shape[at] * scale[at];
    shapes.push_back(std::move(shape));
  }
  out.shapes.resize(n, static_cast<Index>(shapes.size()));
  for (size_t i = 0; i < shapes.size(); ++i) out.shapes.col(static_cast<Index>(i)) = shapes[i];
}

}  // namespace

std::vector<std::string> input_names(const System& system, double t) {
  Linearisation names;
  find_channels(system, t, names);
  return names.inputs;
}

Linearisation linearise(SystemEquations& equations, const std::vector<Sensor>& sensors, const State& state) {
  const System& system = equations.system();
  const Index n = equations.coordinates(), m = equations.constraints();
  if (n > most_coordinates)
    fail_input(
        "the system has {} coordinates, and a linearised one is a full matrix with twice as many rows: "
        "expected {} at most; take fewer elements, or a reduced model",
        n, most_coordinates);
  const VectorXd& scale = equations.displacement_scale();
  const double length = equations.length();
  Linearisation out;
  out.t = state.t;
  out.q = state.q;
  out.v = state.v;
  for (const auto& body : system.bodies()) out.bodies.push_back(body->name());
  // a state of rest is one in which nothing gets anywhere within a second
  const double speed = n > 0 ? scale.cwiseProduct(state.v).lpNorm<Eigen::Infinity>() : 0;

  // directions of motion and the coordinates along them
  MatrixXd G(m, n), R = MatrixXd::Zero(m, n), Ga = MatrixXd::Zero(m, n);
  if (m > 0) {
    equations.constraint_gradient(state.t, state.q, G);
    equations.constraint_rate_gradient(state.t, state.q, state.v, R);
    // d(G a)/dq: what the rates have beyond those of the motions
    MatrixXd still(m, n);
    equations.constraint_rate_gradient(state.t, state.q, state.a, Ga);
    equations.constraint_rate_gradient(state.t, state.q, VectorXd::Zero(n), still);
    Ga -= still;
  }
  const MatrixXd kernel = kernel_basis(equations, G);
  const Index d = kernel.cols();
  const MotionMatrices motion = motion_matrices(equations, state);
  out.moving = speed > 1e-9 * length || reach(motion, kernel, state.a, scale) > 1e-6 * length;
  const Chart chart = make_chart(equations, state, kernel, out.moving);
  out.states = chart.names;
  for (Index i = 0; i < d; ++i) out.states.push_back(fmt::format("rate of {}", chart.names[i]));
  const Eigen::PartialPivLU<MatrixXd> inverse(product(chart.Y, kernel));
  out.N = d > 0 ? product(kernel, MatrixXd(inverse.inverse())) : MatrixXd(n, 0);

  // dv = N dz' + P dz, with G P = -R N and Y P = -Y' N
  MatrixXd P = MatrixXd::Zero(n, d);
  if (m > 0 && out.moving && d > 0) {
    const VectorXd metre = kernel.rows() > 0
                               ? VectorXd(scale.unaryExpr([&](double s) { return 1 / (s > 0 ? s : length); }))
                               : VectorXd();
    const Eigen::CompleteOrthogonalDecomposition<MatrixXd> across(MatrixXd(G * metre.asDiagonal()));
    P = metre.asDiagonal() * across.solve(MatrixXd(-product(R, out.N)));
    P -= product(out.N, MatrixXd(product(chart.Y, P) + product(chart.rate, out.N)));
  }

  // accelerations and multipliers of every change of z and z'
  MatrixXd dq(n, 2 * d), dv(n, 2 * d), da, dlambda;
  dq << out.N, MatrixXd::Zero(n, d);
  dv << P, out.N;
  MatrixXd curvature = MatrixXd::Zero(m, 2 * d);
  if (m > 0) {
    curvature = -product(Ga, dq) - 2 * product(R, dv);
    VectorXd above(m), below(m);
    for (Index i = 0; i < d && out.moving; ++i) {
      const double h = 1e-5 * length / scale.cwiseProduct(dq.col(i)).lpNorm<Eigen::Infinity>();
      equations.constraint_curvature(state.t, state.q + h * dq.col(i), state.v, above);
      equations.constraint_curvature(state.t, state.q - h * dq.col(i), state.v, below);
      curvature.col(i) -= (above - below) / (2 * h);
    }
  }
  Accelerations accelerations(equations, state);
  accelerations.solve(-product(motion.K, dq) - product(motion.C, dv), curvature, da, dlambda);
  out.A = MatrixXd::Zero(2 * d, 2 * d);
  out.A.topRightCorner(d, d).setIdentity();
  out.A.bottomRows(d) = product(chart.Y, da) + 2 * product(chart.rate, dv) + product(chart.curvature, dq);

  const std::vector<InputChannel> channels = find_channels(system, state.t, out);
  const Index u = static_cast<Index>(channels.size());
  MatrixXd forces(n, u), da_u, dlambda_u, of_inputs(n, static_cast<Index>(system.inputs().size()));
  equations.input_forces(state, of_inputs);
  for (Index i = 0; i < u; ++i) {
    const InputChannel& channel = channels[static_cast<size_t>(i)];
    forces.col(i) = channel.load >= 0 ? unit_forces(equations, channel, state.t, state.q, state.v)
                                      : VectorXd(of_inputs.col(channel.input));
  }
  accelerations.solve(forces, MatrixXd::Zero(m, u), da_u, dlambda_u);
  out.B = MatrixXd::Zero(2 * d, u);
  out.B.bottomRows(d) = product(chart.Y, da_u);

  // sensors, as they change with the state and, through accelerations and multipliers, with the loads
  SensorBank bank(system, sensors);
  bank.start(equations, state);
  const Index y = static_cast<Index>(bank.columns().size());
  for (const SensorColumn& column : bank.columns()) {
    out.outputs.push_back(column.name);
    out.output_units.push_back(si_unit(column));
  }
  out.C = MatrixXd::Zero(y, 2 * d);
  out.D = MatrixXd::Zero(y, u);
  VectorXd above(y), below(y);
  const double pace = std::max(speed, 1e-3 * length);
  for (Index i = 0; i < 2 * d; ++i) {
    // positions by a millionth of the size, velocities by as much of theirs
    const double moved = scale.cwiseProduct(dq.col(i)).lpNorm<Eigen::Infinity>(),
                 faster = scale.cwiseProduct(dv.col(i)).lpNorm<Eigen::Infinity>();
    double h = moved > 0 ? 1e-6 * length / moved : 1e-4 * pace / faster;
    if (moved > 0 && faster > 0) h = std::min(h, 1e-4 * pace / faster);
    const auto at = [&](double step, VectorXd& values) {
      const State there{state.t,
                        state.q + step * dq.col(i),
                        state.v + step * dv.col(i),
                        state.a + step * da.col(i),
                        state.lambda + step * dlambda.col(i),
                        state.turns};
      bank.evaluate(equations, there, values);
    };
    at(h, above);
    at(-h, below);
    out.C.col(i) = (above - below) / (2 * h);
  }
  // accelerations and multipliers enter sensors linearly
  bank.evaluate(equations, state, below);
  for (Index i = 0; i < u; ++i) {
    const double size = da_u.col(i).cwiseAbs().maxCoeff();
    const double h = size > 0 ? std::max(1.0, state.a.cwiseAbs().maxCoeff()) / size : 1;
    const State there{
        state.t,    state.q, state.v, state.a + h * da_u.col(i), state.lambda + h * dlambda_u.col(i),
        state.turns};
    bank.evaluate(equations, there, above);
    out.D.col(i) = (above - below) / h;
  }
  // a load that is measured is what was changed
  for (Index column = 0; column < y; ++column)
    if (const Sensor& sensor = bank.sensor_of(static_cast<int>(column)); sensor.kind == SensorKind::LoadValue)
      for (Index i = 0; i < u; ++i)
        out.D(column, i) +=
            own_value(system, equations, channels[static_cast<size_t>(i)], sensor.index, state.t);
  out.channels = channels;
  find_modes(system, motion.M, P, scale, out);
  return out;
}

}  // namespace lissom
