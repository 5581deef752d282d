"""Results for a terminal: what was found, where, and how sure, in lines that fit its width.

Colour helps but never carries the meaning alone: a passage stands between brackets and has the number of its
fragment. Text of documents is made harmless first: characters that would steer the terminal or hide from the
reader are shown as signs.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from doublet.model import (
    DISGUISES_LEFT,
    FAILED_STATES,
    Comparison,
    Deduplication,
    Disguise,
    Group,
    Outcome,
    Related,
    Span,
)
from doublet.reports.wording import Wording, wording

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
_COLOURED = re.compile(f"(\x1b\\[(?:0|{'|'.join(_STYLES.values())})m)|{_STEERING.pattern}")


def harmless(text: str) -> str:
    """*text* on one line, with nothing in it that a terminal obeys or a reader cannot see."""
    return _HARMFUL.sub(_sign, _BLANKS.sub(" ", text))


def harmless_lines(text: str) -> str:
    """*text* with its lines and tabs, and with nothing else in it that a terminal obeys."""
    return _STEERING.sub(_sign, text.replace("\r\n", "\n"))


def for_terminal(text: str) -> str:
    """*text*, which may be in our colours, with nothing else in it that a terminal obeys."""
    return _COLOURED.sub(lambda found: found.group(1) or _sign(found), text.replace("\r\n", "\n"))


def json_for_terminal(text: str) -> str:
    """*text* in JSON or a table, with what a terminal obeys written as JSON writes it: the values stay the same."""
    return _STEERING.sub(lambda found: f"\\u{ord(found.group()):04x}", text.replace("\r\n", "\n"))


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
    language: str = "en",
) -> str:
    """Two texts compared: a header, what was disguised, then every fragment with both its sides."""
    paint, words = Painter(colour), wording(language)
    lines = [*_comparison_header(result, names, width, paint, words), ""]
    if story is not None:
        lines += [*story_lines(story, paint, words), ""]
    for letter, disguise in (("A", result.disguise_a), ("B", result.disguise_b)):
        lines += disguise_lines(letter, disguise, paint, words)
    if not result.fragments:
        lines += [_no_passage(result, words), ""]
    for number, part in enumerate(result.fragments[:SHOWN_FRAGMENTS], start=1):
        head = words("passage_head", kind=part.kind, score=part.score, words=part.words)
        places = f"A {part.a.start:,}–{part.a.end:,}  B {part.b.start:,}–{part.b.end:,}"
        lines.append(f"{paint(f'[{number}]', part.kind)} {paint(head, 'title')}  {paint(places, 'dim')}")
        lines += _sides(excerpt(text_a, part.a, part.kind), excerpt(text_b, part.b, part.kind), width, paint)
        lines.append("")
    if len(result.fragments) > SHOWN_FRAGMENTS:
        more = len(result.fragments) - SHOWN_FRAGMENTS
        lines.append(words("more_fragments", number=more))
    if result.possible:
        lines.append(paint(words("possible_head", places=len(result.possible)), "title"))
        for part in result.possible[:SHOWN_FRAGMENTS]:
            places = f"A {part.a.start:,}–{part.a.end:,}  B {part.b.start:,}–{part.b.end:,}"
            reason = words.say(part.reason) or words("words_equal", score=part.score)
            lines.append(f"  {paint(places, 'dim')}  {reason}")
            for letter, text, span in (("A", text_a, part.a), ("B", text_b, part.b)):
                lines.append(_clipped(f"    {letter}  {harmless(text[span.start : span.end])}", width))
        lines.append("")
    lines += [harmless(words("note_line", note=note)) for note in result.notes]
    return "\n".join(lines).rstrip("\n") + "\n"


def story_lines(story: Story, paint: Painter, words: Wording) -> list[str]:
    """Whether two texts tell of one event, and by what."""
    head = words("story_same" if story.same else "story_other")
    limit = words("story_score", score=story.score, threshold=story.threshold)
    vectors = words.percent(story.vectors) if story.vectors is not None else ""
    parts = words("story_parts", shared=story.shared, sentences=story.sentences, vectors=vectors)
    return [f"{paint(head, 'warning' if story.same else 'good')}: {limit}", paint(parts, "dim")]


def _no_passage(result: Comparison, words: Wording) -> str:
    if result.similar:
        return words("no_passage_whole", method=result.method)
    return words("no_passage_certain" if result.possible else "no_passage")


def _clipped(line: str, width: int) -> str:
    """The line, cut at the width of the terminal."""
    if cells(line) <= width:
        return line
    kept = line
    while cells(kept) > width - 1:
        kept = kept[: max(1, len(kept) - max(1, (cells(kept) - width + 1) // 2))]
    return kept + "…"


def cleaned(result: Deduplication, words: Wording) -> str:
    """A collection cleaned, in numbers that add up: "7 documents: 4 kept, 2 removed in 1 group, 1 left out (…)"."""
    return words(
        "cleaned",
        documents=result.documents,
        kept=len(result.kept),
        removed=result.removed,
        groups=words("cleaned_groups", groups=len(result.groups)) if result.groups else "",
        not_listed=words("cleaned_not_listed", not_listed=result.not_listed) if result.not_listed else "",
        left_out=words("cleaned_left_out", left_out=result.left_out) if result.left_out else "",
    )


def verdict(result: Comparison) -> str:
    """What is said of two texts as wholes, as a code. "parts": they share passages, and are not similar by the method's
    own rule."""
    if result.similar:
        if result.step == "exact":
            return "equal"
        if result.step != "meaning":
            return "similar"
        reworded = sum(part.words for part in result.fragments if part.kind == "reworded")
        return "reworded" if 2 * reworded > sum(part.words for part in result.fragments) else "edited"
    return "parts" if result.fragments else "different"


def deduplication(
    result: Deduplication, *, width: int = 80, colour: bool = False, language: str = "en"
) -> str:
    """A collection cleaned: the numbers, then the largest groups with the reason of every removal."""
    paint, words = Painter(colour), wording(language)
    lines = [paint(cleaned(result, words), "title")]
    lines += [paint(line, "dim") for line in textwrap.wrap(words.say(result.rule), width)]
    settings = _settings(result.method, result.parameters, words)
    lines += [paint(line, "dim") for line in _flow(settings, width)]
    if not result.groups:
        lines += ["", words("no_duplicates")] if result.documents else []
    largest = sorted(result.groups, key=lambda group: (-len(group.members), group.keep))
    for group in largest[:SHOWN_GROUPS]:
        lines += ["", *_group(group, width, paint, words)]
    if len(largest) > SHOWN_GROUPS:
        lines += ["", words("more_groups", number=len(largest) - SHOWN_GROUPS)]
    if result.related:
        lines += ["", *_related(result.related, paint, words)]
    return "\n".join(lines) + "\n"


def _related(related: Sequence[Related], paint: Painter, words: Wording) -> list[str]:
    """How many kept documents are alike without being duplicates, and the most alike of each kind."""
    lines = []
    for kind in words.tables.NAMES["related"]:
        those = [one for one in related if one.kind == kind]
        if not those:
            continue
        lines.append(paint(words("related_head", kind=kind, pairs=len(those)), "title"))
        for one in sorted(those, key=lambda r: (-(r.kept or r.resemblance), r.a, r.b))[:SHOWN_RELATED]:
            measures = words("related_measures", resemblance=one.resemblance)
            if one.aligned is not None and one.kept is not None:
                measures += words("related_aligned", aligned=one.aligned, kept=one.kept)
            lines.append(f"  {harmless(one.a)}  {harmless(one.b)}  " + paint(measures, "dim"))
        if len(those) > SHOWN_RELATED:
            lines.append("  " + words("more_in_json", number=len(those) - SHOWN_RELATED))
    return lines


def outcomes(
    found: Sequence[Outcome],
    *,
    counts: Mapping[str, int] | None = None,
    shown: int = 5,
    colour: bool = False,
    language: str = "en",
) -> str:
    """Documents that could not be used: how many of each state, and the first ones with their reasons.

    *counts* has the numbers when *found* lists only some of them.
    """
    paint, words = Painter(colour), wording(language)
    lines = []
    known = words.tables.NAMES["outcome"]
    states = [*known, *sorted({outcome.state for outcome in found} - set(known))]
    for state in states:
        those = [outcome for outcome in found if outcome.state == state]
        if not those:
            continue
        number = max(len(those), (counts or {}).get(state, 0))
        told = words.name("outcome" if words.tables.plural(number) == 0 else "outcomes", state)
        line = words("outcome_line", documents=number, state=told)
        lines.append(paint(line, "warning" if state in FAILED_STATES else "dim"))
        if state not in FAILED_STATES:
            continue
        for outcome in those[:shown]:
            # The id of a file is the end of its path.
            names = [outcome.place] if outcome.place.endswith(outcome.id) else [outcome.place, outcome.id]
            shown_names = " ".join(_short(name, SHOWN_NAME) for name in names if name)
            lines.append(f"  {shown_names}: {harmless(words.say(outcome.reason))}")
        if number > min(shown, len(those)):
            lines.append("  " + words("more", number=number - min(shown, len(those))))
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


def _comparison_header(
    result: Comparison, names: tuple[str, str], width: int, paint: Painter, words: Wording
) -> list[str]:
    rows = []
    for letter, name, many, share in (
        ("A", names[0], result.words_a, result.share),
        ("B", names[1], result.words_b, result.share_b),
    ):
        other = "B" if letter == "A" else "A"
        inside = words("share_of_other", share=share, other=other)
        rows.append([letter, harmless(name), words.count(many, "word"), inside])
    told = verdict(result)
    style = "good" if told == "different" else "warning"
    measures = [words("resemblance_is", resemblance=result.resemblance)]
    if result.containment_a is not None:
        measures.append(words("containment_ab", containment=result.containment_a))
    if result.containment_b is not None:
        measures.append(words("containment_ba", containment=result.containment_b))
    lines = []
    if told in ("edited", "reworded"):
        aligned, kept = (result.details.get(name, 0.0) for name in ("aligned", "kept"))
        lies = words("aligned_kept", aligned=aligned, kept=kept)
        lines.append(f"{paint(words.name('verdict', told), style)}: {lies}")
        if result.method == "auto":  # of meaning itself, resemblance is what is aligned
            lines.append(words("by_equal_runs", measures=", ".join(measures)))
    else:
        lines.append(f"{paint(words.name('verdict', told), style)}: {', '.join(measures)}")
    return [
        *table(rows).rstrip("\n").split("\n"),
        "",
        *lines,
        *(paint(line, "dim") for line in _flow(_settings(result.method, result.parameters, words), width)),
    ]


def disguise_lines(letter: str, disguise: Disguise, paint: Painter, words: Wording) -> list[str]:
    if not disguise.findings:
        return []
    lines = []
    for finding in disguise.findings:
        if finding.kind == "invisible" and not finding.words:
            told = words("disguise_between", letter=letter, characters=finding.characters)
            lines.append(paint(f"  {told}", "dim"))
            continue
        mark = "! " if finding.alarm else "  "
        done = "disguise_left_out" if finding.kind == "hidden" else "disguise_undone"
        done = "disguise_not_undone" if finding.kind in DISGUISES_LEFT else done
        told = words(
            done, letter=letter, kind=finding.kind, characters=finding.characters, words=finding.words
        )
        lines.append(paint(mark + told, "warning" if finding.alarm else "dim"))
    if disguise.alarm:
        lines.append(paint(f"! {words('disguised_on_purpose', letter=letter)}", "warning"))
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


def _group(group: Group, width: int, paint: Painter, words: Wording) -> list[str]:
    room = max(20, width - 46)
    head = words("keep")
    lines = [f"{paint(head, 'kept')} {_short(group.keep, width - len(head) - 1)}"]
    for member in group.members[:SHOWN_MEMBERS]:
        code = "member_measures" if member.contained_in is None else "member_inside"
        reason = words(code, resemblance=member.resemblance, containment=member.containment)
        name = _short(member.id, room)
        lines.append(f"  −  {name}{' ' * (min(room, 24) - cells(name))}  {paint(reason, 'dim')}")
    if len(group.members) > SHOWN_MEMBERS:
        lines.append("  −  " + words("more", number=len(group.members) - SHOWN_MEMBERS))
    return lines


def _short(text: str, room: int) -> str:
    """An id that fits, by leaving out its middle: ids often differ at both ends."""
    text = harmless(text)
    if cells(text) <= room:
        return text
    half = max(1, (room - 1) // 2)
    return f"{text[:half]}…{text[-half:]}"


def _settings(method: str, parameters: Mapping[str, object], words: Wording) -> list[str]:
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
    return [
        words("method_is", method=method),
        *(f"{name} {_value(value, words)}" for name, value in shown.items()),
    ]


def _flow(words: Sequence[str], width: int) -> list[str]:
    lines = [""]
    for word in words:
        joined = f"{lines[-1]} · {word}" if lines[-1] else word
        if lines[-1] and cells(joined) > width:
            lines.append(word)
        else:
            lines[-1] = joined
    return lines


def _value(value: object, words: Wording) -> str:
    if value is None:
        return words("switched_off")
    if isinstance(value, bool):
        return words.value(value)
    if isinstance(value, float):
        return f"{value:g}".translate(words.tables.MARKS)
    if isinstance(value, list | tuple):
        return " ".join(map(words.value, value)) or words("none")
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
