// From files to a model: which reader a file needs, which of its matrices are K and M, which row is which
// degree of freedom, and whether the result can be used.
#include "lissom/fe/matrix_reader.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_checks.hpp"
#include "lissom/fe/matrix_entries.hpp"
#include "lissom/fe/node_mass.hpp"

namespace lissom {

namespace fs = std::filesystem;

namespace {

using RowLabel = ImportedMatrix::RowLabel;

constexpr double symmetry_tolerance = 1e-8;    // of the largest entry
constexpr double rigid_body_tolerance = 1e-6;  // nine printed digits give 1e-9
constexpr double abaqus_held = 1e36;           // diagonal by which Abaqus marks a boundary condition

// ---- one file ---------------------------------------------------------------------------------------------

enum class Format { MatrixMarket, Calculix, Abaqus, Dmig, Output4, Mat, Hdf5 };

bool has_dmig_card(std::string_view bytes) {
  LineReader lines(bytes, "");
  std::string_view line;
  while (lines.next(line))
    if (istarts_with(line, "DMIG")) return true;
  return false;
}

// Three or five numbers in the first line that is no comment.
bool looks_like_abaqus(std::string_view bytes) {
  LineReader lines(bytes, "");
  std::string_view line;
  while (lines.next(line)) {
    line = trim(line);
    if (line.empty() || line.starts_with("**")) continue;
    int count = 0;
    for (; !line.empty(); ++count)
      if (!parse_double(take_field(line))) return false;
    return count == 3 || count == 5;
  }
  return false;
}

Format find_format(const fs::path& path, std::string_view bytes) {
  const std::string extension = to_lower(path.extension().string());
  if (extension == ".sti" || extension == ".mas") return Format::Calculix;
  if (extension == ".mat") return Format::Mat;
  if (extension == ".h5" || extension == ".hdf5") return Format::Hdf5;
  if (extension == ".op4") return Format::Output4;
  if (extension == ".pch" || extension == ".dmig") return Format::Dmig;
  if (extension == ".mm") return Format::MatrixMarket;
  // .mtx is Matrix Market's and Abaqus' extension; others say nothing
  if (istarts_with(bytes, "%%MatrixMarket")) return Format::MatrixMarket;
  if (extension == ".mtx") return Format::Abaqus;
  if (bytes.starts_with("MATLAB ")) return Format::Mat;
  if (bytes.starts_with("\x89HDF\r\n")) return Format::Hdf5;
  if (looks_like_output4(bytes)) return Format::Output4;
  if (has_dmig_card(bytes)) return Format::Dmig;
  if (looks_like_abaqus(bytes)) return Format::Abaqus;
  fail_input(
      "{}: not a matrix file that is understood; expected Matrix Market (.mtx, .mm), CalculiX (.sti, .mas "
      "with "
      ".dof), Abaqus (.mtx), Nastran DMIG (.pch) or OUTPUT4 (.op4), MATLAB (.mat) or HDF5 (.h5)",
      path.string());
}

fs::path beside(fs::path path, const char* extension) {
  return path.replace_extension(extension);
}

ImportedMatrix read_calculix_file(const fs::path& path, std::string_view bytes) {
  const fs::path dofs = beside(path, ".dof");
  if (!fs::exists(dofs))
    fail_input("{}: a CalculiX matrix needs {} beside it, which is missing", path.string(),
               dofs.filename().string());
  ImportedMatrix matrix =
      read_calculix_matrix(bytes, path.string(), read_calculix_dofs(read_file(dofs), dofs.string()));
  matrix.name = iequals(path.extension().string(), ".sti") ? "K" : "M";
  return matrix;
}

}  // namespace

bool is_matrix_file(const fs::path& path) {
  const std::string extension = to_lower(path.extension().string());
  for (const char* known : {".mtx", ".mm", ".sti", ".mas", ".pch", ".dmig", ".op4", ".mat", ".h5", ".hdf5"})
    if (extension == known) return true;
  // Ansys writes Matrix Market under any name; a pipe would be waited for
  std::error_code ec;
  if (!fs::is_regular_file(path, ec)) return false;
  if (std::ifstream file(path, std::ios::binary); file) {
    char start[14] = {};
    file.read(start, sizeof start);
    return file.gcount() == sizeof start && iequals({start, sizeof start}, "%%MatrixMarket");
  }
  return false;
}

std::vector<ImportedMatrix> read_matrices(const fs::path& path, Diagnostics& diagnostics) {
  const std::string bytes = read_file(path);
  const std::string name = path.string();
  std::vector<ImportedMatrix> matrices;
  switch (find_format(path, bytes)) {
    case Format::MatrixMarket:
      matrices.push_back(read_matrix_market(bytes, name, diagnostics));
      break;
    case Format::Calculix:
      matrices.push_back(read_calculix_file(path, bytes));
      break;
    case Format::Abaqus:
      matrices.push_back(read_abaqus_mtx(bytes, name, diagnostics));
      break;
    case Format::Dmig:
      matrices = read_dmig(bytes, name, diagnostics);
      break;
    case Format::Output4:
      matrices = read_output4(bytes, name, diagnostics);
      break;
    case Format::Mat:
      matrices = read_mat_matrices(path, diagnostics);
      break;
    case Format::Hdf5:
      matrices = read_hdf5_matrices(path, diagnostics);
      break;
  }
  for (ImportedMatrix& matrix : matrices) matrix.source = name;
  return matrices;
}

// ---- one matrix -------------------------------------------------------------------------------------------

namespace {

// "KAAX of model.pch" or just the file.
std::string title(const ImportedMatrix& matrix) {
  if (matrix.name.empty()) return matrix.source;
  return matrix.source.empty() ? matrix.name : fmt::format("{} of {}", matrix.name, matrix.source);
}

// Throws InputError unless entries and labels fit the sizes, and the sizes one another.
void check_shape(const ImportedMatrix& matrix) {
  if (matrix.rows != matrix.cols || matrix.rows < 1)
    fail_input("{}: the matrix is {} by {}, expected a square one", title(matrix), matrix.rows, matrix.cols);
  if (!matrix.labels.empty() && matrix.labels.size() != static_cast<size_t>(matrix.rows))
    fail_input("{}: {} rows, but labels for {}", title(matrix), matrix.rows, matrix.labels.size());
  // a usable matrix has an entry in nearly every row; a size without entries is a wrong header
  if (static_cast<size_t>(matrix.rows) > 1000 + 10 * matrix.entries.size())
    fail_input("{}: {} rows, but {} entries only", title(matrix), matrix.rows, matrix.entries.size());
  if (matrix.entries.size() > static_cast<size_t>(std::numeric_limits<int>::max()) / 2)
    fail_input("{}: {} entries are more than can be held", title(matrix), matrix.entries.size());
  for (const auto& entry : matrix.entries) {
    if (entry.row < 0 || entry.col < 0 || entry.row >= matrix.rows || entry.col >= matrix.cols)
      fail_input("{}: entry ({}, {}) is outside the matrix of {} rows", title(matrix), entry.row + 1L,
                 entry.col + 1L, matrix.rows);
    if (!std::isfinite(entry.value))
      fail_input("{}: the entry of {} and {} is no number (nan or infinite)", title(matrix),
                 describe_row(matrix, entry.row), describe_row(matrix, entry.col));
  }
}

// The lower triangle of (A + A') / 2, where A and A' may differ by what printing rounded.
SparseMatrix average_triangles(const ImportedMatrix& matrix, const SparseMatrix& A, Diagnostics& diagnostics,
                               std::optional<double>* asymmetry) {
  const SparseMatrix At = A.transpose();
  const SparseMatrix difference = A - At;
  double largest = 0, worst = 0;
  for (Eigen::Index k = 0; k < A.nonZeros(); ++k)
    if (A.valuePtr()[k] != abaqus_held) largest = std::max(largest, std::abs(A.valuePtr()[k]));
  largest = std::max(largest, std::numeric_limits<double>::min());
  int worst_row = 0, worst_col = 0;
  for (int j = 0; j < difference.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator it(difference, j); it; ++it) {
      if (it.row() <= j || std::abs(it.value()) <= worst) continue;
      worst = std::abs(it.value());
      worst_row = static_cast<int>(it.row());
      worst_col = j;
    }
  }
  if (asymmetry) *asymmetry = worst / largest;
  if (worst > 0) {
    const std::string what = fmt::format(
        "not symmetric: the entries between {} and {} are {:.9g} and {:.9g}, a difference of {:.1e} of the "
        "largest entry",
        describe_row(matrix, worst_row), describe_row(matrix, worst_col), A.coeff(worst_row, worst_col),
        A.coeff(worst_col, worst_row), worst / largest);
    if (worst > symmetry_tolerance * largest)
      fail_input(
          "{}: {} (allowed {:.0e}); unsymmetric terms (friction, follower loads, gyroscopic) must be left "
          "out of "
          "the export, and a single triangle must be declared as such",
          title(matrix), what, symmetry_tolerance);
    diagnostics.warn("matrices.asymmetry." + matrix.name,
                     fmt::format("{}; both were replaced by their mean", what), {matrix.source, 0});
  }
  SparseMatrix mean = 0.5 * (A + At);
  return mean.triangularView<Eigen::Lower>();
}

}  // namespace

SymmetricMatrix to_symmetric(const ImportedMatrix& matrix, Diagnostics& diagnostics,
                             std::optional<double>* asymmetry) {
  check_shape(matrix);
  const bool full = matrix.triangle == ImportedMatrix::Triangle::Full;
  std::vector<Eigen::Triplet<double, int>> triplets;
  triplets.reserve(matrix.entries.size());
  for (const auto& entry : matrix.entries) {
    if (entry.value == 0) continue;
    const bool mirrored = !full && entry.row < entry.col;
    triplets.emplace_back(mirrored ? entry.col : entry.row, mirrored ? entry.row : entry.col, entry.value);
  }
  SparseMatrix A(matrix.rows, matrix.cols);
  A.setFromTriplets(triplets.begin(), triplets.end());
  if (static_cast<size_t>(A.nonZeros()) < triplets.size())
    diagnostics.warn("matrices.repeated-entry." + matrix.name,
                     fmt::format("{} entries of the matrix are given more than once; they were added up",
                                 triplets.size() - static_cast<size_t>(A.nonZeros())),
                     {matrix.source, 0});
  for (Eigen::Index k = 0; k < A.nonZeros(); ++k)
    if (!std::isfinite(A.valuePtr()[k])) fail_input("{}: repeated entries add up to infinity", title(matrix));

  SymmetricMatrix result;
  result.lower = full ? average_triangles(matrix, A, diagnostics, asymmetry) : std::move(A);
  result.lower.prune([](int, int, double value) { return value != 0; });
  result.lower.makeCompressed();
  return result;
}

// ---- K and M ----------------------------------------------------------------------------------------------

namespace {

std::string names_of(const std::vector<ImportedMatrix>& matrices) {
  std::string names;
  for (const auto& matrix : matrices) {
    if (!names.empty()) names += ", ";
    names += matrix.name.empty() ? "(nameless)" : matrix.name;
  }
  return names;
}

// Takes out the matrix with the name asked for; else the only one; else the one with a customary name.
ImportedMatrix pick(std::vector<ImportedMatrix>& matrices, const std::string& name, char letter,
                    const fs::path& path) {
  const char* what = letter == 'K' ? "stiffness" : "mass";
  if (!name.empty()) {
    for (ImportedMatrix& matrix : matrices)
      if (iequals(matrix.name, name)) return std::move(matrix);
    fail_input("{}: no matrix '{}'; the file has {}", path.string(), name, names_of(matrices));
  }
  if (matrices.size() == 1) return std::move(matrices.front());
  std::vector<ImportedMatrix*> found;
  for (ImportedMatrix& matrix : matrices) {
    bool customary = false;
    // Nastran's sets and the suffix X of external superelements: KGG, KAA, KAAX, ...
    for (const char* tail : {"", "GG", "AA", "AAX", "NN", "FF", "LL", "JJ", "XX"})
      customary = customary || iequals(matrix.name, std::string(1, letter) + tail);
    for (const char* word : {"stiffness", "stiff", "stif"})
      customary = customary || (letter == 'K' && iequals(matrix.name, word));
    customary = customary || (letter == 'M' && iequals(matrix.name, "mass"));
    if (customary) found.push_back(&matrix);
  }
  if (found.size() == 1) return std::move(*found.front());
  fail_input("{}: {} matrix could be the {} matrix; the file has {}; give the name of the one that is meant",
             path.string(), found.empty() ? "no" : "more than one", what, names_of(matrices));
}

// Gives both matrices the same rows: the union of their labels, ascending, or the labels of the one that has
// them.
void align(ImportedMatrix& K, ImportedMatrix& M, Diagnostics& diagnostics) {
  for (const ImportedMatrix* matrix : {&K, &M}) {
    std::unordered_set<std::int64_t> seen;
    for (const RowLabel& label : matrix->labels)
      if (!seen.insert(label.node * 8 + label.direction).second)
        fail_input("{}: two rows belong to node {}, direction {}", title(*matrix), label.node,
                   direction_name(label.direction));
  }
  if (K.labels == M.labels && K.rows == M.rows) return;
  if (K.labels.empty() != M.labels.empty() && K.rows == M.rows) {
    diagnostics.warn(
        "matrices.labels-of-one",
        fmt::format("only one of K and M says which row is which node; {} is taken to be in the same order",
                    title(K.labels.empty() ? K : M)));
    (K.labels.empty() ? K : M).labels = K.labels.empty() ? M.labels : K.labels;
    return;
  }
  if (K.labels.empty() || M.labels.empty())
    fail_input("K ({}) has {} rows and M ({}) has {}; they must belong to the same degrees of freedom",
               title(K), K.rows, title(M), M.rows);

  std::vector<RowLabel> all = K.labels;
  all.insert(all.end(), M.labels.begin(), M.labels.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() > static_cast<size_t>(std::max(K.rows, M.rows)) || K.rows != M.rows)
    diagnostics.warn(
        "matrices.labels-differ",
        fmt::format("K has {} rows and M {}; where one has no row for a node and direction, it is zero there",
                    K.rows, M.rows),
        {K.source, 0});
  for (ImportedMatrix* matrix : {&K, &M}) {
    std::vector<int> place(matrix->labels.size());
    for (size_t i = 0; i < place.size(); ++i)
      place[i] = static_cast<int>(std::lower_bound(all.begin(), all.end(), matrix->labels[i]) - all.begin());
    for (auto& entry : matrix->entries) {
      entry.row = place[entry.row];
      entry.col = place[entry.col];
    }
    // another order may put an entry into the other triangle
    if (matrix->triangle != ImportedMatrix::Triangle::Full) fold_to_lower(*matrix);
    matrix->labels = all;
    matrix->rows = matrix->cols = static_cast<int>(all.size());
  }
}

// Nodes of the model: those of the mesh, of the coordinates, or of the labels; then what each row is.
void place_dofs(const std::vector<RowLabel>& labels, int rows, const MatrixImport& request, FeModel& model,
                Diagnostics& diagnostics) {
  if (request.mesh) {
    model.points = request.mesh->points;
    model.node_ids = request.mesh->node_ids;
    model.node_sets = request.mesh->node_sets;
  } else if (!request.coordinates.empty()) {
    model.points.resize(3, static_cast<Eigen::Index>(request.coordinates.size()));
    for (const auto& [id, x] : request.coordinates) {
      model.points.col(static_cast<Eigen::Index>(model.node_ids.size())) = x;
      model.node_ids.push_back(id);
    }
  } else {
    for (const RowLabel& label : labels) model.node_ids.push_back(label.node);
    std::sort(model.node_ids.begin(), model.node_ids.end());
    model.node_ids.erase(std::unique(model.node_ids.begin(), model.node_ids.end()), model.node_ids.end());
  }

  // without labels the order can only be assumed, and without nodes not even that
  const int nodes = static_cast<int>(model.node_ids.size());
  if (labels.empty()) {
    if (nodes == 0) {
      model.dofs.assign(static_cast<size_t>(rows), Dof{-1, 0});
      diagnostics.warn(
          "matrices.no-labels",
          "nothing says which row belongs to which node; rigid-body and mass checks are not possible");
      return;
    }
    const int per_node = rows / nodes;
    if (rows % nodes != 0 || (per_node != 3 && per_node != 6))
      fail_input(
          "{}: {} rows do not make 3 or 6 for each of {} nodes; give a file of \"node.direction\" lines that "
          "says "
          "which row is which",
          model.source, rows, nodes);
    diagnostics.warn(
        "matrices.assumed-order",
        fmt::format("the matrices do not say which row is which; taken as {} per node in the order of the {} "
                    "nodes given (check the rigid-body residuals)",
                    per_node, nodes));
    for (int i = 0; i < rows; ++i) model.dofs.push_back({i / per_node, i % per_node});
    return;
  }

  std::unordered_map<std::int64_t, int> index;
  for (int i = 0; i < nodes; ++i) index.emplace(model.node_ids[static_cast<size_t>(i)], i);
  for (const RowLabel& label : labels) {
    const auto it = index.find(label.node);
    if (it == index.end())
      fail_input("{}: the matrices have a row for node {}, direction {}, but the mesh has no such node{}",
                 model.source, label.node, direction_name(label.direction),
                 label.node <= 0 ? " (it is internal to the program that wrote them)"
                                 : "; is it the mesh of this model?");
    model.dofs.push_back({it->second, label.direction});
  }
}

// Removes rows and columns from both matrices and from the dofs.
void remove_rows(FeModel& model, const std::vector<char>& keep) {
  std::vector<int> place(keep.size(), -1);
  int n = 0;
  std::vector<Dof> dofs;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    place[i] = n++;
    dofs.push_back(model.dofs[i]);
  }
  for (SymmetricMatrix* A : {&model.K, &model.M}) {
    std::vector<Eigen::Triplet<double, int>> triplets;
    for (int j = 0; j < A->size(); ++j)
      for (SparseMatrix::InnerIterator it(A->lower, j); it; ++it)
        if (keep[static_cast<size_t>(it.row())] && keep[static_cast<size_t>(j)])
          triplets.emplace_back(place[static_cast<size_t>(it.row())], place[static_cast<size_t>(j)],
                                it.value());
    SparseMatrix smaller(n, n);
    smaller.setFromTriplets(triplets.begin(), triplets.end());
    A->lower = std::move(smaller);
  }
  model.dofs = std::move(dofs);
}

// Rows that are zero in K and in M alike.
std::vector<int> empty_rows(const MatrixChecks& checks) {
  std::vector<int> both;
  std::set_intersection(checks.zero_rows_K.begin(), checks.zero_rows_K.end(), checks.zero_rows_M.begin(),
                        checks.zero_rows_M.end(), std::back_inserter(both));
  return both;
}

// Rows that carry nothing (if asked to) and rows that Abaqus marks as held.
void drop_rows(FeModel& model, bool drop_empty, Diagnostics& diagnostics) {
  const Eigen::VectorXd diagonal = model.K.diagonal();
  std::vector<char> keep(static_cast<size_t>(model.dof_count()), 1);
  int held = 0, empty = 0;
  for (int i = 0; i < model.dof_count(); ++i) {
    if (diagonal(i) != abaqus_held) continue;
    keep[static_cast<size_t>(i)] = 0;
    ++held;
  }
  if (drop_empty) {
    const std::vector<int> both = empty_rows(check_matrices(model));
    for (int i : both) keep[static_cast<size_t>(i)] = 0;
    empty = static_cast<int>(both.size());
  }
  if (held + empty == 0) return;
  if (held + empty == model.dof_count()) fail_input("{}: every row of K and M is zero or held", model.source);
  if (held > 0)
    diagnostics.warn(
        "matrices.held-rows",
        fmt::format("{} rows of K have the diagonal 1e36, by which Abaqus marks a boundary condition; they "
                    "were removed, so that the body is held there",
                    held),
        {model.source, 0});
  if (empty > 0)
    diagnostics.warn("matrices.empty-rows",
                     fmt::format("{} rows that are zero in K and in M were removed, as asked for", empty),
                     {model.source, 0});
  remove_rows(model, keep);
}

// Whether all nodes that can have mass have rows: those of elements, or all where no mesh is known. The mass
// of a held node is not in M.
bool mass_is_complete(const FeModel& model, const Mesh* mesh) {
  std::vector<char> with_mass(model.node_ids.size(), mesh ? 0 : 1);
  if (mesh)
    for (const int node : mesh->connectivity) with_mass[static_cast<size_t>(node)] = 1;
  for (const Dof& dof : model.dofs)
    if (dof.node >= 0) with_mass[static_cast<size_t>(dof.node)] = 0;
  return std::none_of(with_mass.begin(), with_mass.end(), [](char lacking) { return lacking; });
}

// u = recovery * q where the rows are not plainly three per node.
void build_recovery(FeModel& model, bool nodes_given, Diagnostics& diagnostics) {
  const size_t nodes = model.node_ids.size();
  if (nodes == 0) return;
  bool plain = model.dofs.size() == 3 * nodes;
  std::vector<char> known(3 * nodes, 0);
  std::vector<Eigen::Triplet<double, int>> triplets;
  for (size_t i = 0; i < model.dofs.size(); ++i) {
    const Dof& dof = model.dofs[i];
    plain = plain && dof.node == static_cast<int>(i / 3) && dof.direction == static_cast<int>(i % 3);
    if (dof.direction >= 3) continue;
    known[static_cast<size_t>(3 * dof.node + dof.direction)] = 1;
    triplets.emplace_back(3 * dof.node + dof.direction, static_cast<int>(i), 1.0);
  }
  if (plain) return;
  model.recovery.resize(static_cast<Eigen::Index>(3 * nodes), static_cast<Eigen::Index>(model.dofs.size()));
  model.recovery.setFromTriplets(triplets.begin(), triplets.end());
  const auto missing = std::count(known.begin(), known.end(), char(0));
  if (nodes_given && missing > 0)
    diagnostics.warn(
        "matrices.nodes-without-rows",
        fmt::format(
            "{} displacements of {} nodes have no row in the matrices and are taken as zero: right for "
            "held nodes, wrong for nodes that were tied to others and eliminated",
            missing, nodes),
        {model.source, 0});
}

// "node 3, direction z; node 4, direction z; and 17 more".
std::string list_rows(const FeModel& model, const std::vector<int>& rows) {
  std::string text;
  constexpr size_t shown = 5;
  for (size_t k = 0; k < std::min(shown, rows.size()); ++k)
    text += (k ? "; " : "") + describe_dof(model, rows[k]);
  if (rows.size() > shown) text += fmt::format("; and {} more", rows.size() - shown);
  return text;
}

// Errors and warnings from the checks; a matrix that would only fail later fails here, in the user's words.
void judge(const FeModel& model, const MatrixImport& request, Diagnostics& diagnostics) {
  const MatrixChecks checks = check_matrices(model);
  if (!checks.bad_diagonal_K.empty())
    fail_input(
        "{}: K is not that of a stable body: its diagonal is negative, or zero beside other entries, at {} "
        "(Lagrange "
        "multipliers? rows and columns mixed up?)",
        model.source, list_rows(model, checks.bad_diagonal_K));
  if (!checks.bad_diagonal_M.empty())
    fail_input("{}: M is no mass matrix: its diagonal is negative, or zero beside other entries, at {}",
               model.source, list_rows(model, checks.bad_diagonal_M));
  if (!checks.zero_rows_M.empty() && !request.permit_massless) {
    const std::vector<int> both = empty_rows(checks);
    fail_input(
        "{}: {} rows of M are zero, which makes infinite frequencies: {};{} give them mass or condense them "
        "out "
        "(--permit-massless lets them be inspected)",
        request.mass.empty() ? model.source : request.mass.string(), checks.zero_rows_M.size(),
        list_rows(model, checks.zero_rows_M),
        both.empty() ? ""
                     : fmt::format(" {} of them are zero in K too and can be dropped (--drop-empty-rows);",
                                   both.size()));
  }
  if (!checks.zero_rows_K.empty())
    diagnostics.warn("matrices.zero-rows-K",
                     fmt::format("{} rows of K are zero: {}", checks.zero_rows_K.size(),
                                 list_rows(model, checks.zero_rows_K)),
                     {model.source, 0});
  const auto worst = checks.worst_residual();
  if (worst && *worst > rigid_body_tolerance)
    diagnostics.warn(
        "matrices.rigid-body",
        fmt::format(
            "K resists rigid-body motion (relative residual {:.1e}): the body is held, or the coordinates, "
            "the order of the rows or their directions (local axes?) are not those of K",
            *worst),
        {model.source, 0});
}

}  // namespace

FeModel make_fe_model(ImportedMatrix K, ImportedMatrix M, const MatrixImport& request,
                      Diagnostics& diagnostics) {
  check_shape(K);
  check_shape(M);
  align(K, M, diagnostics);
  FeModel model;
  model.source = K.source.empty() ? "imported matrices" : K.source;
  model.K = to_symmetric(K, diagnostics, &model.K_asymmetry);
  model.M = to_symmetric(M, diagnostics, &model.M_asymmetry);
  place_dofs(K.labels, K.rows, request, model, diagnostics);
  drop_rows(model, request.drop_empty_rows, diagnostics);
  if (mass_is_complete(model, request.mesh)) model.node_mass = scalar_node_mass(model);
  build_recovery(model, request.mesh || !request.coordinates.empty(), diagnostics);
  judge(model, request, diagnostics);
  return model;
}

FeModel import_fe_model(const MatrixImport& request, Diagnostics& diagnostics) {
  if (request.stiffness.empty()) fail_input("no file of the stiffness matrix was given");
  const bool calculix = iequals(request.stiffness.extension().string(), ".sti");
  const fs::path mass = !request.mass.empty() ? request.mass
                        : calculix            ? beside(request.stiffness, ".mas")
                                              : request.stiffness;

  // one file for both is read once, and must then hold two matrices
  auto matrices = read_matrices(request.stiffness, diagnostics);
  ImportedMatrix K, M;
  if (mass == request.stiffness) {
    if (matrices.size() < 2)
      fail_input("{}: the file has one matrix only; give the file of the mass matrix, too", mass.string());
    if (!request.mass_name.empty() && iequals(request.stiffness_name, request.mass_name))
      fail_input("{}: matrix '{}' cannot be both K and M", mass.string(), request.mass_name);
    K = pick(matrices, request.stiffness_name, 'K', request.stiffness);
    M = pick(matrices, request.mass_name, 'M', mass);
  } else {
    K = pick(matrices, request.stiffness_name, 'K', request.stiffness);
    matrices = read_matrices(mass, diagnostics);
    M = pick(matrices, request.mass_name, 'M', mass);
  }

  if (!request.dofs.empty()) {
    const auto labels = read_calculix_dofs(read_file(request.dofs), request.dofs.string());
    for (ImportedMatrix* matrix : {&K, &M}) {
      if (!matrix->labels.empty())
        fail_input("{}: the rows have nodes and directions already; leave out {}", title(*matrix),
                   request.dofs.string());
      if (labels.size() != static_cast<size_t>(matrix->rows))
        fail_input("{}: {} lines, but {} has {} rows", request.dofs.string(), labels.size(), title(*matrix),
                   matrix->rows);
      matrix->labels = labels;
    }
  }
  return make_fe_model(std::move(K), std::move(M), request, diagnostics);
}

}  // namespace lissom
