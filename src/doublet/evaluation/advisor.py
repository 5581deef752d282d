"""From some pairs that a user has marked to a method, a length of shingles and a threshold (C5, E4).

Every candidate (a method with parameters) gives each pair a score. Its threshold is chosen on some of the pairs and
judged on the others, again and again, so the expected precision and recall are those of pairs nobody tuned on. With
twenty to fifty pairs they are rough, and the intervals say how rough. Of all pairs of a collection few are duplicates,
and those that somebody marks are not drawn from all: so texts of different marked pairs, which nobody took for
duplicates, have a say in every threshold. The first candidate is what nobody has to set, and stays unless another is
clearly better on pairs that were left out. Explained in docs/how-to/choose-a-threshold.md.
"""

from __future__ import annotations

import csv
import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from doublet.errors import (
    DoubletError,
    InputNotFound,
    InvalidParameter,
    RecordInvalid,
    UsageError,
    require_text,
    wrong_type,
)
from doublet.evaluation.metrics import Score, best_threshold, score
from doublet.evaluation.specs import read_spec
from doublet.evaluation.tasks import score_pairs
from doublet.jobs.compare import AUTO
from doublet.model import FORMAT_VERSION, Note
from doublet.progress import Progress

FEWEST = 6  #: pairs, with two of each kind: below, nothing can be said
ENOUGH = 20  #: pairs from which figures mean something
ENOUGH_OF_A_KIND = 8
ROUNDS, FOLDS = 10, 5
MIXED = 100  #: pairs of texts from different marked pairs
CLEARLY = (
    0.01  #: chance that a candidate no better than the first would be right where that is wrong so often
)
EASY = 0.3  #: between the scores of duplicates and others: more, and the pairs do not show where to draw the line
CLOSE = 0.02  #: F1 by which candidates must differ to be told apart at all
LENGTHS = (4, 3, 5, 2, 7, 1)  #: words of shingles, those that are usually good first
YES = frozenset(("1", "yes", "true", "duplicate", "dup", "same", "да", "дубликат", "ok", "y"))
NO = frozenset(
    ("0", "no", "false", "not", "not duplicate", "other", "different", "нет", "не дубликат", "bad", "n", "-1")
)


@dataclass(frozen=True)
class MarkedPair:
    text_a: str
    text_b: str
    duplicate: bool
    name: str = ""


@dataclass(frozen=True)
class Candidate:
    """A method with parameters and what to expect of it. *threshold* is None for a method's own rule."""

    method: str
    parameters: Mapping[str, Any]
    measure: str
    threshold: float | None
    expected: Score

    @property
    def label(self) -> str:
        shown = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in self.parameters.items())
        return self.method + (f" ({shown})" if shown else "")

    def command(self) -> str:
        """The options to give to `doublet dedupe` or `doublet compare`."""
        parts = [f"--method {self.method}"]
        for name, value in self.parameters.items():
            parts.append(
                f"--shingle-words {value}" if name == "shingle_words" else f"--parameter {name}={value}"
            )
        if self.threshold is not None:
            parts.append(
                f"--containment {self.threshold:.2f}"
                if self.measure == "containment"
                else f"--threshold {self.threshold:.2f}"
            )
        return " ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "parameters": dict(self.parameters),
            "measure": self.measure,
            "threshold": self.threshold,
            "expected": self.expected.to_dict(),
            "options": self.command(),
        }


@dataclass(frozen=True)
class Advice:
    """*best* is what is proposed; *others* follow by expected F1. *mistakes*: pairs that the best one gets wrong."""

    best: Candidate
    others: tuple[Candidate, ...]
    pairs: int
    duplicates: int
    mistakes: tuple[Note, ...]
    warnings: tuple[Note, ...]
    parameters: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "kind": "advice",
            "parameters": dict(self.parameters),
            "best": self.best.to_dict(),
            "others": [one.to_dict() for one in self.others],
            "pairs": self.pairs,
            "duplicates": self.duplicates,
            "mistakes": [note.to_dict() for note in self.mistakes],
            "warnings": [note.to_dict() for note in self.warnings],
        }


def default_candidates() -> list[str]:
    """Specs that are tried, those to be preferred first: what nobody has to set, shingles of several lengths, both
    measures, and every method that needs no length."""
    from doublet.evaluation.specs import known_methods

    out = [AUTO]
    out += [f"shingles:shingle_words={n}" for n in LENGTHS]
    out += [f"shingles@containment:shingle_words={n}" for n in (3, 4)]
    out += [f"shingles:shingle_words={n};reduce=stem;stop_words=true" for n in (1, 2)]
    out += [f"minhash:shingle_words={n}" for n in (3, 4)]
    return out + [name for name in known_methods() if name not in (AUTO, "shingles", "minhash")]


def advise(
    pairs: Iterable[MarkedPair | Mapping[str, Any] | tuple[str, str, bool]],
    *,
    methods: Sequence[str] = (),
    seed: int = 1,
    progress: Progress | None = None,
) -> Advice:
    """Method, parameters and threshold for texts like these, with the precision and recall to expect.

    *pairs* are `MarkedPair`s, mappings with "text_a", "text_b" and "duplicate", or (text, text, bool). *methods* are
    specs as for `evaluate`. Raises `UsageError` when there are too few pairs to say anything.
    """
    progress = Progress.of(progress)
    if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Iterable):
        raise wrong_type("pairs", pairs, "wanted_pairs")
    marked = [_as_pair(pair, number) for number, pair in enumerate(pairs, 1)]
    labels = [pair.duplicate for pair in marked]
    duplicates = sum(labels)
    if len(marked) < FEWEST or min(duplicates, len(marked) - duplicates) < 2:
        raise UsageError("too_few_pairs", marked=len(marked), duplicates=duplicates, fewest=FEWEST)
    texts = [(pair.text_a, pair.text_b) for pair in marked]
    mixed = _mixed(texts, random.Random(f"{seed} mixed"))
    specs = [read_spec(text) for text in methods or default_candidates()]
    folds = [_folds(labels, random.Random(f"{seed} {number}")) for number in range(ROUNDS)]
    found: list[tuple[Candidate, list[float], list[bool]]] = []
    warnings: list[Note] = []
    for number, spec in enumerate(specs):
        progress.step("advising", number, len(specs), "methods", Note("said", text=spec.label))
        try:
            scored = score_pairs(spec, [*texts, *mixed])
        except DoubletError as error:
            warnings.append(Note("method_not_tried", label=spec.label, why=error.note))
            continue
        unlike = [s for s, _ in scored[len(texts) :]]
        scores, similar = [s for s, _ in scored[: len(texts)]], [yes for _, yes in scored[: len(texts)]]
        # A cascade decides by more than its threshold: it is taken as it comes.
        if spec.has_threshold and spec.method != AUTO:
            votes, rows = _validated(scores, labels, folds, unlike)
            threshold: float | None = round(_threshold(scores, labels, unlike), 3)
        else:
            votes, rows, threshold = similar, _rows(similar, labels), None
        expected = _expected(rows, labels, seed)
        found.append((Candidate(spec.method, spec.options, spec.measure, threshold, expected), scores, votes))
    progress.step("advising", len(specs), len(specs), "methods")
    if not found:
        raise UsageError("no_method_tried", warnings=warnings)
    order = {id(row[0]): place for place, row in enumerate(found)}
    ranked = sorted(found, key=lambda row: (-row[0].expected.f1, order[id(row[0])]))
    first = found[0]
    better = [row for row in ranked if _clearly_better(row[2], first[2], labels)] or [first]
    top = better[0][0].expected.f1
    # Candidates that cannot be told apart: the first of the list is the one to take.
    best = min(
        (row for row in better if row[0].expected.f1 >= top - CLOSE), key=lambda row: order[id(row[0])]
    )
    warnings += _warnings(len(marked), duplicates, best[0], ranked[0][0], first=best is first)
    gap = min(s for s, yes in zip(best[1], labels, strict=True) if yes) - max(
        s for s, yes in zip(best[1], labels, strict=True) if not yes
    )
    if gap > EASY:
        warnings.append(Note("pairs_too_easy"))
    mistakes = [
        Note("mistake_missed" if pair.duplicate else "mistake_wrong", pair=pair.name)
        for pair, vote in zip(marked, best[2], strict=True)
        if vote != pair.duplicate
    ]
    others = tuple(row[0] for row in ranked if row[0] is not best[0])
    used = {"methods": [spec.label for spec in specs], "seed": seed}
    return Advice(best[0], others, len(marked), duplicates, tuple(mistakes), tuple(warnings), used)


def _as_pair(pair: MarkedPair | Mapping[str, Any] | tuple[str, str, bool], number: int) -> MarkedPair:
    if isinstance(pair, MarkedPair):
        return pair if pair.name else MarkedPair(pair.text_a, pair.text_b, pair.duplicate, f"pair {number}")
    name = f"pair {number}"
    if isinstance(pair, Mapping):
        missing = [key for key in ("text_a", "text_b", "duplicate") if key not in pair]
        if missing:
            raise InvalidParameter("pair_lacks", missing=missing[0], pair=Note("wanted_pair"), name=name)
        name = str(pair.get("name", name))
        pair = pair["text_a"], pair["text_b"], pair["duplicate"]
    if not isinstance(pair, tuple | list) or len(pair) != 3:
        raise wrong_type(name, pair, "wanted_pair")
    require_text(f"the first text of {name}", pair[0])
    require_text(f"the second text of {name}", pair[1])
    return MarkedPair(pair[0], pair[1], bool(pair[2]), name)


def _folds(labels: Sequence[bool], rng: random.Random) -> list[int]:
    """A fold for every pair, with both kinds in each as far as they go."""
    out = [0] * len(labels)
    for wanted in (True, False):
        members = [i for i, label in enumerate(labels) if label == wanted]
        rng.shuffle(members)
        for place, i in enumerate(members):
            out[i] = place % FOLDS
    return out


def _mixed(texts: Sequence[tuple[str, str]], rng: random.Random) -> list[tuple[str, str]]:
    """Pairs of texts from different marked pairs. Texts that are in several pairs have relatives there and stay out."""
    count = Counter(text for pair in texts for text in set(pair))
    alone = [pair for pair in texts if all(count[text] == 1 for text in pair)]
    every = [(a, b) for a in range(len(alone)) for b in range(len(alone)) if a != b]
    return [(alone[a][0], alone[b][1]) for a, b in rng.sample(every, min(MIXED, len(every)))]


def _threshold(scores: Sequence[float], labels: Sequence[bool], others: Sequence[float]) -> float:
    """The best by F1 when *others*, pairs that are no duplicates, have a say."""
    return best_threshold([*scores, *others], [*labels, *[False] * len(others)])[0]


def _clearly_better(votes: Sequence[bool], first: Sequence[bool], labels: Sequence[bool]) -> bool:
    """Whether votes are right where the first ones are wrong more often than chance would have it (sign test)."""
    rows = list(zip(votes, first, labels, strict=True))
    won = sum(vote == label != other for vote, other, label in rows)
    lost = sum(other == label != vote for vote, other, label in rows)
    tosses = won + lost
    chance = sum(math.comb(tosses, heads) for heads in range(won, tosses + 1)) / 2**tosses
    return won > lost and chance <= CLEARLY


def _validated(
    scores: Sequence[float],
    labels: Sequence[bool],
    rounds: Sequence[Sequence[int]],
    others: Sequence[float] = (),
) -> tuple[list[bool], list[tuple[float, float, float]]]:
    """What thresholds chosen on other pairs say: the majority for each pair, and mean right, wrong, missed."""
    yes = [0] * len(labels)
    for folds in rounds:
        for fold in range(FOLDS):
            train = [i for i in range(len(labels)) if folds[i] != fold]
            threshold = _threshold([scores[i] for i in train], [labels[i] for i in train], others)
            for i in range(len(labels)):
                if folds[i] == fold:
                    yes[i] += scores[i] >= threshold
    shares = [count / len(rounds) for count in yes]
    rows = [
        (share, 0.0, 1 - share) if label else (0.0, share, 0.0)
        for share, label in zip(shares, labels, strict=True)
    ]
    return [share > 0.5 for share in shares], rows


def _rows(votes: Sequence[bool], labels: Sequence[bool]) -> list[tuple[float, float, float]]:
    return [
        (float(vote and label), float(vote and not label), float(label and not vote))
        for vote, label in zip(votes, labels, strict=True)
    ]


def _expected(rows: Sequence[tuple[float, float, float]], labels: Sequence[bool], seed: int) -> Score:
    """Counts in tenths, so that the rounds that disagree are seen in the figures, with intervals over pairs."""
    table = np.round(np.array(rows) * ROUNDS).astype(np.int64)
    fine = score([(int(a), int(b), int(c)) for a, b, c in table], seed=seed)
    votes = [max(row[0], row[1]) > 0.5 for row in rows]
    plain = score(
        [(int(v and x), int(v and not x), int(x and not v)) for v, x in zip(votes, labels, strict=True)],
        seed=seed,
    )
    # Where nothing varies the exact bound must rest on the number of pairs, not on tenths of them.
    sure_p = plain.precision in (0.0, 1.0) and fine.precision in (0.0, 1.0)
    sure_r = plain.recall in (0.0, 1.0) and fine.recall in (0.0, 1.0)
    return Score(
        fine.right,
        fine.wrong,
        fine.missed,
        len(rows),
        plain.precision_interval if sure_p else fine.precision_interval,
        plain.recall_interval if sure_r else fine.recall_interval,
        plain.f1_interval if sure_p and sure_r else fine.f1_interval,
    )


def _warnings(pairs: int, duplicates: int, best: Candidate, top: Candidate, *, first: bool) -> list[Note]:
    out = []
    if pairs < ENOUGH:
        out.append(Note("few_pairs_marked", pairs=pairs, enough=ENOUGH))
    fewer = min(duplicates, pairs - duplicates)
    if fewer < ENOUGH_OF_A_KIND:
        code = "of_one_kind_duplicates" if duplicates <= pairs - duplicates else "of_one_kind_others"
        out.append(Note(code, fewer=fewer, enough=ENOUGH_OF_A_KIND))
    if best.expected.f1 < 0.7:
        out.append(Note("no_method_separates"))
    if best is not top:
        out.append(Note("first_kept" if first else "plainer_proposed", label=top.label))
    return out


def read_pairs(path: Path) -> list[MarkedPair]:
    """Marked pairs of a JSONL or CSV file: text_a and text_b, or file_a and file_b (beside it), and label.

    A label is duplicate / not, yes / no, 1 / 0, да / нет. Raises `InputNotFound`, and `RecordInvalid` with
    the line.
    """
    if not path.is_file():
        raise InputNotFound("no_file", path=str(path))
    out = []
    for line, row in _records(path):
        label = str(row.get("label", row.get("duplicate", ""))).strip().lower()
        if label not in YES | NO:
            raise RecordInvalid(
                "label_wrong",
                label=label,
                path=str(path),
                line=line,
            )
        texts = [_text(path, line, row, side) for side in ("a", "b")]
        name = str(row.get("name") or row.get("id") or f"line {line}")
        out.append(MarkedPair(texts[0], texts[1], label in YES, name))
    return out


def _text(path: Path, line: int, row: Mapping[str, Any], side: str) -> str:
    if row.get(f"text_{side}"):
        return str(row[f"text_{side}"])
    name = row.get(f"file_{side}")
    if not name:
        raise RecordInvalid("pair_without_text", side=side, path=str(path), line=line)
    from doublet.jobs.read import read_document

    return read_document(path.parent / str(name)).text


def _records(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    try:
        content = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordInvalid("not_utf8_byte", start=error.start, path=str(path)) from error
    if path.suffix.lower() in (".csv", ".tsv"):
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        if delimiter == "," and content.split("\n", 1)[0].count(";") > content.split("\n", 1)[0].count(","):
            delimiter = ";"
        yield from enumerate(csv.DictReader(content.splitlines(keepends=True), delimiter=delimiter), 2)
        return
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise RecordInvalid("line_not_json", path=str(path), line=number)
        yield number, row
