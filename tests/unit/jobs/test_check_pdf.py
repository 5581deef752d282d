"""Printing by a browser: which one, and what is said when it is not there or does not print."""

from __future__ import annotations

from pathlib import Path

import pytest

import doublet
from doublet.errors import ConfigError, OutputFailed
from doublet.jobs.check_pdf import check_pdf, find_browser, print_page


def test_printed_pages_are_a4_with_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    import pypdfium2

    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    text = "\n\n".join(f"Line {i} says something of its own about number {i * 7}." for i in range(120))
    document = pypdfium2.PdfDocument(check_pdf(doublet.check(text, [("a", text)]), text, name="work"))
    width, height = document[0].get_size()
    assert (round(width), round(height)) in ((595, 842), (596, 842), (595, 843), (596, 843))
    assert len(document) > 1
    assert f"2 / {len(document)}" in document[1].get_textpage().get_text_bounded()
    document.close()


def test_no_browser_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("doublet.jobs.check_pdf._MAC", ())
    monkeypatch.setattr("doublet.jobs.check_pdf._WINDOWS", ())
    with pytest.raises(ConfigError, match="apt install chromium"):
        find_browser()


def test_browser_that_prints_nothing(tmp_path: Path) -> None:
    program = tmp_path / "browser"
    program.write_text("#!/bin/sh\necho no display >&2\nexit 1\n")
    program.chmod(0o755)
    assert find_browser(program) == str(program)
    with pytest.raises(OutputFailed, match="no display"):
        print_page("<p>", str(program), tmp_path)
    with pytest.raises(ConfigError, match="not a program"):
        find_browser(tmp_path / "absent")
