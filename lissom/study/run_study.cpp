#include "lissom/study/run_study.hpp"

#include "lissom/core/atomic_file.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/gcms.hpp"
#include "lissom/study/reduce.hpp"

namespace lissom {

using nlohmann::json;

StudyRun run_study(const StudyFile& study, const std::filesystem::path& out, Diagnostics& diagnostics,
                   const ProgressHook& progress, const RunOptions& options) {
  if (options.write_files) check_output_folder(out);
  StudyRun run;
  json& summary = run.summary;
  summary["study"] = study.path.string();
  summary["title"] = study.title;
  summary["lissom_version"] = LISSOM_VERSION;
  summary["blas"] = blas_info().file;
  summary["bodies"] = json::object();
  for (const BodySpec& spec : study.bodies) {
    FeBody body = load_body(spec, diagnostics, progress);
    run.text += fmt::format("{}\n{}", spec.name, describe_mesh(body));
    json result = mesh_json(body);
    if (spec.modes) {
      build_model(body, diagnostics, progress);
      solve_modes(body, diagnostics, progress);
      std::vector<std::string> files;
      if (options.write_files) files = write_body_results(body, out, body.seconds, progress);
      run.text += "\n" + describe_modes(body) + "\n";
      result.update(modes_json(body));
      result["files"] = files;
    }
    if (spec.reduce) {
      const Reduction reduction = reduce_body(body, diagnostics, progress);
      result["reduce"] = reduction_json(reduction);
      run.text += "\n" + describe_reduction(reduction) + "\n";
      for (const auto& [phase, seconds] : reduction.seconds.phases()) body.seconds.add(phase, seconds);
      if (options.write_files)
        for (const std::string& file : write_reduction(body, reduction, out, body.seconds, progress))
          result["files"].push_back(file);
    }
    if (spec.gcms) {
      const GcmsResult gcms = compute_gcms(body, diagnostics, progress);
      result["gcms"] = gcms_json(gcms);
      if (options.write_files) result["files"].push_back(write_gcms_results(gcms, out));
      run.text += "\n" + describe_gcms(gcms) + "\n";
      for (const auto& [phase, seconds] : gcms.seconds.phases()) body.seconds.add(phase, seconds);
    }
    result["seconds"] = to_json(body.seconds);
    summary["bodies"][spec.name] = std::move(result);
  }
  summary["warnings"] = to_json(diagnostics);
  summary["peak_memory_bytes"] = peak_memory_bytes();

  if (!options.write_files) return run;
  std::error_code ec;
  std::filesystem::create_directories(out, ec);
  if (ec) fail("{}: the folder cannot be made: {}", out.string(), ec.message());
  // sets may be called by bytes that are no UTF-8
  AtomicFile file(out / "summary.json");
  file.write(summary.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  file.commit();
  return run;
}

}  // namespace lissom
