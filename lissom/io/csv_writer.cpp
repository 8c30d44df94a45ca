#include "lissom/io/csv_writer.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "lissom/core/error.hpp"

namespace lissom {

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

CsvWriter::CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns)
    : path_(path), file_(std::fopen(path.c_str(), "wb"), std::fclose) {
  if (!file_) fail_writing();
  std::string line = "t";
  for (const std::string& column : columns) line += "," + quoted(column);
  write(line + "\n");
  flush();
}

void CsvWriter::add(double t, const Eigen::VectorXd& values) {
  line_ = fmt::format("{}", t);
  for (const double value : values) fmt::format_to(std::back_inserter(line_), ",{}", value);
  line_ += '\n';
  write(line_);
}

void CsvWriter::flush() {
  if (std::fflush(file_.get()) != 0) fail_writing();
}

void CsvWriter::write(const std::string& line) {
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size()) fail_writing();
}

void CsvWriter::fail_writing() const {
  fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
}

}  // namespace lissom
