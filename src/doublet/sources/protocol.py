"""What a source of documents, the fetcher that is handed to it and the job that stores the documents say to each other.

A source (a folder, a sitemap, a feed, an OAI-PMH repository, a wiki …) walks what it was given and yields items. It
never makes its own requests: everything comes through the `Fetcher` that it is handed, so that robots.txt, delays,
limits and forbidden addresses are kept to in one place. It remembers nothing either: what the library knows of a
document comes through *known*, and where an earlier walk stopped through *state*.

To add a source of your own: one class with the members of `Source`, nothing else. `docs/how-to/fill-a-library.md`
shows the ones that Doublet has, `docs/reference/sources.md` their options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

from doublet.model import Note


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave so that it can be asked again "only if changed". Both empty: it gave nothing."""

    etag: str = ""
    modified: str = ""  #: Last-Modified, as sent

    def __bool__(self) -> bool:
        return bool(self.etag or self.modified)


NO_VALIDATORS = Validators()


@dataclass(frozen=True, slots=True)
class Answer:
    """A fetched resource, after redirects and decompression, within the limits.

    *status* is 200, 304, 404, 410 …: redirects were followed, 429 and 503 with Retry-After were waited for.
    """

    address: str  #: the final one
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)  #: names in lower case
    body: bytes = b""
    validators: Validators = NO_VALIDATORS
    unchanged: bool = False  #: 304: the same as when the validators were given


class Fetcher(Protocol):
    """Makes the requests of all sources."""

    def fetch(
        self, address: str, *, validators: Validators | None = None, accept: str = "", robots: bool = True
    ) -> Answer:
        """Get one address.

        *robots=False* only where the protocol itself is the permission (OAI-PMH, the API of a wiki); delays for the
        host are kept all the same. Answers of 4xx other than 429 are answers, not errors. Raises `FetchFailed` (no
        answer, 5xx after retries, body cut short), `NotAllowed` (robots.txt, private address, scheme), `TooLarge`,
        `TooSlow`, all of them `SourceError`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Known:
    """What the library remembers of a document of this source."""

    version: str  #: lastmod, revision, datestamp, hash of the content: whatever the source calls a version
    validators: Validators = NO_VALIDATORS


@dataclass(frozen=True, slots=True)
class Found:
    """A document to store: new, or changed since last time.

    Either *data*, bytes for the readers of formats, or *text*, which is clean already (then *data* is empty).
    *charset* is what the server said and may be empty. *name* helps to tell the kind when nothing else does.
    """

    id: str  #: stable: the same document has the same id in every walk
    address: str = ""
    title: str = ""
    version: str = ""
    data: bytes = b""
    media_type: str = ""
    charset: str = ""
    validators: Validators = NO_VALIDATORS
    time: str = ""  #: when the document was written or last changed, ISO 8601, as far as the source says
    name: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The same as last time; nothing has to be stored.

    A *version* or *validators* that are not empty replace those that are remembered: the document is the same, but the
    server calls it by another date now.
    """

    id: str
    version: str = ""
    validators: Validators = NO_VALIDATORS


@dataclass(frozen=True, slots=True)
class Gone:
    """Deleted at the source, or no longer to be kept. Also given for documents that were never stored."""

    id: str
    reason: Note | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """One document could not be got. *state* is that of an `Outcome`: failed, refused, too_large, unreadable …

    A document that was stored earlier stays as it was.
    """

    id: str
    state: str
    reason: Note


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """*state* can be written as JSON. It is stored in the same transaction as all that came before it, and the latest
    one is handed to the next walk, after a stop in the middle as well as after a walk that came to its end."""

    state: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Complete:
    """The walk saw everything there is: what this source gave earlier and did not give now is gone.

    Only for sources that see all of themselves each time (a folder, an archive); never from a feed, which shows its
    latest entries only. A walk that was resumed from the middle does not yield it. A source whose list does not prove
    that a document is gone is an `AsksForUnlisted`.
    """


Item: TypeAlias = Found | Unchanged | Gone | Failed | Checkpoint | Complete

KnownLookup: TypeAlias = Callable[[str], Known | None]


@runtime_checkable
class Source(Protocol):
    """Somewhere that documents come from."""

    kind: ClassVar[str]  #: "folder", "sitemap", "feed", "oai", "wiki", "page" …
    address: str  #: as the user gave it or as it was found

    def items(self, fetcher: Fetcher, known: KnownLookup, state: dict[str, Any]) -> Iterator[Item]:
        """Walk the source. *state* is that of the last `Checkpoint`, empty the first time; it is not changed.

        Raises `SourceError` when nothing can be had at all (the first request fails); later failures are items.
        Everything before a `Checkpoint` may be forgotten by the source: it does not come again after a resume.
        """
        ...


@runtime_checkable
class TakesNotes(Protocol):
    """A source that has something to tell about the walk as a whole; read when the walk has ended."""

    notes: list[Note]


@runtime_checkable
class AsksForUnlisted(Protocol):
    """A source whose list does not prove that a document is gone."""

    def unlisted(self, fetcher: Fetcher, id: str, known: Known) -> Item | None:
        """What becomes of a document that the source does not list any more; None: nothing has to be done."""
        ...


@runtime_checkable
class Stoppable(Protocol):
    """A fetcher that can be told to give up the request that it is waiting for."""

    def stop(self) -> None: ...
