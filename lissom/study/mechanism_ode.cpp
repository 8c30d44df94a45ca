#include "lissom/study/mechanism_ode.hpp"

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
  StudySystem built;
  Start start;
  Index m;
  AccelerationSolver accelerations;
  NewtonMatrix mass, tangent;
  SensorBank bank;
  std::vector<std::string> columns, units;
  State state;
  VectorXd unit, column;

  Impl(StudySystem system, Start at)
      : built(std::move(system)),
        start(std::move(at)),
        m(start.equations->coordinates()),
        accelerations(*start.equations),
        mass(matrix_of(*start.equations)),
        tangent(matrix_of(*start.equations)),
        bank(*built.system, built.sensors),
        state(start.initial.state),
        unit(VectorXd::Zero(m)),
        column(m) {
    bank.start(*start.equations, start.initial.state);
    for (const SensorColumn& one : bank.columns()) {
      columns.push_back(one.name);
      units.push_back(si_unit(one));
    }
  }

  SystemEquations& equations() { return *start.equations; }

  void set(double t, const Ref<const VectorXd>& x) {
    state.t = t;
    state.q = x.head(m);
    state.v = x.tail(m);
  }

  // M at the state.
  void factorise_mass() {
    equations().jacobian(state, 1, {0, 0, 1, 1, 1}, mass);
    if (!mass.factorise())
      fail("at t = {:.6g} s {} has no mass", state.t,
           equations().row_name(std::max(0, mass.singular_row())));
  }

  // Column j of a matrix that was not factorised.
  void take_column(const NewtonMatrix& matrix, Index j) {
    unit[j] = 1;
    matrix.multiply(unit, column);
    unit[j] = 0;
  }
};

MechanismOde::MechanismOde(const StudyFile& study, StudySystem built, Diagnostics& diagnostics,
                           const ProgressHook& progress) {
  if (!study.simulation)
    fail_input("{}: has no joints, loads or sensors, and so no motion", study.path.string());
  Start start = study_start(built, study, diagnostics, std::nullopt, progress);
  if (!start.equations->is_ode())
    fail_input(
        "{}: the mechanism has {} constraints and is no ordinary differential equation; simulate it with "
        "Lissom's own integrators, or reduce it as a whole with 'lissom train'",
        study.path.string(), start.equations->constraints());
  // a function of the state cannot count
  if (const auto winding = start.equations->turn_names(); !winding.empty())
    diagnostics.warn(
        "ode.turns",
        fmt::format("{} winds up, and a function of the state alone cannot count turns: from t, q and v its "
                    "angle is within half a turn of rest; let Lissom simulate it where it goes further",
                    fmt::join(winding, ", ")));
  impl_ = std::make_unique<Impl>(std::move(built), std::move(start));
}

MechanismOde::~MechanismOde() = default;

int MechanismOde::coordinates() const {
  return static_cast<int>(impl_->m);
}
const StudySystem& MechanismOde::built() const {
  return impl_->built;
}
const State& MechanismOde::initial() const {
  return impl_->start.initial.state;
}
std::vector<double> MechanismOde::break_times() const {
  return impl_->equations().break_times();
}
const std::vector<std::string>& MechanismOde::columns() const {
  return impl_->columns;
}
const std::vector<std::string>& MechanismOde::units() const {
  return impl_->units;
}

void MechanismOde::rhs(double t, const Ref<const VectorXd>& x, Ref<VectorXd> f) {
  impl_->set(t, x);
  impl_->accelerations.solve(impl_->state);
  f.head(impl_->m) = impl_->state.v;
  f.tail(impl_->m) = impl_->state.a;
}

std::vector<std::string> MechanismOde::inputs() const {
  std::vector<std::string> names;
  for (const Input& input : impl_->built.system->inputs()) names.push_back(input.name);
  return names;
}

void MechanismOde::hold_inputs(const Ref<const VectorXd>& u) {
  if (const auto names = inputs(); u.size() != 0 && u.size() != static_cast<Index>(names.size()))
    fail_input("u: has {} numbers, and there are {} inputs{}{}", u.size(), names.size(),
               names.empty() ? "" : ": ", fmt::join(names, ", "));
  impl_->equations().hold_inputs(u);
}

// r(q, v, a, t) = M a + h = 0 gives da = -M^-1 (dr/dq dq + dr/dv dv), with M a counted in dr/dq.
void MechanismOde::jacobian(double t, const Ref<const VectorXd>& x, Ref<MatrixXd> J) {
  const Index m = impl_->m;
  SystemEquations& equations = impl_->equations();
  impl_->set(t, x);
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

void MechanismOde::input_matrix(double t, const Ref<const VectorXd>& x, Ref<MatrixXd> B) {
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

void MechanismOde::mass(double t, const Ref<const VectorXd>& x, Ref<MatrixXd> M) {
  impl_->set(t, x);
  impl_->state.a.setZero();
  impl_->equations().jacobian(impl_->state, 1, {0, 0, 1, 1, 1}, impl_->tangent);
  for (Index j = 0; j < impl_->m; ++j) {
    impl_->take_column(impl_->tangent, j);
    M.col(j) = impl_->column;
  }
}

void MechanismOde::sensors(const Ref<const VectorXd>& t, const Ref<const MatrixXd>& x, Ref<MatrixXd> values) {
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

}  // namespace lissom
