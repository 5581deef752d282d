"""Reading documents: quality on labelled pages next to the libraries people use, speed of each format, encodings.

    python benchmarks/formats.py [--pages N] [--quick] [--articles FOLDER] [--whole FOLDER … [--older COMMIT]]

The pages are CleanEval (681 English pages with their text marked by hand) and three Russian documentation sites, from
the labelled data next to the project; where it is not there, that part is left out. F1 is over words as bags, mean over
pages. Rivals that are not installed are left out too: ``pip install 'doublet[bench-formats]'``. Seconds are CPU
seconds of one core.

``--articles`` measures on pages that the weights of `doublet.text.frame` were not learned from: a checkout of
github.com/scrapinghub/article-extraction-benchmark (181 pages of 2018 and 2019 with the text of the article marked by
hand), by its own measure, runs of four words.

``--whole FOLDER …`` measures how long the robot's readers take for the pages in folders: parsing, text, title, links
and useful content, in CPU milliseconds a page. ``--older COMMIT`` reads the same pages in turn with the program as it
was at a commit of this repository (8adcfaa^ is the last one before the extraction was made quick).
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import lzma
import random
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import save

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
WORD = re.compile(r"\w+")
PARAGRAPHS = ROOT / "tests" / "integration" / "formats_ru.md"


def pages(name: str) -> list[dict[str, str]]:
    path = SHARED / name / "pages.jsonl.xz"
    if not path.is_file():
        return []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def gold_words(text: str) -> Counter[str]:
    text = re.sub(r"\AURL:[^\n]*\n", "", text.lstrip("\ufeff"))
    return Counter(WORD.findall(re.sub(r"</?[a-z]+>", " ", text).lower()))


def unwrapped(html: str) -> str:
    """Without the element of the collection around the page."""
    return re.sub(r"</text>\s*\Z", "", re.sub(r"\A\s*<text\b[^>]*>", "", html))


def f1(found: Counter[str], wanted: Counter[str]) -> float:
    both = sum((found & wanted).values())
    total = sum(found.values()) + sum(wanted.values())
    return 2 * both / total if total else 1.0


def own(html: str) -> str:
    from doublet.text.read import read_document

    return read_document(html.encode("utf-8", "replace"), as_kind="html").text


def whole_page(html: str) -> str:
    from doublet.text.read import read_document

    return read_document(html.encode("utf-8", "replace"), as_kind="html", frame=False).text


def rivals() -> dict[str, Callable[[str], str]]:
    """The libraries that are installed, each as it is recommended to be used."""
    found: dict[str, Callable[[str], str]] = {}
    try:
        import trafilatura

        found["trafilatura"] = lambda html: trafilatura.extract(html, include_comments=False) or ""
        found["trafilatura, recall"] = lambda html: (
            trafilatura.extract(html, include_comments=False, favor_recall=True) or ""
        )
    except ImportError:
        pass
    try:
        from resiliparse.extract.html2text import extract_plain_text

        found["resiliparse"] = lambda html: extract_plain_text(html, main_content=True, alt_texts=False)
    except ImportError:
        pass
    try:
        import lxml.html
        from readability import Document

        found["readability"] = lambda html: " ".join(
            lxml.html.fromstring(Document(html).summary()).itertext()
        )
    except ImportError:
        pass
    try:
        import justext

        stop = justext.get_stoplist("English")
        found["jusText"] = lambda html: "\n".join(
            part.text for part in justext.justext(html.encode(), stop) if not part.is_boilerplate
        )
    except ImportError:
        pass
    return found


def content(limit: int | None) -> list[dict[str, Any]]:
    rows = pages("cleaneval-final")
    rows = rows[:: max(1, len(rows) // limit)] if limit and rows else rows
    wanted = [gold_words(row["gold"]) for row in rows]
    html = [unwrapped(row["html"]) for row in rows]
    out = []
    for name, extract in {"Doublet": own, "whole page": whole_page, **rivals()}.items():
        if not rows:
            break
        extract(html[0])
        start = time.process_time()
        texts = []
        for page in html:
            try:
                texts.append(extract(page))
            except Exception:
                texts.append("")
        seconds = time.process_time() - start
        score = sum(
            f1(Counter(WORD.findall(text.lower())), gold) for text, gold in zip(texts, wanted, strict=True)
        )
        out.append(
            {"reader": name, "f1": score / len(rows), "pages_per_s": len(rows) / seconds, "pages": len(rows)}
        )
    return out


#: sites of the Russian pages: the element that holds the content (the body without one) and classes inside that do not
TEMPLATES = {
    "aptitude-manual-ru": ("", ("navheader", "navfooter", "toc")),
    "debian-faq-ru": ("", ("navheader", "navfooter", "toc")),
    "debian-developers-reference-ru": ("body", ("headerlink", "toctree-l1", "toctree-l2", "contents")),
}


def russian(limit: int | None) -> list[dict[str, Any]]:
    """Russian documentation, three sites. What is content is known from their templates, which no reader is told."""
    from lxml import html as lxml_html

    rows = pages("site-dump-ru")
    rows = rows[:: max(1, len(rows) // limit)] if limit and rows else rows
    out = []
    for name, extract in {"Doublet": own, "whole page": whole_page, **rivals()}.items():
        scores: dict[str, list[float]] = {}
        for row in rows:
            holder, dropped = TEMPLATES[row["site"]]
            page = lxml_html.document_fromstring(row["html"].encode())
            page = next((item for item in page.iter("div") if item.get("class") == holder), page.find("body"))
            for item in list(page.iter()):
                if isinstance(item.tag, str) and set((item.get("class") or "").split()) & set(dropped):
                    item.drop_tree()
            gold = Counter(WORD.findall(" ".join(page.itertext()).lower()))
            if sum(gold.values()) >= 50:  # others are tables of contents
                scores.setdefault(row["site"], []).append(
                    f1(Counter(WORD.findall(extract(row["html"]).lower())), gold)
                )
        every = [score for some in scores.values() for score in some]
        if every:
            means = {site: round(sum(some) / len(some), 4) for site, some in scores.items()}
            out.append({"reader": name, "f1": sum(every) / len(every), "pages": len(every), **means})
    return out


def articles(folder: Path) -> dict[str, Any]:
    """Precision, recall and F1 on the article extraction benchmark, by runs of four words, mean over pages."""
    from doublet.text.read import read_document

    wanted = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    precision, recall = [], []
    for name, facts in sorted(wanted.items()):
        with gzip.open(folder / "html" / f"{name}.html.gz") as file:
            found = _runs(read_document(file.read(), as_kind="html").text)
        gold = _runs(facts["articleBody"])
        common = sum((found & gold).values())
        precision.append(common / max(1, sum(found.values())))
        recall.append(common / max(1, sum(gold.values())))

    def means(step: slice) -> dict[str, Any]:
        some = precision[step], recall[step]
        p, r = (sum(values) / len(values) for values in some)
        return {"pages": len(some[0]), "f1": 2 * p * r / (p + r), "precision": p, "recall": r}

    # The first, third … in the order of their names were looked at in November 2026.
    return {"all": means(slice(None)), "never looked at": means(slice(1, None, 2))}


def _runs(text: str) -> Counter[tuple[str, ...]]:
    tokens = WORD.findall(text)
    return Counter(tuple(tokens[at : at + 4]) for at in range(max(1, len(tokens) - 3)))


def speed(repeat: int) -> list[dict[str, Any]]:
    from doublet.text.read import read_document

    out = []

    def measured(name: str, data: list[bytes], unit: str, amount: float, **options: Any) -> None:
        read_document(data[0], **options)
        start = time.process_time()
        for item in data:
            read_document(item, **options)
        seconds = time.process_time() - start
        out.append({"format": name, "rate": amount / seconds, "unit": unit})

    for name in ("site-dump-ru", "cleaneval-final"):
        rows = pages(name)
        rows = rows[: 40 * repeat]
        if rows:
            html = [row["html"].encode() for row in rows]
            measured(f"HTML ({name})", html, "pages/s", len(html), as_kind="html")
    book = made_docx(repeat)
    with zipfile.ZipFile(io.BytesIO(book)) as package:
        unpacked = sum(info.file_size for info in package.infolist())
    measured("DOCX, text only", [book], "MB of XML/s", unpacked / 1e6)
    document = made_pdf(20 * repeat)
    measured("PDF, made here", [document], "pages/s", 20 * repeat)
    return out


def made_docx(repeat: int) -> bytes:
    sys.path.insert(0, str(ROOT / "tests" / "integration"))
    from formats_hostile import docx, paragraph

    text = PARAGRAPHS.read_text(encoding="utf-8").split("\n\n")[-7:]
    return bytes(docx("".join(paragraph(line) for line in text) * (200 * repeat)))


def made_pdf(count: int) -> bytes:
    """Pages of 45 lines of English in Helvetica."""
    import zlib

    sys.path.insert(0, str(ROOT / "tests" / "integration"))
    from formats_hostile import pdf_of

    words = PARAGRAPHS.with_name("formats_en.md").read_text(encoding="utf-8").split()
    words = [word.encode("ascii", "ignore").decode().replace("(", "").replace(")", "") for word in words]
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    }
    generator = random.Random(1)
    kids = []
    for number in range(count):
        lines = [" ".join(generator.choices(words, k=14)) for _ in range(45)]
        shown = " ".join(f"({line}) Tj 0 -16 Td" for line in lines)
        packed = zlib.compress(f"BT /F1 10 Tf 50 780 Td {shown} ET".encode())
        page = 10 + 2 * number
        kids.append(b"%d 0 R" % page)
        objects[page] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (page + 1)
        )
        objects[page + 1] = (
            b"<< /Length %d /Filter /FlateDecode >> stream\n" % len(packed) + packed + b"\nendstream"
        )
    objects[2] = b"<< /Type /Pages /Kids [" + b" ".join(kids) + b"] /Count %d >>" % count
    return bytes(pdf_of(objects))


def encodings(samples: int) -> list[dict[str, Any]]:
    """Share of snippets of Russian that are decoded exactly, by length and encoding."""
    from doublet.errors import Unreadable
    from doublet.text.encoding import decode

    rows = pages("site-dump-ru")
    if not rows:
        return []
    text = " ".join(re.sub(r"<[^>]+>", " ", " ".join(row["html"] for row in rows)).split())
    detectors: dict[str, Callable[[bytes], str]] = {"Doublet": lambda data: decode(data)[0]}
    try:
        import cchardet

        detectors["faust-cchardet"] = lambda data: data.decode(cchardet.detect(data)["encoding"] or "ascii")
    except ImportError:
        pass
    generator = random.Random(1)
    out = []
    for length in (20, 50, 300):
        for encoding in ("windows-1251", "koi8-r", "cp866", "iso8859-5", "mac-cyrillic"):
            snippets: list[str] = []
            while len(snippets) < samples:
                at = generator.randrange(len(text) - length)
                snippet = text[at : at + length]
                try:
                    data = snippet.encode(encoding)
                except UnicodeEncodeError:
                    continue
                if sum(byte > 127 for byte in data) >= length // 3:
                    snippets.append(snippet)
            row: dict[str, Any] = {"length": length, "encoding": encoding}
            for name, detect in detectors.items():
                right = 0
                for snippet in snippets:
                    try:
                        right += detect(snippet.encode(encoding)) == snippet
                    except (Unreadable, UnicodeError, LookupError):
                        continue
                row[name] = right / samples
            out.append(row)
    return out


WHOLE = """
import sys
sys.path[:0] = sys.argv[1:]
import json, time
from pathlib import Path
from doublet.sources.whole_page import read_whole_page
from doublet.text.formats.html import parse_page, take_hidden
from doublet.text.formats.protocol import Builder
from doublet.text.frame import content
pages = [Path(name).read_bytes() for name in sys.stdin.read().split("\\0")]

def timed(work, given):
    start = time.process_time()
    for one in given:
        work(one)
    return (time.process_time() - start) / len(given) * 1e3

def whole(data):
    read_whole_page(data, address="http://localhost/", headers={"content-type": "text/html"})

def visible(data):
    page, _ = parse_page(data)
    take_hidden(page, Builder())
    return page

best = [1e9, 1e9]
for _ in range(3):
    best[0] = min(best[0], timed(whole, pages))
    best[1] = min(best[1], timed(content, [visible(data) for data in pages]))
print(json.dumps(best))
"""
PAGES_OF_FOLDER = 150


def whole_pages(folders: list[Path], older: str | None) -> list[dict[str, Any]]:
    """CPU time of reading whole pages, now and at an older commit, in turn."""
    named = [sorted(folder.rglob("*.html"))[:PAGES_OF_FOLDER] for folder in folders]
    given = "\0".join(str(path) for paths in named for path in paths)
    size = sum(path.stat().st_size for paths in named for path in paths)
    libraries = sysconfig.get_paths()["platlib"]
    with tempfile.TemporaryDirectory() as folder:
        commands = {"now": [sys.executable, "-c", WHOLE]}
        if older:
            packed = subprocess.run(
                ["git", "archive", older, "src"], cwd=ROOT, capture_output=True, check=True
            )
            with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
                archive.extractall(folder, filter="data")
            # Without the packages of this environment in the usual way: this program is one of them.
            commands[older] = [sys.executable, "-S", "-c", WHOLE, str(Path(folder) / "src"), libraries]
        best: dict[str, list[float]] = {}
        for _ in range(3):
            for name, command in commands.items():
                done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
                found = json.loads(done.stdout)
                best[name] = [*map(min, zip(best.get(name, found), found, strict=True))]
    count = given.count("\0") + 1
    return [
        {
            "program": name,
            "pages": count,
            "KB a page": size / count / 1000,
            "whole page, ms": whole,
            "its content alone, ms": content,
            "times as long as now": whole / best["now"][0],
        }
        for name, (whole, content) in best.items()
    ]


def table(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "The labelled data is not next to the project.\n"
    names = list(rows[0])
    shown = [
        [f"{row[name]:.3g}" if isinstance(row[name], float) else str(row[name]) for name in names]
        for row in rows
    ]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in shown)]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("collections", nargs="*", help="not used: the pages are always the same")
    parser.add_argument("--pages", type=int, help="only so many of the labelled pages")
    parser.add_argument("--quick", action="store_true", help="a few pages: shows that all works")
    parser.add_argument("--runs", type=int, default=1, help="not used")
    parser.add_argument("--articles", type=Path, metavar="FOLDER", help="of the article extraction benchmark")
    parser.add_argument("--whole", type=Path, nargs="+", metavar="FOLDER", help="time of reading its pages")
    parser.add_argument("--older", metavar="COMMIT", help="with --whole: next to the program of that time")
    given = parser.parse_args()
    if given.whole:
        print(table(whole_pages(given.whole, given.older)))
        return
    if given.articles:
        print(json.dumps({"articles": articles(given.articles)}, indent=2))
        return
    found = {
        "content": content(20 if given.quick else given.pages),
        "russian": russian(20 if given.quick else given.pages),
        "speed": speed(1 if given.quick else 5),
        "encodings": encodings(20 if given.quick else 200),
    }
    save(
        "formats",
        found["content"],
        russian=found["russian"],
        speed=found["speed"],
        encodings=found["encodings"],
    )
    print("Useful content of CleanEval's pages\n\n" + table(found["content"]))
    print("Useful content of Russian documentation\n\n" + table(found["russian"]))
    print("Speed, one core\n\n" + table(found["speed"]))
    print("Encodings: share of snippets decoded exactly\n\n" + table(found["encodings"]))


if __name__ == "__main__":
    main()
