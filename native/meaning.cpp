// Local alignment by position of two texts in which words were replaced. Twin of number_words, find_keys, sample_keys,
// pair_keys and align_texts in doublet/kernels/reference/meaning.py, where the definitions are; explained in docs/explanation/meaning.md.
#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace doublet {

namespace {

constexpr double kKept = 0.6;       // share of words that a reworded copy keeps
constexpr double kMiss = 0.9;       // cost of a word that does not agree: -ln(1 - kKept), rounded
constexpr double kShift = 2.0;      // cost of a step to the next diagonal
constexpr double kDrop = 12.0;      // a path ends so far below its top
constexpr double kLeast = 12.0;     // a path counts from this score on
constexpr uint32_t kFrequent = 32;  // a word with more places in the other text only prolongs paths
constexpr uint64_t kEach = 4;       // points that such words may add for each word of a, beyond what they may add at once
constexpr size_t kTopics = 5;       // words of a text that say what it is about
constexpr uint32_t kRepeated = 3;   // times that it has each of them, at least
constexpr size_t kMeasures = 6;
constexpr int kBand[] = {0, -1, 1, -2, 2};
constexpr size_t kEdge = 2;         // diagonals beyond both ends, so that the band needs no checks

struct Point {
  uint32_t i, j;
  double score;
  int32_t before;
};

// The newest point of a diagonal. It has a number only once a path needs it: most points are chance and lead nowhere.
struct Newest {
  uint32_t i;
  int32_t point, before;
  double score, top;
};

// What is known of a word in the pair at hand; *pair* says for which pair that is.
struct Word {
  uint64_t pair = 0;
  uint32_t count_a = 0, count_b = 0;
  int32_t first = -1;  // place in b; next_ leads on
  uint32_t alone = 0;  // how far a point of this word leads that nothing leads to
  double gain = 0;     // below 0: not known yet
  bool matched = false;
};

// A word that a text repeats.
struct Topic {
  uint32_t word, count;
  double weight;
};

// What is known of a text by itself.
struct Known {
  double mass = 0;  // of its distinct words
  std::vector<Topic> topics;
};

struct Segment {
  uint32_t pair, a_start, a_end, b_start, b_end;
};

// One thread's working memory.
class Aligner {
 public:
  Aligner(size_t vocabulary, const double* gains, const double* masses, uint64_t spare)
      : words_(vocabulary), gains_(gains), masses_(masses), spare_(spare) {}

  // The mass of the distinct words of a text, and those of them that it repeats, the heaviest first.
  Known look(const uint32_t* text, size_t count) {
    ++pair_;
    Known out;
    peaks_.clear();
    for (size_t i = 0; i < count; ++i) {
      Word& word = words_[text[i]];
      if (word.pair == pair_) {
        if (++word.count_a == kRepeated && masses_[text[i]] > 0) peaks_.push_back(static_cast<uint32_t>(word.first));
        continue;
      }
      word.pair = pair_;
      word.count_a = 1;
      word.first = static_cast<int32_t>(i);
      out.mass += masses_[text[i]];
    }
    std::sort(peaks_.begin(), peaks_.end());  // of equal ones the earlier, whatever the numbers of the words
    for (uint32_t place : peaks_) {
      const uint32_t word = text[place], times = words_[word].count_a;
      out.topics.push_back({word, times, times * masses_[word]});
    }
    std::stable_sort(out.topics.begin(), out.topics.end(), [](const Topic& x, const Topic& y) { return x.weight > y.weight; });
    if (out.topics.size() > kTopics) out.topics.resize(kTopics);
    return out;
  }

  // Shares: of a covered, of b covered, of the mass of a matched in place, of b; of the topics of one in the other, of the first.
  void run(const uint32_t* a, size_t n, const Known& text_a, const uint32_t* b, size_t m, const Known& text_b, uint32_t pair, double* out,
           std::vector<Segment>& segments) {
    out[0] = out[1] = out[2] = out[3] = 0;
    out[4] = out[5] = 1;
    if (!n || !m) return;
    const double mass_a = text_a.mass, mass_b = text_b.mass;
    note_words(a, n, b, m);
    compare_topics(text_a.topics, text_b.topics, out + 4);
    points_.clear();
    inner_.clear();
    live_.clear();
    newest_.resize(n + m + 2 * kEdge);
    until_.assign(n + m + 2 * kEdge, 0);
    listed_.assign(n + m + 2 * kEdge, 0);
    const double log_n = std::log(kKept * static_cast<double>(n)), log_m = std::log(kKept * static_cast<double>(m));
    uint64_t spent = 0;  // points that frequent words added
    for (size_t i = 0; i < n; ++i) {
      Word& word = words_[a[i]];
      if (word.pair != pair_ || !word.count_b) continue;
      if (word.gain < 0) {
        double gain = gains_[a[i]];
        gain = std::min(gain, log_m - log_of(word.count_b));
        gain = std::min(gain, log_n - log_of(word.count_a));
        word.gain = std::max(gain, 0.0);
        word.alone = static_cast<uint32_t>(2 + reach(word.gain, word.gain));
      }
      if (word.gain <= 0) continue;
      if (word.count_b <= kFrequent) {
        for (int32_t j = word.first; j >= 0; j = next_[static_cast<size_t>(j)]) add(i, static_cast<size_t>(j), n, word);
        continue;
      }
      // Whether a diagonal is alive and has the word at this place cannot be guessed: no branch. No point that is added
      // changes another diagonal, so all are found first.
      size_t kept = 0, count = 0;
      found_.resize(live_.size());
      for (const uint32_t diagonal : live_) {
        const bool alive = i < until_[diagonal];
        const uint64_t j = static_cast<uint64_t>(diagonal) + i - (n + kEdge);  // beyond m where it lies before the text
        const bool inside = j < m;
        live_[kept] = diagonal;
        kept += alive;
        listed_[diagonal] = alive;
        found_[count] = static_cast<uint32_t>(j);
        count += alive & inside & (b[inside ? j : 0] == a[i]);
      }
      live_.resize(kept);
      if (spent + count > spare_ && spent + count - spare_ > kEach * i) continue;  // the sum could be beyond all numbers
      spent += count;
      for (size_t k = 0; k < count; ++k) add(i, found_[k], n, word);
    }
    trace(a, n, m, pair, segments);
    double found = 0;
    for (size_t i = 0; i < n; ++i) {
      Word& word = words_[a[i]];
      if (word.pair != pair_ || !word.matched) continue;
      word.matched = false;
      found += masses_[a[i]];
    }
    out[0] = share_of(covered_a_);
    out[1] = share_of(covered_b_);
    out[2] = mass_a > 0 ? found / mass_a : 0;
    out[3] = mass_b > 0 ? found / mass_b : 0;
  }

 private:
  std::vector<Word> words_;
  const double *gains_, *masses_;
  uint64_t spare_;
  uint64_t pair_ = 0;
  std::vector<int32_t> next_;
  std::vector<Point> points_;
  std::vector<Newest> newest_;    // by diagonal; old where until_ is 0
  std::vector<uint32_t> until_;  // by diagonal: the place in a from which its newest point can lead no further
  std::vector<uint8_t> inner_;   // by point: a better one follows on its path, so none ends here
  std::vector<uint8_t> listed_, used_, covered_a_, covered_b_;
  std::vector<uint32_t> live_, found_, peaks_;
  std::vector<double> logs_;  // of whole numbers

  double log_of(uint32_t number) {
    constexpr uint32_t kMost = 1 << 12;
    if (number >= kMost) return std::log(static_cast<double>(number));
    for (uint32_t next = static_cast<uint32_t>(logs_.size()); next <= number; ++next) logs_.push_back(std::log(static_cast<double>(next)));
    return logs_[number];
  }

  void note_words(const uint32_t* a, size_t n, const uint32_t* b, size_t m) {
    ++pair_;
    next_.resize(m);
    for (size_t j = m; j-- > 0;) {
      Word& word = words_[b[j]];
      if (word.pair != pair_) word = Word{pair_, 0, 0, -1, 0, -1.0, false};
      next_[j] = word.first;
      word.first = static_cast<int32_t>(j);
      ++word.count_b;
    }
    for (size_t i = 0; i < n; ++i) {
      Word& word = words_[a[i]];
      if (word.pair == pair_) ++word.count_a;
    }
  }

  // The larger share of both texts: of the weight of all topics that the other text repeats too, and of the first one.
  void compare_topics(const std::vector<Topic>& a, const std::vector<Topic>& b, double* out) {
    if (a.empty() && b.empty()) return;
    out[0] = out[1] = 0;
    for (const auto* topics : {&a, &b}) {
      double all = 0, found = 0, first = -1;
      for (const Topic& topic : *topics) {
        const Word& word = words_[topic.word];
        const uint32_t other = word.pair != pair_ ? 0 : topics == &a ? word.count_b : word.count_a;
        const double share = std::min(1.0, static_cast<double>(other) / topic.count);
        if (first < 0) first = share;
        all += topic.weight;
        found += topic.weight * share;
      }
      if (all <= 0) continue;
      out[0] = std::max(out[0], found / all);
      out[1] = std::max(out[1], first);
    }
  }

  void add(size_t i, size_t j, size_t n, const Word& word) {
    const size_t diagonal = j + n + kEdge - i;
    const double gain = word.gain;
    const uint32_t* near_until = until_.data() + diagonal;
    if ((i >= near_until[0]) & (i >= near_until[-1]) & (i >= near_until[1]) & (i >= near_until[-2]) & (i >= near_until[2])) {
      // Most points are chance, and nothing leads to them.
      newest_[diagonal] = {static_cast<uint32_t>(i), gain >= kLeast ? number(i, j, gain, -1) : -1, -1, gain, gain};
      until_[diagonal] = static_cast<uint32_t>(i + word.alone);
      list(diagonal);
      return;
    }
    double best = 0, top = 0;
    Newest* from = nullptr;
    size_t from_diagonal = 0;
    for (int shift : kBand) {
      const size_t near = static_cast<size_t>(static_cast<int64_t>(diagonal) + shift);
      if (i >= until_[near]) continue;
      Newest& p = newest_[near];
      const size_t p_j = near + p.i - n - kEdge;
      if (p.i >= i || p_j >= j) continue;
      const size_t gap = std::max(i - p.i, j - p_j) - 1;
      const double value = p.score - kMiss * static_cast<double>(gap) - kShift * std::abs(shift);
      if (value > best && value > p.top - kDrop) {
        best = value;
        top = p.top;
        from = &p;
        from_diagonal = near;
      }
    }
    const double score = best + gain;
    int32_t before = -1;
    if (from) {
      if (from->point < 0) from->point = number(from->i, from_diagonal + from->i - n - kEdge, from->score, from->before);
      before = from->point;
      if (score > from->score) inner_[static_cast<size_t>(before)] = 1;
    }
    top = std::max(score, top);
    newest_[diagonal] = {static_cast<uint32_t>(i), score >= kLeast ? number(i, j, score, before) : -1, before, score, top};
    until_[diagonal] = static_cast<uint32_t>(i + 2 + reach(score, top));
    list(diagonal);
  }

  void list(size_t diagonal) {
    if (listed_[diagonal]) return;
    listed_[diagonal] = 1;
    live_.push_back(static_cast<uint32_t>(diagonal));
  }

  int32_t number(size_t i, size_t j, double score, int32_t before) {
    points_.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(j), score, before});
    inner_.push_back(0);
    return static_cast<int32_t>(points_.size()) - 1;
  }

  // The most words that may disagree before a path is used up or too far below its top.
  static size_t reach(double score, double top) {
    const double floor = std::max(0.0, top - kDrop);
    size_t gap = static_cast<size_t>((score - floor) / kMiss);
    while (gap > 0 && score - kMiss * static_cast<double>(gap) <= floor) --gap;  // the division may be off by one
    while (score - kMiss * static_cast<double>(gap + 1) > floor) ++gap;
    return gap;
  }

  // The paths, best first; each point belongs to one.
  void trace(const uint32_t* a, size_t n, size_t m, uint32_t pair, std::vector<Segment>& segments) {
    covered_a_.assign(n, 0);
    covered_b_.assign(m, 0);
    peaks_.clear();
    for (size_t k = 0; k < points_.size(); ++k)
      if (points_[k].score >= kLeast && !inner_[k]) peaks_.push_back(static_cast<uint32_t>(k));
    std::sort(peaks_.begin(), peaks_.end(), [&](uint32_t x, uint32_t y) {
      return points_[x].score != points_[y].score ? points_[x].score > points_[y].score : x < y;
    });
    used_.assign(points_.size(), 0);
    for (uint32_t peak : peaks_) {
      if (used_[peak]) continue;
      int32_t at = static_cast<int32_t>(peak), first = at;
      while (at >= 0 && !used_[static_cast<size_t>(at)]) {
        used_[static_cast<size_t>(at)] = 1;
        first = at;
        at = points_[static_cast<size_t>(at)].before;
      }
      const double base = at >= 0 ? points_[static_cast<size_t>(at)].score : 0;
      if (points_[peak].score - base < kLeast) continue;
      const Point &start = points_[static_cast<size_t>(first)], &end = points_[peak];
      std::fill(covered_a_.begin() + start.i, covered_a_.begin() + end.i + 1, uint8_t{1});
      std::fill(covered_b_.begin() + start.j, covered_b_.begin() + end.j + 1, uint8_t{1});
      for (int32_t k = static_cast<int32_t>(peak);; k = points_[static_cast<size_t>(k)].before) {
        words_[a[points_[static_cast<size_t>(k)].i]].matched = true;
        if (k == first) break;
      }
      segments.push_back({pair, start.i, end.i + 1, start.j, end.j + 1});
    }
  }

  static double share_of(const std::vector<uint8_t>& marks) {
    size_t count = 0;
    for (uint8_t mark : marks) count += mark;
    return static_cast<double>(count) / static_cast<double>(marks.size());
  }
};

}  // namespace

nb::tuple number_words(View<uint64_t> words) {
  if (words.size() >= size_t{1} << 31) throw nb::value_error("too many words at once");
  Buffer<uint64_t> distinct;
  Buffer<uint32_t> numbers;
  {
    nb::gil_scoped_release release;
    const size_t count = words.size();
    Numbering known(std::min(count, size_t{1} << 14));
    numbers.resize(count);
    for (size_t i = 0; i < count; ++i) numbers[i] = known.number(words.data()[i]);
    distinct.append(known.values().data(), known.size());
  }
  return nb::make_tuple(own(std::move(distinct)), own(std::move(numbers)));
}

Array<int64_t> find_keys(View<uint64_t> words, View<uint64_t> keys, View<uint32_t> firsts, int64_t bits) {
  if (bits < 1 || bits > 63) throw nb::value_error("a key has 1 to 63 bits");
  if (firsts.size() < 2) throw nb::value_error("there must be a part or more");
  Buffer<int64_t> out;
  out.resize(words.size());
  {
    nb::gil_scoped_release release;
    const uint64_t parts = firsts.size() - 1, count = keys.size();
    for (size_t i = 0; i < words.size(); ++i) {
      const uint64_t key = words.data()[i] >> (64 - bits);
      const uint64_t part = static_cast<uint64_t>(static_cast<unsigned __int128>(words.data()[i]) * parts >> 64);
      uint64_t at = std::min<uint64_t>(firsts.data()[part], count);
      const uint64_t end = std::min<uint64_t>(firsts.data()[part + 1], count);
      while (at < end && keys.data()[at] != key) ++at;
      out[i] = static_cast<int64_t>(at < end ? at : count);
    }
  }
  return own(std::move(out));
}

namespace {
constexpr uint64_t kDocumentBits = 24, kDocumentMask = (uint64_t{1} << kDocumentBits) - 1;
}

nb::tuple sample_keys(View<uint64_t> values, View<uint64_t> offsets, uint64_t first, int64_t bits) {
  check_offsets(offsets, values.size());
  if (bits < 0 || bits > 8) throw nb::value_error("a byte has eight bits");
  if (first > kDocumentMask + 1 || first + offsets.size() - 1 > kDocumentMask + 1) throw nb::value_error("too many documents");
  Buffer<uint64_t> keys;
  Buffer<uint8_t> bytes;
  {
    nb::gil_scoped_release release;
    const uint64_t wanted = ((uint64_t{1} << bits) - 1) << 8;
    const uint64_t *from = values.data(), *ends = offsets.data();
    const size_t guess = (values.size() >> bits) + (values.size() >> (bits + 3)) + 64;
    keys.reserve(guess);
    bytes.reserve(guess);
    constexpr size_t kStep = 512;
    uint64_t some[kStep];
    uint8_t their[kStep];
    for (size_t d = 0; d + 1 < offsets.size(); ++d)
      for (uint64_t at = ends[d]; at < ends[d + 1]; at += kStep) {
        size_t count = 0;
        const uint64_t stop = std::min<uint64_t>(at + kStep, ends[d + 1]);
        for (uint64_t k = at; k < stop; ++k) {  // no branch: which ones are chosen cannot be guessed
          some[count] = (from[k] & ~kDocumentMask) | (first + d);
          their[count] = static_cast<uint8_t>(from[k] >> 8);
          count += (from[k] & wanted) == 0;
        }
        keys.append(some, count);
        bytes.append(their, count);
      }
  }
  return nb::make_tuple(own(std::move(keys)), own(std::move(bytes)));
}

nb::tuple pair_keys(View<uint64_t> keys, size_t documents, size_t most) {
  if (most > 15) throw nb::value_error("a code has room for 15 documents");
  if (documents > kDocumentMask + 1) throw nb::value_error("too many documents");
  Buffer<uint64_t> codes;
  Buffer<int64_t> counts;
  {
    nb::gil_scoped_release release;
    counts.resize(documents);
    std::fill(counts.begin(), counts.end(), 0);
    const uint64_t* key = keys.data();
    const size_t size = keys.size();
    for (size_t i = 0; i < size; ++i) {
      if ((key[i] & kDocumentMask) >= documents) throw std::invalid_argument("a key names a document that is not there");
      ++counts[key[i] & kDocumentMask];
    }
    for (size_t i = 0; i < size;) {
      size_t end = i + 1;
      while (end < size && key[end] >> kDocumentBits == key[i] >> kDocumentBits) ++end;
      if (end - i > 1 && end - i <= most)
        for (size_t x = i; x < end; ++x)
          for (size_t y = x + 1; y < end; ++y)
            codes.push(((key[x] & kDocumentMask) << kDocumentBits | (key[y] & kDocumentMask)) << 4 | (end - i));
      i = end;
    }
  }
  return nb::make_tuple(own(std::move(codes)), own(std::move(counts)));
}

nb::tuple align_texts(View<uint32_t> words, View<uint64_t> offsets, View<double> gains, View<double> masses, View<uint32_t> left,
                      View<uint32_t> right, int64_t threads, uint64_t spare) {
  check_offsets(offsets, words.size());
  if (gains.size() != masses.size()) throw nb::value_error("each word has one gain and one mass");
  for (size_t k = 0; k < words.size(); ++k)
    if (words.data()[k] >= gains.size()) throw nb::value_error("a word has no gain");
  for (size_t k = 0; k < gains.size(); ++k)
    if (std::isnan(gains.data()[k]) || !std::isfinite(masses.data()[k])) throw nb::value_error("gains and masses must be numbers");
  if (left.size() != right.size()) throw nb::value_error("a pair has two texts");
  const size_t texts = offsets.size() ? offsets.size() - 1 : 0, pairs = left.size();
  for (size_t p = 0; p < pairs; ++p)
    if (left.data()[p] >= texts || right.data()[p] >= texts) throw nb::value_error("a pair names a text that is not there");
  Buffer<double> measures;
  Buffer<uint32_t> columns[5];
  {
    nb::gil_scoped_release release;
    measures.resize(kMeasures * pairs);
    std::vector<Known> known(texts);
    const size_t parts = std::max<size_t>(1, std::min(thread_count(threads), pairs));
    std::vector<Aligner> aligners;
    for (size_t part = 0; part < parts; ++part) aligners.emplace_back(gains.size(), gains.data(), masses.data(), spare);
    in_parallel(parts, [&](size_t part) {
      for (size_t d = part; d < texts; d += parts)
        known[d] = aligners[part].look(words.data() + offsets.data()[d], offsets.data()[d + 1] - offsets.data()[d]);
    });
    std::vector<std::vector<Segment>> found(parts);
    in_parallel(parts, [&](size_t part) {
      for (size_t p = pairs * part / parts; p < pairs * (part + 1) / parts; ++p) {
        const size_t a = left.data()[p], b = right.data()[p];
        const uint64_t *from = offsets.data();
        aligners[part].run(words.data() + from[a], from[a + 1] - from[a], known[a], words.data() + from[b], from[b + 1] - from[b],
                           known[b], static_cast<uint32_t>(p), measures.data + kMeasures * p, found[part]);
      }
    });
    for (const auto& some : found)
      for (const Segment& s : some) {
        const uint32_t row[] = {s.pair, s.a_start, s.a_end, s.b_start, s.b_end};
        for (size_t c = 0; c < 5; ++c) columns[c].push(row[c]);
      }
  }
  return nb::make_tuple(own(std::move(measures), pairs, kMeasures), own(std::move(columns[0])), own(std::move(columns[1])),
                        own(std::move(columns[2])), own(std::move(columns[3])), own(std::move(columns[4])));
}

}  // namespace doublet
