"""Plain English and Russian: no sentence too long to read at once, and no turn of phrase that puzzled readers."""

from __future__ import annotations

import importlib
import pathlib
import re
import sys
from collections.abc import Iterator

import pytest

from doublet.reports.wording import Wording
from doublet.reports.wording.ru.help import HELP

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fenced import ROOT, pages

LONGEST = 35  #: words of a sentence
#: Phrases that are not what a native editor would write.
FORBIDDEN = re.compile(
    r"\b(?:stands? in|standing in|stood in|(?:is|are|was|were) told(?! apart)|so much of which|could not be had"
    r"|cannot be had|fall over|fell over|worked out|works out|(?<!there )is no (?:document|text|file|work)"
    r"|so to say)\b",
    re.I,
)
FORBIDDEN_RUSSIAN = re.compile(r"\b(?:стоит в|стоят в|стоящ\w+ в|сказано быть)\b", re.I)
_FENCE = re.compile(r"^[ ]*(`{3,}|~{3,}).*?^[ ]*\1[ ]*$|^\n(?:[ ]{4}.*\n)+", re.M | re.S)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_END = re.compile(r"[.!?…:;](?:[\"'»”)\]*_]*)(?=\s|$)|\n\s*\n")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


def prose(page: str) -> Iterator[str]:
    """The sentences of a page: without code, tables, headings; each item of a list by itself."""
    plain = _CODE.sub("code", _LINK.sub(r"\1", _FENCE.sub("\n\n", page)))
    lines = []
    for line in plain.split("\n"):
        if line.lstrip().startswith(("|", "#", "<")):
            lines.append("")
        elif re.match(r"\s*(?:[-*+]|\d+\.)\s", line):
            lines += ["", re.sub(r"^\s*(?:[-*+]|\d+\.)\s", "", line)]
        else:
            lines.append(line)
    yield from (" ".join(part.split()) for part in _END.split("\n".join(lines)) if part.strip())


def too_long(text: str) -> list[str]:
    return [sentence for sentence in prose(text) if len(_WORD.findall(sentence)) > LONGEST]


def read(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8")


def written() -> list[pathlib.Path]:
    """Pages that people write and users read: decisions are records of the past."""
    return [path for path in pages() if "decisions" not in path.parts]


@pytest.mark.parametrize("path", written(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_can_be_read_aloud(path: pathlib.Path) -> None:
    text = read(path)
    assert too_long(text) == []
    assert [match[0] for match in FORBIDDEN.finditer(_CODE.sub("", text))] == []


@pytest.mark.parametrize("language", ["en", "ru"])
def test_messages_can_be_read_aloud(language: str) -> None:
    pages_of_the_service = importlib.import_module(f"doublet.web.words.{language}").TABLE
    messages = {**Wording(language).tables.MESSAGES, **pages_of_the_service}
    if language == "ru":  # English help is in the pages of the commands
        messages |= HELP
    wrong = {
        code: text
        for code, text in messages.items()
        if too_long(text) or FORBIDDEN.search(text) or FORBIDDEN_RUSSIAN.search(text)
    }
    assert wrong == {}


def test_the_measure_finds_what_it_looks_for() -> None:
    long = " ".join(["word"] * 36)
    assert too_long(f"# Title\n\n{long}.\n") == [long]
    assert too_long(f"Short. {' '.join(['word'] * 35)}. Short.") == []
    assert too_long(f"```\n{long}\n```\n\n| {long} |\n\n`{long}`") == []
    assert FORBIDDEN.search("a text that stands in another")
