// Summaries read with patience: they may be of an older run, or changed by hand, and anything may be missing
// from them. Nothing here throws.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace lissom {

// The entry of this name; null where there is none.
inline const nlohmann::json& part_of(const nlohmann::json& object, const std::string& key) {
  static const nlohmann::json none;
  if (!object.is_object()) return none;
  const auto at = object.find(key);
  return at == object.end() ? none : *at;
}

// NaN where it is no number.
inline double number_of(const nlohmann::json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}
inline double number_in(const nlohmann::json& object, const std::string& key) {
  return number_of(part_of(object, key));
}

// A number from a file as a count, whatever it is: 0 where it is negative or none, at most `most`.
inline size_t count_of(double number, size_t most) {
  if (!(number > 0)) return 0;
  return number < static_cast<double>(most) ? static_cast<size_t>(number) : most;
}

// Empty where it is no text; numbers as they are written.
inline std::string text_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? value.dump() : "";
}
inline std::string text_in(const nlohmann::json& object, const std::string& key) {
  return text_of(part_of(object, key));
}

inline bool flag_in(const nlohmann::json& object, const std::string& key) {
  const nlohmann::json& value = part_of(object, key);
  return value.is_boolean() && value.get<bool>();
}

// Of an array, NaN for what is no number; empty where it is no array.
inline std::vector<double> numbers_of(const nlohmann::json& array) {
  std::vector<double> out;
  if (array.is_array())
    for (const nlohmann::json& value : array) out.push_back(number_of(value));
  return out;
}
inline std::vector<double> numbers_in(const nlohmann::json& object, const std::string& key) {
  return numbers_of(part_of(object, key));
}

// Texts of an array; others are left out.
inline std::vector<std::string> texts_in(const nlohmann::json& object, const std::string& key) {
  std::vector<std::string> out;
  if (const nlohmann::json& array = part_of(object, key); array.is_array())
    for (const nlohmann::json& value : array)
      if (value.is_string()) out.push_back(value.get<std::string>());
  return out;
}

}  // namespace lissom
