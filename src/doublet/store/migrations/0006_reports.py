"""Reports that are kept; names and times as the models show them; merges and rebuilds of the index in steps.

The columns of names and times stay as they are: only what the models make of them changes.
"""

from typing import Any, ClassVar

from django.db import migrations, models

from doublet.store.fields import EscapedJSONField, EscapedTextField, MomentField, SecondsField

_FIELDS: dict[str, dict[str, models.Field]] = {
    "document": {
        "added_at": SecondsField(),
        "address": EscapedTextField(default=""),
        "changed_at": SecondsField(),
        "name": EscapedTextField(),
        "source": EscapedTextField(default=""),
        "time": EscapedTextField(default=""),
        "title": EscapedTextField(default=""),
    },
    "entry": {
        "name": EscapedTextField(),
    },
    "host": {
        "lease_until": MomentField(null=True),
    },
    "job": {
        "asked_by": EscapedTextField(default=""),
        "began_at": SecondsField(null=True),
        "changed_at": SecondsField(),
        "checkpoint": EscapedJSONField(default=dict),
        "created_at": SecondsField(),
        "ended_at": SecondsField(null=True),
        "facts": EscapedJSONField(default=dict),
        "key": EscapedTextField(null=True, unique=True),
        "lease_until": MomentField(null=True),
        "library": EscapedTextField(default=""),
        "parameters": EscapedJSONField(default=dict),
        "result": EscapedJSONField(null=True),
        "run_after": MomentField(),
    },
    "library": {
        "address": EscapedTextField(default=""),
        "changed_at": SecondsField(),
        "created_at": SecondsField(),
        "name": EscapedTextField(unique=True),
        "note": EscapedTextField(default=""),
    },
    "origin": {
        "etag": EscapedTextField(default=""),
        "name": EscapedTextField(),
        "reason": EscapedTextField(default=""),
        "version": EscapedTextField(default=""),
    },
    "source": {
        "address": EscapedTextField(),
        "began_at": SecondsField(null=True),
        "created_at": SecondsField(),
        "ended_at": SecondsField(null=True),
        "lease_until": MomentField(null=True),
        "message": EscapedTextField(default=""),
        "options": EscapedJSONField(default=dict),
        "state": EscapedJSONField(default=dict),
    },
}


def _number() -> tuple[str, models.BigAutoField]:
    return "id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def add_state(apps: Any, editor: Any) -> None:  # noqa: ARG001 - the signature that Django calls
    """A segment is being written (0), is in use (1), or goes (2)."""
    if editor.connection.vendor == "postgresql":
        editor.execute("ALTER TABLE doublet_segment ADD COLUMN state smallint NOT NULL DEFAULT 1")


class Migration(migrations.Migration):
    dependencies: ClassVar = [("doublet_store", "0005_frontier")]

    operations: ClassVar = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(model, name, field)
                for model, fields in _FIELDS.items()
                for name, field in fields.items()
            ]
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                _number(),
                ("kind", models.TextField()),
                ("state", models.TextField(default="ready")),
                ("title", EscapedTextField(default="")),
                ("search", EscapedTextField(default="")),
                ("share", models.FloatField(null=True)),
                ("data", models.BinaryField()),
                ("created_at", SecondsField()),
            ],
            options={
                "db_table": "doublet_report",
                "indexes": [models.Index(fields=["kind", "id"], name="doublet_report_kind")],
            },
        ),
        migrations.CreateModel(
            name="Rebuild",
            fields=[_number(), ("upto", models.BigIntegerField(default=0))],
            options={"db_table": "doublet_rebuild"},
        ),
        migrations.RunPython(add_state, migrations.RunPython.noop),
    ]
