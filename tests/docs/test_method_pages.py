"""The pages of the methods say what the program says."""

from __future__ import annotations

import importlib.util
import pathlib
from types import ModuleType

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "make_method_pages", ROOT / "tools" / "make_method_pages.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_up_to_date(tool: ModuleType) -> None:
    names = [path.name for path in tool.outdated()]
    assert not names, f"{', '.join(names)}: run python tools/make_method_pages.py"


def test_a_changed_page_is_noticed(tool: ModuleType) -> None:
    page = f"# title\n\n{tool.BEGIN}\nold\n{tool.END}\n\nby hand\n"
    made = f"{tool.BEGIN}\nnew\n{tool.END}"
    assert tool.renewed(page, made) == f"# title\n\n{made}\n\nby hand\n"
    with pytest.raises(SystemExit, match="lost its marks"):
        tool.renewed("# title without marks", made)


def test_there_is_no_page_too_many(tool: ModuleType) -> None:
    from doublet.signatures import METHODS

    assert {path.stem for path in tool.FOLDER.glob("*.md")} == {*METHODS, "README"}
