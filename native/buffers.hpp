// Growable arrays without zero-filling, and how they become numpy arrays without a copy.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace nb = nanobind;

namespace doublet {

// Memory of large buffers is kept for the next one: pages that are new to the process cost more than the work on them.
// Every block has its room in front of it.
class Pool {
 public:
  static constexpr size_t kLarge = size_t{1} << 18, kHeader = 64, kKept = 12;

  static void* take(size_t bytes) {
    if (bytes >= kLarge) {
      std::lock_guard<std::mutex> lock(mutex());
      auto& kept = blocks();
      size_t best = kept.size();
      for (size_t i = 0; i < kept.size(); ++i)
        if (room(kept[i]) >= bytes && room(kept[i]) <= 4 * bytes && (best == kept.size() || room(kept[i]) < room(kept[best]))) best = i;
      if (best < kept.size()) {
        void* found = kept[best];
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(best));
        return found;
      }
    }
    char* raw = static_cast<char*>(fresh(bytes + kHeader));
    if (!raw) throw std::bad_alloc();
    *reinterpret_cast<size_t*>(raw) = bytes;
    return raw + kHeader;
  }
  static void give(void* data) noexcept {
    if (!data) return;
    if (room(data) >= kLarge) {
      std::lock_guard<std::mutex> lock(mutex());
      auto& kept = blocks();
      if (kept.size() < kKept && room(data) < (size_t{1} << 26) && !frugal()) {
        kept.push_back(data);
        return;
      }
    }
    std::free(static_cast<char*>(data) - kHeader);
  }
  // Gives back what is kept: before work that needs memory for something else.
  static void clear() noexcept {
    std::lock_guard<std::mutex> lock(mutex());
    for (void* block : blocks()) std::free(static_cast<char*>(block) - kHeader);
    blocks().clear();
#if defined(__GLIBC__)
    ::malloc_trim(0);
#endif
  }
  // For work within a tight budget of memory. Nothing is kept, and what is freed goes back to the system at once: the
  // C library would raise the size from which it does so whenever a larger block is freed.
  static void save(bool on) noexcept {
    frugal() = on;
    if (!on) return;
    clear();
#if defined(__GLIBC__)
    ::mallopt(M_MMAP_THRESHOLD, 1 << 17);
#endif
  }
  static size_t room(const void* data) { return *reinterpret_cast<const size_t*>(static_cast<const char*>(data) - kHeader); }

 private:
  // Large blocks lie on huge pages where the system gives them: they become part of the process in fewer steps.
  static void* fresh(size_t bytes) {
#if defined(__linux__)
    constexpr size_t kPage = size_t{1} << 21;
    if (bytes >= 2 * kPage && !frugal()) {
      void* at = nullptr;
      if (::posix_memalign(&at, kPage, bytes)) return nullptr;
      ::madvise(at, bytes / kPage * kPage, MADV_HUGEPAGE);  // not the end: it may never be used
      return at;
    }
#endif
    return std::malloc(bytes);
  }
  static std::atomic<bool>& frugal() {
    static std::atomic<bool> on{false};
    return on;
  }
  static std::mutex& mutex() {
    static std::mutex* one = new std::mutex;  // arrays may outlive the module
    return *one;
  }
  static std::vector<void*>& blocks() {
    static auto* kept = [] {
      auto* made = new std::vector<void*>;
      made->reserve(kKept);
      return made;
    }();
    return *kept;
  }
};

template <class T> struct Buffer {
  static constexpr size_t kMostBytes = size_t{1} << 48;  // more than any machine has: a number that makes no sense
  T* data = nullptr;
  size_t size = 0, room = 0;

  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& o) noexcept : data(o.data), size(o.size), room(o.room) { o.data = nullptr; o.size = o.room = 0; }
  Buffer& operator=(Buffer&& o) noexcept {
    std::swap(data, o.data); std::swap(size, o.size); std::swap(room, o.room);
    return *this;
  }
  ~Buffer() { Pool::give(data); }

  void reserve(size_t wanted) {
    if (wanted <= room) return;
    if (wanted > kMostBytes / sizeof(T)) throw std::bad_alloc();
    T* grown = static_cast<T*>(Pool::take(wanted * sizeof(T)));
    if (size) std::memcpy(static_cast<void*>(grown), data, size * sizeof(T));
    Pool::give(data);
    data = grown;
    room = Pool::room(grown) / sizeof(T);
  }
  void push(T value) {
    if (__builtin_expect(size == room, 0)) reserve(std::max<size_t>(1024, room + room / 2));
    data[size++] = value;
  }
  void append(const T* from, size_t count) {
    if (size + count > room) reserve(std::max(size + count, room + room / 2));
    if (count) std::memcpy(data + size, from, count * sizeof(T));
    size += count;
  }
  void resize(size_t wanted) { reserve(wanted); size = wanted; }
  T& operator[](size_t i) { return data[i]; }
  const T& operator[](size_t i) const { return data[i]; }
  T* begin() { return data; }
  T* end() { return data + size; }
};

template <class T> using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T> using Matrix = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
template <class T> using View = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Cells = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  // a table that is changed

// Hands the memory to numpy; the buffer is empty afterwards. Needs the GIL.
template <class T> Array<T> own(Buffer<T>&& buffer) {
  size_t size = buffer.size;
  T* data = buffer.data ? buffer.data : static_cast<T*>(Pool::take(sizeof(T)));
  buffer.data = nullptr;
  buffer.size = buffer.room = 0;
  nb::capsule owner(data, [](void* p) noexcept { Pool::give(p); });
  return Array<T>(data, {size}, owner);
}

// The same for a table of rows.
template <class T> Matrix<T> own(Buffer<T>&& buffer, size_t rows, size_t columns) {
  T* data = buffer.data ? buffer.data : static_cast<T*>(Pool::take(sizeof(T)));
  buffer.data = nullptr;
  buffer.size = buffer.room = 0;
  nb::capsule owner(data, [](void* p) noexcept { Pool::give(p); });
  return Matrix<T>(data, {rows, columns}, owner);
}

}  // namespace doublet
