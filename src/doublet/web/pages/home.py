"""The first page: for teachers their works, for administrators the state of the service as well."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from doublet.web.store import store
from doublet.web.words import words_of
from doublet.web.works.lists import shown_works
from doublet.web.works.models import DONE, ENDED, Group, Work

RECENT = 8
PROBLEMS = 8


def home(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    mine = Work.objects.filter(owner=user, deleted_at=None)
    counts = mine.aggregate(
        all=Count("pk"),
        done=Count("pk", filter=Q(state=DONE)),
        waiting=Count("pk", filter=~Q(state__in=ENDED)),
        alarms=Count("pk", filter=Q(alarms__gt=0)),
    )
    context: dict[str, Any] = {
        "counts": counts,
        "recent": shown_works(mine.filter(group=None)[:RECENT]),
        "groups": Group.objects.filter(owner=user, deleted_at=None)[:RECENT],
        "libraries": store().libraries.all(),
    }
    if user.is_administrator:
        context["jobs"] = store().jobs.counts()
        context["problems"] = problems(request)
    return render(request, "doublet/pages/home.html", context)


def problems(request: HttpRequest) -> list[dict[str, Any]]:
    """What needs a person: jobs and works that failed lately, sources whose last walk failed."""
    words = words_of(request)
    return [
        {
            "what": words(f"job.{job.kind}") if words.has(f"job.{job.kind}") else job.kind,
            "library": job.library,
            "why": words.job_message(job),
            "when": job.ended or job.changed,
            "number": job.number,
        }
        for job in store().jobs.find(("failed",), limit=PROBLEMS)
    ]
