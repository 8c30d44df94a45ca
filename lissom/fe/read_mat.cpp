#include <matio.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>

#include "lissom/core/hdf5.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_reader.hpp"
#include "lissom/fe/sparse_arrays.hpp"

namespace lissom {

namespace {

using MatFile = std::unique_ptr<mat_t, int (*)(mat_t*)>;
using MatVariable = std::unique_ptr<matvar_t, void (*)(matvar_t*)>;

// ----------------------------------------------------------------------------------------- before matio
//
// matio stops without a word where a file ends too early and takes what a damaged stream yields, so the frame
// of the file is walked first: every variable must lie inside the file, and every compressed one must pass
// zlib's checksum. The number of variables found here is held against what matio returns.

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

// Number of variables in a file of version 4 or 5.
long count_variables(const std::filesystem::path& path) {
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

// ------------------------------------------------------------------------------------- matio's variables

// Copies numbers of the type that a variable has to doubles; false when it is not a numeric type.
bool to_doubles(enum matio_types type, const void* data, size_t count, std::vector<double>& out) {
  const auto copy = [&](auto zero) {
    using T = decltype(zero);
    const T* values = static_cast<const T*>(data);
    out.assign(values, values + count);
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

class MatReader {
 public:
  MatReader(std::string file, std::uint64_t bytes, Diagnostics& diagnostics)
      : file_(std::move(file)), bytes_(bytes), diagnostics_(diagnostics) {}

  // Takes a variable whose data has been read: a matrix, or a struct with matrices in it.
  void take(const matvar_t& variable, const std::string& name, bool in_struct);
  // Refuses what is complex and what claims more numbers than the file can hold, before its data is read.
  void check(const matvar_t& variable, const std::string& name) const;

  std::vector<ImportedMatrix> matrices;

 private:
  std::string where(const std::string& name) const { return fmt::format("{}: '{}'", file_, name); }
  void skip(std::string_view kind, const std::string& name, std::string_view why) {
    diagnostics_.warn(fmt::format("mat.{}", kind), fmt::format("'{}' {} and was left out", name, why),
                      {file_, 0});
  }
  void take_sparse(const matvar_t& variable, ImportedMatrix& matrix);
  void take_full(const matvar_t& variable, ImportedMatrix& matrix);

  std::string file_;
  std::uint64_t bytes_;
  Diagnostics& diagnostics_;
};

void MatReader::check(const matvar_t& variable, const std::string& name) const {
  if (variable.rank != 2 || !variable.dims) return;
  const std::uint64_t rows = variable.dims[0], cols = variable.dims[1];
  if (is_numeric(variable) && variable.isComplex && rows == cols)
    fail_input("{}: the matrix is complex; Lissom takes real matrices only, so write real({})", where(name),
               name);
  // zlib packs at most 1032:1; in a sparse matrix this bounds the columns, each of which has a start
  const std::uint64_t most = 1100 * bytes_ + 1024;
  std::uint64_t values = 0;
  const bool overflow = __builtin_mul_overflow(rows, cols, &values);
  if ((is_full_numeric(variable) && (overflow || values > most)) ||
      (variable.class_type == MAT_C_SPARSE && cols > most))
    fail_input("{}: claims to be {} by {}, which a file of {} bytes cannot hold; it is damaged", where(name),
               rows, cols, bytes_);
}

void MatReader::take_sparse(const matvar_t& variable, ImportedMatrix& matrix) {
  const auto* sparse = static_cast<const mat_sparse_t*>(variable.data);
  const std::string place = where(matrix.name);
  if (!sparse || !sparse->jc || (sparse->nir > 0 && !sparse->ir) || (sparse->ndata > 0 && !sparse->data))
    fail_input("{}: the sparse matrix is incomplete; the file is damaged", place);
  std::vector<double> data;
  if (!to_doubles(variable.data_type, sparse->data, sparse->ndata, data))
    fail_input("{}: the values have an unknown type; the file is damaged", place);
  const std::vector<std::int64_t> rows(sparse->ir, sparse->ir + sparse->nir);
  const std::vector<std::int64_t> starts(sparse->jc, sparse->jc + sparse->njc);
  append_compressed(matrix, starts, rows, data, true, place);
}

void MatReader::take_full(const matvar_t& variable, ImportedMatrix& matrix) {
  const size_t count = variable.dims[0] * variable.dims[1];
  const std::string place = where(matrix.name);
  if (count > 0 && (!variable.data || variable.nbytes / count < Mat_SizeOf(variable.data_type)))
    fail_input("{}: has fewer than {} by {} values; the file is damaged", place, variable.dims[0],
               variable.dims[1]);
  std::vector<double> values;
  if (!to_doubles(variable.data_type, variable.data, count, values))
    fail_input("{}: the values have an unknown type; the file is damaged", place);
  append_full(matrix, values, true, place);
}

void MatReader::take(const matvar_t& variable, const std::string& name, bool in_struct) {
  // one level of structs: "s.K"
  if (variable.class_type == MAT_C_STRUCT) {
    // matio's interface has no const
    auto* structure = const_cast<matvar_t*>(&variable);
    if (in_struct) return skip("deep-struct", name, "is a struct inside a struct");
    if (variable.rank != 2 || variable.dims[0] != 1 || variable.dims[1] != 1)
      return skip("struct-array", name, "is an array of structs");
    const unsigned count = Mat_VarGetNumberOfFields(structure);
    char* const* fields = Mat_VarGetStructFieldnames(structure);
    for (unsigned i = 0; i < count; ++i) {
      const matvar_t* field = Mat_VarGetStructFieldByIndex(structure, i, 0);
      if (field && fields && fields[i]) take(*field, fmt::format("{}.{}", name, fields[i]), true);
    }
    return;
  }
  if (!is_numeric(variable))
    return skip("not-numeric", name, "is no matrix of numbers (a cell, text, an object or empty)");
  if (variable.rank != 2 || !variable.dims)
    return skip("not-2d", name, fmt::format("has {} dimensions", variable.rank));
  check(variable, name);
  if (variable.isComplex) return skip("complex", name, "is complex");

  ImportedMatrix matrix;
  matrix.name = name;
  const auto bounded = [](size_t n) { return static_cast<std::int64_t>(std::min<size_t>(n, 1UL << 62)); };
  set_shape(matrix, bounded(variable.dims[0]), bounded(variable.dims[1]), where(name));
  if (variable.class_type == MAT_C_SPARSE)
    take_sparse(variable, matrix);
  else
    take_full(variable, matrix);
  matrices.push_back(std::move(matrix));
}

}  // namespace

std::vector<ImportedMatrix> read_mat_matrices(const std::filesystem::path& path, Diagnostics& diagnostics) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec)) fail_input("{}: no such file", path.string());
  if (std::filesystem::is_directory(path, ec)) fail_input("{}: is a folder, expected a file", path.string());
  // version 7.3 is HDF5, for which our own reader checks more than matio does
  if (hdf5::is_hdf5(path)) return read_hdf5_matrices(path, diagnostics);

  const std::uint64_t bytes = std::filesystem::file_size(path, ec);
  const long expected = count_variables(path);
  const MatFile file(Mat_Open(path.c_str(), MAT_ACC_RDONLY), &Mat_Close);
  if (!file) fail_input("{}: is not a MATLAB .mat file", path.string());

  MatReader reader(path.string(), bytes, diagnostics);
  long found = 0;
  for (;; ++found) {
    const MatVariable variable(Mat_VarReadNextInfo(file.get()), &Mat_VarFree);
    if (!variable) break;
    const std::string name = variable->name ? variable->name : "";
    reader.check(*variable, name);
    // what take() leaves out need not be read, and may be huge
    const bool wanted =
        variable->class_type == MAT_C_STRUCT || (is_numeric(*variable) && variable->rank == 2);
    if (wanted && Mat_VarReadDataAll(file.get(), variable.get()) != 0)
      fail_input("{}: '{}' cannot be read; the file may be truncated or damaged", path.string(), name);
    reader.take(*variable, name, false);
  }
  if (found != expected)
    fail_input("{}: holds {} variables, but only {} can be read; the file may be damaged", path.string(),
               expected, found);
  return std::move(reader.matrices);
}

}  // namespace lissom
