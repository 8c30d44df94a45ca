// What the energy of an ANCF element is made of, for one element (T = double) or for several side by side
// (T a vector of doubles, one element each): the same formulas for ancf_elastic() and the loops of AncfBody.
//
// Notation (of one element): d = r_2 - r_1, a = l r_1', b = l r_2', u = a - d, w = b - d;
//   l r'    = d + h_a u + h_b w     = h_d d + h_a a + h_b b,  h_a = 1 - 4 xi + 3 xi^2, h_b = 3 xi^2 - 2 xi,
//   l^2 r'' =     k_a u + k_b w     = k_d d + k_a a + k_b b,  k_a = 6 xi - 4,  k_b = 6 xi - 2.
// Forces are made of (d, u, w), where nothing cancels; tangents with respect to (d, a, b). s = r', c = r'',
// m = s.s. Everything is inlined, so that it is compiled for the processor that the caller is compiled for.
#pragma once

// vectors of four doubles never cross a call: all is inlined. GCC's remark on the ABI would come all the same
#pragma GCC diagnostic ignored "-Wpsabi"

#include <type_traits>

#include "lissom/core/simd.hpp"
#include "lissom/mbs/ancf_element.hpp"

namespace lissom::ancf_kernel {

// A Gauss point on [0, 1] with its weight and the shape functions of (d, a, b) there.
struct Point {
  double xi, weight;
  double h[3], k[3];
};
constexpr Point point(double xi, double weight) {
  return {xi,
          weight,
          {6 * xi * (1 - xi), 1 - xi * (4 - 3 * xi), xi * (3 * xi - 2)},
          {6 - 12 * xi, 6 * xi - 4, 6 * xi - 2}};
}
// abscissas sqrt(5 -+ 2 sqrt(10/7)) / 3 and sqrt(3/5) of [-1, 1]
constexpr Point five[5] = {point(0.04691007703066800, 0.11846344252809454),
                           point(0.23076534494715845, 0.23931433524968324), point(0.5, 0.28444444444444444),
                           point(0.76923465505284155, 0.23931433524968324),
                           point(0.95308992296933200, 0.11846344252809454)};
constexpr Point three[3] = {point(0.11270166537925831, 5.0 / 18), point(0.5, 4.0 / 9),
                            point(0.88729833462074169, 5.0 / 18)};

template <class T>
LISSOM_INLINE T root(const T& x) {
  if constexpr (std::is_same_v<T, double>) {
    return __builtin_sqrt(x);
  } else {
    T y;
    for (unsigned i = 0; i < sizeof(T) / sizeof(double); ++i) y[i] = __builtin_sqrt(x[i]);
    return y;
  }
}

template <class T, int D>
LISSOM_INLINE T dot(const T (&x)[D], const T (&y)[D]) {
  T sum = x[0] * y[0];
  for (int i = 1; i < D; ++i) sum += x[i] * y[i];
  return sum;
}

// (d, u, w) of an element, or their rates
template <class T, int D>
struct Differences {
  T d[D], u[D], w[D];

  LISSOM_INLINE void slope(const Point& g, double inverse_length, T (&s)[D]) const {
    for (int i = 0; i < D; ++i) s[i] = (d[i] + g.h[1] * u[i] + g.h[2] * w[i]) * inverse_length;
  }
  LISSOM_INLINE void curvature(const Point& g, double inverse_square, T (&c)[D]) const {
    for (int i = 0; i < D; ++i) c[i] = (g.k[1] * u[i] + g.k[2] * w[i]) * inverse_square;
  }
};

// energy density of axial strain (stiffness 1), its gradient and Hessian (lower triangle) by s
template <AxialStrain law, bool tangent, class T, int D>
LISSOM_INLINE T axial_density(const T (&s)[D], T (&gradient)[D], T (&H)[D][D]) {
  const T m = dot<T, D>(s, s);
  if constexpr (law == AxialStrain::Green) {
    const T strain = 0.5 * (m - 1.0);
    for (int i = 0; i < D; ++i) gradient[i] = strain * s[i];
    if constexpr (tangent)
      for (int i = 0; i < D; ++i)
        for (int j = 0; j <= i; ++j) {
          H[i][j] = s[i] * s[j];
          if (i == j) H[i][j] += strain;
        }
    return 0.5 * strain * strain;
  } else {
    const T length = root(m), strain = length - 1.0, ratio = strain / length;
    for (int i = 0; i < D; ++i) gradient[i] = ratio * s[i];
    if constexpr (tangent) {
      // t t' + ratio (I - t t')
      const T along = (1.0 - ratio) / m;
      for (int i = 0; i < D; ++i)
        for (int j = 0; j <= i; ++j) {
          H[i][j] = along * s[i] * s[j];
          if (i == j) H[i][j] += ratio;
        }
    }
    return 0.5 * strain * strain;
  }
}

// k^2/2 of the material curvature, with y = c - alpha s, the part of c across s: k^2 = y.y / m. Gradients by
// s and c; Hessian of (s, c), blocks ss and cc symmetric, cs[i][j] by c_i and s_j.
template <bool tangent, class T, int D>
LISSOM_INLINE T curvature_density(const T (&s)[D], const T (&c)[D], T (&by_s)[D], T (&by_c)[D], T (&ss)[D][D],
                                  T (&cs)[D][D], T (&cc)[D][D]) {
  const T inverse = 1.0 / dot<T, D>(s, s), alpha = dot<T, D>(s, c) * inverse;
  T y[D];
  for (int i = 0; i < D; ++i) y[i] = c[i] - alpha * s[i];
  const T k2 = dot<T, D>(y, y) * inverse;
  for (int i = 0; i < D; ++i) {
    by_c[i] = y[i] * inverse;
    by_s[i] = -alpha * by_c[i] - k2 * inverse * s[i];
  }
  if constexpr (tangent) {
    const T square = inverse * inverse;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) {
        const T ij = square * s[i] * s[j];
        cc[i][j] = -ij;
        cs[i][j] = alpha * ij - square * (s[i] * y[j] + 2.0 * y[i] * s[j]);
        ss[i][j] = (4.0 * k2 - alpha * alpha) * ij +
                   square * (3.0 * alpha * (y[i] * s[j] + s[i] * y[j]) - y[i] * y[j]);
        if (i == j) {
          cc[i][j] += inverse;
          cs[i][j] -= alpha * inverse;
          ss[i][j] += (alpha * alpha - k2) * inverse;
        }
      }
  }
  return 0.5 * k2;
}

// Forces by (d, u, w); tangent by (d, a, b), row i D + p for component p of the i-th.
template <class T, int D>
struct Forces {
  T f[3][D];
  T K[3 * D][3 * D];
  T energy, power;

  template <bool tangent>
  LISSOM_INLINE void clear() {
    const T zero = T{};
    for (int i = 0; i < 3; ++i)
      for (int p = 0; p < D; ++p) f[i][p] = zero;
    if constexpr (tangent)
      for (int i = 0; i < 3 * D; ++i)
        for (int j = 0; j < 3 * D; ++j) K[i][j] = zero;
    energy = zero;
    power = zero;
  }
  // the lower triangle onto the upper one
  LISSOM_INLINE void mirror() {
    for (int i = 0; i < 3 * D; ++i)
      for (int j = 0; j < i; ++j) K[j][i] = K[i][j];
  }
};

// constant bending stiffness EI/l^3 [12 -6 -6; -6 4 2; -6 2 4] of (d, a, b)
constexpr double bending_matrix[3][3] = {{12, -6, -6}, {-6, 4, 2}, {-6, 2, 4}};

// weight h_a h_b of a point
constexpr double axial_factor(int n, int a, int b) {
  return five[n].weight * five[n].h[a] * five[n].h[b];
}

template <AxialStrain law, bool tangent, class T, int D>
LISSOM_INLINE void add_axial(const AncfProperties& p, const Differences<T, D>& z, double cq,
                             Forces<T, D>& out) {
  const double inverse = 1 / p.length;
  T H[5][D][D];
#pragma GCC unroll 5
  for (int n = 0; n < 5; ++n) {
    const Point& g = five[n];
    T s[D], by_s[D];
    z.slope(g, inverse, s);
    const double stiffness = p.EA * g.weight;
    out.energy += stiffness * p.length * axial_density<law, tangent, T, D>(s, by_s, H[n]);
    for (int i = 0; i < D; ++i) {
      const T f = stiffness * by_s[i];
      out.f[0][i] += f;
      out.f[1][i] += g.h[1] * f;
      out.f[2][i] += g.h[2] * f;
    }
  }
  if constexpr (tangent) {
    // entry by entry, so that the sums stay in registers
    const double scale = cq * p.EA * inverse;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j <= i; ++j) {
        T h[5];
        for (int n = 0; n < 5; ++n) h[n] = scale * H[n][i][j];
#pragma GCC unroll 3
        for (int a = 0; a < 3; ++a)
#pragma GCC unroll 3
          for (int b = 0; b <= a; ++b) {
            const T sum = axial_factor(0, a, b) * h[0] + axial_factor(1, a, b) * h[1] +
                          axial_factor(2, a, b) * h[2] + axial_factor(3, a, b) * h[3] +
                          axial_factor(4, a, b) * h[4];
            out.K[a * D + i][b * D + j] += sum;
            if (a != b && i != j) out.K[a * D + j][b * D + i] += sum;
          }
      }
  }
}

// elastic bending of the second derivative; with rates and cv for cq, its damping
template <bool tangent, class T, int D>
LISSOM_INLINE void add_linear_bending(const AncfProperties& p, double stiffness, const Differences<T, D>& z,
                                      double factor, Forces<T, D>& out, T& energy) {
  const double k = stiffness / (p.length * p.length * p.length);
  T sum = T{};
  for (int i = 0; i < D; ++i) {
    const T fu = k * (4.0 * z.u[i] + 2.0 * z.w[i]), fw = k * (2.0 * z.u[i] + 4.0 * z.w[i]);
    out.f[1][i] += fu;
    out.f[2][i] += fw;
    sum += z.u[i] * fu + z.w[i] * fw;
  }
  energy += 0.5 * sum;
  if constexpr (tangent) {
    const double scale = k * factor;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        for (int i = 0; i < D; ++i) out.K[a * D + i][b * D + i] += scale * bending_matrix[a][b];
  }
}

template <bool tangent, class T, int D>
LISSOM_INLINE void add_material_bending(const AncfProperties& p, const Differences<T, D>& z, double cq,
                                        Forces<T, D>& out) {
  const double inverse = 1 / p.length, square = inverse * inverse;
  for (int n = 0; n < 3; ++n) {
    const Point& g = three[n];
    T s[D], c[D], by_s[D], by_c[D], ss[D][D], cs[D][D], cc[D][D];
    z.slope(g, inverse, s);
    z.curvature(g, square, c);
    const double stiffness = p.EI * g.weight;
    out.energy += stiffness * p.length * curvature_density<tangent, T, D>(s, c, by_s, by_c, ss, cs, cc);
    for (int i = 0; i < D; ++i) {
      const T fs = stiffness * by_s[i], fc = (stiffness * inverse) * by_c[i];
      out.f[0][i] += fs;
      out.f[1][i] += g.h[1] * fs + g.k[1] * fc;
      out.f[2][i] += g.h[2] * fs + g.k[2] * fc;
    }
    if constexpr (tangent) {
      const double scale = cq * stiffness * inverse;
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b <= a; ++b) {
          const double hh = scale * g.h[a] * g.h[b], hk = scale * inverse * g.h[a] * g.k[b],
                       kh = scale * inverse * g.k[a] * g.h[b], kk = scale * square * g.k[a] * g.k[b];
          for (int i = 0; i < D; ++i)
            for (int j = 0; j < (a == b ? i + 1 : D); ++j)
              out.K[a * D + i][b * D + j] += hh * ss[i][j] + hk * cs[j][i] + kh * cs[i][j] + kk * cc[i][j];
        }
    }
  }
}

// Adds the force, cq times the lower triangle of the tangent, and the energy.
template <bool tangent, class T, int D>
LISSOM_INLINE void add_elastic(const AncfLaw& law, const AncfProperties& p, const Differences<T, D>& z,
                               double cq, Forces<T, D>& out) {
  if (law.axial == AxialStrain::Green)
    add_axial<AxialStrain::Green, tangent>(p, z, cq, out);
  else
    add_axial<AxialStrain::Engineering, tangent>(p, z, cq, out);
  if (law.bending == BendingStrain::SecondDerivative)
    add_linear_bending<tangent>(p, p.EI, z, cq, out, out.energy);
  else
    add_material_bending<tangent>(p, z, cq, out);
}

// Force of damping by axial strain for unit stiffness, e s/|s|^k with e = s.v (Green) or s.v/|s|, and cq, cv
// times its derivatives by s and v (full).
template <AxialStrain law, bool tangent, class T, int D>
LISSOM_INLINE T axial_damping(const T (&s)[D], const T (&v)[D], double cq, double cv, T (&force)[D],
                              T (&A)[D][D]) {
  const T rate = dot<T, D>(s, v);
  if constexpr (law == AxialStrain::Green) {
    for (int i = 0; i < D; ++i) force[i] = rate * s[i];
    if constexpr (tangent)
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) {
          A[i][j] = s[i] * (cq * v[j] + cv * s[j]);
          if (i == j) A[i][j] += cq * rate;
        }
    return rate * rate;
  } else {
    // (s.v) s / m
    const T inverse = 1.0 / dot<T, D>(s, s), ratio = rate * inverse;
    for (int i = 0; i < D; ++i) force[i] = ratio * s[i];
    if constexpr (tangent)
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) {
          A[i][j] = inverse * s[i] * (cq * v[j] + cv * s[j] - (2 * cq) * ratio * s[j]);
          if (i == j) A[i][j] += cq * ratio;
        }
    return rate * ratio;
  }
}

// The curvature of the beam in its own axes, which turn without twist about the tangent, changes at the rate
//   (1/|s|) (I - t t') y,   y = v_c - alpha v_s - gamma c,   alpha = s.c/m,  gamma = s.v_s/m,
// which makes the forces p = (y - sigma s)/m by v_c, sigma = s.y/m, and -alpha p - tau s by v_s, tau = c.p/m.
// A[2D][2D]: cq, cv times the derivatives of (force_s, force_c) by (s, c) and (v_s, v_c).
template <bool tangent, class T, int D>
LISSOM_INLINE T curvature_damping(const T (&s)[D], const T (&c)[D], const T (&vs)[D], const T (&vc)[D],
                                  double cq, double cv, T (&force_s)[D], T (&force_c)[D],
                                  T (&A)[2 * D][2 * D]) {
  const T m = dot<T, D>(s, s), inverse = 1.0 / m;
  const T alpha = dot<T, D>(s, c) * inverse, gamma = dot<T, D>(s, vs) * inverse;
  T y[D], p[D];
  for (int i = 0; i < D; ++i) y[i] = vc[i] - alpha * vs[i] - gamma * c[i];
  const T sigma = dot<T, D>(s, y) * inverse;
  for (int i = 0; i < D; ++i) p[i] = (y[i] - sigma * s[i]) * inverse;
  const T tau = dot<T, D>(c, p) * inverse;
  for (int i = 0; i < D; ++i) {
    force_s[i] = -alpha * p[i] - tau * s[i];
    force_c[i] = p[i];
  }
  if constexpr (tangent)
    for (int k = 0; k < 2 * D; ++k) {
      // the direction: ds, dvs or dc, dvc along one axis
      T ds[D], dc[D], dvs[D], dvc[D], dy[D], dp[D];
      for (int i = 0; i < D; ++i) {
        ds[i] = T{} + (i == k ? cq : 0.0);
        dvs[i] = T{} + (i == k ? cv : 0.0);
        dc[i] = T{} + (i == k - D ? cq : 0.0);
        dvc[i] = T{} + (i == k - D ? cv : 0.0);
      }
      const T dm = 2.0 * dot<T, D>(s, ds);
      const T dalpha = (dot<T, D>(c, ds) + dot<T, D>(s, dc) - alpha * dm) * inverse;
      const T dgamma = (dot<T, D>(vs, ds) + dot<T, D>(s, dvs) - gamma * dm) * inverse;
      for (int i = 0; i < D; ++i)
        dy[i] = dvc[i] - alpha * dvs[i] - dalpha * vs[i] - gamma * dc[i] - dgamma * c[i];
      const T dsigma = (dot<T, D>(y, ds) + dot<T, D>(s, dy) - sigma * dm) * inverse;
      for (int i = 0; i < D; ++i) dp[i] = (dy[i] - dsigma * s[i] - sigma * ds[i] - dm * p[i]) * inverse;
      const T dtau = (dot<T, D>(c, dp) + dot<T, D>(p, dc) - tau * dm) * inverse;
      for (int i = 0; i < D; ++i) {
        A[i][k] = -dalpha * p[i] - alpha * dp[i] - dtau * s[i] - tau * ds[i];
        A[D + i][k] = dp[i];
      }
    }
  return m * dot<T, D>(p, p);
}

template <AxialStrain law, bool tangent, class T, int D>
LISSOM_INLINE void add_axial_damping(const AncfProperties& p, const Differences<T, D>& z,
                                     const Differences<T, D>& rate, double cq, double cv, Forces<T, D>& out) {
  const double inverse = 1 / p.length;
  for (int n = 0; n < 5; ++n) {
    const Point& g = five[n];
    T s[D], v[D], force[D], A[D][D];
    z.slope(g, inverse, s);
    rate.slope(g, inverse, v);
    const double stiffness = p.damping * p.EA * g.weight;
    out.power += stiffness * p.length * axial_damping<law, tangent, T, D>(s, v, cq, cv, force, A);
    for (int i = 0; i < D; ++i) {
      const T f = stiffness * force[i];
      out.f[0][i] += f;
      out.f[1][i] += g.h[1] * f;
      out.f[2][i] += g.h[2] * f;
    }
    if constexpr (tangent)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
          const double factor = stiffness * inverse * g.h[a] * g.h[b];
          for (int i = 0; i < D; ++i)
            for (int j = 0; j < D; ++j) out.K[a * D + i][b * D + j] += factor * A[i][j];
        }
  }
}

template <bool tangent, class T, int D>
LISSOM_INLINE void add_material_damping(const AncfProperties& p, const Differences<T, D>& z,
                                        const Differences<T, D>& rate, double cq, double cv,
                                        Forces<T, D>& out) {
  const double inverse = 1 / p.length, square = inverse * inverse;
  for (int n = 0; n < 3; ++n) {
    const Point& g = three[n];
    T s[D], c[D], vs[D], vc[D], by_s[D], by_c[D], A[2 * D][2 * D];
    z.slope(g, inverse, s);
    z.curvature(g, square, c);
    rate.slope(g, inverse, vs);
    rate.curvature(g, square, vc);
    const double stiffness = p.damping * p.EI * g.weight;
    out.power += stiffness * p.length * curvature_damping<tangent, T, D>(s, c, vs, vc, cq, cv, by_s, by_c, A);
    for (int i = 0; i < D; ++i) {
      const T fs = stiffness * by_s[i], fc = (stiffness * inverse) * by_c[i];
      out.f[0][i] += fs;
      out.f[1][i] += g.h[1] * fs + g.k[1] * fc;
      out.f[2][i] += g.h[2] * fs + g.k[2] * fc;
    }
    if constexpr (tangent) {
      const double scale = stiffness * inverse;
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
          const double hh = scale * g.h[a] * g.h[b], hk = scale * inverse * g.h[a] * g.k[b],
                       kh = scale * inverse * g.k[a] * g.h[b], kk = scale * square * g.k[a] * g.k[b];
          for (int i = 0; i < D; ++i)
            for (int j = 0; j < D; ++j)
              out.K[a * D + i][b * D + j] +=
                  hh * A[i][j] + hk * A[i][D + j] + kh * A[D + i][j] + kk * A[D + i][D + j];
        }
    }
  }
}

// Adds the damping force, cq and cv times its derivatives (full), and the power.
template <bool tangent, class T, int D>
LISSOM_INLINE void add_damping(const AncfLaw& law, const AncfProperties& p, const Differences<T, D>& z,
                               const Differences<T, D>& rate, double cq, double cv, Forces<T, D>& out) {
  if (law.axial == AxialStrain::Green)
    add_axial_damping<AxialStrain::Green, tangent>(p, z, rate, cq, cv, out);
  else
    add_axial_damping<AxialStrain::Engineering, tangent>(p, z, rate, cq, cv, out);
  if (law.bending == BendingStrain::SecondDerivative) {
    T half = T{};
    add_linear_bending<tangent>(p, p.damping * p.EI, rate, cv, out, half);
    out.power += 2.0 * half;
  } else {
    add_material_damping<tangent>(p, z, rate, cq, cv, out);
  }
}

// From (d, a, b) to e = (r_1, r_1', r_2, r_2'): factors of the blocks, and which of the three they are.
constexpr int block_of[4] = {0, 1, 0, 2};
LISSOM_INLINE double factor_of(int i, double l) {
  return i == 0 ? -1.0 : i == 2 ? 1.0 : l;
}

// Forces by e (4 D).
template <class T, int D>
LISSOM_INLINE void to_nodes(const Forces<T, D>& in, double l, T (&force)[4 * D]) {
  for (int i = 0; i < D; ++i) {
    const T d = in.f[0][i] - in.f[1][i] - in.f[2][i];
    force[i] = -d;
    force[D + i] = l * in.f[1][i];
    force[2 * D + i] = d;
    force[3 * D + i] = l * in.f[2][i];
  }
}

}  // namespace lissom::ancf_kernel
