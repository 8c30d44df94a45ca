// A mechanism as exports have it, with loads of all kinds, and its equations evaluated by the library's own
// loads: what generated programs are compared with.
#pragma once

#include <Eigen/Cholesky>

#include <cmath>
#include <vector>

#include "lissom/export/export_model.hpp"
#include "lissom/mbs/bilinear_form.hpp"
#include "lissom/time/integrate.hpp"
#include "tests/time/test_equations.hpp"

namespace lissom::test {

// Numbers in (-1, 1), the same every time.
inline double scattered(unsigned& seed) {
  seed = seed * 1664525u + 1013904223u;
  return static_cast<double>(seed >> 8) / 8388608.0 - 1;
}
inline Eigen::MatrixXd scattered(Eigen::Index rows, Eigen::Index columns, unsigned& seed) {
  Eigen::MatrixXd X(rows, columns);
  for (double& x : X.reshaped()) x = scattered(seed);
  return X;
}

// The equations of an ExportMechanism, term by term as export_model.hpp has them.
class FormEquations final : public SmallEquations {
 public:
  FormEquations(const ExportModel& model)
      : SmallEquations(static_cast<int>(model.mechanism->M.rows()), 0, model.mechanism->length, 1),
        model_(model),
        x_(*model.mechanism) {
    scale_ = x_.scale;
    breaks = model.breaks;
    for (const ExportLoad& one : x_.loads) turns_ += one.counts ? 1 : 0;
  }

  Eigen::VectorXd u;  // held; none: what the model says

  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
    evaluate(s, false);
    r = w * x_.M * s.a + h;
  }
  void derivatives(const State& s, double w) override {
    evaluate(s, true);
    K_ = Kq;
    C_ = Kv;
    M_ = w * x_.M;
  }
  bool constant_mass() const override { return true; }
  void count_turns(State& s) override {
    if (turns_ == 0) return;
    evaluate(s, false);
    s.turns.t = s.t;
    s.turns.angle = angles;
    s.turns.rate = angle_rates;
  }

  // h, dh/dq and dh/dq', forces of a unit of each input, what loads tell
  void evaluate(const State& s, bool gradients) {
    const Eigen::Index m = n_;
    Eigen::VectorXd e(m + 1), v(m + 1);
    e << 1, s.q;
    v << 0, s.v;
    h = x_.mass_damping * x_.M * s.v;
    Kq = Eigen::MatrixXd::Zero(m, m);
    Kv = x_.mass_damping * x_.M;
    elastic = potential = 0;
    for (const Eigen::MatrixXd& S : x_.rows) {
      const Eigen::VectorXd T = S * e;
      const double y = e.dot(T);
      elastic += y * y / 2;
      h += 2 * y * T.tail(m);
      Kq += 4 * T.tail(m) * T.tail(m).transpose() + 2 * y * S.bottomRightCorner(m, m);
    }
    for (const Eigen::MatrixXd& D : x_.damping_rows) {
      const Eigen::VectorXd T = D * e, W = D * v;
      const double z = 2 * v.dot(T);
      h += 2 * z * T.tail(m);
      Kq += 4 * T.tail(m) * W.tail(m).transpose() + 2 * z * D.bottomRightCorner(m, m);
      Kv += 4 * T.tail(m) * T.tail(m).transpose();
    }
    Eigen::Vector3d g;
    for (int i = 0; i < 3; ++i) g[i] = model_.parameters[static_cast<size_t>(x_.gravity + i)].value;
    h -= x_.centre.rightCols(m).transpose() * g;
    gravity = -g.dot(x_.centre * e);

    const Eigen::VectorXd given = inputs(s.t);
    input_forces = Eigen::MatrixXd::Zero(m, given.size());
    magnitudes.setZero(static_cast<Eigen::Index>(x_.loads.size()));
    angles.setZero(turns_);
    angle_rates.setZero(turns_);
    int turn = 0;
    for (size_t i = 0; i < x_.loads.size(); ++i) {
      const ExportLoad& one = x_.loads[i];
      Eigen::MatrixXd X(24, m + 1);
      X << x_.places[static_cast<size_t>(one.first)].form, x_.places[static_cast<size_t>(one.second)].form;
      const Vector24d z = X * e, rate = X * v;
      double factor = one.factor >= 0 ? model_.parameters[static_cast<size_t>(one.factor)].value : 1;
      CountedAngle last;
      const bool counted = one.counts && s.turns.angle.size() > 0;
      if (counted) last = {s.turns.t, s.turns.angle[turn], s.turns.rate[turn]};
      const auto with = [&](double f, LoadEvaluation& out) {
        evaluate_load(one.load, s.t, z.head<12>(), rate.head<12>(), z.tail<12>(), rate.tail<12>(), gradients,
                      out, f, counted ? &last : nullptr);
      };
      LoadEvaluation out;
      if (one.input >= 0) {
        with(factor, out);
        input_forces.col(one.input) += X.rightCols(m).transpose() * out.force;
        factor *= given[one.input];
      }
      with(factor, out);
      h -= X.rightCols(m).transpose() * out.force;
      magnitudes[static_cast<Eigen::Index>(i)] = out.magnitude;
      potential += out.potential;
      if (one.counts) {
        angles[turn] = out.angle.angle;
        angle_rates[turn++] = out.angle.rate;
      }
      if (!gradients) continue;
      Kq -= X.rightCols(m).transpose() * out.by_position * X.rightCols(m);
      Kv -= X.rightCols(m).transpose() * out.by_rate * X.rightCols(m);
    }
  }

  Eigen::VectorXd inputs(double t) const {
    if (u.size() > 0) return u;
    Eigen::VectorXd all(static_cast<Eigen::Index>(model_.inputs.size()));
    for (size_t i = 0; i < model_.inputs.size(); ++i)
      all[static_cast<Eigen::Index>(i)] = model_.drives[i].weights[0] * model_.drives[i].functions[0](t);
    return all;
  }

  Eigen::VectorXd acceleration(State& s) {
    evaluate(s, false);
    s.a = -x_.M.ldlt().solve(h);
    return s.a;
  }

  // In the order of SensorBank, at a state whose h was evaluated.
  Eigen::VectorXd outputs(State& s) {
    std::vector<double> y;
    acceleration(s);
    Eigen::VectorXd e(n_ + 1), v(n_ + 1), a(n_ + 1);
    e << 1, s.q;
    v << 0, s.v;
    a << 0, s.a;
    const auto add = [&](const Eigen::Vector3d& three) { y.insert(y.end(), three.begin(), three.end()); };
    for (const ExportSensor& one : x_.sensors) {
      Eigen::MatrixXd X;
      if (one.place >= 0) X = x_.places[static_cast<size_t>(one.place)].form;
      const auto turning = [&](const Eigen::VectorXd& by) {
        return Eigen::Vector3d(torque_of(Vector12d(X * by), Vector12d(X * e)) / 2);
      };
      switch (one.sensor.kind) {
        case SensorKind::Position:
          add(X.topRows(3) * e);
          break;
        case SensorKind::Displacement:
          add(X.topRows(3) * e - one.reference);
          break;
        case SensorKind::Velocity:
          add(X.topRows(3) * v);
          break;
        case SensorKind::Acceleration:
          add(X.topRows(3) * a);
          break;
        case SensorKind::AngularVelocity:
          add(turning(v));
          break;
        case SensorKind::AngularAcceleration:
          add(turning(a));
          break;
        case SensorKind::LoadValue:
          y.push_back(magnitudes[one.load]);
          break;
        default: {
          const double kinetic = 0.5 * s.v.dot(x_.M * s.v);
          y.insert(y.end(), {kinetic, elastic, gravity, potential, kinetic + elastic + gravity + potential});
        }
      }
    }
    return Eigen::Map<Eigen::VectorXd>(y.data(), static_cast<Eigen::Index>(y.size()));
  }

  Eigen::VectorXd h, magnitudes, angles, angle_rates;
  Eigen::MatrixXd Kq, Kv, input_forces;
  double elastic = 0, potential = 0, gravity = 0;

 private:
  const ExportModel& model_;
  const ExportMechanism& x_;
  int turns_ = 0;
};

// Six coordinates, three places that move and the ground, loads of all kinds between them.
inline ExportModel form_mechanism(bool damped = true) {
  unsigned seed = 7;
  constexpr Eigen::Index m = 6;
  ExportModel model;
  model.name = "forms";
  model.title = "forms */ \"quoted\" <&>";  // what comments, texts and XML must not take as theirs
  model.method = "SLAP, 6 coordinates";
  model.made = "exported by Lissom test";
  model.end = 0.4;
  model.step = 1e-3;
  model.sample = 2e-2;
  ExportMechanism x;
  const Eigen::MatrixXd L = scattered(m, m, seed);
  x.M = Eigen::MatrixXd::Identity(m, m) + 0.2 * L * L.transpose();
  const auto symmetric = [&](double size) {
    const Eigen::MatrixXd S = size * scattered(m + 1, m + 1, seed);
    return Eigen::MatrixXd((S + S.transpose()) / 2);
  };
  for (int i = 0; i < 7; ++i) x.rows.push_back(symmetric(8));
  if (damped)
    for (int i = 0; i < 3; ++i) x.damping_rows.push_back(symmetric(0.5));
  x.mass_damping = 0.1;
  x.centre = scattered(3, m + 1, seed);
  x.scale = Eigen::VectorXd::LinSpaced(m, 0.5, 1.5);
  x.length = 2;
  x.gravity = 0;
  for (int i = 0; i < 3; ++i)
    model.parameters.push_back({"gravity." + std::string(1, "xyz"[i]), "m/s2", "", i - 2.5});
  for (int i = 0; i < 4; ++i) {
    ExportPlace place;
    place.rotates = true;
    place.form = Eigen::MatrixXd::Zero(12, m + 1);
    if (i > 0) place.form = 0.15 * scattered(12, m + 1, seed);
    place.form.col(0).head<3>() += Eigen::Vector3d(i, 0.3 * i * i, 0.1 * i);
    for (int k = 0; k < 3; ++k) place.form(3 + 4 * k, 0) += 1;
    x.places.push_back(place);
  }
  model.inputs = {{"push", "1"}, {"quiet", "1"}};
  model.drives = {{{TimeFunction::expression("1 + 0.5*sin(20*t)")}, {1}}, {{TimeFunction(0.25)}, {1}}};
  const auto add = [&](const std::string& name, LoadKind kind, int first, int second,
                       const std::string& input = "") {
    ExportLoad one;
    one.load.name = name;
    one.load.kind = kind;
    one.load.has_second = second > 0;
    one.load.components = {
        TimeFunction::expression("step(t, 0, 0.05) * 2"), 0.5,
        TimeFunction::table({0, 0.1, 0.25, 0.4}, {0, 1, -1, 2}, TimeFunction::Interpolation::Cubic)};
    one.load.magnitude = TimeFunction::table({0, 0.1, 0.3}, {0, 2, 1});
    one.load.input = input;
    one.first = first;
    one.second = second;
    one.input = input == "push" ? 0 : input == "quiet" ? 1 : -1;
    if (!holds(kind)) {
      one.factor = static_cast<int>(model.parameters.size());
      model.parameters.push_back(
          {name + ".factor", "1", "", 0.5 + 0.25 * static_cast<double>(x.loads.size())});
    }
    x.loads.push_back(one);
    return &x.loads.back().load;
  };
  add("in space", LoadKind::Force, 1, 0, "push");
  add("between", LoadKind::Force, 1, 2)->following = true;
  add("turn", LoadKind::Torque, 2, 0, "quiet");
  add("turn both", LoadKind::Torque, 3, 1)->following = true;
  add("pull", LoadKind::LineForce, 2, 3, "push");
  Load* spring = add("spring", LoadKind::Spring, 1, 3);
  spring->stiffness = 12;
  spring->damping = 0.4;
  spring->length = 1.2;
  spring->preload = TimeFunction::expression("t < 0.2 ? 0.3 : max(0.1, cos(t))");
  Load* rope = add("linear spring", LoadKind::Spring, 2, 0);
  rope->stiffness = 3;
  Load* torsion = add("torsion", LoadKind::TorsionSpring, 1, 2);
  torsion->stiffness = 5;
  torsion->damping = 0.2;
  torsion->length = 0.1;
  Load* bushing = add("bushing", LoadKind::Bushing, 0, 3);
  bushing->K = {20, 10, 5};
  bushing->C = {0.1, 0, 0.3};
  bushing->k = {2, 3, 4};
  bushing->c = {0, 0.1, 0.2};
  Load* bearing = add("bearing", LoadKind::Bushing, 2, 3);
  bearing->K = {4, 0, 0};
  bearing->k = {2, 3, 0};
  bearing->c = {0.1, 0.1, 0.05};
  Load* shaft = add("shaft", LoadKind::Bushing, 1, 3);
  shaft->k = {0, 6, 0};
  shaft->c = {0, 0.2, 0};
  for (ExportLoad& one : x.loads) one.counts = counts_turns(one.load);

  const auto sense = [&](SensorKind kind, int place, int load = -1) {
    ExportSensor one;
    one.sensor.kind = kind;
    one.sensor.name = std::string(traits(kind).name) + std::to_string(x.sensors.size());
    one.place = place;
    one.load = load;
    one.reference = {0.1, 0.2, 0.3};
    for (const SensorColumn& column : traits(kind).columns)
      model.outputs.push_back({one.sensor.name + "." + column.name, si_unit(column)});
    x.sensors.push_back(one);
  };
  sense(SensorKind::Position, 1);
  sense(SensorKind::Displacement, 2);
  sense(SensorKind::Velocity, 3);
  sense(SensorKind::Acceleration, 1);
  sense(SensorKind::AngularVelocity, 2);
  sense(SensorKind::AngularAcceleration, 3);
  sense(SensorKind::Energy, -1);
  for (int i = 0; i < static_cast<int>(x.loads.size()); ++i) sense(SensorKind::LoadValue, -1, i);

  model.start = 0.2 * scattered(2 * m, 1, seed);
  model.state_scale = Eigen::VectorXd::Constant(2 * m, 1.0);
  model.breaks = {0.05, 0.1, 0.2, 0.3, 0.4};
  model.mechanism = std::move(x);

  FormEquations equations(model);
  State state;
  state.q = model.start.head(m);
  state.v = model.start.tail(m);
  state.lambda.resize(0);
  equations.acceleration(state);
  const State first = state;
  for (int i = 0; i < 4; ++i) {
    ExportTestPoint point;
    point.t = 0.11 * i;
    point.x = model.start + 0.1 * i * scattered(2 * m, 1, seed);
    point.u = scattered(2, 1, seed);
    equations.u = point.u;
    state.t = point.t;
    state.q = point.x.head(m);
    state.v = point.x.tail(m);
    state.turns = {};
    point.y = equations.outputs(state);
    point.f.resize(2 * m);
    point.f << state.v, state.a;
    equations.evaluate(state, true);
    const auto solver = model.mechanism->M.ldlt();
    point.J = Eigen::MatrixXd::Zero(2 * m, 2 * m);
    point.J.topRightCorner(m, m).setIdentity();
    point.J.bottomLeftCorner(m, m) = -solver.solve(equations.Kq);
    point.J.bottomRightCorner(m, m) = -solver.solve(equations.Kv);
    point.B = Eigen::MatrixXd::Zero(2 * m, 2);
    point.B.bottomRows(m) = solver.solve(equations.input_forces);
    model.points.push_back(point);
  }

  equations.u.resize(0);
  IntegratorOptions options;
  options.step = model.step;
  options.sample = model.sample;
  options.end = model.end;
  options.rho_inf = model.rho_inf;
  options.newton.tolerance = model.newton_tolerance;
  options.newton.max_iterations = model.newton_iterations;
  options.newton.reuse_rate = 0;
  std::vector<State> states;
  IntegrationOutput output;
  output.sample = [&](const State& s) {
    if (s.t > 0) states.push_back(s);
  };
  IntegrationSummary summary;
  Diagnostics diagnostics;
  integrate(equations, first, options, output, summary, diagnostics);
  ExportTestRun run;
  run.step = model.step;
  run.t.resize(static_cast<Eigen::Index>(states.size()));
  run.x.resize(2 * m, run.t.size());
  for (size_t i = 0; i < states.size(); ++i) {
    run.t[static_cast<Eigen::Index>(i)] = states[i].t;
    run.x.col(static_cast<Eigen::Index>(i)) << states[i].q, states[i].v;
  }
  model.run = run;
  return model;
}

}  // namespace lissom::test
