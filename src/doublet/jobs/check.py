"""Check a text against documents of files or of memory: what was taken, from where, and how much in all (K1–K3).

One walk over the documents finds those that share shingles with the text and those that share its telling stems
(`index.stem_chunks`); the few that share most are laid beside it (`matches.explain`). `jobs.check_library` does the
same with the index of a library.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

import doublet
from doublet import kernels
from doublet.errors import InvalidParameter, require_number
from doublet.index.stem_chunks import NearestDocuments, read_windows
from doublet.jobs.dedupe.documents import DocumentsInput, opened
from doublet.jobs.read import GivenText, TextInput, take_text
from doublet.matches.align import ALIGN_NAMES, AlignOptions
from doublet.matches.explain import explain, lay_beside
from doublet.matches.left_out import (
    BY_FORM,
    Masked,
    check_leave_out,
    common_beside,
    counted,
    masked,
    tell_left_out,
    words_of,
    words_of_versions,
)
from doublet.matches.own import OwnVersions
from doublet.model import Check, Disguise, Document, Note, Outcome, hash_text
from doublet.progress import Progress
from doublet.signatures import method as make_method
from doublet.signatures.shingles import Shingles
from doublet.signatures.statistics import LEXICAL_CANON
from doublet.sources.records import Batched, ParsedBatch
from doublet.text.disguise import find_disguise_in
from doublet.text.tokens import read_words

#: of what is not a space: a text with fewer letters and digits, or more characters lost in decoding, is hardly readable
LETTERS_SHARE, DAMAGED_SHARE = 0.5, 0.02
LOOKED_AT = 50_000  #: characters of the text that are looked at for this
WORDS_A_PAGE = 10  #: a document with fewer is pictures of text, or its text was not found
#: documents that are laid beside the text: those that share the most shingles with it; telling stems lead to some more
CANDIDATES = 200


def check(
    text: TextInput,
    documents: DocumentsInput,
    *,
    shingle_words: int = 4,
    min_share: float = 0.0,
    name: str = "",
    leave_out: Iterable[str] = (),
    own: Iterable[str] = (),
    progress: Progress | None = None,
    **align: Any,
) -> Check:
    """What of *text* is in *documents*, and where.

    The text is a text (``str``), a file (``Path``), the content of a file (``bytes``), a `WebAddress`, or what
    `read_document` gave. *documents* are those of `dedupe`.

    Sources with a share under *min_share* are left out. *name* is what the checked document is called; what *leave_out*
    names (quotations, bibliography, common, own) does not count, and *own* are patterns of ids or sources of own
    earlier versions, as in `Library.check`. Of the options of the alignment see `AlignOptions`.
    """
    progress = Progress.of(progress)
    given = take_text("text", text)
    asked = _Asked(
        name or given.name, check_leave_out(leave_out), [own] if isinstance(own, str) else list(own)
    )
    require_number("min_share", min_share, 0, 1)
    options = align_options(align)
    exact = make_method("shingles", shingle_words=shingle_words)
    assert isinstance(exact, Shingles)
    with opened(documents) as source:
        result = _check_text(given.text, source, exact, options, min_share, asked, progress)
    return with_hidden(result, given)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What need not count."""

    name: str
    leave_out: tuple[str, ...]
    own: list[str]


def _check_text(
    text: str,
    source: Batched,
    exact: Shingles,
    options: AlignOptions,
    min_share: float,
    asked: _Asked,
    progress: Progress,
) -> Check:
    shingle_words = exact.parameters.shingle_words
    words = read_words([text])
    own, _ = kernels.distinct(*kernels.shingle(words.hashes, words.offsets, shingle_words))
    outcomes: list[Outcome] = []
    best: list[_Near] = []  # a heap: the one that would go next comes first
    nearest = NearestDocuments(read_windows(LEXICAL_CANON.of(words)))
    others: dict[int, _Near] = {}  # those that telling stems lead to, the nearest first
    count = 0
    for batch in source.batches():
        parsed = batch.parse()
        outcomes += parsed.outcomes
        read = read_words(parsed.texts)
        values, offsets = kernels.distinct(*kernels.shingle(read.hashes, read.offsets, shingle_words))
        shared = np.concatenate([[0], np.cumsum(np.isin(values, own))])[offsets.astype(np.int64)]
        overlaps, sizes = np.diff(shared).tolist(), np.diff(offsets.astype(np.int64)).tolist()
        for i in np.flatnonzero(np.diff(shared)).tolist():
            near = _Near(overlaps[i], count + i, sizes[i], _document(parsed, i))
            if len(best) < CANDIDATES:
                heapq.heappush(best, near)
            elif best[0] < near:
                heapq.heapreplace(best, near)
        for i in nearest.add(LEXICAL_CANON.of(read), parsed.ids, count):
            others[count + i] = _Near(overlaps[i], count + i, sizes[i], _document(parsed, i))
        others = {place: others[place] for place in nearest.nearest()}
        count += len(parsed)
        progress.step(
            "reading",
            batch.consumed_bytes,
            source.total_bytes,
            "bytes",
            Note("documents_read", documents=count),
        )
    best.sort(reverse=True)
    places = {one.position for one in best}
    best += [one for place, one in others.items() if place not in places]
    ranks = {place: len(others) - rank for rank, place in enumerate(others)}
    versions = OwnVersions(asked.name, asked.own) if "own" in asked.leave_out else None
    mine: list[Document] = []
    if versions is not None:
        mine = [one.document for one in best if versions.has(one.document.id, one.document.source)]
        best = [one for one in best if one.document not in mine]
    beside = lay_beside(
        words,
        [one.document for one in best],
        options,
        shingle_words=shingle_words,
        measures=[
            (one.overlap / max(1, len(own) + one.size - one.overlap), one.overlap / max(1, len(own)))
            for one in best
        ],
        on_step=lambda done, total: progress.step("aligning", done, total, "documents"),
    )
    for one, laid in zip(best, beside, strict=True):
        laid.near = ranks.get(one.position, 0)
    masks: dict[str, Masked] = {}
    for kind in asked.leave_out:
        if kind in BY_FORM:
            masks[kind] = masked(BY_FORM[kind](text), words)
        elif kind == "common":
            masks[kind] = masked(common_beside(words, [one.passages for one in beside], count), words)
    answer = explain(text, words, beside, min_share=min_share, counted=counted(masks))
    size = len(words.hashes)
    sources = answer.sources
    borrowed = words_of((f.a_words for s in sources for f in s.fragments if f.a_words is not None), size)
    taken = words_of_versions([one.text for one in mine], words, options)
    result = Check(
        words=len(words.hashes),
        share=answer.share,
        sources=tuple(one for one in sources if one.share > 0 or not asked.leave_out),
        uncounted_sources=tuple(one for one in sources if asked.leave_out and not one.share > 0),
        possible_sources=answer.possible,
        documents=count,
        parameters={
            "shingle_words": shingle_words,
            "min_share": min_share,
            "candidates": CANDIDATES,
            "leave_out": list(asked.leave_out),
            "own": list(asked.own),
            **{n: getattr(options, n) for n in ALIGN_NAMES},
        },
        disguise=find_disguise_in(text, words, 0),
        outcomes=tuple(outcomes),
        notes=(*empty_notes(size, count), *(versions.notes() if versions is not None else ())),
        name=asked.name,
        left_out=tell_left_out(masks, borrowed, taken, words, [one.id for one in mine]),
        share_with_all=(float((borrowed | taken).mean()) if size else 0.0) if asked.leave_out else None,
    )
    return stamped(result, text)


def _document(parsed: ParsedBatch, i: int) -> Document:
    return Document(
        parsed.ids[i],
        parsed.texts[i],
        parsed.titles[i] if parsed.titles else "",
        source=parsed.sources[i] if parsed.sources else "",
        address=parsed.addresses[i] if parsed.addresses else "",
    )


def with_hidden(check: Check, given: GivenText) -> Check:
    """The check of a document's text, with what is hidden in the document among its signs of disguise."""
    if given.read is not None:
        pages = {place.page for place in given.read.places if place.page is not None}
        if len(pages) > 1 and 0 < check.words < WORDS_A_PAGE * len(pages) and not hardly_readable(check):
            note = Note("hardly_readable_pages", words=check.words, pages=len(pages))
            check = replace(check, notes=(*check.notes, note))
    if not given.hidden:
        return check
    return replace(check, disguise=Disguise((*check.disguise.findings, *given.hidden)))


@dataclass(frozen=True, slots=True)
class _Near:
    """A document that shares shingles with the text. Greater is nearer: more in common, then the smaller id."""

    overlap: int
    position: int
    size: int
    document: Document

    def __lt__(self, other: _Near) -> bool:
        mine, others = (-self.overlap, self.document.id), (-other.overlap, other.document.id)
        return mine > others or (mine == others and self.position > other.position)


def align_options(given: Mapping[str, Any]) -> AlignOptions:
    """Raises `InvalidParameter` for names that are none of the alignment."""
    unknown = set(given) - set(ALIGN_NAMES)
    if unknown:
        raise InvalidParameter("check_parameter", align_names=ALIGN_NAMES, name=min(unknown))
    return AlignOptions(**given)


def hardly_readable(check: Check) -> bool:
    return any(note.code in ("hardly_readable", "hardly_readable_pages") for note in check.notes)


def readable(check: Check) -> bool:
    """Whether the share of a check says something: the text had words, and was not garbled when it was read."""
    return bool(check.words) and not hardly_readable(check)


_NEITHER_LETTERS_NOR_DIGITS = re.compile(r"[\W_]+")


def stamped(check: Check, text: str) -> Check:
    """The check with what a report says of itself: which text it is about, when it was made, and by which Doublet."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    start = text[:LOOKED_AT]
    signs = len("".join(start.split()))
    good = len(_NEITHER_LETTERS_NOR_DIGITS.sub("", start))
    if check.words and (good < LETTERS_SHARE * signs or start.count("\ufffd") > DAMAGED_SHARE * signs):
        check = replace(check, notes=(*check.notes, Note("hardly_readable")))
    return replace(check, text_hash=hash_text(text), created=now, version=doublet.__version__)


def empty_notes(words: int, documents: int) -> tuple[Note, ...]:
    """Why a check of so many *words* against so many *documents* could find nothing; no notes when it could."""
    return (
        *(() if words else (Note("text_without_words"),)),
        *(() if documents else (Note("no_documents_to_check"),)),
    )
