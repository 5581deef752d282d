"""What people decided about pairs of documents of libraries, so that the next search does not ask again."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

from django.conf import settings
from django.db import models

#: a document of a library
Place = tuple[str, str]


class DuplicateDecision(models.Model):
    """A pair that a person has judged: *different* (they are not duplicates) or *both* (duplicates that both stay)."""

    DECISIONS = ("different", "both")

    key = models.CharField(max_length=64, unique=True)  # of the pair, whichever comes first
    library_a = models.TextField()
    document_a = models.TextField()
    library_b = models.TextField()
    document_b = models.TextField()
    decision = models.CharField(max_length=10)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "web_duplicate"
        ordering: ClassVar = ["-at"]

    @staticmethod
    def key_of(a: Place, b: Place) -> str:
        parts = [part for place in sorted((a, b)) for part in place]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    @classmethod
    def of(cls, pairs: list[tuple[Place, Place]]) -> dict[str, DuplicateDecision]:
        """Decisions about these pairs, by key."""
        keys = [cls.key_of(a, b) for a, b in pairs]
        return {one.key: one for one in cls.objects.select_related("by").filter(key__in=keys)}

    @classmethod
    def decide(cls, a: Place, b: Place, decision: str, by: Any) -> None:
        first, second = sorted((a, b))
        cls.objects.update_or_create(
            key=cls.key_of(a, b),
            defaults={
                "library_a": first[0],
                "document_a": first[1],
                "library_b": second[0],
                "document_b": second[1],
                "decision": decision,
                "by": by,
            },
        )
