#include "apps/lissom/verb.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "lissom/core/text.hpp"

namespace lissom::app {

namespace {

// What the help shows for a text of this kind.
const char* type_of(ArgumentKind kind) {
  if (kind == ArgumentKind::File) return "FILE";
  if (kind == ArgumentKind::Folder) return "DIR";
  if (kind == ArgumentKind::Case) return "CASE";
  if (kind == ArgumentKind::Body) return "BODY";
  return "TEXT";
}

Argument argument(const std::string& names, ArgumentKind kind, std::string type, std::string meaning) {
  Argument made;
  for (const std::string_view name : split(names, ',')) made.names.emplace_back(name);
  made.kind = kind;
  made.type = std::move(type);
  made.meaning = std::move(meaning);
  return made;
}

std::string not_empty(const std::string& text) {
  return text.empty() ? "is empty, expected a text" : "";
}

std::string set_of(const std::vector<std::string>& words) {
  return fmt::format("{{{}}}", fmt::join(words, ","));
}

std::string in_words(const FlagNumbers& numbers) {
  const char* least = numbers.above_from ? "above" : "from";
  if (std::isinf(numbers.from) && std::isinf(numbers.to)) return "a finite number";
  if (std::isinf(numbers.to)) {
    if (numbers.from == 0) return numbers.above_from ? "a positive number" : "a number that is not negative";
    return fmt::format("a number {} {:g}{}", least, numbers.from, numbers.above_from ? "" : " on");
  }
  return fmt::format("a number {} {:g} {} {:g}", least, numbers.from, numbers.above_from ? "and up to" : "to",
                     numbers.to);
}

// Plain decimal digits with or without an exponent, and nothing else.
std::optional<double> strict_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.front() == '+') return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

std::string Argument::value() const {
  if (by_place()) return names.front();
  if (kind == ArgumentKind::Choice) return "WORD";
  return kind == ArgumentKind::Number ? "NUMBER" : type;
}

Argument flag(const std::string& names, std::function<void()> given, std::string meaning) {
  Argument made = argument(names, ArgumentKind::None, "", std::move(meaning));
  made.take = [given = std::move(given)](const std::vector<std::string>&) { given(); };
  return made;
}

Argument flag(const std::string& names, bool& target, std::string meaning, bool value) {
  return flag(
      names, [&target, value] { target = value; }, std::move(meaning));
}

Argument text_flag(const std::string& names, std::function<void(const std::string&)> take,
                   std::string meaning, ArgumentKind kind) {
  Argument made = argument(names, kind, type_of(kind), std::move(meaning));
  made.check = not_empty;
  made.take = [take = std::move(take)](const std::vector<std::string>& given) { take(given.back()); };
  return made;
}

Argument texts(const std::string& names, std::function<void(const std::vector<std::string>&)> take,
               std::string type, std::string meaning) {
  Argument made = argument(names, ArgumentKind::Text, std::move(type), std::move(meaning));
  made.take = std::move(take);
  made.repeated = true;
  return made;
}

Argument texts(const std::string& names, std::vector<std::string>& target, std::string type,
               std::string meaning, bool several) {
  Argument made = texts(
      names, [&target](const std::vector<std::string>& given) { target = given; }, std::move(type),
      std::move(meaning));
  made.several = several;
  return made;
}

Argument choice(const std::string& names, std::string& target, std::vector<std::string> words,
                std::string meaning) {
  Argument made = text(names, target, std::move(meaning), ArgumentKind::Choice);
  made.type = set_of(words);
  made.choices = std::move(words);
  return made;
}

Argument input(const std::string& name, std::string& target, std::vector<std::string> words,
               std::string meaning) {
  Argument made = choice(name, target, words, std::move(meaning));
  made.type = "TEXT:" + made.type;
  made.required = true;
  made.check = [words](const std::string& text) {
    return std::find(words.begin(), words.end(), text) != words.end()
               ? ""
               : fmt::format("{} not in {}", text, set_of(words));
  };
  return made;
}

Argument number_flag(const std::string& names, std::function<void(double)> take, std::string meaning,
                     const FlagNumbers& numbers) {
  Argument made = argument(names, ArgumentKind::Number, "FLOAT", std::move(meaning));
  made.check = [numbers](const std::string& text) -> std::string {
    const std::optional<double> value = strict_number(text);
    if (!value)
      return fmt::format("'{}' is no number that can be taken, expected {}", text, in_words(numbers));
    if (*value != 0 && std::abs(*value) < std::numeric_limits<double>::min())
      return fmt::format("{} is too small, numbers begin at {:.3g}; expected {}", text,
                         std::numeric_limits<double>::min(), in_words(numbers));
    if (*value < numbers.from || *value > numbers.to || (numbers.above_from && *value == numbers.from))
      return fmt::format("is {}, expected {}", text, in_words(numbers));
    return "";
  };
  made.take = [take = std::move(take)](const std::vector<std::string>& given) {
    take(*strict_number(given.back()));
  };
  return made;
}

Argument whole_number_flag(const std::string& names, std::function<void(int)> take, std::string meaning,
                           int from, int to) {
  Argument made = argument(names, ArgumentKind::Number, "INT", std::move(meaning));
  made.check = [from, to](const std::string& text) -> std::string {
    const std::optional<long> value = parse_long(text);
    // the largest number is told where it is one to choose, or was exceeded
    const bool open = to == std::numeric_limits<int>::max() && !(value && *value > to);
    const std::string range = open ? fmt::format("a whole number from {} on", from)
                                   : fmt::format("a whole number from {} to {}", from, to);
    if (!value) return fmt::format("'{}' is no whole number, expected {}", text, range);
    if (*value < from || *value > to) return fmt::format("is {}, expected {}", text, range);
    return "";
  };
  made.take = [take = std::move(take)](const std::vector<std::string>& given) {
    take(static_cast<int>(*parse_long(given.back())));  // within the range, as it was checked
  };
  return made;
}

}  // namespace lissom::app
