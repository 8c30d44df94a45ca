#include "tests/fe/matrix_test_tools.hpp"

#include <algorithm>
#include <cstring>

namespace lissom::read_output4_test {
namespace {

// Has a column with a gap, an empty column and a negative number.
Eigen::Matrix4d sample() {
  Eigen::Matrix4d A;
  A << 4, -1, 0, 0.5, -1, 3, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 2;
  return A;
}

std::vector<ImportedMatrix> read(std::string_view bytes) {
  Diagnostics diagnostics;
  auto matrices = read_output4(bytes, "a.op4", diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  return matrices;
}

// ---- text

TEST(Output4, ADenseTextMatrixWithTheDefaultFormatIsRead) {
  const auto matrices = read(
      "       4       4       6       2KAA     1P,5E16.9\n"
      "       1       1       4\n"
      " 4.000000000E+00-1.000000000E+00 0.000000000E+00 5.000000000E-01\n"
      "       2       1       2\n"
      "-1.000000000E+00 3.000000000E+00\n"
      "       4       1       4\n"
      " 5.000000000E-01 0.000000000E+00 0.000000000E+00 2.000000000E+00\n"
      "       5       1       1\n"
      " 1.000000000E+00\n");
  ASSERT_EQ(matrices.size(), 1u);
  EXPECT_EQ(matrices[0].name, "KAA");
  EXPECT_EQ(stored(matrices[0]), sample());
}

TEST(Output4, NumbersWithoutBlanksAndWithDExponentsAreCutByTheFormatOfTheHeader) {
  const auto matrices = read(
      "       2       2       6       2K       1P,1D23.16\n"
      "       1       1       2\n"
      "-4.0000000000000000D-01\n"
      " 1.0000000000000000D+00\n"
      "       2       1       2\n"
      " 1.0000000000000000D+00\n"
      " 2.5000000000000000D+00\n"
      "       3       1       1\n"
      " 1.0000000000000000D+00\n"
      "       2       2       6       1MASS    (1P,2E12.4)\n"
      "       1       1       2\n"
      " -7.0000E+00 -2.0000E+00\n"
      "       2       1       2\n"
      " -2.0000E+00  1.0000E+00\n"
      "       3       1       1\n"
      "  1.0000E+00\n");
  ASSERT_EQ(matrices.size(), 2u);
  Eigen::Matrix2d K, M;
  K << -0.4, 1, 1, 2.5;
  M << -7, -2, -2, 1;
  EXPECT_EQ(stored(matrices[0]), K);
  EXPECT_EQ(matrices[1].name, "MASS");
  EXPECT_EQ(stored(matrices[1]), M);
}

TEST(Output4, SparseTextStringsAreReadWithPackedHeaders) {
  // IS = row + 65536 (words + 1); a double is two words, so rows 1..2 are (4 + 1) * 65536 + 1 = 327681
  const auto matrices = read(
      "       4       4       6       2KAA     1P,3E23.16\n"
      "       1       0       8\n"
      "      327681\n"
      " 4.0000000000000000E+00-1.0000000000000000E+00\n"
      "      196612\n"
      " 5.0000000000000000E-01\n"
      "       2       0       5\n"
      "      327681\n"
      "-1.0000000000000000E+00 3.0000000000000000E+00\n"
      "       4       0       6\n"
      "      196609\n"
      " 5.0000000000000000E-01\n"
      "      196612\n"
      " 2.0000000000000000E+00\n"
      "       5       1       1\n"
      " 1.0000000000000000E+00\n");
  EXPECT_EQ(stored(matrices.at(0)), sample());
}

TEST(Output4, BigmatTextStringsCarryLengthAndRow) {
  const auto matrices = read(
      "       4      -4       6       2KAA     1P,3E23.16\n"
      "       1       0      10\n"
      "       5       1\n"
      " 4.0000000000000000E+00-1.0000000000000000E+00\n"
      "       3       4\n"
      " 5.0000000000000000E-01\n"
      "       2       0       6\n"
      "       5       1\n"
      "-1.0000000000000000E+00 3.0000000000000000E+00\n"
      "       4       0       8\n"
      "       3       1\n"
      " 5.0000000000000000E-01\n"
      "       3       4\n"
      " 2.0000000000000000E+00\n"
      "       5       1       2\n"
      " 1.0000000000000000E+00\n");
  EXPECT_EQ(matrices.at(0).rows, 4);
  EXPECT_EQ(stored(matrices[0]), sample());
}

TEST(Output4, OneTriangleOfASymmetricMatrixIsMirroredWithAWarning) {
  Diagnostics diagnostics;
  const auto matrices = read_output4(
      "       2       2       6       1K       1P,5E16.9\n"
      "       1       1       2\n"
      " 2.000000000E+00-1.000000000E+00\n"
      "       2       2       1\n"
      " 2.000000000E+00\n"
      "       3       1       1\n"
      " 1.000000000E+00\n",
      "a.op4", diagnostics);
  Eigen::Matrix2d expected;
  expected << 2, -1, -1, 2;
  EXPECT_EQ(dense(matrices.at(0)), expected);
  EXPECT_NE(diagnostics.find("output4.one-triangle"), nullptr);
}

TEST(Output4, BadTextIsRefusedWithItsPlaceAndWhatWasExpected) {
  const std::string head = "       2       2       6       2K       1P,5E16.9\n";
  const struct {
    std::string text, message;
  } cases[] = {
      {"", "a.op4: the file has no OUTPUT4 matrix"},
      {"hello\n",
       "a.op4:1: expected the header of an OUTPUT4 matrix (columns, rows, form, type in eight characters "
       "each), found "
       "'hello'"},
      {"       2       2       6       4K       1P,5E16.9\n",
       "a.op4:1: matrix K is complex (type 4), expected a real one; export it without structural damping"},
      {"       2       2       6       2K       FORMAT?\n",
       "a.op4:1: expected a Fortran format such as 1P,5E16.9, found 'FORMAT?'"},
      {"       2       2       6       2K       5I8\n",
       "a.op4:1: expected a Fortran format such as 1P,5E16.9, found '5I8'"},
      {head + "       1       2       2\n 1.000000000E+00 1.000000000E+00\n",
       "a.op4:2: matrix K, column 1: 2 values from row 2 on do not fit into 2 rows"},
      {head + "       1       1       1\n 1.0000x0000E+00\n",
       "a.op4:3: expected a matrix entry, found '1.0000x0000E+00'"},
      {head + "       1       1       2\n 1.000000000E+00\n", "a.op4:3: expected 5 values of 16 characters"},
      {head + "       1       1       1\n",
       "a.op4:2: the file ends where values was expected; was it cut off?"},
      {head + "       1       1       1\n 1.000000000E+00\n       1       1       1\n 1.000000000E+00\n",
       "a.op4:4: matrix K: column 1 comes after column 1"},
      {"       2      -2       6       2K       1P,5E16.9\n       1       0       6\n9223372036854775807 1\n",
       "a.op4:3: a string of 9223372036854775806 words goes beyond the 6 that are left of its column"},
      {head + "       1       0       3\n       5\n",
       "a.op4:3: a string of values has no length, found '       5'"},
  };
  for (const auto& c : cases) EXPECT_EQ(input_error([&] { read(c.text); }), c.message);
}

// ---- binary, written here record by record

struct Layout {
  bool big_endian = false;
  size_t word = 4;
};

class BinaryFile {
 public:
  explicit BinaryFile(Layout layout) : layout_(layout) {}

  template <class T>
  static void put(std::string& out, T value, bool big_endian) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    if (big_endian) std::reverse(raw, raw + sizeof(T));
    out.append(raw, sizeof(T));
  }
  void integer(long value) {
    if (layout_.word == 4)
      put(record_, static_cast<std::int32_t>(value), layout_.big_endian);
    else
      put(record_, static_cast<std::int64_t>(value), layout_.big_endian);
  }
  void real(double value, int type) {
    if (layout_.word == 4 && type == 1)
      put(record_, static_cast<float>(value), layout_.big_endian);
    else
      put(record_, value, layout_.big_endian);
  }
  void text(std::string value) {
    value.resize(2 * layout_.word, ' ');
    record_ += value;
  }
  void end_record() {
    put(bytes, static_cast<std::uint32_t>(record_.size()), layout_.big_endian);
    bytes += record_;
    put(bytes, static_cast<std::uint32_t>(record_.size()), layout_.big_endian);
    record_.clear();
  }
  std::string bytes;

 private:
  Layout layout_;
  std::string record_;
};

enum class Storage { Dense, Sparse, Bigmat };

std::string write_binary(const Eigen::MatrixXd& A, const std::string& name, int type, Storage storage,
                         Layout layout) {
  BinaryFile file(layout);
  const long wpv = layout.word == 8 ? 1 : type;
  file.integer(A.cols());
  file.integer(storage == Storage::Bigmat ? -A.rows() : A.rows());
  file.integer(6);
  file.integer(type);
  file.text(name);
  file.end_record();
  for (Eigen::Index j = 0; j < A.cols(); ++j) {
    // runs of non-zero values
    std::vector<std::pair<long, long>> runs;
    for (Eigen::Index i = 0; i < A.rows(); ++i) {
      if (A(i, j) == 0) continue;
      if (!runs.empty() && runs.back().first + runs.back().second == i)
        ++runs.back().second;
      else
        runs.push_back({i, 1});
    }
    if (runs.empty()) continue;
    if (storage == Storage::Dense) {
      runs = {{runs.front().first, runs.back().first + runs.back().second - runs.front().first}};
    }
    long words = 0;
    for (const auto& [row, count] : runs)
      words += count * wpv + (storage == Storage::Dense ? 0 : storage == Storage::Sparse ? 1 : 2);
    file.integer(j + 1);
    file.integer(storage == Storage::Dense ? runs.front().first + 1 : 0);
    file.integer(words);
    for (const auto& [row, count] : runs) {
      if (storage == Storage::Sparse) file.integer(row + 1 + 65536 * (count * wpv + 1));
      if (storage == Storage::Bigmat) {
        file.integer(count * wpv + 1);
        file.integer(row + 1);
      }
      for (long k = 0; k < count; ++k) file.real(A(row + k, j), type);
    }
    file.end_record();
  }
  file.integer(A.cols() + 1);
  file.integer(1);
  file.integer(wpv);
  file.real(1.0, type);
  file.end_record();
  return file.bytes;
}

TEST(Output4, BinaryFilesOfEveryStoragePrecisionByteOrderAndWordSizeAreRead) {
  for (const Storage storage : {Storage::Dense, Storage::Sparse, Storage::Bigmat})
    for (const int type : {1, 2})
      for (const bool big_endian : {false, true})
        for (const size_t word : {4, 8}) {
          const Layout layout{big_endian, word};
          // two matrices in one file; the sample's values are exact in single precision
          const std::string bytes = write_binary(sample(), "KAA", type, storage, layout) +
                                    write_binary(2 * sample(), "MAA", type, storage, layout);
          EXPECT_TRUE(looks_like_output4(bytes));
          const auto matrices = read(bytes);
          ASSERT_EQ(matrices.size(), 2u);
          EXPECT_EQ(matrices[0].name, "KAA");
          EXPECT_EQ(stored(matrices[0]), sample());
          EXPECT_EQ(matrices[1].name, "MAA");
          EXPECT_EQ(stored(matrices[1]), 2 * sample());
        }
}

TEST(Output4, ABinaryFileThatWasCutOffIsRefused) {
  const std::string bytes = write_binary(sample(), "KAA", 2, Storage::Sparse, {});
  // 24 + 8 bytes of header, then the first column is missing or incomplete
  EXPECT_EQ(input_error([&] { read(std::string_view(bytes).substr(0, 32)); }),
            "a.op4 (byte 32): the file ends inside a matrix; was it cut off?");
  EXPECT_EQ(input_error([&] { read(std::string_view(bytes).substr(0, 60)); }),
            "a.op4 (byte 32): a record of 44 bytes goes beyond the end of the file; was it cut off?");
}

TEST(Output4, ABinaryEntryThatIsNoNumberIsRefused) {
  Eigen::Matrix4d A = sample();
  A(1, 1) = std::nan("");
  EXPECT_EQ(input_error([&] { read(write_binary(A, "KAA", 2, Storage::Sparse, {})); }),
            "a.op4 (byte 84): matrix KAA has an entry that is no number (nan or infinite) in row 2");
}

TEST(Output4, ABinaryStringBeyondItsRecordIsRefused) {
  std::string bytes = write_binary(sample(), "KAA", 2, Storage::Sparse, {});
  // the first string header follows the header record (32), a mark (4) and three words (12)
  const std::int32_t is = 65536 * 101 + 1;
  std::memcpy(bytes.data() + 48, &is, 4);
  EXPECT_EQ(input_error([&] { read(bytes); }),
            "a.op4 (byte 32): a string of 100 words goes beyond its record");
}

}  // namespace
}  // namespace lissom::read_output4_test
