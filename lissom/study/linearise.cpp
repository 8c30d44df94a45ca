#include "lissom/study/linearise.hpp"

#include <fmt/format.h>
#include <matio.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <cmath>
#include <memory>
#include <numbers>

#include "lissom/core/text.hpp"
#include "lissom/io/table.hpp"
#include "lissom/time/initial_state.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

// The system with one of its loads a unit larger along its own direction; the others as they are.
struct Input {
  int load = 0;
  Eigen::Vector3d direction = Eigen::Vector3d::Zero();  // of forces and torques
};

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
  const auto add = [&](const MarkerRef& ref, const MarkerKinematics& marker, int from) {
    if (ref.body < 0) return;
    forces.segment(system.offset(ref.body), marker.J.cols()) +=
        marker.J.transpose() * evaluation.force.segment<12>(from);
  };
  add(unit.first, first, 0);
  add(unit.second, second, 12);
  return forces;
}

}  // namespace

Linearisation linearise(const StudySystem& built, double t, const VectorXd& q, const VectorXd& v) {
  const System& system = *built.system;
  SystemEquations equations(system);
  if (!equations.is_ode())
    fail_input(
        "only a mechanism without constraints can be linearised here: a reduced one (model = \"slap\")");
  const Index m = equations.coordinates();
  Linearisation out;
  out.t = t;
  out.q = q;
  out.v = v;

  // accelerations of the state, then dr/dq, dr/dv and M
  State state{t, q, v, VectorXd::Zero(m), VectorXd(0)};
  AccelerationSolver solver(equations);
  solver.solve(state);
  NewtonMatrix matrix(static_cast<int>(m), equations.blocks(), NewtonMatrix::Storage::Dense);
  const auto derivative = [&](double by_q, double by_v, double by_a) {
    equations.jacobian(state, 1, JacobianWeights{by_q, by_v, by_a, 1, 1}, matrix);
    return matrix.dense();
  };
  const MatrixXd K = derivative(1, 0, 0), damping = derivative(0, 1, 0), M = derivative(0, 0, 1);
  const Eigen::LDLT<MatrixXd> mass(M);
  out.A = MatrixXd::Zero(2 * m, 2 * m);
  out.A.topRightCorner(m, m).setIdentity();
  out.A.bottomLeftCorner(m, m) = -mass.solve(K);
  out.A.bottomRightCorner(m, m) = -mass.solve(damping);

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
  const Index u = static_cast<Index>(inputs.size());
  MatrixXd forces(m, u);
  for (Index i = 0; i < u; ++i) forces.col(i) = unit_forces(equations, inputs[i], t, q, v);
  out.B = MatrixXd::Zero(2 * m, u);
  out.B.bottomRows(m) = mass.solve(forces);

  // sensors, as they change with the state and, through the accelerations, with the loads
  SensorBank bank(system, built.sensors);
  bank.start(equations, state);
  const Index y = static_cast<Index>(bank.columns().size());
  for (const SensorColumn& column : bank.columns()) {
    out.outputs.push_back(column.name);
    out.output_units.push_back(si_unit(column));
  }
  out.C = MatrixXd::Zero(y, 2 * m);
  out.D = MatrixXd::Zero(y, u);
  VectorXd above(y), below(y);
  const auto measure = [&](State& there, VectorXd& values) { bank.evaluate(equations, there, values); };
  const double length = equations.length();
  const VectorXd& scale = equations.displacement_scale();
  const double speed = std::max(scale.cwiseProduct(v).cwiseAbs().maxCoeff(), 1e-3 * length);
  for (Index i = 0; i < 2 * m; ++i) {
    const bool position = i < m;
    const double h = (position ? 1e-6 * length : 1e-4 * speed) / scale[i % m];
    State there = state;
    const auto at = [&](double step, VectorXd& values) {
      (position ? there.q : there.v)[i % m] = (position ? q : v)[i % m] + step;
      solver.solve(there);
      measure(there, values);
    };
    at(h, above);
    at(-h, below);
    out.C.col(i) = (above - below) / (2 * h);
  }
  // accelerations enter sensors linearly
  measure(state, below);
  for (Index i = 0; i < u; ++i) {
    State there = state;
    const VectorXd change = out.B.col(i).tail(m);
    const double size = change.cwiseAbs().maxCoeff();
    if (!(size > 0)) continue;
    const double h = std::max(1.0, state.a.cwiseAbs().maxCoeff()) / size;
    there.a += h * change;
    measure(there, above);
    out.D.col(i) = (above - below) / h;
  }
  // balanced: displacements and velocities of one size at the highest frequency
  MatrixXd balanced = out.A;
  const double omega = std::sqrt(out.A.bottomLeftCorner(m, m).norm());
  if (omega > 0) {
    balanced.topRightCorner(m, m) *= omega;
    balanced.bottomLeftCorner(m, m) /= omega;
  }
  out.eigenvalues = Eigen::EigenSolver<MatrixXd>(balanced, false).eigenvalues();
  return out;
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
  return {{"t", model.t},
          {"q", std::vector<double>(model.q.begin(), model.q.end())},
          {"v", std::vector<double>(model.v.begin(), model.v.end())},
          {"A", rows(model.A)},
          {"B", rows(model.B)},
          {"C", rows(model.C)},
          {"D", rows(model.D)},
          {"inputs", model.inputs},
          {"input_units", model.input_units},
          {"outputs", model.outputs},
          {"output_units", model.output_units},
          {"eigenvalues", std::move(eigenvalues)}};
}

std::string describe_linearisation(const Linearisation& model) {
  std::string text = fmt::format("linearised at t = {:.6g} s: {} states, {} inputs, {} outputs\n", model.t,
                                 model.A.rows(), model.inputs.size(), model.outputs.size());
  Table table({"frequency", "damping ratio", "real part"});
  for (const std::complex<double>& value : model.eigenvalues) {
    if (value.imag() < 0) continue;
    const double omega = std::abs(value);
    table.add({fmt::format("{:.6g} Hz", omega / (2 * std::numbers::pi)),
               omega > 0 ? fmt::format("{:.4g}", -value.real() / omega) : "-",
               fmt::format("{:.4g} 1/s", value.real())});
  }
  return text + table.str();
}

void write_linearisation(const Linearisation& model, const std::filesystem::path& path) {
  const std::string temporary = path.string() + ".tmp";
  std::unique_ptr<mat_t, int (*)(mat_t*)> file(Mat_CreateVer(temporary.c_str(), nullptr, MAT_FT_MAT5),
                                               Mat_Close);
  if (!file) fail("{}: cannot be written", path.string());
  const auto add = [&](matvar_t* made) {
    std::unique_ptr<matvar_t, void (*)(matvar_t*)> variable(made, Mat_VarFree);
    if (!variable || Mat_VarWrite(file.get(), variable.get(), MAT_COMPRESSION_NONE) != 0) {
      std::filesystem::remove(temporary);
      fail("{}: cannot be written", path.string());
    }
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
  matrix("t", MatrixXd::Constant(1, 1, model.t));
  names("inputs", model.inputs);
  names("outputs", model.outputs);
  file.reset();
  std::filesystem::rename(temporary, path);
}

}  // namespace lissom
