// The force of a SLAP model by the formulas of errata 000 with 33 digits, on what the model holds.
#pragma once

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <vector>

#include "lissom/rom/slap/slap_model.hpp"

namespace lissom::test {

using Quad = __float128;
struct Quad3 {
  Quad v[9] = {};
  Quad& operator()(int i, int j) { return v[3 * j + i]; }
  const Quad& operator()(int i, int j) const { return v[3 * j + i]; }
};
inline Quad3 times(const Quad3& a, const Quad3& b) {
  Quad3 c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}
inline Quad3 transposed(const Quad3& a) {
  Quad3 c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c(i, j) = a(j, i);
  return c;
}
inline void axial(const Quad3& B, Quad* a) {
  for (int k = 0; k < 3; ++k) a[k] = B((k + 2) % 3, (k + 1) % 3) - B((k + 1) % 3, (k + 2) % 3);
}
// H^-1 b with H = tr(P) I - P, by Cramer
inline void turn_solve(const Quad3& P, const Quad* b, Quad* x) {
  Quad3 H;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) H(i, j) = (i == j ? P(0, 0) + P(1, 1) + P(2, 2) : Quad(0)) - P(i, j);
  const auto det = [](const Quad3& M) {
    return M(0, 0) * (M(1, 1) * M(2, 2) - M(1, 2) * M(2, 1)) -
           M(0, 1) * (M(1, 0) * M(2, 2) - M(1, 2) * M(2, 0)) +
           M(0, 2) * (M(1, 0) * M(2, 1) - M(1, 1) * M(2, 0));
  };
  for (int k = 0; k < 3; ++k) {
    Quad3 M = H;
    for (int i = 0; i < 3; ++i) M(i, k) = b[i];
    x[k] = det(M) / det(H);
  }
}

inline Eigen::VectorXd force_with_33_digits(const SlapModel& model, const Eigen::VectorXd& eta) {
  const int m = model.order();
  std::vector<Quad> g(m, 0);
  for (const SlapPart& part : model.parts) {
    Quad3 A, S0;
    Eigen::Matrix3d A_double = Eigen::Matrix3d::Zero();
    for (int k = 0; k < 9; ++k) {
      A.v[k] = part.A(k, 0);
      for (int r = 0; r < m; ++r) A.v[k] += Quad(eta[r]) * Quad(part.A(k, r + 1));
      S0.v[k] = part.S0.data()[k];
      A_double.data()[k] = static_cast<double>(A.v[k]);
    }
    // from the rotation in double by steps of Newton, R made orthogonal by R (3 I - R'R) / 2
    const Eigen::JacobiSVD<Eigen::Matrix3d> svd(A_double * part.S0,
                                                Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Eigen::Matrix3d start = svd.matrixV() * svd.matrixU().transpose();
    EXPECT_GT(start.determinant(), 0);
    Quad3 R;
    for (int k = 0; k < 9; ++k) R.v[k] = start.data()[k];
    for (int pass = 0; pass < 6; ++pass) {
      for (int again = 0; again < 2; ++again) {
        Quad3 inner = times(transposed(R), R);
        for (int k = 0; k < 9; ++k) inner.v[k] = (Quad(k % 4 == 0 ? 3 : 0) - inner.v[k]) / 2;
        R = times(R, inner);
      }
      const Quad3 P = times(R, times(A, S0));
      Quad b[3], turn[3];
      axial(P, b);
      turn_solve(P, b, turn);
      Quad3 step;
      for (int k = 0; k < 3; ++k) {
        step((k + 2) % 3, (k + 1) % 3) = -turn[k];
        step((k + 1) % 3, (k + 2) % 3) = turn[k];
      }
      for (int k = 0; k < 9; k += 4) step.v[k] = 1;
      if (pass < 5) R = times(step, R);
    }
    const Quad3 P = times(R, times(A, S0));
    Quad3 E = times(R, A);
    for (int k = 0; k < 9; k += 4) E.v[k] -= 1;

    std::vector<Quad> z(9 * (m + 2)), f(z.size(), 0);
    for (int k = 0; k < 9; ++k) {
      z[k] = E.v[k];
      z[9 + k] = R.v[k];
      for (int r = 0; r < m; ++r) z[18 + 9 * r + k] = Quad(eta[r]) * R.v[k];
    }
    for (int i = 0; i < part.C.rows(); ++i) {
      Quad y = 0;
      for (size_t j = 0; j < z.size(); ++j) y += Quad(part.C(i, int(j))) * z[j];
      for (size_t j = 0; j < z.size(); ++j) f[j] += Quad(part.C(i, int(j))) * y;
    }
    Quad3 F, W;
    for (int k = 0; k < 9; ++k) {
      F.v[k] = f[k];
      W.v[k] = f[9 + k];
      for (int r = 0; r < m; ++r) W.v[k] += Quad(eta[r]) * f[18 + 9 * r + k];
    }
    const Quad3 one = times(F, transposed(E)), two = times(W, transposed(R));
    Quad3 M;
    for (int k = 0; k < 9; ++k) M.v[k] = one.v[k] + two.v[k];
    Quad tau[3];
    axial(M, tau);
    for (int r = 0; r < m; ++r) {
      Quad3 A_r;
      for (int k = 0; k < 9; ++k) A_r.v[k] = part.A(k, r + 1);
      const Quad3 RA_r = times(R, A_r);
      Quad b[3], G[3];
      axial(times(RA_r, S0), b);
      turn_solve(P, b, G);
      for (int k = 0; k < 9; ++k) g[r] += F.v[k] * RA_r.v[k] + f[18 + 9 * r + k] * R.v[k];
      for (int k = 0; k < 3; ++k) g[r] -= G[k] * tau[k];
    }
  }
  Eigen::VectorXd result(m);
  for (int r = 0; r < m; ++r) result[r] = static_cast<double>(g[r]);
  return result;
}

}  // namespace lissom::test
