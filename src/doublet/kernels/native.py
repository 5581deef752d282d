"""The native kernels, with the fold table loaded. Raises ImportError where they were not built."""

from __future__ import annotations

from doublet.kernels._native import (
    SetStore,
    WordTable,
    align_texts,
    common_prefixes,
    common_runs,
    components,
    distinct,
    exact_groups,
    fold_text,
    json_sets,
    limit_vectors,
    load_table,
    minima,
    self_chains,
    shingle,
    shingle_sets,
    simhash,
    suffix_array,
    tokenize,
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
    "exact_groups",
    "fold_text",
    "json_sets",
    "limit_vectors",
    "minima",
    "self_chains",
    "shingle",
    "shingle_sets",
    "simhash",
    "suffix_array",
    "tokenize",
    "winnow",
]

load_table(table_bytes())
