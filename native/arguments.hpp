// What arguments of kernels must be like. Twin of doublet/kernels/reference/arguments.py.
#pragma once
#include "buffers.hpp"

namespace doublet {

// Offsets begin with 0, do not fall and end with the number of values.
inline void check_offsets(View<uint64_t> offsets, size_t values) {
  if (!offsets.size() || offsets.data()[0] != 0) throw nb::value_error("offsets must begin with 0");
  for (size_t i = 1; i < offsets.size(); ++i)
    if (offsets.data()[i] < offsets.data()[i - 1]) throw nb::value_error("offsets must not fall");
  if (offsets.data()[offsets.size() - 1] != values) throw nb::value_error("offsets must end with the number of values");
}

// The words of one text follow each other inside it, and each has a character or more.
inline void check_words(View<uint32_t> starts, View<uint32_t> ends, uint64_t from, uint64_t to, size_t length) {
  uint64_t before = 0;
  for (uint64_t i = from; i < to; ++i) {
    if (starts.data()[i] < before || ends.data()[i] <= starts.data()[i] || ends.data()[i] > length)
      throw nb::value_error("a word must lie in its text, after the word before it");
    before = ends.data()[i];
  }
}

}  // namespace doublet
