"""The reference of sources names every kind and every option, and no other."""

from __future__ import annotations

import pathlib
import re

import pytest

from doublet.sources.kinds import WEB_KINDS, options_of

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "sources.md"


def sections() -> dict[str, str]:
    parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)
    return {part.split("\n", 1)[0].strip("`"): part for part in parts}


def test_every_kind_is_described() -> None:
    assert set(WEB_KINDS) <= set(sections())


@pytest.mark.parametrize("kind", WEB_KINDS)
def test_every_option_is_described(kind: str) -> None:
    assert sorted(re.findall(r"^\| `(\w+)` \|", sections()[kind], flags=re.M)) == sorted(options_of(kind))
