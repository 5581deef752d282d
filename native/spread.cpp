// Steps of work that is spread over machines: counting fingerprints, posting them, and what they lead to. Twin of
// doublet/kernels/reference/spread.py.
#include "kernels.hpp"

#include <cmath>

namespace doublet {

namespace {

constexpr uint32_t kMarked = uint32_t{1} << 31, kInside = uint32_t{1} << 30, kSize = kInside - 1;
constexpr uint8_t kTaking = 1;                    // a value of a document that takes part
constexpr uint64_t kSalt = 0x9E3779B97F4A7C15ull;
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

nb::tuple digest_sets(View<uint64_t> values, View<uint64_t> offsets) {
  check_offsets(offsets, values.size());
  Buffer<uint64_t> sums, crosses;
  {
    nb::gil_scoped_release release;
    const size_t count = offsets.size() - 1;
    sums.resize(count);
    crosses.resize(count);
    for (size_t d = 0; d < count; ++d) {
      uint64_t sum = 0, cross = 0;
      for (uint64_t i = offsets.data()[d]; i < offsets.data()[d + 1]; ++i) {
        const uint64_t value = values.data()[i], mixed = mix(value);
        sum += mixed;
        cross += mixed * (value | 1) + kSalt;
      }
      sums[d] = sum;
      crosses[d] = cross;
    }
  }
  return nb::make_tuple(own(std::move(sums)), own(std::move(crosses)));
}

nb::tuple share_sets(View<uint64_t> values, View<uint64_t> offsets, View<uint8_t> taking, View<uint8_t> table, double least, double inside) {
  check_offsets(offsets, values.size());
  if (taking.size() + 1 != offsets.size()) throw nb::value_error("every document must be said to take part or not");
  if (!(least >= 0 && least <= 1) || !(inside >= 0 && inside <= 1)) throw nb::value_error("a share is 0 to 1");
  const int shift = shift_of(table.size());
  Buffer<uint64_t> shared, ends;
  Buffer<uint8_t> marks;
  {
    nb::gil_scoped_release release;
    const uint64_t* from = values.data();
    const uint8_t* cells = table.data();
    const size_t n = values.size();
    std::vector<uint64_t> keys, sorted;
    shared.reserve(n);
    marks.reserve(n);
    ends.push(0);
    for (size_t d = 0; d + 1 < offsets.size(); ++d) {
      const uint64_t low = offsets.data()[d], high = offsets.data()[d + 1], size = high - low;
      if (keys.size() < size) keys.resize(size);
      uint64_t* found = shared.data + shared.size;
      size_t held = 0;
      for (uint64_t i = low; i < high; ++i) {
        if (i + kAhead < n) __builtin_prefetch(cells + (from[i + kAhead] >> shift));
        const uint8_t count = cells[from[i] >> shift];
        found[held] = from[i];
        keys[held] = uint64_t{count} << 32 | (from[i] & UINT32_MAX);
        held += count > 1;
      }
      uint8_t* mark = marks.data + marks.size;
      shared.size += held;
      marks.size += held;
      ends.push(shared.size);
      if (!taking.data()[d]) {
        std::fill(mark, mark + held, uint8_t{0});
        continue;
      }
      // The highest key that is marked when this many values of the set are to be, those of a single document included,
      // which are the rarest; `sorted` holds the keys up to `known` before all others.
      size_t known = held;
      const auto last_marked = [&](uint64_t many) -> int64_t {
        const uint64_t alone = size - held;
        if (many <= alone || !held) return -1;
        if (many - alone >= held) return INT64_MAX;
        const size_t place = many - alone - 1;
        if (known == held) sorted.assign(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(held));
        const size_t end = place < known ? known : held;
        std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(place), sorted.begin() + static_cast<std::ptrdiff_t>(end));
        known = place + 1;
        return static_cast<int64_t>(sorted[place]);
      };
      const int64_t any = last_marked(prefix(size, least));
      const int64_t within = inside > 0 ? last_marked(prefix(size, inside)) : -1;
      for (size_t i = 0; i < held; ++i) {
        const int64_t key = static_cast<int64_t>(keys[i]);
        mark[i] = static_cast<uint8_t>(kTaking | (key <= any ? kMarked >> 24 : 0) | (key <= within ? kInside >> 24 : 0));
      }
    }
  }
  return nb::make_tuple(own(std::move(shared)), own(std::move(ends)), own(std::move(marks)));
}

nb::tuple post_shared(View<uint64_t> shared, View<uint64_t> offsets, View<uint8_t> marks, View<uint32_t> sizes,
                      std::optional<View<uint8_t>> wanted) {
  check_offsets(offsets, shared.size());
  if (marks.size() != shared.size()) throw nb::value_error("every value must be marked or not");
  if (sizes.size() + 1 != offsets.size()) throw nb::value_error("every document must have a size");
  const int shift = wanted ? shift_of(wanted->size()) : 0;
  Buffer<uint32_t> numbers, rows, posted;
  {
    nb::gil_scoped_release release;
    const size_t n = shared.size();
    const uint8_t* cells = wanted ? wanted->data() : nullptr;
    const auto cell = [&](size_t i) { return cells + (shared.data()[i] << 32 >> shift); };
    numbers.reserve(n);
    rows.reserve(n);
    posted.reserve(n);
    size_t count = 0;
    for (size_t d = 0; d + 1 < offsets.size(); ++d) {
      const uint32_t size = sizes.data()[d];
      if (size > kSize) throw nb::value_error("a set is too large");
      for (uint64_t i = offsets.data()[d]; i < offsets.data()[d + 1]; ++i) {
        if (cells && i + kAhead < n) __builtin_prefetch(cell(i + kAhead));
        const uint8_t mark = marks.data()[i];
        numbers[count] = static_cast<uint32_t>(shared.data()[i]);
        rows[count] = static_cast<uint32_t>(d);
        posted[count] = size | (uint32_t{mark} << 24 & (kMarked | kInside));
        count += mark && (mark > kTaking || !cells || *cell(i));
      }
    }
    numbers.size = rows.size = posted.size = count;
  }
  return nb::make_tuple(own(std::move(numbers)), own(std::move(rows)), own(std::move(posted)));
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
