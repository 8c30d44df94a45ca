#include "lissom/mbs/ancf_loop.hpp"

// all that takes or returns vectors is inlined, so that it is no matter how they are passed
#pragma GCC diagnostic ignored "-Wpsabi"

#include <cstring>

#include "lissom/core/simd.hpp"
#include "lissom/mbs/ancf_kernel.hpp"

namespace lissom {

namespace {

namespace kernel = ancf_kernel;

// four elements side by side
constexpr int width = 4;
typedef double Pack __attribute__((vector_size(width * sizeof(double))));

template <class T>
constexpr int lanes = static_cast<int>(sizeof(T) / sizeof(double));

template <class T>
LISSOM_INLINE void load(const double* from, T& to) {
  std::memcpy(&to, from, sizeof(T));
}
template <class T>
LISSOM_INLINE void store(const T& from, double* to) {
  std::memcpy(to, &from, sizeof(T));
}

template <class T, int D>
LISSOM_INLINE void load_differences(const AncfNodeValues& values, int node, double l,
                                    kernel::Differences<T, D>& z) {
  for (int i = 0; i < D; ++i) {
    T r1, r2, s1, s2;
    load(values.component(i) + node, r1);
    load(values.component(i) + node + 1, r2);
    load(values.component(D + i) + node, s1);
    load(values.component(D + i) + node + 1, s2);
    z.d[i] = r2 - r1;
    z.u[i] = l * s1 - z.d[i];
    z.w[i] = l * s2 - z.d[i];
  }
}

template <class T, int D>
LISSOM_INLINE void element_forces(const AncfLaw& law, const AncfLoopBeam& beam, int node,
                                  AncfLoopRoom& room) {
  const AncfProperties& p = beam.properties;
  kernel::Differences<T, D> z;
  kernel::Forces<T, D> sum;
  sum.template clear<false>();
  load_differences(room.E, node, p.length, z);
  kernel::add_elastic<false>(law, p, z, 0, sum);
  if (p.damping != 0) {
    kernel::Differences<T, D> rate;
    load_differences(room.V, node, p.length, rate);
    kernel::add_damping<false>(law, p, z, rate, 0, 0, sum);
  }
  T f[4 * D];
  kernel::to_nodes<T, D>(sum, p.length, f);
  for (int i = 0; i < D; ++i) {
    T a[4];
    load(room.A.component(i) + node, a[0]);
    load(room.A.component(D + i) + node, a[1]);
    load(room.A.component(i) + node + 1, a[2]);
    load(room.A.component(D + i) + node + 1, a[3]);
    for (int k = 0; k < 4; ++k) {
      const T inertia =
          beam.mass(k, 0) * a[0] + beam.mass(k, 1) * a[1] + beam.mass(k, 2) * a[2] + beam.mass(k, 3) * a[3];
      AncfNodeValues& to = k < 2 ? room.first : room.second;
      store(T(f[k * D + i] + inertia), to.component((k % 2) * D + i) + node + k / 2);
    }
  }
}

template <int D>
LISSOM_INLINE void all_forces(const AncfLaw& law, std::span<const AncfLoopBeam> beams, AncfLoopRoom& room) {
  for (const AncfLoopBeam& beam : beams) {
    int e = 0;
    for (; e + width <= beam.elements; e += width)
      element_forces<Pack, D>(law, beam, beam.first_node + e, room);
    for (; e < beam.elements; ++e) element_forces<double, D>(law, beam, beam.first_node + e, room);
  }
}

// One lane of a tangent in e (the lower triangle, or all of it) to its cell.
template <int D>
LISSOM_INLINE void scatter(const double* K, int step, bool full, const AncfCellMap& map, const int* at,
                           const CellWriter& out) {
  constexpr int n = 4 * D;
  const auto entry = [&](int i, int j) {
    return full || i >= j ? K[(i * n + j) * step] : K[(j * n + i) * step];
  };
  double* values = out.values;
  if (map.plain && out.lower) {
#pragma GCC unroll 12
    for (int j = 0; j < n; ++j)
#pragma GCC unroll 12
      for (int i = j; i < n; ++i) values[at[i + j * n]] += K[(i * n + j) * step];
  } else if (map.plain) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) values[at[i + j * n]] += entry(i, j);
  } else {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const int row = map.local[i], column = map.local[j];
        if (row < 0 || column < 0 || (out.lower && row < column)) continue;
        values[at[row + column * map.size]] += map.factor[i] * map.factor[j] * entry(i, j);
      }
  }
}

template <class T, int D>
LISSOM_INLINE void element_tangents(const AncfLaw& law, const AncfLoopBeam& beam, int element, double cq,
                                    double cv, double ca, const AncfLoopRoom& room,
                                    std::span<const AncfCellMap> maps, const CellWriter& out) {
  const AncfProperties& p = beam.properties;
  const int node = beam.first_node + element;
  const bool damped = p.damping != 0;
  kernel::Differences<T, D> z;
  kernel::Forces<T, D> sum;
  sum.template clear<true>();
  load_differences(room.E, node, p.length, z);
  kernel::add_elastic<true>(law, p, z, cq, sum);
  if (damped) {
    kernel::Differences<T, D> rate;
    load_differences(room.V, node, p.length, rate);
    sum.mirror();
    kernel::add_damping<true>(law, p, z, rate, cq, cv, sum);
  }

  // to e, with the mass
  T K[4 * D][4 * D];
#pragma GCC unroll 4
  for (int a = 0; a < 4; ++a)
#pragma GCC unroll 4
    for (int b = 0; b < 4; ++b) {
      if (b > a && !damped) continue;
      const int x = kernel::block_of[a], y = kernel::block_of[b];
      const double factor = kernel::factor_of(a, p.length) * kernel::factor_of(b, p.length);
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) {
          const int row = x * D + i, column = y * D + j;
          K[a * D + i][b * D + j] =
              factor * (damped || row >= column ? sum.K[row][column] : sum.K[column][row]);
          if (i == j) K[a * D + i][b * D + j] += ca * beam.mass(a, b);
        }
    }
  const int cell = beam.first_element + element;
  for (int lane = 0; lane < lanes<T>; ++lane)
    scatter<D>(reinterpret_cast<const double*>(&K[0][0]) + lane, lanes<T>, damped, maps[cell + lane],
               out.at[cell + lane], out);
}

template <int D>
LISSOM_INLINE void all_tangents(const AncfLaw& law, std::span<const AncfLoopBeam> beams, double cq, double cv,
                                double ca, const AncfLoopRoom& room, std::span<const AncfCellMap> maps,
                                const CellWriter& out) {
  for (const AncfLoopBeam& beam : beams) {
    int e = 0;
    for (; e + width <= beam.elements; e += width)
      element_tangents<Pack, D>(law, beam, e, cq, cv, ca, room, maps, out);
    for (; e < beam.elements; ++e) element_tangents<double, D>(law, beam, e, cq, cv, ca, room, maps, out);
  }
}

#if defined(__x86_64__)
template <int D>
LISSOM_AVX2 void forces_avx2(const AncfLaw& law, std::span<const AncfLoopBeam> beams, AncfLoopRoom& room) {
  all_forces<D>(law, beams, room);
}
template <int D>
LISSOM_AVX2 void tangents_avx2(const AncfLaw& law, std::span<const AncfLoopBeam> beams, double cq, double cv,
                               double ca, const AncfLoopRoom& room, std::span<const AncfCellMap> maps,
                               const CellWriter& out) {
  all_tangents<D>(law, beams, cq, cv, ca, room, maps, out);
}
#endif

template <int D>
void forces(const AncfLaw& law, std::span<const AncfLoopBeam> beams, AncfLoopRoom& room) {
#if defined(__x86_64__)
  if (has_avx2()) return forces_avx2<D>(law, beams, room);
#endif
  all_forces<D>(law, beams, room);
}
template <int D>
void tangents(const AncfLaw& law, std::span<const AncfLoopBeam> beams, double cq, double cv, double ca,
              const AncfLoopRoom& room, std::span<const AncfCellMap> maps, const CellWriter& out) {
#if defined(__x86_64__)
  if (has_avx2()) return tangents_avx2<D>(law, beams, cq, cv, ca, room, maps, out);
#endif
  all_tangents<D>(law, beams, cq, cv, ca, room, maps, out);
}

}  // namespace

void ancf_forces(int dimension, const AncfLaw& law, std::span<const AncfLoopBeam> beams, AncfLoopRoom& room) {
  if (dimension == 2)
    forces<2>(law, beams, room);
  else
    forces<3>(law, beams, room);
}

void ancf_tangents(int dimension, const AncfLaw& law, std::span<const AncfLoopBeam> beams, double cq,
                   double cv, double ca, const AncfLoopRoom& room, std::span<const AncfCellMap> maps,
                   const CellWriter& out) {
  if (dimension == 2)
    tangents<2>(law, beams, cq, cv, ca, room, maps, out);
  else
    tangents<3>(law, beams, cq, cv, ca, room, maps, out);
}

}  // namespace lissom
