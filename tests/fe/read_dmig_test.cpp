#include "tests/fe/matrix_test_tools.hpp"

namespace lissom::read_dmig_test {
namespace {

// [3 -1 0; -1 2 0.5; 0 0.5 4] over nodes 2 x, 2 z, 11 ry
Eigen::Matrix3d spring() {
  Eigen::Matrix3d K;
  K << 3, -1, 0, -1, 2, 0.5, 0, 0.5, 4;
  return K;
}

void expect_spring(const ImportedMatrix& matrix) {
  EXPECT_EQ(dense(matrix), spring());
  ASSERT_EQ(matrix.labels.size(), 3u);
  EXPECT_EQ(matrix.labels[0], (ImportedMatrix::RowLabel{2, 0}));
  EXPECT_EQ(matrix.labels[1], (ImportedMatrix::RowLabel{2, 2}));
  EXPECT_EQ(matrix.labels[2], (ImportedMatrix::RowLabel{11, 4}));
}

TEST(Dmig, SmallFieldCardsWithContinuationsAreRead) {
  Diagnostics diagnostics;
  const auto matrices = read_dmig(
      "$ punched\n"
      "DMIG    KAAX    0       6       2       0\n"
      // 1234567 1234567 1234567 1234567 1234567 1234567 1234567 1234567
      "DMIG    KAAX    2       1               2       1       3.0             +A\n"
      "+A      2       3       -1.0\n"
      "DMIG    KAAX    2       3               2       3       2.0\n"
      "        11      5       .5\n"
      "DMIG    KAAX    11      5               11      5       4.+0\n",
      "a.pch", diagnostics);
  ASSERT_EQ(matrices.size(), 1u);
  EXPECT_EQ(matrices[0].name, "KAAX");
  expect_spring(matrices[0]);
  EXPECT_TRUE(diagnostics.empty());
}

TEST(Dmig, TwoGroupsStandInOneSmallFieldContinuation) {
  Diagnostics diagnostics;
  const auto matrices = read_dmig(
      "DMIG    K       0       6       1\n"
      "DMIG    K       2       3               2       3       2.0\n"
      "        11      5       .5              2       1       -1.0\n"
      "DMIG,K,2,1,,2,1,3.\n"
      "DMIG,K,11,5,,11,5,4.\n",
      "a.pch", diagnostics);
  expect_spring(matrices.at(0));
}

TEST(Dmig, LargeFieldCardsAsPunchedByNastranAreReadAndSeveralMatricesKeptApart) {
  Diagnostics diagnostics;
  const auto matrices = read_dmig(
      "DMIG    KAAX           0       6       2       0                       3\n"
      "DMIG*   KAAX                           2               1\n"
      "*                      2               1 3.000000000D+00\n"
      "*                      2               3-1.000000000D+00\n"
      "DMIG*   KAAX                           2               3\n"
      "*                      2               3 2.000000000D+00\n"
      "*                     11               5 5.000000000D-01\n"
      "DMIG*   KAAX                          11               5\n"
      "*                     11               5 4.000000000D+00\n"
      "DMIG    MAAX           0       6       2       0                       3\n"
      "DMIG*   MAAX                           2               1\n"
      "*                      2               1 7.000000000D+00\n"
      "GRID           2               0.      0.      0.\n",
      "a.pch", diagnostics);
  ASSERT_EQ(matrices.size(), 2u);
  expect_spring(matrices[0]);
  EXPECT_EQ(matrices[1].name, "MAAX");
  EXPECT_EQ(dense(matrices[1]), Eigen::MatrixXd::Constant(1, 1, 7.0));
  ASSERT_NE(diagnostics.find("dmig.other-card"), nullptr);
  EXPECT_EQ(diagnostics.find("dmig.other-card")->message, "card GRID is no DMIG and was passed over");
}

TEST(Dmig, ASquareMatrixStoresBothTrianglesAndARectangularOneMayBeSquare) {
  for (const char* form : {"1", "2"}) {
    Diagnostics diagnostics;
    const auto matrices = read_dmig(fmt::format("DMIG,K,0,{},2\n"
                                                "DMIG,K,1,1,,1,1,2.\n,1,2,-1.\n"
                                                "DMIG,K,1,2,,1,1,-1.\n,1,2,2.\n",
                                                form),
                                    "a.pch", diagnostics);
    EXPECT_EQ(matrices.at(0).triangle, ImportedMatrix::Triangle::Full);
    Eigen::Matrix2d expected;
    expected << 2, -1, -1, 2;
    EXPECT_EQ(dense(matrices[0]), expected);
  }
}

TEST(Dmig, ColumnsOfFormNineAreNumbered) {
  Diagnostics diagnostics;
  const auto matrices =
      read_dmig("DMIG,P,0,9,1,,,,2\nDMIG,P,1,,,5,1,2.\n,6,3,4.\nDMIG,P,2,,,6,3,8.\n", "a.pch", diagnostics);
  Eigen::Matrix2d expected;
  expected << 2, 0, 4, 8;
  EXPECT_EQ(stored(matrices.at(0)), expected);
}

TEST(Dmig, BadFilesAreRefusedWithTheirPlaceAndWhatWasExpected) {
  const struct {
    const char *text, *message;
  } cases[] = {
      {"GRID,1,,0.,0.,0.\n", "a.pch: the file has no DMIG card"},
      {"DMIG,K,1,1,,1,1,2.\n", "a.pch:1: a column of matrix K comes before its header card (DMIG K 0 ...)"},
      {"DMIG,K,0,6,4\n",
       "a.pch:1: matrix K is complex (type 4), expected a real one; export it without structural damping"},
      {"DMIG,K,0,7,1\n", "a.pch:1: matrix K has form 7, expected 1, 2, 6 or 9"},
      {"DMIG,K,0,6,1\nDMIG,K,0,6,1\n", "a.pch:2: matrix K has a second header card"},
      {"DMIG,K,0,6,1\nDMIG,K,1,1,,1,1,2.\nDMIG,K,1,1,,1,2,2.\n",
       "a.pch:3: matrix K has a second card for column 1, component 1"},
      {"DMIG,K,0,6,1\nDMIG,K,1,1,,1,1,2.\n,1,2,oops\n", "a.pch:3: expected a matrix entry, found 'oops'"},
      {"DMIG,K,0,6,1\nDMIG,K,1,1,,1,2,2.\nDMIG,K,1,2,,1,1,2.\n",
       "a.pch:1: matrix K is called symmetric (form 6), but both entries between node 1, direction y and "
       "node 1, direction x "
       "are given"},
      {"DMIG,K,0,6,1\nDMIG,K,1,,,1,1,2.\n",
       "a.pch:2: node 1 has degree of freedom 0, expected 1 to 6; only displacements and rotations can be "
       "used, so take "
       "temperatures, pressures, warping and scalar (modal) points out of the export"},
  };
  Diagnostics diagnostics;
  for (const auto& c : cases)
    EXPECT_EQ(input_error([&] { read_dmig(c.text, "a.pch", diagnostics); }), c.message);
}

}  // namespace
}  // namespace lissom::read_dmig_test
