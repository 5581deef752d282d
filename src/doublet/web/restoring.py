"""Tables of an empty database, made as far as a backup had them, so that its rows fit; the next start does the rest."""

from __future__ import annotations

import tempfile
from pathlib import Path

from doublet.web.configure import ServiceOptions, configure


def make_tables(address: str, applied: list[tuple[str, str]]) -> None:
    """Run the migrations *applied* (app and name, in their order) and no later ones."""
    from django.core.management import call_command
    from django.db import connections

    with tempfile.TemporaryDirectory(prefix="doublet-restore-") as folder:
        configure(ServiceOptions(database=address, data=Path(folder)))
        for app, name in dict(applied).items():
            call_command("migrate", app, name, verbosity=0, interactive=False)
        connections.close_all()
