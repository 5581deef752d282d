"""``doublet check --format html|pdf|json|table --out``: where reports go, and what is refused before the work."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

from doublet.cli import run

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"
WORK = str(EXAMPLES / "work.txt")
CHECK = ["check", WORK, "--against", str(EXAMPLES / "library.jsonl"), "--quiet"]


@pytest.mark.covers("S4")
def test_it_works(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.html"
    assert run([*CHECK, "--format", "html", "--out", str(target)]) == 0
    page = target.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Check of work.txt" in page
    assert str(EXAMPLES) not in page, "a report does not tell where files stand"
    assert capsys.readouterr().out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_same_page_twice(tmp_path: pathlib.Path) -> None:
    pages = []
    for name in ("a.html", "b.html"):
        assert run([*CHECK, "--format", "html", "--out", str(tmp_path / name)]) == 0
        page = (tmp_path / name).read_text(encoding="utf-8")
        pages.append(re.sub(r"\d\d? [A-Z][a-z]+ 20\d\d, \d\d:\d\d UTC", "TIME", page))
    assert pages[0] == pages[1], "but for the time of the check"
    assert pages[0].count("TIME") == 1


def test_people_are_named(tmp_path: pathlib.Path) -> None:
    target = tmp_path / "report.html"
    people = ["--author", "Ivanov <I.>", "--reviewer", "Petrova"]
    assert run([*CHECK, *people, "--out", str(target), "--language", "ru"]) == 0
    page = target.read_text(encoding="utf-8")
    for told in (
        "Автор</dt><dd><bdi>Ivanov &lt;I.&gt;",
        "Проверяющий</dt><dd><bdi>Petrova",
        "Программа</dt><dd><bdi>Doublet",
    ):
        assert told in page
    assert '<details class="set">' in page, "the settings are closed"


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run([*CHECK, "--format", "html", "--out", "-", "--language", "ru"]) == 0
    page = capfdbinary.readouterr().out.decode()
    assert page.startswith("<!DOCTYPE html>")
    assert "Проверка: work.txt" in page


def test_fail_above_still_writes_the_report(tmp_path: pathlib.Path) -> None:
    target = tmp_path / "report.html"
    assert run([*CHECK, "--format", "html", "--out", str(target), "--fail-above", "30%"]) == 1
    assert target.is_file()


def test_several_texts_go_to_a_folder(tmp_path: pathlib.Path) -> None:
    other = tmp_path / "work.txt"
    other.write_text("Nothing of this stands anywhere else.", encoding="utf-8")
    reports = tmp_path / "reports"
    reports.mkdir()
    arguments = [*CHECK, str(other), "--format", "html", "--out"]
    assert run([*arguments, str(reports)]) == 0
    assert sorted(path.name for path in reports.iterdir()) == ["work.txt-2.html", "work.txt.html"]
    assert "No source was found" in (reports / "work.txt-2.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["json", "table"])
def test_other_formats_to_a_file(
    form: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "result"
    assert run([*CHECK, "--format", form, "--out", str(target), "--colour", "always"]) == 0
    written = target.read_text(encoding="utf-8")
    assert capsys.readouterr().out == ""
    if form == "json":
        assert json.loads(written)["format"] == 2
    else:
        assert "61.2% of 420 words" in written
        assert "\x1b" not in written


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv", "html"])
@pytest.mark.parametrize("against", ["file", "library"])
def test_nothing_to_check_against_is_no_good_answer(
    form: str, against: str, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if against == "file":
        (tmp_path / "empty.jsonl").write_bytes(b"")
        place = ["--against", str(tmp_path / "empty.jsonl")]
    else:
        place = ["--library", "new", "--database", str(tmp_path / "libraries.db")]
        assert run(["library", "create", "new", *place[2:]]) == 0
    capfd.readouterr()
    assert run(["check", WORK, *place, "--format", form, "--out", str(tmp_path / "report")]) == 4
    told = "there are no documents to check against"
    said = capfd.readouterr().err
    assert said.count(told) == 1
    assert ("empty.jsonl is empty" in said) is (against == "file")
    assert (told in (tmp_path / "report").read_text(encoding="utf-8")) is (form != "csv")


def test_a_terminal_is_told_once_that_there_was_nothing(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.jsonl").write_text('{"id": 1}\n', encoding="utf-8")
    assert run(["check", WORK, "--against", str(tmp_path / "broken.jsonl")]) == 4
    printed = capfd.readouterr()
    assert "Note: there are no documents to check against" in printed.out
    assert "no documents to check against" not in printed.err
    assert "no field 'text'" in printed.err, "why there are none"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--format", "html"], "needs a file: add --out report.html"),
        (["--format", "pdf"], "needs a file: add --out report.pdf"),
        (["--format", "pdf", "--out", "-"], "needs a file: add --out report.pdf"),
        ([WORK, "--format", "html", "--out", "one.html"], "make a folder"),
        (["--format", "html", "--out", "no/such/folder/a.html"], "make the folder"),
        (["--format", "html", "--out", "a.html", "--language", "de"], "'de' is not one of"),
    ],
)
def test_refused_before_the_work(
    arguments: list[str],
    told: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*CHECK, *arguments]) in (2, 4)
    said = capsys.readouterr().err
    assert told in said
    assert not list(tmp_path.iterdir())


def test_pdf_without_a_browser(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("doublet.jobs.check_pdf._candidates", lambda: iter(()))
    assert run([*CHECK, "--format", "pdf", "--out", str(tmp_path / "a.pdf")]) == 2
    assert "or write --format html" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


HIDING = """<html><body><article>
<p>Снег в городе занимает место, которое летом принадлежит людям, и к февралю вдоль улиц стоят серые гряды.</p>
<p style="font-size:0">These words are for the search engine and for nobody else at all.</p>
</article></body></html>"""


@pytest.mark.covers("T5")
@pytest.mark.parametrize("form", ["json", "table", "html"])
def test_hidden_text_stands_in_the_report(form: str, tmp_path: pathlib.Path) -> None:
    work, target = tmp_path / "work.html", tmp_path / "report"
    work.write_text(HIDING, encoding="utf-8")
    assert run(["check", str(work), *CHECK[2:], "--format", form, "--out", str(target)]) == 0
    report = target.read_text(encoding="utf-8")
    # What it says is no part of the text; it is told as what is hidden, and nowhere else.
    if form == "json":
        told = json.loads(report)
        (finding,) = told["disguise"].pop("findings")
        assert "search engine" in finding["texts"][0]
        assert "search engine" not in json.dumps(told)
        assert (finding["kind"], finding["words"], finding["alarm"]) == ("hidden", 13, True)
    else:
        assert "text that readers do not see" in report
    if form == "table":
        assert "search engine" not in report
        assert "13 words, left out" in report
    if form == "html":
        text = report[report.index('<div class="text"') : report.index("<aside ")]
        marked = re.findall('<details class="hid">.*?</details>', text)
        assert ["search engine" in one for one in marked] == [True]
        assert text.count("search engine") == 1


@pytest.mark.covers("T5")
def test_hidden_text_in_a_check_from_python(tmp_path: pathlib.Path) -> None:
    import doublet

    work = tmp_path / "work.html"
    work.write_text(HIDING, encoding="utf-8")
    with doublet.open_library(tmp_path / "library.db", "snow") as library:
        library.add([("snow", "Снег в городе занимает место, которое летом принадлежит людям.")])
        assert [one.kind for one in library.check(work).disguise.findings] == ["hidden"]
        assert library.check("Снег в городе занимает место.").disguise.findings == ()


@pytest.mark.parametrize(
    ("name", "start"), [("r.html", b"<!DOCTYPE"), ("r.json", b"{"), ("r.csv", b"text,library")]
)
def test_the_name_decides_the_format(tmp_path: pathlib.Path, name: str, start: bytes) -> None:
    assert run([*CHECK, "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_bytes().startswith(start)
    assert run([*CHECK, "--out", str(tmp_path / name), "--format", "table"]) == 0
    assert not (tmp_path / name).read_bytes().startswith(start)


def test_the_folder_is_made(tmp_path: pathlib.Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("Nothing of this is found anywhere else.", encoding="utf-8")
    assert run([*CHECK, str(other), "--format", "html", "--out", str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "work.txt.html").is_file()


@pytest.mark.parametrize("text", ["", "a %%% &&& *** ((( ))) @@@ b ### $$$"])
def test_what_cannot_be_judged_never_passes(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    bad, good = tmp_path / "bad.txt", tmp_path / "good.txt"
    bad.write_text(text, encoding="utf-8")
    good.write_text("Nothing of this is found anywhere else.", encoding="utf-8")
    rest = [*CHECK[2:], "--fail-above", "30%"]
    assert run(["check", str(bad), *rest]) == 4
    assert "cannot be judged" in capsys.readouterr().err or not text
    assert run(["check", str(bad), str(good), *rest]) == 3
    assert run(["check", str(good), *rest]) == 0


def test_what_is_left_out_can_be_set(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "doublet.toml"
    settings.write_text('leave_out = ["quotations"]\nown = ["water-*", "nobody/*"]\n', encoding="utf-8")
    assert run([*CHECK, "--config", str(settings), "--format", "json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["parameters"]["leave_out"] == ["quotations", "own"]
    assert "water-towers" not in {source["id"] for source in value["sources"]}
    assert [note["values"]["pattern"] for note in value["notes"]] == ["nobody/*"]
