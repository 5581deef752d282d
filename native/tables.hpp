// Large tables of the join: on huge pages where the system gives them; and the lookup of one document's numbers.
#pragma once
#include "open_table.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

namespace doublet {

constexpr size_t kLong = size_t{1} << 16;  // shingles of a text from which on memory counts more than speed

// Numbers met while looking at one document: a set that is quick to refill.
class Lookup {
 public:
  void fill(const uint64_t* values, size_t count) {
    table_.reset(count * (count <= kLong ? 4 : 2));
    zero_ = false;
    for (size_t i = 0; i < count; ++i) {
      zero_ |= !values[i];
      table_.at(values[i] >> 7, [](uint64_t other) { return other != 0; }) = values[i];
    }
  }
  bool holds(uint64_t value) const {
    if (__builtin_expect(!value, 0)) return zero_;
    return table_.at(value >> 7, [&](uint64_t other) { return other && other != value; }) == value;
  }

 private:
  OpenTable<uint64_t> table_;
  bool zero_ = false;  // 0 is a free cell
};

// Large tables that are hit at random: on huge pages where the system gives them, which saves most of the page walks.
template <class T> class Table {
 public:
  Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  Table(Table&& o) noexcept : data_(o.data_), size_(o.size_), bytes_(o.bytes_) { o.data_ = nullptr; o.size_ = o.bytes_ = 0; }
  ~Table() { clear(); }
  // All zero.
  void make(size_t size) {
    clear();
    if (size > (size_t{1} << 48) / sizeof(T)) throw std::bad_alloc();
    bytes_ = (size * sizeof(T) + kPage - 1) / kPage * kPage;
    void* at = ::mmap(nullptr, std::max(bytes_, kPage), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    if (size * sizeof(T) >= kPage / 2) ::madvise(at, bytes_, MADV_HUGEPAGE);  // a small one would use little of its page
    data_ = static_cast<T*>(at);
    size_ = size;
  }
  void clear() {
    if (data_) ::munmap(data_, std::max(bytes_, kPage));
    data_ = nullptr;
    size_ = 0;
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return !size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  static constexpr size_t kPage = size_t{1} << 21;
  T* data_ = nullptr;
  size_t size_ = 0, bytes_ = 0;
};

}  // namespace doublet
