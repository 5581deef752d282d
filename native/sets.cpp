// Sets of fingerprints of many documents, and the exact join over them. Twin of SetStore in doublet/kernels/reference/sets.py.
//
// The idea (docs/explanation/exact-join.md): a table of small counters tells which fingerprints stand in one document
// only. These can match nothing, so they come first in the order of the prefix filter, and most documents are finished
// at once. Collisions in the table cost time, never correctness: the order is a function of the fingerprint alone, and a
// cell of 1 proves that the fingerprint is in one document.
#include "join.hpp"

namespace doublet {

nb::tuple SetStore::clean(View<uint32_t> order, double threshold, double containment, nb::object on_step) {
  check_shares(threshold, containment);
  std::vector<Link> links;
  {
    const Alone alone(*this);
    check_order(order);
    Join join(*this, threshold, containment);
    join.set_order(order.data(), order.size());
    join.clean(links, on_step);
  }
  return columns(links);
}

nb::tuple SetStore::pairs(double threshold, double containment, uint64_t limit, nb::object on_step) {
  check_shares(threshold, containment);
  std::vector<Link> links;
  bool cut = false;
  {
    const Alone alone(*this);
    Join join(*this, threshold, containment);
    std::vector<uint32_t> order(length());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
    join.set_order(order.data(), order.size());
    cut = join.pairs(links, limit, on_step);
  }
  nb::tuple c = columns(links);
  return nb::make_tuple(c[0], c[1], c[2], cut);
}

Array<uint8_t> SetStore::contained(double threshold) {
  if (!(threshold > 0)) throw nb::value_error("a share of which something is held is above 0");
  Buffer<uint8_t> out;
  {
    const Alone alone(*this);
    out.resize(length());
    std::fill(out.begin(), out.end(), uint8_t{0});
    Join join(*this, 2.0, threshold);
    std::vector<uint32_t> order(length());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return sizes_[a] != sizes_[b] ? sizes_[a] > sizes_[b] : a < b; });
    join.set_order(order.data(), order.size());
    join.contained(out.data);
  }
  return own(std::move(out));
}

void bind_sets(nb::module_& m) {
  nb::class_<SetStore>(m, "SetStore")
      .def(nb::init<uint64_t, const std::string&, int64_t>(), nb::arg("memory_bytes") = 0, nb::arg("folder") = "", nb::arg("threads") = 1)
      .def("__len__", &SetStore::told_length)
      .def("expect", &SetStore::expect, nb::arg("values"))
      .def("add", &SetStore::add, nb::arg("values"), nb::arg("offsets"), nb::arg("take") = false, nb::arg("counted") = false)
      .def("sizes", &SetStore::sizes)
      .def("get", &SetStore::get, nb::arg("document"))
      .def("overlaps", &SetStore::overlaps, nb::arg("left"), nb::arg("right"))
      .def("clean", &SetStore::clean, nb::arg("order"), nb::arg("threshold"), nb::arg("containment"), nb::arg("on_step") = nb::none())
      .def("pairs", &SetStore::pairs, nb::arg("threshold"), nb::arg("containment"), nb::arg("limit"), nb::arg("on_step") = nb::none())
      .def("contained", &SetStore::contained, nb::arg("threshold"))
      .def("minima", &SetStore::minima, nb::arg("factors"), nb::arg("terms"), nb::arg("documents"))
      .def_prop_ro("spilled", &SetStore::spilled)
      .def("close", &SetStore::close);
  m.def("json_sets", [](nb::bytes block, const std::string& id_field, const std::string& text_field, size_t size,
                        std::optional<View<uint64_t>> stop, int64_t min_letters, SetStore* store) {
    return json_sets(block, id_field, text_field, size, stop, min_letters, store ? store->counters() : Counters{});
  }, nb::arg("block"), nb::arg("id_field"), nb::arg("text_field"), nb::arg("size"), nb::arg("stop") = nb::none(), nb::arg("min_letters") = 1,
        nb::arg("store") = nb::none());
}

}  // namespace doublet
