// The file: a line that says what it is, the version (uint32), the length of what follows (uint64), an
// Archive, and its CRC-32 (uint32).
#include "lissom/study/checkpoint.hpp"

#include <fmt/ranges.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "lissom/core/archive.hpp"
#include "lissom/core/atomic_file.hpp"
#include "lissom/core/file_kind.hpp"
#include "lissom/io/result_file.hpp"
#include "lissom/io/study_changes.hpp"

namespace lissom {

namespace {

constexpr std::string_view magic = "lissom checkpoint\n";
constexpr const char* start_again = "run without --resume to start from the beginning";

void archive_all(Archive& archive, Checkpoint& c) {
  archive(c.lissom_version, c.study, c.case_name, c.t, c.samples, c.csv_bytes, c.start, c.state);
}

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::uint32_t crc_of(std::string_view bytes) {
  uLong sum = crc32(0, nullptr, 0);
  for (size_t at = 0; at < bytes.size(); at += 1 << 30)
    sum = crc32(sum, reinterpret_cast<const Bytef*>(bytes.data() + at),
                static_cast<uInt>(std::min<size_t>(bytes.size() - at, 1 << 30)));
  return static_cast<std::uint32_t>(sum);
}

// Refuses a study that is not what it was.
void expect_unchanged(const StudyFile& study, const std::string& before, const std::string& case_before,
                      const std::filesystem::path& folder) {
  std::vector<std::string> changes = study_changes(study.text, before, study.case_name);
  // a full model does not depend on what is trained on it
  if (!study.simulation->simulate->is_reduced())
    std::erase_if(changes, [](const std::string& change) { return change.starts_with("train"); });
  if (study.case_name != case_before)
    changes.push_back(fmt::format("the case is '{}', was '{}'", study.case_name, case_before));
  if (changes.empty()) return;
  fail_input(
      "{}: the run in {} was begun with another study and cannot be resumed with this one; what changed:\n  "
      "{}\nundo the changes, give another folder with --out, or {}",
      study.path.string(), folder.string(), fmt::join(changes, "\n  "), start_again);
}

}  // namespace

void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path) {
  Archive archive;
  archive_all(archive, const_cast<Checkpoint&>(checkpoint));  // only read
  const std::string& payload = archive.bytes();
  AtomicFile file(path);
  file.write(magic);
  file.write(bytes_of(checkpoint_version));
  file.write(bytes_of(std::uint64_t{payload.size()}));
  file.write(payload);
  file.write(bytes_of(crc_of(payload)));
  file.commit();
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  check_is_file(path);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail_input("{}: cannot be read: {}", path.string(), std::strerror(errno));
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  if (!bytes.starts_with(magic)) fail_input("{}: is not a checkpoint; {}", path.string(), start_again);
  std::uint32_t version = 0, sum = 0;
  std::uint64_t length = 0;
  const size_t header = magic.size() + sizeof version + sizeof length;
  const auto damaged = [&] {
    fail_input("{}: is damaged (its checksum does not fit); {}", path.string(), start_again);
  };
  if (bytes.size() < header + sizeof sum) damaged();
  std::memcpy(&version, bytes.data() + magic.size(), sizeof version);
  std::memcpy(&length, bytes.data() + magic.size() + sizeof version, sizeof length);
  if (version != checkpoint_version)
    fail_input(
        "{}: is a checkpoint of version {}, this Lissom ({}) resumes version {}; use that Lissom, or {}",
        path.string(), version, LISSOM_VERSION, checkpoint_version, start_again);
  if (length != bytes.size() - header - sizeof sum) damaged();
  const std::string payload = bytes.substr(header, length);
  std::memcpy(&sum, bytes.data() + header + length, sizeof sum);
  if (sum != crc_of(payload)) damaged();
  Checkpoint checkpoint;
  Archive archive(payload);
  archive_all(archive, checkpoint);
  archive.finish();
  return checkpoint;
}

Eigen::VectorXd fingerprint(SystemEquations& equations, const State& initial) {
  const int n = equations.coordinates(), m = equations.constraints();
  Eigen::VectorXd out(3 * n + m + 2 * (n + m));
  out.head(3 * n + m) << initial.q, initial.v, initial.a, initial.lambda;
  State state = initial;
  for (int round = 0; round < 2; ++round) {
    const int first = 3 * n + m + round * (n + m);
    equations.residual(state, 1, out.segment(first, n));
    equations.constraint(state.t, state.q, out.segment(first + n, m));
    // away from where springs and bodies are at rest
    for (int i = 0; i < n; ++i) {
      const double scale = equations.displacement_scale()[i];
      const double amount = scale > 0 ? 1e-3 * equations.length() / scale * std::sin(i + 1.0) : 0;
      state.q[i] += amount;
      state.v[i] += amount;
      state.a[i] += amount;
    }
    state.lambda.array() += 1;
  }
  return out;
}

bool same_bits(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(double) * a.size()) == 0);
}

Resumable find_resumable(const StudyFile& study, const std::filesystem::path& folder,
                         Diagnostics& diagnostics) {
  const std::filesystem::path result = folder / "result.h5", saved = folder / "checkpoint.lissom";
  const bool has_result = std::filesystem::exists(result), has_checkpoint = std::filesystem::exists(saved);
  Resumable found;
  if (has_checkpoint && !has_result)
    fail_input("{}: there is no result.h5 beside it, so that the run cannot be resumed; {}", saved.string(),
               start_again);
  if (has_result) {
    ResultReadOptions header_only;
    header_only.samples = false;
    const ResultFile file = read_result_file(result, diagnostics, header_only);
    expect_unchanged(study, file.header.study, file.header.case_name, folder);
    // results of version 1 do not say enough
    found.complete = file.end.status == RunStatus::Complete && !file.end.report.empty();
    if (found.complete) return found;
  }
  if (has_checkpoint) {
    found.checkpoint = read_checkpoint(saved);
    expect_unchanged(study, found.checkpoint->study, found.checkpoint->case_name, folder);
    return found;
  }
  diagnostics.warn(
      "simulate.resume." + folder.string(),
      fmt::format("there is nothing to resume in {}: the run started from the beginning", folder.string()));
  return found;
}

}  // namespace lissom
