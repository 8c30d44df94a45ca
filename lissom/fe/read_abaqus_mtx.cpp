// Abaqus, *MATRIX GENERATE followed by *MATRIX OUTPUT. Two of its text formats are read:
//   FORMAT=MATRIX INPUT   "node,dof, node,dof, value"; of a symmetric matrix each pair is usually written
//   once FORMAT=COORDINATE     "row column value", 1-based; the node that a row belongs to is not told
// Whether the file holds one triangle or both is not said in it, but is plain from its entries.
#include <algorithm>
#include <limits>

#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_entries.hpp"

namespace lissom {

namespace {

// The numbers of a data line; `count` of them, 6 meaning more than five.
struct EntryFields {
  std::string_view text[5];
  int count = 0;
};

EntryFields split_fields(std::string_view line) {
  EntryFields fields;
  while (!line.empty()) {
    const std::string_view field = take_field(line);
    if (fields.count == 5) {
      fields.count = 6;
      break;
    }
    fields.text[fields.count++] = field;
  }
  return fields;
}

}  // namespace

ImportedMatrix read_abaqus_mtx(std::string_view bytes, const std::string& path, Diagnostics& diagnostics) {
  LineReader lines(bytes, path);
  LabelledEntries labelled;
  ImportedMatrix matrix;
  int width = 0;  // 5: MATRIX INPUT, 3: COORDINATE
  std::string_view line;
  while (lines.next(line)) {
    line = trim(line);
    if (line.empty() || line.starts_with("**")) continue;
    const EntryFields fields = split_fields(line);
    if (line.front() == '*' || (width == 0 && fields.count != 3 && fields.count != 5))
      fail_input(
          lines.pos(),
          "expected \"node,dof,node,dof,value\" or \"row column value\", found '{}'; export with *MATRIX "
          "OUTPUT, FORMAT=MATRIX INPUT or FORMAT=COORDINATE",
          line.substr(0, 40));
    if (width == 0) width = fields.count;
    if (fields.count != width)
      fail_input(lines.pos(), "expected {} numbers as in the lines before, found {}", width,
                 fields.count == 6 ? "more" : std::to_string(fields.count));

    const SourcePos pos = lines.pos();
    if (width == 3) {
      // the size is nowhere written: it is the largest index
      constexpr long largest = std::numeric_limits<int>::max();
      const int row = to_index(fields.text[0], largest, pos, "row");
      const int col = to_index(fields.text[1], largest, pos, "column");
      matrix.entries.push_back({row, col, to_double(fields.text[2], pos, "a matrix entry")});
      matrix.rows = std::max({matrix.rows, row + 1, col + 1});
    } else {
      ImportedMatrix::RowLabel label[2];
      for (int k = 0; k < 2; ++k) {
        const long node = to_long(fields.text[2 * k], pos, "a node number");
        label[k] = to_label(node, to_long(fields.text[2 * k + 1], pos, "a degree of freedom"), pos);
        if (node <= 0)
          diagnostics.warn(
              "abaqus.internal-node",
              fmt::format("node {} is internal to Abaqus (often a Lagrange multiplier of a coupling, "
                          "contact or hybrid element, which makes K indefinite) and has no coordinates",
                          node),
              pos);
      }
      labelled.add(label[0], label[1], to_double(fields.text[4], pos, "a matrix entry"));
    }
  }
  if (width == 0) fail_input("{}: the file has no matrix entry", path);
  if (width == 5)
    matrix = labelled.finish();
  else
    matrix.cols = matrix.rows;

  // one triangle: each pair stands in the file once, be it as (i, j) or as (j, i)
  if (find_pair_given_twice(matrix).first < 0) fold_to_lower(matrix);
  return matrix;
}

}  // namespace lissom
