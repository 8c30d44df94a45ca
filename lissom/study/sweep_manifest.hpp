// The manifest of a sweep, sweep.json: what is swept, how far it is, and the results of every point.
// docs/reference/sweep-manifest.md has the format.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/io/study_file.hpp"

namespace lissom {

// Numbers of one point of a sweep, each with its name, in their order.
using SweepValues = std::vector<std::pair<std::string, double>>;

enum class PointStatus { Pending, Running, Done, Failed };

struct StudyPoint {
  std::vector<std::string> parameters;  // as written, in the order of the keys
  PointStatus status = PointStatus::Pending;
  SweepValues values;
  std::string problem;  // why it failed
  std::vector<Warning> warnings;
  double seconds = 0;  // of the last attempt
  std::string host;    // where it was, or is, computed
  long pid = 0;
  int attempts = 0;
  int threads = 0;
  bool over() const { return status == PointStatus::Done || status == PointStatus::Failed; }
};

struct SweepManifest {
  std::string id;  // of this sweep, and of no other one in the same folder
  std::string study, title;
  std::string text;  // of the study, settings included
  std::vector<StudySetting> settings;
  std::string lissom_version;
  std::string started;            // "2026-11-16 04:31 UTC"
  std::string launch;             // Launch::id of those that began or resumed it last
  long long launched = 0;         // when, in seconds since 1970
  std::vector<std::string> keys;  // of the parameters
  std::vector<StudyPoint> points;

  int count(PointStatus status) const;
  // Every point is over.
  bool complete() const;
};

// A sweep of which nothing is done yet. Points that make no sense have failed.
SweepManifest begin_manifest(const StudyFile& study, const std::vector<StudySetting>& settings);

// Throws InputError naming the file and what is wrong in it: unreadable, of a newer version, damaged.
SweepManifest read_sweep_manifest(const std::filesystem::path& path);
void write_sweep_manifest(const SweepManifest& manifest, const std::filesystem::path& path);

// The result of one point of the sweep `id` in a file of its own. Reading throws InputError: unreadable,
// damaged, of another sweep or another point (from 0).
StudyPoint read_point_file(const std::filesystem::path& path, const std::string& id, size_t number);
void write_point_file(const StudyPoint& point, const std::string& id, size_t number,
                      const std::filesystem::path& path);

// What makes the study another one than that of the manifest, as sentences; empty: nothing.
std::vector<std::string> manifest_changes(const StudyFile& study, const SweepManifest& manifest);

// A text's hash (64-bit FNV-1a), as 16 hexadecimal digits.
std::string text_hash(std::string_view text);

}  // namespace lissom
