"""Check a text against libraries: what was taken, from where, and what of it need not count (K1–K5).

1. The keys of the text lead to documents that share some, in all libraries or in those named.
2. The few that explain most are verified on their texts (`jobs.check.explain`); only what is found there is reported.
3. What the user wants left out (quotations, the bibliography, wording common in the libraries, own earlier versions) is
   taken out of the share, with its reason and the share that it would have made.

Explained in docs/explanation/library-checks.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import InvalidParameter, UnknownMethod, suggest
from doublet.index import passage_keys
from doublet.index.passage_keys import (
    EVERY_KEY_UP_TO,
    KEYS_PER_CANDIDATE,
    LEAST_CANDIDATES,
    SHINGLE_WORDS,
    WINDOW,
    Hits,
    PassageKeys,
    choose,
    make_keys,
)
from doublet.jobs.check import Aligned, align_exactly, empty_notes, explain
from doublet.matches.align import ALIGN_NAMES, AlignOptions, find_passages
from doublet.matches.exclusions import Excluded, bibliography, quotations
from doublet.model import Check, Document, LeftOut, SourceMatch, Span
from doublet.progress import Progress
from doublet.signatures import method as make_method
from doublet.signatures import method_names
from doublet.signatures.auto import settle
from doublet.signatures.shingles import Shingles
from doublet.store.database import Store
from doublet.store.values import LibraryInfo, StoredDocument
from doublet.text.tokens import Canon, TokenBatch

Mask = NDArray[np.bool_]
Found = dict[int, tuple[StoredDocument, str]]  #: documents of the store with their texts, by number

PASSAGES = "passages"  #: the method that finds borrowed passages; the others look at whole documents
AUTO = "auto"  #: the same, with a second, closer look when little was found
#: words; of a text up to so long every fingerprint is looked up when the few that are kept lead to little
EVERY_KEY_IF_OPEN = 3_000
EXPLAINED = 0.1  #: share of a text from which on its sources count as found
LEAVE_OUT = ("quotations", "bibliography", "common", "own")
COMMON_LEAST, COMMON_SHARE = 5, 0.02  #: wording is common from so many documents and this share of all on
COMMON_SAMPLE, COMMON_AGREE = 8, 0.6  #: so many of them are laid beside the text; this share has to agree


def check_library(
    store: Store,
    text: str,
    *,
    libraries: Sequence[str] | None = None,
    name: str = "",
    method: str = AUTO,
    parameters: Mapping[str, Any] | None = None,
    leave_out: Iterable[str] = (),
    own: Iterable[str] = (),
    min_share: float = 0.0,
    candidates: int | None = None,
    progress: Progress | None = None,
    **align: Any,
) -> Check:
    """What of *text* stands in these *libraries* (None: in all of the store), and where.

    *name* is what the checked document is called. *leave_out*: any of `LEAVE_OUT`; with "own", documents whose id or
    source is *name* or one of *own* are not counted. *candidates*: how many documents are verified at most. The
    method "passages" is "auto" without its second look; any other gives the documents that it calls similar, with
    their passages. Raises `UnknownLibrary`,
    `UnknownMethod`, `InvalidParameter`, `StoreError`.
    """
    progress = progress or Progress()
    wanted = check_leave_out(leave_out)
    unknown = set(align) - set(ALIGN_NAMES)
    if unknown:
        raise InvalidParameter(
            f"check knows no parameter {min(unknown)!r}: {', '.join(ALIGN_NAMES)}", name=min(unknown)
        )
    options = AlignOptions(**align)
    if candidates is not None and candidates < 1:
        raise InvalidParameter(f"candidates is {candidates}: it must be 1 or more", name="candidates")
    infos = store.libraries.select(libraries)
    numbers = _filter(store, infos) if libraries is not None else None
    documents = sum(info.documents for info in infos)
    batch = Canon().tokens([text])
    words = len(batch.hashes)
    keys = make_keys([text], batch, every=words <= EVERY_KEY_UP_TO)
    hits = store.documents.look_up(keys.values, numbers)
    limit = candidates or max(LEAST_CANDIDATES, len(keys.values) // KEYS_PER_CANDIDATE)
    names = {info.name for info in infos}

    def candidates_of(hits: Hits) -> Found:
        chosen = choose(hits, documents, limit, passage_keys.CUT)
        if words:
            chosen += store.documents.same_words(int(keys.folds.view(np.int64)[0]), numbers)
        full = store.documents.full(list(dict.fromkeys(chosen)))
        # A library that was made this moment is none of those asked for.
        return {n: one for n, one in full.items() if libraries is None or one[0].library in names}

    if method in (PASSAGES, AUTO):
        found = candidates_of(hits)
        progress.step("looking up", len(found), len(found), "documents")
        measures = _measure(text, [one[1] for one in found.values()])
    else:
        found, measures = _similar(store, infos, text, method, dict(parameters or {}), limit, progress)
    masks = _masks(store, text, batch, wanted, keys, hits, documents, options)
    left = ~np.logical_or.reduce([mask for mask, _ in masks.values()]) if masks else None

    aligned: dict[int, Aligned] = {}

    def align_others() -> tuple[set[int], list[int]]:
        """Numbers of own versions and of the others, those most alike first: of sources that explain the same words
        they come first. The others are aligned."""
        mine = _own(found.values(), name, own) if "own" in wanted else set()
        place = {number: row for row, number in enumerate(found)}
        others = sorted(set(found) - mine, key=lambda number: (-measures[place[number]][0], number))
        for number in others:
            if number not in aligned:
                aligned[number] = align_exactly(batch, found[number][1], options)
                progress.step("aligning", len(aligned), len(found), "documents")
        return mine, others

    mine, others = align_others()
    if method == AUTO and EVERY_KEY_UP_TO < words <= EVERY_KEY_IF_OPEN:
        equal = np.zeros(words, np.bool_)
        for number in others:
            for passage in aligned[number][1]:
                equal[passage.a_start : passage.a_end] = True
        if (equal if left is None else equal & left).mean() < EXPLAINED:
            # Little was found: the text may be reworded, and any of its fingerprints may be one that survived.
            every = make_keys([text], batch, every=True).values
            rest = every[~np.isin(every, keys.values)]
            more = candidates_of(hits.joined(store.documents.look_up(rest, numbers)))
            new = {number: one for number, one in more.items() if number not in found}
            if new:
                found |= new
                measures = [*measures, *_measure(text, [one[1] for one in new.values()])]
                mine, others = align_others()
    place = {number: row for row, number in enumerate(found)}
    answer = explain(
        text,
        [_document(*found[number], rank) for rank, number in enumerate(others)],
        [measures[place[number]] for number in others],
        options,
        min_share,
        progress,
        counted=left,
        batch=batch,
        aligned=[aligned[number] for number in others],
    )
    borrowed = _covered(answer.sources, batch)
    taken = _own_words(mine, found, batch, options)
    left_out = _tell(masks, borrowed, taken, batch, mine, found)
    whole = float((borrowed | taken).mean()) if words else 0.0
    return Check(
        words=words,
        share=answer.share,
        sources=tuple(_named(source, found, others) for source in answer.sources if source.share > 0),
        possible_sources=tuple(_named(source, found, others) for source in answer.possible),
        documents=documents,
        parameters={
            "method": method,
            **dict(parameters or {}),
            "shingle_words": SHINGLE_WORDS,
            "window": WINDOW,
            "candidates": limit,
            "min_share": min_share,
            "leave_out": list(wanted),
            **{option: getattr(options, option) for option in ALIGN_NAMES},
        },
        disguise=answer.disguise,
        notes=empty_notes(words, documents),
        name=name,
        libraries=tuple(info.name for info in infos),
        left_out=left_out,
        share_with_all=whole if wanted else None,
    )


def check_leave_out(names: Iterable[str]) -> tuple[str, ...]:
    given = [names] if isinstance(names, str) else list(names)
    for one in given:
        if one not in LEAVE_OUT:
            raise InvalidParameter(
                f"{one!r} cannot be left out{suggest(one, LEAVE_OUT) or '.'} What can: {', '.join(LEAVE_OUT)}",
                name="leave_out",
                value=one,
            )
    return tuple(kind for kind in LEAVE_OUT if kind in given)


def _filter(store: Store, infos: Sequence[LibraryInfo]) -> list[int] | None:
    """Numbers of the libraries to look into; None when they are all there are, which needs no filter."""
    chosen = [info.number for info in infos]
    others = [info for info in store.libraries.all() if info.documents and info.number not in chosen]
    return chosen if others else None


def _measure(text: str, texts: Sequence[str]) -> list[tuple[float, float]]:
    """Resemblance and containment by the full sets of shingles."""
    exact = make_method("shingles", shingle_words=SHINGLE_WORDS)
    assert isinstance(exact, Shingles)
    mine = exact.sign(text)
    if mine is None or not texts:
        return [(0.0, 0.0)] * len(texts)
    values, offsets, _, _ = exact.sets(texts)
    known = np.sort(mine.values)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    common = np.concatenate([[0], np.cumsum(known[at] == values)])[offsets.astype(np.int64)]
    overlap = np.diff(common).astype(np.float64)
    sizes = np.diff(offsets).astype(np.float64)
    like = overlap / (mine.size + sizes - overlap)
    return list(zip(like.tolist(), (overlap / mine.size).tolist(), strict=True))


def _similar(
    store: Store,
    infos: Sequence[LibraryInfo],
    text: str,
    method: str,
    parameters: dict[str, Any],
    limit: int,
    progress: Progress,
) -> tuple[Found, list[tuple[float, float]]]:
    """Documents that a whole-document method calls similar, most alike first, with its measures."""
    if method not in method_names():
        raise UnknownMethod(method, [*method_names(), PASSAGES])
    rows: list[tuple[float, float, int]] = []
    for info in infos:
        if not info.documents:
            continue

        def step(done: int, total: int) -> None:
            progress.step("signing", done, total, "documents")

        index = store.signatures.index(info.number, method, parameters, step=step)
        signature = index.method.sign(text)
        if signature is None:
            continue
        near = [candidate.id for candidate in index.candidates(signature, limit=20 * limit)]
        stored = index.signatures(near)
        places = store.documents.numbers_of(info.number, near)
        answers = settle([index.method.compare(signature, other) for other in stored.values()])
        for id, measured in zip(stored, answers, strict=True):
            if measured.similar and id in places:
                inside = measured.containment[0] if measured.containment else measured.resemblance
                rows.append((measured.resemblance, inside, places[id]))
    rows.sort(key=lambda row: (-row[0], row[2]))
    kept = rows[:limit]
    full = store.documents.full([row[2] for row in kept])
    kept = [row for row in kept if row[2] in full]
    return {row[2]: full[row[2]] for row in kept}, [(row[0], row[1]) for row in kept]


def _document(info: StoredDocument, text: str, rank: int) -> Document:
    """As the ranking wants it. Ids of different libraries must not meet, so the rank stands in for the id."""
    return Document(f"{rank:06}", text, info.title, info.time, info.source, info.address)


def _named(
    source: SourceMatch, found: Mapping[int, tuple[StoredDocument, str]], numbers: Sequence[int]
) -> SourceMatch:
    info = found[numbers[int(source.id)]][0]
    return replace(source, id=info.id, library=info.library)


# What is left out


def _masks(
    store: Store,
    text: str,
    batch: TokenBatch,
    wanted: Sequence[str],
    keys: PassageKeys,
    hits: Hits,
    documents: int,
    options: AlignOptions,
) -> dict[str, tuple[Mask, list[Excluded]]]:
    """Of each kind the words that it leaves out, and the places with their reasons."""
    out: dict[str, tuple[Mask, list[Excluded]]] = {}
    finders = {"quotations": quotations, "bibliography": bibliography}
    for kind in wanted:
        if kind == "own":
            continue
        find = finders.get(kind)
        places = find(text) if find else _common(store, batch, keys, hits, documents, options)
        out[kind] = (_words_in([place.span for place in places], batch), places)
    return out


def _words_in(spans: Iterable[Span], batch: TokenBatch) -> Mask:
    mask = np.zeros(len(batch.starts), np.bool_)
    for start, end in spans:
        first = int(np.searchsorted(batch.starts, start, side="left"))
        last = int(np.searchsorted(batch.ends, end, side="right"))
        mask[first:last] = True
    return mask


def _common(
    store: Store, batch: TokenBatch, keys: PassageKeys, hits: Hits, documents: int, options: AlignOptions
) -> list[Excluded]:
    """Wording that many documents of the libraries share (title pages, stock phrases).

    Keys of many documents tell where it is; how far it goes is seen by laying some of those documents beside the text:
    it goes as far as most of them agree.
    """
    bound = min(passage_keys.CUT, max(COMMON_LEAST, COMMON_SHARE * documents))
    runs: list[list[int]] = []
    for at in np.argsort(keys.places, kind="stable").tolist():
        if hits.frequency[at] < bound:
            continue
        if runs and keys.places[at] - keys.places[runs[-1][-1]] <= WINDOW:
            runs[-1].append(at)
        else:
            runs.append([at])
    samples = []
    for run in runs:
        rarest = min(run, key=lambda at: int(hits.frequency[at]))
        having = hits.documents[hits.keys == rarest]
        samples.append(having[:: max(1, len(having) // COMMON_SAMPLE)][:COMMON_SAMPLE].tolist())
    texts = store.documents.texts(list({number for sample in samples for number in sample}))
    aligned = {
        number: find_passages(batch.hashes, Canon().tokens([text]).hashes, options)
        for number, text in texts.items()
    }
    out: list[Excluded] = []
    for run, sample in zip(runs, samples, strict=True):
        sharing = np.zeros(len(batch.starts), np.int64)
        for number in sample:
            for passage in aligned.get(number, ()):
                sharing[passage.a_start : passage.a_end] += 1
        common = sharing >= max(2, COMMON_AGREE * len(sample))
        first, last = int(keys.places[run[0]]), int(keys.places[run[-1]]) + SHINGLE_WORDS
        common[first:last] = True
        while first > 0 and common[first - 1]:
            first -= 1
        while last < len(common) and common[last]:
            last += 1
        least = int(min(hits.frequency[at] for at in run))
        many = f"more than {passage_keys.CUT}" if least > passage_keys.CUT else f"at least {least}"
        span = Span(int(batch.starts[first]), int(batch.ends[min(last, len(common)) - 1]))
        out.append(Excluded(span, f"wording of {many} documents"))
    return out


def _own(found: Iterable[tuple[StoredDocument, str]], name: str, own: Iterable[str]) -> set[int]:
    """Numbers of the user's own earlier versions."""
    names = {one for one in (name, *own) if one}
    return {
        info.number
        for info, _ in found
        if names & {info.id, f"{info.library}/{info.id}", info.source or info.id}
    }


def _covered(sources: Sequence[SourceMatch], batch: TokenBatch) -> Mask:
    return _words_in((fragment.a for source in sources for fragment in source.fragments), batch)


def _own_words(
    mine: set[int], found: Mapping[int, tuple[StoredDocument, str]], batch: TokenBatch, options: AlignOptions
) -> Mask:
    mask = np.zeros(len(batch.starts), np.bool_)
    for number in mine:
        for passage in find_passages(batch.hashes, Canon().tokens([found[number][1]]).hashes, options):
            mask[passage.a_start : passage.a_end] = True
    return mask


def _tell(
    masks: Mapping[str, tuple[Mask, list[Excluded]]],
    borrowed: Mask,
    taken: Mask,
    batch: TokenBatch,
    mine: set[int],
    found: Mapping[int, tuple[StoredDocument, str]],
) -> tuple[LeftOut, ...]:
    """One row for each kind, with the share that there would be if only this kind were counted again."""
    words = max(1, len(batch.starts))
    out = []
    for kind, (mask, places) in masks.items():
        others = [other for name, (other, _) in masks.items() if name != kind]
        hidden = np.logical_or.reduce(others) if others else np.zeros(len(mask), np.bool_)
        out.append(
            LeftOut(
                kind,
                tuple(place.reason for place in places),
                tuple(place.span for place in places),
                int(mask.sum()),
                float((borrowed & ~hidden).sum() / words),
            )
        )
    if mine:
        hidden = np.logical_or.reduce([mask for mask, _ in masks.values()]) if masks else np.zeros_like(taken)
        spans = _spans(taken, batch)
        names = tuple(sorted(f"{found[number][0].library}/{found[number][0].id}" for number in mine))
        out.append(
            LeftOut(
                "own",
                tuple("stands in an own earlier version" for _ in spans),
                spans,
                int(taken.sum()),
                float(((borrowed | taken) & ~hidden).sum() / words),
                names,
            )
        )
    return tuple(out)


def _spans(mask: Mask, batch: TokenBatch) -> tuple[Span, ...]:
    edges = np.flatnonzero(np.diff(mask, prepend=False, append=False))
    return tuple(
        Span(int(batch.starts[first]), int(batch.ends[end - 1]))
        for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    )
