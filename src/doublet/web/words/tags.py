"""Template tags: ``{% t "check.title" name=work.title %}``, ``{{ work.share|percent:w }}``."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from doublet.reports.page import escape
from doublet.web.words import Words

register = template.Library()


@register.simple_tag(takes_context=True)
def t(context: Any, key: str, **values: object) -> str:
    """A sentence of the page's language."""
    made: Words = context["w"]
    return made(key, **values)


@register.simple_tag(takes_context=True)
def count(context: Any, number: int, noun: str) -> str:
    made: Words = context["w"]
    return made.count(int(number), noun)


@register.filter
def harmless(text: object) -> SafeString:
    """A text of other people: what would change the page around it is shown as a sign."""
    return mark_safe(escape(text))


@register.filter
def percent(share: float | None, made: Words) -> str:
    return "–" if share is None else made.percent(share)


@register.filter
def number(value: float | None, made: Words) -> str:
    return "–" if value is None else made.number(value)


@register.filter
def when(at: datetime | None, made: Words) -> str:
    return made.when(at)


@register.filter
def day(at: datetime | None, made: Words) -> str:
    return made.when(at, short=True)


@register.filter
def ago(at: datetime | None, made: Words) -> str:
    return made.ago(at)


@register.filter
def size(value: float, made: Words) -> str:
    return made.size(value)


@register.simple_tag(takes_context=True)
def state_name(context: Any, state: str) -> str:
    made: Words = context["w"]
    return made(f"state.{state}")


@register.filter
def moment(text: str) -> datetime | None:
    """A time of the store ("2026-01-31T12:00:00Z") as a time."""
    return datetime.fromisoformat(text) if text else None
