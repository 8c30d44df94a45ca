#include "lissom/io/csv_table.hpp"

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

// Calls `heading` and `row` with the fields of lines that are no comments.
template <class Heading, class Row>
void read_lines(const std::filesystem::path& path, const Heading& heading, const Row& row) {
  std::string text = read_file(path);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  LineReader reader(text, path.string());
  size_t columns = 0;
  char separator = 0;
  for (std::string_view line; reader.next(line);) {
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    const bool first = separator == 0;
    if (first) separator = separator_of(line);
    std::vector<std::string> fields = fields_of(line, separator);
    if (first) {
      columns = fields.size();
      heading(reader.pos(), std::move(fields));
      continue;
    }
    if (fields.size() != columns)
      fail_input(reader.pos(), "has {} fields, the heading has {}{}", fields.size(), columns,
                 fields.size() < columns ? "; the file may be truncated" : "");
    row(reader.pos(), std::move(fields));
  }
}

}  // namespace

CsvTable read_csv_table(const std::filesystem::path& path) {
  CsvTable table;
  std::vector<double> values;
  read_lines(
      path,
      [&](const SourcePos& pos, std::vector<std::string> fields) {
        if (parse_double(fields.front()))
          fail_input(pos, "begins with the number {}, expected a heading that names the columns",
                     fields.front());
        table.columns = std::move(fields);
      },
      [&](const SourcePos& pos, const std::vector<std::string>& fields) {
        for (const std::string& field : fields) values.push_back(to_double(field, pos, "a number"));
      });
  if (values.empty()) fail_input("{}: has no line of numbers below a heading", path.string());
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto columns = static_cast<Eigen::Index>(table.columns.size());
  table.values =
      Eigen::Map<const RowMajor>(values.data(), static_cast<Eigen::Index>(values.size()) / columns, columns);
  return table;
}

CsvText read_csv_text(const std::filesystem::path& path) {
  CsvText table;
  read_lines(
      path, [&](const SourcePos&, std::vector<std::string> fields) { table.columns = std::move(fields); },
      [&](const SourcePos&, std::vector<std::string> fields) { table.rows.push_back(std::move(fields)); });
  if (table.columns.empty())
    fail_input("{}: is empty, expected a heading that names the columns", path.string());
  return table;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace lissom
