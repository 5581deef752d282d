"""How a command ends: the exit codes, and the one place where errors become messages and codes.

Each error knows its code (`doublet.errors`); what is not an error has its own here.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from doublet.cli.language import find, use, words
from doublet.errors import DoubletError
from doublet.model import Note
from doublet.reports.wording import wording

DONE = 0
OVER_THE_LIMIT = 1
WRONG_USAGE = 2
SOME_FAILED = 3
NOTHING_DONE = 4
STOPPED = 130
READER_GONE = 141  # what a shell reports for a program that a closed pipe ended


class UnexpectedArguments(click.UsageError):
    """More names than the command takes."""

    def __init__(self, arguments: list[str], ctx: click.Context) -> None:
        super().__init__(wording("en")("unexpected_arguments", arguments=arguments), ctx)
        self.arguments = arguments


#: for the reference and `--help`
TABLE = {
    DONE: "done; duplicates, and none, are both answers",
    OVER_THE_LIMIT: "over the limit that you set (--fail-above, --fail-on-new)",
    WRONG_USAGE: "wrong usage or settings",
    SOME_FAILED: "done, but some documents could not be used",
    NOTHING_DONE: "nothing could be done",
    STOPPED: "stopped by you",
}


def guarded(arguments: list[str]) -> int:
    """Run the command line; whatever happens becomes a message on standard error and an exit code.

    A command returns its exit code, or nothing when all went well.
    """
    from doublet.cli.root import root

    _open_streams()
    use(find(arguments))
    # A terminal that cannot show a letter gets a substitute; JSON and CSV are written as UTF-8 bytes anyway.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    logging.lastResort = None  # the library's warnings are for programs; ours are written here
    try:
        with _stopped_by_signals():
            code = root.main(arguments, prog_name="doublet", standalone_mode=False) or DONE
            sys.stdout.flush()
    except click.UsageError as error:
        code = _wrong_usage(error)
    except click.ClickException as error:
        code = _say(error.format_message(), WRONG_USAGE)
    except BrokenPipeError:
        code = READER_GONE
    except SystemExit:
        # click ends the program by itself when the reader has gone, with the code that means something else here.
        if not type(sys.stdout).__name__.endswith("PacifyFlushWrapper"):
            raise
        code = READER_GONE
    except (KeyboardInterrupt, click.Abort):
        code = _say(Note("stopped_clean"), STOPPED)
    except MemoryError:
        code = _say(Note("out_of_memory"), NOTHING_DONE)
    except DoubletError as error:
        code = _say(error.note, error.exit_code)
    except OSError as error:
        why = error.strerror or str(error)
        code = _say(Note("reading_or_writing_failed", name=error.filename or "", why=why), NOTHING_DONE)
    except Exception as error:
        # Ours to mend: the place is shown, and the code is not one that means something else.
        traceback.print_exc()
        code = _say(Note("own_fault", fault=type(error).__name__), NOTHING_DONE)
    return _flushed(code)


def _flushed(code: int) -> int:
    """Write out what is left. A reader that has gone away is no reason for a message."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        if isinstance(error, BrokenPipeError):
            code = READER_GONE
        elif code == DONE:
            code = _say(Note("result_not_written", why=error), NOTHING_DONE)
        # Python flushes again at its end and would complain about the same.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def usage_message(error: click.UsageError) -> str:
    """What was wrong with the call, in the language of the run; what a type of click says of a value is its own."""
    say = words()
    if say.language == "en":  # which click speaks itself
        return error.format_message()
    if isinstance(error, click.NoSuchOption):
        near = (error.possibilities or [""])[0]
        return say("no_such_option", option=error.option_name, nearest=near)
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return say("missing_parameter", name=_called(error.param))
    if isinstance(error, click.BadOptionUsage):
        flag = error.message == f"Option {error.option_name!r} does not take a value."  # all that click tells
        return say("option_without_value" if flag else "option_needs_value", option=error.option_name)
    if isinstance(error, UnexpectedArguments):
        return say("unexpected_arguments", arguments=error.arguments)
    if isinstance(error, click.BadParameter) and error.param is not None:
        why: str | Note = error.message
        given = error.ctx.params.get(error.param.name or "") if error.ctx else None
        if isinstance(error.param.type, click.Choice) and given is None:
            why = Note("rule_one_of", choices=list(error.param.type.choices), nearest="")
        elif isinstance(error.param.type, click.types.IntParamType | click.types.FloatParamType):
            why = _wanted_number(error.param.type)
        return say("wrong_parameter", name=_called(error.param), why=why)
    return error.format_message()


def _wanted_number(kind: click.types.IntParamType | click.types.FloatParamType) -> Note:
    ends = {"low": "", "above": "", "high": ""}
    if isinstance(kind, click.IntRange | click.FloatRange):
        least = "" if kind.min is None else f"{kind.min:g}"
        ends |= {"above" if kind.min_open else "low": least}
        ends["high"] = "" if kind.max is None else f"{kind.max:g}"
    whole = isinstance(kind, click.types.IntParamType)
    return Note("rule_whole_range" if whole else "rule_range", **ends)


def _called(param: click.Parameter) -> str:
    """An option by its first name, an argument as the usage shows it."""
    return param.opts[0] if isinstance(param, click.Option) else param.human_readable_name


def _wrong_usage(error: click.UsageError) -> int:
    message = error.format_message() if isinstance(error, NoArgsIsHelpError) else usage_message(error)
    if isinstance(error, NoArgsIsHelpError):  # its message is the whole help
        with contextlib.suppress(OSError):
            click.echo(message, err=True)
        return WRONG_USAGE
    if error.ctx is not None:
        message = f"{message}\n{words()('see_help', command=error.ctx.command_path)}"
    return _say(message, WRONG_USAGE)


def _say(message: str | Note, code: int) -> int:
    from doublet.reports.terminal import harmless_lines

    with contextlib.suppress(OSError):
        click.echo(harmless_lines(f"doublet: {words().say(message)}"), err=True)
    return code


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """A request to end the process, and a terminal that is closed, are handled like Ctrl-C, so that nothing
    half-written stays behind. What is ignored (``nohup``) stays so."""

    def stop(_signal: int, _frame: FrameType | None) -> NoReturn:
        for cancel in _cancelling:
            cancel()
        raise KeyboardInterrupt

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            try:
                before[number] = signal.signal(number, stop)
            except ValueError:  # not in the main thread: whoever runs us takes care of signals
                break
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_cancelling: list[Callable[[], None]] = []


@contextlib.contextmanager
def cancelled_by_signals(cancel: Callable[[], None]) -> Iterator[None]:
    """Calls *cancel* too when the user stops the program: an exception that is raised while Python cleans up after
    itself is lost, and the work would go on."""
    _cancelling.append(cancel)
    try:
        yield
    finally:
        _cancelling.remove(cancel)


def _open_streams() -> None:
    """Stands something in for standard streams that were closed, so that files do not get their numbers."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(
            os.open(os.devnull, os.O_RDONLY), "w"
        )  # what is written there fails, and is told
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - nobody listens
