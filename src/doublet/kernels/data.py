"""The fold table and the constants that both kernels share. Explained in docs/explanation/canonical-form.md.

`TEXT_VERSION` numbers the canonical form (table, rules of tools/make_fold_table.py and of `tokenize`), `HASH_VERSION`
the hash of words and shingles. Both are part of every recipe: raise one of them when its subject changes.
"""

from __future__ import annotations

import functools
import pathlib
import struct
import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TEXT_VERSION = 1
HASH_VERSION = 1

MASK64 = (1 << 64) - 1
WORD_FACTOR = 0x9FB21C651E98DF25
SHINGLE_FACTOR = 0xD6E8FEB86659FD93
SIZE_FACTOR = 0xA0761D6478BD642F
MINHASH_PRIME = (1 << 31) - 1

# Bits of a fold table entry.
LETTER_MASK = (1 << 21) - 1
WORD, DROP, SPECIAL = 1 << 21, 1 << 22, 1 << 31
SCRIPT_SHIFT, ANCHOR_SHIFT = 23, 27
LATIN, CYRILLIC, GREEK, OTHER = 1, 2, 4, 8
# Kinds of dropped characters.
INVISIBLE, MARK, SILENT, BREAK = 1, 2, 3, 4

# Bits of a token's flags.
FLAG_STOP = 1  #: in the list of stop words that was given
FLAG_SHORT = 2  #: fewer than three letters
FLAG_LOOKALIKE = 4  #: held letters of another script that look the same
FLAG_INVISIBLE = 8  #: held zero-width characters or soft hyphens
FLAG_SPACED = 16  #: was set with its letters apart
FLAG_MARKS = 32  #: held combining marks
FLAG_STYLED = 64  #: held mathematical, circled or full-width letters
FLAG_NUMBER = 128  #: holds no letter
FLAGS_DISGUISE = FLAG_LOOKALIKE | FLAG_INVISIBLE | FLAG_SPACED | FLAG_MARKS | FLAG_STYLED

#: folded Cyrillic letters that are twins of a Latin one in both cases: words of one or two of them are written in Latin
TWIN_PAIRS = {0x430: 0x61, 0x441: 0x63, 0x435: 0x65, 0x43E: 0x6F, 0x440: 0x70, 0x445: 0x78, 0x443: 0x79}
#: Russian words that capitals can hide behind («На» and "Ha"); Cyrillic wherever a Cyrillic word is near
HIDDEN_WORDS = frozenset(["в", "к", "на", "но", "все", "та", "те", "тех", "во", "ко"])
#: blanks that no keyboard has
ODD_BLANKS = (0x1680, *range(0x2000, 0x200B), 0x205F, 0x2800, 0x3000)
NEAR = 64  #: characters on both sides that count as near

SPACED_RUN = 4  #: so many single letters in a row, one blank between them, are one word set apart
SPACED_RUN_AFTER = (
    2  #: so many are enough right after such a word: short words of a text set apart throughout
)


class FoldTable(NamedTuple):
    entries: NDArray[np.uint32]  #: one entry for each of the 0x110000 code points
    twins: dict[int, tuple[int, int, int]]  #: letter → its folded look in Latin, Cyrillic, Greek (0: none)
    expansions: dict[int, tuple[int, ...]]  #: letter → the several letters it stands for
    styled: frozenset[int]
    weak: dict[tuple[int, int], int]  #: (letter, script) → its near look-alike there


def table_bytes() -> bytes:
    return zlib.decompress((pathlib.Path(__file__).parent / "fold_table.bin").read_bytes())


@functools.cache
def fold_table() -> FoldTable:
    raw = table_bytes()
    magic, n_pages, n_twins, n_expansions, n_styled, n_weak = struct.unpack_from("<6I", raw)
    if magic != 0x31444644:
        raise ValueError("fold_table.bin is damaged: install Doublet again")
    at = 24
    index = np.frombuffer(raw, "<u2", 0x1100, at)
    at += 2 * 0x1100
    pages = np.frombuffer(raw, "<u4", n_pages * 256, at).reshape(n_pages, 256)
    at += 4 * n_pages * 256
    twins = {
        row[0]: (row[1], row[2], row[3]) for row in struct.iter_unpack("<4I", raw[at : at + 16 * n_twins])
    }
    at += 16 * n_twins
    expansions = {
        row[0]: tuple(row[2 : 2 + row[1]])
        for row in struct.iter_unpack("<20I", raw[at : at + 80 * n_expansions])
    }
    at += 80 * n_expansions
    styled = frozenset(np.frombuffer(raw, "<u4", n_styled, at).tolist())
    at += 4 * n_styled
    weak = {(row[0], row[1]): row[2] for row in struct.iter_unpack("<3I", raw[at : at + 12 * n_weak])}
    entries = np.ascontiguousarray(pages[index].reshape(-1)).astype(np.uint32, copy=False)
    return FoldTable(entries, twins, expansions, styled, weak)
