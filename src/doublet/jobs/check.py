"""Check a text against documents of files or of memory: what was taken, from where, and how much in all (K1–K3).

One walk over the documents finds those that share shingles with the text and those that share its telling stems
(`index.stem_chunks`); the few that share most are laid beside it (`matches.explain`). `jobs.check_library` does the
same with the index of a library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import doublet
from doublet.errors import InvalidParameter, one_or_more, require_number, require_text
from doublet.index.most_shared import CANDIDATES, MostShared, SharingDocument
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
from doublet.matches.readable import few_words, garbled, hardly_readable
from doublet.model import Check, Disguise, Document, Note, Outcome, hash_text
from doublet.progress import Progress
from doublet.signatures import method as make_method
from doublet.signatures.shingles import Shingles
from doublet.signatures.statistics import LEXICAL_CANON
from doublet.signatures.thesaurus import Thesaurus, find_thesaurus, tell_thesaurus
from doublet.sources.records import Batched, ParsedBatch
from doublet.text.disguise import find_disguise_in
from doublet.text.tokens import read_words


def check(
    text: TextInput,
    documents: DocumentsInput,
    *,
    shingle_words: int = 4,
    min_share: float = 0.0,
    name: str = "",
    leave_out: Iterable[str] = (),
    own: Iterable[str] = (),
    thesaurus: str = "",
    progress: Progress | None = None,
    **align: Any,
) -> Check:
    """What of *text* is in *documents*, and where.

    The text is a text (``str``), a file (``Path``), the content of a file (``bytes``), a `WebAddress`, or what
    `read_document` gave. *documents* are those of `dedupe`.

    Sources with a share under *min_share* are left out. *name* is what the checked document is called; what *leave_out*
    names (quotations, bibliography, common, own) does not count, and *own* are patterns of ids or sources of own
    earlier versions, as in `Library.check`. With a *thesaurus* (a MyThes file, or "auto" for those installed) reworded
    sentences are seen through synonyms. Of the options of the alignment see `AlignOptions`.
    """
    progress = Progress.of(progress)
    given = take_text("text", text)
    require_text("name", name)
    require_text("thesaurus", thesaurus)
    synonyms = find_thesaurus(thesaurus)
    asked = _Asked(
        name or given.name, check_leave_out(leave_out), one_or_more("own", own), thesaurus, synonyms
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
    """What need not count, and what counts as one word."""

    name: str
    leave_out: tuple[str, ...]
    own: list[str]
    thesaurus: str
    synonyms: Thesaurus | None


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
    outcomes: list[Outcome] = []
    sharing = MostShared(words, shingle_words)
    nearest = NearestDocuments(read_windows(LEXICAL_CANON.of(words)))
    others: dict[int, SharingDocument] = {}  # those that telling stems lead to, the nearest first
    count = 0
    for batch in source.batches():
        parsed = batch.parse()
        outcomes += parsed.outcomes
        read = read_words(parsed.texts)
        shared = sharing.add(read, count, partial(_document, parsed))
        for i in nearest.add(LEXICAL_CANON.of(read), parsed.ids, count):
            others[count + i] = shared(i)
        others = {place: others[place] for place in nearest.nearest()}
        count += len(parsed)
        progress.step(
            "reading",
            batch.consumed_bytes,
            source.total_bytes,
            "bytes",
            Note("documents_read", documents=count),
        )
    best = sharing.nearest()
    places = {one.position for one in best}
    best += [one for place, one in others.items() if place not in places]
    ranks = {place: len(others) - rank for rank, place in enumerate(others)}
    versions = OwnVersions(asked.name, asked.own) if "own" in asked.leave_out else None
    mine: list[SharingDocument] = []
    if versions is not None:
        mine = [one for one in best if versions.has(one.document.id, one.document.source)]
        places = {one.position for one in mine}
        best = [one for one in best if one.position not in places]
    beside = lay_beside(
        words,
        [one.document for one in best],
        options,
        shingle_words=shingle_words,
        read=[one.words for one in best],
        measures=[sharing.measures(one) for one in best],
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
    left = counted(masks)
    answer = explain(text, words, beside, min_share=min_share, counted=left, thesaurus=asked.synonyms)
    size = len(words.hashes)
    sources = answer.sources
    borrowed = words_of((f.a_words for s in sources for f in s.fragments if f.a_words is not None), size)
    taken = words_of_versions((one.words for one in mine), words, options)
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
            **tell_thesaurus(asked.thesaurus, asked.synonyms),
            **{n: getattr(options, n) for n in ALIGN_NAMES},
        },
        disguise=find_disguise_in(text, words, 0),
        outcomes=tuple(outcomes),
        notes=(*empty_notes(size, count), *(versions.notes() if versions is not None else ())),
        name=asked.name,
        left_out=tell_left_out(masks, borrowed, taken, words, [one.document.id for one in mine]),
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
        if not hardly_readable(check):
            check = replace(check, notes=(*check.notes, *few_words(check.words, len(pages))))
    if not given.hidden:
        return check
    return replace(check, disguise=Disguise((*check.disguise.findings, *given.hidden)))


def align_options(given: Mapping[str, Any]) -> AlignOptions:
    """Raises `InvalidParameter` for names that are none of the alignment."""
    unknown = set(given) - set(ALIGN_NAMES)
    if unknown:
        raise InvalidParameter("check_parameter", align_names=ALIGN_NAMES, name=min(unknown))
    return AlignOptions(**given)


def stamped(check: Check, text: str) -> Check:
    """The check with what a report says of itself: which text it is about, when it was made, and by which Doublet."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    check = replace(check, notes=(*check.notes, *garbled(text, check.words)))
    return replace(check, text_hash=hash_text(text), created=now, version=doublet.__version__)


def empty_notes(words: int, documents: int) -> tuple[Note, ...]:
    """Why a check of so many *words* against so many *documents* could find nothing; no notes when it could."""
    return (
        *(() if words else (Note("text_without_words"),)),
        *(() if documents else (Note("no_documents_to_check"),)),
    )
