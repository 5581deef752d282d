// Postings of a stored index: sorted, packed into blocks, and read again. Twins of the same names in
// doublet/kernels/reference/segments.py, which says what a block looks like.
#include "kernels.hpp"
#include "varints.hpp"

#include <algorithm>
#include <iterator>

namespace doublet {

Array<int64_t> sort_postings(View<uint64_t> keys, View<uint64_t> documents) {
  const size_t count = keys.size();
  if (documents.size() != count) throw nb::value_error("every posting needs a key and a document");
  const uint64_t* const key = keys.data();
  const uint64_t* const document = documents.data();
  size_t rising = 1;
  while (rising < count && (key[rising - 1] < key[rising] || (key[rising - 1] == key[rising] && document[rising - 1] <= document[rising])))
    ++rising;
  Buffer<int64_t> order;
  if (rising < count) {
    nb::gil_scoped_release release;
    struct One {
      uint64_t key;
      int64_t place;
    };
    Buffer<One> ones, next;
    ones.resize(count);
    next.resize(count);
    uint64_t all = 0;
    for (size_t i = 0; i < count; ++i) {
      ones[i] = {key[i], static_cast<int64_t>(i)};
      all |= key[i];
    }
    // By eleven bits of the key at a time, the lowest first; what is equal stays as it was.
    constexpr int kBits = 11;
    constexpr uint64_t kMask = (1 << kBits) - 1;
    for (int shift = 0; shift < 64 && all >> shift; shift += kBits) {
      size_t starts[kMask + 2] = {};
      for (size_t i = 0; i < count; ++i) ++starts[(ones[i].key >> shift & kMask) + 1];
      for (size_t i = 0; i <= kMask; ++i) starts[i + 1] += starts[i];
      for (size_t i = 0; i < count; ++i) next[starts[ones[i].key >> shift & kMask]++] = ones[i];
      std::swap(ones, next);
    }
    order.resize(count);
    for (size_t i = 0; i < count; ++i) order[i] = ones[i].place;
    for (size_t i = 0; i < count;) {
      size_t end = i + 1;
      bool good = true;
      for (; end < count && ones[end].key == ones[i].key; ++end) good &= document[order[end - 1]] <= document[order[end]];
      if (!good)
        std::stable_sort(order.data + i, order.data + end, [&](int64_t a, int64_t b) { return document[a] < document[b]; });
      i = end;
    }
  }
  return own(std::move(order));
}

nb::tuple pack_postings(View<uint64_t> keys, View<uint64_t> documents, View<uint64_t> libraries, View<uint64_t> offsets) {
  if (documents.size() != keys.size() || libraries.size() != keys.size()) throw nb::value_error("every posting needs a key, a document and a library");
  check_offsets(offsets, keys.size());
  Buffer<uint8_t> data, block_data;
  Buffer<uint64_t> ends;
  bool wrong = false;
  {
    nb::gil_scoped_release release;
    data.reserve(keys.size() * 7 + 16);
    ends.push(0);
    for (size_t block = 0; block + 1 < offsets.size() && !wrong; ++block) {
      const uint64_t start = offsets.data()[block], end = offsets.data()[block + 1];
      if (start < end) {
        const uint64_t base = *std::min_element(documents.data() + start, documents.data() + end);
        block_data.size = 0;
        push_number(block_data, base);
        uint64_t key = 0, document = base, library = 0;
        for (uint64_t i = start; i < end; ++i) {
          const uint64_t next = keys.data()[i];
          if (next < key || next >> 63) {
            wrong = true;
            break;
          }
          const bool moved = libraries.data()[i] != library;
          if (next != key) document = base;
          push_number(block_data, (next - key) << 1 | moved);
          if (moved) push_number(block_data, libraries.data()[i]);
          push_number(block_data, documents.data()[i] - document);
          key = next;
          document = documents.data()[i];
          library = libraries.data()[i];
        }
        push_number(data, block_data.size);
        data.append(block_data.data, block_data.size);
      }
      ends.push(data.size);
    }
  }
  if (wrong) throw nb::value_error("keys of a block must rise and stay below 2 ** 63");
  return nb::make_tuple(own(std::move(data)), own(std::move(ends)));
}

namespace {

struct Posting {
  uint64_t key, document, library;
  bool operator<(const Posting& other) const { return key != other.key ? key < other.key : document < other.document; }
};

// Reads all blocks of a range and hands over their postings. False: the last one is cut off.
template <class Take> bool read_blocks(const uint8_t* at, const uint8_t* end, Take take) {
  while (at != end) {
    bool over = false;
    const uint64_t size = read_number(at, end, over);
    const bool whole = !over && size <= static_cast<uint64_t>(end - at);
    const uint8_t* const last = whole ? at + size : end;
    Posting one{0, read_number(at, last, over), 0};
    const uint64_t base = one.document;
    for (bool first = true; at != last && !over; first = false) {
      const uint64_t step = read_number(at, last, over);
      if (step & 1) one.library = read_number(at, last, over);
      const uint64_t more = read_number(at, last, over);
      if (over) break;
      if (step >> 1) one.document = base;
      one.key += step >> 1;
      one.document += more;
      take(one, first);
    }
    if (over || !whole) return false;
  }
  return true;
}

}  // namespace

nb::tuple unpack_postings(View<uint8_t> data, View<uint64_t> offsets, std::optional<View<uint64_t>> wanted, bool cut) {
  check_offsets(offsets, data.size());
  if (wanted)
    for (size_t i = 1; i < wanted->size(); ++i)
      if (wanted->data()[i] < wanted->data()[i - 1]) throw nb::value_error("the wanted keys must rise");
  Buffer<uint64_t> keys, documents, libraries, rows;
  bool damaged = false;
  {
    nb::gil_scoped_release release;
    const uint64_t* const first = wanted ? wanted->data() : nullptr;
    const uint64_t* const last = wanted ? first + wanted->size() : nullptr;
    for (size_t row = 0; row + 1 < offsets.size() && !damaged; ++row) {
      const uint64_t* asked = first;
      const bool whole = read_blocks(data.data() + offsets.data()[row], data.data() + offsets.data()[row + 1], [&](const Posting& one, bool fresh) {
        if (wanted) {
          if (fresh) asked = std::lower_bound(first, last, one.key);
          while (asked != last && *asked < one.key) ++asked;
          if (asked == last || *asked != one.key) return;
        }
        keys.push(one.key);
        documents.push(one.document);
        libraries.push(one.library);
        rows.push(row);
      });
      damaged = !whole && !cut;
    }
  }
  if (damaged) throw nb::value_error("postings are damaged");
  return nb::make_tuple(own(std::move(keys)), own(std::move(documents)), own(std::move(libraries)), own(std::move(rows)));
}

nb::tuple merge_postings(View<uint8_t> data, View<uint64_t> offsets) {
  check_offsets(offsets, data.size());
  Buffer<uint64_t> keys, documents, libraries;
  bool damaged = false;
  {
    nb::gil_scoped_release release;
    std::vector<Posting> all, spare;
    std::vector<size_t> runs{0};  // where each sorted run ends
    for (size_t row = 0; row + 1 < offsets.size() && !damaged; ++row) {
      damaged = !read_blocks(data.data() + offsets.data()[row], data.data() + offsets.data()[row + 1], [&](const Posting& one, bool) {
        if (!one.document) return;  // it points to a row of its own
        if (all.size() > runs.back() && one < all.back()) runs.push_back(all.size());
        all.push_back(one);
      });
      if (all.size() > runs.back()) runs.push_back(all.size());
    }
    spare.resize(all.size());
    while (runs.size() > 2) {
      std::vector<size_t> fewer{0};
      for (size_t i = 0; i + 1 < runs.size(); i += 2) {
        const size_t middle = runs[i + 1], end = runs[std::min(i + 2, runs.size() - 1)];
        const auto at = [&](size_t place) { return all.begin() + static_cast<std::ptrdiff_t>(place); };
        std::merge(at(runs[i]), at(middle), at(middle), at(end), spare.begin() + static_cast<std::ptrdiff_t>(runs[i]));
        fewer.push_back(end);
      }
      std::swap(all, spare);
      std::swap(runs, fewer);
    }
    keys.reserve(all.size());
    documents.reserve(all.size());
    libraries.reserve(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      const auto same = [&](size_t other) { return all[i].key == all[other].key && all[i].document >> 1 == all[other].document >> 1; };
      if ((i && same(i - 1)) || (i + 1 < all.size() && same(i + 1))) continue;
      keys.push(all[i].key);
      documents.push(all[i].document);
      libraries.push(all[i].library);
    }
  }
  if (damaged) throw nb::value_error("postings are damaged");
  return nb::make_tuple(own(std::move(keys)), own(std::move(documents)), own(std::move(libraries)));
}

}  // namespace doublet
