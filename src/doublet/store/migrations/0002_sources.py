"""Where documents come from: sources with their state, and what each knows of its documents. One recipe, one row."""

from typing import Any, ClassVar

import django.db.models.deletion
from django.db import migrations, models

_KEEP = django.db.models.deletion.DO_NOTHING


class _Plain:
    """What `take_entries` needs of a database."""

    def __init__(self, connection: Any) -> None:
        self.vendor = connection.vendor
        self.raw = connection.connection

    def rows(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        cursor = self.raw.cursor()
        cursor.execute(sql.replace("%s", "?") if self.vendor == "sqlite" else sql, parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
        cursor.close()
        return found

    def many(self, sql: str, rows: Any) -> None:
        for row in rows:
            self.rows(sql, row)


def merge_recipes(apps: Any, editor: Any) -> None:  # noqa: ARG001 - the signature that Django calls
    """Two processes could make the same recipe at the same moment: the older row stays."""
    from doublet.store.entries import take_entries

    database: Any = _Plain(editor.connection)
    twice = database.rows(
        "SELECT r.id FROM doublet_recipe r WHERE EXISTS (SELECT 1 FROM doublet_recipe o WHERE "
        "o.library_id = r.library_id AND o.digest = r.digest AND o.id < r.id)"
    )
    for (number,) in twice:
        take_entries(database, number, None)
        database.rows("DELETE FROM doublet_recipe WHERE id = %s", [number])


class Migration(migrations.Migration):
    dependencies: ClassVar = [("doublet_store", "0001_initial")]

    operations: ClassVar = [
        migrations.RunPython(merge_recipes, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="recipe",
            constraint=models.UniqueConstraint(fields=("library", "digest"), name="doublet_recipe_digest"),
        ),
        migrations.CreateModel(
            name="Source",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.TextField()),
                ("address", models.TextField()),
                ("options", models.JSONField(default=dict)),
                ("key", models.BigIntegerField()),
                ("state", models.JSONField(default=dict)),
                ("run", models.BigIntegerField(default=0)),
                ("status", models.TextField(default="new")),
                ("resumable", models.BooleanField(default=False)),
                ("message", models.TextField(default="")),
                ("outcomes", models.JSONField(default=dict)),
                ("created_at", models.BigIntegerField()),
                ("began_at", models.BigIntegerField(null=True)),
                ("ended_at", models.BigIntegerField(null=True)),
                (
                    "library",
                    models.ForeignKey(db_index=False, on_delete=_KEEP, to="doublet_store.library"),
                ),
            ],
            options={"db_table": "doublet_source"},
        ),
        migrations.AddConstraint(
            model_name="source",
            constraint=models.UniqueConstraint(fields=("library", "key"), name="doublet_source_key"),
        ),
        migrations.CreateModel(
            name="Origin",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.TextField()),
                ("name_hash", models.BigIntegerField()),
                ("part", models.BigIntegerField(null=True)),
                ("version", models.TextField(default="")),
                ("etag", models.TextField(default="")),
                ("modified", models.TextField(default="")),
                ("run", models.BigIntegerField()),
                ("state", models.TextField()),
                ("reason", models.TextField(default="")),
                ("twin", models.BigIntegerField(null=True)),
                (
                    "source",
                    models.ForeignKey(db_index=False, on_delete=_KEEP, to="doublet_store.source"),
                ),
            ],
            options={"db_table": "doublet_origin"},
        ),
        migrations.AddConstraint(
            model_name="origin",
            constraint=models.UniqueConstraint(fields=("source", "name_hash"), name="doublet_origin_name"),
        ),
        migrations.AddIndex(
            model_name="origin",
            index=models.Index(
                fields=["source", "part"], name="doublet_origin_part", condition=models.Q(part__isnull=False)
            ),
        ),
        migrations.AddIndex(
            model_name="origin",
            index=models.Index(
                fields=["twin"], name="doublet_origin_twin", condition=models.Q(twin__isnull=False)
            ),
        ),
    ]
