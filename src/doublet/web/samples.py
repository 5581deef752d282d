"""What a first start shows: a small library, two sample works and their reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from doublet.errors import DoubletError
from doublet.model import Document, Note
from doublet.progress import Progress
from doublet.samples import LIBRARY, WORK
from doublet.web.store import store
from doublet.web.works import checking
from doublet.web.works.models import Upload, Work

NAME = "Sample library"


def load(owner: Any, say: Callable[[Note], None]) -> None:
    """Load the samples once. A start is not stopped by what goes wrong here."""
    try:
        records = [orjson.loads(line) for line in LIBRARY.read_bytes().splitlines() if line.strip()]
        if NAME not in {info.name for info in store().libraries.all()}:
            store().libraries.create(NAME, note="Twelve short articles to try Doublet on")
        documents = [
            Document(one["id"], one["text"], one.get("title", ""), one.get("time", "")) for one in records
        ]
        store().documents.add(NAME, documents)
        for title, text in (
            ("Sample work", WORK.read_text(encoding="utf-8")),
            ("Sample work without borrowing", _own_text(records)),
        ):
            content = text.encode()
            upload = Upload.keep("", content)
            options = {"method": "auto", "libraries": [NAME], "leave_out": ["quotations"], "own": []}
            work = Work.objects.create(
                owner=owner, title=title, kind="text", upload=upload, options=options, labels=["sample"]
            )
            checking.perform(work, Progress())
        say(Note("samples_loaded"))
    except DoubletError as error:
        say(Note("samples_not_loaded", why=error.note))


def _own_text(records: list[dict[str, Any]]) -> str:
    """Words of the library in an order in which they were never written: nothing of it is borrowed."""
    words = sorted({word for one in records[:2] for word in one["text"].split()}, key=lambda word: word[::-1])
    return " ".join(words[:150])
