#include "lissom/core/terminal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace lissom::terminal_test {
namespace {

Terminal with_blocks() {
  Terminal terminal;
  terminal.unicode = true;
  return terminal;
}

TEST(Terminal, WidthCountsCharactersNotBytes) {
  EXPECT_EQ(shown_width(""), 0u);
  EXPECT_EQ(shown_width("abc"), 3u);
  EXPECT_EQ(shown_width("Kö▁"), 3u);
}

TEST(Terminal, ColoursAreOnlyWrittenWhereTheyAreUnderstood) {
  Terminal terminal;
  EXPECT_EQ(terminal.ink(Terminal::Ink::Bad, "x"), "x");
  terminal.colour = true;
  EXPECT_EQ(terminal.ink(Terminal::Ink::Bad, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(terminal.ink(Terminal::Ink::Plain, "x"), "x");
  EXPECT_EQ(terminal.ink(Terminal::Ink::Bold, ""), "");
}

TEST(Terminal, EncodingComesFromTheFirstVariableThatIsSet) {
  setenv("LC_ALL", "C", 1);
  setenv("LANG", "en_GB.UTF-8", 1);
  EXPECT_FALSE(Terminal::of_stdout().unicode);
  setenv("LC_ALL", "C.utf8", 1);
  EXPECT_TRUE(Terminal::of_stdout().unicode);
  unsetenv("LC_ALL");
  unsetenv("LC_CTYPE");
  EXPECT_TRUE(Terminal::of_stdout().unicode);
}

TEST(Terminal, ACurveGoesFromTheLowestBlockToTheHighest) {
  EXPECT_EQ(sparkline(with_blocks(), {0, 1, 2, 3, 4, 5, 6, 7}, 8), "▁▂▃▄▅▆▇█");
  // means of pairs 0.5, 2.5, 4.5, 6.5
  EXPECT_EQ(sparkline(with_blocks(), {0, 1, 2, 3, 4, 5, 6, 7}, 4), "▁▃▆█");
  EXPECT_EQ(sparkline(with_blocks(), {5, 5, 5}, 8), "▁▁▁");
}

TEST(Terminal, ACurveLeavesBlanksWhereThereAreNoNumbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sparkline(with_blocks(), {0, nan, 1}, 3), "▁ █");
  EXPECT_EQ(sparkline(with_blocks(), {1}, 3), "");
  EXPECT_EQ(sparkline(Terminal{}, {0, 1}, 3), "");
}

}  // namespace
}  // namespace lissom::terminal_test
