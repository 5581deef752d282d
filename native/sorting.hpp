// Values by the keys they are filed under, the lowest key first; of equal keys what came first stays first.
#pragma once
#include "buffers.hpp"

namespace doublet {

struct Keyed {
  uint64_t key, value;
};

inline void sort_keyed(Buffer<Keyed>& ones) {
  const size_t count = ones.size;
  if (count < 256) {  // too few to be worth counting
    std::stable_sort(ones.begin(), ones.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
    return;
  }
  // By eleven bits of the key at a time, the lowest first.
  constexpr int kBits = 11;
  constexpr uint64_t kMask = (1 << kBits) - 1;
  uint64_t all = 0;
  for (size_t i = 0; i < count; ++i) all |= ones[i].key;
  Buffer<Keyed> next;
  next.resize(count);
  for (int shift = 0; shift < 64 && all >> shift; shift += kBits) {
    size_t starts[kMask + 2] = {};
    for (size_t i = 0; i < count; ++i) ++starts[(ones[i].key >> shift & kMask) + 1];
    for (size_t i = 0; i <= kMask; ++i) starts[i + 1] += starts[i];
    for (size_t i = 0; i < count; ++i) next[starts[ones[i].key >> shift & kMask]++] = ones[i];
    std::swap(ones, next);
  }
}

}  // namespace doublet
