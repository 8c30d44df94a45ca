// Reading mass and stiffness matrices that another FE program wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/fe/mesh_reader.hpp"
#include "lissom/linalg/sparse.hpp"

namespace lissom {

// A matrix as a file holds it, before anybody decides what it means.
struct ImportedMatrix {
  std::string name;  // in files with several, e.g. "KAAX"
  int rows = 0, cols = 0;
  // Entries as written (0-based). `triangle` tells what the file stores.
  struct Entry {
    int row, col;
    double value;
  };
  std::vector<Entry> entries;
  enum class Triangle : std::uint8_t { Full, Lower, Upper } triangle = Triangle::Full;
  // Node id and direction (0..5) of each row, where the format has them (CalculiX .dof, DMIG, Abaqus); else
  // empty.
  struct RowLabel {
    std::int64_t node;
    int direction;
  };
  std::vector<RowLabel> labels;
};

// MATLAB .mat files up to version 7 (libmatio) and 7.3 (HDF5): every real two-dimensional variable, sparse
// or full, also in structs ("s.K"). Zeros of full matrices are left out. Cells, text and arrays of other
// dimensions are warnings. Throws InputError: not a .mat file, damaged, or a complex square matrix.
// (read_mat.cpp)
std::vector<ImportedMatrix> read_mat_matrices(const std::filesystem::path& path, Diagnostics& diagnostics);

// HDF5 files of any program: every group that holds a sparse matrix in scipy's names (data, indices, indptr
// or data, row, col) or MATLAB's (data, ir, jc), and every two-dimensional dataset of numbers. The name is
// the path inside the file, as "model/K". What is no matrix is a warning. Throws InputError: not an HDF5
// file, damaged, indices out of range, or a complex square matrix. (read_hdf5_matrices.cpp)
std::vector<ImportedMatrix> read_hdf5_matrices(const std::filesystem::path& path, Diagnostics& diagnostics);

}  // namespace lissom
