"""Repeats inside documentation: seconds, memory, recall on accepted groups, the source's tables, other tools.

    python benchmarks/repeats.py en
    python benchmarks/repeats.py en --only speed traps --megabytes 3.75 7.5

speed: the command from file to groups on one core, at several sizes. traps: texts made of one sentence. quality: the
accepted groups of the shared manuals. tables: groups, mean size, mean length and coverage beside those of the source.
rivals: jscpd and PMD CPD (`--jscpd`, `--pmd` name their commands) on the same tree. What cannot run here is left out.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import repeats_truth as truth
from measure import HERE, Measured, corpus_path, python, read_texts, run, save, table

MANUALS = HERE.parent.parent / "shared" / "data" / "doc-repeats-spbu"
PARTS = ("speed", "traps", "quality", "tables", "rivals")
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
    empty = folder / "empty.txt"
    empty.write_text("")
    rows = []
    for size in sizes:
        text = text_of_size(texts, size)
        file = folder / f"{size}.txt"
        file.write_text(text, encoding="utf-8", errors="replace")
        count = tokens_of(text)
        for algorithm in algorithms:
            nothing = measured(empty, algorithm)
            done = measured(file, algorithm)
            beyond = 1e6 * (done.peak_mb - nothing.peak_mb) - file.stat().st_size
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
            {"recall": round(found / total, 3), "text ratio": round(said / marked, 2)},
        )
    )
    means = {
        "recall": round(sum(recalls) / len(recalls), 3),
        "text ratio": round(sum(ratios) / len(ratios), 2),
    }
    rows.append(Row("quality", "mean over manuals", way, means))
    return rows


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

    tree = folder / "tree"
    tree.mkdir(exist_ok=True)
    size = 0
    for number, text in enumerate(read_texts(corpus)):
        if size > megabytes * 1e6:
            break
        (tree / f"{number:05}.md").write_text(text, encoding="utf-8", errors="replace")
        size += len(text.encode("utf-8", "replace"))
    ours = run(
        [python(), "-m", "doublet", "repeats", tree, "--algorithm", "exact", "--format", "json", "--quiet"]
    )
    rows = [Row("rivals", f"{megabytes} MB of Markdown", "doublet exact", {"wall s": round(ours.wall_s, 2)})]
    covered: dict[str, list[tuple[int, int]]] = {}
    for group in doublet.find_repeats([tree], algorithm="exact").groups:
        for fragment in group.fragments:
            covered.setdefault(Path(fragment.file).name, []).append((fragment.line, fragment.end_line))
    if jscpd:
        out = folder / "jscpd"
        more = ["--min-tokens", "50", "--reporters", "json", "--output", str(out), "--silent"]
        done = run([jscpd, str(tree), *more], on_cores=2)
        report = out / "jscpd-report.json"
        values: dict[str, Any] = {"wall s": round(done.wall_s, 2)}
        if report.exists():
            values |= _agreement(json.loads(report.read_text())["duplicates"], covered)
        rows.append(Row("rivals", f"{megabytes} MB of Markdown", "jscpd, 50 tokens", values))
    if pmd:
        done = run(
            [pmd, "cpd", "--minimum-tokens", "50", "--language", "html", "--dir", str(tree)], on_cores=2
        )
        rows.append(
            Row("rivals", f"{megabytes} MB of Markdown", "PMD CPD", {"wall s": round(done.wall_s, 2)})
        )
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
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    parser.add_argument("--megabytes", nargs="+", type=float, default=[2.7, 7.5, 15, 30])
    parser.add_argument("--copies", type=int, default=100_000, help="of the sentence in the traps")
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
            rows += tables() if "tables" in given.only else []
        if "rivals" in given.only:
            rows += rivals(corpus, min(given.megabytes), folder, given.jscpd, given.pmd)
    for part in PARTS:
        chosen = [row for row in rows if row.part == part]
        if chosen:
            names = list(dict.fromkeys(name for row in chosen for name in row.values))
            lines = [[row.what, row.way, *(row.values.get(name, "") for name in names)] for row in chosen]
            print(f"**{part}**\n\n{table(['text', 'way', *names], lines)}\n")
    save("repeats", rows, megabytes=given.megabytes, copies=given.copies)


if __name__ == "__main__":
    main()
