// The rarest fingerprints of a set. A part of the join (join.hpp).
#pragma once
#include "buffers.hpp"
#include "tables.hpp"

#include <tuple>

namespace doublet {

// Brings the rarest fingerprints of a set to its front: by their counts, then by themselves, which is the same order for
// all sets. Those at the front, and those behind them, come in any order. Branches on data that nobody can foresee are
// what this costs, so there are hardly any.
class Rarest {
 public:
  void to_front(uint64_t* values, uint8_t* cells, uint32_t count, uint32_t first) {
    if (first >= count) return;
    if (count > kLong) return sort_long(values, cells, count, first);
    low_.resize(count);
    ties_.resize(count);
    high_.resize(count);
    low_cells_.resize(count);
    high_cells_.resize(count);
    uint32_t known[256] = {};
    for (uint32_t i = 0; i < count; ++i) ++known[cells[i]];
    uint32_t last = 0, below = 0;  // the largest count that is needed, and how many are below it
    while (below + known[last] < first) below += known[last++];
    uint32_t low = 0, ties = 0, high = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t value = values[i];
      const uint8_t cell = cells[i];
      low_[low] = value;
      low_cells_[low] = cell;
      ties_[ties] = value;
      high_[high] = value;
      high_cells_[high] = cell;
      low += cell < last;
      ties += cell == last;
      high += cell > last;
    }
    smallest(ties_.data, ties, first - below);
    put(values, low_.data, low);
    put(values + low, ties_.data, ties);
    put(values + low + ties, high_.data, high);
    put(cells, low_cells_.data, low);
    std::memset(cells + low, static_cast<int>(last), ties);
    put(cells + low + ties, high_cells_.data, high);
  }

  // All of a short set in that order.
  void sort(uint64_t* values, uint8_t* cells, uint32_t count) {
    for (uint32_t i = 1; i < count; ++i) {
      const uint64_t value = values[i];
      const uint8_t cell = cells[i];
      uint32_t at = i;
      for (; at && (cells[at - 1] != cell ? cells[at - 1] > cell : values[at - 1] > value); --at) {
        values[at] = values[at - 1];
        cells[at] = cells[at - 1];
      }
      values[at] = value;
      cells[at] = cell;
    }
  }

 private:
  template <class T> static void put(T* to, const T* from, size_t count) {
    if (count) std::memcpy(to, from, count * sizeof(T));
  }
  // The same with less memory.
  static void sort_long(uint64_t* values, uint8_t* cells, uint32_t count, uint32_t first) {
    std::vector<std::pair<uint8_t, uint64_t>> keyed(count);
    for (uint32_t i = 0; i < count; ++i) keyed[i] = {cells[i], values[i]};
    std::nth_element(keyed.begin(), keyed.begin() + first, keyed.end());
    for (uint32_t i = 0; i < count; ++i) std::tie(cells[i], values[i]) = keyed[i];
  }
  // The smallest values to the front: they are spread evenly, so that their first eight bits tell nearly all.
  void smallest(uint64_t* values, uint32_t count, uint32_t first) {
    if (first >= count) return;
    uint32_t known[256] = {};
    for (uint32_t i = 0; i < count; ++i) ++known[values[i] >> 56];
    uint32_t last = 0, below = 0;
    while (below + known[last] < first) below += known[last++];
    sorted_.resize(count);
    uint32_t at[3] = {0, below, below + known[last]};
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t top = static_cast<uint32_t>(values[i] >> 56);
      sorted_[at[(top >= last) + (top > last)]++] = values[i];
    }
    const auto begin = sorted_.data + below, end = begin + known[last];
    std::nth_element(begin, sorted_.data + first, end);
    put(values, sorted_.data, count);
  }
  Buffer<uint64_t> low_, ties_, high_, sorted_;
  Buffer<uint8_t> low_cells_, high_cells_;
};

}  // namespace doublet
