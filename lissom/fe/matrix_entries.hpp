// What the matrix readers share: splitting lines without allocation, rows named by node and direction, and
// matrices that store each pair of symmetric entries once.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "lissom/core/error.hpp"
#include "lissom/fe/matrix_reader.hpp"

namespace lissom {

// Takes the next field off `rest`; fields are separated by blanks, by a comma, or both. Empty at the end of
// the line. (split_blanks returns a vector, which is too slow for a hundred million lines.)
std::string_view take_field(std::string_view& rest);

// A 1-based index of the file as 0-based. Throws InputError unless 1 <= index <= size.
int to_index(std::string_view field, long size, const SourcePos& pos, std::string_view what);

// "node 12, direction z" (rx, ry, rz for rotations) where the row has a label, else "row 17" (1-based).
std::string describe_row(const ImportedMatrix& matrix, int row);
// "x", "y", "z", "rx", "ry", "rz".
std::string_view direction_name(int direction);

// Node and direction from the file's numbers; `dof` is 1 to 6. Throws InputError for other ones and for node
// numbers beyond what we count with.
ImportedMatrix::RowLabel to_label(long node, long dof, const SourcePos& pos);

// Collects entries whose rows and columns are named by labels, in any order.
class LabelledEntries {
 public:
  using RowLabel = ImportedMatrix::RowLabel;
  void add(const RowLabel& row, const RowLabel& col, double value);
  bool empty() const { return entries_.empty(); }
  // A square matrix with the labels in ascending order; Triangle::Full. The collection is spent afterwards.
  ImportedMatrix finish();

 private:
  int index_of(const RowLabel& label);
  std::unordered_map<std::int64_t, int> index_;
  std::vector<RowLabel> labels_;
  std::vector<ImportedMatrix::Entry> entries_;
};

// A pair (i, j), i > j, whose entries (i, j) and (j, i) both stand in the file and are not zero; {-1, -1} if
// there is none. Then each pair is given once and one triangle makes the matrix.
std::pair<int, int> find_pair_given_twice(const ImportedMatrix& matrix);

// Moves every entry into the lower triangle and says so.
void fold_to_lower(ImportedMatrix& matrix);

}  // namespace lissom
