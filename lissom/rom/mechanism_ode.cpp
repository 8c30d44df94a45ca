#include "lissom/rom/mechanism_ode.hpp"

#include <fmt/ranges.h>

#include "lissom/time/initial_state.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Ref;
using Eigen::VectorXd;

namespace {

NewtonMatrix matrix_of(const Equations& equations) {
  return NewtonMatrix(equations.coordinates(), equations.blocks(), NewtonMatrix::Storage::Automatic,
                      equations.symmetry());
}

}  // namespace

struct MechanismOde::Impl {
  Mechanism of;
  Start start;
  Index m;
  AccelerationSolver accelerations;
  NewtonMatrix mass, tangent;
  SensorBank bank;
  std::vector<RomChannel> inputs, outputs;
  State state;
  VectorXd x0;
  // room
  VectorXd unit, column, u, above, below, x;

  Impl(Mechanism mechanism, Start at)
      : of(std::move(mechanism)),
        start(std::move(at)),
        m(start.equations->coordinates()),
        accelerations(*start.equations),
        mass(matrix_of(*start.equations)),
        tangent(matrix_of(*start.equations)),
        bank(*of.system, of.sensors),
        state(start.initial.state),
        x0(2 * m),
        unit(VectorXd::Zero(m)),
        column(m),
        x(2 * m) {
    bank.start(*start.equations, start.initial.state);
    for (const SensorColumn& one : bank.columns()) outputs.push_back({one.name, si_unit(one)});
    for (const Input& one : of.system->inputs()) inputs.push_back({one.name, "1"});
    x0 << start.initial.state.q, start.initial.state.v;
    u.resize(static_cast<Index>(inputs.size()));
    above.resize(static_cast<Index>(outputs.size()));
    below.resize(above.size());
  }

  SystemEquations& equations() { return *start.equations; }

  void set(double t, const Ref<const VectorXd>& x) {
    state.t = t;
    state.q = x.head(m);
    state.v = x.tail(m);
  }

  void set(double t, const Ref<const VectorXd>& x, const Ref<const VectorXd>& u) {
    set(t, x);
    equations().hold_inputs(u);
  }

  // Outputs at the state, whose inputs are held.
  void measure(Ref<VectorXd> y) {
    accelerations.solve(state);
    bank.evaluate(equations(), state, y);
  }

  // M at the state.
  void factorise_mass() {
    equations().jacobian(state, 1, {0, 0, 1, 1, 1}, mass);
    if (!mass.factorise())
      fail("at t = {:.6g} s {} has no mass", state.t, equations().row_name(std::max(0, mass.singular_row())));
  }

  // Column j of a matrix that was not factorised.
  void take_column(const NewtonMatrix& matrix, Index j) {
    unit[j] = 1;
    matrix.multiply(unit, column);
    unit[j] = 0;
  }
};

MechanismOde::MechanismOde(Mechanism mechanism, Start start, Diagnostics& diagnostics) {
  if (!start.equations->is_ode())
    fail_input(
        "the mechanism has {} constraints and is no ordinary differential equation; simulate it with "
        "Lissom's own integrators, or reduce it as a whole with 'lissom train'",
        start.equations->constraints());
  // a function of the state cannot count
  if (const auto winding = start.equations->turn_names(); !winding.empty())
    diagnostics.warn(
        "ode.turns",
        fmt::format("{} winds up, and a function of the state alone cannot count turns: from t, q and v its "
                    "angle is within half a turn of rest; let Lissom simulate it where it goes further",
                    fmt::join(winding, ", ")));
  impl_ = std::make_unique<Impl>(std::move(mechanism), std::move(start));
}

MechanismOde::~MechanismOde() = default;
MechanismOde::MechanismOde(MechanismOde&&) noexcept = default;

int MechanismOde::coordinates() const {
  return static_cast<int>(impl_->m);
}
const State& MechanismOde::initial() const {
  return impl_->start.initial.state;
}
std::string_view MechanismOde::method() const {
  return impl_->of.method;
}
int MechanismOde::states() const {
  return 2 * coordinates();
}
const std::vector<RomChannel>& MechanismOde::inputs() const {
  return impl_->inputs;
}
const std::vector<RomChannel>& MechanismOde::outputs() const {
  return impl_->outputs;
}
double MechanismOde::start_time() const {
  return initial().t;
}
const VectorXd& MechanismOde::start() const {
  return impl_->x0;
}
std::vector<double> MechanismOde::break_times() const {
  return impl_->equations().break_times();
}

void MechanismOde::inputs_at(double t, Vector u) const {
  const std::vector<Input>& inputs = impl_->of.system->inputs();
  for (size_t k = 0; k < inputs.size(); ++k)
    u[static_cast<Index>(k)] = inputs[k].value ? (*inputs[k].value)(t) : 0;
}

void MechanismOde::rhs(double t, const ConstVector& x, const ConstVector& u, Vector f) {
  impl_->set(t, x, u);
  impl_->accelerations.solve(impl_->state);
  f.head(impl_->m) = impl_->state.v;
  f.tail(impl_->m) = impl_->state.a;
}

// r(q, v, a, t) = M a + h = 0 gives da = -M^-1 (dr/dq dq + dr/dv dv), with M a counted in dr/dq.
void MechanismOde::jacobian(double t, const ConstVector& x, const ConstVector& u, Matrix J) {
  const Index m = impl_->m;
  SystemEquations& equations = impl_->equations();
  impl_->set(t, x, u);
  impl_->accelerations.solve(impl_->state);
  impl_->factorise_mass();
  J.topLeftCorner(m, m).setZero();
  J.topRightCorner(m, m).setIdentity();
  for (const bool of_velocity : {false, true}) {
    equations.jacobian(impl_->state, 1, {of_velocity ? 0.0 : 1.0, of_velocity ? 1.0 : 0.0, 0, 1, 1},
                       impl_->tangent);
    for (Index j = 0; j < m; ++j) {
      impl_->take_column(impl_->tangent, j);
      impl_->mass.solve_in_place(impl_->column);
      J.col(of_velocity ? m + j : j).tail(m) = -impl_->column;
    }
  }
}

void MechanismOde::input_matrix(double t, const ConstVector& x, Matrix B) {
  const Index m = impl_->m;
  SystemEquations& equations = impl_->equations();
  impl_->set(t, x);
  impl_->state.a.setZero();
  impl_->factorise_mass();
  B.topRows(m).setZero();
  equations.input_forces(impl_->state, B.bottomRows(m));
  for (Index k = 0; k < B.cols(); ++k) {
    impl_->column = B.col(k).tail(m);
    impl_->mass.solve_in_place(impl_->column);
    B.col(k).tail(m) = impl_->column;
  }
}

void MechanismOde::mass(double t, const ConstVector& x, Matrix M) {
  impl_->set(t, x);
  impl_->state.a.setZero();
  impl_->equations().jacobian(impl_->state, 1, {0, 0, 1, 1, 1}, impl_->tangent);
  for (Index j = 0; j < impl_->m; ++j) {
    impl_->take_column(impl_->tangent, j);
    M.col(j) = impl_->column;
  }
}

void MechanismOde::output(double t, const ConstVector& x, const ConstVector& u, Vector y) {
  impl_->set(t, x, u);
  impl_->measure(y);
}

void MechanismOde::output_derivatives(double t, const ConstVector& x, const ConstVector& u, Matrix C,
                                      Matrix D) {
  Impl& d = *impl_;
  const SystemEquations& equations = d.equations();
  const VectorXd& scale = equations.displacement_scale();
  const double length = equations.length();
  // inputs: outputs that are forces or accelerations are linear in them
  if (u.size() > 0)
    d.u = u;
  else
    inputs_at(t, d.u);
  d.set(t, x);
  for (Index k = 0; k < d.u.size(); ++k) {
    const double held = d.u[k], h = std::max(1.0, std::abs(held));
    d.u[k] = held + h;
    d.equations().hold_inputs(d.u);
    d.measure(d.above);
    d.u[k] = held - h;
    d.equations().hold_inputs(d.u);
    d.measure(d.below);
    d.u[k] = held;
    D.col(k) = (d.above - d.below) / (2 * h);
  }
  d.equations().hold_inputs(d.u);
  // positions by a millionth of the size, velocities by as much of theirs
  double speed = 1e-3 * length;
  for (Index i = 0; i < d.m; ++i) speed = std::max(speed, std::abs(scale[i] * x[d.m + i]));
  d.x = x;
  for (Index i = 0; i < 2 * d.m; ++i) {
    const double metres = scale[i % d.m] > 0 ? scale[i % d.m] : length;
    const double h = i < d.m ? 1e-6 * length / metres : 1e-4 * speed / metres;
    d.x[i] = x[i] + h;
    d.set(t, d.x);
    d.measure(d.above);
    d.x[i] = x[i] - h;
    d.set(t, d.x);
    d.measure(d.below);
    d.x[i] = x[i];
    C.col(i) = (d.above - d.below) / (2 * h);
  }
}

void MechanismOde::sensors(const ConstVector& t, const Ref<const MatrixXd>& x, const ConstVector& u,
                           Matrix values) {
  impl_->equations().hold_inputs(u);
  // as at the start: calling it twice gives the same
  SensorBank bank = impl_->bank;
  VectorXd row(values.rows());
  impl_->state.turns = {};
  for (Index k = 0; k < x.cols(); ++k) {
    impl_->set(t[k], x.col(k));
    impl_->equations().count_turns(impl_->state);
    impl_->accelerations.solve(impl_->state);
    bank.step(impl_->equations(), impl_->state);
    bank.evaluate(impl_->equations(), impl_->state, row);
    values.col(k) = row;
  }
  impl_->state.turns = {};
}

std::optional<double> MechanismOde::energy(double t, const ConstVector& x) {
  impl_->set(t, x);
  return impl_->equations().energy(impl_->state).total();
}

std::optional<double> MechanismOde::distance(double, const ConstVector& x, const ConstVector&) {
  const SlapTraining* training = impl_->of.training.get();
  if (!training || training->samples.cols() == 0) return std::nullopt;
  return distance_from_training(*training, x.head(impl_->m));
}

std::vector<RomNodes> MechanismOde::node_groups() const {
  std::vector<RomNodes> groups;
  for (const auto& body : impl_->of.system->bodies())
    for (const NodeGroup& group : body->node_groups()) {
      const auto first = body->node_ids().begin() + group.first;
      if (group.count > 0) groups.push_back({group.name, {first, first + group.count}});
    }
  return groups;
}

Eigen::Matrix3Xd MechanismOde::nodes(const ConstVector& x) const {
  const System& system = *impl_->of.system;
  Eigen::Matrix3Xd all(3, 0);
  for (size_t b = 0; b < system.bodies().size(); ++b) {
    const Body& body = *system.bodies()[b];
    const std::vector<NodeGroup> groups = body.node_groups();
    if (groups.empty()) continue;
    const Eigen::Matrix3Xd own =
        body.node_positions(x.segment(system.offset(static_cast<int>(b)), body.coordinates()));
    for (const NodeGroup& group : groups) {
      all.conservativeResize(Eigen::NoChange, all.cols() + group.count);
      all.rightCols(group.count) = own.middleCols(group.first, group.count);
    }
  }
  return all;
}

}  // namespace lissom
