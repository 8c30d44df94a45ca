// Summaries read without trust: what is missing or of another kind is a gap in the report, no failure.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace lissom {

// The entry of an object; null where there is none.
inline const nlohmann::json& entry_of(const nlohmann::json& object, const std::string& key) {
  static const nlohmann::json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

// NaN where it is no number.
inline double number_of(const nlohmann::json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}
inline double number_of(const nlohmann::json& object, const std::string& key) {
  return number_of(entry_of(object, key));
}

inline std::string text_of(const nlohmann::json& value, const std::string& otherwise = "") {
  return value.is_string() ? value.get<std::string>() : otherwise;
}
inline std::string text_of(const nlohmann::json& object, const std::string& key,
                           const std::string& otherwise) {
  return text_of(entry_of(object, key), otherwise);
}

// Numbers of a list, NaN for other things in it; empty where it is no list.
inline std::vector<double> numbers_of(const nlohmann::json& list) {
  std::vector<double> values;
  if (!list.is_array()) return values;
  for (const nlohmann::json& value : list) values.push_back(number_of(value));
  return values;
}

inline std::vector<std::string> texts_of(const nlohmann::json& list) {
  std::vector<std::string> values;
  if (!list.is_array()) return values;
  for (const nlohmann::json& value : list) values.push_back(text_of(value));
  return values;
}

// 1, 2, ..., n: the x of lists.
inline std::vector<double> counted(size_t n) {
  std::vector<double> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i + 1);
  return x;
}

}  // namespace lissom
