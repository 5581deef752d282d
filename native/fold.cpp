#include "fold.hpp"

#include <cstring>
#include <stdexcept>

namespace doublet {

FoldTable fold_table;

namespace {
struct Reader {
  const char* at;
  const char* end;
  template <class T> T take() {
    if (end - at < static_cast<ptrdiff_t>(sizeof(T))) throw std::runtime_error("fold_table.bin is damaged: install Doublet again");
    T value;
    std::memcpy(&value, at, sizeof(T));
    at += sizeof(T);
    return value;
  }
};
}  // namespace

void FoldTable::load(const char* raw, size_t size) {
  Reader in{raw, raw + size};
  if (in.take<uint32_t>() != 0x31444644u) throw std::runtime_error("fold_table.bin is damaged: install Doublet again");
  const uint32_t pages = in.take<uint32_t>(), n_twins = in.take<uint32_t>(), n_expansions = in.take<uint32_t>();
  const uint32_t n_styled = in.take<uint32_t>(), n_weak = in.take<uint32_t>();
  std::vector<uint16_t> index(0x1100);
  for (auto& page : index) page = in.take<uint16_t>();
  std::vector<uint32_t> cells(static_cast<size_t>(pages) * 256);
  for (auto& cell : cells) cell = in.take<uint32_t>();
  entries.resize(0x110000);
  for (size_t page = 0; page < index.size(); ++page)
    std::memcpy(&entries[page * 256], &cells[static_cast<size_t>(index[page]) * 256], 256 * sizeof(uint32_t));
  for (uint32_t i = 0; i < n_twins; ++i) {
    const uint32_t code = in.take<uint32_t>();
    Row row;
    for (auto& look : row.look) look = in.take<uint32_t>();
    twins[code] = row;
  }
  for (uint32_t i = 0; i < n_expansions; ++i) {
    const uint32_t code = in.take<uint32_t>(), count = in.take<uint32_t>();
    std::vector<uint32_t> letters(18);
    for (auto& letter : letters) letter = in.take<uint32_t>();
    letters.resize(count);
    expansions[code] = letters;
  }
  for (uint32_t i = 0; i < n_styled; ++i) styled.insert(in.take<uint32_t>());
  for (uint32_t i = 0; i < n_weak; ++i) {
    const uint32_t code = in.take<uint32_t>(), script = in.take<uint32_t>(), to = in.take<uint32_t>();
    weak[static_cast<uint64_t>(code) << 8 | script] = to;
  }
  for (uint32_t page = 0; page < 2; ++page)
    for (uint32_t i = 0; i < 128; ++i) {
      const uint32_t base = page ? 0x400 : 0, e = entries[base + i], letter = e & kLetterMask;
      const uint32_t script = (e >> kScriptShift) & 15, anchor = (e >> kAnchorShift) & 15, own = page ? kCyrillic : kLatin;
      uint8_t way = 0;
      if (e & kWord) {
        way = static_cast<uint8_t>(Pages::kIsWord | (script ? Pages::kIsScript : 0) | (anchor ? Pages::kIsAnchor : 0));
        if ((e & kSpecial) || (script && script != own) || (anchor && anchor != own) || (letter & ~127u) != base) way |= Pages::kIsOdd;
        if (script && !anchor && twin_in_both_cases(letter)) way |= Pages::kIsTwin;
      } else if (e & kDrop) {
        way = Pages::kIsDrop;
      }
      this->pages.ways[page][i] = way;
      this->pages.letters[page][i] = static_cast<uint8_t>(letter & 127);
      if (page) this->pages.twins[i] = static_cast<uint8_t>(twin_in_both_cases(base + i));
    }
}

}  // namespace doublet
