"""Two texts whose words were read → what they have in common (K1, K2): the rules behind `doublet.compare`.

What is said of the texts as wholes and of their passages never disagrees: `settle`. Needs no file and no database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from doublet.errors import InvalidParameter
from doublet.kernels.settings import PassageOptions
from doublet.matches.align import AlignOptions, Passage, find_passages, name_by_words, to_fragments
from doublet.matches.cover import Cover, RangeIndex, share
from doublet.matches.own_sentences import told_in_second
from doublet.matches.passages import SharedPassages, count_runs, find_all
from doublet.matches.stems import StemmedTexts, stem
from doublet.model import Comparison, Fragment, Measures, Note, Span
from doublet.progress import Progress
from doublet.signatures import method as make_method
from doublet.signatures import sign_read
from doublet.signatures.auto import EXACT, MEANING, Auto, explain
from doublet.signatures.background import Rates
from doublet.signatures.embedding import Embedder, unit_rows
from doublet.signatures.meaning import SURE_WORDS, Meaning
from doublet.signatures.protocol import Method
from doublet.text.disguise import find_disguise_in
from doublet.text.sentences import sentences
from doublet.text.tokens import TokenBatch

ALIKE = 0.8  #: cosine from which a model's sentences are alike; models differ, so it is an option
SENTENCE_WORDS = 4  #: shorter sentences say too little to be matched
ROWS = 512  #: sentences that are multiplied at once
#: share of one text in passages of the other from which it is said why the texts are not similar all the same
COVERED = 0.9
TOLD = 0.5  #: of what lies on the other text; where passages tell less of a reworded copy, the alignment tells it


def compare_read(
    texts: tuple[str, str],
    words: TokenBatch,
    chosen: Method,
    options: AlignOptions,
    *,
    embedder: Embedder | None = None,
    alike: float = ALIKE,
    notes: Sequence[Note] = (),
    parameters: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """What two texts have in common, by the method *chosen*. *words* are those of both, as `read_words` gives them;
    nothing is read again. *parameters* and *notes* go into the answer, the notes before those that are made here."""
    progress = Progress.of(progress)
    told = list(notes)
    progress.step("signing", 0, 3, "steps")
    a, b = words.one(0), words.one(1)
    signed = sign_read(chosen, words, texts)
    for letter, one, own in zip("AB", signed, (a, b), strict=True):
        if one is None and not len(own.hashes):
            told.append(Note("side_without_words", side=letter))
        elif one is None:
            told.append(Note("side_too_short", side=letter, method=chosen.name))
    measures = Measures(0.0, (0.0, 0.0), False)
    if signed[0] is not None and signed[1] is not None:
        measures = chosen.compare(signed[0], signed[1])
    progress.step("aligning", 1, 3, "steps")
    if not isinstance(chosen, Auto | Meaning):
        found = count_runs(find_passages(a.hashes, b.hashes, options), a, b)
        told_there = [(p.b_start, p.b_end) for p in found.passages]
    else:
        meaning = chosen.meaning if isinstance(chosen, Auto) else chosen
        read = stem(texts, words, meaning.thesaurus)
        (found,) = find_all(read, [(0, 1)], options, PassageOptions(summed=True), symmetric=True)
        if measures.similar and measures.step == MEANING:
            found = settle(found, measures, meaning, read)
            if min(len(a.hashes), len(b.hashes)) < SURE_WORDS:
                told.append(Note("too_short_to_be_sure", words=SURE_WORDS))
        told_there = told_in_second(read, (0, 1), found.passages)
    possible = to_fragments(found.possible, a, b, prefix="p")
    if embedder is not None:
        known = [*found.passages, *found.possible]
        possible = (*possible, *alike_sentences(embedder, alike, texts, (a, b), known, len(possible)))
    progress.step("disguise", 2, 3, "steps")
    containment = measures.containment
    if containment is None:
        containment = _shingle_containment(words, texts)
        told.append(Note("containment_by_shingles", method=chosen.name))
    reason = _reason(chosen, measures, empty=None in signed)
    # A place that is summed up is one to look at; the summary is what was taken.
    told_here = [(p.a_start, p.a_end) for p in found.passages if p.origin != "summed"]
    covered = share(told_here, len(a.hashes))
    covered_b = share(told_there, len(b.hashes))
    if not measures.similar and max(covered, covered_b) >= COVERED:
        told.append(Note("covered_not_similar", share=max(covered, covered_b)))
    result = Comparison(
        method=chosen.name,
        parameters=dict(parameters or {}),
        resemblance=measures.resemblance,
        containment_a=containment[0],
        containment_b=containment[1],
        similar=measures.similar,
        share=covered,
        share_b=covered_b,
        words_a=len(a.hashes),
        words_b=len(b.hashes),
        fragments=to_fragments(found.passages, a, b),
        disguise_a=find_disguise_in(texts[0], words, 0),
        disguise_b=find_disguise_in(texts[1], words, 1),
        recipe=chosen.recipe,
        notes=tuple(told),
        possible=tuple(sorted(possible, key=lambda part: (part.a, part.b))),
        step=measures.step,
        reason=reason,
        details=measures.details,
        verdict=_verdict(measures, reason, passages=bool(found.passages)),
    )
    progress.step("done", 3, 3, "steps")
    return result


def settle(found: SharedPassages, measures: Measures, meaning: Meaning, read: StemmedTexts) -> SharedPassages:
    """The passages of texts that are reworded copies as wholes. Where those that count tell less than half of what lies
    on the other text, none is left in doubt; and where that is still too little, as of two sentences, the places of the
    alignment are told as well. Otherwise what is possible stays so: a long text that holds a short one may say some
    words of it again elsewhere."""
    sizes = [len(read.words.one(side).hashes) for side in (0, 1)]

    def enough(told: Sequence[Passage]) -> bool:
        covers = max(
            share(((p.a_start, p.a_end) for p in told), sizes[0]),
            share(((p.b_start, p.b_end) for p in told), sizes[1]),
        )
        return covers >= TOLD * measures.details["aligned"]

    if enough(found.passages):
        return found
    told, left = _taken_in(found.passages, found.possible, read)
    if not enough(told):
        told, _ = _taken_in(told, _lying(meaning, [*told, *left], read), read)
    for p in told:
        if p.origin == "words":
            name_by_words(p, *(read.words.hashes[read.words.slice(side)] for side in (0, 1)))
    return SharedPassages(sorted(told, key=lambda p: (p.a_start, p.a_end, p.b_start, p.b_end)), left)


def _taken_in(
    told: Sequence[Passage], more: Sequence[Passage], read: StemmedTexts
) -> tuple[list[Passage], list[Passage]]:
    """The passages with *more* places, and those places that stay apart, as no passage lies inside another: beside a
    strong one the larger rest of a place is told, and a place takes in the weak ones that it holds in both texts."""
    index = RangeIndex([(p.a_start, p.a_end) for p in told])
    out: list[Passage] = []
    apart: list[Passage] = []
    gone: set[int] = set()
    for whole in more:
        near = sorted(index.meeting(whole.a_start, whole.a_end))
        p = whole
        for q in (told[i] for i in near if told[i].strength == "strong"):
            p = _beside(p, q) if _holds(p, q) else p
        inside = [told[i] for i in near if _holds(p, told[i])]
        if p.b_start >= p.b_end or any(q.b_end <= p.b_start or p.b_end <= q.b_start for q in inside):
            apart.append(whole)
            continue
        if p is not whole:
            p.equal = _equal(read, p).total()
            p.mass *= p.equal / whole.equal if whole.equal else 0.0
        out.append(p)
        gone.update(map(id, inside))
    return [*(q for q in told if id(q) not in gone), *out], apart


def _holds(p: Passage, q: Passage) -> bool:
    return p.a_start <= q.a_start and q.a_end <= p.a_end


def _beside(p: Passage, q: Passage) -> Passage:
    """What is left of a passage before or after another one in it, whichever is more; it may have no place in b."""
    if q.a_start - p.a_start >= p.a_end - q.a_end:
        return replace(p, a_end=q.a_start, b_end=min(p.b_end, q.b_start))
    return replace(p, a_start=q.a_end, b_start=max(p.b_start, q.b_end))


def _equal(read: StemmedTexts, p: Passage) -> Counter[int]:
    """The stems that both sides of a passage hold."""
    a, b = (read.concepts[read.words.slice(side)] for side in (0, 1))
    return Counter(a[p.a_start : p.a_end].tolist()) & Counter(b[p.b_start : p.b_end].tolist())


def _lying(meaning: Meaning, told: list[Passage], read: StemmedTexts) -> list[Passage]:
    """Where the texts lie on each other and no passage tells it; a place that lies on several is told once."""
    stems_a, stems_b = (read.concepts[read.words.slice(side)] for side in (0, 1))
    rates = Rates()
    covered = Cover(len(stems_a))
    covered.add((p.a_start, p.a_end) for p in told)
    out: list[Passage] = []
    for a_start, a_end, b_start, b_end in meaning.paths(stems_a, stems_b):
        if 2 * covered.within(a_start, a_end) >= a_end - a_start:
            continue
        covered.add([(a_start, a_end)])
        p = Passage(a_start, a_end, b_start, b_end, 0, "reworded", "weak", "words")
        equal = _equal(read, p)
        p.equal = equal.total()
        p.mass = float(rates.of(np.array(sorted(equal), np.uint64))[1].sum())
        out.append(p)
    return out


def alike_sentences(
    embedder: Embedder,
    alike: float,
    texts: Sequence[str],
    words: tuple[TokenBatch, TokenBatch],
    told: list[Passage],
    before: int,
) -> list[Fragment]:
    """Sentences that the model of the user finds alike and of which no passage tells half."""
    if not 0 < alike <= 1:
        raise InvalidParameter("alike_range", name="alike", value=alike)
    places = [_sentences(text, batch) for text, batch in zip(texts, words, strict=True)]
    covered = bytearray(len(words[0].hashes))
    for p in told:
        covered[p.a_start : p.a_end] = b"\1" * (p.a_end - p.a_start)
    asked = [(first, last) for first, last in places[0] if 2 * covered.count(1, first, last) < last - first]
    if not asked or not places[1]:
        return []
    spans = [
        [batch.span(first, last - 1) for first, last in some]
        for batch, some in zip(words, (asked, places[1]), strict=True)
    ]
    rows = [
        unit_rows(embedder, [text[s.start : s.end] for s in some])
        for text, some in zip(texts, spans, strict=True)
    ]
    out: list[Fragment] = []
    for first in range(0, len(asked), ROWS):
        likeness = rows[0][first : first + ROWS] @ rows[1].T
        for i, j in enumerate(likeness.argmax(axis=1).tolist(), first):
            found = float(likeness[i - first, j])
            if found < alike:
                continue
            mine, other = (
                batch.hashes[start:end].tolist()
                for batch, (start, end) in zip(words, (asked[i], places[1][j]), strict=True)
            )
            score = 2 * (Counter(mine) & Counter(other)).total() / (len(mine) + len(other))
            out.append(
                Fragment(
                    id=f"p{before + len(out) + 1}",
                    a=spans[0][i],
                    b=spans[1][j],
                    kind="reworded",
                    score=round(score, 6),
                    words=len(mine),
                    strength="weak",
                    reason=Note("passage_model", likeness=found),
                    a_words=Span(*asked[i]),
                    b_words=Span(*places[1][j]),
                )
            )
    return out


def _sentences(text: str, words: TokenBatch) -> list[tuple[int, int]]:
    """Sentences of a few words and more, as ranges of words."""
    ends = np.searchsorted(words.starts, [span.start for span in sentences(text)]).tolist()
    return [
        (first, last)
        for first, last in pairwise([*ends, len(words.hashes)])
        if last - first >= SENTENCE_WORDS
    ]


def _verdict(measures: Measures, reason: Note, *, passages: bool) -> str:
    """What the texts are to each other, in a word."""
    if measures.similar:
        return "equal" if measures.step == EXACT else "similar"
    if reason.code == "below_template":
        return "template"
    return "passages" if passages else "different"


def _reason(chosen: Method, measures: Measures, *, empty: bool) -> Note:
    if empty:
        return Note("too_little_to_compare")
    if isinstance(chosen, Auto):
        return explain(measures, chosen.parameters)
    threshold = f"{chosen.threshold:g}" if chosen.threshold is not None else ""
    return Note("resemblance_by", method=chosen.name, resemblance=measures.resemblance, threshold=threshold)


def _shingle_containment(words: TokenBatch, texts: tuple[str, str]) -> tuple[float, float]:
    exact = make_method("shingles")
    a, b = sign_read(exact, words, texts)
    if a is None or b is None:
        return 0.0, 0.0
    return exact.compare(a, b).containment or (0.0, 0.0)
