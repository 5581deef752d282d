"""Scans are read with Tesseract where the user asks for it: in check, in library add, and through the queue."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from doublet.jobs.check_pdf import find_browser, print_page

ENGLISH = (
    "The water tower of the old town was built of brick in the year of the great flood and it still stands above "
    "the market square where farmers sell apples honey and warm bread every Saturday morning in the autumn."
)
RUSSIAN = (
    "Водонапорная башня старого города построена из кирпича в год большого наводнения и до сих пор стоит над рыночной "
    "площадью где крестьяне продают яблоки мёд и тёплый хлеб каждое субботнее утро осенью."
)


def scan(pages: list[str], folder: Path) -> bytes:
    """A PDF whose pages are pictures of text."""
    import pypdfium2

    folder.mkdir()
    body = "".join(f"<p style='font:20px serif;break-after:page'>{text}</p>" for text in pages)
    printed = print_page(f"<meta charset='utf-8'>{body}", find_browser(), folder)
    document = pypdfium2.PdfDocument(printed)
    objects: list[bytes] = []
    kids = []
    for number in range(len(pages)):
        bitmap = document[number].render(scale=150 / 72, grayscale=True)
        rows = bytes(bitmap.buffer)
        grey = b"".join(
            rows[y * bitmap.stride : y * bitmap.stride + bitmap.width] for y in range(bitmap.height)
        )
        packed = zlib.compress(grey)
        at = 3 + 3 * number
        head = f"/Type /XObject /Subtype /Image /Width {bitmap.width} /Height {bitmap.height} /ColorSpace /DeviceGray"
        draw = b"q 595 0 0 842 0 0 cm /I Do Q"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {at + 1} 0 R "
            f"/Resources << /XObject << /I {at + 2} 0 R >> >> >>".encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(draw), draw),
            f"<< {head} /BitsPerComponent 8 /Filter /FlateDecode /Length {len(packed)} >>\nstream\n".encode()
            + packed
            + b"\nendstream",
        ]
        kids.append(f"{at} 0 R")
    document.close()
    tree = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", tree, *objects]
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        out.rfind(b"xref"),
    )


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("tesseract") is None:
        pytest.skip("Tesseract is not installed: `make system` installs it")
    folder = tmp_path_factory.mktemp("scans")
    (folder / "sources").mkdir()
    (folder / "sources" / "tower.txt").write_text(ENGLISH, encoding="utf-8")
    (folder / "sources" / "башня.txt").write_text(RUSSIAN, encoding="utf-8")
    (folder / "works").mkdir()
    (folder / "works" / "scan.pdf").write_bytes(scan([ENGLISH, RUSSIAN], folder / "made"))
    command(folder, "library", "add", "books", "sources", "--create", "-q")
    return folder


def command(folder: Path, *arguments: str, code: int = 0) -> str:
    environment = {**os.environ, "DOUBLET_DATABASE": str(folder / "l.db"), "DOUBLET_LANGUAGE": "en"}
    done = subprocess.run(
        [sys.executable, "-m", "doublet", *arguments],
        capture_output=True,
        check=False,
        cwd=folder,
        env=environment,
    )
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.covers("T2", "K1")
def test_check_reads_a_scan(shelf: Path) -> None:
    command(shelf, "check", "works/scan.pdf", "--library", "books", code=4)  # a scan has no text
    found: Any = json.loads(
        command(shelf, "check", "works/scan.pdf", "--library", "books", "--ocr", "--format", "json")
    )
    assert found["share"] > 0.9
    assert {source["id"] for source in found["sources"]} == {"tower.txt", "башня.txt"}


@pytest.mark.covers("T2", "S7")
def test_the_queue_reads_scans_and_checks_classes(shelf: Path) -> None:
    command(shelf, "check", "works", "--library", "books", "--ocr", "--later", "-q")
    (shelf / "works" / "copy.txt").write_text(ENGLISH, encoding="utf-8")
    arguments = ("--among", "--ocr", "--later", "-q", "--fail-above", "30%")
    command(shelf, "check", "works", "--library", "books", *arguments, code=2)  # where to?
    command(shelf, "check", "works", "--library", "books", *arguments, "--out", "class")
    command(shelf, "worker", "--until-empty", "-q")
    jobs = json.loads(command(shelf, "queue", "list", "--format", "json"))["jobs"]
    assert [(job["kind"], job["state"]) for job in jobs] == [("check_class", "done"), ("check", "done")]
    index = json.loads((shelf / "class" / "index.json").read_text(encoding="utf-8"))
    assert {work["work"]: work["state"] for work in index["works"]} == {
        "copy.txt": "done",
        "scan.pdf": "done",
    }
    assert "30% (exceeded)" in (shelf / "class" / "scan.pdf.html").read_text(encoding="utf-8")
