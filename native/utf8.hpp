// Characters as UTF-8.
#pragma once
#include <cstdint>

namespace doublet {

// Hands the bytes of a character to `put`, one at a time.
template <class Put> inline void put_utf8(uint32_t c, Put&& put) {
  const auto more = [&](int shift) { put(static_cast<uint8_t>(0x80 | (c >> shift & 0x3F))); };
  if (c < 0x80) {
    put(static_cast<uint8_t>(c));
  } else if (c < 0x800) {
    put(static_cast<uint8_t>(0xC0 | c >> 6));
    more(0);
  } else if (c < 0x10000) {
    put(static_cast<uint8_t>(0xE0 | c >> 12));
    more(6);
    more(0);
  } else {
    put(static_cast<uint8_t>(0xF0 | c >> 18));
    more(12);
    more(6);
    more(0);
  }
}

}  // namespace doublet
