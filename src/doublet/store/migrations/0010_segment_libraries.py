"""Beside each segment, the libraries that its postings are of, so that a look-up passes over those of others.

Segments that are there stay without (any library) until they are merged. A SQLite file that is brought up from before
0009 has the column already: that step writes segments.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import migrations


def add(apps: Any, editor: Any) -> None:  # noqa: ARG001 - the signature that Django calls
    with editor.connection.cursor() as cursor:
        there = editor.connection.introspection.get_table_description(cursor, "doublet_segment")
    if "libraries" not in {column.name for column in there}:
        editor.execute("ALTER TABLE doublet_segment ADD COLUMN libraries text NULL")


def back(apps: Any, editor: Any) -> None:  # noqa: ARG001
    editor.execute("ALTER TABLE doublet_segment DROP COLUMN libraries")


class Migration(migrations.Migration):
    dependencies: ClassVar = [("doublet_store", "0009_packed_segments")]

    operations: ClassVar = [migrations.RunPython(add, back)]
