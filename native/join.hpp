// The exact join over a store of sets: who covers whom. The idea is in sets.cpp.
#pragma once
#include "postings.hpp"
#include "rarest.hpp"
#include "set_store.hpp"

namespace doublet {

inline uint32_t prefix_length(uint32_t size, double threshold) {
  const double needed = std::ceil(threshold * size - 1e-9);
  const uint32_t must = static_cast<uint32_t>(std::max(1.0, std::min<double>(needed, size)));
  return size - must + 1;
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

}  // namespace doublet
