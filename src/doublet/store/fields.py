"""Columns as programs see them: names without escapes, times as times.

The bulk paths write these columns by plain SQL; whoever queries the models (the pages of a Django project) reads and
filters by ordinary texts and aware datetimes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db import models

from doublet.store.names import escape, from_json, unescape


class EscapedTextField(models.TextField):
    """A text of any letters; NUL and lone surrogates, which databases refuse, are escaped (`doublet.store.names`)."""

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        return None if value is None else unescape(value)

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        return escape(prepared) if isinstance(prepared, str) else prepared


class EscapedJSONField(models.JSONField):
    """JSON whose texts may hold any letters, escaped as names are. For reading; the bulk paths write it."""

    def from_db_value(self, value: Any, *_: Any) -> Any:
        return from_json(value)


class SecondsField(models.BigIntegerField):
    """A time: whole seconds since 1970 in the database, an aware datetime in UTC in programs."""

    def from_db_value(self, value: int | None, *_: Any) -> datetime | None:
        return _time(value)

    def to_python(self, value: Any) -> Any:
        return value if isinstance(value, datetime) else super().to_python(value)

    def get_prep_value(self, value: Any) -> Any:
        return super().get_prep_value(int(value.timestamp()) if isinstance(value, datetime) else value)


class MomentField(models.FloatField):
    """A moment by the clock of the database: seconds since 1970 with a fraction, an aware datetime in programs."""

    def from_db_value(self, value: float | None, *_: Any) -> datetime | None:
        return _time(value)

    def to_python(self, value: Any) -> Any:
        return value if isinstance(value, datetime) else super().to_python(value)

    def get_prep_value(self, value: Any) -> Any:
        return super().get_prep_value(value.timestamp() if isinstance(value, datetime) else value)


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
