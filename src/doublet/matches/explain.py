"""A text and the documents that it may have taken from → what explains it, no word counted twice (K1–K3).

The words of a text are read once (`read_words`), and nothing here opens a file or a database. `lay_beside` lays each
document beside the text, `explain` looks through rewording in those most alike and ranks them. What need not
count is a mask over the words of the text (`matches.left_out`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.matches.align import AlignOptions, Passage, exact_passages, name_passages, to_fragments
from doublet.matches.passages import RUN_WORDS, count_runs, find_all
from doublet.matches.sources import Ranked, clip, rank_sources
from doublet.matches.stems import stem
from doublet.model import Document, SourceMatch, Span, hash_text
from doublet.signatures.thesaurus import Thesaurus
from doublet.text.tokens import TokenBatch, read_words

Mask = NDArray[np.bool_]
OnStep = Callable[[int, int], None]

#: in how many documents reworded passages are looked for too, the most alike: so many, and one more for so many words
REWORDED, REWORDED_PER_WORDS, REWORDED_MOST = 4, 500, 24
REWORDED_WORDS = 40_000  #: words of such documents, together; the first is always looked at
NEAR_WORDS = 100_000  #: the same of documents that telling stems lead to


@dataclass(slots=True, eq=False)
class Beside:
    """A document laid beside the text: its words, how alike the two are, and the passages that are equal."""

    document: Document
    words: TokenBatch
    resemblance: float
    containment: float  #: of the text in the document
    passages: list[Passage]
    library: str = ""  #: the document is in
    rank: str = ""  #: what equals are ordered by, when not by the ids of their documents
    near: int = (
        0  #: over 0: telling stems lead to it (`index.stem_chunks`); the nearest has the highest number
    )

    @property
    def name(self) -> str:
        return self.rank or self.document.id


@dataclass(frozen=True, slots=True)
class Explained:
    """What the documents tell of a text."""

    sources: tuple[SourceMatch, ...]
    possible: tuple[SourceMatch, ...]  #: documents with nothing but possible places
    share: float


def lay_beside(
    words: TokenBatch,
    documents: Sequence[Document],
    options: AlignOptions,
    *,
    shingle_words: int,
    read: Sequence[TokenBatch] | None = None,
    measures: Sequence[tuple[float, float]] | None = None,
    on_step: OnStep | None = None,
) -> list[Beside]:
    """Lay each of *documents* beside the text with these *words*. *read* are their words, where they are known already;
    when they are numbered otherwise than those of the text, they are read again. *measures* are resemblance
    and containment of each, where they are known; otherwise they are taken by shingles of so many words."""
    if not documents:
        return []
    if read is None or any(one.vocabulary is not words.vocabulary for one in read):
        batch = read_words([document.text for document in documents], words.spelling)
        read = [batch.one(number) for number in range(len(batch))]
    if measures is None:
        measures = measure(words, TokenBatch.joined(read), shingle_words)
    out = []
    for number, (document, other) in enumerate(zip(documents, read, strict=True)):
        passages = exact_passages(words.hashes, other.hashes, options)
        out.append(Beside(document, other, *measures[number], passages))
        if on_step is not None:
            on_step(number + 1, len(documents))
    return out


def equal_places(words: TokenBatch, beside: Iterable[Beside]) -> list[Span]:
    """The places of the text that are equal in one of the documents, and long enough to count by themselves."""
    return [
        words.span(p.a_start, p.a_end - 1) for one in beside for p in one.passages if p.equal >= RUN_WORDS
    ]


def measure(words: TokenBatch, others: TokenBatch, shingle_words: int) -> list[tuple[float, float]]:
    """Resemblance of a text to each of the others, and its containment in them, by the full sets of shingles."""
    own, _ = kernels.distinct(*kernels.shingle(words.hashes, words.offsets, shingle_words))
    if not len(own):
        return [(0.0, 0.0)] * len(others)
    values, offsets = kernels.distinct(*kernels.shingle(others.hashes, others.offsets, shingle_words))
    known = np.sort(own)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    common = np.concatenate([[0], np.cumsum(known[at] == values)])[offsets.astype(np.int64)]
    overlap = np.diff(common).astype(np.float64)
    sizes = np.diff(offsets).astype(np.float64)
    like = overlap / (len(own) + sizes - overlap)
    return list(zip(like.tolist(), (overlap / len(own)).tolist(), strict=True))


def explain(
    text: str,
    words: TokenBatch,
    candidates: Sequence[Beside],
    *,
    min_share: float = 0.0,
    counted: Mask | None = None,
    thesaurus: Thesaurus | None = None,
) -> Explained:
    """Look for rewording in the candidates most alike, and rank all of them.

    Words that are not *counted* (all are, without it) have no share; a source of such words alone comes last, with the
    share 0. A document that has only possible places is none of the sources; with a *min_share* it is not told at all.
    Of candidates that explain the same words, the one with the smaller name comes first. With a *thesaurus* single
    sentences are seen through synonyms.
    """
    size = len(words.hashes)
    possible = _see_through(text, words, candidates, thesaurus)
    passages = [one.passages for one in candidates]
    names = [one.name for one in candidates]
    orders = {i: place for place, i in enumerate(sorted(range(len(names)), key=lambda i: names[i]))}
    ranked = rank(passages, names, size, min_share=min_share, counted=counted)
    if counted is not None:
        possible = [[p for p in some if counted[p.a_start : p.a_end].any()] for some in possible]

    def tell(row: Ranked, prefix: str) -> SourceMatch:
        one = candidates[row.candidate]
        document = one.document
        return SourceMatch(
            *(document.id, document.title, row.share, row.added, one.resemblance, one.containment),
            to_fragments(one.passages, words, one.words, prefix=f"{prefix}f"),
            library=one.library,
            address=document.address,
            time=document.time,
            text=document.text,
            possible=to_fragments(possible[row.candidate], words, one.words, prefix=f"{prefix}p"),
            text_hash=hash_text(document.text),
            order=orders[row.candidate],
        )

    kept = [row for row in ranked if row.share >= min_share]
    # The number of a source is the one that reports show.
    out = tuple(tell(row, f"s{place}") for place, row in enumerate(kept, 1))
    # With nothing else: more words first.
    only = [i for i, some in enumerate(possible) if some and not passages[i] and not min_share]
    only.sort(key=lambda i: (-sum(p.a_end - p.a_start for p in possible[i]), names[i]))
    perhaps = tuple(tell(Ranked(i, 0.0, 0.0), f"p{place}") for place, i in enumerate(only, 1))
    return Explained(out, perhaps, min(sum((row.added for row in kept), 0.0), 1.0))


def rank(
    passages: Sequence[Sequence[Passage]],
    names: Sequence[str],
    words: int,
    *,
    min_share: float = 0.0,
    counted: Mask | None = None,
) -> list[Ranked]:
    """Who explains a text of so many *words* best; of equals the smaller name. Sources of words that are not *counted*
    come last, with the share 0."""
    if not words:
        return []
    if counted is None:
        return rank_sources(passages, words, names, min_share=min_share)
    ranked = rank_sources([clip(some, counted) for some in passages], words, names, min_share=min_share)
    silent = set(range(len(names))) - {row.candidate for row in ranked}
    return ranked + [Ranked(i, 0.0, 0.0) for i in sorted(silent, key=lambda i: names[i]) if passages[i]]


def most_alike(candidates: Sequence[Beside], words: int) -> list[int]:
    """In which candidates rewording is looked for when the text has so many *words*: those with the most equal words,
    then by containment, then by id; and those that telling stems lead to. The bounds keep a check quick in any
    library."""
    order = sorted(
        range(len(candidates)),
        key=lambda i: (
            -sum(p.equal for p in candidates[i].passages),
            -candidates[i].containment,
            candidates[i].name,
            i,
        ),
    )
    chosen: list[int] = []
    left = REWORDED_WORDS
    for i in order[: min(REWORDED + words // REWORDED_PER_WORDS, REWORDED_MOST)]:
        size = len(candidates[i].words.hashes)
        if not chosen or size <= left:
            chosen.append(i)
            left -= size
    left = NEAR_WORDS
    near = [i for i in range(len(candidates)) if candidates[i].near]
    for i in sorted(near, key=lambda i: -candidates[i].near):
        size = len(candidates[i].words.hashes)
        if i not in chosen and size <= left:
            chosen.append(i)
            left -= size
    return chosen


def _see_through(
    text: str, words: TokenBatch, candidates: Sequence[Beside], thesaurus: Thesaurus | None
) -> list[list[Passage]]:
    """Adds reworded passages to the exact ones, in the candidates most alike; gives the possible ones of each."""
    possible: list[list[Passage]] = [[] for _ in candidates]
    if not text or not candidates:
        return possible
    chosen = most_alike(candidates, len(words.hashes))
    some = [candidates[i] for i in chosen]
    read = stem(
        [text, *(one.document.text for one in some)],
        TokenBatch.joined([words, *(one.words for one in some)]),
        thesaurus,
    )
    pairs = [(0, row) for row in range(1, len(chosen) + 1)]
    found = find_all(read, pairs, exact=[one.passages for one in some], together=True)
    for i, both in zip(chosen, found, strict=True):
        candidates[i].passages, possible[i] = both.passages, both.possible
    for i in set(range(len(candidates))) - set(chosen):
        name_passages(candidates[i].passages)
        both = count_runs(candidates[i].passages, words, candidates[i].words)
        candidates[i].passages, possible[i] = both.passages, both.possible
    return possible
