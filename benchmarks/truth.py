"""Every pair of documents with a word 5-gram Jaccard of at least 0.5, by an exact join that shares no
code with ours.

    python benchmarks/truth.py ru en

Two views: `canonical` reads the words of Doublet's canonical form, `plain` reads `\\w+` of the
lower-cased text (what the rivals are given). Words become numbers through a dictionary and runs of words
become numbers through sorting, so nothing here rests on a hash. Candidates come from an inverted index
over the rarest runs of each document: two sets with Jaccard of at least t share one of the |A| − ⌈t·|A|⌉
+ 1 rarest. Each candidate is then counted in full. Results are kept next to the collection as
NAME.VIEW.truth.npz and reused while neither the collection nor the way words are made has changed.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measure import corpus_path, read_texts

LEAST = 0.5
RUN_WORDS = 5
VIEWS = ("canonical", "plain")
WORD = re.compile(r"\w+")
Pairs = dict[tuple[int, int], float]


def word_numbers(texts: Sequence[str], view: str) -> Iterator[list[int]]:
    """For each text the numbers of its words; equal words have equal numbers in all texts."""
    if view == "plain":
        numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
        for text in texts:
            yield [numbers[word] for word in WORD.findall(text.lower())]
        return
    from doublet.text.tokens import Canon

    numbers = defaultdict(lambda: len(numbers))
    for start in range(0, len(texts), 1000):
        batch = Canon().tokens(texts[start : start + 1000], words=True)
        for text in range(len(batch)):
            yield [numbers[word] for word in batch.words(text)]


def runs_of_words(documents: Iterable[list[int]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """(document, number of the run) of every distinct run of five words in a document, sorted by document.

    A document of fewer words has one run, of all its words; it equals that of a document with the same
    words only.
    """
    words: list[NDArray[Any]] = []
    owners: list[NDArray[Any]] = []
    for number, document in enumerate(documents):
        if not document:
            continue
        padded = document + [-1] * (RUN_WORDS - len(document))
        words.append(np.array(padded, np.int64) + 1)
        owners.append(np.full(len(padded), number, np.int64))
    flat, owner = np.concatenate(words), np.concatenate(owners)
    code = flat
    for step in range(1, RUN_WORDS):  # number of the run of step words, next word → number of the longer run
        code = code[: len(flat) - step] * (int(flat.max()) + 1) + flat[step:]
        code = np.unique(code, return_inverse=True)[1]
    whole = owner[: len(code)] == owner[RUN_WORDS - 1 :]
    both = np.unique(owner[: len(code)][whole] * (int(code.max()) + 1) + code[whole])
    return both // (int(code.max()) + 1), both % (int(code.max()) + 1)


def exact_pairs(documents: Iterable[list[int]], least: float = LEAST) -> Pairs:
    """{(a, b): Jaccard} of all pairs with a < b."""
    owner, code = runs_of_words(documents)
    counts = np.bincount(code)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    order = np.lexsort((rank[code], owner))
    owner, code = owner[order], code[order]
    sizes = np.bincount(owner)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    place = np.arange(len(owner)) - starts[owner]
    needed = np.array([n - math.ceil(least * n) + 1 for n in range(int(sizes.max()) + 1)])
    telling = (place < needed[sizes[owner]]) & (counts[code] > 1)

    sets = [frozenset(code[starts[d] : starts[d + 1]].tolist()) for d in range(len(sizes))]
    index: defaultdict[int, list[int]] = defaultdict(list)
    out: Pairs = {}
    prefixes = np.split(code[telling], np.cumsum(np.bincount(owner[telling], minlength=len(sizes)))[:-1])
    for b, prefix in enumerate(prefixes):
        seen: set[int] = set()
        for run in prefix.tolist():
            seen.update(index[run])
            index[run].append(b)
        size = len(sets[b])
        for a in seen:
            if least * size <= len(sets[a]) and least * len(sets[a]) <= size:
                common = len(sets[a] & sets[b])
                jaccard = common / (size + len(sets[a]) - common)
                if jaccard >= least:
                    out[a, b] = jaccard
    return out


def load(corpus: Path, view: str) -> Pairs:
    """Truth of a collection, made now if it is not there yet. Documents are numbered by their line."""
    if view not in VIEWS:
        raise SystemExit(f"unknown view {view!r}: it can be one of {', '.join(VIEWS)}")
    kept = corpus.with_suffix(f".{view}.truth.npz")
    made_of = _fingerprint(corpus, view)
    if kept.exists():
        with np.load(kept) as stored:
            if str(stored["made_of"]) == made_of:
                return dict(
                    zip(map(tuple, stored["pairs"].tolist()), stored["jaccard"].tolist(), strict=True)
                )
    start = time.perf_counter()
    pairs = dict(sorted(exact_pairs(word_numbers(read_texts(corpus), view)).items()))
    np.savez_compressed(
        kept,
        pairs=np.array(list(pairs), np.int64).reshape(-1, 2),
        jaccard=np.array(list(pairs.values()), np.float64),
        made_of=np.array(made_of),
    )
    seconds = time.perf_counter() - start
    print(f"truth of {corpus.name}, {view} words: {len(pairs)} pairs in {seconds:.0f} s", file=sys.stderr)
    return pairs


def _fingerprint(corpus: Path, view: str) -> str:
    """Of the bytes of the collection and, for canonical words, of everything that decides about them."""
    digest = hashlib.blake2b(corpus.read_bytes(), digest_size=16)
    if view == "canonical":
        from doublet import kernels
        from doublet.kernels import data

        folder = Path(data.__file__).parent
        sources = [
            folder / "fold_table.bin",
            folder / "reference" / "tokens.py",
        ]  # the native twin says the same
        digest.update(f"{data.TEXT_VERSION} {kernels.BACKEND}".encode())
        for source in sources:
            digest.update(source.read_bytes())
    return digest.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("names", nargs="+", help="ru, en, or the path of a JSONL file")
    for name in parser.parse_args().names:
        path = corpus_path(name)
        for view in VIEWS:
            pairs = load(path, view)
            counts = ", ".join(f"{sum(j >= t for j in pairs.values())} at {t}" for t in (0.5, 0.7, 0.8, 0.9))
            print(f"{path.name}, {view} words: pairs {counts}")


if __name__ == "__main__":
    main()
