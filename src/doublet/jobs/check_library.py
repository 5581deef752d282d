"""Check a text against libraries: what was taken, from where, and what of it need not count (K1–K5).

1. The keys of the text (`index.passage_keys`) lead to documents that share runs of words with it, in all libraries or
   in those named. The few that explain most are laid beside the text (`matches.explain`).
2. Where no equal passage explains the text, its telling stems (`index.stem_chunks`) lead to documents that may hold
   reworded passages; these are laid beside it too. Only what is found there is reported.
3. What the user wants left out (quotations, the bibliography, wording common in the libraries, own earlier versions) is
   taken out of the share, with its reason and the share that it would have made (`matches.left_out`).

Explained in docs/explanation/library-checks.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from doublet.errors import InvalidParameter, UnknownMethod, one_or_more, require_number, require_text
from doublet.index import passage_keys, stem_chunks
from doublet.index.passage_keys import (
    EVERY_KEY_UP_TO,
    SHINGLE_WORDS,
    WINDOW,
    Hits,
    candidates_for,
    choose,
    make_keys,
)
from doublet.jobs.check import align_options, empty_notes, stamped
from doublet.matches.align import ALIGN_NAMES
from doublet.matches.explain import Beside, equal_places, explain, lay_beside
from doublet.matches.left_out import (
    BY_FORM,
    Masked,
    check_leave_out,
    common_runs,
    common_wording,
    counted,
    masked,
    tell_left_out,
    words_of,
    words_of_versions,
)
from doublet.matches.own import OwnVersions
from doublet.model import Check, Document
from doublet.progress import Progress
from doublet.signatures import METHODS, method_names, parameters_of, sign_read
from doublet.signatures.auto import settle
from doublet.signatures.statistics import LEXICAL_CANON
from doublet.signatures.thesaurus import find_thesaurus, tell_thesaurus
from doublet.store.database import Store
from doublet.store.libraries import choose_libraries
from doublet.store.values import LibraryInfo, StoredDocument
from doublet.text.disguise import find_disguise_in
from doublet.text.tokens import TokenBatch, read_words

Stored = dict[int, tuple[StoredDocument, str]]  #: documents of the store with their texts, by number

PASSAGES = "passages"  #: the method that finds borrowed passages; the others look at whole documents
AUTO = "auto"  #: the same, and documents that telling stems lead to
CHUNK_WORDS = 300  #: words of a chunk of a stored document, on average


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
    thesaurus: str = "",
    candidates: int | None = None,
    build: bool = False,
    progress: Progress | None = None,
    **align: Any,
) -> Check:
    """What of *text* is in these *libraries* (None: in all of the store), and where.

    *name* is what the checked document is called. *leave_out*: any of `LEAVE_OUT`; with "own", documents of the
    same *name* and those whose id or source fits one of the patterns *own* are not counted.
    With a *thesaurus* (a MyThes file, or "auto" for those installed) reworded sentences are seen through synonyms.
    *candidates*: how many documents that share runs of words are verified at most. The
    method "passages" is "auto" without the documents that only telling stems lead to; any other gives the documents
    that it calls similar, with their passages. For such a method the documents have to be signed, and those of an old
    library have to be filed by their stems: with *build* that is done here, in short steps, which may take minutes;
    without, nothing is written. Raises `UnknownLibrary`, `UnknownMethod`, `SignaturesNotReady`,
    `InvalidParameter`, `StoreError`.
    """
    progress = progress or Progress()
    wanted = check_leave_out(leave_out)
    options = align_options(align)
    require_number("min_share", min_share, 0, 1)
    require_text("name", name)
    if candidates is not None and (type(candidates) is not int or candidates < 1):
        raise InvalidParameter("candidates_range", candidates=candidates, name="candidates")
    own = one_or_more("own", own)
    require_text("thesaurus", thesaurus)
    thesaurus = thesaurus or str((parameters or {}).get("thesaurus", ""))
    synonyms = find_thesaurus(thesaurus)
    there = store.libraries.all()
    infos = choose_libraries(there, libraries)
    numbers = _filter(there, infos) if libraries is not None else None
    documents = sum(info.documents for info in infos)
    words = read_words([text])
    size = len(words.hashes)
    keys = make_keys([text], words, every=size <= EVERY_KEY_UP_TO)
    hits = store.documents.look_up(keys.values, numbers)
    limit = candidates or candidates_for(len(keys.values))
    names = {info.name for info in infos}
    versions_of = OwnVersions(name, own) if "own" in wanted else None
    mine: Stored = {}  # own earlier versions
    beside: dict[int, Beside] = {}  # all others that were read
    stored: dict[int, StoredDocument] = {}

    def candidates_of(hits: Hits) -> Stored:
        chosen = choose(hits, documents, limit, passage_keys.CUT)
        if size:
            chosen += store.documents.same_words(int(keys.folds.view(np.int64)[0]), numbers)
        return read(chosen)

    def read(chosen: Sequence[int]) -> Stored:
        full = store.documents.full([number for number in dict.fromkeys(chosen) if number not in stored])
        # A library that was made this moment is none of those asked for.
        return {n: one for n, one in full.items() if libraries is None or one[0].library in names}

    def lay(found: Stored, measures: Sequence[tuple[float, float]] | None = None) -> None:
        stored.update({number: info for number, (info, _) in found.items()})
        versions = set()
        if versions_of is not None:
            for number, (info, _) in found.items():
                if versions_of.has(info.id, f"{info.library}/{info.id}", info.source):
                    versions.add(number)
        mine.update({number: found[number] for number in versions})
        others = [number for number in found if number not in versions]
        if measures is not None:
            measures = [one for one, number in zip(measures, found, strict=True) if number not in versions]
        before = len(beside)
        new = lay_beside(
            words,
            [_document(*found[number]) for number in others],
            options,
            shingle_words=SHINGLE_WORDS,
            measures=measures,
            on_step=lambda done, total: progress.step("aligning", before + done, before + total, "documents"),
        )
        beside.update(zip(others, new, strict=True))

    def near_documents() -> list[int]:
        """Those that telling stems lead to, the nearest first, for what no equal passage explains."""
        if build:
            for info in infos:
                store.documents.file_stems(
                    info.number, lambda done, total: progress.step("signing", done, total, "documents")
                )
        windows = stem_chunks.read_windows(LEXICAL_CANON.of(words), equal_places(words, beside.values()))
        if not len(windows.stems):
            return []
        chunks = max(documents, sum(info.words for info in infos) // CHUNK_WORDS)
        return stem_chunks.choose(windows, store.documents.look_up_stems(windows, numbers, infos), chunks)

    near: list[int] = []
    used: dict[str, Any] = {"shingle_words": SHINGLE_WORDS, "window": WINDOW}
    if method in (PASSAGES, AUTO):
        if parameters:
            raise InvalidParameter("method_without_parameter", name=min(parameters), method=method)
        found = candidates_of(hits)
        progress.step("looking_up", len(found), len(found), "documents")
        lay(found)
        if method == AUTO and size:
            near = near_documents()
            lay(read(near))
    else:
        found, measures, used = _similar(
            store, infos, text, words, method, dict(parameters or {}), limit, build, progress
        )
        lay(found, measures)
    masks: dict[str, Masked] = {}
    for kind in wanted:
        if kind in BY_FORM:
            masks[kind] = masked(BY_FORM[kind](text), words)
        elif kind == "common":
            runs = common_runs(keys, hits, documents)
            others = {
                number: beside[number].words if number in beside else read_words([one], words.spelling)
                for number, one in store.documents.texts(runs.documents).items()
            }
            masks[kind] = masked(common_wording(words, keys, hits, runs, others, options), words)
    left = counted(masks)
    # Of sources that explain the same words those most alike come first. Ids of different libraries must not meet.
    order = sorted(beside, key=lambda number: (-beside[number].resemblance, number))
    for rank, number in enumerate(order):
        beside[number].library, beside[number].rank = stored[number].library, f"{rank:06}"
    for place, number in enumerate(near):
        if number in beside:
            beside[number].near = len(near) - place
    laid = [beside[number] for number in order]
    answer = explain(text, words, laid, min_share=min_share, counted=left, thesaurus=synonyms)
    sources = answer.sources
    borrowed = words_of((f.a_words for s in sources for f in s.fragments if f.a_words is not None), size)
    taken = words_of_versions(
        (read_words([text], words.spelling) for _, text in mine.values()), words, options
    )
    versions = [f"{info.library}/{info.id}" for info, _ in mine.values()]
    result = Check(
        words=size,
        share=answer.share,
        sources=tuple(source for source in sources if source.share > 0),
        uncounted_sources=tuple(source for source in sources if not source.share > 0),
        possible_sources=answer.possible,
        documents=documents,
        parameters={
            **used,
            "method": method,
            "candidates": limit,
            "min_share": min_share,
            "leave_out": list(wanted),
            "own": own,
            **tell_thesaurus(thesaurus, synonyms),
            **{option: getattr(options, option) for option in ALIGN_NAMES},
        },
        disguise=find_disguise_in(text, words, 0),
        notes=(*empty_notes(size, documents), *(versions_of.notes() if versions_of is not None else ())),
        name=name,
        libraries=tuple(info.name for info in infos),
        left_out=tell_left_out(masks, borrowed, taken, words, versions),
        share_with_all=(float((borrowed | taken).mean()) if size else 0.0) if wanted else None,
    )
    return stamped(result, text)


def require_method(name: str) -> None:
    """Raises `UnknownMethod` for what `check_library` does not know. Other packages are asked only for a name that is
    not ours: that takes long."""
    if name not in (PASSAGES, AUTO, *METHODS) and name not in method_names():
        raise UnknownMethod(name, [*method_names(), PASSAGES])


def _filter(there: Sequence[LibraryInfo], infos: Sequence[LibraryInfo]) -> list[int] | None:
    """Numbers of the libraries to look into; None when they are all there are, which needs no filter."""
    chosen = [info.number for info in infos]
    others = [info for info in there if info.documents and info.number not in chosen]
    return chosen if others else None


def _similar(
    store: Store,
    infos: Sequence[LibraryInfo],
    text: str,
    words: TokenBatch,
    method: str,
    parameters: dict[str, Any],
    limit: int,
    build: bool,
    progress: Progress,
) -> tuple[Stored, list[tuple[float, float]], dict[str, Any]]:
    """Documents that a whole-document method calls similar, most alike first, with its measures and all its
    parameters."""
    require_method(method)
    rows: list[tuple[float, float, int]] = []
    used = {**parameters_of(method), **parameters}
    for info in infos:
        if not info.documents:
            continue

        def step(done: int, total: int) -> None:
            progress.step("signing", done, total, "documents")

        index = store.signatures.index(info.number, method, parameters, build=build, step=step)
        (signature,) = sign_read(index.method, words, [text])
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
    return {row[2]: full[row[2]] for row in kept}, [(row[0], row[1]) for row in kept], used


def _document(info: StoredDocument, text: str) -> Document:
    return Document(info.id, text, info.title, info.time, info.source, info.address)
