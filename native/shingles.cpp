// Runs of words as numbers: shingle, distinct, ordered, count_common, minima, simhash, components.
#include "kernels.hpp"
#include "vectors.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace doublet {

#if defined(__x86_64__)
// Shingles from each of eight places at a time; gives how many were made.
DOUBLET_WIDE static size_t roll_wide(const uint64_t* words, size_t count, size_t size, uint64_t extra, uint64_t* to) {
  const __m512i factor = _mm512_set1_epi64(static_cast<long long>(kShingleFactor)), more = _mm512_set1_epi64(static_cast<long long>(extra));
  const __m512i first = _mm512_set1_epi64(static_cast<long long>(kMixFirst)), second = _mm512_set1_epi64(static_cast<long long>(kMixSecond));
  size_t at = 0;
  for (; at + 8 <= count; at += 8) {
    __m512i v = _mm512_loadu_si512(words + at);
    for (size_t i = 1; i < size; ++i) v = _mm512_add_epi64(_mm512_mullo_epi64(v, factor), _mm512_loadu_si512(words + at + i));
    v = _mm512_add_epi64(v, more);  // from here on mix()
    v = _mm512_mullo_epi64(_mm512_xor_si512(v, _mm512_srli_epi64(v, 33)), first);
    v = _mm512_mullo_epi64(_mm512_xor_si512(v, _mm512_srli_epi64(v, 33)), second);
    v = _mm512_xor_si512(v, _mm512_srli_epi64(v, 33));
    _mm512_storeu_si512(to + at, _mm512_mask_set1_epi64(v, _mm512_testn_epi64_mask(v, v), 1));
  }
  return at;
}
#endif

void roll(const uint64_t* words, size_t count, size_t size, Buffer<uint64_t>& out) {
  const size_t length = std::min(size, count);
  if (!length) return;
  const uint64_t extra = length * kSizeFactor;
  const size_t made = count - length + 1;
  out.reserve(out.size + made);
  size_t from = 0;
#if defined(__x86_64__)
  constexpr size_t kShort = 12;  // longer ones are cheaper one by one, each made of the one before
  if (length <= kShort && wide_vectors()) from = roll_wide(words, made, length, extra, out.data + out.size);
  out.size += from;
  if (from == made) return;
#endif
  uint64_t top = 1, value = 0;
  for (size_t i = 0; i < length; ++i) {
    value = value * kShingleFactor + words[from + i];
    if (i) top *= kShingleFactor;
  }
  out.push(mix(value + extra));
  for (size_t i = from + length; i < count; ++i) {
    value = (value - words[i - length] * top) * kShingleFactor + words[i];
    out.push(mix(value + extra));
  }
}

// Cells hold places in the output, small enough to lie close together; only a cell that is taken by another value makes
// the loop stray, so that repeated values, which nobody can foresee, cost no wrong guess of the processor.
template <class Place> static size_t keep_distinct(const uint64_t* values, size_t count, OpenTable<Place>& table, uint64_t* kept) {
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t value = values[i];
    Place& cell = table.at(value >> 7, [&](size_t place) {  // one above the place; 0: free
      return (place != 0) & (kept[place - (place != 0)] != value);
    });
    const size_t place = cell;
    const bool fresh = !place;
    kept[size] = value;  // stays only when it is new
    cell = static_cast<Place>(fresh ? size + 1 : place);
    size += fresh;
  }
  return size;
}

void Distinct::append(const uint64_t* values, size_t count, Buffer<uint64_t>& out) {
  const size_t wanted = out.size + count + 1;  // the last place may be written to in vain
  if (wanted > out.room) out.reserve(std::max(wanted, out.room + out.room / 2));
  const bool near = count < UINT16_MAX;
  uint64_t* const kept = out.data + out.size;
  if (near) {
    near_.reset(count * 4);
    out.size += keep_distinct(values, count, near_, kept);
  } else {
    far_.reset(count * 2);
    out.size += keep_distinct(values, count, far_, kept);
  }
}

nb::tuple shingle(View<uint64_t> hashes, View<uint64_t> offsets, size_t size) {
  if (!size) throw nb::value_error("a shingle has at least one word");
  check_offsets(offsets, hashes.size());
  Buffer<uint64_t> out, ends;
  {
    nb::gil_scoped_release release;
    out.reserve(hashes.size() + 1);
    ends.push(0);
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      roll(hashes.data() + offsets.data()[i], offsets.data()[i + 1] - offsets.data()[i], size, out);
      ends.push(out.size);
    }
  }
  return nb::make_tuple(own(std::move(out)), own(std::move(ends)));
}

nb::tuple distinct(View<uint64_t> values, View<uint64_t> offsets) {
  check_offsets(offsets, values.size());
  Buffer<uint64_t> out, ends;
  {
    nb::gil_scoped_release release;
    Distinct distinct;
    ends.push(0);
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      const uint64_t from = offsets.data()[i], to = offsets.data()[i + 1];
      distinct.append(values.data() + from, to - from, out);
      ends.push(out.size);
    }
  }
  return nb::make_tuple(own(std::move(out)), own(std::move(ends)));
}

namespace {

// Sorts numbers that are spread evenly, as fingerprints are: each goes to the part that its first bits name, and the parts
// hold a few. Numbers that are not cost what any sort does.
class Sorter {
 public:
  void sort(const uint64_t* values, size_t count, uint64_t* out) {
    const int skip = equal_bits(values, count);
    if (count < kFew || skip == 64) {
      std::copy(values, values + count, out);
      std::sort(out, out + count);
      return;
    }
    int bits = 3;
    while (bits < 20 && size_t{4} << bits < count) ++bits;
    ends_.assign(size_t{1} << bits, 0);
    const auto part = [&](uint64_t value) { return value << skip >> (64 - bits); };
    for (size_t i = 0; i < count; ++i) ++ends_[part(values[i])];
    size_t before = 0;
    for (size_t& end : ends_) {
      const size_t own = end;
      end = before;
      before += own;
    }
    for (size_t i = 0; i < count; ++i) out[ends_[part(values[i])]++] = values[i];
    size_t first = 0;
    for (const size_t end : ends_) {
      if (end - first > kFew) std::sort(out + first, out + end);
      else
        for (size_t i = first + 1; i < end; ++i) {
          const uint64_t value = out[i];
          size_t at = i;
          for (; at > first && out[at - 1] > value; --at) out[at] = out[at - 1];
          out[at] = value;
        }
      first = end;
    }
  }

 private:
  static constexpr size_t kFew = 24;
  std::vector<size_t> ends_;

  // How many first bits all of them have in common.
  static int equal_bits(const uint64_t* values, size_t count) {
    uint64_t any = 0, all = UINT64_MAX;
    for (size_t i = 0; i < count; ++i) {
      any |= values[i];
      all &= values[i];
    }
    return count && any != all ? __builtin_clzll(any ^ all) : 64;
  }
};

}  // namespace

nb::tuple ordered(View<uint64_t> values, View<uint64_t> offsets) {
  check_offsets(offsets, values.size());
  Buffer<uint64_t> out, ends;
  {
    nb::gil_scoped_release release;
    Sorter sorter;
    out.resize(values.size());
    ends.push(0);
    size_t size = 0;
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      const uint64_t from = offsets.data()[i], to = offsets.data()[i + 1];
      sorter.sort(values.data() + from, to - from, out.data + size);
      size = static_cast<size_t>(std::unique(out.data + size, out.data + size + (to - from)) - out.data);
      ends.push(size);
    }
    out.size = size;
  }
  return nb::make_tuple(own(std::move(out)), own(std::move(ends)));
}

size_t count_common(View<uint64_t> a, View<uint64_t> b) {
  nb::gil_scoped_release release;
  const uint64_t *x = a.data(), *y = b.data(), *x_end = x + a.size(), *y_end = y + b.size();
  size_t count = 0;
  while (x < x_end && y < y_end) {  // no branch: which is smaller cannot be guessed
    const uint64_t one = *x, other = *y;
    count += one == other;
    x += one <= other;
    y += other <= one;
  }
  return count;
}

// (a x + b) mod p for p = 2^31 - 1: fold the product once, then subtract p where it is not below it. kLanes functions at
// a time, so that their minima stay in registers while all values go by. The same loop three times: plain (what other
// processors run, and what the others must agree with), and with the two widths of vectors that x86 has.
constexpr size_t kLanes = 32;

static void minima_plain(const uint32_t* x, size_t count, const uint32_t* a, const uint32_t* b, uint32_t* out) {
  for (size_t f = 0; f < kLanes; ++f) out[f] = kMinhashPrime;
  for (size_t i = 0; i < count; ++i)
    for (size_t f = 0; f < kLanes; ++f) {
      const uint64_t t = static_cast<uint64_t>(a[f]) * x[i] + b[f];
      const uint32_t r = static_cast<uint32_t>(t & kMinhashPrime) + static_cast<uint32_t>(t >> 31);
      out[f] = std::min(out[f], std::min(r, r - kMinhashPrime));
    }
}

#if defined(__x86_64__)
// Twice the product has what stands above bit 31 in its upper half already, and two vectors of eight products become two
// of sixteen halves by one shuffle each: the folding then costs half.
__attribute__((target("avx512f"))) static void minima_512(const uint32_t* x, size_t count, const uint32_t* a, const uint32_t* b, uint32_t* out) {
  constexpr size_t kPairs = kLanes / 16;
  const __m512i prime = _mm512_set1_epi32(kMinhashPrime);
  __m512i af[2 * kPairs], bf[2 * kPairs], least[kPairs];
  for (size_t p = 0; p < 2 * kPairs; ++p) {
    af[p] = _mm512_slli_epi64(_mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + 8 * p))), 1);
    bf[p] = _mm512_slli_epi64(_mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 8 * p))), 1);
  }
  for (size_t p = 0; p < kPairs; ++p) least[p] = prime;
  for (size_t i = 0; i < count; ++i) {
    const __m512i value = _mm512_set1_epi32(static_cast<int>(x[i]));
    for (size_t p = 0; p < kPairs; ++p) {
      const __m512i even = _mm512_add_epi64(_mm512_mul_epu32(af[2 * p], value), bf[2 * p]);
      const __m512i odd = _mm512_add_epi64(_mm512_mul_epu32(af[2 * p + 1], value), bf[2 * p + 1]);
      const __m512i low = _mm512_mask_shuffle_epi32(even, 0xAAAA, odd, _MM_PERM_CCAA);
      const __m512i high = _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
      const __m512i r = _mm512_add_epi32(_mm512_srli_epi32(low, 1), high);
      least[p] = _mm512_min_epu32(least[p], _mm512_min_epu32(r, _mm512_sub_epi32(r, prime)));
    }
  }
  for (size_t p = 0; p < kPairs; ++p) {  // even lanes: the first eight functions, odd lanes: the next
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 16 * p), _mm512_cvtepi64_epi32(least[p]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 16 * p + 8), _mm512_cvtepi64_epi32(_mm512_srli_epi64(least[p], 32)));
  }
}

__attribute__((target("avx2"))) static void minima_256(const uint32_t* x, size_t count, const uint32_t* a, const uint32_t* b, uint32_t* out) {
  constexpr size_t kSome = 4;  // vectors at a time: sixteen registers hold no more
  const __m256i prime = _mm256_set1_epi64x(kMinhashPrime);
  for (size_t from = 0; from < kLanes; from += 4 * kSome) {
    __m256i af[kSome], bf[kSome], least[kSome];
    for (size_t p = 0; p < kSome; ++p) {
      af[p] = _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + from + 4 * p)));
      bf[p] = _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + from + 4 * p)));
      least[p] = prime;
    }
    for (size_t i = 0; i < count; ++i) {
      const __m256i value = _mm256_set1_epi32(static_cast<int>(x[i]));
      for (size_t p = 0; p < kSome; ++p) {
        const __m256i t = _mm256_add_epi64(_mm256_mul_epu32(af[p], value), bf[p]);
        const __m256i r = _mm256_add_epi32(_mm256_and_si256(t, prime), _mm256_srli_epi64(t, 31));
        least[p] = _mm256_min_epu32(least[p], _mm256_min_epu32(r, _mm256_sub_epi32(r, prime)));
      }
    }
    for (size_t p = 0; p < kSome; ++p) {
      alignas(32) uint64_t lanes[4];
      _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), least[p]);
      for (size_t f = 0; f < 4; ++f) out[from + 4 * p + f] = static_cast<uint32_t>(lanes[f]);
    }
  }
}
#endif

static int vector_limit = 512;  // tests lower it to see every loop

int vector_bits() { return vector_limit; }

int limit_vectors(int bits) {
  vector_limit = bits;
#if defined(__x86_64__)
  if (bits >= 512 && __builtin_cpu_supports("avx512f")) return 512;
  if (bits >= 256 && __builtin_cpu_supports("avx2")) return 256;
#endif
  return 0;
}

static void minima_block(const uint32_t* x, size_t n, const uint32_t* a, const uint32_t* b, uint32_t* out) {
#if defined(__x86_64__)
  static const int width = limit_vectors(vector_limit);
  if (width == 512 && vector_limit >= 512) return minima_512(x, n, a, b, out);
  if (width >= 256 && vector_limit >= 256) return minima_256(x, n, a, b, out);
#endif
  minima_plain(x, n, a, b, out);
}

void minima_of(const uint64_t* values, size_t count, const uint32_t* a, const uint32_t* b, size_t functions, uint32_t* out,
               Buffer<uint32_t>& kept) {
  kept.resize(count);
  uint32_t* const x = kept.data;
  for (size_t i = 0; i < count; ++i) {  // the remainder by 2^31 - 1: digits of 31 bits added up
    const uint64_t sum = (values[i] & kMinhashPrime) + (values[i] >> 31 & kMinhashPrime) + (values[i] >> 62);
    const uint32_t folded = static_cast<uint32_t>(sum & kMinhashPrime) + static_cast<uint32_t>(sum >> 31);
    x[i] = std::min(folded, folded - kMinhashPrime);
  }
  for (size_t from = 0; from < functions; from += kLanes) {
    const size_t some = std::min(kLanes, functions - from);
    uint32_t ones[kLanes] = {}, more[kLanes] = {}, found[kLanes];
    std::memcpy(ones, a + from, some * sizeof(uint32_t));
    std::memcpy(more, b + from, some * sizeof(uint32_t));
    minima_block(x, count, ones, more, found);
    std::memcpy(out + from, found, some * sizeof(uint32_t));
  }
}

void check_functions(View<uint32_t> factors, View<uint32_t> terms) {
  if (factors.size() != terms.size()) throw nb::value_error("as many terms as factors are needed");
  for (size_t f = 0; f < factors.size(); ++f)
    if (factors.data()[f] >= kMinhashPrime || terms.data()[f] >= kMinhashPrime)
      throw nb::value_error("factors and terms must be below 2^31 - 1");
}

Matrix<uint32_t> minima(View<uint64_t> values, View<uint64_t> offsets, View<uint32_t> factors, View<uint32_t> terms, int64_t threads) {
  check_offsets(offsets, values.size());
  check_functions(factors, terms);
  const size_t documents = offsets.size() - 1, functions = factors.size();
  Buffer<uint32_t> out;
  out.resize(documents * functions);
  {
    nb::gil_scoped_release release;
    const size_t parts = std::max<size_t>(1, std::min(thread_count(threads), documents));
    in_parallel(parts, [&](size_t part) {
      Buffer<uint32_t> kept;
      for (size_t d = documents * part / parts; d < documents * (part + 1) / parts; ++d) {
        const uint64_t from = offsets.data()[d], to = offsets.data()[d + 1];
        minima_of(values.data() + from, to - from, factors.data(), terms.data(), functions, out.data + d * functions, kept);
      }
    });
  }
  return own(std::move(out), documents, functions);
}

Array<uint64_t> simhash(View<uint64_t> values, std::optional<View<double>> weights, View<uint64_t> offsets) {
  check_offsets(offsets, values.size());
  if (weights && weights->size() != values.size()) throw nb::value_error("as many weights as values are needed");
  Buffer<uint64_t> out;
  {
    nb::gil_scoped_release release;
    for (size_t d = 0; d + 1 < offsets.size(); ++d) {
      uint64_t print = 0;
      const uint64_t from = offsets.data()[d], to = offsets.data()[d + 1];
      if (weights) {
        double sums[64] = {};
        for (uint64_t i = from; i < to; ++i) {
          const uint64_t value = values.data()[i];
          const double weight = weights->data()[i];
          for (int bit = 0; bit < 64; ++bit) sums[bit] += (value >> bit & 1) ? weight : -weight;
        }
        for (int bit = 0; bit < 64; ++bit) print |= static_cast<uint64_t>(sums[bit] > 0) << bit;
      } else {
        int64_t ones[64] = {};
        for (uint64_t i = from; i < to; ++i) {
          const uint64_t value = values.data()[i];
          for (int bit = 0; bit < 64; ++bit) ones[bit] += static_cast<int64_t>(value >> bit & 1);
        }
        const int64_t count = static_cast<int64_t>(to - from);
        for (int bit = 0; bit < 64; ++bit) print |= static_cast<uint64_t>(2 * ones[bit] > count) << bit;
      }
      out.push(print);
    }
  }
  return own(std::move(out));
}

Array<uint32_t> components(size_t count, View<uint32_t> left, View<uint32_t> right) {
  if (left.size() != right.size()) throw nb::value_error("left and right must be of one length");
  if (count > UINT32_MAX) throw nb::value_error("more than 4294967295 documents cannot be joined");
  Buffer<uint32_t> parent;
  parent.resize(count);
  for (size_t i = 0; i < count; ++i) parent[i] = static_cast<uint32_t>(i);
  for (size_t i = 0; i < left.size(); ++i)
    if (left.data()[i] >= count || right.data()[i] >= count) throw nb::value_error("a pair names a document that is not there");
  {
    nb::gil_scoped_release release;
    auto find = [&](uint32_t node) {
      while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
      }
      return node;
    };
    for (size_t i = 0; i < left.size(); ++i) {
      const uint32_t x = find(left.data()[i]), y = find(right.data()[i]);
      if (x != y) parent[std::max(x, y)] = std::min(x, y);
    }
    for (size_t i = 0; i < count; ++i) parent[i] = find(static_cast<uint32_t>(i));
  }
  return own(std::move(parent));
}

}  // namespace doublet
