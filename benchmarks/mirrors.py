"""Two mirrors of each folder of web pages, each with a frame of its own: how many twins are found, which other pairs.

    python benchmarks/mirrors.py /usr/share/doc/apache2-doc/manual/en FOLDER... [--pages 150] [--pairs]

Every folder becomes two sites in a temporary folder. Printed: twins in one group and other pairs, with the frames of
the sites and without (`doublet dedupe --no-frames`), and the seconds that each took. `--pairs` lists the other pairs.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from pathlib import Path

import doublet

LARGEST = 400_000  # bytes of a page
TOPS = {
    "a": '<div class="header"><a href="/">Home</a> <a href="/docs">Documentation</a> <a href="/news">News</a></div>',
    "b": '<table width="100%"><tr><td><b>Mirror of the University of Nowhere</b></td><td><a href="/pub">pub</a> | '
    '<a href="/pub/docs">docs</a> | <a href="/help">help</a></td></tr></table><p>You are reading a copy that was '
    "fetched on {day}; newer pages may exist at the place where it came from.</p>",
}
ENDS = {
    "a": '<div class="footer"><p>This page is part of the documentation archive of the Example Foundation. The archive '
    "is kept by volunteers; if you find a mistake, write to the list and tell us the address of the page and what is "
    "wrong with it.</p><p>Last changed {day}. Copyright the authors.</p></div>",
    "b": "<hr><p>Mirrored by the computing centre of the University of Nowhere on {day} at {hour}. We are not "
    "responsible for what other people wrote on these pages. Disk space was given by friends of the centre, and the "
    "machines run on donated power.</p>",
}


def framed(text: str, side: str, number: int) -> str:
    values = {
        "day": f"2026-{1 + number % 12:02d}-{1 + number % 28:02d}",
        "hour": f"{number % 24:02d}:{number % 60:02d}",
    }
    top, end = TOPS[side].format(**values), ENDS[side].format(**values)
    body = re.search(r"<body[^>]*>", text, re.I)
    if body:
        text = text[: body.end()] + top + text[body.end() :]
    at = text.lower().rfind("</body>")
    return text[:at] + end + text[at:] if at >= 0 else text + end


def make(tree: Path, out: Path, count: int) -> int:
    files = sorted(path for path in tree.rglob("*.html") if path.is_file() and path.stat().st_size < LARGEST)
    files = sorted(random.Random(5).sample(files, min(count, len(files))))
    for number, path in enumerate(files):
        text = path.read_text("utf-8", "replace")
        for side in "ab":
            page = out / side / path.relative_to(tree).as_posix().replace("/", "_")
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(framed(text, side, number), "utf-8")
    return len(files)


def judge(result: doublet.Deduplication) -> tuple[int, list[tuple[str, str]]]:
    """Pages whose two copies are in one group, and the other pairs of a keeper and a member."""
    twins: set[str] = set()
    others = []
    for group in result.groups:
        ids = {group.keep, *(member.id for member in group.members)}
        twins |= {id[2:] for id in ids if {f"a/{id[2:]}", f"b/{id[2:]}"} <= ids}
        others += [(group.keep, one.id) for one in group.members if one.id[2:] != group.keep[2:]]
    return len(twins), others


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pages", type=int, default=150, help="of each folder, chosen by a fixed seed")
    parser.add_argument("--pairs", action="store_true", help="list the other pairs")
    options = parser.parse_args()
    print("folder\tpages\ttwins\tother pairs\ts\twithout frames of sites: twins\tother pairs\ts")
    for tree in options.folders:
        with tempfile.TemporaryDirectory() as work:
            row = [str(tree), str(make(tree, Path(work), options.pages))]
            listed = []
            for frames in (None, False):
                start = time.perf_counter()
                twins, others = judge(doublet.dedupe(Path(work), frames=frames))
                row += [str(twins), str(len(others)), f"{time.perf_counter() - start:.1f}"]
                listed.append(others)
        print("\t".join(row), flush=True)
        for keep, other in listed[0] if options.pairs else ():
            print(f"  {keep}\t{other}")


if __name__ == "__main__":
    main()
