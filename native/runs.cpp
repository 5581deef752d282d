// Equal runs of words of two texts. Twin of common_runs in doublet/kernels/reference/runs.py.
#include "kernels.hpp"

#include <algorithm>

namespace doublet {

constexpr uint32_t kRunCap = 64;

namespace {
struct Run {
  uint32_t length, a, b;
};
}  // namespace

nb::tuple common_runs(View<uint64_t> a, View<uint64_t> b, size_t size) {
  if (!size) throw nb::value_error("a run has at least one word");
  Buffer<uint32_t> starts_a, starts_b, lengths;
  {
    nb::gil_scoped_release release;
    const uint64_t *x = a.data(), *y = b.data();
    const size_t n = a.size(), m = b.size();
    if (n >= size && m >= size) {
      Buffer<uint64_t> left, right;
      roll(x, n, size, left);
      roll(y, m, size, right);
      // Fingerprint of b -> its first places, in order (at most kRunCap).
      Numbering kinds(right.size);
      std::vector<uint32_t> heads, tails, counts, next(right.size, UINT32_MAX);  // the first three by kind
      for (auto* column : {&heads, &tails, &counts}) column->reserve(right.size);
      std::vector<uint8_t> listed(right.size, 0);
      for (size_t j = 0; j < right.size; ++j) {
        const uint32_t place = static_cast<uint32_t>(j), kind = kinds.number(right[j]);
        if (kind == heads.size()) {
          heads.push_back(place);
          tails.push_back(place);
          counts.push_back(0);
        } else if (counts[kind] < kRunCap) {
          next[tails[kind]] = place;
        } else {
          continue;
        }
        tails[kind] = place;
        ++counts[kind];
        listed[j] = 1;
      }
      std::vector<Run> runs;
      std::vector<uint32_t> reached(right.size, 0), again(right.size, 0);  // end in a of the runs from j, how many began inside one
      for (size_t i = 0; i < left.size; ++i) {
        const uint32_t kind = kinds.known(left[i]);
        if (kind == Numbering::kUnknown) continue;
        for (uint32_t j = heads[kind]; j != UINT32_MAX; j = next[j]) {
          if (i && j && x[i - 1] == y[j - 1] && listed[j - 1] && right[j - 1] == left[i - 1]) continue;
          const uint32_t inside = i < reached[j] ? again[j] + 1 : 0;
          if (inside > kRunCap) continue;
          size_t length = 0;
          while (i + length < n && j + length < m && x[i + length] == y[j + length]) ++length;
          again[j] = inside;
          reached[j] = std::max(reached[j], static_cast<uint32_t>(i + length));
          if (length >= size) runs.push_back({static_cast<uint32_t>(length), static_cast<uint32_t>(i), j});
        }
      }
      std::sort(runs.begin(), runs.end(), [](const Run& p, const Run& q) {
        return p.length != q.length ? p.length > q.length : p.a != q.a ? p.a < q.a : p.b < q.b;
      });
      // taken[i]: the end of the taken stretch that begins at or covers i, 0 when free.
      std::vector<uint32_t> taken(n, 0);
      std::vector<Run> out;
      for (const Run& run : runs) {
        size_t at = run.a;
        const size_t end = run.a + run.length;
        while (at < end) {
          if (taken[at]) {
            at = taken[at];
            continue;
          }
          size_t stop = at;
          while (stop < end && !taken[stop]) ++stop;
          if (stop - at >= size) {
            for (size_t i = at; i < stop; ++i) taken[i] = static_cast<uint32_t>(stop);
            out.push_back({static_cast<uint32_t>(stop - at), static_cast<uint32_t>(at), static_cast<uint32_t>(run.b + at - run.a)});
          }
          at = stop;
        }
      }
      std::sort(out.begin(), out.end(), [](const Run& p, const Run& q) { return p.a < q.a; });
      for (const Run& run : out) {
        starts_a.push(run.a);
        starts_b.push(run.b);
        lengths.push(run.length);
      }
    }
  }
  return nb::make_tuple(own(std::move(starts_a)), own(std::move(starts_b)), own(std::move(lengths)));
}

}  // namespace doublet
