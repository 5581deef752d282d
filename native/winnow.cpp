// Winnowing: the smallest value of every window. Twin of winnow in doublet/kernels/reference/winnow.py.
#include "kernels.hpp"

namespace doublet {

nb::tuple winnow(View<uint64_t> values, View<uint64_t> offsets, size_t window) {
  if (!window) throw nb::value_error("a window has at least one value");
  check_offsets(offsets, values.size());
  Buffer<uint32_t> places;
  Buffer<uint64_t> ends;
  {
    nb::gil_scoped_release release;
    ends.push(0);
    for (size_t d = 0; d + 1 < offsets.size(); ++d) {
      const uint64_t* part = values.data() + offsets.data()[d];
      const size_t count = offsets.data()[d + 1] - offsets.data()[d];
      const size_t width = count < window ? count : window;
      size_t best = SIZE_MAX;  // place of the last choice
      for (size_t end = width; width && end <= count; ++end) {
        const size_t first = end - width;
        if (best == SIZE_MAX || best < first) {  // the choice left the window: look at all of it
          best = first;
          for (size_t i = first + 1; i < end; ++i)
            if (part[i] <= part[best]) best = i;
        } else if (part[end - 1] <= part[best]) {
          best = end - 1;
        } else {
          continue;
        }
        places.push(static_cast<uint32_t>(best));
      }
      ends.push(places.size);
    }
  }
  return nb::make_tuple(own(std::move(places)), own(std::move(ends)));
}

}  // namespace doublet
