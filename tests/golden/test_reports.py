"""Reports that earlier versions wrote still open, and what is written now keeps to the published schema.

The files under reports/ are never written again: a new format adds files.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import doublet
from doublet.cli import run
from doublet.errors import InputUnreadable
from doublet.jobs.check import check
from doublet.model import CHECK_FORMAT
from doublet.reports.check_html import check_page
from doublet.reports.check_json import check_schema, read_check

REPORTS = sorted((pathlib.Path(__file__).parent / "reports").glob("check-*.json"))
pytestmark = pytest.mark.covers("K2")


def valid(value: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    jsonschema.Draft202012Validator.check_schema(check_schema())
    jsonschema.Draft202012Validator(check_schema()).validate(value)


def kept(new: Any, old: Any) -> bool:
    """Whether all that stands in the old value stands in the new one too; fields may have come."""
    if isinstance(old, str) and isinstance(new, dict):  # a sentence, where there is a note now
        return bool(new == {"code": "said", "values": {"text": old}, "message": old})
    if isinstance(old, dict):
        return all(key in new and kept(new[key], inner) for key, inner in old.items())
    if isinstance(old, list):
        return len(new) == len(old) and all(map(kept, new, old))
    if isinstance(old, str) and isinstance(new, dict):  # a sentence of format 1 is a note since
        return bool(new["message"] == old)
    return bool(new == old)


def test_there_are_old_reports() -> None:
    assert [path.name for path in REPORTS] == [
        *("check-1-files.json", "check-1-library.json", "check-2-files.json", "check-2-library.json")
    ]


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_old_report_opens(path: pathlib.Path, root: pathlib.Path) -> None:
    value = json.loads(path.read_text(encoding="utf-8"))
    valid(value)
    result = read_check(value)
    again = result.to_dict()
    assert again["format"] == CHECK_FORMAT  # what is written again has the new format
    assert kept(again, value | {"format": CHECK_FORMAT})
    text = (root / "examples" / "work.txt").read_text(encoding="utf-8")
    lines = (root / "examples" / "library.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {one["id"]: one["text"] for one in map(json.loads, lines)}
    page = check_page(result, text, texts)
    assert all(f'id="{one.id}"' in page for one in result.fragments)


def test_results_keep_to_the_schema() -> None:
    text = "The boats were locked in the ice until March, and nobody in the village minded it much."
    documents: list[Any] = [("1", f"They say: {text}"), ("2", ""), ("bad", 5)]
    for result in (
        check(text, documents),
        check("", documents),
        check(text.replace("a", "\u0430"), documents),
    ):
        valid(result.to_dict())
        assert read_check(result.to_dict()).to_dict() == result.to_dict()


def test_library_keeps_to_the_schema(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("django", reason="Django is not installed")
    text = (
        "He wrote: «the boats were locked in the ice until March» and nobody in the village minded it much."
    )
    with doublet.open_library(tmp_path / "library.db") as library:
        library.add([("1", text), ("mine", text)])
        result = library.check(text, leave_out=["quotations", "own"], own=["mine"])
    assert result.left_out
    valid(result.to_dict())
    assert read_check(result.to_dict()).to_dict() == result.to_dict()


def test_several_checks(root: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    work, library = str(root / "examples" / "work.txt"), str(root / "examples" / "library.jsonl")
    assert run(["check", work, work, "--against", library, "--format", "json", "-q"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert len(value["checks"]) == 2
    valid(value)


def test_schema_refuses_what_is_wrong() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    value = check("a b c d e f g h", [("1", "a b c d e f g h")]).to_dict()
    for change in ({"share": 1.5}, {"format": CHECK_FORMAT + 1}, {"words": "8"}, {"sources": [{}]}):
        with pytest.raises(jsonschema.ValidationError):
            valid(value | change)


def test_what_cannot_be_opened() -> None:
    value = check("a b c d e f g h", [("1", "a b c d e f g h")]).to_dict()
    with pytest.raises(InputUnreadable, match="newer Doublet"):
        read_check(value | {"format": CHECK_FORMAT + 1})
    for damaged in ({}, [], {"format": 1}, value | {"sources": [{"id": "x"}]}, value | {"disguise": None}):
        with pytest.raises(InputUnreadable, match=r"not a report|damaged"):
            read_check(damaged)  # type: ignore[arg-type]


@pytest.mark.covers("K3")
def test_a_kept_report_can_be_scored_again() -> None:
    files, library = (path for path in REPORTS if path.name.startswith("check-2"))
    whole = doublet.rescore(files, without=[])
    assert whole.share == json.loads(files.read_text(encoding="utf-8"))["share"]
    less = doublet.rescore(files, without=["water-towers"])
    assert 0 < less.share < whole.share
    assert "water-towers" not in {source.id for source in less.sources}
    assert less.version == whole.version and less.created == whole.created
    kept = doublet.rescore(library, without=["verbatim"])
    assert {fragment.kind for fragment in kept.fragments} & {"verbatim"} == set()
    assert sum(source.added for source in kept.sources) == pytest.approx(kept.share)
