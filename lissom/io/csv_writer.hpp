// A CSV file that grows line by line: what was written is there whatever comes.
#pragma once

#include <Eigen/Core>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lissom {

class CsvWriter {
 public:
  // Creates the file with the header "t,COLUMN,..". All of it throws Error when it cannot be written.
  CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns);
  // Shortest digits that read back as the same numbers.
  void add(double t, const Eigen::VectorXd& values);
  void flush();

 private:
  void write(const std::string& line);
  [[noreturn]] void fail_writing() const;

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string line_;
};

}  // namespace lissom
