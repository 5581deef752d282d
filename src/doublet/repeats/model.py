"""Options and results of the search for repeats. Places are characters of the source file, lines and columns from 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from doublet.errors import InvalidParameter, nearest
from doublet.model import FORMAT_VERSION, Note, Outcome, Span
from doublet.repeats.plain import plain_text

ALGORITHMS = ("auto", "exact", "edit", "ngrams")
TOKENS = ("word", "punctuation", "line", "sentence")
REDUCTIONS = ("none", "stem", "lemma")
LINKS = ("components", "cliques")
KINDS = ("passage", "neighbour", "listing", "formula")  #: of groups
FORMULA_MEMBERS, FORMULA_TOKENS = 8, 15  #: places at least, and tokens at most, of a formula
# Chosen on 190 groups that two readers judged: of 7 such groups they refused 6. An eighth, of 27 tokens, they accepted.
TEMPLATE_MEMBERS, TEMPLATE_TOKENS = 3, 24  #: the same of one whose places share …
TEMPLATE_ALIKE = 0.9  #: … less than that of their words
# Of 2,072 passages of 13 manuals these are 260; half or twice the one or the other changes that to 219–296.
NEIGHBOUR_GAP, NEIGHBOUR_TOKENS = 10, 100  #: between two places side by side, and in one on average
DECISIONS = ("merge", "keep", "ignore")  #: what a reader can decide about a group


@dataclass(frozen=True, slots=True)
class RepeatOptions:
    """All parameters of all algorithms; each says whose it is. The command line has the same names."""

    algorithm: str = "auto"  #: auto, exact, edit or ngrams
    min_tokens: int | None = None  #: shortest repeat; auto 5, exact 10, edit: size of its fragments, ngrams 4
    tokens: str = "word"  #: what is compared: word, punctuation (words and signs), line, sentence
    stop_words: bool = False  #: leave the Russian and English stop words out
    reduce: str = "none"  #: edit, ngrams, auto: compare stems or lemmas
    mask_numbers: bool | None = None  #: all numbers count as equal; by default only for auto
    code: bool = True  #: look into blocks of code
    tables: bool = True  #: look into tables
    balance: bool = (
        True  #: join neighbouring groups where the significance grows; not for auto, which joins itself
    )
    fragment_tokens: int = 10  #: edit: tokens of a fragment
    max_edits: int = 3  #: edit: tokens inserted, left out or changed between two fragments
    hash_distance: int = 12  #: edit: bits of 32 in which the simhashes of two fragments may differ
    link: str = "components"  #: edit: components, or cliques (every two alike)
    ngram: int = 3  #: ngrams: tokens of an n-gram
    min_common: int = 2  #: ngrams: n-grams that a sentence must share with the whole group
    min_common_share: float = 0.5  #: ngrams: the same, as a share of the sentence's own
    level: float = 1.0  #: auto: 1 is the tuned rule, 0.5 reports more, 2 less

    def __post_init__(self) -> None:
        for name, known in (
            ("algorithm", ALGORITHMS),
            ("tokens", TOKENS),
            ("reduce", REDUCTIONS),
            ("link", LINKS),
        ):
            value = getattr(self, name)
            if value not in known:
                raise InvalidParameter(
                    "value_not_known",
                    name=name,
                    value=value,
                    nearest=nearest(str(value), known),
                    known=list(known),
                )
        whole = {
            "min_tokens": 1,
            "fragment_tokens": 2,
            "max_edits": 0,
            "hash_distance": 0,
            "ngram": 1,
            "min_common": 1,
        }
        for name, least in whole.items():
            value = getattr(self, name)
            if name == "min_tokens" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidParameter("whole_number_least", value=value, least=least, name=name)
        if self.max_edits >= self.fragment_tokens:
            raise InvalidParameter(
                "too_many_edits",
                max_edits=self.max_edits,
                fragment_tokens=self.fragment_tokens,
                name="max_edits",
            )
        for name, low, high in (("min_common_share", 0.0, 1.0), ("level", 0.0, 1000.0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise InvalidParameter("number_between", value=value, low=low, high=high, name=name)
        if self.algorithm == "exact" and self.reduce != "none":
            raise InvalidParameter(
                "reduce_for_exact",
                reduce=self.reduce,
                name="reduce",
            )

    @property
    def least(self) -> int:
        """min_tokens, or the default of the algorithm (a line or a sentence is a repeat by itself)."""
        if self.min_tokens is not None:
            return self.min_tokens
        if self.tokens in ("line", "sentence"):
            return 1
        return {"auto": 5, "exact": 10, "edit": self.fragment_tokens, "ngrams": 4}[self.algorithm]

    @property
    def masks_numbers(self) -> bool:
        return self.algorithm == "auto" if self.mask_numbers is None else self.mask_numbers

    def to_dict(self) -> dict[str, Any]:
        out = {item.name: getattr(self, item.name) for item in fields(self)}
        return out | {"min_tokens": self.least, "mask_numbers": self.masks_numbers}


OPTION_NAMES = tuple(item.name for item in fields(RepeatOptions))


class RepeatFragment(NamedTuple):
    """One place of a repeat. *section* is the number and title of the heading above it, or empty.

    Not a dataclass: there can be a hundred thousand, and those take seven times as long to make.
    """

    file: str
    start: int  #: character in the source
    end: int
    line: int  #: from 1
    column: int  #: from 1
    end_line: int
    end_column: int  #: of the first character behind it
    tokens: int
    section: str
    place: str  #: "page 3", "paragraph 12": where the format has one that is no line of a text; else empty
    text: str  #: as it is in the source, or in the text as read

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    @property
    def where(self) -> str:
        """For people: "guide.md:12:1", or "guide.pdf, page 3"."""
        return f"{self.file}, {self.place}" if self.place else f"{self.file}:{self.line}:{self.column}"

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


@dataclass(frozen=True, slots=True)
class RepeatGroup:
    """Places that say the same. *significance* is n·m̄²: n fragments of m̄ tokens on average."""

    id: str  #: made from the words, so it stays when the group moves
    significance: float
    tokens: float  #: mean length of its fragments
    equal: bool  #: word for word the same
    fragments: tuple[RepeatFragment, ...]
    new: bool | None = None  #: not in the baseline; None without one
    reason: Note | None = None  #: why it is new
    #: or "neighbour": places side by side; or "listing": mostly code; or "formula": a few words in many places, or that
    #: only announce what follows
    kind: str = "passage"
    decision: str = ""  #: merge, keep or ignore, when a reader has decided

    @property
    def words_saved(self) -> int:
        """Words that go when it is said in one place only: the longest one stays."""
        lengths = [fragment.tokens for fragment in self.fragments]
        return sum(lengths) - max(lengths)

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "id": self.id,
            "significance": self.significance,
            "words_saved": self.words_saved,
            "kind": self.kind,
            "tokens": self.tokens,
            "equal": self.equal,
            "fragments": [fragment.to_dict() for fragment in self.fragments],
        }
        if self.new is not None:
            out |= {"new": self.new, "reason": self.reason.to_dict() if self.reason else None}
        if self.decision:
            out["decision"] = self.decision
        return out


@dataclass(frozen=True, slots=True)
class RepeatFile:
    """One file that was looked at. *share* is the part of its tokens that is in repeats."""

    file: str
    kind: str  #: text, xml, html, markdown, rst, latex; or of a document pdf, docx, odt, epub …
    characters: int
    tokens: int
    share: float
    source: str = field(default="", repr=False, compare=False)  #: its text, with the markup
    masked: str = field(default="", repr=False, compare=False)  #: the same with the markup blanked out

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name not in ("source", "masked")}


@dataclass(frozen=True, slots=True)
class Repeats:
    """Result of `find_repeats`. *groups* come by falling significance; *share* is the part of all tokens in repeats."""

    algorithm: str
    parameters: Mapping[str, Any]
    files: tuple[RepeatFile, ...]
    tokens: int
    share: float
    groups: tuple[RepeatGroup, ...]
    outcomes: tuple[Outcome, ...] = ()
    notes: tuple[Note, ...] = ()
    _by_name: dict[str, RepeatFile] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {file.file: file for file in self.files})

    @property
    def new_groups(self) -> tuple[RepeatGroup, ...]:
        """Groups that a baseline does not have and that nobody decided to keep or ignore; none without a baseline."""
        return tuple(group for group in self.groups if group.new and group.decision not in ("keep", "ignore"))

    def plain(self, fragment: RepeatFragment) -> str:
        """The text of *fragment* without markup, and without the blanks and empty lines that it leaves behind."""
        file = self._by_name.get(fragment.file)
        if file is None or not file.masked:
            return fragment.text
        before = file.source[file.source.rfind("\n", 0, fragment.start) + 1 : fragment.start]
        indent = len(before) if before.isspace() else 0
        return plain_text(fragment.text, file.masked[fragment.start : fragment.end], indent)

    def to_dict(self) -> dict[str, Any]:
        """As JSON. The words of each file are kept too (two bytes a word, packed), for a run with this as baseline."""
        from doublet.repeats.changed import packed_words

        words = packed_words([file.source for file in self.files])
        files = [file.to_dict() | {"words": text} for file, text in zip(self.files, words, strict=True)]
        return {
            "format": FORMAT_VERSION,
            "algorithm": self.algorithm,
            "parameters": dict(self.parameters),
            "files": files,
            "tokens": self.tokens,
            "share": self.share,
            "groups": [group.to_dict() for group in self.groups],
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
            "notes": [note.to_dict() for note in self.notes],
        }
