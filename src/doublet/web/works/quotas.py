"""How many checks a person may still make today (S7)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from doublet.web import installation
from doublet.web.works.models import Work


def checks_today(user: Any) -> int:
    """Works that the person handed in during the last day."""
    return Work.objects.filter(owner=user, created_at__gt=timezone.now() - timedelta(days=1)).count()


def limit_of(request: HttpRequest) -> int | None:
    """Checks in a day that this person may make; None: as many as they like."""
    user: Any = request.user
    if user.checks_per_day is not None:
        return int(user.checks_per_day)
    return None if user.is_administrator else installation.read(request).checks_per_day


def over_quota(request: HttpRequest) -> int:
    """The limit of this person if it is used up, else 0."""
    limit = limit_of(request)
    return 0 if limit is None or checks_today(request.user) < limit else max(limit, 1)
