#include "lissom/io/snapshot_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "lissom/core/text.hpp"
#include "lissom/io/csv_trajectory.hpp"
#include "lissom/io/number_array.hpp"
#include "lissom/io/result_file.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3Xd;
using Eigen::MatrixXd;

// Where samples run fastest, one of them is spread over the whole file: as many as fit here are read
// together.
constexpr std::uint64_t slab_bytes = 128UL << 20;

// Where a body's positions come from: an array or a CSV file.
struct PartData {
  std::unique_ptr<NumberArray> array;
  std::unique_ptr<CsvTrajectory> csv;
  std::shared_ptr<ArrayFile> file;  // of the array
  bool samples_slowest = true;      // as they lie in the file
  double length = 1;                // [m] of a unit
  Matrix3Xd rest;                   // added to displacements; in the order of the data
  // samples slab_first .. of an array whose samples run fastest, 3 nodes by so many
  MatrixXd slab;
  int slab_first = 0;
};

class FileSnapshots final : public SnapshotSource {
 public:
  FileSnapshots(std::string name, std::vector<Part> parts, Eigen::VectorXd times, std::vector<PartData> data)
      : data_(std::move(data)) {
    name_ = std::move(name);
    parts_ = std::move(parts);
    times_ = std::move(times);
  }

  void read(int part, int first, int count, Eigen::Ref<MatrixXd> X) override {
    PartData& data = data_[part];
    LISSOM_ASSERT(first >= 0 && count >= 0 && first + count <= samples() && X.cols() == count &&
                  X.rows() == 3 * parts_[part].nodes);
    if (count == 0 || X.rows() == 0) return;
    if (data.csv)
      data.csv->read(first, count, X);
    else if (data.samples_slowest)
      read_slowest(*data.array, first, count, X);
    else
      read_fastest(data, first, count, X);
    if (data.length != 1) X *= data.length;
    if (data.rest.size() > 0) X.colwise() += data.rest.reshaped();
  }

 private:
  void read_slowest(NumberArray& array, int first, int count, Eigen::Ref<MatrixXd> X) {
    if (X.outerStride() == X.rows()) return array.read_rows(first, count, X.data());
    room_.resize(X.size());
    array.read_rows(first, count, room_.data());
    X = Eigen::Map<const MatrixXd>(room_.data(), X.rows(), X.cols());
  }

  void read_fastest(PartData& data, int first, int count, Eigen::Ref<MatrixXd> X) {
    for (int done = 0; done < count;) {
      const int sample = first + done;
      if (sample < data.slab_first || sample >= data.slab_first + data.slab.cols())
        load_slab(data, sample, X.rows());
      const int from = sample - data.slab_first;
      const int now = std::min(count - done, static_cast<int>(data.slab.cols()) - from);
      X.middleCols(done, now) = data.slab.middleCols(from, now);
      done += now;
    }
  }

  void load_slab(PartData& data, int first, Index rows) {
    const auto fit = static_cast<int>(
        std::clamp<std::uint64_t>(slab_bytes / (8 * static_cast<std::uint64_t>(rows)), 1, 1U << 30));
    const int count = std::min(fit, samples() - first);
    room_.resize(static_cast<size_t>(rows) * count);
    data.array->read_columns(first, count, room_.data());
    data.slab.resize(rows, count);
    data.slab_first = first;
    // the file has row after row: those of a coordinate of all nodes, or the three of node after node
    const bool by_coordinates = data.array->stored().size() == 3;
    const Index n = rows / 3;
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const RowMajor> values(room_.data(), rows, count);
    if (!by_coordinates)
      data.slab = values;
    else
      for (Index j = 0; j < count; ++j)
        for (Index i = 0; i < n; ++i)
          for (Index c = 0; c < 3; ++c) data.slab(3 * i + c, j) = values(c * n + i, j);
    room_.clear();
    room_.shrink_to_fit();
  }

  std::vector<PartData> data_;
  std::vector<double> room_;
};

std::string list(const std::vector<std::string>& names) {
  constexpr size_t shown = 20;
  if (names.empty()) return "none";
  std::vector<std::string> first;
  for (size_t i = 0; i < std::min(shown, names.size()); ++i) first.push_back(printable(names[i]));
  std::string text = fmt::format("'{}'", fmt::join(first, "', '"));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

class Opener {
 public:
  Opener(const TrajectorySpec& spec, const std::vector<std::string>& bodies,
         const std::map<std::string, Matrix3Xd>& rest,
         const std::map<std::string, std::vector<std::int64_t>>& rest_ids, Diagnostics& diagnostics)
      : spec_(spec), bodies_(bodies), rest_(rest), rest_ids_(rest_ids), diagnostics_(diagnostics) {}

  std::unique_ptr<SnapshotSource> open();

 private:
  struct Found {
    std::shared_ptr<ArrayFile> file;
    std::string name;
  };
  [[noreturn]] void refuse(const std::string& message) const {
    const std::string place = to_string(spec_.where);
    throw InputError(place.empty() ? message : place + ": " + message);
  }
  std::filesystem::path resolve(const std::string& name) const;
  bool is_file(const std::string& name) const {
    std::error_code ec;
    return !name.empty() && std::filesystem::is_regular_file(resolve(name), ec);
  }
  std::shared_ptr<ArrayFile> array_file(const std::filesystem::path& path);
  static std::optional<Found> find(const std::shared_ptr<ArrayFile>& file, std::vector<std::string> names);
  void open_own_file(const std::string& body, const std::filesystem::path& path, PartData& data);
  void open_from_main(const std::string& body, PartData& data);
  std::vector<double> numbers_of(const std::string& file_or_array, const char* what);
  void find_times();
  void find_ids(const std::string& body, const PartData& data, std::vector<std::int64_t>& ids);
  void fit(const std::string& body, PartData& data, SnapshotSource::Part& part);
  void add_rest(const std::string& body, PartData& data, const SnapshotSource::Part& part);
  std::string run_name() const;

  const TrajectorySpec& spec_;
  const std::vector<std::string>& bodies_;
  const std::map<std::string, Matrix3Xd>& rest_;
  const std::map<std::string, std::vector<std::int64_t>>& rest_ids_;
  Diagnostics& diagnostics_;

  std::map<std::string, std::shared_ptr<ArrayFile>> files_;
  std::shared_ptr<ArrayFile> main_;  // of spec.file, where it is no CSV
  std::vector<PartData> data_;
  std::vector<double> times_;
  std::string times_from_;  // for messages
  bool result_ = false;
};

std::filesystem::path Opener::resolve(const std::string& name) const {
  std::error_code ec;
  const std::filesystem::path path(name);
  // beside the study, then beside the file with the other arrays
  if (path.is_relative())
    for (const auto& beside : {std::filesystem::path(spec_.where.file), spec_.file})
      if (!beside.empty() && std::filesystem::exists(beside.parent_path() / path, ec))
        return beside.parent_path() / path;
  return path;
}

std::shared_ptr<ArrayFile> Opener::array_file(const std::filesystem::path& path) {
  auto& file = files_[path.string()];
  if (!file) file = open_array_file(path);
  return file;
}

std::optional<Opener::Found> Opener::find(const std::shared_ptr<ArrayFile>& file,
                                          std::vector<std::string> names) {
  // inside MATLAB's structs the separator is a point
  const size_t count = names.size();
  for (size_t i = 0; i < count; ++i) {
    std::string dotted = names[i];
    std::replace(dotted.begin(), dotted.end(), '/', '.');
    if (dotted != names[i]) names.push_back(dotted);
  }
  for (std::string& name : names) {
    // as HDF5 writes paths
    if (name.starts_with("/")) name.erase(0, 1);
    if (file->has(name)) return Found{file, name};
  }
  return std::nullopt;
}

std::string Opener::run_name() const {
  if (!spec_.name.empty()) return spec_.name;
  if (!spec_.file.empty()) return spec_.file.filename().string();
  return spec_.bodies.empty() ? "trajectories"
                              : std::filesystem::path(spec_.bodies.begin()->second).filename().string();
}

void Opener::open_own_file(const std::string& body, const std::filesystem::path& path, PartData& data) {
  if (!is_array_file(path)) {
    data.csv = std::make_unique<CsvTrajectory>(path, diagnostics_);
    return;
  }
  data.file = array_file(path);
  auto found = find(data.file, {body, body + "/positions", "nodes/" + body + "/positions", "positions"});
  if (!found && data.file->names().size() == 1) found = Found{data.file, data.file->names().front()};
  if (!found)
    refuse(fmt::format("{}: which array is that of body '{}'? Expected '{}' or 'positions', found {}",
                       path.string(), body, body, list(data.file->names())));
  data.array = found->file->open(found->name);
}

void Opener::open_from_main(const std::string& body, PartData& data) {
  const auto given = spec_.bodies.find(body);
  auto found = given != spec_.bodies.end()
                   ? find(main_, {given->second})
                   : find(main_, {body, body + "/positions", "nodes/" + body + "/positions"});
  if (!found && given != spec_.bodies.end() && is_file(given->second))
    return open_own_file(body, resolve(given->second), data);
  if (!found && given == spec_.bodies.end() && bodies_.size() == 1 && main_->names().size() == 1)
    found = Found{main_, main_->names().front()};
  if (!found) {
    const std::string wanted = given != spec_.bodies.end() ? given->second : body;
    if (result_)
      refuse(fmt::format(
          "{}: the result has no nodes of body '{}' (it has those of {}); simulate with nodes = true "
          "in [simulate]",
          main_->file(), body, list(main_->names())));
    refuse(fmt::format("{}: there is no array '{}' for body '{}'{}; there are {}", main_->file(), wanted,
                       body, did_you_mean(wanted, main_->names()), list(main_->names())));
  }
  data.file = main_;
  data.array = main_->open(found->name);
}

// An array of the main file, or a file of its own.
std::vector<double> Opener::numbers_of(const std::string& name, const char* what) {
  if (main_)
    if (const auto found = find(main_, {name})) return main_->open(found->name)->read_all();
  if (is_file(name)) {
    const std::filesystem::path path = resolve(name);
    if (!is_array_file(path)) return read_numbers(path);
    const auto file = array_file(path);
    auto found = find(file, {what, "time", "t", "ids"});
    if (file->names().size() == 1) found = Found{file, file->names().front()};
    if (!found)
      refuse(fmt::format("{}: which array holds the {}? There are {}", path.string(), what,
                         list(file->names())));
    return file->open(found->name)->read_all();
  }
  refuse(fmt::format("'{}', which is to hold the {}, is neither a file{}", name, what,
                     main_ ? fmt::format(" nor an array of {}{}; there are {}", main_->file(),
                                         did_you_mean(name, main_->names()), list(main_->names()))
                           : std::string(" nor an array")));
}

void Opener::find_times() {
  // CSV files have their own
  for (const PartData& data : data_) {
    if (!data.csv) continue;
    const std::vector<double>& times = data.csv->times();
    if (times_from_.empty()) {
      times_ = times;
      times_from_ = "the first CSV file";
    }
    const double span = times.empty() ? 0 : std::abs(times.back() - times.front());
    bool same = times.size() == times_.size();
    for (size_t i = 0; same && i < times.size(); ++i) same = std::abs(times[i] - times_[i]) <= 1e-9 * span;
    if (!same)
      refuse(fmt::format("{}: the CSV files of the bodies have different times ({} and {} samples)",
                         run_name(), times_.size(), times.size()));
  }
  if (!times_from_.empty()) {
    if (!spec_.time.empty())
      diagnostics_.warn("trajectories.time-unused." + run_name(),
                        fmt::format("{}: the times are those of the CSV files; time = '{}' is not used",
                                    run_name(), spec_.time),
                        spec_.where);
    return;
  }
  if (!spec_.time.empty()) {
    times_ = numbers_of(spec_.time, "time");
    times_from_ = spec_.time;
    return;
  }
  std::vector<std::shared_ptr<ArrayFile>> files;
  if (main_) files.push_back(main_);
  for (const PartData& data : data_) files.push_back(data.file);
  for (const auto& file : files) {
    const auto found = find(file, {"time", "t"});
    if (!found) continue;
    times_ = file->open(found->name)->read_all();
    times_from_ = found->name;
    return;
  }
  refuse(fmt::format(
      "{}: there is no array 'time' or 't'; give the times of the samples with time = \"NAME\", an array "
      "or a file (there are {})",
      run_name(), list(files.empty() ? std::vector<std::string>{} : files.front()->names())));
}

void Opener::find_ids(const std::string& body, const PartData& data, std::vector<std::int64_t>& ids) {
  std::vector<double> values;
  const auto given = spec_.nodes.find(body);
  std::string from;
  if (given != spec_.nodes.end()) {
    values = numbers_of(given->second, "node_ids");
    from = given->second;
  } else if (data.csv) {
    ids = data.csv->node_ids();
    return;
  } else {
    std::vector<std::string> names = {body + "/node_ids", "nodes/" + body + "/ids"};
    if (data.file != main_) names.emplace_back("node_ids");
    const auto found = find(data.file, names);
    if (!found) return;
    values = data.file->open(found->name)->read_all();
    from = fmt::format("{}: '{}'", data.file->file(), found->name);
  }
  if (values.empty()) refuse(fmt::format("{}: holds no node ids for body '{}'", from, body));
  for (const double value : values) {
    // beyond 2^53 doubles are not whole numbers any more
    if (!(std::abs(value) < 0x1p53) || value != std::floor(value))
      refuse(fmt::format("{}: expected node ids of body '{}', found {}", from, body, value));
    ids.push_back(static_cast<std::int64_t>(value));
  }
}

// Decides which index of an array is what.
void Opener::fit(const std::string& body, PartData& data, SnapshotSource::Part& part) {
  const std::uint64_t k = times_.size();
  if (data.csv) {
    part.nodes = data.csv->nodes();
    if (!part.node_ids.empty() && static_cast<int>(part.node_ids.size()) != part.nodes)
      refuse(fmt::format("{}: body '{}' has {} nodes in its CSV file, but {} node ids are given", run_name(),
                         body, part.nodes, part.node_ids.size()));
    return;
  }
  NumberArray& array = *data.array;
  const NumberArray::Shape shape = array.shape();
  // ids count the nodes of the data, which may be more than those of the mesh
  std::optional<std::uint64_t> n;
  std::string n_from;
  if (!part.node_ids.empty()) {
    n = part.node_ids.size();
    n_from = "node ids";
  } else if (const auto it = rest_.find(body); it != rest_.end()) {
    n = static_cast<std::uint64_t>(it->second.cols());
    n_from = "nodes in the mesh";
  }
  const auto samples_fit = [&](std::uint64_t size) { return result_ ? size >= k : size == k; };
  const auto nodes_fit = [&](std::uint64_t size) {
    return size > 0 && size < (1U << 29) && (!n || size == *n);
  };
  bool first = false, last = false;  // samples are the first index, or the last
  std::uint64_t nodes_first = 0, nodes_last = 0;
  if (shape.size() == 3) {
    first = samples_fit(shape[0]) && shape[2] == 3 && nodes_fit(nodes_first = shape[1]);
    last = shape[0] == 3 && samples_fit(shape[2]) && nodes_fit(nodes_last = shape[1]);
  } else if (shape.size() == 2) {
    first = samples_fit(shape[0]) && shape[1] % 3 == 0 && nodes_fit(nodes_first = shape[1] / 3);
    last = samples_fit(shape[1]) && shape[0] % 3 == 0 && nodes_fit(nodes_last = shape[0] / 3);
  }
  const std::string known =
      fmt::format("there are {} times{}", k, n ? fmt::format(" and {} {}", *n, n_from) : "");
  if (first && last && !result_)
    refuse(fmt::format("{}: body '{}': the shape {} may be read with samples first or last ({}); give it {}",
                       array.where(), body, to_string(shape), known,
                       shape.size() == 2 ? "as samples by nodes by 3" : "as samples by 3 nodes"));
  if (!first && !last)
    refuse(fmt::format(
        "{}: body '{}': the shape is {}, expected samples by nodes by 3, ({}, {}, 3), or ({}, {}); {}",
        array.where(), body, to_string(shape), k, n ? std::to_string(*n) : "nodes", k,
        n ? std::to_string(3 * *n) : "3 nodes", known));
  if (!first)
    diagnostics_.warn(
        "trajectories.transposed." + run_name(),
        fmt::format("{}: the shape {} was taken as {} by samples, as nothing else fits", array.where(),
                    to_string(shape), shape.size() == 3 ? "3 by nodes" : "3 nodes"),
        spec_.where);
  part.nodes = static_cast<int>(first ? nodes_first : nodes_last);
  data.samples_slowest = first != array.by_columns();
  if (array.single_precision())
    diagnostics_.warn(
        "trajectories.single-precision." + run_name(),
        fmt::format("{}: the data are in single precision, about seven digits; small singular values are "
                    "rounding. Write double precision",
                    array.where()),
        spec_.where);
}

void Opener::add_rest(const std::string& body, PartData& data, const SnapshotSource::Part& part) {
  const auto it = rest_.find(body);
  if (it == rest_.end())
    refuse(fmt::format("{}: displacements of body '{}' need its mesh", run_name(), body));
  const auto ids = rest_ids_.find(body);
  if (part.node_ids.empty() || ids == rest_ids_.end() || ids->second == part.node_ids) {
    if (it->second.cols() != part.nodes)
      refuse(fmt::format("{}: body '{}': there are displacements of {} nodes, but the mesh has {}",
                         run_name(), body, part.nodes, it->second.cols()));
    data.rest = it->second;
    return;
  }
  std::map<std::int64_t, Index> column;
  for (size_t i = 0; i < ids->second.size(); ++i) column[ids->second[i]] = static_cast<Index>(i);
  data.rest.resize(3, part.nodes);
  for (int i = 0; i < part.nodes; ++i) {
    const auto found = column.find(part.node_ids[i]);
    if (found == column.end())
      refuse(fmt::format("{}: body '{}': there are displacements of node {}, which the mesh does not have",
                         run_name(), body, part.node_ids[i]));
    data.rest.col(i) = it->second.col(found->second);
  }
}

std::unique_ptr<SnapshotSource> Opener::open() {
  for (const auto* names : {&spec_.bodies, &spec_.nodes})
    for (const auto& [body, name] : *names)
      if (std::find(bodies_.begin(), bodies_.end(), body) == bodies_.end())
        refuse(fmt::format("{}: there is no body '{}'{}; there are {}", run_name(), body,
                           did_you_mean(body, bodies_), list(bodies_)));
  bool csv = false;
  if (!spec_.file.empty()) {
    csv = !is_array_file(spec_.file);
    if (csv && bodies_.size() != 1)
      refuse(fmt::format(
          "{}: is no HDF5, .npy, .npz or .mat file, and a CSV file holds one body; give one for each of "
          "{}",
          spec_.file.string(), list(bodies_)));
    if (!csv) main_ = array_file(spec_.file);
    result_ = !csv && is_result_file(spec_.file);
  }
  if (result_ && spec_.displacements)
    refuse(fmt::format("{}: is a result of Lissom, which holds positions; take 'displacements' out",
                       spec_.file.string()));

  for (const std::string& body : bodies_) {
    PartData data;
    const auto given = spec_.bodies.find(body);
    if (csv)
      data.csv = std::make_unique<CsvTrajectory>(spec_.file, diagnostics_);
    else if (main_)
      open_from_main(body, data);
    else if (given == spec_.bodies.end())
      refuse(fmt::format("{}: no file is given, neither for all bodies nor for body '{}'", run_name(), body));
    else
      open_own_file(body, resolve(given->second), data);
    data.length = result_ && data.file == main_ ? 1 : spec_.units.length;
    data_.push_back(std::move(data));
  }

  find_times();
  if (times_.empty()) refuse(fmt::format("{}: there are no samples ({} is empty)", run_name(), times_from_));
  if (times_.size() > (1U << 30))
    refuse(fmt::format("{}: there are {} times, which is too many", run_name(), times_.size()));
  // datasets of a run that did not finish may be ahead of each other
  if (result_)
    for (const PartData& data : data_)
      if (data.file == main_ && !data.array->stored().empty())
        times_.resize(std::min<std::uint64_t>(times_.size(), data.array->stored()[0]));

  std::vector<SnapshotSource::Part> parts;
  for (size_t b = 0; b < bodies_.size(); ++b) {
    SnapshotSource::Part part;
    part.name = bodies_[b];
    find_ids(part.name, data_[b], part.node_ids);
    fit(part.name, data_[b], part);
    if (spec_.displacements) add_rest(part.name, data_[b], part);
    parts.push_back(std::move(part));
  }
  Eigen::VectorXd times = Eigen::Map<const Eigen::VectorXd>(times_.data(), static_cast<Index>(times_.size()));
  if (!result_) times *= spec_.units.time;
  return std::make_unique<FileSnapshots>(run_name(), std::move(parts), std::move(times), std::move(data_));
}

}  // namespace

std::unique_ptr<SnapshotSource> open_snapshots(
    const TrajectorySpec& spec, const std::vector<std::string>& body_names,
    const std::map<std::string, Matrix3Xd>& rest, Diagnostics& diagnostics,
    const std::map<std::string, std::vector<std::int64_t>>& rest_ids) {
  return Opener(spec, body_names, rest, rest_ids, diagnostics).open();
}

}  // namespace lissom
