#include "lissom/io/study_schema.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

namespace lissom {

namespace {

namespace d = dimensions;

const TableSchema& linearise_schema() {
  static const TableSchema schema = {
      .name = "linearise",
      .meaning = "The mechanism linearised about a state.",
      .keys = {
          {.name = "about",
           .kinds = kind::word | kind::number,
           .dimension = d::time,
           .otherwise = "`\"start\"`",
           .bounds = at_least(0),
           .choices = {{"start", "as the bodies are placed"}, {"static", "the equilibrium at t = 0"}},
           .shown_kind = "text or time",
           .meaning = "the state; a number is a time of the run of `[simulate]`"},
          {.name = "modes",
           .kinds = kind::integer,
           .fallback = 20,
           .bounds = between(1, 100000),
           .meaning = "how many of them tables and sweeps show; files have all"},
          {.name = "paraview",
           .kinds = kind::boolean,
           .fallback = false,
           .meaning =
               "these modes on the meshes of the bodies, `system_modes.exo` ([ParaView](paraview-files.md))"},
      }};
  return schema;
}

const TableSchema& response_schema() {
  static const TableSchema schema = {
      .name = "response",
      .meaning = "The frequency response of the linearised mechanism.",
      .keys = {
          {.name = "from",
           .kinds = kind::number,
           .dimension = d::hertz,
           .required = true,
           .bounds = at_least(0),
           .shown_kind = "Hz",
           .meaning = "where the range begins"},
          {.name = "to",
           .kinds = kind::number,
           .dimension = d::hertz,
           .required = true,
           .bounds = at_least(0),
           .shown_kind = "Hz",
           .meaning = "where it ends"},
          {.name = "points",
           .kinds = kind::integer,
           .fallback = 400,
           .bounds = between(2, 10000000),
           .meaning = "frequencies, evenly; tops and slopes of the resonances join them"},
          {.name = "scale",
           .kinds = kind::word,
           .fallback = "log",
           .choices = {{"log", "evenly by ratio"}, {"linear", "evenly"}},
           .meaning = "how they are spaced"},
          {.name = "inputs",
           .kinds = kind::texts,
           .otherwise = "all",
           .meaning = "loads, `\"push\"` for all of its components or `\"push.x\"`"},
          {.name = "outputs", .kinds = kind::texts, .otherwise = "all", .meaning = "sensors, likewise"},
      }};
  return schema;
}

const TableSchema& sweep_parameter_schema() {
  static const TableSchema schema = {
      .name = "sweep.parameters",
      .meaning = "A key and the values that it takes.",
      .keys = {
          {.name = "key",
           .kinds = kind::text,
           .required = true,
           .meaning =
               "what varies, named as in `[[cases]]`: `\"loads.push.factor\"`, `\"bodies.*.formulation\"`"},
          {.name = "values",
           .kinds = kind::any,
           .otherwise = "required, or `from`",
           .shown_kind = "list",
           .meaning = "its values, of whatever kind the key takes"},
          {.name = "from", .kinds = kind::number, .meaning = "in place of `values`: the first one"},
          {.name = "to", .kinds = kind::number, .meaning = "the last one"},
          {.name = "points", .kinds = kind::integer, .bounds = between(2, 100000), .meaning = "how many"},
          {.name = "scale",
           .kinds = kind::word,
           .fallback = "linear",
           .choices = {{"linear", "evenly"}, {"log", "evenly by ratio"}},
           .meaning = "how they are spaced"},
      }};
  return schema;
}

const TableSchema& sweep_schema() {
  static const TableSchema schema = {.name = "sweep",
                                     .meaning = "Parameters that vary, in all combinations.",
                                     .keys = {{.name = "parameters",
                                               .kinds = kind::tables,
                                               .required = true,
                                               .table = &sweep_parameter_schema(),
                                               .meaning = "`[[sweep.parameters]]`, see below"}}};
  return schema;
}

const TableSchema& case_set_schema() {
  static const TableSchema schema = {
      .name = "cases.set",
      .meaning = "Keys of the study that the case has otherwise.",
      .others = {{.name = "KEY", .kinds = kind::any, .meaning = "what the key takes"}}};
  return schema;
}

const TableSchema& case_schema() {
  static const TableSchema schema = {
      .name = "cases",
      .meaning = "A variant of the study.",
      .keys = {
          {.name = "name", .kinds = kind::text, .required = true, .meaning = "of its folder"},
          {.name = "set",
           .kinds = kind::table,
           .required = true,
           .table = &case_set_schema(),
           .meaning = "the keys that differ, by their dotted names"},
          {.name = "reference",
           .kinds = kind::text,
           .otherwise = "that of `[compare]`",
           .meaning = "the case it is compared with; `\"study\"` for the study itself"},
      }};
  return schema;
}

const TableSchema& compare_schema() {
  static const TableSchema schema = {.name = "compare",
                                     .meaning = "What cases are compared with.",
                                     .keys = {{.name = "reference",
                                               .kinds = kind::text,
                                               .otherwise = "the study itself",
                                               .meaning = "the case that others are compared with"}}};
  return schema;
}

const TableSchema& parameters_schema() {
  static const TableSchema schema = {
      .name = "parameters",
      .meaning = "Named numbers.",
      .others = {{.name = "NAME", .kinds = kind::number, .meaning = "its value"}}};
  return schema;
}

std::mutex asked_mutex;
std::atomic<bool> recording = false;
std::vector<const KeySchema*>* asked_keys = nullptr;

}  // namespace

bool Bounds::any() const {
  return std::isfinite(low) || std::isfinite(high);
}

bool Bounds::contains(double value) const {
  return (open_low ? value > low : value >= low) && (open_high ? value < high : value <= high);
}

std::string Bounds::words() const {
  if (!std::isfinite(high)) {
    if (low == 0) return open_low ? "a positive number" : "0 or more";
    return fmt::format(fmt::runtime(open_low ? "more than {}" : "{} or more"), low);
  }
  if (!std::isfinite(low)) return fmt::format(fmt::runtime(open_high ? "less than {}" : "{} at most"), high);
  if (open_low && open_high) return fmt::format("a number between {} and {}, both excluded", low, high);
  if (open_low) return fmt::format("a number above {} and up to {}", low, high);
  if (open_high) return fmt::format("a number from {} to below {}", low, high);
  return fmt::format("{} to {}", low, high);
}

std::vector<const KeySchema*> TableSchema::find(std::string_view key) const {
  std::vector<const KeySchema*> found;
  for (const KeySchema& entry : keys)
    if (entry.name == key) found.push_back(&entry);
  if (found.empty() && !others.empty()) found.push_back(&others.front());
  return found;
}

const KeySchema* TableSchema::find(std::string_view key, std::string_view word) const {
  const auto found = find(key);
  std::string wanted(word);
  if (wanted.empty() && !depends_on.empty())
    for (const KeySchema& entry : keys)
      if (entry.name == depends_on && std::holds_alternative<std::string>(entry.fallback))
        wanted = std::get<std::string>(entry.fallback);
  for (const KeySchema* entry : found)
    if (entry->when.empty() || std::find(entry->when.begin(), entry->when.end(), wanted) != entry->when.end())
      return entry;
  return nullptr;
}

std::vector<std::string> TableSchema::names() const {
  std::vector<std::string> list;
  for (const KeySchema& entry : keys)
    if (std::find(list.begin(), list.end(), entry.name) == list.end()) list.push_back(entry.name);
  return list;
}

const TableSchema& study_schema() {
  static const TableSchema schema = {
      .name = "",
      .meaning = "A study: what is to be done, carried out by lissom run.",
      .keys = {
          {.name = "title",
           .kinds = kind::text,
           .otherwise = "file name",
           .meaning = "appears in the results"},
          {.name = "units",
           .kinds = kind::text,
           .fallback = "SI",
           .meaning = "of the bodies' files and numbers, unless a body says otherwise"},
          {.name = "include",
           .kinds = kind::texts,
           .otherwise = "none",
           .shown_kind = "file name or list",
           .meaning = "study files whose keys hold where this one has none, see [below](#includes)"},
          {.name = "parameters",
           .kinds = kind::table,
           .otherwise = "none",
           .table = &parameters_schema(),
           .meaning = "named numbers, see [below](#parameters)"},
          {.name = "bodies",
           .kinds = kind::named_tables,
           .otherwise = "required",
           .table = &body_schema(),
           .meaning =
               "`[bodies.NAME]`, a body; NAME (letters, digits, `_`, `-`, `.`) names its result files"},
          {.name = "rom",
           .kinds = kind::file,
           .otherwise = "none",
           .meaning = "a [ROM file](rom-file.md) in place of bodies and joints, see "
                      "[below](#a-study-of-a-reduced-mechanism)"},
          {.name = "gravity",
           .kinds = kind::vector,
           .dimension = d::acceleration,
           .otherwise = "none",
           .meaning = "acceleration, for simulations"},
          {.name = "joints",
           .kinds = kind::tables,
           .otherwise = "none",
           .table = &joint_schema(),
           .meaning = "of a simulation, see [below](#joints)"},
          {.name = "loads",
           .kinds = kind::tables,
           .otherwise = "none",
           .table = &load_schema(),
           .meaning = "of a simulation, see [below](#loads)"},
          {.name = "sensors",
           .kinds = kind::tables,
           .otherwise = "none",
           .table = &sensor_schema(),
           .meaning = "of a simulation, see [below](#sensors)"},
          {.name = "simulate",
           .kinds = kind::table,
           .otherwise = "none",
           .table = &simulate_schema(),
           .meaning = "simulate the bodies, see [below](#simulate)"},
          {.name = "train",
           .kinds = kind::table,
           .otherwise = "none",
           .table = &train_schema(),
           .meaning = "reduce the mechanism as a whole, see [below](#train)"},
          {.name = "linearise",
           .kinds = kind::table,
           .otherwise = "none",
           .table = &linearise_schema(),
           .meaning = "frequencies and A, B, C, D, see [below](#linearise)"},
          {.name = "response",
           .kinds = kind::table,
           .otherwise = "none",
           .table = &response_schema(),
           .meaning = "frequency response, see [below](#response)"},
          {.name = "sweep",
           .kinds = kind::table,
           .otherwise = "none",
           .table = &sweep_schema(),
           .meaning = "parameters that vary, see [below](#sweep)"},
          {.name = "cases",
           .kinds = kind::tables,
           .otherwise = "none",
           .table = &case_schema(),
           .meaning = "variants of the study, see [below](#cases)"},
          {.name = "compare",
           .kinds = kind::table,
           .otherwise = "none",
           .table = &compare_schema(),
           .meaning = "`reference`: the case that others are compared with; the study itself by default"},
      }};
  return schema;
}

std::vector<const TableSchema*> all_tables(const TableSchema& root) {
  std::vector<const TableSchema*> list = {&root};
  // the list grows while it is walked
  for (size_t i = 0; i < list.size(); ++i) {
    const TableSchema* table = list[i];
    for (const auto* entries : {&table->keys, &table->others})
      for (const KeySchema& key : *entries)
        if (key.table && std::find(list.begin(), list.end(), key.table) == list.end())
          list.push_back(key.table);
  }
  return list;
}

std::string kind_words(const KeySchema& key) {
  if (!key.shown_kind.empty()) return key.shown_kind;
  static const std::vector<std::pair<Kinds, std::string>> words = {{kind::text, "text"},
                                                                   {kind::file, "file"},
                                                                   {kind::word, "text"},
                                                                   {kind::number, "number"},
                                                                   {kind::integer, "whole number"},
                                                                   {kind::boolean, "true/false"},
                                                                   {kind::vector, "`[x, y, z]`"},
                                                                   {kind::numbers, "list"},
                                                                   {kind::integers, "list of whole numbers"},
                                                                   {kind::texts, "text or list"},
                                                                   {kind::words, "text or list"},
                                                                   {kind::function, "function"},
                                                                   {kind::functions, "three functions"},
                                                                   {kind::table, "table"},
                                                                   {kind::tables, "tables"},
                                                                   {kind::named_tables, "tables"},
                                                                   {kind::matrix, "`[[..], [..], [..]]`"},
                                                                   {kind::any, "any"}};
  std::string text;
  for (const auto& [bit, word] : words)
    if (key.has(bit)) text += (text.empty() ? "" : " or ") + word;
  return text;
}

std::string fallback_text(const KeySchema& key) {
  if (key.required) return "required";
  if (!key.otherwise.empty()) return key.otherwise;
  if (const bool* value = std::get_if<bool>(&key.fallback)) return *value ? "true" : "false";
  if (const long* value = std::get_if<long>(&key.fallback)) return fmt::format("{}", *value);
  if (const double* value = std::get_if<double>(&key.fallback)) {
    // 1e-4, not 0.0001; but 0.001 and 0.993
    std::string text = fmt::format("{}", *value);
    if (*value != 0 && std::abs(*value) < 1e-3) {
      const int power = static_cast<int>(std::floor(std::log10(std::abs(*value)) + 1e-9));
      text = fmt::format("{:g}e{}", *value / std::pow(10, power), power);
    }
    return text;
  }
  if (const std::string* value = std::get_if<std::string>(&key.fallback))
    return fmt::format("`\"{}\"`", *value);
  return "";
}

void record_asked_keys(std::vector<const KeySchema*>* keys) {
  const std::lock_guard lock(asked_mutex);
  asked_keys = keys;
  recording = keys != nullptr;
}

void note_asked_key(const KeySchema* key) {
  if (!recording) return;
  const std::lock_guard lock(asked_mutex);
  if (asked_keys && std::find(asked_keys->begin(), asked_keys->end(), key) == asked_keys->end())
    asked_keys->push_back(key);
}

}  // namespace lissom
