"""Writes docs/reference/commands.md, settings.md and errors.md from the program itself.

    python tools/make_command_pages.py           write
    python tools/make_command_pages.py --check   only say whether a page is out of date

Run it after a command, an option, a setting or an error has changed.
"""

from __future__ import annotations

import inspect
import pathlib
import sys
from collections.abc import Iterator

import click

from doublet import config, errors
from doublet.cli.config import shown
from doublet.cli.exits import TABLE
from doublet.cli.root import Root, root

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "docs" / "reference"
NOTE = "<!-- Written by tools/make_command_pages.py: change the program, then run `make docs`. -->"


def commands(
    command: click.Command, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All commands that do something, with their full names."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))
    else:
        yield path, command


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def options(command: click.Command, context: click.Context) -> list[str]:
    rows = []
    for parameter in command.params:
        if not isinstance(parameter, click.Option):
            continue
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        value = ""
        if not parameter.is_flag:
            value = f"`{cell(parameter.make_metavar(context))}`"
        rows.append(f"| {names} | {value} | {cell(parameter.help or '')}{_default(parameter)} |")
    return ["| option | value | meaning |", "|---|---|---|", *rows] if rows else []


def _default(option: click.Option) -> str:
    if not option.show_default or option.default is None:
        return ""
    return f" Default: `{option.default}`."


def commands_page() -> str:
    lines = ["# Commands", "", NOTE, "", "```sh", Root.example, "```", ""]
    lines += [
        "Results go to standard output, everything else to standard error. `-` is standard input or output.",
        "`doublet COMMAND --help` shows what this page shows.",
        "`doublet --server URL --token TOKEN check …` and some other commands ask a service instead of this computer",
        "([how](../how-to/run-the-service.md)).",
        "",
    ]
    for path, command in commands(root, ("doublet",)):
        context = click.Context(command, info_name=" ".join(path), max_content_width=100)
        lines += [f"## {' '.join(path)}", "", inspect.cleandoc(command.help or ""), "", "```sh"]
        lines += [
            command.example,
            "```",
            "",
            f"Usage: `{' '.join(command.get_usage(context).split()[1:])}`",
            "",
        ]
        lines += [*options(command, context), ""]
    lines += ["## Exit codes", "", "| code | meaning |", "|---|---|"]
    lines += [f"| {code} | {text} |" for code, text in TABLE.items()]
    lines += ["", "A closed pipe (`doublet … | head`) ends the command silently, with 141.", ""]
    return "\n".join(lines)


SETTINGS = """\
What holds for every run can be kept in one file, `doublet.toml` in the working directory or, when there is
none, in `~/.config/doublet/` (`$XDG_CONFIG_HOME/doublet/`). Environment variables stand above the file, flags
above both. `doublet config show` prints each value and where it came from. An unknown key or variable is an
error that names the nearest known one.

```toml
method = "shingles"
threshold = 0.8         # or "80%"
shingle_words = 5
memory = "2GB"
workers = "auto"
```
"""
VARIABLES = f"""
Besides: `{config.FILE_VARIABLE}` names the settings file (as `--config` does), `DOUBLET_KERNELS` forces the
`python` or the `native` kernels, `NO_COLOR` switches colour off, and `TMPDIR` is where data is put that does
not fit in memory.
`DOUBLET_SERVER` and `DOUBLET_TOKEN` name a service and your token for it, as `doublet --server URL --token TOKEN` does.
"""
ERRORS = """\
Everything that Doublet raises is a `DoubletError`. `message` is for people, `code` is stable and for
programs, `details` holds the facts, and `to_dict()` gives all three. A duplicate, and no duplicates, are answers, not
errors; a document that cannot be used is an `Outcome` of the result, not an error.
"""


def settings_page() -> str:
    defaults = config.Settings()
    rows = [
        f"| `{name}` | `--{name.replace('_', '-')}` | `{config.PREFIX}{name.upper()}` | "
        f"{shown(name, getattr(defaults, name))} | {cell(config.about(name))} |"
        for name in config.NAMES
    ]
    head = ["| setting | flag | variable | default | meaning |", "|---|---|---|---|---|"]
    return "\n".join(["# Settings", "", NOTE, "", SETTINGS, *head, *rows, VARIABLES])


def errors_page() -> str:
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.DoubletError) and kind.__module__ == errors.__name__
    ]
    tree = inspect.cleandoc(errors.__doc__ or "").split("\n\n")
    drawing = next(part for part in tree if "├" in part)
    kinds.sort(key=lambda kind: [base.__name__ for base in reversed(kind.__mro__)])
    rows = []
    for kind in kinds:
        words = kind.__dict__.get("__doc__") or ""
        rows.append(f"| `{kind.__name__}` | `{kind.code}` | {kind.exit_code} | {cell(words)} |")
    drawn = ["```", inspect.cleandoc(drawing), "```", ""]
    head = ["| error | code | exit code of the command | |", "|---|---|---|---|"]
    return "\n".join(["# Errors", "", NOTE, "", ERRORS, *drawn, *head, *rows, ""])


PAGES = {
    "commands.md": commands_page,
    "settings.md": settings_page,
    "errors.md": errors_page,
}


def outdated() -> dict[pathlib.Path, str]:
    """Pages that are not as they should be, with what should stand there."""
    found = {}
    for name, make in PAGES.items():
        path, page = FOLDER / name, make()
        if not path.is_file() or path.read_text(encoding="utf-8") != page:
            found[path] = page
    return found


def main() -> None:
    found = outdated()
    if "--check" in sys.argv[1:]:
        for path in found:
            print(f"{path.name} is out of date: run python tools/make_command_pages.py")
        raise SystemExit(1 if found else 0)
    for path, page in found.items():
        path.write_text(page, encoding="utf-8")
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
