// The Python side of the native kernels.
#include "kernels.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <system_error>

using namespace doublet;

NB_MODULE(_native, m) {
  m.doc() = "Native kernels of Doublet; each has a plain twin in doublet.kernels.reference.";
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const std::system_error& error) {
      nb::object args = nb::make_tuple(error.code().value(), error.what());
      PyErr_SetObject(PyExc_OSError, args.ptr());
    }
  });
  m.def("load_table", [](nb::bytes raw) { fold_table.load(raw.c_str(), raw.size()); });
  nb::class_<WordTable>(m, "WordTable")
      .def(nb::init<>())
      .def("__len__", &WordTable::size)
      .def("words", &WordTable::words, nb::arg("start") = 0)
      .def("hashes", &WordTable::hashes);
  m.def("tokenize", [](nb::handle texts, std::optional<View<uint64_t>> stop, WordTable* table, int64_t threads) {
    return tokenize(texts, stop, table, threads);
  }, nb::arg("texts"), nb::arg("stop") = nb::none(), nb::arg("table") = nb::none(), nb::arg("threads") = 1);
  m.def("shingle_sets", &shingle_sets, nb::arg("texts"), nb::arg("size"), nb::arg("stop") = nb::none(), nb::arg("min_letters") = 1,
        nb::arg("threads") = 1);
  m.def("count_lines", &count_lines, nb::arg("block"));
  m.def("fold_text", &fold_text, nb::arg("text"));
  m.def("odd_characters", &odd_characters, nb::arg("text"));
  m.def("apart_runs", &apart_runs, nb::arg("starts"), nb::arg("ends"), nb::arg("flags"), nb::arg("offsets"), nb::arg("least"));
  m.def("shingle", &shingle, nb::arg("hashes"), nb::arg("offsets"), nb::arg("size"));
  m.def("distinct", &distinct, nb::arg("values"), nb::arg("offsets"));
  m.def("ordered", &ordered, nb::arg("values"), nb::arg("offsets"));
  m.def("count_common", &count_common, nb::arg("a"), nb::arg("b"));
  m.def("passages", &passages, nb::arg("stems"), nb::arg("marks"), nb::arg("starts"), nb::arg("ends"), nb::arg("offsets"),
        nb::arg("left"), nb::arg("right"), nb::arg("settings"), nb::arg("threads") = 1);
  m.def("sentence_marks", &sentence_marks, nb::arg("texts"), nb::arg("hashes"), nb::arg("starts"), nb::arg("ends"), nb::arg("offsets"),
        nb::arg("shortened"));
  m.def("sentence_starts", &sentence_starts, nb::arg("marks"), nb::arg("offsets"));
  m.def("untold_parts", &untold_parts, nb::arg("borders"), nb::arg("starts"), nb::arg("ends"));
  m.def("best_places", &best_places, nb::arg("stems"), nb::arg("roots"), nb::arg("rarity").none(), nb::arg("marks"), nb::arg("offsets"),
        nb::arg("left"), nb::arg("right"), nb::arg("firsts"), nb::arg("a0"), nb::arg("a1"), nb::arg("b0"), nb::arg("b1"), nb::arg("threads") = 1);
  m.def("block_signs", &block_signs, nb::arg("texts"), nb::arg("words"), nb::arg("linked"), nb::arg("said"), nb::arg("holders"),
        nb::arg("parents"), nb::arg("elements"), nb::arg("names"), nb::arg("settings"), nb::arg("article"));
  m.def("tree_scores", &tree_scores, nb::arg("rows"), nb::arg("signs"), nb::arg("values"), nb::arg("others"), nb::arg("roots"));
  m.def("cut_markup", &cut_markup, nb::arg("markup"));
  m.def("without_numbers", &without_numbers, nb::arg("texts"));
  m.def("winnow", &winnow, nb::arg("values"), nb::arg("offsets"), nb::arg("window"));
  m.def("pack_bags", &pack_bags, nb::arg("words"), nb::arg("offsets"), nb::arg("numbers"));
  m.def("unpack_bags", &unpack_bags, nb::arg("data"), nb::arg("offsets"));
  m.def("sort_postings", &sort_postings, nb::arg("keys"), nb::arg("documents"));
  m.def("cut_postings", &cut_postings, nb::arg("keys"), nb::arg("documents"), nb::arg("libraries"), nb::arg("key_bits"), nb::arg("bits"), nb::arg("heavy"));
  m.def("pack_postings", &pack_postings, nb::arg("keys"), nb::arg("documents"), nb::arg("libraries"), nb::arg("offsets"));
  m.def("unpack_postings", &unpack_postings, nb::arg("data"), nb::arg("offsets"), nb::arg("wanted") = nb::none(), nb::arg("cut") = false);
  m.def("merge_postings", &merge_postings, nb::arg("data"), nb::arg("offsets"));
  m.def("chunk_stems", &chunk_stems, nb::arg("words"), nb::arg("rows"), nb::arg("offsets"), nb::arg("filed"), nb::arg("keys"),
        nb::arg("chunk_words"), nb::arg("most"));
  m.def("shared_chunks", &shared_chunks, nb::arg("keys"), nb::arg("chunks"), nb::arg("weights"), nb::arg("stems"), nb::arg("offsets"),
        nb::arg("enough"), nb::arg("least"), nb::arg("best"));
  m.def("heaviest", &heaviest, nb::arg("weights"), nb::arg("ranks"), nb::arg("offsets"), nb::arg("count"));
  m.def("minima", &minima, nb::arg("values"), nb::arg("offsets"), nb::arg("factors"), nb::arg("terms"), nb::arg("threads") = 1);
  m.def("limit_vectors", &limit_vectors, nb::arg("bits"));
  m.def("save_memory", [](bool on) { Pool::save(on); }, nb::arg("on"));
  m.def("simhash", &simhash, nb::arg("values"), nb::arg("weights").none(), nb::arg("offsets"));
  m.def("components", &components, nb::arg("count"), nb::arg("left"), nb::arg("right"));
  m.def("common_runs", &common_runs, nb::arg("a"), nb::arg("b"), nb::arg("size"));
  m.def("sample_keys", &sample_keys, nb::arg("values"), nb::arg("offsets"), nb::arg("first"), nb::arg("bits"));
  m.def("pair_keys", &pair_keys, nb::arg("keys"), nb::arg("documents"), nb::arg("most"));
  m.def("number_words", &number_words, nb::arg("words"));
  m.def("find_keys", &find_keys, nb::arg("words"), nb::arg("keys"), nb::arg("firsts"), nb::arg("bits"));
  m.def("align_texts", &align_texts, nb::arg("words"), nb::arg("offsets"), nb::arg("gains"), nb::arg("masses"), nb::arg("left"),
        nb::arg("right"), nb::arg("threads") = 1, nb::arg("spare") = uint64_t{1} << 20);
  m.def("suffix_array", &suffix_array, nb::arg("ids"));
  m.def("common_prefixes", &common_prefixes, nb::arg("ids"), nb::arg("order"));
  m.def("exact_groups", &exact_groups, nb::arg("ids"), nb::arg("order"), nb::arg("prefixes"), nb::arg("min_tokens"), nb::arg("budget"),
        nb::arg("places") = nb::none());
  m.def("self_chains", &self_chains, nb::arg("ids"), nb::arg("parts"), nb::arg("seed"), nb::arg("nearest"), nb::arg("gap"),
        nb::arg("join_gap"), nb::arg("min_matched"), nb::arg("join_cost") = 0);
  nb::class_<NumberTable>(m, "NumberTable").def(nb::init<>()).def("__len__", &NumberTable::size).def("number", &NumberTable::number, nb::arg("hashes"));
  m.def("read_texts", &read_texts, nb::arg("paths"), nb::arg("limit"), nb::arg("threads") = 1);
  m.def("mark_markdown", &mark_markdown, nb::arg("texts"), nb::arg("threads") = 1);
  m.def("word_edges", &word_edges, nb::arg("texts"), nb::arg("starts"), nb::arg("ends"), nb::arg("offsets"), nb::arg("threads") = 1);
  m.def("repeated", &repeated, nb::arg("ids"), nb::arg("length"), nb::arg("threads") = 1);
  m.def("count_cells", &count_cells, nb::arg("table"), nb::arg("values"));
  m.def("add_cells", &add_cells, nb::arg("total"), nb::arg("more"));
  m.def("digest_sets", &digest_sets, nb::arg("values"), nb::arg("offsets"));
  m.def("share_sets", &share_sets, nb::arg("values"), nb::arg("offsets"), nb::arg("taking"), nb::arg("table"), nb::arg("least"),
        nb::arg("inside"));
  m.def("post_shared", &post_shared, nb::arg("shared"), nb::arg("offsets"), nb::arg("marks"), nb::arg("sizes"), nb::arg("wanted") = nb::none());
  m.def("lead_postings", &lead_postings, nb::arg("numbers"), nb::arg("documents"), nb::arg("sizes"), nb::arg("most"), nb::arg("threshold"),
        nb::arg("contained"));
  bind_sets(m);
}
