"""Compare two texts: measures, fragments on both sides, tricks that were undone (K1, K2).

The methods "auto" (M15) and "meaning" (M14) look for reworded passages too; every other one shows passages of equal
words alone. What is said of the texts as wholes and of their passages never disagrees: `_settle`.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import InvalidParameter, require_number, require_text
from doublet.matches.align import ALIGN_NAMES, AlignOptions, Passage, find_passages, to_fragments
from doublet.matches.cover import share, union_length
from doublet.matches.passages import Found, StemmedTexts, find_all, read_stems
from doublet.model import Comparison, Fragment, Measures, Signature
from doublet.progress import Progress
from doublet.signatures import Statistics, gather_statistics, parameters_of
from doublet.signatures import method as make_method
from doublet.signatures.auto import MEANING, Auto, explain
from doublet.signatures.background import Rates
from doublet.signatures.embedding import Embedder, require_embedder, unit_rows
from doublet.signatures.meaning import SURE_WORDS, Meaning
from doublet.signatures.protocol import Method
from doublet.text.disguise import find_disguise_in
from doublet.text.sentences import sentences
from doublet.text.tokens import Canon, TokenBatch

U64 = NDArray[np.uint64]

AUTO = "auto"
ALIKE = 0.8  #: cosine from which a model's sentences are alike; models differ, so it is an option
SENTENCE_WORDS = 4  #: shorter sentences say too little to be matched
ROWS = 512  #: sentences that are multiplied at once
TOLD = 0.5  #: of what lies on the other text; where passages tell less of a reworded copy, the alignment tells it


def compare(
    text_a: str,
    text_b: str,
    *,
    method: str = AUTO,
    threshold: float | None = None,
    statistics: Statistics | None = None,
    embedder: Embedder | None = None,
    alike: float = ALIKE,
    progress: Progress | None = None,
    **parameters: Any,
) -> Comparison:
    """What two texts have in common.

    The methods "auto" and "meaning" see through rewording; with any other the passages are those of equal words alone.
    What is reworded but too short to be sure of is in *possible* and counts nowhere; where the texts as wholes are
    reworded copies, that settles it, and those places count. *threshold* is where the method calls texts similar;
    the *reason* of the answer says why it does or does not. *parameters* are those of the method, and seed_words,
    max_gap_words and min_words for the fragments (a method that has a min_words itself gets it). Methods that weigh
    words by a collection take its *statistics*; without them the two texts are all they know. An *embedder* is a model
    of your own (`doublet.load_embedder`): sentences that no passage tells and whose vectors have a cosine of *alike* or
    more are *possible* too. Raises `UnknownMethod`, `InvalidParameter`.
    """
    progress = Progress.of(progress)
    require_text("text_a", text_a)
    require_text("text_b", text_b)
    require_number("alike", alike, 0, 1)
    require_embedder(embedder)
    texts = [text_a, text_b]
    own = parameters_of(method)
    align = AlignOptions(
        **{name: parameters.pop(name) for name in ALIGN_NAMES if name in parameters and name not in own}
    )
    notes: list[str] = []
    if threshold is not None:
        parameters["threshold"] = threshold
    chosen = make_method(
        method, statistics or _pair_statistics(method, text_a, text_b, parameters, notes), **parameters
    )
    progress.step("signing", 0, 3, "steps")
    read = read_stems(texts) if isinstance(chosen, Auto | Meaning) else None
    signed = _sign(chosen, texts, read)
    for letter, one, text in zip("AB", signed, texts, strict=True):
        if one is None and not len(Canon().tokens([text]).hashes):
            notes.append(f"text {letter} has no words: it is like nothing")
        elif one is None:
            notes.append(f"text {letter} has too little in it for the method {method!r}: it is like nothing")
    measures = Measures(0.0, (0.0, 0.0), False)
    if signed[0] is not None and signed[1] is not None:
        measures = chosen.compare(signed[0], signed[1])
    progress.step("aligning", 1, 3, "steps")
    batch = read.words if read is not None else Canon().tokens(texts)
    a, b = batch.one(0), batch.one(1)
    if read is None:
        found = Found(find_passages(a.hashes, b.hashes, align), [])
    else:
        (found,) = find_all(read, [(0, 1)], align)
        if measures.similar and measures.step == MEANING:
            found = _settle(found, measures, chosen, read)
            if min(len(a.hashes), len(b.hashes)) < SURE_WORDS:
                notes.append(
                    f"under {SURE_WORDS} words a reworded copy cannot be told from a chance likeness with certainty: "
                    "read both texts"
                )
    possible = to_fragments(found.possible, a, b, prefix="p")
    if embedder is not None:
        told = [*found.passages, *found.possible]
        possible = (*possible, *_said(embedder, alike, texts, (a, b), told, len(possible)))
    progress.step("disguise", 2, 3, "steps")
    containment = measures.containment
    if containment is None:
        containment = _shingle_containment(text_a, text_b)
        notes.append(
            f"the method {method!r} cannot tell containment: it was measured with shingles of 4 words"
        )
    result = Comparison(
        method=method,
        parameters={key: value for key, value in vars(chosen.parameters).items() if not key.startswith("_")},
        resemblance=measures.resemblance,
        containment_a=containment[0],
        containment_b=containment[1],
        similar=measures.similar,
        share=share(((p.a_start, p.a_end) for p in found.passages), len(a.hashes)),
        # What a summary was drawn from is a place to look at, not words that were taken.
        share_b=share(((p.b_start, p.b_end) for p in found.passages if p.origin != "summary"), len(b.hashes)),
        words_a=len(a.hashes),
        words_b=len(b.hashes),
        fragments=to_fragments(found.passages, a, b),
        disguise_a=find_disguise_in(text_a, batch, 0),
        disguise_b=find_disguise_in(text_b, batch, 1),
        recipe=chosen.recipe,
        notes=tuple(notes),
        possible=tuple(sorted(possible, key=lambda part: (part.a, part.b))),
        step=measures.step,
        reason=_reason(chosen, measures, empty=None in signed),
        details=measures.details,
    )
    progress.step("done", 3, 3, "steps")
    return result


def _sign(chosen: Method, texts: list[str], read: StemmedTexts | None) -> list[Signature | None]:
    """Signatures, from the words that were read already where they are those that the method signs."""
    if read is not None and isinstance(chosen, Auto) and chosen.reads_every_word:
        return chosen.sign_read(read.words, read.stems)
    return chosen.sign_texts(texts)


def _settle(found: Found, measures: Measures, chosen: Method, read: StemmedTexts) -> Found:
    """The passages of texts that are reworded copies as wholes. None is left in doubt, and where passages tell less
    than half of what lies on the other text, as of two sentences, the places of the alignment are told as well."""
    told = [*found.passages, *found.possible]
    covers = max(
        share(((p.a_start, p.a_end) for p in told), len(read.words.one(0).hashes)),
        share(((p.b_start, p.b_end) for p in told), len(read.words.one(1).hashes)),
    )
    if covers < TOLD * measures.details["aligned"] and isinstance(chosen, Auto | Meaning):
        meaning = chosen.meaning if isinstance(chosen, Auto) else chosen
        stems = meaning.sequences(read.stems)
        told += _lying(meaning, told, stems[read.words.slice(0)], stems[read.words.slice(1)])
    return Found(sorted(told, key=lambda p: (p.a_start, p.a_end, p.b_start, p.b_end)), [])


def _lying(meaning: Meaning, told: list[Passage], stems_a: U64, stems_b: U64) -> list[Passage]:
    """Where the texts lie on each other and no passage tells it."""
    rates = Rates()
    out = []
    for a_start, a_end, b_start, b_end in meaning.paths(stems_a, stems_b):
        covered = union_length(
            (max(p.a_start, a_start), min(p.a_end, a_end))
            for p in told
            if p.a_start < a_end and a_start < p.a_end
        )
        if 2 * covered >= a_end - a_start:
            continue
        equal = Counter(stems_a[a_start:a_end].tolist()) & Counter(stems_b[b_start:b_end].tolist())
        mass = float(rates.of(np.array(sorted(equal), np.uint64))[1].sum())
        place = (a_start, a_end, b_start, b_end)
        out.append(Passage(*place, equal.total(), "reworded", "weak", "words", mass))
    return out


def _said(
    embedder: Embedder,
    alike: float,
    texts: list[str],
    words: tuple[TokenBatch, TokenBatch],
    told: list[Passage],
    before: int,
) -> list[Fragment]:
    """Sentences that the model of the user finds alike and of which no passage tells half."""
    if not 0 < alike <= 1:
        raise InvalidParameter(
            f"alike is {alike:g}: it can be more than 0, and 1 at most", name="alike", value=alike
        )
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
                    reason=f"the model finds the sentences alike: {found:.2f}",
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


def _reason(chosen: Method, measures: Measures, *, empty: bool) -> str:
    if empty:
        return "there is too little to compare"
    if isinstance(chosen, Auto):
        return explain(measures, chosen.parameters)
    limit = getattr(chosen.parameters, "threshold", None)
    against = f"; similar from {limit:g} on" if isinstance(limit, int | float) else ""
    return f"the resemblance by {chosen.name} is {measures.resemblance:.3f}{against}"


def _pair_statistics(
    name: str, text_a: str, text_b: str, parameters: dict[str, Any], notes: list[str]
) -> Statistics | None:
    known = {key: value for key, value in parameters.items() if key != "threshold"}
    made = gather_statistics(name, [text_a, text_b], **known)
    if made is not None:
        notes.append(
            f"the method {name!r} weighs words by a collection; these two texts alone are a poor one: "
            "give the statistics of a real collection for a fair answer"
        )
    return made


def _shingle_containment(text_a: str, text_b: str) -> tuple[float, float]:
    exact = make_method("shingles")
    a, b = exact.sign_texts([text_a, text_b])
    if a is None or b is None:
        return 0.0, 0.0
    return exact.compare(a, b).containment or (0.0, 0.0)
