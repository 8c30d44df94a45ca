#include "lissom/core/folder_lock.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/error.hpp"
#include "lissom/core/process_identity.hpp"
#include "tests/process_test_support.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::folder_lock_test {
namespace {

namespace fs = std::filesystem;

std::string hold(const fs::path& folder) {
  // never given back: the process is killed
  static const auto* const lock = new FolderLock(folder);
  return lock ? "held" : "";
}

TEST(FolderLock, AnotherProcessIsRefusedAndToldWhoHoldsIt) {
  const TemporaryFolder folder;
  OtherProcess other([&] { return hold(folder.path()); });
  ASSERT_EQ(other.said(), "held");
  EXPECT_EQ(message_of<InputError>([&] { const FolderLock lock(folder.path()); }),
            fmt::format("{}: process {} on {} is writing there; wait for its end, or give another folder "
                        "with --out",
                        folder.path().string(), other.pid(), own_process().host));
}

TEST(FolderLock, ItEndsWithItsProcessWhateverFileThatLeaves) {
  const TemporaryFolder folder;
  for (const int signal : {SIGKILL, SIGTERM, SIGHUP}) {
    OtherProcess other([&] { return hold(folder.path()); });
    ASSERT_EQ(other.said(), "held");
    other.end(signal);
    EXPECT_TRUE(fs::exists(folder / ".lissom.lock"));
    EXPECT_NO_THROW(const FolderLock lock(folder.path()));
    EXPECT_FALSE(fs::exists(folder / ".lissom.lock"));
  }
}

TEST(FolderLock, OneProcessMayTakeItAgainAndHoldsItUntilTheLastIsGone) {
  const TemporaryFolder folder;
  auto outer = std::make_unique<FolderLock>(folder.path());
  {
    // by another path to the same folder
    const FolderLock inner(folder.path() / "." / ".." / folder.path().filename());
    outer.reset();
    OtherProcess other([&] { return hold(folder.path()); });
    EXPECT_TRUE(other.said().find("is writing there") != std::string::npos) << other.said();
  }
  OtherProcess other([&] { return hold(folder.path()); });
  EXPECT_EQ(other.said(), "held");
}

TEST(FolderLock, AFolderThatWasMadeForItGoesUnlessSomethingIsInIt) {
  const TemporaryFolder folder;
  { const FolderLock lock(folder / "a/b/c"); }
  EXPECT_TRUE(folder.names().empty());
  {
    const FolderLock lock(folder / "a/b/c");
    write_bytes(folder / "a/b/result", "x");
  }
  EXPECT_TRUE(fs::exists(folder / "a/b/result"));
  EXPECT_FALSE(fs::exists(folder / "a/b/c"));
  // one that was there stays
  fs::create_directory(folder / "empty");
  { const FolderLock lock(folder / "empty"); }
  EXPECT_TRUE(fs::exists(folder / "empty"));
}

TEST(FolderLock, WhatAKilledProcessHasBegunToWriteGoesWithTheNext) {
  const TemporaryFolder folder;
  OtherProcess other([&] {
    static auto* const file = new AtomicFile(folder / "result.h5");
    file->write("half");
    return file->temporary().filename().string();
  });
  ASSERT_TRUE(fs::exists(folder / other.said())) << other.said();
  { const FolderLock lock(folder.path()); }
  EXPECT_TRUE(fs::exists(folder / other.said())) << "its process lives";
  other.end(SIGKILL);
  { const FolderLock lock(folder.path()); }
  EXPECT_TRUE(folder.names().empty());
}

TEST(FolderLock, AFolderThatCannotBeWrittenToIsLeftToTheWriter) {
  EXPECT_NO_THROW(const FolderLock lock("/proc/lissom"));
  const TemporaryFolder folder;
  write_bytes(folder / "file", "");
  EXPECT_NO_THROW(const FolderLock lock(folder / "file/out"));
}

}  // namespace
}  // namespace lissom::folder_lock_test
