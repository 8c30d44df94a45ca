#include "lissom/study/export_job.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/own_file.hpp"
#include "lissom/export/c_writer.hpp"
#include "lissom/export/fmu_writer.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/export_model.hpp"
#include "lissom/study/inspect_rom.hpp"

namespace lissom {

namespace {

namespace fs = std::filesystem;

// Texts that are all written before the first one gets its name.
void write_together(const fs::path& folder, const std::vector<std::pair<std::string, std::string>>& texts) {
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) fail("{}: the folder cannot be made: {}", folder.string(), ec.message());
  std::vector<std::unique_ptr<AtomicFile>> files;
  for (const auto& [name, text] : texts) {
    files.push_back(std::make_unique<AtomicFile>(folder / name));
    files.back()->write(text);
  }
  for (const auto& file : files) file->commit();
}

}  // namespace

ExportResult run_export_job(const ExportJob& job, JobContext& context) {
  const std::string& file = job.mechanism.main.file;
  if (job.mechanism.is_study())
    fail_input("{}: is a study; export what 'lissom train' makes of it, a .rom.h5 file", file);
  if (job.c.empty() && job.fmu.empty()) fail_input("there is nothing to write: give --c DIR or --fmu FILE");
  if (!job.c.empty()) check_output_folder(job.c);
  if (!job.fmu.empty()) expect_replaceable(job.fmu, OwnFile::Exported);
  if (job.fmi != 2 && job.fmi != 3) fail_input("--fmi: is {}, expected 2 or 3", job.fmi);
  if (job.single_precision && job.c.empty())
    fail_input("--float goes with --c DIR; an FMU is in double precision");

  const Mechanism mechanism = open_mechanism(job.mechanism, context);
  const ExportModel model = export_model(mechanism, job.name, context);
  ExportResult result;
  result.text = fmt::format("{}\n{}, {} inputs, {} outputs\n\n", model.title, model.method,
                            model.inputs.size(), model.outputs.size());
  const auto names = [](const std::vector<RomChannel>& channels) {
    nlohmann::json list = nlohmann::json::array();
    for (const RomChannel& one : channels) list.push_back({{"name", one.name}, {"unit", one.unit}});
    return list;
  };
  result.json = {{"title", model.title},
                 {"name", model.name},
                 {"method", model.method},
                 {"states", model.states()},
                 {"inputs", names(model.inputs)},
                 {"outputs", names(model.outputs)},
                 {"files", nlohmann::json::array()}};
  nlohmann::json parameters = nlohmann::json::array();
  for (const ExportParameter& one : model.parameters)
    parameters.push_back({{"name", one.name}, {"unit", one.unit}, {"value", one.value}});
  result.json["parameters"] = std::move(parameters);
  const auto note = [&](const fs::path& path) {
    result.text += fmt::format("wrote {}\n", path.string());
    result.json["files"].push_back(path.string());
  };

  if (!job.c.empty()) {
    const CFiles files = c_files(model, {job.single_precision});
    for (const std::string& name : {files.header_name, files.source_name, files.test_name})
      expect_replaceable(job.c / name, OwnFile::Exported);
    write_together(job.c, {{files.header_name, files.header},
                           {files.source_name, files.source},
                           {files.test_name, files.test}});
    for (const std::string& name : {files.header_name, files.source_name, files.test_name})
      note(job.c / name);
    result.text += fmt::format("check it:  cd {} && cc -std=c99 -O2 {} {} -lm && ./a.out\n", job.c.string(),
                               files.source_name, files.test_name);
  }
  if (!job.fmu.empty()) {
    FmuOptions options;
    options.version = job.fmi;
    if (mechanism.linear) {
      options.summary = describe_rom(mechanism.linear->file);
    } else {
      Diagnostics told_already;
      options.summary = describe_rom(read_rom_file(file, told_already));
    }
    const FmuReport report = write_fmu(job.fmu, model, options, context.diagnostics);
    note(job.fmu);
    result.text +=
        fmt::format("FMI {}.0, model exchange and co-simulation, binaries: {}\n", job.fmi,
                    report.platforms.empty() ? "none" : fmt::format("{}", fmt::join(report.platforms, ", ")));
    if (!report.left_out.empty())
      result.text += fmt::format("without: {}\n", fmt::join(report.left_out, ", "));
    result.json["fmi"] = job.fmi;
    result.json["platforms"] = report.platforms;
    result.json["left_out"] = report.left_out;
  }
  return result;
}

}  // namespace lissom
