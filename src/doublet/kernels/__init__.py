"""The few hot loops: a native core and its plain Python twin, and the choice between them.

``DOUBLET_KERNELS=python`` or ``native`` forces one; without it the native one is taken where it was built.
`BACKEND` says which is in use; `doublet info` shows it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from doublet.errors import ConfigError

__all__ = [
    "BACKEND",
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

_wanted = os.environ.get("DOUBLET_KERNELS", "")
if _wanted not in ("", "python", "native"):
    raise ConfigError("kernels_choices", wanted=_wanted)

BACKEND = "python"
if not TYPE_CHECKING and _wanted != "python":
    try:
        from doublet.kernels import native
    except ImportError as error:
        if _wanted == "native":
            raise ConfigError("no_native_kernels") from error
    else:
        BACKEND = "native"
        globals().update({name: getattr(native, name) for name in __all__ if name != "BACKEND"})
if BACKEND == "python":
    from doublet.kernels.reference import (
        NumberTable,
        SetStore,
        WordTable,
        add_cells,
        align_texts,
        apart_runs,
        best_places,
        block_signs,
        chunk_stems,
        common_prefixes,
        common_runs,
        components,
        count_cells,
        count_common,
        count_lines,
        cut_markup,
        cut_postings,
        digest_sets,
        distinct,
        exact_groups,
        find_keys,
        fold_text,
        heaviest,
        json_sets,
        lead_postings,
        mark_markdown,
        merge_postings,
        minima,
        number_words,
        odd_characters,
        ordered,
        pack_bags,
        pack_postings,
        pair_keys,
        passages,
        post_shared,
        read_texts,
        repeated,
        sample_keys,
        save_memory,
        self_chains,
        sentence_marks,
        sentence_starts,
        share_sets,
        shared_chunks,
        shingle,
        shingle_sets,
        simhash,
        sort_postings,
        suffix_array,
        tokenize,
        tree_scores,
        unpack_bags,
        unpack_postings,
        untold_parts,
        winnow,
        without_numbers,
        word_edges,
    )
