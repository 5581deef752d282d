"""Compare two texts: measures, fragments on both sides, tricks that were undone (K1, K2).

The method "auto" (M15) looks for reworded passages too; every other one shows passages of equal words alone.
"""

from __future__ import annotations

from typing import Any

from doublet.matches.align import ALIGN_NAMES, AlignOptions, Passage, find_passages, to_fragments
from doublet.matches.cover import share
from doublet.matches.passages import find_all, read_stems
from doublet.model import Comparison, Measures
from doublet.progress import Progress
from doublet.signatures import Statistics, gather_statistics
from doublet.signatures import method as make_method
from doublet.signatures.auto import Auto
from doublet.text.disguise import find_disguise_in
from doublet.text.tokens import Canon

AUTO = "auto"


def compare(
    text_a: str,
    text_b: str,
    *,
    method: str = AUTO,
    threshold: float | None = None,
    statistics: Statistics | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Comparison:
    """What two texts have in common.

    The method "auto" sees through rewording; with any other the passages are those of equal words alone. What is
    reworded but too short to be sure of is in *possible* and counts nowhere. *threshold* is where the method calls
    them similar. *parameters* are those of the method, and seed_words, max_gap_words and min_words for the fragments.
    Methods that weigh words by a collection take its *statistics*; without them the two texts are all they know.
    Raises `UnknownMethod`, `InvalidParameter`.
    """
    progress = progress or Progress()
    align = AlignOptions(**{name: parameters.pop(name) for name in ALIGN_NAMES if name in parameters})
    notes: list[str] = []
    if threshold is not None:
        parameters["threshold"] = threshold
    chosen = make_method(
        method, statistics or _pair_statistics(method, text_a, text_b, parameters, notes), **parameters
    )
    progress.step("signing", 0, 3, "steps")
    read = read_stems([text_a, text_b]) if isinstance(chosen, Auto) else None
    if isinstance(chosen, Auto) and read is not None and chosen.reads_every_word:
        signed_a, signed_b = chosen.sign_read(read.words, read.stems)
    else:
        signed_a, signed_b = chosen.sign_texts([text_a, text_b])
    if signed_a is None or signed_b is None:
        measures = Measures(0.0, (0.0, 0.0), False)
        for letter, signed in (("a", signed_a), ("b", signed_b)):
            if signed is None:
                notes.append(
                    f"text {letter} has too little in it for the method {method!r}: it is like nothing"
                )
    else:
        measures = chosen.compare(signed_a, signed_b)
    progress.step("aligning", 1, 3, "steps")
    possible: list[Passage] = []
    if read is not None:
        batch = read.words
        a, b = batch.one(0), batch.one(1)
        (found,) = find_all(read, [(0, 1)], align)
        passages, possible = found.passages, found.possible
    else:
        batch = Canon().tokens([text_a, text_b])
        a, b = batch.one(0), batch.one(1)
        passages = find_passages(a.hashes, b.hashes, align)
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
        share=share(((p.a_start, p.a_end) for p in passages), len(a.hashes)),
        # What a summary was drawn from is a place to look at, not words that were taken.
        share_b=share(((p.b_start, p.b_end) for p in passages if p.origin != "summary"), len(b.hashes)),
        words_a=len(a.hashes),
        words_b=len(b.hashes),
        fragments=to_fragments(passages, a, b),
        disguise_a=find_disguise_in(text_a, batch, 0),
        disguise_b=find_disguise_in(text_b, batch, 1),
        recipe=chosen.recipe,
        notes=tuple(notes),
        possible=to_fragments(possible, a, b, prefix="p"),
        step=measures.step,
    )
    progress.step("done", 3, 3, "steps")
    return result


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
