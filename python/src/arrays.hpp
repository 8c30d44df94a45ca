// Matrices of C++ as arrays of NumPy: views that keep their owner alive, read-only.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <Eigen/Core>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom::python {

namespace py = pybind11;

// An object that keeps a C++ object for the arrays that look into it.
template <class Owner>
py::capsule keeper(std::shared_ptr<Owner> owner) {
  auto* kept = new std::shared_ptr<const void>(std::move(owner));
  return py::capsule(kept, [](void* pointer) { delete static_cast<std::shared_ptr<const void>*>(pointer); });
}

inline py::array read_only(py::array array) {
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

// (rows, cols) of a matrix that `owner` has.
template <class Owner>
py::array view(const Eigen::MatrixXd& matrix, const std::shared_ptr<Owner>& owner) {
  const auto size = static_cast<py::ssize_t>(sizeof(double));
  return read_only(py::array(py::dtype::of<double>(), {matrix.rows(), matrix.cols()},
                             {size, size * static_cast<py::ssize_t>(matrix.rows())}, matrix.data(),
                             keeper(owner)));
}
// The transpose: (cols, rows), each column of the matrix a row.
template <class Owner, class Matrix>
py::array transposed_view(const Matrix& matrix, const std::shared_ptr<Owner>& owner) {
  const auto size = static_cast<py::ssize_t>(sizeof(double));
  return read_only(py::array(py::dtype::of<double>(), {matrix.cols(), matrix.rows()},
                             {size * static_cast<py::ssize_t>(matrix.rows()), size}, matrix.data(),
                             keeper(owner)));
}
template <class Owner>
py::array view(const Eigen::VectorXd& vector, const std::shared_ptr<Owner>& owner) {
  return read_only(
      py::array(py::dtype::of<double>(), {vector.size()}, {sizeof(double)}, vector.data(), keeper(owner)));
}
template <class Number, class Owner>
py::array view(const Number* data, Eigen::Index count, const std::shared_ptr<Owner>& owner) {
  return read_only(py::array(py::dtype::of<Number>(), {count}, {sizeof(Number)}, data, keeper(owner)));
}

// A matrix that belongs to the array alone.
inline py::array give(Eigen::MatrixXd matrix) {
  const auto owner = std::make_shared<Eigen::MatrixXd>(std::move(matrix));
  const auto size = static_cast<py::ssize_t>(sizeof(double));
  return py::array(py::dtype::of<double>(), {owner->rows(), owner->cols()},
                   {size, size * static_cast<py::ssize_t>(owner->rows())}, owner->data(), keeper(owner));
}

inline py::array copy(const Eigen::VectorXd& vector) {
  return py::array_t<double>(vector.size(), vector.data());
}

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Integers = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

}  // namespace lissom::python
