"""Evaluation: every method put to the test on documents changed on purpose; the report is kept and shown here (E2)."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from doublet.errors import UnknownReport
from doublet.evaluation.report import report_page
from doublet.signatures import methods as known_methods
from doublet.web.accounts import audit
from doublet.web.pages.libraries import job_row
from doublet.web.store import store
from doublet.web.words import words_of

KIND = "evaluation"  #: of a kept report
JOB = "evaluation"


def evaluation(request: HttpRequest) -> HttpResponse:
    """The reports that are kept, the newest one open; administrators start a new evaluation."""
    words = words_of(request)
    user: Any = request.user
    if request.method == "POST":
        if not user.is_administrator:
            raise Http404
        quick, method = request.POST.get("size") != "full", request.POST.get("method", "")
        chosen = {"method": method} if method in {one.name for one in known_methods()} else {}
        store().jobs.add(JOB, {"quick": quick, **chosen}, asked_by=user.get_username())
        audit.note(request, "evaluation_started")
        messages.success(request, words("evaluation.queued"))
        return redirect("evaluation")
    reports = store().reports.find(kind=KIND, limit=20)
    active = [job_row(job, words) for job in store().jobs.find(("new", "running"), kind=JOB)]
    failed = store().jobs.find(("failed",), kind=JOB, limit=1)
    return render(
        request,
        "doublet/pages/evaluation.html",
        {
            "reports": reports,
            "methods": known_methods(),
            "shown": _shown(request, [one.number for one in reports]),
            "active": active,
            "failed": job_row(failed[0], words) if failed and not active and not reports else None,
        },
    )


def _shown(request: HttpRequest, numbers: list[int]) -> int | None:
    asked = request.GET.get("report", "")
    if asked.isdigit() and int(asked) in numbers:
        return int(asked)
    return numbers[0] if numbers else None


def report(request: HttpRequest, number: int) -> HttpResponse:
    """The report alone, as a page without an origin of its own."""
    try:
        if store().reports.get(number).kind != KIND:
            raise Http404
        data = store().reports.data(number)
    except UnknownReport as error:
        raise Http404 from error
    response = HttpResponse(report_page(data, language=words_of(request).language))
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
        "sandbox allow-scripts; frame-ancestors 'self'"
    )
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    return response
