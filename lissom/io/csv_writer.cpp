#include "lissom/io/csv_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "lissom/core/error.hpp"
#include "lissom/core/own_file.hpp"
#include "lissom/io/csv_table.hpp"

namespace lissom {

namespace {

constexpr size_t enough_bytes = 1 << 16;

}  // namespace

CsvWriter::CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns)
    : path_(path) {
  expect_replaceable(path);
  file_ = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  if (file_ < 0) fail_writing();
  waiting_ = "t";
  for (const std::string& column : columns) waiting_ += "," + csv_field(column);
  waiting_ += '\n';
  flush();
}

CsvWriter::CsvWriter(const std::filesystem::path& path, std::uint64_t bytes)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)), written_(bytes) {
  if (file_ < 0) {
    if (errno == ENOENT) fail_input("{}: no such file, and the run cannot go on without it", path.string());
    fail_writing();
  }
  const off_t size = ::lseek(file_, 0, SEEK_END);
  if (size < static_cast<off_t>(bytes)) {
    ::close(file_);
    fail_input("{}: has {} bytes, and had {} when the run was saved; it was changed since", path.string(),
               size, bytes);
  }
  if (::ftruncate(file_, static_cast<off_t>(bytes)) != 0 || ::lseek(file_, 0, SEEK_END) < 0) fail_writing();
}

CsvWriter::~CsvWriter() {
  if (file_ >= 0) ::close(file_);
}

void CsvWriter::add(double t, const Eigen::VectorXd& values) {
  const auto out = std::back_inserter(waiting_);
  fmt::format_to(out, "{}", t);
  for (const double value : values) fmt::format_to(out, ",{}", value);
  waiting_ += '\n';
  if (waiting_.size() >= enough_bytes) flush();
}

void CsvWriter::flush() {
  size_t done = 0;
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
