#include "lissom/study/linearise.hpp"

#include <fmt/ranges.h>
#include <matio.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/table.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/study/analysis_names.hpp"
#include "lissom/time/tangent_space.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

// Full matrices of twice this order and their eigenvalues take minutes.
constexpr Index most_coordinates = 2000;

// The system with one of its loads a unit larger along its own direction; the others as they are.
struct Input {
  int load = 0;
  Eigen::Vector3d direction = Eigen::Vector3d::Zero();  // of forces and torques
};

// to += J' by, on the coordinates that the marker depends on.
void add_transposed(const SystemEquations& equations, const MarkerRef& ref, const MarkerKinematics& marker,
                    const Vector12d& by, VectorXd& to) {
  Index k = 0;
  for (const int i : equations.marker_columns(ref)) to[i] += marker.J.col(k++).dot(by);
}

// Forces on the coordinates of a unit of the input.
VectorXd unit_forces(SystemEquations& equations, const Input& input, double t, const VectorXd& q,
                     const VectorXd& v) {
  const System& system = equations.system();
  Load unit = system.loads()[input.load];
  if (unit.kind == LoadKind::LineForce)
    unit.magnitude = TimeFunction(1);
  else
    for (int k = 0; k < 3; ++k) unit.components[k] = TimeFunction(input.direction[k]);
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
    const bool turns = joint.kind == JointKind::Revolute || joint.kind == JointKind::Cylindrical;
    const bool slides = joint.kind == JointKind::Prismatic || joint.kind == JointKind::Cylindrical;
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

// The loads that are inputs, with their directions; names and units go to `out`.
std::vector<Input> find_inputs(const System& system, double t, Linearisation& out) {
  std::vector<Input> inputs;
  for (size_t l = 0; l < system.loads().size(); ++l) {
    const Load& load = system.loads()[l];
    if (holds(load.kind)) continue;
    Input input;
    input.load = static_cast<int>(l);
    if (load.kind != LoadKind::LineForce) {
      for (int k = 0; k < 3; ++k) input.direction[k] = load.components[k](t);
      // a load that is zero now: its direction at any later time
      for (double later = 1e-6; input.direction.isZero(0) && later < 1e6; later *= 10)
        for (int k = 0; k < 3; ++k) input.direction[k] = load.components[k](later);
      if (input.direction.isZero(0)) continue;
      input.direction.normalize();
    }
    inputs.push_back(input);
    out.inputs.push_back(load.name);
    out.input_units.push_back(load.kind == LoadKind::Torque ? "N m" : "N");
  }
  return inputs;
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
  find_inputs(system, t, names);
  return names.inputs;
}

Linearisation linearise(const StudySystem& built, SystemEquations& equations, const State& state) {
  const System& system = *built.system;
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
  const double pull = n > 0 ? scale.cwiseProduct(state.a).lpNorm<Eigen::Infinity>() : 0;
  out.moving = speed > 1e-9 * length || pull > 1e-6 * length;

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
  const MotionMatrices motion = motion_matrices(equations, state);
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

  const std::vector<Input> inputs = find_inputs(system, state.t, out);
  const Index u = static_cast<Index>(inputs.size());
  MatrixXd forces(n, u), da_u, dlambda_u;
  for (Index i = 0; i < u; ++i) forces.col(i) = unit_forces(equations, inputs[i], state.t, state.q, state.v);
  accelerations.solve(forces, MatrixXd::Zero(m, u), da_u, dlambda_u);
  out.B = MatrixXd::Zero(2 * d, u);
  out.B.bottomRows(d) = product(chart.Y, da_u);

  // sensors, as they change with the state and, through accelerations and multipliers, with the loads
  SensorBank bank(system, built.sensors);
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
  // a load that is measured is the input itself
  Index column = 0;
  for (const Sensor& sensor : built.sensors) {
    for (Index i = 0; i < u && sensor.kind == SensorKind::LoadValue; ++i)
      if (inputs[i].load == sensor.index) out.D(column, i) += 1;
    const std::string prefix = sensor.name + ".";
    while (column < y && out.outputs[column].starts_with(prefix)) ++column;
  }
  find_modes(system, motion.M, P, scale, out);
  return out;
}

Linearisation linearise_study(const StudyFile& study, const LineariseSpec& spec,
                              const std::function<StudySystem()>& make, Diagnostics& diagnostics,
                              const ProgressHook& progress, const std::function<bool()>& stop) {
  if (!study.simulation)
    fail_input("{}: has no loads, sensors or joints to be linearised", study.path.string());
  StudyFile asked = study;
  StudySystem built = make();
  State state;
  std::unique_ptr<SystemEquations> equations;
  if (spec.about == LineariseSpec::About::Time) {
    if (!study.simulation->simulate)
      fail_input("{}: has no [simulate] that leads to t = {:g} s", study.path.string(), spec.time);
    if (!(spec.time > 0)) fail_input("the time to linearise at is {} s, expected one from 0 on", spec.time);
    asked.simulation->simulate->integrator.end = spec.time;
    SimulationOptions options;
    options.write_files = false;
    options.stop = stop;
    const SimulationRun run = simulate(asked, {}, make(), diagnostics, progress, options);
    const Index last = run.sample_times.size() - 1;
    const SystemCheck check = check_system(*built.system, 0, built.q);
    equations = std::make_unique<SystemEquations>(*built.system, check.kept);
    state = make_consistent(*equations, run.sample_times[last], run.q.col(last), run.v.col(last), {},
                            run.turns_at(last))
                .state;
  } else {
    const bool statics = spec.about == LineariseSpec::About::Static;
    Start start =
        make_start(built, asked, diagnostics, statics ? std::optional<double>(0) : std::nullopt, progress);
    state = start.initial.state;
    equations = std::move(start.equations);
  }
  Linearisation model = linearise(built, *equations, state);
  if (model.moving)
    diagnostics.warn(
        "linearise.moving",
        fmt::format("at t = {:.6g} s the mechanism moves or is not in equilibrium: A, B, C and D are "
                    "those of this moment, and so are the frequencies",
                    state.t));
  return model;
}

json linearisation_json(const Linearisation& model) {
  const auto rows = [](const MatrixXd& matrix) {
    json list = json::array();
    for (Index i = 0; i < matrix.rows(); ++i) {
      json row = json::array();
      for (Index k = 0; k < matrix.cols(); ++k) row.push_back(matrix(i, k));
      list.push_back(std::move(row));
    }
    return list;
  };
  json eigenvalues = json::array();
  for (const std::complex<double>& value : model.eigenvalues)
    eigenvalues.push_back({value.real(), value.imag()});
  json modes = json::array();
  for (const LinearMode& mode : model.modes) {
    json bodies = json::object();
    for (const auto& [body, share] : mode.bodies) bodies[model.bodies[body]] = share;
    modes.push_back({{"frequency_hz", mode.frequency},
                     {"damping_ratio", mode.damping},
                     {"eigenvalue", {mode.eigenvalue.real(), mode.eigenvalue.imag()}},
                     {"bodies", std::move(bodies)}});
  }
  return {{"t", model.t},
          {"q", std::vector<double>(model.q.begin(), model.q.end())},
          {"v", std::vector<double>(model.v.begin(), model.v.end())},
          {"states", model.states},
          {"N", rows(model.N)},
          {"A", rows(model.A)},
          {"B", rows(model.B)},
          {"C", rows(model.C)},
          {"D", rows(model.D)},
          {"inputs", model.inputs},
          {"input_units", model.input_units},
          {"outputs", model.outputs},
          {"output_units", model.output_units},
          {"eigenvalues", std::move(eigenvalues)},
          {"modes", std::move(modes)},
          {"stable", model.stable()},
          {"growth", model.growth},
          {"moving", model.moving}};
}

std::string describe_linearisation(const Linearisation& model, int modes) {
  std::string text = fmt::format("linearised at t = {:.6g} s: states {}, inputs {}, outputs {}\n", model.t,
                                 model.A.rows(), model.inputs.size(), model.outputs.size());
  text += model.stable() ? "no part of it grows\n"
                         : fmt::format("unstable: a part of it grows as exp({:.4g} t)\n", model.growth);
  Table table({"mode", "frequency", "damping ratio", "real part", "bodies"});
  const int shown = std::min<int>(modes, static_cast<int>(model.modes.size()));
  for (int i = 0; i < shown; ++i) {
    const LinearMode& mode = model.modes[i];
    std::vector<std::string> bodies;
    for (const auto& [body, share] : mode.bodies)
      if (share > 0.01) bodies.push_back(fmt::format("{} {:.0f} %", model.bodies[body], 100 * share));
    table.add({std::to_string(i + 1), fmt::format("{:.6g} Hz", mode.frequency),
               fmt::format("{:.4g}", mode.damping), fmt::format("{:.4g} 1/s", mode.eigenvalue.real()),
               fmt::format("{}", fmt::join(bodies, ", "))});
  }
  text += table.str();
  if (shown < static_cast<int>(model.modes.size()))
    text += fmt::format("and {} more\n", static_cast<int>(model.modes.size()) - shown);
  return text;
}

void write_linearisation(const Linearisation& model, const std::filesystem::path& path) {
  AtomicFile target(path);
  const std::string written_by = fmt::format("MATLAB 5.0 MAT-file, written by Lissom {}", LISSOM_VERSION);
  const std::string temporary = target.temporary().string();
  std::unique_ptr<mat_t, int (*)(mat_t*)> file(
      Mat_CreateVer(temporary.c_str(), written_by.c_str(), MAT_FT_MAT5), Mat_Close);
  if (!file) fail("{}: cannot be written", path.string());
  const auto add = [&](matvar_t* made) {
    std::unique_ptr<matvar_t, void (*)(matvar_t*)> variable(made, Mat_VarFree);
    if (!variable || Mat_VarWrite(file.get(), variable.get(), MAT_COMPRESSION_NONE) != 0)
      fail("{}: cannot be written", path.string());
  };
  const auto matrix = [&](const char* name, const MatrixXd& values) {
    size_t dims[2] = {static_cast<size_t>(values.rows()), static_cast<size_t>(values.cols())};
    add(Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, const_cast<double*>(values.data()), 0));
  };
  const auto names = [&](const char* name, const std::vector<std::string>& texts) {
    size_t dims[2] = {texts.size(), 1};
    matvar_t* cell = Mat_VarCreate(name, MAT_C_CELL, MAT_T_CELL, 2, dims, nullptr, 0);
    for (size_t i = 0; cell && i < texts.size(); ++i) {
      size_t length[2] = {1, texts[i].size()};
      Mat_VarSetCell(
          cell, static_cast<int>(i),
          Mat_VarCreate(nullptr, MAT_C_CHAR, MAT_T_UTF8, 2, length, const_cast<char*>(texts[i].c_str()), 0));
    }
    add(cell);
  };
  matrix("A", model.A);
  matrix("B", model.B);
  matrix("C", model.C);
  matrix("D", model.D);
  matrix("eta", model.q);
  matrix("eta_rate", model.v);
  matrix("N", model.N);
  matrix("shapes_real", model.shapes.real());
  matrix("shapes_imaginary", model.shapes.imag());
  matrix("t", MatrixXd::Constant(1, 1, model.t));
  names("states", model.states);
  names("inputs", model.inputs);
  names("outputs", model.outputs);
  // a full disk may show only here
  if (Mat_Close(file.release()) != 0) fail("{}: cannot be written", path.string());
  target.commit();
}

}  // namespace lissom
