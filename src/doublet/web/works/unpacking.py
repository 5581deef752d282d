"""Uploaded archives of works, as learning systems export them: unpacked within limits, nothing written to the disk."""

from __future__ import annotations

import io
import zipfile

from django.conf import settings

MOST_WORKS = 300  #: of one class
SKIPPED = ("__MACOSX/", "Thumbs.db", ".DS_Store", "desktop.ini")


def documents_of(name: str, content: bytes) -> list[tuple[str, bytes, bool]]:
    """The documents of one uploaded file: name, content, and whether it came out of an archive.

    Only zip archives are unpacked; documents that are zip archives inside (docx, odt, epub) stay whole. An entry that
    is encrypted or too large is handed on empty, so that it becomes a row that says so.
    """
    if not (name.lower().endswith(".zip") and content[:4] == b"PK\x03\x04"):
        return [(name, content, False)]
    room = settings.DOUBLET.upload_limit * 4
    out: list[tuple[str, bytes, bool]] = []
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in archive.infolist()[: MOST_WORKS * 4]:
                if entry.is_dir() or any(part in entry.filename for part in SKIPPED):
                    continue
                if entry.file_size > room or entry.flag_bits & 1:
                    out.append((entry.filename, b"", True))
                    continue
                room -= entry.file_size
                out.append((entry.filename, archive.read(entry), True))
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError):
        return [(name, content, False)]
    return out
