#include "lissom/study/compare.hpp"

#include <gtest/gtest.h>

#include "lissom/core/text.hpp"
#include "lissom/io/csv_table.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::compare_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

ComparedResult result_of(const std::vector<std::string>& columns, const std::vector<double>& times) {
  ComparedResult result;
  result.source = "a run";
  for (const std::string& name : columns) result.columns.push_back({name, "", false, -1});
  result.time = Eigen::Map<const VectorXd>(times.data(), static_cast<Eigen::Index>(times.size()));
  result.values = MatrixXd::Zero(result.time.size(), static_cast<Eigen::Index>(columns.size()));
  return result;
}

TEST(Compare, TakesTheTimesAndColumnsThatBothHave) {
  ComparedResult a = result_of({"a.x", "b.x"}, {0, 0.1, 0.2, 0.3});
  // one time differs by round-off, one is of another grid
  ComparedResult b = result_of({"b.x", "c.x"}, {0, 0.1 + 1e-17, 0.15, 0.3});
  a.values.col(1) << 1, 2, 3, -4;
  b.values.col(0) << 1, 2.5, 100, -1;
  const Comparison comparison = compare(a, b);
  EXPECT_FALSE(comparison.interpolated);
  ASSERT_EQ(comparison.time.size(), 3);
  EXPECT_EQ(comparison.time[1], 0.1);
  ASSERT_EQ(comparison.columns.size(), 1u);
  const ColumnDifference& column = comparison.columns[0];
  EXPECT_EQ(column.name, "b.x");
  EXPECT_EQ(column.largest, 3);
  EXPECT_EQ(column.at, 0.3);
  EXPECT_EQ(column.scale, 4);
  EXPECT_DOUBLE_EQ(column.rms, std::sqrt((0.25 + 9) / 3));
  EXPECT_EQ(comparison.only_a, std::vector<std::string>{"a.x"});
  EXPECT_EQ(comparison.only_b, std::vector<std::string>{"c.x"});

  const TemporaryFolder folder;
  write_differences(comparison, folder / "d.csv");
  EXPECT_EQ(read_file(folder / "d.csv"), "t,b.x\n0,0\n0.1,0.5\n0.3,3\n");
}

TEST(Compare, SplinesAreExactForCubicsAndOfFourthOrder) {
  const VectorXd at = VectorXd::LinSpaced(57, 0, 2);
  const auto error = [&](auto f, int knots) {
    // uneven knots
    const VectorXd t = VectorXd::LinSpaced(knots, 0, 1).unaryExpr([](double s) { return s + s * s; });
    const MatrixXd values = t.unaryExpr(f);
    const MatrixXd found = interpolate(t, values, spline_slopes(t, values), at);
    return (found - at.unaryExpr(f)).cwiseAbs().maxCoeff();
  };
  // rounding
  EXPECT_LT(error([](double t) { return 1 - 2 * t + 3 * t * t * t; }, 6), 1e-13);
  EXPECT_LT(error([](double t) { return 1 - 2 * t + 3 * t * t; }, 3), 1e-13);
  EXPECT_LT(error([](double t) { return 1 - 2 * t; }, 2), 1e-13);
  // a factor of 16 for half the interval, with room for where the samples lie
  const auto wave = [](double t) { return std::sin(5 * t); };
  EXPECT_LT(error(wave, 81), error(wave, 41) / 11);
}

TEST(Compare, RatesMakeTheInterpolationBetter) {
  // sin and its rate on a grid that has no time in common but the start
  std::vector<double> coarse, fine;
  for (int i = 0; i <= 20; ++i) coarse.push_back(0.1 * i * std::sqrt(1.01));
  for (int i = 0; i <= 200; ++i) fine.push_back(0.01 * i);
  ComparedResult a = result_of({"p.x", "v.x"}, fine), b = result_of({"p.x", "v.x"}, coarse);
  for (auto* r : {&a, &b}) {
    r->values.col(0) = (4 * r->time).array().sin();
    r->values.col(1) = 4 * (4 * r->time).array().cos();
  }
  b.columns[0].rate = 1;
  const Comparison comparison = compare(a, b);
  EXPECT_TRUE(comparison.interpolated);
  EXPECT_EQ(comparison.time.size(), 201);
  EXPECT_TRUE(comparison.columns[0].hermite);
  EXPECT_FALSE(comparison.columns[1].hermite);
  // h^4 / 384 |f''''|
  EXPECT_LT(comparison.columns[0].largest, 1.05 * std::pow(0.4 * std::sqrt(1.01), 4) / 384);
  EXPECT_GT(comparison.columns[0].largest, 0);
}

TEST(Compare, NodesAreMeasuredByDistance) {
  ComparedResult a = result_of({}, {0, 1, 2}), b = a;
  a.nodes.push_back({"rod", {5, 7}, MatrixXd::Zero(6, 3)});
  b.nodes = a.nodes;
  b.nodes[0].x.col(1) << 0, 0, 0, 3, 0, 4;
  const Comparison comparison = compare(a, b);
  ASSERT_EQ(comparison.nodes.size(), 1u);
  const NodesDifference& d = comparison.nodes[0];
  EXPECT_EQ(d.largest, 5);
  EXPECT_EQ(d.node, 7);
  EXPECT_EQ(d.at, 1);
  EXPECT_EQ(d.epsilon, 25);
  EXPECT_DOUBLE_EQ(d.rms, std::sqrt(25.0 / 6));
  EXPECT_DOUBLE_EQ(d.rms_over_time[1], std::sqrt(12.5));

  b.nodes[0].ids = {5, 8};
  EXPECT_NE(message_of<InputError>([&] {
              compare(a, b);
            }).find("the meshes differ: body 'rod' has other node numbers: 2 of 2 is 7 in a run and 8"),
            std::string::npos);
}

TEST(Compare, TablesAreBroughtToSiUnits) {
  ComparedResult a = result_of({"tip.x", "force"}, {0, 1, 2});
  a.columns[0].unit = "m";
  a.columns[1].unit = "N";
  a.values << 0, 0, 0.25, 10, 0.5, 20;
  ComparedResult table = result_of({"u", "F"}, {0, 1000, 2000});
  table.is_table = true;
  table.units = parse_unit_system("mm-kg-ms");
  // mm and kN
  table.values << 0, 0, 250, 0.01, 500, 0.02;
  CompareOptions options;
  options.columns = {{"tip.x", "u"}, {"force", "F"}};
  const Comparison comparison = compare(a, table, options);
  ASSERT_EQ(comparison.columns.size(), 2u);
  EXPECT_LT(comparison.columns[0].largest, 1e-15);
  EXPECT_LT(comparison.columns[1].largest, 1e-14);

  options.columns = {{"tip.y", "u"}};
  EXPECT_NE(
      message_of<InputError>([&] { compare(a, table, options); }).find("has no column 'tip.y' (did you"),
      std::string::npos);
}

TEST(Compare, WhatCannotBeComparedIsSaid) {
  const ComparedResult a = result_of({"a"}, {0.5, 1}), b = result_of({"b"}, {1.6, 1.7});
  EXPECT_NE(message_of<InputError>([&] {
              check_compared(compare(a, b), a, b);
            }).find("no time that both have: a run goes from 0.5 to 1 s"),
            std::string::npos);
  const ComparedResult c = result_of({"b"}, {0.5, 1});
  EXPECT_NE(message_of<InputError>([&] {
              check_compared(compare(a, c), a, c);
            }).find("no sensor that both have: a run has a; a run has b"),
            std::string::npos);
}

TEST(CsvTable, ReadsWhatOtherProgramsWrite) {
  const TemporaryFolder folder;
  write_bytes(folder / "a.csv", "# made by hand\ntime;\"a \"\"b\"\"; c\";d\n0;1;2\n\n0.5; -1e3 ;4\n");
  const CsvTable table = read_csv_table(folder / "a.csv");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"time", "a \"b\"; c", "d"}));
  EXPECT_EQ(table.values, (MatrixXd(2, 3) << 0, 1, 2, 0.5, -1000, 4).finished());
  write_bytes(folder / "b.txt", "t  x y\n 0 1\t2\n 1   2 3\n");
  EXPECT_EQ(read_csv_table(folder / "b.txt").values, (MatrixXd(2, 3) << 0, 1, 2, 1, 2, 3).finished());

  write_bytes(folder / "c.csv", "t,x\n0,1\n1\n");
  EXPECT_NE(message_of<InputError>([&] {
              read_csv_table(folder / "c.csv");
            }).find("c.csv:3: has 1 fields, the heading has 2; the file may be truncated"),
            std::string::npos);
  write_bytes(folder / "d.csv", "0,1\n");
  EXPECT_NE(message_of<InputError>([&] { read_csv_table(folder / "d.csv"); }).find("expected a heading"),
            std::string::npos);
}

}  // namespace
}  // namespace lissom::compare_test
