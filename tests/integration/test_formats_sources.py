"""Documents of any format through folders, archives, WARC files and the command line; readers that are killed."""

from __future__ import annotations

import gzip
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from formats_hostile import STRANGER, WORDS, docx, form_in_itself, paragraph, pdf, warc, zipped

import doublet
from doublet.cli import run
from doublet.errors import Broken, InputUnreadable, Oversized, ReadFailed
from doublet.sources import workers
from doublet.sources.ocr import available
from doublet.sources.open import open_source
from doublet.sources.workers import ReaderPool

DOCX = docx(paragraph(WORDS) + paragraph("The end."))
PAGE = f"<html><body><p>{WORDS * 2}</p></body></html>".encode()


def documents(*inputs: pathlib.Path) -> tuple[dict[str, str], dict[str, str]]:
    """Id → text, and id → state of what could not be read."""
    with open_source([str(path) for path in inputs]) as source:
        parsed = [batch.parse() for batch in source.batches()]
    texts = {i: t for batch in parsed for i, t in zip(batch.ids, batch.texts, strict=True)}
    return texts, {
        outcome.id or outcome.place: outcome.state for batch in parsed for outcome in batch.outcomes
    }


# Readers in processes


def test_a_pool_reads() -> None:
    with ReaderPool(1) as pool:
        found = pool.read(DOCX, name="essay.docx")
        assert found.text.endswith("The end.")
        assert found.places[0].paragraph == 1
        assert pool.read(b"plain").text == "plain"
        with pytest.raises(Broken):
            pool.read(DOCX[:300], name="essay.docx")
        assert pool.read(DOCX).kind == "docx"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_killed_reader_costs_one_document() -> None:
    with ReaderPool(1) as pool:
        pool.read(DOCX)
        process = pool._idle[0]._process
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with pytest.raises(ReadFailed, match="signal 9"):
            pool.read(DOCX)
        assert pool.read(DOCX).text.endswith("The end.")


def test_a_document_that_takes_too_long_is_given_up() -> None:
    with ReaderPool(1, timeout_s=60) as pool:
        assert pool.read(DOCX).kind == "docx"  # the process is there and loaded
        pool.timeout_s = 0.3
        with pytest.raises(ReadFailed, match=r"0\.3 seconds"):
            pool.read(form_in_itself())
        pool.timeout_s = 60
        assert pool.read(DOCX).kind == "docx"


def test_a_document_that_takes_too_much_work_for_its_size_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "PROCESSOR_S", 0.2)
    with ReaderPool(1) as pool:
        with pytest.raises(
            ReadFailed, match=r"took over 0\.2 seconds of processor time to read, too much for its size"
        ):
            pool.read(form_in_itself())
        monkeypatch.undo()
        assert pool.read(DOCX).kind == "docx"


def test_a_document_that_takes_too_much_memory_is_given_up() -> None:
    with ReaderPool(1, memory_bytes=400_000_000) as pool:
        with pytest.raises((Oversized, Broken, ReadFailed)):
            pool.read(form_in_itself())
        assert pool.read(DOCX).kind == "docx"


def test_a_file_over_the_limit_is_not_even_handed_over() -> None:
    with ReaderPool(1, max_bytes=10) as pool, pytest.raises(Oversized, match="the limit is 10"):
        pool.read(b"x" * 11)


def test_several_threads_may_ask_at_once() -> None:
    with ReaderPool(2) as pool, ThreadPoolExecutor(6) as threads:
        inputs = [docx(paragraph(f"Number {n}.")) for n in range(30)]
        found = list(threads.map(lambda data: pool.read(data).text, inputs))
        assert found == [f"Number {n}." for n in range(30)]
        assert len(pool._idle) <= 2
        assert list(pool.each(range(20), lambda n: n * n)) == [n * n for n in range(20)]
    assert threading.active_count() < 20


def test_a_reader_may_not_write_connect_or_start_programs(tmp_path: pathlib.Path) -> None:
    code = (
        "import sys; from doublet.sources.reader_process import refuse; refuse(programs=False)\n"
        "import socket, subprocess\n"
        "for act in (lambda: open(sys.argv[1], 'w'), lambda: socket.create_connection(('127.0.0.1', 9)),\n"
        "            lambda: subprocess.run(['true'])):\n"
        "    try: act()\n"
        "    except PermissionError: print('refused')\n"
        "    else: print('done')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x")], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["refused"] * 3
    assert not list(tmp_path.iterdir())


# Sources


@pytest.mark.covers("T1")
def test_a_folder_of_all_kinds(tmp_path: pathlib.Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.docx").write_bytes(DOCX)
    (tmp_path / "b.html").write_bytes(PAGE)
    (tmp_path / "sub" / "c.pdf").write_bytes(pdf(b"BT /F1 12 Tf 60 700 Td (Hello there) Tj ET"))
    (tmp_path / "d.txt").write_bytes(STRANGER.encode("cp866"))
    (tmp_path / "e.docx").write_bytes(DOCX[:200])
    (tmp_path / "f.zip").write_bytes(zipped({"in/g.docx": DOCX, "h.txt": "inside", ".hidden": "no"}))
    texts, failed = documents(tmp_path)
    archive = tmp_path / "f.zip"
    assert sorted(texts) == sorted(
        ["a.docx", "b.html", "d.txt", f"{archive}/in/g.docx", f"{archive}/h.txt", "sub/c.pdf"]
    )
    assert texts["sub/c.pdf"] == "Hello there"
    assert texts["d.txt"].startswith("Снег")
    assert texts["a.docx"] == texts[f"{archive}/in/g.docx"]
    assert failed == {"e.docx": "broken"}


@pytest.mark.parametrize("packing", ["", "gz", "xz", "bz2"])
def test_tar_packed_or_not(tmp_path: pathlib.Path, packing: str) -> None:
    path = tmp_path / "all.tar"
    with tarfile.open(path, f"w:{packing}") as package:  # type: ignore[call-overload]
        for name, data in (("a.docx", DOCX), ("b/c.txt", b"words")):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            package.addfile(info, io.BytesIO(data))
    texts, failed = documents(path)
    assert texts == {f"{path}/a.docx": texts[f"{path}/a.docx"], f"{path}/b/c.txt": "words"}
    assert not failed


def test_archives_in_archives_and_tables_in_archives(tmp_path: pathlib.Path) -> None:
    inner = zipped({"deep.txt": "deep words"})
    table = "\n".join(json.dumps({"id": str(n), "text": f"row {n}"}) for n in range(3))
    path = tmp_path / "all.zip"
    path.write_bytes(zipped({"inner.zip": inner, "table.jsonl": table, "a.txt": "flat words"}))
    texts, failed = documents(path)
    assert texts == {
        f"{path}/inner.zip/deep.txt": "deep words",
        f"{path}/a.txt": "flat words",
        "0": "row 0",
        "1": "row 1",
        "2": "row 2",
    }
    assert not failed


def test_a_source_can_be_walked_twice_and_kept(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "all.zip"
    path.write_bytes(zipped({f"{n}.txt": f"words number {n}" for n in range(5)}))
    out = tmp_path / "kept.jsonl"
    with open_source([str(path)]) as source:
        assert sum(batch.count for batch in source.batches()) == 5
        assert source.write_kept(out, lambda position: position % 2 == 0) == 3
    assert [json.loads(line)["text"][-1] for line in out.read_text().splitlines()] == ["0", "2", "4"]


@pytest.mark.covers("T1", "T2")
@pytest.mark.parametrize("packed", [False, True])
def test_warc(tmp_path: pathlib.Path, packed: bool) -> None:
    russian = f"<html><body><p>{STRANGER * 4}</p></body></html>"
    records = [
        b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 4\r\n\r\nx: y\r\n\r\n",
        warc(russian.encode()),
        warc(russian.encode("koi8-r")).replace(b"charset=utf-8", b"charset=koi8r").replace(b"/page", b"/koi8"),
        warc(b"<p>gone").replace(b"200 OK", b"404 No"),
        b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: file:///a.docx\r\nContent-Length: %d\r\n\r\n" % len(DOCX)
        + DOCX + b"\r\n\r\n",
    ]  # fmt: skip
    path = tmp_path / ("a.warc.gz" if packed else "a.warc")
    path.write_bytes(b"".join(gzip.compress(record) if packed else record for record in records))
    texts, failed = documents(path)
    assert sorted(texts) == ["file:///a.docx", "http://a.example/koi8", "http://a.example/page"]
    assert texts["http://a.example/koi8"] == texts["http://a.example/page"]
    assert texts["http://a.example/page"].startswith("Снег в городе")
    assert not failed


# Python and the command line


def test_read_document() -> None:
    found = doublet.read_document(DOCX, name="essay.docx")
    assert found.kind == "docx"
    assert found.to_dict()["places"][0]["paragraph"] == 1
    with pytest.raises(InputUnreadable, match=r"essay\.docx is damaged") as caught:
        doublet.read_document(DOCX[:100], name="essay.docx")
    assert caught.value.details["state"] == "broken"


def test_text_prints_what_is_read(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "essay.docx"
    hidden = paragraph("five words that are hidden", "<w:rPr><w:vanish/></w:rPr>")
    path.write_bytes(docx(paragraph(WORDS) + hidden))
    assert run(["text", str(path)]) == 0
    shown = capsys.readouterr()
    assert shown.out.strip() == WORDS.strip()
    assert "docx" in shown.err
    assert "five words that are hidden" in shown.err
    assert run(["text", str(path), "--places"]) == 0
    assert "paragraph 1" in capsys.readouterr().out
    assert run(["text", str(path), "--format", "json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "docx"
    assert found["hidden"][0]["reason"] == "hidden"


def test_text_says_why_not(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad, good = tmp_path / "bad.docx", tmp_path / "good.docx"
    bad.write_bytes(DOCX[:100])
    good.write_bytes(DOCX)
    assert run(["text", str(bad)]) == 4
    assert "bad.docx is damaged" in capsys.readouterr().err
    assert run(["text", str(bad), str(good)]) == 3
    assert "The end." in capsys.readouterr().out


def test_ocr_is_refused_with_advice_where_it_is_not_installed(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["text", "no-such.pdf", "--ocr"])
    shown = capsys.readouterr().err
    assert code == (4 if available() else 2)
    assert available() or "apt-get install tesseract-ocr" in shown


def test_compare_reads_any_format_and_reports_hidden_text(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = tmp_path / "a.docx", tmp_path / "b.html"
    trick = paragraph("these eight words are there for no reader", '<w:rPr><w:color w:val="FFFFFF"/></w:rPr>')
    a.write_bytes(docx(paragraph(WORDS * 2) + trick))
    b.write_bytes(PAGE)
    assert run(["compare", str(a), str(b), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["share"] == 1
    assert [finding["kind"] for finding in found["disguise"]["a"]["findings"]] == ["hidden"]
    assert found["disguise"]["a"]["alarm"]
    assert run(["compare", str(a), str(b)]) == 0
    assert "text that readers do not see" in capsys.readouterr().out


def test_check_against_a_folder_of_documents(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "source.docx").write_bytes(DOCX)
    (library / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    work = tmp_path / "work.html"
    work.write_bytes(PAGE)
    code = run(["check", str(work), "--against", str(library), "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert code == 3
    assert found["sources"][0]["id"] == "source.docx"
    assert [outcome["state"] for outcome in found["outcomes"]] == ["broken"]
