// Suffix array, common prefixes, groups of exact repeats, and chains of nearly equal passages of one sequence of tokens.
// Twins of the functions of the same names in doublet/kernels/reference/suffix.py; the ideas are in docs/explanation/repeats.md.
#include "kernels.hpp"

#include <algorithm>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

namespace doublet {

namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kAhead = 24;  // steps after which what is fetched from memory has come; 16 to 48 are alike
constexpr size_t kLong = size_t{1} << 18;  // tokens of a text for which memory matters more than pages at hand

// A large array that goes back to the system as soon as nobody needs it, unlike the buffers of the pool: these are as long
// as the whole text and needed once.
class Sheet {
 public:
  explicit Sheet(size_t count) : size_(count) {
    const size_t bytes = kHeader + count * sizeof(uint32_t);
#if defined(__unix__) || defined(__APPLE__)
    raw_ = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (raw_ == MAP_FAILED) throw std::bad_alloc();
#else
    raw_ = static_cast<char*>(std::malloc(bytes));
    if (!raw_) throw std::bad_alloc();
#endif
    *reinterpret_cast<size_t*>(raw_) = bytes;
  }
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;
  ~Sheet() { drop(raw_); }
  uint32_t* data() { return reinterpret_cast<uint32_t*>(raw_ + kHeader); }
  // Hands the memory to numpy. Needs the GIL.
  Array<uint32_t> own() {
    uint32_t* values = data();
    nb::capsule owner(raw_, [](void* p) noexcept { drop(static_cast<char*>(p)); });
    raw_ = nullptr;
    return Array<uint32_t>(values, {size_}, owner);
  }

 private:
  static constexpr size_t kHeader = 64;
  static void drop(char* raw) noexcept {
    if (!raw) return;
#if defined(__unix__) || defined(__APPLE__)
    ::munmap(raw, *reinterpret_cast<size_t*>(raw));
#else
    std::free(raw);
#endif
  }
  char* raw_;
  size_t size_;
};

// One bit a position.
class Bits {
 public:
  explicit Bits(size_t count) : words_((count + 63) / 64, 0) {}
  bool operator[](size_t i) const { return words_[i >> 6] >> (i & 63) & 1; }
  void set(size_t i) { words_[i >> 6] |= uint64_t{1} << (i & 63); }
  void fill(size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) set(i);
  }

 private:
  std::vector<uint64_t> words_;
};

// Suffix sorting by induction (SA-IS). Symbols are below `kinds`; behind the last one stands, unwritten, one that is
// smaller than all. The reduced problem is solved inside `sa`: beyond the answer only one bucket a symbol (counted anew
// when it is needed) and one bit a position are held.
class Induction {
 public:
  Induction(const uint32_t* s, uint32_t* sa, uint32_t count, uint32_t kinds)
      : s_(s), sa_(sa), count_(count), small_(count), heads_(kinds) {}

  void run() {
    for (uint32_t i = count_ - 1; i-- > 0;)
      if (s_[i] < s_[i + 1] || (s_[i] == s_[i + 1] && small_[i + 1])) small_.set(i);
    std::fill(sa_, sa_ + count_, kNone);
    buckets(true);
    for (uint32_t i = 1; i < count_; ++i)
      if (lowest(i)) sa_[--heads_[s_[i]]] = i;
    induce();
    uint32_t found = 0;
    for (uint32_t i = 0; i < count_; ++i)
      if (sa_[i] != kNone && lowest(sa_[i])) sa_[found++] = sa_[i];
    std::fill(sa_ + found, sa_ + count_, kNone);
    uint32_t names = 0, before = kNone;
    for (uint32_t i = 0; i < found; ++i) {
      const uint32_t at = sa_[i];
      if (before == kNone || !same(before, at)) ++names;
      before = at;
      sa_[found + at / 2] = names - 1;
    }
    for (uint32_t i = count_, to = count_; i-- > found;)
      if (sa_[i] != kNone) sa_[--to] = sa_[i];
    uint32_t* reduced = sa_ + count_ - found;
    if (names < found) {
      Induction(reduced, sa_, found, names).run();
    } else {
      for (uint32_t i = 0; i < found; ++i) sa_[reduced[i]] = i;
    }
    for (uint32_t i = 1, to = 0; i < count_; ++i)
      if (lowest(i)) reduced[to++] = i;
    for (uint32_t i = 0; i < found; ++i) sa_[i] = reduced[sa_[i]];
    std::fill(sa_ + found, sa_ + count_, kNone);
    buckets(true);
    for (uint32_t i = found; i-- > 0;) {
      const uint32_t at = sa_[i];
      sa_[i] = kNone;
      sa_[--heads_[s_[at]]] = at;
    }
    induce();
  }

 private:
  bool lowest(uint32_t i) const { return i && small_[i] && !small_[i - 1]; }
  // Where the suffixes that begin with each symbol start in the answer, or (tails) where they end.
  void buckets(bool tails) {
    std::fill(heads_.begin(), heads_.end(), 0);
    for (uint32_t i = 0; i < count_; ++i) ++heads_[s_[i]];
    uint32_t sum = 0;
    for (uint32_t& head : heads_) {
      const uint32_t size = head;
      head = tails ? sum + size : sum;
      sum += size;
    }
  }
  void induce() {
    buckets(false);
    sa_[heads_[s_[count_ - 1]]++] = count_ - 1;  // what stands before the end
    for (uint32_t i = 0; i < count_; ++i) {
      const uint32_t at = sa_[i];
      if (at != kNone && at && !small_[at - 1]) sa_[heads_[s_[at - 1]]++] = at - 1;
    }
    buckets(true);
    for (uint32_t i = count_; i-- > 0;) {
      const uint32_t at = sa_[i];
      if (at != kNone && at && small_[at - 1]) sa_[--heads_[s_[at - 1]]] = at - 1;
    }
  }
  // Whether two stretches from one lowest position to the next are equal. The one that reaches the end is like no other.
  bool same(uint32_t a, uint32_t b) const {
    for (uint32_t d = 0;; ++d) {
      if (a + d >= count_ || b + d >= count_ || s_[a + d] != s_[b + d] || small_[a + d] != small_[b + d]) return false;
      if (d && (lowest(a + d) || lowest(b + d))) return lowest(a + d) && lowest(b + d);
    }
  }

  const uint32_t* s_;
  uint32_t* sa_;
  uint32_t count_;
  Bits small_;  // where a suffix is smaller than the one after it
  std::vector<uint32_t> heads_;
};

void check_ids(View<uint32_t> ids) {
  if (ids.size() >= size_t{1} << 31) throw nb::value_error("more than 2147483647 tokens cannot be sorted at once");
}

void check_order(View<uint32_t> ids, View<uint32_t> order) {
  if (ids.size() != order.size()) throw nb::value_error("one place is needed for each token");
  Bits seen(ids.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t at = order.data()[i];
    if (at >= ids.size()) throw nb::value_error("a place lies behind the last token");
    if (seen[at]) throw nb::value_error("the order names a place twice");
    seen.set(at);
  }
}

struct Node {
  uint32_t left, right, length, first;
  uint64_t significance;
  bool apart;  // its passages need not overlap
};

struct Open {
  uint32_t length, left, lowest, highest, before;  // before: the token to the left, kNone when they differ
};

}  // namespace

Array<uint32_t> suffix_array(View<uint32_t> ids) {
  check_ids(ids);
  Sheet out(ids.size());
  {
    nb::gil_scoped_release release;
    const size_t count = ids.size();
    if (count >= kLong) Pool::clear();  // what tokenising a long text left
    if (count) {
      const uint32_t* from = ids.data();
      const uint32_t top = *std::max_element(from, from + count);
      if (top == UINT32_MAX) throw nb::value_error("a token number is too large");
      // Small alphabets as they are; sparse numbers are made dense in the same order.
      std::vector<uint32_t> distinct, dense;
      uint32_t kinds = top + 1;
      if (top > 2 * count + 1024) {
        distinct.assign(from, from + count);
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        kinds = static_cast<uint32_t>(distinct.size());
        dense.resize(count);
        for (size_t i = 0; i < count; ++i)
          dense[i] = static_cast<uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), from[i]) - distinct.begin());
        from = dense.data();
      }
      Induction(from, out.data(), static_cast<uint32_t>(count), kinds).run();
    }
  }
  return out.own();
}

Array<uint32_t> common_prefixes(View<uint32_t> ids, View<uint32_t> order) {
  check_ids(ids);
  check_order(ids, order);
  Sheet sheet(ids.size());  // first: the suffix before in order; then, in place, the length shared with it
  {
    nb::gil_scoped_release release;
    const uint32_t count = static_cast<uint32_t>(ids.size());
    const uint32_t *s = ids.data(), *sa = order.data();
    uint32_t* out = sheet.data();
    uint32_t before = kNone;
    for (uint32_t i = 0; i < count; ++i) {
      if (i + kAhead < count) __builtin_prefetch(out + sa[i + kAhead], 1);
      out[sa[i]] = before;
      before = sa[i];
    }
    uint32_t length = 0;
    for (uint32_t i = 0; i < count; ++i) {
      if (i + kAhead < count && out[i + kAhead] != kNone) __builtin_prefetch(s + out[i + kAhead]);
      const uint32_t other = out[i];
      if (other == kNone) {
        length = 0;
      } else {
        while (i + length < count && other + length < count && s[i + length] == s[other + length]) ++length;
      }
      out[i] = length;
      if (length) --length;
    }
  }
  return sheet.own();
}

nb::tuple exact_groups(View<uint32_t> ids, View<uint32_t> order, View<uint32_t> prefixes, size_t min_tokens, size_t budget,
                       std::optional<View<uint32_t>> places_in_text) {
  check_ids(ids);
  check_order(ids, order);
  if (prefixes.size() != ids.size()) throw nb::value_error("one prefix length is needed for each token");
  if (!min_tokens) throw nb::value_error("a repeat has at least one token");
  if (places_in_text && places_in_text->size() != ids.size()) throw nb::value_error("one place in the text is needed for each token");
  for (size_t i = 1; places_in_text && i < ids.size(); ++i)
    if (places_in_text->data()[i] <= places_in_text->data()[i - 1]) throw nb::value_error("places in the text must rise");
  Buffer<uint32_t> starts, lengths;
  Buffer<uint64_t> offsets;
  bool complete = true;
  {
    nb::gil_scoped_release release;
    const uint32_t count = static_cast<uint32_t>(ids.size());
    const uint32_t *s = ids.data(), *sa = order.data(), *plcp = prefixes.data();
    const uint32_t* where = places_in_text ? places_in_text->data() : nullptr;
    std::vector<Node> nodes;
    std::vector<Open> open;
    auto leaf = [&](uint32_t i) {
      const uint32_t at = sa[i];
      return Open{0, i, at, at, at ? s[at - 1] : kNone};
    };
    auto join = [](Open& into, const Open& part) {
      into.lowest = std::min(into.lowest, part.lowest);
      into.highest = std::max(into.highest, part.highest);
      if (into.before != part.before) into.before = kNone;
    };
    open.push_back({0, 0, kNone, 0, kNone});
    Open carried = count ? leaf(0) : Open{};
    for (uint32_t i = 1; i <= count; ++i) {
      if (i + kAhead < count) {
        const uint32_t at = sa[i + kAhead];
        __builtin_prefetch(plcp + at);
        if (at) __builtin_prefetch(s + at - 1);
      }
      const uint32_t length = i < count ? plcp[sa[i]] : 0;
      uint32_t left = i - 1;
      while (open.back().length > length) {
        Open done = open.back();
        open.pop_back();
        join(done, carried);
        const uint32_t parent = std::max(open.back().length, length);
        if (done.length >= min_tokens && done.before == kNone) {
          const uint64_t times = i - done.left;
          const uint64_t span = where ? where[done.highest] - where[done.lowest] : done.highest - done.lowest;
          const bool apart = span >= (times - 1) * done.length;
          if (apart || parent < min_tokens) {
            const uint64_t n = apart ? times : std::min<uint64_t>(times, span / done.length + 1);
            nodes.push_back({done.left, i, done.length, done.lowest, n * done.length * done.length, apart});
          }
        }
        left = done.left;
        carried = done;
      }
      if (open.back().length < length) {
        Open fresh = carried;
        fresh.length = length;
        fresh.left = left;
        open.push_back(fresh);
      } else {
        join(open.back(), carried);
      }
      if (i < count) carried = leaf(i);
    }
    std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) {
      return a.significance != b.significance ? a.significance > b.significance
             : a.length != b.length           ? a.length > b.length
                                              : a.first < b.first;
    });
    Bits used(count);
    std::vector<uint32_t> places, kept;
    offsets.push(0);
    size_t spent = 0;
    for (const Node& node : nodes) {
      spent += (node.right - node.left) * (2 + node.length / min_tokens);
      if (spent > budget) {
        complete = false;
        break;
      }
      places.assign(sa + node.left, sa + node.right);
      std::sort(places.begin(), places.end());
      kept.clear();
      uint32_t length = node.length, end = 0;
      if (!node.apart) {  // "la la la …": whole periods, so that nothing is left between the passages
        uint32_t step = kNone;
        for (size_t i = 1; i < places.size(); ++i) step = std::min(step, places[i] - places[i - 1]);
        const uint64_t whole = (min_tokens + step - 1) / step * uint64_t{step};
        length = static_cast<uint32_t>(std::min<uint64_t>(length, whole));
      }
      for (uint32_t at : places) {
        if (node.length > count - at) throw std::invalid_argument("the prefixes are not those of the order");
        if (at < end || used[at] || used[at + length - 1]) continue;
        bool taken = false;  // what was taken is at least min_tokens long: no need to look at every token
        for (uint32_t i = at + min_tokens; i < at + length && !taken; i += min_tokens) taken = used[i];
        if (taken) continue;
        kept.push_back(at);
        end = at + length;
      }
      if (kept.size() < 2) continue;
      auto grows_right = [&] {
        const uint32_t last = kept.back() + length;
        if (last >= count || used[last]) return false;
        for (size_t i = 0; i + 1 < kept.size(); ++i) {
          const uint32_t next = kept[i] + length;
          if (next >= kept[i + 1] || used[next] || s[next] != s[last]) return false;
        }
        return true;
      };
      while (grows_right()) ++length;
      auto grows_left = [&] {
        if (!kept[0] || used[kept[0] - 1]) return false;
        const uint32_t token = s[kept[0] - 1];
        for (size_t i = 1; i < kept.size(); ++i)
          if (kept[i] - 1 < kept[i - 1] + length || used[kept[i] - 1] || s[kept[i] - 1] != token) return false;
        return true;
      };
      while (grows_left()) {
        for (uint32_t& at : kept) --at;
        ++length;
      }
      for (uint32_t at : kept) {
        used.fill(at, at + length);
        starts.push(at);
      }
      lengths.push(length);
      offsets.push(starts.size);
    }
  }
  return nb::make_tuple(own(std::move(offsets)), own(std::move(starts)), own(std::move(lengths)), complete);
}

namespace {
struct Chain {
  uint32_t a, a_end, b, b_end, matched;
  bool follows(const Chain& p, uint32_t gap) const {
    return a >= p.a_end && b >= p.b_end && a - p.a_end <= gap && b - p.b_end <= gap && b_end <= p.a;
  }
};

// Tokens that are equal between two runs: on the diagonal of the run before and, from some place on, of the run behind.
uint32_t equal_between(const uint32_t* s, uint32_t a, uint32_t a_end, uint32_t b, uint32_t b_end) {
  if (a >= a_end || b >= b_end) return 0;
  const uint32_t size = std::min(a_end - a, b_end - b);
  uint32_t now = 0;
  for (uint32_t k = 1; k <= size; ++k) now += s[a_end - k] == s[b_end - k];
  uint32_t best = now;
  for (uint32_t k = 0; k < size; ++k) {
    now += s[a + k] == s[b + k];
    now -= s[a_end - size + k] == s[b_end - size + k];
    best = std::max(best, now);
  }
  return best;
}
}  // namespace

nb::tuple self_chains(View<uint32_t> ids, View<uint32_t> parts, size_t seed, size_t nearest, size_t gap, size_t join_gap,
                      size_t min_matched, size_t join_cost) {
  check_ids(ids);
  if (parts.size() != ids.size()) throw nb::value_error("one part is needed for each token");
  if (!seed || !nearest) throw nb::value_error("seeds have at least one token, and one partner");
  Buffer<uint32_t> columns[5];
  {
    nb::gil_scoped_release release;
    constexpr uint32_t kWidth = 12;  // tokens by which the two places of a chain may drift apart at one step
    constexpr uint32_t kEven = 4;    // tokens by which the copies of a period may differ in length
    const uint32_t count = static_cast<uint32_t>(ids.size());
    // No two places are further apart than the text is long: larger numbers mean the same.
    const auto within = [&](size_t number) { return static_cast<uint32_t>(std::min<size_t>(number, count)); };
    const uint32_t least = within(std::max(min_matched, seed));
    const uint32_t *s = ids.data(), *part = parts.data();
    std::vector<Chain> chains;
    if (count >= seed) {
      const uint32_t last = count - static_cast<uint32_t>(seed);
      // previous[i]: the nearest earlier position with the same seed.
      std::vector<uint32_t> previous(last + 1, kNone);
      {
        OpenTable<uint32_t> newest;  // one above the last place of each seed; 0: free
        newest.reset(2 * (size_t{last} + 1));
        for (uint32_t i = 0; i <= last; ++i) {
          if (part[i] != part[i + seed - 1]) continue;
          uint64_t key = 0;
          for (size_t d = 0; d < seed; ++d) key = (key + s[i + d] + 1) * 0x9E3779B97F4A7C15ull;
          uint32_t& cell = newest.at((key ^ key >> 29) * 0xBF58476D1CE4E5B9ull >> 20, [&](uint32_t above) {
            return above && !std::equal(s + i, s + i + seed, s + above - 1);
          });
          if (cell) previous[i] = cell - 1;
          cell = i + 1;
        }
      }
      std::vector<uint32_t> live(count / kWidth + 3, kNone);
      const uint32_t size = static_cast<uint32_t>(seed), reach = within(gap);
      for (uint32_t i = 0; i <= last; ++i) {
        auto earlier = [&](uint32_t at) {  // nearer ones would give passages that overlap themselves
          uint32_t found = previous[at];
          while (found != kNone && at - found < least) found = previous[found];
          return found;
        };
        uint32_t j = earlier(i);
        size_t partners = nearest;
        const uint32_t before = j != kNone ? earlier(j) : kNone;
        if (before != kNone) {  // evenly spaced: a period, of which the nearest copy is enough
          const uint32_t one = i - j, two = j - before;
          if ((one > two ? one - two : two - one) <= kEven) partners = 1;
        }
        for (; j != kNone && partners; j = previous[j], --partners) {
          const uint32_t bucket = (i - j) / kWidth + 1;
          bool done = false;
          for (const uint32_t near : {bucket, bucket - 1, bucket + 1}) {
            const uint32_t number = live[near];
            if (number == kNone) continue;
            Chain& c = chains[number];
            if (i > c.a_end + reach || j > c.b_end + reach) continue;
            if (i + size <= c.a_end || j + size <= c.b_end) {
              if (i >= c.a && j >= c.b && i + size <= c.a_end && j + size <= c.b_end) {
                done = true;  // already inside
                break;
              }
              continue;
            }
            if (j + size > c.a && i >= c.a && i < c.a_end) {
              done = true;  // the chain has met its copy: the next one begins where it ends, not in the middle of a period
              break;
            }
            if (i < c.a || j < c.b || j + size > c.a || part[i] != part[c.a] || part[j] != part[c.b]) continue;
            c.matched += equal_between(s, c.a_end, i, c.b_end, j);
            c.matched += std::min(i + size - std::max(i, c.a_end), j + size - std::max(j, c.b_end));
            c.a_end = i + size;
            c.b_end = j + size;
            if (near != bucket) live[near] = kNone;
            live[bucket] = number;
            done = true;
            break;
          }
          if (done || j + size > i) continue;
          live[bucket] = static_cast<uint32_t>(chains.size());
          chains.push_back({i, i + size, j, j + size, size});
        }
      }
    }
    // Second walk: what follows each other in both places is one passage.
    std::sort(chains.begin(), chains.end(), [](const Chain& x, const Chain& y) {
      return x.a != y.a ? x.a < y.a : x.b != y.b ? x.b < y.b : x.a_end != y.a_end ? x.a_end < y.a_end : x.b_end < y.b_end;
    });
    const uint32_t far = within(join_gap), cell = far + 1;
    const uint64_t price = std::min<uint64_t>(join_cost, uint64_t{1} << 33);
    std::vector<uint32_t> ends(count / cell + 2, kNone);  // the last chain whose earlier place ends in this stretch
    std::vector<Chain> joined = chains;
    for (uint32_t n = 0; join_gap && n < chains.size(); ++n) {
      const Chain c = joined[n];
      uint32_t best = kNone, least = kNone;
      for (const uint32_t y : {c.b / cell + 1, c.b / cell}) {
        const uint32_t number = ends[y];
        if (number == kNone) continue;
        const Chain& p = joined[number];
        if (!c.follows(p, far) || part[c.a] != part[p.a] || part[c.b] != part[p.b]) continue;
        const uint64_t between = std::max(c.a - p.a_end, c.b - p.b_end);
        if (4 * uint64_t{std::min(c.matched, p.matched)} < between * price) continue;
        const uint32_t cost = c.a - p.a_end + c.b - p.b_end;
        if (cost < least) {
          least = cost;
          best = number;
        }
      }
      uint32_t at = n;
      if (best != kNone) {
        Chain& p = joined[best];
        p.matched += equal_between(s, p.a_end, c.a, p.b_end, c.b);
        p.a_end = c.a_end;
        p.b_end = c.b_end;
        p.matched += c.matched;
        joined[n].matched = 0;
        at = best;
      }
      ends[joined[at].b_end / cell + 1] = at;
    }
    auto keep = [&](const Chain& c) {
      columns[0].push(c.a);
      columns[1].push(c.a_end);
      columns[2].push(c.b);
      columns[3].push(c.b_end);
      columns[4].push(c.matched);
    };
    for (size_t n = 0; n < chains.size(); ++n) {
      const bool grown = joined[n].matched != chains[n].matched;
      if (chains[n].matched >= min_matched) keep(chains[n]);
      if (grown && joined[n].matched >= min_matched) keep(joined[n]);
    }
  }
  return nb::make_tuple(own(std::move(columns[0])), own(std::move(columns[1])), own(std::move(columns[2])),
                        own(std::move(columns[3])), own(std::move(columns[4])));
}

}  // namespace doublet
