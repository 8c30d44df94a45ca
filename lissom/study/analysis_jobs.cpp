#include "lissom/study/analysis_jobs.hpp"

#include "lissom/io/analysis_files.hpp"
#include "lissom/study/statics.hpp"

namespace lissom {

namespace {

// What is asked for before what the study says.
LineariseSpec asked(const LineariseJob& job, const StudyFile& study) {
  LineariseSpec spec = study.linearise.value_or(LineariseSpec{});
  if (job.at && job.statics) fail_input("--at and --static name two states: give one of the two");
  if (job.statics) spec.about = LineariseSpec::About::Static;
  if (!job.at) return spec;
  if (!(*job.at >= 0)) fail_input("--at: is {} s, expected a time from 0 on", *job.at);
  if (*job.at > 0 && (!study.simulation || !study.simulation->simulate))
    fail_input("--at: the study has no [simulate] that leads to that time");
  spec.about = *job.at > 0 ? LineariseSpec::About::Time : LineariseSpec::About::Start;
  spec.time = *job.at;
  return spec;
}

Linearisation linearised(const LineariseJob& job, const Mechanism& mechanism, JobContext& context) {
  if (mechanism.linear) {
    if (job.at || job.statics)
      fail_input("{}: the model is linear, and the same at all states: leave out --at and --static",
                 job.mechanism.main.file);
    return as_linearisation(mechanism.linear->file.model);
  }
  return linearise_study(mechanism.study, asked(job, mechanism.study), mechanism.make, context.diagnostics,
                         context.progress, context.stop);
}

void note_file(JobResult& result, const std::filesystem::path& file) {
  result.text += fmt::format("wrote {}\n", file.string());
  result.json["file"] = file.string();
}

}  // namespace

LineariseResult run_linearise_job(const LineariseJob& job, JobContext& context) {
  // before anything is computed
  if (!job.out.empty()) expect_replaceable(job.out, OwnFile::Matlab);
  const Mechanism mechanism = open_mechanism(job.mechanism, context);
  LineariseResult result;
  result.model = linearised(job, mechanism, context);
  result.text = describe_linearisation(result.model, asked(job, mechanism.study).modes);
  result.json = linearisation_json(result.model);
  if (job.out.empty()) return result;
  write_linearisation(result.model, job.out);
  note_file(result, job.out);
  return result;
}

ResponseResult run_response_job(const ResponseJob& job, JobContext& context) {
  if (!job.state.out.empty()) expect_replaceable(job.state.out, OwnFile::Response);
  const Mechanism mechanism = open_mechanism(job.state.mechanism, context);
  const bool given = mechanism.study.response.has_value();
  ResponseSpec spec = mechanism.study.response.value_or(ResponseSpec{});
  if (!given && (!job.from || !job.to))
    fail_input("--from and --to: the study has no [response], so that both frequencies [Hz] are to be given");
  if (job.from) spec.from = *job.from;
  if (job.to) spec.to = *job.to;
  if (job.points) spec.points = *job.points;
  if (job.logarithmic) spec.logarithmic = *job.logarithmic;
  if (!job.inputs.empty()) spec.inputs = job.inputs;
  if (!job.outputs.empty()) spec.outputs = job.outputs;
  ResponseResult result;
  result.response = study_response(linearised(job.state, mechanism, context), spec);
  result.text = describe_response(result.response);
  result.json = response_json(result.response);
  if (job.state.out.empty()) return result;
  write_response(result.response, job.state.out);
  note_file(result, job.state.out);
  return result;
}

PositionResult run_static_job(const StaticJob& job, JobContext& context) {
  if (!(job.at >= 0)) fail_input("--at: is {} s, expected a time from 0 on", job.at);
  if (!job.out.empty()) check_output_folder(job.out);
  const Mechanism mechanism = open_mechanism(job.mechanism, context);
  PositionResult result;
  result.run = static_analysis(mechanism.study, job.at, job.out, mechanism.make(), context.diagnostics,
                               context.progress);
  result.text = fmt::format("{}\n\n{}", mechanism.title, result.run.text);
  if (!job.out.empty())
    for (const char* name : {"sensors.csv", "result.h5"})
      result.text += fmt::format("wrote {}\n", (job.out / name).string());
  result.json = std::move(result.run.summary);
  result.json["case"] = mechanism.study.case_name;
  return result;
}

PositionResult run_assemble_job(const MechanismInput& input, JobContext& context) {
  const Mechanism mechanism = open_mechanism(input, context);
  if (!input.is_study()) fail_input("{}: a reduced mechanism is assembled already", input.main.file);
  PositionResult result;
  result.run = assembly_analysis(mechanism.study, mechanism.make(), context.diagnostics);
  result.text = fmt::format("{}\n\n{}", mechanism.title, result.run.text);
  result.json = std::move(result.run.summary);
  return result;
}

}  // namespace lissom
