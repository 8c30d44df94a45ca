// What every HDF5 file of ours must stand: truncation, changed bytes, a full disk, and a reference page that
// tells the truth.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "lissom/core/error.hpp"
#include "lissom/core/hdf5.hpp"
#include "lissom/core/text.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::test {

// Bit by bit: also NaN, the sign of zero and the smallest numbers.
template <class A, class B>
void expect_same(const A& a, const B& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  if (a.size() == 0) return;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), sizeof(*a.data()) * a.size()), 0);
}

inline void expect_same(double a, double b) {
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);
}

// Every cut of the file is refused with a message that begins with its name; `step` a prime, so that the cuts
// fall everywhere.
inline void expect_truncations_refused(
    const TemporaryFolder& folder, const std::filesystem::path& file, size_t step,
    const std::function<std::string(const std::filesystem::path&)>& refusal) {
  const std::string bytes = read_file(file);
  const std::filesystem::path cut = folder / "cut.h5";
  for (size_t size = 0; size < bytes.size(); size += step) {
    write_bytes(cut, std::string_view(bytes).substr(0, size));
    EXPECT_EQ(refusal(cut).find(cut.string() + ":"), 0) << size;
  }
}

// A flipped bit in every step-th byte is refused (InputError), or `read_and_compare` finds what was written.
// Returns the number of refusals.
inline int expect_changed_bytes_harmless(
    const TemporaryFolder& folder, const std::filesystem::path& file, size_t step,
    const std::function<void(const std::filesystem::path&)>& read_and_compare) {
  const std::string bytes = read_file(file);
  const std::filesystem::path changed = folder / "changed.h5";
  int refused = 0;
  for (size_t at = 0; at < bytes.size() && !::testing::Test::HasFailure(); at += step) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    write_bytes(changed, damaged);
    try {
      read_and_compare(changed);
    } catch (const InputError&) {
      ++refused;
    }
    EXPECT_FALSE(::testing::Test::HasFailure()) << "byte " << at;
  }
  return refused;
}

// The message of Error that `write` throws when files may have 256 kB only.
inline std::string message_on_full_disk(const std::function<void()>& write) {
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 18, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    write();
  } catch (const Error& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  return message;
}

// docs/reference/NAME.md.
inline std::string reference_page(const std::string& name) {
  return read_file(source_folder() / "docs/reference" / (name + ".md"));
}

// Every dataset of the file is named in the page; returns their number.
inline int expect_datasets_documented(const std::filesystem::path& file, const std::string& page) {
  int count = 0;
  const std::function<void(const hdf5::Group&, const std::string&)> visit = [&](const hdf5::Group& group,
                                                                                const std::string& path) {
    for (const std::string& name : group.names()) {
      const std::string full = path + "/" + name;
      if (group.has_group(name)) {
        visit(group.group(name), full);
      } else {
        ++count;
        EXPECT_NE(page.find("`" + full + "`"), std::string::npos) << full << " is not in the page";
      }
    }
  };
  visit(hdf5::File::open(file).root(), "");
  return count;
}

// Runs the page's Python in the folder, with `assertions` behind it. Returns why it could not be run, if
// Debian's Python lacks a module.
inline std::optional<std::string> run_python_of_page(const TemporaryFolder& folder, const std::string& page,
                                                     const std::string& assertions) {
  const std::string fence = "```python\n";
  const size_t start = page.find(fence) + fence.size();
  write_bytes(folder / "read.py", page.substr(start, page.find("```\n", start) - start) + assertions);
  const std::string command =
      fmt::format("cd {} && /usr/bin/python3 read.py > log 2>&1", folder.path().string());
  const int status = std::system(command.c_str());
  const std::string log = read_file(folder / "log");
  if (WEXITSTATUS(status) == 127 || log.find("ModuleNotFoundError") != std::string::npos) return log;
  EXPECT_EQ(status, 0) << log;
  return std::nullopt;
}

}  // namespace lissom::test
