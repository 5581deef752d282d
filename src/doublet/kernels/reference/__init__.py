"""The kernels in plain Python: slow, obvious, and the definition that the native twin must agree with.

One file for each file of native/. Every function has the same name, arguments and results as in the native module;
tests/reference compares the two on hostile input.
"""

from __future__ import annotations

from doublet.kernels.reference.bags import heaviest, pack_bags, unpack_bags
from doublet.kernels.reference.frame import block_signs, tree_scores, without_numbers
from doublet.kernels.reference.json import count_lines, json_sets
from doublet.kernels.reference.markup import NumberTable, mark_markdown, read_texts, repeated, word_edges
from doublet.kernels.reference.meaning import align_texts, find_keys, number_words, pair_keys, sample_keys
from doublet.kernels.reference.memory import save_memory
from doublet.kernels.reference.page import cut_markup
from doublet.kernels.reference.passages import passages, sentence_marks
from doublet.kernels.reference.runs import common_runs
from doublet.kernels.reference.segments import (
    cut_postings,
    merge_postings,
    pack_postings,
    sort_postings,
    unpack_postings,
)
from doublet.kernels.reference.sentences import best_places, sentence_starts, untold_parts
from doublet.kernels.reference.sets import SetStore
from doublet.kernels.reference.shingles import (
    components,
    count_common,
    distinct,
    minima,
    ordered,
    shingle,
    simhash,
)
from doublet.kernels.reference.spread import (
    add_cells,
    count_cells,
    digest_sets,
    lead_postings,
    post_shared,
    share_sets,
)
from doublet.kernels.reference.stems import chunk_stems, shared_chunks
from doublet.kernels.reference.suffix import common_prefixes, exact_groups, self_chains, suffix_array
from doublet.kernels.reference.tokens import (
    WordTable,
    apart_runs,
    fold_text,
    odd_characters,
    shingle_sets,
    tokenize,
)
from doublet.kernels.reference.winnow import winnow

__all__ = [
    "NumberTable",
    "SetStore",
    "WordTable",
    "add_cells",
    "align_texts",
    "apart_runs",
    "best_places",
    "block_signs",
    "chunk_stems",
    "common_prefixes",
    "common_runs",
    "components",
    "count_cells",
    "count_common",
    "count_lines",
    "cut_markup",
    "cut_postings",
    "digest_sets",
    "distinct",
    "exact_groups",
    "find_keys",
    "fold_text",
    "heaviest",
    "json_sets",
    "lead_postings",
    "mark_markdown",
    "merge_postings",
    "minima",
    "number_words",
    "odd_characters",
    "ordered",
    "pack_bags",
    "pack_postings",
    "pair_keys",
    "passages",
    "post_shared",
    "read_texts",
    "repeated",
    "sample_keys",
    "save_memory",
    "self_chains",
    "sentence_marks",
    "sentence_starts",
    "share_sets",
    "shared_chunks",
    "shingle",
    "shingle_sets",
    "simhash",
    "sort_postings",
    "suffix_array",
    "tokenize",
    "tree_scores",
    "unpack_bags",
    "unpack_postings",
    "untold_parts",
    "winnow",
    "without_numbers",
    "word_edges",
]
