"""Borrowed passages of two texts, through rewording: the plain twin of native/passages.cpp, and its explanation.

A text is its stems as hashes, their places, and marks of where sentences and lines begin. For a pair of texts:

1. *Weights.* A stem weighs ln(sentences of both texts / those that hold it): from the pair alone, so that what both
   texts are about weighs little. Weights are whole numbers (`UNIT` is 1.0): sums do not depend on their order.
2. *Seeds.* Pairs of sentences that are alike (TF-IDF cosine and Dice), and pairs of neighbouring stems, in any order,
   that stand together once in each text.
3. *Clusters.* Seeds are cut at gaps along a, then along b, and so on until nothing splits.
4. *Borders.* Of each cluster's rectangle one border at a time moves to where the rectangle is worth most: twice the
   weight of what both sides hold (the minimum of counts: a repeated topic word pays once), less a share of all, plus
   a bonus for each border on the end of a sentence. Then the sentences that follow or go before on both sides are
   taken in, as long as they are alike by themselves: one border alone would have nothing to gain there.
5. *One passage once.* Rectangles that overlap in both texts are joined; of those that overlap in a alone the better one
   keeps the words.
6. *Filter.* Strong is what is heavy, dense and long enough; weak what is heavier than chance.
7. *Summaries.* A stretch of a whose words and phrases stand all over b, much more often than those of the rest of a;
   so do the words that no passage explains. Where it is asked for, places of a that b sums up are found in the same
   way.

What could grow with the square of a text has a bound: see the constants. Why it is so and what it reaches is told in
docs/explanation/passages.md; after a change run benchmarks/passages.py.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np

from doublet.kernels.data import LETTER_MASK, SCRIPT_SHIFT, SPECIAL, WORD, fold_table
from doublet.kernels.reference.arguments import F64, U8, U32, U64, check_words, checked_texts, documents
from doublet.kernels.settings import PassageOptions

UNIT = 1024  #: a weight of 1.0
LEAST_SENTENCE, LONGEST_SENTENCE = 3, 60  #: words; shorter ones join the next, longer ones are cut
HEAVY = 250_000  #: a stem in more pairs of sentences leads to no candidates
NEAREST = 16  #: sentences of b that one of a may lead to
ROUNDS, RECTANGLES = 40, 4000
LONE_SEED = 5 * UNIT  #: weight of two stems that may be a cluster by themselves
BORDER_WORDS = 40_000_000  #: words that the border step may read for one pair
TELLING = 2 * UNIT  #: weight from which a word counts as telling in a summary
LEAST_SENTENCES = 30.0  #: a pair of tiny texts is weighed as if it had so many
STRETCH = 1500  #: words of a source in which all of a summary is looked for
PLAIN = 9  #: tenths of its weight that make a passage too plain for a part of a summary
NEXT, NEXT_ROUNDS = 2, 4  #: sentences that may be added at once on each side, and how often

SENTENCE, LINE = 1, 2  #: marks: a sentence begins here; a line that ends a sentence
#: kinds of what is found: a sums a long place of b up, or b one of a
WEAK, STRONG, SUMMARY, SUMMED = 0, 1, 2, 3

Columns = tuple[U64, U32, U32, U32, U32, U32, F64, F64, F64, U8]


def whole_number(value: float) -> int:
    """Rounded half away from zero, as the native side does."""
    return math.floor(value + 0.5) if value >= 0 else math.ceil(value - 0.5)


def cut_sentences(begins: Sequence[int], size: int) -> list[int]:
    """First words of the sentences of a text of so many words, and its end; *begins* are the words that are marked.
    Short sentences join the next, long ones are cut."""
    out = [0]
    for begin in (*begins, size):
        while begin - out[-1] > LONGEST_SENTENCE:
            out.append(out[-1] + LONGEST_SENTENCE)
        if begin < size and begin - out[-1] >= LEAST_SENTENCE:
            out.append(begin)
    return [*out, size]


class _Settings:
    """The settings as the steps use them: weights as whole numbers."""

    def __init__(self, given: PassageOptions) -> None:
        if not all(0 <= getattr(given, field.name) <= 1e6 for field in fields(PassageOptions)):
            raise ValueError("a setting can be 0 to 1,000,000")
        self.gap = int(given.gap)
        self.cosine = given.cosine * given.cosine
        self.dice = given.dice
        self.loss = whole_number(given.loss * 1000)
        self.bonus = whole_number(given.bonus * UNIT) * 1000
        self.reach, self.moves = int(given.reach), int(given.moves)
        self.cap = whole_number(given.cap * UNIT)
        self.next = whole_number(given.next_sentence * 1000)
        self.weak_mass, self.weak_length = whole_number(given.weak_mass * UNIT), int(given.weak_length)
        self.strong_mass = whole_number(given.strong_mass * UNIT)
        self.strong_worth, self.sentence_worth = given.strong_worth * UNIT, given.sentence_worth * UNIT
        self.shorter_side, self.longer_side = int(given.strong_length), int(given.strong_longer)
        self.summaries, self.summed = given.summary_rise > 0, given.summed
        self.rise, self.fall = (
            whole_number(given.summary_rise * UNIT) * 1000,
            whole_number(given.summary_fall * UNIT) * 1000,
        )
        self.share, self.above = given.summary_share, given.summary_above
        self.telling = int(given.summary_words)
        self.shortest, self.longest = int(given.summary_shortest), int(given.summary_longest)
        self.times = given.summary_times
        self.level, self.left_above = given.summary_level, given.summary_left
        self.left_mass = given.summary_left_mass * UNIT
        self.evidence, self.alone = given.summary_evidence, given.summary_alone
        self.rest, self.beside = given.summary_rest, given.summary_beside


@dataclass(slots=True)
class _Rectangle:
    a0: int
    a1: int
    b0: int
    b1: int
    mass: int = 0
    whole_a: int = 0
    whole_b: int = 0
    equal: int = 0
    rank: float = 0.0
    kind: int = WEAK

    @property
    def key(self) -> tuple[int, int, int, int]:
        return self.a0, self.a1, self.b0, self.b1


class _Side:
    def __init__(self, stems: list[int], marks: list[int], starts: list[int], ends: list[int]) -> None:
        self.stems, self.marks, self.starts, self.ends = stems, marks, starts, ends
        self.size = len(stems)
        self.ids: list[int] = []
        self.sentences: list[int] = []  # first words, and the end
        self.bags: list[dict[int, int]] = []
        self.norms: list[int] = []

    def length(self, first: int, end: int) -> int:
        return self.ends[end - 1] - self.starts[first]

    def border(self, at: int) -> int:
        return int(at in (0, self.size) or self.marks[at] & (SENTENCE | LINE) != 0)

    def cut(self) -> None:
        marked = [i for i, mark in enumerate(self.marks) if mark & SENTENCE]
        self.sentences = cut_sentences(marked, self.size)
        self.bags = [
            dict(sorted(Counter(self.ids[first:end]).items()))
            for first, end in zip(self.sentences, self.sentences[1:], strict=False)
        ]


class _Finder:
    def __init__(self, settings: _Settings, a: _Side, b: _Side) -> None:
        self.set = settings
        self.a, self.b = a, b
        self.found: list[_Rectangle] = []
        self.seeds: list[_Rectangle] = []
        self.weights: list[int] = []
        self.capped: list[int] = []
        self.in_a: list[int] = []
        self.in_b: list[int] = []
        self.count_a: list[int] = []
        self.count_b: list[int] = []
        self.mass = self.whole_a = self.whole_b = 0
        self.phrases: list[int] = []

    def run(self) -> list[_Rectangle]:
        if not self.a.size or not self.b.size:
            return []
        self._number()
        self.a.cut()
        self.b.cut()
        self._weigh()
        self._sentence_seeds()
        self._neighbour_seeds()
        self._cluster()
        self._fit_all()
        self._merge()
        self._resolve()
        self._filter()
        if self.set.summaries:
            self._all_summaries()
        return sorted(self.found, key=lambda r: r.key)

    def _number(self) -> None:
        numbers: dict[int, int] = {}
        for side in (self.a, self.b):
            side.ids = [numbers.setdefault(stem, len(numbers)) for stem in side.stems]
        self.in_a, self.in_b = [0] * len(numbers), [0] * len(numbers)
        self.count_a, self.count_b = [0] * len(numbers), [0] * len(numbers)

    def _weigh(self) -> None:
        for side, held in ((self.a, self.in_a), (self.b, self.in_b)):
            for bag in side.bags:
                for term in bag:
                    held[term] += 1
        every = max(LEAST_SENTENCES, float(len(self.a.bags) + len(self.b.bags)))
        self.weights = [
            whole_number(math.log(every / (x + y)) * UNIT) for x, y in zip(self.in_a, self.in_b, strict=True)
        ]
        self.capped = [min(weight, self.set.cap) for weight in self.weights]
        for side in (self.a, self.b):
            side.norms = [
                sum((times * self.weights[term]) ** 2 for term, times in bag.items()) for bag in side.bags
            ]

    # Seeds

    def _sentence_seeds(self) -> None:
        weights = self.weights
        heavy = [x * y > HEAVY for x, y in zip(self.in_a, self.in_b, strict=True)]
        lists: dict[int, list[int]] = {}
        left_b = [0] * len(self.b.bags)
        for t, bag in enumerate(self.b.bags):
            for term, times in bag.items():
                if heavy[term]:
                    left_b[t] += (times * weights[term]) ** 2
                else:
                    lists.setdefault(term, []).append(t)
        for s, bag in enumerate(self.a.bags):
            dots: dict[int, int] = {}
            left_a = 0
            for term, times in bag.items():
                part = times * weights[term]
                if heavy[term]:
                    left_a += part * part
                elif part:
                    for t in lists.get(term, ()):
                        dots[t] = dots.get(t, 0) + part * (self.b.bags[t][term] * weights[term])
            near = []
            for t, light in dots.items():
                dot = light
                other = self.b.bags[t]
                bound = self.set.cosine * (float(self.a.norms[s]) * float(self.b.norms[t]))
                if left_a and left_b[t]:
                    most = float(dot) + math.sqrt(float(left_a)) * math.sqrt(float(left_b[t]))
                    if not most * most > bound:
                        continue
                    dot = sum(bag[v] * weights[v] * other[v] * weights[v] for v in bag if v in other)
                square = float(dot) * float(dot)
                if not square > bound:
                    continue
                common = sum(1 for v in bag if v in other)
                if float(2 * common) > self.set.dice * float(len(bag) + len(other)):
                    near.append((-square / float(self.b.norms[t]), t))
            for _, t in sorted(near)[:NEAREST]:
                self.seeds.append(
                    _Rectangle(
                        *(self.a.sentences[s], self.a.sentences[s + 1]),
                        *(self.b.sentences[t], self.b.sentences[t + 1]),
                    )
                )

    def _neighbour_seeds(self) -> None:
        once: list[dict[tuple[int, int], int]] = []
        for side, others in ((self.a, self.in_b), (self.b, self.in_a)):
            places: dict[tuple[int, int], int] = {}
            for i in range(side.size - 1):
                x, y = sorted((side.ids[i], side.ids[i + 1]))
                if others[x] and others[y]:
                    places[x, y] = i if (x, y) not in places else -1
            once.append({pair: i for pair, i in places.items() if i >= 0})
        for pair, i in once[0].items():
            j = once[1].get(pair)
            if j is not None:
                self.seeds.append(_Rectangle(i, i + 2, j, j + 2))

    # Clusters

    def _cluster(self) -> None:
        stack = [(self.seeds, 0, 0, 0)] if self.seeds else []  # seeds, round, axis, passes without a cut
        while stack:
            seeds, round_, axis, quiet = stack.pop()
            if quiet == 2 or round_ == ROUNDS:
                if len(seeds) == 1 and self._alone(seeds[0]):
                    continue
                self.found.append(
                    _Rectangle(
                        min(r.a0 for r in seeds),
                        max(r.a1 for r in seeds),
                        min(r.b0 for r in seeds),
                        max(r.b1 for r in seeds),
                    )
                )
                continue
            side = self.b if axis else self.a
            pieces: list[list[_Rectangle]] = [[]]
            reached = 0
            for r in sorted(seeds, key=lambda r: (r.b0 if axis else r.a0, r.key)):
                start = side.starts[r.b0 if axis else r.a0]
                stop = side.ends[(r.b1 if axis else r.a1) - 1]
                if pieces[-1] and start - reached > self.set.gap:
                    pieces.append([])
                    reached = 0
                pieces[-1].append(r)
                reached = max(reached, stop)
            quiet = quiet + 1 if len(pieces) == 1 else 1
            stack += [(piece, round_ + 1, 1 - axis, quiet) for piece in pieces]
        self.found.sort(key=lambda r: r.key)

    def _alone(self, seed: _Rectangle) -> bool:
        """Whether it is two neighbouring stems that are too common to be a cluster by themselves."""
        first, second = self.a.ids[seed.a0], self.a.ids[seed.a0 + 1 if seed.a1 - seed.a0 > 1 else seed.a0]
        two = seed.a1 - seed.a0 == 2 and seed.b1 - seed.b0 == 2
        return two and self.capped[first] + self.capped[second] < LONE_SEED

    # Borders

    def _add(self, left: bool, word: int) -> None:
        term = self.a.ids[word] if left else self.b.ids[word]
        weight = self.capped[term]
        mine, other = (self.count_a, self.count_b) if left else (self.count_b, self.count_a)
        if left:
            self.whole_a += weight
        else:
            self.whole_b += weight
        if mine[term] < other[term]:
            self.mass += weight
        mine[term] += 1

    def _drop(self, left: bool, word: int) -> None:
        term = self.a.ids[word] if left else self.b.ids[word]
        weight = self.capped[term]
        mine, other = (self.count_a, self.count_b) if left else (self.count_b, self.count_a)
        if left:
            self.whole_a -= weight
        else:
            self.whole_b -= weight
        mine[term] -= 1
        if mine[term] < other[term]:
            self.mass -= weight

    def _open(self, r: _Rectangle) -> None:
        self.mass = self.whole_a = self.whole_b = 0
        for i in range(r.a0, r.a1):
            self._add(True, i)
        for i in range(r.b0, r.b1):
            self._add(False, i)

    def _worth(self) -> int:
        return 2000 * self.mass - self.set.loss * (self.whole_a + self.whole_b)

    def _measure(self, r: _Rectangle) -> None:
        """Measures of the rectangle whose counts are open; closes it."""
        r.mass, r.whole_a, r.whole_b = self.mass, self.whole_a, self.whole_b
        dot = norm_a = norm_b = equal = 0
        for term in set(self.a.ids[r.a0 : r.a1]):
            weight, x, y = self.capped[term] // 32, self.count_a[term], self.count_b[term]
            dot += weight * weight * x * y
            norm_a += weight * weight * x * x
            equal += min(x, y)
            self.count_a[term] = 0
        for term in set(self.b.ids[r.b0 : r.b1]):
            weight, y = self.capped[term] // 32, self.count_b[term]
            norm_b += weight * weight * y * y
            self.count_b[term] = 0
        r.equal = equal
        norms = float(norm_a) * float(norm_b)
        r.rank = float(r.mass) * (float(dot) / math.sqrt(norms)) if norms > 0 else 0.0

    def _fit_all(self) -> None:
        read = 0
        kept = []
        for r in sorted(self.found, key=lambda r: (r.a0 - r.a1, r.key)):
            read += r.a1 - r.a0 + r.b1 - r.b0 + 4 * self.set.reach
            if read > BORDER_WORDS:
                break
            self._fit(r)
            kept.append(r)
        unique = {r.key: r for r in kept}
        kept = list(unique.values())
        if len(kept) > RECTANGLES:
            kept = sorted(kept, key=lambda r: (-r.mass, r.key))[:RECTANGLES]
        self.found = sorted(kept, key=lambda r: r.key)

    def _fit(self, r: _Rectangle) -> None:
        self._open(r)
        for _ in range(self.set.moves):
            best = self._best_move(r)
            if best is None:
                break
            which, place = best
            left = which < 2
            border = (r.a0, r.a1, r.b0, r.b1)[which]
            if which & 1:
                for word in range(border, place):
                    self._add(left, word)
                for word in range(place, border):
                    self._drop(left, word)
            else:
                for word in range(place, border):
                    self._add(left, word)
                for word in range(border, place):
                    self._drop(left, word)
            setattr(r, ("a0", "a1", "b0", "b1")[which], place)
        self._measure(r)
        grown = False
        for _ in range(NEXT_ROUNDS if self.set.next else 0):
            after, before = self._take_next(r, True), self._take_next(r, False)
            if not after and not before:
                break
            grown = True
        if grown:
            self._open(r)
            self._measure(r)

    def _next_borders(self, text: _Side, at: int, forward: bool) -> list[int]:
        """Where the next sentences end (or begin, going backwards), one or two of them."""
        step = 1 if forward else -1
        last = min(at + self.set.reach, text.size) if forward else max(at - self.set.reach, 0)
        return [place for place in range(at + step, last + step, step) if text.border(place)][:NEXT]

    def _take_next(self, r: _Rectangle, forward: bool) -> bool:
        """Takes in the sentences beyond the border on both sides at once, when they are alike by themselves."""
        a, b = (r.a1, r.b1) if forward else (r.a0, r.b0)
        best, place = 0, (a, b)
        for to_a in self._next_borders(self.a, a, forward):
            for to_b in self._next_borders(self.b, b, forward):
                part = _Rectangle(min(a, to_a), max(a, to_a), min(b, to_b), max(b, to_b))
                self._open(part)
                gain = 2000 * self.mass - self.set.next * (self.whole_a + self.whole_b)
                self._measure(part)
                if gain > best:
                    best, place = gain, (to_a, to_b)
        if not best:
            return False
        if forward:
            r.a1, r.b1 = place
        else:
            r.a0, r.b0 = place
        return True

    def _best_move(self, r: _Rectangle) -> tuple[int, int] | None:
        """Which border (a0, a1, b0, b1) goes where; of equal gains the one that is looked at first."""
        now, best = self._worth(), 0
        move: tuple[int, int] | None = None
        for which in range(4):
            left = which < 2
            text = self.a if left else self.b
            low, high = (r.a0, r.a1) if left else (r.b0, r.b1)
            reach = self.set.reach
            if which & 1:
                at = high
                out = range(high, min(high + reach, text.size))
                within = range(high - 1, max(high - reach, low + 1, 1) - 1, -1)
            else:
                at = low
                out = range(low - 1, max(low - reach, 0) - 1, -1)
                within = range(low, min(low + reach, high - 1))
            here = text.border(at)
            for words, change, undo in ((out, self._add, self._drop), (within, self._drop, self._add)):
                for word in words:
                    change(left, word)
                    # After an added or dropped word the border stands on its far or near side.
                    place = word + 1 if words.step > 0 else word
                    gain = self._worth() - now + (text.border(place) - here) * self.set.bonus
                    if gain > best:
                        best, move = gain, (which, place)
                for word in reversed(words):
                    undo(left, word)
        return move

    # One passage once

    def _merge(self) -> None:
        for _ in range(ROUNDS):
            self.found.sort(key=lambda r: r.key)
            out: list[_Rectangle] = []
            gone = [False] * len(self.found)
            changed = False
            for i, first in enumerate(self.found):
                if gone[i]:
                    continue
                r = _Rectangle(
                    *first.key, first.mass, first.whole_a, first.whole_b, first.equal, first.rank, first.kind
                )
                grown = False
                for j in range(i + 1, len(self.found)):
                    o = self.found[j]
                    if o.a0 >= r.a1:
                        break
                    if gone[j] or not (_overlap(r.a0, r.a1, o.a0, o.a1) and _overlap(r.b0, r.b1, o.b0, o.b1)):
                        continue
                    r.a0, r.a1 = min(r.a0, o.a0), max(r.a1, o.a1)
                    r.b0, r.b1 = min(r.b0, o.b0), max(r.b1, o.b1)
                    gone[j] = grown = True
                if grown:
                    self._open(r)
                    self._measure(r)
                    changed = True
                out.append(r)
            self.found = out
            if not changed:
                break

    def _resolve(self) -> None:
        out: list[_Rectangle] = []
        for r in sorted(self.found, key=lambda r: (-r.rank, r.key)):
            if r.mass < self.set.weak_mass:
                continue
            cut = lost = False
            whole = r.a1 - r.a0
            for o in out:
                if not _overlap(r.a0, r.a1, o.a0, o.a1):
                    continue
                if o.a0 > r.a0 and o.a1 < r.a1:
                    lost = True
                    break
                if o.a0 <= r.a0:
                    r.a0 = min(o.a1, r.a1)
                else:
                    r.a1 = o.a0
                cut = True
                if r.a1 <= r.a0 or 2 * (r.a1 - r.a0) < whole:
                    lost = True
                    break
            if lost:
                continue
            if cut:
                self._open(r)
                self._measure(r)
            out.append(r)
        self.found = sorted(out, key=lambda r: r.key)

    def _filter(self) -> None:
        s = self.set
        out = []
        for r in self.found:
            length_a, length_b = self.a.length(r.a0, r.a1), self.b.length(r.b0, r.b1)
            if r.mass < s.weak_mass or min(length_a, length_b) < s.weak_length:
                continue
            close = float(r.mass) / math.sqrt(float(r.whole_a) * float(r.whole_b)) if r.mass else 0.0
            worth = float(r.mass) * close
            heavy = r.mass >= s.strong_mass and worth >= s.strong_worth
            longer = max(length_a, length_b) >= s.longer_side or (
                worth >= s.sentence_worth and self._in_long_sentences(r)
            )
            r.kind = STRONG if heavy and min(length_a, length_b) >= s.shorter_side and longer else WEAK
            out.append(r)
        self.found = out

    def _in_long_sentences(self, r: _Rectangle) -> bool:
        """Whether the sentences in which it stands are long enough together, in either text."""
        for side, first, end in ((self.a, r.a0, r.a1), (self.b, r.b0, r.b1)):
            while not side.border(first):
                first -= 1
            while not side.border(end):
                end += 1
            if side.length(first, end) >= self.set.longer_side:
                return True
        return False

    # Summaries

    def _turn(self) -> None:
        """The texts change places."""
        self.a, self.b = self.b, self.a
        self.in_a, self.in_b = self.in_b, self.in_a
        self.phrases = []
        for r in self.found:
            r.a0, r.a1, r.b0, r.b1 = r.b0, r.b1, r.a0, r.a1
            r.whole_a, r.whole_b = r.whole_b, r.whole_a

    def _all_summaries(self) -> None:
        """Summaries in a of places of b and, where that is asked for, in b of places of a. Both are looked for beside
        the same passages, so that it does not matter which text comes first."""
        before = [
            _Rectangle(*r.key, r.mass, r.whole_a, r.whole_b, r.equal, r.rank, r.kind) for r in self.found
        ]
        self._summaries(SUMMARY)
        if not self.set.summed:
            return
        in_a, self.found = self.found, before
        self._turn()
        self._summaries(SUMMED)
        self._turn()
        left = {r.key for r in in_a if r.kind != SUMMARY}
        self.found = [
            *(r for r in in_a if r.kind == SUMMARY),
            *(r for r in self.found if r.kind == SUMMED or r.key in left),
        ]

    def _summaries(self, kind: int) -> None:
        a = self.a
        whole = self._whole_summary()
        if whole is not None:
            whole.kind = kind
            self.found = [whole]
            return
        every, known = [0], [0]
        for term in a.ids:
            every.append(every[-1] + self.capped[term])
            known.append(known[-1] + (self.capped[term] if self.in_b[term] else 0))
        plain = [False] * a.size
        for r in self.found:
            if r.kind == STRONG and 10 * r.mass >= PLAIN * max(r.whole_a, r.whole_b):
                plain[r.a0 : r.a1] = [True] * (r.a1 - r.a0)
        # What is found pays, what is not costs: it balances half way between the share of the whole text and that of a
        # summary.
        usual = float(known[-1]) / float(every[-1]) if every[-1] > 0 else 0.0
        minus = min(1000, whole_number((usual + self.set.level) * 500))
        plus = 1000 - minus
        segments: list[tuple[int, int]] = []
        score = top = first = peak = 0
        for i in range(a.size + 1):
            over = i == a.size or plain[i]
            if not over:
                if score == 0 and top == 0:
                    first = i
                weight = self.capped[a.ids[i]]
                score += weight * plus if self.in_b[a.ids[i]] else -weight * minus
                if score > top:
                    top, peak = score, i + 1
            if over or score <= 0 or top - score > self.set.fall:
                if top >= self.set.rise:
                    segments.append((self._nearest_border(first), self._nearest_border(peak)))
                score = top = 0
        for start, end in segments:
            summary = self._summary(start, end, every, known) if end > start else None
            if summary is not None:
                self.found = [o for o in self.found if not _overlap(o.a0, o.a1, start, end)]
                summary.kind = kind
                self.found.append(summary)

    def _whole_summary(self) -> _Rectangle | None:
        """The whole of a as a summary of one stretch of b. There is no rest of a that would say how much it holds of
        b anyway, so it must hold more, and nothing else may have been found."""
        a, b, s = self.a, self.b, self.set
        length = a.length(0, a.size)
        if not s.shortest <= length <= s.longest or any(r.kind != WEAK for r in self.found):
            return None
        here = sum(self.capped[term] for term in a.ids)
        best = best_held = start = 0
        for first in range(0, max(b.size - STRETCH // 2, 1), STRETCH // 2):
            stretch = b.ids[first : first + STRETCH]
            there, pairs = set(stretch), {tuple(sorted(pair)) for pair in pairwise(stretch)}
            held = sum(self.capped[term] for term in a.ids if term in there)
            phrases = sum(
                min(self.capped[x], self.capped[y])
                for x, y in pairwise(a.ids)
                if tuple(sorted((x, y))) in pairs
            )
            if held + 2 * phrases > best:
                best, best_held, start = held + 2 * phrases, held, first
        if here <= 0 or float(best) < s.alone * float(here) or float(best_held) < s.share * float(here):
            return None
        stretch = b.ids[start : start + STRETCH]
        words = {term for term in a.ids if self.capped[term] > TELLING} & set(stretch)
        places = [start + j for j, term in enumerate(stretch) if term in words]
        if len(words) < s.telling or not places:
            return None
        low, high = places[0], places[-1] + 1
        if float(b.length(low, high)) < s.times * float(length):
            return None
        r = _Rectangle(0, a.size, low, high)
        self._open(r)
        self._measure(r)
        r.mass = best_held
        return r

    def _phrases(self) -> list[int]:
        """Weights up to a word of a: of those that stand beside the next one in b too, as the lighter of the two."""
        a, b = self.a.ids, self.b.ids
        pairs = {tuple(sorted(pair)) for pair in pairwise(b)}
        out = [0]
        for x, y in pairwise(a):
            out.append(
                out[-1] + (min(self.capped[x], self.capped[y]) if tuple(sorted((x, y))) in pairs else 0)
            )
        return [*out, out[-1]]

    def _nearest_border(self, at: int) -> int:
        for distance in range(self.a.size + 1):
            if at >= distance and self.a.border(at - distance):
                return at - distance
            if at + distance <= self.a.size and self.a.border(at + distance):
                return at + distance
        return at

    def _summary(self, first: int, end: int, every: list[int], known: list[int]) -> _Rectangle | None:
        a, b, s = self.a, self.b, self.set
        length = a.length(first, end)
        if not s.shortest <= length <= s.longest:
            return None
        here, held = every[end] - every[first], known[end] - known[first]
        rest, rest_held = every[-1] - here, known[-1] - held
        if here <= 0 or rest <= 0 or float(rest) < s.rest * float(here):
            return None
        share = float(held) / float(here)
        usual = float(rest_held) / float(rest)
        if share < s.share or share - usual < s.above:
            return None
        words = {term for term in a.ids[first:end] if self.capped[term] > TELLING and self.in_b[term]}
        if len(words) < s.telling:
            return None
        places = [j for j, term in enumerate(b.ids) if term in words]
        if not places:
            return None
        low, high = places[0], places[-1] + 1
        if float(b.length(low, high)) < s.times * float(length):
            return None
        # Phrases tell a summary from a text about the same thing.
        self.phrases = self.phrases or self._phrases()
        phrases = self.phrases[end] - self.phrases[first]
        often = float(phrases) / float(here)
        elsewhere = float(self.phrases[-1] - phrases) / float(rest)
        if share - usual + 2 * (often - 2 * elsewhere) < s.evidence:
            return None
        # What other passages do not explain must stand in b much more often than the rest of a does, and outweigh the
        # passages beside it: where much of a stands in b, sentences that were taken one by one only look like a
        # summary.
        told: set[int] = set()
        beside = 0
        for o in self.found:
            if o.kind in (WEAK, STRONG) and not _overlap(o.a0, o.a1, first, end):
                beside += o.mass
            if o.kind != WEAK and _overlap(o.a0, o.a1, first, end):
                there = set(b.ids[o.b0 : o.b1])
                told.update(i for i in range(max(first, o.a0), min(end, o.a1)) if a.ids[i] in there)
        explained = sum(self.capped[a.ids[i]] for i in told)
        if float(held - explained) < s.beside * float(beside):
            return None
        left = float(here - explained)
        more = float(held - explained) - usual * left
        if more < s.left_mass or more < s.left_above * left:
            return None
        r = _Rectangle(first, end, low, high)
        self._open(r)
        self._measure(r)
        r.mass = held
        return r


def _overlap(a0: int, a1: int, b0: int, b1: int) -> bool:
    return a0 < b1 and b0 < a1


def passages(
    stems: U64,
    marks: U8,
    starts: U32,
    ends: U32,
    offsets: U64,
    left: U32,
    right: U32,
    settings: PassageOptions,
    threads: int = 1,
) -> Columns:
    """Passages of each pair of texts (*left*, *right*), in order of the left text.

    Gives where the passages of each pair begin (one more than pairs), then columns: first word and end in the left
    text, the same in the right, equal stems, matched weight, weight of the left and of the right side, kind. Words are
    numbered from the beginning of their text. *settings* are read by name.
    """
    if not len(stems) == len(marks) == len(starts) == len(ends):
        raise ValueError("stems, marks, starts and ends must be of one length")
    if len(left) != len(right):
        raise ValueError("left and right must be of one length")
    chosen = _Settings(settings)
    bounds = documents(offsets, len(stems))
    if any(text >= len(bounds) for text in (*left.tolist(), *right.tolist())):
        raise ValueError("there is no text of this number")
    for span in bounds:
        check_words(starts, ends, span, 1 << 32)

    def side(text: int) -> _Side:
        part = slice(*bounds[text])
        return _Side(stems[part].tolist(), marks[part].tolist(), starts[part].tolist(), ends[part].tolist())

    rows: list[_Rectangle] = []
    counts = [0]
    for x, y in zip(left.tolist(), right.tolist(), strict=True):
        rows += _Finder(chosen, side(x), side(y)).run()
        counts.append(len(rows))

    def whole(name: str) -> U32:
        return np.array([getattr(r, name) for r in rows], np.uint32)

    def real(name: str) -> F64:
        return np.array([getattr(r, name) / UNIT for r in rows], np.float64)

    return (
        np.array(counts, np.uint64),
        whole("a0"),
        whole("a1"),
        whole("b0"),
        whole("b1"),
        whole("equal"),
        real("mass"),
        real("whole_a"),
        real("whole_b"),
        np.array([r.kind for r in rows], np.uint8),
    )


# Where sentences begin

_ENDS_ALWAYS = frozenset("。！？｡")
_ENDS = frozenset(".!?…") | _ENDS_ALWAYS
_NEW_LINE = frozenset("\n\r\u2028\u2029\v\f\x85")
_BLANK = frozenset(" \t\xa0\u3000") | frozenset(map(chr, range(0x2000, 0x200B))) | _NEW_LINE


def sentence_marks(
    texts: Sequence[str], hashes: U64, starts: U32, ends: U32, offsets: U64, shortened: U64
) -> U8:
    """`SENTENCE` for each word that begins a sentence, and `LINE` for each that begins a line of its own.

    Quicker and coarser than `doublet.text.sentences`: an end mark and a blank before no small letter, not after a
    single letter or one of the *shortened* words (hashes); a blank line; any line of a text that is not wrapped. A line
    ends with "\\n", "\\r\\n" or "\\r", and blanks before that make no difference.
    """
    texts = checked_texts(texts)
    bounds = documents(offsets, len(hashes))
    if len(bounds) != len(texts):
        raise ValueError("there must be one more offset than texts")
    if not len(hashes) == len(starts) == len(ends):
        raise ValueError("hashes, starts and ends must be of one length")
    for text, span in zip(texts, bounds, strict=True):
        check_words(starts, ends, span, len(text))
    out = np.zeros(len(hashes), np.uint8)
    known = set(shortened.tolist())
    for text, span in zip(texts, bounds, strict=True):
        part = slice(*span)
        out[part] = _mark(text, hashes[part].tolist(), starts[part].tolist(), ends[part].tolist(), known)
    return out


def _mark(text: str, hashes: list[int], starts: list[int], ends: list[int], known: set[int]) -> list[int]:
    table = fold_table().entries
    out = [0] * len(hashes)
    lines = open_lines = 0
    for i in range(len(hashes)):
        if not i:
            out[i] = SENTENCE
            continue
        gap = text[ends[i - 1] : starts[i]]
        stops = [k for k, c in enumerate(gap) if c in _ENDS]
        breaks = [k for k, c in enumerate(gap) if c in _NEW_LINE and gap[k - 1 : k + 1] != "\r\n"]
        after = bool(stops) and any(c in _BLANK for c in gap[stops[0] + 1 :])
        if breaks:
            at = breaks[0]
            last = [c for c in gap[:at] if c not in _BLANK][-1:]
            ended = (bool(stops) and stops[0] < at) or last in ([":"], [";"])
            lines += 1
            open_lines += not ended and len(breaks) == 1
            out[i] |= LINE
        sentence = any(gap[k] in _ENDS_ALWAYS for k in stops) or len(breaks) > 1
        if not sentence and after:
            code = ord(text[starts[i]])
            entry = int(table[code])
            small = (
                entry & WORD
                and (entry >> SCRIPT_SHIFT) & 15
                and entry & LETTER_MASK == code
                and not entry & SPECIAL
            )
            sentence = not small
            if sentence and all(gap[k] == "." for k in stops):
                sentence = ends[i - 1] - starts[i - 1] > 1 and hashes[i - 1] not in known
        if sentence:
            out[i] |= SENTENCE
    wrapped = lines > 0 and len(hashes) < 16 * lines and 2 * open_lines > lines
    for i in range(1, len(out)):
        if out[i] & LINE:
            out[i] = out[i] & ~LINE if wrapped else out[i] | SENTENCE
    return out
