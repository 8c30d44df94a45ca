#include "lissom/io/csv_table.hpp"

#include <algorithm>
#include <limits>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

// Outside of quotes; the semicolon first, because "0,5;0,25" has commas, too.
char separator_of(std::string_view line) {
  std::string outside;
  bool quoted = false;
  for (const char c : line) {
    quoted = quoted != (c == '"');
    if (!quoted) outside += c;
  }
  for (const char c : {';', ',', '\t'})
    if (outside.find(c) != std::string::npos) return c;
  return ' ';
}

std::vector<std::string> fields_of(std::string_view line, char separator) {
  std::vector<std::string> fields;
  std::string field;
  bool quoted = false, was_quoted = false;
  const auto end = [&] {
    if (separator != ' ' || !field.empty() || was_quoted)
      fields.push_back(was_quoted ? field : std::string(trim(field)));
    field.clear();
    was_quoted = false;
  };
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      field += '"';
      ++i;
    } else if (c == '"') {
      if (!quoted) field.clear();
      quoted = !quoted;
      was_quoted = true;
    } else if (!quoted && (c == separator || (separator == ' ' && c == '\t'))) {
      end();
    } else if (quoted || !was_quoted) {
      field += c;
    }
  }
  end();
  return fields;
}

// The heading, then take(fields, place) for every row.
template <class Take>
std::vector<std::string> read_rows(const std::filesystem::path& path, const Take& take) {
  std::string text = read_file(path);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  LineReader reader(text, path.string());
  std::vector<std::string> columns;
  bool any = false;
  char separator = 0;
  for (std::string_view line; reader.next(line);) {
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    if (separator == 0) {
      separator = separator_of(line);
      columns = fields_of(line, separator);
      if (parse_double(columns.front()))
        fail_input(reader.pos(), "begins with the number {}, expected a heading that names the columns",
                   columns.front());
      continue;
    }
    std::vector<std::string> fields = fields_of(line, separator);
    if (fields.size() != columns.size())
      fail_input(reader.pos(), "has {} fields, the heading has {}{}", fields.size(), columns.size(),
                 fields.size() < columns.size() ? "; the file may be truncated" : "");
    take(std::move(fields), reader.pos());
    any = true;
  }
  if (!any) fail_input("{}: has no line of numbers below a heading", path.string());
  return columns;
}

}  // namespace

int CsvText::find(std::string_view name) const {
  const auto at = std::find(columns.begin(), columns.end(), name);
  return at == columns.end() ? -1 : static_cast<int>(at - columns.begin());
}

std::vector<double> CsvText::numbers(int column) const {
  std::vector<double> out(rows.size(), std::numeric_limits<double>::quiet_NaN());
  if (column < 0) return out;
  for (size_t i = 0; i < rows.size(); ++i)
    if (const auto value = parse_double(rows[i][column])) out[i] = *value;
  return out;
}

CsvText read_csv_text(const std::filesystem::path& path) {
  CsvText table;
  table.columns = read_rows(path, [&](std::vector<std::string>&& fields, const SourcePos&) {
    table.rows.push_back(std::move(fields));
  });
  return table;
}

CsvTable read_csv_table(const std::filesystem::path& path) {
  CsvTable table;
  std::vector<double> values;
  table.columns = read_rows(path, [&](const std::vector<std::string>& fields, const SourcePos& pos) {
    for (const std::string& field : fields) values.push_back(to_double(field, pos, "a number"));
  });
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto columns = static_cast<Eigen::Index>(table.columns.size());
  table.values =
      Eigen::Map<const RowMajor>(values.data(), static_cast<Eigen::Index>(values.size()) / columns, columns);
  return table;
}

void check_csv_end(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  if (!text.empty() && text.back() != '\n')
    fail_input("{}: its last line has no end; the file may be truncated", path.string());
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace lissom
