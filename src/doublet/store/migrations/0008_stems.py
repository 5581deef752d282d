"""The index of telling stems. Documents that are there already are filed when a check that may write asks for it."""

from typing import Any, ClassVar

from django.db import migrations, models

_BOTH = [
    # Empty once all documents are filed: so it is known at once.
    "CREATE INDEX doublet_content_unfiled ON doublet_content (document_id) WHERE stems IS NULL",
]
_SQLITE = [
    "ALTER TABLE doublet_content ADD COLUMN stems BLOB NULL",
    "CREATE VIRTUAL TABLE doublet_stem USING fts5 (k, content='', detail=none, columnsize=0, tokenize='ascii')",
]
_POSTGRESQL = ["ALTER TABLE doublet_content ADD COLUMN stems bytea NULL"]


def make(apps: Any, editor: Any) -> None:  # noqa: ARG001 - the signature that Django calls
    for statement in [*(_SQLITE if editor.connection.vendor == "sqlite" else _POSTGRESQL), *_BOTH]:
        editor.execute(statement)


def unmake(apps: Any, editor: Any) -> None:  # noqa: ARG001
    editor.execute("DROP INDEX doublet_content_unfiled")
    editor.execute("ALTER TABLE doublet_content DROP COLUMN stems")
    if editor.connection.vendor == "sqlite":
        editor.execute("DROP TABLE doublet_stem")


class Migration(migrations.Migration):
    dependencies: ClassVar = [("doublet_store", "0007_frontier_order")]

    operations: ClassVar = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(make, unmake)],
            state_operations=[
                migrations.AddField("content", "stems", models.BinaryField(null=True)),
                migrations.AddIndex(
                    "content",
                    models.Index(
                        fields=["document"],
                        name="doublet_content_unfiled",
                        condition=models.Q(stems__isnull=True),
                    ),
                ),
            ],
        )
    ]
