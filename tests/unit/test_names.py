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
#: Where a walk is going through a source, as the glossary has it.
WALKS = {*(f"sources/{kind}.py" for kind in ("feed", "oai", "sitemap", "wiki")), "jobs/add_source.py"}


def definitions() -> dict[str, set[str]]:
    """Classes, functions and methods, private ones too, by name without the underscore, with their files."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found.setdefault(node.name.lstrip("_"), set()).add(str(path.relative_to(PACKAGE)))
    return found


DEFINED = definitions()


@pytest.mark.parametrize("name", OWNERS)
def test_a_name_has_one_owner(name: str) -> None:
    owner = OWNERS[name]
    allowed = WALKS if name in ("Walk", "walk") else set()
    assert DEFINED.get(name, set()) - allowed == ({owner} if owner else set())


def test_private_names_are_looked_at() -> None:
    assert DEFINED["Walk"] == WALKS


@pytest.mark.parametrize("name", ["Found", "Plan"])
def test_the_glossary_names_the_owner(name: str) -> None:
    assert re.search(rf"^\| \*\*{name.lower()}\*\* .*`{name}`", GLOSSARY.read_text("utf-8"), re.M)
