// Whole numbers as bytes: seven bits each, the lowest first, the last byte without the high bit.
#pragma once
#include "buffers.hpp"

namespace doublet {

constexpr size_t kMostBytes = 10;  // of one number

// Where there is room already: the place behind the number.
inline uint8_t* put_number(uint8_t* at, uint64_t value) {
  while (value > 127) {
    *at++ = static_cast<uint8_t>(value | 128);
    value >>= 7;
  }
  *at++ = static_cast<uint8_t>(value);
  return at;
}

inline void push_number(Buffer<uint8_t>& out, uint64_t value) {
  if (out.room - out.size < kMostBytes) out.reserve(out.room + out.room / 2 + 1024);
  out.size = static_cast<size_t>(put_number(out.data + out.size, value) - out.data);
}

// The next number, or an error: `damaged` is set when the bytes end too early or the number has more than 64 bits.
inline uint64_t read_number(const uint8_t*& at, const uint8_t* end, bool& damaged) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at == end) break;
    const uint8_t byte = *at++;
    if (shift == 63 && byte > 1) break;
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  damaged = true;
  return 0;
}

}  // namespace doublet
