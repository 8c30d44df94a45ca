#include <algorithm>

#include "lissom/core/hdf5.hpp"
#include "lissom/core/mat_file.hpp"
#include "lissom/fe/matrix_reader.hpp"
#include "lissom/fe/sparse_arrays.hpp"

namespace lissom {

namespace {

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
  check_mat_size(variable, bytes_, where(name));
}

void MatReader::take_sparse(const matvar_t& variable, ImportedMatrix& matrix) {
  const auto* sparse = static_cast<const mat_sparse_t*>(variable.data);
  const std::string place = where(matrix.name);
  if (!sparse || !sparse->jc || (sparse->nir > 0 && !sparse->ir) || (sparse->ndata > 0 && !sparse->data))
    fail_input("{}: the sparse matrix is incomplete; the file is damaged", place);
  std::vector<double> data(sparse->ndata);
  if (!mat_to_doubles(variable.data_type, sparse->data, sparse->ndata, data.data()))
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
  std::vector<double> values(count);
  if (!mat_to_doubles(variable.data_type, variable.data, count, values.data()))
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
  // held against what matio returns
  const long expected = count_mat_variables(path);
  const MatHandle file = open_mat_file(path);

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
