#include "lissom/study/linear_run.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/folder_lock.hpp"
#include "lissom/core/own_file.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/csv_writer.hpp"
#include "lissom/study/mechanism.hpp"
#include "lissom/study/sensors_csv.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

// Where points are this far from the operating point, over the size, linear models begin to be wrong.
constexpr double far_away = 0.1;

const LoadSpec* find_load(const SimulationSpec& spec, const std::string& name) {
  for (const LoadSpec& one : spec.loads)
    if (one.load.name == name) return &one;
  return nullptr;
}

bool same_direction(const std::optional<Vector3d>& a, const std::optional<Vector3d>& b) {
  return a.has_value() == b.has_value() && (!a || a->isApprox(*b, 1e-12));
}

// What differs of two loads besides their size; empty if nothing does.
std::string other_in(const LoadSpec& a, const LoadSpec& b) {
  if (a.load.kind != b.load.kind)
    return fmt::format("is a {} and not a {}", name_of(a.load.kind), name_of(b.load.kind));
  const auto place = [](const std::optional<PlaceSpec>& one) {
    return one ? one->text : std::string("none");
  };
  if (a.first.text != b.first.text || place(a.second) != place(b.second)) return "acts at another place";
  if (a.load.following != b.load.following || !same_direction(a.frame.at, b.frame.at) ||
      !same_direction(a.frame.axis, b.frame.axis) || !same_direction(a.frame.reference, b.frame.reference))
    return "has other axes";
  if (a.load.input != b.load.input) return "has another input";
  if (!holds(a.load.kind)) return "";
  const Load &x = a.load, &y = b.load;
  const bool same = x.stiffness == y.stiffness && x.damping == y.damping && x.length == y.length &&
                    a.has_length == b.has_length && x.K == y.K && x.C == y.C && x.k == y.k && x.c == y.c &&
                    x.preload.is_constant() && y.preload.is_constant() && x.preload(0) == y.preload(0);
  return same ? "" : "has another stiffness, damper, length or preload";
}

// What a load is over time, in the model's direction of it.
class LinearDrives {
 public:
  LinearDrives(const StudyFile& study, const LinearMechanism& mechanism, Diagnostics& diagnostics,
               bool needed)
      : spec_(*study.simulation),
        mechanism_(mechanism),
        diagnostics_(diagnostics),
        model_(mechanism.file.model),
        needed_(needed) {
    end_ = spec_.simulate ? spec_.simulate->integrator.end : 0;
  }

  std::vector<LinearDrive> drives() {
    std::vector<LinearDrive> list;
    for (size_t i = 0; i < model_.inputs.size(); ++i) {
      const double there = model_.u0[static_cast<Index>(i)];
      list.push_back(model_.inputs[i].is_load ? of_load(model_.inputs[i], there)
                                              : of_input(model_.inputs[i], there));
    }
    check_others();
    check_start(list);
    return list;
  }

  // Columns of the model that the sensors of the study ask for.
  std::vector<Index> columns() {
    std::vector<Index> list;
    for (const SensorSpec& sensor : spec_.sensors) {
      const auto own = std::find_if(mechanism_.own.sensors.begin(), mechanism_.own.sensors.end(),
                                    [&](const SensorSpec& one) { return one.name == sensor.name; });
      const auto place = [](const SensorSpec& one) { return one.place ? one.place->text : one.of; };
      if (own == mechanism_.own.sensors.end()) {
        std::vector<std::string> names;
        for (const SensorSpec& one : mechanism_.own.sensors) names.push_back(one.name);
        problem(sensor.where,
                fmt::format("sensor '{}': the linear model has no such sensor{}; it has: {}", sensor.name,
                            did_you_mean(sensor.name, names), fmt::join(names, ", ")));
        continue;
      }
      if (own->kind != sensor.kind || place(*own) != place(sensor)) {
        problem(sensor.where,
                fmt::format("sensor '{}': measures something else than in the linear model, where it is "
                            "of '{}'",
                            sensor.name, place(*own)));
        continue;
      }
      // NAME.x, and of names that have dots themselves what follows the last one
      for (size_t k = 0; k < model_.outputs.size(); ++k) {
        const std::string& column = model_.outputs[k].name;
        if (column.substr(0, column.rfind('.')) == sensor.name) list.push_back(static_cast<Index>(k));
      }
    }
    return list;
  }

  void throw_problems() const {
    if (!problems_.empty()) throw InputError(fmt::format("{}", fmt::join(problems_, "\n")));
  }

 private:
  void problem(const SourcePos& where, const std::string& message) {
    problems_.push_back(where.file.empty() ? message : fmt::format("{}: {}", to_string(where), message));
  }

  static LinearDrive constant(double value) { return {{TimeFunction(value)}, {1}}; }

  LinearDrive of_input(const LinearInput& input, double there) {
    bool is_used = false;
    for (const LoadSpec& one : spec_.loads) is_used = is_used || one.load.input == input.name;
    if (spec_.simulate)
      for (const InputSpec& one : spec_.simulate->inputs)
        if (one.name == input.name) return {{one.value}, {1}};
    if (is_used && needed_) problem(spec_.simulate->where, "simulate.inputs: " + missing_input(input.name));
    return constant(is_used ? there : 0);
  }

  LinearDrive of_load(const LinearInput& input, double there) {
    const LoadSpec* given = find_load(spec_, input.name);
    // without it nothing acts
    if (!given) return constant(0);
    const Load& load = given->load;
    const LoadSpec* own = find_load(mechanism_.own, input.name);
    if (const std::string other = own ? other_in(*given, *own) : "is new"; !other.empty()) {
      problem(given->where,
              fmt::format("load '{}': {}, and the linear model has it built in", input.name, other));
      return constant(there);
    }
    LinearDrive drive;
    if (load.kind == LoadKind::LineForce) {
      drive = {{load.magnitude}, {1}};
    } else {
      check_direction(*given, input.direction);
      for (int k = 0; k < 3; ++k) {
        drive.functions.push_back(load.components[static_cast<size_t>(k)]);
        drive.weights.push_back(input.direction[k]);
      }
    }
    if (load.input.empty()) return drive;
    // its size is that of the input, which has a column of its own
    const auto constant_part = [](const TimeFunction& f) { return f.is_constant(); };
    if (!std::all_of(drive.functions.begin(), drive.functions.end(), constant_part))
      problem(given->where,
              fmt::format("load '{}': changes over time besides its input '{}', which a linear model does "
                          "not multiply; make the force constant",
                          load.name, load.input));
    return constant(there);
  }

  // Where functions of time are looked at.
  std::vector<double> times_of(const std::vector<TimeFunction>& functions) const {
    std::vector<double> times = {0};
    const auto is_constant = [](const TimeFunction& f) { return f.is_constant(); };
    if (std::all_of(functions.begin(), functions.end(), is_constant)) return times;
    constexpr int points = 256;
    for (int i = 1; i <= points; ++i) times.push_back(end_ * i / points);
    for (const TimeFunction& f : functions)
      for (const double t : f.break_times()) times.push_back(t);
    return times;
  }

  bool is_zero(const Load& load) const {
    const auto functions =
        load.kind == LoadKind::LineForce ? std::vector<TimeFunction>{load.magnitude} : load.components;
    for (const double t : times_of(functions))
      for (const TimeFunction& f : functions)
        if (f(t) != 0) return false;
    return true;
  }

  // The force stays along its direction, at all times looked at.
  void check_direction(const LoadSpec& given, const Vector3d& direction) {
    const Load& load = given.load;
    for (const double t : times_of(load.components)) {
      const Vector3d f(load.components[0](t), load.components[1](t), load.components[2](t));
      if ((f - direction.dot(f) * direction).norm() <= 1e-9 * f.norm()) continue;
      return problem(
          given.where,
          fmt::format("load '{}': at t = {:.6g} s it is ({:.4g}, {:.4g}, {:.4g}), and the linear model has "
                      "it along ({:.4g}, {:.4g}, {:.4g}) only; take a load for each direction, and train "
                      "with them",
                      load.name, t, f.x(), f.y(), f.z(), direction.x(), direction.y(), direction.z()));
    }
  }

  // Displacements and x0 count from the start that the model was made with.
  void check_start(const std::vector<LinearDrive>& drives) {
    if (!spec_.simulate) return;
    const bool statics = spec_.simulate->start_static,
               own = mechanism_.own.simulate && mechanism_.own.simulate->start_static;
    if (statics != own)
      problem(spec_.simulate->where, fmt::format("simulate.start: the linear model was made {} start = "
                                                 "\"static\", and the study is {} it: train "
                                                 "with the start that is to be simulated",
                                                 own ? "with" : "without", statics ? "with" : "without"));
    if (!statics || !problems_.empty()) return;
    for (size_t i = 0; i < drives.size(); ++i) {
      const double begins = drives[i](0), there = model_.u0[static_cast<Index>(i)];
      if (std::abs(begins - there) > 1e-9 * std::max(std::abs(begins), std::abs(there)))
        problem(spec_.simulate->where,
                fmt::format("'{}' begins with {:.6g} {}, and the equilibrium of the linear model, where it "
                            "is to start, has "
                            "{:.6g}",
                            model_.inputs[i].name, begins, model_.inputs[i].unit, there));
    }
  }

  // What the study has and the model has not, and the other way round.
  void check_others() {
    std::vector<std::string> names;
    for (const LinearInput& input : model_.inputs)
      if (input.is_load) names.push_back(input.name);
    for (const LoadSpec& given : spec_.loads) {
      const Load& load = given.load;
      if (std::find(names.begin(), names.end(), load.name) != names.end()) continue;
      if (!holds(load.kind)) {
        if (!is_zero(load))
          problem(given.where,
                  fmt::format("load '{}': the linear model has no such input{}; it has: {}", load.name,
                              did_you_mean(load.name, names), fmt::join(names, ", ")));
        continue;
      }
      const LoadSpec* own = find_load(mechanism_.own, load.name);
      if (const std::string other = own ? other_in(given, *own) : "is new"; !other.empty())
        problem(given.where,
                fmt::format("load '{}': {}, and springs and bushings are part of the linear model", load.name,
                            other));
    }
    std::vector<std::string> missing;
    for (const LoadSpec& own : mechanism_.own.loads)
      if (holds(own.load.kind) && !find_load(spec_, own.load.name)) missing.push_back(own.load.name);
    if (!missing.empty())
      diagnostics_.warn("linear.springs",
                        fmt::format("part of the linear model, although the study does not have it: '{}'",
                                    fmt::join(missing, "', '")));
    const Vector3d change = spec_.gravity - mechanism_.own.gravity;
    if (change.norm() > 1e-9 * mechanism_.own.gravity.norm())
      problem({},
              fmt::format(
                  "gravity is ({:.6g}, {:.6g}, {:.6g}) m/s2 in the linear model and ({:.6g}, {:.6g}, {:.6g}) "
                  "m/s2 in the study: it cannot be changed any more",
                  mechanism_.own.gravity.x(), mechanism_.own.gravity.y(), mechanism_.own.gravity.z(),
                  spec_.gravity.x(), spec_.gravity.y(), spec_.gravity.z()));
  }

  const SimulationSpec& spec_;
  const LinearMechanism& mechanism_;
  Diagnostics& diagnostics_;
  const LinearModel& model_;
  bool needed_;
  double end_ = 0;
  std::vector<std::string> problems_;
};

// The model with some of its outputs.
LinearModel with_outputs(const LinearModel& model, const std::vector<Index>& columns) {
  LinearModel out = model;
  out.C = model.C(columns, Eigen::all);
  out.D = model.D(columns, Eigen::all);
  out.y0 = model.y0(columns);
  out.reduction.output_scale = model.reduction.output_scale(columns);
  out.outputs.clear();
  for (const Index k : columns) out.outputs.push_back(model.outputs[static_cast<size_t>(k)]);
  return out;
}

// What [simulate] asks for and a linear model cannot give.
void check_linear_request(const StudyFile& study, const std::filesystem::path& folder,
                          const SimulationOptions& options, Diagnostics& diagnostics) {
  if (!study.simulation || !study.simulation->simulate)
    fail_input("{}: there is no table [simulate]; add one with end and step", study.path.string());
  const SimulateSpec& simulate = *study.simulation->simulate;
  const IntegratorOptions& integrator = simulate.integrator;
  if (options.resume)
    fail_input("--resume: a linear model is solved in seconds, there is nothing to be resumed");
  if (integrator.integrator == Integrator::Static || integrator.integrator == Integrator::Kinematics)
    fail_input(simulate.where,
               "simulate.integrator: is \"{}\", and a linear model is solved over time; leave it out",
               name_of(integrator.integrator));
  if (!(integrator.end > 0))
    fail_input(simulate.where, "simulate.end: is {} s, expected a time above 0", integrator.end);
  if (!(integrator.step > 0 || integrator.sample > 0))
    fail_input(simulate.where, "simulate.step: is missing, over which loads are taken as parabolas");
  std::vector<std::string> left_out;
  if (simulate.stress) left_out.emplace_back("simulate.stress");
  if (simulate.paraview) left_out.emplace_back("simulate.paraview");
  if (simulate.all_nodes || !simulate.nodes.empty()) left_out.emplace_back("simulate.nodes");
  if (!left_out.empty())
    diagnostics.warn("linear.nodes",
                     fmt::format("a linear model has no nodes: {} {} left out", fmt::join(left_out, ", "),
                                 left_out.size() == 1 ? "is" : "are"));
  if (!options.write_files) return;
  check_output_folder(folder);
  for (const char* name : {"sensors.csv", "result.h5"}) expect_replaceable(folder / name);
}

ResultHeader linear_header(const StudyFile& study, const LinearModel& model) {
  ResultHeader header;
  header.title = study.title;
  header.case_name = study.case_name;
  header.study = study.text;
  header.integrator = "exact";
  header.bodies.push_back({"mechanism", "linear", 0, model.order(), model.order()});
  for (const SensorColumn& output : model.outputs) {
    header.sensors.push_back(output.name);
    header.sensor_units.push_back(si_unit(output));
  }
  return header;
}

// A controller of the named inputs; the model has loads before them.
LinearRunOptions::Control linear_control(const Controller& controller, const StudyFile& study,
                                         const LinearModel& model) {
  std::vector<Index> places;
  ControlNames names;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (model.inputs[i].is_load) continue;
    places.push_back(static_cast<Index>(i));
    names.inputs.push_back(model.inputs[i].name);
  }
  if (places.empty())
    fail_input(
        "there is a controller, and no load of the linear model has an input; one is made by factor = {{ "
        "input = "
        "\"NAME\" }} before it is trained");
  for (size_t k = 0; k < model.outputs.size(); ++k) {
    names.outputs.push_back(model.outputs[k].name);
    names.at_once.push_back(!model.D.row(static_cast<Index>(k))(places).isZero(0));
  }
  if (controller.begin) controller.begin(names);
  LinearRunOptions::Control out;
  out.period = controller.period;
  const std::vector<InputSpec>& said = study.simulation->simulate->inputs;
  out.act = [&controller, &said, places, names = names.inputs,
             u = VectorXd(static_cast<Index>(places.size()))](double t, const VectorXd& y,
                                                              VectorXd& held) mutable {
    for (size_t i = 0; i < names.size(); ++i) {
      u[static_cast<Index>(i)] = std::numeric_limits<double>::quiet_NaN();
      for (const InputSpec& one : said)
        if (one.name == names[i]) u[static_cast<Index>(i)] = one.value(t);
    }
    controller.act(t, y, u);
    expect_inputs(names, u, t);
    held(places) = u;
  };
  return out;
}

}  // namespace

LinearMechanism linear_mechanism(LinearFile file, const std::filesystem::path& path) {
  LinearMechanism out;
  try {
    if (file.study.empty()) fail_input("it has none");
    const StudyFile study = parse_study(
        file.study, file.study_path.empty() ? path : std::filesystem::path(file.study_path), path);
    const StudyFile& variant = chosen_case(study, file.case_name);
    if (!variant.simulation) fail_input("it has no loads, sensors or joints");
    out.own = *variant.simulation;
  } catch (const InputError& e) {
    fail_input("{}: the study in the linear model cannot be used, which says where its loads act: {}",
               path.string(), e.what());
  }
  out.file = std::move(file);
  return out;
}

LinearRom linear_rom(const StudyFile& study, const LinearMechanism& mechanism, Diagnostics& diagnostics,
                     bool needed) {
  if (!study.simulation) fail_input("{}: has no loads, sensors or [simulate]", study.path.string());
  LinearDrives of_study(study, mechanism, diagnostics, needed);
  std::vector<LinearDrive> drives = of_study.drives();
  const std::vector<Index> columns = of_study.columns();
  of_study.throw_problems();
  return LinearRom(with_outputs(mechanism.file.model, columns), std::move(drives));
}

SimulationRun simulate_linear(const StudyFile& study, const std::filesystem::path& folder,
                              const LinearMechanism& mechanism, Diagnostics& diagnostics,
                              const SimulationOptions& options) {
  check_linear_request(study, folder, options, diagnostics);
  LinearRom rom = linear_rom(study, mechanism, diagnostics, !options.controller.act);
  const LinearModel& model = rom.model();
  const SimulationSpec& spec = *study.simulation;
  const IntegratorOptions& integrator = spec.simulate->integrator;

  SimulationRun run;
  const Index columns = model.y0.size(), n = model.order();
  VectorXd unit_factors(columns), shown(columns), rate(n);
  for (Index k = 0; k < columns; ++k) {
    const SensorColumn& column = model.outputs[static_cast<size_t>(k)];
    run.columns.push_back(column.name);
    run.sensor_units.push_back(si_unit(column));
    unit_factors[k] = unit_factor(column, spec.units);
  }
  std::optional<ResultWriter> result;
  std::optional<CsvWriter> csv;
  if (options.write_files) {
    // a table is known as ours by the result beside it, which therefore comes first
    result.emplace(folder / "result.h5", linear_header(study, model));
    csv.emplace(folder / "sensors.csv", run.columns);
    run.result_path = folder / "result.h5";
  }

  std::vector<double> times, seconds, si, in_units, states, rates;
  const auto append = [](std::vector<double>& list, const VectorXd& values) {
    list.insert(list.end(), values.begin(), values.end());
  };
  IntegrationSummary statistics;
  LinearRunOptions how;
  how.end = integrator.end;
  how.step = integrator.step > 0 ? integrator.step : integrator.sample;
  how.sample = integrator.sample;
  how.stop = options.stop;
  State state;
  state.a = VectorXd::Zero(n);
  how.output = [&](double t, const VectorXd& x, const VectorXd& u, const VectorXd& y) {
    shown = y.cwiseQuotient(unit_factors);
    rom.rhs(t, x, u, rate);
    if (csv) csv->add(t / spec.units.time, shown);
    if (result) {
      state.t = t;
      state.q = x;
      state.v = rate;
      result->add(state, y, {}, {}, statistics);
    }
    using Keep = RunOptions::Keep;
    if (options.keep == Keep::Nothing) return;
    times.push_back(t / spec.units.time);
    seconds.push_back(t);
    append(si, y);
    append(in_units, shown);
    if (options.keep == Keep::Outputs) return;
    append(states, x);
    append(rates, rate);
  };
  const auto finish = [&](RunStatus status, const std::string& failure, const json& report) {
    if (!result) return;
    csv->flush();
    ResultEnd end;
    end.status = status;
    end.failure = failure;
    end.summary = statistics;
    if (!report.is_null()) end.report = report.dump(-1, ' ', false, json::error_handler_t::replace);
    end.text = run.text;
    result->finish(end);
  };
  if (options.controller.act) how.control = linear_control(options.controller, study, model);
  LinearRunSummary summary;
  try {
    summary = run_linear(rom, how);
    if (summary.stopped) fail("the simulation was stopped at t = {:.6g} s", summary.end);
  } catch (const Error& e) {
    finish(summary.stopped ? RunStatus::Stopped : RunStatus::Failed, e.what(), nullptr);
    throw;
  }
  statistics.steps = summary.steps;
  statistics.end = summary.end;
  statistics.seconds = summary.seconds;

  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto kept = static_cast<Index>(times.size());
  run.samples = summary.samples;
  run.time = Eigen::Map<const VectorXd>(times.data(), kept);
  run.outputs = model.outputs;
  run.integration = statistics;
  run.t = Eigen::Map<const VectorXd>(seconds.data(), kept);
  run.y = Eigen::Map<const RowMajor>(si.data(), kept, columns);
  run.sensors = Eigen::Map<const RowMajor>(in_units.data(), kept, columns);
  const Index with_states = n > 0 ? static_cast<Index>(states.size()) / n : 0;
  run.q = Eigen::Map<const Eigen::MatrixXd>(states.data(), n, with_states);
  run.v = Eigen::Map<const Eigen::MatrixXd>(rates.data(), n, with_states);
  run.a = Eigen::MatrixXd::Zero(n, with_states);

  const std::string where =
      model.range_names.empty() ? "" : model.range_names[static_cast<size_t>(summary.range_coordinate)];
  if (summary.range > far_away)
    diagnostics.warn(
        "linear.range",
        fmt::format("at t = {:.6g} s {} moves points by {:.3g} % of the size of the mechanism from the "
                    "operating point; errors of a linear model grow with the square of that",
                    summary.range_time, where, 100 * summary.range));
  json& j = run.summary;
  j["model"] = "linear";
  j["integrator"] = "exact";
  j["order"] = model.order();
  j["inputs"] = json::array();
  for (const LinearInput& input : model.inputs) j["inputs"].push_back(input.name);
  j["sensors"] = run.columns;
  j["end"] = summary.end;
  j["steps"] = summary.steps;
  j["step_sizes"] = summary.propagators;
  j["samples"] = summary.samples;
  j["coordinates"] = model.order();
  j["bodies"] = {{{"name", "mechanism"}, {"formulation", "linear"}, {"coordinates", model.order()}}};
  j["constraints"] = 0;
  j["seconds"] = summary.seconds;
  j["output_seconds"] = 0.0;
  j["largest_displacement"] = {
      {"over_size", summary.range}, {"t", summary.range_time}, {"coordinate", where}};
  if (options.write_files) {
    j["out"] = folder.string();
    j["files"] = {"sensors.csv", "result.h5"};
  }
  const auto line = [&](std::string_view what, const std::string& value) {
    run.text += fmt::format("{:<18}{}\n", what, value);
  };
  const auto inputs = j["inputs"].get<std::vector<std::string>>();
  line("model", fmt::format("linear, {} states, inputs: {}", model.order(),
                            inputs.empty() ? "none" : fmt::format("{}", fmt::join(inputs, ", "))));
  line("steps", fmt::format("{} exact ones, {} samples", summary.steps, summary.samples));
  line("time", fmt::format("{} for {:.6g} s", format_seconds(summary.seconds), summary.end));
  line("largest motion",
       fmt::format("{:.3g} % of the size of the mechanism, at t = {:.6g} s{}", 100 * summary.range,
                   summary.range_time, where.empty() ? "" : fmt::format(" ({})", where)));
  finish(RunStatus::Complete, "", j);
  return run;
}

}  // namespace lissom
