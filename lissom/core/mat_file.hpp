// MATLAB .mat files of versions 4 to 7 through libmatio, and what is to be checked around it: matio stops
// without a word where a file ends too early and takes what a damaged stream yields. Version 7.3 is HDF5
// (core/hdf5.hpp).
#pragma once

#include <matio.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

using MatHandle = std::unique_ptr<mat_t, int (*)(mat_t*)>;
using MatVariable = std::unique_ptr<matvar_t, void (*)(matvar_t*)>;

// Number of variables in a file. Every variable must lie inside the file, and every compressed one must pass
// zlib's checksum; otherwise InputError.
long count_mat_variables(const std::filesystem::path& path);

// Opens for reading. Throws InputError.
MatHandle open_mat_file(const std::filesystem::path& path);

bool is_full_numeric(const matvar_t& variable);  // numbers, neither sparse nor text nor anything else
bool is_numeric(const matvar_t& variable);       // the same, or sparse

// Throws InputError when the variable claims more numbers than a file of `bytes` bytes can hold, be they
// compressed. To be called before its data are read. `where` is "file: 'name'".
void check_mat_size(const matvar_t& variable, std::uint64_t bytes, const std::string& where);

// Copies numbers of the type that a variable has to doubles; false when it is not a numeric type.
bool mat_to_doubles(enum matio_types type, const void* data, size_t count, double* out);

}  // namespace lissom
