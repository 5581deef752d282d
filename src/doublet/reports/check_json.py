"""A check read back from its JSON. The format is described by schemas/check.json; fields that older versions of Doublet
did not write yet get the values they had then."""

from __future__ import annotations

import functools
import json
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
        return _check(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputUnreadable("report_damaged", fault=type(error).__name__, why=error) from error


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
            one["kind"],
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
        words=value["words"],
        share=value["share"],
        sources=tuple(map(_source, value["sources"])),
        documents=value["documents"],
        parameters=dict(value["parameters"]),
        disguise=disguise,
        outcomes=tuple(
            Outcome(one["state"], one["id"], one["place"], Note.from_dict(one["reason"]))
            for one in value["outcomes"]
        ),
        notes=tuple(map(Note.from_dict, value["notes"])),
        name=value.get("name", ""),
        libraries=tuple(value.get("libraries", ())),
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
        value["id"],
        value["title"],
        value["share"],
        value["added"],
        value["resemblance"],
        value["containment"],
        _fragments(value["fragments"]),
        library=value.get("library", ""),
        address=value.get("address", ""),
        time=value.get("time", ""),
        possible=_fragments(value.get("possible", ())),
        text_hash=value.get("text_hash", ""),
        order=value.get("order", 0),
    )


def _fragments(values: Any) -> tuple[Fragment, ...]:
    return tuple(
        Fragment(
            *(one["id"], _span(one["a"]), _span(one["b"]), one["kind"], one["score"], one["words"]),
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
