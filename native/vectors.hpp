// Vectors of 512 bits where the processor has them. Every loop that uses them has a plain one beside it; tests run both.
#pragma once

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12 warns about its own header
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#define DOUBLET_WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2")))
#endif

namespace doublet {

int vector_bits();  // the limit that tests may lower

// True when functions marked DOUBLET_WIDE may be called.
inline bool wide_vectors() {
#if defined(__x86_64__)
  static const bool can = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
                          __builtin_cpu_supports("bmi2");
  return can && vector_bits() >= 512;
#else
  return false;
#endif
}

}  // namespace doublet
