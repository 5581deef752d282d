"""``--whole-page`` in check and library add; the title and limit in a report, and hidden text marked in its place."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from doublet.cli import run

MAIN = (
    "The water tower of the old town was built of brick and still stands above the market square today. " * 6
)
MENU = (
    "Opening hours prices and ways to the museum for groups schools and guests from other towns nearby. " * 2
)
HIDDEN = "these eleven words are painted white so that nobody reads them"
PAGE = f"""<html><head><title>On water towers</title></head><body>
<nav><ul><li><a href=a>{MENU}</a></li><li><a href=b>More of it</a></li></ul></nav>
<article><h1>On water towers</h1>
<p>{MAIN}</p>
<p style="font-size:0">{HIDDEN}</p>
<p>{MAIN[:99]}</p></article>
<footer>{MENU}</footer></body></html>"""


@pytest.fixture(autouse=True)
def shelf(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DOUBLET_DATABASE", str(tmp_path / "l.db"))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "page.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "library.jsonl").write_text(json.dumps({"id": "m", "text": MENU}), encoding="utf-8")
    return tmp_path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    assert run([*arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.covers("T3")
def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("check", "site/page.html", "--against", "library.jsonl")
    assert answer(capsys, *arguments)["share"] == 0
    assert answer(capsys, *arguments, "--whole-page")["share"] > 0.1


@pytest.mark.covers("T3", "L7")
def test_library_add_remembers_it(shelf: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    def words() -> int:
        found = answer(capsys, "library", "document", "pages", "page.html")
        assert [one["number"] for one in found["sources"]] == [1]  # the same source all the time
        return int(found["words"])

    assert run(["library", "add", "pages", "site", "--create", "-q"]) == 0
    short = words()
    assert run(["library", "add", "pages", "site", "--whole-page", "-q"]) == 0
    long = words()
    assert long > short + 20
    (shelf / "site" / "page.html").write_text(PAGE.replace("More of it", "Much more of it"), encoding="utf-8")
    assert run(["library", "update", "pages", "-q"]) == 0
    assert words() == long + 1
    assert run(["library", "add", "pages", "site", "-q"]) == 0
    assert words() == short


@pytest.mark.covers("R1", "T5")
@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_report_has_title_limit_and_marks_hidden_text(language: str, shelf: pathlib.Path) -> None:
    arguments = ["check", "site/page.html", "--against", "library.jsonl", "-q", "--language", language]
    assert run([*arguments, "--fail-above", "30%", "--out", "r.html"]) == 0
    page = (shelf / "r.html").read_text(encoding="utf-8")
    title, kept, hidden = {
        "en": ("On water towers", "30% (kept)", "hidden text, 11 words"),
        "ru": ("On water towers", "30\u00a0% (не превышен)", "скрытый текст, 11\u00a0слов"),
    }[language]
    head = page[page.index("<header") : page.index("</header>")]
    assert title in head
    assert "page.html" in head
    assert kept in head
    text = page[page.index('<div class="text"') :]
    assert hidden in text
    # In its place: after the first paragraph and before the second one.
    assert text.index("market square") < text.index(HIDDEN) < text.rindex("The water tower")
    assert run([*arguments, "--title", "Mein Turm", "--out", "t.html"]) == 0
    assert "Mein Turm" in (shelf / "t.html").read_text(encoding="utf-8")
