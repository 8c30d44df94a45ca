#include "lissom/io/study_json_schema.hpp"

#include <algorithm>
#include <cmath>

#include "lissom/io/study_schema.hpp"

namespace lissom {

namespace {

using json = nlohmann::ordered_json;

std::string reference_to(const TableSchema& table) {
  return "#/definitions/" + table.name;
}

json pattern(const std::string& regular, const std::string& description) {
  return {{"type", "string"}, {"pattern", regular}, {"description", description}};
}

json number(const KeySchema& key, bool whole) {
  json plain = {{"type", whole ? "integer" : "number"}};
  // whole numbers where they are
  const auto limit = [](double value) {
    return value == std::floor(value) && std::abs(value) < 1e15 ? json(static_cast<long>(value))
                                                                : json(value);
  };
  if (std::isfinite(key.bounds.low))
    plain[key.bounds.open_low ? "exclusiveMinimum" : "minimum"] = limit(key.bounds.low);
  if (std::isfinite(key.bounds.high))
    plain[key.bounds.open_high ? "exclusiveMaximum" : "maximum"] = limit(key.bounds.high);
  json list = json::array({plain, pattern("^\\s*=", "an expression of [parameters]")});
  if (!whole)
    list.push_back(pattern("^\\s*[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?\\s*[^0-9\\s.]",
                           std::string("a number with a unit: ") + std::string(units_for(key.dimension))));
  return {{"anyOf", list}};
}

json list_of(json items, int least = 0, int most = -1) {
  json list = {{"type", "array"}, {"items", std::move(items)}};
  if (least > 0) list["minItems"] = least;
  if (most >= 0) list["maxItems"] = most;
  return list;
}

json word(const KeySchema& key) {
  json values = json::array(), meanings = json::array();
  for (const WordSchema& choice : key.choices) {
    values.push_back(choice.word);
    meanings.push_back(choice.meaning);
  }
  return {{"type", "string"}, {"enum", values}, {"x-taplo", {{"docs", {{"enumValues", meanings}}}}}};
}

json function(const KeySchema& key) {
  return {{"anyOf", json::array({json{{"type", "number"}},
                                 json{{"type", "string"},
                                      {"description", "an expression of t, or a number with a unit"}},
                                 json{{"$ref", reference_to(*key.table)}}})}};
}

// What a key may be, one entry for each kind.
void add_alternatives(const KeySchema& key, json& list) {
  const auto add = [&](json one) {
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(std::move(one));
  };
  // alternatives of alternatives are alternatives
  const auto add_all = [&](const json& any) {
    for (const json& one : any.at("anyOf")) add(one);
  };
  if (key.has(kind::text | kind::file)) add({{"type", "string"}});
  if (key.has(kind::word)) add(word(key));
  if (key.has(kind::number | kind::numbers)) add_all(number(key, false));
  if (key.has(kind::integer)) add_all(number(key, true));
  if (key.has(kind::boolean)) add({{"type", "boolean"}});
  if (key.has(kind::vector)) add(list_of(number(key, false), 3, 3));
  if (key.has(kind::numbers)) add(list_of(number(key, false)));
  if (key.has(kind::integers)) add(list_of(number(key, true)));
  if (key.has(kind::matrix)) add(list_of(list_of(number(key, false), 3, 3), 3, 3));
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

json fallback(const KeySchema& key) {
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

json property(const std::vector<const KeySchema*>& entries) {
  json list = json::array();
  std::string text;
  bool any = false;
  for (const KeySchema* key : entries) {
    any = any || key->has(kind::any);
    add_alternatives(*key, list);
    text += (text.empty() ? "" : "\n") + description(*key);
  }
  json out = {{"description", text}};
  // several entries of one name may have several defaults
  if (entries.size() == 1 && entries.front()->has_fallback()) out["default"] = fallback(*entries.front());
  if (any) return out;
  if (list.size() == 1 && !list.front().contains("$ref"))
    for (const auto& [name, value] : list.front().items()) out[name] = value;
  else
    out["anyOf"] = list;
  return out;
}

json object(const TableSchema& table) {
  json out = {{"type", "object"}, {"description", table.meaning}};
  json properties = json::object(), required = json::array();
  for (const std::string& name : table.names()) {
    const auto entries = table.find(name);
    properties[name] = property(entries);
    if (entries.front()->required && entries.front()->when.empty()) required.push_back(name);
  }
  if (!properties.empty()) out["properties"] = properties;
  if (!required.empty()) out["required"] = required;
  out["additionalProperties"] = table.others.empty() ? json(false) : property({&table.others.front()});
  return out;
}

}  // namespace

json study_json_schema() {
  json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "Lissom study"}};
  const json root = object(study_schema());
  for (const auto& [name, value] : root.items()) schema[name] = value;
  // bodies, or a model in their place; an included file may have them
  schema["anyOf"] = json::array(
      {json{{"required", {"bodies"}}}, json{{"required", {"rom"}}}, json{{"required", {"include"}}}});
  json definitions = json::object();
  for (const TableSchema* table : all_tables(study_schema()))
    if (!table->name.empty()) definitions[table->name] = object(*table);
  schema["definitions"] = definitions;
  return schema;
}

}  // namespace lissom
