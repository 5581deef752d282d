"""A small Django project with the store inside, run as a program of its own (ENGINE NAME HOST STEP).

Each step prints what it saw as one line of JSON; tests/contracts/test_django_project.py reads them.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

import django
from django.conf import settings

TEXT = "the quick brown fox jumps over the lazy dog and then sleeps in the warm sun until the evening comes again"


class Stop(Exception):
    pass


def configure(engine: str, name: str, host: str) -> None:
    settings.configure(
        INSTALLED_APPS=["doublet.store"],
        DATABASES={
            "default": {
                "ENGINE": f"django.db.backends.{engine}",
                "NAME": name,
                "HOST": host,
                "USER": "postgres",
            }
        },
        USE_TZ=True,
    )
    django.setup()


def migrate() -> dict[str, Any]:
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
    return {}


def too_early() -> dict[str, Any]:
    from doublet.errors import StoreError
    from doublet.store.database import Store

    try:
        Store(alias="default")
    except StoreError as error:
        return {"message": error.message}
    return {}


def one_transaction() -> dict[str, Any]:
    """What a page takes back is taken back here too; what fails here can be survived by the page."""
    from django.db import connection, transaction

    from doublet.errors import LibraryExists, UsageError
    from doublet.jobs.check_library import check_library
    from doublet.model import Document
    from doublet.store.database import Store
    from doublet.store.models import Library

    store = Store(alias="default")
    try:
        with transaction.atomic():
            store.libraries.create("taken back")
            store.documents.add("taken back", [Document("a", TEXT)])
            share = check_library(store, TEXT).share
            raise Stop
    except Stop:
        pass
    after = check_library(store, TEXT).share
    with transaction.atomic():
        store.libraries.create("kept")
        store.documents.add("kept", [Document("a", TEXT, title="Fox")])
        try:
            store.libraries.create("kept")
        except LibraryExists:
            Library.objects.filter(name="kept").update(note="noted by the page")
        try:
            with store.database.writing():
                store.libraries.create("half")
                raise UsageError("half-way")
        except UsageError:
            pass
    with store.database.reading(), transaction.atomic():
        inside = Library.objects.count()
    store.close()
    return {
        "share": share,
        "after": after,
        "inside": inside,
        "open": connection.connection is not None,
        "libraries": [info.name for info in store.libraries.all()],
    }


def read_back() -> dict[str, Any]:
    from doublet.jobs.check_library import check_library
    from doublet.store.database import Store
    from doublet.store.verify import verify

    store = Store(alias="default")
    (info,) = store.libraries.all()
    found = check_library(store, TEXT)
    return {
        "library": [info.name, info.documents, info.note],
        "share": found.share,
        "findings": [one.kind for one in verify(store)],
        "titles": [source.title for source in found.sources],
    }


def query() -> dict[str, Any]:
    """Pages query the models: names and times are what they seem, and there is no key to a table of users."""
    from datetime import UTC, datetime, timedelta

    from django.apps import apps

    from doublet.model import Document as Given
    from doublet.store.database import Store
    from doublet.store.models import Document, Job, Library, Report, Source

    store = Store(alias="default")
    odd = "o\x00dd \ud800 \ue000 имя"
    store.libraries.create(odd, note=odd)
    store.documents.add(odd, [Given(odd, TEXT, title=odd)])
    store.sources.add(store.libraries.get(odd).number, "folder", odd, {"pattern": odd})
    job = store.jobs.add("check", {"text": odd}, library=odd)
    report = store.reports.add({"text": odd}, title=odd, share=0.5)
    now = datetime.now(UTC)
    library = Library.objects.get(name=odd)
    document = Document.objects.get(library__name=odd, title__contains="имя")
    recent = Document.objects.filter(
        added_at__gte=now - timedelta(hours=1), added_at__lte=now + timedelta(hours=1)
    )
    renamed = Library.objects.get(pk=library.pk)
    renamed.note = odd * 2
    renamed.save()
    models = apps.get_app_config("doublet_store").get_models()
    return {
        "names": [library.name == odd, library.note == odd, document.name == odd, document.title == odd],
        "times": [
            isinstance(library.created_at, datetime) and abs(now - library.created_at) < timedelta(hours=1),
            recent.filter(pk=document.pk).exists(),
            Document.objects.filter(added_at__gt=now + timedelta(hours=1)).exists(),
            abs(now - Job.objects.get(pk=job.number).run_after) < timedelta(hours=1),
        ],
        "json": [
            Source.objects.get(address=odd).options == {"pattern": odd},
            Job.objects.get(pk=job.number).parameters == {"text": odd},
        ],
        "report": [
            Report.objects.get(pk=report.number).title == odd,
            Report.objects.filter(share__gt=0.4).count(),
        ],
        "saved": store.libraries.get(odd).note == odd * 2,
        "apps": sorted(
            {
                field.related_model._meta.app_label
                for model in models
                for field in model._meta.fields
                if field.is_relation
            }
        ),
    }


def threads() -> dict[str, Any]:
    """Each thread of a server has its own connection; the end of a request closes none of an opened address."""
    from django.core.signals import request_finished
    from django.db import connections

    from doublet.store.database import Store

    store = Store(alias="default")
    names: list[str] = []

    def work() -> None:
        names.extend(info.name for info in store.libraries.all())
        connections.close_all()

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with Store(os.environ["DOUBLET_OTHER"]) as other:
        raw = other.database.raw
        request_finished.send(None)
        same = other.database.raw is raw
    return {"names": names, "same": same}


if __name__ == "__main__":
    configure(*sys.argv[1:4])
    steps = {step.__name__: step for step in (migrate, too_early, one_transaction, read_back, threads, query)}
    print(json.dumps(steps[sys.argv[4]]()))
