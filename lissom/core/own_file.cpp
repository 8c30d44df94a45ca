#include "lissom/core/own_file.hpp"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "lissom/core/error.hpp"
#include "lissom/core/hdf5.hpp"

namespace lissom {

namespace fs = std::filesystem;

namespace {

using Identity = std::pair<std::uint64_t, std::uint64_t>;
using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// What the name leads to, through links; nothing where there is no plain file.
std::optional<struct stat> look_at(const fs::path& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return found;
}

Identity identity_of(const struct stat& file) {
  return {static_cast<std::uint64_t>(file.st_dev), static_cast<std::uint64_t>(file.st_ino)};
}

// The inputs of the jobs that run now, with how many guards each of them has.
struct Inputs {
  std::mutex mutex;
  std::map<Identity, int> guards;
};

Inputs& inputs() {
  static Inputs all;
  return all;
}

bool is_input(const Identity& file) {
  const std::lock_guard lock(inputs().mutex);
  return inputs().guards.contains(file);
}

// The first bytes, as many as there are.
std::string begin_of(const fs::path& path, size_t most) {
  const Stream file(std::fopen(path.c_str(), "rb"), &std::fclose);
  std::string bytes(most, '\0');
  bytes.resize(file ? std::fread(bytes.data(), 1, most, file.get()) : 0);
  return bytes;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_own_hdf5(const fs::path& path) {
  try {
    const hdf5::File file = hdf5::File::open(path);
    const hdf5::Group root = file.root();
    return root.has_attribute("format") && root.string_attribute("format").starts_with("lissom-");
  } catch (const std::exception&) {
    // a run that was killed, or a disk that was full, leaves files that cannot be opened
    return contains(begin_of(path, 1 << 22), "lissom-");
  }
}

// The keys of the outermost object, as far as they are needed to know what it is.
class TopKeys : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool own() const {
    // summaries; analyses and comparisons of any version; what points of a sweep are computed from
    static const std::vector<std::vector<std::string>> kinds = {{"lissom_version"},
                                                                {"eigenvalues", "growth", "moving", "states"},
                                                                {"frequencies_hz", "pairs"},
                                                                {"energies", "only_a", "only_b", "sensors"},
                                                                {"id", "keep_results", "settings", "text"}};
    return format_ || std::any_of(kinds.begin(), kinds.end(), [&](const std::vector<std::string>& kind) {
             return std::includes(keys_.begin(), keys_.end(), kind.begin(), kind.end());
           });
  }

  bool key(string_t& name) override {
    if (depth_ == 1) {
      keys_.insert(name);
      last_ = name;
    }
    return !own();
  }
  bool string(string_t& text) override {
    // manifests of sweeps
    if (depth_ == 1 && last_ == "format") format_ = text.starts_with("lissom");
    return !own();
  }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool end_object() override { return depth_-- > 0; }
  bool start_array(std::size_t) override { return ++depth_ > 1; }  // an object is expected around it
  bool end_array() override { return depth_-- > 0; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  std::set<std::string> keys_;
  std::string last_;
  int depth_ = 0;
  bool format_ = false;
};

bool is_own_json(const fs::path& path) {
  const Stream file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) return false;
  TopKeys keys;
  nlohmann::json::sax_parse(file.get(), &keys, nlohmann::json::input_format_t::json, false);
  return keys.own();
}

// Whether a file of Lissom's lies beside it.
bool lies_beside(const fs::path& path, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) {
    const OwnFile kind = own_file(path.parent_path() / name);
    return kind != OwnFile::None && kind != OwnFile::Table;
  });
}

bool is_own_table(const fs::path& path, std::string_view heading) {
  struct Heading {
    std::string_view begin, end;
  };
  static constexpr Heading headings[] = {
      {"mode,frequency_hz,residual,effective_mass_x,", ""},
      {"mode,frequency_hz,lower_estimate,paper_estimate,", ""},
      {"modes,mode,frequency_hz,lower_estimate,", ""},
      {"coordinate,kind,interface,node,direction,frequency_hz", ""},
      {"mode,singular_value,singular_value_of_nodes,joint_violation", ""},
      {"m,epsilon,rms_error,largest_error,", ""},
      {"sample,", ",r_singular_values_centred,r_energy_centred"},
      {"mode,sample_1", ""},
      {"samples,", ",indicator"},
      {"test,", ",times_faster,fallback,problem"},
      {"number,hankel_value,bound", ""},
  };
  for (const Heading& known : headings)
    if (heading.starts_with(known.begin) && heading.ends_with(known.end)) return true;
  // columns that the user names: known by the file that was written with them
  const std::string name = path.filename().string();
  const bool over_time = heading == "t" || heading.starts_with("t,");
  if (name == "sensors.csv")
    // whatever has become of it since a run was stopped
    return lies_beside(path, {"checkpoint.lissom"}) ||
           (over_time && lies_beside(path, {"result.h5", "motion.view.h5"}));
  if (name == "differences.csv") return over_time && lies_beside(path, {"comparison.json", "result.h5"});
  if (name == "principal_angles.csv") return heading.starts_with("sample,1");
  if (name == "sweep.csv") return heading.ends_with(",problem") && lies_beside(path, {"sweep.json"});
  return false;
}

bool is_own_matlab(const fs::path& path, std::string_view begin) {
  if (contains(begin.substr(0, 116), "Lissom")) return true;
  // those of older versions, by names of variables that nobody else has together
  const std::string all = begin_of(path, 1 << 28);
  return contains(all, "eta_rate") && contains(all, "shapes_imaginary");
}

const char* describe(OwnFile kind) {
  switch (kind) {
    case OwnFile::None:
      return "a file";
    case OwnFile::Hdf5:
      return "a result or model (HDF5)";
    case OwnFile::Exodus:
      return "a file for ParaView";
    case OwnFile::Page:
      return "a report";
    case OwnFile::Json:
      return "a summary (JSON)";
    case OwnFile::Table:
      return "a table";
    case OwnFile::Response:
      return "a frequency response (CSV)";
    case OwnFile::Matlab:
      return "a linearisation (MATLAB)";
    case OwnFile::Checkpoint:
      return "a checkpoint";
    case OwnFile::Exported:
      return "an exported model";
  }
  LISSOM_ASSERT(false);
  return "";
}

void expect(const fs::path& path, std::optional<OwnFile> wanted) {
  const auto there = look_at(path);
  if (!there) return;
  if (is_input(identity_of(*there)))
    fail_input("{}: is read by this run, and would be replaced by its results; give another name with --out",
               path.string());
  if (there->st_size == 0) return;
  const OwnFile kind = own_file(path);
  if (kind == OwnFile::None)
    fail_input(
        "{}: is there already, and Lissom did not write it (or it is damaged): it is not replaced; move it "
        "away, or give another name with --out",
        path.string());
  if (wanted && kind != *wanted)
    fail_input("{}: is {} that Lissom wrote, and would be replaced by {}; give another name with --out",
               path.string(), describe(kind), describe(*wanted));
}

}  // namespace

OwnFile own_file(const fs::path& path) {
  if (!look_at(path)) return OwnFile::None;
  const std::string begin = begin_of(path, 1 << 16);
  const std::string_view text = begin;
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (text.starts_with("\x89HDF\r\n\x1a\n")) return is_own_hdf5(path) ? OwnFile::Hdf5 : OwnFile::None;
  if (text.starts_with("CDF"))
    return contains(text, "written_by") && contains(text, "Lissom") ? OwnFile::Exodus : OwnFile::None;
  if (text.starts_with("lissom checkpoint\n")) return OwnFile::Checkpoint;
  // its description is the first member of an FMU, and not packed
  if (text.starts_with("PK\x03\x04"))
    return contains(text, "generationTool=\"Lissom ") ? OwnFile::Exported : OwnFile::None;
  // sources begin with a comment, or a docstring
  if ((text.starts_with("/*") || text.starts_with("\"\"\"")) &&
      contains(text.substr(0, 2000), "exported by Lissom "))
    return OwnFile::Exported;
  if (text.starts_with("<!DOCTYPE html>"))
    return contains(text.substr(0, 2000), "<meta name=\"generator\" content=\"lissom ") ? OwnFile::Page
                                                                                        : OwnFile::None;
  if (text.starts_with("MATLAB 5.0 MAT-file"))
    return is_own_matlab(path, text) ? OwnFile::Matlab : OwnFile::None;
  if (first != std::string_view::npos && text[first] == '{')
    return is_own_json(path) ? OwnFile::Json : OwnFile::None;
  const std::string_view heading = text.substr(0, text.find_first_of("\r\n"));
  if (heading.starts_with("f,\"") && heading.ends_with(" phase\"")) return OwnFile::Response;
  return is_own_table(path, heading) ? OwnFile::Table : OwnFile::None;
}

void expect_replaceable(const fs::path& path) {
  expect(path, std::nullopt);
}

void expect_replaceable(const fs::path& path, OwnFile kind) {
  expect(path, kind);
}

InputGuard::InputGuard(const std::vector<fs::path>& paths) {
  const std::lock_guard lock(inputs().mutex);
  for (const fs::path& path : paths)
    if (const auto there = look_at(path)) {
      files_.push_back(identity_of(*there));
      ++inputs().guards[files_.back()];
    }
}

InputGuard::~InputGuard() {
  const std::lock_guard lock(inputs().mutex);
  for (const Identity& file : files_)
    if (--inputs().guards[file] == 0) inputs().guards.erase(file);
}

}  // namespace lissom
