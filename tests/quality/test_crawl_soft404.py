"""Pages that say "not found" with 200, on many designs: none may be kept, and hardly a document may be lost (R8)."""

from __future__ import annotations

import pytest

from doublet.crawl.soft404 import NORMAL_PAGES, PROBES, Signal, is_login_wall, says_so
from doublet.sources.whole_page import read_whole_page
from soft_themes import document, make_theme, missing

HEADERS = {"content-type": "text/html; charset=utf-8"}
THEMES = 100


def read(data: bytes) -> dict[str, object]:
    return read_whole_page(data, address="http://x.org/page", headers=HEADERS)


@pytest.mark.covers("R8")
def test_soft_404() -> None:
    kept = lost = documents = absent = 0
    for seed in range(THEMES):
        theme = make_theme(seed)
        signal = Signal()
        for number in range(NORMAL_PAGES):
            signal.add_normal(read(document(theme, 9_000 + number))["blocks"])  # type: ignore[arg-type]
        for number in range(PROBES):
            signal.add_probe(read(missing(theme, f"/d/probe{number}"))["blocks"])  # type: ignore[arg-type]
        for number in range(5):
            page = read(document(theme, number * 7 + 7, words=25 if number == 3 else None))
            documents += 1
            lost += signal.says_missing(page["blocks"]) or says_so(str(page["title"]), str(page["text"]))  # type: ignore[arg-type]
            gone = read(missing(theme, f"/d/{number}"))
            absent += 1
            kept += not signal.says_missing(gone["blocks"])  # type: ignore[arg-type]
        assert Signal.from_dict(signal.to_dict()) == signal
    assert kept == 0, f"{kept} of {absent} kept"
    assert lost <= documents / 500, f"{lost} of {documents} lost"


@pytest.mark.covers("R8")
def test_login_walls() -> None:
    wall = read(
        b"<html><head><title>Members</title></head><body><p>Please log in to read this article.</p>"
        b"<form><input name=n><input type=password name=p></form></body></html>"
    )
    assert is_login_wall(str(wall["title"]), str(wall["text"]), password=bool(wall["password"]))
    article = read(document(make_theme(1), 1).replace(b"<nav>", b"<nav><form><input type=password></form>"))
    assert article["password"]
    assert not is_login_wall("Log in", "word " * 200, password=True)
    assert not is_login_wall("Passwords", "How to log in", password=False)
