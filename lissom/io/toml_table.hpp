// Strict reading of TOML tables: every key is asked for by name, what nobody asked for is an error with a
// suggestion, and all problems of a file are reported at once, each with its line.
#pragma once

#include <Eigen/Core>

#include <toml.hpp>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

// The problems found in a file so far.
class TomlProblems {
 public:
  bool empty() const { return lines_.empty(); }
  const std::vector<std::string>& lines() const { return lines_; }
  void add(const SourcePos& where, std::string message);
  void add_line(std::string line) { lines_.push_back(std::move(line)); }
  // Throws InputError with all of them, a line each, if there are any.
  void throw_if_any() const;

 private:
  std::vector<std::string> lines_;
};

class TomlTable {
 public:
  // `path` is how the user would write the table's name, e.g. "bodies.rod"; empty for the file itself.
  TomlTable(const toml::value& table, std::string path, std::string file, TomlProblems& problems);

  // The value of a key, or nothing if it is absent or (with a problem noted) of the wrong kind.
  std::optional<std::string> text(std::string_view key);
  std::optional<double> number(std::string_view key);
  std::optional<long> integer(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<Eigen::Vector3d> vector3(std::string_view key);
  std::optional<std::vector<std::string>> texts(std::string_view key);  // one text counts as a list of one
  std::optional<std::vector<long>> integers(std::string_view key);
  std::optional<std::vector<double>> numbers(std::string_view key);  // one number counts as a list of one
  // One of a few words; the value stays as it is when the key is absent. A misspelt word gets a suggestion.
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
  const toml::value* value(std::string_view key) { return find(key); }
  bool has(std::string_view key) const;
  std::vector<std::string> key_names() const;  // all that are there, in alphabetical order
  bool is_list(std::string_view key) const;    // there, and [ ... ]
  SourcePos where() const { return where_; }
  SourcePos where(std::string_view key) const;
  const std::string& path() const { return path_; }

  // Notes every key that nobody asked for. To be called last.
  void finish();

 private:
  const toml::value* find(std::string_view key);
  // Index of the key's word, or nothing with a problem noted.
  std::optional<size_t> word_index(std::string_view key, const std::vector<std::string>& words);
  std::string full(std::string_view key) const;
  void wrong_kind(std::string_view key, const toml::value& found, std::string_view expected);
  TomlTable child(const toml::value& value, std::string path) const;

  const toml::value* table_;
  std::string path_, file_;
  TomlProblems* problems_;
  SourcePos where_;
  std::set<std::string, std::less<>> asked_;
};

// A value as a text that is the same for the same content, without the keys `left_out`.
std::string canonical(const toml::value& value, const std::vector<std::string>& left_out = {});

}  // namespace lissom
