"""M5: supershingles and megashingles. 84 minima in 6 groups of 14, each group hashed to one supershingle.

Two texts are similar when at least 2 of their 6 supershingles agree. A megashingle is a pair of
supershingles; at least 1 of the 15 agrees exactly when at least 2 supershingles do, so both methods give the
same answer: `supershingles` stores 6 numbers, `megashingles` 15 that an index can look up as they are.
`agreement_probability` is the chance of that answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.errors import InvalidParameter
from doublet.model import Measures, Signature
from doublet.signatures.minhash import hash_functions
from doublet.signatures.mixing import combine
from doublet.signatures.parameters import parameter
from doublet.signatures.protocol import Statistics
from doublet.signatures.shingled import ShingledMethod, ShingleParameters

U64 = NDArray[np.uint64]

MOST_KEYS = 10_000  #: combinations of supershingles that a signature may have


def agreement_probability(
    resemblance: float, groups: int = 6, group_size: int = 14, required: int = 2
) -> float:
    """Chance that two texts of this resemblance agree in at least *required* of *groups* supershingles.

    A group of minima agrees with the chance p = resemblance ** group_size, so this is the upper tail of a
    binomial distribution; with the defaults 1 − (1−p)⁶ − 6·p·(1−p)⁵, 0.88 at resemblance 0.95 (the source
    says about 90 %).
    """
    if not 0.0 <= resemblance <= 1.0:
        raise InvalidParameter("resemblance_range", resemblance=resemblance, name="resemblance")
    SupershingleParameters(groups=groups, group_size=group_size, required=required)
    chance = resemblance**group_size
    # The terms of the tail, not one minus the others: small chances keep their digits.
    terms = (
        math.comb(groups, k) * chance**k * (1.0 - chance) ** (groups - k) for k in range(required, groups + 1)
    )
    return min(1.0, math.fsum(terms))


def curve(
    groups: int = 6, group_size: int = 14, required: int = 2, *, points: int = 101
) -> list[tuple[float, float]]:
    """Points (resemblance, chance) of `agreement_probability`, evenly from 0 to 1: for drawing."""
    if points < 2:
        raise InvalidParameter("points_least", name="points", value=points)
    at = [i / (points - 1) for i in range(points)]
    return [(p, agreement_probability(p, groups, group_size, required)) for p in at]


@dataclass(frozen=True, kw_only=True)
class _GroupParameters(ShingleParameters):
    """Of minima in groups."""

    shingle_words: int = parameter(5, "words in a shingle", low=1, high=1000)
    groups: int = parameter(6, "number of supershingles", low=1, high=1000)
    group_size: int = parameter(14, "minima in a supershingle", low=1, high=1000)
    seed: int = parameter(1, "from which the hash functions are drawn", low=0, high=(1 << 63) - 1)


def _check_required(groups: int, required: int) -> None:
    if required > groups:
        raise InvalidParameter(
            "required_over_groups",
            groups=groups,
            name="required",
            value=required,
        )
    if math.comb(groups, required) > MOST_KEYS:
        raise InvalidParameter(
            "too_many_keys",
            required=required,
            keys=math.comb(groups, required),
            most=MOST_KEYS,
            name="groups",
            value=groups,
        )


@dataclass(frozen=True, kw_only=True)
class SupershingleParameters(_GroupParameters):
    """Of supershingles."""

    required: int = parameter(2, "so many supershingles must agree", low=1, high=1000, signs=False)

    def check(self) -> None:
        _check_required(self.groups, self.required)


@dataclass(frozen=True, kw_only=True)
class MegashingleParameters(_GroupParameters):
    """Of megashingles."""

    required: int = parameter(2, "supershingles in a megashingle", low=1, high=1000)

    def check(self) -> None:
        _check_required(self.groups, self.required)


def _estimate(agreeing: int, groups: int, group_size: int) -> float:
    """The resemblance under which so many groups agree on average."""
    return float((agreeing / groups) ** (1.0 / group_size))


class Supershingles(ShingledMethod[SupershingleParameters]):
    """The signature holds the supershingles in order; its size is the number of distinct shingles."""

    name = "supershingles"
    title = "Supershingles"
    summary = (
        "Six numbers for any text; finds texts that agree almost wholly (resemblance about 0.9 and up) "
        "very cheaply, and hardly ever errs the other way."
    )
    minimum = "one word"
    parameters_type = SupershingleParameters

    def __init__(self, parameters: SupershingleParameters, statistics: Statistics | None = None) -> None:
        super().__init__(parameters, statistics)
        self._factory = _Factory(
            parameters.groups, parameters.group_size, parameters.required, parameters.seed
        )

    @property
    def key_settings(self) -> tuple[tuple[str, Any], ...]:
        return (("required", self.parameters.required),)

    def sign_sets(self, values: U64, offsets: U64, *, threads: int = 1) -> list[Signature | None]:
        table = self._factory.supershingles(values, offsets, threads)
        sizes = np.diff(offsets).tolist()
        return [
            Signature(self.recipe, table[i].copy(), size) if size else None for i, size in enumerate(sizes)
        ]

    def _compare(self, a: Signature, b: Signature) -> Measures:
        agreeing = int(np.count_nonzero(a.values == b.values))
        resemblance = _estimate(agreeing, self.parameters.groups, self.parameters.group_size)
        return Measures(resemblance, None, agreeing >= self.parameters.required)

    def _keys(self, signature: Signature) -> U64:
        keys: U64 = self._factory.megashingles(signature.values[np.newaxis, :])[0]
        return keys

    def key_rows(self, signatures: Sequence[Signature]) -> U64 | None:
        return self._factory.megashingles(np.stack([signature.values for signature in signatures]))


class Megashingles(ShingledMethod[MegashingleParameters]):
    """The signature holds the megashingles in order; its size is the number of distinct shingles."""

    name = "megashingles"
    title = "Megashingles"
    summary = (
        "The same answer as supershingles in fifteen numbers, each of which is enough by itself: one equal "
        "number means similar, so that a plain index of numbers does the whole search."
    )
    minimum = "one word"
    parameters_type = MegashingleParameters

    def __init__(self, parameters: MegashingleParameters, statistics: Statistics | None = None) -> None:
        super().__init__(parameters, statistics)
        self._factory = _Factory(
            parameters.groups, parameters.group_size, parameters.required, parameters.seed
        )

    def sign_sets(self, values: U64, offsets: U64, *, threads: int = 1) -> list[Signature | None]:
        table = self._factory.megashingles(self._factory.supershingles(values, offsets, threads))
        sizes = np.diff(offsets).tolist()
        return [
            Signature(self.recipe, table[i].copy(), size) if size else None for i, size in enumerate(sizes)
        ]

    def _compare(self, a: Signature, b: Signature) -> Measures:
        equal = np.flatnonzero(a.values == b.values)
        agreeing = len(np.unique(self._factory.chosen[equal]))
        resemblance = _estimate(agreeing, self.parameters.groups, self.parameters.group_size)
        return Measures(resemblance, None, agreeing > 0)

    def _keys(self, signature: Signature) -> U64:
        return signature.values

    def key_rows(self, signatures: Sequence[Signature]) -> U64 | None:
        return np.stack([signature.values for signature in signatures])


class _Factory:
    """Minima → supershingles → megashingles, for many texts at once."""

    def __init__(self, groups: int, group_size: int, required: int, seed: int) -> None:
        self._groups, self._group_size = groups, group_size
        self._factors, self._terms = hash_functions(seed, groups * group_size)
        #: for each megashingle the numbers of its supershingles
        self.chosen = np.array(list(combinations(range(groups), required)), np.int64)

    def supershingles(self, values: U64, offsets: U64, threads: int) -> U64:
        minima = kernels.minima(values, offsets, self._factors, self._terms, threads).astype(np.uint64)
        rows = minima.reshape(-1, self._group_size)
        labels = np.tile(np.arange(self._groups, dtype=np.uint64), len(minima))
        return combine(rows, labels).reshape(-1, self._groups)

    def megashingles(self, supershingles: U64) -> U64:
        count, required = self.chosen.shape
        rows = supershingles[:, self.chosen].reshape(-1, required)
        labels = np.tile(np.arange(count, dtype=np.uint64), len(supershingles))
        out: U64 = combine(rows, labels).reshape(-1, count)
        return out
