"""What a method costs on this very machine: a taste of the texts is put through its steps, and the processor's clock is
read (not that on the wall: on a busy machine a taste of a tenth of a second may take ten times as long by that one).

The first walk through the taste is not counted: in it nearly every word is new and has to be reduced, in a collection
hardly any. What cannot be tasted (the join) is reckoned from the number of keys.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

FIRST_TASTE = 50_000  #: characters signed first; the plain Python kernels get no more than that
TASTE_S = 0.05
TASTES = 3
# Measured with benchmarks/data (40 thousand documents of 200 and of 500 words, every method): measure again when the
# join, or what is kept of a document, changes.
DOCUMENT_JOIN_S = 8e-6  #: seconds to join a document, and for each of its keys:
KEY_JOIN_S, SHARED_KEY_JOIN_S = (
    0.3e-6,
    2.5e-6,
)  #: hashes of several things; single runs of words, which many may share
SHINGLE_JOIN = 1.4  #: joining by shingles, as a share of making them
AUTO_JOIN = 4.5  #: the same where reworded copies are looked for
PIVOT_CHOICE_S = 130e-6  #: seconds for each document that pivot words are chosen from
BYTES_PER_SHINGLE = 20  #: while sets are joined by themselves
BYTES_PER_STORED = 10  #: while they only verify
BYTES_PER_KEY, BYTES_PER_VALUE, BYTES_PER_WORD = 32, 8, 170
BYTES_PER_SAMPLED = 22  #: of shingles that lead to reworded copies
BATCH_BYTES = 30_000_000  #: a batch as texts, words, signatures, where records are read one by one


@dataclass(frozen=True, slots=True)
class Costs:
    """Of a taste: seconds and numbers for each character, and for each document."""

    seconds: float = 0.0  #: a character, all steps before the join
    walks: int = 1  #: times the input is read
    shingles: float = 0.0  #: a character
    join_s: float = 0.0  #: a document
    document_bytes: float = 0.0  #: keys and signature of a document
    shingle_bytes: int = BYTES_PER_SHINGLE
    fixed_bytes: int = 0
    words: int = 0  #: different words in so many characters
    letters: int = 1
    growth: float = 0.0  #: twice the text has 2 ** growth times the words
    sampled: bool = False  #: shingles are sampled for reworded copies

    def memory_bytes(self, characters: float, documents: float, workers: int) -> int:
        """What the method takes beside the program and what is known of every document."""
        words = self.words * max(1.0, characters / self.letters) ** self.growth if self.words else 0.0
        spelled = words * BYTES_PER_WORD * workers
        sets = characters * self.shingles * self.shingle_bytes
        if self.sampled:
            from doublet.index.sampled import MOST_ENTRIES

            sets += min(MOST_ENTRIES, characters * self.shingles) * BYTES_PER_SAMPLED
        return round(sets + spelled + documents * self.document_bytes + self.fixed_bytes * workers)

    def work_s(self, characters: float, documents: float) -> float:
        return characters * self.seconds + documents * self.join_s


def taste_costs(texts: list[str], name: str, parameters: dict[str, Any], documents: int) -> Costs:
    """Costs of the method for a collection of about so many *documents* like these *texts*."""
    from doublet.signatures import METHODS

    taste, length = [], 0
    for text in texts:
        taste.append(text[:FIRST_TASTE])
        length += len(taste[-1])
        if length >= FIRST_TASTE:
            break
    if not length:
        return Costs()
    after = SHINGLE_JOIN
    if name == "auto":  # shingles, and a second look at some of the documents
        name, after = "shingles", AUTO_JOIN
        known = {info.name for info in METHODS[name].parameters_type.infos()} - {"reduce"}
        parameters = {key: value for key, value in parameters.items() if key in known}
    found = _taste(taste, name, parameters, after, documents)
    if found.seconds * length > TASTE_S:
        return found
    # The quickest of several: what else a processor does meanwhile only adds.
    tastes = [_taste(texts, name, parameters, after, documents) for _ in range(TASTES)]
    return min(tastes, key=lambda one: one.seconds)


def _taste(texts: list[str], name: str, parameters: dict[str, Any], after: float, documents: int) -> Costs:
    import numpy as np

    from doublet.signatures import gather_statistics, in_parts
    from doublet.signatures import method as make_method
    from doublet.text.tokens import forget_words

    letters = sum(map(len, texts)) or 1
    statistics = gather_statistics(name, texts, **parameters)
    method = make_method(name, statistics, **parameters)
    exact: Any = method if name == "shingles" else make_method("shingles")
    began = time.process_time()
    if name == "shingles":
        sizes = np.diff(exact.sets(texts)[1])
        seconds = (1 + after) * (time.process_time() - began) / letters
        return Costs(seconds, shingles=float(sizes.sum()) / letters, sampled=after == AUTO_JOIN)
    for part in in_parts(texts):
        method.sign_texts(part)  # the words are known now
    walks = 2 if method.needs_statistics else 1
    words, growth = 0, 0.0
    began = time.process_time()
    for _ in range(walks - 1):  # the walk for the statistics, without the choice that comes after it
        for part in in_parts(texts):
            method.canon.tokens(part, words=True)
    signed = [one for part in in_parts(texts) for one in method.sign_texts(part)]
    some = [one for one in signed if one is not None]
    rows = method.key_rows(some) if some else None
    keys = rows.size if rows is not None else sum(len(method.keys(one)) for one in some)
    sizes = np.diff(exact.sets(texts)[1])
    seconds = time.process_time() - began
    if method.needs_words or not method.canon.plain:
        forget_words()
        half = len(texts) // 2
        first = len(set(method.canon.tokens(texts[:half], words=True).ids.tolist())) if half else 0
        words = len(set(method.canon.tokens(texts, words=True).ids.tolist()))
        growth = min(1.0, max(0.0, math.log2(words / first))) if first and words else 0.5
    keys_each = keys / len(texts)
    join_s = DOCUMENT_JOIN_S + keys_each * (SHARED_KEY_JOIN_S if rows is None else KEY_JOIN_S)
    if name == "pivot":
        join_s += PIVOT_CHOICE_S * min(1.0, method.parameters.sample / max(1, documents))
    values = 0.0
    if method.threshold is None:
        values = sum(len(one.values) for one in some) / len(texts)
    return Costs(
        seconds / letters,
        walks,
        float(sizes.sum()) / letters,
        join_s,
        keys_each * BYTES_PER_KEY + values * BYTES_PER_VALUE,
        BYTES_PER_STORED,
        BATCH_BYTES,
        words,
        letters,
        growth,
    )
