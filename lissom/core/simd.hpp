// Hot loops for processors with AVX2 and FMA beside those for any x86-64; which one runs is decided when the
// program does.
//   LISSOM_SIMD     a function compiled twice by the compiler itself (where it knows target_clones: GCC, clang from 14 on)
//   LISSOM_AVX2     a function for such processors only, to be called if has_avx2()
//   LISSOM_AVX512   the same for those with vectors of eight doubles, to be called if has_avx512()
// Functions called from such a loop must be inlined into it to profit: LISSOM_INLINE.
#pragma once

#if defined(__x86_64__)
#define LISSOM_AVX2 __attribute__((target("avx2,fma")))
#define LISSOM_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma")))
#if __has_attribute(target_clones)
#define LISSOM_SIMD __attribute__((target_clones("arch=haswell", "default")))
#endif

namespace lissom {
inline bool has_avx2() {
  static const bool found = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return found;
}
inline bool has_avx512() {
  static const bool found = has_avx2() && __builtin_cpu_supports("avx512f") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return found;
}
}  // namespace lissom
#endif

#if !defined(LISSOM_SIMD)
#define LISSOM_SIMD
#endif
#define LISSOM_INLINE inline __attribute__((always_inline))
