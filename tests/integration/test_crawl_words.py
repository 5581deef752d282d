"""The robot's commands in Russian: what would be done, what was done, and what became of the addresses."""

from __future__ import annotations

import pathlib

import pytest
from click.testing import CliRunner

from doublet.cli import language
from doublet.cli.root import root
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
            for command in (f"{crawl} --preview", crawl, "library pages shelf"):
                done = CliRunner().invoke(root, command.split())
                assert done.exit_code == 0, (command, done.output, done.exception)
                said.append(done.output)
    finally:
        language.use("en")
    assert "номера с 1 по" in said[0] and "документов, примерно" in said[0]
    assert "сейчас в библиотеке shelf" in said[1] and "осталось на следующий раз" in said[1]
    assert "ссылок от главной страницы" in said[2]
    for english in ("documents", "requests", "stored", "pages", "links"):
        assert not [text for text in said if f" {english} " in text]
