// Growable arrays without zero-filling, and how they become numpy arrays without a copy.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace nb = nanobind;

namespace doublet {

template <class T> struct Buffer {
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
  ~Buffer() { std::free(data); }

  void reserve(size_t wanted) {
    if (wanted <= room) return;
    T* grown = static_cast<T*>(std::realloc(static_cast<void*>(data), wanted * sizeof(T)));
    if (!grown) throw std::bad_alloc();
    data = grown;
    room = wanted;
  }
  void push(T value) {
    if (__builtin_expect(size == room, 0)) reserve(room ? room + room / 2 : 1024);
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

// Hands the memory to numpy; the buffer is empty afterwards. Needs the GIL.
template <class T> Array<T> own(Buffer<T>&& buffer) {
  size_t size = buffer.size;
  T* data = buffer.data ? buffer.data : static_cast<T*>(std::malloc(sizeof(T)));
  buffer.data = nullptr;
  buffer.size = buffer.room = 0;
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return Array<T>(data, {size}, owner);
}

}  // namespace doublet
