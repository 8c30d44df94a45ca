#include "lissom/study/export_model.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lissom/linalg/schur.hpp"
#include "lissom/rom/mechanism_ode.hpp"
#include "lissom/study/versions.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// The comparison run is short: as many samples, and at most so many steps in all.
constexpr int test_samples = 20;
constexpr int most_test_steps = 2000;

// Numbers in (-1, 1), the same every time.
class Scatter {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) / 4503599627370496.0 - 1;
  }

 private:
  unsigned long long state_ = 1;
};

const IntegratorOptions& run_of(const StudyFile& study) {
  if (!study.simulation || !study.simulation->simulate)
    fail_input("{}: there is no table [simulate], whose end and step an exported model has as its defaults",
               study.path.string());
  const IntegratorOptions& options = study.simulation->simulate->integrator;
  if (!(options.end > 0))
    fail_input(study.simulation->simulate->where,
               "simulate.end: is {} s, expected a time above 0 in an export", options.end);
  return options;
}

ExportModel begin_model(const Mechanism& mechanism, const std::string& name) {
  const IntegratorOptions& options = run_of(mechanism.study);
  ExportModel model;
  model.title = mechanism.title;
  model.name = identifier(name.empty() ? mechanism.title : name);
  model.made = fmt::format("exported by Lissom {}", version());
  model.end = options.end;
  // integrators that control their step have none
  model.step = options.step > 0 ? options.step : options.sample > 0 ? options.sample : options.end / 1000;
  model.sample = options.sample > 0 ? options.sample : model.step;
  model.rho_inf = options.rho_inf;
  model.newton_tolerance = options.newton.tolerance;
  model.newton_iterations = options.newton.max_iterations;
  return model;
}

// States on the way of the run, and beside it, with the inputs of the study and with others.
void add_points(Rom& rom, ExportModel& model) {
  const Index n = model.start.size(), p = static_cast<Index>(model.inputs.size()),
              k = static_cast<Index>(rom.outputs().size());
  Scatter scatter;
  const VectorXd size = model.run->x.cwiseAbs().rowwise().maxCoeff();
  for (const Index at : {0, test_samples / 2, test_samples - 1})
    for (const bool beside : {false, true}) {
      ExportTestPoint point;
      point.t = model.run->t[at];
      point.x = model.run->x.col(at);
      point.u.resize(p);
      rom.inputs_at(point.t, point.u);
      if (beside) {
        for (Index i = 0; i < n; ++i) point.x[i] += 0.1 * size[i] * scatter();
        for (double& u : point.u) u = u * (1 + 0.3 * scatter()) + 0.1 * scatter();
      }
      point.f.resize(n);
      point.y.resize(k);
      point.J.resize(n, n);
      point.B.resize(n, p);
      rom.rhs(point.t, point.x, point.u, point.f);
      rom.jacobian(point.t, point.x, point.u, point.J);
      rom.input_matrix(point.t, point.x, point.B);
      rom.output(point.t, point.x, point.u, point.y);
      model.points.push_back(std::move(point));
    }
}

// How many steps there are from one sample of the comparison run to the next.
int steps_a_sample(const ExportModel& model) {
  const double steps = std::min<double>(most_test_steps, std::ceil(model.end / model.step - 1e-9));
  return std::max(1, static_cast<int>(steps) / test_samples);
}

ExportModel export_linear(const Mechanism& mechanism, const std::string& name, JobContext& context) {
  ExportModel model = begin_model(mechanism, name);
  LinearRom rom = linear_rom(mechanism.study, *mechanism.linear, context.diagnostics);
  const LinearModel& own = rom.model();
  model.method = fmt::format("linear, {} states", own.order());
  model.inputs = rom.inputs();
  model.outputs = rom.outputs();
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (rom.drives().empty())
      model.drives.push_back({{TimeFunction(own.u0[static_cast<Index>(i)])}, {1}});
    else
      model.drives.push_back({rom.drives()[i].functions, rom.drives()[i].weights});
  }
  model.start = own.x0;
  for (const double t : rom.break_times())
    if (t > 0) model.breaks.push_back(t);
  ExportLinear linear{own.A, own.B, own.C, own.D, own.u0, own.y0, {}};
  MatrixXd A = own.A;
  linear.scale = own.order() > 0 ? balance_rows_and_columns(A) : VectorXd();
  model.linear = std::move(linear);

  ExportTestRun run;
  run.step = model.step;
  LinearRunOptions how;
  how.step = model.step;
  how.sample = steps_a_sample(model) * model.step;
  how.end = test_samples * how.sample;
  std::vector<double> times;
  std::vector<VectorXd> states;
  how.output = [&](double t, const VectorXd& x, const VectorXd&, const VectorXd&) {
    if (t == 0) return;
    times.push_back(t);
    states.push_back(x);
  };
  run_linear(rom, how);
  run.t = Eigen::Map<const VectorXd>(times.data(), static_cast<Index>(times.size()));
  run.x.resize(own.order(), static_cast<Index>(states.size()));
  for (size_t i = 0; i < states.size(); ++i) run.x.col(static_cast<Index>(i)) = states[i];
  model.run = std::move(run);
  model.state_scale = model.run->x.cwiseAbs().rowwise().maxCoeff().cwiseMax(1e-12);
  add_points(rom, model);
  return model;
}

// S_r with r' = e' S_r e of coefficients of e_q e_p, q <= p.
std::vector<MatrixXd> symmetric_rows(const MatrixXd& packed, Index m) {
  std::vector<MatrixXd> rows;
  for (Index r = 0; r < packed.rows(); ++r) {
    MatrixXd S(m + 1, m + 1);
    for (Index q = 0; q <= m; ++q)
      for (Index p = q; p <= m; ++p) {
        const double entry = packed(r, SlapPolynomial::monomial(q, p, m));
        S(q, p) = S(p, q) = p == q ? entry : entry / 2;
      }
    rows.push_back(std::move(S));
  }
  return rows;
}

// Places of a system of one reduced body, each once.
class Places {
 public:
  Places(const System& system, std::vector<ExportPlace>& list) : system_(system), list_(list) {}

  // -1 where its position or axes are not linear in the coordinates.
  int number(MarkerRef ref) {
    const auto key = std::pair(ref.body, ref.marker);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    ExportPlace place;
    place.rotates = system_.marker_rotates(ref);
    if (ref.body < 0) {
      place.form = MatrixXd::Zero(12, system_.coordinates() + 1);
      place.form.col(0) = system_.ground_marker(ref.marker);
    } else {
      const Matrix12Xd* form = system_.bodies()[static_cast<size_t>(ref.body)]->linear_marker(ref.marker);
      if (!form) return known_[key] = -1;
      place.form = *form;
    }
    list_.push_back(std::move(place));
    return known_[key] = static_cast<int>(list_.size()) - 1;
  }

 private:
  const System& system_;
  std::vector<ExportPlace>& list_;
  std::map<std::pair<int, int>, int> known_;
};

ExportModel export_mechanism(const Mechanism& mechanism, const std::string& name, JobContext& context) {
  ExportModel model = begin_model(mechanism, name);
  StudySystem built = mechanism.make();
  const System& system = *built.system;
  const std::shared_ptr<const SlapModel> reduced = built.rom;
  const std::vector<Sensor> sensors = built.sensors;
  MechanismOde ode = study_ode(mechanism.study, std::move(built), context.diagnostics, context.progress);
  if (ode.method() != "slap")
    fail_input("{}: is a model of the method \"{}\", expected \"linear\" or \"slap\" in an export",
               mechanism.title, ode.method());
  if (!reduced->polynomial)
    fail_input(
        "{}: the model has no polynomial form, only the exact kernel, which is not exported; train it again "
        "with "
        "this version of Lissom, with kernel = \"polynomial\" in [train] where the training would not take "
        "it",
        mechanism.title);
  const SlapModel& slap = *reduced;
  const Index m = slap.order();
  SystemEquations equations(system);

  ExportMechanism out;
  out.M = slap.M;
  out.rows = symmetric_rows(slap.polynomial->S, m);
  out.damping_rows = symmetric_rows(slap.polynomial->S_damping, m);
  out.mass_damping = slap.mass_damping;
  out.centre = slap.centre;
  out.scale = equations.displacement_scale();
  out.length = equations.length();
  out.gravity = 0;
  for (int i = 0; i < 3; ++i)
    model.parameters.push_back(
        {fmt::format("gravity.{}", "xyz"[i]), "m/s2", "acceleration of gravity", system.gravity()[i]});

  Places places(system, out.places);
  std::vector<std::string> problems;
  for (const Load& load : system.loads()) {
    ExportLoad one;
    one.load = load;
    one.first = places.number(load.first);
    one.second = places.number(load.second);
    if (one.first < 0 || one.second < 0)
      problems.push_back(
          fmt::format("load '{}' acts at a place whose axes are not linear in the coordinates (their "
                      "polar factor turns too much for the polynomial form)",
                      load.name));
    if (!load.input.empty()) one.input = system.find_input(load.input);
    if (!holds(load.kind)) {
      one.factor = static_cast<int>(model.parameters.size());
      model.parameters.push_back({load.name + ".factor", "1", "factor of the load", 1});
    }
    one.counts = counts_turns(load);
    out.loads.push_back(std::move(one));
  }
  if (!problems.empty()) fail_input("{}: cannot be exported: {}", mechanism.title, fmt::join(problems, "; "));

  // sensors in their order, those that have no counterpart left out by name
  std::vector<Index> columns;
  std::vector<std::string> left_out;
  SensorBank bank(system, sensors);
  for (Index column = 0; column < static_cast<Index>(bank.columns().size());) {
    const Sensor& sensor = bank.sensor_of(static_cast<int>(column));
    Index size = 1;
    while (column + size < static_cast<Index>(bank.columns().size()) &&
           &bank.sensor_of(static_cast<int>(column + size)) == &sensor)
      ++size;
    ExportSensor one;
    one.sensor = sensor;
    bool known = true;
    switch (sensor.kind) {
      case SensorKind::Position:
      case SensorKind::Displacement:
      case SensorKind::Velocity:
      case SensorKind::Acceleration:
      case SensorKind::AngularVelocity:
      case SensorKind::AngularAcceleration: {
        one.place = places.number(sensor.marker);
        known = one.place >= 0;
        if (!known || sensor.kind != SensorKind::Displacement) break;
        MarkerKinematics marker;
        equations.marker(sensor.marker, ode.initial().q, ode.initial().v, false, marker);
        one.reference = marker.position();
        break;
      }
      case SensorKind::LoadValue:
        one.load = sensor.index;
        break;
      case SensorKind::Energy:
        break;
      default:
        known = false;
    }
    if (known) {
      for (Index i = 0; i < size; ++i) columns.push_back(column + i);
      out.sensors.push_back(std::move(one));
    } else {
      left_out.push_back(fmt::format("{} ({})", sensor.name, traits(sensor.kind).name));
    }
    column += size;
  }
  if (!left_out.empty())
    context.diagnostics.warn(
        "export.sensors",
        fmt::format("these sensors have no counterpart in an exported model and are left out: {}",
                    fmt::join(left_out, ", ")));

  const IntegratorOptions& asked = run_of(mechanism.study);
  if (asked.integrator != Integrator::GeneralizedAlpha || asked.adaptive)
    context.diagnostics.warn(
        "export.integrator",
        fmt::format(
            "the study's run takes {}{}, and an exported model generalized-alpha with fixed steps of {:g} s "
            "and rho_inf = {:g}",
            name_of(asked.integrator), asked.adaptive ? " with steps that adapt" : "", model.step,
            model.rho_inf));
  model.method = fmt::format("SLAP, {} coordinates, {} elastic rows", m, out.rows.size());
  model.inputs = ode.inputs();
  for (const Index column : columns) model.outputs.push_back(ode.outputs()[static_cast<size_t>(column)]);
  for (const Input& input : system.inputs())
    model.drives.push_back({{input.value.value_or(TimeFunction(0))}, {1}});
  model.start = ode.start();
  for (const double t : ode.break_times())
    if (t > 0) model.breaks.push_back(t);
  std::sort(model.breaks.begin(), model.breaks.end());
  model.breaks.erase(std::unique(model.breaks.begin(), model.breaks.end()), model.breaks.end());
  model.mechanism = std::move(out);

  // the library's own steps
  ExportTestRun run;
  run.step = model.step;
  IntegratorOptions how;
  how.step = model.step;
  how.rho_inf = model.rho_inf;
  how.newton.tolerance = model.newton_tolerance;
  how.newton.max_iterations = model.newton_iterations;
  how.newton.reuse_rate = 0;
  how.sample = steps_a_sample(model) * model.step;
  how.end = test_samples * how.sample;
  std::vector<double> times;
  std::vector<VectorXd> states;
  IntegrationOutput output;
  output.sample = [&](const State& state) {
    if (state.t == 0) return;
    VectorXd x(2 * m);
    x << state.q, state.v;
    times.push_back(state.t);
    states.push_back(std::move(x));
  };
  IntegrationSummary summary;
  integrate(equations, ode.initial(), how, output, summary, context.diagnostics, context.progress);
  run.t = Eigen::Map<const VectorXd>(times.data(), static_cast<Index>(times.size()));
  run.x.resize(2 * m, static_cast<Index>(states.size()));
  for (size_t i = 0; i < states.size(); ++i) run.x.col(static_cast<Index>(i)) = states[i];
  model.run = std::move(run);
  model.state_scale = model.run->x.cwiseAbs().rowwise().maxCoeff().cwiseMax(1e-12);
  add_points(ode, model);
  for (ExportTestPoint& point : model.points) {
    const VectorXd y = point.y(columns);
    point.y = y;
  }
  return model;
}

}  // namespace

ExportModel export_model(const Mechanism& mechanism, const std::string& name, JobContext& context) {
  if (mechanism.linear) return export_linear(mechanism, name, context);
  return export_mechanism(mechanism, name, context);
}

}  // namespace lissom
