// Where the words of a sentence stand in another text. Twin of doublet/kernels/reference/sentences.py, which explains it.
#include "kernels.hpp"
#include "sentences.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace doublet {

namespace {

constexpr int64_t kUnit = 1024;                     // a weight of 1.0
constexpr size_t kHeavy = 250'000;                  // a root in more pairs of sentences leads to no candidates
constexpr size_t kNearest = 6;
constexpr int64_t kCommon = 3 * kUnit / 2;           // a root that weighs less leads to no candidates
constexpr int64_t kCap = 6 * kUnit, kDerived = 6, kRaised = 3;
constexpr double kLeastSentences = 30, kRarest = 100;

struct Side {
  const uint64_t *stems, *roots;
  const double* rarity;                             // nullptr: only the two texts say what a word weighs
  const uint8_t* marks;
  size_t size;
  std::vector<uint32_t> ids, firsts;                // of words; first words of sentences, and the end

  size_t count() const { return firsts.size() - 1; }
};

struct Place {
  uint32_t first = 0, end = 0;
  int64_t mass = 0, whole = 0, there = 0, heaviest = 0;
  double second = 0;                                // worth of the best place that is not a part of this one
};

class Pair {
 public:
  Side a, b;

  void read() {
    numbers_.reset(a.size + b.size);
    hashes_.clear();
    rarity_.clear();
    for (Side* text : {&a, &b}) {
      text->ids.resize(text->size);
      for (size_t i = 0; i < text->size; ++i) {
        text->ids[i] = numbers_.number(text->stems[i]);
        if (text->ids[i] != hashes_.size()) continue;
        hashes_.push_back(text->roots[i]);
        if (text->rarity) rarity_.push_back(text->rarity[i]);
      }
      text->firsts.clear();
      cut_sentences(text->marks, text->size, text->firsts);
    }
    roots_.reset(hashes_.size());
    root_.clear();
    for (uint64_t hash : hashes_) root_.push_back(roots_.number(hash));
    const size_t stems = hashes_.size(), count = roots_.size();
    held_.assign(stems, 0);
    in_a_.assign(count, 0);
    has_root_.assign(count, 0);
    has_stem_.assign(stems, 0);
    stem_bits_.assign(stems, 0);
    root_bits_.assign(count, 0);
    stamp_ = 0;
    for (size_t s = 0; s < a.count(); ++s) {
      ++stamp_;
      for (uint32_t i = a.firsts[s]; i < a.firsts[s + 1]; ++i)
        if (first_time(has_stem_, a.ids[i])) {
          ++held_[a.ids[i]];
          if (const uint32_t root = root_[a.ids[i]]; first_time(has_root_, root)) ++in_a_[root];
        }
    }
    items_.assign(1, 0);
    terms_.clear();
    post_.clear();
    firsts_.assign(count + 1, 0);
    for (size_t t = 0; t < b.count(); ++t) {
      ++stamp_;
      for (uint32_t i = b.firsts[t]; i < b.firsts[t + 1]; ++i)
        if (first_time(has_stem_, b.ids[i])) {
          const uint32_t root = root_[b.ids[i]];
          ++held_[b.ids[i]];
          terms_.push_back({b.ids[i], root});
          if (first_time(has_root_, root)) {
            ++firsts_[root + 1];
            post_.push_back({static_cast<uint32_t>(t), root});
          }
        }
      items_.push_back(static_cast<uint32_t>(terms_.size()));
    }
    for (size_t r = 0; r < count; ++r) firsts_[r + 1] += firsts_[r];
    where_.resize(firsts_.back());
    at_.assign(firsts_.begin(), firsts_.end() - 1);
    for (const auto& [t, root] : post_) where_[at_[root]++] = t;
    weigh();
    dots_.assign(b.count(), 0);
  }

  Place best(uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) {
    Place out;
    wanted_.clear();
    near_.clear();
    ++stamp_;
    const auto begin = b.firsts.begin();
    const size_t low = static_cast<size_t>(std::upper_bound(begin, b.firsts.end(), b0) - begin) - 1;
    const size_t high = std::min<size_t>(static_cast<size_t>(std::lower_bound(begin, b.firsts.end(), b1) - begin), b.count());
    for (uint32_t i = a0; i < a1; ++i) {
      const uint32_t stem = a.ids[i];
      if (!first_time(has_stem_, stem)) continue;
      const uint32_t root = root_[stem];
      wanted_.push_back({stem, root});
      out.whole += weights_[stem];
      if (!first_time(has_root_, root)) continue;
      const uint32_t from = firsts_[root], to = firsts_[root + 1];
      if (light_[root] < kCommon || static_cast<size_t>(in_a_[root]) * (to - from) > kHeavy) continue;
      const uint32_t *t = where_.data() + from, *last = where_.data() + to;
      if (low) t = std::lower_bound(t, last, static_cast<uint32_t>(low));
      for (; t != last && *t < high; ++t) {
        if (!dots_[*t]) near_.push_back(*t);
        dots_[*t] += light_[root];
      }
    }
    // The nearest few: a list this short is kept in order by putting each into its place.
    uint32_t nearest[kNearest];
    size_t kept = 0;
    for (uint32_t t : near_) {
      const auto nearer = [&](uint32_t other) { return dots_[t] != dots_[other] ? dots_[t] > dots_[other] : t < other; };
      if (kept == kNearest && !nearer(nearest[kept - 1])) continue;
      size_t at = kept < kNearest ? kept++ : kept - 1;
      for (; at && nearer(nearest[at - 1]); --at) nearest[at] = nearest[at - 1];
      nearest[at] = t;
    }
    for (uint32_t t : near_) dots_[t] = 0;
    double most = 0;
    struct {
      size_t first, end;
      double worth;
    } looked[3 * kNearest] = {};
    size_t looks = 0, chosen = 0;
    for (size_t i = 0; i < kept; ++i) {
      const size_t t = nearest[i];
      int64_t masses[3];
      measure(t, low, high, masses);
      for (size_t which = 0; which < 3; ++which) {  // the sentence, with the one before, with the one after
        const int64_t mass = masses[which];
        if (!mass || (which == 1 && t == low) || (which == 2 && t + 1 == high)) continue;
        const size_t first = which == 1 ? t - 1 : t, end = which == 2 ? t + 2 : t + 1;
        const int64_t there = end - first > 1 ? both_[first] : alone_[first];
        out.heaviest = std::max(out.heaviest, mass);
        const double worth = static_cast<double>(mass) * static_cast<double>(mass) /
                             std::sqrt(static_cast<double>(out.whole) * static_cast<double>(there));
        looked[looks++] = {first, end, worth};
        if (worth > most) {
          most = worth;
          chosen = looks - 1;
          out.first = b.firsts[first];
          out.end = b.firsts[end];
          out.mass = mass;
          out.there = there;
        }
      }
    }
    for (size_t i = 0; i < looks; ++i) {
      const bool apart = looked[i].end <= looked[chosen].first || looked[i].first >= looked[chosen].end;
      if (apart) out.second = std::max(out.second, looked[i].worth);
    }
    return out;
  }

 private:
  struct Term {
    uint32_t stem, root;
  };
  struct Posting {
    uint32_t sentence, root;
  };
  Numbering numbers_, roots_;
  std::vector<uint64_t> hashes_;                    // of the roots, by numbers of stems
  std::vector<double> rarity_, root_rarity_;        // of stems, and of the roots: that of their commonest stem; empty for none
  std::vector<uint32_t> root_, held_, in_a_;        // root of a stem; sentences that hold a stem; those of a that hold a root
  std::vector<uint32_t> items_;                     // stems of sentence t of b, each once: [items_[t], items_[t + 1]) of terms_
  std::vector<Term> terms_, wanted_;
  std::vector<Posting> post_;
  std::vector<uint32_t> firsts_, where_, at_, near_;  // sentences of b with root r: [firsts_[r], firsts_[r + 1]) of where_
  std::vector<uint32_t> has_stem_, has_root_;       // the last sentence or range that had them
  uint32_t stamp_ = 0;                              // of the sentence or range that is being read
  std::vector<uint8_t> stem_bits_, root_bits_;      // of what is wanted: in which of three neighbours it stands
  std::vector<int64_t> weights_, light_, dots_;     // of stems, of roots, and of candidates
  std::vector<int64_t> alone_, both_, known_;       // weight of a sentence of b, of it and the next; by number of sentences

  bool first_time(std::vector<uint32_t>& last, uint32_t number) const {
    if (last[number] == stamp_) return false;
    last[number] = stamp_;
    return true;
  }

  // The geometric mean of what the two texts and what texts in general say, up to a limit.
  static int64_t between(int64_t weight, double rarity) {
    const int64_t mean = std::llround(std::sqrt(static_cast<double>(weight) / kUnit * rarity) * kUnit);
    return std::min(mean, weight * kRaised / 2);
  }

  void weigh() {
    const size_t sentences = a.count() + b.count();
    const double every = std::max(kLeastSentences, static_cast<double>(sentences));
    known_.assign(sentences + 1, -1);
    const auto weight = [&](size_t times) {
      if (known_[times] < 0) known_[times] = std::min<int64_t>(kCap, std::llround(std::log(every / static_cast<double>(times)) * kUnit));
      return known_[times];
    };
    weights_.resize(held_.size());
    for (size_t v = 0; v < held_.size(); ++v) weights_[v] = weight(held_[v]);
    light_.resize(in_a_.size());
    for (size_t r = 0; r < in_a_.size(); ++r) light_[r] = weight(in_a_[r] + (firsts_[r + 1] - firsts_[r]));
    if (!rarity_.empty()) {
      root_rarity_.assign(light_.size(), std::numeric_limits<double>::infinity());
      for (size_t v = 0; v < rarity_.size(); ++v) root_rarity_[root_[v]] = std::min(root_rarity_[root_[v]], rarity_[v]);
      for (size_t v = 0; v < rarity_.size(); ++v) weights_[v] = between(weights_[v], rarity_[v]);
      for (size_t r = 0; r < light_.size(); ++r) light_[r] = between(light_[r], root_rarity_[r]);
    }
    alone_.assign(b.count(), 0);
    both_.assign(b.count(), 0);
    const uint32_t base = stamp_;                   // sentence t of b is stamped base + t + 1
    for (size_t t = 0; t < b.count(); ++t) {
      ++stamp_;
      int64_t common = 0;
      for (uint32_t i = items_[t]; i < items_[t + 1]; ++i) {
        uint32_t& last = has_stem_[terms_[i].stem];
        alone_[t] += weights_[terms_[i].stem];
        if (t && last == base + t) common += weights_[terms_[i].stem];
        last = stamp_;
      }
      if (t) both_[t - 1] = alone_[t - 1] + alone_[t] - common;
    }
  }

  // What is wanted and stands in sentence t of b, in it and the one before, in it and the one after.
  void measure(size_t t, size_t low, size_t high, int64_t (&masses)[3]) {
    const size_t first = t > low ? t - 1 : t, last = t + 1 < high ? t + 1 : t;
    for (size_t s = first; s <= last; ++s) {
      const uint8_t bit = static_cast<uint8_t>(1u << (s + 1 - t));  // 1 before, 2 the sentence, 4 after
      for (uint32_t i = items_[s]; i < items_[s + 1]; ++i) {
        const Term term = terms_[i];
        if (has_root_[term.root] != stamp_) continue;
        root_bits_[term.root] |= bit;
        if (has_stem_[term.stem] == stamp_) stem_bits_[term.stem] |= bit;
      }
    }
    masses[0] = masses[1] = masses[2] = 0;
    for (const Term term : wanted_) {
      const uint8_t stands = stem_bits_[term.stem], derived = root_bits_[term.root];
      if (!derived) continue;
      const int64_t weight = weights_[term.stem], less = std::min(weight, light_[term.root]) * kDerived / 10;
      constexpr uint8_t kMasks[3] = {2, 3, 6};
      for (size_t which = 0; which < 3; ++which)
        masses[which] += stands & kMasks[which] ? weight : derived & kMasks[which] ? less : 0;
    }
    for (const Term term : wanted_) stem_bits_[term.stem] = root_bits_[term.root] = 0;
  }
};

}  // namespace

nb::tuple sentence_starts(View<uint8_t> marks, View<uint64_t> offsets) {
  check_offsets(offsets, marks.size());
  std::vector<uint32_t> starts;
  Buffer<uint64_t> firsts;
  firsts.push(0);
  {
    nb::gil_scoped_release release;
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      const uint64_t from = offsets.data()[i];
      cut_sentences(marks.data() + from, offsets.data()[i + 1] - from, starts);
      firsts.push(starts.size());
    }
  }
  Buffer<uint32_t> out;
  out.append(starts.data(), starts.size());
  return nb::make_tuple(own(std::move(out)), own(std::move(firsts)));
}

nb::tuple untold_parts(View<uint32_t> borders, View<uint32_t> starts, View<uint32_t> ends) {
  if (starts.size() != ends.size()) throw nb::value_error("starts and ends must be of one length");
  const uint32_t *border = borders.data(), *start = starts.data(), *end = ends.data();
  for (size_t i = 1; i < borders.size(); ++i)
    if (border[i] < border[i - 1]) throw nb::value_error("borders must not fall");
  for (size_t i = 1; i < starts.size(); ++i)
    if (start[i] < start[i - 1]) throw nb::value_error("starts must not fall");
  Buffer<int64_t> numbers;
  Buffer<uint32_t> parts;
  size_t rows = 0;
  {
    nb::gil_scoped_release release;
    size_t over = 0;                                // ranges before this one end before the sentence
    for (size_t s = 0; s + 1 < borders.size(); ++s) {
      const uint32_t low = border[s], high = border[s + 1];
      while (over < starts.size() && end[over] <= low) ++over;
      uint32_t at = low, first = low, last = low;   // nothing tells of the words from *at* on; the longest part so far
      for (size_t i = over; at < high; ++i) {
        const bool more = i < starts.size();
        const uint32_t until = more ? std::min(start[i], high) : high, next = more ? end[i] : high;
        if (next <= at) continue;
        if (until > at && until - at > last - first) {
          first = at;
          last = until;
        }
        at = next;
      }
      if (2 * static_cast<uint64_t>(last - first) <= high - low) continue;
      numbers.push(static_cast<int64_t>(s));
      parts.push(first);
      parts.push(last);
      ++rows;
    }
  }
  return nb::make_tuple(own(std::move(numbers)), own(std::move(parts), rows, 2));
}

nb::tuple best_places(View<uint64_t> stems, View<uint64_t> roots, std::optional<View<double>> rarity, View<uint8_t> marks,
                      View<uint64_t> offsets, View<uint32_t> left, View<uint32_t> right, View<uint64_t> firsts, View<uint32_t> a0,
                      View<uint32_t> a1, View<uint32_t> b0, View<uint32_t> b1, int64_t threads) {
  check_offsets(offsets, stems.size());
  const size_t texts = offsets.size() - 1, pairs = left.size(), ranges = a0.size();
  if (roots.size() != stems.size() || marks.size() != stems.size())
    throw nb::value_error("stems, roots and marks must be of one length");
  if (rarity) {
    if (rarity->size() != stems.size()) throw nb::value_error("stems and rarity must be of one length");
    for (size_t i = 0; i < rarity->size(); ++i)
      if (!(rarity->data()[i] >= 0 && rarity->data()[i] <= kRarest)) throw nb::value_error("rarity must be from 0 to 100");
  }
  if (right.size() != pairs || firsts.size() != pairs + 1)
    throw nb::value_error("left and right must be of one length, and firsts one longer");
  if (a1.size() != ranges || b0.size() != ranges || b1.size() != ranges) throw nb::value_error("the borders must be of one length");
  check_offsets(firsts, ranges);
  const uint64_t* at = offsets.data();
  for (size_t i = 0; i < pairs; ++i) {
    if (left.data()[i] >= texts || right.data()[i] >= texts) throw nb::value_error("there is no text of this number");
    for (uint64_t j = firsts.data()[i]; j < firsts.data()[i + 1]; ++j) {
      const auto lies = [&](uint32_t from, uint32_t to, uint32_t text) { return from < to && to <= at[text + 1] - at[text]; };
      if (!lies(a0.data()[j], a1.data()[j], left.data()[i]) || !lies(b0.data()[j], b1.data()[j], right.data()[i]))
        throw nb::value_error("a range must have a word or more, and lie in its text");
    }
  }
  Buffer<uint32_t> first, end;
  Buffer<double> mass, whole, there, heaviest, second;
  for (auto* column : {&first, &end}) column->resize(ranges);
  for (auto* column : {&mass, &whole, &there, &heaviest, &second}) column->resize(ranges);
  {
    nb::gil_scoped_release release;
    const size_t parts = std::max<size_t>(1, std::min(thread_count(threads), pairs));
    in_parallel(parts, [&](size_t part) {
      Pair pair;
      for (size_t i = part; i < pairs; i += parts) {
        if (firsts.data()[i] == firsts.data()[i + 1]) continue;
        for (int which = 0; which < 2; ++which) {
          const uint32_t number = which ? right.data()[i] : left.data()[i];
          Side& text = which ? pair.b : pair.a;
          text.stems = stems.data() + at[number];
          text.roots = roots.data() + at[number];
          text.rarity = rarity ? rarity->data() + at[number] : nullptr;
          text.marks = marks.data() + at[number];
          text.size = at[number + 1] - at[number];
        }
        pair.read();
        for (uint64_t j = firsts.data()[i]; j < firsts.data()[i + 1]; ++j) {
          const Place place = pair.best(a0.data()[j], a1.data()[j], b0.data()[j], b1.data()[j]);
          first[j] = place.first;
          end[j] = place.end;
          mass[j] = static_cast<double>(place.mass) / kUnit;
          whole[j] = static_cast<double>(place.whole) / kUnit;
          there[j] = static_cast<double>(place.there) / kUnit;
          heaviest[j] = static_cast<double>(place.heaviest) / kUnit;
          second[j] = place.second / kUnit;
        }
      }
    });
  }
  return nb::make_tuple(own(std::move(first)), own(std::move(end)), own(std::move(mass)), own(std::move(whole)), own(std::move(there)),
                        own(std::move(heaviest)), own(std::move(second)));
}

}  // namespace doublet
