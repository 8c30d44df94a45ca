#include <algorithm>
#include <optional>
#include <set>

#include "lissom/core/hdf5.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_reader.hpp"
#include "lissom/fe/sparse_arrays.hpp"

namespace lissom {

namespace {

using hdf5::Group;
using hdf5::TypeClass;

// Groups inside groups; a file that goes deeper is not one with matrices.
constexpr int greatest_depth = 32;

class Walker {
 public:
  Walker(std::string file, Diagnostics& diagnostics) : file_(std::move(file)), diagnostics_(diagnostics) {}

  void visit(const Group& group, const std::string& name, int depth);
  std::vector<ImportedMatrix> take() { return std::move(matrices_); }

 private:
  bool read_sparse(const Group& group, const std::string& name);
  void read_full(const Group& group, const std::string& link, const std::string& name);
  void skip(std::string_view kind, const std::string& name, std::string_view why) {
    diagnostics_.warn(fmt::format("hdf5.{}", kind), fmt::format("'{}' {} and was left out", name, why),
                      {file_, 0});
  }

  std::string file_;
  Diagnostics& diagnostics_;
  std::vector<ImportedMatrix> matrices_;
  std::set<std::uint64_t> visited_;
};

bool has_datasets(const Group& group, std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(), [&](const char* name) { return group.has_dataset(name); });
}

// The values of a sparse matrix, which may be complex.
std::vector<double> read_data(const Group& group) {
  if (group.info("data").type == TypeClass::Compound)
    fail_input("{}: the matrix is complex; Lissom takes real matrices only, so write its real part",
               group.where());
  return group.read_doubles("data");
}

// Shape and format are attributes with some writers and datasets with others.
std::optional<std::vector<std::int64_t>> find_shape(const Group& group) {
  std::vector<std::int64_t> shape;
  for (const char* name : {"shape", "h5sparse_shape"})
    if (shape.empty() && group.has_attribute(name)) shape = group.longs_attribute(name);
  if (shape.empty() && group.has_dataset("shape")) shape = group.read_longs("shape");
  if (shape.empty()) return std::nullopt;
  if (shape.size() != 2)
    fail_input("{}: the shape has {} numbers, expected rows and columns", group.where(), shape.size());
  return shape;
}

std::optional<std::string> sparse_format_of(const Group& group) {
  // "encoding-type" is anndata's name and "csr_matrix" its way to say csr
  for (const char* name : {"format", "h5sparse_format", "encoding-type"})
    if (group.has_attribute(name)) return to_lower(group.string_attribute(name)).substr(0, 3);
  if (group.has_dataset("format")) {
    const auto text = group.read_strings("format");
    if (text.size() == 1) return to_lower(text.front()).substr(0, 3);
  }
  return std::nullopt;
}

// Lissom's own body file keeps triangles and says so.
ImportedMatrix::Triangle find_triangle(const Group& group) {
  if (!group.has_attribute("triangle")) return ImportedMatrix::Triangle::Full;
  const std::string text = to_lower(group.string_attribute("triangle"));
  if (text == "lower") return ImportedMatrix::Triangle::Lower;
  if (text == "upper") return ImportedMatrix::Triangle::Upper;
  if (text == "full") return ImportedMatrix::Triangle::Full;
  fail_input("{}: the attribute 'triangle' is '{}', expected lower, upper or full", group.where(), text);
}

bool Walker::read_sparse(const Group& group, const std::string& name) {
  const std::string where = group.where();
  ImportedMatrix matrix;
  matrix.name = name;

  // MATLAB 7.3: jc are the starts of the columns, ir the rows; the attribute is the number of rows. A matrix
  // of zeros has neither ir nor data.
  if (group.has_attribute("MATLAB_sparse")) {
    const std::int64_t rows = group.long_attribute("MATLAB_sparse");
    const auto jc = group.read_longs("jc");
    if (jc.empty()) fail_input("{}: 'jc' is empty, expected a start for every column", where);
    set_shape(matrix, rows, static_cast<std::int64_t>(jc.size()) - 1, where);
    if (has_datasets(group, {"ir", "data"}))
      append_compressed(matrix, jc, group.read_longs("ir"), read_data(group), true, where);
    else if (jc.back() != 0)
      fail_input("{}: 'jc' counts {} entries, but there are no 'ir' and 'data'", where, jc.back());
    matrices_.push_back(std::move(matrix));
    return true;
  }

  const bool compressed = has_datasets(group, {"data", "indices", "indptr"});
  const bool coordinates = !compressed && has_datasets(group, {"data", "row", "col"});
  if (!compressed && !coordinates) return false;
  matrix.triangle = find_triangle(group);
  auto shape = find_shape(group);
  if (coordinates) {
    if (!shape) fail_input("{}: a matrix of row, col and data needs its shape as an attribute", where);
    set_shape(matrix, (*shape)[0], (*shape)[1], where);
    append_coordinates(matrix, group.read_longs("row"), group.read_longs("col"), read_data(group), where);
    matrices_.push_back(std::move(matrix));
    return true;
  }

  std::optional<std::string> format = sparse_format_of(group);
  if (!format) {
    format = "csc";
    diagnostics_.warn(
        "hdf5.format-assumed",
        fmt::format("'{}' does not say whether it holds compressed columns or rows; columns (csc) "
                    "are assumed, which is the same for a symmetric matrix",
                    name),
        {file_, 0});
  }
  if (*format != "csc" && *format != "csr")
    fail_input("{}: the format '{}' is not known, expected csc or csr", where, *format);
  const auto indptr = group.read_longs("indptr");
  if (indptr.empty()) fail_input("{}: 'indptr' is empty, expected a start for every column or row", where);
  if (!shape) {
    const auto n = static_cast<std::int64_t>(indptr.size()) - 1;
    shape = {n, n};
    diagnostics_.warn("hdf5.shape-assumed",
                      fmt::format("'{}' does not give its shape; {} by {} is assumed", name, n, n),
                      {file_, 0});
  }
  set_shape(matrix, (*shape)[0], (*shape)[1], where);
  append_compressed(matrix, indptr, group.read_longs("indices"), read_data(group), *format == "csc", where);
  matrices_.push_back(std::move(matrix));
  return true;
}

void Walker::read_full(const Group& group, const std::string& link, const std::string& name) {
  // MATLAB writes its arrays by columns, so that HDF5 sees them transposed; its text and cells look like
  // numbers or references
  const bool matlab = group.has_attribute("MATLAB_class", link);
  if (matlab) {
    const std::string kind = group.string_attribute("MATLAB_class", link);
    if (kind == "char" || kind == "cell" || kind == "function_handle")
      return skip("not-numeric." + kind, name, fmt::format("is of MATLAB's class {}", kind));
    if (group.has_attribute("MATLAB_empty", link)) return skip("empty", name, "is empty");
  }
  const hdf5::DatasetInfo info = group.info(link);
  if (info.shape.size() != 2)
    return skip("not-2d", name, fmt::format("has {} dimensions, is no matrix", info.shape.size()));
  if (info.type == TypeClass::Compound) {
    // a complex eigenvector does not harm, a complex K must not go unnoticed
    if (info.shape[0] == info.shape[1])
      fail_input(
          "{}: the matrix is complex or compound; Lissom takes real matrices only, so write its real part",
          group.where(link));
    return skip("compound", name, "is complex or compound");
  }
  if (info.type != TypeClass::Integer && info.type != TypeClass::Float)
    return skip("not-numeric", name, "does not hold numbers");

  ImportedMatrix matrix;
  matrix.name = name;
  const auto first = static_cast<std::int64_t>(info.shape[0]),
             second = static_cast<std::int64_t>(info.shape[1]);
  set_shape(matrix, matlab ? second : first, matlab ? first : second, group.where(link));
  append_full(matrix, group.read_doubles(link), matlab, group.where(link));
  matrices_.push_back(std::move(matrix));
}

void Walker::visit(const Group& group, const std::string& name, int depth) {
  // links may lead back up
  if (!visited_.insert(group.address()).second) return;
  if (depth > greatest_depth)
    fail_input("{}: groups lie more than {} deep in each other", group.where(), greatest_depth);
  if (read_sparse(group, name)) return;
  // the fields of a struct read s.K as in MATLAB, groups read a/K
  const char* separator = group.has_attribute("MATLAB_class") ? "." : "/";
  for (const std::string& link : group.names()) {
    // where MATLAB keeps the contents of cells
    if (link == "#refs#" || link == "#subsystem#") continue;
    const std::string full = name.empty() ? link : name + separator + link;
    if (group.has_group(link))
      visit(group.group(link), full, depth + 1);
    else if (group.has_dataset(link))
      read_full(group, link, full);
    else
      skip("no-object", full, "is neither a group nor a dataset");
  }
}

}  // namespace

std::vector<ImportedMatrix> read_hdf5_matrices(const std::filesystem::path& path, Diagnostics& diagnostics) {
  const hdf5::File file = hdf5::File::open(path);
  Walker walker(path.string(), diagnostics);
  walker.visit(file.root(), "", 0);
  return walker.take();
}

}  // namespace lissom
