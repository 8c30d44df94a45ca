// Mechanisms as ordinary differential equations.
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include "lissom/rom/linear/linear_rom.hpp"
#include "lissom/rom/slap/slap_model.hpp"
#include "lissom/study/mechanism.hpp"
#include "python/src/arrays.hpp"
#include "python/src/inputs.hpp"
#include "python/src/module.hpp"
#include "python/src/session.hpp"

namespace lissom::python {

namespace {

using OptionalNumbers = std::optional<Numbers>;

// A reduced mechanism, whichever the method; what only bodies know is asked of the mechanism. Evaluations are short
// and share their room, so they keep the interpreter's lock.
class PyOde {
 public:
  explicit PyOde(std::unique_ptr<Rom> rom)
      : rom_(std::move(rom)),
        mechanism_(dynamic_cast<MechanismOde*>(rom_.get())),
        linear_(dynamic_cast<LinearRom*>(rom_.get())),
        n_(rom_->states()),
        x_(n_),
        f_(n_),
        u_(static_cast<Eigen::Index>(rom_->inputs().size())) {}

  std::string method() const { return std::string(rom_->method()); }
  int order() const { return mechanism_ ? mechanism_->coordinates() : n_; }
  int states() const { return n_; }
  double start_time() const { return rom_->start_time(); }
  std::vector<double> break_times() const { return rom_->break_times(); }
  std::vector<std::string> inputs() const { return names_of(rom_->inputs()); }
  std::vector<std::string> columns() const { return names_of(rom_->outputs()); }
  std::vector<std::string> units() const {
    std::vector<std::string> list;
    for (const RomChannel& output : rom_->outputs()) list.push_back(output.unit);
    return list;
  }
  bool has_training() const {
    return mechanism_ && rom_->distance(start_time(), rom_->start(), Eigen::VectorXd()).has_value();
  }

  py::array x0() const { return copy(rom_->start()); }

  // (p): what the study says at t.
  py::array inputs_at(double t) {
    rom_->inputs_at(t, u_);
    return copy(u_);
  }

  // (n) -> (n), (n, k) -> (n, k).
  py::array rhs(double t, const Numbers& x, const OptionalNumbers& u) {
    const Eigen::Map<const Eigen::VectorXd> held = inputs_of(u);
    const py::ssize_t k = expect_states(x);
    py::array_t<double> out(std::vector<py::ssize_t>(x.shape(), x.shape() + x.ndim()));
    double* to = out.mutable_data();
    for (py::ssize_t j = 0; j < k; ++j) {
      take(x, j, k);
      rom_->rhs(t, x_, held, f_);
      for (int i = 0; i < n_; ++i) to[i * k + j] = f_[i];
    }
    return out;
  }

  py::array jac(double t, const Numbers& x, const OptionalNumbers& u) {
    const Eigen::Map<const Eigen::VectorXd> held = inputs_of(u);
    expect_one(x);
    take(x, 0, 1);
    py::array_t<double, py::array::f_style> out({n_, n_});
    rom_->jacobian(t, x_, held, Eigen::Map<Eigen::MatrixXd>(out.mutable_data(), n_, n_));
    return out;
  }

  py::array input_matrix(double t, const Numbers& x) {
    expect_one(x);
    take(x, 0, 1);
    Eigen::MatrixXd B(n_, u_.size());
    rom_->input_matrix(t, x_, B);
    return give(std::move(B));
  }

  // A, B, C, D at a state.
  py::tuple linearise(double t, const Numbers& x, const OptionalNumbers& u) {
    const Eigen::Map<const Eigen::VectorXd> held = inputs_of(u);
    expect_one(x);
    take(x, 0, 1);
    const auto k = static_cast<Eigen::Index>(rom_->outputs().size());
    Eigen::MatrixXd A(n_, n_), B(n_, u_.size()), C(k, n_), D(k, u_.size());
    rom_->jacobian(t, x_, held, A);
    rom_->input_matrix(t, x_, B);
    rom_->output_derivatives(t, x_, held, C, D);
    return py::make_tuple(give(std::move(A)), give(std::move(B)), give(std::move(C)), give(std::move(D)));
  }

  py::array mass(double t, const Numbers& x) {
    MechanismOde& mechanism = expect_mechanism("mass matrix");
    const int m = mechanism.coordinates();
    expect_one(x);
    take(x, 0, 1);
    py::array_t<double, py::array::f_style> out({m, m});
    mechanism.mass(t, x_, Eigen::Map<Eigen::MatrixXd>(out.mutable_data(), m, m));
    return out;
  }

  // (columns, k) at the times t (k).
  py::array sensors(const Numbers& t, const Numbers& x, const OptionalNumbers& u) {
    const Eigen::Map<const Eigen::VectorXd> held = inputs_of(u);
    const py::ssize_t k = expect_states(x);
    if (t.size() != k) fail_input("t: expected {} times, one a state, found {}", k, t.size());
    Eigen::MatrixXd states(n_, k);
    for (py::ssize_t j = 0; j < k; ++j) {
      take(x, j, k);
      states.col(j) = x_;
    }
    Eigen::MatrixXd values(static_cast<Eigen::Index>(rom_->outputs().size()), k);
    if (mechanism_)
      mechanism_->sensors(Eigen::Map<const Eigen::VectorXd>(t.data(), k), states, held, values);
    else
      for (py::ssize_t j = 0; j < k; ++j) rom_->output(t.data()[j], states.col(j), held, values.col(j));
    return give(std::move(values));
  }

  // x (n) a step of h seconds later under u (p), which is held: exact.
  py::array step(const Numbers& x, const Numbers& u, double h) {
    if (!linear_) fail_input("step: only linear models are solved exactly; integrate rhs(t, x, u) of others");
    if (!(h > 0 && std::isfinite(h))) fail_input("h: is {}, expected a step in seconds above 0", h);
    const Eigen::Map<const Eigen::VectorXd> held = inputs_of(u);
    expect_one(x);
    take(x, 0, 1);
    if (!stepper_ || stepper_->step() != h) stepper_.emplace(linear_->model(), h);
    u_ = held - linear_->model().u0;
    stepper_->held(u_, x_);
    return copy(x_);
  }

  // Name, node numbers and positions (nodes, 3) of every part.
  py::list nodes(const Numbers& x) {
    expect_one(x);
    take(x, 0, 1);
    py::list out;
    const Eigen::Matrix3Xd all = rom_->nodes(x_);
    Eigen::Index first = 0;
    for (const RomNodes& group : rom_->node_groups()) {
      const auto count = static_cast<py::ssize_t>(group.numbers.size());
      py::array_t<double> positions({count, static_cast<py::ssize_t>(3)});
      Eigen::Map<Eigen::Matrix3Xd>(positions.mutable_data(), 3, count) = all.middleCols(first, count);
      out.append(
          py::make_tuple(group.name, py::array_t<std::int64_t>(count, group.numbers.data()), positions));
      first += count;
    }
    return out;
  }

  // (k).
  py::array distance(const Numbers& x) {
    const py::ssize_t k = expect_states(x);
    py::array_t<double> out(k);
    for (py::ssize_t j = 0; j < k; ++j) {
      take(x, j, k);
      out.mutable_at(j) = mechanism_ ? rom_->distance(start_time(), x_, Eigen::VectorXd()).value_or(0) : 0;
    }
    return out;
  }

 private:
  static std::vector<std::string> names_of(const std::vector<RomChannel>& channels) {
    std::vector<std::string> list;
    for (const RomChannel& channel : channels) list.push_back(channel.name);
    return list;
  }
  MechanismOde& expect_mechanism(const char* what) {
    if (!mechanism_) fail_input("a {} model has no {}", rom_->method(), what);
    return *mechanism_;
  }
  // Inputs of one call; without numbers they are those of the study.
  Eigen::Map<const Eigen::VectorXd> inputs_of(const OptionalNumbers& u) const {
    if (!u) return {nullptr, 0};
    if (const auto names = inputs(); u->size() != static_cast<py::ssize_t>(names.size()) && u->size() != 0)
      fail_input("u: has {} numbers, and there are {} inputs{}{}", u->size(), names.size(),
                 names.empty() ? "" : ": ", fmt::join(names, ", "));
    for (py::ssize_t i = 0; i < u->size(); ++i)
      if (!std::isfinite(u->data()[i])) fail_input("u: has a number that is not finite: {}", u->data()[i]);
    return {u->data(), u->size()};
  }
  py::ssize_t expect_states(const Numbers& x) const {
    if (x.ndim() < 1 || x.ndim() > 2 || x.shape(0) != n_)
      fail_input("x: expected a state of {} numbers{}, or columns of them, found an array of shape {}", n_,
                 mechanism_ ? " (coordinates, then rates)" : "", shape_of(x));
    for (py::ssize_t i = 0; i < x.size(); ++i)
      if (!std::isfinite(x.data()[i])) fail_input("x: has a number that is not finite: {}", x.data()[i]);
    return x.ndim() == 2 ? x.shape(1) : 1;
  }
  void expect_one(const Numbers& x) const {
    if (x.ndim() != 1)
      fail_input("x: expected one state of {} numbers, found an array of shape {}", n_, shape_of(x));
    expect_states(x);
  }
  static std::string shape_of(const Numbers& x) {
    std::string text;
    for (py::ssize_t i = 0; i < x.ndim(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", x.shape(i));
    return "(" + text + ")";
  }
  // State j of k.
  void take(const Numbers& x, py::ssize_t j, py::ssize_t k) {
    const double* from = x.data() + j;
    for (int i = 0; i < n_; ++i) x_[i] = from[i * k];
  }

  std::unique_ptr<Rom> rom_;
  MechanismOde* mechanism_;  // or
  LinearRom* linear_;
  int n_;
  Eigen::VectorXd x_, f_, u_;
  std::optional<LinearStepper> stepper_;  // the last one
};

std::shared_ptr<PyOde> make_ode(Session& session, const PyMechanism& mechanism) {
  return session.run([&] {
    const Mechanism opened = open_mechanism(mechanism_input(mechanism), session.context());
    return std::make_shared<PyOde>(open_rom(opened, session.context()));
  });
}

}  // namespace

void add_ode(py::module_& module) {
  py::class_<PyOde, std::shared_ptr<PyOde>>(module, "Ode")
      .def("method", &PyOde::method)
      .def("order", &PyOde::order)
      .def("states", &PyOde::states)
      .def("start_time", &PyOde::start_time)
      .def("break_times", &PyOde::break_times)
      .def("columns", &PyOde::columns)
      .def("units", &PyOde::units)
      .def("has_training", &PyOde::has_training)
      .def("x0", &PyOde::x0)
      .def("rhs", &PyOde::rhs)
      .def("jac", &PyOde::jac)
      .def("inputs", &PyOde::inputs)
      .def("inputs_at", &PyOde::inputs_at)
      .def("input_matrix", &PyOde::input_matrix)
      .def("linearise", &PyOde::linearise)
      .def("step", &PyOde::step)
      .def("mass", &PyOde::mass)
      .def("sensors", &PyOde::sensors)
      .def("nodes", &PyOde::nodes)
      .def("distance", &PyOde::distance);
  module.def("make_ode", &make_ode);
}

}  // namespace lissom::python
