// Borrowed passages of two texts, through rewording: seeds, clusters, borders, merging, summaries.
// Twin of doublet/kernels/reference/passages.py, which explains each step. All sums are whole numbers, so that both agree.
#include "kernels.hpp"
#include "sentences.hpp"

#include <algorithm>
#include <cmath>

namespace doublet {

namespace {

constexpr int64_t kUnit = 1024;                     // a weight of 1.0
constexpr size_t kHeavy = 250'000;                  // a stem in more pairs of sentences makes no candidates
constexpr size_t kNearest = 16;                     // sentences of b that one of a may lead to
constexpr int64_t kLoneSeed = 5 * kUnit;             // weight of two stems that may be a cluster by themselves
constexpr size_t kRounds = 40, kRectangles = 4000;
constexpr uint64_t kBorderWords = 40'000'000;       // words that the border step may read for one pair
constexpr int64_t kTelling = 2 * kUnit;             // weight from which a word counts as telling in a summary
constexpr double kLeastSentences = 30;
constexpr int64_t kPlain = 9;                       // tenths of its mass that make a passage too plain for a summary
constexpr size_t kStretch = 1500;                   // words of a source in which all of a summary is looked for
constexpr size_t kNext = 2;                         // sentences that may be added at once on each side
constexpr size_t kNextRounds = 4;

constexpr uint8_t kLine = 2;                         // mark of a word that begins a line, which ends a sentence
enum Found : uint8_t { kWeak = 0, kStrong = 1, kSummary = 2, kSummed = 3 };

struct Settings {
  uint32_t gap;
  double cosine, dice;
  int64_t loss, bonus, next;
  size_t reach, moves;
  int64_t cap, weak_mass, strong_mass;
  double strong_worth, sentence_worth;
  uint32_t weak_length, shorter_side, longer_side;
  bool summaries, summed;
  int64_t rise, fall;
  double share, above, level, left_above, left_mass, evidence, alone, rest, beside;
  size_t telling;
  uint32_t shortest, longest;
  double times;

  // By the names of doublet.kernels.settings.PassageOptions.
  explicit Settings(nb::handle given) {
    const auto of = [&](const char* name) {
      const double value = nb::cast<double>(nb::getattr(given, name));
      if (!(value >= 0 && value <= 1e6)) throw nb::value_error("a setting can be 0 to 1,000,000");
      return value;
    };
    const auto count = [&](const char* name) { return static_cast<uint32_t>(of(name)); };
    const auto weight = [&](const char* name) { return std::llround(of(name) * kUnit); };
    gap = count("gap");
    cosine = of("cosine") * of("cosine");
    dice = of("dice");
    loss = std::llround(of("loss") * 1000);
    bonus = weight("bonus") * 1000;
    reach = count("reach");
    moves = count("moves");
    cap = weight("cap");
    next = std::llround(of("next_sentence") * 1000);
    weak_mass = weight("weak_mass");
    weak_length = count("weak_length");
    strong_mass = weight("strong_mass");
    strong_worth = of("strong_worth") * kUnit;
    sentence_worth = of("sentence_worth") * kUnit;
    shorter_side = count("strong_length");
    longer_side = count("strong_longer");
    summaries = of("summary_rise") > 0;
    summed = of("summed") > 0;
    rise = weight("summary_rise") * 1000;
    fall = weight("summary_fall") * 1000;
    share = of("summary_share");
    above = of("summary_above");
    telling = count("summary_words");
    shortest = count("summary_shortest");
    longest = count("summary_longest");
    times = of("summary_times");
    level = of("summary_level");
    left_above = of("summary_left");
    left_mass = of("summary_left_mass") * kUnit;
    evidence = of("summary_evidence");
    alone = of("summary_alone");
    rest = of("summary_rest");
    beside = of("summary_beside");
  }
};

struct Side {
  const uint64_t* stems;
  const uint8_t* marks;
  const uint32_t *starts, *ends;
  size_t size;
  std::vector<uint32_t> ids;
  std::vector<uint32_t> sentences;                  // first words, and the end
  std::vector<uint32_t> items, terms, counts;       // of sentence s: [items[s], items[s + 1]) of terms and counts
  std::vector<int64_t> norms;

  uint32_t length(uint32_t first, uint32_t end) const { return ends[end - 1] - starts[first]; }
  bool border(size_t at) const { return at == 0 || at == size || (marks[at] & (kSentence | kLine)); }

  void cut() {
    sentences.clear();
    cut_sentences(marks, size, sentences);
  }

  // Of each sentence its stems, in order of first sight. *place* has room for every stem, and is all 0 before and after.
  void count(std::vector<uint32_t>& place) {
    items.assign(1, 0);
    terms.clear();
    counts.clear();
    for (size_t s = 0; s + 1 < sentences.size(); ++s) {
      for (uint32_t i = sentences[s]; i < sentences[s + 1]; ++i) {
        uint32_t& at = place[ids[i]];                // one above the place in terms; up to items[s]: of a sentence before
        if (at > items[s]) {
          ++counts[at - 1];
          continue;
        }
        terms.push_back(ids[i]);
        counts.push_back(1);
        at = static_cast<uint32_t>(terms.size());
      }
      items.push_back(static_cast<uint32_t>(terms.size()));
    }
    for (uint32_t id : ids) place[id] = 0;
  }
};

// Words of both texts from which a cluster may grow.
struct Seed {
  uint32_t a0, a1, b0, b1;
  bool operator<(const Seed& o) const { return a0 != o.a0 ? a0 < o.a0 : a1 != o.a1 ? a1 < o.a1 : b0 != o.b0 ? b0 < o.b0 : b1 < o.b1; }
};

struct Rectangle {
  uint32_t a0, a1, b0, b1;
  int64_t mass = 0, whole_a = 0, whole_b = 0;
  uint32_t equal = 0;
  double rank = 0;
  uint8_t kind = kWeak;
  bool operator<(const Rectangle& o) const {
    return a0 != o.a0 ? a0 < o.a0 : a1 != o.a1 ? a1 < o.a1 : b0 != o.b0 ? b0 < o.b0 : b1 < o.b1;
  }
  bool same(const Rectangle& o) const { return a0 == o.a0 && a1 == o.a1 && b0 == o.b0 && b1 == o.b1; }
};

class Finder {
 public:
  explicit Finder(const Settings& settings) : set_(settings) {}
  Side a, b;
  std::vector<Rectangle> found;

  void run() {
    found.clear();
    if (!a.size || !b.size) return;
    number();
    a.cut();
    b.cut();
    scratch_.assign(stems_, 0);
    a.count(scratch_);
    b.count(scratch_);
    weigh();
    seeds_.clear();
    sentence_seeds();
    const auto sentences = static_cast<std::ptrdiff_t>(seeds_.size());
    neighbour_seeds();                              // in order of a
    std::sort(seeds_.begin(), seeds_.begin() + sentences);
    std::inplace_merge(seeds_.begin(), seeds_.begin() + sentences, seeds_.end());
    clusters();
    fit_all();
    merge();
    resolve();
    filter();
    if (set_.summaries) all_summaries();
    std::sort(found.begin(), found.end());
  }

 private:
  const Settings set_;
  std::vector<uint32_t> scratch_;
  Numbering numbers_, neighbours_;
  size_t stems_ = 0;
  std::vector<int64_t> weights_, capped_;
  std::vector<uint32_t> in_a_, in_b_;               // sentences of each text that hold a stem
  std::vector<Seed> seeds_;
  std::vector<int64_t> known_;                      // weights by the number of sentences
  std::vector<int32_t> count_a_, count_b_;          // of stems inside a rectangle

  void number() {
    numbers_.reset(a.size + b.size);
    for (Side* side : {&a, &b}) {
      side->ids.resize(side->size);
      for (size_t i = 0; i < side->size; ++i) side->ids[i] = numbers_.number(side->stems[i]);
    }
    stems_ = numbers_.size();
  }

  void weigh() {
    in_a_.assign(stems_, 0);
    in_b_.assign(stems_, 0);
    for (uint32_t term : a.terms) ++in_a_[term];
    for (uint32_t term : b.terms) ++in_b_[term];
    const double all = std::max(kLeastSentences, static_cast<double>(a.sentences.size() + b.sentences.size() - 2));
    weights_.resize(stems_);
    capped_.resize(stems_);
    known_.assign(a.sentences.size() + b.sentences.size() - 1, -1);
    for (size_t v = 0; v < stems_; ++v) {
      const uint32_t times = in_a_[v] + in_b_[v];
      if (known_[times] < 0) known_[times] = std::llround(std::log(all / static_cast<double>(times)) * kUnit);
      weights_[v] = known_[times];
      capped_[v] = std::min(weights_[v], set_.cap);
    }
    for (Side* side : {&a, &b}) {
      side->norms.assign(side->items.size() - 1, 0);
      for (size_t s = 0; s + 1 < side->items.size(); ++s)
        for (uint32_t i = side->items[s]; i < side->items[s + 1]; ++i) {
          const int64_t part = side->counts[i] * weights_[side->terms[i]];
          side->norms[s] += part * part;
        }
    }
    count_a_.assign(stems_, 0);
    count_b_.assign(stems_, 0);
  }

  bool heavy(uint32_t term) const { return static_cast<size_t>(in_a_[term]) * in_b_[term] > kHeavy; }

  void sentence_seeds() {
    const size_t rows = a.items.size() - 1, columns = b.items.size() - 1;
    std::vector<uint32_t> firsts(stems_ + 1, 0), where(b.terms.size()), times(b.terms.size());
    for (uint32_t term : b.terms) ++firsts[term + 1];
    for (size_t v = 0; v < stems_; ++v) firsts[v + 1] += firsts[v];
    {
      std::vector<uint32_t> at(firsts.begin(), firsts.end() - 1);
      for (size_t s = 0; s < columns; ++s)
        for (uint32_t i = b.items[s]; i < b.items[s + 1]; ++i) {
          where[at[b.terms[i]]] = static_cast<uint32_t>(s);
          times[at[b.terms[i]]++] = b.counts[i];
        }
    }
    std::vector<int64_t> left_b(columns, 0);         // squares of what heavy stems weigh
    bool any = false;
    for (size_t s = 0; s < columns; ++s)
      for (uint32_t i = b.items[s]; i < b.items[s + 1]; ++i)
        if (heavy(b.terms[i])) {
          const int64_t part = b.counts[i] * weights_[b.terms[i]];
          left_b[s] += part * part;
          any = true;
        }
    std::vector<int64_t> dots(columns, 0);
    std::vector<uint32_t> touched;
    struct Near {
      double close;
      uint32_t sentence;
    };
    std::vector<Near> near;
    std::vector<uint32_t>& held = scratch_;          // times that the sentence of a holds a stem
    for (size_t s = 0; s < rows; ++s) {
      touched.clear();
      near.clear();
      int64_t left_a = 0;
      for (uint32_t i = a.items[s]; i < a.items[s + 1]; ++i) {
        const uint32_t term = a.terms[i];
        held[term] = a.counts[i];
        const int64_t part = a.counts[i] * weights_[term];
        if (!part) continue;
        if (heavy(term)) {
          left_a += part * part;
          continue;
        }
        for (uint32_t j = firsts[term]; j < firsts[term + 1]; ++j) {
          if (!dots[where[j]]) touched.push_back(where[j]);
          dots[where[j]] += part * (times[j] * weights_[term]);
        }
      }
      for (uint32_t t : touched) {
        int64_t dot = dots[t];
        dots[t] = 0;
        const double bound = set_.cosine * (static_cast<double>(a.norms[s]) * static_cast<double>(b.norms[t]));
        if (any && left_a && left_b[t]) {
          const double most = static_cast<double>(dot) + std::sqrt(static_cast<double>(left_a)) * std::sqrt(static_cast<double>(left_b[t]));
          if (!(most * most > bound)) continue;
          dot = product(held, t);
        }
        const double square = static_cast<double>(dot) * static_cast<double>(dot);
        if (!(square > bound)) continue;
        const double both = static_cast<double>(2 * common(held, t));
        const double sizes = static_cast<double>(a.items[s + 1] - a.items[s] + b.items[t + 1] - b.items[t]);
        if (!(both > set_.dice * sizes)) continue;
        near.push_back({square / static_cast<double>(b.norms[t]), t});
      }
      std::sort(near.begin(), near.end(), [](const Near& p, const Near& q) {
        return p.close != q.close ? p.close > q.close : p.sentence < q.sentence;
      });
      if (near.size() > kNearest) near.resize(kNearest);
      for (const Near& one : near)
        seeds_.push_back({a.sentences[s], a.sentences[s + 1], b.sentences[one.sentence], b.sentences[one.sentence + 1]});
      for (uint32_t i = a.items[s]; i < a.items[s + 1]; ++i) held[a.terms[i]] = 0;
    }
  }

  int64_t product(const std::vector<uint32_t>& held, size_t t) const {
    int64_t sum = 0;
    for (uint32_t j = b.items[t]; j < b.items[t + 1]; ++j) {
      const int64_t weight = weights_[b.terms[j]];
      sum += held[b.terms[j]] * weight * (b.counts[j] * weight);
    }
    return sum;
  }
  size_t common(const std::vector<uint32_t>& held, size_t t) const {
    size_t sum = 0;
    for (uint32_t j = b.items[t]; j < b.items[t + 1]; ++j) sum += held[b.terms[j]] != 0;
    return sum;
  }

  // Neighbouring stems, order ignored, that stand together once in each text.
  void neighbour_seeds() {
    struct Place {
      uint32_t a, b, times_a, times_b;
    };
    std::vector<Place> places;
    neighbours_.reset(std::min(a.size, b.size));
    const auto key = [](uint64_t x, uint64_t y) { return std::min(x, y) << 32 | std::max(x, y); };
    for (uint32_t i = 0; i + 1 < a.size; ++i) {
      if (!in_b_[a.ids[i]] || !in_b_[a.ids[i + 1]]) continue;
      const uint32_t number = neighbours_.number(key(a.ids[i], a.ids[i + 1]));
      if (number == places.size()) places.push_back({i, 0, 0, 0});
      ++places[number].times_a;
    }
    for (uint32_t j = 0; j + 1 < b.size; ++j) {
      if (!in_a_[b.ids[j]] || !in_a_[b.ids[j + 1]]) continue;
      const uint32_t number = neighbours_.known(key(b.ids[j], b.ids[j + 1]));
      if (number == Numbering::kUnknown) continue;
      places[number].b = j;
      ++places[number].times_b;
    }
    for (const Place& one : places)
      if (one.times_a == 1 && one.times_b == 1) seeds_.push_back({one.a, one.a + 2, one.b, one.b + 2});
  }

  void clusters() {
    found.clear();
    if (seeds_.empty()) return;
    struct Part {
      size_t first, end, round;
      int axis, quiet;
    };
    std::vector<Part> stack{{0, seeds_.size(), 0, 0, 0}};
    while (!stack.empty()) {
      const Part part = stack.back();
      stack.pop_back();
      auto begin = seeds_.begin() + static_cast<std::ptrdiff_t>(part.first), end = seeds_.begin() + static_cast<std::ptrdiff_t>(part.end);
      const bool along_a = part.axis == 0;
      if (part.quiet == 2 || part.round == kRounds) {
        Rectangle hull{begin->a0, begin->a1, begin->b0, begin->b1};
        for (auto it = begin; it != end; ++it) {
          hull.a0 = std::min(hull.a0, it->a0);
          hull.a1 = std::max(hull.a1, it->a1);
          hull.b0 = std::min(hull.b0, it->b0);
          hull.b1 = std::max(hull.b1, it->b1);
        }
        if (part.end - part.first == 1 && hull.a1 - hull.a0 == 2 && hull.b1 - hull.b0 == 2 &&
            capped_[a.ids[hull.a0]] + capped_[a.ids[hull.a0 + 1]] < kLoneSeed)
          continue;
        found.push_back(hull);
        continue;
      }
      const auto before = [&](const Seed& p, const Seed& q) {
        const uint32_t x = along_a ? p.a0 : p.b0, y = along_a ? q.a0 : q.b0;
        return x != y ? x < y : p < q;
      };
      if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);  // what was copied in its order is sorted
      const Side& side = along_a ? a : b;
      size_t from = part.first;
      uint32_t reached = 0;
      std::vector<Part> pieces;
      for (size_t i = part.first; i < part.end; ++i) {
        const uint32_t start = side.starts[along_a ? seeds_[i].a0 : seeds_[i].b0];
        const uint32_t stop = side.ends[(along_a ? seeds_[i].a1 : seeds_[i].b1) - 1];
        if (i > from && start > reached && start - reached > set_.gap) {
          pieces.push_back({from, i, part.round + 1, 1 - part.axis, 1});
          from = i;
          reached = 0;
        }
        reached = std::max(reached, stop);
      }
      if (pieces.empty()) {
        stack.push_back({part.first, part.end, part.round + 1, 1 - part.axis, part.quiet + 1});
      } else {
        pieces.push_back({from, part.end, part.round + 1, 1 - part.axis, 1});
        stack.insert(stack.end(), pieces.begin(), pieces.end());
      }
    }
    std::sort(found.begin(), found.end());
  }

  // The counts of a rectangle's words, one word at a time.
  int64_t mass_ = 0, whole_a_ = 0, whole_b_ = 0;

  void add(bool left, uint32_t word) {
    const uint32_t id = left ? a.ids[word] : b.ids[word];
    const int64_t weight = capped_[id];
    if (left) {
      whole_a_ += weight;
      if (count_a_[id]++ < count_b_[id]) mass_ += weight;
    } else {
      whole_b_ += weight;
      if (count_b_[id]++ < count_a_[id]) mass_ += weight;
    }
  }
  void drop(bool left, uint32_t word) {
    const uint32_t id = left ? a.ids[word] : b.ids[word];
    const int64_t weight = capped_[id];
    if (left) {
      whole_a_ -= weight;
      if (--count_a_[id] < count_b_[id]) mass_ -= weight;
    } else {
      whole_b_ -= weight;
      if (--count_b_[id] < count_a_[id]) mass_ -= weight;
    }
  }
  void open(const Rectangle& r) {
    mass_ = whole_a_ = whole_b_ = 0;
    for (uint32_t i = r.a0; i < r.a1; ++i) add(true, i);
    for (uint32_t i = r.b0; i < r.b1; ++i) add(false, i);
  }
  void close(const Rectangle& r) {
    for (uint32_t i = r.a0; i < r.a1; ++i) count_a_[a.ids[i]] = 0;
    for (uint32_t i = r.b0; i < r.b1; ++i) count_b_[b.ids[i]] = 0;
  }
  int64_t worth() const { return 2000 * mass_ - set_.loss * (whole_a_ + whole_b_); }

  // Measures of a rectangle whose counts are open; closes it.
  void measure(Rectangle& r) {
    r.mass = mass_;
    r.whole_a = whole_a_;
    r.whole_b = whole_b_;
    int64_t dot = 0, norm_a = 0, norm_b = 0;
    uint32_t equal = 0;
    for (uint32_t i = r.a0; i < r.a1; ++i) {
      const uint32_t id = a.ids[i];
      const int64_t weight = capped_[id] / 32, x = count_a_[id], y = count_b_[id];
      if (!x) continue;
      dot += weight * weight * x * y;
      norm_a += weight * weight * x * x;
      equal += static_cast<uint32_t>(std::min(x, y));
      count_a_[id] = 0;
    }
    for (uint32_t i = r.b0; i < r.b1; ++i) {
      const uint32_t id = b.ids[i];
      const int64_t weight = capped_[id] / 32, y = count_b_[id];
      norm_b += weight * weight * y * y;
      count_b_[id] = 0;
    }
    r.equal = equal;
    const double norms = static_cast<double>(norm_a) * static_cast<double>(norm_b);
    r.rank = norms > 0 ? static_cast<double>(r.mass) * (static_cast<double>(dot) / std::sqrt(norms)) : 0.0;
  }

  void fit_all() {
    std::sort(found.begin(), found.end(), [](const Rectangle& p, const Rectangle& q) {
      const uint32_t x = p.a1 - p.a0, y = q.a1 - q.a0;
      return x != y ? x > y : p < q;
    });
    uint64_t read = 0;
    size_t kept = 0;
    for (Rectangle& r : found) {
      read += r.a1 - r.a0 + r.b1 - r.b0 + 4 * set_.reach;
      if (read > kBorderWords) break;
      fit(r);
      found[kept++] = r;
    }
    found.resize(kept);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end(), [](const Rectangle& p, const Rectangle& q) { return p.same(q); }), found.end());
    if (found.size() > kRectangles) {
      std::sort(found.begin(), found.end(), [](const Rectangle& p, const Rectangle& q) { return p.mass != q.mass ? p.mass > q.mass : p < q; });
      found.resize(kRectangles);
      std::sort(found.begin(), found.end());
    }
  }

  // Moves one of the four borders at a time to where the rectangle is worth most.
  void fit(Rectangle& r) {
    open(r);
    for (size_t move = 0; move < set_.moves; ++move) {
      const int64_t now = worth();
      int64_t best = 0;
      int side = -1;
      uint32_t place = 0;
      auto look = [&](int which, uint32_t at, uint32_t from, const Side& text) {
        const int64_t gain = worth() - now + (int64_t{text.border(at)} - int64_t{text.border(from)}) * set_.bonus;
        if (gain > best) {
          best = gain;
          side = which;
          place = at;
        }
      };
      for (int which = 0; which < 4; ++which) {
        const bool left = which < 2, begins = !(which & 1);
        const Side& text = left ? a : b;
        const uint32_t low = left ? r.a0 : r.b0, high = left ? r.a1 : r.b1;
        const uint32_t reach = static_cast<uint32_t>(set_.reach);
        if (begins) {
          uint32_t at = low;
          const uint32_t out = low > reach ? low - reach : 0, in = std::min(low + reach, high - 1);
          while (at > out) {
            add(left, --at);
            look(which, at, low, text);
          }
          while (at < low) drop(left, at++);
          while (at < in) {
            drop(left, at++);
            look(which, at, low, text);
          }
          while (at > low) add(left, --at);
        } else {
          uint32_t at = high;
          const uint32_t out = std::min(high + reach, static_cast<uint32_t>(text.size)), in = std::max(high > reach ? high - reach : 0, low + 1);
          while (at < out) {
            add(left, at++);
            look(which, at, high, text);
          }
          while (at > high) drop(left, --at);
          while (at > in) {
            drop(left, --at);
            look(which, at, high, text);
          }
          while (at < high) add(left, at++);
        }
      }
      if (side < 0) break;
      const bool left = side < 2;
      uint32_t& border = side == 0 ? r.a0 : side == 1 ? r.a1 : side == 2 ? r.b0 : r.b1;
      if (!(side & 1)) {
        while (border > place) add(left, --border);
        while (border < place) drop(left, border++);
      } else {
        while (border < place) add(left, border++);
        while (border > place) drop(left, --border);
      }
    }
    measure(r);
    bool grown = false;
    for (size_t round = 0; set_.next && round < kNextRounds; ++round) {
      const bool after = take_next(r, true), before = take_next(r, false);
      if (!after && !before) break;
      grown = true;
    }
    if (grown) {
      open(r);
      measure(r);
    }
  }

  // Where the next sentences of a text end (or begin, going backwards), one or two of them.
  size_t next_borders(const Side& text, uint32_t at, bool forward, uint32_t* out) const {
    size_t count = 0;
    for (size_t step = 0; step < set_.reach && count < kNext && (forward ? at < text.size : at > 0); ++step) {
      at = forward ? at + 1 : at - 1;
      if (text.border(at)) out[count++] = at;
    }
    return count;
  }

  // The sentences that follow (or go before) on both sides at once, when they are alike by themselves. Counts are closed.
  bool take_next(Rectangle& r, bool forward) {
    uint32_t in_a[kNext], in_b[kNext];
    const uint32_t from_a = forward ? r.a1 : r.a0, from_b = forward ? r.b1 : r.b0;
    const size_t many_a = next_borders(a, from_a, forward, in_a), many_b = next_borders(b, from_b, forward, in_b);
    int64_t best = 0;
    uint32_t to_a = from_a, to_b = from_b;
    for (size_t i = 0; i < many_a; ++i) {
      mass_ = whole_a_ = whole_b_ = 0;
      const uint32_t low = std::min(from_a, in_a[i]), high = std::max(from_a, in_a[i]);
      for (uint32_t word = low; word < high; ++word) add(true, word);
      uint32_t at = from_b;
      for (size_t j = 0; j < many_b; ++j) {
        while (at < in_b[j]) add(false, at++);
        while (at > in_b[j]) add(false, --at);
        const int64_t gain = 2000 * mass_ - set_.next * (whole_a_ + whole_b_);
        if (gain > best) {
          best = gain;
          to_a = in_a[i];
          to_b = in_b[j];
        }
      }
      close({low, high, std::min(from_b, at), std::max(from_b, at)});
    }
    if (!best) return false;
    (forward ? r.a1 : r.a0) = to_a;
    (forward ? r.b1 : r.b0) = to_b;
    return true;
  }

  static bool overlap(uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) { return a0 < b1 && b0 < a1; }

  // Rectangles that overlap in both texts are one.
  void merge() {
    bool changed = true;
    for (size_t round = 0; changed && round < kRounds; ++round) {
      changed = false;
      std::sort(found.begin(), found.end());
      std::vector<Rectangle> out;
      std::vector<bool> gone(found.size(), false);
      for (size_t i = 0; i < found.size(); ++i) {
        if (gone[i]) continue;
        Rectangle r = found[i];
        bool grown = false;
        for (size_t j = i + 1; j < found.size() && found[j].a0 < r.a1; ++j) {
          const Rectangle& o = found[j];
          if (gone[j] || !overlap(r.a0, r.a1, o.a0, o.a1) || !overlap(r.b0, r.b1, o.b0, o.b1)) continue;
          r.a0 = std::min(r.a0, o.a0);
          r.a1 = std::max(r.a1, o.a1);
          r.b0 = std::min(r.b0, o.b0);
          r.b1 = std::max(r.b1, o.b1);
          gone[j] = true;
          grown = true;
        }
        if (grown) {
          open(r);
          measure(r);
          changed = true;
        }
        out.push_back(r);
      }
      found.swap(out);
    }
  }

  // Of rectangles that overlap in a alone the better one keeps the words; a small overlap is cut off the other.
  void resolve() {
    std::sort(found.begin(), found.end(), [](const Rectangle& p, const Rectangle& q) { return p.rank != q.rank ? p.rank > q.rank : p < q; });
    std::vector<Rectangle> out;
    for (Rectangle r : found) {
      if (r.mass < set_.weak_mass) continue;
      bool cut = false, lost = false;
      const uint32_t whole = r.a1 - r.a0;
      for (const Rectangle& o : out) {
        if (!overlap(r.a0, r.a1, o.a0, o.a1)) continue;
        if (o.a0 > r.a0 && o.a1 < r.a1) {
          lost = true;
          break;
        }
        if (o.a0 <= r.a0) r.a0 = std::min(o.a1, r.a1);
        else r.a1 = o.a0;
        cut = true;
        if (r.a1 <= r.a0 || 2 * (r.a1 - r.a0) < whole) {
          lost = true;
          break;
        }
      }
      if (lost) continue;
      if (cut) {
        open(r);
        measure(r);
      }
      out.push_back(r);
    }
    found.swap(out);
    std::sort(found.begin(), found.end());
  }

  void filter() {
    std::vector<Rectangle> out;
    for (Rectangle r : found) {
      const uint32_t length_a = a.length(r.a0, r.a1), length_b = b.length(r.b0, r.b1);
      if (r.mass < set_.weak_mass || length_a < set_.weak_length || length_b < set_.weak_length) continue;
      const double close =
          r.mass ? static_cast<double>(r.mass) / std::sqrt(static_cast<double>(r.whole_a) * static_cast<double>(r.whole_b)) : 0.0;
      const double worth = static_cast<double>(r.mass) * close;
      const bool heavy = r.mass >= set_.strong_mass && worth >= set_.strong_worth;
      const bool longer = std::max(length_a, length_b) >= set_.longer_side || (worth >= set_.sentence_worth && in_long_sentences(r));
      r.kind = heavy && std::min(length_a, length_b) >= set_.shorter_side && longer ? kStrong : kWeak;
      out.push_back(r);
    }
    found.swap(out);
  }

  // Whether the sentences in which it stands are long enough together, in either text.
  bool in_long_sentences(const Rectangle& r) const {
    const auto enough = [&](const Side& side, uint32_t first, uint32_t end) {
      while (!side.border(first) && side.length(first, end) < set_.longer_side) --first;
      while (!side.border(end) && side.length(first, end) < set_.longer_side) ++end;
      return side.length(first, end) >= set_.longer_side;
    };
    return enough(a, r.a0, r.a1) || enough(b, r.b0, r.b1);
  }

  uint32_t nearest_border(size_t at) const {
    for (size_t d = 0; d <= a.size; ++d) {
      if (at >= d && a.border(at - d)) return static_cast<uint32_t>(at - d);
      if (at + d <= a.size && a.border(at + d)) return static_cast<uint32_t>(at + d);
    }
    return static_cast<uint32_t>(at);
  }

  // The texts change places.
  void turn() {
    std::swap(a, b);
    in_a_.swap(in_b_);
    for (Rectangle& r : found) {
      std::swap(r.a0, r.b0);
      std::swap(r.a1, r.b1);
      std::swap(r.whole_a, r.whole_b);
    }
  }

  // The whole of a as a summary of one stretch of b. There is no rest of a that would say how much it holds of b anyway, so
  // it must hold more, and nothing else may have been found.
  bool whole_summary(Rectangle& r) {
    const uint32_t length = a.length(0, a.size);
    if (length < set_.shortest || length > set_.longest) return false;
    for (const Rectangle& o : found)
      if (o.kind != kWeak) return false;
    auto key = [](uint64_t x, uint64_t y) { return std::min(x, y) << 32 | std::max(x, y); };
    int64_t here = 0;
    for (size_t i = 0; i < a.size; ++i) here += capped_[a.ids[i]];
    std::vector<uint64_t> pairs;
    for (size_t i = 0; i + 1 < a.size; ++i) pairs.push_back(key(a.ids[i], a.ids[i + 1]));
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    const auto place_of = [&](uint64_t pair) { return static_cast<size_t>(std::lower_bound(pairs.begin(), pairs.end(), pair) - pairs.begin()); };
    std::vector<size_t> seen(stems_, 0), seen_pairs(pairs.size() + 1, 0);  // in which stretch last, counted from one
    int64_t best = 0, best_held = 0;
    size_t start = 0;
    for (size_t first = 0, number = 1; first == 0 || first + kStretch / 2 < b.size; first += kStretch / 2, ++number) {
      const size_t end = std::min<size_t>(b.size, first + kStretch);
      for (size_t j = first; j < end; ++j) {
        if (!in_a_[b.ids[j]]) continue;
        seen[b.ids[j]] = number;
        if (j + 1 == end || !in_a_[b.ids[j + 1]]) continue;
        const uint64_t pair = key(b.ids[j], b.ids[j + 1]);
        const size_t place = place_of(pair);
        if (place < pairs.size() && pairs[place] == pair) seen_pairs[place] = number;
      }
      int64_t held = 0, phrases = 0;
      for (size_t i = 0; i < a.size; ++i) {
        if (seen[a.ids[i]] == number) held += capped_[a.ids[i]];
        if (i + 1 < a.size && seen_pairs[place_of(key(a.ids[i], a.ids[i + 1]))] == number)
          phrases += std::min(capped_[a.ids[i]], capped_[a.ids[i + 1]]);
      }
      if (held + 2 * phrases > best) {
        best = held + 2 * phrases;
        best_held = held;
        start = first;
      }
    }
    if (here <= 0 || static_cast<double>(best) < set_.alone * static_cast<double>(here) ||
        static_cast<double>(best_held) < set_.share * static_cast<double>(here))
      return false;
    uint32_t low = UINT32_MAX, high = 0;
    size_t words = 0;
    for (size_t i = 0; i < a.size; ++i)
      if (capped_[a.ids[i]] > kTelling) count_a_[a.ids[i]] = 1;
    for (size_t j = start; j < std::min<size_t>(b.size, start + kStretch); ++j)
      if (count_a_[b.ids[j]]) {
        words += count_a_[b.ids[j]]++ == 1;
        low = std::min(low, static_cast<uint32_t>(j));
        high = static_cast<uint32_t>(j) + 1;
      }
    for (size_t i = 0; i < a.size; ++i) count_a_[a.ids[i]] = 0;
    if (words < set_.telling || !words || static_cast<double>(b.length(low, high)) < set_.times * static_cast<double>(length)) return false;
    r = Rectangle{0, static_cast<uint32_t>(a.size), low, high};
    open(r);
    measure(r);
    r.mass = best_held;
    return true;
  }

  // Summaries in a of places of b and, where that is asked for, in b of places of a. Both are looked for beside the same
  // passages, so that it does not matter which text comes first.
  void all_summaries() {
    std::vector<Rectangle> in_a;
    if (set_.summed) in_a = found;
    summaries(kSummary);
    if (!set_.summed) return;
    found.swap(in_a);
    turn();
    summaries(kSummed);
    turn();
    std::vector<Rectangle> out, left;
    for (const Rectangle& r : in_a) (r.kind == kSummary ? out : left).push_back(r);
    std::sort(left.begin(), left.end());
    for (const Rectangle& r : found)
      if (r.kind == kSummed || std::binary_search(left.begin(), left.end(), r)) out.push_back(r);
    found.swap(out);
  }

  void summaries(uint8_t kind) {
    Rectangle whole;
    if (whole_summary(whole)) {
      whole.kind = kind;
      found.assign(1, whole);
      return;
    }
    std::vector<int64_t> every(a.size + 1, 0), known(a.size + 1, 0);   // weights up to a word: of all, of those that b has
    for (size_t i = 0; i < a.size; ++i) {
      const int64_t weight = capped_[a.ids[i]];
      every[i + 1] = every[i] + weight;
      known[i + 1] = known[i] + (in_b_[a.ids[i]] ? weight : 0);
    }
    phrases_.clear();
    // Inside passages that stand so in b there is no summary.
    std::vector<bool> plain(a.size, false);
    for (const Rectangle& r : found)
      if (r.kind == kStrong && 10 * r.mass >= kPlain * std::max(r.whole_a, r.whole_b))
        std::fill(plain.begin() + r.a0, plain.begin() + r.a1, true);
    std::vector<std::pair<uint32_t, uint32_t>> segments;
    // What is found pays, what is not costs: it balances half way between the share of the whole text and that of a summary.
    const double usual = every[a.size] > 0 ? static_cast<double>(known[a.size]) / static_cast<double>(every[a.size]) : 0.0;
    const int64_t minus = std::min<int64_t>(1000, std::llround((usual + set_.level) * 500)), plus = 1000 - minus;
    int64_t score = 0, top = 0;
    size_t from = 0, peak = 0;
    auto finish = [&] {
      if (top >= set_.rise) segments.emplace_back(nearest_border(from), nearest_border(peak));
      score = top = 0;
    };
    for (size_t i = 0; i < a.size; ++i) {
      if (plain[i]) {
        finish();
        continue;
      }
      if (score == 0 && top == 0) from = i;
      const int64_t weight = capped_[a.ids[i]];
      score += in_b_[a.ids[i]] ? weight * plus : -weight * minus;
      if (score > top) {
        top = score;
        peak = i + 1;
      }
      if (score <= 0 || top - score > set_.fall) finish();
    }
    finish();
    for (auto [first, end] : segments) {
      if (end <= first) continue;
      Rectangle r;
      if (summary(first, end, every, known, r)) {
        std::vector<Rectangle> out;
        for (const Rectangle& o : found)
          if (!overlap(o.a0, o.a1, first, end)) out.push_back(o);
        r.kind = kind;
        out.push_back(r);
        found.swap(out);
      }
    }
  }

  // Weights up to a word of a: of those that stand beside the next one in b too, each as the lighter of the two.
  std::vector<int64_t> phrases_;

  void find_phrases() {
    auto key = [](uint64_t x, uint64_t y) { return std::min(x, y) << 32 | std::max(x, y); };
    std::vector<uint64_t> pairs;
    for (size_t j = 0; j + 1 < b.size; ++j)
      if (in_a_[b.ids[j]] && in_a_[b.ids[j + 1]]) pairs.push_back(key(b.ids[j], b.ids[j + 1]));
    std::sort(pairs.begin(), pairs.end());
    phrases_.assign(a.size + 1, 0);
    for (size_t i = 0; i < a.size; ++i) {
      phrases_[i + 1] = phrases_[i];
      if (i + 1 == a.size) break;
      const uint32_t x = a.ids[i], y = a.ids[i + 1];
      if (in_b_[x] && in_b_[y] && std::binary_search(pairs.begin(), pairs.end(), key(x, y)))
        phrases_[i + 1] += std::min(capped_[x], capped_[y]);
    }
  }

  bool summary(uint32_t first, uint32_t end, const std::vector<int64_t>& every, const std::vector<int64_t>& known, Rectangle& r) {
    const uint32_t length = a.length(first, end);
    if (length < set_.shortest || length > set_.longest) return false;
    const int64_t here = every[end] - every[first], held = known[end] - known[first];
    const int64_t rest = every[a.size] - here, rest_held = known[a.size] - held;
    if (here <= 0 || rest <= 0 || static_cast<double>(rest) < set_.rest * static_cast<double>(here)) return false;
    const double share = static_cast<double>(held) / static_cast<double>(here);
    const double usual = static_cast<double>(rest_held) / static_cast<double>(rest);
    if (share < set_.share || share - usual < set_.above) return false;
    std::vector<uint32_t> words;
    for (uint32_t i = first; i < end; ++i)
      if (capped_[a.ids[i]] > kTelling && in_b_[a.ids[i]] && !count_a_[a.ids[i]]++) words.push_back(a.ids[i]);
    bool good = words.size() >= set_.telling;
    uint32_t low = UINT32_MAX, high = 0;
    if (good)
      for (uint32_t j = 0; j < b.size; ++j)
        if (count_a_[b.ids[j]]) {
          low = std::min(low, j);
          high = j + 1;
        }
    for (uint32_t id : words) count_a_[id] = 0;
    if (!good || static_cast<double>(b.length(low, high)) < set_.times * static_cast<double>(length)) return false;
    // Phrases tell a summary from a text about the same thing.
    if (phrases_.empty()) find_phrases();
    const int64_t phrases = phrases_[end] - phrases_[first];
    const double often = static_cast<double>(phrases) / static_cast<double>(here);
    const double elsewhere = static_cast<double>(phrases_[a.size] - phrases) / static_cast<double>(rest);
    if (share - usual + 2 * (often - 2 * elsewhere) < set_.evidence) return false;
    // What other passages do not explain must stand in b much more often than the rest of a does, and outweigh the passages
    // beside it: where much of a stands in b, sentences that were taken one by one only look like a summary.
    std::vector<bool> told(end - first, false);
    int64_t beside = 0;
    for (const Rectangle& o : found) {
      if (o.kind <= kStrong && !overlap(o.a0, o.a1, first, end)) beside += o.mass;
      if (o.kind == kWeak || !overlap(o.a0, o.a1, first, end)) continue;
      for (uint32_t j = o.b0; j < o.b1; ++j) count_b_[b.ids[j]] = 1;
      for (uint32_t i = std::max(first, o.a0); i < std::min(end, o.a1); ++i)
        if (count_b_[a.ids[i]]) told[i - first] = true;
      for (uint32_t j = o.b0; j < o.b1; ++j) count_b_[b.ids[j]] = 0;
    }
    int64_t explained = 0;
    for (uint32_t i = first; i < end; ++i)
      if (told[i - first]) explained += capped_[a.ids[i]];
    if (static_cast<double>(held - explained) < set_.beside * static_cast<double>(beside)) return false;
    const double left = static_cast<double>(here - explained);
    const double more = static_cast<double>(held - explained) - usual * left;
    if (more < set_.left_mass || more < set_.left_above * left) return false;
    r = Rectangle{first, end, low, high};
    open(r);
    measure(r);
    r.mass = held;
    return true;
  }
};

struct Table {
  Buffer<uint32_t> a0, a1, b0, b1, equal;
  Buffer<double> mass, whole_a, whole_b;
  Buffer<uint8_t> kind;
  Buffer<uint64_t> counts;
};

}  // namespace

nb::tuple passages(View<uint64_t> stems, View<uint8_t> marks, View<uint32_t> starts, View<uint32_t> ends, View<uint64_t> offsets,
                   View<uint32_t> left, View<uint32_t> right, nb::handle settings, int64_t threads) {
  check_offsets(offsets, stems.size());
  const size_t texts = offsets.size() - 1, pairs = left.size();
  if (marks.size() != stems.size() || starts.size() != stems.size() || ends.size() != stems.size())
    throw nb::value_error("stems, marks, starts and ends must be of one length");
  if (right.size() != pairs) throw nb::value_error("left and right must be of one length");
  for (size_t i = 0; i < pairs; ++i)
    if (left.data()[i] >= texts || right.data()[i] >= texts) throw nb::value_error("there is no text of this number");
  for (size_t t = 0; t < texts; ++t) check_words(starts, ends, offsets.data()[t], offsets.data()[t + 1], UINT32_MAX);
  const Settings set(settings);
  // Pairs are dealt out in runs of about equal size; the parts are joined in order.
  const uint64_t* at = offsets.data();
  std::vector<size_t> cuts{0};
  {
    uint64_t total = 0, seen = 0;
    auto cost = [&](size_t i) { return 64 + at[left.data()[i] + 1] - at[left.data()[i]] + at[right.data()[i] + 1] - at[right.data()[i]]; };
    for (size_t i = 0; i < pairs; ++i) total += cost(i);
    const size_t parts = std::max<size_t>(1, std::min(thread_count(threads), pairs));
    for (size_t i = 0; i < pairs && cuts.size() < parts; ++i) {
      seen += cost(i);
      if (seen >= total * cuts.size() / parts) cuts.push_back(i + 1);
    }
    while (cuts.size() <= parts) cuts.push_back(pairs);
  }
  std::vector<Table> tables(cuts.size() - 1);
  {
    nb::gil_scoped_release release;
    in_parallel(tables.size(), [&](size_t part) {
      Table& out = tables[part];
      Finder finder(set);
      for (size_t i = cuts[part]; i < cuts[part + 1]; ++i) {
        for (int which = 0; which < 2; ++which) {
          const uint32_t text = which ? right.data()[i] : left.data()[i];
          Side& side = which ? finder.b : finder.a;
          side.stems = stems.data() + at[text];
          side.marks = marks.data() + at[text];
          side.starts = starts.data() + at[text];
          side.ends = ends.data() + at[text];
          side.size = at[text + 1] - at[text];
        }
        finder.run();
        for (const Rectangle& r : finder.found) {
          out.a0.push(r.a0);
          out.a1.push(r.a1);
          out.b0.push(r.b0);
          out.b1.push(r.b1);
          out.equal.push(r.equal);
          out.mass.push(static_cast<double>(r.mass) / kUnit);
          out.whole_a.push(static_cast<double>(r.whole_a) / kUnit);
          out.whole_b.push(static_cast<double>(r.whole_b) / kUnit);
          out.kind.push(r.kind);
        }
        out.counts.push(out.a0.size);
      }
    });
  }
  Table all;
  all.counts.push(0);
  for (Table& part : tables) {
    const uint64_t base = all.a0.size;
    for (size_t i = 0; i < part.counts.size; ++i) all.counts.push(base + part.counts[i]);
    all.a0.append(part.a0.data, part.a0.size);
    all.a1.append(part.a1.data, part.a1.size);
    all.b0.append(part.b0.data, part.b0.size);
    all.b1.append(part.b1.data, part.b1.size);
    all.equal.append(part.equal.data, part.equal.size);
    all.mass.append(part.mass.data, part.mass.size);
    all.whole_a.append(part.whole_a.data, part.whole_a.size);
    all.whole_b.append(part.whole_b.data, part.whole_b.size);
    all.kind.append(part.kind.data, part.kind.size);
  }
  return nb::make_tuple(own(std::move(all.counts)), own(std::move(all.a0)), own(std::move(all.a1)), own(std::move(all.b0)),
                        own(std::move(all.b1)), own(std::move(all.equal)), own(std::move(all.mass)), own(std::move(all.whole_a)),
                        own(std::move(all.whole_b)), own(std::move(all.kind)));
}

namespace {

bool ends_always(uint32_t c) { return c == 0x3002 || c == 0xFF01 || c == 0xFF1F || c == 0xFF61; }
bool ends_sentence(uint32_t c) { return c == '.' || c == '!' || c == '?' || c == 0x2026 || ends_always(c); }
bool new_line(uint32_t c) { return c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029 || c == 0x0B || c == 0x0C || c == 0x85; }
bool blank(uint32_t c) { return c == ' ' || c == '\t' || c == 0xA0 || c == 0x3000 || (c >= 0x2000 && c <= 0x200A) || new_line(c); }

template <class C>
void mark(const C* text, const uint64_t* hashes, const uint32_t* starts, const uint32_t* ends, size_t size, const uint64_t* shortened,
          size_t shortened_size, uint8_t* out) {
  size_t lines = 0, open_lines = 0;
  for (size_t i = 0; i < size; ++i) {
    out[i] = 0;
    if (!i) {
      out[i] = kSentence;
      continue;
    }
    size_t breaks = 0;
    bool ended = false, only_stop = true, after = false, stopped = false, always = false;
    uint32_t last = 0;  // character that is no blank
    for (size_t k = ends[i - 1]; k < starts[i]; ++k) {
      const uint32_t c = text[k];
      if (ends_sentence(c)) {
        stopped = true;
        if (c != '.') only_stop = false;
        if (ends_always(c)) always = true;
      } else if (new_line(c)) {
        if (c == '\n' && k > ends[i - 1] && text[k - 1] == '\r') continue;  // one end of a line in two characters
        if (!breaks) ended = stopped || last == ':' || last == ';';
        ++breaks;
        after = after || stopped;
      } else if (blank(c)) {
        after = after || stopped;
      }
      if (!blank(c)) last = c;
    }
    if (breaks) {
      ++lines;
      if (!ended && breaks == 1) ++open_lines;
      out[i] |= kLine;
    }
    bool sentence = always || breaks > 1;
    if (!sentence && stopped && after) {
      const uint32_t first = text[starts[i]], entry = fold_table.entries[first];
      const bool small = (entry & kWord) && ((entry >> kScriptShift) & 15) && (entry & kLetterMask) == first && !(entry & kSpecial);
      sentence = !small;
      if (sentence && only_stop)
        sentence = ends[i - 1] - starts[i - 1] > 1 && !std::binary_search(shortened, shortened + shortened_size, hashes[i - 1]);
    }
    if (sentence) out[i] |= kSentence;
  }
  // Lines of a text that was wrapped end anywhere; other lines end a sentence.
  const bool wrapped = lines && size < 16 * lines && 2 * open_lines > lines;
  for (size_t i = 1; i < size; ++i) {
    if (!(out[i] & kLine)) continue;
    if (wrapped) out[i] = static_cast<uint8_t>(out[i] & ~kLine);
    else out[i] |= kSentence;
  }
}

}  // namespace

Array<uint8_t> sentence_marks(nb::handle sequence, View<uint64_t> hashes, View<uint32_t> starts, View<uint32_t> ends, View<uint64_t> offsets,
                              View<uint64_t> shortened) {
  Texts texts(sequence);
  check_offsets(offsets, hashes.size());
  if (offsets.size() != texts.items.size() + 1) throw nb::value_error("there must be one more offset than texts");
  if (starts.size() != hashes.size() || ends.size() != hashes.size()) throw nb::value_error("hashes, starts and ends must be of one length");
  const uint64_t* at = offsets.data();
  for (size_t t = 0; t < texts.items.size(); ++t) check_words(starts, ends, at[t], at[t + 1], texts.items[t].size);
  std::vector<uint64_t> abbreviations(shortened.data(), shortened.data() + shortened.size());
  std::sort(abbreviations.begin(), abbreviations.end());
  Buffer<uint8_t> out;
  out.resize(hashes.size());
  {
    nb::gil_scoped_release release;
    for (size_t t = 0; t < texts.items.size(); ++t) {
      const Text& text = texts.items[t];
      const uint64_t from = at[t];
      auto run = [&](auto* data) {
        mark(data, hashes.data() + from, starts.data() + from, ends.data() + from, at[t + 1] - from, abbreviations.data(), abbreviations.size(),
             out.data + from);
      };
      if (text.kind == 1) run(static_cast<const uint8_t*>(text.data));
      else if (text.kind == 2) run(static_cast<const uint16_t*>(text.data));
      else run(static_cast<const uint32_t*>(text.data));
    }
  }
  return own(std::move(out));
}

}  // namespace doublet
