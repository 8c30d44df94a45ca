#include "lissom/core/quantity.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace lissom::quantity_test {
namespace {

namespace d = dimensions;

double value_in(const std::string& text, const Dimension& dimension, const std::string& system = "SI") {
  const auto quantity = parse_quantity(text);
  EXPECT_TRUE(quantity.has_value()) << text;
  return quantity ? in_units(*quantity, dimension, parse_unit_system(system)) : 0;
}

// one rounding for each factor
constexpr double rounding = 1e-14;

void expect_value(const std::string& text, const Dimension& dimension, double expected,
                  const std::string& system = "SI") {
  EXPECT_NEAR(value_in(text, dimension, system), expected, rounding * std::abs(expected)) << text;
}

std::string refusal(const std::string& text, const Dimension& dimension) {
  try {
    value_in(text, dimension);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no refusal";
}

TEST(Quantity, ANumberWithAUnitIsConvertedToTheSystem) {
  expect_value("26 mm", d::length, 0.026);
  expect_value("26mm", d::length, 26, "mm-t-s");
  expect_value("210 GPa", d::stress, 210e3, "mm-t-s");
  expect_value("7850 kg/m^3", d::density, 7.85e-9, "mm-t-s");
  expect_value("7850 kg/m3", d::density, 7850);
  expect_value("-9.81 m/s^2", d::acceleration, -9810, "mm-t-s");
  expect_value("20 ms", d::time, 20, "mm-kg-ms");
  expect_value("1e3 N/mm", d::stiffness, 1e6);
  expect_value("2 N*s/m", d::damping, 2);
  expect_value("3 kg m²", d::inertia, 3);
  expect_value("1 lbf", d::force, 4.4482216152605);
  expect_value("1 in", d::length, 1, "in-lbf-s");
}

TEST(Quantity, AnglesAreInTheUnitOfTheKey) {
  expect_value("180 deg", d::angle, std::numbers::pi);
  expect_value("30 deg", d::degrees, 30);
  expect_value("1 rad", d::degrees, 180 / std::numbers::pi);
  expect_value("60 rpm", d::angular_velocity, 2 * std::numbers::pi);
  expect_value("2 1/s", d::angular_velocity, 2);
  expect_value("180 N*m/deg", d::torsion_stiffness, 180 * 180 / std::numbers::pi);
}

TEST(Quantity, HertzIsNoRateOfAnAngle) {
  expect_value("2 kHz", d::hertz, 2000);
  // always in Hz, whatever the unit of time
  expect_value("2 kHz", d::hertz, 2000, "mm-kg-ms");
  EXPECT_NE(refusal("50 Hz", d::angular_velocity).find("is a frequency, expected an angular velocity"),
            std::string::npos);
}

TEST(Quantity, ASlashHoldsForTheUnitBehindItOnly) {
  expect_value("6 N/mm*s", {.mass = 1, .time = -1}, 6e3);
}

TEST(Quantity, AnotherDimensionIsRefusedWithUnitsThatWouldDo) {
  EXPECT_EQ(refusal("5 kg", d::length), "\"5 kg\" is a mass, expected a length (in mm, m, in)");
  EXPECT_NE(refusal("5 mm", d::none).find("expected a plain number"), std::string::npos);
  EXPECT_NE(refusal("5 %", d::length).find("is a plain number, expected a length"), std::string::npos);
}

TEST(Quantity, AnUnknownUnitGetsASuggestion) {
  EXPECT_NE(refusal("5 gpa", d::stress).find("there is no unit 'gpa' (did you mean 'GPa'?)"),
            std::string::npos);
  EXPECT_NE(refusal("5 mmm", d::length).find("did you mean 'mm'?"), std::string::npos);
  EXPECT_NE(refusal("5 m^x", d::length).find("expected a power"), std::string::npos);
}

TEST(Quantity, WhatIsNoNumberWithAUnitIsNone) {
  for (const char* text : {"", "mm", "5", "5*sin(t)", "1 - cos(t)", "sin(t)", "= 5 mm", "2 (mm)", "5,3 mm"})
    EXPECT_FALSE(parse_quantity(text).has_value()) << text;
  EXPECT_FALSE(parse_quantity("1/t", false).has_value());
}

}  // namespace
}  // namespace lissom::quantity_test
