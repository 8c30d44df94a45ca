#include "lissom/rom/slap/polynomial_kernel.hpp"

#include <cstring>

#include "lissom/core/error.hpp"
#include "lissom/core/simd.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Eight rows. Functions take pointers to them: vectors of this size in arguments would depend on the
// processor.
using Lanes = double __attribute__((vector_size(64), may_alias));
using HalfLanes = double __attribute__((vector_size(32), may_alias));
constexpr Index lanes = 8;

// T reaches so many lanes beyond its end, which sums over groups of four read
constexpr Index beyond = 3;

// sums of the lanes of four vectors
LISSOM_INLINE void four_sums(const Lanes* x, double* sums) {
  HalfLanes h[4];
  for (int k = 0; k < 4; ++k)
    h[k] = __builtin_shufflevector(x[k], x[k], 0, 1, 2, 3) + __builtin_shufflevector(x[k], x[k], 4, 5, 6, 7);
  const HalfLanes a = __builtin_shufflevector(h[0], h[1], 0, 4, 2, 6) +
                      __builtin_shufflevector(h[0], h[1], 1, 5, 3, 7),
                  b = __builtin_shufflevector(h[2], h[3], 0, 4, 2, 6) +
                      __builtin_shufflevector(h[2], h[3], 1, 5, 3, 7);
  const HalfLanes all = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
  std::memcpy(sums, &all, sizeof all);
}

// `count` entries of T = S e, one after the other; they do not wait for each other
template <int count>
LISSOM_INLINE void entries_of(const Lanes* S, Index n, const double* e, Lanes* T) {
  Lanes sum[count] = {};
  for (Index p = 0; p < n; ++p) {
    const double factor = e[p];
    for (int k = 0; k < count; ++k) sum[k] += S[k * n + p] * factor;
  }
  for (int k = 0; k < count; ++k) T[k] = sum[k];
}

LISSOM_INLINE void product_of(const Lanes* S, Index n, const double* e, Lanes* T) {
  Index q = 0;
  for (; q + 4 <= n; q += 4) entries_of<4>(S + q * n, n, e, T + q);
  if (n - q == 3) entries_of<3>(S + q * n, n, e, T + q);
  if (n - q == 2) entries_of<2>(S + q * n, n, e, T + q);
  if (n - q == 1) entries_of<1>(S + q * n, n, e, T + q);
}

// T = S e, y = factor u . T, g = 2 sum_r y_r T_r (n), and |y|^2. `sums` are n lanes and three more.
LISSOM_INLINE double force_of(const double* S_values, Index n, Index blocks, const double* e, const double* u,
                              double factor, double* T_values, double* y_values, double* sums_values,
                              double* g) {
  const auto* S = reinterpret_cast<const Lanes*>(S_values);
  auto* T = reinterpret_cast<Lanes*>(T_values);
  auto* y = reinterpret_cast<Lanes*>(y_values);
  auto* sums = reinterpret_cast<Lanes*>(sums_values);
  for (Index q = 0; q < n + beyond; ++q) sums[q] = Lanes{};
  Lanes squares[4] = {};
  for (Index b = 0; b < blocks; ++b, S += n * n, T += n + beyond) {
    product_of(S, n, e, T);
    Lanes sum[2] = {};
    Index q = 0;
    for (; q + 2 <= n; q += 2)
      for (int k = 0; k < 2; ++k) sum[k] += T[q + k] * u[q + k];
    if (q < n) sum[0] += T[q] * u[q];
    const Lanes row = (sum[0] + sum[1]) * factor;
    y[b] = row;
    squares[0] += row * row;
    for (q = 0; q < n; ++q) sums[q] += row * T[q];
  }
  double total[4];
  for (Index q = 0; q < n; q += 4) {
    four_sums(sums + q, total);
    for (int k = 0; k < 4; ++k) g[q + k] = 2 * total[k];
  }
  four_sums(squares, total);
  return total[0];
}

// J (m by m, columns `stride` apart) += cq sum_r 4 T_r T_r' + 2 y_r S_r, symmetric
LISSOM_INLINE void elastic_tangent_of(const double* S_values, Index n, Index blocks, const double* T_values,
                                      const double* y_values, double cq, double* J, Index stride) {
  const auto* S = reinterpret_cast<const Lanes*>(S_values);
  const auto* T = reinterpret_cast<const Lanes*>(T_values);
  const auto* y = reinterpret_cast<const Lanes*>(y_values);
  for (Index q = 1; q < n; ++q)
    for (Index p = q; p < n; p += 4) {
      Lanes sum[4] = {};
      for (Index b = 0; b < blocks; ++b) {
        const Lanes* row = T + b * (n + beyond);
        const Lanes* s = S + (b * n + q) * n + p;
        const Lanes twice = row[q] + row[q], of_y = y[b];
        for (int k = 0; k < 4; ++k) {
          sum[k] += twice * row[p + k];
          sum[k] += of_y * s[k];
        }
      }
      double total[4];
      four_sums(sum, total);
      const Index count = n - p < 4 ? n - p : 4;
      for (Index k = 0; k < count; ++k) {
        const double K = 2 * cq * total[k];
        const Index i = p + k - 1, j = q - 1;
        J[i + j * stride] += K;
        if (i > j) J[j + i * stride] += K;
      }
    }
}

// J += sum_r 4 T_r (cq U_r + cv T_r)' + cq 2 y'_r S_r, with U = S e'; W is as T
LISSOM_INLINE void damping_tangent_of(const double* S_values, Index n, Index blocks, const double* T_values,
                                      const double* y_values, const double* rate, double cq, double cv,
                                      double* W_values, double* J, Index stride) {
  const auto* S = reinterpret_cast<const Lanes*>(S_values);
  const auto* T = reinterpret_cast<const Lanes*>(T_values);
  const auto* y = reinterpret_cast<const Lanes*>(y_values);
  auto* W = reinterpret_cast<Lanes*>(W_values);
  for (Index b = 0; b < blocks; ++b) {
    Lanes* own = W + b * (n + beyond);
    const Lanes* of_T = T + b * (n + beyond);
    product_of(S + b * n * n, n, rate, own);
    for (Index q = 0; q < n; ++q) own[q] = 2 * cq * own[q] + 2 * cv * of_T[q];
  }
  for (Index q = 1; q < n; ++q)
    for (Index p = 1; p < n; p += 4) {
      Lanes sum[4] = {};
      for (Index b = 0; b < blocks; ++b) {
        const Lanes* row = T + b * (n + beyond);
        const Lanes* s = S + (b * n + q) * n + p;
        const Lanes of_W = W[b * (n + beyond) + q], of_y = y[b] * cq;
        for (int k = 0; k < 4; ++k) {
          sum[k] += of_W * row[p + k];
          sum[k] += of_y * s[k];
        }
      }
      double total[4];
      four_sums(sum, total);
      const Index count = n - p < 4 ? n - p : 4;
      for (Index k = 0; k < count; ++k) J[p + k - 1 + (q - 1) * stride] += 2 * total[k];
    }
}

// Each once more for processors with wider vectors.
#if defined(LISSOM_AVX512)
LISSOM_AVX512 double force_avx512(const double* S, Index n, Index blocks, const double* e, const double* u,
                                  double factor, double* T, double* y, double* sums, double* g) {
  return force_of(S, n, blocks, e, u, factor, T, y, sums, g);
}
LISSOM_AVX2 double force_avx2(const double* S, Index n, Index blocks, const double* e, const double* u,
                              double factor, double* T, double* y, double* sums, double* g) {
  return force_of(S, n, blocks, e, u, factor, T, y, sums, g);
}
LISSOM_AVX512 void elastic_tangent_avx512(const double* S, Index n, Index blocks, const double* T,
                                          const double* y, double cq, double* J, Index stride) {
  elastic_tangent_of(S, n, blocks, T, y, cq, J, stride);
}
LISSOM_AVX2 void elastic_tangent_avx2(const double* S, Index n, Index blocks, const double* T,
                                      const double* y, double cq, double* J, Index stride) {
  elastic_tangent_of(S, n, blocks, T, y, cq, J, stride);
}
LISSOM_AVX512 void damping_tangent_avx512(const double* S, Index n, Index blocks, const double* T,
                                          const double* y, const double* rate, double cq, double cv,
                                          double* W, double* J, Index stride) {
  damping_tangent_of(S, n, blocks, T, y, rate, cq, cv, W, J, stride);
}
LISSOM_AVX2 void damping_tangent_avx2(const double* S, Index n, Index blocks, const double* T,
                                      const double* y, const double* rate, double cq, double cv, double* W,
                                      double* J, Index stride) {
  damping_tangent_of(S, n, blocks, T, y, rate, cq, cv, W, J, stride);
}
#endif

double force(const double* S, Index n, Index blocks, const double* e, const double* u, double factor,
             double* T, double* y, double* sums, double* g) {
#if defined(LISSOM_AVX512)
  if (has_avx512()) return force_avx512(S, n, blocks, e, u, factor, T, y, sums, g);
  if (has_avx2()) return force_avx2(S, n, blocks, e, u, factor, T, y, sums, g);
#endif
  return force_of(S, n, blocks, e, u, factor, T, y, sums, g);
}

void elastic_tangent(const double* S, Index n, Index blocks, const double* T, const double* y, double cq,
                     double* J, Index stride) {
#if defined(LISSOM_AVX512)
  if (has_avx512()) return elastic_tangent_avx512(S, n, blocks, T, y, cq, J, stride);
  if (has_avx2()) return elastic_tangent_avx2(S, n, blocks, T, y, cq, J, stride);
#endif
  elastic_tangent_of(S, n, blocks, T, y, cq, J, stride);
}

void damping_tangent(const double* S, Index n, Index blocks, const double* T, const double* y,
                     const double* rate, double cq, double cv, double* W, double* J, Index stride) {
#if defined(LISSOM_AVX512)
  if (has_avx512()) return damping_tangent_avx512(S, n, blocks, T, y, rate, cq, cv, W, J, stride);
  if (has_avx2()) return damping_tangent_avx2(S, n, blocks, T, y, rate, cq, cv, W, J, stride);
#endif
  damping_tangent_of(S, n, blocks, T, y, rate, cq, cv, W, J, stride);
}

bool same_numbers(const VectorXd& x, const PolynomialKernel::Vector& y) {
  return std::memcmp(x.data(), y.data(), static_cast<size_t>(x.size()) * sizeof(double)) == 0;
}

}  // namespace

PolynomialKernel::Rows::Rows(const MatrixXd& packed, int m)
    : n(m + 1), blocks((packed.rows() + lanes - 1) / lanes), S((blocks * n * n + beyond) * lanes) {
  for (Index r = 0; r < packed.rows(); ++r)
    for (Index q = 0; q < n; ++q)
      for (Index p = q; p < n; ++p) {
        // half of what stands off the diagonal belongs to each side
        const double value = (p == q ? 1.0 : 0.5) * packed(r, SlapPolynomial::monomial(q, p, m));
        const Index block = r / lanes * n * n, lane = r % lanes;
        S[(block + q * n + p) * lanes + lane] = S[(block + p * n + q) * lanes + lane] = value;
      }
}

PolynomialKernel::PolynomialKernel(const SlapPolynomial& form, int m) : m_(m), elastic_(form.S, m) {
  if (form.S_damping.size() > 0) damping_ = Rows(form.S_damping, m);
}

PolynomialKernel::Room::Room(const PolynomialKernel& kernel)
    : eta_(kernel.m_),
      v_(VectorXd::Zero(kernel.m_)),
      e_(kernel.m_ + 1),
      rate_(kernel.m_ + 1),
      g_(kernel.m_ + 1 + beyond),
      sums_((kernel.m_ + 1 + beyond) * lanes) {
  const auto make = [](const Rows& rows, RowsRoom& room) {
    room.T = AlignedArray(rows.blocks * (rows.n + beyond) * lanes);
    room.y = AlignedArray(rows.blocks * lanes);
  };
  make(kernel.elastic_, elastic_);
  if (!kernel.damped()) return;
  make(kernel.damping_, damping_);
  W_ = AlignedArray(damping_.T.size());
  damping_g_ = AlignedArray(kernel.m_ + 1 + beyond);
}

void PolynomialKernel::update(const Vector& eta, const Vector& v, Room& room) const {
  if (room.filled_ && same_numbers(room.eta_, eta) && (!damped() || same_numbers(room.v_, v))) return;
  room.eta_ = eta;
  room.filled_ = true;
  const Index n = elastic_.n;
  double* e = room.e_.data();
  e[0] = 1;
  std::memcpy(e + 1, eta.data(), static_cast<size_t>(m_) * sizeof(double));
  room.elastic_.squares = force(elastic_.S.data(), n, elastic_.blocks, e, e, 1, room.elastic_.T.data(),
                                room.elastic_.y.data(), room.sums_.data(), room.g_.data());
  if (!damped()) return;
  room.v_ = v;
  double* rate = room.rate_.data();
  std::memcpy(rate + 1, v.data(), static_cast<size_t>(m_) * sizeof(double));
  room.damping_.squares = force(damping_.S.data(), n, damping_.blocks, e, rate, 2, room.damping_.T.data(),
                                room.damping_.y.data(), room.sums_.data(), room.damping_g_.data());
}

double PolynomialKernel::energy(const Room& room) const {
  return 0.5 * room.elastic_.squares;
}

double PolynomialKernel::damping_power(const Room& room) const {
  return room.damping_.squares;
}

void PolynomialKernel::add_force(const Room& room, Eigen::Ref<VectorXd> g) const {
  for (int r = 0; r < m_; ++r) g[r] += room.g_[r + 1];
  if (!damped()) return;
  for (int r = 0; r < m_; ++r) g[r] += room.damping_g_[r + 1];
}

void PolynomialKernel::add_tangent(double cq, double cv, Room& room, Eigen::Ref<MatrixXd> J) const {
  LISSOM_ASSERT(room.filled_);
  if (cq != 0)
    elastic_tangent(elastic_.S.data(), elastic_.n, elastic_.blocks, room.elastic_.T.data(),
                    room.elastic_.y.data(), cq, J.data(), J.outerStride());
  if (damped())
    damping_tangent(damping_.S.data(), damping_.n, damping_.blocks, room.damping_.T.data(),
                    room.damping_.y.data(), room.rate_.data(), cq, cv, room.W_.data(), J.data(),
                    J.outerStride());
}

}  // namespace lissom
