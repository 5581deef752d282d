"""Repeats for programs: CSV, and SARIF for code hosts. The JSON is `Repeats.to_dict`; its schema is here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from doublet.model import FORMAT_VERSION
from doublet.repeats.model import DECISIONS, RepeatFragment, RepeatGroup, Repeats
from doublet.repeats.model import KINDS as GROUP_KINDS
from doublet.reports.tables import csv_row
from doublet.reports.wording import Wording, wording

REPEAT_COLUMNS = (
    *("group", "kind", "significance", "equal", "new"),
    *("file", "line", "column", "end_line", "end_column", "start", "end"),
    *("tokens", "section", "place", "text"),
)
RULE = "repeat"
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

KINDS = [
    *("text", "xml", "html", "markdown", "rst", "latex"),
    *("pdf", "docx", "odt", "odp", "rtf", "epub", "fb2", "pptx", "wikitext"),
    *("plain", "restructuredtext", "docbook", "dita"),  # told by the content, whatever the name says
]
_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}


def _record(properties: dict[str, Any], *, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "required": required, "properties": properties}


def _several(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


#: JSON Schema of ``doublet repeats --format json``; also in docs/reference/repeats.schema.json
#: something that is said to people: its code and values, and the English sentence
_NOTE = _record({"code": _TEXT, "values": {"type": "object"}, "message": _TEXT})
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Repeats inside documentation, as doublet repeats --format json writes them",
    **_record(
        {
            "format": {"const": FORMAT_VERSION},
            "algorithm": {"enum": ["auto", "exact", "edit", "ngrams"]},
            "parameters": {"type": "object"},
            "files": _several(
                _record(
                    {
                        "file": _TEXT,
                        "kind": {"enum": KINDS},
                        "characters": _COUNT,
                        "tokens": _COUNT,
                        "share": _SHARE,
                        "words": _TEXT,
                    }
                )
            ),
            "tokens": _COUNT,
            "share": _SHARE,
            "groups": _several(
                _record(
                    {
                        "id": {"type": "string", "pattern": "^r[0-9a-f]{10}(-[0-9]+)?$"},
                        "significance": {"type": "number", "minimum": 0},
                        "words_saved": _COUNT,
                        "kind": {"enum": list(GROUP_KINDS)},
                        "tokens": {"type": "number", "minimum": 0},
                        "equal": {"type": "boolean"},
                        "new": {"type": "boolean"},
                        "reason": {"anyOf": [_NOTE, {"type": "null"}]},
                        "decision": {"enum": list(DECISIONS)},
                        "fragments": {
                            "minItems": 2,
                            **_several(
                                _record(
                                    {
                                        "file": _TEXT,
                                        "start": _COUNT,
                                        "end": _COUNT,
                                        "line": {"type": "integer", "minimum": 1},
                                        "column": {"type": "integer", "minimum": 1},
                                        "end_line": {"type": "integer", "minimum": 1},
                                        "end_column": {"type": "integer", "minimum": 1},
                                        "tokens": _COUNT,
                                        "section": _TEXT,
                                        "place": _TEXT,
                                        "text": _TEXT,
                                    }
                                )
                            ),
                        },
                    },
                    optional=("new", "reason", "decision"),
                )
            ),
            "outcomes": _several(_record({"state": _TEXT, "id": _TEXT, "place": _TEXT, "reason": _NOTE})),
            "notes": _several(_NOTE),
        }
    ),
}


def repeat_rows(result: Repeats) -> Iterator[bytes]:
    """A header, then one row for each place."""
    yield csv_row(REPEAT_COLUMNS)
    for group in result.groups:
        new = "" if group.new is None else str(group.new).lower()
        own = group.id, group.kind, group.significance, str(group.equal).lower(), new
        for f in group.fragments:
            place = f.file, f.line, f.column, f.end_line, f.end_column, f.start, f.end
            yield csv_row((*own, *place, f.tokens, f.section, f.place, f.text))


def sarif(result: Repeats, *, version: str, language: str = "en") -> dict[str, Any]:
    """SARIF 2.1.0: one result for each group, at its first place, with the others as related places. Messages are in
    *language*."""
    words = wording(language)
    rule = {
        "id": RULE,
        "name": "RepeatInDocumentation",
        "shortDescription": {"text": words("sarif_short")},
        "fullDescription": {"text": words("sarif_full")},
        "defaultConfiguration": {"level": "warning"},
    }
    driver = {"name": "doublet", "version": version, "rules": [rule]}
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(group, words) for group in result.groups],
            }
        ],
    }


def _result(group: RepeatGroup, words: Wording) -> dict[str, Any]:
    first, *others = group.fragments
    told = words(
        "sarif_equal" if group.equal else "sarif_variants",
        tokens=first.tokens,
        also=", ".join(f.where for f in others[:5]),
        more=words("sarif_more", places=len(others) - 5) if len(others) > 5 else "",
        reason=words("sarif_reason", reason=group.reason) if group.reason else "",
    )
    out: dict[str, Any] = {
        "ruleId": RULE,
        "ruleIndex": 0,
        "level": "warning",
        "message": {"text": told},
        "locations": [_location(first)],
        "relatedLocations": [{"id": number, **_location(f)} for number, f in enumerate(others, 1)],
        "partialFingerprints": {"doubletRepeat/v1": group.id},
        "properties": {"significance": group.significance, "wordsSaved": group.words_saved},
    }
    if group.new is not None:
        out["baselineState"] = "new" if group.new else "unchanged"
    return out


def _location(fragment: RepeatFragment) -> dict[str, Any]:
    file = {"artifactLocation": {"uri": _address(fragment.file)}}
    if fragment.place:  # lines of the text as read mean nothing in the file
        return {"physicalLocation": file, "logicalLocations": [{"name": fragment.place}]}
    region = {
        "startLine": fragment.line,
        "startColumn": fragment.column,
        "endLine": fragment.end_line,
        "endColumn": fragment.end_column,
    }
    return {"physicalLocation": {**file, "region": region}}


def _address(file: str) -> str:
    """A path as a relative URI: everything but plain letters, digits and ``/ . - _ ~`` as %XX."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-~"
    return "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in file.encode("utf-8", "replace"))
