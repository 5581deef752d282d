"""A class of works: one table over all, who took from whom, any two side by side, all reports in one download (K8)."""

from __future__ import annotations

import csv
import io
import math
import zipfile
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from doublet.reports.tables import safe_cell
from doublet.web.accounts import audit
from doublet.web.rights import own
from doublet.web.words import words_of
from doublet.web.works import checking, exporting, kept
from doublet.web.works.checks import state_context
from doublet.web.works.lists import shown_works
from doublet.web.works.models import DONE, Group, Work
from doublet.web.works.side import side_by_side

HEAT = (0.0, 0.05, 0.15, 0.3)
GRAPH_WORKS = 40  #: more make no picture


def _mine(request: HttpRequest, id: Any) -> Group:
    return own(Group.objects.filter(deleted_at=None), request.user, pk=id)


def _state(request: HttpRequest, found: Group) -> dict[str, Any]:
    here = reverse("group", args=[found.pk])
    return state_context(request, found, here, reverse("group-state", args=[found.pk]), here)


def group(request: HttpRequest, id: Any) -> HttpResponse:
    """The class, live while it is checked. A POST cancels."""
    found = _mine(request, id)
    if request.method == "POST":
        checking.cancel_group(found)
        return redirect("group", found.pk)
    checking.catch_up(found)
    works = list(found.works.select_related("owner").order_by("title", "pk"))
    pairs = (found.result or {}).get("pairs", [])
    return render(
        request,
        "doublet/works/group.html",
        {
            **_state(request, found),
            "group": found,
            "works": _with_closest(shown_works(works), pairs),
            "closest": bool(pairs),
            "matrix": _matrix(works, pairs),
            "pairs": _pairs(works, pairs),
            "graph": _graph(works, pairs),
            "clusters": _clusters(works, (found.result or {}).get("clusters", [])),
            "common": (found.result or {}).get("common", []),
        },
    )


def state(request: HttpRequest, id: Any) -> HttpResponse:
    found = _mine(request, id)
    checking.catch_up(found)
    return render(request, "doublet/works/state.html", _state(request, found))


def _with_closest(works: list[Any], pairs: list[dict[str, Any]]) -> list[Any]:
    """The works, each with the largest share of it that one other work of the class has."""
    most: dict[str, float] = {}
    for pair in pairs:
        most[pair["a"]] = max(most.get(pair["a"], 0.0), pair["share"])
    for one in works:
        one.closest = most.get(str(one.pk), 0.0)
    return works


def _matrix(works: list[Work], pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each work: what share of it is found in each of the others."""
    share = {(one["a"], one["b"]): one["share"] for one in pairs}
    rows = []
    for one in works:
        cells = []
        for other in works:
            value = share.get((str(one.pk), str(other.pk)), 0.0)
            heat = sum(value > limit for limit in HEAT) if one.pk != other.pk else 0
            cells.append({"share": value, "heat": heat, "self": one.pk == other.pk, "other": other})
        rows.append({"work": one, "cells": cells})
    return rows if any(share.values()) else []


def _pairs(works: list[Work], pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    by_id = {str(one.pk): one for one in works}
    found = [
        {**one, "from": by_id.get(one["b"]), "to": by_id.get(one["a"])}
        for one in pairs
        if one["a"] in by_id and one["b"] in by_id and one["share"] > 0
    ]
    return sorted(found, key=lambda one: -one["share"])[:100]


def _graph(works: list[Work], pairs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Who took from whom as a picture: works on a circle, a line for each pair, with an arrow to the one that took
    where the direction is known. One line for two rows of the same pair: the larger share counts."""
    number_of = {str(one.pk): number for number, one in enumerate(works, 1)}
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for one in sorted(pairs, key=lambda one: one["share"]):
        if one["share"] > 0 and one["a"] in number_of and one["b"] in number_of:
            low, high = sorted((one["a"], one["b"]))
            lines[low, high] = one
    involved = sorted({id for pair in lines for id in pair}, key=lambda id: number_of[id])
    if not 2 <= len(involved) <= GRAPH_WORKS:
        return None
    places = {}
    for place, id in enumerate(involved):
        angle = 2 * math.pi * place / len(involved) - math.pi / 2
        places[id] = (300 + 180 * math.cos(angle), 230 + 180 * math.sin(angle))
    titles = {str(one.pk): one for one in works}
    edges = []
    for one in lines.values():
        direction = one.get("direction", "unknown")
        taker, origin = (one["b"], one["a"]) if direction in ("later", "contains") else (one["a"], one["b"])
        (x1, y1), (x2, y2) = places[origin], places[taker]
        length = math.hypot(x2 - x1, y2 - y1) or 1.0
        dx, dy = (x2 - x1) / length * 18, (y2 - y1) / length * 18
        edges.append(
            {
                "x1": f"{x1 + dx:.1f}",
                "y1": f"{y1 + dy:.1f}",
                "x2": f"{x2 - dx:.1f}",
                "y2": f"{y2 - dy:.1f}",
                "width": f"{1 + 5 * one['share']:.1f}",
                "directed": direction in ("earlier", "later", "contained", "contains"),
                "a": titles[origin].title,
                "b": titles[taker].title,
                "share": one["share"],
                "pair": one,
            }
        )
    nodes = [
        {
            "x": f"{places[id][0]:.1f}",
            "y": f"{places[id][1]:.1f}",
            "text_x": f"{places[id][0] + (24 if places[id][0] >= 300 else -24):.1f}",
            "text_y": f"{places[id][1] + 5:.1f}",
            "number_y": f"{places[id][1] + 5:.1f}",
            "side": "start" if places[id][0] >= 300 else "end",
            "number": number_of[id],
            "work": titles[id],
        }
        for id in involved
    ]
    return {"edges": edges, "nodes": nodes}


def _clusters(works: list[Work], clusters: list[list[str]]) -> list[list[Work]]:
    by_id = {str(one.pk): one for one in works}
    return [[by_id[id] for id in one if id in by_id] for one in clusters]


def pair(request: HttpRequest, id: Any) -> HttpResponse:
    """Two works of the class side by side."""
    found = _mine(request, id)
    works = {str(one.pk): one for one in found.works.filter(state=DONE)}
    a, b = works.get(request.GET.get("a", "")), works.get(request.GET.get("b", ""))
    texts = two_texts(found, str(a.pk), str(b.pk)) if a is not None and b is not None else None
    if texts is None:
        raise Http404
    result, fragments = side_by_side(*texts, words_of(request))
    return render(
        request,
        "doublet/works/pair.html",
        {"group": found, "a": a, "b": b, "result": result, "fragments": fragments},
    )


def two_texts(found: Group, a: str, b: str) -> tuple[str, str] | None:
    """The texts of two works of the class; None when one of them has no report."""
    reports = {str(pk): report for pk, report in found.works.filter(state=DONE).values_list("pk", "report")}
    first, second = reports.get(a), reports.get(b)
    return None if first is None or second is None else (kept.load(first).text, kept.load(second).text)


@require_POST
def delete(request: HttpRequest, id: Any) -> HttpResponse:
    remove(request, _mine(request, id))
    return redirect("works")


def remove(request: HttpRequest, found: Group) -> None:
    """With its works; what is still being checked is stopped."""
    if not found.ended:
        checking.cancel_group(found)
    now = timezone.now()
    Group.objects.filter(pk=found.pk).update(deleted_at=now)
    found.works.update(deleted_at=now)
    audit.note(request, "group_deleted", found.title)


def export(request: HttpRequest, id: Any, form: str) -> HttpResponse:
    """The table as CSV, or all reports as one zip archive of HTML pages."""
    return exported(request, _mine(request, id), form)


def exported(request: HttpRequest, found: Group, form: str) -> HttpResponse:
    works = list(found.works.order_by("title", "pk"))
    if form == "csv":
        content, kind = _table(works), "text/csv; charset=utf-8"
    elif form == "zip":
        content, kind = _archive(works, words_of(request)), "application/zip"
    else:
        raise Http404
    audit.note(request, "work_exported", found.title, form=form)
    response = HttpResponse(content, content_type=kind)
    response.headers["Content-Disposition"] = (
        f"attachment; filename*=UTF-8''{exporting.file_name(found.title, form)}"
    )
    return response


def _table(works: list[Work]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["title", "author", "state", "borrowed", "quoted", "alarms", "sources"])
    for one in works:
        cells = [one.title, one.author, one.state, one.borrowed, one.quoted, one.alarms, one.sources]
        writer.writerow([safe_cell("" if cell is None else cell) for cell in cells])
    return ("\ufeff" + out.getvalue()).encode()


def _archive(works: list[Work], words: Any) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("index.csv", _table(works))
        for number, one in enumerate(works, 1):
            if one.state == DONE and one.report is not None:
                report = kept.load(one.report)
                content, _ = exporting.export(one, report, list(one.decisions.all()), "html", words)
                plain = "".join(c if c.isalnum() or c in " ._-" else "_" for c in one.title)[:60]
                archive.writestr(f"{number:03} {plain}.html", content)
    return out.getvalue()
