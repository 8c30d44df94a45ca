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
  // Goes on in a file whose first lines are known: they are added once more, and keep_until_here() comes
  // behind them. What agrees stays as it is, from the first byte on that does not the file is written anew,
  // and what follows is cut off: a file that is missing, cut off, edited or damaged is as it was meant to be
  // then, and one that is right is not touched.
  struct Again {};
  CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns, Again);
  void keep_until_here();
  ~CsvWriter();
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;

  // Shortest digits that read back as the same numbers.
  void add(double t, const Eigen::VectorXd& values);
  void flush();
  std::uint64_t bytes() const { return written_; }  // of the lines flushed

 private:
  void begin(const std::vector<std::string>& columns);
  size_t agreeing() const;
  [[noreturn]] void fail_writing() const;

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t written_ = 0;
  bool comparing_ = false;  // what is flushed may be there already
  std::string waiting_;
};

}  // namespace lissom
