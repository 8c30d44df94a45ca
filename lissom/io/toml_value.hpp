// A TOML text as a tree of values, each of which knows where it stands. What parses the text is known to
// toml_value.cpp alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

class TomlValue {
 public:
  using Array = std::vector<TomlValue>;
  using Table = std::map<std::string, TomlValue, std::less<>>;
  // A date, a time or both, which no key of a study takes.
  struct Date {
    std::string text;
  };
  // Where a value begins. Copies of a value share the file's name, those of a file read again do not.
  struct Place {
    std::shared_ptr<const std::string> file;  // null: it comes from no text
    long line = 0, column = 0;                // from 1
    auto operator<=>(const Place&) const = default;
  };

  TomlValue() = default;  // neither of the kinds below
  TomlValue(bool value) : content_(value) {}
  TomlValue(int value) : content_(std::int64_t{value}) {}
  TomlValue(std::int64_t value) : content_(value) {}
  TomlValue(double value) : content_(value) {}
  TomlValue(const char* value) : content_(std::string(value)) {}
  TomlValue(std::string value) : content_(std::move(value)) {}
  TomlValue(Date value) : content_(std::move(value)) {}
  TomlValue(Array value) : content_(std::move(value)) {}
  TomlValue(Table value) : content_(std::move(value)) {}

  bool is_boolean() const { return std::holds_alternative<bool>(content_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(content_); }
  bool is_floating() const { return std::holds_alternative<double>(content_); }
  bool is_string() const { return std::holds_alternative<std::string>(content_); }
  bool is_date() const { return std::holds_alternative<Date>(content_); }
  bool is_array() const { return std::holds_alternative<Array>(content_); }
  bool is_table() const { return std::holds_alternative<Table>(content_); }

  // The content; throw std::bad_variant_access where it is of another kind.
  bool as_boolean() const { return std::get<bool>(content_); }
  std::int64_t as_integer() const { return std::get<std::int64_t>(content_); }
  double as_floating() const { return std::get<double>(content_); }
  const std::string& as_string() const { return std::get<std::string>(content_); }
  std::string& as_string() { return std::get<std::string>(content_); }
  const std::string& as_date() const { return std::get<Date>(content_).text; }
  const Array& as_array() const { return std::get<Array>(content_); }
  Array& as_array() { return std::get<Array>(content_); }
  const Table& as_table() const { return std::get<Table>(content_); }
  Table& as_table() { return std::get<Table>(content_); }

  // The value of a key, or nullptr where there is none, or this is no table.
  const TomlValue* find(std::string_view key) const {
    const Table* table = std::get_if<Table>(&content_);
    const auto it = table ? table->find(key) : Table::const_iterator();
    return table && it != table->end() ? &it->second : nullptr;
  }
  // The text of a key, or nullptr.
  const std::string* find_string(std::string_view key) const {
    const TomlValue* value = find(key);
    return value ? std::get_if<std::string>(&value->content_) : nullptr;
  }

  // Another content, at the same place of the file.
  void replace(TomlValue value) { content_ = std::move(value.content_); }
  const Place& place() const { return place_; }
  void set_place(Place place) { place_ = std::move(place); }

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Date, Array, Table> content_;
  Place place_;
};

// A text that is no TOML.
class TomlSyntaxError : public std::runtime_error {
 public:
  TomlSyntaxError(const std::string& message, long line) : std::runtime_error(message), line_(line) {}
  long line() const { return line_; }

 private:
  long line_;
};

// The table that a text stands for; `file` is what its values say they come from. Throws TomlSyntaxError,
// whose message shows the line with a caret below. The text is UTF-8 and not nested too deeply: parse_toml()
// in study_resolve.hpp looks at that before.
TomlValue parse_toml_text(std::string_view text, const std::string& file);

// Where a value stands: its own file and line, or `otherwise` where it came from nowhere. What came from the
// command line, the file "--set", has no line.
SourcePos position_of(const TomlValue& value, const SourcePos& otherwise);

}  // namespace lissom
