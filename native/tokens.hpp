// One pass over a text: words folded, hashed, flagged. Twin of _Scanner in doublet/kernels/reference/tokens.py, which defines it.
#pragma once
#include "fold.hpp"
#include "vectors.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <vector>

namespace doublet {

struct Unit {
  uint32_t letter, code, place;
  uint8_t script, anchor;
  bool styled;
  bool marked;  // with an accent, as Greek is written
};

// Marks that Greek is written with, and its letters that carry one from the start: nobody puts them on a look-alike.
inline bool is_greek_mark(uint32_t c) {
  return c == 0x300 || c == 0x301 || c == 0x304 || c == 0x306 || c == 0x308 || c == 0x313 || c == 0x314 || c == 0x342 || c == 0x345;
}
inline bool is_marked_greek(uint32_t c) {
  return c == 0x386 || (c >= 0x388 && c <= 0x390) || (c >= 0x3AA && c <= 0x3B0) || (c >= 0x3CA && c <= 0x3CE) || (c >= 0x1F00 && c <= 0x1FFF);
}
constexpr size_t kShowing = 3;      // letters of a word that shows what its neighbours are: «της», not Δ or «ΔΤ»
constexpr uint32_t kSymbolBlocks = 8;  // up to U+08FF: Greek, Armenian, Hebrew, Arabic letters, which books name one by one
constexpr size_t kTwinsAlone = 16;  // so many look-alikes and no anchor near by: no alphabet is written so

inline bool is_blank(uint32_t c) {
  return c == 0x20 || c == 0x09 || c == 0xA0 || c == 0x202F || c == 0x205F || c == 0x3000 || (c >= 0x2000 && c <= 0x200A);
}

constexpr size_t kBlock = 256;

#if defined(__x86_64__)
// Sixty-four characters at a time: a bit each for what they are, and the letters that they become.
template <class C> struct WideBlock {
  uint64_t word = 0, drop = 0, odd = 0;                   // odd: not to be read here
  uint64_t scripts[2] = {0, 0}, anchors[2] = {0, 0};      // Latin, Cyrillic
  uint64_t twin = 0;                                      // one of the letters that short words may be written with
  alignas(64) C letters[64 + 64];

  DOUBLET_WIDE inline void read(const uint8_t* s, size_t length) {
    const Pages& pages = fold_table.pages;
    const __mmask64 there = length >= 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
    const __m512i v = _mm512_maskz_loadu_epi8(there, s);
    const __mmask64 high = _mm512_movepi8_mask(v);
    const __m512i ways = _mm512_maskz_permutex2var_epi8(~high, load(pages.ways[0]), v, load(pages.ways[0] + 64));
    _mm512_store_si512(letters, _mm512_permutex2var_epi8(load(pages.letters[0]), v, load(pages.letters[0] + 64)));
    clear();
    note(ways, 0);
    patch(s, high);
  }

  DOUBLET_WIDE inline void read(const uint16_t* s, size_t length) {
    const Pages& pages = fold_table.pages;
    const __mmask64 there = length >= 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
    const __m512i first = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(there), s);
    const __m512i second = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(there >> 32), s + 32);
    const __m512i top = _mm512_set1_epi16(static_cast<short>(0xFF80)), base = _mm512_set1_epi16(0x400);
    const __m512i first_top = _mm512_and_si512(first, top), second_top = _mm512_and_si512(second, top);
    const __mmask64 cyrillic = static_cast<uint64_t>(_mm512_cmpeq_epi16_mask(second_top, base)) << 32 | _mm512_cmpeq_epi16_mask(first_top, base);
    const __mmask64 ascii = static_cast<uint64_t>(_mm512_testn_epi16_mask(second, top)) << 32 | _mm512_testn_epi16_mask(first, top);
    const __m512i v = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(first)), _mm512_cvtepi16_epi8(second), 1);
    __m512i ways = _mm512_maskz_permutex2var_epi8(ascii, load(pages.ways[0]), v, load(pages.ways[0] + 64));
    __m512i low = _mm512_permutex2var_epi8(load(pages.letters[0]), v, load(pages.letters[0] + 64));
    __m512i first_letters = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(low));
    __m512i second_letters = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(low, 1));
    clear();
    note(ways, 0);
    if (cyrillic) {
      ways = _mm512_maskz_permutex2var_epi8(cyrillic, load(pages.ways[1]), v, load(pages.ways[1] + 64));
      low = _mm512_permutex2var_epi8(load(pages.letters[1]), v, load(pages.letters[1] + 64));
      const __m512i one = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(low)), two = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(low, 1));
      first_letters = _mm512_mask_add_epi16(first_letters, static_cast<__mmask32>(cyrillic), one, base);
      second_letters = _mm512_mask_add_epi16(second_letters, static_cast<__mmask32>(cyrillic >> 32), two, base);
      note(ways, 1);
    }
    _mm512_store_si512(letters, first_letters);
    _mm512_store_si512(letters + 32, second_letters);
    patch(s, ~(cyrillic | ascii));
  }

  // Writes these Cyrillic letters with their Latin twins.
  DOUBLET_WIDE inline void to_latin(uint64_t places) {
    for (; places; places &= places - 1) {
      C& letter = letters[__builtin_ctzll(places)];
      letter = fold_table.pages.twins[letter & 127];
    }
  }

  // Sum of letter * factor^place over a word.
  DOUBLET_WIDE inline uint64_t sum(size_t start, size_t end, const uint64_t* powers) const {
    const C* from = letters + start;
    size_t left = end - start;
    __m512i total = part(from, left, powers);
    while (__builtin_expect(left > 8, 0)) {
      from += 8;
      left -= 8;
      powers += 8;
      total = _mm512_add_epi64(total, part(from, left, powers));
    }
    const __m256i half = _mm256_add_epi64(_mm512_castsi512_si256(total), _mm512_extracti64x4_epi64(total, 1));
    const __m128i quarter = _mm_add_epi64(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return static_cast<uint64_t>(_mm_cvtsi128_si64(quarter)) + static_cast<uint64_t>(_mm_extract_epi64(quarter, 1));
  }

 private:
  DOUBLET_WIDE static inline __m512i load(const uint8_t* from) { return _mm512_load_si512(from); }
  DOUBLET_WIDE static inline uint64_t has(__m512i ways, uint8_t way) {
    return _mm512_test_epi8_mask(ways, _mm512_set1_epi8(static_cast<char>(way)));
  }
  void clear() { word = drop = odd = twin = scripts[0] = scripts[1] = anchors[0] = anchors[1] = 0; }
  // Adds what the characters of one page are.
  DOUBLET_WIDE inline void note(__m512i ways, size_t page) {
    word |= has(ways, Pages::kIsWord);
    drop |= has(ways, Pages::kIsDrop);
    odd |= has(ways, Pages::kIsOdd);
    twin |= has(ways, Pages::kIsTwin);
    scripts[page] = has(ways, Pages::kIsScript);
    anchors[page] = has(ways, Pages::kIsAnchor);
  }
  DOUBLET_WIDE static inline __m512i part(const C* from, size_t count, const uint64_t* powers) {
    const __mmask8 used = count >= 8 ? 0xFF : static_cast<__mmask8>((1u << count) - 1);
    __m512i letters;
    if constexpr (sizeof(C) == 1) letters = _mm512_maskz_cvtepu8_epi64(used, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    else letters = _mm512_maskz_cvtepu16_epi64(used, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    const __m512i power = _mm512_loadu_si512(powers);
    const __m512i low = _mm512_mul_epu32(letters, power), high = _mm512_mul_epu32(letters, _mm512_srli_epi64(power, 32));
    return _mm512_add_epi64(low, _mm512_slli_epi64(high, 32));
  }
  // Characters outside of the pages, one by one.
  DOUBLET_WIDE inline void patch(const C* s, uint64_t others) {
    const uint32_t* t = fold_table.entries.data();
    for (; others; others &= others - 1) {
      const size_t i = static_cast<size_t>(__builtin_ctzll(others));
      const uint64_t bit = others & (0 - others);
      const uint32_t e = t[s[i]];
      if (__builtin_expect(e & kWord, 0)) {
        const uint32_t script = (e >> kScriptShift) & 15, anchor = (e >> kAnchorShift) & 15, letter = e & kLetterMask;
        word |= bit;
        if ((e & kSpecial) || (script & ~3u) || (anchor & ~3u) || letter > std::numeric_limits<C>::max()) odd |= bit;
        letters[i] = static_cast<C>(letter);
        if (script & kLatin) scripts[0] |= bit;
        if (script & kCyrillic) scripts[1] |= bit;
        if (anchor & kLatin) anchors[0] |= bit;
        if (anchor & kCyrillic) anchors[1] |= bit;
      } else if (e & kDrop) {
        drop |= bit;
      }
    }
  }
};
#endif

// factor^i and its inverse modulo 2^64, for the places of a block.
struct Powers {
  uint64_t power[kBlock], inverse[kBlock];
  Powers() {
    uint64_t back = kWordFactor;  // Newton: each step doubles the number of right bits
    for (int i = 0; i < 6; ++i) back *= 2 - kWordFactor * back;
    power[0] = inverse[0] = 1;
    for (size_t i = 1; i < kBlock; ++i) {
      power[i] = power[i - 1] * kWordFactor;
      inverse[i] = inverse[i - 1] * back;
    }
  }
  static const Powers& get() {
    static const Powers powers;
    return powers;
  }
};

// A sink has: push(hash, start, end, flags, letters, count), pop(count) and spells(), true when it uses the letters. letters is null for a plain word, whose
// letters are then those of the table for text[start, end).
template <class C, class Sink> class Scanner {
 public:
  Scanner(const C* text, size_t size, Sink& sink) : s_(text), n_(size), sink_(sink), t_(fold_table.entries.data()) {}

  // In blocks: first every character is looked up without a branch (running sums of letter * factor^place, running
  // union of the entries of a word, a bit for "part of a word"), then the words are cut out at the edges of the bits.
  // text[size] is readable and 0: Python's strings are made so.
  void run() {
#if defined(__x86_64__)
    if constexpr (sizeof(C) < 4)
      if (wide_vectors()) return run_wide();
#endif
    uint64_t sums[kBlock + 1];
    uint32_t unions[kBlock];
    uint16_t edges[kBlock + 2];
    const Powers& powers = Powers::get();
    size_t at = 0;
    while (at < n_) {
      const size_t length = std::min(kBlock, n_ - at);
      const size_t count = look_up(s_ + at, length, powers, sums, unions, edges);
      size_t go_on = at + length;
      size_t done = 0;  // what a word with dropped characters took beyond its letters
      for (size_t k = 0; k < count; k += 2) {
        const size_t start = edges[k], end = edges[k + 1];
        if (start < done) continue;
        if (end == length && at + length < n_) {  // the word may go on in the next block
          go_on = start ? at + start : slow_word(at);
          break;
        }
        const uint32_t all = unions[end - 1], after = t_[s_[at + end]];
        if (__builtin_expect((all & kSpecial) || (after & kDrop), 0)) {
          const size_t next = slow_word(at + start);
          if (next >= at + length) {
            go_on = next;
            break;
          }
          done = next - at;
          continue;
        }
        plain_word(at + start, at + end, (all >> kScriptShift) & 15, (all >> kAnchorShift) & 15,
                   (sums[end] - sums[start]) * powers.inverse[start]);
      }
      at = go_on;
    }
    close_run();
  }

#if defined(__x86_64__)
  // The same with vectors; a word that may go on behind the block is begun again with the next one.
  DOUBLET_WIDE void run_wide() {
    const uint64_t* powers = Powers::get().power;
    WideBlock<C> block;
    size_t at = 0;
    while (at < n_) {
      const size_t length = std::min<size_t>(64, n_ - at);
      block.read(s_ + at, length);
      const uint64_t word = block.word;
      uint64_t edges = word ^ (word << 1);
      if (length < 64) edges &= (uint64_t{2} << length) - 1;
      // A bit at the end of each word that holds a marked character: adding marks to a run of ones carries out of it.
      const uint64_t ends = edges & ~word;
      const uint64_t latin = (word + block.scripts[0]) & ends, latin_anchor = (word + block.anchors[0]) & ends;
      const uint64_t cyrillic = (word + block.scripts[1]) & ends, cyrillic_anchor = (word + block.anchors[1]) & ends;
      const uint64_t lettered = latin | cyrillic, mixed = latin & cyrillic;
      // «с», «а», «со», written in Latin; one letter alone that no other follows or precedes at once, so that it is not
      // part of a word with its letters set apart.
      const uint64_t starts = word & ~(word << 1);
      const uint64_t singles = starts << 1 & ends & lettered, doubles = starts << 2 & ends & ~singles;
      uint64_t twins = (singles | doubles) & lettered & ~mixed & ~(word + (word & ~block.twin));
      if (sink_.spells()) twins &= latin;  // the letters of the others are not those of the text
      const uint64_t alone = block.odd ? 0 : singles & ~(singles << 2 | singles >> 2) & ((uint64_t{1} << 62) - 1);
      const uint64_t unanchored = (latin ^ latin_anchor) | (cyrillic ^ cyrillic_anchor);
      const uint64_t plain = ends & ~((word + block.odd) | block.drop | (unanchored & ~twins) | mixed | (singles & ~alone));
      const uint64_t anchored = plain & (latin_anchor | cyrillic_anchor);
      if constexpr (sizeof(C) > 1) {
        const uint64_t turned = plain & twins & cyrillic;
        if (turned) block.to_latin((turned >> 1 | (turned & doubles) >> 2));
      }
      size_t go_on = at + length;
      size_t known = 0;   // words up to here are in context_
      uint64_t held = watching_;  // the next word is to be looked at with care
      while (edges) {
        const size_t start = static_cast<size_t>(__builtin_ctzll(edges));
        edges &= edges - 1;
        const size_t end = edges ? static_cast<size_t>(__builtin_ctzll(edges)) : length;
        edges &= edges - 1;
        if (__builtin_expect(plain >> (end & 63) & !held & 1, 1)) {
          const uint8_t flags = static_cast<uint8_t>((end - start < 3 ? kFlagShort : 0) | ((lettered >> end & 1) ? 0 : kFlagNumber));
          sink_.push(mix(block.sum(start, end, powers)), static_cast<uint32_t>(at + start), static_cast<uint32_t>(at + end), flags, nullptr, 0);
          continue;
        }
        if (end == length && at + length < n_) {
          go_on = at + start;
          if (!start) {
            go_on = slow_word(at);
            known = 64;
          }
          break;
        }
        const uint64_t before = anchored & (~uint64_t{0} << known) & ((uint64_t{1} << start) - 1);
        if (before) context_ = latin_anchor >> (63 - __builtin_clzll(before)) & 1 ? kLatin : kCyrillic;
        const uint64_t inside = (~uint64_t{0} << start) & (end == 64 ? ~uint64_t{0} : (uint64_t{1} << end) - 1);
        const bool dropped = end < length ? block.drop >> end & 1 : t_[s_[at + end]] & kDrop;
        if ((block.odd & inside) || dropped) {
          const size_t next = slow_word(at + start);
          if (next >= at + length) {
            go_on = next;
            known = 64;
            break;
          }
          known = next - at + 1;
          edges &= (~uint64_t{0} << (next - at)) << 1;  // words that it took with it
          held = watching_;
          continue;
        }
        const uint32_t scripts = ((block.scripts[0] & inside) ? kLatin : 0u) | ((block.scripts[1] & inside) ? kCyrillic : 0u);
        const uint32_t anchors = ((block.anchors[0] & inside) ? kLatin : 0u) | ((block.anchors[1] & inside) ? kCyrillic : 0u);
        plain_word(at + start, at + end, scripts, anchors, block.sum(start, end, powers));
        known = end + 1;
        held = watching_;
      }
      if (known < 64) {
        const uint64_t last = anchored & (~uint64_t{0} << known);
        if (last) context_ = latin_anchor >> (63 - __builtin_clzll(last)) & 1 ? kLatin : kCyrillic;
      }
      at = go_on;
    }
    close_run();
  }
#endif

 private:
  static size_t look_up(const C* s, size_t length, const Powers& powers, uint64_t* sums, uint32_t* unions, uint16_t* edges) {
    const uint32_t* t = fold_table.entries.data();
    uint64_t sum = 0;
    uint32_t all = 0;
    size_t count = 0;
    uint64_t carry = 0;
    for (size_t from = 0; from < length; from += 64) {
      const size_t to = std::min(from + 64, length);
      uint64_t bits = 0;
      for (size_t i = from; i < to; ++i) {
        const uint32_t e = t[s[i]];
        const uint32_t word = (e >> 21) & 1;
        sums[i] = sum;
        sum += (e & kLetterMask) * powers.power[i];
        all = (all | e) & (0u - word);
        unions[i] = all;
        bits |= static_cast<uint64_t>(word) << (i - from);
      }
      uint64_t change = bits ^ (bits << 1 | carry);
      carry = bits >> 63;
      if (to - from < 64) {
        carry = bits >> (to - from - 1) & 1;
        change &= (uint64_t{1} << (to - from)) - 1;
      }
      while (change) {
        edges[count++] = static_cast<uint16_t>(from + static_cast<size_t>(__builtin_ctzll(change)));
        change &= change - 1;
      }
    }
    sums[length] = sum;
    if (count & 1) edges[count++] = static_cast<uint16_t>(length);
    return count;
  }

  void plain_word(size_t start, size_t end, uint32_t scripts, uint32_t anchors, uint64_t sum) {
    const bool single = end - start == 1 && scripts;
    if (__builtin_expect(single || watching_, 0)) follow(single, start, end, scripts != 0);
    if (__builtin_expect(!anchors && end - start <= 2 && (scripts == kLatin || scripts == kCyrillic), 0) && twin_word(start, end)) return;
    if (__builtin_expect(anchors == scripts && !(anchors & (anchors - 1)), 1)) {
      context_ = (anchors & 7) ? anchors : context_;
      const uint8_t flags = static_cast<uint8_t>((end - start < 3 ? kFlagShort : 0) | (scripts ? 0 : kFlagNumber));
      sink_.push(mix(sum), static_cast<uint32_t>(start), static_cast<uint32_t>(end), flags, nullptr, 0);
      return;
    }
    units_.clear();
    for (size_t j = start; j < end; ++j) add(s_[j], t_[s_[j]], j);
    const uint8_t flags = resolve(start, end);
    emit(start, end, flags);
  }

  // A word with special or dropped characters, or one longer than a block. Returns where to go on.
  size_t slow_word(size_t start) {
    size_t end;
    uint8_t flags = 0;
    units_.clear();
    const size_t next = collect(start, n_, end, flags);
    const bool single = units_.size() == 1 && units_[0].script;
    bool lettered = false;
    for (const Unit& u : units_) lettered |= u.script != 0;
    if (single || watching_) follow(single, start, end, lettered);
    flags |= resolve(start, end);
    emit(start, end, flags);
    return next;
  }

  const C* s_;
  size_t n_;
  Sink& sink_;
  const uint32_t* t_;
  uint32_t context_ = 0;
  bool watching_ = false;  // a run of single letters is open, or the last word was set apart
  uint32_t gap_ = 0;  // the blank between the letters of the last word, if that was set apart
  std::vector<Unit> units_;
  std::vector<std::pair<size_t, size_t>> run_;
  std::vector<uint32_t> letters_;
  std::vector<uint32_t> places_;

  // Letters set apart: one blank between the letters of a run, the same one all along.
  bool goes_on(size_t start) const {
    const uint32_t blank = s_[start - 1];
    if (start != run_.back().second + 1 || !is_blank(blank)) return false;
    if (gap_) return blank == gap_;
    return run_.size() == 1 || blank == static_cast<uint32_t>(s_[run_.back().first - 1]);
  }

  void follow(bool single, size_t start, size_t end, bool lettered) {
    if (!run_.empty() && !(single && goes_on(start))) close_run();
    if (single) run_.emplace_back(start, end);
    else if (lettered) gap_ = 0;
    watching_ = gap_ || !run_.empty();
  }

  // Joined when the letters can be of one script: anchors of two are a formula, not a word.
  void close_run() {
    if (run_.size() >= (gap_ ? kSpacedRunAfter : kSpacedRun)) {
      std::vector<Unit> kept;
      kept.swap(units_);
      uint8_t flags = kFlagSpaced;
      uint32_t anchors = 0;
      for (auto [start, end] : run_) {
        size_t ignored;
        collect(start, end, ignored, flags);
      }
      for (const Unit& u : units_) anchors |= u.anchor;
      if (!(anchors & (anchors - 1)) && anchors != kOther) {
        gap_ = s_[run_[1].first - 1];
        sink_.pop(run_.size());
        flags |= resolve(run_.front().first, run_.back().second);
        emit(run_.front().first, run_.back().second, flags);
      }
      kept.swap(units_);
    }
    run_.clear();
  }

  void emit(size_t start, size_t end, uint8_t flags) {
    uint64_t sum = 0, power = 1;
    letters_.clear();
    places_.clear();
    bool lettered = false;
    for (const Unit& u : units_) {
      sum += u.letter * power;
      power *= kWordFactor;
      letters_.push_back(u.letter);
      places_.push_back(u.place);
      lettered |= ((t_[u.letter] >> kScriptShift) & 15) != 0;
    }
    if (units_.size() < 3) flags |= kFlagShort;
    if (!lettered) flags |= kFlagNumber;
    sink_.push(mix(sum), static_cast<uint32_t>(start), static_cast<uint32_t>(end), flags, letters_.data(), letters_.size(),
               places_.data());
  }

  // Units of the word at start, not past limit. Sets its end and flags; returns where to go on.
  size_t collect(size_t start, size_t limit, size_t& end, uint8_t& flags) {
    size_t at = start;
    end = start;
    uint8_t pending = 0;
    while (at < limit) {
      const uint32_t code = s_[at], e = t_[code];
      if (e & kWord) {
        flags |= pending;
        pending = 0;
        add(code, e, at);
        end = ++at;
      } else if (e & kDrop) {
        const uint32_t kind = e & kLetterMask;
        Unit& last = units_.back();
        const bool plain = !last.script || (last.script & 7);
        if (kind == kBreak && !plain) break;
        if (kind == kMark) {
          uint32_t composed = 0;
          if (code == 0x306 && last.letter == 0x438) composed = 0x439;
          else if (code == 0x306 && last.letter == 0x443) composed = 0x45E;
          else if (code == 0x308 && last.letter == 0x456) composed = 0x457;
          if (composed) {
            last.letter = composed;
            last.script = last.anchor = kCyrillic;
          }
          if (last.script == kGreek && is_greek_mark(code)) last.marked = true;
          flags |= kFlagMarks;
          end = at + 1;
        } else if ((kind == kInvisible || kind == kBreak) && plain) {
          pending = kFlagInvisible;
        }
        ++at;
      } else {
        break;
      }
    }
    return at;
  }

  void add(uint32_t code, uint32_t e, size_t place) {
    const uint32_t at = static_cast<uint32_t>(place);
    if (e & kSpecial) {
      auto found = fold_table.expansions.find(code);
      if (found != fold_table.expansions.end()) {
        for (uint32_t letter : found->second) push_unit(letter, letter, t_[letter], at, false);
        return;
      }
      if (code >= 0x1161 && code <= 0x1175 && !units_.empty() && units_.back().letter >= 0x1100 && units_.back().letter <= 0x1112) {
        units_.back().letter = 0xAC00 + ((units_.back().letter - 0x1100) * 21 + code - 0x1161) * 28;
        return;
      }
      if (code >= 0x11A8 && code <= 0x11C2 && !units_.empty() && units_.back().letter >= 0xAC00 && units_.back().letter <= 0xD7A3 &&
          (units_.back().letter - 0xAC00) % 28 == 0) {
        units_.back().letter += code - 0x11A7;
        return;
      }
      push_unit(e & kLetterMask, code, e, at, fold_table.styled.count(code) != 0);
      return;
    }
    push_unit(e & kLetterMask, code, e, at, false);
  }

  void push_unit(uint32_t letter, uint32_t code, uint32_t e, uint32_t place, bool styled) {
    units_.push_back({letter, code, place, static_cast<uint8_t>((e >> kScriptShift) & 15),
                      static_cast<uint8_t>((e >> kAnchorShift) & 15), styled, is_marked_greek(code)});
  }

  uint8_t resolve(size_t start, size_t end) {
    uint8_t flags = 0;
    uint32_t anchors = 0, scripts = 0;
    for (const Unit& u : units_) {
      if (u.styled) flags |= kFlagStyled;
      anchors |= u.anchor;
      scripts |= u.script;
    }
    if (!(anchors & (anchors - 1))) return flags | resolve_part(0, units_.size(), anchors, scripts, start, end);
    size_t from = 0;
    for (size_t i = 0; i <= units_.size(); ++i) {
      if (i == units_.size() || units_[i].letter == 0x5F) {
        flags |= resolve_mixed(from, i, start, end);
        from = i + 1;
      }
    }
    return flags;
  }

  uint8_t resolve_part(size_t from, size_t to, uint32_t anchors, uint32_t scripts, size_t start, size_t end) {
    if (anchors) {
      if (anchors != kOther) context_ = anchors;
      return scripts == anchors ? 0 : turn(from, to, anchors);
    }
    if (!scripts) return 0;
    if (scripts & (kGreek | kOther)) {
      const uint32_t hidden = script_behind(from, to, scripts, start, end);
      return hidden ? turn(from, to, hidden) : 0;
    }
    const uint32_t script = script_without_anchor(from, to, start, end);
    if (scripts == script) return 0;
    if (scripts == kLatin && script == kCyrillic)
      for (size_t i = from; i < to; ++i)
        if (units_[i].letter == 0x69) return 0;
    const bool mixed = scripts & (scripts - 1);
    const uint8_t changed = turn(from, to, script);
    return mixed ? changed : 0;
  }

  uint8_t resolve_mixed(size_t from, size_t to, size_t start, size_t end) {
    uint32_t anchors = 0, scripts = 0;
    for (size_t i = from; i < to; ++i) {
      anchors |= units_[i].anchor;
      scripts |= units_[i].script;
    }
    if (!(anchors & (anchors - 1))) return resolve_part(from, to, anchors, scripts, start, end);
    if (anchors == (kLatin | kCyrillic)) {
      uint32_t firm = 0;
      long balance = 0;
      for (size_t i = from; i < to; ++i) {
        const Unit& u = units_[i];
        if (!u.anchor) continue;
        balance += u.anchor == kCyrillic ? 1 : -1;
        if (!weak(u.code, (kLatin | kCyrillic) ^ u.anchor)) firm |= u.anchor;
      }
      if (!firm && balance) firm = balance > 0 ? kCyrillic : kLatin;
      if (firm == kLatin || firm == kCyrillic) {
        context_ = firm;
        for (size_t i = from; i < to; ++i) {
          Unit& u = units_[i];
          if (u.anchor && u.anchor != firm) {
            u.letter = weak(u.code, firm);
            u.script = u.anchor = static_cast<uint8_t>(firm);
          }
        }
        turn(from, to, firm);
        return kFlagLookalike;
      }
    }
    uint8_t flags = 0;
    uint32_t nearest = 0;
    for (size_t i = from; i < to && !nearest; ++i) nearest = units_[i].anchor;
    for (size_t i = from; i < to; ++i) {
      const Unit& u = units_[i];
      if (u.anchor) nearest = u.anchor;
      else if (u.script && u.script != nearest && nearest != kOther) flags |= turn(i, i + 1, nearest);
    }
    if (nearest != kOther) context_ = nearest;
    return flags;
  }

  static uint32_t weak(uint32_t code, uint32_t script) {
    auto found = fold_table.weak.find(static_cast<uint64_t>(code) << 8 | script);
    return found == fold_table.weak.end() ? 0 : found->second;
  }

  uint8_t turn(size_t from, size_t to, uint32_t script) {
    if (script == kOther) return 0;
    const int column = script == kLatin ? 0 : script == kCyrillic ? 1 : 2;
    uint8_t flags = 0;
    for (size_t i = from; i < to; ++i) {
      Unit& u = units_[i];
      if (u.anchor || !u.script || u.script == script) continue;
      auto found = fold_table.twins.find(u.code);
      if (found == fold_table.twins.end() || !found->second.look[column]) continue;
      if (found->second.look[column] != u.letter) {
        u.letter = found->second.look[column];
        flags = kFlagLookalike;
      }
      u.script = static_cast<uint8_t>(script);
    }
    return flags;
  }

  // «с», «а», «со»: one or two twins, all of one script. Written in Latin, whatever stands around.
  bool twin_word(size_t start, size_t end) {
    uint32_t letters[2] = {}, places[2] = {};
    const size_t count = end - start;
    for (size_t i = 0; i < count; ++i) {
      letters[i] = twin_in_both_cases(t_[s_[start + i]] & kLetterMask);
      places[i] = static_cast<uint32_t>(start + i);
      if (!letters[i]) return false;
    }
    const uint64_t sum = letters[0] + (count > 1 ? letters[1] * kWordFactor : 0);
    sink_.push(mix(sum), static_cast<uint32_t>(start), static_cast<uint32_t>(end), kFlagShort, letters, count, places);
    return true;
  }

  uint32_t script_without_anchor(size_t from, size_t to, size_t start, size_t end) {
    const size_t count = to - from;
    bool twins = count <= 2;
    for (size_t i = from; i < to && twins; ++i) twins = twin_in_both_cases(units_[i].letter) != 0;
    if (twins) return kLatin;
    if (count <= 3 && hidden_word(from, to)) {
      for (size_t i = start > kNear ? start - kNear : 0; i < std::min(n_, end + kNear); ++i) {
        if (i >= start && i < end) continue;
        if (((t_[s_[i]] >> kAnchorShift) & 15) == kCyrillic) return kCyrillic;
      }
      return kLatin;
    }
    uint32_t script = next_script(end);
    if (!script) script = context_;
    if ((!script || script == kCyrillic) && not_cyrillic(from, to)) return kLatin;
    for (size_t i = from; i < to && !script; ++i)
      if (units_[i].script == kLatin || units_[i].script == kCyrillic) script = units_[i].script;
    return script ? script : uint32_t{kLatin};
  }

  // What stands within kNear characters of a word.
  struct Around {
    uint32_t anchors = 0;  // scripts of which anchors are there
    uint32_t surely = 0;   // scripts, Greek or other, of which a word is that is no disguise
    bool swapped = false;  // whether words hold look-alikes of other scripts
    size_t alone = 0;      // look-alikes of other alphabets in words that hold nothing else
    size_t latin = 0, cyrillic = 0;  // in words that hold look-alikes: letters that are of it, or stand for one of it, for sure
  };

  // The script of a word without anchors that holds look-alikes of Greek or other alphabets; 0: leave it.
  // Rare, and kept out of line so that the loops over plain words stay small.
  __attribute__((noinline, cold)) uint32_t script_behind(size_t from, size_t to, uint32_t scripts, size_t start, size_t end) const {
    const bool pure = !(scripts & (scripts - 1));
    size_t letters = 0;
    uint32_t block = 0;
    bool marked = false, can[3] = {true, true, true};
    for (size_t i = from; i < to; ++i) {
      if (!units_[i].script) continue;
      if (!letters++) block = units_[i].code >> 8;
      marked |= units_[i].marked;
      const FoldTable::Row& row = fold_table.twins.at(units_[i].code);
      for (size_t column = 0; column < 3; ++column) can[column] &= row.look[column] != 0;
    }
    const Around around = look_around(start, end, block);
    if (pure && (around.surely & scripts)) return 0;
    if (pure && (scripts == kGreek || block <= kSymbolBlocks) && !around.swapped && (letters < kShowing || marked)) return 0;
    const uint32_t ahead = next_script(end);
    uint32_t near = (around.anchors | ahead | context_) & (kLatin | kCyrillic);
    if (around.swapped) near |= (around.latin ? kLatin : 0u) | (around.cyrillic ? kCyrillic : 0u);
    if (pure && !near && (scripts == kGreek || around.alone < kTwinsAlone)) return 0;
    const uint32_t first = first_script(from, to, around, ahead ? ahead : context_);
    if (first == kGreek && !pure) return kGreek;
    for (uint32_t script : {first, uint32_t{kLatin}, uint32_t{kCyrillic}}) {
      if ((script != kLatin && script != kCyrillic) || (near && script != first && !(near & script))) continue;
      if (can[script == kLatin ? 0 : 1]) return script;
    }
    return pure ? 0 : first;
  }

  // As script_without_anchor, so that a word comes out alike with and without its letters swapped. Small κ and τ stand
  // for anchors (к, k): such a word does not go with the next one, but with those around that were swapped.
  uint32_t first_script(size_t from, size_t to, const Around& around, uint32_t context) const {
    const size_t count = to - from;
    bool twins = count <= 2, small = false, has_i = false;
    uint32_t own = 0;
    for (size_t i = from; i < to; ++i) {
      const Unit& u = units_[i];
      if (!own && (u.script == kLatin || u.script == kCyrillic)) own = u.script;
      small |= stands_for_anchor(u.code);
      const uint32_t look = u.script ? fold_table.twins.at(u.code).look[0] : 0;
      twins = twins && look && twin_in_both_cases(look) == look;
      has_i |= look == 0x69;
    }
    if (twins) return kLatin;
    if (count <= 3 && hidden_word(from, to)) return around.cyrillic || (around.anchors & kCyrillic) ? kCyrillic : kLatin;
    uint32_t script = context;
    if (small && around.latin != around.cyrillic) script = around.latin > around.cyrillic ? kLatin : kCyrillic;
    if (script == kCyrillic && own != kCyrillic && has_i) return kLatin;
    if ((!script || script == kCyrillic) && not_cyrillic(from, to)) return kLatin;
    return script ? script : own ? own : uint32_t{kLatin};
  }

  // A word with N, Z or v, which look like Greek letters and like none of Cyrillic, or with a capital I, of which the
  // Cyrillic twin is no Russian letter (a small i may be meant for the Ukrainian one).
  bool not_cyrillic(size_t from, size_t to) const {
    for (size_t i = from; i < to; ++i) {
      const Unit& u = units_[i];
      if (u.script == kLatin && !u.anchor && (u.code == 0x49 || !fold_table.twins.at(u.code).look[1])) return true;
    }
    return false;
  }

  // A small letter of Greek, Coptic or Cherokee that looks like k and к: these are no twins.
  static bool stands_for_anchor(uint32_t code) {
    const bool coptic = code >= 0x2C80 && code <= 0x2CE3 && (code & 1);
    if (!((code >= 0x3B1 && code <= 0x3C9) || (code >= 0xAB70 && code <= 0xABBF) || coptic)) return false;
    auto found = fold_table.twins.find(code);
    if (found == fold_table.twins.end()) return false;
    const uint32_t latin = found->second.look[0];
    return latin && found->second.look[1] && latin != 0x69 && !twin_in_both_cases(latin);
  }

  // block is where Unicode has the alphabet of the word: Chinese says nothing about Cherokee.
  Around look_around(size_t start, size_t end, uint32_t block) const {
    Around out;
    const std::pair<size_t, size_t> sides[] = {{start > kNear ? start - kNear : 0, start}, {end, std::min(n_, end + kNear)}};
    for (auto [from, to] : sides) {
      uint32_t anchors = 0, scripts = 0;
      size_t count = 0, latin = 0, cyrillic = 0;
      bool same_block = false;
      for (size_t i = from; i <= to; ++i) {
        const uint32_t e = i < to ? t_[s_[i]] : 0;
        if (e & kWord) {
          const uint32_t script = (e >> kScriptShift) & 15, anchor = (e >> kAnchorShift) & 15;
          same_block |= static_cast<uint32_t>(s_[i]) >> 8 == block;
          out.anchors |= anchor;
          anchors |= anchor;
          scripts |= script;
          count += script != 0;
          latin += anchor == kLatin;
          cyrillic += anchor == kCyrillic;
          if ((script == kGreek || script == kOther) && !anchor) {
            auto found = fold_table.twins.find(s_[i]);
            if (found != fold_table.twins.end()) {
              latin += found->second.look[0] && !found->second.look[1];
              cyrillic += found->second.look[1] && !found->second.look[0];
            }
          }
        } else if (!(e & kDrop)) {
          if (count >= kShowing && (scripts & (kGreek | kOther))) {
            if (anchors == kGreek || (anchors == kOther && same_block)) out.surely |= anchors;
            else if (anchors == kLatin || anchors == kCyrillic || (!anchors && (scripts & (scripts - 1)))) out.swapped = true;
          }
          if (!anchors && (scripts & kOther) && !(scripts & (kLatin | kCyrillic))) out.alone += count;
          if ((scripts & (kGreek | kOther)) && !(anchors & (kGreek | kOther))) {
            out.latin += latin;
            out.cyrillic += cyrillic;
          }
          anchors = scripts = 0;
          count = latin = cyrillic = 0;
          same_block = false;
        }
      }
    }
    out.swapped |= out.alone >= kTwinsAlone;
    return out;
  }

  bool hidden_word(size_t from, size_t to) const {
    uint64_t packed = 0;
    for (size_t i = from; i < to; ++i) {
      auto found = fold_table.twins.find(units_[i].code);
      const bool turned = found != fold_table.twins.end() && found->second.look[1];
      packed = packed << 21 | (turned ? found->second.look[1] : units_[i].letter);
    }
    static const uint64_t words[] = {pack({0x432}), pack({0x43A}), pack({0x43D, 0x430}), pack({0x43D, 0x43E}),
                                     pack({0x432, 0x441, 0x435}), pack({0x442, 0x430}), pack({0x442, 0x435}),
                                     pack({0x442, 0x435, 0x445}), pack({0x432, 0x43E}), pack({0x43A, 0x43E})};
    return std::find(std::begin(words), std::end(words), packed) != std::end(words);
  }
  static uint64_t pack(std::initializer_list<uint32_t> letters) {
    uint64_t packed = 0;
    for (uint32_t letter : letters) packed = packed << 21 | letter;
    return packed;
  }

  // Script of the next word that has anchors of one script, if it ends within kNear characters.
  uint32_t next_script(size_t start) const {
    uint32_t anchors = 0;
    auto one = [](uint32_t a) { return a == kLatin || a == kCyrillic || a == kGreek; };
    const size_t end = std::min(n_, start + kNear);
    for (size_t i = start; i < end; ++i) {
      const uint32_t e = t_[s_[i]];
      if (e & kWord) {
        anchors |= (e >> kAnchorShift) & 15;
      } else if (!(e & kDrop)) {
        if (one(anchors)) return anchors;
        anchors = 0;
      }
    }
    return one(anchors) ? anchors : 0;
  }
};

}  // namespace doublet
