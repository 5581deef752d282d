// Local alignment by position of two texts in which words were replaced. Twin of align_texts in doublet/kernels/reference.py,
// where the definition is; explained in docs/explanation/meaning.md.
#include "kernels.hpp"

#include <algorithm>
#include <cmath>

namespace doublet {

namespace {

constexpr double kKept = 0.6;      // share of words that a reworded copy keeps
constexpr double kMiss = 0.9;      // cost of a word that does not agree: -ln(1 - kKept), rounded
constexpr double kShift = 2.0;     // cost of a step to the next diagonal
constexpr double kDrop = 12.0;     // a path ends so far below its top
constexpr double kLeast = 12.0;    // a path counts from this score on
constexpr uint32_t kFrequent = 32; // a word with more places in the other text only prolongs paths
constexpr int kBand[] = {0, -1, 1, -2, 2};

struct Place {
  uint64_t word;
  uint32_t at;
};

struct Range {
  uint32_t first = 0, count = 0;  // into the sorted places of the other text
  double gain = 0;
};

struct Point {
  uint32_t i, j;
  double score, top;
  int32_t before;
};

struct Segment {
  uint32_t pair, a_start, a_end, b_start, b_end;
};

std::vector<Place> sorted_places(const uint64_t* words, size_t count) {
  std::vector<Place> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = {words[i], static_cast<uint32_t>(i)};
  std::sort(out.begin(), out.end(), [](const Place& x, const Place& y) { return x.word != y.word ? x.word < y.word : x.at < y.at; });
  return out;
}

// One thread's working memory.
class Aligner {
 public:
  // Shares: of a covered, of b covered, of the mass of a matched in place, of b.
  void run(const uint64_t* a, const std::vector<Place>& places_a, const double* gains_a, const double* masses_a, const uint64_t* b,
           const std::vector<Place>& places_b, const double* masses_b, uint32_t pair, double* out, std::vector<Segment>& segments) {
    const size_t n = places_a.size(), m = places_b.size();
    out[0] = out[1] = out[2] = out[3] = 0;
    if (!n || !m) return;
    find_common(places_a, gains_a, places_b);
    points_.clear();
    live_.clear();
    last_.assign(n + m, -1);
    listed_.assign(n + m, 0);
    for (size_t i = 0; i < n; ++i) {
      const Range& range = ranges_[i];
      if (!range.count) continue;
      if (range.count <= kFrequent) {
        for (uint32_t k = 0; k < range.count; ++k) add(static_cast<uint32_t>(i), places_b[range.first + k].at, n, m, range.gain);
        continue;
      }
      size_t kept = 0;
      for (size_t k = 0; k < live_.size(); ++k) {
        const uint32_t diagonal = live_[k];
        const Point& last = points_[static_cast<size_t>(last_[diagonal])];
        const double now = last.score - kMiss * static_cast<double>(i - last.i - 1);
        if (now <= 0 || now <= last.top - kDrop) {
          listed_[diagonal] = 0;
          continue;
        }
        live_[kept++] = diagonal;
        const int64_t j = static_cast<int64_t>(diagonal) - static_cast<int64_t>(n) + static_cast<int64_t>(i);
        if (j >= 0 && j < static_cast<int64_t>(m) && b[j] == a[i])
          add(static_cast<uint32_t>(i), static_cast<uint32_t>(j), n, m, range.gain);
      }
      live_.resize(kept);
    }
    trace(n, m, pair, segments);
    out[0] = share_of(covered_a_);
    out[1] = share_of(covered_b_);
    out[2] = mass_of(places_a, masses_a, matched_a_);
    out[3] = mass_of(places_b, masses_b, matched_b_);
  }

 private:
  std::vector<Range> ranges_;
  std::vector<Point> points_;
  std::vector<int32_t> last_;
  std::vector<uint8_t> listed_, used_, covered_a_, covered_b_, matched_a_, matched_b_;
  std::vector<uint32_t> live_, peaks_;

  void find_common(const std::vector<Place>& a, const double* gains, const std::vector<Place>& b) {
    const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
    ranges_.assign(a.size(), Range{});
    size_t y = 0;
    for (size_t x = 0; x < a.size();) {
      size_t x_end = x + 1;
      while (x_end < a.size() && a[x_end].word == a[x].word) ++x_end;
      while (y < b.size() && b[y].word < a[x].word) ++y;
      if (y < b.size() && b[y].word == a[x].word) {
        size_t y_end = y + 1;
        while (y_end < b.size() && b[y_end].word == a[x].word) ++y_end;
        double gain = gains[a[x].at];
        gain = std::min(gain, std::log(kKept * m / static_cast<double>(y_end - y)));
        gain = std::min(gain, std::log(kKept * n / static_cast<double>(x_end - x)));
        if (gain > 0)
          for (size_t k = x; k < x_end; ++k) ranges_[a[k].at] = {static_cast<uint32_t>(y), static_cast<uint32_t>(y_end - y), gain};
        y = y_end;
      }
      x = x_end;
    }
  }

  void add(uint32_t i, uint32_t j, size_t n, size_t m, double gain) {
    const int64_t diagonal = static_cast<int64_t>(j) - i + static_cast<int64_t>(n);
    double best = 0, top = 0;
    int32_t before = -1;
    for (int shift : kBand) {
      const int64_t near = diagonal + shift;
      if (near < 0 || near >= static_cast<int64_t>(n + m)) continue;
      const int32_t last = last_[static_cast<size_t>(near)];
      if (last < 0) continue;
      const Point& p = points_[static_cast<size_t>(last)];
      if (p.i >= i || p.j >= j) continue;
      const uint32_t gap = std::max(i - p.i, j - p.j) - 1;
      const double value = p.score - kMiss * static_cast<double>(gap) - kShift * std::abs(shift);
      if (value > best && value > p.top - kDrop) {
        best = value;
        top = p.top;
        before = last;
      }
    }
    const double score = best + gain;
    last_[static_cast<size_t>(diagonal)] = static_cast<int32_t>(points_.size());
    points_.push_back({i, j, score, std::max(score, top), before});
    if (!listed_[static_cast<size_t>(diagonal)]) {
      listed_[static_cast<size_t>(diagonal)] = 1;
      live_.push_back(static_cast<uint32_t>(diagonal));
    }
  }

  // The paths, best first; each point belongs to one.
  void trace(size_t n, size_t m, uint32_t pair, std::vector<Segment>& segments) {
    covered_a_.assign(n, 0);
    covered_b_.assign(m, 0);
    matched_a_.assign(n, 0);
    matched_b_.assign(m, 0);
    peaks_.clear();
    for (size_t k = 0; k < points_.size(); ++k)
      if (points_[k].score >= kLeast) peaks_.push_back(static_cast<uint32_t>(k));
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
      std::fill(covered_a_.begin() + start.i, covered_a_.begin() + end.i + 1, 1);
      std::fill(covered_b_.begin() + start.j, covered_b_.begin() + end.j + 1, 1);
      for (int32_t k = static_cast<int32_t>(peak);; k = points_[static_cast<size_t>(k)].before) {
        matched_a_[points_[static_cast<size_t>(k)].i] = 1;
        matched_b_[points_[static_cast<size_t>(k)].j] = 1;
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

  // Each word counts once, by its first place.
  static double mass_of(const std::vector<Place>& places, const double* masses, const std::vector<uint8_t>& matched) {
    double all = 0, found = 0;
    for (size_t x = 0; x < places.size();) {
      size_t end = x;
      bool any = false;
      for (; end < places.size() && places[end].word == places[x].word; ++end) any |= matched[places[end].at] != 0;
      const double mass = masses[places[x].at];
      all += mass;
      if (any) found += mass;
      x = end;
    }
    return all > 0 ? found / all : 0;
  }
};

}  // namespace

nb::tuple align_texts(View<uint64_t> words, View<uint64_t> offsets, View<double> gains, View<double> masses, View<uint32_t> left,
                      View<uint32_t> right, int threads) {
  check_offsets(offsets, words.size());
  if (gains.size() != words.size() || masses.size() != words.size()) throw nb::value_error("each word has one gain and one mass");
  if (left.size() != right.size()) throw nb::value_error("a pair has two texts");
  const size_t texts = offsets.size() ? offsets.size() - 1 : 0, pairs = left.size();
  for (size_t p = 0; p < pairs; ++p)
    if (left.data()[p] >= texts || right.data()[p] >= texts) throw nb::value_error("a pair names a text that is not there");
  Buffer<double> measures;
  Buffer<uint32_t> columns[5];
  {
    nb::gil_scoped_release release;
    measures.resize(4 * pairs);
    std::vector<uint8_t> wanted(texts, 0);
    for (size_t p = 0; p < pairs; ++p) wanted[left.data()[p]] = wanted[right.data()[p]] = 1;
    std::vector<std::vector<Place>> places(texts);
    const size_t parts = std::max<size_t>(1, std::min<size_t>(threads > 0 ? static_cast<size_t>(threads) : 1, pairs));
    in_parallel(parts, [&](size_t part) {
      for (size_t d = part; d < texts; d += parts)
        if (wanted[d]) places[d] = sorted_places(words.data() + offsets.data()[d], offsets.data()[d + 1] - offsets.data()[d]);
    });
    std::vector<std::vector<Segment>> found(parts);
    in_parallel(parts, [&](size_t part) {
      Aligner aligner;
      for (size_t p = pairs * part / parts; p < pairs * (part + 1) / parts; ++p) {
        const size_t a = left.data()[p], b = right.data()[p];
        const uint64_t from_a = offsets.data()[a], from_b = offsets.data()[b];
        aligner.run(words.data() + from_a, places[a], gains.data() + from_a, masses.data() + from_a, words.data() + from_b, places[b],
                    masses.data() + from_b, static_cast<uint32_t>(p), measures.data + 4 * p, found[part]);
      }
    });
    for (const auto& some : found)
      for (const Segment& s : some) {
        const uint32_t row[] = {s.pair, s.a_start, s.a_end, s.b_start, s.b_end};
        for (size_t c = 0; c < 5; ++c) columns[c].push(row[c]);
      }
  }
  return nb::make_tuple(own(std::move(measures), pairs, 4), own(std::move(columns[0])), own(std::move(columns[1])),
                        own(std::move(columns[2])), own(std::move(columns[3])), own(std::move(columns[4])));
}

}  // namespace doublet
