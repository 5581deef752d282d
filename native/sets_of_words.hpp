// Text -> words -> shingles -> set, one text after the other: what shingle_sets and json_sets share.
#pragma once
#include "kernels.hpp"
#include "tokens.hpp"

namespace doublet {

// Stop words by hash: a small open table.
// Four words to a place, and all four are compared: every third word of a text is a stop word, and which one cannot be
// foreseen, so that a branch for each would cost more than the comparisons.
class StopSet {
 public:
  explicit StopSet(const std::optional<View<uint64_t>>& stop) {
    if (!stop) return;
    int bits = 2;
    while (stop->size() >> bits && bits < kMostBits) ++bits;
    while (!fill(*stop, bits) && bits < kMostBits) ++bits;
    std::sort(crowded_.begin(), crowded_.end());
  }
  bool any() const { return !places_.empty(); }
  bool holds(uint64_t hash) const {
    const Place& place = places_[place_of(hash)];
    const bool held = (hash != 0) & ((place.words[0] == hash) | (place.words[1] == hash) | (place.words[2] == hash) | (place.words[3] == hash));
    return held | (!crowded_.empty() && crowded(hash));  // without a branch on what is held
  }

 private:
  static constexpr int kMostBits = 20;
  // Kept out of line: with it the step for each word is too long for the compiler to put it into the loop over a text, and
  // all sets of shingles take half as long again, with stop words or without.
  [[gnu::noinline]] bool crowded(uint64_t hash) const {
    return std::binary_search(crowded_.begin(), crowded_.end(), hash);
  }
  size_t place_of(uint64_t hash) const { return hash * 0x9E3779B97F4A7C15u >> shift_; }
  struct alignas(32) Place {
    uint64_t words[4] = {0, 0, 0, 0};
  };
  // False when more than four words come to one place: these are held apart.
  bool fill(const View<uint64_t>& stop, int bits) {
    crowded_.clear();
    places_.assign(size_t{1} << bits, Place{});
    shift_ = 64 - bits;
    for (size_t i = 0; i < stop.size(); ++i) {
      const uint64_t hash = stop.data()[i];
      uint64_t* free = places_[place_of(hash)].words;
      uint64_t* const end = free + 4;
      while (free < end && *free && *free != hash) ++free;
      if (free < end) *free = hash;
      else crowded_.push_back(hash);
    }
    return crowded_.empty();
  }
  std::vector<Place> places_;
  std::vector<uint64_t> crowded_;
  int shift_ = 0;
};

// Room for all words that a text of so many characters can have, in steps that keep growing cheap.
template <class T> void make_room(Buffer<T>& buffer, size_t characters) {
  const size_t wanted = buffer.size + characters / 2 + 2;
  if (wanted > buffer.room) buffer.reserve(std::max(wanted, buffer.room + buffer.room / 2));
}

class SetMaker {
 public:
  struct Result {
    Buffer<uint64_t> values, offsets;
    Buffer<uint32_t> words, disguised;
  } result;

  SetMaker(size_t size, const std::optional<View<uint64_t>>& stop, int64_t min_letters, Counters counters = {})
      : size_(size), stop_(stop), counters_(counters), drop_(static_cast<uint8_t>((stop_.any() ? kFlagStop : 0) | (min_letters > 2 ? kFlagShort : 0))) {
    result.offsets.push(0);
  }
  SetMaker(SetMaker&&) = delete;

  void reserve(size_t characters) { result.values.reserve(characters / 6 + 16); }

  void finish() {
    if (counters_.cells) counters_.count(result.values.data + counted_, result.values.size - counted_);
    counted_ = result.values.size;
  }

  // text[length] is readable and no part of a word.
  template <class C> void add(const C* text, size_t length) {
    hashes_.size = flags_.size = shingles_.size = 0;
    make_room(hashes_, length);
    make_room(flags_, length);
    // The cells of the set before this one are fetched while the words of this one are read: all at once they would have
    // to wait for each other.
    const uint64_t *waiting = result.values.data + counted_, *const last = result.values.data + result.values.size;
    Sink sink{hashes_, flags_, stop_, counters_, waiting, counters_.cells ? last : waiting};
    Scanner<C, Sink>(text, length, sink).run();
    if (counters_.cells) counters_.fetch(sink.waiting, static_cast<size_t>(last - sink.waiting));
    uint32_t disguised = 0;
    for (size_t k = 0; k < flags_.size; ++k) disguised += (flags_[k] & kFlagsDisguise) != 0;
    if (drop_) {
      size_t kept = 0;
      for (size_t k = 0; k < hashes_.size; ++k) {
        hashes_[kept] = hashes_[k];
        kept += !(flags_[k] & drop_);
      }
      hashes_.size = kept;
    }
    roll(hashes_.data, hashes_.size, size_, shingles_);
    const size_t before = result.values.size;
    distinct_.append(shingles_.data, shingles_.size, result.values);
    if (counters_.cells) counters_.count(result.values.data + counted_, before - counted_);
    counted_ = before;
    result.offsets.push(result.values.size);
    result.words.push(static_cast<uint32_t>(hashes_.size));
    result.disguised.push(disguised);
  }

 private:
  struct Sink {
    Buffer<uint64_t>& hashes;
    Buffer<uint8_t>& flags;
    const StopSet& stop;
    const Counters& counters;
    const uint64_t* waiting;  // values whose cells are still to be fetched
    const uint64_t* last;
    void push(uint64_t hash, uint32_t, uint32_t, uint8_t flag, const uint32_t*, size_t, const uint32_t* = nullptr) {
      if (waiting != last) counters.fetch(waiting++, 1);
      if (stop.any()) flag = static_cast<uint8_t>(flag | (stop.holds(hash) ? kFlagStop : 0));
      hashes[hashes.size++] = hash;
      flags[flags.size++] = flag;
    }
    bool spells() const { return false; }
    void pop(size_t count) {
      hashes.size -= count;
      flags.size -= count;
    }
  };

  size_t size_;
  StopSet stop_;
  Counters counters_;
  size_t counted_ = 0;
  uint8_t drop_;
  Buffer<uint64_t> hashes_, shingles_;
  Buffer<uint8_t> flags_;
  Distinct distinct_;
};

}  // namespace doublet
