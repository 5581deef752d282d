"""Comparing two texts of ten thousand words, and how long it takes to start.

    python benchmarks/compare.py ru en

The second text is the first with a tenth of its words changed and its parts in another order.
`doublet.compare` gives measures, passages on both sides and disguise from plain text; difflib and
rapidfuzz get words as numbers and give matching blocks, and neither finds what was moved.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dedupe import OURS
from measure import best, cores, corpus_path, python, read_texts, run, save, table, timed

WORDS = 10_000
WARM_UP = 1000  #: characters of both texts that load modules and tables before anything is measured
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Row:
    what: str
    ms: float
    note: str


def texts_of(path: Path, words: int = WORDS) -> tuple[str, str, str]:
    """A text of so many words from the documents of a collection, its edited copy, and another text."""
    rng = random.Random(7)
    held: list[str] = []
    for text in read_texts(path):
        held += text.split()
        if len(held) >= 2 * words:
            break
    first, other = held[:words], held[words : 2 * words]
    part = max(1, len(first) // 12)
    parts = [first[i : i + part] for i in range(0, len(first), part)]
    rng.shuffle(parts)
    edited = [rng.choice(first) if rng.random() < 0.1 else word for some in parts for word in some]
    return " ".join(first), " ".join(edited), " ".join(other)


def numbers(a: str, b: str) -> tuple[list[int], list[int]]:
    known: dict[str, int] = {}
    first, second = (
        [known.setdefault(word, len(known)) for word in WORD.findall(text.lower())] for text in (a, b)
    )
    return first, second


def by_difflib(pair: tuple[str, str]) -> float:
    a, b = numbers(*pair)
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(a)


def by_rapidfuzz(pair: tuple[str, str]) -> float:
    from rapidfuzz.distance import Levenshtein

    a, b = numbers(*pair)
    return sum(o.src_end - o.src_start for o in Levenshtein.opcodes(a, b) if o.tag == "equal") / len(a)


def ours(pair: tuple[str, str], method: str = "auto") -> float:
    import doublet

    return doublet.compare(*pair, method=method).share


def fresh_copies(pair: tuple[str, str]) -> tuple[str, str]:
    """The same texts in new objects."""
    return "".join(list(pair[0])), "".join(list(pair[1]))


def comparing(path: Path, *, words: int, runs: int) -> list[Row]:
    text, edited, other = texts_of(path, words)
    ways: list[tuple[str, Callable[[Any], float]]] = [
        ("doublet.compare", ours),
        ("doublet.compare by shingles", functools.partial(ours, method="shingles")),
        ("rapidfuzz opcodes on words", by_rapidfuzz),
        ("difflib on words", by_difflib),
    ]
    out = []
    for kind, pair in (("edited copy", (text, edited)), ("another text", (text, other))):
        for name, work in ways:
            warm_up = (pair[0][:WARM_UP], pair[1][:WARM_UP])
            done = timed(work, fresh=functools.partial(fresh_copies, pair), runs=runs, warm_up=warm_up)
            note = f"CPU; {100 * done.result:.0f} % of the words found again"
            out.append(Row(f"{path.stem}, {kind}: {name}", 1000 * done.cpu_s, note))
    return out


def starting(runs: int) -> list[Row]:
    """Wall time of whole processes, and of the import inside one."""
    bare = best([run([python(), "-c", "pass"]) for _ in range(runs)])
    timing = "import time; t = time.perf_counter(); import doublet; print(time.perf_counter() - t)"
    inside = min(float(run([python(), "-c", timing]).out) for _ in range(runs))
    helping = best([run([*OURS, "--help"]) for _ in range(runs)])
    return [
        Row("python, nothing else", 1000 * bare.wall_s, "wall"),
        Row("import doublet", 1000 * inside, "wall, without the start of Python"),
        Row("doublet --help", 1000 * helping.wall_s, "wall, with the start of Python"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("names", nargs="+", help="ru, en, or the path of a JSONL file")
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    os.sched_setaffinity(0, cores(1))
    rows = []
    for name in given.names:
        path = corpus_path(name)
        rows += comparing(path, words=given.words, runs=given.runs)
    rows += starting(given.runs)
    print(table(["what", "ms", "note"], [list(vars(row).values()) for row in rows]))
    save("compare", rows, words=given.words, runs=given.runs)


if __name__ == "__main__":
    main()
