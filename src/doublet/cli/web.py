"""What commands that take addresses share: the fetcher of the settings, and a document by its address."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from doublet.cli.base import say, settings_options
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.config import Settings
    from doublet.crawl.politeness import PoliteFetcher
    from doublet.progress import Progress
    from doublet.text.read import ReadDocument

WEB_SETTINGS = ("contact", "fetch_delay_s", "fetch_timeout_s", "fetch_limit")


def web_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How to fetch. `--allow-private` is a switch; the others take a value."""
    private = click.option(
        "--allow-private/--no-allow-private",
        "allow_private",
        default=None,
        help="Fetch from this computer and from private networks too. [default: no]",
    )
    return settings_options(*WEB_SETTINGS)(private(function))


@contextlib.contextmanager
def fetching(settings: Settings, progress: Progress | None = None) -> Iterator[PoliteFetcher]:
    """A fetcher whose long waits are shown."""
    from doublet.crawl.politeness import polite_fetcher

    def waiting(host: str, seconds: float) -> None:
        if progress is not None and seconds >= 5:
            progress.step("fetching", 0, None, "", Note("asked_again", host=host, seconds=seconds))

    with polite_fetcher(settings, waiting=waiting) as fetcher:
        yield fetcher


def read_web(address: str, settings: Settings, **options: Any) -> ReadDocument:
    """The document at an address. Raises `SourceError`."""
    from doublet.jobs.read import read_address

    with fetching(settings) as fetcher:
        return read_address(address, fetcher, **options)


def ask_for_contact(settings: Settings, *, quiet: bool) -> None:
    """Servers should know whom to write to."""
    if not settings.contact and not settings.allow_private:
        say(Note("no_contact"), quiet=quiet)
