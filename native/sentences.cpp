// Where the words of a sentence stand in another text. Twin of doublet/kernels/reference/sentences.py, which explains it.
#include "kernels.hpp"

#include <algorithm>
#include <cmath>

namespace doublet {

namespace {

constexpr int64_t kUnit = 1024;                     // a weight of 1.0
constexpr size_t kLeastSentence = 3, kLongestSentence = 60;
constexpr size_t kHeavy = 250'000;                  // a root in more pairs of sentences leads to no candidates
constexpr size_t kNearest = 6;
constexpr int64_t kCommon = 3 * kUnit / 2;           // a root that weighs less leads to no candidates
constexpr int64_t kCap = 6 * kUnit, kDerived = 6;
constexpr double kLeastSentences = 30;
constexpr uint8_t kSentence = 1;

struct Sentences {
  const uint64_t *stems, *roots;
  const uint8_t* marks;
  size_t size;
  std::vector<uint32_t> ids, firsts;                // of words; first words of sentences, and the end
  std::vector<uint32_t> items, terms;               // stems of sentence s, each once: [items[s], items[s + 1]) of terms

  size_t count() const { return firsts.size() - 1; }

  void read(Numbering& numbers, std::vector<uint64_t>& root_of) {
    ids.resize(size);
    for (size_t i = 0; i < size; ++i) {
      ids[i] = numbers.number(stems[i]);
      if (ids[i] == root_of.size()) root_of.push_back(roots[i]);
    }
    firsts.assign(1, 0);
    for (size_t i = 1; i < size; ++i) {
      const size_t before = i - firsts.back();
      if (((marks[i] & kSentence) && before >= kLeastSentence) || before >= kLongestSentence) firsts.push_back(static_cast<uint32_t>(i));
    }
    firsts.push_back(static_cast<uint32_t>(size));
    items.assign(1, 0);
    terms.clear();
    for (size_t s = 0; s + 1 < firsts.size(); ++s) {
      terms.insert(terms.end(), ids.begin() + firsts[s], ids.begin() + firsts[s + 1]);
      const auto from = terms.begin() + items.back();
      std::sort(from, terms.end());
      terms.erase(std::unique(from, terms.end()), terms.end());
      items.push_back(static_cast<uint32_t>(terms.size()));
    }
  }
};

struct Place {
  uint32_t first = 0, end = 0;
  int64_t mass = 0, whole = 0, there = 0, heaviest = 0;
};

class Pair {
 public:
  Sentences a, b;

  void read() {
    numbers_.reset(a.size + b.size);
    std::vector<uint64_t> hashes;
    a.read(numbers_, hashes);
    b.read(numbers_, hashes);
    Numbering roots(hashes.size() + 1);
    root_.clear();
    for (uint64_t hash : hashes) root_.push_back(roots.number(hash));
    const size_t stems = hashes.size(), count = roots.size();
    std::vector<uint32_t> held(stems, 0);
    in_a_.assign(count, 0);
    stamps_.assign(count, 0);
    here_.assign(stems, 0);
    stamp_ = 0;
    firsts_.assign(count + 1, 0);
    for (const Sentences* text : {&a, &b})
      for (size_t s = 0; s < text->count(); ++s) {
        ++stamp_;
        for (uint32_t i = text->items[s]; i < text->items[s + 1]; ++i) {
          const uint32_t stem = text->terms[i], root = root_[stem];
          ++held[stem];
          if (stamps_[root] == stamp_) continue;
          stamps_[root] = stamp_;
          if (text == &a) ++in_a_[root];
          else ++firsts_[root + 1];
        }
      }
    for (size_t r = 0; r < count; ++r) firsts_[r + 1] += firsts_[r];
    where_.resize(firsts_.back());
    std::vector<uint32_t> at(firsts_.begin(), firsts_.end() - 1);
    for (size_t t = 0; t < b.count(); ++t) {
      ++stamp_;
      for (uint32_t i = b.items[t]; i < b.items[t + 1]; ++i) {
        const uint32_t root = root_[b.terms[i]];
        if (stamps_[root] == stamp_) continue;
        stamps_[root] = stamp_;
        where_[at[root]++] = static_cast<uint32_t>(t);
      }
    }
    const double every = std::max(kLeastSentences, static_cast<double>(a.count() + b.count()));
    const auto weigh = [&](size_t times) {
      return std::min<int64_t>(kCap, std::llround(std::log(every / static_cast<double>(times)) * kUnit));
    };
    weights_.resize(stems);
    for (size_t v = 0; v < stems; ++v) weights_[v] = weigh(held[v]);
    light_.resize(count);
    for (size_t r = 0; r < count; ++r) light_[r] = weigh(in_a_[r] + (firsts_[r + 1] - firsts_[r]));
    dots_.assign(b.count(), 0);
  }

  Place best(uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) {
    wanted_.assign(a.ids.begin() + a0, a.ids.begin() + a1);
    std::sort(wanted_.begin(), wanted_.end());
    wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
    Place out;
    for (uint32_t stem : wanted_) out.whole += weights_[stem];
    const auto begin = b.firsts.begin();
    const size_t low = static_cast<size_t>(std::upper_bound(begin, b.firsts.end(), b0) - begin) - 1;
    const size_t high = std::min<size_t>(static_cast<size_t>(std::lower_bound(begin, b.firsts.end(), b1) - begin), b.count());
    near_.clear();
    ++stamp_;
    for (uint32_t stem : wanted_) {
      const uint32_t root = root_[stem];
      if (stamps_[root] == stamp_) continue;
      stamps_[root] = stamp_;
      const uint32_t from = firsts_[root], to = firsts_[root + 1];
      if (light_[root] < kCommon || static_cast<size_t>(in_a_[root]) * (to - from) > kHeavy) continue;
      auto t = std::lower_bound(where_.begin() + from, where_.begin() + to, static_cast<uint32_t>(low));
      for (; t != where_.begin() + to && *t < high; ++t) {
        if (!dots_[*t]) near_.push_back(*t);
        dots_[*t] += light_[root];
      }
    }
    const auto nearer = [&](uint32_t x, uint32_t y) { return dots_[x] != dots_[y] ? dots_[x] > dots_[y] : x < y; };
    const size_t kept = std::min(near_.size(), kNearest);
    std::partial_sort(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(kept), near_.end(), nearer);
    double most = 0;
    for (size_t i = 0; i < kept; ++i) {
      const size_t t = near_[i];
      for (const auto& [first, end] : {std::pair<size_t, size_t>{t, t + 1}, {t - 1, t + 1}, {t, t + 2}}) {
        if (first > t || first < low || end > high) continue;
        int64_t there = 0;
        const int64_t mass = measure(first, end, there);
        if (!mass) continue;
        out.heaviest = std::max(out.heaviest, mass);
        const double worth = static_cast<double>(mass) * static_cast<double>(mass) /
                             std::sqrt(static_cast<double>(out.whole) * static_cast<double>(there));
        if (worth > most) {
          most = worth;
          out.first = b.firsts[first];
          out.end = b.firsts[end];
          out.mass = mass;
          out.there = there;
        }
      }
    }
    for (uint32_t t : near_) dots_[t] = 0;
    return out;
  }

 private:
  Numbering numbers_;
  std::vector<uint32_t> root_, in_a_, firsts_, where_, wanted_, near_;
  std::vector<uint32_t> stamps_, here_;             // of roots and of stems: the last sentence or place that had them
  uint32_t stamp_ = 0;
  std::vector<int64_t> weights_, light_, dots_;

  int64_t measure(size_t first, size_t end, int64_t& there) {
    ++stamp_;
    for (uint32_t i = b.items[first]; i < b.items[end]; ++i) {
      const uint32_t stem = b.terms[i];
      if (here_[stem] == stamp_) continue;
      here_[stem] = stamp_;
      stamps_[root_[stem]] = stamp_;
      there += weights_[stem];
    }
    int64_t mass = 0;
    for (uint32_t stem : wanted_) {
      if (here_[stem] == stamp_) mass += weights_[stem];
      else if (stamps_[root_[stem]] == stamp_) mass += std::min(weights_[stem], light_[root_[stem]]) * kDerived / 10;
    }
    return mass;
  }
};

}  // namespace

nb::tuple best_places(View<uint64_t> stems, View<uint64_t> roots, View<uint8_t> marks, View<uint64_t> offsets, View<uint32_t> left,
                      View<uint32_t> right, View<uint64_t> firsts, View<uint32_t> a0, View<uint32_t> a1, View<uint32_t> b0,
                      View<uint32_t> b1, int64_t threads) {
  check_offsets(offsets, stems.size());
  const size_t texts = offsets.size() - 1, pairs = left.size(), ranges = a0.size();
  if (roots.size() != stems.size() || marks.size() != stems.size())
    throw nb::value_error("stems, roots and marks must be of one length");
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
  Buffer<double> mass, whole, there, heaviest;
  for (auto* column : {&first, &end}) column->resize(ranges);
  for (auto* column : {&mass, &whole, &there, &heaviest}) column->resize(ranges);
  {
    nb::gil_scoped_release release;
    const size_t parts = std::max<size_t>(1, std::min(thread_count(threads), pairs));
    in_parallel(parts, [&](size_t part) {
      Pair pair;
      for (size_t i = part; i < pairs; i += parts) {
        if (firsts.data()[i] == firsts.data()[i + 1]) continue;
        for (int which = 0; which < 2; ++which) {
          const uint32_t number = which ? right.data()[i] : left.data()[i];
          Sentences& text = which ? pair.b : pair.a;
          text.stems = stems.data() + at[number];
          text.roots = roots.data() + at[number];
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
        }
      }
    });
  }
  return nb::make_tuple(own(std::move(first)), own(std::move(end)), own(std::move(mass)), own(std::move(whole)), own(std::move(there)),
                        own(std::move(heaviest)));
}

}  // namespace doublet
