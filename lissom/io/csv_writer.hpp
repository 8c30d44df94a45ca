// A CSV file that grows by whole lines: what was written is there whatever comes.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lissom {

class CsvWriter {
 public:
  // Creates the file with the header "t,COLUMN,..". All of it throws Error when it cannot be written; the
  // lines written before stay then.
  CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns);
  // Goes on in a file behind its first bytes; what follows is cut off. Throws InputError where the file is
  // not there or shorter.
  CsvWriter(const std::filesystem::path& path, std::uint64_t bytes);
  ~CsvWriter();
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;

  // Shortest digits that read back as the same numbers.
  void add(double t, const Eigen::VectorXd& values);
  void flush();
  std::uint64_t bytes() const { return written_; }  // of the lines flushed

 private:
  [[noreturn]] void fail_writing() const;

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t written_ = 0;
  std::string waiting_;
};

}  // namespace lissom
