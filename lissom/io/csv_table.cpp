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

}  // namespace

CsvTable read_csv_table(const std::filesystem::path& path) {
  std::string text = read_file(path);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  LineReader reader(text, path.string());
  CsvTable table;
  std::vector<double> values;
  char separator = 0;
  for (std::string_view line; reader.next(line);) {
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    if (separator == 0) {
      separator = separator_of(line);
      table.columns = fields_of(line, separator);
      if (parse_double(table.columns.front()))
        fail_input(reader.pos(), "begins with the number {}, expected a heading that names the columns",
                   table.columns.front());
      continue;
    }
    const std::vector<std::string> fields = fields_of(line, separator);
    if (fields.size() != table.columns.size())
      fail_input(reader.pos(), "has {} fields, the heading has {}{}", fields.size(), table.columns.size(),
                 fields.size() < table.columns.size() ? "; the file may be truncated" : "");
    for (const std::string& field : fields) values.push_back(to_double(field, reader.pos(), "a number"));
  }
  if (values.empty()) fail_input("{}: has no line of numbers below a heading", path.string());
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto columns = static_cast<Eigen::Index>(table.columns.size());
  table.values =
      Eigen::Map<const RowMajor>(values.data(), static_cast<Eigen::Index>(values.size()) / columns, columns);
  return table;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace lissom
