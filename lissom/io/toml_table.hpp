// Strict reading of TOML tables: every key is asked for by name, what nobody asked for is an error with a
// suggestion, and all problems of a file are reported at once, each with its line. Tables know their part of
// the schema (study_schema.hpp): to ask for a key that it does not have is a bug of ours.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/io/study_schema.hpp"
#include "lissom/io/toml_value.hpp"

namespace lissom {

struct TomlProblem {
  SourcePos where;
  std::string key;  // "bodies.rod.mass"; empty: the file as a whole
  std::string message;

  std::string line() const;        // "study.toml:12: bodies.rod.mass: is missing"
  std::string suggestion() const;  // what the user may have meant; empty: nothing known
};

// The problems found in a file so far.
class TomlProblems {
 public:
  bool empty() const { return list_.empty(); }
  const std::vector<TomlProblem>& list() const { return list_; }
  std::vector<std::string> lines() const;
  void add(SourcePos where, std::string key, std::string message);
  void add(TomlProblem problem);
  // Nothing more is noted about this key: all has been said.
  void close(const std::string& key) { closed_.insert(key); }
  // Throws StudyProblems with all of them, a line each, if there are any.
  void throw_if_any() const;

 private:
  std::vector<TomlProblem> list_;
  std::set<std::string> closed_;
};

// All problems of a study file; what() has a line for each.
class StudyProblems : public InputError {
 public:
  explicit StudyProblems(TomlProblems problems);
  const TomlProblems& problems() const { return problems_; }

 private:
  TomlProblems problems_;
};

class TomlTable {
 public:
  // `path` is how the user would write the table's name, e.g. "bodies.rod"; empty for the file itself.
  TomlTable(const TomlValue& table, const TableSchema& schema, std::string path, std::string file,
            TomlProblems& problems);

  // The value of a key, or nothing if it is absent or (with a problem noted) of the wrong kind. Of a key
  // that is absent and has a default in the schema, that is the value.
  std::optional<std::string> text(std::string_view key);
  std::optional<double> number(std::string_view key);
  std::optional<long> integer(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<Eigen::Vector3d> vector3(std::string_view key);
  std::optional<std::vector<std::string>> texts(std::string_view key);  // one text counts as a list of one
  std::optional<std::vector<long>> integers(std::string_view key);
  std::optional<std::vector<double>> numbers(std::string_view key);  // one number counts as a list of one
  // One of a few words, those of the schema; the value stays as it is when the key is absent and has no
  // default in the schema. A misspelt word gets a suggestion.
  template <class Value>
  void choice(std::string_view key, const std::vector<std::pair<std::string, Value>>& choices, Value& value) {
    std::vector<std::string> words;
    for (const auto& [word, meaning] : choices) words.push_back(word);
    if (const auto index = word_index(key, words)) value = choices[*index].second;
  }
  std::optional<TomlTable> table(std::string_view key);
  std::vector<TomlTable> tables(std::string_view key);                                // [[key]]
  std::vector<std::pair<std::string, TomlTable>> named_tables(std::string_view key);  // [key.NAME]

  // Notes a problem with a key of this table ("bodies.rod.mass: ...") at its line, or at the table's.
  void problem(std::string_view key, const std::string& message);
  // Notes a problem with this table itself.
  void problem_here(const std::string& message);
  // Notes a problem where a key is used by the name that it had once.
  void renamed(std::string_view key, std::string_view now);
  // The value itself, or nullptr, for keys that take values of several kinds.
  const TomlValue* value(std::string_view key) { return find(key, ~0U); }
  bool has(std::string_view key) const;
  std::vector<std::string> key_names() const;  // all that are there, in alphabetical order
  bool is_list(std::string_view key) const;    // there, and [ ... ]
  SourcePos where() const { return where_; }
  SourcePos where(std::string_view key) const;
  const std::string& path() const { return path_; }

  // Notes every key that nobody asked for, and what the schema says of the others and nobody has said:
  // required keys that are missing, numbers out of bounds. To be called last.
  void finish();
  // Notes the keys that the schema does not have, where it cannot be told which of the others go.
  void finish_early();

 private:
  // The value or nullptr; `wanted` are the kinds of which the key must have one.
  const TomlValue* find(std::string_view key, Kinds wanted);
  // The schema of a key in this table as it is, or nullptr.
  const KeySchema* entry(std::string_view key) const { return schema_->find(key, word_); }
  // Its default, or nothing.
  template <class Value>
  std::optional<Value> fallback(std::string_view key) const {
    const KeySchema* found = entry(key);
    const Value* value = found ? std::get_if<Value>(&found->fallback) : nullptr;
    return value ? std::optional<Value>(*value) : std::nullopt;
  }
  void check_bounds(const std::string& key, const TomlValue& value);
  const TableSchema& schema_of(std::string_view key) const;
  // Index of the key's word, or nothing with a problem noted.
  std::optional<size_t> word_index(std::string_view key, const std::vector<std::string>& words);
  std::string full(std::string_view key) const;
  void wrong_kind(std::string_view key, const TomlValue& found, std::string_view expected);
  TomlTable child(const TomlValue& value, const TableSchema& schema, std::string path) const;

  const TomlValue* table_;
  const TableSchema* schema_;
  std::string path_, file_;
  std::string word_;  // of the key that the schema depends on
  TomlProblems* problems_;
  SourcePos where_;
  std::set<std::string, std::less<>> asked_;
  std::set<std::string, std::less<>> noted_;  // keys with a problem
};

// A value as a text that is the same for the same content, without the keys `left_out`.
std::string canonical(const TomlValue& value, const std::vector<std::string>& left_out = {});

}  // namespace lissom
