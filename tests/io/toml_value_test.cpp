#include "lissom/io/toml_value.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace lissom {

namespace {

// What the text is refused with, "LINE: MESSAGE"; empty where it is taken.
std::string refusal_of(const std::string& text) {
  try {
    parse_toml_text(text, "s.toml");
  } catch (const TomlSyntaxError& e) {
    return std::to_string(e.line()) + ": " + e.what();
  }
  return "";
}

}  // namespace

TEST(TomlValue, EveryKindIsWhatTheTextSays) {
  const TomlValue root = parse_toml_text(
      "whole = -3\nfloat = 3.0\nhuge = 9223372036854775807\ninfinite = -inf\n"
      "text = \"a\\u00e4\"\nyes = true\n"
      "list = [1, 2.5, \"x\"]\nday = 1979-05-27\nmoment = 1979-05-27T07:32:00.25Z\nhour = 07:32:00\n",
      "s.toml");
  EXPECT_EQ(root.find("whole")->as_integer(), -3);
  EXPECT_TRUE(root.find("float")->is_floating());
  EXPECT_EQ(root.find("float")->as_floating(), 3.0);
  EXPECT_EQ(root.find("huge")->as_integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(root.find("infinite")->as_floating(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(*root.find_string("text"), "a\xC3\xA4");
  EXPECT_TRUE(root.find("yes")->as_boolean());
  ASSERT_EQ(root.find("list")->as_array().size(), 3U);
  EXPECT_TRUE(root.find("list")->as_array()[0].is_integer());
  EXPECT_TRUE(root.find("list")->as_array()[1].is_floating());
  EXPECT_EQ(root.find("day")->as_date(), "1979-05-27");
  EXPECT_EQ(root.find("moment")->as_date(), "1979-05-27T07:32:00.25Z");
  EXPECT_EQ(root.find("hour")->as_date(), "07:32:00");
  EXPECT_EQ(root.find("none"), nullptr);
  EXPECT_EQ(root.find("whole")->find("inside"), nullptr);
  EXPECT_EQ(root.find_string("whole"), nullptr);
  EXPECT_THROW(root.find("whole")->as_string(), std::bad_variant_access);
}

TEST(TomlValue, AHeaderWhoseKeyBeginsWithNoCharacterOfOneIsRefusedWithItsLine) {
  for (const std::string& header :
       {std::string("[,]"), std::string("[[=]]"), std::string("[\x01k]"), std::string("[.a]")})
    EXPECT_EQ(refusal_of("a = 1\n" + header + "\nb = 2\n").substr(0, 3), "2: ") << header;
}

TEST(TomlValue, LettersOutsideOfQuotesAreRefusedWithTheirLine) {
  for (const std::string& letter : {"\xC3\xA4", "\xC9\x9D", "\xE2\x82\xAC", "\xD0\x96"}) {
    EXPECT_EQ(refusal_of("a = [" + letter + "1]\n").substr(0, 3), "1: ") << letter;
    EXPECT_EQ(refusal_of("a = 1\n" + letter + " = 2\n").substr(0, 3), "2: ") << letter;
    EXPECT_EQ(refusal_of("a = 1" + letter + "\n").substr(0, 3), "1: ") << letter;
  }
}

TEST(TomlValue, KnowsWhereItStands) {
  const TomlValue root = parse_toml_text(
      "a.b = 1\n\n[bodies.rod]\nmesh = \"m\"\nmodes = { count = 6 }\npoints = [\n  1,\n  2]\n"
      "[[joints]]\n[[joints]]\nname = \"x\"\n[bodies]\nnext = 1\n",
      "s.toml");
  const auto line = [](const TomlValue* value) { return position_of(*value, {"none", 0}).line; };
  EXPECT_EQ(line(&root), 1);
  EXPECT_EQ(line(root.find("a")), 1);
  const TomlValue* rod = root.find("bodies")->find("rod");
  EXPECT_EQ(line(rod), 3);
  EXPECT_EQ(line(rod->find("mesh")), 4);
  EXPECT_EQ(rod->find("mesh")->place().column, 8);
  EXPECT_EQ(line(rod->find("modes")->find("count")), 5);
  EXPECT_EQ(line(&rod->find("points")->as_array()[1]), 8);
  EXPECT_EQ(line(&root.find("joints")->as_array()[1]), 10);
  // a table is where its own header is, though a part of it came before
  EXPECT_EQ(line(root.find("bodies")), 12);

  TomlValue mesh = *rod->find("mesh");
  mesh.replace(2.5);
  EXPECT_EQ(mesh.as_floating(), 2.5);
  EXPECT_EQ(line(&mesh), 4);
  // copies stand at the same place, what is read again does not
  EXPECT_EQ(mesh.place(), rod->find("mesh")->place());
  EXPECT_NE(parse_toml_text("a = 1\n", "s.toml").place(), parse_toml_text("a = 1\n", "s.toml").place());
  EXPECT_EQ(position_of(TomlValue(1), {"else", 7}).file, "else");
}

TEST(TomlValue, WhatIsNoTomlIsRefusedWithLineColumnAndACaret) {
  EXPECT_EQ(refusal_of("a = 1\nmodes = { count 3 }\n"),
            "2: column 17, while parsing key-value pair: expected '=', saw '3'\n 2 | modes = { count 3 }\n"
            "   |                 ^");
  EXPECT_NE(refusal_of("a = 1\na = 2\n").find("2: column 5, while parsing key-value pair: cannot redefine"),
            std::string::npos);
  EXPECT_NE(refusal_of("a = 99999999999999999999\n").find("'99999999999999999999' is not representable"),
            std::string::npos);
  // where the text ends too early: its last line
  EXPECT_EQ(refusal_of("a = [1,\n").substr(0, 3), "1: ");
  EXPECT_EQ(refusal_of("a = \"open").substr(0, 3), "1: ");
  EXPECT_EQ(refusal_of("a = 'x\x01'\n").find('\x01'), std::string::npos);
  EXPECT_EQ(refusal_of(""), "");
}

}  // namespace lissom
