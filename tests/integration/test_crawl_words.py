"""The robot's commands in Russian: what would be done, what was done, and what became of the addresses."""

from __future__ import annotations

import pathlib
import re

import pytest
from click.testing import CliRunner

from doublet.cli import language
from doublet.cli.root import root
from doublet.crawl.patterns import Pattern
from doublet.crawl.politeness import PoliteFetcher
from doublet.jobs.crawl import Wish, crawl_library, engine
from doublet.model import Note
from doublet.progress import Progress
from doublet.reports.wording import wording
from doublet.store.database import Store
from library_simulator import Library, Site


@pytest.mark.covers("L2", "L6")
def test_a_crawl_is_told_in_the_language_that_was_asked_for(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOUBLET_DATABASE", str(tmp_path / "shelf.db"))
    language.use("ru")
    try:
        with Site(Library(20)) as site:
            crawl = f"library crawl shelf {site.url} --only post --create --allow-private --fetch-delay-s 0"
            said = []
            for command in (f"{crawl} --preview", crawl, "library pages shelf", "library pages shelf --log"):
                done = CliRunner().invoke(root, command.split())
                assert done.exit_code == 0, (command, done.output, done.exception)
                said.append(done.output)
    finally:
        language.use("en")
    assert "номера с 1 по" in said[0] and "документов, примерно" in said[0]
    assert "сейчас в библиотеке shelf" in said[1] and "осталось на следующий раз" in said[1]
    assert "ссылок от главной страницы" in said[2]
    assert "сохранена" in said[3] and "причина" in said[3]
    for english in ("documents", "requests", "stored", "pages", "links", "address", "state", "reason"):
        assert not [text for text in said if f" {english} " in text]


@pytest.mark.covers("L6")
def test_why_a_page_gave_no_document_is_told_in_russian(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOUBLET_DATABASE", str(tmp_path / "shelf.db"))

    class Damaged(Site):
        def answer(self, target: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
            if target.startswith("/post/7/"):
                return 200, {"Content-Type": "application/pdf"}, b"%PDF-1.7 and no more"
            return (403, {}, b"") if target.startswith("/post/8/") else super().answer(target, headers)

    with Damaged(Library(20)) as site, Store(str(tmp_path / "shelf.db")) as store:
        store.libraries.create("shelf")
        wish = Wish(patterns=[Pattern("/post/{number}/")], numbers=(1, 20))
        with PoliteFetcher(delay_s=0.0, allow_private=True) as fetcher:
            crawl_library(store, "shelf", site.url, fetcher=fetcher, wish=wish)
    language.use("ru")
    try:
        shown = CliRunner().invoke(root, ["library", "pages", "shelf"]).output
    finally:
        language.use("en")
    assert "повреждена или не то, чем называется" in shown
    assert "сервер ответил 403" in shown


@pytest.mark.covers("L5", "R1")
def test_a_wait_that_the_site_asked_for_is_told(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "WAIT_TOLD_S", 0.3)
    told: list[Note] = []
    refused: list[str] = []

    class Busy(Site):
        def answer(self, target: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
            crawling = any(note.code == "crawl_figures" for note in told)
            if crawling and not refused and target.startswith("/post/"):
                refused.append(target)
                return 429, {"Retry-After": "3"}, b""
            return super().answer(target, headers)

    progress = Progress(lambda event: told.append(event.message) if event.message is not None else None)
    with (
        Busy(Library(60)) as site,
        Store(str(tmp_path / "shelf.db")) as store,
        PoliteFetcher(delay_s=0.0, allow_private=True) as fetcher,
    ):
        store.libraries.create("shelf")
        patterns = [Pattern("/post/{number}/")]
        wish = Wish(patterns=patterns, numbers=(1, 60))
        crawl_library(store, "shelf", site.url, fetcher=fetcher, wish=wish, progress=progress)
        assert store.libraries.get("shelf").documents == 60
    waits = [note.values["waits"] for note in told if note.values.get("waits")]
    assert {note.code for note in waits} == {"crawl_waits_asked"}
    assert waits[0].values["host"] == site.url
    assert re.fullmatch(r"\d\d:\d\d", waits[0].values["until"])
    figures = next(note for note in told if note.values.get("waits"))
    assert f"as {site.url} asked" in wording("en").say(figures)
    assert f"так попросил {site.url}" in wording("ru").say(figures)
