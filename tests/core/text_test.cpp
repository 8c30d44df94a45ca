#include "lissom/core/text.hpp"

#include <gtest/gtest.h>

namespace lissom::text_test {
namespace {

TEST(Text, NumbersOfEveryFortranAndNastranSpellingAreRead) {
  EXPECT_DOUBLE_EQ(*parse_double(" 1.5 "), 1.5);
  EXPECT_DOUBLE_EQ(*parse_double("+1.5E3"), 1500);
  EXPECT_DOUBLE_EQ(*parse_double("1.5D-03"), 1.5e-3);
  EXPECT_DOUBLE_EQ(*parse_double("7.+5"), 7e5);
  EXPECT_DOUBLE_EQ(*parse_double("-4.999999523-03"), -4.999999523e-3);
  EXPECT_DOUBLE_EQ(*parse_double(".5"), 0.5);
  EXPECT_DOUBLE_EQ(*parse_double("1e+5"), 1e5);
  EXPECT_DOUBLE_EQ(*parse_double("1e-400"), 0.0);
}

TEST(Text, WhatIsNoNumberIsRefused) {
  for (const char* text : {"", "abc", "1.5x", "nan", "inf", "1e400", "--1", "+-1", "1.5.2", "e5", "0x10"})
    EXPECT_FALSE(parse_double(text)) << text;
  EXPECT_FALSE(parse_long("1.5"));
  EXPECT_FALSE(parse_long("99999999999999999999"));
}

TEST(Text, LinesOfEveryEndingAreCounted) {
  LineReader reader("one\ntwo\r\nthree\rfour", "f");
  std::string_view line;
  for (const char* expected : {"one", "two", "three", "four"}) {
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line, expected);
  }
  EXPECT_EQ(reader.line(), 4);
  EXPECT_FALSE(reader.next(line));
}

TEST(Text, AMisspeltWordFindsWhatWasMeant) {
  EXPECT_EQ(closest("inspct", {"inspect", "modes"}), "inspect");
  EXPECT_FALSE(closest("xyzzy", {"inspect", "modes"}));
}

}  // namespace
}  // namespace lissom::text_test
