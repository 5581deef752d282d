"""Libraries, their sources, documents and duplicates."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from asgiref.sync import sync_to_async
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, StreamingHttpResponse
from ninja import File, Query, Router
from ninja.files import UploadedFile

from doublet.errors import InvalidParameter, NotAllowed, StoreBusy, UsageError
from doublet.jobs.library_export import export_lines
from doublet.web.accounts import audit
from doublet.web.api import shapes
from doublet.web.api.access import allowed
from doublet.web.api.jobs import key_of, known_job, queued
from doublet.web.pages import searching, statistics
from doublet.web.pages.adding import allowed_folder, queue_upload
from doublet.web.pages.libraries import READER_CHARACTERS, looked_for
from doublet.web.store import store

router = Router(tags=["libraries"])
MOST = 500


class InQueue(UsageError):
    """Work of the queue needs it as it is."""

    code = "in_queue"


def _shape(info: Any) -> shapes.LibraryShape:
    return shapes.LibraryShape(**info.to_dict())


@router.get("", response=list[shapes.LibraryShape], **allowed("list_libraries"))
def list_libraries(request: HttpRequest) -> Any:
    return [_shape(info) for info in store().libraries.all()]


@router.post("", response={201: shapes.LibraryShape}, **allowed("make_library"))
def make_library(request: HttpRequest, data: shapes.NewLibrary) -> Any:
    info = store().libraries.create(data.name, address=data.address, note=data.note)
    audit.note(request, "library_added", info.name)
    return 201, _shape(info)


@router.post("/duplicates/search", response={202: shapes.JobShape}, **allowed("find_duplicates_between"))
def find_duplicates_between(request: HttpRequest, data: shapes.Between) -> Any:
    """Search several libraries for duplicates. The groups are in the result of the job."""
    names = [info.name for info in store().libraries.select(data.libraries)]
    options = {"between": True} if data.between else {}
    return 202, queued(request, "duplicates", {"libraries": names, **options})


@router.get("/{path:name}/sources", response=list[dict[str, Any]], **allowed("list_sources"))
def list_sources(request: HttpRequest, name: str) -> Any:
    info = store().libraries.get(name)
    return [one.to_dict() for one in store().sources.all(info.number)]


@router.post("/{path:name}/fill", response={202: shapes.JobShape}, **allowed("fill_library"))
def fill_library(request: HttpRequest, name: str, data: shapes.Fill) -> Any:
    """Add documents from an address or from a folder that the owner of the service opened."""
    info = store().libraries.get(name)
    address = data.address
    if not address.startswith(("http://", "https://")):
        try:
            address = allowed_folder(address)
        except ValidationError as error:
            raise NotAllowed(
                "neither_address_nor_folder",
                address=data.address[:100],
            ) from error
    job = queued(request, "fill", {"library": info.name, "address": address, "kind": data.kind})
    audit.note(request, "library_filled", info.name)
    return 202, job


@router.post("/{path:name}/upload", response={202: shapes.JobShape}, **allowed("upload_documents"))
def upload_documents(request: HttpRequest, name: str, file: UploadedFile = File(...)) -> Any:
    """Add the documents of a file, an archive or a table."""
    user: Any = request.user
    info = store().libraries.get(name)
    known = known_job(request)
    if known is not None:
        return 202, known
    job = queue_upload(info.name, file, user.get_username(), key_of(request))
    audit.note(request, "library_filled", info.name)
    return 202, shapes.JobShape.of(job)


@router.post("/{path:name}/update", response={202: shapes.JobShape}, **allowed("update_library"))
def update_library(request: HttpRequest, name: str, data: shapes.Update | None = None) -> Any:
    """Walk all sources of the library, or those that are named, again."""
    data = data or shapes.Update()
    info = store().libraries.get(name)
    wanted: dict[str, Any] = {"library": info.name, "filling": data.filling.chosen()}
    wanted |= {"sources": data.sources} if data.sources else {}
    job = queued(request, "fill", wanted)
    audit.note(request, "library_filled", info.name)
    return 202, job


@router.get("/{path:name}/documents", response=shapes.Documents, **allowed("list_documents"))
def list_documents(
    request: HttpRequest, name: str, cursor: str | None = None, limit: int = Query(100, ge=1, le=MOST)
) -> Any:
    after = shapes.read_cursor(cursor, 1)
    try:
        start = int(after[0]) if after else 0
    except (TypeError, ValueError) as error:
        raise InvalidParameter("wrong_cursor", name="cursor") from error
    found = list(store().documents.all(name, after=start, limit=limit + 1))
    more = len(found) > limit
    return {
        "items": [shapes.DocumentShape(**one.to_dict()) for one in found[:limit]],
        "next": shapes.cursor_of(found[limit - 1].number) if more else None,
    }


@router.get("/{path:name}/search", response=shapes.FoundDocuments, **allowed("search_documents"))
def search_documents(
    request: HttpRequest,
    name: str,
    q: str = Query(..., min_length=1, max_length=500),
    limit: int = Query(50, ge=1, le=200),
) -> Any:
    """Documents whose title, id or words have what is asked for, the newest first, each with the place of the first
    word."""
    user: Any = request.user
    info = store().libraries.get(name)
    rows, missing = looked_for(info, q.strip(), user.get_username())
    numbers = list(rows.values_list("pk", flat=True)[:limit])
    found = store().documents.full(numbers)
    items = []
    for document, text in (found[number] for number in numbers if number in found):
        pieces = searching.snippet(text[:READER_CHARACTERS], q)
        items.append({**document.to_dict(), "text": None, "snippet": "".join(piece for piece, _ in pieces)})
    return {"items": items, "missing": missing}


@router.get("/{path:name}/document", response=shapes.DocumentShape, **allowed("get_document"))
def get_document(request: HttpRequest, name: str, id: str) -> Any:
    """One document with its text. Ids may hold anything, so the id is a parameter."""
    store().libraries.get(name)
    found = store().documents.get(name, id)
    if found is None:
        raise Http404
    text = store().documents.texts([found.number]).get(found.number, "")
    return shapes.DocumentShape(**found.to_dict(), text=text)


@router.delete("/{path:name}/document", response={204: None}, **allowed("remove_document"))
def remove_document(request: HttpRequest, name: str, id: str) -> Any:
    store().libraries.get(name)
    if not store().documents.remove(name, [id]):
        raise Http404
    audit.note(request, "document_removed", f"{name}/{id}")
    return 204, None


@router.post("/{path:name}/documents/remove", response=shapes.RemovedDocuments, **allowed("remove_documents"))
def remove_documents(request: HttpRequest, name: str, data: shapes.DocumentIds) -> Any:
    """Take documents out of a library; gives the ids that were there."""
    store().libraries.get(name)
    gone = sorted(store().documents.remove(name, data.ids))
    if gone:
        audit.note(request, "document_removed", name, documents=len(gone))
    return {"removed": gone}


@router.get(
    "/{path:name}/export",
    openapi_extra={
        "responses": {200: {"description": "JSON lines", "content": {"application/x-ndjson": {}}}}
    },
    **allowed("export_library"),
)
def export_library(request: HttpRequest, name: str) -> Any:
    """All documents with their texts, as JSON lines, as they are read: what comes can be added to another library."""
    batches = export_lines(store(), store().libraries.get(name).name)
    audit.note(request, "library_exported", name)

    async def lines() -> AsyncIterator[bytes]:
        while some := await sync_to_async(lambda: next(batches, b""))():
            yield some

    return StreamingHttpResponse(lines(), content_type="application/x-ndjson")


@router.post("/{path:name}/duplicates", response={202: shapes.JobShape}, **allowed("find_duplicates"))
def find_duplicates(request: HttpRequest, name: str) -> Any:
    info = store().libraries.get(name)
    return 202, queued(request, "duplicates", {"libraries": [info.name]})


@router.get("/{path:name}/duplicates", response=dict[str, Any], **allowed("get_duplicates"))
def get_duplicates(request: HttpRequest, name: str) -> Any:
    """What the last search found."""
    info = store().libraries.get(name)
    jobs = store().jobs.find(("done",), library=info.name, kind="duplicates", limit=1)
    if not jobs:
        raise Http404
    return {"job": jobs[0].number, "ended": jobs[0].ended, "result": jobs[0].result}


@router.post("/{path:name}/statistics", response={202: shapes.JobShape}, **allowed("count_library"))
def count_library(request: HttpRequest, name: str) -> Any:
    """Count documents and words: by year, language, source, folder and length, and the words that most documents have.
    The numbers are in the result of the job."""
    user: Any = request.user
    return 202, shapes.JobShape.of(statistics.queue(store().libraries.get(name), user.get_username()))


# Names may hold slashes, so what is asked of the library itself comes last.


@router.get("/{path:name}", response=shapes.LibraryShape, **allowed("get_library"))
def get_library(request: HttpRequest, name: str) -> Any:
    return _shape(store().libraries.get(name))


@router.patch("/{path:name}", response=shapes.LibraryShape, **allowed("rename_library"))
def rename_library(request: HttpRequest, name: str, data: shapes.LibraryEdit) -> Any:
    """Reports that were made before keep the old name. Refused while work of the queue names the library."""
    try:
        info = store().libraries.rename(name, data.name)
    except StoreBusy as error:
        if error.note.code != "library_in_queue":
            raise
        raise InQueue(error.note) from error
    audit.note(request, "library_renamed", info.name, before=name)
    return _shape(info)


@router.delete("/{path:name}", response={202: shapes.JobShape}, **allowed("delete_library"))
def delete_library(request: HttpRequest, name: str) -> Any:
    """The documents are removed by a job."""
    info = store().libraries.get(name)
    job = queued(request, "delete", {"library": info.name})
    audit.note(request, "library_deleted", info.name)
    return 202, job
