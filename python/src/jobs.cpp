// Jobs of a study: what the verbs of the command line do.
#include <pybind11/complex.h>
#include <pybind11/stl.h>
#include <nlohmann/json.hpp>

#include "lissom/core/resources.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_reader.hpp"
#include "lissom/io/body_file.hpp"
#include "lissom/io/pod_file.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "lissom/study/analysis_jobs.hpp"
#include "lissom/study/check_study.hpp"
#include "lissom/study/compare_job.hpp"
#include "lissom/study/export_job.hpp"
#include "lissom/study/inspect_job.hpp"
#include "lissom/study/run_job.hpp"
#include "lissom/study/simulate_job.hpp"
#include "lissom/study/train_job.hpp"
#include "python/src/arrays.hpp"
#include "python/src/inputs.hpp"
#include "python/src/module.hpp"
#include "python/src/run_data.hpp"
#include "python/src/session.hpp"

namespace lissom::python {

namespace {

using OptionalPath = std::optional<std::string>;

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Title, case names, text.
auto read_study(Session& session, const PyStudy& study) {
  return session.run([&] {
    const StudyFile file = study_input(study).read();
    std::vector<std::string> cases;
    for (const StudyCase& variant : file.cases) cases.push_back(variant.study.case_name);
    std::vector<std::string> bodies;
    for (const BodySpec& body : file.bodies) bodies.push_back(body.name);
    return std::make_tuple(file.title, cases, file.text, bodies, file.units.name);
  });
}

// Inputs as _control.py says them; `control` is None or its Control.
Controller controller_of(Session& session, const py::object& control) {
  if (control.is_none()) return {};
  Controller out;
  out.period = control.attr("period").cast<double>();
  out.begin = [&session, &control](const ControlNames& names) {
    session.call_python([&] { control.attr("begin")(names.outputs, names.at_once, names.inputs); });
  };
  out.act = [&session, &control, k = 0L](double t, const Eigen::VectorXd& y, Eigen::VectorXd& u) mutable {
    session.call_python([&] {
      const auto said = control(t, copy(y), copy(u), k++).cast<Numbers>();
      LISSOM_ASSERT(said.size() == u.size());
      std::copy_n(said.data(), u.size(), u.data());
    });
  };
  return out;
}

// Run, JSON, text.
py::tuple simulate(Session& session, const PyMechanism& mechanism, const OptionalPath& out, bool view,
                   bool resume, double checkpoint, const py::object& control) {
  SimulateJob job;
  job.mechanism = mechanism_input(mechanism);
  job.write_files = out.has_value();
  job.out = out.value_or("");
  job.view = view;
  job.balance = true;
  job.resume = {resume, checkpoint};
  job.controller = controller_of(session, control);
  RunData data;
  SimulateResult result = session.run([&] { return run_simulate_job(job, session.context()); });
  data.run = std::make_shared<const SimulationRun>(std::move(result.run));
  return py::make_tuple(data, dump(result.json), result.text);
}

// JSON, text, the folder of the model; without files the model goes to `model`.
py::tuple train(Session& session, const PyStudy& study, std::optional<int> order, const OptionalPath& out,
                bool resume, double checkpoint, const std::string& model) {
  TrainJob job;
  job.study = study_input(study);
  job.order = order;
  job.write_files = out.has_value();
  job.out = out.value_or("");
  job.resume = {resume, checkpoint};
  struct Done {
    TrainResult result;
    Eigen::VectorXd values;
  };
  const Done done = session.run([&] {
    Done all{run_train_job(job, session.context()), {}};
    if (!out && all.result.slap) write_rom_file(model, all.result.slap->rom);
    if (!out && all.result.pod) write_pod_file(model, all.result.pod->rom);
    if (!out && all.result.linear) write_linear_file(model, all.result.linear->rom);
    if (all.result.slap) all.values = all.result.slap->rom.singular_values;
    if (all.result.linear) all.values = all.result.linear->rom.model.reduction.hankel;
    return all;
  });
  return py::make_tuple(dump(done.result.json), done.result.text, give(done.values),
                        done.result.slap  ? done.result.slap->order
                        : done.result.pod ? done.result.pod->rom.order
                                          : done.result.linear->rom.model.order());
}

// JSON, text.
py::tuple export_model(Session& session, const PyMechanism& mechanism, const OptionalPath& c,
                       const OptionalPath& fmu, int fmi, const std::string& name, bool single_precision) {
  ExportJob job;
  job.mechanism = mechanism_input(mechanism);
  job.c = c.value_or("");
  job.fmu = fmu.value_or("");
  job.fmi = fmi;
  job.name = name;
  job.single_precision = single_precision;
  const ExportResult result = session.run([&] { return run_export_job(job, session.context()); });
  return py::make_tuple(dump(result.json), result.text);
}

py::tuple linearise(Session& session, const PyMechanism& mechanism, std::optional<double> at, bool statics,
                    const OptionalPath& out) {
  LineariseJob job;
  job.mechanism = mechanism_input(mechanism);
  job.at = at;
  job.statics = statics;
  job.out = out.value_or("");
  LineariseResult result = session.run([&] { return run_linearise_job(job, session.context()); });
  const auto model = std::make_shared<const Linearisation>(std::move(result.model));
  py::dict fields;
  fields["t"] = model->t;
  fields["q"] = view(model->q, model);
  fields["v"] = view(model->v, model);
  fields["N"] = view(model->N, model);
  fields["A"] = view(model->A, model);
  fields["B"] = view(model->B, model);
  fields["C"] = view(model->C, model);
  fields["D"] = view(model->D, model);
  fields["states"] = model->states;
  fields["inputs"] = model->inputs;
  fields["input_units"] = model->input_units;
  fields["outputs"] = model->outputs;
  fields["output_units"] = model->output_units;
  fields["bodies"] = model->bodies;
  fields["eigenvalues"] = py::array_t<std::complex<double>>(
      static_cast<py::ssize_t>(model->eigenvalues.size()), model->eigenvalues.data());
  std::vector<double> frequencies, damping;
  for (const LinearMode& mode : model->modes) {
    frequencies.push_back(mode.frequency);
    damping.push_back(mode.damping);
  }
  fields["frequencies"] =
      py::array_t<double>(static_cast<py::ssize_t>(frequencies.size()), frequencies.data());
  fields["damping"] = py::array_t<double>(static_cast<py::ssize_t>(damping.size()), damping.data());
  const Eigen::MatrixXcd& shapes = model->shapes;
  const auto size = static_cast<py::ssize_t>(sizeof(std::complex<double>));
  fields["shapes"] = read_only(
      py::array(py::dtype::of<std::complex<double>>(), {shapes.rows(), shapes.cols()},
                {size, size * static_cast<py::ssize_t>(shapes.rows())}, shapes.data(), keeper(model)));
  fields["growth"] = model->growth;
  fields["moving"] = model->moving;
  return py::make_tuple(fields, dump(result.json), result.text);
}

// Frequencies, (input, output, unit, H) of every pair, JSON, text.
py::tuple response(Session& session, const PyMechanism& mechanism, std::optional<double> at, bool statics,
                   const OptionalPath& out, std::optional<double> from, std::optional<double> to,
                   std::optional<int> points, std::optional<bool> logarithmic,
                   const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  ResponseJob job;
  job.state.mechanism = mechanism_input(mechanism);
  job.state.at = at;
  job.state.statics = statics;
  job.state.out = out.value_or("");
  job.from = from;
  job.to = to;
  job.points = points;
  job.logarithmic = logarithmic;
  job.inputs = inputs;
  job.outputs = outputs;
  const ResponseResult result = session.run([&] { return run_response_job(job, session.context()); });
  py::list pairs;
  for (const ResponsePair& pair : result.response.pairs)
    pairs.append(py::make_tuple(
        pair.input, pair.output, pair.unit,
        py::array_t<std::complex<double>>(static_cast<py::ssize_t>(pair.H.size()), pair.H.data())));
  return py::make_tuple(give(result.response.frequencies), pairs, dump(result.json), result.text);
}

py::tuple positions(PositionResult result) {
  const std::string json = dump(result.json);
  RunData data;
  data.run = std::make_shared<const SimulationRun>(std::move(result.run));
  return py::make_tuple(data, json, result.text);
}

py::tuple statics(Session& session, const PyMechanism& mechanism, double at, const OptionalPath& out) {
  StaticJob job;
  job.mechanism = mechanism_input(mechanism);
  job.at = at;
  job.out = out.value_or("");
  return positions(session.run([&] { return run_static_job(job, session.context()); }));
}

std::pair<std::string, std::string> assemble(Session& session, const PyMechanism& mechanism) {
  const PositionResult result =
      session.run([&] { return run_assemble_job(mechanism_input(mechanism), session.context()); });
  return {dump(result.json), result.text};
}

// JSON, text, the report's file or an empty text.
py::tuple run(Session& session, const PyStudy& study, const std::string& out, bool report, bool resume,
              double checkpoint, const std::string& command) {
  RunJob job;
  job.study = study_input(study);
  job.out = out;
  job.report = report;
  job.resume = {resume, checkpoint};
  job.command = command;
  const RunResult result = session.run([&] { return run_run_job(job, session.context()); });
  return py::make_tuple(dump(result.json), result.text, result.report ? result.report->file.string() : "");
}

std::pair<std::string, std::string> reduce(Session& session, const PyStudy& study, const std::string& body,
                                           std::optional<double> tolerance, const OptionalPath& out) {
  ReduceJob job;
  job.study = study_input(study);
  job.body = body;
  job.tolerance = tolerance;
  job.write_files = out.has_value();
  job.out = out.value_or("");
  const JobResult result = session.run([&] { return run_reduce_job(job, session.context()); });
  return {dump(result.json), result.text};
}

std::pair<std::string, std::string> sweep(Session& session, const PyStudy& study, const std::string& out,
                                          int jobs, bool resume, bool retry_failed, double timeout,
                                          bool keep_results) {
  SweepJob job;
  job.study = study_input(study);
  job.out = out;
  job.options.jobs = jobs;
  job.options.resume = resume || retry_failed;
  job.options.retry_failed = retry_failed;
  job.options.timeout = timeout;
  job.options.keep_results = keep_results;
  const SweepResult result = session.run([&] { return run_sweep_job(job, session.context()); });
  return {dump(result.json), result.text};
}

// Problems and what the study would do as JSON, and both for people.
std::pair<std::string, std::string> check(Session& session, const PyStudy& study, bool quick) {
  const StudyInput input = study_input(study);
  const StudyCheck found = session.run([&] {
    return check_study(input.file, input.settings, quick, session.diagnostics(), session.context().progress);
  });
  return {dump({{"problems", found.problems_json()}, {"study", found.summary}}), printable(found.text)};
}

// What is wrong is an exception here; Python has no place for both.
JobResult sound(JobResult result) {
  if (result.json.contains("error")) throw InputError(result.json["error"].get<std::string>());
  return result;
}

std::pair<std::string, std::string> inspect_of_study(Session& session, const PyStudy& study) {
  const JobResult result =
      session.run([&] { return sound(inspect_study(study_input(study), session.context())); });
  return {dump(result.json), result.text};
}

std::pair<std::string, std::string> inspect(Session& session, const std::string& file,
                                            const std::string& units) {
  const JobResult result = session.run([&] {
    JobContext& context = session.context();
    if (is_study(file)) {
      StudyInput study;
      study.file = file;
      return sound(inspect_study(study, context));
    }
    if (is_rom(file)) return inspect_rom(file, context);
    if (!std::filesystem::exists(file)) fail_input("{}: no such file", file);
    if (std::filesystem::is_regular_file(file) && is_result_file(file)) return inspect_result(file, context);
    BodySpec spec;
    const std::filesystem::path path = file;
    spec.name = path.stem().string();
    spec.units = parse_unit_system(units);
    if (is_reduced_body_file(path))
      fail_input(
          "{}: is a reduced body, which 'lissom reduce' wrote; expected a mesh, matrices, or a body file",
          file);
    if (is_body_file(path))
      spec.body_file = path;
    else if (is_matrix_file(path))
      spec.stiffness = path;
    else
      spec.mesh = path;
    return sound(inspect_body(spec, context));
  });
  return {dump(result.json), result.text};
}

// JSON, text, time, names and units of the columns, B - A (times by columns).
py::tuple compare(Session& session, const std::string& a, const std::string& b,
                  const std::map<std::string, std::string>& columns, const OptionalPath& units_a,
                  const OptionalPath& units_b, bool nodes, const OptionalPath& out) {
  CompareJob job;
  job.a = a;
  job.b = b;
  if (units_a) job.units_a = parse_unit_system(*units_a);
  if (units_b) job.units_b = parse_unit_system(*units_b);
  job.options.columns = columns;
  job.options.nodes = nodes;
  job.out = out.value_or("");
  const CompareResult result = session.run([&] { return run_compare_job(job, session.context()); });
  std::vector<std::string> names, units;
  for (const ColumnDifference& column : result.comparison.columns) {
    names.push_back(column.name);
    units.push_back(column.unit);
  }
  return py::make_tuple(dump(result.json), result.text, give(result.comparison.time), names, units,
                        give(result.comparison.differences));
}

// The page's path and its summary as JSON.
std::pair<std::string, std::string> report(Session& session, const std::string& run, const OptionalPath& out,
                                           double max_size) {
  const WrittenReport written = session.run([&] {
    ReportOptions options;
    options.page.max_bytes = static_cast<std::int64_t>(max_size * 1e6);
    return write_report(run, out.value_or(""), session.diagnostics(), session.context().progress, options);
  });
  return {written.file.string(), dump(written.summary)};
}

}  // namespace

void add_jobs(py::module_& module) {
  module.def("read_study", &read_study);
  module.def("simulate", &simulate);
  module.def("train", &train);
  module.def("linearise", &linearise);
  module.def("export_model", &export_model);
  module.def("response", &response);
  module.def("statics", &statics);
  module.def("assemble", &assemble);
  module.def("run", &run);
  module.def("reduce", &reduce);
  module.def("sweep", &sweep);
  module.def("check", &check);
  module.def("inspect_study", &inspect_of_study);
  module.def("inspect", &inspect);
  module.def("compare", &compare);
  module.def("report", &report);
}

}  // namespace lissom::python
