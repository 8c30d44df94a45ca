#include "tests/fe/matrix_test_tools.hpp"

namespace lissom::read_abaqus_mtx_test {
namespace {

TEST(AbaqusMtx, MatrixInputLinesAreOrderedByNodeAndDirection) {
  Diagnostics diagnostics;
  // node 7 comes before node 2, and one pair stands above the diagonal: each pair is given once all the same
  const auto matrix = read_abaqus_mtx(
      "** a comment\n7,1, 7,1, 3.0e+00\n2,1, 2,1, 5.000000000000000e+00\n7,1, 2,1, "
      "-1.0\n2,1,2,6,0.25\n2,6,2,6,4\n",
      "job_STIF2.mtx", diagnostics);
  ASSERT_EQ(matrix.rows, 3);
  EXPECT_EQ(matrix.labels[0], (ImportedMatrix::RowLabel{2, 0}));
  EXPECT_EQ(matrix.labels[1], (ImportedMatrix::RowLabel{2, 5}));
  EXPECT_EQ(matrix.labels[2], (ImportedMatrix::RowLabel{7, 0}));
  Eigen::Matrix3d expected;
  expected << 5, 0.25, -1, 0.25, 4, 0, -1, 0, 3;
  EXPECT_EQ(dense(matrix), expected);
  EXPECT_TRUE(diagnostics.empty());
}

TEST(AbaqusMtx, BothTrianglesAreNotAddedTwice) {
  Diagnostics diagnostics;
  const auto matrix = read_abaqus_mtx("1,1,1,1,2\n1,1,1,2,-1\n1,2,1,1,-1\n1,2,1,2,2\n", "a.mtx", diagnostics);
  EXPECT_EQ(matrix.triangle, ImportedMatrix::Triangle::Full);
  Eigen::Matrix2d expected;
  expected << 2, -1, -1, 2;
  EXPECT_EQ(dense(matrix), expected);
}

TEST(AbaqusMtx, CoordinateLinesHaveNoLabels) {
  Diagnostics diagnostics;
  const auto matrix = read_abaqus_mtx("1 1  2.0E+00\n2 1 -1.0E+00\n3 3 1\n2 2 2\n", "a.mtx", diagnostics);
  EXPECT_TRUE(matrix.labels.empty());
  Eigen::Matrix3d expected;
  expected << 2, -1, 0, -1, 2, 0, 0, 0, 1;
  EXPECT_EQ(dense(matrix), expected);
}

TEST(AbaqusMtx, InternalNodesAreWarnedAbout) {
  Diagnostics diagnostics;
  const auto matrix = read_abaqus_mtx("-1,1,-1,1,2\n-1,1,4,1,1\n4,1,4,1,3\n", "a.mtx", diagnostics);
  EXPECT_EQ(matrix.labels[0].node, -1);
  ASSERT_NE(diagnostics.find("abaqus.internal-node"), nullptr);
  EXPECT_EQ(diagnostics.find("abaqus.internal-node")->where.line, 1);
}

TEST(AbaqusMtx, BadFilesAreRefusedWithTheirPlaceAndWhatWasExpected) {
  const struct {
    const char *text, *message;
  } cases[] = {
      {"** nothing\n", "a.mtx: the file has no matrix entry"},
      {"*MATRIX,TYPE=STIFFNESS\n",
       "a.mtx:1: expected \"node,dof,node,dof,value\" or \"row column value\", found "
       "'*MATRIX,TYPE=STIFFNESS'; export "
       "with *MATRIX OUTPUT, FORMAT=MATRIX INPUT or FORMAT=COORDINATE"},
      {"1,1,1,1,2\n1,1,2\n", "a.mtx:2: expected 5 numbers as in the lines before, found 3"},
      {"1,1,1,1,x\n", "a.mtx:1: expected a matrix entry, found 'x'"},
      {"1 -1 1\n", "a.mtx:1: column -1 is outside the matrix, expected 1 to 2147483647"},
      {"1,1,1,1,2\n1,8,1,8,2\n",
       "a.mtx:2: node 1 has degree of freedom 8, expected 1 to 6; only displacements and rotations can be "
       "used, so take "
       "temperatures, pressures, warping and scalar (modal) points out of the export"},
  };
  Diagnostics diagnostics;
  for (const auto& c : cases)
    EXPECT_EQ(input_error([&] { read_abaqus_mtx(c.text, "a.mtx", diagnostics); }), c.message);
}

}  // namespace
}  // namespace lissom::read_abaqus_mtx_test
