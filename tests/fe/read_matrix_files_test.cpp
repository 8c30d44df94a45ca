// The importers of .mat and HDF5 matrices, against files of libmatio, of HDF5 and of scipy and h5py.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <matio.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "lissom/core/hdf5.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_reader.hpp"
#include "tests/packages.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::read_matrix_files_test {
namespace {

const ImportedMatrix& find(const std::vector<ImportedMatrix>& matrices, const std::string& name) {
  static const ImportedMatrix none;
  for (const ImportedMatrix& matrix : matrices)
    if (matrix.name == name) return matrix;
  ADD_FAILURE() << "there is no matrix '" << name << "'";
  return none;
}

Eigen::MatrixXd dense_of(const ImportedMatrix& matrix) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(matrix.rows, matrix.cols);
  for (const ImportedMatrix::Entry& entry : matrix.entries) out(entry.row, entry.col) += entry.value;
  return out;
}

// The matrices that write_matrices.py describes.
Eigen::MatrixXd expected_K() {
  return Eigen::MatrixXd::NullaryExpr(12, 12, [](Eigen::Index i, Eigen::Index j) {
    return (3 * i + 7 * j) % 5 == 0 ? 100.0 * static_cast<double>(i) + static_cast<double>(j) + 0.5 : 0;
  });
}
Eigen::MatrixXd expected_D() {
  return Eigen::MatrixXd::NullaryExpr(3, 4, [](Eigen::Index i, Eigen::Index j) {
    return 10 * static_cast<double>(i) + static_cast<double>(j) + 1;
  });
}

// Runs the script; false when scipy or h5py are not there.
bool write_with_python(const TemporaryFolder& folder) {
  const auto script = test::source_folder() / "tests/fe/write_matrices.py";
  const std::string command = fmt::format("/usr/bin/python3 {} {} > {} 2>&1", script.string(),
                                          folder.path().string(), (folder / "log").string());
  const int status = WEXITSTATUS(std::system(command.c_str()));
  if (status == 77 || status == 127) return false;
  EXPECT_EQ(status, 0) << read_file(folder / "log");
  return true;
}

// A .mat file by libmatio with a sparse K (2 by 3) and a full F (2 by 2).
void write_with_matio(const std::string& path, enum mat_ft version, enum matio_compression compression,
                      bool complex_F = false, double value = 3.5) {
  mat_t* file = Mat_CreateVer(path.c_str(), nullptr, version);
  ASSERT_NE(file, nullptr);
  std::vector<mat_uint32_t> ir = {1, 0, 1}, jc = {0, 1, 1, 3};
  std::vector<double> data = {1.5, 2.5, value}, full = {1, 2, 0, 4}, imaginary = {0, 1, 0, 0};
  mat_sparse_t sparse{3, ir.data(), 3, jc.data(), 4, 3, data.data()};
  size_t shape[] = {2, 3}, square[] = {2, 2};
  matvar_t* K = Mat_VarCreate("K", MAT_C_SPARSE, MAT_T_DOUBLE, 2, shape, &sparse, MAT_F_DONT_COPY_DATA);
  mat_complex_split_t parts{full.data(), imaginary.data()};
  matvar_t* F = complex_F ? Mat_VarCreate("F", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, square, &parts, MAT_F_COMPLEX)
                          : Mat_VarCreate("F", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, square, full.data(), 0);
  EXPECT_EQ(Mat_VarWrite(file, K, compression), 0);
  EXPECT_EQ(Mat_VarWrite(file, F, compression), 0);
  Mat_VarFree(K), Mat_VarFree(F), Mat_Close(file);
}

std::string mat_refusal(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  return message_of<InputError>([&] { read_mat_matrices(path, diagnostics); });
}

std::string hdf5_refusal(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  return message_of<InputError>([&] { read_hdf5_matrices(path, diagnostics); });
}

TEST(ReadMat, SparseAndFullMatricesOfEveryVersionOfLibmatioAreRead) {
  const TemporaryFolder folder;
  struct Kind {
    enum mat_ft version;
    enum matio_compression compression;
  };
  for (const Kind& kind :
       {Kind{MAT_FT_MAT5, MAT_COMPRESSION_NONE}, Kind{MAT_FT_MAT5, MAT_COMPRESSION_ZLIB},
        Kind{MAT_FT_MAT73, MAT_COMPRESSION_NONE}, Kind{MAT_FT_MAT73, MAT_COMPRESSION_ZLIB}}) {
    write_with_matio((folder / "a.mat").string(), kind.version, kind.compression);
    Diagnostics diagnostics;
    const auto matrices = read_mat_matrices(folder / "a.mat", diagnostics);
    EXPECT_TRUE(diagnostics.empty());
    ASSERT_EQ(matrices.size(), 2);
    EXPECT_EQ(dense_of(find(matrices, "K")), (Eigen::MatrixXd(2, 3) << 0, 0, 2.5, 1.5, 0, 3.5).finished());
    EXPECT_EQ(dense_of(find(matrices, "F")), (Eigen::MatrixXd(2, 2) << 1, 0, 2, 4).finished());
    EXPECT_EQ(find(matrices, "F").entries.size(), 3);  // without the zero
  }
}

TEST(ReadMat, FilesOfScipyAreRead) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_with_python(folder))
      << "a module of Python" << test::install_hint << read_file(folder / "log");
  for (const char* name : {"compressed.mat", "plain.mat"}) {
    Diagnostics diagnostics;
    const auto matrices = read_mat_matrices(folder / name, diagnostics);
    EXPECT_EQ(matrices.size(), 4);
    EXPECT_EQ(dense_of(find(matrices, "K")), expected_K());
    EXPECT_EQ(dense_of(find(matrices, "D")), expected_D());
    EXPECT_EQ(dense_of(find(matrices, "s.K")), expected_K());
    EXPECT_EQ(dense_of(find(matrices, "whole")), expected_D());
    ASSERT_EQ(diagnostics.warnings().size(), 1);
    EXPECT_EQ(to_string(diagnostics.warnings().front()),
              (folder / name).string() +
                  ": 'text' is no matrix of numbers (a cell, text, an object or empty) and was left out");
  }
  Diagnostics diagnostics;
  const auto old = read_mat_matrices(folder / "version4.mat", diagnostics);
  EXPECT_EQ(dense_of(find(old, "K")), expected_K());
  EXPECT_EQ(dense_of(find(old, "D")), expected_D());
  const std::string path = (folder / "complex.mat").string();
  EXPECT_EQ(mat_refusal(path),
            path + ": 'K': the matrix is complex; Lissom takes real matrices only, so write real(K)");
}

TEST(ReadMat, ComplexSquareMatricesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.mat").string();
  write_with_matio(path, MAT_FT_MAT5, MAT_COMPRESSION_ZLIB, true);
  EXPECT_EQ(mat_refusal(path),
            path + ": 'F': the matrix is complex; Lissom takes real matrices only, so write real(F)");
  write_with_matio(path, MAT_FT_MAT73, MAT_COMPRESSION_NONE, true);
  EXPECT_NE(mat_refusal(path).find("'/F': the matrix is complex"), std::string::npos) << mat_refusal(path);
}

TEST(ReadMat, AnInfiniteEntryIsRefusedByItsPlace) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.mat").string();
  write_with_matio(path, MAT_FT_MAT5, MAT_COMPRESSION_ZLIB, false, std::numeric_limits<double>::infinity());
  EXPECT_EQ(mat_refusal(path),
            path + ": 'K': the entry in row 1, column 2 (counted from 0) is inf, expected a finite number");
}

TEST(ReadMat, OtherFilesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.mat").string();
  EXPECT_EQ(mat_refusal(path), path + ": no such file");
  EXPECT_EQ(mat_refusal(folder.path()), folder.path().string() + ": is a folder, expected a file");
  for (const std::string& bytes : {std::string(), std::string("K = [1 2 3]"), std::string(5000, 'x')}) {
    write_bytes(path, bytes);
    EXPECT_EQ(mat_refusal(path).find(path + ":"), 0) << mat_refusal(path);
  }
}

TEST(ReadMat, EveryTruncationAndEveryChangeOfACompressedFileIsRefused) {
  const TemporaryFolder folder;
  const std::string path = (folder / "b.mat").string();
  for (const auto compression : {MAT_COMPRESSION_ZLIB, MAT_COMPRESSION_NONE}) {
    write_with_matio((folder / "a.mat").string(), MAT_FT_MAT5, compression);
    const std::string bytes = read_file(folder / "a.mat");
    // a cut behind the first variable leaves a good file; the head has 128 bytes and a variable a tag of 8
    std::uint32_t first = 0;
    std::copy_n(bytes.data() + 132, 4, reinterpret_cast<char*>(&first));
    for (size_t size = 0; size < bytes.size(); ++size) {
      if (size == 128 || size == 136 + first) continue;
      write_bytes(path, std::string_view(bytes).substr(0, size));
      EXPECT_EQ(mat_refusal(path).find(path + ":"), 0) << size << mat_refusal(path);
    }
    // zlib's checksum covers what is compressed; elsewhere a change must at least not crash
    for (size_t at = 128; at < bytes.size(); ++at) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
      write_bytes(path, damaged);
      const std::string text = mat_refusal(path);
      if (compression == MAT_COMPRESSION_ZLIB) {
        EXPECT_EQ(text.find(path + ":"), 0) << at << text;
      } else {
        EXPECT_TRUE(text.find(path + ":") == 0 || text == "no exception") << at << text;
      }
    }
  }
}

TEST(ReadHdf5Matrices, EveryLayoutOfScipyAndH5pyIsRead) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_with_python(folder))
      << "a module of Python" << test::install_hint << read_file(folder / "log");
  Diagnostics diagnostics;
  const auto matrices = read_hdf5_matrices(folder / "matrices.h5", diagnostics);
  EXPECT_EQ(matrices.size(), 5);
  for (const char* name : {"a/csc", "a/csr", "coo"})
    EXPECT_EQ(dense_of(find(matrices, name)), expected_K()) << name;
  EXPECT_EQ(dense_of(find(matrices, "D")), expected_D());
  EXPECT_EQ(dense_of(find(matrices, "packed")), expected_D());
  ASSERT_EQ(diagnostics.warnings().size(), 2);
  EXPECT_NE(diagnostics.find("hdf5.not-2d"), nullptr);
  EXPECT_NE(diagnostics.find("hdf5.no-object"), nullptr);
}

// Writes a group K with the arrays of a sparse matrix and calls `more` on it.
template <class More>
void write_sparse(const std::string& path, const std::vector<std::int64_t>& indptr,
                  const std::vector<std::int64_t>& indices, const std::vector<double>& data, More more) {
  hdf5::File file = hdf5::File::create(path);
  hdf5::Group group = file.root().create_group("K");
  group.write("indptr", indptr);
  group.write("indices", indices);
  group.write("data", data);
  more(group);
  file.close();
}

TEST(ReadHdf5Matrices, WhatIsMissingIsAssumedWithAWarning) {
  const TemporaryFolder folder;
  write_sparse((folder / "a.h5").string(), {0, 1, 2}, {1, 0}, {5, 6}, [](hdf5::Group&) {});
  Diagnostics diagnostics;
  const auto matrices = read_hdf5_matrices(folder / "a.h5", diagnostics);
  EXPECT_EQ(dense_of(find(matrices, "K")), (Eigen::MatrixXd(2, 2) << 0, 6, 5, 0).finished());
  EXPECT_NE(diagnostics.find("hdf5.format-assumed"), nullptr);
  EXPECT_NE(diagnostics.find("hdf5.shape-assumed"), nullptr);
}

TEST(ReadHdf5Matrices, ATriangleIsToldBySayingSo) {
  const TemporaryFolder folder;
  write_sparse((folder / "a.h5").string(), {0, 2, 3}, {0, 1, 1}, {5, 6, 7},
               [](hdf5::Group& group) { group.write_attribute("triangle", "lower"); });
  Diagnostics diagnostics;
  EXPECT_EQ(find(read_hdf5_matrices(folder / "a.h5", diagnostics), "K").triangle,
            ImportedMatrix::Triangle::Lower);
}

TEST(ReadHdf5Matrices, EveryIndexIsChecked) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string(), start = path + ": '/K': ";
  const auto csr = [](hdf5::Group& group) {
    group.write_attribute("format", "csr");
    group.write_attribute("shape", std::vector<std::int64_t>{2, 2});
  };
  write_sparse(path, {0, 1, 2}, {1, 2}, {5, 6}, csr);
  EXPECT_EQ(hdf5_refusal(path),
            start + "an entry lies in row 1, column 2 (counted from 0) of a 2 by 2 matrix");
  write_sparse(path, {0, 1, 2}, {1, -1}, {5, 6}, csr);
  EXPECT_EQ(hdf5_refusal(path),
            start + "an entry lies in row 1, column -1 (counted from 0) of a 2 by 2 matrix");
  write_sparse(path, {0, 1, 2, 2}, {1, 0}, {5, 6}, csr);
  EXPECT_EQ(hdf5_refusal(path), start + "a 2 by 2 matrix in compressed rows needs 3 starts, found 4");
  write_sparse(path, {0, 1, 3}, {1, 0}, {5, 6}, csr);
  EXPECT_EQ(hdf5_refusal(path), start + "the starts run from 0 to 3, but there are 2 indices and 2 values");
  write_sparse(path, {0, 3, 2}, {1, 0}, {5, 6}, csr);
  EXPECT_EQ(hdf5_refusal(path), start + "the starts of rows 1 and 2 descend from 3 to 2");
  write_sparse(path, {0, 1, 2}, {1, 0}, {5, NAN}, csr);
  EXPECT_EQ(hdf5_refusal(path),
            start + "the entry in row 1, column 0 (counted from 0) is nan, expected a finite number");
  write_sparse(path, {0, 1, 2}, {1, 0}, {5, 6},
               [](hdf5::Group& group) { group.write_attribute("format", "bsr"); });
  EXPECT_EQ(hdf5_refusal(path), start + "the format 'bsr' is not known, expected csc or csr");
  write_sparse(path, {0, 1, 2}, {1, 0}, {5, 6}, [](hdf5::Group& group) {
    group.write_attribute("shape", std::vector<std::int64_t>{1L << 40, 2});
  });
  EXPECT_EQ(hdf5_refusal(path), start + "a matrix of 1099511627776 by 2 is beyond what Lissom can number");
  write_bytes(path, "text");
  EXPECT_EQ(hdf5_refusal(path), path + ": is not an HDF5 file");
}

TEST(ReadHdf5Matrices, TruncatedAndDamagedFilesAreRefusedOrHarmless) {
  const TemporaryFolder folder;
  const std::string path = (folder / "b.h5").string();
  write_sparse((folder / "a.h5").string(), {0, 1, 2}, {1, 0}, {5, 6}, [](hdf5::Group&) {});
  const std::string bytes = read_file(folder / "a.h5");
  for (size_t size = 0; size < bytes.size(); size += 31) {
    write_bytes(path, std::string_view(bytes).substr(0, size));
    EXPECT_EQ(hdf5_refusal(path).find(path + ":"), 0) << size;
  }
  int refused = 0;
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
    write_bytes(path, damaged);
    Diagnostics diagnostics;
    try {
      EXPECT_EQ(dense_of(find(read_hdf5_matrices(path, diagnostics), "K")),
                (Eigen::MatrixXd(2, 2) << 0, 6, 5, 0).finished())
          << at;
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace lissom::read_matrix_files_test
