// Words of stored documents as bytes, and the heaviest of them. Twins of the same names in doublet/kernels/reference/bags.py.
#include "kernels.hpp"
#include "sorting.hpp"
#include "varints.hpp"

#include <algorithm>
#include <limits>

namespace doublet {

nb::tuple pack_bags(View<uint32_t> words, View<uint64_t> offsets, View<uint64_t> numbers) {
  check_offsets(offsets, words.size());
  for (size_t i = 0; i < words.size(); ++i)
    if (words.data()[i] >= numbers.size()) throw nb::value_error("a word has no number");
  Buffer<uint8_t> data;
  Buffer<uint64_t> ends, df, cf;
  Buffer<uint32_t> rows;
  bool high = false;
  {
    nb::gil_scoped_release release;
    df.resize(numbers.size());
    cf.resize(numbers.size());
    std::fill(df.begin(), df.end(), 0);
    std::fill(cf.begin(), cf.end(), 0);
    data.reserve(words.size() * 2 + 16);
    rows.resize(words.size());
    ends.push(0);
    const size_t documents = offsets.size() - 1;
    // The places of each word, then the words by their numbers: so every document is given its own in their order.
    for (size_t i = 0; i < words.size(); ++i) ++cf[words.data()[i]];
    Buffer<Keyed> used;  // number in the database, number here
    for (size_t word = 0; word < numbers.size(); ++word)
      if (cf[word]) {
        high |= numbers.data()[word] > UINT32_MAX;
        used.push({numbers.data()[word], word});
      }
    sort_keyed(used);
    Buffer<uint64_t> next;
    next.resize(numbers.size());
    uint64_t before = 0;
    for (const Keyed& one : used) {
      next[one.value] = before;
      before += cf[one.value];
    }
    struct Place {
      uint32_t document, word;  // the word of the document, counted from its first one
    };
    Buffer<Place> places;
    places.resize(words.size());
    for (size_t d = 0; d < documents; ++d)
      for (uint64_t start = offsets.data()[d], i = start; i < offsets.data()[d + 1]; ++i)
        places[next[words.data()[i]]++] = {static_cast<uint32_t>(d), static_cast<uint32_t>(i - start)};
    struct Row {
      uint32_t number, count;
    };
    Buffer<Row> bag;  // of each document, from its offset on
    bag.resize(words.size());
    std::vector<uint32_t> distinct(documents);
    size_t at = 0;
    for (const Keyed& one : used) {
      const uint32_t number = static_cast<uint32_t>(one.key);
      uint32_t last = UINT32_MAX;
      for (const size_t end = at + cf[one.value]; at < end; ++at) {
        const auto [d, word] = places[at];
        const uint64_t start = offsets.data()[d];
        df[one.value] += d != last;
        last = d;
        if (!distinct[d] || bag[start + distinct[d] - 1].number != number) bag[start + distinct[d]++] = {number, 0};
        ++bag[start + distinct[d] - 1].count;
        rows[start + word] = distinct[d] - 1;
      }
    }
    for (size_t d = 0; d < documents; ++d) {
      const uint64_t start = offsets.data()[d], end = start + distinct[d];
      push_number(data, distinct[d]);
      uint32_t previous = 0;
      for (uint64_t i = start; i < end; ++i) {
        push_number(data, uint64_t{bag[i].number - previous} << 1 | (bag[i].count > 1));
        previous = bag[i].number;
      }
      for (uint64_t i = start; i < end; ++i)
        if (bag[i].count > 1) push_number(data, bag[i].count);
      ends.push(data.size);
    }
  }
  if (high) throw nb::value_error("the number of a word is above 4294967295");
  return nb::make_tuple(own(std::move(data)), own(std::move(ends)), own(std::move(df)), own(std::move(cf)), own(std::move(rows)));
}

nb::tuple unpack_bags(View<uint8_t> data, View<uint64_t> offsets) {
  check_offsets(offsets, data.size());
  Buffer<uint32_t> words, counts;
  Buffer<uint64_t> ends;
  bool damaged = false;
  {
    nb::gil_scoped_release release;
    words.reserve(data.size() / 2 + 16);
    counts.reserve(data.size() / 2 + 16);
    ends.push(0);
    for (size_t d = 0; d + 1 < offsets.size() && !damaged; ++d) {
      const uint8_t* at = data.data() + offsets.data()[d];
      const uint8_t* const end = data.data() + offsets.data()[d + 1];
      const uint64_t size = read_number(at, end, damaged);
      if (damaged || size > static_cast<uint64_t>(end - at)) {
        damaged = true;
        break;
      }
      const size_t first = counts.size;
      uint64_t word = 0;
      for (uint64_t i = 0; i < size && !damaged; ++i) {
        const uint64_t step = read_number(at, end, damaged);
        word += step >> 1;
        damaged |= word >> 32 != 0;
        words.push(static_cast<uint32_t>(word));
        counts.push(step & 1 ? 0 : 1);
      }
      for (size_t i = first; i < counts.size && !damaged; ++i) {
        if (counts[i]) continue;
        const uint64_t count = read_number(at, end, damaged);
        damaged |= count < 2 || count >> 32 != 0;
        counts[i] = static_cast<uint32_t>(count);
      }
      damaged |= at != end;
      ends.push(words.size);
    }
  }
  if (damaged) throw nb::value_error("a bag of words is damaged");
  return nb::make_tuple(own(std::move(words)), own(std::move(counts)), own(std::move(ends)));
}

nb::tuple heaviest(View<double> weights, View<uint32_t> ranks, View<uint64_t> offsets, size_t count) {
  if (!count) throw nb::value_error("at least one row has to be chosen");
  if (ranks.size() != weights.size()) throw nb::value_error("every row needs a weight and a rank");
  check_offsets(offsets, weights.size());
  Buffer<uint64_t> rows, ends;
  {
    nb::gil_scoped_release release;
    ends.push(0);
    std::vector<uint64_t> best;  // a heap: the first one is the lightest of the chosen
    const double* const weight = weights.data();
    const uint32_t* const rank = ranks.data();
    const auto heavier = [&](uint64_t a, uint64_t b) {
      return weight[a] != weight[b] ? weight[a] > weight[b] : rank[a] != rank[b] ? rank[a] < rank[b] : a < b;
    };
    for (size_t d = 0; d + 1 < offsets.size(); ++d) {
      best.clear();
      for (uint64_t i = offsets.data()[d]; i < offsets.data()[d + 1]; ++i) {
        if (!(weight[i] > -std::numeric_limits<double>::infinity())) continue;
        if (best.size() < count) {
          best.push_back(i);
          std::push_heap(best.begin(), best.end(), heavier);
        } else if (heavier(i, best.front())) {
          std::pop_heap(best.begin(), best.end(), heavier);
          best.back() = i;
          std::push_heap(best.begin(), best.end(), heavier);
        }
      }
      if (best.size() == count) {
        std::sort(best.begin(), best.end(), [&](uint64_t a, uint64_t b) { return rank[a] != rank[b] ? rank[a] < rank[b] : a < b; });
        rows.append(best.data(), best.size());
      }
      ends.push(rows.size);
    }
  }
  return nb::make_tuple(own(std::move(rows)), own(std::move(ends)));
}

}  // namespace doublet
