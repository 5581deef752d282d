"""One owner per name: of words that once meant several things, each is what the glossary says, and nothing else."""

from __future__ import annotations

import ast
import pathlib
import re

import pytest

import doublet

PACKAGE = pathlib.Path(doublet.__file__).parent
GLOSSARY = pathlib.Path(__file__).parents[2] / "docs" / "glossary.md"
#: name → where its one owner is; nowhere: the name says too little
OWNERS = {
    "Found": "sources/protocol.py",
    "Plan": "crawl/plan.py",
    "wording": "reports/wording/__init__.py",
    **dict.fromkeys(("Wishes", "Told", "Room", "Hands", "Walks", "Walk", "walk", "fold")),
}


def definitions() -> dict[str, set[str]]:
    """Classes and functions outside of classes, by name, with their files."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found.setdefault(node.name, set()).add(str(path.relative_to(PACKAGE)))
    return found


DEFINED = definitions()


@pytest.mark.parametrize("name", OWNERS)
def test_a_name_has_one_owner(name: str) -> None:
    owner = OWNERS[name]
    assert DEFINED.get(name, set()) == ({owner} if owner else set())


@pytest.mark.parametrize("name", ["Found", "Plan"])
def test_the_glossary_names_the_owner(name: str) -> None:
    assert re.search(rf"^\| \*\*{name.lower()}\*\* .*`{name}`", GLOSSARY.read_text("utf-8"), re.M)
