// Work shared out among threads. A thread that the system refuses is done without: those that run take its part.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace doublet {

constexpr size_t kMostThreads = 256;  // more would only wait for each other

// How many threads were asked for, within reason.
inline size_t thread_count(int64_t threads) {
  return static_cast<size_t>(std::max<int64_t>(1, std::min<int64_t>(threads, kMostThreads)));
}

// Runs work(part) for each part, on this thread and up to kMostThreads - 1 others; rethrows the error of the first part
// that failed. Parts must not wait for each other: where threads are refused, one of them does them in turn.
template <class Work> void in_parallel(size_t parts, Work work) {
  if (parts <= 1) {
    if (parts) work(size_t{0});
    return;
  }
  std::atomic<size_t> next{0};
  std::vector<std::exception_ptr> errors(parts);
  const auto take = [&] {
    for (size_t part; (part = next.fetch_add(1)) < parts;) {
      try {
        work(part);
      } catch (...) {
        errors[part] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> others;
  const size_t wanted = std::min(parts, kMostThreads) - 1;
  others.reserve(wanted);
  try {
    while (others.size() < wanted) others.emplace_back(take);
  } catch (const std::system_error&) {  // no more threads to be had
  } catch (const std::bad_alloc&) {
  }
  take();
  for (auto& thread : others) thread.join();
  for (auto& error : errors)
    if (error) std::rethrow_exception(error);
}

// Runs work(item) for each of many items: each goes to the thread that is free. What comes out must not depend on which.
template <class Work> void each_item(size_t count, int64_t threads, Work work) {
  std::atomic<size_t> next{0};
  in_parallel(std::min(thread_count(threads), std::max<size_t>(1, count)), [&](size_t) {
    for (size_t i; (i = next.fetch_add(1)) < count;) work(i);
  });
}

}  // namespace doublet
