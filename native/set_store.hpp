// Where the sets of fingerprints of many documents are: in memory, and in a file when they outgrow it.
#pragma once
#include "kernels.hpp"
#include "tables.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <optional>
#include <system_error>

namespace doublet {

constexpr size_t kChunkValues = size_t{1} << 21;  // 16 MiB; less where the budget is small

constexpr size_t kTakeFrom = 4096;  // smaller batches are copied: a chunk has its price
constexpr size_t kBytesPerDocument = 120;
constexpr int kMostCounterBits = 36;  // 64 GiB of counters
constexpr size_t kAhead = 24;  // how far ahead table cells are fetched

// How a document is tied to the one that covers it.
struct Link {
  uint32_t document, keeper, overlap;
};

inline void pread_all(int fd, void* to, size_t bytes, uint64_t at) {
  char* p = static_cast<char*>(to);
  while (bytes) {
    const ssize_t got = ::pread(fd, p, bytes, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category(), "reading the spill file");
    if (got == 0) throw std::system_error(EIO, std::generic_category(), "the spill file is shorter than expected");
    p += got;
    at += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
}

inline void pwrite_all(int fd, const void* from, size_t bytes, uint64_t at) {
  const char* p = static_cast<const char*>(from);
  while (bytes) {
    const ssize_t put = ::pwrite(fd, p, bytes, static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw std::system_error(errno, std::generic_category(), "writing the spill file");
    p += put;
    at += static_cast<uint64_t>(put);
    bytes -= static_cast<size_t>(put);
  }
}

class SetStore {
 public:
  SetStore(uint64_t memory_bytes, const std::string& folder, int64_t threads)
      : memory_(memory_bytes ? memory_bytes : uint64_t{1} << 40), folder_(folder), threads_(thread_count(threads)),
        chunk_values_(static_cast<size_t>(std::max<uint64_t>(16, std::min<uint64_t>(kChunkValues, memory_ / 512)))) {}
  ~SetStore() { clear(); }
  SetStore(const SetStore&) = delete;

  size_t told_length() const { return told_length_; }

  // About so many values will come: they can be counted while they are being made (json_sets), which hides most of the
  // cost. A wrong guess costs time, nothing else.
  void expect(uint64_t values) {
    const Alone alone(*this);
    if (length() || !values) return;
    make_counters(values);
    counting_ = true;
  }

  Counters counters() {
    const Alone alone(*this);
    return counters_of_store();
  }

  // With take the memory of the values belongs to the store from now on (it reorders them in place), and each value stands
  // once in its document, as the kernels make sets: nothing is copied, nor looked for again.
  // counted: json_sets counted them.
  void add(nb::ndarray<uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> values, View<uint64_t> offsets, bool take, bool counted) {
    check_offsets(offsets, values.size());
    for (size_t d = 0; d + 1 < offsets.size(); ++d)
      if (offsets.data()[d + 1] - offsets.data()[d] >= UINT32_MAX) throw nb::value_error("a document with over 4 billion shingles cannot be joined");
    const Alone alone(*this);
    if (length() + offsets.size() > UINT32_MAX) throw nb::value_error("more than 4294967295 documents cannot be joined");
    if (settled_) {  // the counts are those of other documents
      counts_.reset();
      counting_ = settled_ = false;
    }
    const Counters counters = counting_ && !counted ? counters_of_store() : Counters{};
    if (take && values.size() >= kTakeFrom) {
      if (counters.cells) counters.count(values.data(), values.size());
      const size_t bytes = values.size() * sizeof(uint64_t);
      if (fd_ >= 0 || (!folder_.empty() && total_ * sizeof(uint64_t) + bytes > budget() / 3)) spill();
      chunks_.push_back({Table<uint64_t>(), values.data(), values.size(), values.size()});
      chunk_starts_.push_back(total_);
      taken_.push_back(values);
    }
    const bool copy = !(take && values.size() >= kTakeFrom);
    Distinct distinct;
    Buffer<uint64_t> once;
    for (size_t d = 0; d + 1 < offsets.size(); ++d) {
      const uint64_t* set = values.data() + offsets.data()[d];
      size_t size = offsets.data()[d + 1] - offsets.data()[d];
      if (copy) {
        once.size = 0;
        distinct.append(set, size, once);
        set = once.data;
        size = once.size;
        if (counters.cells) counters.count(set, size);
      }
      uint64_t sum = 0, cross = 0;
      for (size_t i = 0; i < size; ++i) {
        sum += set[i];
        cross += (set[i] ^ (set[i] >> 29)) * kWordFactor;
      }
      if (copy) append(set, size);
      sizes_.push_back(static_cast<uint32_t>(size));
      starts_.push_back(total_);
      total_ += size;
      prints_.push_back({sum, cross});
    }
    told_length_ = length();
  }

  Array<uint32_t> sizes() {
    Buffer<uint32_t> out;
    {
      const Alone alone(*this);
      out.append(sizes_.data(), sizes_.size());
    }
    return own(std::move(out));
  }

  Array<uint64_t> get(size_t document) {
    Buffer<uint64_t> out, scratch;
    {
      const Alone alone(*this);
      if (document >= length()) throw nb::index_error("no such document");
      const uint64_t* set = read(document, sizes_[document], scratch);
      out.append(set, sizes_[document]);
      std::sort(out.begin(), out.end());
    }
    return own(std::move(out));
  }

  bool spilled() const { return spilled_; }

  Array<uint32_t> overlaps(View<uint32_t> left, View<uint32_t> right) {
    if (left.size() != right.size()) throw nb::value_error("left and right must be of one length");
    Buffer<uint32_t> out;
    out.resize(left.size());
    {
      const Alone alone(*this);
      for (size_t i = 0; i < left.size(); ++i)
        if (left.data()[i] >= length() || right.data()[i] >= length()) throw nb::index_error("no such document");
      std::vector<uint32_t> order(left.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
      std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
        return left.data()[x] != left.data()[y] ? left.data()[x] < left.data()[y] : x < y;
      });
      const size_t parts = std::min(threads_, order.size() / 256 + 1);
      in_parallel(parts, [&](size_t part) {
        Lookup lookup;
        Buffer<uint64_t> mine, theirs;
        uint32_t filled = UINT32_MAX;
        for (size_t k = order.size() * part / parts; k < order.size() * (part + 1) / parts; ++k) {
          const uint32_t a = left.data()[order[k]], b = right.data()[order[k]];
          if (a != filled) {
            const uint64_t* set = read(a, sizes_[a], mine);
            lookup.fill(set, sizes_[a]);
            filled = a;
          }
          const uint64_t* set = read(b, sizes_[b], theirs);
          uint32_t common = 0;
          for (size_t i = 0; i < sizes_[b]; ++i) common += lookup.holds(set[i]);
          out[order[k]] = common;
        }
      });
    }
    return own(std::move(out));
  }

  Matrix<uint32_t> minima(View<uint32_t> factors, View<uint32_t> terms, View<uint32_t> documents) {
    check_functions(factors, terms);
    const size_t functions = factors.size(), count = documents.size();
    Buffer<uint32_t> out;
    out.resize(count * functions);
    {
      const Alone alone(*this);
      for (size_t i = 0; i < count; ++i)
        if (documents.data()[i] >= length()) throw nb::index_error("no such document");
      in_parallel(threads_, [&](size_t part) {
        Buffer<uint64_t> scratch;
        Buffer<uint32_t> kept;
        for (size_t i = count * part / threads_; i < count * (part + 1) / threads_; ++i) {
          const uint32_t d = documents.data()[i];
          const uint64_t* set = read(d, sizes_[d], scratch);
          minima_of(set, sizes_[d], factors.data(), terms.data(), functions, out.data + i * functions, kept);
        }
      });
    }
    return own(std::move(out), count, functions);
  }

  nb::tuple clean(View<uint32_t> order, double threshold, double containment, nb::object on_step);
  nb::tuple pairs(double threshold, double containment, uint64_t limit, nb::object on_step);
  Array<uint8_t> contained(double threshold);

  // Lets go of all documents; the store can be filled again.
  void close() {
    const Alone alone(*this);
    clear();
  }

 private:
  friend class Join;
  // The store for one thread at a time; the others wait without the GIL. Progress is told from inside: whoever hears of
  // it must not come back in.
  class Alone {
   public:
    explicit Alone(SetStore& store) : store_(store) {
      if (store.inside_ == std::this_thread::get_id()) throw std::runtime_error("the store is at work: wait until it is done");
      release_.emplace();
      lock_ = std::unique_lock<std::mutex>(store.mutex_);
      store.inside_ = std::this_thread::get_id();
    }
    ~Alone() { store_.inside_ = std::thread::id(); }
    Alone(const Alone&) = delete;

   private:
    SetStore& store_;
    std::optional<nb::gil_scoped_release> release_;
    std::unique_lock<std::mutex> lock_;  // given back before the GIL is asked for
  };
  struct Counts {
    Table<uint8_t> cells;
    std::mutex turn;
  };

  size_t length() const { return sizes_.size(); }

  void clear() {
    drop_chunks();
    counts_.reset();
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    sizes_ = {};
    starts_ = {};
    prints_ = {};
    total_ = written_ = 0;
    counting_ = settled_ = false;
    told_length_ = 0;
    spilled_ = false;
  }

  static void check_shares(double threshold, double containment) {
    if (!(threshold >= 0)) throw nb::value_error("a threshold is 0 or more");
    if (std::isnan(containment)) throw nb::value_error("a containment is a number");
  }

  Counters counters_of_store() const {
    return counting_ ? Counters{counts_->cells.data(), counter_shift_, &counts_->turn, counts_} : Counters{};
  }

  struct Chunk {
    Table<uint64_t> table;  // empty when the values came with their memory
    uint64_t* values;
    size_t used, room;
  };
  struct Print {
    uint64_t sum, cross;
    bool operator==(const Print& o) const { return sum == o.sum && cross == o.cross; }
  };

  uint64_t memory_;
  std::string folder_;
  size_t threads_;
  size_t chunk_values_;
  std::mutex mutex_;
  std::atomic<std::thread::id> inside_{};  // the thread that holds the mutex
  std::atomic<size_t> told_length_{0};
  std::atomic<bool> spilled_{false};
  std::vector<uint32_t> sizes_;
  std::vector<uint64_t> starts_;  // place of each set in the stream of all values
  std::vector<Print> prints_;
  std::vector<Chunk> chunks_;
  std::vector<uint64_t> chunk_starts_;
  std::vector<nb::ndarray<uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>> taken_;  // arrays whose memory is in use
  uint64_t total_ = 0;    // values in all sets
  uint64_t written_ = 0;  // of these in the file
  int fd_ = -1;
  std::shared_ptr<Counts> counts_;
  int counter_shift_ = 48;
  bool counting_ = false;  // values are counted as they come
  bool settled_ = false;   // counts are those of the documents at hand, equal sets counted once

  // What is left for the large tables after the small ones that grow with the number of documents.
  uint64_t budget() const {
    const uint64_t small = length() * kBytesPerDocument;
    return memory_ > 2 * small ? memory_ - small : memory_ / 2;
  }

  static nb::tuple columns(std::vector<Link>& links) {
    std::sort(links.begin(), links.end(), [](const Link& x, const Link& y) {
      return x.document != y.document ? x.document < y.document : x.keeper != y.keeper ? x.keeper < y.keeper : x.overlap < y.overlap;
    });
    Buffer<uint32_t> documents, keepers, overlaps;
    for (const Link& link : links) {
      documents.push(link.document);
      keepers.push(link.keeper);
      overlaps.push(link.overlap);
    }
    return nb::make_tuple(own(std::move(documents)), own(std::move(keepers)), own(std::move(overlaps)));
  }

  void check_order(View<uint32_t> order) const {
    std::vector<bool> seen(length());
    for (size_t i = 0; i < order.size(); ++i) {
      if (order.data()[i] >= length() || seen[order.data()[i]])
        throw nb::value_error("the order must name documents of this store, each once at most");
      seen[order.data()[i]] = true;
    }
  }

  // A third of the budget for sets in memory, a third for the counters, the rest for postings and what is small.
  void append(const uint64_t* set, size_t size) {
    if (chunks_.empty() || chunks_.back().used + size > chunks_.back().room || chunks_.back().table.empty()) {
      if (fd_ >= 0) spill();
      else if (!folder_.empty() && (total_ + chunk_values_) * sizeof(uint64_t) > budget() / 3) spill();
      const size_t room = std::max(chunk_values_, size);
      chunks_.push_back({Table<uint64_t>(), nullptr, 0, room});
      chunks_.back().table.make(room);
      chunks_.back().values = chunks_.back().table.data();
      chunk_starts_.push_back(total_);
    }
    Chunk& chunk = chunks_.back();
    std::memcpy(chunk.values + chunk.used, set, size * sizeof(uint64_t));
    chunk.used += size;
  }

  void spill() {
    if (folder_.empty()) return;
    if (fd_ < 0) {
      fd_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
      if (fd_ < 0) {
        std::string name = folder_ + "/doublet-spill-XXXXXX";
        fd_ = ::mkstemp(&name[0]);
        if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "making a spill file in " + folder_);
        ::unlink(name.c_str());
      }
    }
    spilled_ = true;
    uint64_t written = written_;
    for (Chunk& chunk : chunks_) {
      pwrite_all(fd_, chunk.values, chunk.used * sizeof(uint64_t), written * sizeof(uint64_t));
      written += chunk.used;
    }
    written_ = written;  // not before all is there: a full disk leaves the store as it was
    drop_chunks();
  }

  void drop_chunks() {
    chunks_.clear();
    chunk_starts_.clear();
    if (!taken_.empty()) {
      nb::gil_scoped_acquire acquire;
      taken_.clear();
    }
  }

  size_t chunk_of(uint64_t place) const {
    return static_cast<size_t>(std::upper_bound(chunk_starts_.begin(), chunk_starts_.end(), place) - chunk_starts_.begin()) - 1;
  }
  uint64_t* in_memory(uint64_t place) {
    const size_t chunk = chunk_of(place);
    return chunks_[chunk].values + (place - chunk_starts_[chunk]);
  }

  // The first `count` values of a set: in place when it is in memory, else read into the scratch buffer.
  const uint64_t* read(size_t document, size_t count, Buffer<uint64_t>& scratch) {
    if (!count) return nullptr;
    if (starts_[document] >= written_) return in_memory(starts_[document]);
    scratch.resize(count);
    pread_all(fd_, scratch.data, count * sizeof(uint64_t), starts_[document] * sizeof(uint64_t));
    return scratch.data;
  }

  // Walks all sets of a range of documents in order, in large reads; work(document, values, end of what lies behind
  // them) may reorder the values and says whether they are to be kept so.
  template <class Work> void walk(size_t from, size_t to, Work work) {
    Buffer<uint64_t> block;
    size_t d = from;
    while (d < to) {
      if (starts_[d] >= written_) {
        uint64_t* values = nullptr;
        uint64_t* end = nullptr;
        if (sizes_[d]) {
          const size_t chunk = chunk_of(starts_[d]);
          values = chunks_[chunk].values + (starts_[d] - chunk_starts_[chunk]);
          end = chunks_[chunk].values + chunks_[chunk].used;
        }
        work(d, values, end);
        ++d;
        continue;
      }
      size_t last = d;
      const uint64_t base = starts_[d];
      while (last < to && starts_[last] < written_ && starts_[last] + sizes_[last] - base <= chunk_values_) ++last;
      if (last == d) last = d + 1;
      const uint64_t count = starts_[last - 1] + sizes_[last - 1] - base;
      block.resize(count);
      pread_all(fd_, block.data, count * sizeof(uint64_t), base * sizeof(uint64_t));
      bool changed = false;
      for (; d < last; ++d) changed |= work(d, block.data + (starts_[d] - base), block.data + count);
      if (changed) pwrite_all(fd_, block.data, count * sizeof(uint64_t), base * sizeof(uint64_t));
    }
  }

  // The number of the first document with the same set, for each document; empty sets stand alone.
  std::vector<uint32_t> classes() const {
    std::vector<uint32_t> first(length());
    OpenTable<uint32_t> table;  // one above the document; 0: free
    table.reset(2 * length());
    for (size_t d = 0; d < length(); ++d) {
      first[d] = static_cast<uint32_t>(d);
      if (!sizes_[d]) continue;
      uint32_t& cell = table.at(mix(prints_[d].sum ^ prints_[d].cross), [&](uint32_t above) {
        return above && !(prints_[above - 1] == prints_[d] && sizes_[above - 1] == sizes_[d]);
      });
      if (cell) first[d] = cell - 1;
      else cell = static_cast<uint32_t>(d + 1);
    }
    return first;
  }

  void make_counters(uint64_t values) {
    int bits = 16;
    while (bits < kMostCounterBits && uint64_t{1} << bits >> 1 < values) ++bits;
    while (bits > 20 && (uint64_t{1} << bits) > budget() / 3) --bits;
    counts_ = std::make_shared<Counts>();
    for (;; --bits) {  // fewer cells cost time, nothing else
      try {
        counts_->cells.make(size_t{1} << bits);
        break;
      } catch (const std::bad_alloc&) {
        if (bits <= 20) throw;
      }
    }
    counter_shift_ = 64 - bits;
  }

  void count(const std::vector<uint32_t>& first) {
    if (settled_) return;
    settled_ = true;
    if (counting_) {  // only sets that stand there twice are left to put right
      uint8_t* cells = counts_->cells.data();
      for (size_t d = 0; d < length(); ++d) {
        if (first[d] == d) continue;
        walk(d, d + 1, [&](size_t, const uint64_t* values, const uint64_t*) {
          for (size_t i = 0; i < sizes_[d]; ++i) {
            uint8_t& cell = cells[values[i] >> counter_shift_];
            cell = static_cast<uint8_t>(cell - (cell < Counters::kMost));
          }
          return false;
        });
      }
      return;
    }
    uint64_t distinct = 0;
    for (size_t d = 0; d < length(); ++d)
      if (first[d] == d) distinct += sizes_[d];
    make_counters(distinct);
    const int bits = 64 - counter_shift_;
    // Each thread reads all and counts its own part of the table: no increment can be lost.
    in_parallel(threads_, [&](size_t part) {
      const uint64_t low = static_cast<uint64_t>((static_cast<unsigned __int128>(part) << bits) / threads_);
      const uint64_t high = static_cast<uint64_t>((static_cast<unsigned __int128>(part + 1) << bits) / threads_);
      uint8_t* cells = counts_->cells.data();
      const bool whole = threads_ == 1;
      walk(0, length(), [&](size_t d, const uint64_t* values, const uint64_t*) {
        if (first[d] != d) return false;
        const size_t size = sizes_[d];
        for (size_t i = 0; i < size; ++i) {
          if (i + kAhead < size) __builtin_prefetch(cells + (values[i + kAhead] >> counter_shift_), 1);
          const uint64_t cell = values[i] >> counter_shift_;
          if (whole || (cell >= low && cell < high)) cells[cell] += cells[cell] != 255;
        }
        return false;
      });
    });
  }
};

}  // namespace doublet
