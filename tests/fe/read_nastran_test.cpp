#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <filesystem>
#include <set>

#include "lissom/core/text.hpp"
#include "lissom/fe/mesh_reader.hpp"
#include "lissom/fe/nastran_ids.hpp"
#include "tests/paths.hpp"

namespace lissom::read_nastran_test {
namespace {

// Any list of numbers as one that can be compared and printed.
using List = std::vector<double>;
template <class Range>
List list(const Range& range) {
  return List(range.begin(), range.end());
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Files that INCLUDE finds, by path.
using Files = std::map<std::string, std::string>;

struct Result {
  Mesh mesh;
  Diagnostics diagnostics;
};

// Elements and constraints that are not read are skipped, unless a test asks how they are refused.
Result read(const std::string& text, const Files& files = {}, bool skip_elements = true) {
  Result result;
  const FileLoader load = [&](const std::filesystem::path& path) {
    const auto it = files.find(path.string());
    if (it == files.end()) fail_input("{}: no such file", path.string());
    return it->second;
  };
  result.mesh = read_nastran(text, "dir/model.bdf", load, result.diagnostics, skip_elements);
  return result;
}

// The message with which a text is refused, or "" when it is read.
std::string refusal(const std::string& text, const Files& files = {}, bool skip_elements = true) {
  try {
    read(text, files, skip_elements);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// The warning of this key as it is printed, or "".
std::string warning(const Result& result, std::string_view key) {
  const Warning* found = result.diagnostics.find(key);
  return found ? to_string(*found) : "";
}

std::vector<std::int64_t> ids_of(const std::vector<int>& indices, const std::vector<std::int64_t>& ids) {
  std::vector<std::int64_t> found;
  for (int i : indices) found.push_back(ids[i]);
  return found;
}
std::vector<std::int64_t> node_set(const Mesh& mesh, const std::string& name) {
  return ids_of(mesh.node_sets.at(name), mesh.node_ids);
}
std::vector<std::int64_t> element_set(const Mesh& mesh, const std::string& name) {
  return ids_of(mesh.element_sets.at(name), mesh.element_ids);
}

// Coordinates are compared bit by bit where no arithmetic is done on them.
void expect_point(const Mesh& mesh, int node, double x, double y, double z, double tolerance = 0) {
  const Eigen::Vector3d expected(x, y, z);
  EXPECT_LE((mesh.points.col(node) - expected).cwiseAbs().maxCoeff(), tolerance)
      << "node " << mesh.node_ids[node] << " at " << mesh.points.col(node).transpose();
}

const std::string four_grids = "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,0.,1.,0.\nGRID,4,,0.,0.,1.\n";

// lines, fields and continuations
// -----------------------------------------------------------------------------

TEST(Nastran, SmallFieldsOfEightColumnsAreReadWithExponentsWithoutLetter) {
  const Mesh mesh = read("GRID           1           1.5-3-2.25+02      7.\n").mesh;
  ASSERT_EQ(mesh.node_count(), 1);
  EXPECT_EQ(mesh.node_ids[0], 1);
  expect_point(mesh, 0, 1.5e-3, -2.25e2, 7);
}

TEST(Nastran, SmallFieldsWithoutAnyBlankBetweenThemAreKeptApart) {
  const Mesh mesh = read("GRID    123456780       1.2345671.2345681.234569\n").mesh;
  EXPECT_EQ(mesh.node_ids[0], 12345678);
  expect_point(mesh, 0, 1.234567, 1.234568, 1.234569);
}

TEST(Nastran, LargeFieldGridsWithContinuationsAreRead) {
  const Mesh mesh = read(
                        "GRID*               1040               0-7.450580597E-101.3000000000E-01+\n"
                        "*       1.0000000000E-01               0\n"
                        "GRID*                  7                1.0000000000D+00             2.0*G7\n"
                        "*G7                  3.0\n")
                        .mesh;
  ASSERT_EQ(mesh.node_count(), 2);
  expect_point(mesh, 0, -7.450580597e-10, 0.13, 0.1);
  expect_point(mesh, 1, 1, 2, 3);
}

TEST(Nastran, FreeFieldsAreReadWithBlanksAndInLowerCase) {
  const Mesh mesh = read("grid, 5 ,, 1 , 2.5 , -3.e0\n  GRID,6,0,,,1.\n").mesh;
  ASSERT_EQ(mesh.node_count(), 2);
  expect_point(mesh, 0, 1, 2.5, -3);  // an integer where a real is expected
  expect_point(mesh, 1, 0, 0, 1);     // blank coordinates are 0
}

TEST(Nastran, LargeFreeFieldsHoldFourToALine) {
  const Mesh mesh = read("GRID*,5,,1.,2.,*X\n*X,3.\n").mesh;
  expect_point(mesh, 0, 1, 2, 3);
}

TEST(Nastran, TabsLeadToTheNextFieldOfEightColumns) {
  const Mesh mesh = read("GRID\t5\t\t1.\t2.\t3.\nGRID*\t6\t\t\t\t1.\t\t2.\n*\t3.\n").mesh;
  ASSERT_EQ(mesh.node_count(), 2);
  expect_point(mesh, 0, 1, 2, 3);
  expect_point(mesh, 1, 1, 2, 3);
}

// A quadratic tetrahedron over two lines, the second one continuing in each of the ways there are.
TEST(Nastran, EveryKindOfContinuationGoesOnWithTheCard) {
  std::string grids;
  for (int n = 1; n <= 10; ++n) grids += fmt::format("GRID,{},,{}.,0.,{}.\n", n, n, n * n);
  for (const char* card : {
           "CTETRA         1       1       1       2       3       4       5       6\n"
           "               7       8       9      10\n",
           "CTETRA         1       1       1       2       3       4       5       6+ABC\n"
           "+ABC           7       8       9      10\n",
           "CTETRA         1       1       1       2       3       4       5       6+\n"
           "+              7       8       9      10\n",
           "CTETRA         1       1       1       2       3       4       5       6\n"
           "*                      7               8               9              10\n",
           "CTETRA,1,1,1,2,3,4,5,6,+\n+,7,8,9,10\n",
           "CTETRA,1,1,1,2,3,4,5,6,\n,7,8,9,10\n",
           "CTETRA,1,1,1,2,3,4,5,6\n,7,8,9,10\n",
           "CTETRA,1,1,1,2,3,4,5,6,+T1\n$ between\n\n+T1,7,8,9,10,,,,\n",
           "CTETRA,1,1,1,2,3,4,5,6\n               7       8       9      10\n",
           "CTETRA         1       1       1       2       3       4       5       6\n+,7,8,9,10\n",
           "CTETRA*                1               1               1               2*A\n"
           "*A                     3               4               5               6*B\n"
           "*B                     7               8               9              10\n",
           "CTETRA*,1,1,1,2\n*,3,4,5,6\n+,7,8,9,10\n",
           "CTETRA\t1\t1\t1\t2\t3\t4\t5\t6\n\t7\t8\t9\t10\n",
       }) {
    const Result result = read(grids + card);
    ASSERT_EQ(result.mesh.element_count(), 1) << card;
    EXPECT_EQ(result.mesh.types[0], ElementType::Tet10) << card;
    for (int k = 0; k < 10; ++k) EXPECT_EQ(result.mesh.element_nodes(0)[k], k) << card;
    // only the missing PSOLID
    EXPECT_EQ(result.diagnostics.warnings().size(), 1u) << card;
  }
}

TEST(Nastran, ASmallContinuationBehindOneLargeLineBeginsTheNextRowOfEight) {
  // fields 6 to 9 of the large card's row are blank, so that C1 stands in the second row
  const Mesh mesh = read(
                        "CORD2R*                3               0              1.              2.\n"
                        "+             1.\n"
                        "GRID,1,3,0.,0.,0.\n")
                        .mesh;
  EXPECT_EQ(mesh.node_count(), 1);
}

TEST(Nastran, ContinuationMarksThatDifferAreWarnedOf) {
  const Result result = read(four_grids + "CTETRA,1,1,1,2,3,4,,,+A\n+B,,\n");
  EXPECT_EQ(
      warning(result, "nastran.continuation"),
      "dir/model.bdf:6: the card is to be continued at '+A' but this line is marked '+B'; it is taken as "
      "the continuation of the card before it");
}

TEST(Nastran, FreeLinesWithMoreFieldsThanNastranHasAreReadWithAWarning) {
  std::string grids;
  for (int n = 1; n <= 8; ++n) grids += fmt::format("GRID,{},,{}.,0.,{}.\n", n, n, n * n);
  const Result result = read(grids + "CHEXA,1,1,1,2,3,4,5,6,7,8\n");
  EXPECT_EQ(result.mesh.types[0], ElementType::Hex8);
  EXPECT_EQ(warning(result, "nastran.long-line"),
            "dir/model.bdf:9: the line has more than 8 data fields; all are read");
}

TEST(Nastran, ANumberInThePlaceOfTheContinuationMarkIsWarnedOf) {
  const Result result = read(four_grids + "SPC1,1,123,1,2,3,4,4,4,2\n");
  EXPECT_PRED2(contains, warning(result, "nastran.field-10"),
               "dir/model.bdf:5: '2' stands in the last field");
}

TEST(Nastran, CommentsAndWhatFollowsEnddataAreSkipped) {
  const Mesh mesh = read("$ GRID,9\nGRID,1,,1.,2.,3. $ here\n\n   \nENDDATA\nthis is no card, is it?\n").mesh;
  EXPECT_EQ(mesh.node_count(), 1);
}

TEST(Nastran, EveryLineEndingAndAByteOrderMarkAreRead) {
  EXPECT_EQ(read("\xEF\xBB\xBFGRID,1,,1.,2.,3.\r\nGRID,2,,1.,2.,4.\rGRID,3,,1.,2.,5.").mesh.node_count(), 3);
}

TEST(Nastran, LinesThatAreNoCardsAreRefused) {
  EXPECT_EQ(refusal("GRID 1 0 0. 0. 0.\n"),
            "dir/model.bdf:1: expected the name of a card in the first field, found 'GRID 1 0'; fields are 8 "
            "columns wide (16 behind NAME*) or separated by commas");
  EXPECT_EQ(refusal("\n        1.0\n"),
            "dir/model.bdf:2: this line continues a card, but there is none before it: '1.0'");
  EXPECT_EQ(refusal("GRID,1,,0.,0.,0.\n=,*(1),=,*(1.),==\n"),
            "dir/model.bdf:2: cards repeated with '=' are not read; write the cards out");
  EXPECT_EQ(refusal("PARAM,POST,-1\n"), "dir/model.bdf: the file defines no node");
  EXPECT_EQ(refusal(""), "dir/model.bdf: the file defines no node");
}

TEST(Nastran, FieldsThatAreWrongAreNamed) {
  EXPECT_EQ(refusal("GRID,1,,0.,0.,0.\nGRID,x1,,0.,0.,0.\n"),
            "dir/model.bdf:2: GRID: ID is 'x1', expected a positive integer");
  EXPECT_EQ(refusal("GRID,,,0.,0.,0.\n"), "dir/model.bdf:1: GRID: ID is blank, expected a positive integer");
  EXPECT_EQ(refusal("GRID,1,,0.,0.x,0.\n"), "dir/model.bdf:1: GRID: X2 is '0.x', expected a number");
  EXPECT_EQ(refusal("GRID,1,-1,0.,0.,0.\n"),
            "dir/model.bdf:1: GRID: CP is '-1', expected the id of a coordinate system or 0");
  EXPECT_EQ(refusal("GRID,1,,0.,0.,0.,,7\n"),
            "dir/model.bdf:1: GRID: PS is '7', expected components, digits out of 123456");
  EXPECT_EQ(refusal("GRID,1,,0.,0.,0.\nGRID,1,,0.,0.,1.\n"),
            "dir/model.bdf:2: node 1 is defined a second time with other coordinates");
}

// sections and includes
// ---------------------------------------------------------------------------------------

TEST(Nastran, WhatStandsBeforeBeginBulkIsSkipped) {
  const Mesh mesh = read(
                        "NASTRAN SYSTEM(1)=2\nID A,B\nSOL 103\nCEND\nTITLE = A title, with comma\n  SPC = 1\n"
                        "SUBCASE 1\n  METHOD = 3\nBEGIN BULK\nGRID,1,,1.,2.,3.\nENDDATA\n")
                        .mesh;
  EXPECT_EQ(mesh.node_count(), 1);
}

TEST(Nastran, BulkDataWithoutItsEndIsWarnedOf) {
  EXPECT_NE(read("BEGIN BULK\nGRID,1,,1.,2.,3.\n").diagnostics.find("nastran.no-enddata"), nullptr);
  EXPECT_EQ(read("BEGIN BULK\nGRID,1,,1.,2.,3.\nENDDATA\n").diagnostics.find("nastran.no-enddata"), nullptr);
  EXPECT_EQ(read("GRID,1,,1.,2.,3.\n").diagnostics.find("nastran.no-enddata"), nullptr);
}

TEST(Nastran, AFileThatEndsInItsCaseControlIsRefused) {
  EXPECT_EQ(refusal("SOL 103\nCEND\nSPC = 1\n"),
            "dir/model.bdf:3: the file ends in its case control section; expected BEGIN BULK behind CEND");
}

TEST(Nastran, BeginSuperIsReadWithAWarning) {
  const Result result = read("CEND\nBEGIN SUPER=3\nGRID,1,,1.,2.,3.\n");
  EXPECT_EQ(warning(result, "nastran.begin"),
            "dir/model.bdf:2: 'BEGIN SUPER=3' is read as BEGIN BULK: parts of a model are not kept apart");
}

TEST(Nastran, IncludedFilesAreReadRelativeToTheOneThatIncludesThem) {
  const Files files = {{"dir/sub/a.bdf", "GRID,1,,1.,0.,0.\nINCLUDE \"b.bdf\"\nGRID,3,,3.,0.,0.\n"},
                       {"dir/sub/b.bdf", "GRID,2,,2.,0.,0.\n"},
                       {"dir/a name $1.bdf", "GRID,4,,4.,0.,0.\n"},
                       {"/abs/c.bdf", "GRID,5,,5.,0.,0.\n"}};
  const Mesh mesh = read(
                        "BEGIN BULK\n"
                        "include 'sub/\n    a.bdf'  $ split over two lines\n"
                        "INCLUDE 'a name $1.bdf'\n"
                        "INCLUDE /abs/c.bdf $ without quotes\n"
                        "INCLUDE='.\\sub\\b.bdf'\n"
                        "ENDDATA\n",
                        files)
                        .mesh;
  EXPECT_EQ(list(mesh.node_ids), (List{1, 2, 3, 4, 5}));
}

TEST(Nastran, BeginBulkMayStandInAnIncludedFile) {
  const Files files = {{"dir/a.bdf", "BEGIN BULK\nGRID,1,,1.,0.,0.\n"}};
  EXPECT_EQ(read("SOL 103\nCEND\nINCLUDE 'a.bdf'\n", files).mesh.node_count(), 1);
}

TEST(Nastran, MistakesInIncludedFilesAreReportedThere) {
  EXPECT_EQ(refusal("INCLUDE 'a.bdf'\n", {{"dir/a.bdf", "\nGRID,0\n"}}),
            "dir/a.bdf:2: GRID: ID is '0', expected a positive integer");
}

TEST(Nastran, IncludesThatCannotBeFollowedAreRefused) {
  EXPECT_EQ(
      refusal("\nINCLUDE 'no.bdf'\n"),
      "dir/model.bdf:2: INCLUDE: dir/no.bdf: no such file (paths are relative to the file that includes)");
  EXPECT_EQ(refusal("INCLUDE 'sub/../model.bdf'\n"),
            "dir/model.bdf:1: INCLUDE: dir/model.bdf includes itself (dir/model.bdf -> dir/model.bdf); "
            "take out one of the INCLUDE lines");
  EXPECT_EQ(
      refusal("INCLUDE 'a.bdf'\n", {{"dir/a.bdf", "INCLUDE 'b.bdf'"}, {"dir/b.bdf", "INCLUDE 'a.bdf'"}}),
      "dir/b.bdf:1: INCLUDE: dir/a.bdf includes itself (dir/model.bdf -> dir/a.bdf -> dir/b.bdf -> "
      "dir/a.bdf); take out one of the INCLUDE lines");
  EXPECT_EQ(refusal("INCLUDE 'a.bdf\nGRID,1\n"), "dir/model.bdf:1: INCLUDE: the quote ' is not closed");
  EXPECT_EQ(refusal("INCLUDE\n"), "dir/model.bdf:1: INCLUDE names no file, expected INCLUDE 'file'");

  // each file includes the next one, and every file includes the same empty one a thousand times
  Files chain, many = {{"dir/e.bdf", ""}};
  for (int n = 0; n < 40; ++n) chain[fmt::format("dir/{}.bdf", n)] = fmt::format("INCLUDE '{}.bdf'\n", n + 1);
  EXPECT_PRED2(contains, refusal("INCLUDE '0.bdf'\n", chain),
               "files are included more than 16 levels deep (dir/model.bdf -> dir/0.bdf -> dir/1.bdf -> "
               "... (12 files) -> dir/14.bdf -> dir/15.bdf -> dir/16.bdf); does dir/16.bdf include itself?");
  std::string text;
  for (int n = 0; n < 1001; ++n) text += "INCLUDE 'e.bdf'\n";
  EXPECT_PRED2(contains, refusal(text, many),
               "dir/model.bdf:1001: INCLUDE: more than 1000 files are included");
}

// nodes and coordinate systems
// --------------------------------------------------------------------------------

TEST(Nastran, NodesInChainedSystemsArePlacedInTheBasicOne) {
  // system 1: origin (1, 2, 3), x along basic y, y along basic z, z along basic x; system 2, cylindrical, at
  // (0, 0, 1) of system 1 with its axes; system 3, spherical, like system 2
  const Mesh mesh = read(
                        "GRID,1,1,1.,10.,100.\n"
                        "GRID,2,2,2.,90.,3.\n"
                        "GRID,3,3,2.,90.,90.\n"
                        "GRID,4,3,2.,0.,45.\n"
                        "CORD2S,3,2,,,,,,1.\n,1.\n"
                        "CORD2C,2,1,0.,0.,1.,0.,0.,2.\n,1.,0.,1.\n"
                        "CORD2R,1,0,1.,2.,3.,2.,2.,3.\n,1.,5.,3.\n")
                        .mesh;
  // one rotation, one sine, one sum of terms up to 100: some units of round-off of 100
  const double tolerance = 1e-13;
  expect_point(mesh, 0, 101, 3, 13, tolerance);
  expect_point(mesh, 1, 1 + 1 + 3, 2, 3 + 2, tolerance);
  // theta = 90, phi = 90: along y of the system, basic z
  expect_point(mesh, 2, 1 + 1, 2, 3 + 2, tolerance);
  // theta = 0: along its z, basic x
  expect_point(mesh, 3, 1 + 1 + 2, 2, 3, tolerance);
}

TEST(Nastran, SystemsByNodesFollowTheirNodes) {
  // nodes 1, 2, 3 span x = basic y, z = basic x at (1, 1, 1), node 3 itself in a shifted system; two to a
  // card
  const Mesh mesh = read(
                        "GRID,1,,1.,1.,1.\nGRID,2,,3.,1.,1.\nGRID,3,7,0.,4.,0.\n"
                        "GRID,4,5,1.,2.,3.\nGRID,5,6,1.,90.,0.\n"
                        "CORD1R,5,1,2,3\n"
                        "CORD1C,6,1,2,3\n"
                        "CORD2R,7,,1.,1.,1.,1.,1.,2.\n,2.,1.,1.\n")
                        .mesh;
  // a few operations on numbers of order one
  const double tolerance = 1e-14;
  expect_point(mesh, 2, 1, 5, 1, tolerance);
  expect_point(mesh, 3, 1 + 3, 1 + 1, 1 + 2, tolerance);
  expect_point(mesh, 4, 1, 1, 1 + 1, tolerance);
}

TEST(Nastran, GrdsetGivesTheSystemOfNodesThatNameNone) {
  const Mesh mesh = read(
                        "GRID,1,,1.,0.,0.\nGRID,2,0,1.,0.,0.\nGRDSET,,8\n"
                        "CORD2R,8,,10.,0.,0.,10.,0.,1.\n,11.,0.,0.\n")
                        .mesh;
  expect_point(mesh, 0, 11, 0, 0);
  expect_point(mesh, 1, 1, 0, 0);
}

TEST(Nastran, NodesThatStandInTheFileTwiceArePlacedOnce) {
  const std::string system = "CORD2R,8,,10.,0.,0.,10.,0.,1.\n,11.,0.,0.\n";
  const Mesh mesh = read(system + "GRID,1,8,1.,0.,0.\nGRID,1,8,1.,0.,0.\n").mesh;
  ASSERT_EQ(mesh.node_count(), 1);
  expect_point(mesh, 0, 11, 0, 0);
  EXPECT_EQ(refusal(system + "GRID,1,8,1.,0.,0.\nGRID,1,,1.,0.,0.\n"),
            "dir/model.bdf:4: node 1 is defined a second time in another coordinate system");
}

TEST(Nastran, SystemsThatMakeNoSenseAreRefused) {
  EXPECT_EQ(refusal("GRID,1,5,0.,0.,0.\n"),
            "dir/model.bdf:1: GRID 1 refers to coordinate system 5, which is not defined");
  EXPECT_EQ(refusal("GRID,1\nCORD2R,1,9,,,,,,1.\n,1.\n"),
            "dir/model.bdf:2: coordinate system 1 refers to coordinate system 9, which is not defined");
  EXPECT_EQ(refusal("GRID,1\nCORD2R,1,2,,,,,,1.\n,1.\nCORD2R,2,1,,,,,,1.\n,1.\n"),
            "dir/model.bdf:4: coordinate system 2 depends on itself through system 1");
  EXPECT_EQ(refusal("GRID,1,1\nGRID,2\nGRID,3,,1.\nCORD1R,1,2,3,1\n"),
            "dir/model.bdf:4: coordinate system 1 depends on itself through system 1");
  EXPECT_EQ(
      refusal("GRID,1\nCORD2R,1,,,,,,,1.\n,,,5.\n"),
      "dir/model.bdf:2: coordinate system 1: its three points lie on a line or coincide; move one of them");
  EXPECT_EQ(refusal("GRID,1\nCORD2R,1,,,,,,,1.\n,1.\nCORD2C,1,,,,,,,1.\n,1.\n"),
            "dir/model.bdf:4: coordinate system 1 is defined a second time");
  EXPECT_EQ(refusal("GRID,1\nCORD1R,1,1,2,3\n"),
            "dir/model.bdf:2: a coordinate system refers to node 2, which is not defined");
  EXPECT_EQ(refusal("GRID,1\nGRDSET,,4\n"),
            "dir/model.bdf:2: GRDSET refers to coordinate system 4, which is not defined");
}

TEST(Nastran, ALongChainOfSystemsNeedsNoDeepStack) {
  std::string text = "GRID,1,20000,1.,0.,0.\n";
  for (int n = 20000; n >= 1; --n) text += fmt::format("CORD2R,{},{},1.,,,1.,,1.\n,2.\n", n, n - 1);
  // twenty thousand additions of whole numbers are exact
  expect_point(read(text).mesh, 0, 20001, 0, 0);
}

TEST(Nastran, DisplacementSystemsAndSuperelementsOfNodesAreWarnedOf) {
  const Result result = read("GRID,1,,0.,0.,0.,3\nGRID,2,,0.,0.,1.,3,,5\n");
  EXPECT_EQ(warning(result, "nastran.displacement-system"),
            "dir/model.bdf:1: GRID: CD is ignored; displacements are in the basic system (2 times)");
  EXPECT_EQ(warning(result, "nastran.superelement"),
            "dir/model.bdf:2: GRID: SEID is ignored; superelements are not kept apart");
}

// elements
// ----------------------------------------------------------------------------------------------------

TEST(Nastran, LinearElementsKeepTheirOrder) {
  std::string text;
  for (int n = 1; n <= 8; ++n) text += fmt::format("GRID,{},,{}.,0.,{}.\n", n, n, n * n);
  text += "CTETRA,1,1,4,3,2,1\nCPENTA,2,1,1,2,3,4,5,6\nCHEXA,3,1,1,2,3,4,5,6\n,7,8\n";
  const Mesh mesh = read(text).mesh;
  ASSERT_EQ(mesh.element_count(), 3);
  EXPECT_EQ(mesh.types[0], ElementType::Tet4);
  EXPECT_EQ(mesh.types[1], ElementType::Wedge6);
  EXPECT_EQ(mesh.types[2], ElementType::Hex8);
  EXPECT_EQ(list(mesh.element_nodes(0)), (List{3, 2, 1, 0}));
  EXPECT_EQ(list(mesh.element_nodes(1)), (List{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(list(mesh.element_nodes(2)), (List{0, 1, 2, 3, 4, 5, 6, 7}));
}

// Every mid-side node of straight elements lies in the middle of the edge that our order gives it; written
// by gmsh, so that the order is not our own reading of the format.
TEST(Nastran, MidSideNodesOfElementsWrittenByGmshLieOnTheirEdges) {
  const std::string path = (test::test_data() / "nastran_gmsh_quadratic.bdf").string();
  Diagnostics diagnostics;
  const Mesh mesh = read_nastran(read_file(path), path, read_file, diagnostics);
  ASSERT_EQ(mesh.element_count(), 5);
  EXPECT_EQ(mesh.types[0], ElementType::Hex20);
  EXPECT_EQ(mesh.types[1], ElementType::Wedge15);
  for (int e = 0; e < mesh.element_count(); ++e) {
    const auto nodes = mesh.element_nodes(e);
    const auto edges = mid_side_edges(mesh.types[e]);
    ASSERT_EQ(edges.size() + corner_count(mesh.types[e]), nodes.size());
    for (size_t k = 0; k < edges.size(); ++k) {
      const Eigen::Vector3d middle =
          (mesh.points.col(nodes[edges[k][0]]) + mesh.points.col(nodes[edges[k][1]])) / 2;
      // the file's numbers have few binary digits, and so has their mean
      EXPECT_EQ(mesh.points.col(nodes[corner_count(mesh.types[e]) + k]), middle)
          << "element " << e << ", " << k;
    }
  }
}

TEST(Nastran, ElementsWithWrongNodesAreRefused) {
  EXPECT_EQ(
      refusal(four_grids + "CTETRA,7,1,1,2,3,4,5\n"),
      "dir/model.bdf:5: CTETRA 7 has 1 of its 6 mid-side nodes; elements with some of them are not read: "
      "write all of them or none");
  EXPECT_EQ(refusal(four_grids + "CTETRA,7,1,1,2,,4\n"),
            "dir/model.bdf:5: CTETRA: G3 is blank, expected the id of a node");
  EXPECT_EQ(refusal(four_grids + "CTETRA,7,1,1,2,3,9\n"),
            "dir/model.bdf:5: element 7 refers to node 9, which is not defined");
  EXPECT_EQ(refusal(four_grids + "CTETRA,7,1,1,2,3,3\n"), "dir/model.bdf:5: element 7 has node 3 twice");
  EXPECT_EQ(refusal(four_grids + "CTETRA,7,1,1,2,3,4\nCTETRA,7,1,1,2,3,4\n"),
            "dir/model.bdf:6: element 7 is defined a second time");
  EXPECT_EQ(refusal(four_grids + "CTETRA,7,1,1,2,3,4,,\n,,,,,11\n"),
            "dir/model.bdf:5: CTETRA 7 has more than 10 nodes: '11'");
  EXPECT_EQ(
      refusal(four_grids + "CPYRAM,7,1,1,2,3,4,5\n"),
      "dir/model.bdf:5: CPYRAM: pyramids are not read; mesh the body with CTETRA, CHEXA and CPENTA only");
}

// materials
// ---------------------------------------------------------------------------------------------------

const std::string tet = four_grids + "CTETRA,1,5,1,2,3,4\n";

TEST(Nastran, PropertiesLeadFromElementsToMaterialsAndBecomeSets) {
  const Mesh mesh = read(tet +
                         "CTETRA,2,6,1,3,2,4\nPSOLID,6,20\nPSOLID,5,10,0,,,,SMECH\n"
                         "MAT1,20,70.+9,,.33\nMAT1,10,2.069+11,,.288,7829.\n")
                        .mesh;
  ASSERT_EQ(mesh.materials.size(), 2u);
  EXPECT_EQ(list(mesh.element_material), (List{1, 0}));
  const Material& steel = mesh.materials[1];
  EXPECT_EQ(steel.name, "MAT1 10");
  EXPECT_EQ(steel.isotropic->E, 2.069e11);
  EXPECT_EQ(steel.isotropic->nu, .288);
  EXPECT_EQ(steel.density, 7829.);
  EXPECT_EQ(steel.defined_at.line, 10);
  EXPECT_FALSE(mesh.materials[0].density);
  EXPECT_EQ(list(element_set(mesh, "PSOLID 5")), (List{1}));
  EXPECT_EQ(list(element_set(mesh, "PSOLID 6")), (List{2}));
}

TEST(Nastran, Mat1DerivesTheOneOfItsThreeConstantsThatIsBlank) {
  const auto constants = [](const std::string& fields) {
    return *read(tet + "MAT1,10," + fields + "\n").mesh.materials[0].isotropic;
  };
  // one division and one product: a few units in the last place
  EXPECT_DOUBLE_EQ(constants("260.,100.").nu, 0.3);
  EXPECT_DOUBLE_EQ(constants(",100.,.3").E, 260);
  EXPECT_EQ(constants("260.,,.3").nu, 0.3);
  EXPECT_EQ(constants("260.").nu, 0);
}

TEST(Nastran, DoubtfulMat1CardsAreWarnedOfOrRefused) {
  EXPECT_EQ(warning(read(tet + "MAT1,10,260.\n"), "nastran.mat1-nu"),
            "dir/model.bdf:6: MAT1 10: NU and G are blank; NU is 0");
  EXPECT_EQ(warning(read(tet + "MAT1,10,260.,90.,.3\n"), "nastran.mat1-g"),
            "dir/model.bdf:6: MAT1 10: E, G and NU contradict each other; solids use E and NU");
  EXPECT_EQ(warning(read(tet + "MAT1,10,260.,100.,.3\n"), "nastran.mat1-g"), "");
  const Result soft = read(tet + "MAT1,10,,100.\n");
  EXPECT_FALSE(soft.mesh.materials[0].has_elasticity());
  EXPECT_EQ(warning(soft, "nastran.mat1-e"),
            "dir/model.bdf:6: MAT1 10: E and NU are blank; the material has no stiffness");
  EXPECT_EQ(refusal(tet + "MAT1,10,,,.3\n"),
            "dir/model.bdf:6: MAT1 10: E and G are both blank; give two of E, G and NU");
  EXPECT_EQ(refusal(tet + "MAT1,10,1.,0.\n"), "dir/model.bdf:6: MAT1: G is '0.', expected a positive number");
  EXPECT_EQ(refusal(tet + "MAT1,10,1.,,.3\nMAT1,10,1.,,.3\n"),
            "dir/model.bdf:7: material 10 is defined a second time");
}

TEST(Nastran, Mat11IsOrthotropicInTheSystemOfItsProperty) {
  const Mesh mesh = read(tet +
                         "CTETRA,2,6,1,3,2,4\nPSOLID,5,10\nPSOLID,6,10,1\n"
                         "MAT11,10,1.,2.,3.,.12,.13,.23,4.\n,5.,6.,7.\n"
                         "CORD2R,1,0,1.,2.,3.,2.,2.,3.\n,1.,5.,3.\n")
                        .mesh;
  ASSERT_EQ(mesh.materials.size(), 2u);
  EXPECT_EQ(list(mesh.element_material), (List{0, 1}));
  const Orthotropic& m = *mesh.materials[0].orthotropic;
  EXPECT_EQ((std::vector{m.E1, m.E2, m.E3, m.nu12, m.nu13, m.nu23, m.G12, m.G13, m.G23}),
            (std::vector{1., 2., 3., .12, .13, .23, 4., 5., 6.}));
  EXPECT_EQ(mesh.materials[0].density, 7);
  EXPECT_TRUE(m.axes.isIdentity(0));
  EXPECT_EQ(mesh.materials[1].name, "MAT11 10 in system 1");
  Eigen::Matrix3d axes;
  axes << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  // one normalisation of axis-parallel vectors
  EXPECT_TRUE(mesh.materials[1].orthotropic->axes.isApprox(axes, 1e-15));
}

// An isotropic stiffness written as MAT9 gives the isotropic constants back; an orthotropic one, whose
// stiffness is computed here from its compliance, its own.
TEST(Nastran, Mat9WithoutCouplingIsOrthotropic) {
  const double E1 = 10, E2 = 5, E3 = 2, nu12 = .3, nu13 = .2, nu23 = .1;
  Eigen::Matrix3d S;
  S << 1 / E1, -nu12 / E1, -nu13 / E1, -nu12 / E1, 1 / E2, -nu23 / E2, -nu13 / E1, -nu23 / E2, 1 / E3;
  const Eigen::Matrix3d D = S.inverse();
  const Result result =
      read(tet + fmt::format("MAT9,1,{:.17g},{:.17g},{:.17g},,,,{:.17g}\n,{:.17g},,,,{:.17g}\n"
                             ",12.,,,23.,,13.,7.\n",
                             D(0, 0), D(0, 1), D(0, 2), D(1, 1), D(1, 2), D(2, 2)));
  const Orthotropic& m = *result.mesh.materials.at(0).orthotropic;
  // two inversions of a matrix whose condition is about ten
  const double tolerance = 1e-13;
  EXPECT_NEAR(m.E1, E1, tolerance * E1);
  EXPECT_NEAR(m.E2, E2, tolerance * E2);
  EXPECT_NEAR(m.E3, E3, tolerance * E3);
  EXPECT_NEAR(m.nu12, nu12, tolerance);
  EXPECT_NEAR(m.nu13, nu13, tolerance);
  EXPECT_NEAR(m.nu23, nu23, tolerance);
  EXPECT_EQ(m.G12, 12);
  EXPECT_EQ(m.G13, 13);
  EXPECT_EQ(m.G23, 23);
  EXPECT_EQ(result.mesh.materials[0].density, 7);
}

TEST(Nastran, Mat9WithCouplingIsLeftWithoutStiffness) {
  const Result result = read(tet + "MAT9,1,2.,1.,1.,.5,,,2.\n,1.,,,,2.\n,1.,,,1.,,1.\n");
  EXPECT_FALSE(result.mesh.materials.at(0).has_elasticity());
  EXPECT_PRED2(contains, warning(result, "nastran.mat9"),
               "dir/model.bdf:6: MAT9 1 couples stretch with shear");
  EXPECT_EQ(refusal(tet + "MAT9,1,1.,1.,1.,,,,1.\n,1.,,,,1.\n,1.,,,1.,,1.\n"),
            "dir/model.bdf:6: MAT9 1: the matrix of G11 to G33 is singular");
}

TEST(Nastran, Mat12GivesItsThirdPoissonRatioTheOtherWayRound) {
  const Mesh mesh = read(tet + "MAT12,10,10.,5.,2.,.12,.23,.03,7.\n,12.,23.,31.\n").mesh;
  const Orthotropic& m = *mesh.materials.at(0).orthotropic;
  EXPECT_DOUBLE_EQ(m.nu13, .03 * 10 / 2);
  EXPECT_EQ(m.nu23, .23);
  EXPECT_EQ((std::vector{m.G12, m.G13, m.G23}), (std::vector{12., 31., 23.}));
  EXPECT_EQ(mesh.materials[0].density, 7);
}

TEST(Nastran, ElementsWithoutMaterialAreWarnedOf) {
  const Result none = read(tet);
  EXPECT_EQ(none.mesh.element_material[0], -1);
  EXPECT_EQ(warning(none, "nastran.no-property"),
            "dir/model.bdf: there is no PSOLID 5; its elements have no material");
  const Result missing = read(tet + "PSOLID,5,99\n");
  EXPECT_EQ(missing.mesh.element_material[0], -1);
  EXPECT_EQ(
      warning(missing, "nastran.no-material"),
      "dir/model.bdf:6: PSOLID 5 refers to material 99, which is not defined by a card that is read; its "
      "elements have no material");
  const std::string mat11 = "MAT11,10,1.,2.,3.,.12,.13,.23,4.\n,5.,6.,7.\n";
  const Result turning = read(tet + mat11 + "PSOLID,5,10,-1\n");
  EXPECT_EQ(turning.mesh.element_material[0], -1);
  EXPECT_PRED2(contains, warning(turning, "nastran.material-axes"),
               "dir/model.bdf:8: PSOLID 5 turns an orthotropic material from element to element");
}

TEST(Nastran, FluidsAndRepeatedPropertiesAreRefused) {
  EXPECT_EQ(refusal(tet + "PSOLID,5,99,,,,,PFLUID\n"),
            "dir/model.bdf:6: PSOLID 5: FCTN is 'PFLUID'; only structures (SMECH) are read, no fluids");
  EXPECT_EQ(refusal(tet + "PSOLID,5,1\nPSOLID,5,2\n"), "dir/model.bdf:7: PSOLID 5 is defined a second time");
}

// spiders
// -----------------------------------------------------------------------------------------------------

TEST(Nastran, Rbe2BecomesARigidSpider) {
  const Result result = read(four_grids +
                             "RBE2,9,4,123456,1,3,2\n"
                             "RBE2,10,1,123,2,THRU,1000,1.2-5\n");
  const auto& spiders = result.mesh.spiders;
  ASSERT_EQ(spiders.size(), 2u);
  EXPECT_EQ(spiders[0].name, "RBE2 9");
  EXPECT_EQ(spiders[0].kind, Spider::Kind::Rigid);
  EXPECT_EQ(spiders[0].reference, 3);
  EXPECT_EQ(list(spiders[0].nodes), (List{0, 2, 1}));
  EXPECT_TRUE(spiders[0].weights.empty());
  EXPECT_EQ(spiders[0].defined_at.line, 5);
  EXPECT_EQ(list(spiders[1].nodes), (List{1, 2, 3}));
  EXPECT_TRUE(result.diagnostics.empty());
}

TEST(Nastran, Rbe3BecomesAnAveragingSpiderWithItsWeights) {
  const Result result = read(four_grids + "GRID,5,,1.,1.,1.\n" +
                             "RBE3           9               5  123456      1.     123       1       2\n"
                             "              .5     123       3       4      UM       5     123       1\n"
                             "              23   ALPHA    1.-5\n"
                             "RBE3,10,,5,123456,1,123,1,THRU\n,3,ALPHA,1.-5\n");
  const auto& spiders = result.mesh.spiders;
  ASSERT_EQ(spiders.size(), 2u);
  EXPECT_EQ(spiders[0].name, "RBE3 9");
  EXPECT_EQ(spiders[0].kind, Spider::Kind::Averaging);
  EXPECT_EQ(spiders[0].reference, 4);
  EXPECT_EQ(list(spiders[0].nodes), (List{0, 1, 2, 3}));
  EXPECT_EQ(list(spiders[0].weights), (List{1, 1, .5, .5}));
  EXPECT_EQ(list(spiders[1].nodes), (List{0, 1, 2}));
  EXPECT_EQ(warning(result, "nastran.rbe3-um"), "dir/model.bdf:6: RBE3 9: UM is ignored");
  EXPECT_EQ(result.diagnostics.warnings().size(), 1u);
}

TEST(Nastran, SpidersWithUnusualComponentsOrRepeatedNodesAreWarnedOf) {
  const Result result = read(four_grids + "RBE2,9,4,12,1,2\nRBE3,10,,4,123456,2.,123,1,1\n,2,.5,12,1\n");
  EXPECT_EQ(warning(result, "nastran.rbe2-components"),
            "dir/model.bdf:5: RBE2 9: CM is '12'; it is read as if it were 123456");
  EXPECT_EQ(warning(result, "nastran.rbe3-components"),
            "dir/model.bdf:6: RBE3 10: C is '12'; it is read as if it were 123456");
  EXPECT_EQ(
      warning(result, "nastran.spider-repeats"),
      "dir/model.bdf:6: RBE3 10: node 1 is listed more than once; it is taken once, with the sum of its "
      "weights (2 times)");
  EXPECT_EQ(list(result.mesh.spiders.at(1).nodes), (List{0, 1}));
  EXPECT_EQ(list(result.mesh.spiders[1].weights), (List{4.5, 2}));
}

TEST(Nastran, SpidersThatMakeNoSenseAreRefused) {
  EXPECT_EQ(refusal(four_grids + "RBE2,9,4,123,1,4\n"),
            "dir/model.bdf:5: RBE2 9: node 4 is its reference node and depends on itself");
  EXPECT_EQ(refusal(four_grids + "RBE2,9,4,123,1,7\n"),
            "dir/model.bdf:5: spider 'RBE2 9' refers to node 7, which is not defined");
  EXPECT_EQ(refusal(four_grids + "RBE2,9,4,123\n"),
            "dir/model.bdf:5: RBE2 9 ties no node to its reference node");
  EXPECT_EQ(refusal(four_grids + "RBE2,9,4,123,1\nRBE2,9,4,123,2\n"),
            "dir/model.bdf:6: RBE2 9 is defined a second time");
  EXPECT_EQ(refusal(four_grids + "RBE2,9,4,123,1,x\n"),
            "dir/model.bdf:5: RBE2: expected an id, THRU or EXCEPT, found 'x'");
  EXPECT_EQ(refusal(four_grids + "RBE2,9,4,789,1\n"),
            "dir/model.bdf:5: RBE2: CM is '789', expected components, digits out of 123456");
  EXPECT_EQ(refusal(four_grids + "RBE3,9,,4,123456,-1.,123,1\n"),
            "dir/model.bdf:5: RBE3: WT is '-1.', expected a positive weight");
  EXPECT_EQ(refusal(four_grids + "RBE3,9,,4,123456\n"),
            "dir/model.bdf:5: RBE3 9 ties no node to its reference node");
}

// sets
// --------------------------------------------------------------------------------------------------------

TEST(Nastran, ConstraintsBecomeNodeSets) {
  const Result result = read(four_grids +
                             "SPC,7,1,123,0.,3,123456\n"
                             "SPC1,7,123,4\n"
                             "SPC1,8,123456,2,THRU,99999999\n"
                             "SPCADD,1,7,8\n");
  EXPECT_EQ(list(node_set(result.mesh, "SPC 7")), (List{1, 3, 4}));
  EXPECT_EQ(list(node_set(result.mesh, "SPC 8")), (List{2, 3, 4}));
  EXPECT_EQ(result.mesh.node_sets.size(), 2u);
  EXPECT_TRUE(result.diagnostics.empty());
}

TEST(Nastran, NodesHeldInSomeDirectionsOnlyGetASetOfTheirOwn) {
  const Result result = read(
      "GRID,1,,0.,0.,0.,,123456\nGRID,2,,1.,0.,0.,,456\n"
      "SPC1,7,3,1\nSPC1,7,345,2\nSPC1,7,123,1\nSPC1,8,456,1,2\n");
  EXPECT_EQ(list(node_set(result.mesh, "SPC 7")), (List{1}));
  EXPECT_EQ(list(node_set(result.mesh, "SPC 7 (3)")), (List{1, 2}));
  EXPECT_EQ(list(node_set(result.mesh, "GRID PS")), (List{1}));
  EXPECT_EQ(result.mesh.node_sets.size(), 3u);
  EXPECT_EQ(
      warning(result, "nastran.spc-components"),
      "dir/model.bdf:3: SPC 7 holds nodes in '3' only; they are put into a set of their own, 'SPC 7 (3)' "
      "(2 times)");
  EXPECT_EQ(warning(result, "nastran.spc-rotations"),
            "dir/model.bdf:2: GRID PS of nodes in '456' holds no translation and is left out (2 times)");
}

TEST(Nastran, WrongConstraintsAreRefusedOrWarnedOf) {
  EXPECT_EQ(refusal(four_grids + "SPC,7,9,123\n"),
            "dir/model.bdf:5: set 'SPC 7' refers to node 9, which is not defined");
  EXPECT_EQ(refusal(four_grids + "SPC1,7,123\n"),
            "dir/model.bdf:5: SPC1: G1 is blank, expected the id of a node");
  EXPECT_EQ(refusal(four_grids + "SPC1,7,123,4,THRU,1\n"), "dir/model.bdf:5: SPC1: 4 THRU 1 runs backwards");
  EXPECT_EQ(refusal(four_grids + "SPC1,7,123,THRU,1\n"),
            "dir/model.bdf:5: SPC1: THRU must stand between two ids");
  EXPECT_EQ(
      warning(read(four_grids + "SPC,7,1,123,.5\n"), "nastran.spc-displacement"),
      "dir/model.bdf:5: SPC 7 prescribes a displacement, which is ignored; the node is put into the set");
  EXPECT_EQ(warning(read(four_grids + "SPC1,7,123,50,THRU,60\n"), "nastran.set-empty"),
            "dir/model.bdf:5: SPC 7 has no member that was read");
}

TEST(Nastran, BulkSetsListNodesElementsOrProperties) {
  const Result result = read(four_grids +
                             "CTETRA,2,5,1,2,3,4\nCTETRA,50,6,1,3,2,4\n"
                             "SET1,1,1,3\n"
                             "SET1,2,2\n"
                             "SET1,3,50\n"
                             "SET3,4,GRID,2,THRU,4,EXCEPT\n,3\n"
                             "SET3,5,ELEM,1,THRU,50\n"
                             "SET3,6,PROP,6,7\n");
  const Mesh& mesh = result.mesh;
  EXPECT_EQ(list(node_set(mesh, "SET 1")), (List{1, 3}));
  EXPECT_EQ(list(node_set(mesh, "SET 2")), (List{2}));
  EXPECT_EQ(list(element_set(mesh, "SET 2")), (List{2}));
  EXPECT_EQ(list(element_set(mesh, "SET 3")), (List{50}));
  EXPECT_EQ(list(node_set(mesh, "SET 4")), (List{2, 4}));
  EXPECT_EQ(list(element_set(mesh, "SET 5")), (List{2, 50}));
  EXPECT_EQ(list(element_set(mesh, "SET 6")), (List{50}));
  EXPECT_FALSE(mesh.element_sets.contains("SET 1"));
  EXPECT_FALSE(mesh.node_sets.contains("SET 3"));
}

TEST(Nastran, SetsWithMembersThatAreNotReadAreWarnedOf) {
  const Result result = read(tet + "SET1,1,1,77\nSET3,2,ELEM,1,77\nSET3,3,POINT,1\nSET1,1,2\nSET1,4,SKIN\n");
  EXPECT_EQ(
      warning(result, "nastran.set"),
      "dir/model.bdf:8: SET 3 is left out: it lists 'POINT', only GRID, ELEM and PROP are read (3 times)");
  EXPECT_EQ(warning(result, "nastran.set-member"),
            "dir/model.bdf:7: SET 2 lists element 77, which was not read; such members are left out");
  EXPECT_EQ(warning(result, "nastran.set-again"),
            "dir/model.bdf:9: SET 1 is defined a second time; the first one is kept");
  EXPECT_EQ(list(element_set(result.mesh, "SET 2")), (List{1}));
  EXPECT_TRUE(result.mesh.node_sets.empty());
}

TEST(Nastran, SetsOfTheCaseControlAreRead) {
  const Result result = read(
      "SOL 103\nCEND\n"
      "SET 1 = 1, 2,\n  4\n"
      "SET 2 = 1 THRU 1000 EXCEPT 2,3\n"
      "SET 3 = ALL\n"
      "SET 4 = 0.5, 1.5\n"
      "  set 5=50\n"
      "DISPLACEMENT = 1\n"
      "BEGIN BULK\n" +
      four_grids + "CTETRA,50,5,1,2,3,4\n");
  const Mesh& mesh = result.mesh;
  EXPECT_EQ(list(node_set(mesh, "CASE SET 1")), (List{1, 2, 4}));
  EXPECT_EQ(list(node_set(mesh, "CASE SET 2")), (List{1, 4}));
  EXPECT_EQ(list(element_set(mesh, "CASE SET 2")), (List{50}));
  EXPECT_EQ(list(element_set(mesh, "CASE SET 5")), (List{50}));
  EXPECT_EQ(mesh.node_sets.size(), 2u);
  EXPECT_EQ(warning(result, "nastran.set"),
            "dir/model.bdf:7: CASE SET 4 is left out: expected an id, THRU or EXCEPT, found '0.5'");
}

TEST(NastranIds, IdsBehindExceptCountAgainOnceTheyLeaveTheRange) {
  NastranIds ids;
  const std::vector<std::string_view> words = {"1",  "THRU", "10", "EXCEPT", "10", "4",
                                               "12", "14",   "",   "THRU",   "15"};
  EXPECT_EQ(parse_ids(words, ids), "");
  EXPECT_EQ(list(ids.single), (List{12}));
  std::vector<std::int64_t> all;
  for (int id = 1; id <= 20; ++id) all.push_back(id);
  EXPECT_EQ(list(in_ranges(ids, all)), (List{1, 2, 3, 5, 6, 7, 8, 9, 14, 15}));
}

TEST(NastranIds, OverlappingRangesNameEveryMemberOnce) {
  NastranIds ids;
  ids.ranges = {{3, 9}, {1, 4}, {4, 5}};
  EXPECT_EQ(list(in_ranges(ids, std::vector<std::int64_t>{2, 4, 5, 9, 10})), (List{2, 4, 5, 9}));
}

TEST(NastranIds, MalformedListsSayWhatIsWrong) {
  const auto problem = [](std::vector<std::string_view> words) {
    NastranIds ids;
    return parse_ids(words, ids);
  };
  EXPECT_EQ(problem({"1", "THRU"}), "THRU must stand between two ids");
  EXPECT_EQ(problem({"1", "THRU", "3", "THRU", "5"}), "THRU must stand between two ids");
  EXPECT_EQ(problem({"1", "EXCEPT", "5"}), "EXCEPT must follow a range with THRU");
  EXPECT_EQ(problem({"-1"}), "expected an id, THRU or EXCEPT, found '-1'");
  EXPECT_EQ(problem({"9223372036854775807"}), "expected an id, THRU or EXCEPT, found '9223372036854775807'");
}

// everything else
// ---------------------------------------------------------------------------------------------

TEST(Nastran, CardsThatAreNotReadAreWarnedOfOnceForEachName) {
  const Result result = read(four_grids +
                             "CQUAD4,9,1,1,2,3,4\nCQUAD4,10,1,1,2,3,4\n,1.,2.\nXYZZY,1\n"
                             "PARAM,POST,-1\nEIGRL,1,,,10\nTABLEM1,1\n+,1.,2.,ENDT\n"
                             "FORCE,1,1,,1.,1.,0.,0.\nPLOAD4,1,1,2.\nPARAM,WTMASS,.00259\nMATT1,1,1\n");
  EXPECT_EQ(
      warning(result, "nastran.unknown-card.CQUAD4"),
      "dir/model.bdf:5: CQUAD4 is left out of the mesh: only solid elements (CTETRA, CHEXA, CPENTA) and "
      "spiders (RBE2, RBE3) are read (2 times)");
  EXPECT_EQ(warning(result, "nastran.unknown-card.XYZZY"),
            "dir/model.bdf:8: the card XYZZY is not known and is left out");
  EXPECT_EQ(warning(result, "nastran.loads"), "dir/model.bdf:13: loads such as FORCE are not read (2 times)");
  EXPECT_EQ(warning(result, "nastran.wtmass"),
            "dir/model.bdf:15: PARAM,WTMASS,.00259 is ignored: densities are those of the material cards");
  EXPECT_EQ(warning(result, "nastran.material-tables"),
            "dir/model.bdf:16: MATT1: a material's change with temperature or strain is not read");
  EXPECT_EQ(result.diagnostics.warnings().size(), 5u);
}

TEST(Nastran, PartsOfTheBodyThatAreNotReadAreAnErrorUnlessTheyAreSkipped) {
  EXPECT_EQ(
      refusal(four_grids +
                  "CQUAD4,9,1,1,2,3,4\nCQUAD4,10,1,1,2,3,4\nCONM2,11,1,,5.\nPLOTEL,12,1,2\nPSHELL,1,1,.1\n",
              {}, false),
      "dir/model.bdf: parts of the body are not read: 1 CONM2 (first at line 7), 2 CQUAD4 (first at line 5); "
      "without them it lacks stiffness, mass or constraints. Model them with solid elements and spiders, or "
      "leave them out with --skip-elements (in a study: skip_elements = true)");
  for (const std::string card :
       {"CBAR", "CBEAM", "CELAS1", "CBUSH", "CMASS2", "CONROD", "MPC", "RBAR", "RSPLINE"}) {
    const std::string text = four_grids + card + ",1,7,1,2\nPBAR,7,1\n";
    EXPECT_NE(refusal(text, {}, false).find("not read: 1 " + card), std::string::npos) << card;
    EXPECT_EQ(refusal(text), "") << card;
  }
  // faces and edges as Gmsh writes them, without a property
  EXPECT_EQ(refusal(four_grids + "CTRIA3,1,7,1,2,3\nCBAR,2,7,1,2\nPSHELL,8,1,.1\n", {}, false), "");
  // loads, settings and what is only drawn are none
  EXPECT_EQ(refusal(four_grids + "PLOTEL,12,1,2\nFORCE,1,1,,1.,1.,0.,0.\nEIGRL,1,,,10\n", {}, false), "");
}

TEST(Nastran, AFileOfOtherContentIsRefusedAfterSomeUnknownCards) {
  std::string text;
  for (int n = 0; n < 300; ++n) text += fmt::format("WORD{}, and so on\n", n);
  EXPECT_EQ(refusal(text),
            "dir/model.bdf:201: more than 200 different cards are unknown; is this a Nastran file?");
}

// The meshes of the SLAP paper, written by Simcenter; counts and constants as the data's README gives them.
TEST(Nastran, TheFourBarMeshesOfTheSlapPaperAreReadCompletely) {
  const std::filesystem::path folder = test::shared_folder() / "data/slap-four-bar";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "the authors' meshes are not there: ../shared/data/slap-four-bar";
  struct Expected {
    const char* file;
    int nodes, elements;
    const char* set;
    std::vector<std::int64_t> joints;
  };
  for (const Expected& expected :
       {Expected{"Bar1_noRBE.bdf", 312, 874, "PSOLID 2", {214, 279, 58, 178}},
        Expected{"UpperBar_noRBE.bdf", 432, 1259, "PSOLID 4", {386, 580, 387, 581}},
        Expected{"Bar2_noRBE.bdf", 311, 867, "PSOLID 5", {957, 1022, 800, 920}}}) {
    Diagnostics diagnostics;
    const std::filesystem::path path = folder / expected.file;
    const Mesh mesh = read_nastran(read_file(path), path.string(), read_file, diagnostics);
    EXPECT_EQ(mesh.node_count(), expected.nodes);
    EXPECT_EQ(mesh.element_count(), expected.elements);
    EXPECT_EQ(mesh.element_sets.at(expected.set).size(), static_cast<size_t>(expected.elements));
    for (std::int64_t joint : expected.joints)
      EXPECT_EQ(std::count(mesh.node_ids.begin(), mesh.node_ids.end(), joint), 1);
    ASSERT_EQ(mesh.materials.size(), 1u);
    EXPECT_EQ(mesh.materials[0].isotropic->E, 2.069e11);
    EXPECT_EQ(mesh.materials[0].isotropic->nu, 0.288);
    EXPECT_EQ(mesh.materials[0].density, 7829.);
    // the tables of temperature are the only thing left out
    ASSERT_EQ(diagnostics.warnings().size(), 1u);
    EXPECT_EQ(diagnostics.warnings()[0].key, "nastran.material-tables");

    // every tetrahedron has its positive side out, and every node belongs to one
    std::set<int> used;
    for (int e = 0; e < mesh.element_count(); ++e) {
      const auto n = mesh.element_nodes(e);
      used.insert(n.begin(), n.end());
      const Eigen::Vector3d a = mesh.points.col(n[0]);
      const Eigen::Vector3d ab = mesh.points.col(n[1]) - a, ac = mesh.points.col(n[2]) - a,
                            ad = mesh.points.col(n[3]) - a;
      EXPECT_GT(ab.cross(ac).dot(ad), 0) << expected.file << ", element " << mesh.element_ids[e];
    }
    EXPECT_EQ(used.size(), static_cast<size_t>(expected.nodes));
  }
}

}  // namespace
}  // namespace lissom::read_nastran_test
