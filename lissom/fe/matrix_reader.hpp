// Reading mass and stiffness matrices that another FE program wrote.
//
// Three steps, each usable on its own:
//   read_*            bytes of one format         ->  ImportedMatrix, entries as they stand in the file
//   read_matrices     a path                      ->  all matrices of the file, format found by name and
//   content import_fe_model   K and M files, and a mesh   ->  FeModel, aligned row by row and checked
// Values keep the units of the file; scaling to SI is the caller's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/fe/mesh.hpp"
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
    friend auto operator<=>(const RowLabel&, const RowLabel&) = default;
  };
  std::vector<RowLabel> labels;
  std::string source;  // file it came from, for messages; read_matrices fills it in
};

// All readers throw InputError "file:line: ..." for malformed text, an index outside the matrix, a complex or
// pattern matrix, and numbers that are not finite.

// Matrix Market, coordinate or array, real or integer, general or symmetric. (read_matrix_market.cpp)
ImportedMatrix read_matrix_market(std::string_view bytes, const std::string& path, Diagnostics& diagnostics);

// CalculiX, *FREQUENCY with SOLVER=MATRIXSTORAGE: JOB.sti or JOB.mas, the upper triangle as "row column
// value". `labels` comes from JOB.dof and gives the size. (read_calculix_matrices.cpp)
ImportedMatrix read_calculix_matrix(std::string_view bytes, const std::string& path,
                                    std::vector<ImportedMatrix::RowLabel> labels);
// JOB.dof: a line "node.direction" for each row, direction 1 to 6. The same file may label the rows of any
// format that has no labels of its own (MatrixImport::dofs).
std::vector<ImportedMatrix::RowLabel> read_calculix_dofs(std::string_view bytes, const std::string& path);

// Abaqus, *MATRIX OUTPUT with FORMAT=MATRIX INPUT ("node,dof,node,dof,value", labelled) or FORMAT=COORDINATE
// ("row column value"). One triangle or both, told by what the file holds. (read_abaqus_mtx.cpp)
ImportedMatrix read_abaqus_mtx(std::string_view bytes, const std::string& path, Diagnostics& diagnostics);

// All matrices of DMIG cards in a Nastran punch or bulk data file, small, large or free field. Rows are
// ordered by node id and direction. (read_dmig.cpp)
std::vector<ImportedMatrix> read_dmig(std::string_view bytes, const std::string& path,
                                      Diagnostics& diagnostics);

// All matrices of a Nastran OUTPUT4 file, text or binary (either byte order, 32- or 64-bit words), dense or
// sparse. (read_output4.cpp)
std::vector<ImportedMatrix> read_output4(std::string_view bytes, const std::string& path,
                                         Diagnostics& diagnostics);
// Whether the bytes begin like an OUTPUT4 file.
bool looks_like_output4(std::string_view bytes);

// MATLAB .mat files, all versions. (read_mat.cpp)
std::vector<ImportedMatrix> read_mat_matrices(const std::filesystem::path& path, Diagnostics& diagnostics);

// HDF5 files with dense or compressed sparse matrices. (read_hdf5_matrices.cpp)
std::vector<ImportedMatrix> read_hdf5_matrices(const std::filesystem::path& path, Diagnostics& diagnostics);

// All matrices of a file, choosing the reader by extension (.mtx .mm .sti .mas .pch .dmig .op4 .mat .h5
// .hdf5) and, for .mtx and anything else, by content. A CalculiX file is called K (.sti) or M (.mas), and its
// .dof file is found beside it; a file of one nameless matrix gives it an empty name. Throws InputError
// listing what is understood. (matrix_reader.cpp)
std::vector<ImportedMatrix> read_matrices(const std::filesystem::path& path, Diagnostics& diagnostics);

// Whether a file holds matrices, by its name (the extensions above) or by Matrix Market's first line.
bool is_matrix_file(const std::filesystem::path& path);

// What to import, and how. Only `stiffness` is always needed.
struct MatrixImport {
  std::filesystem::path stiffness;  // file that holds K
  // File that holds M. Empty: the same file as K, and for a CalculiX .sti the .mas beside it.
  std::filesystem::path mass;
  // Names of the matrices in their files, in any case. Empty: the only matrix of the file, or the one with a
  // customary name (K, KAA, KAAX, KGG, STIFFNESS, ...; M, MAA, MAAX, MGG, MASS, ...).
  std::string stiffness_name, mass_name;
  // File of "node.direction" lines that says what each row is, for formats without labels. Empty: rows are
  // taken as 3 (or 6) per node in the order of the mesh, with a warning.
  std::filesystem::path dofs;
  // Where the nodes are, by id: a mesh, or coordinates in the unit of the matrices' file. With neither, the
  // model has no points.
  const Mesh* mesh = nullptr;
  std::map<std::int64_t, Eigen::Vector3d> coordinates;
  // Keep rows of M that are zero. They make infinite frequencies, so it is an error unless asked for.
  bool permit_massless = false;
  // Remove rows that are zero in K and in M alike, as the rotations of Nastran's g-set in a solid model are.
  bool drop_empty_rows = false;
};

// K and M of the request as one model: both read, put into the same row order by their labels, symmetrised,
// given their nodes. FeModel::node_mass is set where M has the form and no node of an element lacks its rows.
// Checks (matrix_checks.hpp) that find an unusable matrix throw InputError; those that
// find a doubtful one warn:
//   error    differing sizes, not symmetric beyond 1e-8 of the largest entry, not finite, negative diagonal,
//   a zero
//            row in M (see permit_massless), a node without coordinates
//   warning  asymmetry below that, entries given twice (added), zero rows in K, rigid-body residuals above
//   1e-6,
//            assumed row order, nodes without rows, rows removed
FeModel import_fe_model(const MatrixImport& request, Diagnostics& diagnostics);

// The second half of it, for matrices that are already in memory; file names of the request are not used.
FeModel make_fe_model(ImportedMatrix K, ImportedMatrix M, const MatrixImport& request,
                      Diagnostics& diagnostics);

// The lower triangle of a symmetric matrix. Where both triangles are stored they must agree to 1e-8 of the
// largest entry (InputError naming the worst entry) and are averaged, with a warning if they differ at all.
// Exact zeros are dropped.
// `asymmetry` receives how far they differ; it stays empty for a single triangle.
SymmetricMatrix to_symmetric(const ImportedMatrix& matrix, Diagnostics& diagnostics,
                             std::optional<double>* asymmetry = nullptr);

}  // namespace lissom
