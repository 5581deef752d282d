"""Parts of a checked text that need not count as borrowed (K4): quotations and the bibliography, each with its reason.

Found by form alone: quotation marks, block quotations, the heading of a list of references and the look of its entries
(Russian GOST and the English styles). Nothing is taken out of the text; the caller leaves the words out of the share
and shows what was left out. Explained in docs/explanation/library-checks.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from doublet.model import Note, Span

QUOTATION_WORDS = (3, 300)  #: shorter is a name or irony, longer is no quotation but a copy between marks
LEAST_ENTRIES = 3  #: entries in a row that make a list of references without a heading


@dataclass(frozen=True, slots=True)
class Excluded:
    """A place in the text and why it need not count."""

    span: Span
    reason: Note


# Quotations

_PAIRS = {"«": "»", "“": "”", "„": "“”", "‹": "›"}
_CLOSING = "»”“›"
_WORD = re.compile(r"\w+")


def quotations(text: str) -> list[Excluded]:
    """Passages between quotation marks inside one paragraph, and paragraphs marked with ``>``; outermost only."""
    out: list[Excluded] = []
    for start, end in _paragraphs(text):
        part = text[start:end]
        if part.lstrip().startswith(">"):
            out.append(Excluded(Span(start, end), Note("block_quotation")))
            continue
        out += [
            Excluded(
                Span(start + a, start + b),
                Note("quotation_between", opening=text[start + a], closing=text[start + b - 1]),
            )
            for a, b in _marked(part)
            if QUOTATION_WORDS[0] <= len(_WORD.findall(part, a, b)) <= QUOTATION_WORDS[1]
        ]
    return out


def _marked(part: str) -> list[tuple[int, int]]:
    """Half-open places from an opening mark to its closing one, both included. A mark without its partner is none."""
    found: list[tuple[int, int]] = []
    stack: list[tuple[int, str]] = []
    waiting: dict[str, list[int]] = {}  # closing mark → depths of the open marks that it would close

    def open_(at: int, closing: str) -> None:
        for mark in closing:
            waiting.setdefault(mark, []).append(len(stack))
        stack.append((at, closing))

    def close(depth: int, end: int) -> None:
        """Close the mark at *depth*; what stands above it was never closed."""
        found.append((stack[depth][0], end))
        while len(stack) > depth:
            for mark in stack.pop()[1]:
                waiting[mark].pop()

    for at, letter in enumerate(part):
        if stack and letter in stack[-1][1] and not (letter == '"' and _opens(part, at)):
            close(len(stack) - 1, at + 1)
        elif letter in _PAIRS:
            open_(at, _PAIRS[letter])
        elif letter == '"' and _opens(part, at):
            open_(at, '"')
        elif letter in _CLOSING and waiting.get(letter):
            close(waiting[letter][-1], at + 1)
    found.sort(key=lambda place: (place[0], -place[1]))
    outer: list[tuple[int, int]] = []
    for place in found:
        if not outer or place[0] >= outer[-1][1]:
            outer.append(place)
    return outer


def _opens(part: str, at: int) -> bool:
    """A straight mark opens after a blank or a bracket and before a letter."""
    before = part[at - 1] if at else " "
    after = part[at + 1] if at + 1 < len(part) else " "
    return (before.isspace() or before in "([{—–-/«“") and not after.isspace()


# Bibliography

_NUMBER = r"(?:(?:\d{1,2}|[ivxlc]{1,5})[.)]?\s+|#{1,6}\s*|\*{1,2})?"
_HEADINGS = re.compile(
    rf"^\s*{_NUMBER}(?:"
    r"(?:библиографический\s+)?список\s+(?:использ(?:ованн|уем)(?:ой|ых)\s+)?(?:источников(?:\s+и\s+литературы)?|литературы"
    r"(?:\s+и\s+источников)?|использ\w+\s+\w+(?:\s+и\s+\w+)?)|библиографи(?:я|ческий\s+список)|(?:использованная\s+)?литература|"
    r"(?:использованные\s+)?источники(?:\s+и\s+литература)?|ссылки|"
    r"references(?:\s+cited)?|bibliography|works\s+cited|literature(?:\s+cited)?|list\s+of\s+references|sources"
    r")\s*(?:[:.]\s*)?(?:\*+\s*)?$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"^\s*{_NUMBER}(?:приложени[ея]|appendi(?:x|ces)|annex|acknowledg|благодарност|об\s+автор|about\s+the\s+author|"
    r"заключение|conclusion|глава|chapter)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:1[6-9]|20)\d\d(?!\d)")
_INITIALS = re.compile(
    r"(?:[А-ЯЁ][а-яё-]+,?\s+[А-ЯЁ]\.\s?(?:[А-ЯЁ]\.)?|[А-ЯЁ]\.\s?[А-ЯЁ]\.\s?[А-ЯЁ][а-яё-]+|"
    r"\b[A-Z][A-Za-z'’-]+,\s+[A-Z]\.|\b[A-Z]\.\s?(?:[A-Z]\.\s?)?[A-Z][a-z]+)"
)
_MARKS = (
    re.compile(r"\s//\s"),
    re.compile(r"[–—-]\s*(?:М|СПб|Л|Пг|Киев|Минск|Москва|Новосибирск|Казань|Екатеринбург)\b\.?\s*[:;,]"),
    re.compile(r"\b[СCсc]\.\s?\d|\b\d+\s?[сc]\.(?:\s|$)"),
    re.compile(r"(?:№|Вып\.|Т\.)\s?\d"),
    re.compile(r"\[(?:Электронный ресурс|Текст|Электрон\.)", re.IGNORECASE),
    re.compile(r"\bURL:|https?://|\bдата обращения", re.IGNORECASE),
    re.compile(r"\bISBN\b|\bISSN\b|\bdoi\b[: /]", re.IGNORECASE),
    re.compile(r"\bpp?\.\s?\d|\bvol\.\s?\d|\bno\.\s?\d|\d{1,6}\(\d{1,6}\)\s*[,:]\s*\d", re.IGNORECASE),
    re.compile(r"\((?:1[6-9]|20)\d\d[a-z]?\)\."),
    re.compile(
        r"\bRetrieved from\b|\bAvailable at\b|\bAccessed\b|\bet al\b|\bIn:\s|\(Eds?\.\)|\bUniversity Press\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:изд-во|издательство|учеб(?:ник|ное)|дис\.|автореф\.|под ред\.|ред\.)", re.IGNORECASE),
    re.compile(r"^\s*(?:\[\d{1,3}\]|\d{1,3}[.)])\s"),
)


def bibliography(text: str) -> list[Excluded]:
    """Lists of references: from their heading to the end of the list, or entries in a row without a heading."""
    lines = _lines(text)
    out: list[Excluded] = []
    at = 0
    while at < len(lines):
        start, end = lines[at]
        if _HEADINGS.match(text[start:end]):
            last = _end_of_list(text, lines, at + 1)
            if last > at:
                name = text[start:end].strip(" \t*#:.")
                out.append(Excluded(Span(start, lines[last][1]), Note("references_under", heading=name)))
                at = last + 1
                continue
        at += 1
    return out + _without_heading(text, lines, out)


def _end_of_list(text: str, lines: list[tuple[int, int]], first: int) -> int:
    """The last line of a list that begins at line *first*; first - 1 when nothing there looks like an entry."""
    last = first - 1
    strange = 0  # words since the last line that looks like a part of an entry
    for at in range(first, len(lines)):
        line = text[slice(*lines[at])]
        if not line.strip():
            continue
        if _AFTER.match(line) and not looks_like_entry(line):
            break
        if looks_like_entry(line):
            last, strange = at, 0
            continue
        strange += len(_WORD.findall(line))
        if strange > 60:
            break
    # The last entry may run over more lines.
    while last >= first and last + 1 < len(lines) and text[slice(*lines[last + 1])].strip():
        following = text[slice(*lines[last + 1])]
        if _AFTER.match(following) or _HEADINGS.match(following) or len(_WORD.findall(following)) > 40:
            break
        last += 1
    return last


def _without_heading(text: str, lines: list[tuple[int, int]], known: list[Excluded]) -> list[Excluded]:
    out: list[Excluded] = []
    run: list[int] = []
    later = iter([*known, Excluded(Span(len(text) + 1, len(text) + 1), Note("no_message"))])
    next_known = next(later)
    for at, (start, end) in enumerate([*lines, (len(text), len(text))]):
        line = text[start:end]
        while next_known.span.end <= start:  # the last one ends behind all lines
            next_known = next(later)
        inside = next_known.span.start < end
        if not line.strip() and at < len(lines):
            continue
        if not inside and looks_like_entry(line, least=3):
            run.append(at)
            continue
        if len(run) >= LEAST_ENTRIES:
            span = Span(lines[run[0]][0], lines[run[-1]][1])
            out.append(Excluded(span, Note("references_in_a_row", references=len(run))))
        run = []
    return out


def looks_like_entry(line: str, *, least: int = 2) -> bool:
    """Whether a line has so many of the marks of a reference: year, initials, publisher, pages, number, address."""
    if not 4 <= len(_WORD.findall(line)) <= 120:
        return False
    found = bool(_YEAR.search(line)) + bool(_INITIALS.search(line))
    for mark in _MARKS:
        if found >= least:
            return True
        found += bool(mark.search(line))
    return found >= least


def _lines(text: str) -> list[tuple[int, int]]:
    """Places of the lines, without their ends."""
    out: list[tuple[int, int]] = []
    start = 0
    for line in text.split("\n"):
        out.append((start, start + len(line)))
        start += len(line) + 1
    return out


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """Places of the paragraphs: parted by blank lines, or each line by itself where there are none."""
    lines = _lines(text)
    full = [bool(text[start:end].strip()) for start, end in lines]
    if all(full[1:-1]):  # no blank line between two others
        return [line for line, words in zip(lines, full, strict=True) if words]
    out: list[tuple[int, int]] = []
    going_on = False
    for (start, end), words in zip(lines, full, strict=True):
        if words and going_on:
            out[-1] = (out[-1][0], end)
        elif words:
            out.append((end - len(text[start:end].lstrip()), end))
        going_on = words
    return out
