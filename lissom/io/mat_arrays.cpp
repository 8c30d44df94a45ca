// MATLAB's arrays of versions 4 to 7. matio reads a variable as a whole.
#include <algorithm>

#include "lissom/core/hdf5.hpp"
#include "lissom/core/mat_file.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/number_array.hpp"

namespace lissom {

namespace {

class MatArray final : public NumberArray {
 public:
  // `values` is `variable` or a field of it.
  MatArray(MatVariable variable, const matvar_t* values, std::string where)
      : variable_(std::move(variable)), values_(values) {
    where_ = std::move(where);
    if (!values_ || !is_full_numeric(*values_) || !values_->dims)
      fail_input("{}: is no array of numbers (sparse, a cell, text or an object)", where_);
    if (values_->isComplex) fail_input("{}: is complex, expected real numbers", where_);
    by_columns_ = true;
    stored_.assign(values_->dims, values_->dims + values_->rank);
    std::reverse(stored_.begin(), stored_.end());
    single_precision_ = values_->class_type == MAT_C_SINGLE;
    bytes_ = Mat_SizeOf(values_->data_type);
    if (size() > 0 && (!values_->data || bytes_ == 0 || values_->nbytes / size() < bytes_))
      fail_input("{}: has fewer values than its shape {} needs; the file is damaged", where_,
                 to_string(shape()));
  }
  void read_rows(std::uint64_t first, std::uint64_t count, double* out) override {
    std::uint64_t row = 1;
    for (size_t d = 1; d < stored_.size(); ++d) row *= stored_[d];
    copy(first * row, count * row, out);
  }
  void read_columns(std::uint64_t first, std::uint64_t count, double* out) override {
    const std::uint64_t length = stored_.back(), rows = length == 0 ? 0 : size() / length;
    for (std::uint64_t i = 0; i < rows; ++i) copy(i * length + first, count, out + i * count);
  }

 private:
  void copy(std::uint64_t first, std::uint64_t count, double* out) const {
    if (!mat_to_doubles(values_->data_type, static_cast<const char*>(values_->data) + first * bytes_, count,
                        out))
      fail_input("{}: the values have an unknown type; the file is damaged", where_);
  }

  MatVariable variable_;
  const matvar_t* values_;
  std::uint64_t bytes_ = 0;
};

class MatArrays final : public ArrayFile {
 public:
  explicit MatArrays(const std::filesystem::path& path)
      : bytes_(std::filesystem::file_size(path)),
        expected_(count_mat_variables(path)),
        mat_(open_mat_file(path)) {
    file_ = path.string();
    long found = 0;
    for (;; ++found) {
      const MatVariable variable(Mat_VarReadNextInfo(mat_.get()), &Mat_VarFree);
      if (!variable) break;
      list(*variable, variable->name ? variable->name : "", true);
    }
    if (found != expected_)
      fail_input("{}: holds {} variables, but only {} can be read; the file may be damaged", file_, expected_,
                 found);
    std::sort(names_.begin(), names_.end());
  }

  std::unique_ptr<NumberArray> open(const std::string& name) override {
    const std::string where = fmt::format("{}: '{}'", file_, name);
    if (!has(name)) fail_input("{}: there is no array '{}'{}", file_, name, did_you_mean(name, names_));
    // a field of a struct reads s.name
    const size_t dot = name.find('.');
    const std::string top = name.substr(0, dot);
    MatVariable variable(Mat_VarReadInfo(mat_.get(), top.c_str()), &Mat_VarFree);
    if (!variable) fail_input("{}: cannot be read; the file may be damaged", where);
    check_mat_size(*variable, bytes_, where);
    if (Mat_VarReadDataAll(mat_.get(), variable.get()) != 0)
      fail_input("{}: cannot be read; the file may be truncated or damaged", where);
    const matvar_t* values = variable.get();
    if (dot != std::string::npos)
      values = Mat_VarGetStructFieldByName(variable.get(), name.substr(dot + 1).c_str(), 0);
    return std::make_unique<MatArray>(std::move(variable), values, where);
  }

 private:
  void list(const matvar_t& variable, const std::string& name, bool structs) {
    check_mat_size(variable, bytes_, fmt::format("{}: '{}'", file_, printable(name)));
    if (is_full_numeric(variable)) names_.push_back(name);
    if (variable.class_type != MAT_C_STRUCT || !structs || variable.rank != 2 || !variable.dims ||
        variable.dims[0] != 1 || variable.dims[1] != 1)
      return;
    // matio's interface has no const
    auto* structure = const_cast<matvar_t*>(&variable);
    char* const* fields = Mat_VarGetStructFieldnames(structure);
    const unsigned count = Mat_VarGetNumberOfFields(structure);
    for (unsigned i = 0; fields && i < count; ++i) {
      const matvar_t* field = Mat_VarGetStructFieldByIndex(structure, i, 0);
      if (field && fields[i]) list(*field, fmt::format("{}.{}", name, fields[i]), false);
    }
  }

  std::uint64_t bytes_;
  long expected_;
  MatHandle mat_;
};

}  // namespace

std::unique_ptr<ArrayFile> open_mat_arrays(const std::filesystem::path& path) {
  if (hdf5::is_hdf5(path)) return open_hdf5_arrays(path);  // version 7.3
  return std::make_unique<MatArrays>(path);
}

}  // namespace lissom
