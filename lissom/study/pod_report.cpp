// What a training with method = "pod" found: files, for people, for programs.
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numbers>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/csv_table.hpp"
#include "lissom/io/table.hpp"
#include "lissom/study/pod_training.hpp"
#include "lissom/study/summary_json.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

constexpr double degrees = 180 / std::numbers::pi;
// columns of sensors that the table on the terminal has room for
constexpr size_t terminal_columns = 4;

json named(const std::vector<std::string>& names, const VectorXd& values) {
  json j = json::object();
  for (size_t p = 0; p < names.size(); ++p) j[names[p]] = values[static_cast<Index>(p)];
  return j;
}

void save(const std::filesystem::path& path, const std::string& text) {
  std::error_code ec;
  std::filesystem::create_directories(path.parent_path(), ec);
  if (ec) fail("{}: the folder cannot be made: {}", path.parent_path().string(), ec.message());
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

// The most of one number over the samples.
int most(const PodTraining& training, int PodSampleReport::*order) {
  int value = 0;
  for (const PodSampleReport& sample : training.samples) value = std::max(value, sample.*order);
  return value;
}

double speed_up(const PodTestRow& row) {
  return row.seconds > 0 ? row.full_seconds / row.seconds : 0;
}

}  // namespace

std::vector<std::string> write_pod_training(const PodTraining& training,
                                            const std::filesystem::path& folder) {
  const PodLibrary& library = training.rom.library;
  std::string samples = "sample";
  for (const std::string& name : library.parameters) samples += "," + csv_field(name);
  samples +=
      ",snapshots,seconds,rank,r_singular_values,r_energy,r_singular_values_centred,r_energy_centred\n";
  Index longest = 0;
  for (size_t k = 0; k < training.samples.size(); ++k) {
    const PodSampleReport& report = training.samples[k];
    samples += fmt::format("{}", k + 1);
    for (const double value : report.parameters) samples += fmt::format(",{}", value);
    samples += fmt::format(",{},{},{},{},{},{},{}\n", report.snapshots, report.seconds,
                           library.samples[k].basis.cols(), report.by_values, report.by_energy,
                           report.by_values_centred, report.by_energy_centred);
    longest = std::max(longest, library.samples[k].singular_values.size());
  }
  save(folder / "samples.csv", samples);
  write_pod_file(folder / "model.rom.h5", training.rom);

  std::string values = "mode", angles = "sample";
  for (size_t k = 0; k < library.samples.size(); ++k) {
    values += fmt::format(",sample_{}", k + 1);
    angles += fmt::format(",{}", k + 1);
  }
  for (Index i = 0; i < longest; ++i) {
    values += fmt::format("\n{}", i + 1);
    for (const PodSample& sample : library.samples)
      values += i < sample.singular_values.size() ? fmt::format(",{}", sample.singular_values[i]) : ",";
  }
  save(folder / "singular_values.csv", values + "\n");
  for (Index a = 0; a < training.angles.rows(); ++a)
    angles += fmt::format("\n{},{}", a + 1, fmt::join(VectorXd(degrees * training.angles.row(a)), ","));
  save(folder / "principal_angles.csv", angles + "\n");
  std::vector<std::string> files = {"model.rom.h5", "samples.csv", "singular_values.csv",
                                    "principal_angles.csv"};
  if (training.greedy.empty()) return files;
  std::string greedy = "samples";
  for (const std::string& name : library.parameters) greedy += "," + csv_field(name);
  greedy += ",indicator\n";
  for (const GreedyStep& step : training.greedy)
    greedy += fmt::format("{},{},{}\n", step.samples, fmt::join(step.parameters, ","), step.indicator);
  save(folder / "greedy.csv", greedy);
  files.push_back("greedy.csv");
  return files;
}

std::vector<std::string> write_pod_tests(const PodTraining& training, const std::filesystem::path& folder) {
  if (training.tests.empty()) return {};
  std::string text = "test";
  for (const std::string& name : training.rom.library.parameters) text += "," + csv_field(name);
  text += ",combination,order,force";
  for (const std::string& column : training.columns) text += "," + csv_field("error " + column);
  text +=
      ",largest_angle_deg,constraints,trust,full_seconds,seconds,setup_seconds,times_faster,fallback,"
      "problem\n";
  for (const PodTestRow& row : training.tests) {
    text += csv_field(row.test);
    for (const double value : row.parameters) text += fmt::format(",{}", value);
    text += fmt::format(",{},{},{}", pod_word(pod_combination_names(), row.combination), row.order,
                        pod_word(pod_force_names(), row.force));
    for (size_t c = 0; c < training.columns.size(); ++c)
      text += c < row.errors.size() && std::isfinite(row.errors[c]) ? fmt::format(",{}", row.errors[c]) : ",";
    text += fmt::format(",{},{},{},{},{},{},{},{},{}\n", degrees * row.largest_angle, row.kept, row.trust,
                        row.full_seconds, row.seconds, row.setup_seconds, speed_up(row),
                        csv_field(row.fallback), csv_field(row.problem));
  }
  save(folder / "pod_test.csv", text);
  return {"pod_test.csv"};
}

std::string describe_pod_training(const PodTraining& training) {
  const PodFile& rom = training.rom;
  const PodLibrary& library = rom.library;
  std::string text;
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("{:<18}{}\n", what, value);
  };
  int reused = 0;
  double seconds = 0;
  for (const PodSampleReport& sample : training.samples) {
    reused += sample.reused ? 1 : 0;
    seconds += sample.seconds;
  }
  line("training",
       fmt::format("{} full simulation{}, {} of integration, {} at a time{}", training.samples.size(),
                   training.samples.size() == 1 ? "" : "s", format_seconds(seconds), training.processes,
                   reused > 0 ? fmt::format("; {} read from before", reused) : ""));
  line("space", fmt::format("{} nodal coordinates of {} beam{}", library.nodal_coordinates(),
                            rom.beams.size(), rom.beams.size() == 1 ? "" : "s"));
  text += "\n";
  std::vector<std::string> header = {"sample"};
  header.insert(header.end(), library.parameters.begin(), library.parameters.end());
  for (const char* name : {"snapshots", "time", "r by values", "r by energy", "centred: by values",
                           "by energy", "largest angle"})
    header.emplace_back(name);
  Table table(header);
  for (size_t k = 0; k < training.samples.size(); ++k) {
    const PodSampleReport& report = training.samples[k];
    std::vector<std::string> cells = {std::to_string(k + 1)};
    for (const double value : report.parameters) cells.push_back(fmt::format("{:.6g}", value));
    for (const std::string& cell :
         {std::to_string(report.snapshots), format_seconds(report.seconds), std::to_string(report.by_values),
          std::to_string(report.by_energy), std::to_string(report.by_values_centred),
          std::to_string(report.by_energy_centred),
          fmt::format("{:.1f} deg", degrees * training.angles.row(static_cast<Index>(k)).maxCoeff())})
      cells.push_back(cell);
    table.add(std::move(cells));
  }
  text += table.str() + "\n";
  for (const GreedyStep& step : training.greedy)
    line("greedy", fmt::format("{} samples: indicator {:.3g} at {}", step.samples, step.indicator,
                               describe(rom.parameters, step.parameters)));
  line("rules",
       fmt::format("{} % of the singular values: {} modes, of the energy: {}; mean-centred: {} and {}",
                   100 * rom.fraction, most(training, &PodSampleReport::by_values),
                   most(training, &PodSampleReport::by_energy),
                   most(training, &PodSampleReport::by_values_centred),
                   most(training, &PodSampleReport::by_energy_centred)));
  line("order", fmt::format("{}: {}", rom.order, rom.why));
  line("combination", pod_word(pod_combination_names(), library.combination));
  return text;
}

std::string describe_pod_tests(const PodTraining& training) {
  if (training.tests.empty()) return "";
  // what never moves has no error to show: z of plane motion
  std::vector<size_t> columns;
  for (size_t c = 0; c < training.columns.size() && columns.size() < terminal_columns; ++c)
    if (std::any_of(training.tests.begin(), training.tests.end(),
                    [&](const PodTestRow& row) { return c < row.errors.size() && row.errors[c] != 0; }))
      columns.push_back(c);
  std::vector<std::string> header = {"test", "combination", "r", "force"};
  for (const size_t c : columns) header.push_back("error " + training.columns[c]);
  for (const char* name : {"full", "reduced", "times faster"}) header.emplace_back(name);
  Table table(header);
  std::string last;
  std::vector<std::string> notes;
  for (const PodTestRow& row : training.tests) {
    std::vector<std::string> cells = {
        row.test,
        pod_word(pod_combination_names(), row.combination) + (row.fallback.empty() ? "" : " (fell back)"),
        std::to_string(row.order), pod_word(pod_force_names(), row.force)};
    for (const size_t c : columns)
      cells.push_back(!row.problem.empty()           ? (c == columns[0] ? "failed" : "")
                      : std::isfinite(row.errors[c]) ? fmt::format("{:.3e}", row.errors[c])
                                                     : "-");
    const bool done = row.problem.empty();
    cells.push_back(row.full_seconds > 0 ? format_seconds(row.full_seconds) : "-");
    cells.push_back(done ? format_seconds(row.seconds) : "-");
    cells.push_back(done ? fmt::format("{:.1f}", speed_up(row)) : "-");
    table.add(std::move(cells));
    if (row.test == last) continue;
    last = row.test;
    notes.push_back(fmt::format("{}: {}", row.test, describe(training.rom.parameters, row.parameters)));
  }
  std::string text = fmt::format(
      "tests at parameters that no sample has ({}); errors are relative L2 norms over "
      "time\n{}",
      fmt::join(notes, "; "), table.str());
  if (columns.size() < training.columns.size())
    text += fmt::format("all {} columns are in pod_test.csv\n", training.columns.size());
  return text;
}

json pod_training_json(const PodTraining& training) {
  const PodFile& rom = training.rom;
  const PodLibrary& library = rom.library;
  json j;
  j["method"] = "pod";
  j["order"] = rom.order;
  j["why"] = rom.why;
  j["rule"] = pod_word(pod_rule_names(), rom.rule);
  j["fraction"] = rom.fraction;
  j["proposed"] = {{"singular-values", most(training, &PodSampleReport::by_values)},
                   {"energy", most(training, &PodSampleReport::by_energy)},
                   {"singular-values_centred", most(training, &PodSampleReport::by_values_centred)},
                   {"energy_centred", most(training, &PodSampleReport::by_energy_centred)}};
  j["offset"] = pod_word(pod_offset_names(), library.options.offset);
  j["weight"] = library.options.mass_weighted ? "mass" : "none";
  j["combination"] = pod_word(pod_combination_names(), library.combination);
  j["force"] = pod_word(pod_force_names(), rom.body.force);
  j["nodal_coordinates"] = library.nodal_coordinates();
  j["rank"] = library.rank();
  j["parameters"] = json::object();
  for (const StudyParameter& parameter : rom.parameters)
    j["parameters"][parameter.name] = {{"keys", parameter.keys}, {"scale", parameter.scale}};
  j["samples"] = json::array();
  for (size_t k = 0; k < training.samples.size(); ++k) {
    const PodSampleReport& report = training.samples[k];
    j["samples"].push_back(
        {{"parameters", named(library.parameters, report.parameters)},
         {"snapshots", report.snapshots},
         {"seconds", report.seconds},
         {"reused", report.reused},
         {"rank", library.samples[k].basis.cols()},
         {"singular_values", json_numbers(library.samples[k].singular_values.head(
                                 std::min<Index>(60, library.samples[k].singular_values.size())))},
         {"orders",
          {{"singular-values", report.by_values},
           {"energy", report.by_energy},
           {"singular-values_centred", report.by_values_centred},
           {"energy_centred", report.by_energy_centred}}}});
  }
  j["principal_angles_deg"] = json::array();
  for (Index a = 0; a < training.angles.rows(); ++a)
    j["principal_angles_deg"].push_back(json_numbers(degrees * training.angles.row(a)));
  if (!training.greedy.empty()) {
    j["greedy"] = json::array();
    for (const GreedyStep& step : training.greedy)
      j["greedy"].push_back({{"samples", step.samples},
                             {"parameters", named(library.parameters, step.parameters)},
                             {"indicator", step.indicator}});
  }
  j["tests"] = json::array();
  for (const PodTestRow& row : training.tests) {
    json entry = {{"test", row.test},
                  {"parameters", named(library.parameters, row.parameters)},
                  {"combination", pod_word(pod_combination_names(), row.combination)},
                  {"order", row.order},
                  {"force", pod_word(pod_force_names(), row.force)},
                  {"largest_angle_deg", degrees * row.largest_angle},
                  {"constraints_kept", row.kept},
                  {"trust", json_number(row.trust)},
                  {"full_seconds", row.full_seconds},
                  {"seconds", row.seconds},
                  {"setup_seconds", row.setup_seconds},
                  {"times_faster", speed_up(row)}};
    entry["errors"] = json::object();
    for (size_t c = 0; c < row.errors.size(); ++c)
      entry["errors"][training.columns[c]] = json_number(row.errors[c]);
    if (!row.fallback.empty()) entry["fallback"] = row.fallback;
    if (!row.problem.empty()) entry["problem"] = row.problem;
    j["tests"].push_back(std::move(entry));
  }
  double seconds = 0;
  json phases = json::object();
  for (const auto& [phase, spent] : training.seconds.phases()) {
    seconds += spent;
    phases[phase] = spent;
  }
  j["processes"] = training.processes;
  j["seconds"] = seconds;
  j["phases"] = std::move(phases);
  j["peak_memory_bytes"] = peak_memory_bytes();
  return j;
}

}  // namespace lissom
