"""How a work is checked: read, compare with the libraries, keep the report, copy the figures to the list.

Short pasted texts are checked while the browser waits; everything else is a job of the queue (kind ``work``), which any
worker of the service takes. A work always ends in a final state: `catch_up` closes those whose job ended without them.
"""

from __future__ import annotations

import logging
import zlib
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from doublet.errors import (
    Cancelled,
    DoubletError,
    InputUnreadable,
    PoolBusy,
    StoreError,
    TimedOut,
    WorkerLost,
)
from doublet.jobs.check import with_hidden
from doublet.jobs.check_class import CheckedWork, compare_works, with_works
from doublet.jobs.read import GivenText, read_document
from doublet.matches.among import CLASS, Among
from doublet.matches.figures import figures
from doublet.model import Check, Note
from doublet.progress import Progress
from doublet.sources.works import WorkFile, settle
from doublet.text.read import ReadDocument
from doublet.web import checkers, turns
from doublet.web.accounts import audit
from doublet.web.fetching import read_page
from doublet.web.store import store
from doublet.web.works import kept
from doublet.web.works.models import (
    CANCELLED,
    DONE,
    ENDED,
    FAILED,
    NEW,
    RUNNING,
    Group,
    RepeatsSearch,
    Upload,
    Work,
)

log = logging.getLogger(__name__)
QUICK_BYTES = 60_000  #: of a pasted text that is checked at once
PRIORITY = 10  #: a person waits for it
WORK, GROUP, SEARCH = "work", "class", "repeats_search"  #: kinds of jobs
LOST = timedelta(minutes=2)  #: that something may be without a job; a quick check waits a fraction of it


def hand_in(
    request: HttpRequest, content: bytes | None = None, name: str = "", **facts: Any
) -> tuple[Work, bool]:
    """A new work with its upload and its line in the audit log, all of it or nothing; and whether it is short enough to
    be checked while somebody waits."""
    user: Any = request.user
    quick = facts["kind"] == "text" and content is not None and len(content) <= QUICK_BYTES
    with turns.writing():
        upload = None
        if content is not None:
            upload = Upload.keep(name, content)
        work = Work.objects.create(owner=user, upload=upload, state=RUNNING if quick else NEW, **facts)
        audit.note(request, "work_checked", work.title, work=str(work.pk))
    return work, quick


def begin(work: Work, *, quick: bool) -> None:
    """Check a new work (`hand_in`): now when it is *quick*, else soon. *work* is then as the database has it."""
    if quick:
        try:
            _perform(work, Progress())
            return
        except PoolBusy:
            log.info("a quick check goes to the queue", extra={"work": str(work.pk)})
            work.state = NEW
    queue(work)


def queue(work: Work) -> None:
    job = store().jobs.add(
        WORK,
        {"work_id": str(work.pk)},
        priority=PRIORITY,
        key=f"work-{work.pk}",
        asked_by=work.owner.get_username(),
    )
    Work.objects.filter(pk=work.pk).update(job=job.number)
    work.job = job.number


def begin_group(group: Group) -> None:
    job = store().jobs.add(
        GROUP,
        {"group_id": str(group.pk)},
        priority=PRIORITY - 1,
        key=f"group-{group.pk}",
        asked_by=group.owner.get_username(),
    )
    Group.objects.filter(pk=group.pk).update(job=job.number)
    group.job = job.number


def take_up() -> None:
    """Put what was handed in but never came into the queue there: the service was killed, or the disk was full, between
    two steps."""
    lost = {"job": None, "state__in": (NEW, RUNNING), "created_at__lt": timezone.now() - LOST}
    for work in Work.objects.filter(group=None, deleted_at=None, **lost).select_related("owner")[:100]:
        queue(work)
    for group in Group.objects.filter(deleted_at=None, **lost).select_related("owner")[:100]:
        begin_group(group)
    for search in RepeatsSearch.objects.filter(**lost).select_related("owner").defer("result", "found")[:100]:
        begin_search(search)


def begin_search(search: RepeatsSearch) -> None:
    job = store().jobs.add(
        SEARCH,
        {"search_id": str(search.pk)},
        key=f"repeats-{search.pk}",
        asked_by=search.owner.get_username(),
    )
    RepeatsSearch.objects.filter(pk=search.pk).update(job=job.number)
    search.job = job.number


def cancel_group(group: Group) -> None:
    """Stop the check of a class; works that are done keep their reports."""
    if group.job is not None:
        store().jobs.cancel(group.job)
    now = timezone.now()
    Group.objects.filter(pk=group.pk).exclude(state__in=ENDED).update(state=CANCELLED)
    Work.objects.filter(group=group).exclude(state__in=ENDED).update(state=CANCELLED, ended_at=now)


def job_taken_out(number: int) -> None:
    """Somebody took a job out of the queue: what it was to do is over."""
    now = timezone.now()
    for group in Group.objects.filter(job=number):
        Work.objects.filter(group=group).exclude(state__in=ENDED).update(state=CANCELLED, ended_at=now)
    for kind in (Group, RepeatsSearch):
        kind.objects.filter(job=number).exclude(state__in=ENDED).update(state=CANCELLED)
    Work.objects.filter(job=number).exclude(state__in=ENDED).update(state=CANCELLED, ended_at=now)


def catch_up(thing: Work | Group | RepeatsSearch) -> None:
    """A job that ended (failed, cancelled, lost) ends its work too, whoever looks first."""
    if thing.job is None or thing.state in ENDED:
        return
    try:
        job = store().jobs.get(thing.job)
    except DoubletError:
        return
    if job.state in (FAILED, CANCELLED):
        thing.state = job.state
        thing.message = job.facts.get("note") or Note(job.message or "said", **dict(job.facts)).to_dict()
        type(thing).objects.filter(pk=thing.pk).exclude(state__in=ENDED).update(
            state=thing.state, message=thing.message
        )


def perform(work: Work, progress: Progress) -> None:
    """Do the check. A document that cannot be used makes the work fail with its reason; nothing else is raised but
    `Cancelled`, and `PoolBusy` when too many wait: then the work is as new. `StoreError` when the database cannot be
    used, or the disk is full: that is not the fault of the work, which is checked later."""
    if Work.objects.filter(pk=work.pk, state__in=(NEW, RUNNING)).update(state=RUNNING):
        _perform(work, progress)


def _perform(work: Work, progress: Progress) -> None:
    """`perform`, of a work that is marked as running."""
    try:
        text, result = check_work(work, progress)
    except Cancelled:  # the job was cancelled, or goes back into the queue because its worker is to stop
        Work.objects.filter(pk=work.pk, state=RUNNING).update(state=NEW)
        raise
    except (PoolBusy, TimedOut, WorkerLost) as error:
        Work.objects.filter(pk=work.pk, state=RUNNING).update(state=NEW)
        raise PoolBusy(error.note) from error
    except StoreError:
        raise
    except DoubletError as error:
        _end(work, FAILED, as_message(error))
        return
    counted = figures(result)
    report = kept.pack(text, result)
    facts: dict[str, Any] = {
        "state": DONE,
        "words": result.words,
        "borrowed": counted.borrowed,
        "quoted": counted.quoted,
        "alarms": sum(1 for one in result.disguise.findings if one.alarm),
        "sources": len(result.sources),
        "message": {},
        "ended_at": timezone.now(),
    }
    with turns.writing():
        facts["report"] = kept.keep(work, report, result.share)
        if not Work.objects.filter(pk=work.pk, state=RUNNING).update(**facts):
            transaction.set_rollback(True)  # of a work that was cancelled meanwhile no report stays behind
            facts = {}
    for name, value in facts.items():
        setattr(work, name, value)
    if not facts:
        work.refresh_from_db()


def perform_group(group: Group, progress: Progress) -> None:
    """Check every work of a class against the libraries, then the works among themselves. A work that cannot be read is
    a row that says why; the others go on. What was done before a worker died is not done again."""
    works = list(group.works.select_related("owner", "upload").defer("upload__data").order_by("title", "pk"))
    files = settle([WorkFile(work.upload.name if work.upload else work.title) for work in works])
    told = {work.pk: file for work, file in zip(works, files, strict=True)}
    for work in works:
        if not work.author and told[work.pk].author:
            work.author = told[work.pk].author[:200]
            Work.objects.filter(pk=work.pk).update(author=work.author)
    for number, work in enumerate(works):
        progress.step("works", number, len(works), "documents")
        if work.state not in ENDED:
            perform(work, Progress())
    done = [work for work in works if work.state == DONE and work.report is not None]
    if group.options.get("among"):
        checked = {str(work.pk): _alone(work, told[work.pk]) for work in done}
        found = compare_works(
            [one.work for one in checked.values()],
            {id: one.text for id, one in checked.items()},
            {id: one.alone for id, one in checked.items() if one.alone is not None},
            on_step=lambda done, total: progress.step("among", done, total, "documents"),
        )
        for work in done:
            _add_works(work, checked, found, _names(works))
        value = found.to_dict()
        for one in value["pairs"]:
            del one["fragments"]  # they are found again when two works are laid side by side
        Group.objects.filter(pk=group.pk).update(result=value)


def _names(works: list[Work]) -> dict[str, str]:
    """What the works are called in each other's reports: by their titles, with a number where several have one."""
    seen: Counter[str] = Counter()
    out = {}
    for one in works:
        seen[one.title] += 1
        out[str(one.pk)] = one.title if seen[one.title] == 1 else f"{one.title} ({seen[one.title]})"
    return out


def _alone(work: Work, file: WorkFile) -> CheckedWork:
    """A work with its check against the libraries, from its report."""
    assert work.report is not None
    report = kept.load(work.report)
    own = tuple(source for source in report.check.sources if source.library != CLASS)
    alone = replace(report.check, sources=own)
    return CheckedWork(replace(file, name=str(work.pk)), report.text, alone, report.check)


def _add_works(work: Work, checked: dict[str, CheckedWork], found: Among, titles: dict[str, str]) -> None:
    """The other works from which it has something become sources of its report, as in the report of a command. A report
    that has them already was done before a worker died."""
    mine = checked[str(work.pk)]
    if mine.check is None or len(mine.check.sources) != len(mine.alone.sources if mine.alone else ()):
        return
    check = with_works(mine, checked, found).check
    if check is None or not any(source.library == CLASS for source in check.sources):
        return
    named = tuple(
        replace(source, id=titles[source.id], title="") if source.library == CLASS else source
        for source in check.sources
    )
    before, check = work.report, replace(check, sources=named)
    work.report = kept.keep(work, kept.pack(mine.text, check), check.share)
    counted = figures(check)
    Work.objects.filter(pk=work.pk).update(
        report=work.report, borrowed=counted.borrowed, quoted=counted.quoted, sources=len(check.sources)
    )
    if before is not None:
        kept.drop(before)


def _end(work: Work, state: str, message: dict[str, Any]) -> None:
    work.state, work.message = state, message
    Work.objects.filter(pk=work.pk).exclude(state__in=ENDED).update(
        state=state, message=message, ended_at=timezone.now()
    )


def as_message(error: DoubletError) -> dict[str, Any]:
    """An error as it is kept: its note, with the code of the error."""
    return {"error": error.code, **error.note.to_dict()}


def check_work(work: Work, progress: Progress) -> tuple[str, Check]:
    """The text of the work and its check. Raises `DoubletError`."""
    progress.step("reading", 0, 1, "documents")
    if work.kind == "address":
        given = GivenText(*_named(read_page(work.address), work.title))
    else:
        assert work.upload is not None
        data = work.upload.content()
        if work.kind == "text":
            given = GivenText(data.decode("utf-8", "surrogatepass"), work.title)
        else:
            given = GivenText(*_named(read_document(data, name=work.upload.name), work.title))
    if not given.text.strip():
        raise InputUnreadable("nothing_to_check", path=work.title, state="nothing_read")
    options = work.options
    result = checkers.check(
        given.text,
        progress,
        libraries=options.get("libraries"),
        name=work.title,
        method=options.get("method", "auto"),
        leave_out=options.get("leave_out", ()),
        own=options.get("own", ()),
    )
    return given.text, with_hidden(result, given)


def _named(document: ReadDocument, name: str) -> tuple[str, str, ReadDocument]:
    return document.text, name, document


def packed(data: bytes) -> bytes:
    return zlib.compress(data, 6)


def unpacked(data: bytes) -> bytes:
    return zlib.decompress(bytes(data))
