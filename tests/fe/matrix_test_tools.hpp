// Small helpers of the matrix tests: entries as a dense matrix, the text of an InputError.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <string>

#include "lissom/core/error.hpp"
#include "lissom/fe/matrix_reader.hpp"
#include "tests/temporary_folder.hpp"

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

}  // namespace lissom
