"""The first layout: the tables of the models, and the postings, which each database keeps in its own way."""

from typing import Any, ClassVar

import django.db.models.deletion
from django.db import migrations, models

_SQLITE = [
    "CREATE VIRTUAL TABLE doublet_posting USING fts5 "
    "(k, content='', detail=none, columnsize=0, tokenize='ascii')",
    "CREATE VIRTUAL TABLE doublet_key USING fts5 (k, content='', detail=none, columnsize=0, tokenize='ascii')",
]
_POSTGRESQL = [
    "CREATE TABLE doublet_posting (key bigint NOT NULL, document bigint NOT NULL, PRIMARY KEY (key, document))",
    "CREATE TABLE doublet_key (recipe bigint NOT NULL, key bigint NOT NULL, entry bigint NOT NULL, "
    "PRIMARY KEY (recipe, key, entry))",
    # Packed already: packing again would only cost time.
    "ALTER TABLE doublet_content ALTER COLUMN text SET STORAGE EXTERNAL",
    "ALTER TABLE doublet_content ALTER COLUMN bag SET STORAGE EXTERNAL",
    "ALTER TABLE doublet_content ALTER COLUMN keys SET STORAGE EXTERNAL",
    "ALTER TABLE doublet_statistics ALTER COLUMN data SET STORAGE EXTERNAL",
]


def make_postings(apps: Any, editor: Any) -> None:  # noqa: ARG001 - the signature that Django calls
    for statement in _SQLITE if editor.connection.vendor == "sqlite" else _POSTGRESQL:
        editor.execute(statement)


def drop_postings(apps: Any, editor: Any) -> None:  # noqa: ARG001
    for table in ("doublet_posting", "doublet_key"):
        editor.execute(f"DROP TABLE {table}")


class Migration(migrations.Migration):
    initial = True

    dependencies: ClassVar[list[Any]] = []

    operations: ClassVar = [
        migrations.CreateModel(
            name="Document",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.TextField()),
                ("name_hash", models.BigIntegerField()),
                ("title", models.TextField(default="")),
                ("address", models.TextField(default="")),
                ("time", models.TextField(default="")),
                ("source", models.TextField(default="")),
                ("hash", models.BinaryField()),
                ("fold", models.BigIntegerField(db_index=True)),
                ("words", models.IntegerField()),
                ("characters", models.IntegerField()),
                ("size_bytes", models.BigIntegerField()),
                ("added_at", models.BigIntegerField()),
                ("changed_at", models.BigIntegerField()),
            ],
            options={
                "db_table": "doublet_document",
            },
        ),
        migrations.CreateModel(
            name="Dictionary",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("kind", models.TextField()),
                ("data", models.BinaryField()),
            ],
            options={
                "db_table": "doublet_dictionary",
            },
        ),
        migrations.CreateModel(
            name="Library",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.TextField(unique=True)),
                ("address", models.TextField(default="")),
                ("note", models.TextField(default="")),
                ("created_at", models.BigIntegerField()),
                ("changed_at", models.BigIntegerField()),
                ("documents", models.BigIntegerField(default=0)),
                ("words", models.BigIntegerField(default=0)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("changes", models.BigIntegerField(default=0)),
                ("outcomes", models.JSONField(default=dict)),
            ],
            options={
                "db_table": "doublet_library",
            },
        ),
        migrations.CreateModel(
            name="Word",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("hash", models.BigIntegerField(unique=True)),
                ("fold", models.BigIntegerField()),
                ("word", models.TextField()),
            ],
            options={
                "db_table": "doublet_word",
            },
        ),
        migrations.CreateModel(
            name="Content",
            fields=[
                (
                    "document",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        serialize=False,
                        to="doublet_store.document",
                    ),
                ),
                ("version", models.IntegerField()),
                ("dictionary", models.BigIntegerField()),
                ("keys", models.BinaryField()),
                ("bag", models.BinaryField()),
                ("text", models.BinaryField()),
            ],
            options={
                "db_table": "doublet_content",
            },
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.TextField()),
                ("state", models.TextField()),
                ("stage", models.TextField(default="")),
                ("done", models.BigIntegerField(default=0)),
                ("total", models.BigIntegerField(null=True)),
                ("message", models.TextField(default="")),
                ("details", models.JSONField(default=dict)),
                ("created_at", models.BigIntegerField()),
                ("changed_at", models.BigIntegerField()),
                (
                    "library",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.DO_NOTHING, to="doublet_store.library"
                    ),
                ),
            ],
            options={
                "db_table": "doublet_job",
            },
        ),
        migrations.AddField(
            model_name="document",
            name="library",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to="doublet_store.library"
            ),
        ),
        migrations.CreateModel(
            name="Recipe",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.BinaryField()),
                ("method", models.TextField()),
                ("recipe", models.JSONField()),
                ("settings", models.JSONField()),
                ("parameters", models.JSONField()),
                ("statistics", models.BinaryField(null=True)),
                ("changes", models.BigIntegerField(default=0)),
                ("documents", models.BigIntegerField(default=0)),
                ("follows", models.BooleanField(default=False)),
                (
                    "library",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="doublet_store.library"
                    ),
                ),
            ],
            options={
                "db_table": "doublet_recipe",
            },
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.TextField()),
                ("name_hash", models.BigIntegerField()),
                ("size", models.BigIntegerField()),
                ("values", models.BinaryField()),
                ("keys", models.BinaryField()),
                (
                    "recipe",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="doublet_store.recipe",
                    ),
                ),
            ],
            options={
                "db_table": "doublet_entry",
            },
        ),
        migrations.CreateModel(
            name="Statistics",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("documents", models.BigIntegerField()),
                ("data", models.BinaryField()),
                (
                    "library",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="doublet_store.library"
                    ),
                ),
            ],
            options={
                "db_table": "doublet_statistics",
            },
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(fields=("library", "name_hash"), name="doublet_document_name"),
        ),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.UniqueConstraint(fields=("recipe", "name_hash"), name="doublet_entry_name"),
        ),
        migrations.RunPython(make_postings, drop_postings),
    ]
