#include "lissom/io/number_array.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "lissom/core/error.hpp"
#include "lissom/core/hdf5.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/byte_source.hpp"

namespace lissom {

namespace {

enum class Kind : std::uint8_t { Npy, Npz, Mat, Hdf5, Other };

Kind kind_of(const std::filesystem::path& path) {
  const auto bytes = open_bytes(path);
  char head[6] = {};
  bytes->read(0, std::min<std::uint64_t>(bytes->size(), sizeof head), head);
  const std::string_view start(head, sizeof head);
  if (start == "\x93NUMPY") return Kind::Npy;
  if (start.starts_with("PK\3\4") || start.starts_with("PK\5\6")) return Kind::Npz;
  if (hdf5::is_hdf5(path)) return Kind::Hdf5;
  // a damaged head is still told by the name
  const std::string extension = to_lower(path.extension().string());
  if (extension == ".mat") return Kind::Mat;
  if (extension == ".npy") return Kind::Npy;
  if (extension == ".npz") return Kind::Npz;
  if (extension == ".h5" || extension == ".hdf5") return Kind::Hdf5;
  return Kind::Other;
}

}  // namespace

std::uint64_t NumberArray::size() const {
  std::uint64_t count = 1;
  for (const std::uint64_t n : stored_) count *= n;
  return count;
}

std::vector<double> NumberArray::read_all() {
  std::vector<double> values(size());
  if (!values.empty()) read_rows(0, stored_.empty() ? 1 : stored_[0], values.data());
  return values;
}

std::string to_string(const NumberArray::Shape& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

bool ArrayFile::has(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::unique_ptr<ArrayFile> open_array_file(const std::filesystem::path& path) {
  switch (kind_of(path)) {
    case Kind::Npy:
      return open_npy(path);
    case Kind::Npz:
      return open_npz(path);
    case Kind::Mat:
      return open_mat_arrays(path);
    case Kind::Hdf5:
      return open_hdf5_arrays(path);
    case Kind::Other:
      break;
  }
  fail_input("{}: is not a file of arrays, expected HDF5, .npy, .npz or .mat", path.string());
}

bool is_array_file(const std::filesystem::path& path) {
  return kind_of(path) != Kind::Other;
}

}  // namespace lissom
