// What module.cpp offers to Python. Each function has a plain twin of the same name in doublet/kernels/reference.
#pragma once
#include "arguments.hpp"
#include "buffers.hpp"
#include "fold.hpp"
#include "open_table.hpp"
#include "threads.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace doublet {

// A Python string as it lies in memory. Valid while the tuple that holds it lives.
struct Text {
  const void* data;
  size_t size;
  int kind;  // bytes per character: 1, 2 or 4
};

// Keeps the strings alive while the GIL is released.
class Texts {
 public:
  explicit Texts(nb::handle sequence);
  std::vector<Text> items;
  // Cuts into `parts` runs of about equal length: first text of each, and the end.
  std::vector<size_t> cut(size_t parts) const;

 private:
  nb::object keep_;
};

// hash -> id in order of first sight, with the spelling of every word.
class WordTable {
 public:
  size_t size() const { return count_; }
  std::mutex& mutex() { return mutex_; }  // held by whoever puts words in: threads may share a table
  nb::list words(size_t start);
  Array<uint64_t> hashes();
  template <class C> uint32_t id_of(uint64_t hash, const C* text, uint32_t start, uint32_t end, const uint32_t* letters, size_t count);
  void forget_last();  // the newest word, as if it had never been seen

 private:
  Numbering ids_;
  std::vector<uint64_t> ends_;
  std::vector<uint32_t> letters_;
  std::atomic<size_t> count_{0};
  std::mutex mutex_;
};

nb::tuple tokenize(nb::handle texts, std::optional<View<uint64_t>> stop, WordTable* table, int64_t threads);
nb::tuple shingle_sets(nb::handle texts, size_t size, std::optional<View<uint64_t>> stop, int64_t min_letters, int64_t threads);
// Cells in which a store counts the documents of each fingerprint; none when cells is null. Threads count one after the
// other, a set at a time: cheaper than cells that may be changed by several at once. A cell stops at kMost, so that it can
// never run over, and one that stopped is never counted down.
struct Counters {
  static constexpr uint8_t kMost = 190;
  uint8_t* cells = nullptr;
  int shift = 0;
  std::mutex* turn = nullptr;
  std::shared_ptr<void> keep = nullptr;  // whoever counts may outlive the store's wish for it

  void fetch(const uint64_t* values, size_t count) const {
    for (size_t i = 0; i < count; ++i) __builtin_prefetch(cells + (values[i] >> shift), 1);
  }
  void count(const uint64_t* values, size_t number) const {
    std::lock_guard<std::mutex> mine(*turn);
    for (size_t i = 0; i < number; ++i) {
      uint8_t& cell = cells[values[i] >> shift];
      cell = static_cast<uint8_t>(cell + (cell < kMost));
    }
  }
};

size_t count_lines(nb::bytes block);  // line ends in it
nb::tuple json_sets(nb::bytes block, const std::string& id_field, const std::string& text_field, size_t size,
                    std::optional<View<uint64_t>> stop, int64_t min_letters, Counters counters);
nb::tuple fold_text(nb::handle text);
nb::tuple odd_characters(nb::handle text);
nb::tuple apart_runs(View<uint32_t> starts, View<uint32_t> ends, View<uint8_t> flags, View<uint64_t> offsets, uint32_t least);

nb::tuple shingle(View<uint64_t> hashes, View<uint64_t> offsets, size_t size);
nb::tuple distinct(View<uint64_t> values, View<uint64_t> offsets);
nb::tuple ordered(View<uint64_t> values, View<uint64_t> offsets);
size_t count_common(View<uint64_t> a, View<uint64_t> b);
nb::tuple passages(View<uint64_t> stems, View<uint8_t> marks, View<uint32_t> starts, View<uint32_t> ends, View<uint64_t> offsets,
                   View<uint32_t> left, View<uint32_t> right, nb::handle settings, int64_t threads);
Array<uint8_t> sentence_marks(nb::handle texts, View<uint64_t> hashes, View<uint32_t> starts, View<uint32_t> ends, View<uint64_t> offsets,
                              View<uint64_t> shortened);
nb::tuple sentence_starts(View<uint8_t> marks, View<uint64_t> offsets);
nb::tuple untold_parts(View<uint32_t> borders, View<uint32_t> starts, View<uint32_t> ends);
nb::tuple best_places(View<uint64_t> stems, View<uint64_t> roots, std::optional<View<double>> rarity, View<uint8_t> marks,
                      View<uint64_t> offsets, View<uint32_t> left, View<uint32_t> right, View<uint64_t> firsts, View<uint32_t> a0,
                      View<uint32_t> a1, View<uint32_t> b0, View<uint32_t> b1, int64_t threads);
nb::tuple block_signs(nb::handle texts, View<uint32_t> words, View<double> linked, View<uint8_t> said, View<uint32_t> holders,
                      View<uint32_t> parents, View<uint32_t> elements, View<uint32_t> names, nb::handle settings, bool article);
Array<double> tree_scores(nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> rows, View<uint16_t> signs,
                          View<double> values, View<uint32_t> others, View<uint32_t> roots);
nb::object cut_markup(nb::bytes markup);
nb::list without_numbers(nb::handle texts);
nb::tuple winnow(View<uint64_t> values, View<uint64_t> offsets, size_t window);
nb::tuple pack_bags(View<uint32_t> words, View<uint64_t> offsets, View<uint64_t> numbers);
nb::tuple unpack_bags(View<uint8_t> data, View<uint64_t> offsets);
Array<int64_t> sort_postings(View<uint64_t> keys, View<uint64_t> documents);
nb::tuple cut_postings(View<uint64_t> keys, View<uint64_t> documents, View<uint64_t> libraries, unsigned key_bits, unsigned bits, size_t heavy);
nb::tuple pack_postings(View<uint64_t> keys, View<uint64_t> documents, View<uint64_t> libraries, View<uint64_t> offsets);
nb::tuple unpack_postings(View<uint8_t> data, View<uint64_t> offsets, std::optional<View<uint64_t>> wanted, bool cut);
nb::tuple merge_postings(View<uint8_t> data, View<uint64_t> offsets);
nb::tuple chunk_stems(View<uint32_t> words, View<uint32_t> rows, View<uint64_t> offsets, View<uint8_t> filed, View<uint64_t> keys,
                      size_t chunk_words, size_t most);
nb::tuple shared_chunks(View<uint64_t> keys, View<uint64_t> chunks, View<double> weights, View<uint64_t> stems, View<uint64_t> offsets,
                        double enough, size_t least, size_t best);
nb::tuple heaviest(View<double> weights, View<uint32_t> ranks, View<uint64_t> offsets, size_t count);
Matrix<uint32_t> minima(View<uint64_t> values, View<uint64_t> offsets, View<uint32_t> factors, View<uint32_t> terms, int64_t threads);
Array<uint64_t> simhash(View<uint64_t> values, std::optional<View<double>> weights, View<uint64_t> offsets);
Array<uint32_t> components(size_t count, View<uint32_t> left, View<uint32_t> right);
nb::tuple common_runs(View<uint64_t> a, View<uint64_t> b, size_t size);
nb::tuple number_words(View<uint64_t> words);
Array<int64_t> find_keys(View<uint64_t> words, View<uint64_t> keys, View<uint32_t> firsts, int64_t bits);
nb::tuple sample_keys(View<uint64_t> values, View<uint64_t> offsets, uint64_t first, int64_t bits);
nb::tuple pair_keys(View<uint64_t> keys, size_t documents, size_t most);
nb::tuple align_texts(View<uint32_t> words, View<uint64_t> offsets, View<double> gains, View<double> masses, View<uint32_t> left,
                      View<uint32_t> right, int64_t threads, uint64_t spare);
Array<uint32_t> suffix_array(View<uint32_t> ids);
Array<uint32_t> common_prefixes(View<uint32_t> ids, View<uint32_t> order);
nb::tuple exact_groups(View<uint32_t> ids, View<uint32_t> order, View<uint32_t> prefixes, size_t min_tokens, size_t budget,
                       std::optional<View<uint32_t>> places);
nb::tuple self_chains(View<uint32_t> ids, View<uint32_t> parts, size_t seed, size_t nearest, size_t gap, size_t join_gap,
                      size_t min_matched, size_t join_cost);

void count_cells(Cells table, View<uint64_t> values);
void add_cells(Cells total, View<uint8_t> more);
nb::tuple digest_sets(View<uint64_t> values, View<uint64_t> offsets);
nb::tuple share_sets(View<uint64_t> values, View<uint64_t> offsets, View<uint8_t> taking, View<uint8_t> table, double least, double inside);
nb::tuple post_shared(View<uint64_t> shared, View<uint64_t> offsets, View<uint8_t> marks, View<uint32_t> sizes,
                      std::optional<View<uint8_t>> wanted);
nb::tuple lead_postings(View<uint64_t> numbers, View<uint64_t> documents, View<uint32_t> sizes, uint64_t most, double threshold,
                        bool contained);

// hash -> number in order of first sight.
class NumberTable {
 public:
  size_t size() const { return count_; }
  Array<uint32_t> number(View<uint64_t> hashes);

 private:
  Numbering numbers_;
  std::atomic<uint32_t> count_{0};
  std::mutex mutex_;  // threads may share a table
};

nb::list read_texts(nb::sequence paths, size_t limit, int64_t threads);
nb::list mark_markdown(nb::handle texts, int64_t threads);
nb::tuple word_edges(nb::handle texts, View<uint32_t> starts, View<uint32_t> ends, View<uint64_t> offsets, int64_t threads);
Array<uint8_t> repeated(View<uint32_t> ids, size_t length, int64_t threads);

// The loops behind them, on plain memory.
void roll(const uint64_t* words, size_t count, size_t size, Buffer<uint64_t>& out);

// Keeps each value once, in order of first sight.
class Distinct {
 public:
  void append(const uint64_t* values, size_t count, Buffer<uint64_t>& out);

 private:
  OpenTable<uint16_t> near_;
  OpenTable<uint32_t> far_;
};

void minima_of(const uint64_t* values, size_t count, const uint32_t* a, const uint32_t* b, size_t functions, uint32_t* out,
               Buffer<uint32_t>& kept);

int limit_vectors(int bits);  // widest vectors to use; returns what will be used

void check_functions(View<uint32_t> factors, View<uint32_t> terms);  // of minima

void bind_sets(nb::module_& m);

}  // namespace doublet
