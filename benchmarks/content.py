"""How well the main text of labelled web pages is told from their frame, and what tools/learn_frame.py learns from.

    python benchmarks/content.py CLONES                        the parts that rules may be looked at with: tune, choose
    python benchmarks/content.py CLONES --learn pages.jsonl    these parts as a file for tools/learn_frame.py
    python benchmarks/content.py CLONES --part report          at most once a day; write it down in unseen-runs.md

CLONES is a folder with clones of four public repositories, by their names: web-content-extraction-benchmark
(Murrough-Foley), readability (mozilla), fundus (flairNLP) and article-extraction-benchmark (scrapinghub). One that is
missing is left out. CleanEval is read from --data, as by benchmarks/unseen.py. Parts are cut by sites, with the seeds
in benchmarks/unseen.json. Of the first repository the test pages are "report", and so are all articles of the last one.
What would be "report" of the other pages of the first two is "tune". Figures are F1 of runs of four words, mean over
pages. Pages whose label has no such run are left out. Beside ours is trafilatura's, where it is installed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import lxml.html

from doublet.errors import DoubletError
from doublet.text.read import read_document
from measure import table
from passages import SHARED
from unseen import PAGES, SPLIT, lines, part_of, shingle_f1

READABILITY_WEIGHT = 0.7  # in learning: its labels are what a program makes of the pages
TESTS = "tests/resources/parser/test_data"


class Page(NamedTuple):
    kind: str
    part: str
    html: str
    gold: str
    weight: float = 1.0


def rather_tune(question: str, family: str) -> str:
    return "choose" if part_of(question, family) == "choose" else "tune"


def unpacked(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace")


def cleaneval(data: Path) -> Iterator[Page]:
    for row in lines(data / "pages.jsonl.xz"):
        gold = re.sub(r"<[a-z]+>", " ", re.sub(r"^\ufeff?URL:[^\n]*", "", row["gold"]))
        address = re.search(r'id="([^"]*)"', row["html"][:500])
        host = urlsplit(address[1]).netloc if address else row["id"]
        yield Page("CleanEval", part_of("pages", host), row["html"], gold)


def all_kinds(clone: Path) -> Iterator[Page]:
    about = json.loads((clone / "metadata.json").read_text("utf-8"))["files"]
    for split in ("dev", "test"):
        for path in sorted((clone / split / "ground-truth").glob("*.json")):
            gold = json.loads(path.read_text("utf-8"))["ground_truth"].get("main_content") or ""
            row = about[path.stem]
            part = "report" if split == "test" else rather_tune("pages of all kinds", row["domain"])
            yield Page(
                row["page_type"], part, unpacked(clone / split / "html" / f"{path.stem}.html.gz"), gold
            )


def fundus(clone: Path) -> Iterator[Page]:
    for path in sorted((clone / TESTS).glob("*/*.json")):
        golds = []
        for version in json.loads(path.read_text("utf-8")).values():
            body = version.get("body") or {}
            said = [*(body.get("summary") or ())]
            for section in body.get("sections") or ():
                said += [*(section.get("headline") or ()), *(section.get("paragraphs") or ())]
            if said:
                golds.append("\n\n".join(said))
        for page in sorted(path.parent.glob(f"{path.stem}_*.html.gz")):
            if not re.fullmatch(r"_\d{4}_\d\d_\d\d\.html\.gz", page.name.removeprefix(path.stem)):
                continue
            html = unpacked(page)
            whole = runs(lxml.html.fromstring(without_scripts(html).encode()).itertext())
            shares = [(len(runs([gold]) & whole) / max(1, len(runs([gold]))), gold) for gold in golds]
            share, gold = max(shares, default=(0.0, ""))
            if share >= 0.5:  # else the label is of another version of the page
                yield Page("news", part_of("pages of news", path.stem), html, gold)


def without_scripts(html: str) -> str:
    return re.sub(r"<script.*?</script>", "", html, flags=re.S | re.I)


def runs(texts: Iterator[str] | list[str]) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", " ".join(texts).lower())
    return {tuple(words[place : place + 4]) for place in range(len(words) - 3)}


def readability(clone: Path) -> Iterator[Page]:
    for folder in sorted((clone / "test" / "test-pages").iterdir()):
        if not (folder / "source.html").exists():
            continue
        html = (folder / "source.html").read_bytes().decode("utf-8", "replace")
        expected = (folder / "expected.html").read_text("utf-8")
        gold = re.sub(r"[ \t]+", " ", lxml.html.fromstring(f"<div>{expected}</div>").text_content())
        part = rather_tune("pages of Readability", re.sub(r"-?\d+$", "", folder.name))
        yield Page("Readability", part, html, gold, READABILITY_WEIGHT)


def articles(clone: Path) -> Iterator[Page]:
    for name, row in json.loads((clone / "ground-truth.json").read_text("utf-8")).items():
        yield Page("181 articles", "report", unpacked(clone / "html" / f"{name}.html.gz"), row["articleBody"])


def every_page(clones: Path, data: Path) -> Iterator[Page]:
    if (data / PAGES).is_dir():
        yield from cleaneval(data / PAGES)
    for name, read in (
        ("web-content-extraction-benchmark", all_kinds),
        ("fundus", fundus),
        ("readability", readability),
        ("article-extraction-benchmark", articles),
    ):
        if (clones / name).is_dir():
            yield from read(clones / name)


def our_text(html: str) -> str:
    try:
        return read_document(html.encode("utf-8", "replace"), name="page.html").text
    except DoubletError:
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", type=Path)
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--part", choices=SPLIT["parts"], action="append")
    parser.add_argument(
        "--learn", type=Path, help="write the pages of tune and choose here and measure nothing"
    )
    asked = parser.parse_args()
    if asked.learn:
        with asked.learn.open("w", encoding="utf-8") as out:
            for part in ("tune", "choose"):
                for page in every_page(asked.clones, asked.data):
                    if page.part == part:
                        row = {"html": page.html, "gold": page.gold, "weight": page.weight}
                        out.write(json.dumps(row) + "\n")
        return
    try:
        import trafilatura
    except ImportError:
        trafilatura = None
    wanted = asked.part or ["tune", "choose"]
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    seconds = [0.0, 0.0]
    for page in every_page(asked.clones, asked.data):
        if page.part not in wanted or not runs([page.gold]):
            continue
        began = time.process_time()
        ours = our_text(page.html)
        between = time.process_time()
        theirs = (trafilatura.extract(page.html, include_comments=False) or "") if trafilatura else ""
        seconds[0] += between - began
        seconds[1] += time.process_time() - between
        scores = shingle_f1(page.gold, ours), shingle_f1(page.gold, theirs)
        own = page.kind in ("CleanEval", "news", "Readability", "181 articles")
        for name in [page.kind] if own else [page.kind, "all kinds"]:
            found.setdefault((page.part, name), []).append(scores)
    rows = [
        [part, name, len(some), *(f"{statistics.mean(side):.4f}" for side in zip(*some, strict=True))]
        for (part, name), some in sorted(found.items())
    ]
    print(
        table(
            ["part", "pages of", "pages", "doublet", "trafilatura" if trafilatura else "(not installed)"],
            rows,
        )
    )
    count = sum(row[2] for row in rows if row[1] != "all kinds")
    print(f"cpu ms a page: {1000 * seconds[0] / count:.1f}, trafilatura {1000 * seconds[1] / count:.1f}")


if __name__ == "__main__":
    main()
