"""Kinds of jobs that belong to people's works: a check, a class, a search for repeats, an upload for a library.

They are done by the workers of the service (`workers`), which know these tables; a plain ``doublet worker`` leaves them
alone. Each can be begun again after its worker died: what is done already is not done twice.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from doublet.errors import Cancelled, DoubletError, StoreError
from doublet.jobs.queue.kinds import Work
from doublet.store.models import Document
from doublet.web.pages import statistics
from doublet.web.works import checking, expiring
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
)
from doublet.web.works.models import Work as CheckedWork
from doublet.web.works.unpacking import documents_of

if TYPE_CHECKING:
    from doublet.repeats.model import Repeats

UPLOADS = "doublet-upload-"  #: beginning of the folders in which uploads are unpacked


def check_work(work: Work, *, work_id: str) -> dict[str, Any]:
    """Check one document."""
    found = (
        CheckedWork.objects.select_related("owner", "upload").defer("upload__data").filter(pk=work_id).first()
    )
    if found is None or found.state in ENDED:
        return {"state": found.state if found else CANCELLED}
    checking.perform(found, work.progress)
    return {"state": found.state, "report": found.report}


def check_group(work: Work, *, group_id: str) -> dict[str, Any]:
    """Check every work of a class against libraries, then the works among themselves."""
    group = Group.objects.filter(pk=group_id).first()
    if group is None or group.state in ENDED:
        return {"state": group.state if group else CANCELLED}
    Group.objects.filter(pk=group.pk).update(state=RUNNING)
    try:
        checking.perform_group(group, work.progress)
    except (Cancelled, StoreError):
        raise
    except DoubletError as error:
        Group.objects.filter(pk=group.pk).exclude(state__in=ENDED).update(
            state=FAILED, message=checking.as_message(error)
        )
        return {"state": FAILED}
    Group.objects.filter(pk=group.pk).exclude(state__in=ENDED).update(state=DONE)
    return {"state": DONE}


def search_repeats(work: Work, *, search_id: str) -> dict[str, Any]:
    """Find what a document, or an archive of documentation, repeats, and keep the page."""
    from doublet.reports.repeats_html import repeats_page
    from doublet.reports.repeats_kept import keep_repeats

    search = (
        RepeatsSearch.objects.select_related("upload", "owner")
        .defer("upload__data")
        .filter(pk=search_id)
        .first()
    )
    if search is None or search.state in ENDED or search.upload is None:
        return {"state": search.state if search else CANCELLED}
    RepeatsSearch.objects.filter(pk=search.pk, state__in=(NEW, RUNNING)).update(state=RUNNING)
    try:
        found = _find_repeats(work, search.upload, search.options)
        page = repeats_page(found, language=search.options.get("language", "en"))
    except (Cancelled, StoreError):
        raise
    except DoubletError as error:
        RepeatsSearch.objects.filter(pk=search.pk).exclude(state__in=ENDED).update(
            state=FAILED, message=checking.as_message(error)
        )
        return {"state": FAILED}
    RepeatsSearch.objects.filter(pk=search.pk).exclude(state__in=ENDED).update(
        state=DONE,
        result=checking.packed(page.encode("utf-8", "replace")),
        found=checking.packed(json.dumps(keep_repeats(found)).encode()),
        summary={"groups": len(found.groups), "coverage": found.share},
    )
    return {"state": DONE}


def _find_repeats(work: Work, upload: Upload, options: dict[str, Any]) -> Repeats:
    """Repeats in an uploaded document, or in those of an archive. Files have the names that the archive gives them."""
    from doublet.jobs.find_repeats import find_repeats
    from doublet.reports.repeats_kept import with_names

    more = dict(options.get("more", {}))
    listed = more.pop(
        "listed", False
    )  # somebody chose the files of the archive one by one: all of them are read
    with tempfile.TemporaryDirectory(prefix="doublet-repeats-") as folder:
        places = []
        for inner, content, _ in documents_of(upload.name or "document", upload.content()):
            parts = [part for part in PurePosixPath(inner).parts if part not in ("/", "..", ".")]
            place = Path(folder, *parts) if parts else Path(folder, "document")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            places.append(place)
        found = find_repeats(
            places if listed or len(places) == 1 else Path(folder),
            algorithm=options.get("algorithm", "auto"),
            ignore_files=False,
            progress=work.progress,
            **more,
        )
        return with_names(found, lambda name: name.removeprefix(f"{folder}/"))


def fill_upload(work: Work, *, library: str, upload: int, name: str) -> dict[str, Any]:
    """Add the documents of an uploaded file or archive to a library. The upload goes when they are stored."""
    from doublet.jobs.queue.library_work import fill

    found = Upload.objects.defer("data").filter(pk=upload).first()
    if found is None:
        return {"library": library, "documents": 0}
    shown = PurePosixPath(name).name or "upload"
    with tempfile.TemporaryDirectory(prefix=UPLOADS) as folder:
        place = Path(folder) / shown
        place.write_bytes(found.content())
        result = fill(work, library=library, address=str(place), kind="file", options={"prefix": shown})
    _name_upload(work, library, shown)
    found.delete()
    return result


def _name_upload(work: Work, library: str, shown: str) -> None:
    """The place where an upload was unpacked is gone: its documents come from the file that people know, and there is
    nothing to be walked again."""
    info = work.store.libraries.get(library)
    beginning = str(Path(tempfile.gettempdir()) / UPLOADS)
    for source in work.store.sources.all(info.number):
        if source.address.startswith(beginning):
            work.store.sources.forget(source.number)
    Document.objects.filter(library_id=info.number, source__startswith=beginning).update(source=shown)


def preview_site(
    work: Work,
    *,
    library: str,
    address: str,
    only: Sequence[str] = (),
    examples: Sequence[str] = (),
    skip: Sequence[str] = (),
    subdomains: bool = False,
    patterns: Sequence[str] = (),
    numbers: Sequence[int] | None = None,
    limit: int | None = None,
    note: str = "",
) -> dict[str, Any]:
    """Look at a site and say what the robot would do. Nothing is stored; *library*, *limit* and *note* are for
    later."""
    from doublet.crawl.politeness import polite_fetcher
    from doublet.jobs.crawl import preview
    from doublet.jobs.queue.crawl_work import wish_of

    with polite_fetcher(work.settings, waiting=work.tell_wait) as fetcher:
        wish = wish_of(only, examples, skip, patterns, numbers, subdomains=subdomains)
        return preview(address, fetcher=fetcher, wish=wish, progress=work.progress).to_dict()


def add_list(work: Work, *, upload: int, name: str, prefix: str = "", fill: bool = True) -> dict[str, Any]:
    """Make a library of each entry of an uploaded list; with *fill*, put the filling of each into the queue."""
    from doublet.crawl.politeness import polite_fetcher
    from doublet.jobs.add_list import add_list as add_all
    from doublet.jobs.queue.kinds import enqueue

    found = Upload.objects.defer("data").filter(pk=upload).first()
    if found is None:
        return {"libraries": []}
    with (
        tempfile.TemporaryDirectory(prefix="doublet-list-") as folder,
        polite_fetcher(work.settings) as fetcher,
    ):
        place = Path(folder) / (PurePosixPath(name).name or "list.txt")
        place.write_bytes(found.content())
        made = add_all(work.store, str(place), fetcher=fetcher, prefix=prefix, progress=work.progress)
    for row in made.rows:
        if fill and not row.error:
            enqueue(work.store, "fill", {"library": row.name}, key=f"list-{upload}-{row.name}")
    found.delete()
    return made.to_dict()


def search_index(work: Work, *, library: str) -> dict[str, Any]:
    """Make the documents of a library findable by the words in them."""
    from doublet.web.pages import searching

    info = work.store.libraries.get(library)
    return {"library": library, "documents": searching.index_some(info.number, work.progress)}


def evaluation(work: Work, *, quick: bool = True, method: str = "") -> dict[str, Any]:
    """Put every method, or one, to the test on the bundled texts, and keep the report."""
    from doublet.evaluation.evaluate import evaluate

    chosen = (method,) if method else ()
    found = evaluate(methods=chosen, quick=quick, progress=work.progress).to_dict()
    return {"report": work.store.reports.add(found, kind="evaluation").number}


def expire_works(work: Work) -> dict[str, Any]:
    """Remove reports whose time is over, deleted ones that nobody restored, and uploads that belong to nothing."""
    return {"removed": expiring.remove(work.progress)}


#: names of these kinds in the queue
KINDS: dict[str, Any] = {
    "work": check_work,
    "class": check_group,
    "repeats_search": search_repeats,
    "fill_upload": fill_upload,
    "search_index": search_index,
    "library_statistics": statistics.count,
    "evaluation": evaluation,
    "preview_site": preview_site,
    "add_list": add_list,
    "expire_works": expire_works,
}
