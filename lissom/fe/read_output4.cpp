// Nastran OUTPUT4 files. Per matrix
//   header   columns, rows, form, type, name (and in text files the Fortran format of the numbers)
//   columns  "column, first row, words" and then
//              first row > 0   dense: consecutive values from that row on
//              first row = 0   sparse: strings of consecutive values, each behind its own header,
//                                "L, row"  in a BIGMAT file, where a string of w words has L = w + 1
//                                "IS"      otherwise, with L = IS / 65536 - 1 words from row IS mod 65536
//   end      a column number beyond the last, with one value that means nothing
// Rows written negative, or more than 65535 of them, mean BIGMAT. type 1 is real single, 2 real double
// precision, 3 and 4 complex. A double takes two words (one in files with 64-bit words). Text files count a
// dense column in values, but strings in words. Symmetric matrices are stored with both triangles.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_entries.hpp"

namespace lissom {

namespace {

constexpr long bigmat_rows = 65536;

struct Header {
  long cols = 0, rows = 0, form = 0, type = 0;
  bool bigmat = false;
  std::string name;
};

// Turns the raw numbers of a header into a checked one.
Header check_header(long cols, long rows, long form, long type, std::string_view name, const SourcePos& pos) {
  constexpr long largest = std::numeric_limits<int>::max();
  Header header{cols, rows, form, type, false, {}};
  if (rows < 0) {
    if (rows < -largest) fail_input(pos, "the matrix has {} rows", rows);
    header.rows = -rows;
  }
  header.bigmat = rows < 0 || rows >= bigmat_rows;
  if (cols < 1 || cols >= largest || header.rows < 1 || header.rows > largest)
    fail_input(pos, "expected the header of an OUTPUT4 matrix, found {} rows and {} columns", header.rows,
               cols);
  for (char c : name)
    if (c != ' ' && c != '\0') header.name += c;
  if (type == 3 || type == 4)
    fail_input(pos,
               "matrix {} is complex (type {}), expected a real one; export it without structural damping",
               header.name, type);
  if (type != 1 && type != 2) fail_input(pos, "matrix {} has type {}, expected 1 or 2", header.name, type);
  return header;
}

// Collects the values of one matrix, checking that they lie inside.
class ColumnCollector {
 public:
  explicit ColumnCollector(Header header) : header_(std::move(header)) {
    matrix_.name = header_.name;
    matrix_.rows = static_cast<int>(header_.rows);
    matrix_.cols = static_cast<int>(header_.cols);
  }
  const Header& header() const { return header_; }

  // Opens a column (1-based). False for the end mark, a number beyond the last column.
  bool open_column(long col, const SourcePos& pos) {
    if (col <= col_) fail_input(pos, "matrix {}: column {} comes after column {}", header_.name, col, col_);
    col_ = col;
    return col <= header_.cols;
  }
  // A run of `count` values from `row` (1-based) on.
  void open_run(long row, long count, const SourcePos& pos) {
    if (row < 1 || count < 1 || row > header_.rows || count > header_.rows - row + 1)
      fail_input(pos, "matrix {}, column {}: {} values from row {} on do not fit into {} rows", header_.name,
                 col_, count, row, header_.rows);
    row_ = row;
  }
  void add(double value) {
    if (value != 0)
      matrix_.entries.push_back({static_cast<int>(row_ - 1), static_cast<int>(col_ - 1), value});
    ++row_;
  }

  // A symmetric matrix (form 6) of which just one triangle was written is mirrored, and said to be.
  ImportedMatrix finish(const SourcePos& pos, Diagnostics& diagnostics) {
    if (header_.form == 6 && matrix_.rows == matrix_.cols) {
      const auto off_diagonal = [](const auto& e) { return e.row != e.col; };
      const bool any = std::any_of(matrix_.entries.begin(), matrix_.entries.end(), off_diagonal);
      if (any && find_pair_given_twice(matrix_).first < 0) {
        diagnostics.warn(
            "output4.one-triangle",
            fmt::format("matrix {} is symmetric (form 6) and holds one triangle only; it was mirrored",
                        header_.name),
            pos);
        fold_to_lower(matrix_);
      }
    }
    return std::move(matrix_);
  }

 private:
  Header header_;
  ImportedMatrix matrix_;
  long col_ = 0, row_ = 0;
};

// The length in words and the first row of a string of a sparse column.
struct StringHeader {
  long words, row;
};
StringHeader unpack_string_header(long is) {
  const long words = is / bigmat_rows - 1;
  return {words, is - bigmat_rows * (words + 1)};
}

// ---- text -------------------------------------------------------------------------------------------------

// "1P,5E16.9": five numbers a line, sixteen characters each. OUTPUT4's default where nothing is said.
struct NumberFormat {
  int per_line = 5, width = 16;
};

NumberFormat read_number_format(std::string_view text, const SourcePos& pos) {
  NumberFormat format;
  std::string format_text = to_upper(trim(text));
  if (format_text.empty()) return format;
  // the letter that has digits on both sides; 1P, commas and parentheses before it are of no interest
  const size_t letter = format_text.find_first_of("ED");
  const auto fail_format = [&]() {
    fail_input(pos, "expected a Fortran format such as 1P,5E16.9, found '{}'", trim(text).substr(0, 30));
  };
  if (letter == std::string::npos) fail_format();
  size_t start = letter;
  while (start > 0 && format_text[start - 1] >= '0' && format_text[start - 1] <= '9') --start;
  size_t end = letter + 1;
  while (end < format_text.size() && format_text[end] >= '0' && format_text[end] <= '9') ++end;
  const auto per_line = parse_long(format_text.substr(start, letter - start));
  const auto width = parse_long(format_text.substr(letter + 1, end - letter - 1));
  if (!per_line || !width || *per_line < 1 || *per_line > 1000 || *width < 2 || *width > 60) fail_format();
  return {static_cast<int>(*per_line), static_cast<int>(*width)};
}

// Four integers of eight characters at the line's start, the first line of a matrix; nothing if it is none.
std::optional<std::array<long, 4>> cut_header_numbers(std::string_view line) {
  if (line.size() < 32) return std::nullopt;
  std::array<long, 4> numbers{};
  for (size_t k = 0; k < 4; ++k) {
    const auto number = parse_long(line.substr(8 * k, 8));
    if (!number) return std::nullopt;
    numbers[k] = *number;
  }
  return numbers;
}

class TextReader {
 public:
  TextReader(std::string_view bytes, const std::string& path, Diagnostics& diagnostics)
      : lines_(bytes, path), diagnostics_(diagnostics) {}

  std::vector<ImportedMatrix> read() {
    std::vector<ImportedMatrix> matrices;
    std::string_view line;
    while (lines_.next(line))
      if (!trim(line).empty()) matrices.push_back(read_matrix(line));
    return matrices;
  }

 private:
  std::string_view need_line(std::string_view what) {
    std::string_view line;
    if (!lines_.next(line))
      fail_input(lines_.pos(), "the file ends where {} was expected; was it cut off?", what);
    return line;
  }

  ImportedMatrix read_matrix(std::string_view line) {
    const SourcePos where = lines_.pos();
    const auto numbers = cut_header_numbers(line);
    if (!numbers)
      fail_input(where,
                 "expected the header of an OUTPUT4 matrix (columns, rows, form, type in eight characters "
                 "each), found "
                 "'{}'",
                 line.substr(0, 40));
    ColumnCollector collector(
        check_header((*numbers)[0], (*numbers)[1], (*numbers)[2], (*numbers)[3], line.substr(32, 8), where));
    format_ = read_number_format(line.size() > 40 ? line.substr(40) : std::string_view(), where);
    const long words_per_value = collector.header().type;

    while (true) {
      const auto [col, row, words] = column_line(need_line("a column"));
      if (!collector.open_column(col, lines_.pos())) break;
      if (row > 0) {
        read_run(collector, row, words);
        continue;
      }
      for (long left = words; left > 0;) {
        const StringHeader string = string_line(need_line("a string of values"), collector.header().bigmat);
        if (string.words > left)
          fail_input(lines_.pos(), "a string of {} words goes beyond the {} that are left of its column",
                     string.words, left);
        // a string and its header take words + 1 (IS) or words + 2 (L, row) of the column's words
        left -= string.words + (collector.header().bigmat ? 2 : 1);
        read_run(collector, string.row, string.words / words_per_value);
      }
    }
    // the value behind the end mark; a file may end without it
    std::string_view rest;
    if (lines_.next(rest) && cut_header_numbers(rest)) lines_.put_back();
    return collector.finish(where, diagnostics_);
  }

  // Three integers, by blanks or, where they touch, by eight characters each.
  std::array<long, 3> column_line(std::string_view line) {
    auto fields = split_blanks(line);
    if (fields.size() != 3 && line.size() >= 17)
      fields = {line.substr(0, 8), line.substr(8, 8), line.substr(16, 8)};
    if (fields.size() != 3)
      fail_input(lines_.pos(), "expected \"column, first row, words\", found '{}'", line.substr(0, 40));
    const std::array<long, 3> numbers = {to_long(fields[0], lines_.pos(), "a column number"),
                                         to_long(fields[1], lines_.pos(), "a first row"),
                                         to_long(fields[2], lines_.pos(), "a number of words")};
    if (numbers[1] < 0 || numbers[2] < 0)
      fail_input(lines_.pos(), "expected \"column, first row, words\", found '{}'", line.substr(0, 40));
    return numbers;
  }

  StringHeader string_line(std::string_view line, bool bigmat) {
    const SourcePos pos = lines_.pos();
    StringHeader string{};
    if (bigmat) {
      auto fields = split_blanks(line);
      if (fields.size() != 2 && line.size() > 8) fields = {line.substr(0, 8), line.substr(8, 8)};
      if (fields.size() != 2)
        fail_input(pos, "expected \"L, row\" of a string, found '{}'", line.substr(0, 40));
      const long length = to_long(fields[0], pos, "a string length");
      string = {length > 0 ? length - 1 : 0, to_long(fields[1], pos, "a row")};
    } else {
      string = unpack_string_header(to_long(line, pos, "a string header"));
    }
    if (string.words < 1) fail_input(pos, "a string of values has no length, found '{}'", line.substr(0, 40));
    return string;
  }

  // Numbers of a fixed width that need no blank between them.
  void read_run(ColumnCollector& collector, long row, long count) {
    collector.open_run(row, count, lines_.pos());
    const size_t width = static_cast<size_t>(format_.width);
    for (long k = 0; k < count;) {
      const std::string_view line = need_line("values");
      for (int i = 0; i < format_.per_line && k < count; ++i, ++k) {
        const size_t from = static_cast<size_t>(i) * width;
        if (from >= line.size())
          fail_input(lines_.pos(), "expected {} values of {} characters", format_.per_line, width);
        collector.add(to_double(line.substr(from, width), lines_.pos(), "a matrix entry"));
      }
    }
  }

  LineReader lines_;
  Diagnostics& diagnostics_;
  NumberFormat format_;
};

// ---- binary -----------------------------------------------------------------------------------------------

// How a binary file is written: Fortran records between 32-bit marks, words of 4 or 8 bytes.
struct BinaryLayout {
  bool swap = false;
  size_t word = 4;
};

template <class T>
T load(std::string_view bytes, size_t at, bool swap) {
  char raw[sizeof(T)];
  std::memcpy(raw, bytes.data() + at, sizeof(T));
  if (swap) std::reverse(raw, raw + sizeof(T));
  T value;
  std::memcpy(&value, raw, sizeof(T));
  return value;
}

// The header record is 6 words long: its marks tell the byte order and the size of a word.
std::optional<BinaryLayout> binary_layout(std::string_view bytes) {
  if (bytes.size() < 32) return std::nullopt;
  for (const bool swap : {false, true}) {
    const auto mark = load<std::uint32_t>(bytes, 0, swap);
    if ((mark == 24 || mark == 48) && bytes.size() >= mark + 8 &&
        load<std::uint32_t>(bytes, 4 + mark, swap) == mark)
      return BinaryLayout{swap, mark == 24 ? 4u : 8u};
  }
  return std::nullopt;
}

class BinaryReader {
 public:
  BinaryReader(std::string_view bytes, const std::string& path, BinaryLayout layout, Diagnostics& diagnostics)
      : bytes_(bytes), path_(path), layout_(layout), diagnostics_(diagnostics) {}

  std::vector<ImportedMatrix> read() {
    std::vector<ImportedMatrix> matrices;
    while (offset_ < bytes_.size()) matrices.push_back(read_matrix());
    return matrices;
  }

 private:
  // Binary files have no lines; messages tell the byte instead.
  SourcePos pos() const { return {fmt::format("{} (byte {})", path_, offset_), 0}; }

  // The next record, its marks checked.
  std::string_view next_record() {
    if (bytes_.size() - offset_ < 8) fail_input(pos(), "the file ends inside a matrix; was it cut off?");
    const std::uint32_t size = load<std::uint32_t>(bytes_, offset_, layout_.swap);
    if (size > bytes_.size() - offset_ - 8)
      fail_input(pos(), "a record of {} bytes goes beyond the end of the file; was it cut off?", size);
    if (load<std::uint32_t>(bytes_, offset_ + 4 + size, layout_.swap) != size)
      fail_input(pos(), "the marks around a record of {} bytes differ; was the file transferred as text?",
                 size);
    const std::string_view record = bytes_.substr(offset_ + 4, size);
    offset_ += size_t{size} + 8;
    return record;
  }

  long integer(std::string_view record, size_t word) const {
    return layout_.word == 4 ? load<std::int32_t>(record, 4 * word, layout_.swap)
                             : load<std::int64_t>(record, 8 * word, layout_.swap);
  }

  ImportedMatrix read_matrix() {
    const SourcePos where = pos();
    const std::string_view head = next_record();
    if (head.size() != 6 * layout_.word)
      fail_input(where, "expected the header of a matrix in {} bytes, found a record of {}", 6 * layout_.word,
                 head.size());
    ColumnCollector collector(check_header(integer(head, 0), integer(head, 1), integer(head, 2),
                                           integer(head, 3), head.substr(4 * layout_.word), where));
    // 64-bit words hold a double each, whatever the type says
    const long words_per_value = layout_.word == 8 ? 1 : collector.header().type;

    while (true) {
      const SourcePos at = pos();
      const std::string_view record = next_record();
      if (record.size() < 3 * layout_.word)
        fail_input(at, "a column record has {} bytes only", record.size());
      const long row = integer(record, 1), words = integer(record, 2);
      if (!collector.open_column(integer(record, 0), at)) break;
      if (row < 0 || words < 0 || static_cast<size_t>(words) > record.size() / layout_.word - 3)
        fail_input(at, "a column says it has {} words from row {}, but its record has {}", words, row,
                   record.size() / layout_.word - 3);
      if (row > 0) {
        add_run(collector, record, 3, row, words / words_per_value, at);
        continue;
      }
      read_strings(collector, record.substr(0, (3 + static_cast<size_t>(words)) * layout_.word),
                   words_per_value, at);
    }
    return collector.finish(where, diagnostics_);
  }

  void read_strings(ColumnCollector& collector, std::string_view record, long words_per_value,
                    const SourcePos& at) {
    const size_t end = record.size() / layout_.word;
    const bool bigmat = collector.header().bigmat;
    const size_t header_words = bigmat ? 2 : 1;
    for (size_t word = 3; word < end;) {
      if (end - word < header_words) fail_input(at, "a string of values has no complete header");
      StringHeader string{};
      if (bigmat) {
        const long length = integer(record, word);
        string = {length > 0 ? length - 1 : 0, integer(record, word + 1)};
      } else {
        string = unpack_string_header(integer(record, word));
      }
      word += header_words;
      if (string.words < 1 || static_cast<size_t>(string.words) > end - word)
        fail_input(at, "a string of {} words goes beyond its record", string.words);
      add_run(collector, record, word, string.row, string.words / words_per_value, at);
      word += static_cast<size_t>(string.words);
    }
  }

  void add_run(ColumnCollector& collector, std::string_view record, size_t word, long row, long count,
               const SourcePos& at) {
    collector.open_run(row, count, at);
    const bool single = layout_.word == 4 && collector.header().type == 1;
    const size_t bytes_per_value = single ? 4 : 8;
    for (long k = 0; k < count; ++k) {
      const size_t from = word * layout_.word + static_cast<size_t>(k) * bytes_per_value;
      const double value =
          single ? load<float>(record, from, layout_.swap) : load<double>(record, from, layout_.swap);
      if (!std::isfinite(value))
        fail_input(at, "matrix {} has an entry that is no number (nan or infinite) in row {}",
                   collector.header().name, row + k);
      collector.add(value);
    }
  }

  std::string_view bytes_;
  const std::string& path_;
  BinaryLayout layout_;
  Diagnostics& diagnostics_;
  size_t offset_ = 0;
};

}  // namespace

bool looks_like_output4(std::string_view bytes) {
  if (binary_layout(bytes)) return true;
  LineReader lines(bytes.substr(0, 200), "");
  std::string_view line;
  // four integers and then a name, which begins with a letter
  return lines.next(line) && cut_header_numbers(line) && line.size() > 32 &&
         ((line[32] >= 'A' && line[32] <= 'Z') || (line[32] >= 'a' && line[32] <= 'z'));
}

std::vector<ImportedMatrix> read_output4(std::string_view bytes, const std::string& path,
                                         Diagnostics& diagnostics) {
  const auto layout = binary_layout(bytes);
  auto matrices = layout ? BinaryReader(bytes, path, *layout, diagnostics).read()
                         : TextReader(bytes, path, diagnostics).read();
  if (matrices.empty()) fail_input("{}: the file has no OUTPUT4 matrix", path);
  return matrices;
}

}  // namespace lissom
