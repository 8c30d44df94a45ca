#include "lissom/core/temporary_name.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include <algorithm>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/error.hpp"
#include "lissom/core/private_folder.hpp"
#include "lissom/core/process_identity.hpp"
#include "tests/process_test_support.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::temporary_name_test {
namespace {

namespace fs = std::filesystem;

// Sets when a file was changed last, in days before now.
void make_older(const fs::path& path, int days) {
  timespec times[2] = {};
  times[0].tv_sec = times[1].tv_sec = ::time(nullptr) - days * 86400L;
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST(TemporaryName, SaysWhoseItIs) {
  const std::string name = temporary_name("result.h5");
  TemporaryOwner owner;
  ASSERT_TRUE(parse_temporary_name(name, owner)) << name;
  EXPECT_EQ(owner.machine, machine_tag());
  EXPECT_EQ(owner.pid, ::getpid());
  EXPECT_TRUE(runs_here(owner.pid, owner.born));
  EXPECT_GT(owner.born, 0);
  EXPECT_NE(name, temporary_name("result.h5"));
  EXPECT_EQ(name.find(".result.h5.lissom-"), 0u);
}

TEST(TemporaryName, NamesOfOthersAreNotTakenForOurs) {
  TemporaryOwner owner;
  EXPECT_TRUE(parse_temporary_name(".x.lissom-0123abcd-12-345-6.tmp", owner));
  for (const char* name :
       {"x.lissom-0123abcd-12-345-6.tmp", ".x.lissom-0123abcd-12-345-6", ".x.lissom-0123abcd-12-345-6.tmp~",
        ".x.lissom-0123abcd-12-345.tmp", ".x.lissom-0123abcd-12-345-6-7.tmp",
        ".x.lissom-0123abc-12-345-6.tmp", ".x.lissom-0123ABCD-12-345-6.tmp",
        ".x.lissom-0123abcd-012-345-6.tmp", ".x.lissom-0123abcd-12-345-.tmp",
        ".x.lissom-0123abcd--12-345-6.tmp", ".x.lissom-0123abcd-12-345-x.tmp", ".x.12-0.tmp", ".sweep.tmp",
        ".lissom-0123abcd-12-345-6.tmp", ".lissom.tmp", "sensors.csv.tmp",
        ".x.lissom-0123abcd-99999999999999999999-345-6.tmp"})
    EXPECT_FALSE(parse_temporary_name(name, owner)) << name;
}

TEST(TemporaryName, LongNamesAreCutBetweenCharacters) {
  std::string name;
  while (name.size() < 249) name += "\u00e4";
  const std::string made = temporary_name(name);
  EXPECT_LT(made.size(), 255u);
  EXPECT_EQ((made.find(".lissom-") - 1) % 2, 0u) << "a character of two bytes was cut";
  // a file whose name is as long as a name can be
  const TemporaryFolder folder;
  const fs::path longest = folder / std::string(255, 'n');
  AtomicFile file(longest);
  file.write("x");
  file.commit();
  EXPECT_EQ(fs::file_size(longest), 1u);
  // one that is longer is told before anything is written
  EXPECT_NE(message_of<Error>([&] {
              AtomicFile beyond(folder / std::string(256, 'n'));
            }).find("File name too long"),
            std::string::npos);
  EXPECT_EQ(folder.names().size(), 1u);
}

TEST(TemporaryName, OnlyWhatDeadProcessesHaveLeftIsRemoved) {
  const TemporaryFolder folder;
  const ProcessIdentity own = own_process();
  const auto name = [](const std::string& machine, long pid, long long born) {
    return fmt::format(".result.h5.lissom-{}-{}-{}-0.tmp", machine, pid, born);
  };
  const std::string elsewhere = machine_tag() == "00000000" ? "00000001" : "00000000";
  pid_t gone = 0;
  {
    OtherProcess other([] { return "here"; });
    gone = other.pid();
  }
  const std::string dead = name(machine_tag(), gone, 5), reused = name(machine_tag(), own.pid, own.born + 1),
                    living = name(machine_tag(), own.pid, own.born), fresh = name(elsewhere, 1, 2),
                    old = name(elsewhere, 1, 3), users = ".notes.tmp", earlier = ".result.h5.17-0.tmp";
  for (const std::string& one : {dead, reused, living, fresh, old, users, earlier}) folder.write(one, "x");
  // a folder with something in it, and a link to what is not ours
  const std::string work = fmt::format(".sweep-work.lissom-{}-{}-5-1.tmp", machine_tag(), gone);
  fs::create_directory(folder / work);
  folder.write(work + "/task.json", "{}");
  const std::string link = fmt::format(".link.lissom-{}-{}-5-2.tmp", machine_tag(), gone);
  fs::create_symlink(folder / users, folder / link);
  for (const std::string& one : {old, users, earlier}) make_older(folder / one, 3);

  EXPECT_EQ(remove_left_behind(folder.path()), 4);
  std::vector<std::string> left = folder.names(), expected = {living, fresh, users, earlier, link};
  std::sort(left.begin(), left.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(left, expected);
}

TEST(PrivateFolder, IsOursAloneAndGoesWithItsOwnerOrWithTheNext) {
  const TemporaryFolder place;
  const char* before = ::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  ::setenv("TMPDIR", place.path().c_str(), 1);
  OtherProcess other([] {
    static const auto* const folder = new PrivateFolder;
    write_bytes(folder->path() / "mesh.msh", "half");
    return folder->path().string();
  });
  const fs::path of_other = other.said();
  struct stat status {};
  ASSERT_EQ(::stat(of_other.c_str(), &status), 0) << other.said();
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  fs::create_directory(place / "lissom-x1y2z3");
  {
    const PrivateFolder own;
    EXPECT_TRUE(fs::exists(own.path()));
    EXPECT_TRUE(fs::exists(of_other)) << "its process lives";
  }
  other.end(SIGKILL);
  EXPECT_TRUE(fs::exists(of_other / "mesh.msh"));
  { const PrivateFolder own; }
  EXPECT_EQ(place.names(), std::vector<std::string>{"lissom-x1y2z3"});
  before ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace lissom::temporary_name_test
