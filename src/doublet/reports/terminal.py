"""Results for a terminal: what was found, where, and how sure, in lines that fit its width.

Colour helps but never carries the meaning alone: a passage stands between brackets and has the number of its
fragment. Text of documents is made harmless first: characters that would steer the terminal or hide from the
reader are shown as signs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from doublet.model import Comparison, Deduplication, Disguise, Group, Outcome, Related, Span
from doublet.reports.wording import (
    DISGUISES,
    FAILED,
    FRAGMENT_KINDS,
    NOT_UNDONE,
    OUTCOMES,
    POSSIBLE,
    RELATED,
    VERDICTS,
    cleaned,
    count,
    percent,
    verdict,
)

if TYPE_CHECKING:
    from doublet.matches.story import Story

CONTEXT = 40  #: characters shown before and after a passage
PASSAGE = 480  #: characters of a passage that are shown; the middle of a longer one is left out
SHOWN_FRAGMENTS = 50
SHOWN_GROUPS = 10
SHOWN_MEMBERS = 5
SHOWN_NAME = 200  #: characters of an id or a place, which may be of any length
SHOWN_RELATED = 3
SIDE_BY_SIDE = 100  #: columns from which both texts stand next to each other

Segment = tuple[str, str]  #: text and the name of its style ("" is plain)

_STYLES = {
    "title": "1",
    "dim": "2",
    "verbatim": "1;31",
    "edited": "1;33",
    "reworded": "1;35",
    "moved": "1;34",
    "warning": "1;33",
    "good": "32",
    "kept": "1;32",
}
_NOTHING: tuple[object, ...] = (None, False, 0, "", (), [], "none")
# Of the method that nobody had to choose only what was set otherwise is told.
_USUAL: Mapping[str, object] = {
    "min_letters": 1,
    "reduce": "stem",
    "aligned": 0.4,
    "kept": 0.2,
    "together": 0.9,
}
_BLANKS = re.compile(r"\s+")
# Control characters, invisible ones, and those that turn the direction of writing round.
_HARMFUL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """*text* on one line, with nothing in it that a terminal obeys or a reader cannot see."""
    return _HARMFUL.sub(_sign, _BLANKS.sub(" ", text))


def harmless_lines(text: str) -> str:
    """*text* with its lines and tabs, and with nothing else in it that a terminal obeys."""
    return _STEERING.sub(_sign, text.replace("\r\n", "\n"))


def cells(text: str) -> int:
    """How many columns *text* takes."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


class Painter:
    """Adds colour, or does not."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, text: str, style: str) -> str:
        if not self.colour or not text or style not in _STYLES:
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"

    def line(self, segments: Iterable[Segment]) -> str:
        return "".join(self(text, style) for text, style in segments)


def comparison(
    result: Comparison,
    text_a: str,
    text_b: str,
    *,
    names: tuple[str, str] = ("A", "B"),
    story: Story | None = None,
    width: int = 80,
    colour: bool = False,
) -> str:
    """Two texts compared: a header, what was disguised, then every fragment with both its sides."""
    paint = Painter(colour)
    lines = [*_comparison_header(result, names, width, paint), ""]
    if story is not None:
        lines += [*story_lines(story, paint), ""]
    for letter, disguise in (("A", result.disguise_a), ("B", result.disguise_b)):
        lines += disguise_lines(letter, disguise, paint)
    if not result.fragments:
        lines += [_no_passage(result), ""]
    for number, part in enumerate(result.fragments[:SHOWN_FRAGMENTS], start=1):
        kind = FRAGMENT_KINDS.get(part.kind, part.kind)
        head = f"{kind}, {percent(part.score)} equal, {count(part.words, 'word')}"
        places = f"A {part.a.start:,}–{part.a.end:,}  B {part.b.start:,}–{part.b.end:,}"
        lines.append(f"{paint(f'[{number}]', part.kind)} {paint(head, 'title')}  {paint(places, 'dim')}")
        lines += _sides(excerpt(text_a, part.a, part.kind), excerpt(text_b, part.b, part.kind), width, paint)
        lines.append("")
    if len(result.fragments) > SHOWN_FRAGMENTS:
        more = len(result.fragments) - SHOWN_FRAGMENTS
        lines.append(f"and {count(more, 'more fragment')}: --format json has them all")
    if result.possible:
        lines.append(
            paint(f"{POSSIBLE}: {count(len(result.possible), 'place')}, not counted in any share", "title")
        )
        for part in result.possible[:SHOWN_FRAGMENTS]:
            places = f"A {part.a.start:,}–{part.a.end:,}  B {part.b.start:,}–{part.b.end:,}"
            lines.append(
                f"  {paint(places, 'dim')}  {part.reason or percent(part.score) + ' of the words are equal'}"
            )
            for letter, text, span in (("A", text_a, part.a), ("B", text_b, part.b)):
                lines.append(_clipped(f"    {letter}  {harmless(text[span.start : span.end])}", width))
        lines.append("")
    lines += [f"Note: {harmless(note)}" for note in result.notes]
    return "\n".join(lines).rstrip("\n") + "\n"


def story_lines(story: Story, paint: Painter) -> list[str]:
    """Whether two texts tell of one event, and by what."""
    head = "The same story" if story.same else "Not the same story"
    limit = f"{story.score:.3f}, the same from {story.threshold:g} on"
    parts = f"of the openings {percent(story.shared)} of the weight is shared"
    rest = f", sentences find partners to {percent(story.sentences)}"
    model = f", by the model to {percent(story.vectors)}" if story.vectors is not None else ""
    return [
        f"{paint(head, 'warning' if story.same else 'good')}: {limit}",
        paint(parts + rest + model, "dim"),
    ]


def _no_passage(result: Comparison) -> str:
    if result.similar:
        return f"There is no passage to show: {result.method} compares the texts as wholes."
    if result.possible:
        return "No passage is in both texts for certain."
    return "No passage stands in both texts."


def _clipped(line: str, width: int) -> str:
    """The line, cut at the width of the terminal."""
    if cells(line) <= width:
        return line
    kept = line
    while cells(kept) > width - 1:
        kept = kept[: max(1, len(kept) - max(1, (cells(kept) - width + 1) // 2))]
    return kept + "…"


def deduplication(result: Deduplication, *, width: int = 80, colour: bool = False) -> str:
    """A collection cleaned: the numbers, then the largest groups with the reason of every removal."""
    paint = Painter(colour)
    lines = [paint(cleaned(result), "title")]
    lines += [paint(line, "dim") for line in _flow(_settings(result.method, result.parameters), width)]
    if not result.groups:
        lines += ["", "No duplicates."] if result.documents else []
    largest = sorted(result.groups, key=lambda group: (-len(group.members), group.keep))
    for group in largest[:SHOWN_GROUPS]:
        lines += ["", *_group(group, width, paint)]
    if len(largest) > SHOWN_GROUPS:
        more = count(len(largest) - SHOWN_GROUPS, "more group")
        lines += ["", f"and {more}: --groups FILE or --format jsonl has them all"]
    if result.related:
        lines += ["", *_related(result.related, paint)]
    return "\n".join(lines) + "\n"


def _related(related: Sequence[Related], paint: Painter) -> list[str]:
    """How many kept documents are alike without being duplicates, and the most alike of each kind."""
    lines = []
    for kind, words in RELATED.items():
        those = [one for one in related if one.kind == kind]
        if not those:
            continue
        lines.append(paint(f"Kept documents that {words}: {count(len(those), 'pair')}", "title"))
        for one in sorted(those, key=lambda r: (-(r.kept or r.resemblance), r.a, r.b))[:SHOWN_RELATED]:
            measures = f"resemblance {one.resemblance:.3f}"
            if one.aligned is not None and one.kept is not None:
                measures += f", aligned {one.aligned:.3f}, words kept {one.kept:.3f}"
            lines.append(f"  {harmless(one.a)}  {harmless(one.b)}  " + paint(measures, "dim"))
        if len(those) > SHOWN_RELATED:
            lines.append(f"  and {len(those) - SHOWN_RELATED:,} more: --format json has them all")
    return lines


def outcomes(
    found: Sequence[Outcome],
    *,
    counts: Mapping[str, int] | None = None,
    shown: int = 5,
    colour: bool = False,
) -> str:
    """Documents that could not be used: how many of each state, and the first ones with their reasons.

    *counts* has the numbers when *found* lists only some of them.
    """
    paint = Painter(colour)
    lines = []
    states = [*OUTCOMES, *sorted({outcome.state for outcome in found} - set(OUTCOMES))]
    for state in states:
        those = [outcome for outcome in found if outcome.state == state]
        if not those:
            continue
        one, several = OUTCOMES.get(state, (state, state))
        number = max(len(those), (counts or {}).get(state, 0))
        words = f"{count(number, 'document')} {one if number == 1 else several}"
        lines.append(paint(words, "warning" if state in FAILED else "dim"))
        if state not in FAILED:
            continue
        for outcome in those[:shown]:
            # The id of a file is the end of its path.
            names = [outcome.place] if outcome.place.endswith(outcome.id) else [outcome.place, outcome.id]
            shown_names = " ".join(_short(name, SHOWN_NAME) for name in names if name)
            lines.append(f"  {shown_names}: {harmless(outcome.reason)}")
        if number > min(shown, len(those)):
            lines.append(f"  and {number - min(shown, len(those)):,} more")
    return "".join(f"{line}\n" for line in lines)


def table(rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), colour: bool = False) -> str:
    """Columns as wide as their widest cell; the last one is not padded. Nothing in a cell steers the terminal."""
    paint = Painter(colour)
    every = [[_HARMFUL.sub(_sign, cell) for cell in row] for row in ([header] if header else []) + list(rows)]
    if not every:
        return ""
    widths = [max(cells(row[i]) for row in every) for i in range(len(every[0]))]
    lines = []
    for number, row in enumerate(every):
        parts = [cell + " " * (wide - cells(cell)) for cell, wide in zip(row[:-1], widths, strict=False)]
        line = "  ".join([*parts, row[-1]]).rstrip()
        lines.append(paint(line, "title") if header and number == 0 else line)
    return "\n".join(lines) + "\n"


def excerpt(text: str, span: Span, style: str = "") -> list[Segment]:
    """A passage between brackets with a little of what stands around it."""
    start, end = span
    before, after = text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]
    passage = text[start:end]
    if len(passage) > PASSAGE:
        half = PASSAGE // 2
        passage = f"{passage[:half]} … {passage[-half:]}"
    left = ("…" if start > CONTEXT else "") + harmless(before)
    right = harmless(after) + ("…" if end + CONTEXT < len(text) else "")
    return [(left, "dim"), ("[", style), (harmless(passage), style), ("]", style), (right, "dim")]


def wrap(segments: Iterable[Segment], width: int) -> list[list[Segment]]:
    """Lines of at most *width* columns, cut at blanks where there are any, each piece with its style."""
    pieces = [(piece, style) for text, style in segments for piece in re.findall(r" +|[^ ]+", text)]
    words: list[list[Segment]] = []  # what may not be cut apart: pieces with no blank between them
    for piece, style in pieces:
        if words and not piece.startswith(" ") and not words[-1][-1][0].startswith(" "):
            words[-1].append((piece, style))
        else:
            words.append([(piece, style)])
    lines: list[list[Segment]] = [[]]
    used = 0
    for word in words:
        size = sum(cells(text) for text, _ in word)
        if used + size > width and used:
            lines.append([])
            used = 0
        if not used and word[0][0].startswith(" "):
            continue
        for text, style in word:
            for part in _cut(text, width):
                if used + cells(part) > width:
                    lines.append([])
                    used = 0
                lines[-1].append((part, style))
                used += cells(part)
    return [line[:-1] if line[-1][0].isspace() else line for line in lines if line]


def _comparison_header(result: Comparison, names: tuple[str, str], width: int, paint: Painter) -> list[str]:
    rows = []
    for letter, name, words, share in (
        ("A", names[0], result.words_a, result.share),
        ("B", names[1], result.words_b, result.share_b),
    ):
        other = "B" if letter == "A" else "A"
        rows.append(
            [letter, harmless(name), count(words, "word"), f"{percent(share)} of it stands in {other}"]
        )
    told = verdict(result)
    style = "good" if told == "different" else "warning"
    measures = [f"resemblance {result.resemblance:.3f}"]
    if result.containment_a is not None:
        measures.append(f"containment of A in B {result.containment_a:.3f}")
    if result.containment_b is not None:
        measures.append(f"of B in A {result.containment_b:.3f}")
    lines = []
    if told in ("edited", "reworded"):
        aligned, kept = (result.details.get(name, 0.0) for name in ("aligned", "kept"))
        lines.append(f"{paint(VERDICTS[told], style)}: aligned {aligned:.3f}, words kept {kept:.3f}")
        if result.method == "auto":  # of meaning itself, resemblance is what is aligned
            lines.append(f"By equal runs of words alone: {', '.join(measures)}")
    else:
        lines.append(f"{paint(VERDICTS[told], style)}: {', '.join(measures)}")
    return [
        *table(rows).rstrip("\n").split("\n"),
        "",
        *lines,
        *(paint(line, "dim") for line in _flow(_settings(result.method, result.parameters), width)),
    ]


def disguise_lines(letter: str, disguise: Disguise, paint: Painter) -> list[str]:
    if not disguise.findings:
        return []
    lines = []
    for finding in disguise.findings:
        what = DISGUISES.get(finding.kind, finding.kind)
        where = f"{count(finding.characters, 'character')} in {count(finding.words, 'word')}"
        if finding.kind == "invisible" and not finding.words:
            lines.append(
                paint(f"  {letter}: invisible characters between words: {finding.characters:,}", "dim")
            )
            continue
        mark = "! " if finding.alarm else "  "
        done = "left out" if finding.kind == "hidden" else "undone"
        done = "not undone: look at the text" if finding.kind in NOT_UNDONE else done
        lines.append(paint(f"{mark}{letter}: {what}: {where}, {done}", "warning" if finding.alarm else "dim"))
    if disguise.alarm:
        lines.append(paint(f"! {letter} looks disguised on purpose", "warning"))
    return [*lines, ""]


def _sides(a: list[Segment], b: list[Segment], width: int, paint: Painter) -> list[str]:
    if width < SIDE_BY_SIDE:
        lines = []
        for letter, segments in (("A", a), ("B", b)):
            for number, line in enumerate(wrap(segments, max(20, width - 6))):
                lines.append(f"  {letter if number == 0 else ' '}  {paint.line(line)}")
        return lines
    column = (width - 9) // 2
    left, right = wrap(a, column), wrap(b, column)
    lines = []
    for number in range(max(len(left), len(right))):
        one = left[number] if number < len(left) else []
        two = right[number] if number < len(right) else []
        pad = " " * (column - sum(cells(text) for text, _ in one))
        lines.append(f"  {paint.line(one)}{pad}  │  {paint.line(two)}".rstrip())
    return lines


def _group(group: Group, width: int, paint: Painter) -> list[str]:
    room = max(20, width - 46)
    lines = [f"{paint('keep', 'kept')} {_short(group.keep, width - 5)}"]
    for member in group.members[:SHOWN_MEMBERS]:
        reason = f"resemblance {member.resemblance:.3f}, containment {member.containment:.3f}"
        inside = ", inside it" if member.contained_in is not None else ""
        name = _short(member.id, room)
        lines.append(f"  −  {name}{' ' * (min(room, 24) - cells(name))}  {paint(reason + inside, 'dim')}")
    if len(group.members) > SHOWN_MEMBERS:
        lines.append(f"  −  and {len(group.members) - SHOWN_MEMBERS:,} more")
    return lines


def _short(text: str, room: int) -> str:
    """An id that fits, by leaving out its middle: ids often differ at both ends."""
    text = harmless(text)
    if cells(text) <= room:
        return text
    half = max(1, (room - 1) // 2)
    return f"{text[:half]}…{text[-half:]}"


def _settings(method: str, parameters: Mapping[str, object]) -> list[str]:
    """The settings that say something: what is switched off or left at nothing is not shown, but for the
    limits.
    """
    always = ("threshold", "containment")
    usual = _USUAL if method == "auto" else {}
    shown = {
        name: value
        for name, value in parameters.items()
        if name in always or (value not in _NOTHING and usual.get(name) != value)
    }
    return [f"method {method}", *(f"{name} {_value(value)}" for name, value in shown.items())]


def _flow(words: Sequence[str], width: int) -> list[str]:
    lines = [""]
    for word in words:
        joined = f"{lines[-1]} · {word}" if lines[-1] else word
        if lines[-1] and cells(joined) > width:
            lines.append(word)
        else:
            lines[-1] = joined
    return lines


def _value(value: object) -> str:
    if value is None:
        return "off"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "none"
    return harmless(str(value))


def _sign(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd" if 0x80 <= code < 0xA0 or code >= 0xD800 else "·"


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _cut(text: str, width: int) -> list[str]:
    """A word longer than a line in pieces that fit."""
    if cells(text) <= width:
        return [text]
    pieces, used = [""], 0
    for character in text:
        size = _width(character)
        if used + size > width:
            pieces.append("")
            used = 0
        pieces[-1] += character
        used += size
    return pieces
