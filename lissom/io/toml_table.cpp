#include "lissom/io/toml_table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

std::string kind_of(const TomlValue& value) {
  if (value.is_array()) return "a list";
  if (value.is_table()) return "a table";
  return value.is_date() ? "a date or time" : canonical(value);
}

std::optional<double> as_number(const TomlValue& value) {
  if (value.is_integer()) return static_cast<double>(value.as_integer());
  if (value.is_floating() && std::isfinite(value.as_floating())) return value.as_floating();
  return std::nullopt;
}

}  // namespace

std::string TomlProblem::line() const {
  const std::string position = to_string(where);
  return fmt::format("{}{}{}{}{}", position, position.empty() ? "" : ": ", key, key.empty() ? "" : ": ",
                     message);
}

std::string TomlProblem::suggestion() const {
  constexpr std::string_view begin = "did you mean '";
  const size_t at = message.find(begin);
  if (at == std::string::npos) return "";
  const size_t from = at + begin.size(), to = message.find("'?", from);
  return to == std::string::npos ? "" : message.substr(from, to - from);
}

std::vector<std::string> TomlProblems::lines() const {
  std::vector<std::string> lines;
  for (const TomlProblem& problem : list_) lines.push_back(problem.line());
  return lines;
}

void TomlProblems::add(SourcePos where, std::string key, std::string message) {
  add(TomlProblem{std::move(where), std::move(key), std::move(message)});
}

void TomlProblems::add(TomlProblem problem) {
  if (!closed_.contains(problem.key)) list_.push_back(std::move(problem));
}

void TomlProblems::throw_if_any() const {
  if (!list_.empty()) throw StudyProblems(*this);
}

StudyProblems::StudyProblems(TomlProblems problems)
    : InputError(fmt::format("{}", fmt::join(problems.lines(), "\n"))), problems_(std::move(problems)) {}

TomlTable::TomlTable(const TomlValue& table, const TableSchema& schema, std::string path, std::string file,
                     TomlProblems& problems)
    : table_(&table), schema_(&schema), path_(std::move(path)), file_(std::move(file)), problems_(&problems) {
  LISSOM_ASSERT(table.is_table());
  where_ = path_.empty() ? SourcePos{file_, 1} : position_of(table, {file_, 1});
  if (!schema.depends_on.empty())
    if (const std::string* word = table.find_string(schema.depends_on)) word_ = *word;
}

TomlTable TomlTable::child(const TomlValue& value, const TableSchema& schema, std::string path) const {
  return TomlTable(value, schema, std::move(path), file_, *problems_);
}

const TableSchema& TomlTable::schema_of(std::string_view key) const {
  for (const KeySchema* found : schema_->find(key))
    if (found->table) return *found->table;
  LISSOM_ASSERT(false);
  return *schema_;
}

const TomlValue* TomlTable::find(std::string_view key, Kinds wanted) {
  Kinds kinds = 0;
  for (const KeySchema* found : schema_->find(key)) kinds |= found->kinds;
  if ((kinds & wanted) == 0)
    assertion_failed(fmt::format("the schema of study files knows '{}.{}'{}", schema_->name, key,
                                 kinds == 0 ? "" : " as what is asked for")
                         .c_str(),
                     __FILE__, __LINE__);
  if (const KeySchema* found = entry(key)) note_asked_key(found);
  asked_.emplace(key);
  return table_->find(key);
}

bool TomlTable::has(std::string_view key) const {
  return table_->find(key) != nullptr;
}

bool TomlTable::is_list(std::string_view key) const {
  const TomlValue* value = table_->find(key);
  return value && value->is_array();
}

std::string TomlTable::full(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

SourcePos TomlTable::where(std::string_view key) const {
  const TomlValue* value = table_->find(key);
  return value ? position_of(*value, where_) : where_;
}

void TomlTable::problem(std::string_view key, const std::string& message) {
  noted_.emplace(key);
  problems_->add(where(key), full(key), message);
}

void TomlTable::renamed(std::string_view key, std::string_view now) {
  if (!has(key)) return;
  asked_.emplace(key);
  problem(key, fmt::format("unknown key; did you mean '{}'?", now));
}

void TomlTable::problem_here(const std::string& message) {
  problems_->add(where_, path_, message);
}

void TomlTable::wrong_kind(std::string_view key, const TomlValue& found, std::string_view expected) {
  problem(key, fmt::format("expected {}, found {}", expected, kind_of(found)));
}

std::optional<std::string> TomlTable::text(std::string_view key) {
  const TomlValue* value = find(key, kind::text | kind::file | kind::word);
  if (!value) return fallback<std::string>(key);
  if (value->is_string()) return value->as_string();
  wrong_kind(key, *value, "a text in quotes");
  return std::nullopt;
}

std::optional<double> TomlTable::number(std::string_view key) {
  const TomlValue* value = find(key, kind::number);
  if (!value) return fallback<double>(key);
  if (const auto number = as_number(*value)) return number;
  wrong_kind(key, *value, "a number");
  return std::nullopt;
}

std::optional<long> TomlTable::integer(std::string_view key) {
  const TomlValue* value = find(key, kind::integer);
  if (!value) return fallback<long>(key);
  if (value->is_integer()) return value->as_integer();
  wrong_kind(key, *value, "a whole number");
  return std::nullopt;
}

std::optional<bool> TomlTable::boolean(std::string_view key) {
  const TomlValue* value = find(key, kind::boolean);
  if (!value) return fallback<bool>(key);
  if (value->is_boolean()) return value->as_boolean();
  wrong_kind(key, *value, "true or false");
  return std::nullopt;
}

std::optional<Eigen::Vector3d> TomlTable::vector3(std::string_view key) {
  const TomlValue* value = find(key, kind::vector);
  if (!value) return std::nullopt;
  if (value->is_array() && value->as_array().size() == 3) {
    Eigen::Vector3d vector;
    bool good = true;
    for (int i = 0; i < 3; ++i) {
      const auto number = as_number(value->as_array()[i]);
      good = good && number.has_value();
      vector[i] = number.value_or(0);
    }
    if (good) return vector;
  }
  wrong_kind(key, *value, "three numbers, [x, y, z]");
  return std::nullopt;
}

std::optional<std::vector<std::string>> TomlTable::texts(std::string_view key) {
  const TomlValue* value = find(key, kind::texts | kind::words);
  if (!value) return std::nullopt;
  if (value->is_string()) return std::vector<std::string>{value->as_string()};
  std::vector<std::string> list;
  if (value->is_array()) {
    for (const TomlValue& entry : value->as_array()) {
      if (!entry.is_string()) {
        wrong_kind(key, entry, "a list of texts in quotes");
        return std::nullopt;
      }
      list.push_back(entry.as_string());
    }
    return list;
  }
  wrong_kind(key, *value, "a text or a list of texts");
  return std::nullopt;
}

std::optional<std::vector<long>> TomlTable::integers(std::string_view key) {
  const TomlValue* value = find(key, kind::integers);
  if (!value) return std::nullopt;
  std::vector<long> list;
  if (value->is_array()) {
    for (const TomlValue& entry : value->as_array()) {
      if (!entry.is_integer()) {
        wrong_kind(key, entry, "a list of whole numbers");
        return std::nullopt;
      }
      list.push_back(entry.as_integer());
    }
    return list;
  }
  wrong_kind(key, *value, "a list of whole numbers");
  return std::nullopt;
}

std::optional<std::vector<double>> TomlTable::numbers(std::string_view key) {
  const TomlValue* value = find(key, kind::numbers);
  if (!value) return std::nullopt;
  if (const auto number = as_number(*value)) return std::vector<double>{*number};
  std::vector<double> list;
  if (value->is_array()) {
    for (const TomlValue& entry : value->as_array()) {
      const auto number = as_number(entry);
      if (!number) {
        wrong_kind(key, entry, "a list of numbers");
        return std::nullopt;
      }
      list.push_back(*number);
    }
    return list;
  }
  wrong_kind(key, *value, "a list of numbers");
  return std::nullopt;
}

std::optional<TomlTable> TomlTable::table(std::string_view key) {
  const TomlValue* value = find(key, kind::table);
  if (!value) return std::nullopt;
  if (value->is_table()) return child(*value, schema_of(key), full(key));
  wrong_kind(key, *value, fmt::format("a table, [{}] or {{ ... }}", full(key)));
  return std::nullopt;
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) {
  std::vector<TomlTable> list;
  const TomlValue* value = find(key, kind::tables);
  if (!value) return list;
  if (value->is_array()) {
    int number = 0;
    for (const TomlValue& entry : value->as_array()) {
      ++number;
      if (entry.is_table())
        list.push_back(child(entry, schema_of(key), fmt::format("{}[{}]", full(key), number)));
      else
        wrong_kind(key, entry, fmt::format("tables, [[{}]]", full(key)));
    }
    return list;
  }
  wrong_kind(key, *value, fmt::format("a list of tables, [[{}]]", full(key)));
  return list;
}

std::vector<std::pair<std::string, TomlTable>> TomlTable::named_tables(std::string_view key) {
  std::vector<std::pair<std::string, TomlTable>> list;
  const TomlValue* value = find(key, kind::named_tables);
  if (!value) return list;
  if (!value->is_table()) {
    wrong_kind(key, *value, fmt::format("tables, [{}.NAME]", full(key)));
    return list;
  }
  for (const auto& [name, entry] : value->as_table()) {
    const std::string path = fmt::format("{}.{}", full(key), name);
    if (entry.is_table())
      list.emplace_back(name, child(entry, schema_of(key), path));
    else
      problems_->add(position_of(entry, where_), path,
                     fmt::format("expected a table, [{}], found {}", path, kind_of(entry)));
  }
  // in the order of the file, those of included files before; those of one line by their names
  const auto place = [&](const auto& entry) {
    const SourcePos where = entry.second.where();
    return std::tuple(where.file == file_, where.file, where.line, entry.first);
  };
  std::sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return list;
}

std::vector<std::string> TomlTable::key_names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : table_->as_table()) names.push_back(name);
  return names;
}

void TomlTable::check_bounds(const std::string& key, const TomlValue& value) {
  const KeySchema* found = entry(key);
  if (!found || !found->bounds.any() || noted_.contains(key)) return;
  if (value.is_array()) {
    for (const TomlValue& one : value.as_array()) check_bounds(key, one);
    return;
  }
  if (const auto number = as_number(value); number && !found->bounds.contains(*number))
    problem(key, fmt::format("is {}, expected {}", *number, found->bounds.words()));
}

void TomlTable::finish_early() {
  const std::vector<std::string> known = schema_->names();
  for (const auto& [key, value] : table_->as_table())
    if (schema_->find(key).empty())
      problems_->add(position_of(value, where_), full(key),
                     fmt::format("unknown key{}", did_you_mean(key, known)));
}

void TomlTable::finish() {
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const auto& [key, value] : table_->as_table()) {
    if (asked_.contains(key)) {
      check_bounds(key, value);
      continue;
    }
    const auto guess = closest(key, known);
    problems_->add(position_of(value, where_), full(key),
                   guess ? fmt::format("unknown key; did you mean '{}'?", *guess)
                         : fmt::format("unknown key; known here: {}", fmt::join(known, ", ")));
  }
  for (const KeySchema& one : schema_->keys)
    if (one.required && &one == entry(one.name) && !has(one.name) && !noted_.contains(one.name))
      problem(one.name, fmt::format("is missing: {}", one.meaning));
}

std::optional<size_t> TomlTable::word_index(std::string_view key, const std::vector<std::string>& words) {
  // the schema has the same words
  for (const KeySchema* found : schema_->find(key)) {
    if (!found->has(kind::word)) continue;
    bool same = found->choices.size() == words.size();
    for (const WordSchema& choice : found->choices)
      same = same && std::find(words.begin(), words.end(), choice.word) != words.end();
    if (!same)
      assertion_failed(
          fmt::format("the schema's words of '{}.{}' are {}", schema_->name, key, fmt::join(words, ", "))
              .c_str(),
          __FILE__, __LINE__);
  }
  const auto word = text(key);
  if (!word) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), *word);
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  const auto guess = closest(*word, words);
  problem(key, fmt::format("'{}' is none of {}{}", *word, fmt::join(words, ", "),
                           guess ? fmt::format("; did you mean '{}'?", *guess) : ""));
  return std::nullopt;
}

std::string canonical(const TomlValue& value, const std::vector<std::string>& left_out) {
  if (value.is_table()) {
    std::vector<std::string> parts;
    for (const auto& [key, entry] : value.as_table())
      if (std::find(left_out.begin(), left_out.end(), key) == left_out.end())
        parts.push_back(fmt::format("{} = {}", key, canonical(entry)));
    return fmt::format("{{ {} }}", fmt::join(parts, ", "));
  }
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const TomlValue& entry : value.as_array()) parts.push_back(canonical(entry));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  if (value.is_string()) return fmt::format("\"{}\"", value.as_string());
  if (value.is_floating()) return fmt::format("{}", value.as_floating());
  if (value.is_integer()) return fmt::format("{}", value.as_integer());
  if (value.is_boolean()) return value.as_boolean() ? "true" : "false";
  return value.is_date() ? value.as_date() : "";
}

}  // namespace lissom
