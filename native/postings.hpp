// Which documents hold a fingerprint in their prefix. A part of the join (join.hpp).
#pragma once
#include "tables.hpp"
#include "vectors.hpp"

namespace doublet {

// fingerprint -> documents whose prefix holds it, by their rank in the order of preference. Rows lie in small buckets by the first bits of
// the fingerprint: little memory besides the rows themselves, and one place to look at.
class Postings {
 public:
  struct Row {
    uint64_t value;
    uint32_t rank, position;
  };

  // each(work) calls work(value, rank, position) for everything to be posted, twice over, in order. kind(row) is the same
  // for rows that are passed over together (each_row).
  template <class Each, class Kind> void build(size_t expected, Each each, Kind kind) {
    int bits = 8;
    while ((size_t{1} << bits) < expected / 4) ++bits;
    shift_ = 64 - bits;
    buckets_ = size_t{1} << bits;
    ends_.make(buckets_);
    int mark_bits = 10;  // of the number of words of 64 marks
    while ((size_t{64} << mark_bits) < expected * 16 && mark_bits < 20) ++mark_bits;
    mark_shift_ = 64 - mark_bits;
    once_.make(size_t{1} << mark_bits);
    twice_.make(size_t{1} << mark_bits);
    each([&](uint64_t value, uint32_t, uint32_t) {
      ++ends_[value >> shift_];
      uint64_t& known = once_[value >> mark_shift_];
      const uint64_t mark = mark_of(value);
      if ((known & mark) == mark) twice_[value >> mark_shift_] |= mark;
      known |= mark;
    });
    uint32_t begin = 0;
    for (size_t b = 0; b < buckets_; ++b) {  // from here on where the next row of the bucket goes; at last, its end
      const uint32_t count = ends_[b];
      ends_[b] = begin;
      begin += count;
    }
    rows_.make(expected + 1);
    each([&](uint64_t value, uint32_t rank, uint32_t position) { rows_[ends_[value >> shift_]++] = {value, rank, position}; });
    begin = 0;
    for (size_t b = 0; b < buckets_; ++b) {
      const uint32_t end = ends_[b];
      if (end - begin > kPlain)
        std::stable_sort(rows_.data() + begin, rows_.data() + end, [&](const Row& x, const Row& y) {
          return x.value != y.value ? x.value < y.value : kind(x) < kind(y);
        });
      begin = end;
    }
  }
  void prefetch(uint64_t value) const {
    const size_t bucket = value >> shift_;
    __builtin_prefetch(rows_.data() + (bucket ? ends_[bucket - 1] : 0));
  }
  struct Hit {
    uint64_t value;
    uint32_t place;
  };
  // Which of the values from one place to another somebody may have posted (of the first *own*, which one has posted
  // itself: somebody else). Writes no more hits than there are values; gives the end of them.
  Hit* find(const uint64_t* values, uint32_t own, uint32_t from, uint32_t to, Hit* hit) const {
    const uint32_t middle = std::min(std::max(own, from), to);
    hit = find_in(twice_, values, from, middle, hit);
    return find_in(once_, values, middle, to, hit);
  }
  // work(row) for the rows of the value, until it says that it has enough. Of long lists all rows of a kind (same(row, row))
  // are passed over at once when skip(row) says so of the first.
  template <class Skip, class Same, class Work> void each_row(uint64_t value, Skip skip, Same same, Work work) const {
    const size_t bucket = value >> shift_;
    const Row* row = rows_.data() + (bucket ? ends_[bucket - 1] : 0);
    const Row* const last = rows_.data() + ends_[bucket];
    if (last - row <= static_cast<std::ptrdiff_t>(kPlain)) {
      for (; row != last; ++row)
        if (row->value == value && !work(*row)) return;
      return;
    }
    row = std::lower_bound(row, last, value, [](const Row& x, uint64_t v) { return x.value < v; });
    while (row != last && row->value == value) {
      if (!skip(*row)) {
        const Row& first = *row;
        for (; row != last && row->value == value && same(*row, first); ++row)
          if (!work(*row)) return;
        continue;
      }
      std::ptrdiff_t step = 1;  // further and further, then back to the first of another kind
      const Row& first = *row;
      auto alike = [&](const Row& x) { return x.value == value && same(x, first); };
      while (last - row > step && alike(row[step])) row += step, step *= 2;
      row = std::partition_point(row, row + std::min(step, last - row), alike);
    }
  }
  static constexpr size_t kBytesEach = sizeof(Row) + sizeof(uint32_t) + 4;

 private:
  static constexpr uint32_t kPlain = 24;  // rows of a bucket that are looked through one by one
  // Three marks in one word: of sixteen bits a value, one value in a hundred is taken for another.
  static uint64_t mark_of(uint64_t value) {
    return uint64_t{1} << (value & 63) | uint64_t{1} << (value >> 6 & 63) | uint64_t{1} << (value >> 12 & 63);
  }
  Hit* find_in(const Table<uint64_t>& marks, const uint64_t* values, uint32_t from, uint32_t to, Hit* hit) const {
#if defined(__x86_64__)
    if (wide_vectors()) from = find_wide(marks.data(), values, from, to, hit);
#endif
    for (uint32_t i = from; i < to; ++i) {  // no branch: which ones may be posted cannot be foreseen
      const uint64_t mark = mark_of(values[i]);
      *hit = {values[i], i};
      hit += (marks[values[i] >> mark_shift_] & mark) == mark;
    }
    return hit;
  }
#if defined(__x86_64__)
  // The same for eight values at a time; gives how far it came.
  DOUBLET_WIDE uint32_t find_wide(const uint64_t* marks, const uint64_t* values, uint32_t from, uint32_t to, Hit*& hit) const {
    const __m512i one = _mm512_set1_epi64(1), low6 = _mm512_set1_epi64(63);
    const __m128i shift = _mm_cvtsi32_si128(mark_shift_);
    for (; to - from >= 8; from += 8) {
      const __m512i v = _mm512_loadu_si512(values + from);
      const __m512i words = _mm512_i64gather_epi64(_mm512_srl_epi64(v, shift), marks, 8);
      const __m512i a = _mm512_sllv_epi64(one, _mm512_and_si512(v, low6));
      const __m512i b = _mm512_sllv_epi64(one, _mm512_and_si512(_mm512_srli_epi64(v, 6), low6));
      const __m512i c = _mm512_sllv_epi64(one, _mm512_and_si512(_mm512_srli_epi64(v, 12), low6));
      const __m512i mark = _mm512_or_si512(_mm512_or_si512(a, b), c);
      for (uint32_t found = _mm512_cmpeq_epi64_mask(_mm512_and_si512(words, mark), mark); found; found &= found - 1) {
        const uint32_t i = from + static_cast<uint32_t>(__builtin_ctz(found));
        *hit++ = {values[i], i};
      }
    }
    return from;
  }
#endif
  Table<Row> rows_;
  Table<uint32_t> ends_;           // of each bucket
  Table<uint64_t> once_, twice_;  // marks of what was posted, and of what was posted more than once
  size_t buckets_ = 0;
  int shift_ = 56, mark_shift_ = 54;
};

}  // namespace doublet
