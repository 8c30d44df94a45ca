// Arrays of numbers in files of other programs: NumPy .npy and .npz, MATLAB .mat of all versions, HDF5. Rows
// are read when they are asked for, where the format allows it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lissom {

class NumberArray {
 public:
  using Shape = std::vector<std::uint64_t>;
  virtual ~NumberArray() = default;

  // Sizes as the values lie in the file, the last index running fastest.
  const Shape& stored() const { return stored_; }
  // Sizes as the program that wrote it shows them: the reverse where its first index runs fastest.
  Shape shape() const { return by_columns_ ? Shape(stored_.rbegin(), stored_.rend()) : stored_; }
  bool by_columns() const { return by_columns_; }
  bool single_precision() const { return single_precision_; }
  std::uint64_t size() const;
  const std::string& where() const { return where_; }  // "file: 'name'"

  // Values whose first stored index is first .. first + count - 1, in the order of the file. Throws
  // InputError.
  virtual void read_rows(std::uint64_t first, std::uint64_t count, double* out) = 0;
  // The same of the last stored index. Needs one dimension or more.
  virtual void read_columns(std::uint64_t first, std::uint64_t count, double* out) = 0;
  // All of them.
  std::vector<double> read_all();

 protected:
  Shape stored_;
  bool by_columns_ = false, single_precision_ = false;
  std::string where_;
};

// "(100, 20, 3)"
std::string to_string(const NumberArray::Shape& shape);

class ArrayFile {
 public:
  virtual ~ArrayFile() = default;
  const std::string& file() const { return file_; }
  // Names of the arrays of numbers, sorted; "group/name" inside groups of HDF5, "s.name" inside MATLAB's
  // structs, and the name of the file for the one array of a .npy.
  const std::vector<std::string>& names() const { return names_; }
  bool has(const std::string& name) const;
  // Throws InputError: no such array (with those that are there), damaged, complex.
  virtual std::unique_ptr<NumberArray> open(const std::string& name) = 0;

 protected:
  std::string file_;
  std::vector<std::string> names_;
};

// By content and, for .mat, by name. Throws InputError: no such file, another kind of file, damaged.
std::unique_ptr<ArrayFile> open_array_file(const std::filesystem::path& path);
// Whether the file is of these kinds, rather than text.
bool is_array_file(const std::filesystem::path& path);

// Of the single formats.
std::unique_ptr<ArrayFile> open_npy(const std::filesystem::path& path);  // npy.cpp
std::unique_ptr<ArrayFile> open_npz(const std::filesystem::path& path);
std::unique_ptr<ArrayFile> open_mat_arrays(const std::filesystem::path& path);   // mat_arrays.cpp
std::unique_ptr<ArrayFile> open_hdf5_arrays(const std::filesystem::path& path);  // hdf5_arrays.cpp

}  // namespace lissom
