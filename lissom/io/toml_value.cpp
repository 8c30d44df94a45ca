#include "lissom/io/toml_value.hpp"

// the parser is compiled here and nowhere else
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
// toml++ 3.3 promises the compiler what texts need not hold ("[,]": a header whose key begins with no character of one),
// and looks for it only afterwards: without the promise it comes to the look, which is an error with a line
#include <toml++/impl/preprocessor.h>
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expr) static_assert(true)
#include <toml++/toml.h>

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

template <class Date>
TomlValue date_of(const Date& date) {
  std::ostringstream text;
  text << date;
  return TomlValue::Date{text.str()};
}

TomlValue from_node(const toml::node& node, const std::shared_ptr<const std::string>& file) {
  TomlValue value;
  if (const toml::table* table = node.as_table()) {
    TomlValue::Table entries;
    for (const auto& [key, entry] : *table)
      entries.emplace_hint(entries.end(), key.str(), from_node(entry, file));
    value = std::move(entries);
  } else if (const toml::array* array = node.as_array()) {
    TomlValue::Array entries;
    entries.reserve(array->size());
    for (const toml::node& entry : *array) entries.push_back(from_node(entry, file));
    value = std::move(entries);
  } else if (const auto* text = node.as_string()) {
    value = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value = integer->get();
  } else if (const auto* floating = node.as_floating_point()) {
    value = floating->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value = boolean->get();
  } else if (const auto* date = node.as_date()) {
    value = date_of(date->get());
  } else if (const auto* time = node.as_time()) {
    value = date_of(time->get());
  } else if (const auto* both = node.as_date_time()) {
    value = date_of(both->get());
  }
  const toml::source_position& begin = node.source().begin;
  value.set_place({file, static_cast<long>(begin.line), static_cast<long>(begin.column)});
  return value;
}

// The line of a text and a caret below its column:
//  12 | modes = { count 3 }
//     |                 ^
std::string shown_line(std::string_view text, long line, long column) {
  for (long k = 1; k < line; ++k) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  std::string shown(text.substr(0, text.find('\n')));
  std::replace(shown.begin(), shown.end(), '\t', ' ');
  const bool plain =
      std::all_of(shown.begin(), shown.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
  const std::string number = fmt::format(" {} | ", line);
  // of a line of another length, or where characters and columns differ, the number says it
  if (!plain || shown.size() > 100 || column < 1 || column > static_cast<long>(shown.size()) + 1)
    return fmt::format("\n{}{}", number, printable(shown.substr(0, 100)));
  return fmt::format("\n{0}{1}\n{2:>{3}} {4:>{5}}", number, shown, "|", number.size() - 1, "^", column);
}

}  // namespace

TomlValue parse_toml_text(std::string_view text, const std::string& file) {
  const auto name = std::make_shared<const std::string>(file);
  try {
    return from_node(toml::parse(text), name);
  } catch (const toml::parse_error& e) {
    // the end of a text that ends too early is behind its last line
    const long lines =
        std::count(text.begin(), text.end(), '\n') + (text.empty() || text.back() != '\n' ? 1 : 0);
    const long line = std::clamp(static_cast<long>(e.source().begin.line), 1L, std::max(lines, 1L));
    const auto column = static_cast<long>(e.source().begin.column);
    // "Error while parsing value: ..."
    std::string reason = printable(e.description());
    reason = reason.starts_with("Error ") ? ", " + reason.substr(6) : ": " + reason;
    throw TomlSyntaxError(fmt::format("column {}{}{}", column, reason, shown_line(text, line, column)), line);
  }
}

SourcePos position_of(const TomlValue& value, const SourcePos& otherwise) {
  const TomlValue::Place& place = value.place();
  if (!place.file) return otherwise;
  if (*place.file == "--set") return {"--set", 0};
  return {*place.file, place.line};
}

}  // namespace lissom
