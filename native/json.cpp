// JSON lines straight to sets of shingles, without making Python strings. Twin: json_sets in doublet/kernels/reference/json.py.
//
// A strict reader: a line that is not plainly good (bad syntax, bad UTF-8, lone surrogates, a missing field, an odd id,
// escaped or repeated keys) is left to the careful reader in Python, which says what is wrong. So this reader may refuse
// a good line, but must never accept a bad one.
#include "kernels.hpp"
#include "sets_of_words.hpp"
#include "utf8.hpp"
#include "vectors.hpp"

#include <string_view>

namespace doublet {

namespace {

struct Field {
  const uint8_t* begin = nullptr;  // inside of the quotes
  const uint8_t* end = nullptr;
  bool escaped = false, unicode = false, ascii = true;  // any escape; a \\u escape; nothing above 127
  int seen = 0;
  bool is_string = false;
};

constexpr uint64_t kOnes = 0x0101010101010101ull, kHighs = 0x8080808080808080ull;

inline uint64_t has_byte(uint64_t v, uint8_t b) {
  const uint64_t x = v ^ (kOnes * b);
  return (x - kOnes) & ~x & kHighs;
}

constexpr size_t kSpare = 64;  // characters that a vector may write beyond the last one

#if defined(__x86_64__)
// What a letter behind a backslash stands for; letters without a meaning of their own stand for themselves.
DOUBLET_WIDE inline __m512i meanings(__m512i v) {
  v = _mm512_mask_blend_epi8(_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('n')), v, _mm512_set1_epi8('\n'));
  v = _mm512_mask_blend_epi8(_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('t')), v, _mm512_set1_epi8('\t'));
  v = _mm512_mask_blend_epi8(_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('r')), v, _mm512_set1_epi8('\r'));
  v = _mm512_mask_blend_epi8(_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('b')), v, _mm512_set1_epi8('\b'));
  return _mm512_mask_blend_epi8(_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('f')), v, _mm512_set1_epi8('\f'));
}

// How many of the first bits of a mask are set.
inline int ones_first(uint64_t mask) { return ~mask ? __builtin_ctzll(~mask) : 64; }

// Plain letters and short escapes, sixty-four bytes at a time, up to the first one that needs a closer look: \\u, a run of
// backslashes, or what stands at the end. Moves p there; gives the place behind the last character written.
DOUBLET_WIDE uint8_t* unescaped(const uint8_t*& p, const uint8_t* end, uint8_t* to) {
  while (end - p > 64) {
    const __m512i v = _mm512_loadu_si512(p);
    const uint64_t slash = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\\'));
    if (!slash) {
      _mm512_storeu_si512(to, v);
      to += 64;
      p += 64;
      continue;
    }
    const __m512i next = _mm512_loadu_si512(p + 1);
    const uint64_t odd = slash & (_mm512_cmpeq_epi8_mask(next, _mm512_set1_epi8('\\')) | _mm512_cmpeq_epi8_mask(next, _mm512_set1_epi8('u')));
    int count = ones_first(~odd);
    const uint64_t begins = slash & ~odd;
    if (count == 64 && slash >> 63) count = 63;  // its second half is not here
    if (!count) return to;
    const uint64_t taken = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    const __m512i letters = _mm512_mask_blend_epi8(begins, v, meanings(next));
    const uint64_t kept = taken & ~(begins << 1);
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(kept, letters));
    to += __builtin_popcountll(kept);
    p += count;
    if (odd) return to;
  }
  return to;
}

// Characters of one and two bytes and short escapes, thirty-two bytes at a time, up to the first byte that needs a closer
// look: another escape, a longer character, or what is no UTF-8. Moves p there; gives the place behind the last character.
DOUBLET_WIDE uint16_t* pairs_of_bytes(const uint8_t*& p, const uint8_t* end, uint16_t* to) {
  const __m512i low5 = _mm512_set1_epi16(0x1F), low6 = _mm512_set1_epi16(0x3F);
  while (end - p > 32) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const __m256i next = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 1));
    const __m256i tops = _mm256_and_si256(v, _mm256_set1_epi8(static_cast<char>(0xC0)));
    const __m256i next_tops = _mm256_and_si256(next, _mm256_set1_epi8(static_cast<char>(0xC0)));
    const __m256i backslash = _mm256_set1_epi8('\\');
    const uint32_t inside = _mm256_cmpeq_epi8_mask(tops, _mm256_set1_epi8(static_cast<char>(0x80)));
    const uint32_t followed = _mm256_cmpeq_epi8_mask(next_tops, _mm256_set1_epi8(static_cast<char>(0x80)));
    const uint32_t leads = _mm256_cmpge_epu8_mask(v, _mm256_set1_epi8(static_cast<char>(0xC2))) & _mm256_cmplt_epu8_mask(v, _mm256_set1_epi8(static_cast<char>(0xE0)));
    const uint32_t slash = _mm256_cmpeq_epi8_mask(v, backslash);
    const uint32_t odd = slash & (_mm256_cmpeq_epi8_mask(next, backslash) | _mm256_cmpeq_epi8_mask(next, _mm256_set1_epi8('u')));
    const uint32_t begins = slash & ~odd;
    const uint32_t plain = _mm256_cmplt_epu8_mask(v, _mm256_set1_epi8(static_cast<char>(0x80))) & ~odd;
    const uint32_t good = plain | (leads & followed) | (inside & (leads << 1));
    const int count = ~good ? __builtin_ctz(~good) : 32;
    if (!count) return to;
    const uint32_t taken = count == 32 ? 0xFFFFFFFFu : (uint32_t{1} << count) - 1;
    const __m512i one = _mm512_cvtepu8_epi16(v), other = _mm512_cvtepu8_epi16(next);
    const __m512i two = _mm512_or_si512(_mm512_slli_epi16(_mm512_and_si512(one, low5), 6), _mm512_and_si512(other, low6));
    __m512i letters = _mm512_mask_blend_epi16(leads, one, two);
    if (begins) letters = _mm512_mask_blend_epi16(begins, letters, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(meanings(_mm512_zextsi256_si512(next)))));
    const uint32_t kept = taken & ~inside & ~(begins << 1);
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi16(kept, letters));
    to += __builtin_popcount(kept);
    p += count;
    if (count == 32 && (leads | begins) >> 31) ++p;  // its second half was read with it
    if (count < 32) return to;
  }
  return to;
}

// Sixty-four bytes of a string, a bit each: those that end it or need a look, backslashes, and what is above 127.
struct StringBlock {
  uint64_t stops, slashes, high;
};
DOUBLET_WIDE inline StringBlock string_block(const uint8_t* p) {
  const __m512i v = _mm512_loadu_si512(p);
  const uint64_t slashes = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\\'));
  const uint64_t stops = slashes | _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('"')) | _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20));
  return {stops, slashes, _mm512_movepi8_mask(v)};
}
#endif

class LineReader {
 public:
  // The line may end before *end*: nothing that is read here goes beyond the end of a line.
  LineReader(const uint8_t* begin, const uint8_t* end) : p_(begin), end_(end) {}

  bool object(std::string_view id_name, std::string_view text_name, Field& id, Field& text) {
    blanks();
    if (!take('{')) return false;
    blanks();
    if (!take('}')) {
      for (;;) {
        Field key;
        blanks();
        if (!string(key) || key.escaped) return false;
        const std::string_view name(reinterpret_cast<const char*>(key.begin), static_cast<size_t>(key.end - key.begin));
        blanks();
        if (!take(':')) return false;
        blanks();
        Field* wanted = name == id_name ? &id : name == text_name ? &text : nullptr;
        if (wanted) {
          if (wanted->seen++) return false;
          if (p_ < end_ && *p_ == '"') {
            wanted->is_string = true;
            if (!string(*wanted, wanted == &id)) return false;  // the text is checked when it is decoded
          } else {
            wanted->begin = p_;
            if (!value(0)) return false;
            wanted->end = p_;
          }
        } else if (!value(0)) {
          return false;
        }
        blanks();
        if (take(',')) continue;
        if (take('}')) break;
        return false;
      }
    }
    blanks();
    return p_ == end_ || *p_ == '\n';
  }
  const uint8_t* place() const { return p_; }

 private:
  const uint8_t* p_;
  const uint8_t* end_;

  bool take(uint8_t c) {
    if (p_ < end_ && *p_ == c) { ++p_; return true; }
    return false;
  }
  void blanks() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\r')) ++p_;
  }

  bool string(Field& out, bool check = true) {
    if (!take('"')) return false;
    out.begin = p_;
    for (;;) {
#if defined(__x86_64__)
      if (wide_vectors()) pass_wide(out);
#endif
#if defined(__SSE2__)
      while (end_ - p_ >= 16) {  // sixteen bytes at a time while nothing needs a look
        const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p_));
        const __m128i quote = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
        const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v);
        const uint32_t stop = static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(quote, low)));
        const uint32_t high = static_cast<uint32_t>(_mm_movemask_epi8(v));
        const uint32_t before = stop ? (stop & (~stop + 1)) - 1 : 0xFFFF;
        if (high & before) out.ascii = false;
        if (stop) {
          p_ += __builtin_ctz(stop);
          break;
        }
        p_ += 16;
      }
#endif
      while (end_ - p_ >= 8) {  // eight bytes at a time while nothing needs a look
        uint64_t v;
        std::memcpy(&v, p_, 8);
        const uint64_t high = v & kHighs;
        const uint64_t low = (v - kOnes * 0x20) & ~v & kHighs;
        const uint64_t stop = has_byte(v, '"') | has_byte(v, '\\') | low;
        if (stop) break;
        if (high) out.ascii = false;
        p_ += 8;
      }
      if (p_ >= end_) return false;
      const uint8_t c = *p_++;
      if (c == '"') {
        out.end = p_ - 1;
        return !check || ((out.ascii || utf8(out.begin, out.end)) && (!out.unicode || paired(out)));
      }
      if (c < 0x20) return false;
      if (c >= 0x80) { out.ascii = false; continue; }
      if (c == '\\') {
        out.escaped = true;
        if (p_ >= end_) return false;
        const uint8_t e = *p_++;
        if (e == 'u') {
          out.unicode = true;
          if (end_ - p_ < 4) return false;
          for (int i = 0; i < 4; ++i)
            if (hex(*p_++) < 0) return false;
        } else if (!is_short_escape(e)) {
          return false;
        }
      }
    }
  }

#if defined(__x86_64__)
  // Goes on to the end of the string, or to the first byte that the plain loop must look at.
  DOUBLET_WIDE void pass_wide(Field& out) {
    while (end_ - p_ > 64) {
      const StringBlock block = string_block(p_);
      uint64_t stops = block.stops;
      size_t behind = 64;
      while (stops) {
        const unsigned at = static_cast<unsigned>(__builtin_ctzll(stops));
        const uint8_t letter = p_[at + 1];
        if (!(block.slashes >> at & 1) || letter == 'u' || !is_short_escape(letter)) {
          if (block.high & ((uint64_t{1} << at) - 1)) out.ascii = false;
          p_ += at;
          return;
        }
        out.escaped = true;
        stops &= at < 63 ? ~(uint64_t{3} << at) : 0;
        if (at == 63) behind = 65;
      }
      if (block.high) out.ascii = false;
      p_ += behind;
    }
  }
#endif
  static bool is_short_escape(uint8_t e) {
    return e == 'n' || e == '"' || e == '\\' || e == '/' || e == 'b' || e == 'f' || e == 'r' || e == 't';
  }

  static int hex(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  }

  static bool utf8(const uint8_t* p, const uint8_t* end) {
    while (p < end) {
      if (*p < 0x80) { ++p; continue; }
      uint32_t code;
      if (!next(p, end, code)) return false;
    }
    return true;
  }

  // False when a \\u escape is one half of a pair of surrogates.
  static bool paired(const Field& field) {
    for (const uint8_t* p = field.begin; p < field.end;) {
      if (*p != '\\') { ++p; continue; }
      if (p[1] != 'u') { p += 2; continue; }
      const uint32_t code = four(p + 2);
      p += 6;
      if (code < 0xD800 || code >= 0xE000) continue;
      if (code >= 0xDC00 || field.end - p < 6 || p[0] != '\\' || p[1] != 'u') return false;
      const uint32_t low = four(p + 2);
      if (low < 0xDC00 || low > 0xDFFF) return false;
      p += 6;
    }
    return true;
  }

  // A number that is surely no larger than a double can be: others are for the careful reader to judge.
  bool number() {
    constexpr std::ptrdiff_t kDigits = 200, kExponentDigits = 2;
    const uint8_t* const from = p_;
    take('-');
    if (p_ >= end_) return false;
    if (*p_ == '0') ++p_;
    else if (!digits()) return false;
    if (take('.') && !digits()) return false;
    if (p_ - from > kDigits) return false;
    if (p_ < end_ && (*p_ == 'e' || *p_ == 'E')) {
      ++p_;
      if (!take('+')) take('-');
      const uint8_t* const exponent = p_;
      if (!digits() || p_ - exponent > kExponentDigits) return false;
    }
    return true;
  }
  bool digits() {
    const uint8_t* from = p_;
    while (p_ < end_ && *p_ >= '0' && *p_ <= '9') ++p_;
    return p_ > from;
  }
  bool literal(const char* word) {
    const size_t size = std::strlen(word);
    if (static_cast<size_t>(end_ - p_) < size || std::memcmp(p_, word, size)) return false;
    p_ += size;
    return true;
  }

  bool value(int depth) {
    if (p_ >= end_ || depth > 200) return false;
    switch (*p_) {
      case '"': { Field ignored; return string(ignored); }
      case 't': return literal("true");
      case 'f': return literal("false");
      case 'n': return literal("null");
      case '[':
        ++p_;
        blanks();
        if (take(']')) return true;
        for (;;) {
          blanks();
          if (!value(depth + 1)) return false;
          blanks();
          if (take(']')) return true;
          if (!take(',')) return false;
        }
      case '{':
        ++p_;
        blanks();
        if (take('}')) return true;
        for (;;) {
          Field key;
          blanks();
          if (!string(key)) return false;
          blanks();
          if (!take(':')) return false;
          blanks();
          if (!value(depth + 1)) return false;
          blanks();
          if (take('}')) return true;
          if (!take(',')) return false;
        }
      default: return number();
    }
  }

 public:
  // One code point of checked-as-we-go UTF-8 (not ASCII).
  static bool next(const uint8_t*& p, const uint8_t* end, uint32_t& code) {
    const uint8_t c = *p;
    if (c >= 0xC2 && c < 0xE0) {
      if (end - p < 2 || (p[1] & 0xC0) != 0x80) return false;
      code = (c & 0x1Fu) << 6 | (p[1] & 0x3Fu);
      p += 2;
      return true;
    }
    if (c >= 0xE0 && c < 0xF0) {
      if (end - p < 3 || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80) return false;
      code = (c & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
      if (code < 0x800 || (code >= 0xD800 && code < 0xE000)) return false;
      p += 3;
      return true;
    }
    if (c >= 0xF0 && c < 0xF5) {
      if (end - p < 4 || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80 || (p[3] & 0xC0) != 0x80) return false;
      code = (c & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
      if (code < 0x10000 || code > 0x10FFFF) return false;
      p += 4;
      return true;
    }
    return false;
  }

  // The characters of a string field, ended by a 0. False for a lone surrogate, or (with C too narrow) to try a wider C.
  template <class C> static bool decode(const Field& field, Buffer<C>& out, bool& too_wide) {
    out.size = 0;
    out.reserve(static_cast<size_t>(field.end - field.begin) + 1 + kSpare);
    const uint8_t* p = field.begin;
    C* to = out.data;
    while (p < field.end) {
      if (sizeof(C) == 1) {  // ASCII: whole stretches between escapes
#if defined(__x86_64__)
        if (wide_vectors()) to = reinterpret_cast<C*>(unescaped(p, field.end, reinterpret_cast<uint8_t*>(to)));
#endif
        if (p == field.end) break;
        const void* found = std::memchr(p, '\\', static_cast<size_t>(field.end - p));
        const uint8_t* stop = found ? static_cast<const uint8_t*>(found) : field.end;
        std::memcpy(to, p, static_cast<size_t>(stop - p));
        to += stop - p;
        p = stop;
        if (p == field.end) break;
      } else if (sizeof(C) == 2) {
#if defined(__x86_64__)
        if (wide_vectors()) {
          to = reinterpret_cast<C*>(pairs_of_bytes(p, field.end, reinterpret_cast<uint16_t*>(to)));
          if (p == field.end) break;
        }
#endif
        while (field.end - p >= 8) {
          uint64_t v;
          std::memcpy(&v, p, 8);
          if ((v & 0xC0FCC0FCC0FCC0FCull) == 0x80D080D080D080D0ull) {  // four letters of the Cyrillic block
            const uint64_t four = (v & 0x001F001F001F001Full) << 6 | (v >> 8 & 0x003F003F003F003Full);
            std::memcpy(to, &four, 8);
            to += 4;
            p += 8;
          } else if ((v & 0xC0FC) == 0x80D0) {
            *to++ = static_cast<C>((v & 0x1F) << 6 | (v >> 8 & 0x3F));
            p += 2;
          } else if (!(v & kHighs) && !has_byte(v, '\\')) {  // eight letters of ASCII
            for (int i = 0; i < 8; ++i) to[i] = static_cast<C>(p[i]);
            to += 8;
            p += 8;
          } else if (*p < 0x80 && *p != '\\') {
            *to++ = static_cast<C>(*p++);
          } else {
            break;
          }
        }
        if (p == field.end) break;
      }
      uint32_t code = *p;
      if (code == '\\') {
        const uint8_t e = p[1];
        p += 2;
        switch (e) {
          case 'b': code = 8; break;
          case 'f': code = 12; break;
          case 'n': code = 10; break;
          case 'r': code = 13; break;
          case 't': code = 9; break;
          case 'u': {
            code = four(p);
            p += 4;
            if (code >= 0xD800 && code < 0xE000) {
              if (code >= 0xDC00 || field.end - p < 6 || p[0] != '\\' || p[1] != 'u') return false;
              const uint32_t low = four(p + 2);
              if (low < 0xDC00 || low > 0xDFFF) return false;
              code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
              p += 6;
            }
            break;
          }
          default: code = e;
        }
      } else if (code < 0x80) {
        ++p;
      } else if (!next(p, field.end, code)) {
        return false;
      }
      if (sizeof(C) < 4 && code >= (uint64_t{1} << (8 * sizeof(C)))) {
        too_wide = true;
        return false;
      }
      *to++ = static_cast<C>(code);
    }
    *to = 0;
    out.size = static_cast<size_t>(to - out.data);
    return true;
  }

 private:
  static uint32_t four(const uint8_t* p) {
    return static_cast<uint32_t>(hex(p[0]) << 12 | hex(p[1]) << 8 | hex(p[2]) << 4 | hex(p[3]));
  }
};

inline bool is_plain_integer(const Field& f) {
  const uint8_t* p = f.begin;
  if (p < f.end && *p == '-') ++p;
  const size_t count = static_cast<size_t>(f.end - p);
  if (!count || count > 18 || (*p == '0' && (count > 1 || p != f.begin))) return false;
  for (; p < f.end; ++p)
    if (*p < '0' || *p > '9') return false;
  return true;
}

}  // namespace

size_t count_lines(nb::bytes block) {
  const char* p = block.c_str();
  const char* const end = p + block.size();
  size_t count = 0;
  nb::gil_scoped_release release;
  while (p < end && (p = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p))))) {
    ++p;
    ++count;
  }
  return count;
}

nb::tuple json_sets(nb::bytes block, const std::string& id_field, const std::string& text_field, size_t size,
                    std::optional<View<uint64_t>> stop, int64_t min_letters, Counters counters) {
  if (!size) throw nb::value_error("a shingle has at least one word");
  SetMaker maker(size, stop, min_letters, counters);
  Buffer<uint32_t> lines, left;
  Buffer<uint64_t> starts, left_starts;  // where in the block each line begins
  Buffer<uint8_t> ids;
  Buffer<uint64_t> id_ends;
  {
    nb::gil_scoped_release release;
    const uint8_t* const begin = reinterpret_cast<const uint8_t*>(block.c_str());
    const uint8_t* p = begin;
    const uint8_t* const end = p + block.size();
    maker.reserve(block.size());
    Buffer<uint8_t> narrow;
    Buffer<uint16_t> middle;
    Buffer<uint32_t> wide;
    for (uint32_t line = 0; p < end; ++line) {
      const uint8_t* const from = p;
      Field id, text;
      LineReader reader(from, end);
      bool good = reader.object(id_field, text_field, id, text);
      if (good) {
        p = reader.place();
      } else {
        p = static_cast<const uint8_t*>(std::memchr(from, '\n', static_cast<size_t>(end - from)));
        if (!p) p = end;
      }
      ++p;
      good = good && id.seen == 1 && text.seen == 1 && text.is_string;
      const size_t ids_before = ids.size;
      if (good) {
        if (!id.is_string) {
          good = is_plain_integer(id);
          if (good) ids.append(id.begin, static_cast<size_t>(id.end - id.begin));
        } else if (id.begin == id.end) {
          good = false;
        } else if (!id.escaped) {
          ids.append(id.begin, static_cast<size_t>(id.end - id.begin));
        } else {
          bool ignored = false;
          good = LineReader::decode(id, wide, ignored);
          if (good)
            for (size_t i = 0; i < wide.size; ++i) put_utf8(wide[i], [&](uint8_t byte) { ids.push(byte); });
        }
      }
      if (good) {
        const size_t length = static_cast<size_t>(text.end - text.begin);
        if (text.ascii && !text.escaped) {
          maker.add(text.begin, length);  // the quote behind it ends the last word
        } else {
          bool too_wide = false;
          // Escapes like \u0431 may stand for anything: they start with two bytes a character.
          if (text.ascii && !text.unicode && LineReader::decode(text, narrow, too_wide)) {
            maker.add(narrow.data, narrow.size);
          } else if (LineReader::decode(text, middle, too_wide = false)) {
            maker.add(middle.data, middle.size);
          } else if (too_wide && LineReader::decode(text, wide, too_wide)) {
            maker.add(wide.data, wide.size);
          } else {
            good = false;
          }
        }
      }
      if (good) {
        lines.push(line);
        starts.push(static_cast<uint64_t>(from - begin));
        id_ends.push(ids.size);
      } else {
        ids.size = ids_before;
        left.push(line);
        left_starts.push(static_cast<uint64_t>(from - begin));
      }
    }
    maker.finish();
  }
  SetMaker::Result& out = maker.result;
  nb::object id_bytes = nb::steal(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(ids.data), static_cast<Py_ssize_t>(ids.size)));
  return nb::make_tuple(own(std::move(out.values)), own(std::move(out.offsets)), own(std::move(out.words)),
                        own(std::move(out.disguised)), id_bytes, own(std::move(id_ends)), own(std::move(lines)), own(std::move(starts)),
                        own(std::move(left)), own(std::move(left_starts)));
}

}  // namespace doublet
