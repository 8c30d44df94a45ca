// Hot loops compiled twice, for processors with AVX2 and FMA and for the others; which one runs is decided
// when the program starts. Functions called from such a loop must be inlined into it to profit.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define LISSOM_SIMD __attribute__((target_clones("arch=haswell", "default")))
#else
#define LISSOM_SIMD
#endif

#define LISSOM_INLINE inline __attribute__((always_inline))
