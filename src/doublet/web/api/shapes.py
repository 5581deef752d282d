"""Shapes of REST: what comes in and what goes out. Names are those of the command line and of Python."""

from __future__ import annotations

import base64
import binascii
import json
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from ninja import Path, Schema
from pydantic import Field

from doublet.errors import InvalidParameter

#: a number in an address; no database holds larger ones
Number = Annotated[int, Path(ge=0, lt=2**63)]


class Problem(Schema):
    """An error."""

    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class Work(Schema):
    """A check: what was handed in, how far it is, and its figures (shares of the words, 0 to 1)."""

    id: UUID
    title: str
    author: str
    labels: list[str]
    state: str
    words: int | None
    borrowed: float | None
    quoted: float | None
    original: float | None
    alarms: int
    sources: int
    verdict: str
    verdict_note: str
    problem: dict[str, Any] | None = None
    job: int | None
    changes: int
    created: datetime
    ended: datetime | None
    deleted: datetime | None

    @staticmethod
    def of(one: Any) -> Work:
        return Work(
            id=one.pk,
            **{
                name: getattr(one, name)
                for name in (
                    *(
                        "title",
                        "author",
                        "labels",
                        "state",
                        "words",
                        "borrowed",
                        "quoted",
                        "original",
                        "alarms",
                    ),
                    *("sources", "verdict", "verdict_note", "job", "changes"),
                )
            },
            problem=one.message or None,
            created=one.created_at,
            ended=one.ended_at,
            deleted=one.deleted_at,
        )


class Works(Schema):
    items: list[Work]
    next: str | None = Field(None, description="Give this as *cursor* to get what follows; null at the end.")


class CheckOptions(Schema):
    """How to check."""

    title: str = Field("", max_length=300)
    author: str = Field("", max_length=200)
    labels: list[str] = Field([], max_length=10)
    libraries: list[str] | None = Field(None, description="Names of libraries; null: all.")
    method: str = Field("auto", max_length=40)
    leave_out: list[str] = Field([], description="Any of quotations, bibliography, common, own.")
    own: list[str] = Field([], max_length=100)


class NewCheck(CheckOptions):
    """A text or the address of a page. A file is sent to ``/checks/file``."""

    text: str | None = Field(None, max_length=5_000_000)
    address: str | None = Field(None, max_length=2_000)


class WorkEdit(Schema):
    """What to change. *changes* is that of the check as it was read: a check that somebody changed since is refused."""

    changes: int = Field(ge=0)
    title: str | None = Field(None, min_length=1, max_length=300)
    author: str | None = Field(None, max_length=200)
    labels: list[str] | None = None
    verdict: str | None = Field(None, max_length=20)
    verdict_note: str | None = Field(None, max_length=2_000)


class NewDecision(Schema):
    target: str = Field(pattern="^(source|fragment|kind)$")
    which: str = Field(min_length=1, max_length=200)
    reason: str = Field("", max_length=300)


class DecisionShape(Schema):
    id: int
    target: str
    which: str
    reason: str
    by: str
    at: datetime
    undone: datetime | None

    @staticmethod
    def of(one: Any) -> DecisionShape:
        return DecisionShape(
            id=one.pk,
            target=one.target,
            which=one.which,
            reason=one.reason,
            by=one.by.get_username() if one.by else "",
            at=one.at,
            undone=one.undone_at,
        )


class Figures(Schema):
    borrowed: float
    quoted: float
    original: float


class NewComment(Schema):
    fragment: str = Field("", max_length=40)
    text: str = Field(min_length=1, max_length=5_000)


class CommentShape(Schema):
    id: int
    fragment: str
    text: str
    by: str
    at: datetime


class LibraryShape(Schema):
    name: str
    address: str
    note: str
    documents: int
    words: int
    size_bytes: int
    created: str
    changed: str
    outcomes: dict[str, int]


class NewLibrary(Schema):
    name: str = Field(min_length=1, max_length=200)
    address: str = Field("", max_length=2_000, description="Where its documents come from, for people.")
    note: str = Field("", max_length=500)


class Between(Schema):
    """Libraries to search for duplicates."""

    libraries: list[str] = Field(min_length=1, max_length=1_000)
    between: bool = Field(False, description="Only groups with documents of several libraries.")


class Fill(Schema):
    """Where the documents come from: an address of the web, or a folder that the owner of the service opened."""

    address: str = Field(min_length=1, max_length=2_000)
    kind: str = Field("auto", max_length=20)


class LibraryEdit(Schema):
    """What changes of a library."""

    name: str = Field(min_length=1, max_length=200, description="The new name.")


class Filling(Schema):
    """How documents are taken from sources."""

    limit: int | None = Field(
        default=None, ge=1, le=2**31, description="Documents that are fetched and read at most."
    )
    again: bool = Field(default=False, description="Fetch and read everything, whatever is known of it.")
    keep_duplicates: bool | None = Field(
        default=None, description="Store documents whose words another one has."
    )
    keep_gone: bool = Field(default=False, description="Keep documents that are gone at the source.")
    ocr: bool = Field(default=False, description="Recognise the text of scanned pages.")
    every: bool = Field(default=False, description="Give the state of every document.")
    min_words: int | None = Field(
        default=None, ge=0, le=1_000_000, description="Shorter documents are left out."
    )

    def chosen(self) -> dict[str, Any]:
        return {name: one for name, one in self.dict().items() if one is not None}


class Update(Schema):
    """Which sources to walk again (none named: all), and how."""

    sources: list[int] = Field(default=[], max_length=1_000)
    filling: Filling = Filling()


class Site(Schema):
    """A site, and which of its pages are documents."""

    address: str = Field(min_length=1, max_length=2_000)
    only: list[str] = Field([], max_length=50, description="Texts that addresses of documents contain.")
    examples: list[str] = Field([], max_length=50, description="Addresses of documents.")
    skip: list[str] = Field([], max_length=50, description="Addresses with these texts are left alone.")
    subdomains: bool = False
    patterns: list[str] = Field([], max_length=20, description="Patterns of addresses: /post/{number}/.")
    numbers: tuple[int, int] | None = Field(None, description="Numbers of the pattern, from and to.")

    def wish(self) -> dict[str, Any]:
        return {name: one for name, one in self.dict().items() if one}


class Crawl(Site):
    limit: int | None = Field(None, ge=1, le=2**31, description="Pages that are fetched at most, for now.")


class Refresh(Schema):
    everything: bool = Field(default=False, description="All pages, whether they are due or not.")
    limit: int | None = Field(default=None, ge=1, le=2**31)


class Verify(Schema):
    libraries: list[str] = Field([], max_length=1_000, description="None named: all.")
    repair: bool = False


class DocumentIds(Schema):
    ids: list[str] = Field(min_length=1, max_length=1_000)


class RemovedDocuments(Schema):
    removed: list[str] = Field(description="Ids that were there.")


class Pages(Schema):
    """Addresses that the robot met, in the order in which they were met."""

    items: list[dict[str, Any]]
    next: str | None = None


class DocumentShape(Schema):
    library: str
    id: str
    title: str
    address: str
    time: str
    source: str
    words: int
    characters: int
    added: str
    changed: str
    text: str | None = None


class FoundDocument(DocumentShape):
    snippet: str = Field(description="The text around the first word that was looked for.")


class FoundDocuments(Schema):
    items: list[FoundDocument]
    missing: int = Field(
        description="Documents whose words are not searched yet: ask again when the job is done."
    )


class Documents(Schema):
    items: list[DocumentShape]
    next: str | None = None


class JobShape(Schema):
    number: int
    kind: str
    library: str
    asked_by: str
    state: str
    paused: bool
    stage: str
    done: int
    total: int | None
    unit: str
    message: str
    facts: dict[str, Any]
    attempts: int
    max_attempts: int
    priority: int
    run_after: str
    worker: str
    key: str | None
    cancel: bool
    created: str
    changed: str
    began: str
    ended: str

    @staticmethod
    def of(job: Any) -> JobShape:
        names = JobShape.model_fields
        return JobShape(
            **{name: getattr(job, name) for name in names if name != "facts"}, facts=dict(job.facts)
        )


class JobDetails(JobShape):
    """A job with what it was asked to do and what came of it."""

    parameters: dict[str, Any]
    result: Any = None

    @staticmethod
    def of(job: Any) -> JobDetails:
        facts = JobShape.of(job).dict()
        return JobDetails(**facts, parameters=dict(job.parameters), result=job.result)


class Jobs(Schema):
    items: list[JobShape]
    counts: dict[str, int] = Field({}, description="How many jobs are in each state.")
    next: str | None = None


def cursor_of(*values: Any) -> str:
    """An opaque place in a list."""
    return base64.urlsafe_b64encode(json.dumps(values, default=str).encode()).decode().rstrip("=")


def read_cursor(cursor: str | None, size: int) -> list[Any] | None:
    """Raises `InvalidParameter` for what was not given out by `cursor_of`."""
    if not cursor:
        return None
    try:
        found = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if isinstance(found, list) and len(found) == size:
            return found
    except (ValueError, binascii.Error):
        pass
    raise InvalidParameter("wrong_cursor", name="cursor")
