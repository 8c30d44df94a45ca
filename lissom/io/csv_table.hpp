// A table of numbers as text, of ours or of another program: a heading that names the columns, then a line of
// numbers for each row. Fields are separated by commas, semicolons, tabs or blanks, names may be in double
// quotes; empty lines and lines that begin with # are passed over.
#pragma once

#include <Eigen/Core>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lissom {

struct CsvTable {
  std::vector<std::string> columns;
  Eigen::MatrixXd values;  // rows by columns
};

// The same with fields as they are: texts, empty ones.
struct CsvText {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  // The column of this name, or -1; its fields as numbers, NaN where they are none.
  int find(std::string_view name) const;
  std::vector<double> numbers(int column) const;
};
// Throws InputError with the line: no heading, another number of fields, no rows.
CsvText read_csv_text(const std::filesystem::path& path);

// Throws InputError with the line: no heading, another number of fields, no number, no rows.
CsvTable read_csv_table(const std::filesystem::path& path);

// Throws InputError where the last line has no end, as all tables that we write have: the file was cut off,
// perhaps within a number.
void check_csv_end(const std::filesystem::path& path);

// A name as a field: in quotes where it has to be.
std::string csv_field(const std::string& text);

}  // namespace lissom
