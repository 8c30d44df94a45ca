// CalculiX, *FREQUENCY,SOLVER=MATRIXSTORAGE. ccx 2.20 writes
//   JOB.sti, JOB.mas   lines "row column value", 1-based, column by column, the UPPER triangle with the
//   diagonal,
//                      explicit zeros included
//   JOB.dof            line i is "node.direction" of row i; held and dependent degrees of freedom have no row
// "12.1" and "12.10" are different texts but the same number, so that the labels are read as text.
#include <algorithm>

#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_entries.hpp"

namespace lissom {

std::vector<ImportedMatrix::RowLabel> read_calculix_dofs(std::string_view bytes, const std::string& path) {
  LineReader lines(bytes, path);
  std::vector<ImportedMatrix::RowLabel> labels;
  std::string_view line;
  while (lines.next(line)) {
    line = trim(line);
    if (line.empty()) continue;
    const size_t dot = line.find('.');
    if (dot == std::string_view::npos)
      fail_input(lines.pos(), "expected \"node.direction\", found '{}'", line.substr(0, 40));
    const long node = to_long(line.substr(0, dot), lines.pos(), "a node number");
    const long direction = to_long(line.substr(dot + 1), lines.pos(), "a direction after the dot");
    labels.push_back(to_label(node, direction, lines.pos()));
  }
  if (labels.empty()) fail_input("{}: the file has no line \"node.direction\"", path);
  return labels;
}

ImportedMatrix read_calculix_matrix(std::string_view bytes, const std::string& path,
                                    std::vector<ImportedMatrix::RowLabel> labels) {
  ImportedMatrix matrix;
  matrix.rows = matrix.cols = static_cast<int>(labels.size());
  matrix.labels = std::move(labels);
  matrix.triangle = ImportedMatrix::Triangle::Upper;
  LineReader lines(bytes, path);
  std::string_view line;
  while (lines.next(line)) {
    line = trim(line);
    if (line.empty()) continue;
    const std::string_view i = take_field(line), j = take_field(line), value = take_field(line);
    if (value.empty() || !line.empty())
      fail_input(lines.pos(), "expected \"row column value\" of a CalculiX matrix");
    const SourcePos pos = lines.pos();
    const int row = to_index(i, matrix.rows, pos, "row"), col = to_index(j, matrix.cols, pos, "column");
    if (row > col)
      fail_input(pos, "entry ({}, {}) is below the diagonal, but CalculiX stores the upper triangle", row + 1,
                 col + 1);
    matrix.entries.push_back({row, col, to_double(value, pos, "a matrix entry")});
  }
  if (matrix.entries.empty()) fail_input("{}: the file has no entry", path);
  return matrix;
}

}  // namespace lissom
