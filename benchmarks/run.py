"""Runs all benchmarks and gathers their tables.

    python benchmarks/run.py            the collections of docs/explanation/benchmarks.md; about half an
    hour python benchmarks/run.py --quick    small made-up collections, one run each: shows that all
    works, figures mean little python benchmarks/run.py --only dedupe tokens

Writes one JSON file per benchmark and summary.md into benchmarks/results (with --quick:
benchmarks/results/quick). Collections that are not there are built first (see corpus.py). Nothing here
fails because something was slow.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import corpus
from measure import DATA, RESULTS, machine

HERE = Path(__file__).resolve().parent
TITLES = {
    "tokens": "Text to words, stems and signatures, one core",
    "dedupe": "Duplicates of a collection, from a JSONL file",
    "million": "A million documents",
    "near_copies": "Thousands of near copies of one text",
    "compare": "Two texts of ten thousand words; starting",
    "meaning": "Auto on whole documents: changed copies, revisions, news, cost",
    "passages": "Borrowed passages through rewording, on labelled corpora",
    "unseen": "Texts that nothing was chosen on: sources, passages, news, pages",
    "weights": "TF-RIDF weights",
    "store": "Libraries: storing, checking, finding passages",
    "repeats": "Repeats inside documentation",
    "formats": "Reading documents: useful content, speed, encodings",
    "folder": "A folder of mixed files into a library, three times",
    "crawl": "The robot: whole sites, a refresh, the frontier",
    "robot": "The robot: what it finds, wastes and asks for twice",
    "service": "The service: its pages with a large database; memory, kills and load are asked for one by one",
}
QUICK_DOCUMENTS = 400


def arguments(name: str, *, quick: Path | None) -> list[str]:
    """What the script of a benchmark is called with."""
    if name == "passages":
        return []  # the corpora stand next to the project, or nothing is measured
    if name == "unseen":
        return ["--part", "tune", "--only", "news", "--only", "essays"] if quick else []
    if name == "meaning":
        return ["revisions", "news"] if quick else ["ru", "en", "collection", "revisions", "news", "cost"]
    if name == "formats":
        return ["--quick"] if quick else []
    if name == "folder":
        return ["--files", "60"] if quick else []
    if name == "crawl":
        return ["--documents", "60", "--hosts", "2", "--rows", "2000"] if quick else []
    if name == "robot":
        return ["--documents", "40"] if quick else []
    if name == "service":
        return ["memory", "--rest", "2"] if quick else ["pages"]
    if quick is None:
        return {"million": ["million"], "near_copies": [], "repeats": ["en"], "store": []}.get(
            name, ["ru", "en"]
        )
    both = [str(quick / "ru.jsonl"), str(quick / "en.jsonl")]
    return {
        "million": [str(quick / "million.jsonl")],
        "near_copies": ["--sizes", "100", "200", "--tiny", "100", "200", "--runs", "1"],
        "store": ["--source", str(quick / "million.jsonl"), "--documents", "300", "--trials", "2"],
        "compare": [*both, "--words", "2000", "--runs", "1"],
        "repeats": [both[1], "--megabytes", "0.1", "--copies", "500"],
    }.get(name, [*both, "--runs", "1"])


def prepare(names: list[str], *, quick: Path | None) -> None:
    """Builds the collections that are not there yet."""
    if quick is not None:
        quick.mkdir(parents=True, exist_ok=True)
        files = tuple(corpus.made_up(language, QUICK_DOCUMENTS, quick) for language in ("ru", "en"))
        corpus.million(4 * QUICK_DOCUMENTS, sources=files, folder=quick)
        return
    DATA.mkdir(exist_ok=True)
    for language in ("ru", "en"):
        if not (DATA / f"{language}.jsonl").exists():
            corpus.build(language)
    if {"million", "store"} & set(names) and not (DATA / "million.jsonl").exists():
        corpus.million()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="small made-up collections, one run each")
    parser.add_argument(
        "--only", nargs="+", choices=TITLES, default=list(TITLES), help="only these benchmarks"
    )
    given = parser.parse_args()
    results = RESULTS / "quick" if given.quick else RESULTS
    quick = DATA / "quick" if given.quick else None
    prepare(given.only, quick=quick)
    results.mkdir(parents=True, exist_ok=True)
    facts = machine()
    sections = [
        f"# Benchmarks, {time.strftime('%Y-%m-%d')}\n",
        f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gb']} GB, Python {facts['python']}.",
    ]
    failed = []
    for name in given.only:
        call = [name + ".py", *arguments(name, quick=quick)]
        print(f"== {TITLES[name]}", file=sys.stderr)
        done = subprocess.run(
            [sys.executable, str(HERE / call[0]), *call[1:]],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "BENCH_RESULTS": str(results)},
            check=False,
        )
        print(done.stdout)
        if done.returncode:
            failed.append(name)
        sections.append(f"\n## {TITLES[name]}\n\n{done.stdout.strip() or 'This benchmark could not run.'}\n")
        saved = results / f"{name}.json"
        if saved.exists():
            share = json.loads(saved.read_text(encoding="utf-8"))["machine"]["used_by_others"]
            sections.append(f"Other programs used {100 * share:.0f} % of the machine meanwhile.")
        (results / "summary.md").write_text("\n".join(sections), encoding="utf-8")
    if failed:
        print(f"could not run: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
