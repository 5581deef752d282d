"""What the addresses of a site's documents look like (L2): examples in, patterns out.

A `Pattern` is written as an address with fields, ``/post/{number}/`` or ``/{year}/{month}/{slug}.html``, so that a user
can read it, change it and give it back. `infer` finds the patterns among addresses: it goes through the pieces of their
paths from the left, and at each piece tells what is always the same, what is one of a few words, and what varies and
how. Rare patterns are left out, and so are views: another page about a document that has a page already (its comments,
a version for print). Which patterns are documents at all, their content decides.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from doublet.model import Note

LEAST_EXAMPLES = 2
LEAST_SHARE = 0.03  #: of all addresses; a pattern with fewer is an exception
FREQUENT = 0.08  # share of a word among the words at its place that makes it a word of the pattern
FEW_WORDS = 8  # so many words at most: more are names of things
_FIELDS = {
    "number": r"\d+",
    "numbers": r"\d+(?:\.\d+)+",
    "year": r"(?:19|20)\d\d",
    "month": r"(?:0?[1-9]|1[0-2])",
    "day": r"(?:0?[1-9]|[12]\d|3[01])",
    "hex": r"(?=[^/?&]*[0-9])[0-9A-Fa-f]{8,}(?:-[0-9A-Fa-f]{4,})*",
    "slug": r"[^/?&#=]+",
    "hyphened": r"(?=[^/?&#]*[-_])[^/?&#=:]+",
    "cyrillic": r"(?=[^/?&#]*%D[01])[^/?&#=:]+",
    "capital": r"(?:[A-Z]|%D0%[9A])[^/?&#=:]*",
    "any": r"[^#]*",
}
_FIELD = re.compile(r"\{([a-z]+)(?::(\d+)(?:-(\d+))?)?\}")
_EXTENSION = re.compile(r"(.+?)(\.(?:[a-z][a-z0-9]{1,5}))\Z", re.I)
_HEX = re.compile(r"[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\Z", re.I)
_TAIL_NUMBER = re.compile(r"(.*?[^\d.])(\d+)\Z")
_HEAD_NUMBER = re.compile(r"(\d+)([-_.~])(.*\D.*)\Z")
_PREFIX = re.compile(r"([^:%]{2,20}|(?:%[0-9A-F]{2})+)(:|%3A)(.+)\Z", re.I)
_VIEW_WORDS = re.compile(
    r"comments?|print|printable|pdf|download|share|edit|history|talk|reply|respond|trackback|feed|rss|amp|embed|versions?|"
    r"revisions?|cite|export|stats?|statistics|metrics|likes?|authors?|files?|full|raw|mobile|page",
    re.I,
)


@dataclass(frozen=True)
class Pattern:
    """One way in which addresses of a site are made. *text* is a path and a query with fields in braces."""

    text: str
    examples: tuple[str, ...] = field(default=(), compare=False)
    count: int = field(default=0, compare=False)  #: addresses that it was made from
    low: int = field(default=0, compare=False)  #: smallest number seen, where there is one number
    high: int = field(default=0, compare=False)
    view_of: str = field(
        default="", compare=False
    )  #: the pattern of the documents that these pages are about

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        out = []
        at = 0
        for found in _FIELD.finditer(self.text):
            out.append(re.escape(self.text[at : found.start()]))
            out.append(f"({_field_regex(found)})")
            at = found.end()
        out.append(re.escape(self.text[at:]))
        return re.compile("".join(out) + r"\Z")

    def matches(self, address: str) -> bool:
        """Whether the path and query of an address are made so."""
        return self._regex.match(target_of(address)) is not None

    @property
    def fields(self) -> list[str]:
        return [found.group(1) for found in _FIELD.finditer(self.text)]

    @property
    def plain(self) -> int:
        """Letters that do not vary: how much it says."""
        return len(_FIELD.sub("", self.text))

    @property
    def walkable(self) -> bool:
        """Whether all of its addresses can be counted out: one number, and nothing else varies."""
        return self.fields == ["number"]

    def number_of(self, address: str) -> int | None:
        """The number in an address of a walkable pattern."""
        found = self._regex.match(target_of(address)) if self.walkable else None
        return int(found.group(1)) if found else None

    def make(self, number: int) -> str:
        """The target with this number. For walkable patterns."""

        def put(found: re.Match[str]) -> str:
            return str(number).zfill(int(found.group(2))) if _is_width(found) else str(number)

        return _FIELD.sub(put, self.text, count=1)

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"text": self.text, "count": self.count, "examples": list(self.examples)}
        if self.walkable:
            out |= {"low": self.low, "high": self.high}
        return out | ({"view_of": self.view_of} if self.view_of else {})

    @staticmethod
    def from_dict(given: dict[str, Any]) -> Pattern:
        return Pattern(
            str(given["text"]),
            tuple(given.get("examples", ())),
            int(given.get("count", 0)),
            int(given.get("low", 0)),
            int(given.get("high", 0)),
            str(given.get("view_of", "")),
        )


def _is_width(found: re.Match[str]) -> bool:
    return found.group(2) is not None and found.group(3) is None


def _field_regex(found: re.Match[str]) -> str:
    """``{number:6}`` has six digits with zeros before, ``{number:1-7}`` has one to seven."""
    kind, first, last = found.groups()
    if kind == "number" and first and last:
        return rf"\d{{{first},{last}}}"
    if kind == "number" and first:
        return rf"\d{{{first},}}"
    return _FIELDS[kind]


def read_pattern(text: str) -> Pattern:
    """A pattern that a user wrote. Raises `ValueError` with a note that says what is wrong."""
    text = target_of(text) if "://" in text else text.strip()
    if not text.startswith("/"):
        raise ValueError(Note("pattern_begins"))
    for name in re.findall(r"\{([^}]*)\}", text):
        if not _FIELD.fullmatch("{" + name + "}") or name.partition(":")[0] not in _FIELDS:
            raise ValueError(
                Note("pattern_no_such_field", field=f"{{{name}}}", known=[f"{{{one}}}" for one in _FIELDS])
            )
    if "{" not in text:
        raise ValueError(Note("pattern_without_field", examples="{number}, {slug}"))
    return Pattern(text)


# Nearly every address of a page is one: reading all parts of it took most of the time of matching it.
_PLAIN_ADDRESS = re.compile(r"https?://[\w.:-]+(/[!-\"$->@-~]*(?:\?[!-\"$-~]+)?)\Z", re.ASCII)


def target_of(address: str) -> str:
    """Path and query of an address."""
    plain = _PLAIN_ADDRESS.match(address)
    if plain is not None:
        return plain.group(1)
    parts = urlsplit(address)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def is_front(address: str) -> bool:
    """Whether an address is that of a front page."""
    return target_of(address) == "/"


# Inference


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a path or the value of a parameter, and what kind of thing it is."""

    raw: str
    kind: (
        str  # number, numbers, tail (word and number), head (number and word), hex, prefix (word:rest), slug
    )
    head: str = ""
    tail: str = ""
    extension: str = ""


@dataclass(frozen=True, slots=True)
class _Split:
    address: str
    pieces: tuple[_Piece, ...]
    slash: bool
    names: tuple[str, ...]

    def shape(self) -> tuple[int, int, bool, tuple[str, ...]]:
        return (len(self.pieces) - len(self.names), len(self.pieces), self.slash, self.names)


def infer(addresses: Iterable[str], *, least_share: float = LEAST_SHARE) -> list[Pattern]:
    """The patterns of these addresses of one site, the most frequent first. Views are marked, not left out."""
    splits = [_split(address) for address in dict.fromkeys(addresses)]
    shapes: dict[Any, list[_Split]] = defaultdict(list)
    for split in splits:
        if split.pieces:
            shapes[split.shape()].append(split)
    found: list[tuple[list[str], list[_Split]]] = []
    for group in shapes.values():
        found += _branch(group, 0, [])
    least = max(LEAST_EXAMPLES, least_share * len(splits))
    merged: dict[str, list[_Split]] = defaultdict(list)
    for elements, group in found:
        text = _text(elements, group[0])
        if "{" in text:
            merged[text] += group
    made = [_pattern(text, group) for text, group in merged.items() if len(group) >= least]
    made.sort(key=lambda one: (-one.count, one.text))
    return _mark_views(made)


def infer_wanted(
    links: Sequence[str], *, only: Sequence[str] = (), examples: Sequence[str] = ()
) -> list[Pattern]:
    """The patterns that a user means: of the *links* of a site those with one of the texts *only*, or those that are
    made like the *examples*. An empty list when nothing fits."""
    if examples:
        known = infer([*links, *examples])
        # Of several that an example fits, the one that says most: "/{slug}/{slug}" fits half of a site.
        fit = [[one for one in known if one.matches(example)] for example in examples]
        chosen = [max(some, key=lambda one: one.plain) for some in fit if some]
        left = [example for example in examples if not any(one.matches(example) for one in chosen)]
        if left:
            chosen += [one for one in infer(left, least_share=0.0) if one not in chosen]
            chosen += [_alone(example) for example in left if not any(o.matches(example) for o in chosen)]
        return [Pattern(o.text, o.examples, o.count, o.low, o.high) for o in dict.fromkeys(chosen)]
    fitting = [link for link in links if any(fits(link, text) for text in only)] if only else list(links)
    return infer(fitting)


def fits(address: str, clarification: str) -> bool:
    """Whether an address has a clarification in it, however its letters are written."""
    from urllib.parse import unquote

    text = unquote(clarification).lower()
    return text in unquote(target_of(address)).lower() or text in address.lower()


def _alone(address: str) -> Pattern:
    """A pattern from a single example: its numbers vary, else its last piece."""
    split = _split(address)
    elements = []
    last = len(split.pieces) - len(split.names) - 1
    varies = any(piece.kind != "slug" for piece in split.pieces)
    for place, piece in enumerate(split.pieces):
        if piece.kind == "slug" and (varies or place != last):
            elements.append(piece.raw)
        else:
            elements.append(_variable([piece]))
    return _pattern(_text(elements, split), [split])


def _split(address: str) -> _Split:
    path, _, query = target_of(address).partition("?")
    raw = path.strip("/").split("/") if path.strip("/") else []
    pieces = [_piece(text, last=place == len(raw) - 1) for place, text in enumerate(raw)]
    parameters = sorted(part.partition("=")[::2] for part in query.split("&") if part)
    pieces += [_piece(value) for _, value in parameters]
    slash = path.endswith("/") and len(path) > 1
    return _Split(address, tuple(pieces), slash, tuple(name for name, _ in parameters))


def _piece(text: str, *, last: bool = False) -> _Piece:
    found = _EXTENSION.match(text) if last else None
    base, extension = (found.group(1), found.group(2)) if found else (text, "")
    if base.isdecimal() and base.isascii():
        return _Piece(text, "number", extension=extension)
    if re.fullmatch(_FIELDS["numbers"], base):
        return _Piece(text, "numbers", extension=extension)
    if _HEX.match(base) and re.search(r"\d", base) and re.search(r"[a-f-]", base, re.I):
        return _Piece(text, "hex", extension=extension)
    prefix = _PREFIX.match(base)
    if prefix:
        return _Piece(text, "prefix", prefix.group(1) + prefix.group(2), prefix.group(3), extension)
    head = _HEAD_NUMBER.match(base)
    if head:
        return _Piece(text, "head", head.group(1), head.group(2), extension)
    tail = _TAIL_NUMBER.match(base)
    if tail and not tail.group(1).endswith("%"):
        return _Piece(text, "tail", tail.group(1), tail.group(2), extension)
    return _Piece(text, "slug", extension=extension)


def _branch(group: list[_Split], place: int, before: list[str]) -> list[tuple[list[str], list[_Split]]]:
    """The ways in which the addresses of a group go on from a place."""
    if place == len(group[0].pieces):
        return [(before, group)]
    out = []
    for element, part in _ways(group, place, before):
        out += _branch(part, place + 1, [*before, element])
    return out


def _ways(group: list[_Split], place: int, before: list[str]) -> list[tuple[str, list[_Split]]]:
    """What is found at a place: each word that is part of the pattern, and each kind of thing that varies."""
    by_kind: dict[tuple[str, str], list[_Split]] = defaultdict(list)
    for split in group:
        piece = split.pieces[place]
        by_kind[piece.kind, piece.extension].append(split)
    out: list[tuple[str, list[_Split]]] = []
    words: dict[str, list[_Split]] = defaultdict(list)  # by extension: what is told word by word
    for (kind, extension), part in sorted(by_kind.items()):
        if kind in ("number", "numbers"):
            values = {split.pieces[place].raw for split in part}
            if len(values) == 1 and len(part) > 1 and not _is_date(values):
                out.append((next(iter(values)), part))
            else:
                out.append((_variable([s.pieces[place] for s in part], before), part))
        elif kind in ("tail", "prefix"):
            rest = _by_head(part, place, out)
            words[extension] += rest
        elif kind == "head":
            if len(part) * 2 >= len(group) or len(part) >= 3:
                out.append((_variable([s.pieces[place] for s in part]), part))
            else:
                words[extension] += part
        else:
            words[extension] += part
    for extension in sorted(words):
        out += _words(words[extension], place, extension)
    return out


def _by_head(part: list[_Split], place: int, out: list[tuple[str, list[_Split]]]) -> list[_Split]:
    """``page12``, ``Talk:Snow``: where the words before are few, each is part of a pattern. Gives the others."""
    heads = Counter(split.pieces[place].head for split in part)
    frequent = [head for head, many in heads.items() if many >= max(2, 0.12 * len(part))]
    if len(heads) > max(FEW_WORDS, 0.5 * len(part)):
        frequent = []
    rest = []
    chosen: dict[str, list[_Split]] = defaultdict(list)
    for split in part:
        piece = split.pieces[place]
        if piece.head in frequent:
            chosen[piece.head].append(split)
        else:
            rest.append(split)
    for head, some in sorted(chosen.items()):
        pieces = [split.pieces[place] for split in some]
        if pieces[0].kind == "tail":
            tails = [piece.tail for piece in pieces]
            varied = _number(tails) if len(set(tails)) > 1 else tails[0]
        else:
            varied = "{slug}" if len({piece.tail for piece in pieces}) > 1 else pieces[0].tail
        out.append((f"{head}{varied}{pieces[0].extension}", some))
    return rest


def _words(part: list[_Split], place: int, extension: str) -> list[tuple[str, list[_Split]]]:
    """Words that are part of a pattern, each by itself, and the others as what varies."""
    counts = Counter(split.pieces[place].raw for split in part)
    if len(counts) == 1 and (len(part) > 1 or place + 1 < len(part[0].pieces)):
        return [(next(iter(counts)), part)]
    frequent = {word for word, many in counts.items() if many >= max(2, FREQUENT * len(part))}
    rest_words = len(counts) - len(frequent)
    if len(frequent) > FEW_WORDS or (rest_words > 4 * len(frequent) and _evenly(counts)):
        frequent = set()
    out = [(word, [s for s in part if s.pieces[place].raw == word]) for word in sorted(frequent)]
    rest = [split for split in part if split.pieces[place].raw not in frequent]
    if rest:
        pieces = [split.pieces[place] for split in rest]
        tails = [piece for piece in pieces if piece.kind == "tail"]
        hexes = [piece for piece in pieces if piece.kind == "hex"]
        if len(tails) >= 0.8 * len(pieces) and len(pieces) >= LEAST_EXAMPLES:
            kept = [split for split in rest if split.pieces[place].kind == "tail"]
            out.append((_variable(tails), kept))
        elif len(hexes) >= 0.7 * len(pieces):
            kept = [split for split in rest if split.pieces[place].kind == "hex"]
            out.append((_variable(hexes), kept))
        else:
            out.append(
                (_slug([piece.raw.removesuffix(piece.extension) for piece in pieces]) + extension, rest)
            )
    return out


def _evenly(counts: Counter[str]) -> bool:
    """Whether no word is much more frequent than the others: authors, not sections."""
    (_, most), *_ = counts.most_common(1)
    return most < 0.2 * counts.total()


def _variable(pieces: Sequence[_Piece], before: Sequence[str] = ()) -> str:
    """A field for what varies, with what all have around it."""
    kind, extension = pieces[0].kind, pieces[0].extension
    bases = [piece.raw.removesuffix(piece.extension) for piece in pieces]
    if kind == "number":
        return _date(bases, before) or _number(bases) + extension
    if kind == "numbers":
        return "{numbers}" + extension
    if kind == "hex":
        return "{hex}" + extension
    if kind == "tail":
        joints = {re.search(r"[^\w%]?\Z|_\Z", piece.head).group() for piece in pieces}  # type: ignore[union-attr]
        joint = next(iter(joints)) if len(joints) == 1 else ""
        return "{slug}" + joint + _number([piece.tail for piece in pieces]) + extension
    if kind == "head":
        return _number([piece.head for piece in pieces]) + pieces[0].tail + "{slug}" + extension
    return _slug(bases) + extension


def _slug(bases: Sequence[str]) -> str:
    """The narrowest field that all have."""
    if len(bases) >= 3:
        for name in ("cyrillic", "hyphened", "capital"):
            if all(re.fullmatch(_FIELDS[name], base) for base in bases):
                return f"{{{name}}}"
    return "{slug}"


def _number(texts: Sequence[str]) -> str:
    """Numbers of one width with zeros before keep it; others have one digit more than seen at most."""
    lengths = {len(text) for text in texts}
    if len(lengths) == 1 and any(text.startswith("0") and len(text) > 1 for text in texts):
        return f"{{number:{lengths.pop()}}}"
    return "{number}"


def _is_date(values: set[str]) -> bool:
    return any(re.fullmatch(_FIELDS["year"], value) for value in values)


def _date(bases: Sequence[str], before: Sequence[str]) -> str:
    """Year, month and day by their place and their values."""
    last = before[-1] if before else ""
    if last.endswith("{year}") and all(re.fullmatch(_FIELDS["month"], base) for base in bases):
        return "{month}"
    if last.endswith("{month}") and all(re.fullmatch(_FIELDS["day"], base) for base in bases):
        return "{day}"
    return "{year}" if all(re.fullmatch(_FIELDS["year"], base) for base in bases) else ""


def _text(elements: Sequence[str], split: _Split) -> str:
    pieces = len(elements) - len(split.names)
    path = "/" + "/".join(elements[:pieces]) + ("/" if split.slash else "")
    if not split.names:
        return path
    pairs = zip(split.names, elements[pieces:], strict=True)
    return path + "?" + "&".join(f"{name}={value}" if value else name for name, value in pairs)


def _pattern(text: str, group: Sequence[_Split]) -> Pattern:
    examples = tuple(split.address for split in group[:10])
    plain = Pattern(text, examples, len(group))
    numbers = [number for split in group if (number := plain.number_of(split.address)) is not None]
    if not numbers:
        return plain
    return Pattern(text, examples, len(group), min(numbers), max(numbers))


def _mark_views(patterns: list[Pattern]) -> list[Pattern]:
    """A pattern that is another one with something after it: pages about its documents."""
    out = []
    for one in patterns:
        base = ""
        for other in patterns:
            if other is one or not _has_id(other):
                continue
            if _is_view(one.text, other.text):
                base = other.text
                break
        out.append(Pattern(one.text, one.examples, one.count, one.low, one.high, base) if base else one)
    return out


def _has_id(pattern: Pattern) -> bool:
    """What a document can be told by: not only a section."""
    return bool({"number", "numbers", "hex", "hyphened", "slug", "cyrillic", "capital"} & set(pattern.fields))


def _is_view(text: str, of: str) -> bool:
    path, _, query = text.partition("?")
    base, _, base_query = of.partition("?")
    stem = re.sub(r"\.\w+\Z", "", base.rstrip("/"))
    if path.rstrip("/") == base.rstrip("/"):
        return bool(query) and set(base_query.split("&")) - {""} < set(query.split("&"))
    if (
        not path.startswith(stem + "/")
        and not path.startswith(stem + "-")
        and not path.startswith(stem + "_")
    ):
        return False
    tail = re.sub(r"\.\w+\Z", "", path[len(stem) + 1 :].strip("/"))
    first = tail.split("/")[0]
    plain = re.sub(r"\{[^}]*\}", "", first).strip("-_")
    if _VIEW_WORDS.fullmatch(plain):
        return True
    by_number = {"number", "numbers", "hex"} & set(_FIELD.sub(r"\1 ", of.rsplit("/", 2)[-1] or of).split())
    return bool(by_number) and "{" not in tail and bool(tail)
