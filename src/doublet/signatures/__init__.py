"""3. Signatures: text → signature, one file per method: docs/explanation/methods.md.

`method` makes a method by its name; `methods` lists them with their parameters. Methods of other packages
come in through the entry point group ``doublet.methods`` (name = the method's name, value = its class, see
`MethodClass`) and are loaded only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from doublet.errors import ConfigError, InvalidParameter, UnknownMethod
from doublet.model import Signature
from doublet.signatures.parameters import ParameterInfo, make, require_known
from doublet.signatures.protocol import BaseMethod, Limit, Method, MethodClass, Statistics
from doublet.text.tokens import TokenBatch

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from doublet.signatures.encode import from_bytes, to_bytes
    from doublet.signatures.pivot import PivotWords
    from doublet.signatures.statistics import CollectionStatistics
    from doublet.signatures.supershingles import agreement_probability, curve

__all__ = [
    "METHODS",
    "CollectionStatistics",
    "Method",
    "MethodClass",
    "MethodInfo",
    "ParameterInfo",
    "PivotWords",
    "Limit",
    "Statistics",
    "agreement_probability",
    "curve",
    "from_bytes",
    "gather_statistics",
    "in_parts",
    "method",
    "method_class",
    "method_names",
    "methods",
    "parameters_of",
    "require_parameters",
    "sign_read",
    "to_bytes",
]

#: our methods in the order in which they are listed everywhere: name → module, class
_OURS = {
    "shingles": ("shingles", "Shingles"),
    "multiples": ("multiples", "Multiples"),
    "smallest": ("smallest", "Smallest"),
    "minhash": ("minhash", "MinHash"),
    "supershingles": ("supershingles", "Supershingles"),
    "megashingles": ("supershingles", "Megashingles"),
    "simhash": ("simhash", "SimHash"),
    "longsent": ("longsent", "LongSent"),
    "tf": ("tf", "TF"),
    "tfidf": ("tfidf", "TFIDF"),
    "tfridf": ("tfridf", "TFRIDF"),
    "imatch": ("imatch", "IMatch"),
    "pivot": ("pivot", "Pivot"),
    "meaning": ("meaning", "Meaning"),
    "auto": ("auto", "Auto"),
}

#: names of this package that live in modules which are loaded when somebody asks: a command uses one method
_ELSEWHERE = {
    "CollectionStatistics": "statistics",
    "PivotWords": "pivot",
    "agreement_probability": "supershingles",
    "curve": "supershingles",
    "from_bytes": "encode",
    "to_bytes": "encode",
}


class _Methods(Mapping[str, MethodClass]):
    """Our methods by name. The module of a method is loaded when the method is asked for."""

    def __getitem__(self, name: str) -> MethodClass:
        module, kind = _OURS[name]
        found: MethodClass = getattr(import_module(f"doublet.signatures.{module}"), kind)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_OURS)

    def __len__(self) -> int:
        return len(_OURS)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in _OURS


METHODS: Mapping[str, MethodClass] = _Methods()


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"doublet.signatures.{_ELSEWHERE[name]}"), name)


_GROUP = "doublet.methods"
_BATCH, _BATCH_LETTERS = 500, 1_000_000  # texts, and their letters, whose words are made at once


@dataclass(frozen=True, slots=True)
class MethodInfo:
    """One method in words: what `doublet methods` prints."""

    name: str
    title: str
    summary: str
    minimum: str  #: the least that a text must hold to get a signature
    shows_fragments: bool
    needs_statistics: bool
    parameters: tuple[ParameterInfo, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "summary": self.summary,
            "minimum": self.minimum,
            "shows_fragments": self.shows_fragments,
            "needs_statistics": self.needs_statistics,
            "parameters": [info.to_dict() for info in self.parameters],
        }


def method_names() -> list[str]:
    """Names of all methods: ours in their order, then those of other packages by the alphabet."""
    return [*METHODS, *sorted(name for name in _others() if name not in METHODS)]


def methods(*, others: bool = True) -> list[MethodInfo]:
    """All methods in words; *others*: also those that other packages bring, which loads them."""
    return [_info(method_class(name)) for name in (method_names() if others else METHODS)]


def parameters_of(name: str) -> dict[str, Any]:
    """Parameters of a method with their defaults; loads this method alone. Raises `UnknownMethod`."""
    return {info.name: info.default for info in method_class(name).parameters_type.infos()}


def require_parameters(name: str, given: Iterable[str]) -> None:
    """Raises `InvalidParameter` for names that are no parameters of the method called *name*, `UnknownMethod`."""
    require_known(method_class(name).parameters_type, given, method=name)


def method(name: str, statistics: Statistics | None = None, **parameters: Any) -> Method:
    """The method called *name* with these parameters; those not given have their defaults.

    Methods that weigh words by a collection need its *statistics* (`gather_statistics` makes them); how
    words are made is then taken from the statistics. Other methods leave *statistics* alone. Raises
    `UnknownMethod`, and `InvalidParameter` for unknown names, values out of range and missing statistics.
    """
    kind = method_class(name)
    if not kind.needs_statistics:
        return kind(make(kind.parameters_type, parameters, method=name))
    if statistics is None or not isinstance(statistics, kind.statistics_type):
        raise InvalidParameter(
            "statistics_needed",
            name="statistics",
            method=name,
            given="" if statistics is None else type(statistics).__name__,
        )
    known = {info.name for info in kind.parameters_type.infos()}
    fixed = {key: value for key, value in statistics.fixed.items() if key in known}
    made = make(kind.parameters_type, {**fixed, **parameters}, method=name)
    for key, value in fixed.items():
        if getattr(made, key) != value:
            raise InvalidParameter(
                "statistics_differ",
                value2=value,
                name=key,
                value=getattr(made, key),
                method=name,
            )
    return kind(made, statistics)


def sign_read(method: Method, words: TokenBatch, texts: Sequence[str]) -> list[Signature | None]:
    """Signatures of texts whose words `read_words` has read: nothing is read again."""
    if isinstance(method, BaseMethod):
        return method.sign_read(words, texts)
    return method.sign_many(method.canon.of(words), texts)


def gather_statistics(
    name: str,
    texts: Iterable[str] | TokenBatch,
    *,
    threads: int = 1,
    within: Limit | None = None,
    **parameters: Any,
) -> Statistics | None:
    """What the method has to know about the collection of *texts*; None for methods that need nothing. Of texts that
    `read_words` has read their words will do.

    The parameters are those of the method; they go with the statistics, so `method` need not be told again.
    Told to stay *within* a limit, statistics keep to it; they answer the same and cannot be changed. Raises
    `MemoryTooSmall` when they do not fit, and `OSError` when the disk is full.
    """
    kind = method_class(name)
    made: Any = make(kind.parameters_type, parameters, method=name)
    if not kind.needs_statistics:
        return None
    batches = (
        (made.canon.of(texts),)
        if isinstance(texts, TokenBatch)
        else (made.canon.tokens(part, words=True, threads=threads) for part in in_parts(texts))
    )
    return kind.gather(made, batches) if within is None else kind.gather_within(made, batches, within)


def in_parts(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts in lists that are not long: their words are held in several forms at once."""
    part: list[str] = []
    letters = 0
    for text in texts:
        if part and (len(part) == _BATCH or letters + len(text) > _BATCH_LETTERS):
            yield part
            part, letters = [], 0
        part.append(text)
        letters += len(text)
    if part:
        yield part


def _others() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # takes 30 ms: only when a name is not ours

    return {point.name: point for point in entry_points(group=_GROUP)}


def method_class(name: str) -> MethodClass:
    """The class of a method, ours or of another package. Raises `UnknownMethod`, `ConfigError`."""
    if not isinstance(name, str):
        raise UnknownMethod(name, METHODS)
    if name in METHODS:
        return METHODS[name]
    point = _others().get(name)
    if point is None:
        raise UnknownMethod(name, method_names())
    try:
        kind: MethodClass = point.load()
    except Exception as error:
        raise ConfigError(
            "method_not_loaded",
            why=error,
            name=name,
            entry_point=point.value,
        ) from error
    return kind


def _info(kind: MethodClass) -> MethodInfo:
    return MethodInfo(
        kind.name,
        kind.title,
        kind.summary,
        kind.minimum,
        kind.shows_fragments,
        kind.needs_statistics,
        kind.parameters_type.infos(),
    )
