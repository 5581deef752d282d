// The one hash table of the kernels, and numbers in order of first sight, which most of them need.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace doublet {

// An open table: a hash leads to a cell, and from one that something else has taken to the next. What a cell holds and
// whether it is free is up to whoever uses it; a cell of zeros is free.
template <class Cell> class OpenTable {
 public:
  // Empties it, with room for `least` cells or more. Memory is kept for the next time, unless it is far too much.
  void reset(size_t least) {
    size_t room = 64;
    while (room < least) room *= 2;
    if (cells_.size() < room || cells_.size() > 64 * std::max(room, kSmall)) std::vector<Cell>(room).swap(cells_);
    std::memset(static_cast<void*>(cells_.data()), 0, room * sizeof(Cell));
    mask_ = room - 1;
  }
  // The first cell from where the hash leads of which others(cell) does not say that something else has it: it is free, or
  // holds what is looked for.
  template <class Others> Cell& at(uint64_t hash, Others others) {
    size_t place = hash & mask_;
    while (__builtin_expect(others(cells_[place]), 0)) place = (place + 1) & mask_;
    return cells_[place];
  }
  template <class Others> const Cell& at(uint64_t hash, Others others) const {
    return const_cast<OpenTable*>(this)->at(hash, others);
  }
  size_t room() const { return mask_ + 1; }
  // Twice the room; taken(cell) tells what is free, hash_of(cell) where a taken one goes.
  template <class Taken, class HashOf> void grow(Taken taken, HashOf hash_of) {
    std::vector<Cell> old(2 * room());
    old.swap(cells_);
    const size_t before = room();
    mask_ = 2 * before - 1;
    for (size_t i = 0; i < before; ++i)
      if (taken(old[i])) at(hash_of(old[i]), taken) = old[i];
  }

 private:
  static constexpr size_t kSmall = size_t{1} << 16;
  std::vector<Cell> cells_;
  size_t mask_ = 0;
};

// Value -> number, in order of first sight. Cells hold numbers alone, so that they lie close together.
class Numbering {
 public:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  explicit Numbering(size_t expected = 1 << 11) { reset(expected); }
  void reset(size_t expected) {
    table_.reset(2 * expected);
    values_.clear();
    values_.reserve(expected);
  }
  size_t size() const { return values_.size(); }
  const std::vector<uint64_t>& values() const { return values_; }  // by their numbers

  uint32_t number(uint64_t value) {
    uint32_t& above = find(value);
    if (above) return above - 1;
    values_.push_back(value);
    above = static_cast<uint32_t>(values_.size());
    if (values_.size() * 2 > table_.room())
      table_.grow([](uint32_t other) { return other != 0; }, [&](uint32_t other) { return spread(values_[other - 1]); });
    return static_cast<uint32_t>(values_.size() - 1);
  }
  uint32_t known(uint64_t value) const {  // kUnknown when it was not seen
    return const_cast<Numbering*>(this)->find(value) - 1;
  }
  // As if the newest value had never been seen: nothing was put behind it on its account.
  void forget_newest() {
    find(values_.back()) = 0;
    values_.pop_back();
  }

 private:
  static uint64_t spread(uint64_t value) {
    value *= 0x9E3779B97F4A7C15ull;
    return value ^ value >> 32;
  }
  uint32_t& find(uint64_t value) {  // one above the number; 0: free
    return table_.at(spread(value), [&](uint32_t above) { return above && values_[above - 1] != value; });
  }
  OpenTable<uint32_t> table_;
  std::vector<uint64_t> values_;
};

}  // namespace doublet
