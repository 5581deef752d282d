// The fold table: what every code point becomes. Twin of doublet/kernels/data.py.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace doublet {

constexpr uint64_t kWordFactor = 0x9FB21C651E98DF25ull;
constexpr uint64_t kShingleFactor = 0xD6E8FEB86659FD93ull;
constexpr uint64_t kSizeFactor = 0xA0761D6478BD642Full;
constexpr uint32_t kMinhashPrime = (1u << 31) - 1;

constexpr uint32_t kLetterMask = (1u << 21) - 1;
constexpr uint32_t kWord = 1u << 21, kDrop = 1u << 22, kSpecial = 1u << 31;
constexpr int kScriptShift = 23, kAnchorShift = 27;
enum Script : uint32_t { kLatin = 1, kCyrillic = 2, kGreek = 4, kOther = 8 };
enum DropKind : uint32_t { kInvisible = 1, kMark = 2, kSilent = 3, kBreak = 4 };
enum Flag : uint8_t {
  kFlagStop = 1, kFlagShort = 2, kFlagLookalike = 4, kFlagInvisible = 8,
  kFlagSpaced = 16, kFlagMarks = 32, kFlagStyled = 64, kFlagNumber = 128,
};
constexpr uint8_t kFlagsDisguise = kFlagLookalike | kFlagInvisible | kFlagSpaced | kFlagMarks | kFlagStyled;
constexpr size_t kNear = 64;
constexpr size_t kSpacedRun = 4, kSpacedRunAfter = 2;

constexpr uint64_t kMixFirst = 0xFF51AFD7ED558CCDull, kMixSecond = 0xC4CEB9FE1A85EC53ull;

inline uint64_t mix(uint64_t v) {
  v ^= v >> 33;
  v *= kMixFirst;
  v ^= v >> 33;
  v *= kMixSecond;
  v ^= v >> 33;
  return v ? v : 1;
}

// What the wide scanner needs of the characters 0-127 and 0x400-0x47F, a byte each: ways to be, and the letter's low bits.
struct Pages {
  enum Way : uint8_t { kIsWord = 1, kIsScript = 2, kIsAnchor = 4, kIsDrop = 8, kIsOdd = 16, kIsTwin = 32 };
  alignas(64) uint8_t ways[2][128];
  alignas(64) uint8_t letters[2][128];
  uint8_t twins[128];  // of folded Cyrillic letters: the Latin one that looks the same in both cases
};

// The Latin look of a folded letter that is a twin in both cases, else 0.
inline uint32_t twin_in_both_cases(uint32_t letter) {
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

struct FoldTable {
  std::vector<uint32_t> entries;                                  // one per code point
  struct Row { uint32_t look[3]; };                               // Latin, Cyrillic, Greek; 0: none
  std::unordered_map<uint32_t, Row> twins;
  std::unordered_map<uint32_t, std::vector<uint32_t>> expansions;
  std::unordered_set<uint32_t> styled;
  std::unordered_map<uint64_t, uint32_t> weak;                    // code << 8 | script -> near look-alike

  Pages pages;

  void load(const char* raw, size_t size);                        // the unpacked fold_table.bin
};

extern FoldTable fold_table;

}  // namespace doublet
