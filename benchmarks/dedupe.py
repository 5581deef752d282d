"""`doublet dedupe` against other programs: the same JSONL file, the same threshold, one core, ratios.

    python benchmarks/dedupe.py ru en
    python benchmarks/dedupe.py ru --limit 5000 --rivals datatrove   where datatrove is installed; it is slow

Each run is a process of its own. The rivals are timed from the opening of the file, after their imports, to
the pairs; ours whole, from the start of the process to the written groups ("MB/s"), and without what the same
command takes for a collection of one document ("after start", which is how the rivals are timed).
Recall and precision are of pairs with
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
    """One program on one collection. Speeds are by CPU time on one core, by wall time on several."""

    corpus: str
    tool: str
    workers: int
    cpu_s: float
    wall_s: float
    mb_per_s: float
    peak_mb: float
    recall: float | None
    precision: float | None
    after_start: float  #: MB/s from the opening of the file to the written groups
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


@dataclass(frozen=True)
class Plan:
    """One program with its settings. *rival* is empty for our own."""

    label: str
    workers: int
    rival: str = ""
    options: tuple[str, ...] = ()

    def command(self, corpus: Path, out: Path) -> list[str]:
        if not self.rival:
            return our_command(corpus, out, self.workers, *self.options)
        script = str(HERE / "rivals.py")
        return [python(), script, self.rival, str(corpus), str(out), "--workers", str(self.workers)]


OFF = ("--containment", "off")
OURS_PLANS = [
    Plan("doublet", 1, options=OFF),
    Plan("doublet", 2, options=OFF),
    Plan("doublet, containment too", 1),
]


def rival_plans(names: list[str]) -> list[Plan]:
    return [Plan(f"{n} {metadata.version(n)}", workers, rival=n) for n in names for workers in (1, 2)]


def measure(corpus: Corpus, plans: list[Plan], *, runs: int, folder: Path) -> list[Row]:
    """All programs in turn, several times over, so that a busy minute of the machine hits all of them. A
    program that takes more than a minute runs once."""
    done: dict[Plan, list[Measured]] = {plan: [] for plan in plans}
    outputs = {
        plan: folder / f"{number}.{'npy' if plan.rival else 'jsonl'}" for number, plan in enumerate(plans)
    }
    for _ in range(runs):
        for plan, measured in done.items():
            if not measured or measured[0].wall_s < 60:
                measured.append(run(plan.command(corpus.path, outputs[plan]), on_cores=plan.workers))
                print(f"  {plan.label}, {plan.workers}: {measured[-1].wall_s:.1f} s", file=sys.stderr)
    starts = start_times(plans, runs, folder)
    return with_ratios([_row(corpus, p, done[p], starts.get(p), outputs[p], folder) for p in plans])


def start_times(plans: list[Plan], runs: int, folder: Path) -> dict[Plan, Measured]:
    """Our commands on a collection of one document: the start of Python and the end, and nothing between."""
    one = folder / "one.jsonl"
    one.write_bytes(b'{"id": "1", "text": "one short text of some words"}\n')
    out = folder / "start.jsonl"
    return {
        plan: best([run(plan.command(one, out), on_cores=plan.workers) for _ in range(runs)])
        for plan in plans
        if not plan.rival
    }


def _row(
    corpus: Corpus, plan: Plan, runs: list[Measured], start: Measured | None, out: Path, folder: Path
) -> Row:
    measured = best(runs)
    score: Score = (None, None)
    if plan.rival:
        inside = [json.loads(m.out.strip().splitlines()[-1]) for m in runs]
        cpu, wall = min(i["cpu_s"] for i in inside), min(i["wall_s"] for i in inside)
        measured = replace(measured, cpu_s=cpu, wall_s=wall)
        true = truth.load(corpus.path, "plain")
        score = score_pairs(out, true, flags_only=plan.rival in FLAGS_ONLY)
    elif plan.options == OFF:  # with containment more goes, and there is no truth of that to compare with
        true = truth.load(corpus.path, "canonical")
        wrong = check_groups(out, corpus, true)
        if wrong:
            print(f"WRONG GROUPS of {corpus.name}, {plan.workers} workers: {wrong}", file=sys.stderr)
        score = score_pairs(our_pairs(corpus, folder), true, flags_only=False)
    one_core = plan.workers == 1
    spent = measured.cpu_s if one_core else measured.wall_s
    idle = 0.0 if start is None else start.cpu_s if one_core else start.wall_s
    speed, after = corpus.megabytes / spent, corpus.megabytes / max(spent - idle, 1e-6)
    times = (measured.cpu_s, measured.wall_s)
    return Row(corpus.name, plan.label, plan.workers, *times, speed, measured.peak_mb, *score, after)


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
            plans = [*([] if given.skip_ours else OURS_PLANS), *rival_plans(given.rivals)]
            rows += measure(corpus, plans, runs=given.runs, folder=folder)
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
        "MB/s after start",
        "× our time",
    ]
    print(table(head, [list(asdict(row).values()) for row in rows]))
    save(given.name, rows, limit=given.limit, runs=given.runs)


if __name__ == "__main__":
    main()
