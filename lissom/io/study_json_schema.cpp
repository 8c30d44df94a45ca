#include "lissom/io/study_json_schema.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "lissom/io/study_schema.hpp"

namespace lissom {

namespace {

using nlohmann::ordered_json;

std::string reference_to(const TableSchema& table) {
  return "#/definitions/" + table.name;
}

ordered_json pattern(const std::string& regular, const std::string& description) {
  return {{"type", "string"}, {"pattern", regular}, {"description", description}};
}

ordered_json number_schema(const KeySchema& key, bool whole) {
  ordered_json plain = {{"type", whole ? "integer" : "number"}};
  // whole numbers where they are
  const auto limit = [](double value) {
    return value == std::floor(value) && std::abs(value) < 1e15 ? ordered_json(static_cast<long>(value))
                                                                : ordered_json(value);
  };
  if (std::isfinite(key.bounds.low))
    plain[key.bounds.open_low ? "exclusiveMinimum" : "minimum"] = limit(key.bounds.low);
  if (std::isfinite(key.bounds.high))
    plain[key.bounds.open_high ? "exclusiveMaximum" : "maximum"] = limit(key.bounds.high);
  ordered_json list = ordered_json::array({plain, pattern("^\\s*=", "an expression of [parameters]")});
  if (!whole)
    list.push_back(pattern("^\\s*[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?\\s*[^0-9\\s.]",
                           std::string("a number with a unit: ") + std::string(units_for(key.dimension))));
  return {{"anyOf", list}};
}

ordered_json list_of(ordered_json items, int least = 0, int most = -1) {
  ordered_json list = {{"type", "array"}, {"items", std::move(items)}};
  if (least > 0) list["minItems"] = least;
  if (most >= 0) list["maxItems"] = most;
  return list;
}

ordered_json word(const KeySchema& key) {
  ordered_json values = ordered_json::array(), meanings = ordered_json::array();
  for (const WordSchema& choice : key.choices) {
    values.push_back(choice.word);
    meanings.push_back(choice.meaning);
  }
  return {{"type", "string"}, {"enum", values}, {"x-taplo", {{"docs", {{"enumValues", meanings}}}}}};
}

ordered_json function(const KeySchema& key) {
  return {{"anyOf",
           ordered_json::array({ordered_json{{"type", "number"}},
                                ordered_json{{"type", "string"},
                                             {"description", "an expression of t, or a number with a unit"}},
                                ordered_json{{"$ref", reference_to(*key.table)}}})}};
}

// What a key may be, one entry for each kind.
void add_alternatives(const KeySchema& key, ordered_json& list) {
  const auto add = [&](ordered_json one) {
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(std::move(one));
  };
  // alternatives of alternatives are alternatives
  const auto add_all = [&](const ordered_json& any) {
    for (const ordered_json& one : any.at("anyOf")) add(one);
  };
  if (key.has(kind::text | kind::file)) add({{"type", "string"}});
  if (key.has(kind::word)) add(word(key));
  if (key.has(kind::number | kind::numbers)) add_all(number_schema(key, false));
  if (key.has(kind::integer)) add_all(number_schema(key, true));
  if (key.has(kind::boolean)) add({{"type", "boolean"}});
  if (key.has(kind::vector)) add(list_of(number_schema(key, false), 3, 3));
  if (key.has(kind::numbers)) add(list_of(number_schema(key, false)));
  if (key.has(kind::integers)) add(list_of(number_schema(key, true)));
  if (key.has(kind::matrix)) add(list_of(list_of(number_schema(key, false), 3, 3), 3, 3));
  if (key.has(kind::texts)) {
    add({{"type", "string"}});
    add(list_of({{"type", "string"}}));
  }
  if (key.has(kind::words)) {
    add(word(key));
    add(list_of(word(key)));
  }
  if (key.has(kind::function)) add_all(function(key));
  if (key.has(kind::functions)) add(list_of(function(key), 3, 3));
  if (key.has(kind::table)) add({{"$ref", reference_to(*key.table)}});
  if (key.has(kind::tables)) add(list_of({{"$ref", reference_to(*key.table)}}));
  if (key.has(kind::named_tables))
    add({{"type", "object"}, {"additionalProperties", {{"$ref", reference_to(*key.table)}}}});
}

ordered_json fallback(const KeySchema& key) {
  if (const bool* value = std::get_if<bool>(&key.fallback)) return *value;
  if (const long* value = std::get_if<long>(&key.fallback)) return *value;
  if (const double* value = std::get_if<double>(&key.fallback)) return *value;
  if (const std::string* value = std::get_if<std::string>(&key.fallback)) return *value;
  return nullptr;
}

// What an editor shows: the meaning, with what the number measures and the default where it is in words.
std::string description(const KeySchema& key) {
  std::string text = key.meaning;
  if (!key.when.empty()) text += fmt::format(" (with {})", fmt::join(key.when, ", "));
  if (!key.dimension.none()) text += fmt::format("; {}", name_of(key.dimension));
  const std::string otherwise = fallback_text(key);
  if (!otherwise.empty()) text += fmt::format(". {}{}", key.required ? "" : "Default: ", otherwise);
  return text;
}

ordered_json property(const std::vector<const KeySchema*>& entries) {
  ordered_json list = ordered_json::array();
  std::string text;
  bool any = false;
  for (const KeySchema* key : entries) {
    any = any || key->has(kind::any);
    add_alternatives(*key, list);
    text += (text.empty() ? "" : "\n") + description(*key);
  }
  ordered_json out = {{"description", text}};
  // several entries of one name may have several defaults
  if (entries.size() == 1 && entries.front()->has_fallback()) out["default"] = fallback(*entries.front());
  if (any) return out;
  if (list.size() == 1 && !list.front().contains("$ref"))
    for (const auto& [name, value] : list.front().items()) out[name] = value;
  else
    out["anyOf"] = list;
  return out;
}

ordered_json object(const TableSchema& table) {
  ordered_json out = {{"type", "object"}, {"description", table.meaning}};
  ordered_json properties = ordered_json::object(), required = ordered_json::array();
  for (const std::string& name : table.names()) {
    const auto entries = table.find(name);
    properties[name] = property(entries);
    if (entries.front()->required && entries.front()->when.empty()) required.push_back(name);
  }
  if (!properties.empty()) out["properties"] = properties;
  if (!required.empty()) out["required"] = required;
  out["additionalProperties"] =
      table.others.empty() ? ordered_json(false) : property({&table.others.front()});
  return out;
}

}  // namespace

ordered_json study_json_schema() {
  ordered_json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "Lissom study"}};
  const ordered_json root = object(study_schema());
  for (const auto& [name, value] : root.items()) schema[name] = value;
  // bodies, or a model in their place; an included file may have them
  schema["anyOf"] =
      ordered_json::array({ordered_json{{"required", {"bodies"}}}, ordered_json{{"required", {"rom"}}},
                           ordered_json{{"required", {"include"}}}});
  ordered_json definitions = ordered_json::object();
  for (const TableSchema* table : all_tables(study_schema()))
    if (!table->name.empty()) definitions[table->name] = object(*table);
  schema["definitions"] = definitions;
  return schema;
}

}  // namespace lissom
