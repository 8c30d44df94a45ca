#include "lissom/report/run_summary.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "lissom/core/resources.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/csv_table.hpp"
#include "lissom/io/table.hpp"
#include "lissom/report/report_json.hpp"

namespace lissom {

namespace {

using nlohmann::json;
using Ink = Terminal::Ink;

constexpr size_t most_bodies = 8, most_models = 12;

std::optional<double> number_at(const json& object, const char* key) {
  const json& value = part_of(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::string text_at(const json& object, const char* key) {
  return printable(text_in(object, key));
}

std::string shown(std::optional<double> value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string counted(double n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

// Names too long for the screen end with dots.
std::string shortened_name(const std::string& name, size_t most) {
  if (shown_width(name) <= most) return name;
  std::string out;
  for (const char c : name) {
    const bool begins = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (begins && shown_width(out) + 2 >= most) break;
    out += c;
  }
  return out + "..";
}

// The largest of the numbers that errors of modes have under a key; nothing where one of them has none.
std::optional<double> largest(const json& errors, const char* key) {
  std::optional<double> worst;
  if (!errors.is_array()) return worst;
  for (const json& mode : errors) {
    const auto value = number_at(mode, key);
    if (!value) return std::nullopt;
    worst = std::max(worst.value_or(0), *value);
  }
  return worst;
}

// The error of a reduction in words.
std::string reduction_error(const json& reduce) {
  const json& errors = part_of(reduce, "errors");
  if (const auto bound = largest(errors, "bound")) return fmt::format("proven below {:.3g} %", 100 * *bound);
  if (const auto estimate = largest(errors, "zeta_2"))
    return fmt::format("{:.3g} % by estimate", 100 * *estimate);
  return "not known";
}

class Summary {
 public:
  Summary(const json& summary, const std::filesystem::path& folder, const Terminal& terminal)
      : summary_(summary), folder_(folder), terminal_(terminal) {}

  std::string str() {
    out_ = terminal_.ink(Ink::Bold, text_at(summary_, "title")) + "\n";
    bodies();
    training();
    models();
    analyses();
    sensors();
    checks();
    return out_;
  }

 private:
  void heading(const char* name) { out_ += "\n" + terminal_.ink(Ink::Bold, name) + "\n"; }
  void line(const char* name, const std::string& value) { out_ += fmt::format("{:<18}{}\n", name, value); }
  // The same of a long text, broken between words.
  void paragraph(const char* name, const std::string& words) {
    const auto most = static_cast<size_t>(std::max(40, terminal_.columns - 18));
    std::string row;
    for (const std::string_view word : split_blanks(words)) {
      if (!row.empty() && shown_width(row) + 1 + shown_width(word) > most) {
        line(name, row);
        name = "";
        row.clear();
      }
      row += (row.empty() ? "" : " ") + std::string(word);
    }
    line(name, row);
  }
  // A table whose head is faint, and what it leaves out.
  void add(const Table& table, size_t left_out) {
    const std::string all = table.str();
    const size_t head = all.find('\n'), rule = all.find('\n', head + 1);
    out_ += terminal_.ink(Ink::Faint, all.substr(0, rule)) + all.substr(rule);
    if (left_out > 0) out_ += terminal_.ink(Ink::Faint, fmt::format("... and {} more", left_out)) + "\n";
  }

  void bodies() {
    const json& bodies = part_of(summary_, "bodies");
    if (!bodies.is_object() || bodies.empty()) return;
    heading("bodies");
    Table table({"body", "mesh", "mass kg", "result", "error", "time"});
    size_t rows = 0;
    for (const auto& [name, body] : bodies.items()) {
      if (rows++ >= most_bodies) continue;
      std::string mesh = "-", result = text_at(body, "formulation"), error = "-";
      if (result.empty()) result = "-";
      if (const auto nodes = number_at(body, "nodes")) mesh = fmt::format("{} nodes", *nodes);
      const json& reduce = part_of(body, "reduce");
      if (reduce.is_object()) {
        result = fmt::format("{} -> {} coordinates", shown(number_at(reduce, "degrees_of_freedom"), "{}"),
                             shown(number_at(reduce, "coordinates"), "{}"));
        error = reduction_error(reduce);
      } else if (const json& hz = part_of(body, "frequencies_hz"); hz.is_array() && !hz.empty()) {
        const size_t rigid = count_of(number_at(body, "rigid_modes").value_or(0), hz.size());
        result = counted(static_cast<double>(hz.size()), "mode", "modes");
        if (rigid < hz.size() && hz[rigid].is_number())
          result += fmt::format(", first {:.5g} Hz", hz[rigid].get<double>());
      }
      const auto seconds = number_at(part_of(body, "seconds"), "total");
      table.add({shortened_name(printable(name), 24), mesh, shown(number_at(body, "mass"), "{:.4g}"), result,
                 error, seconds ? format_seconds(*seconds) : "-"});
    }
    add(table, rows > most_bodies ? rows - most_bodies : 0);
  }

  void training() {
    const json& training = part_of(summary_, "training");
    if (!training.is_object()) return;
    heading("training");
    const bool pod = text_at(training, "method") == "pod";
    paragraph("order",
              fmt::format("{}: {}", shown(number_at(training, "order"), "{}"), text_at(training, "why")));
    const json& data = part_of(training, pod ? "samples" : "training");
    if (data.is_array())
      line("trained on", counted(static_cast<double>(data.size()), "full run", "full runs"));
    const json& singular = part_of(training, "singular_values");
    if (!pod && singular.is_array()) {
      std::vector<double> logs;
      for (const json& value : singular)
        if (value.is_number() && value.get<double>() > 0) logs.push_back(std::log10(value.get<double>()));
      const std::string curve = sparkline(terminal_, logs, 40);
      if (!curve.empty())
        line("singular values", fmt::format("{}  {:.1e} to {:.1e}", curve, std::pow(10, logs.front()),
                                            std::pow(10, logs.back())));
    }
    if (const json& spurious = part_of(training, "spurious"); spurious.is_array() && !spurious.empty())
      line("spurious",
           terminal_.ink(Ink::Warn, fmt::format("{} orders have spurious frequencies", spurious.size())));
    if (const auto seconds = number_at(training, "seconds")) line("time", format_seconds(*seconds));
  }

  // The simulation of a case, or of the study.
  const json& simulation_of(const std::string& name) const {
    if (name == "study") return part_of(summary_, "simulation");
    return part_of(part_of(part_of(summary_, "cases"), name.c_str()), "simulation");
  }

  static std::string formulations(const json& simulation) {
    std::vector<std::string> kinds;
    const json& bodies = part_of(simulation, "bodies");
    if (!bodies.is_array()) return "-";
    for (const json& body : bodies) {
      const std::string kind = text_at(body, "formulation");
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    }
    return fmt::format("{}", fmt::join(kinds, "+"));
  }

  void models() {
    const json& models = part_of(summary_, "models");
    if (models.is_object() && !models.empty()) {
      compared_models(models);
      return;
    }
    const json& simulation = part_of(summary_, "simulation");
    if (!simulation.is_object()) return;
    heading("simulation");
    line("unknowns",
         fmt::format("{} coordinates, {} constraints ({})", shown(number_at(simulation, "coordinates"), "{}"),
                     shown(number_at(simulation, "constraints"), "{}"), formulations(simulation)));
    const auto seconds = number_at(simulation, "seconds");
    line("time", fmt::format("{} for {} of motion, {} steps", seconds ? format_seconds(*seconds) : "-",
                             shown(number_at(simulation, "end"), "{:.4g} s"),
                             shown(number_at(simulation, "steps"), "{}")));
  }

  void compared_models(const json& models) {
    heading("models");
    Table table(
        {"model", "formulation", "unknowns", "largest error", "times faster", "times real time", "time"});
    // the study, its cases in its order, and what it does not name
    std::vector<std::string> names = {"study"};
    for (const json& name : part_of(summary_, "case_order"))
      if (name.is_string()) names.push_back(name.get<std::string>());
    for (const auto& [name, model] : models.items())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    std::erase_if(names, [&](const std::string& name) { return !models.contains(name); });
    size_t rows = 0;
    bool outside = false;
    std::vector<std::string> untrusted;
    for (const std::string& name : names) {
      const json& model = models.at(name);
      const json& trust = part_of(model, "trust");
      const auto far = number_at(trust, "largest"), threshold = number_at(trust, "threshold");
      const bool bad = far && threshold && *far > *threshold;
      if (bad) untrusted.push_back(printable(name));
      outside = outside || bad;
      if (rows++ >= most_models) continue;
      const auto error = number_at(model, "largest_error"), motion = number_at(model, "motion");
      const auto seconds = number_at(model, "seconds");
      table.add({shortened_name(name == "study" ? "the study itself" : printable(name), 30),
                 formulations(simulation_of(name)), shown(number_at(model, "unknowns"), "{}"),
                 error ? fmt::format("{:.1e} of {:.2g} m", *error, motion.value_or(0)) : "-",
                 shown(number_at(model, "times_faster"), "{:.1f}"),
                 shown(number_at(model, "real_time_factor"), "{:.3g}"),
                 seconds ? format_seconds(*seconds) : "-"});
    }
    add(table, rows > most_models ? rows - most_models : 0);
    if (outside) {
      const std::string which = untrusted.size() <= 3 ? fmt::format("{}", fmt::join(untrusted, "; "))
                                                      : fmt::format("{} models", untrusted.size());
      out_ += terminal_.ink(Ink::Warn, fmt::format("far from their training, not to be trusted: {}", which)) +
              "\n";
    }
  }

  void analyses() {
    const json& linear = part_of(summary_, "linearisation");
    const json& response = part_of(summary_, "response");
    const json& sweep = part_of(summary_, "sweep");
    if (!linear.is_object() && !response.is_object() && !sweep.is_object()) return;
    heading("analyses");
    if (linear.is_object()) {
      const json& modes = part_of(linear, "modes");
      std::string first;
      if (modes.is_array() && !modes.empty())
        first = fmt::format(", first {} Hz with {} % damping",
                            shown(number_at(modes[0], "frequency_hz"), "{:.5g}"),
                            shown(100 * number_at(modes[0], "damping_ratio").value_or(0), "{:.3g}"));
      line("linearised",
           fmt::format("{} states{}, {}", part_of(linear, "states").size(), first,
                       part_of(linear, "stable") == true ? terminal_.ink(Ink::Good, "stable")
                                                         : terminal_.ink(Ink::Warn, "not stable")));
    }
    if (response.is_object()) {
      const json& pairs = part_of(response, "pairs");
      if (pairs.is_array())
        for (size_t k = 0; k < std::min<size_t>(3, pairs.size()); ++k) {
          const json& peaks = part_of(pairs[k], "peaks");
          line("response",
               fmt::format(
                   "{} to {}: {}{}", text_at(pairs[k], "input"), text_at(pairs[k], "output"),
                   counted(static_cast<double>(peaks.size()), "peak", "peaks"),
                   peaks.is_array() && !peaks.empty()
                       ? fmt::format(", first at {} Hz", shown(number_at(peaks[0], "frequency_hz"), "{:.5g}"))
                       : ""));
        }
    }
    if (sweep.is_object()) {
      const json& points = part_of(sweep, "points");
      const double failed = number_at(sweep, "failed").value_or(0);
      std::string names;
      for (const json& name : part_of(sweep, "parameters"))
        if (name.is_string()) names += (names.empty() ? "" : ", ") + printable(name.get<std::string>());
      line("sweep",
           fmt::format(
               "{} of {}, {}", counted(static_cast<double>(points.size()), "point", "points"), names,
               failed > 0 ? terminal_.ink(Ink::Bad, fmt::format("{} failed", failed)) : "none failed"));
    }
  }

  // The first sensor of the study's run, or of the first case that has one, component by component.
  void sensors() {
    if (folder_.empty() || !terminal_.unicode) return;
    std::filesystem::path file = folder_ / "sensors.csv";
    std::error_code ec;
    if (!std::filesystem::is_regular_file(file, ec)) {
      const json& cases = part_of(summary_, "cases");
      if (!cases.is_object()) return;
      for (const auto& [name, one] : cases.items())
        if (std::filesystem::is_regular_file(file = folder_ / name / "sensors.csv", ec)) break;
      if (!std::filesystem::is_regular_file(file, ec)) return;
    }
    const std::string curves = sensor_curves(file, terminal_);
    if (curves.empty()) return;
    heading("sensors");
    out_ += curves;
  }

  void checks() {
    // the worst of all runs
    std::optional<double> energy, constraint;
    const auto look = [&](const json& simulation) {
      if (!simulation.is_object()) return;
      // relative to the largest energy
      if (const auto drift = number_at(simulation, "energy_drift"))
        energy = std::max(energy.value_or(0), std::abs(*drift));
      if (const auto drift = number_at(simulation, "constraint_drift"))
        constraint = std::max(constraint.value_or(0), std::abs(*drift));
    };
    look(part_of(summary_, "simulation"));
    const json& cases = part_of(summary_, "cases");
    if (cases.is_object())
      for (const auto& [name, one] : cases.items()) look(part_of(one, "simulation"));
    const json& warnings = part_of(summary_, "warnings");
    out_ += "\n";
    if (constraint)
      line("largest drift",
           fmt::format("{}constraints {:.2g} m",
                       energy ? fmt::format("energy {:.2g} of its largest value, ", *energy) : "",
                       *constraint));
    if (const size_t n = warnings.is_array() ? warnings.size() : 0; n > 0)
      line("warnings", terminal_.ink(Ink::Warn, std::to_string(n)));
  }

  const json& summary_;
  const std::filesystem::path& folder_;
  const Terminal& terminal_;
  std::string out_;
};

}  // namespace

std::string run_summary(const json& summary, const std::filesystem::path& folder, const Terminal& terminal) {
  return Summary(summary, folder, terminal).str();
}

std::string sensor_curves(const std::filesystem::path& file, const Terminal& terminal) {
  // a long run would take longer to read than it is worth
  std::error_code ec;
  if (!terminal.unicode || std::filesystem::file_size(file, ec) > 20'000'000 || ec) return "";
  CsvTable table;
  try {
    table = read_csv_table(file);
  } catch (const Error&) {
    return "";  // the picture is a courtesy
  }
  if (table.columns.size() < 2 || table.values.rows() < 3) return "";
  const auto group = [](const std::string& name) { return name.substr(0, name.rfind('.')); };
  std::string out;
  int rows = 0;
  for (size_t c = 1; c < table.columns.size() && rows < 3; ++c) {
    if (group(table.columns[c]) != group(table.columns[1])) break;
    const auto column = table.values.col(static_cast<Eigen::Index>(c));
    const std::vector<double> values(column.begin(), column.end());
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (*low == *high) continue;
    ++rows;
    out += fmt::format("{:<18}{}  {:.5g} to {:.5g}\n", shortened_name(printable(table.columns[c]), 17),
                       sparkline(terminal, values, std::min(60, terminal.columns - 50)), *low, *high);
  }
  return out;
}

}  // namespace lissom
