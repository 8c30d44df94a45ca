#include "lissom/io/csv_trajectory.hpp"

#include <algorithm>
#include <charconv>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

// Comma before semicolon would read "0,5;0,25" wrongly, hence the semicolon first.
char find_separator(std::string_view line) {
  for (const char c : {';', ',', '\t'})
    if (line.find(c) != std::string_view::npos) return c;
  return ' ';
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Cuts the next field off the line, without blanks around it.
std::string_view next_field(std::string_view& line, char separator) {
  size_t start = 0;
  while (start < line.size() && is_blank(line[start]) && line[start] != separator) ++start;
  if (separator == ' ')
    while (start < line.size() && is_blank(line[start])) ++start;
  size_t end = start;
  while (end < line.size() && line[end] != separator && !(separator == ' ' && is_blank(line[end]))) ++end;
  const std::string_view field = line.substr(start, end - start);
  if (separator == ' ')
    while (end < line.size() && is_blank(line[end])) ++end;
  else if (end < line.size())
    ++end;
  line.remove_prefix(end);
  return trim(field);
}

long count_fields(std::string_view line, char separator) {
  if (separator != ' ') return 1 + std::count(line.begin(), line.end(), separator);
  long count = 0;
  bool inside = false;
  for (const char c : line) {
    count += !inside && !is_blank(c);
    inside = !is_blank(c);
  }
  return count;
}

std::optional<double> field_number(std::string_view field) {
  double value = 0;
  const auto [end, ec] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (ec == std::errc() && end == field.data() + field.size() && std::isfinite(value)) return value;
  return parse_double(field);  // a leading +, Fortran's D
}

std::string shown(std::string_view field) {
  constexpr size_t longest = 40;
  return printable(field.substr(0, longest)) + (field.size() > longest ? "..." : "");
}

// Calls f(line without its end, offset, bytes, number) for every line.
template <class F>
void for_each_line(const ByteSource& bytes, F f) {
  constexpr std::uint64_t at_a_time = 1 << 20;
  std::string pending;
  std::uint64_t start = 0;  // of pending
  long line = 0;
  size_t searched = 0;
  for (std::uint64_t offset = 0; offset < bytes.size();) {
    const std::uint64_t count = std::min(at_a_time, bytes.size() - offset);
    const size_t before = pending.size();
    pending.resize(before + count);
    bytes.read(offset, count, pending.data() + before);
    offset += count;
    size_t from = 0;
    for (size_t end = pending.find('\n', searched); end != std::string::npos;
         end = pending.find('\n', from)) {
      f(std::string_view(pending).substr(from, end - from), start + from, end - from, ++line);
      from = end + 1;
    }
    pending.erase(0, from);
    start += from;
    searched = pending.size();
  }
  if (!pending.empty()) f(std::string_view(pending), start, pending.size(), ++line);
}

}  // namespace

CsvTrajectory::CsvTrajectory(const std::filesystem::path& path, Diagnostics& diagnostics)
    : bytes_(open_bytes(path)), file_(path.string()) {
  for_each_line(*bytes_, [&](std::string_view text, std::uint64_t offset, std::uint64_t bytes, long number_) {
    // a mark that some programs put in front of UTF-8
    if (number_ == 1 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3), offset += 3, bytes -= 3;
    const std::string_view line = trim(text);
    if (line.empty() || line.front() == '#') return;
    take_line(line, {offset, bytes, number_}, diagnostics);
  });
  if (lines_.empty()) fail_input("{}: has no line of numbers, expected one for each sample", file_);
}

void CsvTrajectory::take_line(std::string_view text, const Line& line, Diagnostics& diagnostics) {
  const SourcePos pos{file_, line.number};
  if (separator_ == 0) separator_ = find_separator(text);
  const long fields = count_fields(text, separator_);
  if (nodes_ < 0) {
    if (fields < 4 || (fields - 1) % 3 != 0)
      fail_input(pos, "has {} fields, expected the time and three for each node", fields);
    if (fields > 3'000'000'000L) fail_input(pos, "has {} fields, which is too many", fields);
    nodes_ = static_cast<int>((fields - 1) / 3);
  } else if (fields != 1 + 3L * nodes_) {
    fail_input(pos, "has {} fields, the lines before have {}{}", fields, 1 + 3L * nodes_,
               fields < 1 + 3L * nodes_ ? "; the file may be truncated" : "");
  }
  std::string_view rest = text;
  const std::string_view first = next_field(rest, separator_);
  const auto time = field_number(first);
  if (!time) {
    if (lines_.empty() && !heading_) return take_heading(text, line.number, diagnostics);
    fail_input(pos, "expected the time, found '{}'", shown(first));
  }
  times_.push_back(*time);
  lines_.push_back(line);
}

void CsvTrajectory::take_heading(std::string_view text, long line, Diagnostics& diagnostics) {
  const SourcePos pos{file_, line};
  heading_ = true;
  const auto unquoted = [](std::string_view field) {
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
      field = field.substr(1, field.size() - 2);
    return trim(field);
  };
  const std::string_view time = unquoted(next_field(text, separator_));
  if (!iequals(time, "t") && !iequals(time, "time"))
    fail_input(pos, "the first column is '{}', expected the time: a number, or 't' in a heading",
               shown(time));
  std::vector<std::int64_t> ids;
  long named = 0;
  std::string first_other;
  for (long column = 0; column < 3L * nodes_; ++column) {
    const std::string_view name = unquoted(next_field(text, separator_));
    const size_t dot = name.rfind('.');
    const auto id = dot == std::string_view::npos ? std::nullopt : parse_long(name.substr(0, dot));
    const std::string axis = dot == std::string_view::npos ? "" : to_lower(name.substr(dot + 1));
    if (!id || axis.size() != 1 || axis[0] < 'x' || axis[0] > 'z') {
      if (first_other.empty()) first_other = shown(name);
      if (named > 0) break;
      continue;
    }
    ++named;
    if (axis[0] != 'x' + static_cast<char>(column % 3) ||
        (column % 3 != 0 && (ids.empty() || ids.back() != *id)))
      fail_input(pos, "column {} is '{}', expected x, y and z of one node after the other", column + 2,
                 shown(name));
    if (column % 3 == 0) ids.push_back(*id);
  }
  if (named == 0) {
    diagnostics.warn(
        "csv.heading",
        fmt::format("the heading names no nodes ('{}' where '17.x' is expected); they are taken in the "
                    "order of the mesh",
                    first_other),
        pos);
    return;
  }
  if (named != 3L * nodes_)
    fail_input(pos, "the heading names a column '{}', expected a node and its axis as in '17.x'",
               first_other);
  ids_ = std::move(ids);
}

void CsvTrajectory::read(int first, int count, Eigen::Ref<Eigen::MatrixXd> X) const {
  LISSOM_ASSERT(X.rows() == 3 * nodes_ && X.cols() == count);
  std::string text;
  for (int j = 0; j < count; ++j) {
    const Line& line = lines_[first + j];
    text.resize(line.bytes);
    bytes_->read(line.offset, line.bytes, text.data());
    std::string_view rest = trim(text);
    next_field(rest, separator_);
    for (Eigen::Index i = 0; i < X.rows(); ++i) {
      const std::string_view field = next_field(rest, separator_);
      const auto value = field_number(field);
      if (!value)
        fail_input({file_, line.number}, "column {}: expected a number, found '{}'", i + 2, shown(field));
      X(i, j) = *value;
    }
  }
}

std::vector<double> read_numbers(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  LineReader reader(text, path.string());
  std::vector<double> values;
  bool heading = false;
  for (std::string_view line; reader.next(line);) {
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    const char separator = find_separator(line);
    while (!line.empty()) {
      const std::string_view field = next_field(line, separator);
      const auto value = field_number(field);
      if (!value && values.empty() && !heading) {
        heading = true;
        break;
      }
      if (!value) fail_input(reader.pos(), "expected a number, found '{}'", shown(field));
      values.push_back(*value);
    }
  }
  return values;
}

}  // namespace lissom
