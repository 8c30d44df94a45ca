// Nastran DMIG cards, as PARAM,EXTOUT,DMIGPCH or EXTSEOUT(DMIGPCH) punch them:
//   DMIG  NAME  0   IFO  TIN  TOUT  POLAR  -  NCOL     header; IFO 1 square, 6 symmetric, 2 and 9
//   rectangular;
//                                                      TIN 1, 2 real, 3, 4 complex
//   DMIG  NAME  GJ  CJ   -    G1 C1 A1 B1              a column, then in continuations  G2 C2 A2 B2  G3 C3 A3
//   B3 ...
// A card is a name and a row of data fields: eight of 8 characters a line, four of 16 in large field (a star
// after the name or at the line's start), or separated by commas. Strung together, a column's fields are
// always [NAME GJ CJ -] and then groups of four, whichever way the lines were broken. Of a symmetric matrix
// each pair of entries is given once, in either triangle.
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_entries.hpp"

namespace lissom {

namespace {

struct Field {
  std::string_view text;
  long line;
};

// A logical card: the data fields of its first line and of all continuations.
struct Card {
  std::vector<Field> fields;
  bool empty() const { return fields.empty(); }
};

// One line cut into its first field and the data fields.
struct CardLine {
  std::string_view name;  // with the star of large field; empty, "+..." or "*..." in a continuation
  std::vector<std::string_view> fields;
};

CardLine cut_line(std::string_view line) {
  CardLine cut;
  if (line.find(',') != std::string_view::npos) {
    auto fields = split(line, ',');
    cut.name = fields.front();
    fields.erase(fields.begin());
    // short lines still hold their place in the card
    fields.resize(cut.name.ends_with('*') || cut.name.starts_with('*') ? 4 : 8);
    cut.fields = std::move(fields);
    return cut;
  }
  // fixed fields; columns 73 to 80 are the continuation mark or a sequence number
  const auto piece = [&](size_t from, size_t width) {
    return from < line.size() ? trim(line.substr(from, width)) : std::string_view();
  };
  cut.name = piece(0, 8);
  const bool large = cut.name.ends_with('*') || cut.name.starts_with('*');
  const size_t width = large ? 16 : 8;
  for (size_t from = 8; from < 72; from += width) cut.fields.push_back(piece(from, width));
  return cut;
}

// A matrix while its columns come in.
struct DmigMatrix {
  std::string name;
  long form = 0;
  LabelledEntries square;  // forms 1 and 6
  // forms 2 and 9: rows and columns are counted apart
  struct Entry {
    ImportedMatrix::RowLabel row, col;
    double value;
  };
  std::vector<Entry> rectangular;
  SourcePos defined_at;
  std::set<ImportedMatrix::RowLabel> columns;
};

class DmigReader {
 public:
  DmigReader(std::string_view bytes, const std::string& path, Diagnostics& diagnostics)
      : lines_(bytes, path), path_(path), diagnostics_(diagnostics) {}

  std::vector<ImportedMatrix> read() {
    Card card;
    std::string_view line;
    bool in_dmig = false;
    while (lines_.next(line)) {
      if (trim(line).empty() || line.front() == '$') continue;
      const CardLine cut = cut_line(line);
      const bool continues = cut.name.empty() || cut.name.front() == '+' || cut.name.front() == '*';
      if (continues) {
        if (in_dmig) append(card, cut);
        continue;
      }
      finish(card);
      in_dmig = iequals(cut.name, "DMIG") || iequals(cut.name, "DMIG*");
      if (in_dmig)
        append(card, cut);
      else
        diagnostics_.warn("dmig.other-card",
                          fmt::format("card {} is no DMIG and was passed over", cut.name.substr(0, 16)),
                          lines_.pos());
    }
    finish(card);
    if (matrices_.empty()) fail_input("{}: the file has no DMIG card", path_);
    std::vector<ImportedMatrix> result;
    for (DmigMatrix& matrix : matrices_) result.push_back(settle(matrix));
    return result;
  }

 private:
  void append(Card& card, const CardLine& cut) {
    for (std::string_view field : cut.fields) card.fields.push_back({field, lines_.line()});
  }

  SourcePos pos(const Field& field) const { return {path_, field.line}; }
  long number(const Field& field, std::string_view what) const {
    return to_long(field.text, pos(field), what);
  }
  ImportedMatrix::RowLabel label(const Field& node, const Field& dof) const {
    return to_label(number(node, "a node number"), dof.text.empty() ? 0 : number(dof, "a component"),
                    pos(node));
  }

  // Takes in a complete card and empties it.
  void finish(Card& card) {
    if (card.empty()) return;
    const std::string name = to_upper(card.fields[0].text);
    if (name.empty()) fail_input(pos(card.fields[0]), "a DMIG card has no matrix name");
    if (iequals(name, "UACCEL")) {
      diagnostics_.warn("dmig.uaccel", "DMIG UACCEL holds loads and was passed over", pos(card.fields[0]));
    } else if (card.fields[1].text == "0") {
      header(name, card);
    } else {
      column(name, card);
    }
    card.fields.clear();
  }

  void header(const std::string& name, const Card& card) {
    const SourcePos where = pos(card.fields[0]);
    if (index_.contains(name)) fail_input(where, "matrix {} has a second header card", name);
    const long form = number(card.fields[2], "the form of the matrix (1, 2, 6 or 9)");
    if (form != 1 && form != 2 && form != 6 && form != 9)
      fail_input(where, "matrix {} has form {}, expected 1, 2, 6 or 9", name, form);
    const long type = number(card.fields[3], "the type of the matrix (1 to 4)");
    if (type == 3 || type == 4)
      fail_input(where,
                 "matrix {} is complex (type {}), expected a real one; export it without structural damping",
                 name, type);
    if (type != 1 && type != 2) fail_input(where, "matrix {} has type {}, expected 1 or 2", name, type);
    index_[name] = matrices_.size();
    matrices_.push_back({name, form, {}, {}, where, {}});
  }

  void column(const std::string& name, const Card& card) {
    const auto it = index_.find(name);
    if (it == index_.end())
      fail_input(pos(card.fields[0]), "a column of matrix {} comes before its header card (DMIG {} 0 ...)",
                 name, name);
    DmigMatrix& matrix = matrices_[it->second];
    // columns of form 9 are numbered from 1 and have no component
    const ImportedMatrix::RowLabel col =
        matrix.form == 9 ? ImportedMatrix::RowLabel{number(card.fields[1], "a column number"), 0}
                         : label(card.fields[1], card.fields[2]);
    if (!matrix.columns.insert(col).second)
      fail_input(pos(card.fields[0]), "matrix {} has a second card for column {}, component {}", name,
                 col.node, col.direction + 1);
    for (size_t k = 4; k + 2 < card.fields.size(); k += 4) {
      if (card.fields[k].text.empty() && card.fields[k + 2].text.empty()) continue;
      const auto row = label(card.fields[k], card.fields[k + 1]);
      const double value = to_double(card.fields[k + 2].text, pos(card.fields[k + 2]), "a matrix entry");
      if (matrix.form == 1 || matrix.form == 6)
        matrix.square.add(row, col, value);
      else
        matrix.rectangular.push_back({row, col, value});
    }
  }

  ImportedMatrix settle(DmigMatrix& source) {
    ImportedMatrix matrix;
    if (source.form == 1 || source.form == 6) {
      if (source.square.empty())
        diagnostics_.warn("dmig.empty", fmt::format("matrix {} has a header and no column", source.name),
                          source.defined_at);
      matrix = source.square.finish();
      if (source.form == 6) {
        const auto [i, j] = find_pair_given_twice(matrix);
        if (i >= 0)
          fail_input(source.defined_at,
                     "matrix {} is called symmetric (form 6), but both entries between {} and {} are given",
                     source.name, describe_row(matrix, i), describe_row(matrix, j));
        fold_to_lower(matrix);
      }
    } else {
      matrix = settle_rectangular(source);
    }
    matrix.name = source.name;
    return matrix;
  }

  // Rows and columns by their own labels; the same set of both makes a square matrix.
  static ImportedMatrix settle_rectangular(const DmigMatrix& source) {
    std::map<ImportedMatrix::RowLabel, int> rows, cols;
    for (const auto& entry : source.rectangular) {
      rows.try_emplace(entry.row);
      cols.try_emplace(entry.col);
    }
    ImportedMatrix matrix;
    for (auto& [row, index] : rows) {
      index = matrix.rows++;
      matrix.labels.push_back(row);
    }
    for (auto& [col, index] : cols) index = matrix.cols++;
    for (const auto& entry : source.rectangular)
      matrix.entries.push_back({rows[entry.row], cols[entry.col], entry.value});
    return matrix;
  }

  LineReader lines_;
  const std::string& path_;
  Diagnostics& diagnostics_;
  std::vector<DmigMatrix> matrices_;
  std::map<std::string, size_t> index_;
};

}  // namespace

std::vector<ImportedMatrix> read_dmig(std::string_view bytes, const std::string& path,
                                      Diagnostics& diagnostics) {
  return DmigReader(bytes, path, diagnostics).read();
}

}  // namespace lissom
