"""Where the documents of libraries come from: sites and the pages that the robot met there, lists, single sources."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest
from ninja import File, Form, Query, Router
from ninja.files import UploadedFile

from doublet.errors import InvalidParameter
from doublet.jobs.crawl import KIND, site_pages
from doublet.store.frontier import STATES
from doublet.store.values import SourceInfo
from doublet.web.accounts import audit
from doublet.web.api import shapes
from doublet.web.api.access import allowed
from doublet.web.api.jobs import key_of, known_job, queued
from doublet.web.pages.adding import LISTS, PREVIEW
from doublet.web.store import store
from doublet.web.works.models import Upload

router = Router(tags=["libraries"])
apart = Router(tags=["libraries"])  # what is not asked of one library: any name may be that of a library
MOST = 1_000


@apart.post("/sites/preview", response={202: shapes.JobShape}, **allowed("preview_site"))
def preview_site(request: HttpRequest, data: shapes.Site) -> Any:
    """Look at a site and say what the robot would do; nothing is stored. The plan is in the result of the job."""
    _require_web(data.address)
    user: Any = request.user
    wish = {"library": "", **data.wish()}
    return 202, shapes.JobShape.of(store().jobs.add(PREVIEW, wish, priority=5, asked_by=user.get_username()))


@apart.post("/lists", response={202: shapes.JobShape}, **allowed("add_list"))
def add_list(
    request: HttpRequest,
    file: UploadedFile = File(...),
    prefix: str = Form("", max_length=100),
    fill: bool = Form(True),
) -> Any:
    """Make a library of each entry of a list: a table with a column of addresses, OPML, or addresses, one a line. With
    *fill* the filling of each is put into the queue. What became of each entry is in the result of the job."""
    known = known_job(request)
    if known is not None:
        return 202, known
    user: Any = request.user
    name = str(file.name or "list.txt")[:300]
    with transaction.atomic():
        upload = Upload.keep(name, file.read())
        wish = {"upload": upload.pk, "name": name, "prefix": prefix, "fill": fill}
        job = store().jobs.add(LISTS, wish, asked_by=user.get_username(), key=key_of(request))
    audit.note(request, "library_filled", name)
    return 202, shapes.JobShape.of(job)


@apart.post("/verify", response={202: shapes.JobShape}, **allowed("verify_libraries"))
def verify_libraries(request: HttpRequest, data: shapes.Verify) -> Any:
    """See whether index, statistics and signatures agree with the documents; with *repair*, mend them. What was found
    is in the result of the job."""
    names = [info.name for info in store().libraries.select(data.libraries or None)]
    return 202, queued(request, "verify", {"libraries": names, "repair": data.repair})


@router.post("/{path:name}/crawl", response={202: shapes.JobShape}, **allowed("crawl_site"))
def crawl_site(request: HttpRequest, name: str, data: shapes.Crawl) -> Any:
    """Index a site into the library. What came of it is in the result of the job."""
    _require_web(data.address)
    info = store().libraries.get(name)
    job = queued(request, "crawl", {"library": info.name, **data.wish()})
    audit.note(request, "library_filled", info.name)
    return 202, job


@router.post("/{path:name}/refresh", response={202: shapes.JobShape}, **allowed("refresh_library"))
def refresh_library(request: HttpRequest, name: str, data: shapes.Refresh | None = None) -> Any:
    """Ask again for the pages of its sites that are due."""
    info = store().libraries.get(name)
    asked = {key: one for key, one in (data or shapes.Refresh()).dict().items() if one}
    job = queued(request, "refresh", {"library": info.name, **asked})
    audit.note(request, "library_filled", info.name)
    return 202, job


@router.get("/{path:name}/pages/log", response=shapes.Pages, **allowed("list_pages"))
def list_pages(
    request: HttpRequest,
    name: str,
    state: list[str] = Query([]),
    cursor: str | None = None,
    limit: int = Query(100, ge=1, le=MOST),
) -> Any:
    """Every address that the robot met, with what became of it and why."""
    for one in state:
        if one not in STATES:
            raise InvalidParameter("crawl_unknown_page_state", state=one, known=list(STATES))
    sites = [one.number for one in _sites(name)]
    place = shapes.read_cursor(cursor, 2) or [sites[0] if sites else 0, 0]
    if not all(isinstance(number, int) and 0 <= number < 2**62 for number in place):
        raise InvalidParameter("wrong_cursor", name="cursor")
    items: list[dict[str, Any]] = []
    after = 0
    for site in [number for number in sites if number >= place[0]]:
        after = place[1] if site == place[0] else 0
        found, after = store().frontier.log(site, states=state, after=after, limit=limit - len(items))
        items += [page.to_dict() for page in found]
        if after or len(items) >= limit:
            break
    else:
        site = 0
    later = [number for number in sites if number > site]
    end = (
        shapes.cursor_of(site, after) if after else shapes.cursor_of(later[0], 0) if site and later else None
    )
    return {"items": items, "next": end}


@router.get("/{path:name}/pages", response=list[dict[str, Any]], **allowed("count_pages"))
def count_pages(request: HttpRequest, name: str) -> Any:
    """What became of the addresses that the robot met, for each site of the library."""
    return [site_pages(store(), one) for one in _sites(name)]


@router.delete("/{path:name}/sources/{number}", response={202: shapes.JobShape}, **allowed("remove_source"))
def remove_source(request: HttpRequest, name: str, number: shapes.Number, documents: bool = False) -> Any:
    """Forget a source; with *documents*, take out what no other source has. How many those were is in the result of the
    job."""
    info = store().libraries.get(name)
    if number not in {one.number for one in store().sources.all(info.number)}:
        raise Http404
    job = queued(request, "remove_source", {"library": info.name, "source": number, "documents": documents})
    audit.note(request, "source_removed", info.name, source=number)
    return 202, job


def _sites(name: str) -> list[SourceInfo]:
    info = store().libraries.get(name)
    return [one for one in store().sources.all(info.number) if one.kind == KIND]


def _require_web(address: str) -> None:
    if not address.startswith(("http://", "https://")):
        raise InvalidParameter("not_a_web_address", name="address", value=address[:80])
