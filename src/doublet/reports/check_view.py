"""What a report of a check shows, as values: the one-file page and the pages of the service draw the same ones.

`view_check` takes a check, its text and the texts of its sources (or excerpts of them) and gives a `CheckView`:
figures, sources with number and colour, the text in pieces, passages side by side with the words that differ, signs of
disguise with their places, what was left out, what failed, what to look at first, and the settings. Everything is
said in the language of the reader. Nothing here is HTML: whoever draws a text passes it through `page.escape`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from doublet.matches.among import CLASS
from doublet.matches.figures import Figures, figures
from doublet.matches.left_out import Mask, words_of
from doublet.matches.rescore import rescore
from doublet.model import DISGUISES_LEFT, FAILED_STATES, Check, Fragment, LeftOut, SourceMatch, Span
from doublet.reports.wording import Wording, wording
from doublet.text.tokens import Canon

COLOURS = 12  #: after them they come again; the number tells sources apart
WHOLE_SOURCE = 8_000  #: characters: a longer source is shown around its passages only
AROUND = 1_500  #: characters of a long source before and after a passage
SHOWN_OUTCOMES = 20
SHOWN_PLACES = 5  #: of a sign of disguise
_HERE = "here"  # a mark that only begins a piece
SHOWN_WORD = 40  #: characters of such a place
FIRST_SOURCES = 2  #: that are named among what to look at first
MOVED_WORDS = 3  #: in a row, which make a place of their own and not a chance
ALWAYS_LISTED = 3  #: sources that are never folded away

Mark = TypeVar("Mark")


@dataclass(frozen=True, slots=True)
class SwitchedOff:
    """What people took out of the figures: ids of sources and fragments, kinds of fragments."""

    sources: frozenset[str] = frozenset()
    fragments: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()

    def has(self, source: SourceMatch, fragment: Fragment) -> bool:
        return source.id in self.sources or fragment.id in self.fragments or fragment.kind in self.kinds

    def score(self, check: Check) -> Check:
        """*check* without all of this. Every word counts once."""
        known = {one.id for source in check.sources for one in (*source.fragments, *source.possible)}
        without = [*self.sources, *self.fragments & known, *self.kinds]
        return rescore(check, without) if without else check


class Excerpt(NamedTuple):
    """A part of the text of a source. *start* counts characters of the whole text."""

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A fragment with the number and the colour of its source."""

    id: str
    number: int  #: of its source; 0 for one that has nothing but possible places
    colour: int
    fragment: Fragment
    source: SourceMatch
    label: str
    off: bool = False  #: a person switched it off
    left_out: bool = False  #: none of its words counts: all are in quotations, references or common wording


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source as reports list it."""

    number: int
    colour: int
    source: SourceMatch
    title: str
    share: float
    about: str  #: how much it adds, and how alike the two are
    known: str  #: id, library, time and address, as far as they are known
    passages: tuple[Passage, ...]
    possible: tuple[Passage, ...]
    excerpts: tuple[Excerpt, ...]  #: empty when its text is not in the report
    length: int | None  #: of its whole text in characters, where that is known
    off: bool = False

    @property
    def folded(self) -> bool:
        """Whether it can be folded away: other sources have all that it has."""
        return self.source.added <= 0 and self.number > ALWAYS_LISTED


@dataclass(frozen=True, slots=True)
class ViewPiece:
    """A run of characters of the document that are all in the same passages and left out for the same reasons."""

    start: int
    text: str
    owner: Passage | None  #: whose colour it has: the first that is not switched off
    passages: tuple[Passage, ...]
    joined: bool  #: the piece before it has the same owner
    left_out: tuple[str, ...]  #: kinds
    reasons: tuple[str, ...]  #: why it is left out, where that is not said of the piece before it
    disguised: tuple[str, ...]  #: kinds of disguise
    alarms: tuple[str, ...]  #: kinds of disguise whose first place this is
    hidden: tuple[str, ...] = ()  #: texts of the document that nobody sees and that would stand before it


class Stretch(NamedTuple):
    """A part of a passage: its words are all in the other text too, or all differ."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A passage in the document and in its source."""

    passage: Passage
    here: tuple[Stretch, ...]
    there: tuple[Stretch, ...]  #: empty when the text of the source is not in the report
    before: str  #: what the source says before and after it
    after: str
    equal: str  #: how many of the words are equal
    cut: bool  #: the passage is longer than what is shown


@dataclass(frozen=True, slots=True)
class Alarm:
    """A kind of disguise that looks done on purpose."""

    kind: str
    name: str
    words: int
    characters: int
    undone: bool  #: the text was compared without it
    places: tuple[Span, ...]
    shown: tuple[str, ...]  #: the first of these places, as the document has them


@dataclass(frozen=True, slots=True)
class Look:
    """Something to look at first: a sentence, and where it leads to."""

    text: str
    fragment: str = ""
    alarms: tuple[Alarm, ...] = ()
    possible: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that could not be looked at."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Setting:
    key: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class CheckView:
    """Everything that a report of a check shows."""

    name: str
    check: Check
    text: str
    words: Wording
    figures: Figures
    scored: Check  #: without what is switched off
    against: str  #: with what it was compared
    sources: tuple[ShownSource, ...]
    possible_sources: tuple[ShownSource, ...]
    passages: tuple[Passage, ...]  #: in the order of the document
    alarms: tuple[Alarm, ...]
    left_out: tuple[str, ...]
    failures: tuple[Failure, ...]  #: the first of them
    failed: int  #: how many there are
    notes: tuple[str, ...]
    first: tuple[Look, ...]
    settings: tuple[Setting, ...]

    @property
    def possible(self) -> tuple[Passage, ...]:
        """Reworded places too short to be sure of."""
        return tuple(one for source in (*self.sources, *self.possible_sources) for one in source.possible)

    def find(self, fragment: str) -> Passage | None:
        return next((one for one in self.passages if one.id == fragment), None)

    def source_of(self, passage: Passage) -> ShownSource:
        if passage.number:
            return self.sources[passage.number - 1]
        return next(one for one in self.possible_sources if one.source is passage.source)

    def others(self, passage: Passage) -> list[Passage]:
        """Passages of other sources that have some of the same words."""
        a = passage.fragment.a
        return [
            one
            for one in self.passages
            if one.id != passage.id and one.fragment.a.start < a.end and a.start < one.fragment.a.end
        ]

    def pieces(self, *, every: int = 0) -> Iterator[ViewPiece]:
        """The whole text. With *every* long pieces are cut after so many characters as well."""
        kinds = [one.kind for one in self.check.left_out]
        marks: list[tuple[Span, Passage | int | str]] = [(one.fragment.a, one) for one in self.passages]
        marks += [(span, row) for row, one in enumerate(self.check.left_out) for span in one.spans]
        marks += [(span, one.kind) for one in self.check.disguise.findings for span in one.spans]
        hidden = self._hidden()
        # A piece begins where something is hidden; at the end of the text a piece without characters has it.
        marks += [(Span(at, at + 1), _HERE) for at in hidden]
        waiting = {one.kind for one in self.alarms}
        before, told = "", set[int]()
        for start, end, under in cut(0, len(self.text), marks, every):
            having = _in_order(under)
            # An own earlier version is left out as a source; its words count where another source has them.
            rows = sorted(
                {one for one in under if isinstance(one, int) and not (having and kinds[one] == "own")}
            )
            disguised = tuple(sorted({one for one in under if isinstance(one, str)} - {_HERE}))
            here = hidden.get(start, ())
            reasons = tuple(self._reasons(rows, start, told))
            owner = next((one for one in having if not one.off), having[0] if having else None)
            yield ViewPiece(
                start,
                self.text[start:end],
                owner,
                having,
                owner is not None and owner.id == before and not reasons,
                tuple(kinds[row] for row in rows),
                reasons,
                disguised,
                tuple(one for one in (*disguised, *(("hidden",) if here else ())) if one in waiting),
                here,
            )
            before, told = owner.id if owner else "", set(rows)
            waiting -= {*disguised, *(("hidden",) if here else ())}
        if last := hidden.get(len(self.text)):
            first = ("hidden",) if "hidden" in waiting else ()
            yield ViewPiece(len(self.text), "", None, (), False, (), (), (), first, last)

    def _hidden(self) -> dict[int, tuple[str, ...]]:
        """What the document hides, by the place where it would stand."""
        out: dict[int, tuple[str, ...]] = {}
        for one in self.check.disguise.findings:
            for span, text in zip(one.spans, one.texts, strict=False):
                at = min(span.start, len(self.text))
                out[at] = (*out.get(at, ()), text)
        return out

    def _reasons(self, rows: Iterable[int], at: int, told: set[int]) -> Iterator[str]:
        """Why the words from *at* on are left out, where that has not been *told* of the words before them."""
        for row in rows:
            one: LeftOut = self.check.left_out[row]
            for span, reason in zip(one.spans, one.reasons, strict=False):
                if span.start <= at < span.end and (row not in told or span.start == at):
                    yield self.words.say(reason)
                    break

    def beside(self, passage: Passage, *, longest: int = 0) -> SideBySide:
        """A passage side by side with its source; with *longest* only so many characters of it."""
        fragment, excerpts = passage.fragment, self.source_of(passage).excerpts
        end = fragment.a.start + longest if longest else fragment.a.end
        here = self.text[fragment.a.start : min(fragment.a.end, end)]
        there = before = after = ""
        for start, text in excerpts:
            first, last = fragment.b.start - start, fragment.b.end - start
            if first >= 0 and last <= len(text):
                there = text[first : min(last, first + longest) if longest else last]
                before, after = text[max(0, first - AROUND) : first], text[last : last + AROUND]
                break
        left, right = differences(here, there) if there else ((Stretch(here, False),), ())
        longer = max(fragment.a.end - fragment.a.start, fragment.b.end - fragment.b.start)
        equal = self.words("check_equal", share=fragment.score)
        return SideBySide(passage, left, right, before, after, equal, bool(longest) and longer > longest)


def colour(number: int) -> int:
    """The colour of the source with this number."""
    return (number - 1) % COLOURS + 1


def view_check(
    check: Check,
    text: str,
    texts: Mapping[str, str | Sequence[tuple[int, str]]] | None = None,
    *,
    name: str = "",
    words: Wording | None = None,
    off: SwitchedOff | None = None,
) -> CheckView:
    """The values of a report. *text* is the checked one.

    *texts* has the texts of sources by id, whole or as excerpts, for those that do not carry theirs. *words* is the
    language of the reader. The figures are those without what is switched *off*.
    """
    words, off = words or wording(), off or SwitchedOff()
    scored = off.score(check)
    shares = {one.id: one.share for one in scored.sources}
    uncounted = words_of(
        (span for one in check.left_out if one.kind != "own" for span in one.ranges), check.words
    )

    def shown(number: int, source: SourceMatch) -> ShownSource:
        share = source.share if scored is check else shares.get(source.id, 0.0)
        return _source(number, source, share, (texts or {}).get(source.id, ""), words, off, uncounted)

    sources = tuple(shown(number, source) for number, source in enumerate(check.sources, 1))
    possible = tuple(shown(0, source) for source in check.possible_sources)
    passages = sorted(
        (one for source in sources for one in source.passages),
        key=lambda one: (one.fragment.a, one.number, one.id),
    )
    alarms = tuple(_alarms(check, text, words))
    failed = [one for one in check.outcomes if one.state in FAILED_STATES]
    return CheckView(
        name or check.name or words("check_document"),
        check,
        text,
        words,
        figures(scored),
        scored,
        words("check_against", documents=check.documents, libraries=check.libraries),
        sources,
        possible,
        tuple(passages),
        alarms,
        tuple(_left_out(check, words)),
        tuple(Failure(one.place or one.id, words.say(one.reason)) for one in failed[:SHOWN_OUTCOMES]),
        len(failed),
        tuple(words.say(note) for note in check.notes),
        tuple(_first(sources, possible, passages, alarms, words)),
        tuple(
            Setting(key, words.name("setting", key), words.value(value))
            for key, value in check.parameters.items()
        ),
    )


def _source(
    number: int,
    source: SourceMatch,
    share: float,
    given: str | Sequence[tuple[int, str]],
    words: Wording,
    off: SwitchedOff,
    uncounted: Mask,
) -> ShownSource:
    def passage(one: Fragment, label: str) -> Passage:
        left_out = one.a_words is not None and bool(uncounted[one.a_words.start : one.a_words.end].all())
        return Passage(one.id, number, colour(number), one, source, label, off.has(source, one), left_out)

    head = words("check_source", number=number) if number else words("check_possible_only")
    passages = tuple(
        passage(one, words("check_passage", number=number, kind=one.kind, words=one.words))
        for one in sorted(source.fragments, key=lambda one: (one.a, one.id))
    )
    given = source.text or given
    length = len(given) if isinstance(given, str) else None
    if isinstance(given, str):
        given = excerpts(given, [one.b for one in (*source.fragments, *source.possible)])
    about = [words("check_like", resemblance=source.resemblance, containment=source.containment)]
    if abs(source.added - source.share) >= 0.0005:
        about.insert(
            0, words("check_added", share=source.added) if source.added else words("check_added_none")
        )
    known = [source.id] if source.title else []
    if source.library == CLASS:
        known.append(words("class_library"))
    elif source.library:
        known.append(words("check_library", library=source.library))
    known += [one for one in (to_the_minute(source.time), source.address) if one]
    return ShownSource(
        number,
        colour(number),
        source,
        source.title or source.id,
        share,
        "; ".join(about),
        " · ".join(known),
        passages,
        tuple(passage(one, head) for one in source.possible),
        tuple(Excerpt(start, text) for start, text in given),
        length,
        source.id in off.sources,
    )


def _alarms(check: Check, text: str, words: Wording) -> Iterator[Alarm]:
    for one in check.disguise.findings:
        if one.alarm:
            shown = [text[start:end] for start, end in one.spans[:SHOWN_PLACES] if text[start:end]]
            shown = shown or list(one.texts[:SHOWN_PLACES])
            yield Alarm(
                one.kind,
                words.name("disguise", one.kind),
                one.words,
                one.characters,
                one.kind not in DISGUISES_LEFT,
                one.spans,
                tuple(word if len(word) <= SHOWN_WORD else f"{word[:SHOWN_WORD]}…" for word in shown),
            )


def _left_out(check: Check, words: Wording) -> Iterator[str]:
    for one in check.left_out:
        if not one.words:
            yield words.capital(words("check_left_out_none", kind=one.kind))
            continue
        yield words(
            "check_left_out_row",
            kind=one.kind,
            words=one.words,
            share=one.share_with,
            documents=one.documents,
        )
    if sum(one.words > 0 for one in check.left_out) > 1 and check.share_with_all is not None:
        yield words("check_left_out_all", share=check.share_with_all)


def _first(
    sources: Sequence[ShownSource],
    possible: Sequence[ShownSource],
    passages: Sequence[Passage],
    alarms: Sequence[Alarm],
    words: Wording,
) -> Iterator[Look]:
    for code, undone in (("check_first_disguise", True), ("check_first_left", False)):
        some = tuple(one for one in alarms if one.undone is undone)
        if some:
            yield Look(words(code, kinds=[one.kind for one in some]), alarms=some)
    counted = [one for one in sources if not one.off]
    for one in counted[:FIRST_SOURCES]:
        told = words("check_first_source", number=one.number, title=one.title, share=one.share)
        yield Look(told, one.passages[0].id if one.passages else "")
    seen = [one for one in passages if not (one.off or one.left_out)]
    if seen:
        longest = max(seen, key=lambda one: one.fragment.words)
        told = words("check_first_passage", words=longest.fragment.words, kind=longest.fragment.kind)
        yield Look(told, longest.id)
    weak = sum(len(source.possible) for source in (*sources, *possible))
    if weak:
        yield Look(words("check_first_possible", places=weak), possible=True)


def to_the_minute(time: str) -> str:
    """A time of a file to the minute; anything else as it was given."""
    return re.sub(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+(?:Z|\+00:00)$", r"\1 \2 UTC", time)


# Texts in parts


def _in_order(under: Iterable[object]) -> tuple[Passage, ...]:
    having = [one for one in under if isinstance(one, Passage)]
    return tuple(sorted(having, key=lambda one: (one.number, one.fragment.a, one.id)))


def cut(
    start: int, end: int, marks: Iterable[tuple[Span, Mark]], every: int = 0
) -> Iterator[tuple[int, int, list[Mark]]]:
    """Runs of characters from *start* to *end* under the same marks, in order: first, last, the marks."""
    opens: dict[int, list[tuple[int, Mark]]] = {}
    closes: dict[int, list[int]] = {}
    edges = {start, end, *(range(start + every, end, every) if every else ())}
    for number, (span, mark) in enumerate(marks):
        first, last = max(start, span.start), min(end, span.end)
        if first < last:
            opens.setdefault(first, []).append((number, mark))
            closes.setdefault(last, []).append(number)
            edges |= {first, last}
    under: dict[int, Mark] = {}
    for first, last in itertools.pairwise(sorted(edges)):
        for number in closes.get(first, ()):
            del under[number]
        under.update(opens.get(first, ()))
        yield first, last, list(under.values())


def source_pieces(source: ShownSource, excerpt: Excerpt) -> Iterator[tuple[int, str, tuple[Passage, ...]]]:
    """An excerpt of a source in pieces: where each begins, its text, and the passages that have it."""
    marks = [(one.fragment.b, one) for one in source.passages]
    for start, end, under in cut(excerpt.start, excerpt.start + len(excerpt.text), marks):
        yield start, excerpt.text[start - excerpt.start : end - excerpt.start], _in_order(under)


def excerpts(text: str, spans: Iterable[Span]) -> list[Excerpt]:
    """What to show of a source: all of a short text; else *spans* with something around them, cut between words."""
    if len(text) <= WHOLE_SOURCE:
        return [Excerpt(0, text)] if text else []
    out: list[Span] = []
    for span in sorted(spans):
        start, end = min(span.start, len(text)), min(span.end, len(text))
        first, last = max(0, start - AROUND), min(len(text), end + AROUND)
        space = text.find(" ", first, start)
        first = space + 1 if first and space >= 0 else first
        space = text.rfind(" ", end, last)
        last = space if last < len(text) and space >= 0 else last
        if out and first <= out[-1].end:
            out[-1] = Span(out[-1].start, max(last, out[-1].end))
        else:
            out.append(Span(first, last))
    return [Excerpt(start, text[start:end]) for start, end in out or [Span(0, WHOLE_SOURCE)]]


def differences(here: str, there: str) -> tuple[tuple[Stretch, ...], tuple[Stretch, ...]]:
    """Both texts in stretches, words that the other does not have at that place apart.

    Words are compared in their canonical form, as everywhere: a capital letter or a disguised word is no difference.
    Nor are a few words in a row that only stand elsewhere.
    """
    from rapidfuzz.distance import Levenshtein

    batch = Canon().tokens([here, there])
    a, b = batch.one(0), batch.one(1)
    changed_a, changed_b = set[int](), set[int]()
    for code in Levenshtein.opcodes(a.hashes.tolist(), b.hashes.tolist()):
        if code.tag != "equal":
            changed_a |= set(range(code.src_start, code.src_end))
            changed_b |= set(range(code.dest_start, code.dest_end))
    moved_a, moved_b = _moved(a.hashes.tolist(), b.hashes.tolist(), changed_a, changed_b)
    changed_a -= moved_a
    changed_b -= moved_b
    return (
        _stretches(here, a.starts.tolist(), a.ends.tolist(), changed_a),
        _stretches(there, b.starts.tolist(), b.ends.tolist(), changed_b),
    )


def _moved(
    a: Sequence[int], b: Sequence[int], changed_a: set[int], changed_b: set[int]
) -> tuple[set[int], set[int]]:
    """Words of runs of `MOVED_WORDS` that both sides have, but at another place."""

    def runs(words: Sequence[int], changed: set[int]) -> dict[tuple[int, ...], list[int]]:
        out: dict[tuple[int, ...], list[int]] = {}
        for at in range(len(words) - MOVED_WORDS + 1):
            if all(at + i in changed for i in range(MOVED_WORDS)):
                out.setdefault(tuple(words[at : at + MOVED_WORDS]), []).append(at)
        return out

    left, right = runs(a, changed_a), runs(b, changed_b)
    both = left.keys() & right.keys()
    found = [
        {at + i for run in both for at in side[run] for i in range(MOVED_WORDS)} for side in (left, right)
    ]
    return found[0], found[1]


def _stretches(
    text: str, starts: Sequence[int], ends: Sequence[int], changed: set[int]
) -> tuple[Stretch, ...]:
    """Neighbouring words that differ are one stretch, with what is between them."""
    out: list[Stretch] = []
    at, word = 0, 0
    while word < len(starts):
        if word not in changed:
            word += 1
            continue
        last = word
        while last + 1 in changed:
            last += 1
        if starts[word] > at:
            out.append(Stretch(text[at : starts[word]], False))
        out.append(Stretch(text[starts[word] : ends[last]], True))
        at, word = ends[last], last + 1
    if at < len(text):
        out.append(Stretch(text[at:], False))
    return tuple(out)
