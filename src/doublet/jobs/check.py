"""Check a document against others: what was taken, from where, and how much in all (K1–K3).

Documents come from files here; libraries that last will hand in their candidates through the same `explain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import InvalidParameter, require_number, require_text
from doublet.jobs.dedupe import Documents
from doublet.matches.align import (
    ALIGN_NAMES,
    AlignOptions,
    Passage,
    exact_passages,
    name_passages,
    to_fragments,
)
from doublet.matches.passages import find_all, read_stems
from doublet.matches.sources import Ranked, clip, rank_sources
from doublet.model import Check, Disguise, Document, Outcome, SourceMatch
from doublet.progress import Progress
from doublet.signatures import method as make_method
from doublet.signatures.shingles import Shingles
from doublet.text.disguise import find_disguise_in
from doublet.text.tokens import Canon, TokenBatch

CANDIDATES = 200  #: documents that are aligned: those that share the most shingles with the checked one
#: in how many of them reworded passages are looked for too, the most alike: so many, and one more for so many words
REWORDED, REWORDED_PER_WORDS, REWORDED_MOST = 4, 500, 24
REWORDED_WORDS = 40_000  #: words of such documents, together; the first is always looked at


def check(
    text: str,
    documents: Iterable[Document | Mapping[str, Any] | tuple[str, str]] | Any,
    *,
    shingle_words: int = 4,
    min_share: float = 0.0,
    progress: Progress | None = None,
    **align: Any,
) -> Check:
    """What of *text* stands in *documents* (as for `dedupe`, or an opened source), and where.

    Sources with a share under *min_share* are left out. Of the options of the alignment see `AlignOptions`.
    """
    progress = Progress.of(progress)
    require_text("text", text)
    require_number("min_share", min_share, 0, 1)
    unknown = set(align) - set(ALIGN_NAMES)
    if unknown:
        raise InvalidParameter(
            f"check knows no parameter {min(unknown)!r}: {', '.join(ALIGN_NAMES)}", name=min(unknown)
        )
    options = AlignOptions(**align)
    exact = make_method("shingles", shingle_words=shingle_words)
    assert isinstance(exact, Shingles)
    source = documents if hasattr(documents, "batches") else Documents(documents)
    own = exact.sign(text)
    outcomes: list[Outcome] = []
    total = getattr(source, "total_bytes", None)
    # First walk: which documents share shingles with the text at all.
    hits: list[tuple[int, str, int, float, float]] = []  # -overlap, id, position, resemblance, containment
    count = 0
    for batch in source.batches():
        parsed = batch.parse()
        outcomes += parsed.outcomes
        values, offsets, _, _ = exact.sets(parsed.texts)
        if own is not None and len(values):
            found = np.concatenate([[0], np.cumsum(np.isin(values, own.values))])[offsets.astype(np.int64)]
            for i in np.flatnonzero(np.diff(found)).tolist():
                overlap, size = int(found[i + 1] - found[i]), int(offsets[i + 1] - offsets[i])
                like, inside = overlap / (own.size + size - overlap), overlap / own.size
                hits.append((-overlap, parsed.ids[i], count + i, like, inside))
        count += len(parsed)
        progress.step("reading", batch.consumed_bytes, total, "bytes", f"{count:,} documents")
    hits = sorted(hits)[:CANDIDATES]
    # Second walk: the texts of those documents.
    wanted = {position: row for row, (_, _, position, _, _) in enumerate(hits)}
    chosen: list[Document | None] = [None] * len(hits)
    at = 0
    for batch in source.batches() if hits else ():
        parsed = batch.parse()
        titles, addresses = parsed.titles, parsed.addresses
        for i in range(len(parsed)):
            row = wanted.get(at + i)
            if row is not None:
                title = titles[i] if titles else ""
                address = addresses[i] if addresses else ""
                chosen[row] = Document(parsed.ids[i], parsed.texts[i], title, address=address)
        at += len(parsed)
    candidates = [document for document in chosen if document is not None]
    answer = explain(
        text, candidates, [(like, inside) for *_, like, inside in hits], options, min_share, progress
    )
    return Check(
        words=answer.words,
        share=answer.share,
        sources=answer.sources,
        possible_sources=answer.possible,
        documents=count,
        parameters={
            "shingle_words": shingle_words,
            "min_share": min_share,
            **{n: getattr(options, n) for n in ALIGN_NAMES},
        },
        disguise=answer.disguise,
        outcomes=tuple(outcomes),
        notes=empty_notes(answer.words, count),
    )


def empty_notes(words: int, documents: int) -> tuple[str, ...]:
    """Why a check of so many *words* against so many *documents* could find nothing; no notes when it could."""
    return (
        *(() if words else ("the text has no words: there is nothing to check",)),
        *(() if documents else ("there are no documents to check against: a share of 0 says nothing",)),
    )


@dataclass(frozen=True, slots=True)
class Explained:
    """What the candidates tell of a text of so many *words*."""

    sources: tuple[SourceMatch, ...]
    possible: tuple[SourceMatch, ...]  #: documents with nothing but possible places
    words: int
    share: float
    disguise: Disguise


Aligned = tuple[TokenBatch, list[Passage]]  #: words of a candidate, and the passages that are equal


def align_exactly(batch: TokenBatch, other: str, options: AlignOptions) -> Aligned:
    """The first part of explaining the text with these words by *other*."""
    words = Canon().tokens([other])
    return words, exact_passages(batch.hashes, words.hashes, options)


def explain(
    text: str,
    candidates: Sequence[Document],
    measures: Sequence[tuple[float, float]],
    options: AlignOptions,
    min_share: float,
    progress: Progress,
    *,
    counted: NDArray[np.bool_] | None = None,
    batch: TokenBatch | None = None,
    aligned: Sequence[Aligned] | None = None,
) -> Explained:
    """Align *text* with every candidate and rank them.

    *measures* are resemblance and containment of each candidate. Words that are not *counted* (all are, without it)
    have no share; a source of such words alone comes last, with the share 0. *batch* holds the words of *text*,
    *aligned* what `align_exactly` gave for each candidate.
    A document that has only possible places is none of the sources; with a *min_share* it is not told at all.
    """
    batch = batch if batch is not None else Canon().tokens([text])
    words = len(batch.hashes)
    if aligned is None:
        aligned = []
        for number, document in enumerate(candidates):
            aligned.append(align_exactly(batch, document.text, options))
            progress.step("aligning", number + 1, len(candidates), "documents")
    batches = [other for other, _ in aligned]
    passages = [found for _, found in aligned]
    possible = _see_through(text, words, candidates, measures, passages, batches)
    names = [document.id for document in candidates]
    if words and counted is not None:
        ranked = rank_sources([clip(some, counted) for some in passages], words, names, min_share=min_share)
        silent = set(range(len(names))) - {row.candidate for row in ranked}
        ranked += [Ranked(i, 0.0, 0.0) for i in sorted(silent, key=lambda i: names[i]) if passages[i]]
    else:
        ranked = rank_sources(passages, words, names, min_share=min_share) if words else []
    if counted is not None:
        possible = [[p for p in some if counted[p.a_start : p.a_end].any()] for some in possible]

    def tell(row: Ranked, prefix: str) -> SourceMatch:
        document, other = candidates[row.candidate], batches[row.candidate]
        found = to_fragments(passages[row.candidate], batch, other, prefix=f"{prefix}f")
        weak = to_fragments(possible[row.candidate], batch, other, prefix=f"{prefix}p")
        like, inside = measures[row.candidate]
        return SourceMatch(
            *(document.id, document.title, row.share, row.added, like, inside, found),
            address=document.address,
            time=document.time,
            text=document.text,
            possible=weak,
        )

    out: list[SourceMatch] = []
    share = 0.0
    for row in ranked:
        if row.share < min_share:
            continue
        share += row.added
        out.append(tell(row, f"s{len(out) + 1}"))  # the number that reports show
    # With nothing else: more words first.
    only = [i for i, some in enumerate(possible) if some and not passages[i] and not min_share]
    only.sort(key=lambda i: (-sum(p.a_end - p.a_start for p in possible[i]), names[i]))
    perhaps = [tell(Ranked(i, 0.0, 0.0), f"p{place}") for place, i in enumerate(only, 1)]
    return Explained(tuple(out), tuple(perhaps), words, min(share, 1.0), find_disguise_in(text, batch, 0))


def _see_through(
    text: str,
    words: int,
    candidates: Sequence[Document],
    measures: Sequence[tuple[float, float]],
    passages: list[list[Passage]],
    batches: Sequence[TokenBatch],
) -> list[list[Passage]]:
    """Adds reworded passages to the exact ones, in the candidates most alike; gives the possible ones of each.

    Most alike: those with the most equal words, then by containment, then by id. The bound keeps a check quick in any
    library.
    """
    possible: list[list[Passage]] = [[] for _ in candidates]
    if not text or not candidates:
        return possible
    order = sorted(
        range(len(candidates)),
        key=lambda i: (-sum(p.equal for p in passages[i]), -measures[i][1], candidates[i].id, i),
    )
    chosen: list[int] = []
    room = REWORDED_WORDS
    most = min(REWORDED + words // REWORDED_PER_WORDS, REWORDED_MOST)
    for i in order[:most]:
        size = len(batches[i].hashes)
        if not chosen or size <= room:
            chosen.append(i)
            room -= size
    read = read_stems([text, *(candidates[i].text for i in chosen)])
    found = find_all(
        read, [(0, row) for row in range(1, len(chosen) + 1)], exact=[passages[i] for i in chosen]
    )
    for i, both in zip(chosen, found, strict=True):
        passages[i], possible[i] = both.passages, both.possible
    for i in set(range(len(candidates))) - set(chosen):
        name_passages(passages[i])
    return possible
