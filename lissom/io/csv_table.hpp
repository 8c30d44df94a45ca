// A table of numbers as text, of ours or of another program: a heading that names the columns, then a line of
// numbers for each row. Fields are separated by commas, semicolons, tabs or blanks, names may be in double
// quotes; empty lines and lines that begin with # are passed over.
#pragma once

#include <Eigen/Core>

#include <filesystem>
#include <string>
#include <vector>

namespace lissom {

struct CsvTable {
  std::vector<std::string> columns;
  Eigen::MatrixXd values;  // rows by columns
};

// Throws InputError with the line: no heading, another number of fields, no number, no rows.
CsvTable read_csv_table(const std::filesystem::path& path);

// The same with fields as they are, some of which may be texts or empty.
struct CsvText {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // each with a field for every column
};
// Throws InputError with the line: no heading, another number of fields. No rows are no error.
CsvText read_csv_text(const std::filesystem::path& path);

// A name as a field: in quotes where it has to be.
std::string csv_field(const std::string& text);

}  // namespace lissom
