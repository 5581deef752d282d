"""The native kernels, with the fold table loaded. Raises ImportError where they were not built."""

from __future__ import annotations

from doublet.kernels._native import (
    SetStore,
    WordTable,
    align_texts,
    common_prefixes,
    common_runs,
    components,
    count_lines,
    distinct,
    exact_groups,
    fold_text,
    heaviest,
    json_sets,
    limit_vectors,
    load_table,
    minima,
    pack_bags,
    passages,
    self_chains,
    sentence_marks,
    shingle,
    shingle_sets,
    simhash,
    suffix_array,
    tokenize,
    unpack_bags,
    winnow,
)
from doublet.kernels.data import table_bytes

__all__ = [
    "SetStore",
    "WordTable",
    "align_texts",
    "common_prefixes",
    "common_runs",
    "components",
    "distinct",
    "count_lines",
    "exact_groups",
    "fold_text",
    "heaviest",
    "json_sets",
    "limit_vectors",
    "minima",
    "pack_bags",
    "passages",
    "self_chains",
    "sentence_marks",
    "shingle",
    "shingle_sets",
    "simhash",
    "suffix_array",
    "tokenize",
    "unpack_bags",
    "winnow",
]

load_table(table_bytes())
