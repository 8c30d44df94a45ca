#include "lissom/core/child_process.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "lissom/core/error.hpp"
#include "lissom/core/text.hpp"
#include "tests/process_test_support.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::child_process_test {
namespace {

ChildOptions shell(const std::string& script) {
  ChildOptions options;
  options.program = "sh";
  options.arguments = {"-c", script};
  return options;
}

// Also one that has ended and that nobody has asked about.
bool is_gone(long pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  return !std::getline(file, text) || text.find(") Z") != std::string::npos;
}

TEST(ChildProcess, EndsWithItsParentHoweverThatEnds) {
  for (const int signal : {SIGKILL, SIGTERM, SIGHUP})
    for (const bool own_group : {true, false}) {
      // a parent that starts a child and is killed
      OtherProcess parent([&] {
        ChildOptions options = shell("exec sleep 1000");
        options.own_group = own_group;
        static auto* const child = new ChildProcess(options);
        return std::to_string(child->pid());
      });
      const auto child = parse_long(parent.said());
      ASSERT_TRUE(child) << parent.said();
      EXPECT_FALSE(is_gone(*child));
      parent.end(signal);
      EXPECT_TRUE(soon([&] { return is_gone(*child); })) << "signal " << signal;
    }
}

TEST(ChildProcess, ALauncherMayEndWhatItHasStarted) {
  const TemporaryFolder folder;
  OtherProcess parent([&] {
    ChildOptions options;
    options.launcher = {"sh", "-c",
                        "trap 'echo told > " + (folder / "told").string() + "; exit' TERM; echo ready > " +
                            (folder / "ready").string() + "; while true; do sleep 0.05; done"};
    options.program = "true";
    static auto* const child = new ChildProcess(options);
    return std::to_string(child->pid());
  });
  ASSERT_TRUE(soon([&] { return std::filesystem::exists(folder / "ready"); })) << parent.said();
  parent.end(SIGKILL);
  EXPECT_TRUE(soon([&] { return std::filesystem::exists(folder / "told"); }));
}

TEST(ChildProcess, PrintsIntoFilesAndSaysHowItEnded) {
  const TemporaryFolder folder;
  ChildOptions options =
      shell("echo out; echo err >&2; echo $OMP_NUM_THREADS; read x || echo nothing; exit 7");
  options.threads = 3;
  options.output = options.messages = folder / "log";
  ChildProcess child(options);
  child.wait();
  EXPECT_EQ(child.exit_code(), 7);
  EXPECT_EQ(child.how(), "ended with exit code 7");
  EXPECT_EQ(read_file(folder / "log"), "out\nerr\n3\nnothing\n");

  ChildProcess killed(shell("kill -9 $$"));
  killed.wait();
  EXPECT_FALSE(killed.exit_code());
  EXPECT_EQ(killed.how(), "was ended by signal 9 (Killed)");
  EXPECT_EQ(message_of<Error>([] {
              ChildOptions nothing;
              nothing.program = "/nowhere/program";
              ChildProcess none(nothing);
            }),
            "'/nowhere/program' cannot be started: No such file or directory");
  EXPECT_NE(message_of<Error>([&] {
              ChildOptions nowhere = shell("true");
              nowhere.output = folder / "no/such/folder/log";
              ChildProcess none(nowhere);
            }).find("cannot be started: No such file"),
            std::string::npos);
}

TEST(ChildProcess, DoesNotInheritHandlersOrBlockedSignals) {
  // a parent that has made Ctrl-C a wish must not make its children deaf
  const auto before = std::signal(SIGINT, [](int) {});
  // the program itself is interrupted: a shell that waits for one takes the signal as its child's affair
  ChildProcess child(shell("exec sleep 1000"));
  child.interrupt();
  EXPECT_TRUE(soon([&] { return child.ended(); }));
  EXPECT_EQ(child.how(), "was ended by signal 2 (Interrupt)");
  std::signal(SIGINT, before);
}

TEST(ChildProcess, IsKilledWithAllThatItHasStartedWhereItIsGivenUp) {
  const TemporaryFolder folder;
  {
    ChildOptions options = shell("sleep 1000 & echo $!; wait");
    options.output = folder / "printed";
    const ChildProcess child(options);
    ASSERT_TRUE(soon([&] {
      return std::filesystem::exists(folder / "printed") && !read_file(folder / "printed").empty();
    }));
  }
  const auto grandchild = parse_long(trim(read_file(folder / "printed")));
  ASSERT_TRUE(grandchild);
  EXPECT_TRUE(soon([&] { return is_gone(*grandchild); }));
}

}  // namespace
}  // namespace lissom::child_process_test
