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

inline uint64_t mix(uint64_t v) {
  v ^= v >> 33;
  v *= 0xFF51AFD7ED558CCDull;
  v ^= v >> 33;
  v *= 0xC4CEB9FE1A85EC53ull;
  v ^= v >> 33;
  return v ? v : 1;
}

struct FoldTable {
  std::vector<uint32_t> entries;                                  // one per code point
  struct Row { uint32_t look[3]; };                               // Latin, Cyrillic, Greek; 0: none
  std::unordered_map<uint32_t, Row> twins;
  std::unordered_map<uint32_t, std::vector<uint32_t>> expansions;
  std::unordered_set<uint32_t> styled;
  std::unordered_map<uint64_t, uint32_t> weak;                    // code << 8 | script -> near look-alike

  void load(const char* raw, size_t size);                        // the unpacked fold_table.bin
};

extern FoldTable fold_table;

}  // namespace doublet
