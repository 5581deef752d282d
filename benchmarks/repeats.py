"""Repeats inside documentation: seconds, memory, recall on accepted groups, the source's tables, other tools.

    python benchmarks/repeats.py en
    python benchmarks/repeats.py en --only speed traps --megabytes 3.75 7.5

speed: the command from file to groups on one core, at several sizes. traps: texts made of one sentence. quality: the
accepted groups of the shared manuals. split: the same with the rule chosen on the other manuals. sample: 100 reported
groups to read (`--tree` names a folder to draw them from). tables: groups, mean size, mean length and coverage beside
those of the source.
rivals: jscpd and PMD CPD (`--jscpd`, `--pmd` name their commands) on the same tree. What cannot run here is left out.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import repeats_truth as truth
from measure import HERE, Measured, corpus_path, python, read_texts, run, save, table

MANUALS = HERE.parent.parent / "shared" / "data" / "doc-repeats-spbu"
PARTS = ("speed", "traps", "quality", "split", "sample", "tables", "rivals")
ALGORITHMS = ("exact", "auto", "ngrams", "edit")
SENTENCE = "The quick brown fox jumps over the lazy dog near the river. "
# The source's tables: groups, mean size of a group, mean length of a repeat, coverage.
SOURCE = {
    "gimp": {"exact": (400, 2.57, 14.59, 0.11), "fuzzy": (574, 2.65, 13.64, 0.15)},
    "svnbook": {"exact": (218, 2.17, 17.27, 0.07), "fuzzy": (282, 2.27, 18.93, 0.10)},
}


@dataclass(frozen=True)
class Row:
    part: str
    what: str
    way: str
    values: dict[str, Any]


def command(file: Path, algorithm: str, *more: str) -> list[str | Path]:
    """`doublet repeats` with its result thrown away: what is measured ends with the groups and their places."""
    code = (
        "import sys, pathlib, doublet\n"
        "doublet.find_repeats([pathlib.Path(sys.argv[1])], algorithm=sys.argv[2])"
    )
    return [python(), "-c", code, file, algorithm, *more]


def tokens_of(text: str) -> int:
    from doublet.text.tokens import Canon

    return len(Canon().tokens([text]).hashes)


def measured(file: Path, algorithm: str) -> Measured:
    done = run(command(file, algorithm))
    if done.code:
        raise SystemExit(f"{algorithm} on {file.name} failed: {done.err[-500:]!r}")
    return done


def text_of_size(texts: Sequence[str], megabytes: float) -> str:
    out, size = [], 0
    for text in texts:
        out.append(text)
        size += len(text.encode("utf-8", "replace")) + 2
        if size >= megabytes * 1e6:
            break
    return "\n\n".join(out)


def speed(corpus: Path, sizes: Sequence[float], folder: Path, algorithms: Sequence[str]) -> list[Row]:
    texts = read_texts(corpus)
    empty = folder / "little.txt"  # not empty: the table of letters belongs to the program
    empty.write_text("A few words, and a few words again. " * 20)
    rows = []
    for size in sizes:
        text = text_of_size(texts, size)
        file = folder / f"{size}.txt"
        file.write_text(text, encoding="utf-8", errors="replace")
        count = tokens_of(text)
        for algorithm in algorithms:
            nothing = measured(empty, algorithm)
            done = measured(file, algorithm)
            beyond = 1e6 * (done.peak_mb - nothing.peak_mb) - sys.getsizeof(text)
            rows.append(
                Row(
                    "speed",
                    f"{size} MB, {count:,} tokens",
                    algorithm,
                    {
                        "CPU s": round(done.cpu_s, 2),
                        "s per M tokens": round(done.cpu_s / count * 1e6, 2),
                        "MB peak": round(done.peak_mb),
                        "bytes a token beyond start and text": round(beyond / count, 1),
                    },
                )
            )
    return rows


def traps(folder: Path, copies: int, algorithms: Sequence[str]) -> list[Row]:
    made = {
        "one sentence": SENTENCE * copies,
        "one free word": "".join(
            f"Press the key number k{i} to open the panel and read it. " for i in range(copies)
        ),
        "one word": "word " * (10 * copies),
    }
    rows = []
    for name, text in made.items():
        file = folder / "trap.txt"
        file.write_text(text)
        count = tokens_of(text)
        for algorithm in algorithms:
            done = measured(file, algorithm)
            values = {"CPU s": round(done.cpu_s, 2), "s per M tokens": round(done.cpu_s / count * 1e6, 2)}
            rows.append(Row("traps", f"{name}, {copies:,} times", algorithm, values))
    return rows


def quality(folder: Path = MANUALS, **options: Any) -> list[Row]:
    """Recall of the accepted fragments and the amount of text reported, over all and as means over the manuals."""
    import doublet

    gold = truth.accepted(folder)
    rows, found, total, said, marked = [], 0, 0, 0, 0
    recalls, ratios = [], []
    borders: list[
        tuple[float, ...]
    ] = []  # of each group the share of its places that begin and end at a border
    for name in truth.MANUALS:
        result = doublet.find_repeats({name: truth.manual(folder, name)}, **options)
        groups = [[(f.start, f.end) for f in group.fragments] for group in result.groups]
        hits = truth.found_fragments(gold[name], groups)
        reported = truth.union([f for group in groups for f in group])
        accepted = truth.union([f for group in gold[name] for f in group])
        hit, count = sum(map(sum, hits)), sum(map(len, hits))
        recalls.append(hit / count)
        ratios.append(reported / accepted)
        found, total, said, marked = found + hit, total + count, said + reported, marked + accepted
        text = truth.manual(folder, name)
        edges = [[(_border(text, one), _border(text, two)) for one, two in group] for group in groups]
        borders += [tuple(sum(column) / len(group) for column in zip(*group, strict=True)) for group in edges]
        values = {
            "recall": round(hit / count, 3),
            "text ratio": round(reported / accepted, 2),
            "groups": len(groups),
        }
        rows.append(Row("quality", name, result.algorithm, values))
    way = str(options.get("algorithm", "auto"))
    rows.append(
        Row(
            "quality",
            "all fragments",
            way,
            {
                "recall": round(found / total, 3),
                "text ratio": round(said / marked, 2),
                "groups": len(borders),
                "begin at a border": round(sum(row[0] for row in borders) / len(borders), 3),
                "end at a border": round(sum(row[1] for row in borders) / len(borders), 3),
            },
        )
    )
    means = {
        "recall": round(sum(recalls) / len(recalls), 3),
        "text ratio": round(sum(ratios) / len(ratios), 2),
    }
    rows.append(Row("quality", "mean over manuals", way, means))
    return rows


# What the rule of `auto` could be: threshold, exponent, weight of signs; and the one in use.
GRID = (
    (9.0, 11.0, 12.5, 14.0, 16.0),
    (3.0, 4.0, 5.0),
    (4.0, 8.0, 12.0),
)
RULES = list(itertools.product(*GRID))
IN_USE = (12.5, 4.0, 8.0)


def neighbours(rule: tuple[float, float, float]) -> list[tuple[float, float, float]]:
    """The rule and those that differ from it by one step in one number."""
    places = [column.index(value) for column, value in zip(GRID, rule, strict=True)]
    return [
        other
        for other in RULES
        if sum(
            abs(column.index(value) - place) for column, value, place in zip(GRID, other, places, strict=True)
        )
        <= 1
    ]


def split(folder: Path = MANUALS) -> list[Row]:
    """Leave one manual out: the rule is chosen on the other seven and tried on that one.

    Only the numbers in RULES are chosen anew: the others were chosen with all manuals in view, so it is not clean.
    Chosen is, among the rules that report at most three times the accepted text of the seven (over all and as a mean),
    what finds most (over all fragments and as a mean, together): once by itself, once as the mean over the rule and
    its neighbours, so that no rule is taken for one lucky fragment.
    """
    from doublet.repeats import RepeatOptions, auto
    from doublet.repeats.tokenise import tokenise
    from doublet.text.markup import read_markup

    gold = truth.accepted(folder)
    scores: dict[tuple[str, tuple[float, float, float]], tuple[int, int, int, int]] = {}
    usual = auto.SYMBOL_WEIGHT, auto.THRESHOLD, auto.EXPONENT
    steps = auto._aligned, auto._bordered  # the same for all thresholds
    for name in truth.MANUALS:
        options = RepeatOptions()
        sequence = tokenise([read_markup(truth.manual(folder, name))], options)
        for weight in sorted({rule[2] for rule in RULES}):
            kept: dict[int, Any] = {}
            auto.SYMBOL_WEIGHT = weight
            for number, step in enumerate(steps):

                def once(*given: Any, number: int = number, step: Any = step, kept: Any = kept) -> Any:
                    if number not in kept:
                        kept[number] = step(*given)
                    return kept[number]

                setattr(auto, step.__name__, once)
            for rule in RULES:
                if rule[2] != weight:
                    continue
                auto.THRESHOLD, auto.EXPONENT = float(rule[0]), float(rule[1])
                groups = [
                    [(int(sequence.starts[one]), int(sequence.ends(two - 1))) for one, two in group]
                    for group in auto.find_auto(sequence, options)[0]
                ]
                hits = truth.found_fragments(gold[name], groups)
                scores[name, rule] = (
                    sum(map(sum, hits)),
                    sum(map(len, hits)),
                    truth.union([f for group in groups for f in group]),
                    truth.union([f for group in gold[name] for f in group]),
                )
    auto._aligned, auto._bordered = steps
    auto.SYMBOL_WEIGHT, auto.THRESHOLD, auto.EXPONENT = usual

    def over(names: Sequence[str], rules: Sequence[tuple[float, float, float]]) -> tuple[float, ...]:
        """Recall and text ratio over all, and the means."""
        found = [scores[pair] for pair in zip(names, rules, strict=True)]
        hit, count, said, marked = (sum(column) for column in zip(*found, strict=True))
        return (
            hit / count,
            said / marked,
            sum(f[0] / f[1] for f in found) / len(found),
            sum(f[2] / f[3] for f in found) / len(found),
        )

    def within(rule: tuple[float, float, float], others: Sequence[str]) -> bool:
        _, ratio, _, mean_ratio = over(others, [rule] * len(others))
        return ratio <= 3 and mean_ratio <= 3

    def worth(rule: tuple[float, float, float], others: Sequence[str]) -> float:
        recall, _, mean, _ = over(others, [rule] * len(others))
        return recall + mean

    def around(rule: tuple[float, float, float], others: Sequence[str]) -> float:
        values = [worth(near, others) for near in neighbours(rule)]
        return sum(values) / len(values)

    names = list(truth.MANUALS)
    rows = []
    picked: list[tuple[str, list[tuple[float, float, float]]]] = []
    ways = (("the best rule", worth), ("the best neighbourhood", around))
    for way, value in ways:
        chosen = []
        for left in names:
            others = [name for name in names if name != left]
            best = max(
                (rule for rule in RULES if within(rule, others)),
                key=lambda rule, value=value, others=others: (
                    round(value(rule, others), 5),
                    -sum(over(others, [rule] * len(others))[1::2]),
                ),
            )
            chosen.append(best)
            recall, ratio, *_ = over([left], [best])
            what = f"{way}: threshold {best[0]}, exponent {best[1]:g}, signs {best[2]:g}"
            rows.append(Row("split", left, what, {"recall": round(recall, 3), "text ratio": round(ratio, 2)}))
        picked.append((way, chosen))
    for way, rules in (*picked, ("the rule in use", [IN_USE] * len(names))):
        out = over(names, rules)
        for at, what in ((0, "all fragments"), (2, "mean over manuals")):
            values = {"recall": round(out[at], 3), "text ratio": round(out[at + 1], 2)}
            rows.append(Row("split", what, way, values))
    return rows


def sample(folder: Path = MANUALS, *, count: int = 100, seed: int = 1, tree: Path | None = None) -> list[Row]:
    """Reported groups to read, drawn from all manuals or from a *tree*; printed as they are, to be judged by a person.

    Of a tree the borders are not counted: its files are not at hand as the reader of markup sees them.
    """
    import random

    import doublet

    drawn: list[tuple[str, str, Any]] = []
    if tree is not None:
        drawn = [(group.fragments[0].file, "", group) for group in doublet.find_repeats(tree).groups]
    else:
        for name in truth.MANUALS:
            text = truth.manual(folder, name)
            drawn += [(name, text, group) for group in doublet.find_repeats({name: text}).groups]
    picked = random.Random(seed).sample(range(len(drawn)), min(count, len(drawn)))
    begins = ends = places = 0
    for number, at in enumerate(sorted(picked), 1):
        name, text, group = drawn[at]
        print(f"## {number}. {name}, {len(group.fragments)} places, {group.tokens:.0f} tokens")
        variants = list(dict.fromkeys(" ".join(f.text.split()) for f in group.fragments))
        for variant in variants[:3]:
            print(f"   {variant[:300]}{' …' if len(variant) > 300 else ''}")
        for f in group.fragments:
            places += 1
            begins += _border(text, f.start)
            ends += _border(text, f.end)
        print()
    values: dict[str, Any] = {"groups": len(picked), "of": len(drawn), "places": places}
    if tree is None:
        values["begin at a border"] = round(begins / places, 3)
        values["end at a border"] = round(ends / places, 3)
    return [Row("sample", f"seed {seed}", "auto", values)]


def _border(text: str, at: int) -> bool:
    """Whether a sentence, a line or an element begins or ends here."""
    import re

    before, after = text[:at][-40:], text[at : at + 40]
    if not before.strip() or not after.strip():
        return True
    gap = before[len(before.rstrip()) :] + after[: len(after) - len(after.lstrip())]
    closed = re.search(r"[.!?…:;][\"'»”’)\]]*$", before.rstrip()) or re.match(r"[.!?…:;]", after.lstrip())
    return bool(closed) or "\n" in gap or "  " in gap or "\t" in gap


def tables(folder: Path = MANUALS) -> list[Row]:
    import doublet

    rows = []
    for name, known in SOURCE.items():
        text = truth.manual(folder, name)
        for kind, numbers in known.items():
            rows.append(Row("tables", name, f"the source, {kind}", _statistics(*numbers)))
            for algorithm in ("exact",) if kind == "exact" else ("edit", "ngrams", "auto"):
                result = doublet.find_repeats({name: text}, algorithm=algorithm)
                fragments = [f for group in result.groups for f in group.fragments]
                size = len(fragments) / max(1, len(result.groups))
                length = sum(f.tokens for f in fragments) / max(1, len(fragments))
                found = _statistics(len(result.groups), size, length, result.share)
                rows.append(Row("tables", name, f"doublet {algorithm}", found))
    return rows


def _statistics(groups: int, size: float, length: float, share: float) -> dict[str, Any]:
    return {
        "groups": groups,
        "mean size": round(size, 2),
        "mean length": round(length, 2),
        "coverage": round(share, 3),
    }


def rivals(corpus: Path, megabytes: float, folder: Path, jscpd: str | None, pmd: str | None) -> list[Row]:
    """One tree of Markdown files: seconds, and how much of what the rival reports stands in our groups too."""
    import doublet

    tree = folder / f"tree-{megabytes}"
    tree.mkdir(exist_ok=True)
    size = 0
    for number, text in enumerate(read_texts(corpus)):
        if size > megabytes * 1e6:
            break
        (tree / f"{number:05}.md").write_text(text, encoding="utf-8", errors="replace")
        size += len(text.encode("utf-8", "replace"))
    what = f"{megabytes} MB of Markdown, {len(list(tree.iterdir())):,} files"
    out = folder / "jscpd"
    ours_command = [
        *(python(), "-m", "doublet", "repeats", tree, "--algorithm", "exact", "--format", "json"),
        *("--out", folder / "ours.json", "--quiet"),
    ]
    commands: dict[str, list[str | Path]] = {"doublet exact": ours_command}
    if jscpd:
        more = ["--min-tokens", "50", "--reporters", "json", "--output", str(out), "--silent"]
        commands["jscpd, 50 tokens"] = [jscpd, str(tree), *more]
    if pmd:
        more = ["cpd", "--minimum-tokens", "50", "--language", "html", "--dir", str(tree)]
        commands["PMD CPD, 50 tokens"] = [pmd, *more]
    done: dict[str, list[Measured]] = {name: [] for name in commands}
    for _ in range(3):  # in turn, so that a busy moment meets all
        for name, command in commands.items():
            done[name].append(run(command, on_cores=2))
    covered: dict[str, list[tuple[int, int]]] = {}
    for group in doublet.find_repeats([tree], algorithm="exact").groups:
        for fragment in group.fragments:
            covered.setdefault(Path(fragment.file).name, []).append((fragment.line, fragment.end_line))
    rows = []
    for name, runs in done.items():
        values: dict[str, Any] = {
            "wall s": round(min(r.wall_s for r in runs), 2),
            "CPU s": round(min(r.cpu_s for r in runs), 2),
            "MB peak": round(max(r.peak_mb for r in runs)),
        }
        report = out / "jscpd-report.json"
        if name.startswith("jscpd") and report.exists():
            values |= _agreement(json.loads(report.read_text())["duplicates"], covered)
        rows.append(Row("rivals", what, name, values))
    return rows


def _agreement(duplicates: list[dict[str, Any]], covered: dict[str, list[tuple[int, int]]]) -> dict[str, Any]:
    """How many of the places that jscpd reports overlap with one of ours."""
    places = [
        (Path(pair[side]["name"].removesuffix(":markdown")).name, pair[side]["start"], pair[side]["end"])
        for pair in duplicates
        for side in ("firstFile", "secondFile")
    ]
    also = sum(
        any(first <= end and start <= last for first, last in covered.get(name, ()))
        for name, start, end in places
    )
    return {"places": len(places), "of them ours too": also}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("corpus", nargs="?", default="en", help="ru, en, or the path of a JSONL file")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[p for p in PARTS if p != "sample"])
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    parser.add_argument("--megabytes", nargs="+", type=float, default=[2.7, 7.5, 15, 30])
    parser.add_argument("--copies", type=int, default=100_000, help="of the sentence in the traps")
    parser.add_argument("--seed", type=int, default=1, help="of the sample of groups")
    parser.add_argument("--tree", type=Path, help="a folder of documentation to draw the sample from")
    parser.add_argument("--jscpd", default=shutil.which("jscpd"))
    parser.add_argument("--pmd", default=shutil.which("pmd"))
    given = parser.parse_args()
    corpus = corpus_path(given.corpus)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "speed" in given.only:
            rows += speed(corpus, given.megabytes, folder, given.algorithms)
        if "traps" in given.only:
            rows += traps(folder, given.copies, given.algorithms)
        if MANUALS.is_dir():
            rows += quality() if "quality" in given.only else []
            rows += split() if "split" in given.only else []
            rows += tables() if "tables" in given.only else []
        if "sample" in given.only and (given.tree or MANUALS.is_dir()):
            rows += sample(seed=given.seed, tree=given.tree)
        if "rivals" in given.only:
            for size in sorted({min(given.megabytes), max(given.megabytes)}):
                rows += rivals(corpus, size, folder, given.jscpd, given.pmd)
    for part in PARTS:
        chosen = [row for row in rows if row.part == part]
        if chosen:
            names = list(dict.fromkeys(name for row in chosen for name in row.values))
            lines = [[row.what, row.way, *(row.values.get(name, "") for name in names)] for row in chosen]
            print(f"**{part}**\n\n{table(['text', 'way', *names], lines)}\n")
    save("repeats", rows, megabytes=given.megabytes, copies=given.copies)


if __name__ == "__main__":
    main()
