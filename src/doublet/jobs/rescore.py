"""`doublet.rescore`: a report that was kept, without some of what it found."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from doublet.errors import InputNotFound, InputUnreadable, wrong_type
from doublet.matches.rescore import rescore as rescore_check
from doublet.model import Check
from doublet.reports.check_json import read_check


def rescore(report: Check | Mapping[str, Any] | os.PathLike[str], *, without: Iterable[str]) -> Check:
    """The check in *report* as it would be without some fragments, sources or kinds of fragments.

    *report* is a `Check`, the `to_dict` of one, or the ``Path`` of a JSON file that ``doublet check --format json``
    wrote. *without* names fragments and sources by their ids (a source also as ``library/id``) and kinds (verbatim,
    edited, reworded, moved). Needs no text and no database, and gives the same numbers as a check without those::

        check = doublet.rescore(Path("report.json"), without=["s2f1", "reworded"])
        check.share

    Raises `InvalidParameter`, `InputNotFound`, `InputUnreadable`.
    """
    if isinstance(report, Check):
        return rescore_check(report, without)
    if isinstance(report, Mapping):
        return rescore_check(read_check(report), without)
    if isinstance(report, os.PathLike):
        return rescore_check(read_check(_loaded(Path(report))), without)
    raise wrong_type("report", report, "wanted_report")


def _loaded(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputNotFound("no_file", path=str(path)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputUnreadable("file_not_a_report", path=str(path), why=str(error)) from error
