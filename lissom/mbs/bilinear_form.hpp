// Functions of two markers that are sums of products: c a.b of segments a and b of the 24 numbers
// (p, d_1, d_2, d_3, P, D_1, D_2, D_3), one component of P - p, and a constant. Joints and angles of loads
// are made of them, and their derivatives are read off the terms.
#pragma once

#include <Eigen/Core>

#include <array>

#include "lissom/mbs/marker.hpp"

namespace lissom {

using Vector24d = Eigen::Matrix<double, 24, 1>;
using Matrix24d = Eigen::Matrix<double, 24, 24>;

// segments of three numbers: position and axes (k = 1..3) of the first and of the second marker
constexpr int first_position = 0, second_position = 4;
constexpr int first_axis(int k) {
  return k;
}
constexpr int second_axis(int k) {
  return 4 + k;
}

class BilinearForm {
 public:
  void clear() { *this = BilinearForm(); }
  void add_constant(double c) { constant_ += c; }
  void set_offset(int component) { offset_ = component; }  // P_i - p_i, i = 0..2
  void add(int a, int b, double c) { terms_[count_++] = {a, b, c}; }
  // c a.(P - p)
  void add_along(int a, double c = 1) {
    add(a, second_position, c);
    add(a, first_position, -c);
  }

  bool is_linear() const { return count_ == 0; }

  double value(const Vector24d& m) const {
    double sum = constant_;
    for (int i = 0; i < count_; ++i)
      sum += terms_[i].c * m.segment<3>(3 * terms_[i].a).dot(m.segment<3>(3 * terms_[i].b));
    if (offset_ >= 0) sum += m[12 + offset_] - m[offset_];
    return sum;
  }

  // gradient (24) += factor d/dm
  template <class Gradient>
  void add_gradient(const Vector24d& m, double factor, Gradient&& gradient) const {
    add_hessian_times(m, factor, gradient);
    if (offset_ >= 0) {
      gradient[12 + offset_] += factor;
      gradient[offset_] -= factor;
    }
  }

  // y (24) += factor H x
  template <class Result>
  void add_hessian_times(const Vector24d& x, double factor, Result&& y) const {
    for (int i = 0; i < count_; ++i) {
      const auto& [a, b, c] = terms_[i];
      y.template segment<3>(3 * a) += factor * c * x.segment<3>(3 * b);
      y.template segment<3>(3 * b) += factor * c * x.segment<3>(3 * a);
    }
  }

  // H (24 by 24) += factor d2/dm2
  template <class Hessian>
  void add_hessian(double factor, Hessian&& H) const {
    for (int i = 0; i < count_; ++i) {
      const auto& [a, b, c] = terms_[i];
      for (int k = 0; k < 3; ++k) {
        H(3 * a + k, 3 * b + k) += factor * c;
        H(3 * b + k, 3 * a + k) += factor * c;
      }
    }
  }

 private:
  struct Term {
    int a = 0, b = 0;
    double c = 0;
  };
  std::array<Term, 6> terms_;
  int count_ = 0, offset_ = -1;
  double constant_ = 0;
};

}  // namespace lissom
