// What the HDF5 files that Lissom writes have in common: the attributes that say what a file is, lists of
// lists, and the checks of sizes and indices. Everything that expects throws InputError.
#pragma once

#include <fmt/ranges.h>
#include <Eigen/Core>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/hdf5.hpp"

namespace lissom {

// Attributes format, schema_version, lissom_version and units of a file's root.
void write_format(hdf5::Group& root, std::string_view format, int version);

// Whether a file is an HDF5 file of this format.
bool has_format(const std::filesystem::path& path, std::string_view format);

// Throws InputError unless the root is of this format, of version 1 to `newest`, and in SI units. `called` is
// what messages call such a file: "a Lissom body file".
void expect_format(const hdf5::Group& root, const std::filesystem::path& path, std::string_view format,
                   std::string_view called, int newest);

// Lists of different lengths one behind the other: list i = values[offsets[i] .. offsets[i+1]).
template <class T>
struct Ragged {
  std::vector<std::int64_t> offsets = {0};
  std::vector<T> values;
  void add(const std::vector<T>& list) {
    values.insert(values.end(), list.begin(), list.end());
    offsets.push_back(static_cast<std::int64_t>(values.size()));
  }
};

// Throws InputError unless the dataset has that shape.
inline void expect_shape(const hdf5::Group& group, std::string_view name, const hdf5::Shape& expected) {
  const hdf5::Shape found = group.info(name).shape;
  if (found != expected)
    fail_input("{}: expected the shape ({}), found ({}); the file is damaged", group.where(name),
               fmt::join(expected, ", "), fmt::join(found, ", "));
}

template <class T>
void expect_size(const hdf5::Group& group, std::string_view name, const std::vector<T>& values,
                 size_t expected) {
  if (values.size() != expected)
    fail_input("{}: expected {} values, found {}; the file is damaged", group.where(name), expected,
               values.size());
}

// Vectors of any length, or of this one: shapes are checked before anything of that size is allocated.
void write_vector(hdf5::Group& group, const char* name, const Eigen::Ref<const Eigen::VectorXd>& values);
Eigen::VectorXd read_vector(const hdf5::Group& group, const char* name);
Eigen::VectorXd read_vector(const hdf5::Group& group, const char* name, std::uint64_t size);
// One text.
std::string read_text(const hdf5::Group& group, const char* name);

// Every index must be in least .. count-1.
inline void expect_indices(const hdf5::Group& group, std::string_view name, std::span<const int> indices,
                           int count, int least = 0) {
  for (int i : indices)
    if (i < least || i >= count)
      fail_input("{}: the index {} is outside {} .. {}; the file is damaged", group.where(name), i, least,
                 count - 1);
}

// lists + 1 offsets that ascend from 0 to the number of values.
template <class T>
void expect_offsets(const hdf5::Group& group, std::string_view name, const std::vector<T>& offsets,
                    size_t lists, size_t values) {
  expect_size(group, name, offsets, lists + 1);
  if (offsets.front() != 0 || static_cast<std::uint64_t>(offsets.back()) != values ||
      !std::is_sorted(offsets.begin(), offsets.end()))
    fail_input("{}: the offsets do not ascend from 0 to {}; the file is damaged", group.where(name), values);
}

template <class T>
std::vector<T> slice(const std::vector<T>& values, const std::vector<std::int64_t>& offsets, size_t i) {
  return {values.begin() + offsets[i], values.begin() + offsets[i + 1]};
}

}  // namespace lissom
