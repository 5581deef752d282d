"""Uploaded archives of works, as learning systems export them: unpacked within limits, nothing written to the disk."""

from __future__ import annotations

from django.conf import settings

from doublet.sources.works import unpack

MOST_WORKS = 300  #: of one class


def documents_of(name: str, content: bytes) -> list[tuple[str, bytes, bool]]:
    """The documents of one uploaded file: name, content, and whether it came out of an archive."""
    found = unpack(name, content, settings.DOUBLET.upload_limit * 4)
    if found is None:
        return [(name, content, False)]
    return [(inner, data, True) for inner, data, _ in found]
