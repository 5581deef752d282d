"""Our own documentation has the same words as documents and in the search for repeats."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from doublet.text.markup import READERS
from doublet.text.read import read_document

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.covers("T1")
def test_both_readings_see_the_same_words() -> None:
    files = sorted(DOCS.rglob("*.md"))
    assert len(files) > 50
    for file in files:
        source = file.read_text(encoding="utf-8")
        read = read_document(source.encode(), name=file.name)
        assert read.kind == "markdown"
        assert words(READERS["markdown"](source).masked) == words(read.text), file.name


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.replace("\u00ad", ""))
