#include "lissom/io/csv_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "lissom/core/error.hpp"
#include "lissom/core/own_file.hpp"
#include "lissom/io/csv_table.hpp"

namespace lissom {

namespace {

constexpr size_t buffer_bytes = 1 << 16;

}  // namespace

CsvWriter::CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns)
    : path_(path) {
  expect_replaceable(path);
  file_ = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  if (file_ < 0) fail_writing();
  begin(columns);
}

CsvWriter::CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns, Again)
    : path_(path), file_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)), comparing_(true) {
  if (file_ < 0) fail_writing();
  begin(columns);
}

void CsvWriter::begin(const std::vector<std::string>& columns) {
  waiting_ = "t";
  for (const std::string& column : columns) waiting_ += "," + csv_field(column);
  waiting_ += '\n';
  flush();
}

void CsvWriter::keep_until_here() {
  flush();
  comparing_ = false;
  const auto end = static_cast<off_t>(written_), size = ::lseek(file_, 0, SEEK_END);
  if (size < 0 || (size != end && ::ftruncate(file_, end) != 0) || ::lseek(file_, end, SEEK_SET) < 0)
    fail_writing();
}

// How many of the bytes that wait are in the file already, where they belong.
size_t CsvWriter::agreeing() const {
  std::string there(waiting_.size(), '\0');
  size_t read = 0;
  while (read < there.size()) {
    const ssize_t now =
        ::pread(file_, there.data() + read, there.size() - read, static_cast<off_t>(written_ + read));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) break;
    read += static_cast<size_t>(now);
  }
  const auto end = there.begin() + static_cast<std::ptrdiff_t>(read);
  return static_cast<size_t>(std::mismatch(there.begin(), end, waiting_.begin()).first - there.begin());
}

CsvWriter::~CsvWriter() {
  if (file_ >= 0) ::close(file_);
}

void CsvWriter::add(double t, const Eigen::VectorXd& values) {
  const auto out = std::back_inserter(waiting_);
  fmt::format_to(out, "{}", t);
  for (const double value : values) fmt::format_to(out, ",{}", value);
  waiting_ += '\n';
  if (waiting_.size() >= buffer_bytes) flush();
}

void CsvWriter::flush() {
  size_t done = 0;
  if (comparing_) {
    done = agreeing();
    if (done < waiting_.size()) {
      comparing_ = false;
      const auto end = static_cast<off_t>(written_ + done);
      if (::ftruncate(file_, end) != 0 || ::lseek(file_, end, SEEK_SET) < 0) fail_writing();
    }
  }
  while (done < waiting_.size()) {
    const ssize_t now = ::write(file_, waiting_.data() + done, waiting_.size() - done);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) {
      const int why = now < 0 ? errno : ENOSPC;
      // whole lines only
      if (::ftruncate(file_, static_cast<off_t>(written_)) == 0) ::lseek(file_, 0, SEEK_END);
      errno = why;
      fail_writing();
    }
    done += static_cast<size_t>(now);
  }
  written_ += waiting_.size();
  waiting_.clear();
}

void CsvWriter::fail_writing() const {
  fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
}

}  // namespace lissom
