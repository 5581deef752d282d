"""Help in the language of the run. The commands declare it in English; other languages have a table by the path of a
command and the name of an option (doublet.reports.wording.ru.help)."""

from __future__ import annotations

import copy
from typing import Any

import click

from doublet.cli.language import words
from doublet.errors import nearest


class Formatter(click.HelpFormatter):
    """Writes headings in the language of the run."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, prefix or f"{words()('help_usage')} ")

    def write_heading(self, heading: str) -> None:
        super().write_heading(words().name("help", heading))


class Context(click.Context):
    formatter_class = Formatter


def path_of(ctx: click.Context) -> str:
    """ "library add": how a command is called, without the name of the program."""
    names: list[str] = []
    at: click.Context | None = ctx
    while at is not None and at.parent is not None:
        names.insert(0, at.info_name or "")
        at = at.parent
    return " ".join(names)


class SettingOption(click.Option):
    """A flag for a setting. Its default is that of the settings, which the flag does not decide."""

    def __init__(self, *args: Any, told_default: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.told_default = told_default


def told(path: str, option: str = "") -> str | None:
    """The help of a command or of its option in the language of the run; None where the commands' own is it."""
    table: dict[str, str] = words().tables.HELP
    return table.get(f"{path} {option}".strip()) or (table.get(option) if option else None)


def localised(command: click.Command, ctx: click.Context) -> click.Command:
    """The command as its help shows it."""
    path = path_of(ctx)
    help_text = told(path)
    if help_text is None:
        return command
    shown = copy.copy(command)
    shown.help, shown.add_help_option = help_text, False
    shown.params = [_localised(param, path) for param in command.get_params(ctx)]
    return shown


def option_name(param: click.Parameter) -> str:
    """The first long name: "--help" of "-h, --help"."""
    return next((name for name in param.opts if name.startswith("--")), param.opts[0])


def _localised(param: click.Parameter, path: str) -> click.Parameter:
    text = told(path, option_name(param)) if isinstance(param, click.Option) else None
    if text is None:
        return param
    shown: Any = copy.copy(param)
    shown.help = text
    if isinstance(param, SettingOption) and param.told_default:
        shown.help = f"{text} {words()('help_default', default=param.told_default)}"
    if shown.show_default and isinstance(shown.default, str | int | float) and not shown.is_flag:
        shown.help = f"{text} {words()('help_default', default=shown.default)}"
        shown.show_default = False
    return shown  # type: ignore[no-any-return] # a copy of the parameter


def write_example(formatter: click.HelpFormatter, example: str) -> None:
    lines = example.strip().splitlines()
    with formatter.section("Example" if len(lines) == 1 else "Examples"):
        for line in lines:
            formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
    formatter.write("\n")


class Group(click.Group):
    """A group of commands whose help begins with an example, and that knows the nearest name of a command."""

    context_class = Context
    example = ""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_example(formatter, self.example)
        click.Group.format_help(localised(self, ctx), ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        path = path_of(ctx)
        rows = []
        for name in self.list_commands(ctx):
            text = told(f"{path} {name}".strip()) or self.brief(ctx, name)
            rows.append((name, _first_sentence(text)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def brief(self, ctx: click.Context, name: str) -> str:
        found = self.get_command(ctx, name)
        return (found.help or "") if found is not None else ""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            path = f"{path_of(ctx)} {name}".strip()
            values = {"name": path, "nearest": nearest(name, known), "known": known}
            raise click.UsageError(words()("unknown_command", **values), ctx)
        return super().resolve_command(ctx, args)


def _first_sentence(text: str) -> str:
    """What a list of commands says of one: up to the first full stop or colon."""
    plain = " ".join(text.split())
    for end in (". ", ": "):
        plain = plain.partition(end)[0]
    return plain.rstrip(".") + "."
