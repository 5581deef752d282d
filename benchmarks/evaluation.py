"""The published figures of `doublet evaluate`: real texts, a hundred changed documents, a thousand distractors.

    python benchmarks/evaluation.py ru en                  the collections that corpus.py has built
    python benchmarks/evaluation.py ru --bases 400 --documents 4000

Documents come in runs of neighbours, which share package, theme and wording: the distractors are what the copies can
be mistaken for. Those that corpus.py planted as edited copies are left out. Written are results/evaluation-NAME.json
and the page beside it; the tables are printed in Markdown for docs/explanation/accuracy.md.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

import orjson

from doublet.evaluation.evaluate import CHANGES, Evaluation, evaluate
from doublet.evaluation.published import STUDENT_WORKS
from doublet.evaluation.report import write_report
from doublet.evaluation.sets import Collection
from doublet.model import Document
from doublet.progress import Progress
from measure import DATA, RESULTS

RUN = 100  # neighbours taken together
SHORTEST = 150  # words


def collection(language: str, documents: int, seed: int) -> Collection:
    planted = set()
    with (DATA / f"{language}.labels.jsonl").open("rb") as stream:
        for line in stream:
            row = orjson.loads(line)
            if row["kind"] != "single":
                planted.add(row["id"])
    rows = []
    with (DATA / f"{language}.jsonl").open("rb") as stream:
        for line in stream:
            row = orjson.loads(line)
            if row["id"] not in planted and len(row["text"].split()) >= SHORTEST:
                rows.append(Document(row["id"], row["text"]))
    runs = [rows[i : i + RUN] for i in range(0, len(rows), RUN)]
    chosen = random.Random(f"{seed} {language}").sample(runs, min(len(runs), -(-documents // RUN)))
    return Collection(f"{language}-{documents}", [document for run in chosen for document in run][:documents])


def markdown(result: Evaluation) -> str:
    out = []
    methods = result.settings["methods"]
    rows = {(r["method"], r["change"]): r for r in result.documents if r["threshold"] is None}
    out += ["| change | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for change in result.settings["changes"]:
        cells = [_pair(rows[method, change]) if (method, change) in rows else "" for method in methods]
        out.append(f"| {change} | " + " | ".join(cells) + " |")
    if result.published:
        columns = list(dict.fromkeys(r["column"] for r in result.published))
        cells_of = {(r["column"], r["change"]): r for r in result.published}
        out += ["", "| change | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        for change in STUDENT_WORKS:
            out.append(f"| {change} | " + " | ".join(_beside(cells_of[c, change]) for c in columns) + " |")
    if result.passages:
        kinds = list(dict.fromkeys(r["change"] for r in result.passages))
        out += ["", "| method | " + " | ".join(kinds) + " |", "|---" * (len(kinds) + 1) + "|"]
        for method in dict.fromkeys(r["method"] for r in result.passages):
            own = {r["change"]: r for r in result.passages if r["method"] == method}
            out.append(f"| {method} | " + " | ".join(f"{own[kind]['plagdet']:.3f}" for kind in kinds) + " |")
    return "\n".join(out)


def _pair(row: dict[str, Any]) -> str:
    return f"{_short(row['recall'])} / {_short(row['precision'])}"


def _beside(row: dict[str, Any]) -> str:
    if row["source_recall"] is None:
        return f"**{_pair(row)}**"
    return f"{_short(row['source_recall'])} / {_short(row['source_precision'])}; **{_pair(row)}**"


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".rstrip("0").rstrip(".").replace("0.", ".") or "0"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("languages", nargs="+", choices=["ru", "en"])
    parser.add_argument("--documents", type=int, default=1300)
    parser.add_argument("--bases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--methods", default="", help="specs with commas between them; all by default")
    parser.add_argument(
        "--groups", action="store_true", help="look for groups too, which takes as long again"
    )
    parser.add_argument("--no-source", action="store_true", help="without the table beside the source's")
    parser.add_argument("--changes", default=",".join(CHANGES))
    given = parser.parse_args()
    for language in given.languages:
        result = evaluate(
            [collection(language, given.documents, given.seed)],
            methods=[name for name in given.methods.split(",") if name],
            changes=given.changes.split(","),
            bases=given.bases,
            seed=given.seed,
            curves=False,
            groups=given.groups,
            beside_source=not given.no_source,
            workers=given.workers,
            progress=Progress(),
        )
        RESULTS.mkdir(exist_ok=True)
        write_report(result, RESULTS / f"evaluation-{language}")
        print(f"\n## {language}: {result.sets[0]}\n\n{markdown(result)}\n")
        for note in result.notes:
            print(note)


if __name__ == "__main__":
    main()
