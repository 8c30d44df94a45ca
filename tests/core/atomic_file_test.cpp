#include "lissom/core/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "lissom/core/error.hpp"
#include "lissom/core/text.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::atomic_file_test {
namespace {

TEST(AtomicFile, TheNameAppearsOnlyWhenTheFileIsComplete) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "out.txt");
  file.write("half ");
  EXPECT_FALSE(std::filesystem::exists(folder / "out.txt"));
  file.write("a file");
  file.commit();
  EXPECT_EQ(read_file(folder / "out.txt"), "half a file");
  EXPECT_EQ(folder.names().size(), 1);
}

TEST(AtomicFile, AnExceptionLeavesTheOldFileAndNoOther) {
  const TemporaryFolder folder;
  write_bytes(folder / "out.txt", "lissom checkpoint\nold");
  try {
    AtomicFile file(folder / "out.txt");
    file.write("new");
    throw std::runtime_error("halfway");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(read_file(folder / "out.txt"), "lissom checkpoint\nold");
  EXPECT_EQ(folder.names().size(), 1);
}

TEST(AtomicFile, WhatALibraryWroteToTheTemporaryNameIsKept) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "out.txt");
  write_bytes(file.temporary(), "by another hand");
  file.commit();
  EXPECT_EQ(read_file(folder / "out.txt"), "by another hand");
}

TEST(AtomicFile, AMissingFolderAndAFolderAsFileAreNamed) {
  const TemporaryFolder folder;
  const std::string missing = (folder / "no/such/out.txt").string();
  EXPECT_EQ(message_of<Error>([&] { AtomicFile file(missing); }),
            missing + ": the folder '" + (folder / "no/such").string() + "' does not exist; create it first");
  EXPECT_EQ(message_of<Error>([&] { AtomicFile file(folder.path()); }),
            folder.path().string() + ": is a folder, expected the name of a file to write");
  write_bytes(folder / "file", "");
  EXPECT_NE(message_of<Error>([&] { AtomicFile file(folder / "file/out.txt"); }).find("is not a folder"),
            std::string::npos);
  // even root cannot make files here
  EXPECT_NE(message_of<Error>([&] {
              AtomicFile file("/proc/out.txt");
            }).find("/proc/out.txt: cannot be written in folder '/proc': "),
            std::string::npos);
}

TEST(AtomicFile, APipeIsRefusedAndStaysOne) {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
  EXPECT_EQ(message_of<Error>([&] { AtomicFile file(pipe); }),
            pipe + ": is a pipe, a socket or a device, expected the name of a file to write");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(folder.names().size(), 1u);
}

TEST(AtomicFile, AFullDiskIsAnErrorAndLeavesNothing) {
  // a limit on the size of files stands for the full disk: write() fails in the same way
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "out.bin");
    const rlimit small{4096, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string text = message_of<Error>([&] {
      file.write(std::string(1 << 20, 'x'));
      file.commit();
    });
    setrlimit(RLIMIT_FSIZE, &old);
    EXPECT_EQ(text, (folder / "out.bin").string() + ": cannot be written: File too large");
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace lissom::atomic_file_test
