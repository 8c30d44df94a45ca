#include "lissom/core/mat_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "lissom/core/file_kind.hpp"
#include "lissom/core/hdf5.hpp"
#include "lissom/core/memory_check.hpp"
#include "lissom/core/text.hpp"

namespace lissom {

namespace {

// The frame of the file is walked before matio sees it.

// Reads integers of the file's byte order.
class Frame {
 public:
  Frame(std::string_view bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  std::uint32_t u32(std::uint64_t at) const {
    if (at + 4 > bytes_.size()) truncated(at);
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + at, 4);
    return swap ? __builtin_bswap32(value) : value;
  }
  [[noreturn]] void truncated(std::uint64_t at) const {
    fail_input("{}: ends within the variable at byte {}; the file is truncated or damaged", file_, at);
  }
  long count_variables_5() const;
  long count_variables_4();

  bool swap = false;

 private:
  void check_stream(std::uint64_t at, std::uint64_t size) const;

  std::string_view bytes_;
  std::string file_;
};

// Inflates a variable to nowhere: zlib compares its checksum.
void Frame::check_stream(std::uint64_t at, std::uint64_t size) const {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) fail("{}: zlib cannot be started", file_);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, &inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes_.data() + at));
  // the tag's size is a 32-bit number, as is zlib's
  stream.avail_in = static_cast<uInt>(size);
  std::vector<char> scratch(1 << 16);
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(scratch.data());
    stream.avail_out = static_cast<uInt>(scratch.size());
    status = inflate(&stream, Z_NO_FLUSH);
  }
  if (status != Z_STREAM_END)
    fail_input("{}: the compressed variable at byte {} is damaged ({})", file_, at,
               stream.msg ? stream.msg : "its end is missing");
}

// Version 5: a head of 128 bytes, then elements of a type, a size and so many bytes.
long Frame::count_variables_5() const {
  long count = 0;
  for (std::uint64_t at = 128; at < bytes_.size(); ++count) {
    const std::uint32_t type = u32(at), size = u32(at + 4);
    if (type != MAT_T_MATRIX && type != MAT_T_COMPRESSED)
      fail_input("{}: at byte {}, expected a variable, found an element of type {}; the file is damaged",
                 file_, at, type);
    if (at + 8 + size > bytes_.size()) truncated(at);
    if (type == MAT_T_COMPRESSED) check_stream(at + 8, size);
    at += 8 + size;
  }
  return count;
}

// Version 4: for each variable five integers (type, rows, columns, complex, length of name), name, values.
long Frame::count_variables_4() {
  // the type is below 5000 in the right byte order
  if (!bytes_.empty()) swap = u32(0) >= 5000;
  long count = 0;
  for (std::uint64_t at = 0; at < bytes_.size(); ++count) {
    const std::uint32_t type = u32(at), precision = type / 10 % 10;
    constexpr std::uint64_t sizes[] = {8, 4, 4, 2, 2, 1};
    if (type >= 5000 || precision > 5)
      fail_input("{}: at byte {}, expected a variable, found an unknown type {}; the file is damaged", file_,
                 at, type);
    const std::uint64_t parts = u32(at + 12) != 0 ? 2 : 1, name = u32(at + 16);
    // the product of two 32-bit numbers fits, but not when a size is multiplied with it
    const std::uint64_t values = std::uint64_t{u32(at + 4)} * u32(at + 8);
    if (values > bytes_.size() || at + 20 + name + values * sizes[precision] * parts > bytes_.size())
      truncated(at);
    at += 20 + name + values * sizes[precision] * parts;
  }
  return count;
}

}  // namespace

long count_mat_variables(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  if (bytes.empty()) fail_input("{}: is empty", path.string());
  Frame frame(bytes, path.string());
  // version 5 has a head of 128 bytes, which ends with the letters MI as a 16-bit number in the writer's byte
  // order; version 4 has none, and begins with a number that has a zero byte
  const std::string_view order = bytes.size() >= 128 ? std::string_view(bytes).substr(126, 2) : "";
  const bool version_5 = (order == "IM" || order == "MI") && bytes.find('\0') >= 4;
  if (!version_5) {
    if (bytes.find('\0') >= 4)
      fail_input("{}: is not a MATLAB .mat file, or only its beginning", path.string());
    return frame.count_variables_4();
  }
  frame.swap = (order == "IM") != (std::endian::native == std::endian::little);
  return frame.count_variables_5();
}

MatHandle open_mat_file(const std::filesystem::path& path) {
  check_is_file(path);
  // version 7.3, which matio would open without our checks of links to other files
  if (hdf5::is_hdf5(path))
    fail_input("{}: is an HDF5 file, expected a .mat file of version 4 to 7", path.string());
  MatHandle file(Mat_Open(path.c_str(), MAT_ACC_RDONLY), &Mat_Close);
  if (!file) fail_input("{}: is not a MATLAB .mat file", path.string());
  return file;
}

bool mat_to_doubles(enum matio_types type, const void* data, size_t count, double* out) {
  const auto copy = [&](auto zero) {
    using T = decltype(zero);
    const T* values = static_cast<const T*>(data);
    std::copy(values, values + count, out);
    return true;
  };
  switch (type) {
    case MAT_T_DOUBLE:
      return copy(double{});
    case MAT_T_SINGLE:
      return copy(float{});
    case MAT_T_INT8:
      return copy(std::int8_t{});
    case MAT_T_UINT8:
      return copy(std::uint8_t{});
    case MAT_T_INT16:
      return copy(std::int16_t{});
    case MAT_T_UINT16:
      return copy(std::uint16_t{});
    case MAT_T_INT32:
      return copy(std::int32_t{});
    case MAT_T_UINT32:
      return copy(std::uint32_t{});
    case MAT_T_INT64:
      return copy(std::int64_t{});
    case MAT_T_UINT64:
      return copy(std::uint64_t{});
    default:
      return false;
  }
}

bool is_full_numeric(const matvar_t& variable) {
  return variable.class_type >= MAT_C_DOUBLE && variable.class_type <= MAT_C_UINT64;
}

bool is_numeric(const matvar_t& variable) {
  return variable.class_type == MAT_C_SPARSE || is_full_numeric(variable);
}

void check_mat_size(const matvar_t& variable, std::uint64_t bytes, const std::string& where) {
  if (!variable.dims || variable.rank < 1) return;
  // zlib packs at most 1032:1; in a sparse matrix this bounds the columns, each of which has a start
  const std::uint64_t most = 1100 * bytes + 1024;
  std::uint64_t values = 1;
  bool overflow = false;
  std::string shape;
  for (int i = 0; i < variable.rank; ++i) {
    overflow = overflow || __builtin_mul_overflow(values, std::uint64_t{variable.dims[i]}, &values);
    shape += fmt::format("{}{}", i ? " by " : "", variable.dims[i]);
  }
  const std::uint64_t columns = variable.rank > 1 ? variable.dims[1] : 1;
  if ((is_full_numeric(variable) && (overflow || values > most)) ||
      (variable.class_type == MAT_C_SPARSE && columns > most))
    fail_input("{}: claims to be {}, which a file of {} bytes cannot hold; it is damaged", where, shape,
               bytes);
  if (is_full_numeric(variable)) check_memory(where, static_cast<double>(values) * sizeof(double));
}

}  // namespace lissom
