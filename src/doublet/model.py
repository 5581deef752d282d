"""Value types and protocols that every part of Doublet speaks in. Frozen, without behaviour beyond arithmetic.

Places are `Span`s: half-open, in characters of the text as the user gave it. Shares, resemblance and containment are
0 to 1. The glossary (docs/glossary.md) explains the words.
"""

from __future__ import annotations

import hashlib
import json
import math
import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    U64 = NDArray[np.uint64]

LANGUAGES = ("en", "ru")  #: that Doublet speaks
FORMAT_VERSION = (
    2  #: of every JSON that Doublet writes, but for that of a check; 1 had sentences where 2 has notes
)
CHECK_FORMAT = 2  #: of the JSON of a check: docs/reference/formats.md says what each version holds


class Note:
    """Something that is said to people, as a code and values: ``Note("common_wording", documents=7)``.

    The sentence is made at the edge, in the language of the reader, from the tables of doublet.reports.wording; `str`
    gives the English one. Values are what JSON has (lists become tuples), or notes. Two notes are equal when code and
    values are. ``Note("said", text=…)`` carries words that are not ours.
    """

    __slots__ = ("code", "values")
    code: str
    values: Mapping[str, Any]

    def __init__(self, code: str, /, **values: Any) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "values", {name: _plain(value) for name, value in values.items()})

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a note does not change: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a note does not change: {name}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Note) and (self.code, self.values) == (other.code, other.values)

    def __hash__(self) -> int:
        return hash((self.code, tuple(sorted((name, str(value)) for name, value in self.values.items()))))

    def __repr__(self) -> str:
        values = "".join(f", {name}={value!r}" for name, value in self.values.items())
        return f"Note({self.code!r}{values})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _note, (self.code, dict(self.values))

    def __str__(self) -> str:
        from doublet.reports.wording import wording

        return wording("en").say(self)

    def to_dict(self) -> dict[str, Any]:
        """Code and values, and the English sentence for people who read the JSON."""
        return {"code": self.code, "values": _json(self.values), "message": str(self)}

    def to_text(self) -> str:
        """Code and values as one text, for a database."""
        return json.dumps({"code": self.code, "values": _json(self.values)}, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> Note | None:
        """What `to_text` gave; a sentence, as older databases have it, becomes a note that says it; "" is None."""
        if not text.startswith('{"code":'):
            return cls("said", text=text) if text else None
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, value: Any) -> Note:
        """What `to_dict` gave. A text, as reports had before notes were codes, becomes a note that says it."""
        if isinstance(value, str):
            return cls("said", text=value)
        return cls(value["code"], **{name: _noted(one) for name, one in value["values"].items()})


def _note(code: str, values: Mapping[str, Any]) -> Note:
    return Note(code, **values)


def _noted(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_noted, value))
    return Note.from_dict(value) if isinstance(value, dict) and "code" in value else value


@runtime_checkable
class SaysNote(Protocol):
    """What has a note of its own to say: the errors of this program."""

    @property
    def note(self) -> Note: ...


def _plain(value: Any) -> Any:
    """A value as a note keeps it: what JSON has, a note, or the text that it is shown as."""
    if isinstance(value, str):  # halves of characters are no JSON
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if value is None or isinstance(value, bool | int | Note):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        some = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return tuple(_plain(one) for one in some)
    if isinstance(value, BaseException):  # ours have a note
        first = value.args[0] if value.args else None
        found = value.note if isinstance(value, SaysNote) else first
        return found if isinstance(found, Note) else str(value) or type(value).__name__
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return _plain(float(value))
    return _plain(str(value) if isinstance(value, PurePath) else repr(value))


def _json(value: Any) -> Any:
    if isinstance(value, Note):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _json(one) for name, one in value.items()}
    return [_json(one) for one in value] if isinstance(value, tuple) else value


class Span(NamedTuple):
    """Half-open place in the original text, in characters (code points)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text with an id. *time* (ISO 8601, a number, or as `matches.preference.read_time` says) and *source* serve the
    choice of what to keep."""

    id: str
    text: str
    title: str = ""
    time: str = ""
    source: str = ""
    address: str = ""  #: where a person can open it


@dataclass(frozen=True, slots=True)
class Token:
    """One word: its canonical form, its place and its flags (doublet.kernels.data.FLAG_…)."""

    text: str
    span: Span
    flags: int


def hash_text(text: str) -> str:
    """SHA-256 of a text in UTF-8: whether it is still the text that was looked at."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def as_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON has them: lists, where Python has tuples."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a signature was made. Signatures with different recipes refuse to be compared.

    *statistics* is the fingerprint of the collection statistics for the methods that need them, else empty.
    """

    method: str
    parameters: tuple[tuple[str, Any], ...]
    text_version: int
    hash_version: int
    statistics: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "parameters": as_json(dict(self.parameters)),
            "text_version": self.text_version,
            "hash_version": self.hash_version,
            "statistics": self.statistics,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """What a method keeps of a text. *values* is what its `compare` reads; *size* is how much it was made from
    (number of distinct shingles, words, …, as the method says). Can be stored: see `to_bytes` in doublet.signatures."""

    recipe: Recipe
    values: U64
    size: int


@dataclass(frozen=True, slots=True)
class Measures:
    """What a method says about two texts. *containment* is (of a in b, of b in a), None where a method cannot tell."""

    resemblance: float
    containment: tuple[float, float] | None
    similar: bool  #: by the method's own rule and threshold
    step: str = ""  #: of a cascade: which of its steps decided (exact, shingles, meaning)
    details: Mapping[str, float] = field(default_factory=dict)  #: other measures of that step, by name

    def __repr__(self) -> str:
        told = f"resemblance={self.resemblance}, containment={self.containment}, similar={self.similar}"
        return (
            f"Measures({told}, step={self.step!r}, details={dict(self.details)})"
            if self.step
            else f"Measures({told})"
        )


@dataclass(frozen=True, slots=True)
class Fragment:
    """A passage in both texts. *kind*: verbatim, edited, reworded or moved; *score*: share of equal words.

    *strength*: "strong", or "weak" for what counts but is short or has own sentences inside; *reason* says
    what the two sides have in common.
    """

    id: str
    a: Span
    b: Span
    kind: str
    score: float
    words: int  #: words of a inside
    strength: str = "strong"
    reason: Note | None = None
    a_words: Span | None = (
        None  #: the same place in words of a, from the first word of the text on; None: not known
    )
    b_words: Span | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "a": list(self.a),
            "b": list(self.b),
            "kind": self.kind,
            "score": self.score,
            "words": self.words,
            "strength": self.strength,
            "reason": self.reason.to_dict() if self.reason else None,
            "a_words": list(self.a_words) if self.a_words is not None else None,
            "b_words": list(self.b_words) if self.b_words is not None else None,
        }


@dataclass(frozen=True, slots=True)
class DisguiseFinding:
    """One kind of trick: how many words and characters, and the places of the words (all of them)."""

    kind: str  #: lookalike, invisible, spaced, marks, styled, digits, blanks, turned, hidden
    words: int
    characters: int
    spans: tuple[Span, ...]
    alarm: bool  #: more than honest texts have
    texts: tuple[
        str, ...
    ] = ()  #: of what is hidden: the beginning of each, as many as *spans*, which are empty

    def to_dict(self) -> dict[str, Any]:
        out = {
            "kind": self.kind,
            "words": self.words,
            "characters": self.characters,
            "spans": [list(s) for s in self.spans],
            "alarm": self.alarm,
        }
        return out | ({"texts": list(self.texts)} if self.texts else {})


@dataclass(frozen=True, slots=True)
class Disguise:
    """What was undone in one text. `alarm` is true when it looks done on purpose."""

    findings: tuple[DisguiseFinding, ...] = ()

    @property
    def alarm(self) -> bool:
        return any(f.alarm for f in self.findings)

    @property
    def characters(self) -> int:
        return sum(f.characters for f in self.findings)

    def to_dict(self) -> dict[str, Any]:
        return {
            "alarm": self.alarm,
            "characters": self.characters,
            "findings": [f.to_dict() for f in self.findings],
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of comparing two texts. *share* is the share of a's words that stand inside a fragment."""

    method: str
    parameters: Mapping[str, Any]
    resemblance: float
    containment_a: float | None  #: of a in b
    containment_b: float | None  #: of b in a
    similar: bool
    share: float
    share_b: float
    words_a: int
    words_b: int
    fragments: tuple[Fragment, ...]
    disguise_a: Disguise
    disguise_b: Disguise
    recipe: Recipe | None = None
    notes: tuple[Note, ...] = ()
    possible: tuple[Fragment, ...] = ()  #: reworded places too short to be sure of; in no share
    step: str = ""  #: which step of the method "auto" decided
    reason: Note | None = None  #: why the texts are similar or not
    details: Mapping[str, float] = field(default_factory=dict)  #: measures of that step, by name
    #: what they are to each other: equal, similar, template (two of one template, about different things), passages
    #: (some in common and nothing else), different
    verdict: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "method": self.method,
            "parameters": as_json(dict(self.parameters)),
            "resemblance": self.resemblance,
            "containment": {"a_in_b": self.containment_a, "b_in_a": self.containment_b},
            "similar": self.similar,
            "verdict": self.verdict,
            "share": self.share,
            "share_b": self.share_b,
            "words": {"a": self.words_a, "b": self.words_b},
            "fragments": [f.to_dict() for f in self.fragments],
            "possible": [f.to_dict() for f in self.possible],
            "step": self.step,
            "reason": self.reason.to_dict() if self.reason else None,
            "details": dict(self.details),
            "disguise": {"a": self.disguise_a.to_dict(), "b": self.disguise_b.to_dict()},
            "recipe": self.recipe.to_dict() if self.recipe else None,
            "notes": [note.to_dict() for note in self.notes],
        }


@dataclass(frozen=True, slots=True)
class Member:
    """A document that another one stands for. *containment* is the share of it that is in *contained_in* or, when
    that is None, in the kept document; *contained_in* is the kept id when containment was the reason."""

    id: str
    resemblance: float
    containment: float
    contained_in: str | None = None
    step: str = "shingles"  #: which step decided: exact (all runs of words agree), shingles, meaning

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "resemblance": self.resemblance,
            "containment": self.containment,
            "contained_in": self.contained_in,
            "step": self.step,
        }


@dataclass(frozen=True, slots=True)
class Group:
    """A kept document and those it stands for, closest first. *id* is made from the kept id alone."""

    id: str
    keep: str
    members: tuple[Member, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "keep": self.keep, "members": [m.to_dict() for m in self.members]}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one document of a batch that could not be used as it was. *state*: empty, invalid, duplicate_id,
    unreadable, unknown_kind, encrypted, scanned, broken, nothing_read, too_large, refused, failed, too_short;
    *place* names file and line."""

    state: str
    id: str
    place: str
    reason: Note

    def to_dict(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "id": self.id,
            "place": self.place,
            "reason": self.reason.to_dict(),
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Outcome:
        """What `to_dict` gave."""
        return cls(value["state"], value["id"], value["place"], Note.from_dict(value["reason"]))


#: states of an outcome that mean failure; an empty text is an answer
FAILED_STATES = (
    *("invalid", "duplicate_id", "unreadable", "too_large"),
    *("unknown_kind", "encrypted", "scanned", "broken", "nothing_read", "refused", "failed"),
)
DISGUISES_LEFT = ("digits", "turned")  #: kinds of disguise that are only told: the text was compared as it is


@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents that resemble or contain each other, verified. *containment* is (of a in b, of b in a)."""

    a: str
    b: str
    resemblance: float
    containment: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        return {
            "a": self.a,
            "b": self.b,
            "resemblance": self.resemblance,
            "containment": list(self.containment),
        }


@dataclass(frozen=True, slots=True)
class Related:
    """Two kept documents that are more alike than chance, and less than duplicates. *kind*: edited (half of the runs of
    words of one are in the other), reworded (they lie on each other place by place, words were replaced), shared
    (they have passages in common and nothing else: often a template). Measures as far as they were taken."""

    a: str
    b: str
    kind: str
    step: str  #: shingles or meaning
    resemblance: float
    containment: tuple[float, float]  #: of a in b, of b in a, by shingles
    aligned: float | None = None  #: share of one of them that lies inside aligned passages
    kept: float | None = None  #: share of the weight of its words that stand there unchanged

    def to_dict(self) -> dict[str, Any]:
        return {
            "a": self.a,
            "b": self.b,
            "kind": self.kind,
            "step": self.step,
            "resemblance": self.resemblance,
            "containment": list(self.containment),
            "aligned": self.aligned,
            "kept": self.kept,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Deduplication:
    """Result of `dedupe`. *groups* are sorted by the kept id; *kept* lists the ids of all documents that stay. Ids are
    texts, or of the type in which `dedupe` was given them."""

    method: str
    parameters: Mapping[str, Any]
    documents: int
    groups: tuple[Group, ...]
    kept: tuple[Any, ...]
    outcomes: tuple[Outcome, ...] = ()
    pairs: Sequence[Pair] | None = None
    strict: tuple[tuple[Any, ...], ...] | None = None  #: groups in which every pair agrees
    families: tuple[tuple[Any, ...], ...] | None = None  #: connected components, for browsing only
    notes: tuple[Note, ...] = ()
    recipe: Recipe | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    related: tuple[Related, ...] | None = None  #: pairs of kept documents; None when nobody looked for them

    def __repr__(self) -> str:
        numbers = f"{self.documents:,} documents, {len(self.kept):,} kept, {self.removed:,} removed"
        return f"Deduplication({numbers}, {len(self.groups):,} groups, method={self.method!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows, as `reports.notebook` draws it. The base knows no pages, so it asks at the door."""
        import doublet

        return doublet._for_notebooks(self)

    @property
    def rule(self) -> Note:
        """By which rule documents were removed, for a sentence."""
        threshold, containment = self.parameters.get("threshold"), self.parameters.get("containment")
        if threshold is None:
            return Note("removal_rule_method", method=self.method)
        if not containment:
            return Note("removal_rule_threshold", threshold=threshold)
        return Note("removal_rule", threshold=threshold, containment=containment)

    @property
    def removed(self) -> int:
        return sum(len(g.members) for g in self.groups)

    @property
    def left_out(self) -> int:
        """Documents that are neither kept nor removed: others with the same ids are used in their place."""
        return int(self.extra.get("outcomes", {}).get("duplicate_id", 0))

    @property
    def not_listed(self) -> int:
        """Duplicates in groups that are not listed, because groups between libraries were asked for."""
        return int(self.extra.get("not_listed", 0))

    def to_dict(self) -> dict[str, Any]:
        return {key: list(value) if isinstance(value, Iterator) else value for key, value in self.fields()}

    def fields(self) -> Iterator[tuple[str, Any]]:
        """The entries of `to_dict`, one after the other. Long lists are iterators: a large result can be written
        without being there twice."""
        yield "format", FORMAT_VERSION
        yield "method", self.method
        yield "parameters", as_json(self.parameters)
        yield "documents", self.documents
        yield "kept", len(self.kept)
        yield "removed", self.removed
        yield "left_out", self.left_out
        if self.not_listed:
            yield "not_listed", self.not_listed
        yield "groups", (group.to_dict() for group in self.groups)
        yield "outcomes", (outcome.to_dict() for outcome in self.outcomes)
        yield "recipe", self.recipe.to_dict() if self.recipe else None
        yield "notes", [note.to_dict() for note in self.notes]
        if self.pairs is not None:
            yield "pairs", (pair.to_dict() for pair in self.pairs)
        if self.strict is not None:
            yield "strict", (list(group) for group in self.strict)
        if self.families is not None:
            yield "families", (list(family) for family in self.families)
        if self.related is not None:
            yield "related", (one.to_dict() for one in self.related)


@dataclass(frozen=True, slots=True)
class SourceMatch:
    """A document from which the checked one takes something. *share* is what it covers of the checked document,
    *added* what no source before it covers: the added shares sum up to the share of the whole (K3)."""

    id: str
    title: str
    share: float
    added: float
    resemblance: float
    containment: float  #: of the checked document in this one, by shingles
    fragments: tuple[Fragment, ...]  #: a is the checked document, b this one
    library: str = ""  #: in which it stands; empty when it was checked against files
    address: str = ""
    time: str = ""
    text: str = field(default="", repr=False)  #: for reports that show it; not a part of `to_dict`
    possible: tuple[Fragment, ...] = ()  #: reworded places too short to be sure of; in no share
    text_hash: str = ""  #: SHA-256 of its text in UTF-8, as it was when it was checked
    order: int = (
        0  #: among the documents that were looked at; of those that explain the same words the first counts
    )

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "library": self.library,
            "address": self.address,
            "time": self.time,
            "share": self.share,
            "added": self.added,
            "resemblance": self.resemblance,
            "containment": self.containment,
            "fragments": [f.to_dict() for f in self.fragments],
            "possible": [f.to_dict() for f in self.possible],
            "text_hash": self.text_hash,
            "order": self.order,
        }


@dataclass(frozen=True, slots=True)
class SourceFragment:
    """A passage of a checked document with its source: *span* in the document, *source_span* in the source."""

    id: str
    kind: str
    span: Span
    source: SourceMatch
    source_span: Span


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Parts of a checked document that were not counted (K4). *share_with* is what the share would be with them."""

    kind: str  #: quotations, bibliography, common, own
    reasons: tuple[Note, ...]  #: one for each of *spans*
    spans: tuple[Span, ...]  #: in the checked document
    words: int
    share_with: float
    documents: tuple[str, ...] = ()  #: sources that were not counted ("own")
    ranges: tuple[Span, ...] = ()  #: the words that were not counted, from the first word of the text on

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "reasons": [reason.to_dict() for reason in self.reasons],
            "spans": [list(span) for span in self.spans],
            "words": self.words,
            "share_with": self.share_with,
            "documents": list(self.documents),
            "ranges": [list(one) for one in self.ranges],
        }


@dataclass(frozen=True, slots=True)
class Check:
    """Result of checking one document against others. *share* counts every word once, however many sources."""

    words: int
    share: float
    sources: tuple[SourceMatch, ...]  #: what adds most comes first
    documents: int  #: that were looked at
    parameters: Mapping[str, Any]
    disguise: Disguise
    outcomes: tuple[Outcome, ...] = ()
    notes: tuple[Note, ...] = ()
    name: str = ""  #: of the checked document
    libraries: tuple[str, ...] = ()  #: that it was checked against; empty when it was checked against files
    left_out: tuple[LeftOut, ...] = ()
    share_with_all: float | None = (
        None  #: the share if nothing were left out; None when nothing was asked to be
    )
    possible_sources: tuple[SourceMatch, ...] = ()  #: with nothing but *possible* places; in no share
    uncounted_sources: tuple[SourceMatch, ...] = ()  #: of words that were left out, and of no others
    text_hash: str = ""  #: SHA-256 of the checked text in UTF-8
    created: str = field(default="", compare=False)  #: when it was checked: UTC, ISO 8601
    version: str = ""  #: of the Doublet that checked it

    @property
    def fragments(self) -> tuple[SourceFragment, ...]:
        """Passages of all sources in the order of the checked document."""
        found = [
            SourceFragment(f.id, f.kind, f.a, source, f.b)
            for source in self.sources
            for f in source.fragments
        ]
        return tuple(sorted(found, key=lambda f: (f.span, f.id)))

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": CHECK_FORMAT,
            "version": self.version,
            "created": self.created,
            "name": self.name,
            "text_hash": self.text_hash,
            "libraries": list(self.libraries),
            "left_out": [one.to_dict() for one in self.left_out],
            "share_with_all": self.share_with_all,
            "words": self.words,
            "share": self.share,
            "sources": [s.to_dict() for s in self.sources],
            "possible_sources": [s.to_dict() for s in self.possible_sources],
            "uncounted_sources": [s.to_dict() for s in self.uncounted_sources],
            "documents": self.documents,
            "parameters": as_json(dict(self.parameters)),
            "disguise": self.disguise.to_dict(),
            "outcomes": [o.to_dict() for o in self.outcomes],
            "notes": [note.to_dict() for note in self.notes],
        }
