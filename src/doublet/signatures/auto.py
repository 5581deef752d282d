"""M15: what a user gets who names no method. A cascade: equal words, then shingles, then meaning.

Each step is asked only when those before it left the question open, and the answer says which step decided
(`Measures.step`). The signature holds what all three need: one fingerprint of all words, the set of shingles, and the
sequence of stems. Explained in docs/explanation/meaning.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.model import Measures, Note, Signature
from doublet.signatures.meaning import LEAST_WORDS, NAMED, TOPIC, Meaning, MeaningParameters
from doublet.signatures.parameters import parameter
from doublet.signatures.protocol import BaseMethod, Statistics, require_together
from doublet.signatures.shingled import documents, overlap
from doublet.text.tokens import TokenBatch

U64 = NDArray[np.uint64]

EXACT, SHINGLES, MEANING = "exact", "shingles", "meaning"  #: steps, in their order
SMALLEST_KEYS = (
    16  #: of the shingles; two texts of resemblance 0.5 miss each other in all of them once in a million
)

OF_THE_BEST = 0.6  #: a candidate that keeps less than that of what the best one keeps is not the source

_HEAD = 3  # numbers before the rest: words, stems, fingerprint of all words


@dataclass(frozen=True, kw_only=True)
class AutoParameters(MeaningParameters):
    """Those of shingles and of meaning."""

    shingle_words: int = parameter(4, "words in a shingle", low=1, high=1000)
    threshold: float = parameter(0.5, "near copies from this resemblance on", above=0, high=1, signs=False)
    containment: float = parameter(
        0.9,
        "a near copy also when this share of one text is in the other; 0: only by resemblance",
        low=0,
        high=1,
        signs=False,
    )


class Auto(BaseMethod[AutoParameters]):
    name = "auto"
    title = "Auto: the best answer of several methods"
    summary = (
        "Equal words, then shingles, then meaning: each step only where those before it found nothing. Finds exact, "
        "edited and reworded copies, and says which step decided."
    )
    minimum = "one word"
    shows_fragments = True
    parameters_type = AutoParameters

    def __init__(self, parameters: AutoParameters, statistics: Statistics | None = None) -> None:
        super().__init__(parameters, statistics)
        known = {info.name for info in MeaningParameters.infos()}
        self.meaning = Meaning(
            MeaningParameters(**{name: value for name, value in vars(parameters).items() if name in known})
        )
        told = dict(self.meaning.recipe.parameters)
        own = {**dict(self.recipe.parameters), "thesaurus": told["thesaurus"]}
        self.recipe = replace(self.recipe, parameters=tuple(sorted(own.items())))
        # Shingles are made of the words as they stand: a changed ending is a change.
        self._plain = replace(self.canon, reduce="none")

    @property
    def threshold(self) -> float:
        return self.parameters.threshold

    @property
    def key_settings(self) -> tuple[tuple[str, Any], ...]:
        return self.meaning.key_settings

    def sign_many(self, batch: TokenBatch, texts: Sequence[str]) -> list[Signature | None]:
        require_together(batch, texts)
        return self._sign(self._plain.tokens(texts), self.meaning.sequences(batch.hashes), batch.offsets)

    def sign_read(self, words: TokenBatch, texts: Sequence[str]) -> list[Signature | None]:
        require_together(words, texts)
        stems = self.canon.of(words)
        return self._sign(self._plain.of(words), self.meaning.sequences(stems.hashes), stems.offsets)

    def _sign(self, plain: TokenBatch, stems: U64, offsets: U64) -> list[Signature | None]:
        sets, set_ends = kernels.ordered(
            *kernels.shingle(plain.hashes, plain.offsets, self.parameters.shingle_words)
        )
        whole, _ = kernels.shingle(plain.hashes, plain.offsets, 1 << 31)
        folds = iter(whole)
        out: list[Signature | None] = []
        for (first, last), (start, end), (low, high) in zip(
            documents(plain.offsets), documents(offsets), documents(set_ends), strict=True
        ):
            if first == last:
                out.append(None)
                continue
            head = np.array([last - first, end - start, next(folds)], np.uint64)
            values = np.concatenate([head, stems[start:end], sets[low:high]])
            out.append(Signature(self.recipe, values, last - first))
        return out

    def _compare(self, a: Signature, b: Signature) -> Measures:
        if a.values[2] == b.values[2] and a.size == b.size:
            return Measures(1.0, (1.0, 1.0), True, EXACT)
        mine, other = shingles_of(a), shingles_of(b)
        common = overlap(mine, other)
        like = common / (len(mine) + len(other) - common)
        inside = (common / len(mine), common / len(other))
        limits = self.parameters
        if like >= limits.threshold or (limits.containment and max(inside) >= limits.containment):
            return Measures(like, inside, True, SHINGLES, {"resemblance": like, "containment": max(inside)})
        stems_a, stems_b = stems_of(a), stems_of(b)
        if min(len(stems_a), len(stems_b)) < LEAST_WORDS:
            return Measures(like, inside, False, SHINGLES, {"resemblance": like, "containment": max(inside)})
        found = self.meaning.judge(
            self.meaning.align([stems_a, stems_b], [(0, 1)])[0], len(stems_a), len(stems_b)
        )
        # Resemblance and containment stay what they are everywhere, shares of runs of words.
        return replace(
            found,
            resemblance=like,
            containment=inside,
            details={**found.details, "resemblance": like, "containment": max(inside)},
        )

    def _keys(self, signature: Signature) -> U64:
        smallest = shingles_of(signature)[:SMALLEST_KEYS]
        stems = stems_of(signature)
        if len(stems) < LEAST_WORDS:
            return smallest
        return np.concatenate([smallest, self.meaning.keys_of(stems)])


def explain(found: Measures, limits: AutoParameters) -> Note:
    """Why `Auto` calls two texts similar or not."""
    if found.step == EXACT:
        return Note("all_words_equal")
    inside = max(found.containment or (0.0, 0.0))
    below = {"resemblance": found.resemblance, "threshold": limits.threshold}
    if found.step == SHINGLES and found.similar:
        if found.resemblance >= limits.threshold:
            return Note("reaches_threshold", **below)
        return Note("contained_enough", contained=inside, enough=limits.containment)
    if found.step == SHINGLES:
        return Note("below_and_short", least_words=LEAST_WORDS, **below)
    aligned, kept, together = (found.details.get(name, 0.0) for name in ("aligned", "kept", "together"))
    lies = {"aligned": aligned, "kept": kept}
    if found.similar:
        return Note("lies_on", **lies)
    if aligned >= limits.aligned and kept >= limits.kept and together >= limits.together:
        template = found.details.get("named", 1.0) < NAMED and found.details.get("topic", 1.0) < TOPIC
        return Note("below_template" if template else "below_passages", **below, **lies)
    return Note("below_and_apart", **below, **lies)


def settle(measures: Sequence[Measures]) -> list[Measures]:
    """Answers about the candidates of *one* text, seen together: a candidate that keeps less than 0.6 of what the best
    one keeps is not the source. It shares passages with it, as pages of one template do, and is no longer similar."""
    kept = [
        (found.details.get("kept", 0.0) if found.step == MEANING else found.resemblance)
        if found.similar
        else 0.0
        for found in measures
    ]
    best = max(kept, default=0.0)
    return [
        replace(found, similar=False, details={**found.details, "best": best})
        if found.similar and found.step == MEANING and own < OF_THE_BEST * best
        else found
        for found, own in zip(measures, kept, strict=True)
    ]


def stems_of(signature: Signature) -> U64:
    return signature.values[_HEAD : _HEAD + int(signature.values[1])]


def shingles_of(signature: Signature) -> U64:
    """Sorted, each once."""
    return signature.values[_HEAD + int(signature.values[1]) :]
