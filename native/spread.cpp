// Steps of work that is spread over machines: counting fingerprints, posting them, and what they lead to. Twin of
// doublet/kernels/reference/spread.py.
#include "kernels.hpp"

#include <cmath>

namespace doublet {

namespace {

constexpr uint32_t kMarked = uint32_t{1} << 31, kInside = uint32_t{1} << 30, kSize = kInside - 1;
constexpr size_t kAhead = 16;                     // cells that are fetched before they are needed
constexpr size_t kMostPairs = size_t{1} << 22;    // after which pairs that were met before are removed

int shift_of(size_t cells) {
  if (cells < 2 || (cells & (cells - 1))) throw nb::value_error("a table must have a power of two of cells");
  return 64 - __builtin_ctzll(cells);
}

// So many values of a set that any other with this share of it in common has one of them.
uint64_t prefix(uint64_t size, double share) {
  const double needed = std::max(std::ceil(share * static_cast<double>(size) - 1e-9), 1.0);
  return size + 1 - static_cast<uint64_t>(needed);
}

// The numbers in rising order, equal ones as they came: digits of 11 bits, the last one first.
void sort_by_number(View<uint64_t> numbers, Buffer<uint32_t>& order) {
  constexpr int kDigits = 6, kBits = 11;
  constexpr size_t kKinds = size_t{1} << kBits;
  const size_t n = numbers.size();
  std::vector<size_t> counts(kDigits * kKinds, 0);
  for (size_t i = 0; i < n; ++i)
    for (int d = 0; d < kDigits; ++d) ++counts[d * kKinds + (numbers.data()[i] >> (d * kBits) & (kKinds - 1))];
  Buffer<uint64_t> keys, sorted;
  Buffer<uint32_t> moved;
  keys.resize(n);
  sorted.resize(n);
  order.resize(n);
  moved.resize(n);
  for (size_t i = 0; i < n; ++i) {
    keys[i] = numbers.data()[i];
    order[i] = static_cast<uint32_t>(i);
  }
  for (int d = 0; d < kDigits; ++d) {
    size_t* at = counts.data() + d * kKinds;
    size_t sum = 0;
    bool one = false;
    for (size_t k = 0; k < kKinds; ++k) {
      const size_t count = at[k];
      one = one || count == n;
      at[k] = sum;
      sum += count;
    }
    if (one) continue;  // all numbers have the same digit here
    for (size_t i = 0; i < n; ++i) {
      const size_t place = at[keys[i] >> (d * kBits) & (kKinds - 1)]++;
      sorted[place] = keys[i];
      moved[place] = order[i];
    }
    std::swap(keys, sorted);
    std::swap(order, moved);
  }
}

struct Pair {
  uint64_t outer, inner;
  bool operator<(const Pair& other) const { return outer != other.outer ? outer < other.outer : inner < other.inner; }
  bool operator==(const Pair& other) const { return outer == other.outer && inner == other.inner; }
};

void keep_once(std::vector<Pair>& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

}  // namespace

void count_cells(Cells table, View<uint64_t> values) {
  const int shift = shift_of(table.size());
  nb::gil_scoped_release release;
  uint8_t* cells = table.data();
  const uint64_t* from = values.data();
  const size_t n = values.size();
  for (size_t i = 0; i < n; ++i) {
    if (i + kAhead < n) __builtin_prefetch(cells + (from[i + kAhead] >> shift), 1);
    uint8_t& cell = cells[from[i] >> shift];
    cell = static_cast<uint8_t>(cell + (cell < 255));
  }
}

void add_cells(Cells total, View<uint8_t> more) {
  if (total.size() != more.size()) throw nb::value_error("both tables must have the same number of cells");
  nb::gil_scoped_release release;
  uint8_t* into = total.data();
  const uint8_t* from = more.data();
  for (size_t i = 0; i < more.size(); ++i) {
    const unsigned sum = static_cast<unsigned>(into[i]) + from[i];
    into[i] = static_cast<uint8_t>(sum < 255 ? sum : 255);
  }
}

nb::tuple post_sets(View<uint64_t> values, View<uint64_t> offsets, View<uint8_t> taking, View<uint8_t> table, double least,
                    double inside, std::optional<View<uint8_t>> wanted) {
  check_offsets(offsets, values.size());
  if (taking.size() + 1 != offsets.size()) throw nb::value_error("every document must be said to take part or not");
  if (!(least >= 0 && least <= 1) || !(inside >= 0 && inside <= 1)) throw nb::value_error("a share is 0 to 1");
  if (offsets.size() > UINT32_MAX) throw nb::value_error("there are too many documents");
  const int shift = shift_of(table.size()), wanted_shift = wanted ? shift_of(wanted->size()) : 0;
  Buffer<uint64_t> shared, ends;
  Buffer<uint32_t> numbers, rows, sizes;
  {
    nb::gil_scoped_release release;
    const uint64_t* from = values.data();
    const uint8_t* cells = table.data();
    const size_t n = values.size();
    std::vector<uint64_t> held, sorted;
    // The highest of the keys that are marked when this many values of the set are to be, those of a single document
    // included, which are the rarest.
    const auto last_marked = [&](uint64_t many, uint64_t alone) -> int64_t {
      if (many <= alone || held.empty()) return -1;
      const size_t place = std::min<uint64_t>(many - alone, held.size()) - 1;
      sorted.assign(held.begin(), held.end());
      std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(place), sorted.end());
      return static_cast<int64_t>(sorted[place]);
    };
    ends.push(0);
    for (size_t d = 0; d + 1 < offsets.size(); ++d) {
      held.clear();
      const uint64_t low = offsets.data()[d], high = offsets.data()[d + 1], size = high - low;
      if (size > kSize) throw nb::value_error("a set is too large");
      for (uint64_t i = low; i < high; ++i) {
        if (i + kAhead < n) __builtin_prefetch(cells + (from[i + kAhead] >> shift));
        const uint8_t count = cells[from[i] >> shift];
        if (count < 2) continue;
        shared.push(from[i]);
        if (taking.data()[d]) held.push_back(uint64_t{count} << 32 | (from[i] & UINT32_MAX));
      }
      ends.push(shared.size);
      const uint64_t alone = size - held.size();
      const int64_t any = last_marked(prefix(size, least), alone);
      const int64_t within = inside > 0 ? last_marked(prefix(size, inside), alone) : -1;
      for (const uint64_t key : held) {
        const uint32_t marks = (static_cast<int64_t>(key) <= any ? kMarked : 0) | (static_cast<int64_t>(key) <= within ? kInside : 0);
        const uint32_t number = static_cast<uint32_t>(key);
        if (!marks && wanted && !wanted->data()[uint64_t{number} << 32 >> wanted_shift]) continue;
        numbers.push(number);
        rows.push(static_cast<uint32_t>(d));
        sizes.push(static_cast<uint32_t>(size) | marks);
      }
    }
  }
  return nb::make_tuple(own(std::move(shared)), own(std::move(ends)), own(std::move(numbers)), own(std::move(rows)), own(std::move(sizes)));
}

nb::tuple lead_postings(View<uint64_t> numbers, View<uint64_t> documents, View<uint32_t> sizes, uint64_t most, double threshold, bool contained) {
  const size_t n = numbers.size();
  if (documents.size() != n || sizes.size() != n) throw nb::value_error("every posting must have a document and a size");
  if (n > UINT32_MAX) throw nb::value_error("there are too many postings");
  Buffer<uint32_t> order, crowded;
  Buffer<uint64_t> inner, outer;
  {
    nb::gil_scoped_release release;
    sort_by_number(numbers, order);
    std::vector<Pair> pairs;
    size_t clean = kMostPairs;
    for (size_t low = 0, high; low < n; low = high) {
      const uint64_t number = numbers.data()[order[low]];
      uint64_t marks = 0;
      for (high = low; high < n && numbers.data()[order[high]] == number; ++high) marks += sizes.data()[order[high]] >> 31;
      if (marks * (high - low) > most) {
        crowded.append(order.data + low, high - low);
        continue;
      }
      if (!marks || high - low < 2) continue;
      for (size_t i = low; i < high; ++i) {
        const uint32_t mine = sizes.data()[order[i]], own_size = mine & kSize;
        if (!(mine & kMarked)) continue;
        const uint64_t document = documents.data()[order[i]];
        const bool within = contained && (mine & kInside);
        for (size_t j = low; j < high; ++j) {
          const uint32_t other = sizes.data()[order[j]] & kSize;
          const uint64_t than = documents.data()[order[j]];
          if (own_size > other || (own_size == other && document >= than)) continue;
          if (within || own_size >= threshold * static_cast<double>(other) - 1e-6) pairs.push_back({than, document});
        }
      }
      if (pairs.size() >= clean) {
        keep_once(pairs);
        clean = std::max(kMostPairs, 2 * pairs.size());
      }
    }
    keep_once(pairs);
    inner.reserve(pairs.size());
    outer.reserve(pairs.size());
    for (const Pair& pair : pairs) {
      inner.push(pair.inner);
      outer.push(pair.outer);
    }
  }
  return nb::make_tuple(own(std::move(crowded)), own(std::move(inner)), own(std::move(outer)));
}

}  // namespace doublet
