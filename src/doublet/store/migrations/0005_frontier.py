"""The frontier of the robot: hosts and pages."""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models

_KEEP = django.db.models.deletion.DO_NOTHING


def _number() -> tuple[str, models.BigAutoField]:
    return "id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies: ClassVar = [("doublet_store", "0004_queue")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="Host",
            fields=[
                _number(),
                ("origin", models.TextField(unique=True)),
                ("place", models.TextField(default="")),
                ("next_at", models.FloatField(default=0)),
                ("owner", models.TextField(default="")),
                ("lease_until", models.FloatField(null=True)),
            ],
            options={
                "db_table": "doublet_host",
                "indexes": [models.Index(fields=["place"], name="doublet_host_place")],
            },
        ),
        migrations.CreateModel(
            name="Page",
            fields=[
                _number(),
                ("hash", models.BigIntegerField()),
                ("state", models.SmallIntegerField(default=0)),
                ("priority", models.SmallIntegerField(default=0)),
                ("depth", models.SmallIntegerField(default=0)),
                ("attempts", models.SmallIntegerField(default=0)),
                ("pattern", models.SmallIntegerField(default=-1)),
                ("interval_s", models.IntegerField(null=True)),
                ("next_try", models.BigIntegerField(null=True)),
                ("parent", models.BigIntegerField(null=True)),
                ("target", models.TextField()),
                ("reason", models.TextField(default="")),
                ("host", models.ForeignKey(db_index=False, on_delete=_KEEP, to="doublet_store.host")),
                ("source", models.ForeignKey(db_index=False, on_delete=_KEEP, to="doublet_store.source")),
            ],
            options={
                "db_table": "doublet_page",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__lt", 2)),
                        fields=["source", "host", "priority", "id"],
                        name="doublet_page_open",
                    ),
                    models.Index(
                        condition=models.Q(("next_try__isnull", False)),
                        fields=["source", "next_try"],
                        name="doublet_page_due",
                    ),
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="page",
            constraint=models.UniqueConstraint(fields=("source", "hash"), name="doublet_page_key"),
        ),
    ]
