// Mechanisms as ordinary differential equations.
#include <pybind11/stl.h>

#include "lissom/rom/slap/slap_model.hpp"
#include "lissom/study/mechanism_ode.hpp"
#include "lissom/study/pod_system.hpp"
#include "python/src/arrays.hpp"
#include "python/src/inputs.hpp"
#include "python/src/module.hpp"
#include "python/src/session.hpp"

namespace lissom::python {

namespace {

using OptionalNumbers = std::optional<Numbers>;

// Evaluations are short and share their room, so they keep the interpreter's lock.
class PyOde {
 public:
  PyOde(const StudyFile& study, StudySystem built, Session& session)
      : ode_(study, std::move(built), session.diagnostics(), session.context().progress),
        m_(ode_.coordinates()),
        x_(2 * m_),
        f_(2 * m_) {}

  int order() const { return m_; }
  double start_time() const { return ode_.initial().t; }
  std::vector<double> break_times() const { return ode_.break_times(); }
  std::vector<std::string> inputs() const { return ode_.inputs(); }
  std::vector<std::string> columns() const { return ode_.columns(); }
  std::vector<std::string> units() const { return ode_.units(); }
  bool has_training() const {
    const SlapTraining* training = training_of(ode_.built());
    return training && training->samples.cols() > 0;
  }

  py::array x0() const {
    Eigen::VectorXd x(2 * m_);
    x << ode_.initial().q, ode_.initial().v;
    py::array_t<double> out(2 * m_);
    std::copy_n(x.data(), 2 * m_, out.mutable_data());
    return out;
  }

  // (2 m) -> (2 m), (2 m, k) -> (2 m, k).
  py::array rhs(double t, const Numbers& x, const OptionalNumbers& u) {
    hold(u);
    const py::ssize_t k = expect_states(x);
    py::array_t<double> out(std::vector<py::ssize_t>(x.shape(), x.shape() + x.ndim()));
    double* to = out.mutable_data();
    for (py::ssize_t j = 0; j < k; ++j) {
      take(x, j, k);
      ode_.rhs(t, x_, f_);
      for (int i = 0; i < 2 * m_; ++i) to[i * k + j] = f_[i];
    }
    return out;
  }

  py::array jac(double t, const Numbers& x, const OptionalNumbers& u) {
    hold(u);
    expect_one(x);
    take(x, 0, 1);
    py::array_t<double, py::array::f_style> out({2 * m_, 2 * m_});
    ode_.jacobian(t, x_, Eigen::Map<Eigen::MatrixXd>(out.mutable_data(), 2 * m_, 2 * m_));
    return out;
  }

  py::array input_matrix(double t, const Numbers& x) {
    expect_one(x);
    take(x, 0, 1);
    const auto p = static_cast<Eigen::Index>(ode_.inputs().size());
    Eigen::MatrixXd B(2 * m_, p);
    ode_.input_matrix(t, x_, B);
    return give(std::move(B));
  }

  py::array mass(double t, const Numbers& x) {
    expect_one(x);
    take(x, 0, 1);
    py::array_t<double, py::array::f_style> out({m_, m_});
    ode_.mass(t, x_, Eigen::Map<Eigen::MatrixXd>(out.mutable_data(), m_, m_));
    return out;
  }

  // (columns, k) at the times t (k).
  py::array sensors(const Numbers& t, const Numbers& x, const OptionalNumbers& u) {
    hold(u);
    const py::ssize_t k = expect_states(x);
    if (t.size() != k) fail_input("t: expected {} times, one a state, found {}", k, t.size());
    Eigen::MatrixXd states(2 * m_, k);
    for (py::ssize_t j = 0; j < k; ++j) {
      take(x, j, k);
      states.col(j) = x_;
    }
    Eigen::MatrixXd values(static_cast<Eigen::Index>(ode_.columns().size()), k);
    ode_.sensors(Eigen::Map<const Eigen::VectorXd>(t.data(), k), states, values);
    return give(std::move(values));
  }

  // Name, node numbers and positions (nodes, 3) of every part.
  py::list nodes(const Numbers& x) {
    expect_one(x);
    take(x, 0, 1);
    py::list out;
    const System& system = *ode_.built().system;
    for (size_t b = 0; b < system.bodies().size(); ++b) {
      const Body& body = *system.bodies()[b];
      const auto groups = body.node_groups();
      if (groups.empty()) continue;
      const Eigen::Matrix3Xd all =
          body.node_positions(x_.segment(system.offset(static_cast<int>(b)), body.coordinates()));
      for (const NodeGroup& group : groups) {
        if (group.count == 0) continue;
        py::array_t<double> positions({static_cast<py::ssize_t>(group.count), static_cast<py::ssize_t>(3)});
        Eigen::Map<Eigen::Matrix3Xd>(positions.mutable_data(), 3, group.count) =
            all.middleCols(group.first, group.count);
        out.append(py::make_tuple(group.name,
                                  py::array_t<std::int64_t>(static_cast<py::ssize_t>(group.count),
                                                            body.node_ids().data() + group.first),
                                  positions));
      }
    }
    return out;
  }

  // (k).
  py::array distance(const Numbers& x) {
    const py::ssize_t k = expect_states(x);
    py::array_t<double> out(k);
    const SlapTraining* training = training_of(ode_.built());
    for (py::ssize_t j = 0; j < k; ++j) {
      take(x, j, k);
      out.mutable_at(j) = training ? distance_from_training(*training, x_.head(m_)) : 0.0;
    }
    return out;
  }

 private:
  // Inputs of one call; without numbers they are those of the study.
  void hold(const OptionalNumbers& u) {
    if (!u) return ode_.hold_inputs(Eigen::VectorXd());
    for (py::ssize_t i = 0; i < u->size(); ++i)
      if (!std::isfinite(u->data()[i])) fail_input("u: has a number that is not finite: {}", u->data()[i]);
    ode_.hold_inputs(Eigen::Map<const Eigen::VectorXd>(u->data(), u->size()));
  }
  py::ssize_t expect_states(const Numbers& x) const {
    if (x.ndim() < 1 || x.ndim() > 2 || x.shape(0) != 2 * m_)
      fail_input(
          "x: expected a state of {} numbers (coordinates, then rates), or columns of them, found an "
          "array of shape {}",
          2 * m_, shape_of(x));
    for (py::ssize_t i = 0; i < x.size(); ++i)
      if (!std::isfinite(x.data()[i])) fail_input("x: has a number that is not finite: {}", x.data()[i]);
    return x.ndim() == 2 ? x.shape(1) : 1;
  }
  void expect_one(const Numbers& x) const {
    if (x.ndim() != 1)
      fail_input("x: expected one state of {} numbers, found an array of shape {}", 2 * m_, shape_of(x));
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
    for (int i = 0; i < 2 * m_; ++i) x_[i] = from[i * k];
  }

  MechanismOde ode_;
  int m_;
  Eigen::VectorXd x_, f_;
};

std::shared_ptr<PyOde> make_ode(Session& session, const PyMechanism& mechanism) {
  return session.run([&] {
    const Mechanism opened = open_mechanism(mechanism_input(mechanism), session.context());
    return std::make_shared<PyOde>(opened.study, opened.make(), session);
  });
}

}  // namespace

void add_ode(py::module_& module) {
  py::class_<PyOde, std::shared_ptr<PyOde>>(module, "Ode")
      .def("order", &PyOde::order)
      .def("start_time", &PyOde::start_time)
      .def("break_times", &PyOde::break_times)
      .def("columns", &PyOde::columns)
      .def("units", &PyOde::units)
      .def("has_training", &PyOde::has_training)
      .def("x0", &PyOde::x0)
      .def("rhs", &PyOde::rhs)
      .def("jac", &PyOde::jac)
      .def("inputs", &PyOde::inputs)
      .def("input_matrix", &PyOde::input_matrix)
      .def("mass", &PyOde::mass)
      .def("sensors", &PyOde::sensors)
      .def("nodes", &PyOde::nodes)
      .def("distance", &PyOde::distance);
  module.def("make_ode", &make_ode);
}

}  // namespace lissom::python
