// Sets of fingerprints of many documents, and the exact join over them. Twin of SetStore in doublet/kernels/reference/sets.py.
//
// The idea (docs/explanation/exact-join.md): a table of small counters tells which fingerprints stand in one document
// only. These can match nothing, so they come first in the order of the prefix filter, and most documents are finished
// at once. Collisions in the table cost time, never correctness: the order is a function of the fingerprint alone, and a
// cell of 1 proves that the fingerprint is in one document.
#include "kernels.hpp"
#include "vectors.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <tuple>

namespace doublet {

namespace {

constexpr size_t kChunkValues = size_t{1} << 21;  // 16 MiB; less where the budget is small

constexpr size_t kTakeFrom = 4096;  // smaller batches are copied: a chunk has its price
constexpr size_t kBytesPerDocument = 120;
constexpr int kMostCounterBits = 36;  // 64 GiB of counters
constexpr size_t kAhead = 24;  // how far ahead table cells are fetched
constexpr size_t kLong = size_t{1} << 16;  // shingles of a text from which on memory counts more than speed

void pread_all(int fd, void* to, size_t bytes, uint64_t at) {
  char* p = static_cast<char*>(to);
  while (bytes) {
    const ssize_t got = ::pread(fd, p, bytes, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category(), "reading the spill file");
    if (got == 0) throw std::system_error(EIO, std::generic_category(), "the spill file is shorter than expected");
    p += got;
    at += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
}

void pwrite_all(int fd, const void* from, size_t bytes, uint64_t at) {
  const char* p = static_cast<const char*>(from);
  while (bytes) {
    const ssize_t put = ::pwrite(fd, p, bytes, static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw std::system_error(errno, std::generic_category(), "writing the spill file");
    p += put;
    at += static_cast<uint64_t>(put);
    bytes -= static_cast<size_t>(put);
  }
}

inline uint32_t prefix_length(uint32_t size, double threshold) {
  const double needed = std::ceil(threshold * size - 1e-9);
  const uint32_t must = static_cast<uint32_t>(std::max(1.0, std::min<double>(needed, size)));
  return size - must + 1;
}

// Numbers met while looking at one document: a small open set that is quick to refill.
class Lookup {
 public:
  void fill(const uint64_t* values, size_t count) {
    size_t room = 64;
    while (room < count * (count <= kLong ? 4 : 2)) room *= 2;
    if (slots_.size() < room || slots_.size() > 64 * std::max<size_t>(room, kLong)) std::vector<uint64_t>(room).swap(slots_);
    mask_ = room - 1;
    std::memset(slots_.data(), 0, room * sizeof(uint64_t));
    zero_ = false;
    for (size_t i = 0; i < count; ++i) {
      zero_ |= !values[i];
      size_t at = (values[i] >> 7) & mask_;
      while (slots_[at]) at = (at + 1) & mask_;
      slots_[at] = values[i];
    }
  }
  bool holds(uint64_t value) const {
    for (size_t at = (value >> 7) & mask_; slots_[at]; at = (at + 1) & mask_)
      if (slots_[at] == value) return true;
    return !value && zero_;
  }

 private:
  std::vector<uint64_t> slots_;
  size_t mask_ = 0;
  bool zero_ = false;  // 0 is an empty slot
};

// Large tables that are hit at random: on huge pages where the system gives them, which saves most of the page walks.
template <class T> class Table {
 public:
  Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  Table(Table&& o) noexcept : data_(o.data_), size_(o.size_), bytes_(o.bytes_) { o.data_ = nullptr; o.size_ = o.bytes_ = 0; }
  ~Table() { clear(); }
  // All zero.
  void make(size_t size) {
    clear();
    if (size > (size_t{1} << 48) / sizeof(T)) throw std::bad_alloc();
    bytes_ = (size * sizeof(T) + kPage - 1) / kPage * kPage;
    void* at = ::mmap(nullptr, std::max(bytes_, kPage), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    if (size * sizeof(T) >= kPage / 2) ::madvise(at, bytes_, MADV_HUGEPAGE);  // a small one would use little of its page
    data_ = static_cast<T*>(at);
    size_ = size;
  }
  void clear() {
    if (data_) ::munmap(data_, std::max(bytes_, kPage));
    data_ = nullptr;
    size_ = 0;
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return !size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  static constexpr size_t kPage = size_t{1} << 21;
  T* data_ = nullptr;
  size_t size_ = 0, bytes_ = 0;
};

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

struct Link {
  uint32_t document, keeper, overlap;
};

}  // namespace

class SetStore {
 public:
  SetStore(uint64_t memory_bytes, const std::string& folder, int64_t threads)
      : memory_(memory_bytes ? memory_bytes : uint64_t{1} << 40), folder_(folder), threads_(thread_count(threads)),
        chunk_values_(static_cast<size_t>(std::max<uint64_t>(16, std::min<uint64_t>(kChunkValues, memory_ / 512)))) {}
  ~SetStore() { clear(); }
  SetStore(const SetStore&) = delete;

  size_t told_length() const { return told_length_; }

  // About so many values will come: they can be counted while they are being made (json_sets), which hides most of the
  // cost. A wrong guess costs time, nothing else.
  void expect(uint64_t values) {
    const Alone alone(*this);
    if (length() || !values) return;
    make_counters(values);
    counting_ = true;
  }

  Counters counters() {
    const Alone alone(*this);
    return counters_of_store();
  }

  // With take the memory of the values belongs to the store from now on (it reorders them in place), and each value stands
  // once in its document, as the kernels make sets: nothing is copied, nor looked for again.
  // counted: json_sets counted them.
  void add(nb::ndarray<uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> values, View<uint64_t> offsets, bool take, bool counted) {
    check_offsets(offsets, values.size());
    for (size_t d = 0; d + 1 < offsets.size(); ++d)
      if (offsets.data()[d + 1] - offsets.data()[d] >= UINT32_MAX) throw nb::value_error("a document with over 4 billion shingles cannot be joined");
    const Alone alone(*this);
    if (length() + offsets.size() > UINT32_MAX) throw nb::value_error("more than 4294967295 documents cannot be joined");
    if (settled_) {  // the counts are those of other documents
      counts_.reset();
      counting_ = settled_ = false;
    }
    const Counters counters = counting_ && !counted ? counters_of_store() : Counters{};
    if (take && values.size() >= kTakeFrom) {
      if (counters.cells) counters.count(values.data(), values.size());
      const size_t bytes = values.size() * sizeof(uint64_t);
      if (fd_ >= 0 || (!folder_.empty() && total_ * sizeof(uint64_t) + bytes > budget() / 3)) spill();
      chunks_.push_back({Table<uint64_t>(), values.data(), values.size(), values.size()});
      chunk_starts_.push_back(total_);
      taken_.push_back(values);
    }
    const bool copy = !(take && values.size() >= kTakeFrom);
    Distinct distinct;
    Buffer<uint64_t> once;
    for (size_t d = 0; d + 1 < offsets.size(); ++d) {
      const uint64_t* set = values.data() + offsets.data()[d];
      size_t size = offsets.data()[d + 1] - offsets.data()[d];
      if (copy) {
        once.size = 0;
        distinct.append(set, size, once);
        set = once.data;
        size = once.size;
        if (counters.cells) counters.count(set, size);
      }
      uint64_t sum = 0, cross = 0;
      for (size_t i = 0; i < size; ++i) {
        sum += set[i];
        cross += (set[i] ^ (set[i] >> 29)) * kWordFactor;
      }
      if (copy) append(set, size);
      sizes_.push_back(static_cast<uint32_t>(size));
      starts_.push_back(total_);
      total_ += size;
      prints_.push_back({sum, cross});
    }
    told_length_ = length();
  }

  Array<uint32_t> sizes() {
    Buffer<uint32_t> out;
    {
      const Alone alone(*this);
      out.append(sizes_.data(), sizes_.size());
    }
    return own(std::move(out));
  }

  Array<uint64_t> get(size_t document) {
    Buffer<uint64_t> out, scratch;
    {
      const Alone alone(*this);
      if (document >= length()) throw nb::index_error("no such document");
      const uint64_t* set = read(document, sizes_[document], scratch);
      out.append(set, sizes_[document]);
      std::sort(out.begin(), out.end());
    }
    return own(std::move(out));
  }

  bool spilled() const { return spilled_; }

  Array<uint32_t> overlaps(View<uint32_t> left, View<uint32_t> right) {
    if (left.size() != right.size()) throw nb::value_error("left and right must be of one length");
    Buffer<uint32_t> out;
    out.resize(left.size());
    {
      const Alone alone(*this);
      for (size_t i = 0; i < left.size(); ++i)
        if (left.data()[i] >= length() || right.data()[i] >= length()) throw nb::index_error("no such document");
      std::vector<uint32_t> order(left.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
      std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
        return left.data()[x] != left.data()[y] ? left.data()[x] < left.data()[y] : x < y;
      });
      const size_t parts = std::min(threads_, order.size() / 256 + 1);
      in_parallel(parts, [&](size_t part) {
        Lookup lookup;
        Buffer<uint64_t> mine, theirs;
        uint32_t filled = UINT32_MAX;
        for (size_t k = order.size() * part / parts; k < order.size() * (part + 1) / parts; ++k) {
          const uint32_t a = left.data()[order[k]], b = right.data()[order[k]];
          if (a != filled) {
            const uint64_t* set = read(a, sizes_[a], mine);
            lookup.fill(set, sizes_[a]);
            filled = a;
          }
          const uint64_t* set = read(b, sizes_[b], theirs);
          uint32_t common = 0;
          for (size_t i = 0; i < sizes_[b]; ++i) common += lookup.holds(set[i]);
          out[order[k]] = common;
        }
      });
    }
    return own(std::move(out));
  }

  Matrix<uint32_t> minima(View<uint32_t> factors, View<uint32_t> terms, View<uint32_t> documents) {
    check_functions(factors, terms);
    const size_t functions = factors.size(), count = documents.size();
    Buffer<uint32_t> out;
    out.resize(count * functions);
    {
      const Alone alone(*this);
      for (size_t i = 0; i < count; ++i)
        if (documents.data()[i] >= length()) throw nb::index_error("no such document");
      in_parallel(threads_, [&](size_t part) {
        Buffer<uint64_t> scratch;
        Buffer<uint32_t> kept;
        for (size_t i = count * part / threads_; i < count * (part + 1) / threads_; ++i) {
          const uint32_t d = documents.data()[i];
          const uint64_t* set = read(d, sizes_[d], scratch);
          minima_of(set, sizes_[d], factors.data(), terms.data(), functions, out.data + i * functions, kept);
        }
      });
    }
    return own(std::move(out), count, functions);
  }

  nb::tuple clean(View<uint32_t> order, double threshold, double containment, nb::object on_step) {
    check_shares(threshold, containment);
    std::vector<Link> links;
    {
      const Alone alone(*this);
      check_order(order);
      Join join(*this, threshold, containment);
      join.set_order(order.data(), order.size());
      join.clean(links, on_step);
    }
    return columns(links);
  }

  nb::tuple pairs(double threshold, double containment, uint64_t limit, nb::object on_step) {
    check_shares(threshold, containment);
    std::vector<Link> links;
    bool cut = false;
    {
      const Alone alone(*this);
      Join join(*this, threshold, containment);
      std::vector<uint32_t> order(length());
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
      join.set_order(order.data(), order.size());
      cut = join.pairs(links, limit, on_step);
    }
    nb::tuple c = columns(links);
    return nb::make_tuple(c[0], c[1], c[2], cut);
  }

  Array<uint8_t> contained(double threshold) {
    if (!(threshold > 0)) throw nb::value_error("a share of which something is held is above 0");
    Buffer<uint8_t> out;
    {
      const Alone alone(*this);
      out.resize(length());
      std::fill(out.begin(), out.end(), uint8_t{0});
      Join join(*this, 2.0, threshold);
      std::vector<uint32_t> order(length());
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
      std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return sizes_[a] != sizes_[b] ? sizes_[a] > sizes_[b] : a < b; });
      join.set_order(order.data(), order.size());
      join.contained(out.data);
    }
    return own(std::move(out));
  }

  // Lets go of all documents; the store can be filled again.
  void close() {
    const Alone alone(*this);
    clear();
  }

 private:
  // The store for one thread at a time; the others wait without the GIL. Progress is told from inside: whoever hears of
  // it must not come back in.
  class Alone {
   public:
    explicit Alone(SetStore& store) : store_(store) {
      if (store.inside_ == std::this_thread::get_id()) throw std::runtime_error("the store is at work: wait until it is done");
      release_.emplace();
      lock_ = std::unique_lock<std::mutex>(store.mutex_);
      store.inside_ = std::this_thread::get_id();
    }
    ~Alone() { store_.inside_ = std::thread::id(); }
    Alone(const Alone&) = delete;

   private:
    SetStore& store_;
    std::optional<nb::gil_scoped_release> release_;
    std::unique_lock<std::mutex> lock_;  // given back before the GIL is asked for
  };
  struct Counts {
    Table<uint8_t> cells;
    std::mutex turn;
  };

  size_t length() const { return sizes_.size(); }

  void clear() {
    drop_chunks();
    counts_.reset();
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    sizes_ = {};
    starts_ = {};
    prints_ = {};
    total_ = written_ = 0;
    counting_ = settled_ = false;
    told_length_ = 0;
    spilled_ = false;
  }

  static void check_shares(double threshold, double containment) {
    if (!(threshold >= 0)) throw nb::value_error("a threshold is 0 or more");
    if (std::isnan(containment)) throw nb::value_error("a containment is a number");
  }

  Counters counters_of_store() const {
    return counting_ ? Counters{counts_->cells.data(), counter_shift_, &counts_->turn, counts_} : Counters{};
  }

  struct Chunk {
    Table<uint64_t> table;  // empty when the values came with their memory
    uint64_t* values;
    size_t used, room;
  };
  struct Print {
    uint64_t sum, cross;
    bool operator==(const Print& o) const { return sum == o.sum && cross == o.cross; }
  };

  uint64_t memory_;
  std::string folder_;
  size_t threads_;
  size_t chunk_values_;
  std::mutex mutex_;
  std::atomic<std::thread::id> inside_{};  // the thread that holds the mutex
  std::atomic<size_t> told_length_{0};
  std::atomic<bool> spilled_{false};
  std::vector<uint32_t> sizes_;
  std::vector<uint64_t> starts_;  // place of each set in the stream of all values
  std::vector<Print> prints_;
  std::vector<Chunk> chunks_;
  std::vector<uint64_t> chunk_starts_;
  std::vector<nb::ndarray<uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>> taken_;  // arrays whose memory is in use
  uint64_t total_ = 0;    // values in all sets
  uint64_t written_ = 0;  // of these in the file
  int fd_ = -1;
  std::shared_ptr<Counts> counts_;
  int counter_shift_ = 48;
  bool counting_ = false;  // values are counted as they come
  bool settled_ = false;   // counts are those of the documents at hand, equal sets counted once

  // What is left for the large tables after the small ones that grow with the number of documents.
  uint64_t budget() const {
    const uint64_t small = length() * kBytesPerDocument;
    return memory_ > 2 * small ? memory_ - small : memory_ / 2;
  }

  static nb::tuple columns(std::vector<Link>& links) {
    std::sort(links.begin(), links.end(), [](const Link& x, const Link& y) {
      return x.document != y.document ? x.document < y.document : x.keeper != y.keeper ? x.keeper < y.keeper : x.overlap < y.overlap;
    });
    Buffer<uint32_t> documents, keepers, overlaps;
    for (const Link& link : links) {
      documents.push(link.document);
      keepers.push(link.keeper);
      overlaps.push(link.overlap);
    }
    return nb::make_tuple(own(std::move(documents)), own(std::move(keepers)), own(std::move(overlaps)));
  }

  void check_order(View<uint32_t> order) const {
    std::vector<bool> seen(length());
    for (size_t i = 0; i < order.size(); ++i) {
      if (order.data()[i] >= length() || seen[order.data()[i]])
        throw nb::value_error("the order must name documents of this store, each once at most");
      seen[order.data()[i]] = true;
    }
  }

  // A third of the budget for sets in memory, a third for the counters, the rest for postings and what is small.
  void append(const uint64_t* set, size_t size) {
    if (chunks_.empty() || chunks_.back().used + size > chunks_.back().room || chunks_.back().table.empty()) {
      if (fd_ >= 0) spill();
      else if (!folder_.empty() && (total_ + chunk_values_) * sizeof(uint64_t) > budget() / 3) spill();
      const size_t room = std::max(chunk_values_, size);
      chunks_.push_back({Table<uint64_t>(), nullptr, 0, room});
      chunks_.back().table.make(room);
      chunks_.back().values = chunks_.back().table.data();
      chunk_starts_.push_back(total_);
    }
    Chunk& chunk = chunks_.back();
    std::memcpy(chunk.values + chunk.used, set, size * sizeof(uint64_t));
    chunk.used += size;
  }

  void spill() {
    if (folder_.empty()) return;
    if (fd_ < 0) {
      fd_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
      if (fd_ < 0) {
        std::string name = folder_ + "/doublet-spill-XXXXXX";
        fd_ = ::mkstemp(&name[0]);
        if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "making a spill file in " + folder_);
        ::unlink(name.c_str());
      }
    }
    spilled_ = true;
    uint64_t written = written_;
    for (Chunk& chunk : chunks_) {
      pwrite_all(fd_, chunk.values, chunk.used * sizeof(uint64_t), written * sizeof(uint64_t));
      written += chunk.used;
    }
    written_ = written;  // not before all is there: a full disk leaves the store as it was
    drop_chunks();
  }

  void drop_chunks() {
    chunks_.clear();
    chunk_starts_.clear();
    if (!taken_.empty()) {
      nb::gil_scoped_acquire acquire;
      taken_.clear();
    }
  }

  size_t chunk_of(uint64_t place) const {
    return static_cast<size_t>(std::upper_bound(chunk_starts_.begin(), chunk_starts_.end(), place) - chunk_starts_.begin()) - 1;
  }
  uint64_t* in_memory(uint64_t place) {
    const size_t chunk = chunk_of(place);
    return chunks_[chunk].values + (place - chunk_starts_[chunk]);
  }

  // The first `count` values of a set: in place when it is in memory, else read into the scratch buffer.
  const uint64_t* read(size_t document, size_t count, Buffer<uint64_t>& scratch) {
    if (!count) return nullptr;
    if (starts_[document] >= written_) return in_memory(starts_[document]);
    scratch.resize(count);
    pread_all(fd_, scratch.data, count * sizeof(uint64_t), starts_[document] * sizeof(uint64_t));
    return scratch.data;
  }

  // Walks all sets of a range of documents in order, in large reads; work(document, values, end of what lies behind
  // them) may reorder the values and says whether they are to be kept so.
  template <class Work> void walk(size_t from, size_t to, Work work) {
    Buffer<uint64_t> block;
    size_t d = from;
    while (d < to) {
      if (starts_[d] >= written_) {
        uint64_t* values = nullptr;
        uint64_t* end = nullptr;
        if (sizes_[d]) {
          const size_t chunk = chunk_of(starts_[d]);
          values = chunks_[chunk].values + (starts_[d] - chunk_starts_[chunk]);
          end = chunks_[chunk].values + chunks_[chunk].used;
        }
        work(d, values, end);
        ++d;
        continue;
      }
      size_t last = d;
      const uint64_t base = starts_[d];
      while (last < to && starts_[last] < written_ && starts_[last] + sizes_[last] - base <= chunk_values_) ++last;
      if (last == d) last = d + 1;
      const uint64_t count = starts_[last - 1] + sizes_[last - 1] - base;
      block.resize(count);
      pread_all(fd_, block.data, count * sizeof(uint64_t), base * sizeof(uint64_t));
      bool changed = false;
      for (; d < last; ++d) changed |= work(d, block.data + (starts_[d] - base), block.data + count);
      if (changed) pwrite_all(fd_, block.data, count * sizeof(uint64_t), base * sizeof(uint64_t));
    }
  }

  // The number of the first document with the same set, for each document; empty sets stand alone.
  std::vector<uint32_t> classes() const {
    std::vector<uint32_t> first(length());
    size_t room = 64;
    while (room < length() * 2) room *= 2;
    std::vector<uint32_t> slots(room, UINT32_MAX);
    for (size_t d = 0; d < length(); ++d) {
      first[d] = static_cast<uint32_t>(d);
      if (!sizes_[d]) continue;
      size_t at = mix(prints_[d].sum ^ prints_[d].cross) & (room - 1);
      while (slots[at] != UINT32_MAX && !(prints_[slots[at]] == prints_[d] && sizes_[slots[at]] == sizes_[d])) at = (at + 1) & (room - 1);
      if (slots[at] == UINT32_MAX) slots[at] = static_cast<uint32_t>(d);
      else first[d] = slots[at];
    }
    return first;
  }

  void make_counters(uint64_t values) {
    int bits = 16;
    while (bits < kMostCounterBits && uint64_t{1} << bits >> 1 < values) ++bits;
    while (bits > 20 && (uint64_t{1} << bits) > budget() / 3) --bits;
    counts_ = std::make_shared<Counts>();
    for (;; --bits) {  // fewer cells cost time, nothing else
      try {
        counts_->cells.make(size_t{1} << bits);
        break;
      } catch (const std::bad_alloc&) {
        if (bits <= 20) throw;
      }
    }
    counter_shift_ = 64 - bits;
  }

  void count(const std::vector<uint32_t>& first) {
    if (settled_) return;
    settled_ = true;
    if (counting_) {  // only sets that stand there twice are left to put right
      uint8_t* cells = counts_->cells.data();
      for (size_t d = 0; d < length(); ++d) {
        if (first[d] == d) continue;
        walk(d, d + 1, [&](size_t, const uint64_t* values, const uint64_t*) {
          for (size_t i = 0; i < sizes_[d]; ++i) {
            uint8_t& cell = cells[values[i] >> counter_shift_];
            cell = static_cast<uint8_t>(cell - (cell < Counters::kMost));
          }
          return false;
        });
      }
      return;
    }
    uint64_t distinct = 0;
    for (size_t d = 0; d < length(); ++d)
      if (first[d] == d) distinct += sizes_[d];
    make_counters(distinct);
    const int bits = 64 - counter_shift_;
    // Each thread reads all and counts its own part of the table: no increment can be lost.
    in_parallel(threads_, [&](size_t part) {
      const uint64_t low = static_cast<uint64_t>((static_cast<unsigned __int128>(part) << bits) / threads_);
      const uint64_t high = static_cast<uint64_t>((static_cast<unsigned __int128>(part + 1) << bits) / threads_);
      uint8_t* cells = counts_->cells.data();
      const bool whole = threads_ == 1;
      walk(0, length(), [&](size_t d, const uint64_t* values, const uint64_t*) {
        if (first[d] != d) return false;
        const size_t size = sizes_[d];
        for (size_t i = 0; i < size; ++i) {
          if (i + kAhead < size) __builtin_prefetch(cells + (values[i + kAhead] >> counter_shift_), 1);
          const uint64_t cell = values[i] >> counter_shift_;
          if (whole || (cell >= low && cell < high)) cells[cell] += cells[cell] != 255;
        }
        return false;
      });
    });
  }

  // One run of the join. Documents with equal sets are one class; its first in the order stands for all.
  class Join {
   public:
    Join(SetStore& store, double threshold, double containment) : s_(store), threshold_(threshold), containment_(containment) {}

    // Documents that the order leaves out take no part.
    void set_order(const uint32_t* order, size_t count) {
      const size_t n = s_.length();
      order_.assign(order, order + count);
      rank_.assign(n, UINT32_MAX);
      for (size_t i = 0; i < count; ++i) rank_[order[i]] = static_cast<uint32_t>(i);
      const auto first = s_.classes();
      s_.count(first);
      // Members of each class in order; the most preferred one stands for it.
      std::vector<uint32_t> head(n, UINT32_MAX);
      leader_.assign(n, UINT32_MAX);
      next_.assign(n, UINT32_MAX);
      std::vector<uint32_t> tail(n);
      for (uint32_t d : order_) {
        const uint32_t c = first[d];
        if (head[c] == UINT32_MAX) {
          head[c] = d;
        } else {
          next_[tail[c]] = d;
        }
        tail[c] = d;
        leader_[d] = head[c];
      }
      prepare();
    }

    void clean(std::vector<Link>& links, nb::object& on_step) {
      std::vector<uint8_t> covered(s_.length(), 0);
      in_chunks(on_step, [&](uint32_t k, size_t chunk_from) {
        // Called for every leader before and in the chunk, in order: only kept ones look for what they cover.
        if (covered[k]) return;
        if (rank_[k] >= chunk_from)
          for (uint32_t twin = next_[k]; twin != UINT32_MAX; twin = next_[twin]) links.push_back({twin, k, s_.sizes_[k]});
        probe(k, false, [](uint32_t, bool) { return true; }, [&](uint32_t d, uint32_t overlap) {
          covered[d] = 1;
          for (uint32_t x = d; x != UINT32_MAX; x = next_[x]) links.push_back({x, k, overlap});
        });
      }, false, covered.data());
    }

    bool pairs(std::vector<Link>& links, uint64_t limit, nb::object& on_step) {
      bool cut = false;
      auto put = [&](uint32_t a, uint32_t b, uint32_t overlap) {
        if (links.size() >= limit) { cut = true; return; }
        links.push_back({std::min(a, b), std::max(a, b), overlap});
      };
      in_chunks(on_step, [&](uint32_t k, size_t chunk_from) {
        if (cut) return;
        if (rank_[k] >= chunk_from)
          for (uint32_t a = k; a != UINT32_MAX && !cut; a = next_[a])
            for (uint32_t b = next_[a]; b != UINT32_MAX && !cut; b = next_[b]) put(a, b, s_.sizes_[k]);
        probe(k, true, [&](uint32_t d, bool may_hold) { return may_hold || rank_[d] > rank_[k]; }, [&](uint32_t d, uint32_t overlap) {
          if (rank_[d] < rank_[k] && covers_back(k, d, overlap)) return;  // d finds it
          for (uint32_t a = k; a != UINT32_MAX && !cut; a = next_[a])
            for (uint32_t b = d; b != UINT32_MAX && !cut; b = next_[b]) put(a, b, overlap);
        });
      }, true);
      return cut;
    }

    void contained(uint8_t* out) {
      nb::object none;
      in_chunks(none, [&](uint32_t k, size_t) {
        probe(k, true, [&](uint32_t d, bool) { return !out[d] && s_.sizes_[d] < s_.sizes_[k]; }, [&](uint32_t d, uint32_t) {
          for (uint32_t x = d; x != UINT32_MAX; x = next_[x]) out[x] = 1;
        });
      }, true);
    }

   private:
    SetStore& s_;
    double threshold_, containment_;
    std::vector<uint32_t> order_, rank_, leader_, next_;
    std::vector<uint32_t> shared_;  // fingerprints of the set that stand elsewhere too: they lie first in it
    static constexpr uint32_t kSorted = 64;  // so few that are posted lie in the one order of all sets: short texts are many, and alike
    struct Leader {
      uint32_t size = 0;
      uint32_t near = 0, held = 0;  // how many of the shared ones belong to the prefix, by resemblance and by containment
      uint32_t stamp = 0;           // when it was last met
      uint32_t shared = 0;          // fingerprints that stand elsewhere too
      uint32_t posted() const { return std::max(near, held); }
      // How many of the shared ones can be common to another set that meets this one first at a place.
      uint32_t rest(uint32_t place) const { return posted() <= kSorted ? shared - std::min(place, posted()) : shared; }
    };
    std::vector<Leader> leaders_;  // by rank
    Postings postings_;
    uint32_t stamp_now_ = 0;
    Lookup lookup_;
    Buffer<uint64_t> mine_, theirs_;
    using Hit = Postings::Hit;
    using Hits = Buffer<Hit>;
    // Where the candidates of a leader are; many that share wording with it are looked for when its turn comes, for most
    // leaders of such a kind are covered by then.
    struct Span {
      uint32_t part, from, to;
    };
    static constexpr uint32_t kLater = UINT32_MAX;           // as a part: nothing was looked for yet
    static constexpr uint32_t kFewRows = 256, kFewFound = 64;
    std::vector<Buffer<uint32_t>> found_;  // ranks of candidates, by thread
    std::vector<Span> spans_;              // of the leaders that were scanned
    Hits hits_;
    Buffer<uint32_t> now_;
    std::vector<uint32_t> lying_;  // ranks of what is scanned, as the sets lie in memory
    size_t posted_from_ = 0, posted_to_ = 0;  // ranks of those whose prefixes are posted now
    size_t scanned_from_ = 0, scanned_to_ = 0;

    bool is_leader(uint32_t d) const { return leader_[d] == d && s_.sizes_[d]; }

    uint32_t prefix(uint32_t size, double t) const { return t > 1.0 ? 0 : prefix_length(size, t); }

    // Puts what is shared first in every set, the prefix in its order before the rest. A set that has enough of what
    // stands nowhere else posts nothing: the rest of it is not looked at, and it stays as it lies.
    void prepare() {
      const size_t n = s_.length();
      shared_.assign(n, 0);
      leaders_.assign(order_.size(), {});
      const size_t parts = s_.threads_;
      in_parallel(parts, [&](size_t part) {
        Buffer<uint64_t> rest;
        Buffer<uint8_t> cells;
        Rarest rarest;
        const SetStore& s = s_;
        const uint8_t* const table = s.counts_->cells.data();
        const int shift = s.counter_shift_;
        s_.walk(cut(part, parts), cut(part + 1, parts), [&](size_t d, uint64_t* values, const uint64_t* end) {
          const uint32_t size = s.sizes_[d];
          for (const uint64_t *next = values + size, *last = std::min(next + kAhead, end); next < last; ++next)
            __builtin_prefetch(table + (*next >> shift));  // of the set behind this one
          if (!is_leader(static_cast<uint32_t>(d))) return false;
          Leader& leader = leaders_[rank_[d]];
          leader.size = size;
          const uint32_t near = prefix(size, threshold_), held = containment_ > 0 ? prefix(size, containment_) : 0;
          const uint32_t wanted = std::max(near, held);
          // From a file the shared ones alone are read again, and of a very long text they alone are looked up.
          const bool stays = s.starts_[d] >= s.written_ && size <= kLong;
          cells.resize(size);
          uint32_t unique = 0;
          for (uint32_t i = 0; i < size;) {
            const uint32_t stop = std::min<uint32_t>(size, i + kAhead);
            for (uint32_t k = stop; k < std::min(size, stop + static_cast<uint32_t>(kAhead)); ++k) __builtin_prefetch(table + (values[k] >> shift));
            for (; i < stop; ++i) {
              cells[i] = table[values[i] >> shift];
              unique += cells[i] <= 1;
            }
            if (stays && unique >= wanted) {
              shared_[d] = leader.shared = size;
              return false;
            }
          }
          rest.resize(size);
          uint32_t shared = 0, others = 0;
          for (uint32_t i = 0; i < size; ++i) {
            const uint64_t value = values[i];
            const uint8_t cell = cells[i];
            rest[others] = value;
            values[shared] = value;  // never ahead of i
            cells[shared] = cell;
            shared += cell > 1;
            others += cell <= 1;
          }
          if (unique) std::memcpy(values + shared, rest.data, unique * sizeof(uint64_t));
          shared_[d] = shared;
          leader.near = near > unique ? std::min(near - unique, shared) : 0;
          leader.held = held > unique ? std::min(held - unique, shared) : 0;
          leader.shared = shared;
          const uint32_t first = leader.posted();
          if (first) {  // where each of the two prefixes ends is all that counts
            const uint32_t inner = std::min(leader.near, leader.held);
            rarest.to_front(values, cells.data, shared, first);
            if (inner && inner < first) rarest.to_front(values, cells.data, first, inner);
            if (first <= kSorted) rarest.sort(values, cells.data, first);
          }
          return first || containment_ > 0;
        });
      });
    }

    // Boundaries of about equal numbers of values.
    size_t cut(size_t part, size_t parts) const {
      if (part == 0) return 0;
      if (part == parts) return s_.length();
      const uint64_t goal = s_.total_ * part / parts;
      return static_cast<size_t>(std::lower_bound(s_.starts_.begin(), s_.starts_.end(), goal) - s_.starts_.begin());
    }

    // Posts the documents in chunks that fit the memory; for each chunk, visits the leaders before it and in it (or all
    // leaders, with everyone) in order of preference.
    template <class Visit> void in_chunks(nb::object& on_step, Visit visit, bool everyone = false, const uint8_t* skip = nullptr) {
      const size_t n = order_.size();
      const uint64_t room = std::max<uint64_t>(16, (s_.budget() / 4) / Postings::kBytesEach);
      size_t from = 0;
      while (from < n) {
        size_t to = from;
        uint64_t expected = 0;
        while (to < n) {
          const uint32_t d = order_[to];
          const uint64_t more = is_leader(d) ? leaders_[to].posted() : 0;
          if (expected && expected + more > room) break;
          expected += more;
          ++to;
        }
        postings_.build(expected, [&](auto work) {
          for (size_t r = from; r < to; ++r) {
            const uint32_t posted = leaders_[r].posted();
            if (!posted) continue;
            const uint64_t* set = s_.read(order_[r], posted, mine_);
            for (uint32_t i = 0; i < posted; ++i) work(set[i], static_cast<uint32_t>(r), i);
          }
        }, [&](const Postings::Row& row) { return kind(row); });
        posted_from_ = from;
        posted_to_ = to;
        // A later leader can cover nothing of this chunk unless everyone is asked (containment has no order then).
        const size_t end = everyone ? n : to;
        for (size_t r = 0; r < end; ++r) {
          if ((r & 0x3FFF) == 0) step(on_step, from + (end ? (to - from) * r / end : 0), n);
          if (r == 0 || r >= scanned_to_) scan_ahead(r, end, everyone, skip);
          if (is_leader(order_[r])) visit(order_[r], everyone && r >= to ? SIZE_MAX : from);
        }
        scanned_from_ = scanned_to_ = 0;
        from = to;
      }
      step(on_step, n, n);
    }

    static void step(nb::object& on_step, size_t done, size_t total) {
      if (!on_step.is_valid() || on_step.is_none()) return;
      nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals()) throw nb::python_error();
      on_step(done, total);
    }

    // How far into its set a leader looks.
    uint32_t reach(uint32_t k) const { return containment_ > 0 ? shared_[k] : leaders_[rank_[k]].near; }

    // Fingerprints of k that may be posted, and their places in the set.
    void scan(uint32_t k, Buffer<uint64_t>& scratch, Hits& hits) {
      const uint32_t count = reach(k);
      const uint64_t* set = s_.read(k, count, scratch);
      const bool posted = rank_[k] >= posted_from_ && rank_[k] < posted_to_;
      const uint32_t own = posted ? std::min(leaders_[rank_[k]].posted(), count) : 0;
      for (uint32_t from = 0; from < count;) {
        const uint32_t to = static_cast<uint32_t>(std::min<size_t>(count, from + kLong));
        if (hits.size + (to - from) > hits.room) hits.reserve(std::max(hits.size + (to - from), hits.room + hits.room / 2));
        hits.size = static_cast<size_t>(postings_.find(set, own, from, to, hits.data + hits.size) - hits.data);
        from = to;
      }
    }

    uint64_t kind(const Postings::Row& row) const {
      const Leader& d = leaders_[row.rank];
      return static_cast<uint64_t>(d.size) << 32 | d.rest(row.position);
    }

    // Whether a document of this size with so many fingerprints left can be covered by k with so many left.
    bool enough(uint32_t size, uint32_t rest, const Leader& k, uint32_t rest_k) const {
      const double most = std::min(rest, rest_k);
      if (containment_ > 0 && size <= k.size && most >= std::ceil(containment_ * size - 1e-6)) return true;
      return threshold_ <= 1.0 && most >= std::ceil(threshold_ / (1.0 + threshold_) * (static_cast<double>(size) + k.size) - 1e-6);
    }

    // work(row) for the posted rows of a hit of a leader that can be covered by it, until it has enough.
    template <class Work> void each_row(const Leader& leader, const Hit& hit, Work work) const {
      const uint32_t rest = leader.rest(hit.place);
      postings_.each_row(hit.value, [&](const Postings::Row& row) {
        const Leader& d = leaders_[row.rank];
        return !enough(d.size, d.rest(row.position), leader, rest);
      }, [&](const Postings::Row& x, const Postings::Row& y) { return kind(x) == kind(y); }, work);
    }

    // Whether a posted document may be covered by k, seen from the shared fingerprint at this place of k.
    bool may_cover(const Leader& k, uint32_t place, const Postings::Row& row, const Leader& d) const {
      if (containment_ > 0 && d.size <= k.size && row.position < d.held) return true;
      return place < k.near && row.position < d.near &&
             static_cast<double>(std::min(k.size, d.size)) / std::max(k.size, d.size) >= threshold_;
    }

    // The candidates of a leader, each once, in the order in which they are met. False when there are more than a few.
    bool find_few(uint32_t rank, uint32_t least_rank, const Hits& hits, Buffer<uint32_t>& found) const {
      const Leader& leader = leaders_[rank];
      const size_t before = found.size;
      uint32_t rows = 0;
      for (size_t h = 0; h < hits.size; ++h) {
        const Hit& hit = hits[h];
        each_row(leader, hit, [&](const Postings::Row& row) {
          if (++rows > kFewRows) return false;
          if (row.rank < least_rank || row.rank == rank || !may_cover(leader, hit.place, row, leaders_[row.rank])) return true;
          for (size_t i = before; i < found.size; ++i)
            if (found[i] == row.rank) return true;
          found.push(row.rank);
          return found.size - before <= kFewFound;
        });
        if (rows > kFewRows || found.size - before > kFewFound) {
          found.size = before;
          return false;
        }
      }
      return true;
    }

    // The same for any number of them.
    void find_all(uint32_t rank, uint32_t least_rank, const Hits& hits, Buffer<uint32_t>& found) {
      if (++stamp_now_ == 0) {
        for (Leader& leader : leaders_) leader.stamp = 0;
        stamp_now_ = 1;
      }
      const Leader& leader = leaders_[rank];
      for (size_t h = 0; h < hits.size; ++h) {
        const Hit& hit = hits[h];
        each_row(leader, hit, [&](const Postings::Row& row) {
          Leader& other = leaders_[row.rank];
          if (row.rank < least_rank || row.rank == rank || other.stamp == stamp_now_ || !may_cover(leader, hit.place, row, other)) return true;
          other.stamp = stamp_now_;
          found.push(row.rank);
          return true;
        });
      }
    }

    // Looks for candidates of the next leaders in all threads and as the sets lie in memory, which is many times as fast as
    // in their order; what depends on the order is done afterwards, one by one.
    void scan_ahead(size_t from, size_t end, bool everyone, const uint8_t* skip) {
      const size_t parts = s_.threads_;
      const size_t to = std::min<size_t>(end, from + std::max<uint64_t>(16, s_.budget() / 32 / (kFewFound * sizeof(uint32_t))));
      lying_.clear();
      auto put = [&](uint32_t r) {
        const uint32_t k = order_[r];
        if (is_leader(k) && !(skip && skip[k]) && reach(k)) lying_.push_back(r);
      };
      if ((to - from) * 8 > rank_.size()) {
        for (const uint32_t r : rank_)
          if (r >= from && r < to) put(r);
      } else {
        for (size_t r = from; r < to; ++r) put(static_cast<uint32_t>(r));
        std::sort(lying_.begin(), lying_.end(), [&](uint32_t x, uint32_t y) { return order_[x] < order_[y]; });
      }
      spans_.assign(to - from, {0, 0, 0});
      found_.resize(parts);
      in_parallel(parts, [&](size_t part) {
        Buffer<uint64_t> scratch;
        Buffer<uint32_t>& found = found_[part];
        found.size = 0;
        Hits hits, next;
        const size_t last = lying_.size() * (part + 1) / parts;
        for (size_t i = lying_.size() * part / parts, begin = i; i <= last; ++i) {
          next.size = 0;
          if (i < last) scan(order_[lying_[i]], scratch, next);
          for (size_t h = 0; h < std::min(next.size, kAhead); ++h) postings_.prefetch(next[h].value);  // meanwhile the one before
          if (i > begin) {
            const uint32_t r = lying_[i - 1], before = static_cast<uint32_t>(found.size);
            const bool few = find_few(r, everyone ? 0 : r + 1, hits, found);
            spans_[r - from] = {few ? static_cast<uint32_t>(part) : kLater, before, static_cast<uint32_t>(found.size)};
          }
          std::swap(hits, next);
        }
      });
      scanned_from_ = from;
      scanned_to_ = to;
    }

    // Finds the posted documents that k covers (those that are preferred to it only when everyone is asked). want(d, may k
    // hold d?) is asked before the sets are compared.
    template <class Want, class Found> void probe(uint32_t k, bool everyone, Want want, Found found) {
      const uint32_t rank = rank_[k], size = s_.sizes_[k];
      const Span span = spans_[rank - scanned_from_];
      const uint32_t *one, *last;
      if (span.part == kLater) {
        hits_.size = now_.size = 0;
        scan(k, mine_, hits_);
        find_all(rank, everyone ? 0 : rank + 1, hits_, now_);
        one = now_.begin();
        last = now_.end();
      } else {
        one = found_[span.part].data + span.from;
        last = found_[span.part].data + span.to;
      }
      bool filled = false;
      for (; one != last; ++one) {
        const uint32_t d = order_[*one];
        if (!want(d, containment_ > 0 && s_.sizes_[d] <= size)) continue;
        if (!filled) {
          lookup_.fill(s_.read(k, shared_[k], mine_), shared_[k]);
          filled = true;
        }
        const uint32_t overlap = common(k, d);
        if (overlap) found(d, overlap);
      }
    }

    // Whether d covers k, which is known to cover d.
    bool covers_back(uint32_t k, uint32_t d, uint32_t overlap) const {
      const uint32_t a = s_.sizes_[k], b = s_.sizes_[d];
      return a == b || static_cast<double>(overlap) / (static_cast<double>(a) + b - overlap) >= threshold_;
    }

    // Overlap when k covers d, else 0. Stops as soon as too many fingerprints are missing.
    uint32_t common(uint32_t k, uint32_t d) {
      const uint32_t a = s_.sizes_[k], b = s_.sizes_[d];
      const double sum = static_cast<double>(a) + b;
      double least = threshold_ > 1.0 ? sum : std::ceil(threshold_ / (1.0 + threshold_) * sum - 1e-6);
      if (containment_ > 0 && b <= a) least = std::min(least, std::ceil(containment_ * b - 1e-6));
      const uint32_t count = shared_[d];
      if (count < least) return 0;
      const uint32_t allowed = count - static_cast<uint32_t>(least);
      const uint64_t* set = s_.read(d, count, theirs_);
      uint32_t missed = 0;
      for (uint32_t i = 0; i < count; ++i)
        if (!lookup_.holds(set[i]) && ++missed > allowed) return 0;
      const uint32_t overlap = count - missed;
      if (threshold_ <= 1.0 && static_cast<double>(overlap) / (sum - overlap) >= threshold_) return overlap;
      if (containment_ > 0 && b <= a && static_cast<double>(overlap) / b >= containment_) return overlap;
      return 0;
    }
  };
};

void bind_sets(nb::module_& m) {
  nb::class_<SetStore>(m, "SetStore")
      .def(nb::init<uint64_t, const std::string&, int64_t>(), nb::arg("memory_bytes") = 0, nb::arg("folder") = "", nb::arg("threads") = 1)
      .def("__len__", &SetStore::told_length)
      .def("expect", &SetStore::expect, nb::arg("values"))
      .def("add", &SetStore::add, nb::arg("values"), nb::arg("offsets"), nb::arg("take") = false, nb::arg("counted") = false)
      .def("sizes", &SetStore::sizes)
      .def("get", &SetStore::get, nb::arg("document"))
      .def("overlaps", &SetStore::overlaps, nb::arg("left"), nb::arg("right"))
      .def("clean", &SetStore::clean, nb::arg("order"), nb::arg("threshold"), nb::arg("containment"), nb::arg("on_step") = nb::none())
      .def("pairs", &SetStore::pairs, nb::arg("threshold"), nb::arg("containment"), nb::arg("limit"), nb::arg("on_step") = nb::none())
      .def("contained", &SetStore::contained, nb::arg("threshold"))
      .def("minima", &SetStore::minima, nb::arg("factors"), nb::arg("terms"), nb::arg("documents"))
      .def_prop_ro("spilled", &SetStore::spilled)
      .def("close", &SetStore::close);
  m.def("json_sets", [](nb::bytes block, const std::string& id_field, const std::string& text_field, size_t size,
                        std::optional<View<uint64_t>> stop, int64_t min_letters, SetStore* store) {
    return json_sets(block, id_field, text_field, size, stop, min_letters, store ? store->counters() : Counters{});
  }, nb::arg("block"), nb::arg("id_field"), nb::arg("text_field"), nb::arg("size"), nb::arg("stop") = nb::none(), nb::arg("min_letters") = 1,
        nb::arg("store") = nb::none());
}

}  // namespace doublet
