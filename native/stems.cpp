// Stems by the chunks of documents in which they stand, and the chunks that share stems with windows of a text. Twins of
// the same names in doublet/kernels/reference/stems.py.
#include "kernels.hpp"
#include "sorting.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace doublet {

nb::tuple chunk_stems(View<uint32_t> words, View<uint32_t> rows, View<uint64_t> offsets, View<uint8_t> filed, View<uint64_t> keys,
                      size_t chunk_words, size_t most) {
  check_offsets(offsets, words.size());
  if (rows.size() != words.size()) throw nb::value_error("every word needs a row");
  if (!chunk_words || !most || chunk_words > UINT32_MAX || most > UINT32_MAX) throw nb::value_error("chunks have 1 to 4294967295 words");
  for (size_t i = 0; i < words.size(); ++i)
    if (words.data()[i] >= filed.size() || words.data()[i] >= keys.size()) throw nb::value_error("of a word it is not known whether it is filed");
  for (size_t d = 0; d + 1 < offsets.size(); ++d)
    for (uint64_t i = offsets.data()[d]; i < offsets.data()[d + 1]; ++i)
      if (rows.data()[i] >= offsets.data()[d + 1] - offsets.data()[d]) throw nb::value_error("a row lies outside its document");
  Buffer<uint8_t> bits;
  Buffer<uint64_t> ends, found;
  Buffer<uint32_t> documents, chunks, counts;
  {
    nb::gil_scoped_release release;
    const size_t size = offsets.size() - 1;
    Buffer<uint64_t> uses;
    uses.resize(filed.size());
    std::fill(uses.begin(), uses.end(), 0);
    struct Use {
      uint32_t word, document, chunk;
    };
    Buffer<Use> all;
    all.reserve(words.size());
    ends.push(0);
    for (size_t d = 0; d < size; ++d) {
      const uint64_t start = offsets.data()[d], end = offsets.data()[d + 1];
      const uint64_t count = std::min<uint64_t>(std::max<uint64_t>((end - start + chunk_words / 2) / chunk_words, 1), most);
      uint64_t distinct = 0;
      for (uint64_t i = start; i < end; ++i) distinct = std::max<uint64_t>(distinct, uint64_t{rows.data()[i]} + 1);
      counts.push(static_cast<uint32_t>(count));
      ends.push(ends[d] + (distinct * count + 7) / 8);
    }
    bits.resize(ends[size]);
    std::fill(bits.begin(), bits.end(), uint8_t{0});
    // Document by document: which words are in which chunks, each once.
    for (size_t d = 0; d < size; ++d) {
      const uint64_t start = offsets.data()[d], end = offsets.data()[d + 1], length = end - start, count = counts[d];
      uint8_t* const cells = bits.data + ends[d];
      uint64_t chunk = 0, passed = 0;  // the place times `count`, in lengths of the document and what is over
      for (uint64_t i = start; i < end; ++i) {
        const uint32_t word = words.data()[i];
        if (filed.data()[word]) {
          const uint64_t bit = rows.data()[i] * count + chunk;
          const uint8_t mask = static_cast<uint8_t>(128 >> bit % 8);
          if (!(cells[bit / 8] & mask)) {
            cells[bit / 8] = static_cast<uint8_t>(cells[bit / 8] | mask);
            ++uses[word];
            all.push({word, static_cast<uint32_t>(d), static_cast<uint32_t>(chunk)});
          }
        }
        for (passed += count; passed >= length; passed -= length) ++chunk;
      }
    }
    // The words by their keys: so postings come out sorted.
    Buffer<Keyed> order;
    for (size_t word = 0; word < filed.size(); ++word)
      if (uses[word]) order.push({keys.data()[word], word});
    sort_keyed(order);
    uint64_t before = 0;
    Buffer<uint64_t> next;
    next.resize(filed.size());
    found.resize(all.size);
    for (const Keyed& one : order) {
      next[one.value] = before;
      std::fill_n(found.data + before, uses[one.value], one.key);
      before += uses[one.value];
    }
    documents.resize(all.size);
    chunks.resize(all.size);
    for (const Use& one : all) {
      const uint64_t place = next[one.word]++;
      documents[place] = one.document;
      chunks[place] = one.chunk;
    }
  }
  return nb::make_tuple(own(std::move(bits)), own(std::move(ends)), own(std::move(counts)), own(std::move(found)), own(std::move(documents)),
                        own(std::move(chunks)));
}

nb::tuple shared_chunks(View<uint64_t> keys, View<uint64_t> chunks, View<double> weights, View<uint64_t> stems, View<uint64_t> offsets,
                        double enough, size_t least, size_t best) {
  if (chunks.size() != keys.size()) throw nb::value_error("every key needs a chunk");
  check_offsets(offsets, stems.size());
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys.data()[i] >= weights.size()) throw nb::value_error("a key has no weight");
  for (size_t i = 0; i < stems.size(); ++i)
    if (stems.data()[i] >= weights.size()) throw nb::value_error("a stem of a window has no weight");
  Buffer<uint64_t> found, windows;
  Buffer<double> worth;
  {
    nb::gil_scoped_release release;
    const double* const weight = weights.data();
    // The chunks of each key, one after the other, as they came.
    std::vector<uint64_t> starts(weights.size() + 1);
    for (size_t i = 0; i < keys.size(); ++i)
      if (weight[keys.data()[i]] > 0) ++starts[keys.data()[i] + 1];
    for (size_t i = 0; i < weights.size(); ++i) starts[i + 1] += starts[i];
    std::vector<uint32_t> owners(starts.back());
    {
      std::vector<uint64_t> next(starts.begin(), starts.end() - 1);
      std::vector<uint64_t> sorted(starts.back());
      for (size_t i = 0; i < keys.size(); ++i)
        if (weight[keys.data()[i]] > 0) sorted[next[keys.data()[i]]++] = chunks.data()[i];
      Numbering names(1 << 14);
      for (size_t i = 0; i < sorted.size(); ++i) owners[i] = names.number(sorted[i]);
      // A chunk that shares too little with the whole text shares too little with each of its windows.
      std::vector<double> total(names.size());
      for (size_t key = 0; key < weights.size(); ++key)
        for (uint64_t i = starts[key]; i < starts[key + 1]; ++i) total[owners[i]] += weight[key];
      for (uint32_t& owner : owners)
        if (!(total[owner] >= enough)) owner = UINT32_MAX;
      std::vector<double> scores(names.size());
      std::vector<uint64_t> shared(names.size());
      std::vector<uint32_t> touched;
      std::vector<double> ranked;
      for (size_t window = 0; window + 1 < offsets.size(); ++window) {
        touched.clear();
        for (uint64_t at = offsets.data()[window]; at < offsets.data()[window + 1]; ++at) {
          const uint64_t key = stems.data()[at];
          for (uint64_t i = starts[key]; i < starts[key + 1]; ++i) {
            const uint32_t owner = owners[i];
            if (owner == UINT32_MAX) continue;
            if (!shared[owner]) touched.push_back(owner);
            ++shared[owner];
            scores[owner] += weight[key];
          }
        }
        const auto rounded = [&](uint32_t owner) { return std::nearbyint(scores[owner] * 1e9) / 1e9; };
        size_t kept = 0;
        ranked.clear();
        for (size_t i = 0; i < touched.size(); ++i) {
          if (!(scores[touched[i]] >= enough) || shared[touched[i]] < least) continue;
          ranked.push_back(rounded(touched[i]));
          std::swap(touched[kept++], touched[i]);
        }
        double limit = -HUGE_VAL;
        if (best && ranked.size() > best) {
          std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(best - 1), ranked.end(), std::greater<double>());
          limit = ranked[best - 1];
        }
        std::sort(touched.begin(), touched.begin() + static_cast<std::ptrdiff_t>(kept),
                  [&](uint32_t a, uint32_t b) { return names.values()[a] < names.values()[b]; });
        for (size_t i = 0; i < kept; ++i) {
          if (!(rounded(touched[i]) >= limit)) continue;
          found.push(names.values()[touched[i]]);
          worth.push(scores[touched[i]]);
          windows.push(window);
        }
        for (uint32_t owner : touched) scores[owner] = 0, shared[owner] = 0;
      }
    }
  }
  return nb::make_tuple(own(std::move(found)), own(std::move(worth)), own(std::move(windows)));
}

}  // namespace doublet
