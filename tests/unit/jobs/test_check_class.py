"""A class of works: what each took from libraries and from the others; archives of learning systems; a bad file stops
nobody."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path

import pytest

import doublet
from doublet.cli import run
from doublet.jobs.check_class import check_class, class_rows
from doublet.jobs.check_many import against_documents, against_libraries
from doublet.jobs.dedupe import Documents
from doublet.matches.among import CLASS
from doublet.matches.figures import Figures
from doublet.reports.class_html import class_page
from doublet.reports.class_view import class_csv, links
from doublet.sources.works import WorkFile, list_works, settle, unpack

_random = random.Random(12)
_WORDS = [
    "".join(_random.choice("abdegiklmnoprstuv") for _ in range(_random.randint(3, 9))) for _ in range(2000)
]


def prose(words: int) -> str:
    return " ".join(_random.choice(_WORDS) for _ in range(words)) + ".\n"


ARTICLE, ANNA, BORIS, VERA = prose(120), prose(300), prose(250), prose(260)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Anna and Boris took from an article, Boris also from Vera; Dmitri took nothing. Three files are no documents."""
    works = tmp_path / "works"
    works.mkdir()
    (works / "anna.txt").write_text(ANNA + ARTICLE, "utf-8")
    (works / "boris.txt").write_text(BORIS + ARTICLE + VERA[:700], "utf-8")
    (works / "vera.txt").write_text(VERA, "utf-8")
    (works / "vera (1).txt").write_text(VERA + prose(20), "utf-8")
    (works / "dmitri.txt").write_text(prose(200), "utf-8")
    (works / "Thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    (works / "~$anna.docx").write_bytes(b"\x04Anna")
    (works / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing of a PDF")
    return works


@pytest.mark.covers("K8")
def test_it_works(folder: Path) -> None:
    found = check_class(list_works([folder]), against_documents(Documents([("article", ARTICLE)])))
    told = {(one.origin, one.taker) for one in links(found.among)}
    pairs = {frozenset(one) for one in told}
    assert pairs == {frozenset(("boris.txt", name)) for name in ("vera.txt", "vera (1).txt")}
    assert not any({"anna.txt"} & {a, b} for a, b in told), "a common source is not copying"
    assert ("vera.txt", "vera (1).txt") not in told, "versions of one work are not compared"
    assert [(one.id, one.works) for one in found.among.common] == [("article", ("anna.txt", "boris.txt"))]
    rows = {row.work: row for row in class_rows(found, {})}
    assert [name for name, row in rows.items() if not row.checked] == [
        "Thumbs.db",
        "broken.pdf",
        "~$anna.docx",
    ]
    assert rows["dmitri.txt"].share == 0
    boris = next(one for one in found.works if one.name == "boris.txt")
    assert boris.check is not None and boris.alone is not None
    assert {source.library for source in boris.check.sources} == {"", CLASS}
    assert boris.check.share > boris.alone.share > 0
    assert boris.check.share == pytest.approx(sum(source.added for source in boris.check.sources))
    ids = [part.id for source in boris.check.sources for part in source.fragments]
    assert len(ids) == len(set(ids))
    assert all(sum(row.figures) == pytest.approx(100) for row in rows.values() if row.figures)


def test_order_makes_no_difference(folder: Path) -> None:
    works = list_works([folder])
    checker = against_documents(Documents([("article", ARTICLE)]))
    there, back = check_class(works, checker), check_class(works[::-1], checker)
    assert there.among.pairs == back.among.pairs
    assert sorted(row.work for row in class_rows(there, {})) == sorted(
        row.work for row in class_rows(back, {})
    )


def test_an_earlier_version_in_a_library_is_not_counted(tmp_path: Path, folder: Path) -> None:
    with doublet.open_library(tmp_path / "library.db") as library:
        library.add([("2023/Anna_v2.docx", ANNA + ARTICLE), ("article", ARTICLE)])
        checker = against_libraries(library.store, None, leave_out=["own"])
        found = check_class(list_works([folder / "anna.txt", folder / "boris.txt"]), checker)
        anna = found.works[0].check
        assert anna is not None
        assert [source.id for source in anna.sources] == ["article"]
        assert anna.left_out[0].documents == ("library/2023/Anna_v2.docx",)
        boris = found.works[1].check
        assert boris is not None and not boris.left_out


def test_a_name_of_several_authors_tells_no_version(tmp_path: Path) -> None:
    """Every student calls the file essay.txt: neither the works nor a library may be skipped for that."""
    for author in ("anna", "boris"):
        (tmp_path / "works" / author).mkdir(parents=True)
        (tmp_path / "works" / author / "essay.txt").write_text(VERA, "utf-8")
    with doublet.open_library(tmp_path / "library.db") as library:
        library.add([("essay.txt", VERA)])
        checker = against_libraries(library.store, None, leave_out=["own"])
        found = check_class(list_works([tmp_path / "works"]), checker)
    assert [one.work.author for one in found.works] == ["anna", "boris"]
    assert [one.alone.share for one in found.works if one.alone] == [1.0, 1.0]
    alone = check_class(list_works([tmp_path / "works"]), against_documents(Documents([])))
    assert len(links(alone.among)) == 1


def archive(**entries: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for number, (name, data) in enumerate(entries.items()):
            packed.writestr(zipfile.ZipInfo(name, (2026, 5, 1 + number, 12, 0, 0)), data)
    return out.getvalue()


def test_archives_of_learning_systems(tmp_path: Path) -> None:
    entries = {
        "Иванов Иван_1234567_assignsubmission_file_/essay.txt": VERA.encode(),
        "Петров Пётр_1234568_assignsubmission_file_/essay.txt": (VERA + prose(200)).encode(),
        "Essay 1_s.sidorov_attempt_2026-04-30-10-11-12_my essay.txt": prose(90).encode(),
        "kuznetsovolga_LATE_12345_67890_essay.txt": prose(90).encode(),
        "__MACOSX/._essay.txt": b"x",
    }
    (tmp_path / "export.zip").write_bytes(archive(**entries))
    works = list_works([tmp_path / "export.zip"])
    assert {one.author for one in works} == {"Иванов Иван", "Петров Пётр", "s.sidorov", "kuznetsovolga"}
    assert "2026-04-30T10:11:12+00:00" in {one.time for one in works}
    found = check_class(works, against_documents(Documents([("article", ARTICLE)])))
    (one,) = links(found.among)
    assert one.directed
    assert one.origin.startswith("Иванов"), "the older one is first"
    assert one.taker.startswith("Петров")


def test_times_of_files_that_were_copied_together_tell_nothing() -> None:
    near = [WorkFile("a", time="2026-05-01T10:00:00+00:00"), WorkFile("b", time="2026-05-01T10:00:03+00:00")]
    assert [one.time for one in settle(near)] == ["", ""]
    far = [WorkFile("a", time="2026-05-01T10:00:00+00:00"), WorkFile("b", time="2026-05-02T10:00:00+00:00")]
    assert all(one.time for one in settle(far))


def test_a_day_that_is_in_no_calendar_tells_no_time() -> None:
    names = [
        "gb_1_ivanov_attempt_2024-02-30-10-10-10_a.docx",
        "gb_1_petrov_attempt_2024-13-01-10-10-10_a.docx",
        "gb_1_sidorov_attempt_0000-01-01-25-61-61_a.docx",
    ]
    found = settle([WorkFile(name) for name in names])
    assert [(one.author, one.time) for one in found] == [("ivanov", ""), ("petrov", ""), ("sidorov", "")]
    later = "2024-05-01T10:00:00+00:00"
    (inside, _) = settle([WorkFile(names[0], time=later), WorkFile("b", time="2024-04-01T10:00:00+00:00")])
    assert inside.time == later, "the time of the file stays"


def test_times_that_cannot_be_read_end_nothing() -> None:
    works = [
        WorkFile("a", time="yesterday"),
        WorkFile("b", time="2026-05-02"),
        WorkFile("c", time="01.05.2026"),
    ]
    assert [one.time for one in settle(works)] == ["yesterday", "2026-05-02", "01.05.2026"]
    assert [one.time for one in settle(works[:2])] == ["", ""]


def test_same_names_get_numbers() -> None:
    assert [one.name for one in settle([WorkFile("a.txt"), WorkFile("a.txt")])] == ["a.txt", "a.txt (2)"]


def test_archives_that_are_none() -> None:
    assert unpack("a.docx", archive(a=b"x")) is None
    assert unpack("a.zip", b"PK\x03\x04 and nothing else") is None
    assert unpack("a.zip", archive(a=b"x" * 100), room=50) == [("a", b"", "2026-05-01T12:00:00+00:00")]


def test_figures_add_up_when_rounded() -> None:
    for borrowed, quoted in ((1 / 3, 1 / 3), (0.9996, 0.0004), (0, 0), (1, 0), (0.66666, 0.33334)):
        parts = Figures(borrowed, quoted, 1 - borrowed - quoted).percents()
        assert sum(parts) == pytest.approx(100)
        assert min(parts) >= 0


def test_page_is_safe_and_whole(folder: Path) -> None:
    evil = folder / "<img src=x onerror=alert(1)>.txt"
    evil.write_text(VERA, "utf-8")
    found = check_class(list_works([folder]), against_documents(Documents([("article", ARTICLE)])))
    page = class_page(class_rows(found, {"anna.txt": "a#b.html"}), found.among, language="ru")
    assert "<img" not in page
    assert 'href="a%23b.html"' in page
    assert ("<svg" in page and "marker-end" in page) or "stroke-dasharray" in page
    assert "http://" not in page and "https://" not in page
    assert "Кто у кого взял" in page
    assert class_csv([]).startswith(b"\xef\xbb\xbfwork,")


def test_command(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = tmp_path / "library.jsonl"
    library.write_text(json.dumps({"id": "article", "text": ARTICLE}) + "\n", "utf-8")
    out = tmp_path / "new" / "reports"
    arguments = ["check", str(folder), "--against", str(library), "--among", "--quiet"]
    assert run([*arguments, "--out", str(out)]) == 3
    names = {path.name for path in out.iterdir()}
    assert {"index.html", "index.csv", "index.json", "anna.txt.html", "vera (1).txt.html"} <= names
    page = (out / "index.html").read_text("utf-8")
    assert 'href="anna.txt.html"' in page and "Thumbs.db" in page
    value = json.loads((out / "index.json").read_text("utf-8"))
    assert len(value["works"]) == 8 and value["among"]["clusters"]
    assert "boris.txt" in capsys.readouterr().out
    for name in ("Thumbs.db", "~$anna.docx", "broken.pdf"):
        (folder / name).unlink()
    assert run([*arguments, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == 1
    assert run([*arguments, "--fail-above", "30%"]) == 1
    capsys.readouterr()
    (tmp_path / "file").write_text("x", "utf-8")
    assert run([*arguments, "--out", str(tmp_path / "file")]) != 0
    assert run([*arguments, "--format", "jsonl"]) == 2
    assert run(["check", str(folder), "--among", "--later"]) == 2, "it is not forgotten in silence"
    assert run(["check", "-", "--against", str(library), "--among"]) == 2


def test_command_without_any_library(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = str(tmp_path / "library.db")
    assert run(["library", "create", "empty", "--database", database, "--quiet"]) == 0
    assert run(["check", str(folder), "--among", "--database", database, "--quiet"]) == 3
    assert "vera.txt" in capsys.readouterr().out
