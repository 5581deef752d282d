"""Every example that a page marks as runnable runs, and prints what the page says it prints."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fenced import ROOT, Block, agrees, blocks, pages, runnable

PAGES = [page for page in pages() if runnable(page)]


@pytest.fixture
def place(tmp_path: pathlib.Path) -> tuple[pathlib.Path, dict[str, str]]:
    """A folder with the sample texts, and an environment whose `doublet` and `python` are the tested ones."""
    folder = tmp_path / "reader"
    tools = tmp_path / "bin"
    folder.mkdir()
    tools.mkdir()
    shutil.copytree(ROOT / "examples", folder / "examples", symlinks=False)
    python = tools / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    command = tools / "doublet"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from doublet.cli import main; main()" "$@"\n')
    for tool in (python, command):
        tool.chmod(0o755)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("DOUBLET_")},
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "utf-8",
        "LC_ALL": "C.UTF-8",
    }
    return folder, environment


def run(block: Block, before: list[str], folder: pathlib.Path, environment: dict[str, str]) -> str:
    """What the block prints. Python blocks see what the earlier ones of their page defined."""
    if block.language == "python":
        marker = "--- this block ---"
        source = "".join(f"{code}\n" for code in before) + f"print({marker!r})\n{block.body}"
        command = [sys.executable, "-c", source]
    else:
        marker = ""
        command = ["sh", "-eu", "-c", block.body]
    done = subprocess.run(
        command, check=False, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=120
    )
    told = f"{block.body}\n{done.stdout}\n{done.stderr}"
    wanted = f"line {block.line} ended with {done.returncode}, not {block.exit_code}"
    assert done.returncode == block.exit_code, f"{wanted}:\n{told}"
    return done.stdout.partition(f"{marker}\n")[2] if marker else done.stdout


@pytest.mark.parametrize("page", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])
def test_runnable_examples_run(page: pathlib.Path, place: tuple[pathlib.Path, dict[str, str]]) -> None:
    folder, environment = place
    before: list[str] = []
    for block in runnable(page):
        printed = run(block, before, folder, environment)
        if block.language == "python":
            before.append(block.body)
        if block.output is not None:
            assert agrees(printed, block.output), (
                f"line {block.line} shows\n{block.output}\nbut prints\n{printed}"
            )


def test_the_tutorial_and_the_readme_are_run() -> None:
    """The pages that a newcomer follows word for word must have examples that run."""
    followed = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {"README.md", "docs/tutorial/first-steps.md"} <= followed


def test_a_wrong_example_is_noticed(place: tuple[pathlib.Path, dict[str, str]]) -> None:
    folder, environment = place
    good, bad = blocks("```sh run\necho one\n```\n```text output\none\n```\n\n```sh run exit=3\nfalse\n```\n")
    assert agrees(run(good, [], folder, environment), good.output or "")
    with pytest.raises(AssertionError, match="ended with 1, not 3"):
        run(bad, [], folder, environment)


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a  \nb", "a\nb\n", True),
        ("a\nx\ny\nb\n", "a\n…\nb\n", True),
        ("took 3 s\n", "took … s\n", True),
        ("a\nb\nc\n", "a\nb\n", False),
        ("a.b\n", "axb\n", False),
    ],
)
def test_agrees(printed: str, expected: str, same: bool) -> None:
    assert agrees(printed, expected) is same
