"""A check read back from its JSON. The format is described by schemas/check.json; fields that older versions of Doublet
did not write yet get the values they had then."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from importlib import resources
from typing import Any

from doublet.errors import InputUnreadable
from doublet.model import (
    CHECK_FORMAT,
    Check,
    Disguise,
    DisguiseFinding,
    Fragment,
    LeftOut,
    Note,
    Outcome,
    SourceMatch,
    Span,
)

MOST_WORDS = 1 << 28  #: of a checked text: no document that can be read has more


@functools.cache
def check_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of what ``doublet check --format json`` writes."""
    schema = resources.files("doublet.reports").joinpath("schemas", "check.json").read_text(encoding="utf-8")
    return dict(json.loads(schema))


def read_check(value: Mapping[str, Any]) -> Check:
    """The check that `Check.to_dict` gave *value* for, in this version or an older one; sources have no texts.

    Raises `InputUnreadable` for what is no report of a check, or one of a newer format.
    """
    version = value.get("format") if isinstance(value, Mapping) else None
    if not isinstance(version, int) or "sources" not in value:
        raise InputUnreadable("not_a_check_report")
    if version > CHECK_FORMAT:
        raise InputUnreadable(
            "report_too_new",
            format_version=CHECK_FORMAT,
            format=version,
        )
    try:
        check = _check(value)
        _require_sound(check)
        return check
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputUnreadable("report_damaged", fault=type(error).__name__, why=error) from error


def _require_sound(check: Check) -> None:
    """Raises `TypeError` or `ValueError` for what `rescore` cannot count with. Places outside the text would take any
    amount of memory."""
    _number(check.parameters.get("min_share", 0.0))
    tuple(map(_text, check.parameters.get("without", ())))
    if check.words > MOST_WORDS:
        raise ValueError(check.words)
    sources = (*check.sources, *check.uncounted_sources, *check.possible_sources)
    fragments = (one for source in sources for one in (*source.fragments, *source.possible))
    places = [one.a_words for one in fragments if one.a_words is not None]
    for start, end in (*places, *(place for one in check.left_out for place in one.ranges)):
        if not 0 <= start <= end <= check.words:
            raise ValueError((start, end))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(value)
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(value)
    return value


def _check(value: Mapping[str, Any]) -> Check:
    disguise = Disguise(
        tuple(
            DisguiseFinding(
                *(one["kind"], one["words"], one["characters"], _spans(one["spans"]), one["alarm"]),
                tuple(map(str, one.get("texts", ()))),
            )
            for one in value["disguise"]["findings"]
        )
    )
    left_out = tuple(
        LeftOut(
            _text(one["kind"]),
            tuple(map(Note.from_dict, one["reasons"])),
            _spans(one["spans"]),
            one["words"],
            one["share_with"],
            tuple(one.get("documents", ())),
            _spans(one.get("ranges", ())),
        )
        for one in value.get("left_out", ())
    )
    return Check(
        words=_count(value["words"]),
        share=_number(value["share"]),
        sources=tuple(map(_source, value["sources"])),
        documents=_count(value["documents"]),
        parameters=dict(value["parameters"]),
        disguise=disguise,
        outcomes=tuple(
            Outcome(one["state"], one["id"], one["place"], Note.from_dict(one["reason"]))
            for one in value["outcomes"]
        ),
        notes=tuple(map(Note.from_dict, value["notes"])),
        name=_text(value.get("name", "")),
        libraries=tuple(map(_text, value.get("libraries", ()))),
        left_out=left_out,
        share_with_all=value.get("share_with_all"),
        possible_sources=tuple(map(_source, value.get("possible_sources", ()))),
        uncounted_sources=tuple(map(_source, value.get("uncounted_sources", ()))),
        text_hash=value.get("text_hash", ""),
        created=value.get("created", ""),
        version=value.get("version", ""),
    )


def _source(value: Mapping[str, Any]) -> SourceMatch:
    return SourceMatch(
        _text(value["id"]),
        _text(value["title"]),
        _number(value["share"]),
        _number(value["added"]),
        _number(value["resemblance"]),
        _number(value["containment"]),
        _fragments(value["fragments"]),
        library=_text(value.get("library", "")),
        address=_text(value.get("address", "")),
        time=_text(value.get("time", "")),
        possible=_fragments(value.get("possible", ())),
        text_hash=value.get("text_hash", ""),
        order=_count(value.get("order", 0)),
    )


def _fragments(values: Any) -> tuple[Fragment, ...]:
    return tuple(
        Fragment(
            *(_text(one["id"]), _span(one["a"]), _span(one["b"]), _text(one["kind"])),
            *(_number(one["score"]), _count(one["words"])),
            strength=one.get("strength", "strong"),
            reason=Note.from_dict(one["reason"]) if one.get("reason") else None,
            a_words=_words(one.get("a_words")),
            b_words=_words(one.get("b_words")),
        )
        for one in values
    )


def _words(value: Any) -> Span | None:
    return _span(value) if value is not None else None


def _span(value: Any) -> Span:
    start, end = value
    return Span(int(start), int(end))


def _spans(values: Any) -> tuple[Span, ...]:
    return tuple(map(_span, values))
