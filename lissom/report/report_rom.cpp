// Trainings from the files they leave, without a summary, and reduced mechanisms by themselves.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "lissom/core/file_kind.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/csv_table.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/report/report_parts.hpp"
#include "lissom/report/report_runs.hpp"
#include "lissom/report/report_training.hpp"
#include "lissom/study/inspect_rom.hpp"
#include "lissom/study/linear_training.hpp"

namespace lissom {

using nlohmann::json;

namespace {

json number_or_null(const std::string& field) {
  const auto value = parse_double(field);
  return value ? json(*value) : json(nullptr);
}

// The rows as objects by column, with texts as they are.
std::vector<std::vector<std::pair<std::string, std::string>>> rows_of(const std::filesystem::path& file) {
  std::vector<std::vector<std::pair<std::string, std::string>>> rows;
  check_csv_end(file);
  const CsvText table = read_csv_text(file);
  for (const std::vector<std::string>& fields : table.rows) {
    rows.emplace_back();
    for (size_t c = 0; c < fields.size(); ++c) rows.back().emplace_back(table.columns[c], fields[c]);
  }
  return rows;
}

void read_modes(const std::filesystem::path& file, json& training) {
  for (const char* key : {"singular_values", "singular_values_full", "joint_violation"})
    training[key] = json::array();
  for (const auto& row : rows_of(file))
    for (const auto& [column, field] : row) {
      if (field.empty()) continue;
      if (column == "singular_value") training["singular_values"].push_back(number_or_null(field));
      if (column == "singular_value_of_nodes")
        training["singular_values_full"].push_back(number_or_null(field));
      if (column == "joint_violation") training["joint_violation"].push_back(number_or_null(field));
    }
}

void read_orders(const std::filesystem::path& file, json& training) {
  training["orders"] = json::array();
  for (const auto& row : rows_of(file)) {
    json order = json::object();
    for (const auto& [column, field] : row) {
      if (column != "frequencies_hz") {
        order[column] = number_or_null(field);
        continue;
      }
      order[column] = json::array();
      for (const std::string_view f : split_blanks(field))
        order[column].push_back(number_or_null(std::string(f)));
    }
    // of modes.csv
    const double m = number_in(order, "m");
    for (const auto& [one, of] :
         {std::pair{"singular_value", "singular_values"}, std::pair{"joint_violation", "joint_violation"}})
      if (const json& list = part_of(training, of); m >= 1 && static_cast<double>(list.size()) >= m)
        order[one] = list[static_cast<size_t>(m) - 1];
    training["orders"].push_back(std::move(order));
  }
}

void read_samples(const std::filesystem::path& file, json& training) {
  training["samples"] = json::array();
  for (const auto& row : rows_of(file)) {
    json sample = {{"parameters", json::object()}, {"orders", json::object()}};
    bool parameters = true;  // columns between "sample" and "snapshots"
    for (const auto& [column, field] : row) {
      if (column == "sample") continue;
      if (column == "snapshots") parameters = false;
      if (parameters) {
        sample["parameters"][column] = number_or_null(field);
        if (!training["parameters"].contains(column)) training["parameters"][column] = json::object();
      } else if (column == "r_singular_values") {
        sample["orders"]["singular-values"] = number_or_null(field);
      } else if (column == "r_energy") {
        sample["orders"]["energy"] = number_or_null(field);
      } else {
        sample[column] = number_or_null(field);
      }
    }
    sample["singular_values"] = json::array();
    training["samples"].push_back(std::move(sample));
  }
}

void read_sample_values(const std::filesystem::path& file, json& training) {
  for (const auto& row : rows_of(file))
    for (size_t c = 1; c < row.size() && c <= training["samples"].size(); ++c)
      if (json& list = training["samples"][c - 1]["singular_values"]; list.size() < 60)
        list.push_back(number_or_null(row[c].second));
}

void read_angles(const std::filesystem::path& file, json& training) {
  training["principal_angles_deg"] = json::array();
  for (const auto& row : rows_of(file)) {
    json angles = json::array();
    for (size_t c = 1; c < row.size(); ++c) angles.push_back(number_or_null(row[c].second));
    training["principal_angles_deg"].push_back(std::move(angles));
  }
}

void read_tests(const std::filesystem::path& file, json& training) {
  training["tests"] = json::array();
  for (const auto& row : rows_of(file)) {
    json test = {{"errors", json::object()}, {"parameters", json::object()}};
    bool parameters = true;  // columns between "test" and "combination"
    for (const auto& [column, field] : row) {
      if (column == "combination") parameters = false;
      if (column == "test" || column == "combination" || column == "force" || column == "fallback" ||
          column == "problem") {
        if (!field.empty()) test[column] = field;
      } else if (parameters) {
        test["parameters"][column] = number_or_null(field);
      } else if (column.starts_with("error ")) {
        test["errors"][column.substr(6)] = number_or_null(field);
      } else {
        test[column] = number_or_null(field);
      }
    }
    training["tests"].push_back(std::move(test));
  }
}

}  // namespace

json training_of_model(const std::filesystem::path& file, Diagnostics& diagnostics) {
  if (is_pod_file(file)) {
    const PodFile rom = read_pod_file(file, diagnostics);
    json j = rom_json(rom);
    j["method"] = "pod";
    j["samples"] = json::array();
    for (const PodSample& sample : rom.library.samples) {
      json entry = {{"parameters", json::object()},
                    {"snapshots", sample.samples},
                    {"rank", sample.basis.cols()},
                    {"singular_values", to_vector(sample.singular_values)}};
      for (size_t p = 0; p < rom.library.parameters.size(); ++p)
        entry["parameters"][rom.library.parameters[p]] = sample.parameters[static_cast<Eigen::Index>(p)];
      j["samples"].push_back(std::move(entry));
    }
    return j;
  }
  if (is_linear_file(file)) {
    json j = rom_json(read_linear_file(file, diagnostics));
    j["method"] = "linear";
    return j;
  }
  const RomFile rom = read_rom_file(file, diagnostics);
  json j = rom_json(rom);
  j.erase("training");
  j["orders"] = {{{"m", rom.model.order()}, {"frequencies_hz", j["frequencies_hz"]}}};
  return j;
}

json training_of_files(const std::filesystem::path& folder, Diagnostics& diagnostics) {
  const auto has = [&](const char* name) { return is_there(folder / name); };
  json training;
  // a file that is damaged costs what it has, not the others
  const auto take = [&](const auto& read) {
    json with = training;
    try {
      read(with);
      training = std::move(with);
    } catch (const InputError& e) {
      diagnostics.warn("report.training",
                       fmt::format("{}; what it has of the training is left out", e.what()));
    }
  };
  if (has("model.rom.h5"))
    take([&](json& j) { j = training_of_model(folder / "model.rom.h5", diagnostics); });
  if (has("modes.csv") && has("orders.csv")) {
    take([&](json& j) { read_modes(folder / "modes.csv", j); });
    take([&](json& j) { read_orders(folder / "orders.csv", j); });
  }
  if (has("samples.csv")) {
    take([&](json& j) {
      j["method"] = "pod";
      read_samples(folder / "samples.csv", j);
    });
    if (has("singular_values.csv"))
      take([&](json& j) { read_sample_values(folder / "singular_values.csv", j); });
    if (has("principal_angles.csv")) take([&](json& j) { read_angles(folder / "principal_angles.csv", j); });
    if (has("pod_test.csv")) take([&](json& j) { read_tests(folder / "pod_test.csv", j); });
  }
  return training;
}

void report_rom_file(ReportDraft& draft, const std::filesystem::path& file) {
  const json model = training_of_model(file, *draft.diagnostics);
  draft.page.title = text_in(model, "title");
  if (draft.page.title.empty()) draft.page.title = file.filename().string();
  draft.page.subtitle = "A mechanism reduced as a whole";
  const double order = number_in(model, "order");
  const bool pod = text_in(model, "kind") == "pod";
  draft.page.summary = fmt::format(
      "This file holds a small model of a mechanism: {:.0f} unknowns of an ordinary differential equation{}. "
      "'lissom simulate {}' runs it.",
      order, pod ? ", made anew for each value of its parameters" : "", file.filename().string());
  draft.page.cards.push_back({"Unknowns", report_number(order, 9), "of the small model"});
  if (const json& parts = part_of(model, "parts"); parts.is_object() && !parts.empty()) {
    ReportTable table{
        "parts", "Bodies in it", {"body", "mass [kg]", "stiffness rank", "nodes", "places"}, {}};
    for (const auto& [name, part] : parts.items())
      table.rows.push_back({name, report_number(number_in(part, "mass"), 6),
                            report_number(number_in(part, "stiffness_rank"), 9),
                            report_number(number_in(part, "nodes"), 9),
                            fmt::format("{}", fmt::join(texts_in(part, "places"), ", "))});
    draft.section("mechanism", "The mechanism").blocks.push_back(std::move(table));
  }
  report_training(draft, model);
  ReportFacts facts;
  const auto fact = [&](const char* what, const char* key) {
    if (const std::string text = text_in(model, key); !text.empty())
      facts.rows.emplace_back(what, ReportValue(text));
  };
  fact("Study", "study");
  fact("Case", "case");
  fact("Written by lissom", "lissom_version");
  if (!facts.rows.empty()) draft.section("origin", "Where it comes from").blocks.push_back(std::move(facts));
}

}  // namespace lissom
