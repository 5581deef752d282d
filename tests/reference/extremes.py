"""The native kernels and their plain twins on arguments that make no sense, each kernel in a process of its own.

A program, not a test: `python extremes.py` forks for each kernel and prints a line of JSON for it: what differed, and
the call in hand when the process died. The native side may only do what its twin does: give the same answer, or refuse.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from doublet.kernels import native, reference
from doublet.kernels.reference.frame import LEAF
from doublet.kernels.settings import FrameOptions, PassageOptions

CALLS = 150  #: of each kernel
REFUSALS = (ValueError, TypeError, OverflowError, IndexError, MemoryError, RuntimeError)

COUNTS = [0, 1, 2, 3, 7, -1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63, 2**64 - 1, 2**64]
THREADS = [-1, 0, 1, 2, 3, 2**31, 2**62]
FLOATS = [0.0, -0.0, 0.3, 0.8, 1.0, 1.5, -1.0, 1e300, math.inf, -math.inf, math.nan, 5e-324]
HUGE = [0, 1, 2, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1]


class Pool:
    """Values to choose from, mostly plain ones: with two absurd arguments a kernel sees the first of them only."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def some(self, usual: list[Any], rare: list[Any]) -> Any:
        return self.random.choice(rare if self.random.random() < 0.3 else usual)

    def count(self, *usual: int) -> int:
        return self.some(list(usual), COUNTS)

    def threads(self) -> int:
        return self.random.choice(THREADS)

    def share(self) -> float:
        return self.some([0.3, 0.5, 0.8, 1.0], FLOATS)

    def length(self) -> int:
        return self.random.choice([0, 1, 2, 5, 20, 20, 70])

    def u64(self, length: int | None = None) -> np.ndarray:
        length = self.length() if length is None else self._near(length)
        kinds = self.random.choice([1, 3, 8])
        pool = [self.random.choice([*HUGE, self.random.getrandbits(64)]) for _ in range(kinds)]
        return np.array([self.random.choice(pool) for _ in range(length)], np.uint64)

    def u32(self, length: int | None = None, below: int = 6) -> np.ndarray:
        length = self.length() if length is None else self._near(length)
        odd = self.random.random() < 0.15
        high = [2**31, 2**32 - 1] if odd else []
        pool = [*range(max(1, below)), *high]
        return np.array([self.random.choice(pool) for _ in range(length)], np.uint32)

    def f64(self, length: int) -> np.ndarray:
        length = self._near(length)
        odd = self.random.random() < 0.3
        return np.array(
            [self.random.choice(FLOATS) if odd else self.random.random() * 4 for _ in range(length)],
            np.float64,
        )

    def offsets(self, values: int) -> np.ndarray:
        middle = sorted(self.random.randrange(values + 1) for _ in range(self.random.randrange(4)))
        good = [0, *middle, values]
        bad = [
            [],
            [0],
            [values],
            [0, values + 1],
            [1, values],
            [values, 0],
            [0, values, 0, values],
            [0, 2**63, values],
            [0, 2**64 - 1],
            [0, 2**32, 2**62],
        ]
        return np.array(good if self.random.random() < 0.75 else self.random.choice(bad), np.uint64)

    def pairs(self, texts: int) -> tuple[np.ndarray, np.ndarray]:
        length = self.random.randrange(5)
        return self.u32(length, max(1, texts)), self.u32(length, max(1, texts))

    def texts(self) -> Any:
        words = ["a", "слово", "Ж", "x" * 70, "\ud800", "1", "του", "a\u0301", "\x00"]
        made = [" ".join(self.random.choices(words, k=self.random.randrange(9))) for _ in range(3)]
        return self.some([made, made[:1], []], [[""], [1], [b"a"], "abc", None, ["a", None], [made]])

    def _near(self, length: int) -> int:
        return max(0, length + self.some([0], [-1, 0, 1, 5]))


def tokens(pool: Pool, texts: list[str]) -> tuple[np.ndarray, ...]:
    """Words of texts, now and then with something wrong."""
    hashes, starts, ends, _, offsets, _ = reference.tokenize(texts)
    if len(starts) and pool.random.random() < 0.4:
        which = pool.random.choice([starts, ends])
        which[pool.random.randrange(len(which))] = pool.random.choice([0, 3, 2**31, 2**32 - 1])
    if pool.random.random() < 0.2:
        offsets = pool.offsets(len(starts))
    if pool.random.random() < 0.1:
        ends = pool.u32(len(ends))
    return hashes, starts, ends, offsets


def plain_texts(pool: Pool) -> list[str]:
    words = "the dog barks. Снег идёт!\nа b c 7 long sentences. Another one, again and again".split(" ")
    return [" ".join(pool.random.choices(words, k=pool.random.choice([0, 1, 9, 60]))) for _ in range(3)]


def settings_of_passages(pool: Pool) -> SimpleNamespace:
    values = asdict(PassageOptions())
    for _ in range(pool.random.choice([0, 0, 1, 3])):
        values[pool.random.choice(list(values))] = pool.random.choice([*FLOATS, 2.0**31, 2.0**62, 1e6, 3])
    return SimpleNamespace(**values)


def files() -> list[bytes]:
    folder = Path(tempfile.mkdtemp())
    contents = [b"", b"plain\n", b"\xff\xfe", b"a" * 100, "слово".encode(), b"\x01"]
    for number, content in enumerate(contents):
        (folder / str(number)).write_bytes(content)
    (folder / "link").symlink_to(folder / "link")
    return [os.fsencode(folder / name) for name in ("0", "1", "2", "3", "4", "5", "6", "link", ".")]


def ordered(pool: Pool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tokens, their suffix array and prefixes, now and then damaged (an order that is not sorted is not looked for)."""
    ids = pool.u32(pool.length(), 3)
    if len(ids) and ids.max() == 2**32 - 1:
        ids[ids == 2**32 - 1] = 9
    order = reference.suffix_array(ids)
    prefixes = reference.common_prefixes(ids, order)
    for column in (order, prefixes):
        if len(column) and pool.random.random() < 0.15:
            column[pool.random.randrange(len(column))] = pool.random.choice(
                [0, 1, len(ids), 2**31, 2**32 - 1]
            )
    if pool.random.random() < 0.1:
        order = pool.u32(len(ids))
    return ids, order, prefixes


PATHS: list[bytes] = []
BAG = b"\x03\x00\x03\x02\x02"  # the words 0, 1, 1, 2


def arguments(name: str, pool: Pool) -> tuple[Any, ...]:
    values = pool.u64()
    n = len(values)
    stop = pool.random.choice([None, pool.u64()])
    match name:
        case "tokenize":
            return pool.texts(), stop, None, pool.threads()
        case "shingle_sets":
            return pool.texts(), pool.count(1, 2, 4), stop, pool.some([1, 3], [-1, 0, 2**31]), pool.threads()
        case "fold_text":
            return (pool.some(["a Ж", ""], [None, b"x", 3, "\ud800"]),)
        case "count_lines":
            return (pool.some([b"", b"a\nb\n"], [b"\n" * 9]),)
        case "json_sets":
            block = pool.random.choice(
                [b"", b'{"id": "1", "text": "a b c"}\n', b"\n\n", b'{"id": 1, "text": "a"}']
            )
            return block, pool.random.choice(["id", "", "x"]), "text", pool.count(1, 2), stop, 1
        case "shingle":
            return values, pool.offsets(n), pool.count(1, 2, 4)
        case "odd_characters":
            return (pool.some(["a Ж 0о\u2003б\u00ad", "", "6" * 40 + "x"], [None, b"x", 3, "\ud800", ["a"]]),)
        case "apart_runs":
            flags = pool.u32(n, 32).astype(np.uint8)
            return pool.u32(n), pool.u32(n), flags, pool.offsets(n), pool.count(1, 3, 23)
        case "distinct" | "ordered":
            return values, pool.offsets(n)
        case "count_common":
            return pool.some([np.unique(values)], [values]), pool.u64()
        case "winnow":
            return values, pool.offsets(n), pool.count(1, 2, 4)
        case "pack_bags":
            words = pool.u32(pool.length())
            numbers = np.array([pool.some([1, 2, 3, 5, 9], HUGE) for _ in range(6)], np.uint64)
            return words, pool.offsets(len(words)), numbers
        case "unpack_bags":
            packed = [
                BAG,
                b"\x01" + b"\x80" * 8 + b"\x00",
                b"\x01" + b"\x80" * 9 + b"\x00",
                b"\x01" + b"\x80" * 20 + b"\x00",
                b"\x01" + b"\xff" * 9 + b"\x01",
                b"\x01" + b"\xff" * 9 + b"\x03",
                b"\x80\x00",
                b"\x81\x80\x00\x02",
                b"\x02\xfe\xff\xff\xff\x1f\x02",
                b"\xff\xff\xff\xff\x0f",
                bytes(pool.random.choices([0, 1, 2, 3, 127, 128, 255], k=pool.random.randrange(12))),
            ]
            bag = pool.random.choice(packed)
            return np.frombuffer(bag, np.uint8), pool.random.choice(
                [np.array([0, len(bag)], np.uint64), pool.offsets(len(bag))]
            )
        case "sort_postings":
            return values, pool.u64(n)
        case "cut_postings":
            key_bits = pool.random.choice([0, 3, 40, 63, 64])
            keys = pool.some([values & np.uint64((1 << min(key_bits, 63)) - 1)], [values])
            bits = pool.random.choice([0, 1, 3, 40, 63])
            return keys, pool.u64(n), pool.u64(n), key_bits, bits, pool.random.choice([0, 1, 2, 512])
        case "pack_postings":
            keys = pool.some([np.sort(values)], [values])
            return keys, pool.u64(n), pool.u64(n), pool.offsets(n)
        case "unpack_postings" | "merge_postings":
            keys = np.sort(pool.u32(pool.length(), 9).astype(np.uint64))
            documents = np.array([pool.random.choice(HUGE) for _ in keys], np.uint64)
            data = reference.pack_postings(keys, documents, keys, np.array([0, len(keys)], np.uint64))[0]
            data = data[: pool.some([len(data)], [0, 1, len(data) // 2])].copy()
            if len(data) and pool.random.random() < 0.2:
                data[pool.random.randrange(len(data))] = pool.random.choice([0, 1, 127, 128, 255])
            if name == "merge_postings":
                return data, pool.offsets(len(data))
            wanted = pool.random.choice([None, np.array([1, 3, 5], np.uint64), pool.u64()])
            return data, pool.offsets(len(data)), wanted, pool.random.random() < 0.5
        case "chunk_stems":
            words = pool.u32(pool.length())
            rows = pool.u32(len(words), 3)
            filed, keys = pool.u32(6, 2).astype(np.uint8), pool.u64(6)
            return (
                words,
                rows,
                pool.offsets(len(words)),
                filed,
                keys,
                pool.count(1, 2, 5),
                pool.count(1, 2, 4),
            )
        case "shared_chunks":
            keys, stems = (pool.u32(pool.length()).astype(np.uint64) for _ in range(2))
            chunks, weights = pool.u64(len(keys)), pool.f64(6)
            enough = pool.some([0.0, 1.0, 2.0], FLOATS)
            counts = pool.count(0, 1, 2), pool.count(0, 1, 2)
            return keys, chunks, weights, stems, pool.offsets(len(stems)), enough, *counts
        case "heaviest":
            rows = pool.length()
            return pool.f64(rows), pool.u32(rows, 3), pool.offsets(rows), pool.count(1, 2, 3)
        case "minima":
            return values, pool.offsets(n), pool.u32(3), pool.u32(3), pool.threads()
        case "simhash":
            return values, pool.random.choice([None, pool.f64(n)]), pool.offsets(n)
        case "components":  # a count of some thousand million would have to be given its memory
            count = pool.some([0, 1, 5, 6], [-1, 2**33, 2**62, 2**63, 2**64 - 1, 2**64])
            return count, *pool.pairs(5)
        case "common_runs":
            return pool.u64(), pool.u64(), pool.count(1, 2, 3)
        case "sample_keys":
            return (
                values,
                pool.offsets(n),
                pool.count(0, 1, 2**24 - 3),
                pool.some([0, 1, 4, 8], [-1, 9, 64, 2**31, 2**62]),
            )
        case "pair_keys":
            keys = np.sort(
                np.array(
                    [
                        pool.random.choice([0, 1, 5]) << 24 | pool.random.randrange(4)
                        for _ in range(pool.length())
                    ],
                    np.uint64,
                )
            )
            return (
                pool.some([keys], [values]),
                pool.some([4, 5], [0, -1, 2**24 + 1, 2**31, 2**62, 2**64]),
                pool.count(2, 4),
            )
        case "untold_parts":
            starts, ends = pool.u32(pool.length(), 60), pool.u32(pool.length(), 80)
            borders = pool.some([np.sort(starts)], [starts])
            ranges = pool.some([np.sort(ends)], [ends])
            return borders, ranges, pool.some([ranges + np.uint32(pool.random.randrange(9))], [pool.u32()])
        case "number_words":
            return (values,)
        case "find_keys":
            firsts = np.sort(pool.u32(pool.random.choice([2, 3, 9]), 20))
            bits = pool.some([1, 2, 40], [-1, 0, 63, 64, 2**31, 2**62])
            return (
                values,
                np.unique(pool.u64() >> np.uint64(24)),
                pool.some([firsts], [firsts[:0], pool.u32()]),
                bits,
            )
        case "align_texts":
            words = pool.u32(pool.length())
            offsets = pool.offsets(len(words))
            pairs = pool.pairs(len(offsets) - 1)
            return words, offsets, pool.f64(6), pool.f64(6), *pairs, pool.threads(), pool.count(0, 1, 9)
        case "suffix_array":
            return (pool.u32(pool.length(), 3),)
        case "common_prefixes":
            return ordered(pool)[:2]
        case "exact_groups":
            ids, order, prefixes = ordered(pool)
            places = pool.random.choice([None, np.arange(len(ids), dtype=np.uint32) * 3, pool.u32(len(ids))])
            return ids, order, prefixes, pool.count(1, 2, 3), pool.count(1000), places
        case "self_chains":
            ids = pool.u32(pool.length(), 3)
            parts = pool.random.choice([np.zeros(len(ids), np.uint32), np.sort(pool.u32(len(ids), 2))])
            return (
                ids,
                parts,
                pool.count(1, 2, 3),
                pool.count(1, 2),
                pool.count(0, 2, 5),
                pool.count(0, 3, 9),
                pool.count(0, 2, 4),
                pool.count(0, 1),
            )
        case "read_texts":
            return (
                pool.some([PATHS, PATHS[:2]], [[], ["a"], [b"\0"], [3]]),
                pool.count(50, 1000),
                pool.threads(),
            )
        case "mark_markdown":
            return pool.texts(), pool.threads()
        case "word_edges":
            texts = plain_texts(pool)
            _, starts, ends, offsets = tokens(pool, texts)
            return pool.some([texts], [texts[:1], []]), starts, ends, offsets, pool.threads()
        case "count_cells":
            return np.zeros(pool.some([2, 8, 64], [0, 1, 3]), np.uint8), values
        case "add_cells":
            cells = pool.u32(pool.length()).astype(np.uint8)
            return cells, pool.u32(len(cells)).astype(np.uint8)
        case "digest_sets":
            return values, pool.offsets(n)
        case "share_sets":
            offsets = pool.offsets(n)
            table = pool.u32(pool.some([2, 8, 64], [0, 1, 3]), 4).astype(np.uint8)
            taking = pool.u32(max(0, len(offsets) - 1), 2).astype(np.uint8)
            return values, offsets, taking, table, pool.share(), pool.share()
        case "post_shared":
            offsets = pool.offsets(n)
            marks = pool.u32(n).astype(np.uint8)
            wanted = pool.random.choice([None, pool.u32(pool.some([2, 8], [0, 1, 3]), 2).astype(np.uint8)])
            return values, offsets, marks, pool.u32(max(0, len(offsets) - 1)), wanted
        case "lead_postings":
            sizes = pool.u32(n)
            sizes |= np.array([pool.random.randrange(4) << 30 for _ in sizes], np.uint32)
            return values, pool.u64(n), sizes, pool.count(9, 99), pool.share(), pool.random.random() < 0.5
        case "repeated":
            return pool.u32(pool.length(), 3), pool.count(1, 2, 3), pool.threads()
        case "sentence_marks":
            texts = plain_texts(pool)
            hashes, starts, ends, offsets = tokens(pool, texts)
            shortened = np.array([*hashes[:3], 7, 0, 2**63][:: pool.random.choice([1, -1])], np.uint64)
            return pool.some([texts], [texts[:1], []]), hashes, starts, ends, offsets, shortened
        case "passages":
            texts = plain_texts(pool)
            hashes, starts, ends, offsets = tokens(pool, texts)
            if pool.random.random() < 0.3 and len(hashes):
                hashes = hashes * np.array([pool.random.random() > 0.2 for _ in hashes], np.uint64)
            marks = reference.sentence_marks(
                texts, *(reference.tokenize(texts)[i] for i in (0, 1, 2, 4)), np.zeros(0, np.uint64)
            )
            marks = marks if pool.random.random() < 0.9 else np.full(len(marks) + 1, 255, np.uint8)
            return (
                hashes,
                marks,
                starts,
                ends,
                offsets,
                *pool.pairs(3),
                settings_of_passages(pool),
                pool.threads(),
            )
        case "sentence_starts":
            hashes, _, _, offsets = tokens(pool, plain_texts(pool))
            return np.array([pool.random.random() < 0.3 for _ in hashes], np.uint8), offsets
        case "best_places":
            texts = plain_texts(pool)
            hashes, _, _, offsets = tokens(pool, texts)
            marks = np.array([pool.random.random() < 0.2 for _ in hashes], np.uint8)
            left, right = pool.pairs(3)
            firsts = np.arange(len(left) + 1, dtype=np.uint64)
            borders = [pool.u32(len(left), 12) for _ in range(4)]
            return (
                hashes,
                hashes % np.uint64(7),
                pool.random.choice([None, (hashes % np.uint64(11)).astype(np.float64)]),
                marks,
                offsets,
                left,
                right,
                firsts,
                *borders,
                pool.threads(),
            )
        case "cut_markup":
            pieces = [
                "<p>",
                "</p>",
                '<a href="/">',
                "</a>",
                "<tr>",
                "</tr>",
                "x & y",
                "&amp;",
                "Снег\v",
                "\ud800",
                '<p class="',
            ]
            made = "".join(pool.random.choices(pieces, k=pool.random.randrange(6)))
            whole = f"<div>{made}</div>".encode("utf-8", "surrogatepass")
            return (pool.some([whole, b"<p>one</p>"], [whole[:-3], whole[1:], b"", None, "<p></p>", 7]),)
        case "without_numbers":
            return (pool.texts(),)
        case "block_signs":
            texts = plain_texts(pool)
            size = pool.random.choice([1, 2, 5])
            words = np.array([len(text.split()) for text in texts], np.uint32)
            parents = np.array([pool.random.randrange(max(1, place)) for place in range(size)], np.uint32)
            elements = np.array([pool.random.getrandbits(32) for _ in range(size)], np.uint32)
            values = asdict(FrameOptions())
            if pool.random.random() < 0.3:
                values[pool.random.choice(list(values))] = pool.random.choice([*FLOATS, 1e6, 3])
            return (
                pool.some([texts], [texts[:2], None, [1, 2, 3]]),
                pool.some([words], [pool.u32(3)]),
                pool.some([np.array([0.0, 0.5, 1.0])], [pool.f64(3)]),
                np.array([pool.random.getrandbits(8) for _ in texts], np.uint8),
                pool.u32(3, size),
                pool.some([parents], [pool.u32(size, size)]),
                elements,
                pool.u32(size, 2),
                SimpleNamespace(**values),
                pool.random.random() < 0.5,
            )
        case "tree_scores":
            size = pool.random.choice([1, 3, 7])
            others = np.array(
                [min(size - 1, node + 1 + pool.random.randrange(3)) for node in range(size)], np.uint32
            )
            signs = np.array(
                [pool.random.choice([0, 1, 2, LEAF]) for _ in range(size - 1)] + [LEAF], np.uint16
            )
            return (
                pool.some(
                    [np.array([[0.5, -1.0, 2.0], [1e308, -0.0, 3.0]])], [np.zeros((0, 3)), np.zeros(3), None]
                ),
                pool.some([signs], [np.array([5], np.uint16), signs[:-1], None]),
                pool.some([np.arange(size) * 0.7 - 1.0], [pool.f64(size)]),
                pool.some([others], [pool.u32(size, size)]),
                pool.some([np.array([0], np.uint32)], [pool.u32(2, size)]),
            )
    raise AssertionError(name)


def twin(name: str) -> Any:
    return getattr(reference, name)


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return plain(call())
    except REFUSALS:
        return "refused"


def plain(value: Any) -> Any:
    """Something that can be compared: arrays with their kind; a not-a-number is equal to itself here."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, repr(value.tolist())
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value


def shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()}, np.{value.dtype})"
    return repr(value) if not isinstance(value, tuple) else "(" + ", ".join(map(shown, value)) + ")"


def try_kernel(name: str, say: Callable[[str, str], None]) -> None:
    for number in range(CALLS):
        pool = Pool(number)
        made = arguments(name, pool)
        say("in hand", f"{name}{shown(made)}")
        copies = [one.copy() if isinstance(one, np.ndarray) else one for one in made]
        expected = outcome(lambda made=made: twin(name)(*made))
        got = outcome(lambda copies=copies: getattr(native, name)(*copies))
        if got != expected:
            say("differs", f"{name}{shown(made)}: native {got}, plain {expected}")


def try_store(say: Callable[[str, str], None]) -> None:
    for number in range(CALLS):
        pool = Pool(number)
        settings = pool.some([0, 1], [2**31, 2**62, 2**64 - 1]), "", pool.threads()
        fast, slow = native.SetStore(*settings), reference.SetStore(*settings)
        done = []
        for _ in range(12):
            values = pool.u64()
            step = pool.random.choice(
                [
                    ("add", values, pool.offsets(len(values))),
                    ("add", values, pool.offsets(len(values))),
                    ("expect", pool.count(1, 100)),
                    ("sizes",),
                    ("get", pool.count(0, 1)),
                    ("overlaps", *pool.pairs(3)),
                    (
                        "clean",
                        pool.random.choice([np.arange(len(slow), dtype=np.uint32), pool.u32()]),
                        pool.share(),
                        pool.share(),
                    ),
                    ("pairs", pool.share(), pool.share(), 10_000),
                    ("contained", pool.share()),
                    ("minima", pool.u32(3), pool.u32(3), pool.u32(2, 3)),
                    ("__len__",),
                    ("close",),
                ]
            )
            done.append(f"{step[0]}{shown(step[1:])}")
            say("in hand", f"SetStore{settings}: {'; '.join(done)}")
            copies = [one.copy() if isinstance(one, np.ndarray) else one for one in step[1:]]
            expected = outcome(lambda slow=slow, step=step: getattr(slow, step[0])(*step[1:]))
            got = outcome(lambda fast=fast, step=step, copies=copies: getattr(fast, step[0])(*copies))
            if got != expected:
                say("differs", f"SetStore{settings}: {'; '.join(done)}: native {got}, plain {expected}")
                break


def try_tables(say: Callable[[str, str], None]) -> None:
    for number in range(CALLS):
        pool = Pool(number)
        numbers = native.NumberTable(), reference.NumberTable()
        words = native.WordTable(), reference.WordTable()
        for _ in range(4):
            values, texts, start = pool.u64(), [" ".join(pool.random.choices("abc", k=5))], pool.count(0, 1)
            say("in hand", f"number({shown(values)}), tokenize({texts!r}), words({start})")
            for calls in (
                [lambda t=t, v=values: t.number(v) for t in numbers],
                [lambda t=t: len(t) for t in numbers],
                [
                    lambda t=t, k=k, x=texts: k.tokenize(x, None, t)
                    for t, k in zip(words, (native, reference), strict=True)
                ],
                [lambda t=t, s=start: t.words(s) for t in words],
                [lambda t=t: t.hashes() for t in words],
                [lambda t=t: len(t) for t in words],
            ):
                got, expected = map(outcome, calls)
                if got != expected:
                    say(
                        "differs",
                        f"number({shown(values)}), tokenize({texts!r}), words({start}): native {got}, plain {expected}",
                    )


KERNELS = (
    "tokenize shingle_sets fold_text odd_characters apart_runs count_lines json_sets shingle distinct ordered "
    "count_common winnow pack_bags unpack_bags heaviest "
    "sort_postings cut_postings pack_postings unpack_postings merge_postings chunk_stems shared_chunks "
    "minima simhash components common_runs sample_keys pair_keys number_words find_keys align_texts suffix_array "
    "common_prefixes exact_groups self_chains read_texts mark_markdown word_edges repeated sentence_marks passages "
    "count_cells add_cells digest_sets share_sets post_shared lead_postings sentence_starts untold_parts best_places "
    "block_signs tree_scores cut_markup without_numbers"
).split()
WORK: dict[str, Callable[[Callable[[str, str], None]], None]] = {
    **{name: lambda say, name=name: try_kernel(name, say) for name in KERNELS},
    "SetStore": try_store,
    "tables": try_tables,
}


def main() -> None:
    PATHS.extend(files())
    for name in sys.argv[1:] or WORK:
        with tempfile.TemporaryFile("w+") as notes:
            sys.stdout.flush()
            child = os.fork()
            if not child:
                differing = []

                def say(what: str, words: str, notes: Any = notes, differing: list[str] = differing) -> None:
                    if what == "differs":
                        differing.append(words)
                    notes.seek(0)
                    notes.truncate()
                    json.dump({"differs": differing[:5], "in hand": words}, notes)
                    notes.flush()

                code = 1
                try:
                    WORK[name](say)
                    code = 0
                finally:
                    os._exit(code)
            status = os.waitpid(child, 0)[1]
            notes.seek(0)
            told = json.loads(notes.read() or "{}")
            print(json.dumps({"kernel": name, "ended": os.waitstatus_to_exitcode(status), **told}))


if __name__ == "__main__":
    main()
