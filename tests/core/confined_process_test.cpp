#include "lissom/core/confined_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "lissom/core/error.hpp"
#include "lissom/core/text.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::confined_process_test {
namespace {

namespace fs = std::filesystem;

struct Ran {
  ConfinedResult result;
  std::string printed;
};

// A script of the shell, which needs no other program for what it does: echo, cd, redirections are its own.
Ran run_script(const TemporaryFolder& folder, const std::string& text, bool trusted = false) {
  fs::create_directories(folder / "box");
  ConfinedOptions options;
  options.arguments = {"/bin/sh", "-c", text};
  options.folder = folder / "box";
  options.log = folder / "box/log";
  options.trusted = trusted;
  Ran ran;
  ran.result = run_confined(options);
  ran.printed = read_file(options.log);
  return ran;
}

TEST(ConfinedProcess, StartsNoOtherProgram) {
  const TemporaryFolder folder;
  const Ran ran = run_script(folder, "echo begun; /bin/touch gone; echo ended");
  EXPECT_TRUE(ran.printed.starts_with("begun")) << ran.printed;
  if (!ran.result.no_programs) GTEST_SKIP() << "the kernel has no seccomp for us: programs are not held back";
  EXPECT_FALSE(fs::exists(folder / "box/gone"));
  EXPECT_NE(ran.printed.find("not permitted"), std::string::npos) << ran.printed;
}

TEST(ConfinedProcess, WritesNowhereButInItsFolder) {
  const TemporaryFolder folder;
  const Ran ran = run_script(
      folder, "echo a > inside; echo b > " + (folder / "outside").string() + "; echo c > ../beside");
  EXPECT_EQ(read_file(folder / "box/inside"), "a\n");
  if (!ran.result.read_only)
    GTEST_SKIP() << "the kernel has no user namespaces for us: files outside are not protected";
  EXPECT_FALSE(fs::exists(folder / "outside"));
  EXPECT_FALSE(fs::exists(folder / "beside"));
}

TEST(ConfinedProcess, HasAHomeOfItsOwnAndFewVariables) {
  const TemporaryFolder folder;
  setenv("LISSOM_TEST_SECRET", "secret", 1);
  const Ran ran = run_script(folder, "echo \"$HOME $TMPDIR $LISSOM_TEST_SECRET.\"; pwd");
  const std::string box = (folder / "box").string();
  EXPECT_EQ(ran.printed, box + " " + box + " .\n" + box + "\n");
  const Ran trusted = run_script(folder, "echo \"$LISSOM_TEST_SECRET\"; /bin/true && echo true", true);
  EXPECT_TRUE(trusted.printed.ends_with("secret\ntrue\n")) << trusted.printed;
  EXPECT_FALSE(trusted.result.no_programs);
  unsetenv("LISSOM_TEST_SECRET");
}

TEST(ConfinedProcess, ItsEndIsToldAndWhatCannotBeStartedIsAnError) {
  const TemporaryFolder folder;
  EXPECT_EQ(WEXITSTATUS(run_script(folder, "exit 3").result.status), 3);
  EXPECT_EQ(WTERMSIG(run_script(folder, "kill -9 $$").result.status), 9);
  ConfinedOptions options;
  options.folder = folder / "box";
  options.log = folder / "box/log";
  for (const std::string name : {"/nowhere/program", "no-such-program-anywhere"}) {
    options.arguments = {name};
    EXPECT_EQ(message_of<Error>([&] { run_confined(options); }),
              "the program '" + name + "' cannot be run: No such file or directory");
  }
  options.arguments = {(folder / "box/log").string()};
  EXPECT_EQ(message_of<Error>([&] { run_confined(options); }),
            "the program '" + (folder / "box/log").string() + "' cannot be run: Permission denied");
}

}  // namespace
}  // namespace lissom::confined_process_test
