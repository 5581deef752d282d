"""Two mirrors of each folder of web pages, each with a frame of its own: how many twins are found, which other pairs.

    python benchmarks/mirrors.py /usr/share/doc/apache2-doc/manual/en FOLDER... [--frames rotating] [--pages 400]

Every folder becomes two sites in a temporary folder. Printed: twins in one group, other pairs and how many pairs of
pages these are, with the frames of the sites and without (`doublet dedupe --no-frames`), and the seconds of each.
`--frames` says what is put around the pages: "constant" and "portal" are two sets of headers and footers (those of
"portal" are longer, with a menu at the side, and in Russian on Russian pages); "rotating" is "portal" with two
advertisements on each page, drawn from a pool of 12 on one mirror and of 36 on the other, at the top and at the side or
in the middle and at the bottom. `--pairs` lists the other pairs.
"""

from __future__ import annotations

import argparse
import json
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
TEXTS = json.loads(Path(__file__).with_name("mirror_frames.json").read_text("utf-8"))
POOLS = {"a": 12, "b": 36}  # advertisements of each mirror
SHAPES = {
    "top": '<div class="promo"><b>{title}</b><p>{text}</p></div>',
    "side": "<aside><h4>{title}</h4><p>{text}</p></aside>",
    "middle": "<p><b>{title}</b> {text}</p>",
    "bottom": '<table border="1"><tr><td><b>{title}</b></td></tr><tr><td>{text}</td></tr></table>',
}
PLACES = {"a": ("top", "side"), "b": ("middle", "bottom")}


def pool_of(side: str, language: str) -> list[tuple[str, str]]:
    """The advertisements of a mirror: a title and three sentences each."""
    texts = TEXTS[language]["ads"]
    rng = random.Random(f"{side} {language}")
    subjects = texts["subjects"]
    return [
        (title, f"{about} {rng.choice(texts['offers'])} {rng.choice(texts['calls'])}")
        for title, about in (subjects[n % len(subjects)] for n in range(POOLS[side]))
    ]


def advertised(side: str, language: str, name: str) -> dict[str, str]:
    """Two advertisements for a page, by their places."""
    rng = random.Random(f"{side} {name}")
    drawn = rng.sample(pool_of(side, language), len(PLACES[side]))
    return {
        place: SHAPES[place].format(title=title, text=text)
        for place, (title, text) in zip(PLACES[side], drawn, strict=True)
    }


def language_of(texts: list[str]) -> str:
    """That of a site: not of each page, some of which are all code."""
    letters = re.sub(r"<[^>]*>", "", "".join(texts))
    return "ru" if len(re.findall("[а-яё]", letters)) > len(re.findall("[a-z]", letters)) else "en"


def framed(text: str, side: str, number: int, frames: str, name: str, language: str) -> str:
    values = {
        "day": f"2026-{1 + number % 12:02d}-{1 + number % 28:02d}",
        "hour": f"{number % 24:02d}:{number % 60:02d}",
        "number": str(100 + 37 * number),
    }
    portal = TEXTS[language]["portal"][side]
    top, end = (TOPS[side], ENDS[side]) if frames == "constant" else (portal["top"], portal["end"])
    ads = advertised(side, language, name) if frames == "rotating" else {}
    top = top.format(**values) + ads.get("top", "") + ads.get("side", "")
    end = ads.get("bottom", "") + end.format(**values)
    if "middle" in ads:
        ends = [found.end() for found in re.finditer(r"</(?:p|dl|ul|ol|pre|table)>", text, re.I)]
        middle = min(ends, key=lambda at: abs(at - len(text) // 2), default=None)
        if middle is None:
            end = ads["middle"] + end
        else:
            text = text[:middle] + ads["middle"] + text[middle:]
    body = re.search(r"<body[^>]*>", text, re.I)
    if body:
        text = text[: body.end()] + top + text[body.end() :]
    at = text.lower().rfind("</body>")
    return text[:at] + end + text[at:] if at >= 0 else text + end


def make(tree: Path, out: Path, count: int, frames: str) -> int:
    files = sorted(path for path in tree.rglob("*.html") if path.is_file() and path.stat().st_size < LARGEST)
    files = sorted(random.Random(5).sample(files, min(count, len(files))))
    texts = [path.read_text("utf-8", "replace") for path in files]
    language = language_of(texts)
    for number, (path, text) in enumerate(zip(files, texts, strict=True)):
        for side in "ab":
            name = path.relative_to(tree).as_posix().replace("/", "_")
            page = out / side / name
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(framed(text, side, number, frames, name, language), "utf-8")
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


def pairs_of_pages(others: list[tuple[str, str]]) -> int:
    """The same without the names of the mirrors: a pair of pages counts once."""
    return len({frozenset((keep[2:], other[2:])) for keep, other in others})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--frames", choices=("constant", "portal", "rotating"), default="constant")
    parser.add_argument("--pages", type=int, default=150, help="of each folder, chosen by a fixed seed")
    parser.add_argument("--pairs", action="store_true", help="list the other pairs")
    options = parser.parse_args()
    columns = "twins\tother pairs\tof pages\ts"
    print(f"folder\tpages\t{columns}\twithout frames of sites: {columns}")
    for tree in options.folders:
        with tempfile.TemporaryDirectory() as work:
            row = [str(tree), str(make(tree, Path(work), options.pages, options.frames))]
            listed = []
            for frames in (None, False):
                start = time.perf_counter()
                twins, others = judge(doublet.dedupe(Path(work), frames=frames))
                seconds = f"{time.perf_counter() - start:.1f}"
                row += [str(twins), str(len(others)), str(pairs_of_pages(others)), seconds]
                listed.append(others)
        print("\t".join(row), flush=True)
        for keep, other in listed[0] if options.pairs else ():
            print(f"  {keep}\t{other}")


if __name__ == "__main__":
    main()
