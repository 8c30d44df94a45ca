// The keys of study files: their names, kinds, units, defaults, bounds, words and meanings, as plain data.
// TomlTable reads by it, and the reference page (study_page.hpp), the JSON Schema (study_json_schema.hpp),
// units and parameters (study_resolve.hpp) and `lissom new` are made of it. To add a key, add its line
// here and ask for it in the reader; a test fails where only one of the two is done.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lissom/core/quantity.hpp"

namespace lissom {

// What a value may be; keys that take several kinds have several bits.
using Kinds = unsigned;
namespace kind {
inline constexpr Kinds text = 1U << 0;
inline constexpr Kinds file = 1U << 1;  // a text: name of a file, relative to the study's folder
inline constexpr Kinds word = 1U << 2;  // a text: one of `choices`
inline constexpr Kinds number = 1U << 3;
inline constexpr Kinds integer = 1U << 4;
inline constexpr Kinds boolean = 1U << 5;
inline constexpr Kinds vector = 1U << 6;         // three numbers
inline constexpr Kinds numbers = 1U << 7;        // a list, or a number
inline constexpr Kinds integers = 1U << 8;       // a list
inline constexpr Kinds texts = 1U << 9;          // a list, or a text
inline constexpr Kinds words = 1U << 10;         // a list of `choices`, or one of them
inline constexpr Kinds function = 1U << 11;      // of time: number, expression, table or file
inline constexpr Kinds functions = 1U << 12;     // three of them
inline constexpr Kinds table = 1U << 13;         // [key]
inline constexpr Kinds tables = 1U << 14;        // [[key]]
inline constexpr Kinds named_tables = 1U << 15;  // [key.NAME]
inline constexpr Kinds matrix = 1U << 16;        // three rows of three numbers
inline constexpr Kinds any = 1U << 17;           // whatever another key takes
}  // namespace kind

struct WordSchema {
  std::string word = {}, meaning = {};
  bool listed = true;  // false: a synonym that still works
};

// Numbers between low and high; `open_` ones are not reached.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool open_low = false, open_high = false;
  bool any() const;
  bool contains(double value) const;
  std::string words() const;  // "a positive number", "1 to 100"
};
inline Bounds at_least(double low) {
  return {.low = low};
}
inline Bounds above(double low) {
  return {.low = low, .open_low = true};
}
inline Bounds between(double low, double high) {
  return {.low = low, .high = high};
}
inline Bounds inside(double low, double high) {
  return {.low = low, .high = high, .open_low = true, .open_high = true};
}

struct TableSchema;

struct KeySchema {
  std::string name = {};
  Kinds kinds = kind::text;
  Dimension dimension = {};  // of its numbers
  // The value where the key is absent, which TomlTable gives; or what happens then, in words.
  std::variant<std::monostate, bool, long, double, std::string> fallback = {};
  std::string otherwise = {};
  bool required = false;
  Bounds bounds = {};
  std::vector<WordSchema> choices = {};
  const TableSchema* table = nullptr;  // of kinds table, tables, named_tables
  std::vector<std::string> when = {};  // words of the table's `depends_on` with which it goes; none: all
  std::string shown_kind = {};         // in the page, where the kind alone says too little
  std::string meaning = {};
  bool listed = true;  // false: a synonym that still works, not in the page
  bool whole = false;  // a table that says one thing: of two, included and own, the own one counts

  bool has(Kinds wanted) const { return (kinds & wanted) != 0; }
  bool has_fallback() const { return fallback.index() != 0; }
};

struct TableSchema {
  std::string name = {};     // as a user writes it, with NAME for what the user chooses: "bodies.NAME.modes"
  std::string meaning = {};  // in a sentence
  std::string depends_on = {};  // the key whose word says which of the keys go ("kind"), or none
  std::vector<KeySchema> keys = {};
  std::vector<KeySchema> others = {};  // one entry: what keys are whose names the user chooses; or none

  // The entries of a name: several where it means different things with different words.
  std::vector<const KeySchema*> find(std::string_view key) const;
  // The one that goes with the word of `depends_on`; empty: the word's default. nullptr: none.
  const KeySchema* find(std::string_view key, std::string_view word) const;
  std::vector<std::string> names() const;  // each once, in order
};

// The file itself.
const TableSchema& study_schema();

// All tables, each once, in the order in which the file leads to them.
std::vector<const TableSchema*> all_tables(const TableSchema& root);

// Its parts, one a source file.
const TableSchema& body_schema();      // [bodies.NAME]
const TableSchema& joint_schema();     // [[joints]]
const TableSchema& load_schema();      // [[loads]]
const TableSchema& sensor_schema();    // [[sensors]]
const TableSchema& simulate_schema();  // [simulate]
const TableSchema& function_schema();  // { table = ... }
const TableSchema& train_schema();     // [train]

// "text", "number", "list of numbers": the kind in words.
std::string kind_words(const KeySchema& key);
// The default in words or as TOML; empty where there is none.
std::string fallback_text(const KeySchema& key);

// For tests: from now on every key that is asked for is kept in the set, until it is set to nullptr.
void record_asked_keys(std::vector<const KeySchema*>* keys);
void note_asked_key(const KeySchema* key);

}  // namespace lissom
