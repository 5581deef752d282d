"""Parameters of the methods: one frozen dataclass per method, every field with its meaning and its allowed
values.

The metadata of the fields is the only place where a parameter is described: the checks here, `doublet
methods` and the pages in docs/reference/methods are all made from it.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar

from doublet.errors import InvalidParameter, nearest
from doublet.model import Note
from doublet.text.tokens import REDUCTIONS, Canon

T = TypeVar("T")


def parameter(
    default: T,
    about: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    choices: tuple[Any, ...] = (),
    signs: bool = True,
) -> T:
    """A field of a `Parameters` class. *low* and *high* are allowed themselves, *above* is not.

    *signs* is False for a parameter that only decides how signatures are compared or looked up: it is no
    part of the recipe, so that stored signatures stay good when it changes.
    """
    facts = {"about": about, "low": low, "high": high, "above": above, "choices": choices, "signs": signs}
    made: T = field(default=default, metadata=facts)
    return made


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """One parameter in words: for `doublet methods` and for the pages of the reference."""

    name: str
    default: Any
    about: str
    allowed: Note
    signs: bool  #: part of the recipe: signatures made with different values cannot be compared

    def to_dict(self) -> dict[str, Any]:
        default = list(self.default) if isinstance(self.default, tuple) else self.default
        return {
            "name": self.name,
            "default": default,
            "about": self.about,
            "allowed": str(self.allowed),
            "signs": self.signs,
        }


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Base of all parameter classes: checks every value against the metadata of its field, then calls
    `check`."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not item.default:  # a default is good as it is
                object.__setattr__(self, item.name, _checked(item, value))
        self.check()

    def check(self) -> None:
        """Raise `InvalidParameter` when values that are good alone do not go together."""

    @classmethod
    @functools.cache
    def infos(cls) -> tuple[ParameterInfo, ...]:
        """Every parameter in words; those about words, which most methods share, come last."""
        shared = {item.name for item in fields(WordParameters)}
        ordered = sorted(fields(cls), key=lambda item: item.name in shared)
        return tuple(
            ParameterInfo(i.name, i.default, i.metadata["about"], _allowed(i), i.metadata["signs"])
            for i in ordered
        )

    def signing(self) -> tuple[tuple[str, Any], ...]:
        """Names and values that decide what a signature holds, by name: the parameters of a recipe."""
        return tuple((name, getattr(self, name)) for name in self._signing_names())

    @classmethod
    @functools.cache
    def _signing_names(cls) -> tuple[str, ...]:
        return tuple(sorted(item.name for item in fields(cls) if item.metadata["signs"]))


@dataclass(frozen=True, kw_only=True)
class WordParameters(Parameters):
    """How words are made: shared by all methods."""

    stop_words: bool = parameter(False, "leave out the Russian and English stop words")
    extra_stop_words: tuple[str, ...] = parameter((), "words of your own to leave out as well")
    min_letters: int = parameter(
        1, "1 keeps every word, 3 leaves out words of one and two letters", choices=(1, 3)
    )
    reduce: str = parameter(
        "none",
        "make the forms of a word equal: by cutting endings (stem) or by a dictionary (lemma)",
        choices=REDUCTIONS,
    )

    @property
    def canon(self) -> Canon:
        return Canon(
            stop_words=self.stop_words,
            extra_stop_words=self.extra_stop_words,
            min_letters=self.min_letters,
            reduce=self.reduce,
        )


@dataclass(frozen=True, kw_only=True)
class LexicalParameters(WordParameters):
    """The words of the lexical methods: stems, without stop words and without words of one and two
    letters."""

    stop_words: bool = parameter(True, "leave out the Russian and English stop words")
    min_letters: int = parameter(
        3, "1 keeps every word, 3 leaves out words of one and two letters", choices=(1, 3)
    )
    reduce: str = parameter(
        "stem",
        "make the forms of a word equal: by cutting endings (stem) or by a dictionary (lemma)",
        choices=REDUCTIONS,
    )


def make(kind: type[Parameters], given: Mapping[str, Any], *, method: str) -> Parameters:
    """Parameters of *method* from names and values. Raises `InvalidParameter` for unknown names and bad
    values."""
    require_known(kind, given, method=method)
    return kind(**given)


def require_known(kind: type[Parameters], given: Iterable[str], *, method: str) -> None:
    """Raises `InvalidParameter` for names that are no parameters of *method*."""
    known = [info.name for info in kind.infos()]
    for name in given:
        if name not in known:
            others = methods_with(name)
            raise InvalidParameter(
                "parameter_of_others" if others else "no_parameter",
                others=others,
                nearest=nearest(name, known),
                name=name,
                method=method,
                known=known,
            )


def methods_with(name: str) -> list[str]:
    """Methods of ours that have a parameter of this name; for messages, it loads all of them."""
    from doublet.signatures import METHODS

    return sorted(
        each for each, kind in METHODS.items() if name in (i.name for i in kind.parameters_type.infos())
    )


def _allowed(item: Any) -> Note:
    facts = item.metadata
    if facts["choices"]:
        return Note("allowed_choices", choices=facts["choices"])
    if isinstance(item.default, bool):
        return Note("allowed_truth")
    if isinstance(item.default, tuple):
        return Note("allowed_words")
    if isinstance(item.default, str):
        return Note("allowed_text")
    whole = isinstance(item.default, int)
    low, high, above = facts["low"], facts["high"], facts["above"]
    if above is not None and high is None:
        return Note("allowed_whole_above" if whole else "allowed_number_above", above=above)
    if above is not None:
        return Note("allowed_whole_above_to" if whole else "allowed_number_above_to", above=above, high=high)
    if low is None:
        return Note("allowed_whole" if whole else "allowed_number")
    if high is None:
        return Note("allowed_whole_from" if whole else "allowed_number_from", low=low)
    return Note("allowed_whole_from_to" if whole else "allowed_number_from_to", low=low, high=high)


def _checked(item: Any, value: Any) -> Any:
    """*value* as the plain Python type of the field; raises `InvalidParameter` that says what is allowed."""
    if item.default is MISSING:
        raise TypeError(f"parameter {item.name} has no default")
    try:
        good = _converted(item.default, value)
    except (TypeError, ValueError):
        good = None
    if good is None or not _within(item.metadata, good):
        raise InvalidParameter(
            "parameter_allowed",
            name=item.name,
            value=value,
            allowed=_allowed(item),
        )
    return good


def _converted(default: Any, value: Any) -> Any:
    if isinstance(default, bool):
        return value if isinstance(value, bool) else None
    if isinstance(default, int):
        return None if isinstance(value, bool) else operator.index(value)
    if isinstance(default, float):
        number = None if isinstance(value, bool | str) else float(value)
        return number if number is not None and math.isfinite(number) else None
    if isinstance(default, tuple):
        if isinstance(value, str) or not isinstance(value, Iterable):
            return None
        words = list(value)
        return tuple(sorted(set(words))) if all(isinstance(word, str) for word in words) else None
    return value if isinstance(value, str) else None


def _within(facts: Mapping[str, Any], value: Any) -> bool:
    if facts["choices"] and value not in facts["choices"]:
        return False
    if facts["low"] is not None and value < facts["low"]:
        return False
    if facts["above"] is not None and value <= facts["above"]:
        return False
    return not (facts["high"] is not None and value > facts["high"])
