// Words of stored documents as bytes, and the heaviest of them. Twins of the same names in doublet/kernels/reference/bags.py.
#include "kernels.hpp"

#include <algorithm>
#include <limits>

namespace doublet {

namespace {

void push_number(Buffer<uint8_t>& out, uint64_t value) {
  while (value > 127) {
    out.push(static_cast<uint8_t>(value | 128));
    value >>= 7;
  }
  out.push(static_cast<uint8_t>(value));
}

// The next number of a bag, or an error: `damaged` is set when the bag ends too early or the number has more than 64 bits.
uint64_t read_number(const uint8_t*& at, const uint8_t* end, bool& damaged) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at == end) break;
    const uint8_t byte = *at++;
    if (shift == 63 && byte > 1) break;
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  damaged = true;
  return 0;
}

}  // namespace

nb::tuple pack_bags(View<uint32_t> words, View<uint64_t> offsets, View<uint64_t> numbers) {
  check_offsets(offsets, words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    if (words.data()[i] >= numbers.size()) throw nb::value_error("a word has no number");
    if (numbers.data()[words.data()[i]] > UINT32_MAX) throw nb::value_error("the number of a word is above 4294967295");
  }
  Buffer<uint8_t> data;
  Buffer<uint64_t> ends, df, cf;
  {
    nb::gil_scoped_release release;
    df.reserve(numbers.size() + 1);
    cf.reserve(numbers.size() + 1);
    for (size_t i = 0; i < numbers.size(); ++i) {
      df.push(0);
      cf.push(0);
    }
    data.reserve(words.size() * 2 + 16);
    ends.push(0);
    std::vector<std::pair<uint64_t, uint32_t>> own;  // number in the database, number here
    std::vector<uint64_t> several;
    for (size_t d = 0; d + 1 < offsets.size(); ++d) {
      own.clear();
      several.clear();
      for (uint64_t i = offsets.data()[d]; i < offsets.data()[d + 1]; ++i) {
        const uint32_t word = words.data()[i];
        own.emplace_back(numbers.data()[word], word);
        ++cf[word];
      }
      std::sort(own.begin(), own.end());
      size_t distinct = 0;
      for (size_t i = 0; i < own.size(); ++i) distinct += !i || own[i].first != own[i - 1].first;
      push_number(data, distinct);
      uint64_t previous = 0;
      for (size_t i = 0; i < own.size();) {
        size_t next = i + 1;
        ++df[own[i].second];
        for (; next < own.size() && own[next].first == own[i].first; ++next) df[own[next].second] += own[next].second != own[next - 1].second;
        push_number(data, (own[i].first - previous) << 1 | (next - i > 1));
        if (next - i > 1) several.push_back(next - i);
        previous = own[i].first;
        i = next;
      }
      for (uint64_t count : several) push_number(data, count);
      ends.push(data.size);
    }
  }
  return nb::make_tuple(own(std::move(data)), own(std::move(ends)), own(std::move(df)), own(std::move(cf)));
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
