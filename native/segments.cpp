// Postings of a stored index: sorted, packed into blocks, and read again. Twins of the same names in
// doublet/kernels/reference/segments.py, which says what a block looks like.
#include "kernels.hpp"
#include "sorting.hpp"
#include "varints.hpp"

#include <algorithm>
#include <iterator>

namespace doublet {

namespace {

// The order of postings by key and document; of equal ones the first stays first. Nothing when they are in order.
void sort_order(const uint64_t* key, const uint64_t* document, size_t count, Buffer<int64_t>& order) {
  size_t rising = 1;
  while (rising < count && (key[rising - 1] < key[rising] || (key[rising - 1] == key[rising] && document[rising - 1] <= document[rising])))
    ++rising;
  if (rising >= count) return;
  // Only what follows the part that rises is sorted; then both are merged.
  const size_t rest = count - rising;
  Buffer<Keyed> ones;
  ones.resize(rest);
  for (size_t i = 0; i < rest; ++i) ones[i] = {key[rising + i], rising + i};
  sort_keyed(ones);
  for (size_t i = 0; i < rest;) {
    size_t end = i + 1;
    bool good = true;
    for (; end < rest && ones[end].key == ones[i].key; ++end) good &= document[ones[end - 1].value] <= document[ones[end].value];
    if (!good)
      std::stable_sort(ones.data + i, ones.data + end, [&](const Keyed& a, const Keyed& b) { return document[a.value] < document[b.value]; });
    i = end;
  }
  order.resize(count);
  size_t first = 0, second = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool late = first == rising || (second < rest && (ones[second].key < key[first] ||
                                                            (ones[second].key == key[first] && document[ones[second].value] < document[first])));
    order[i] = static_cast<int64_t>(late ? ones[second++].value : first++);
  }
}

struct Posting {
  uint64_t key, document, library;
  bool operator<(const Posting& other) const { return key != other.key ? key < other.key : document < other.document; }
};

// A block of postings, `count` of them: at(i) gives each. False: their keys do not rise, or are too large.
template <class At> bool push_block(Buffer<uint8_t>& data, Buffer<uint8_t>& spare, size_t count, At at) {
  if (!count) return true;
  uint64_t base = UINT64_MAX;
  for (size_t i = 0; i < count; ++i) base = std::min(base, at(i).document);
  spare.reserve((3 * count + 1) * kMostBytes);
  uint8_t* end = put_number(spare.data, base);
  Posting last{0, base, 0};
  for (size_t i = 0; i < count; ++i) {
    const Posting next = at(i);
    if (next.key < last.key || next.key >> 63) return false;
    const bool moved = next.library != last.library;
    end = put_number(end, (next.key - last.key) << 1 | moved);
    if (moved) end = put_number(end, next.library);
    end = put_number(end, next.document - (next.key != last.key ? base : last.document));
    last = next;
  }
  const size_t size = static_cast<size_t>(end - spare.data);
  push_number(data, size);
  data.append(spare.data, size);
  return true;
}

}  // namespace

Array<int64_t> sort_postings(View<uint64_t> keys, View<uint64_t> documents) {
  if (documents.size() != keys.size()) throw nb::value_error("every posting needs a key and a document");
  Buffer<int64_t> order;
  {
    nb::gil_scoped_release release;
    sort_order(keys.data(), documents.data(), keys.size(), order);
  }
  return own(std::move(order));
}

nb::tuple pack_postings(View<uint64_t> keys, View<uint64_t> documents, View<uint64_t> libraries, View<uint64_t> offsets) {
  if (documents.size() != keys.size() || libraries.size() != keys.size()) throw nb::value_error("every posting needs a key, a document and a library");
  check_offsets(offsets, keys.size());
  Buffer<uint8_t> data, spare;
  Buffer<uint64_t> ends;
  bool good = true;
  {
    nb::gil_scoped_release release;
    data.reserve(keys.size() * 7 + 16);
    ends.push(0);
    for (size_t block = 0; block + 1 < offsets.size() && good; ++block) {
      const uint64_t start = offsets.data()[block], end = offsets.data()[block + 1];
      good = push_block(data, spare, end - start,
                        [&](size_t i) { return Posting{keys.data()[start + i], documents.data()[start + i], libraries.data()[start + i]}; });
      ends.push(data.size);
    }
  }
  if (!good) throw nb::value_error("keys of a block must rise and stay below 2 ** 63");
  return nb::make_tuple(own(std::move(data)), own(std::move(ends)));
}

nb::tuple cut_postings(View<uint64_t> keys, View<uint64_t> documents, View<uint64_t> libraries, unsigned key_bits, unsigned bits, size_t heavy) {
  const size_t count = keys.size();
  if (documents.size() != count || libraries.size() != count) throw nb::value_error("every posting needs a key, a document and a library");
  if (key_bits > 63 || bits > key_bits) throw nb::value_error("a key has at most 63 bits, a part at most those of the key");
  for (size_t i = 0; i < count; ++i)
    if (keys.data()[i] >> key_bits) throw nb::value_error("a key has too many bits");
  Buffer<int64_t> parts;
  Buffer<uint8_t> data, spare;
  Buffer<uint64_t> ends;
  {
    nb::gil_scoped_release release;
    Buffer<int64_t> order;
    sort_order(keys.data(), documents.data(), count, order);
    Buffer<Posting> sorted;
    sorted.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const size_t place = order.size ? static_cast<size_t>(order[i]) : i;
      sorted[i] = {keys.data()[place], documents.data()[place], libraries.data()[place]};
    }
    data.reserve(count * 7 + 16);
    ends.push(0);
    const auto push = [&](int64_t part, const Posting* first, size_t size) {
      push_block(data, spare, size, [&](size_t i) { return first[i]; });
      parts.push(part);
      ends.push(data.size);
    };
    // Keys of many documents in parts of their own; their first posting stays, and points there.
    size_t kept = 0;
    for (size_t i = 0; i < count;) {
      size_t end = i + 1;
      while (end < count && sorted[end].key == sorted[i].key) ++end;
      if (end - i > heavy) {
        push(-1 - static_cast<int64_t>(sorted[i].key), sorted.data + i, end - i);
        sorted[kept++] = {sorted[i].key, 0, sorted[i].library};
      } else {
        for (size_t j = i; j < end; ++j) sorted[kept++] = sorted[j];
      }
      i = end;
    }
    for (size_t i = 0; i < kept;) {
      const uint64_t part = sorted[i].key >> (key_bits - bits);
      size_t end = i + 1;
      while (end < kept && sorted[end].key >> (key_bits - bits) == part) ++end;
      push(static_cast<int64_t>(part), sorted.data + i, end - i);
      i = end;
    }
  }
  return nb::make_tuple(own(std::move(parts)), own(std::move(data)), own(std::move(ends)));
}

namespace {

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
