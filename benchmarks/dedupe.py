"""`doublet dedupe` against other programs: the same JSONL file, the same threshold, one core, ratios.

    python benchmarks/dedupe.py ru en
    python benchmarks/dedupe.py ru --limit 5000 --rivals datatrove   where datatrove is installed; it is slow

Each run is a process of its own. Ours is timed whole, from its start to the written groups; the rivals
from the opening of the file, after their imports, to the pairs. Recall and precision are of pairs with
Jaccard of at least 0.8, against the exact truth (truth.py): ours on its canonical words, the rivals on
the words they were given.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import orjson

import truth
from measure import Measured, best, corpus_path, python, run, save, table
from rivals import FLAGS_ONLY, RIVALS, THRESHOLD

HERE = Path(__file__).resolve().parent
OURS = [python(), "-c", "from doublet.cli import main; main()"]
DEFAULT_RIVALS = ("gaoya", "rensa", "datasketch")


@dataclass(frozen=True)
class Row:
    """One program on one collection. *mb_per_s* is by CPU on one core, by wall time on several."""

    corpus: str
    tool: str
    workers: int
    cpu_s: float
    wall_s: float
    mb_per_s: float
    peak_mb: float
    recall: float | None
    precision: float | None
    times_ours: float = 0.0  #: time of this row / time of our plain row with as many workers


Score = tuple[float | None, float | None]  # recall, precision


@dataclass(frozen=True)
class Corpus:
    name: str
    path: Path
    ids: dict[str, int]
    megabytes: float


def corpus_of(name: str, limit: int, folder: Path) -> Corpus:
    """The collection, or the file with its first *limit* documents, and the number of each id."""
    path = corpus_path(name)
    lines = path.read_bytes().splitlines()
    if limit and limit < len(lines):
        lines = lines[:limit]
        path = folder / f"{path.stem}-{limit}.jsonl"
        path.write_bytes(b"\n".join(lines) + b"\n")
    records = [orjson.loads(line) for line in lines]
    size = sum(len(record["text"].encode()) for record in records) / 1e6
    return Corpus(path.stem, path, {str(record["id"]): i for i, record in enumerate(records)}, size)


def our_command(corpus: Path, groups: Path, workers: int, *more: str) -> list[str]:
    settings = ["--method", "shingles", "--shingle-words", "5", "--threshold", str(THRESHOLD)]
    return [
        *OURS,
        "dedupe",
        str(corpus),
        *settings,
        "--groups",
        str(groups),
        "--workers",
        str(workers),
        *more,
    ]


def read_groups(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def check_groups(path: Path, corpus: Corpus, true: truth.Pairs) -> str:
    """What is wrong with the groups by the truth, in words; empty if nothing is. Every document taken out
    must have a kept one that is a true partner, and of every true pair at least one must go."""
    wanted = {pair for pair, jaccard in true.items() if jaccard >= THRESHOLD}
    removed: dict[int, int] = {}
    for group in read_groups(path):
        keep = corpus.ids[str(group["keep"])]
        removed.update((corpus.ids[str(member["id"])], keep) for member in group["members"])
    wrong = sum((min(pair), max(pair)) not in wanted for pair in removed.items())
    wrong += sum(keep in removed for keep in removed.values())
    left = sum(a not in removed and b not in removed for a, b in wanted)
    return f"{wrong} documents wrongly taken out, {left} pairs left" if wrong or left else ""


def our_pairs(corpus: Corpus, folder: Path) -> Path:
    """All pairs by our own list, as numbers of documents."""
    command = our_command(corpus.path, folder / "unused.jsonl", 1, "--containment", "off")
    done = best([run([*command, "--pairs", "--format", "json", "--quiet"])])
    pairs = [(corpus.ids[p["a"]], corpus.ids[p["b"]]) for p in orjson.loads(done.out)["pairs"]]
    path = folder / "ours.npy"
    np.save(path, np.array([(min(p), max(p)) for p in pairs], np.int64).reshape(-1, 2))
    return path


def score_pairs(path: Path, true: truth.Pairs, *, flags_only: bool) -> tuple[float, float]:
    wanted = {pair for pair, jaccard in true.items() if jaccard >= THRESHOLD}
    found = {(int(a), int(b)) for a, b in np.load(path)}
    if flags_only:
        flagged = {a for a, _ in found}
        hits = sum(a in flagged or b in flagged for a, b in wanted)
        right = len(flagged & {x for pair in wanted for x in pair})
        return hits / max(1, len(wanted)), right / max(1, len(flagged))
    return len(found & wanted) / max(1, len(wanted)), len(found & wanted) / max(1, len(found))


def ours(corpus: Corpus, workers: int, label: str, *more: str, runs: int, folder: Path) -> Row:
    groups = folder / "groups.jsonl"
    measured = best(
        [run(our_command(corpus.path, groups, workers, *more), on_cores=workers) for _ in range(runs)]
    )
    if (
        "off" not in more
    ):  # what lies inside another document goes too: there is no truth of that to compare with
        return _row(corpus, label, workers, measured=measured, score=(None, None))
    true = truth.load(corpus.path, "canonical")
    wrong = check_groups(groups, corpus, true)
    if wrong:
        print(f"WRONG GROUPS of {corpus.name}, {workers} workers: {wrong}", file=sys.stderr)
    score = score_pairs(our_pairs(corpus, folder), true, flags_only=False)
    return _row(corpus, label, workers, measured=measured, score=score)


def rival(corpus: Corpus, name: str, workers: int, *, runs: int, folder: Path) -> Row:
    pairs = folder / f"{name}.npy"
    command = [
        python(),
        str(HERE / "rivals.py"),
        name,
        str(corpus.path),
        str(pairs),
        "--workers",
        str(workers),
    ]
    measured = []
    for _ in range(runs):
        measured.append(run(command, on_cores=workers))
        if measured[-1].wall_s > 60:
            break
    inside = [json.loads(m.out.strip().splitlines()[-1]) for m in measured if not m.code]
    own = replace(
        best(measured), cpu_s=min(i["cpu_s"] for i in inside), wall_s=min(i["wall_s"] for i in inside)
    )
    score = score_pairs(pairs, truth.load(corpus.path, "plain"), flags_only=name in FLAGS_ONLY)
    return _row(corpus, f"{name} {metadata.version(name)}", workers, measured=own, score=score)


def _row(corpus: Corpus, label: str, workers: int, *, measured: Measured, score: Score) -> Row:
    speed = corpus.megabytes / (measured.cpu_s if workers == 1 else measured.wall_s)
    times = (measured.cpu_s, measured.wall_s)
    return Row(corpus.name, label, workers, *times, speed, measured.peak_mb, *score)


def with_ratios(rows: list[Row]) -> list[Row]:
    base = {row.workers: row for row in rows if row.tool == "doublet"}
    out = []
    for row in rows:
        against = base.get(row.workers)
        if against is None:
            out.append(row)
            continue
        ratio = row.cpu_s / against.cpu_s if row.workers == 1 else row.wall_s / against.wall_s
        out.append(replace(row, times_ours=ratio))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("names", nargs="+", help="ru, en, or the path of a JSONL file")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=list(DEFAULT_RIVALS))
    parser.add_argument("--limit", type=int, default=0, help="only the first so many documents")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--skip-ours", action="store_true", help="measure the rivals alone")
    parser.add_argument("--name", default="dedupe", help="name of the file of results")
    given = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in given.names:
            corpus = corpus_of(name, given.limit, folder)
            print(f"{corpus.name}: {len(corpus.ids)} documents, {corpus.megabytes:.1f} MB", file=sys.stderr)
            some: list[Row] = []
            if not given.skip_ours:
                off = ("--containment", "off")
                some.append(ours(corpus, 1, "doublet", *off, runs=given.runs, folder=folder))
                some.append(ours(corpus, 2, "doublet", *off, runs=given.runs, folder=folder))
                some.append(ours(corpus, 1, "doublet, containment too", runs=given.runs, folder=folder))
            for other in given.rivals:
                for workers in (1, 2):
                    some.append(rival(corpus, other, workers, runs=given.runs, folder=folder))
                    print(f"  {other}, {workers}: {some[-1].mb_per_s:.1f} MB/s", file=sys.stderr)
            rows += with_ratios(some)
    head = [
        "corpus",
        "program",
        "cores",
        "CPU s",
        "wall s",
        "MB/s",
        "peak MB",
        "recall",
        "precision",
        "× our time",
    ]
    print(table(head, [list(asdict(row).values()) for row in rows]))
    save(given.name, rows, limit=given.limit, runs=given.runs)


if __name__ == "__main__":
    main()
