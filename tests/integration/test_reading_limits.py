"""What has content and gives no text is a problem in every command; bombs are refused before they are held."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import zipfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from formats_hostile import CONTAINER, TYPES, WORDS, docx, paragraph, zipped

from doublet.cli import run
from doublet.errors import NothingRead, Oversized
from doublet.sources import workers
from doublet.sources.texts import read_file
from doublet.text import limits
from doublet.text.read import read_document

SCRIPT = b"<html><body><div id=app></div><script>" + b"show('words');" * 50 + b"</script></body></html>"
EXIT_FAILED, EXIT_SOME = 4, 3
DOCS = pathlib.Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def own_database(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("DOUBLET_DATABASE", raising=False)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "page.html").write_bytes(SCRIPT)
    (tmp_path / "folder" / "text.txt").write_text(WORDS * 3, "utf-8")


@pytest.mark.covers("T1")
def test_nothing_read_is_a_problem_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    page = "folder/page.html"
    assert run(["text", page]) == EXIT_FAILED
    assert run(["text", page, "folder/text.txt"]) == EXIT_SOME
    assert run(["check", page, "--against", "folder/text.txt"]) == EXIT_FAILED
    assert run(["library", "create", "pages", "--quiet"]) == 0
    assert run(["library", "add", "pages", "folder", "--strict"]) == EXIT_SOME
    capsys.readouterr()
    assert run(["library", "show", "pages", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["outcomes"] == {"stored": 1, "nothing_read": 1}
    assert run(["dedupe", "folder", "--format", "json"]) == EXIT_SOME
    (outcome,) = json.loads(capsys.readouterr().out)["outcomes"]
    assert outcome["state"] == "nothing_read"


def test_blank_files_are_empty_and_hidden_words_are_told() -> None:
    assert read_document(b" \n\xef\xbb\xbf\n", as_kind="html").text == ""
    hidden = read_document(b"<html><body><p hidden>" + WORDS.encode() + b"</p></body></html>")
    assert (hidden.text, len(hidden.hidden)) == ("", 1)
    with pytest.raises(NothingRead):
        read_document(SCRIPT)


@pytest.mark.covers("T1")
def test_each_slide_and_each_chapter_is_read_once() -> None:
    a = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    p = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    r = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    rel = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
    shown = "".join(f'<p:sldId id="{n}" r:id="s"/>' for n in range(100))
    slides = zipped(
        {
            "[Content_Types].xml": TYPES,
            "_rels/.rels": rel.format(
                f'<Relationship Id="r" Type="{office}/officeDocument" Target="ppt/p.xml"/>'
            ),
            "ppt/p.xml": f"<p:presentation {p} {r}><p:sldIdLst>{shown}</p:sldIdLst></p:presentation>",
            "ppt/_rels/p.xml.rels": rel.format(
                f'<Relationship Id="s" Type="{office}/slide" Target="s.xml"/>'
            ),
            "ppt/s.xml": f"<p:sld {p} {a}><p:sp><a:p><a:r><a:t>{WORDS}</a:t></a:r></a:p></p:sp></p:sld>",
        }
    )
    assert read_document(slides).text == WORDS.strip()
    spine = '<itemref idref="one"/>' * 100
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="one" href="one.xhtml" '
        f'media-type="application/xhtml+xml"/></manifest><spine>{spine}</spine></package>'
    )
    page = f"<html><body><p>{WORDS}</p></body></html>"
    epub = zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "book.opf": book,
            "one.xhtml": page,
        }
    )
    assert read_document(epub).text == WORDS.strip()


def test_the_text_of_a_document_has_a_length_that_goes_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SMALL_CHARACTERS", 1_000)
    packed = docx(paragraph("word " * 100_000))
    assert len(packed) * limits.EXPANSION < 500_000
    with pytest.raises(Oversized, match="too many for its size"):
        read_document(packed)
    assert len(read_document(f"<p>{WORDS * 500}</p>".encode()).text) > 1_000


def test_the_limits_are_what_they_are() -> None:
    """A change of one of them is a change of what is read: these documents are near the limits."""
    assert limits.unpacked_limit(1_000) == 1 << 24  # a small letter with a large picture
    assert limits.unpacked_limit(1_000_000) == 100_000_000
    assert limits.unpacked_limit(10_000_000) == limits.MAX_BYTES == 1 << 28
    assert limits.text_limit(1_000) == 1 << 22
    assert limits.text_limit(1_000_000) == 100_000_000
    assert workers.MEMORY_BYTES == 1_000_000_000
    for page in ("explanation/text-from-documents.md", "reference/reading.md"):
        told = (DOCS / page).read_text("utf-8")
        assert re.search(r"\b1 GB\b", told), page
        assert "GiB" not in told, page
    assert workers.processor_s(0) == 8
    assert workers.processor_s(1_000_000) == 16


BOMB = 250_000_000
# Not ru_maxrss: it begins with what the program had that started this one.
RUN = """import re, sys
from doublet.cli import run
run(["dedupe", sys.argv[1], "--format", "json"])
print(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read()).group(1), file=sys.stderr)
"""


@pytest.mark.covers("T1")
@pytest.mark.parametrize("kind", ["txt.gz", "zip"])
def test_a_bomb_is_refused_before_it_is_held(kind: str, tmp_path: pathlib.Path) -> None:
    part = b"word " * (BOMB // 250 // 5)
    path = tmp_path / "folder" / f"bomb.{kind}"
    if kind == "txt.gz":
        with gzip.open(path, "wb", compresslevel=1) as stream:
            for _ in range(250):
                stream.write(part)
    else:
        package = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        with package, package.open("a.txt", "w") as member:
            for _ in range(250):
                member.write(part)
    command = [sys.executable, "-c", RUN, str(path.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    states = {outcome["state"] for outcome in json.loads(done.stdout)["outcomes"]}
    assert states == {"too_large", "nothing_read"}
    assert int(done.stderr.split()[-1]) * 1024 < BOMB


def test_a_file_is_read_whole_whatever_its_steps(tmp_path: pathlib.Path) -> None:
    text = WORDS * 40_000
    path = tmp_path / "long.txt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert read_file(path).text == text


@pytest.mark.covers("T5")
def test_nothing_in_a_document_steers_the_terminal(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "tricks.txt"
    path.write_text(
        f"before\x1b]0;title\x07 \x1b[2J\x9b31m after\r\nsecond\tline {WORDS}", "utf-8", newline=""
    )
    command = [sys.executable, "-m", "doublet", "text", str(path)]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        shown = b""
        with os.fdopen(ours, "rb", buffering=0) as terminal:
            try:
                while part := terminal.read(4096):
                    shown += part
            except OSError:  # the other side has gone
                pass
        assert process.wait() == 0
    text = shown.decode()
    assert "before␛]0;title␇ ␛[2J" in text
    assert "second\tline" in text
    assert not any(code in text for code in ("\x1b", "\x07", "\x9b"))
    piped = subprocess.run(command, capture_output=True, check=True)
    assert piped.stdout.decode().startswith("before\x1b]0;title\x07")
