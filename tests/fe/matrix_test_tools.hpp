// Small helpers of the matrix tests: entries as a dense matrix, the text of an InputError, folders for files.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>
#include <Eigen/Core>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "lissom/core/error.hpp"
#include "lissom/fe/matrix_reader.hpp"

namespace lissom {

// The matrix as it stands in the file, the other triangle left zero.
inline Eigen::MatrixXd stored(const ImportedMatrix& matrix) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(matrix.rows, matrix.cols);
  for (const auto& entry : matrix.entries) A(entry.row, entry.col) += entry.value;
  return A;
}

// The whole symmetric matrix.
inline Eigen::MatrixXd dense(const SymmetricMatrix& A) {
  return Eigen::MatrixXd(A.lower).selfadjointView<Eigen::Lower>();
}
inline Eigen::MatrixXd dense(const ImportedMatrix& matrix) {
  Diagnostics diagnostics;
  return dense(to_symmetric(matrix, diagnostics));
}

// What the InputError says that `action` throws; "(no error)" if it throws none.
template <class Action>
std::string input_error(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

// A folder of its own for a test's files, removed at the end.
class TestFolder {
 public:
  TestFolder() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() / (std::string("lissom-") + info->test_suite_name() + "-" +
                                                      info->name() + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace lissom
