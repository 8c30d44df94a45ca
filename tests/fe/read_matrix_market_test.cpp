#include "tests/fe/matrix_test_tools.hpp"

namespace lissom::read_matrix_market_test {
namespace {

ImportedMatrix read(std::string_view text) {
  Diagnostics diagnostics;
  ImportedMatrix matrix = read_matrix_market(text, "a.mtx", diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  return matrix;
}

TEST(MatrixMarket, ASymmetricCoordinateMatrixIsItsLowerTriangle) {
  const auto matrix = read(
      "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n%\n\n3 3 4\n1 1 2.0\n2 1 -1.5e0\n"
      "2 2 4\n3 3 1.0D+01\n");
  EXPECT_EQ(matrix.triangle, ImportedMatrix::Triangle::Lower);
  Eigen::Matrix3d expected;
  expected << 2, -1.5, 0, -1.5, 4, 0, 0, 0, 10;
  EXPECT_EQ(dense(matrix), expected);
  EXPECT_TRUE(matrix.labels.empty());
}

TEST(MatrixMarket, AGeneralIntegerCoordinateMatrixIsFull) {
  const auto matrix =
      read("%%matrixmarket MATRIX Coordinate Integer General\r\n2 3 2\r\n1 3 7\r\n2 1 -4\r\n");
  EXPECT_EQ(matrix.triangle, ImportedMatrix::Triangle::Full);
  Eigen::MatrixXd expected(2, 3);
  expected << 0, 0, 7, -4, 0, 0;
  EXPECT_EQ(stored(matrix), expected);
}

TEST(MatrixMarket, ArraysGoColumnByColumnAndSymmetricOnesStartAtTheDiagonal) {
  Eigen::MatrixXd general(2, 2);
  general << 1, 3, 2, 4;
  EXPECT_EQ(stored(read("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n")), general);
  Eigen::Matrix3d symmetric;
  symmetric << 1, 2, 3, 2, 4, 5, 3, 5, 6;
  EXPECT_EQ(dense(read("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n")), symmetric);
}

TEST(MatrixMarket, AnUpperTriangleIsMirroredWithAWarning) {
  Diagnostics diagnostics;
  const auto matrix = read_matrix_market(
      "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n1 2 -1\n2 2 2\n", "a.mtx", diagnostics);
  Eigen::Matrix2d expected;
  expected << 2, -1, -1, 2;
  EXPECT_EQ(dense(matrix), expected);
  EXPECT_NE(diagnostics.find("matrix-market.upper-triangle"), nullptr);
}

TEST(MatrixMarket, BadFilesAreRefusedWithTheirPlaceAndWhatWasExpected) {
  const std::string coordinate = "%%MatrixMarket matrix coordinate real symmetric\n";
  const struct {
    std::string text, message;
  } cases[] = {
      {"", "a.mtx: the file is empty, expected a Matrix Market matrix"},
      {"1 1 2.0\n",
       "a.mtx:1: expected \"%%MatrixMarket matrix coordinate real symmetric\" or alike, found '1 1 2.0'"},
      {"%%MatrixMarket matrix coordinate complex symmetric\n1 1 1\n1 1 1 0\n",
       "a.mtx:1: a complex matrix cannot be a stiffness or mass matrix, expected real or integer"},
      {"%%MatrixMarket matrix coordinate pattern symmetric\n1 1 1\n1 1\n",
       "a.mtx:1: a pattern matrix cannot be a stiffness or mass matrix, expected real or integer"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n",
       "a.mtx:1: a skew-symmetric matrix cannot be a stiffness or mass matrix, expected general or "
       "symmetric"},
      {"%%MatrixMarket matrix sparse real general\n",
       "a.mtx:1: layout 'sparse' is unknown, expected coordinate or array"},
      {coordinate + "2 3 1\n1 1 1\n", "a.mtx:2: a symmetric matrix cannot be 2 by 3"},
      {coordinate + "2 2 1\n3 1 1\n", "a.mtx:3: row 3 is outside the matrix, expected 1 to 2"},
      {coordinate + "2 2 1\n1 0 1\n", "a.mtx:3: column 0 is outside the matrix, expected 1 to 2"},
      {coordinate + "2 2 1\n1 1 nan\n", "a.mtx:3: expected a matrix entry, found 'nan'"},
      {coordinate + "2 2 1\n1 1\n", "a.mtx:3: expected \"row column value\", found fewer fields"},
      {coordinate + "2 2 2\n1 1 1\n", "a.mtx:3: the file ends after 1 of 2 entries; was it cut off?"},
      {coordinate + "2 2 1\n1 1 1\n2 2 1\n",
       "a.mtx:4: the size line promises 1 entries, and here is one more"},
      {coordinate + "99999999999 2 1\n1 1 1\n",
       "a.mtx:2: the number of rows is 99999999999, expected 1 to 2147483647"},
      {coordinate + "2 2 3\n1 1 1\n2 1 1\n1 2 1\n",
       "a.mtx: the matrix is called symmetric, but entries (2, 1) and (1, 2) are both given; if the file "
       "holds both "
       "triangles, call it general"},
      {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
       "a.mtx:5: the file ends in column 2 of 2; was it cut off?"},
      {"%%MatrixMarket matrix array real general\n1 1\n1\n2\n", "a.mtx:4: there are more values than 1 by 1"},
  };
  for (const auto& c : cases) EXPECT_EQ(input_error([&] { read(c.text); }), c.message);
}

// a wrong count must not ask for memory that the file cannot fill
TEST(MatrixMarket, AHugeEntryCountInASmallFileIsJustACutOffFile) {
  EXPECT_EQ(input_error([&] {
              read(
                  "%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 "
                  "4000000000000000000\n1 1 1\n");
            }),
            "a.mtx:3: the file ends after 1 of 4000000000000000000 entries; was it cut off?");
}

}  // namespace
}  // namespace lissom::read_matrix_market_test
