"""What the commands share: help that begins with an example, common options, colour, results on standard
output.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from doublet import config
from doublet.cli.complete import complete_by_name
from doublet.cli.exits import UnexpectedArguments
from doublet.cli.help import Context, SettingOption, localised, write_example
from doublet.cli.language import words
from doublet.errors import OutputFailed, UsageError
from doublet.model import LANGUAGES, Note

F = TypeVar("F", bound=Callable[..., Any])


STDOUT_NAMES = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


class FileName(click.Path):
    """The name of a file, never an empty one: for `Path` that is the working folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail(words()("empty_name"), param, ctx)
        if (
            str(value) in STDOUT_NAMES
        ):  # else a file behind it would be replaced, and the rest of the output lost
            value = "-"
        return super().convert(value, param, ctx)


PATH = FileName(path_type=Path)


def check_names(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """For options that name files or folders as plain texts."""
    if "" in (value if isinstance(value, tuple) else (value,)):
        raise click.BadParameter(words()("empty_name"), ctx, param)
    return value


class Command(click.Command):
    """A command whose help begins with an example, and whose arguments are not empty."""

    context_class = Context

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example
        complete_by_name(self)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_example(formatter, self.example)
        click.Command.format_help(localised(self, ctx), ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.allow_extra_args = (
            True  # so that it is said here, in the language of the run, that there are too many
        )
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            raise UnexpectedArguments(rest, ctx)
        for param in self.params:
            if isinstance(param, click.Argument):
                check_names(ctx, param, ctx.params.get(param.name or ""))
        return rest


def format_option(*choices: str, default: str = "table") -> Callable[[F], F]:
    return click.option(
        "--format",
        "form",
        type=click.Choice(choices),
        default=default,
        show_default=True,
        help="How to write the result on standard output.",
    )


def settings_options(*names: str) -> Callable[[F], F]:
    """Flags for these settings. Their values go to `config.resolve` as they are."""
    metavars = {"threshold": "SHARE", "containment": "SHARE|off", "memory": "SIZE", "workers": "N|auto"}
    metavars |= {"database": "FILE|ADDRESS"}
    metavars |= {
        "contact": "TEXT",
        "fetch_delay_s": "SECONDS",
        "fetch_timeout_s": "SECONDS",
        "fetch_limit": "SIZE",
    }
    metavars |= {"min_words": "N", "thesaurus": "FILE|auto"}
    metavars |= {"shingle_words": "N", "method": "NAME", "keep": "|".join(config.KEEP_RULES)}

    def decorate(function: F) -> F:
        for name in reversed(names):
            flag = "--" + name.replace("_", "-")
            text = config.about(name)
            help_text = f"{text[0].upper()}{text[1:]}.{_default(name)}"
            default = getattr(config.Settings(), name)
            function = click.option(
                flag,
                name,
                metavar=metavars[name],
                help=help_text,
                cls=SettingOption,
                told_default="" if default is None else str(default),
            )(function)
        return function

    return decorate


def common_options(function: F) -> F:
    """`--config` and `--colour`, for every command that reads settings."""
    colour = click.option(
        "--colour",
        "--color",
        "colour",
        metavar="auto|always|never",
        help="Colour in the terminal; auto heeds NO_COLOR.",
    )
    file = click.option(
        "--config",
        "config_file",
        type=PATH,
        metavar="FILE",
        help="Settings file to use instead of doublet.toml.",
    )
    return file(colour(language_option(function)))


def language_option(function: F) -> F:
    """`--language`, which is read before the commands are: `doublet.cli.language`."""
    return click.option(
        "--language",
        type=click.Choice(LANGUAGES),
        expose_value=False,
        help="Language of messages, reports and help.",
    )(function)


def quiet_option(function: F) -> F:
    return click.option("--quiet", "-q", is_flag=True, help="Only the result: no notes and no progress.")(
        function
    )


def parameter_option(function: F) -> F:
    return click.option(
        "--parameter",
        "-p",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        help="Any parameter of the method; can be given several times.",
    )(function)


def was_given(name: str) -> bool:
    """Whether an option of the running command stands on the command line, and is not merely its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def use_colour(setting: str, stream: Any = None) -> bool:
    """Whether to colour what goes to *stream*: only a terminal, and not when the user has asked for none."""
    if setting != "auto":
        return setting == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(sys.stdout if stream is None else stream)


def is_terminal(stream: Any) -> bool:
    """Whether a person reads what is written to *stream*."""
    return bool(hasattr(stream, "isatty") and stream.isatty())


def width() -> int:
    return max(40, min(160, shutil.get_terminal_size((80, 24)).columns))


def write_text(text: str) -> None:
    """A result for people on standard output. Raises `OutputFailed`."""
    if is_terminal(sys.stdout):
        from doublet.reports.terminal import for_terminal

        text = for_terminal(text)
    with _written():
        sys.stdout.write(text)
        sys.stdout.flush()


def write_bytes(parts: Iterable[bytes]) -> None:
    """JSON and CSV on standard output, always as UTF-8. Raises `OutputFailed`."""
    with _written():
        sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # a stand-in without bytes, as tests use
        for part in parts:
            sys.stdout.write(part.decode("utf-8"))
        return
    from doublet.reports.output import standard_output

    stream = standard_output()
    for part in parts:  # what goes wrong while they are made is no fault of the output
        try:
            stream.write(part)
        except OSError as error:
            raise _not_written(error) from error
    with _written():
        buffer.flush()


@contextlib.contextmanager
def _written() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _not_written(error) from error


def _not_written(error: OSError) -> Exception:
    """What to raise for *error*; a reader that has gone away is something else than a disk that is full."""
    if isinstance(error, BrokenPipeError):
        return BrokenPipeError(*error.args)
    return OutputFailed("stdout_failed", why=error.strerror or error, path="-")


def say(text: str | Note, *, quiet: bool = False) -> None:
    """A line for people on standard error."""
    if not quiet:
        from doublet.reports.terminal import harmless_lines

        click.echo(harmless_lines(words().say(text)), err=True)


def method_parameters(
    resolved: config.Resolved, given: Iterable[str], also: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Parameters for the method, from the settings and from ``--parameter name=value``.

    A setting of the file or the environment is for the methods that have it; a flag is always handed on, so
    that a method without such a parameter says so. *also* are parameters of the command, with their defaults. Raises
    `InvalidParameter` for a parameter that neither has.
    """
    from doublet.signatures import METHODS, parameters_of
    from doublet.signatures.parameters import make

    parameters: dict[str, Any] = {}
    method = resolved.settings.method
    known = parameters_of(method)
    for name in ("shingle_words", "thesaurus"):
        value = getattr(resolved.settings, name)
        if value is not None and (name in known or by_flag(resolved, name)):
            parameters[name] = value
    told: dict[str, str] = {}
    for name, text in named_values(given):
        if name in ("shingle_words", "thesaurus") and by_flag(resolved, name):
            told[name] = str(parameters[name])
        if told.setdefault(name, text) != text:
            raise UsageError("parameter_twice", name=name, value=told[name], text=text)
        parameters[name] = read_value(text, {**(also or {}), **known}.get(name))
        if name not in known and name not in (also or {}) and method in METHODS:
            make(METHODS[method].parameters_type, {name: text}, method=method)  # says what it does have
    return parameters


def by_flag(resolved: config.Resolved, name: str) -> bool:
    """Whether a setting was given on the command line."""
    return resolved.origins[name].startswith("--")


def named_values(given: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names and values of ``--parameter name=value``."""
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise UsageError("parameter_form", text=text)
        yield name, value.strip()


def parameters_as_flags(
    given: Iterable[str], flags: Mapping[str, Any], names: Sequence[str]
) -> tuple[list[str], dict[str, Any]]:
    """``--parameter threshold=0.7`` is ``--threshold 0.7``, for those *names* that are flags of the command."""
    rest, out = [], dict(flags)
    for name, text in named_values(given):
        if name not in names:
            rest.append(f"{name}={text}")
        elif out.get(name) is not None:
            raise UsageError("parameter_twice", name=f"--{name}", value=out[name], text=text)
        else:
            out[name] = text
    return rest, out


def read_value(text: str, default: Any) -> Any:
    """*text* as a value of the same type as *default*; as it is when it cannot be, and the method will say
    so. A list has commas between its words, or is ``@FILE`` with one word on each line.
    """
    if isinstance(default, bool):
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(
            text.lower(), text
        )
    if isinstance(default, tuple):
        if text.startswith("@"):
            from doublet.text.stopwords import load_stop_words

            return load_stop_words(text[1:])
        return tuple(part.strip() for part in text.split(",") if part.strip())
    try:
        if isinstance(default, int):
            return int(text)
        if isinstance(default, float):
            return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        pass
    return text


def _default(name: str) -> str:
    default = getattr(config.Settings(), name)
    return f" [default: {default}]" if default is not None else ""
