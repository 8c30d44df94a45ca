#include "lissom/study/sweep_manifest.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/study_changes.hpp"
#include "lissom/study/summary_json.hpp"
#include "lissom/study/sweep_claims.hpp"
#include "lissom/study/versions.hpp"

namespace lissom {

using nlohmann::json;

namespace {

constexpr int manifest_version = 1;
constexpr const char* manifest_format = "lissom sweep";
constexpr const char* point_format = "lissom sweep point";
constexpr std::pair<PointStatus, const char*> statuses[] = {{PointStatus::Pending, "pending"},
                                                            {PointStatus::Running, "running"},
                                                            {PointStatus::Done, "done"},
                                                            {PointStatus::Failed, "failed"}};

const char* name_of(PointStatus status) {
  for (const auto& [one, name] : statuses)
    if (one == status) return name;
  return "";
}

// JSON has no infinities
json number_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

// What a reader finds wrong; the caller adds the file.
struct Damage {
  std::string what;
};

template <class T>
T get(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) throw Damage{fmt::format("'{}' is missing", key)};
  try {
    return found->get<T>();
  } catch (const json::exception&) {
    throw Damage{fmt::format("'{}' is of the wrong kind", key)};
  }
}

const json& list(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) throw Damage{fmt::format("'{}' is missing", key)};
  if (!found->is_array()) throw Damage{fmt::format("'{}' is no list", key)};
  return *found;
}

double stored_number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  throw Damage{"one of 'values' is no number"};
}

json point_json(const StudyPoint& point) {
  json j = {
      {"parameters", point.parameters}, {"status", name_of(point.status)}, {"attempts", point.attempts}};
  if (point.status != PointStatus::Pending) {
    j["host"] = point.host;
    j["pid"] = point.pid;
    j["threads"] = point.threads;
  }
  if (!point.over()) return j;
  j["seconds"] = point.seconds;
  if (point.status == PointStatus::Failed) {
    j["problem"] = point.problem;
  } else {
    json& values = j["values"] = json::array();
    for (const auto& [name, value] : point.values)
      values.push_back(json::array({json(name), number_json(value)}));
  }
  for (const Warning& warning : point.warnings)
    j["warnings"].push_back({{"key", warning.key},
                             {"message", warning.message},
                             {"file", warning.where.file},
                             {"line", warning.where.line},
                             {"count", warning.count}});
  return j;
}

StudyPoint point_of(const json& j) {
  if (!j.is_object()) throw Damage{"is no object"};
  StudyPoint point;
  point.parameters = get<std::vector<std::string>>(j, "parameters");
  point.attempts = get<int>(j, "attempts");
  const auto status = get<std::string>(j, "status");
  const auto* found = std::find_if(std::begin(statuses), std::end(statuses),
                                   [&](const auto& entry) { return status == entry.second; });
  if (found == std::end(statuses)) throw Damage{fmt::format("'status' is '{}'", status)};
  point.status = found->first;
  if (point.status != PointStatus::Pending) {
    point.host = get<std::string>(j, "host");
    point.pid = get<long>(j, "pid");
    point.threads = get<int>(j, "threads");
  }
  if (!point.over()) return point;
  point.seconds = get<double>(j, "seconds");
  if (point.status == PointStatus::Failed) {
    point.problem = get<std::string>(j, "problem");
    if (point.problem.empty()) throw Damage{"'problem' is empty"};
  } else {
    for (const json& pair : list(j, "values")) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string())
        throw Damage{"one of 'values' is no pair of name and number"};
      point.values.emplace_back(pair[0].get<std::string>(), stored_number(pair[1]));
    }
  }
  if (j.contains("warnings"))
    for (const json& entry : list(j, "warnings")) {
      if (!entry.is_object()) throw Damage{"one of 'warnings' is no object"};
      point.warnings.push_back({get<std::string>(entry, "key"), get<std::string>(entry, "message"),
                                SourcePos{get<std::string>(entry, "file"), get<long>(entry, "line")},
                                get<long>(entry, "count")});
    }
  return point;
}

// The object in a file of ours. `kind` is for messages.
json read_object(const std::filesystem::path& path, const char* format, const char* kind) {
  const json j = json::parse(read_file(path), nullptr, false);
  if (j.is_discarded()) throw Damage{"it is no complete JSON"};
  if (!j.is_object() || !j.contains("format") || j["format"] != format)
    throw Damage{fmt::format("it is no {}", kind)};
  const int found = get<int>(j, "version");
  if (found < 1 || found > manifest_version)
    throw Damage{fmt::format("it is of version {}, and this Lissom ({}) reads {}", found, version(),
                             manifest_version)};
  return j;
}

}  // namespace

int SweepManifest::count(PointStatus status) const {
  return static_cast<int>(std::count_if(points.begin(), points.end(),
                                        [&](const StudyPoint& point) { return point.status == status; }));
}

bool SweepManifest::complete() const {
  return std::all_of(points.begin(), points.end(), [](const StudyPoint& point) { return point.over(); });
}

SweepManifest begin_manifest(const StudyFile& study, const std::vector<StudySetting>& settings) {
  SweepManifest manifest;
  const ClaimHolder here = own_holder();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  manifest.id = text_hash(fmt::format("{} {} {} {}", here.host, here.machine, here.pid, now.count()));
  manifest.study = study.path.string();
  manifest.title = study.title;
  manifest.text = study.text;
  manifest.settings = settings;
  manifest.lissom_version = version();
  manifest.started = time_stamp();
  manifest.keys = study.sweep_keys;
  for (const ParameterPoint& point : study.sweep) {
    StudyPoint entry;
    entry.parameters = point.values;
    if (!point.problem.empty()) {
      entry.status = PointStatus::Failed;
      entry.problem = point.problem;
      entry.host = here.host;
      entry.pid = here.pid;
    }
    manifest.points.push_back(std::move(entry));
  }
  return manifest;
}

SweepManifest read_sweep_manifest(const std::filesystem::path& path) {
  try {
    const json j = read_object(path, manifest_format, "manifest of a sweep");
    SweepManifest manifest;
    manifest.id = get<std::string>(j, "id");
    manifest.study = get<std::string>(j, "study");
    manifest.title = get<std::string>(j, "title");
    manifest.text = get<std::string>(j, "text");
    if (get<std::string>(j, "text_hash") != text_hash(manifest.text))
      throw Damage{"'text_hash' is not that of 'text'"};
    for (const json& entry : list(j, "settings")) {
      if (!entry.is_object()) throw Damage{"one of 'settings' is no object"};
      manifest.settings.push_back({get<std::string>(entry, "key"), get<std::string>(entry, "value")});
    }
    manifest.lissom_version = get<std::string>(j, "lissom_version");
    manifest.started = get<std::string>(j, "started");
    manifest.launch = get<std::string>(j, "launch");
    manifest.launched = get<long long>(j, "launched");
    manifest.keys = get<std::vector<std::string>>(j, "parameters");
    for (const json& entry : list(j, "points")) try {
        StudyPoint point = point_of(entry);
        if (point.parameters.size() != manifest.keys.size())
          throw Damage{fmt::format("'parameters' has {} values, expected {}", point.parameters.size(),
                                   manifest.keys.size())};
        manifest.points.push_back(std::move(point));
      } catch (const Damage& damage) {
        throw Damage{fmt::format("point {}: {}", manifest.points.size() + 1, damage.what)};
      }
    return manifest;
  } catch (const Damage& damage) {
    fail_input("{}: the manifest of the sweep cannot be used: {}", path.string(), damage.what);
  }
}

void write_sweep_manifest(const SweepManifest& manifest, const std::filesystem::path& path) {
  json j = {{"format", manifest_format},
            {"version", manifest_version},
            {"id", manifest.id},
            {"study", manifest.study},
            {"title", manifest.title},
            {"text", manifest.text},
            {"text_hash", text_hash(manifest.text)},
            {"settings", json::array()},
            {"lissom_version", manifest.lissom_version},
            {"started", manifest.started},
            {"launch", manifest.launch},
            {"launched", manifest.launched},
            {"parameters", manifest.keys},
            {"points", json::array()}};
  for (const auto& [key, value] : manifest.settings)
    j["settings"].push_back({{"key", key}, {"value", value}});
  for (const auto& [status, name] : statuses) j["counts"][name] = manifest.count(status);
  for (const StudyPoint& point : manifest.points) j["points"].push_back(point_json(point));
  write_json(j, path, 1);
}

StudyPoint read_point_file(const std::filesystem::path& path, const std::string& id, size_t number) {
  try {
    const json j = read_object(path, point_format, "result of a point of a sweep");
    if (get<std::string>(j, "id") != id || get<size_t>(j, "point") != number + 1)
      throw Damage{"it belongs to another sweep or another point"};
    StudyPoint point = point_of(j);
    if (!point.over()) throw Damage{"its point is not over"};
    return point;
  } catch (const Damage& damage) {
    fail_input("{}: {}", path.string(), damage.what);
  }
}

void write_point_file(const StudyPoint& point, const std::string& id, size_t number,
                      const std::filesystem::path& path) {
  json j = point_json(point);
  j["format"] = point_format;
  j["version"] = manifest_version;
  j["id"] = id;
  j["point"] = number + 1;
  write_json(j, path, -1);
}

std::vector<std::string> manifest_changes(const StudyFile& study, const SweepManifest& manifest) {
  std::vector<std::string> changes = study_changes(study.text, manifest.text, "");
  const bool same_points =
      study.sweep_keys == manifest.keys && study.sweep.size() == manifest.points.size() &&
      std::equal(study.sweep.begin(), study.sweep.end(), manifest.points.begin(),
                 [](const ParameterPoint& a, const StudyPoint& b) { return a.values == b.parameters; });
  if (changes.empty() && !same_points)
    changes.push_back(
        fmt::format("the points of [sweep]: {}, were {}", study.sweep.size(), manifest.points.size()));
  return changes;
}

std::string text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace lissom
