// Datasets of numbers of an HDF5 file, MATLAB's version 7.3 among them.
#include <algorithm>
#include <map>
#include <set>

#include "lissom/core/hdf5.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/number_array.hpp"

namespace lissom {

namespace {

using hdf5::Group;
using hdf5::TypeClass;

constexpr int greatest_depth = 32;

class Hdf5Array final : public NumberArray {
 public:
  Hdf5Array(Group root, std::string path) : root_(std::move(root)), path_(std::move(path)) {
    const hdf5::DatasetInfo info = root_.info(path_);
    where_ = root_.where(path_);
    stored_ = info.shape;
    single_precision_ = info.type == TypeClass::Float && info.value_bytes <= 4;
    // MATLAB writes its arrays by columns, so that HDF5 sees them transposed
    by_columns_ = root_.has_attribute("MATLAB_class", path_);
  }
  void read_rows(std::uint64_t first, std::uint64_t count, double* out) override {
    Shape start(stored_.size(), 0), extent = stored_;
    if (!stored_.empty()) start.front() = first, extent.front() = count;
    read(rows_, 0, start, extent, out);
  }
  void read_columns(std::uint64_t first, std::uint64_t count, double* out) override {
    Shape start(stored_.size(), 0), extent = stored_;
    start.back() = first, extent.back() = count;
    read(columns_, stored_.size() - 1, start, extent, out);
  }

 private:
  void read(hdf5::SlicedDataset& slices, size_t dimension, const Shape& start, const Shape& extent,
            double* out) {
    if (!slices.is_open()) {
      // one at a time: HDF5 keeps the memory of the first
      rows_ = {};
      columns_ = {};
      slices = root_.open_sliced(path_, dimension);
    }
    std::uint64_t count = 1;
    for (const std::uint64_t n : extent) count *= n;
    slices.read(start, extent, {out, count});
  }
  Group root_;
  std::string path_;
  hdf5::SlicedDataset rows_, columns_;  // opened when they are asked for first
};

class Hdf5Arrays final : public ArrayFile {
 public:
  explicit Hdf5Arrays(const std::filesystem::path& path) : hdf5_(hdf5::File::open(path)) {
    file_ = path.string();
    visit(hdf5_.root(), "", "", 0);
    std::sort(names_.begin(), names_.end());
  }
  std::unique_ptr<NumberArray> open(const std::string& name) override {
    const auto it = paths_.find(name);
    if (it == paths_.end())
      fail_input("{}: there is no array '{}'{}", file_, name, did_you_mean(name, names_));
    return std::make_unique<Hdf5Array>(hdf5_.root(), it->second);
  }

 private:
  void visit(const Group& group, const std::string& path, const std::string& name, int depth) {
    // links may lead back up
    if (!visited_.insert(group.address()).second) return;
    if (depth > greatest_depth)
      fail_input("{}: groups lie more than {} deep in each other", group.where(), greatest_depth);
    // the fields of a struct read s.name as in MATLAB
    const char* separator = group.has_attribute("MATLAB_class") ? "." : "/";
    for (const std::string& link : group.names()) {
      if (link == "#refs#" || link == "#subsystem#") continue;  // where MATLAB keeps cells
      const std::string full = path.empty() ? link : path + "/" + link,
                        shown = name.empty() ? link : name + separator + link;
      if (group.has_group(link))
        visit(group.group(link), full, shown, depth + 1);
      else if (group.has_dataset(link) && holds_numbers(group, link)) {
        names_.push_back(shown);
        paths_[shown] = full;
      }
    }
  }
  static bool holds_numbers(const Group& group, const std::string& link) {
    const TypeClass type = group.info(link).type;
    if (type != TypeClass::Integer && type != TypeClass::Float) return false;
    if (!group.has_attribute("MATLAB_class", link)) return true;
    return group.string_attribute("MATLAB_class", link) != "char" &&
           !group.has_attribute("MATLAB_empty", link);
  }

  hdf5::File hdf5_;
  std::map<std::string, std::string> paths_;  // in the file, by the name shown
  std::set<std::uint64_t> visited_;
};

}  // namespace

std::unique_ptr<ArrayFile> open_hdf5_arrays(const std::filesystem::path& path) {
  return std::make_unique<Hdf5Arrays>(path);
}

}  // namespace lissom
