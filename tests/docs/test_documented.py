"""Nothing without a page: every command, option, setting, method, parameter, error and exit code."""

from __future__ import annotations

import inspect
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

import doublet
from doublet import config, errors
from doublet.cli.exits import TABLE
from doublet.cli.root import root as command_line
from doublet.signatures import methods

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"


def read(folder: pathlib.Path) -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in sorted(folder.rglob("*.md")))


def commands(
    command: click.Command | None = None, path: tuple[str, ...] = ("doublet",)
) -> Iterator[tuple[str, click.Command]]:
    command = command or command_line
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))
    else:
        yield " ".join(path), command


COMMANDS = dict(commands())
METHODS = {info.name: info for info in methods(others=False)}
ERRORS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.DoubletError) and kind.__module__ == errors.__name__
]


def test_it_works() -> None:
    """What is looked for is there to be looked for."""
    assert {"doublet compare", "doublet dedupe", "doublet config show"} <= set(COMMANDS)
    assert "minhash" in METHODS
    assert errors.UnknownMethod in ERRORS


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_and_option_is_documented(name: str) -> None:
    text = read(REFERENCE)
    assert re.search(rf"\b{name}\b", text), f"no page of docs/reference names `{name}`"
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Option):
            missing = [option for option in parameter.opts if option.startswith("--") and option not in text]
            assert not missing, f"{name} {missing} is not documented"


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_and_parameter_is_documented(name: str) -> None:
    page = REFERENCE / "methods" / f"{name}.md"
    assert page.is_file(), f"docs/reference/methods/{name}.md is missing"
    text = page.read_text(encoding="utf-8")
    for parameter in METHODS[name].parameters:
        assert f"`{parameter.name}`" in text, f"{parameter.name} is not documented"


@pytest.mark.parametrize("kind", ERRORS, ids=[kind.__name__ for kind in ERRORS])
def test_every_error_is_documented(kind: type[errors.DoubletError]) -> None:
    text = read(REFERENCE)
    assert f"`{kind.__name__}`" in text
    assert f"`{kind.code}`" in text


@pytest.mark.parametrize("name", config.NAMES)
def test_every_setting_is_documented(name: str) -> None:
    text = read(REFERENCE)
    assert f"`{name}`" in text
    assert f"{config.PREFIX}{name.upper()}" in text


@pytest.mark.parametrize("name", sorted(config.OTHER_VARIABLES))
def test_every_variable_is_documented(name: str) -> None:
    assert name in read(REFERENCE)


@pytest.mark.parametrize("code", sorted(TABLE))
def test_every_exit_code_is_documented(code: int) -> None:
    assert re.search(rf"\|\s*`?{code}`?\s*\|", read(REFERENCE)), (
        f"no table has a row for the exit code {code}"
    )


@pytest.mark.parametrize("name", [name for name in doublet.__all__ if not name.startswith("_")])
def test_every_public_name_is_documented(name: str) -> None:
    assert re.search(rf"`(?:doublet\.)?{name}\b", read(REFERENCE))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_begins_with_an_example(name: str) -> None:
    command = COMMANDS[name]
    text = command.get_help(click.Context(command, info_name=name, max_content_width=100))
    assert text.startswith("Example")


@pytest.mark.parametrize(
    "tool",
    [path.name for path in sorted([*ROOT.glob("tools/make_*_pages.py"), ROOT / "tools" / "make_picture.py"])],
)
def test_generated_pages_are_up_to_date(tool: str) -> None:
    done = subprocess.run(
        [sys.executable, f"tools/{tool}", "--check"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, f"run `make docs`:\n{done.stdout}{done.stderr}"


def test_what_a_class_inherits_and_long_comments_are_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    _, _, statistics = page.partition("### `CollectionStatistics`")
    assert "- `mean_words`: Words of a document on average" in statistics.partition("###")[0]
    assert "the share if nothing were left out" in page


@pytest.mark.parametrize("target", ["check", "setup", "test", "bench", "docs", "run", "help"])
def test_every_make_target_is_listed(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:.*## ", makefile, re.M)


PATH = re.compile(r"(?<![\w/.:@-])(?:docs|src|tests|tools|native)/[\w./-]+\.(?:md|py|cpp|hpp|sh)\b")


def pages_and_sources() -> list[pathlib.Path]:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    sources = [
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "tools").rglob("*.py"),
        *(ROOT / "native").glob("*.?pp"),
    ]
    return sorted(pages + sources)


def named_files(text: str) -> Iterator[str]:
    """The files of the project that a page or a source names, not those in examples between fences."""
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        if not fenced:
            yield from PATH.findall(line)


def test_named_files_are_found() -> None:
    text = "see docs/a.md, `tests/unit/b.py`.\n```\ncat docs/c.md\n```\nhttp://x.org/docs/d.md and tools/*.py"
    assert list(named_files(text)) == ["docs/a.md", "tests/unit/b.py"]


def test_every_file_that_is_named_is_there() -> None:
    read = [
        (path, name) for path in pages_and_sources() for name in named_files(path.read_text(encoding="utf-8"))
    ]
    assert len(read) > 100
    assert [f"{path.relative_to(ROOT)}: {name}" for path, name in read if not (ROOT / name).exists()] == []
