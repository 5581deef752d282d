// One pass over a text: words folded, hashed, flagged. Twin of _Scanner in doublet/kernels/reference.py, which defines it.
#pragma once
#include "fold.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <vector>

namespace doublet {

struct Unit {
  uint32_t letter, code, place;
  uint8_t script, anchor;
  bool styled;
};

inline bool is_blank(uint32_t c) {
  return c == 0x20 || c == 0x09 || c == 0xA0 || c == 0x202F || c == 0x205F || c == 0x3000 || (c >= 0x2000 && c <= 0x200A);
}

constexpr size_t kBlock = 256;

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

// A sink has: push(hash, start, end, flags, letters, count) and pop(count). letters is null for a plain word, whose
// letters are then those of the table for text[start, end).
template <class C, class Sink> class Scanner {
 public:
  Scanner(const C* text, size_t size, Sink& sink) : s_(text), n_(size), sink_(sink), t_(fold_table.entries.data()) {}

  // In blocks: first every character is looked up without a branch (running sums of letter * factor^place, running
  // union of the entries of a word, a bit for "part of a word"), then the words are cut out at the edges of the bits.
  // text[size] is readable and 0: Python's strings are made so.
  void run() {
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
        plain_word(at + start, at + end, all, (sums[end] - sums[start]) * powers.inverse[start]);
      }
      at = go_on;
    }
    close_run();
  }

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

  void plain_word(size_t start, size_t end, uint32_t all, uint64_t sum) {
    const uint32_t scripts = (all >> kScriptShift) & 15, anchors = (all >> kAnchorShift) & 15;
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
                      static_cast<uint8_t>((e >> kAnchorShift) & 15), styled});
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
    if (!scripts || scripts == kGreek || scripts == kOther) return 0;
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

  // The Latin look of a folded letter that is a twin in both cases, else 0.
  static uint32_t twin_in_both_cases(uint32_t letter) {
    switch (letter) {
      case 0x61: case 0x63: case 0x65: case 0x6F: case 0x70: case 0x78: case 0x79: return letter;
      case 0x430: return 0x61;
      case 0x441: return 0x63;
      case 0x435: return 0x65;
      case 0x43E: return 0x6F;
      case 0x440: return 0x70;
      case 0x445: return 0x78;
      case 0x443: return 0x79;
      default: return 0;
    }
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
    for (size_t i = from; i < to && !script; ++i)
      if (units_[i].script == kLatin || units_[i].script == kCyrillic) script = units_[i].script;
    return script ? script : uint32_t{kLatin};
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
