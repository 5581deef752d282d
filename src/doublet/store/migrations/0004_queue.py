"""Jobs become a queue: with leases, attempts, results and a key. Sources are leased by whoever walks them.

The old table only listed what had run; its rows are not kept.
"""

from typing import ClassVar

from django.db import migrations, models


def _optional(column: str) -> models.Q:
    return models.Q(**{f"{column}__isnull": False})


class Migration(migrations.Migration):
    dependencies: ClassVar = [("doublet_store", "0003_segments")]

    operations: ClassVar = [
        migrations.DeleteModel("Job"),
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
                ("parameters", models.JSONField(default=dict)),
                ("library", models.TextField(default="")),
                ("asked_by", models.TextField(default="")),
                ("priority", models.IntegerField(default=0)),
                ("state", models.TextField(default="new")),
                ("run_after", models.FloatField()),
                ("lease_until", models.FloatField(null=True)),
                ("owner", models.TextField(default="")),
                ("attempts", models.IntegerField(default=0)),
                ("max_attempts", models.IntegerField()),
                ("cancel", models.BooleanField(default=False)),
                ("stage", models.TextField(default="")),
                ("done", models.BigIntegerField(default=0)),
                ("total", models.BigIntegerField(null=True)),
                ("unit", models.TextField(default="")),
                ("message", models.TextField(default="")),
                ("facts", models.JSONField(default=dict)),
                ("checkpoint", models.JSONField(default=dict)),
                ("result", models.JSONField(null=True)),
                ("key", models.TextField(null=True, unique=True)),
                ("created_at", models.BigIntegerField()),
                ("changed_at", models.BigIntegerField()),
                ("began_at", models.BigIntegerField(null=True)),
                ("ended_at", models.BigIntegerField(null=True)),
            ],
            options={
                "db_table": "doublet_job",
                "indexes": [
                    models.Index(
                        fields=["state", "priority", "id"],
                        name="doublet_job_open",
                        condition=models.Q(state__in=["new", "running"]),
                    ),
                    models.Index(
                        fields=["ended_at"], name="doublet_job_ended", condition=_optional("ended_at")
                    ),
                ],
            },
        ),
        migrations.AddField("Source", "owner", models.TextField(default="")),
        migrations.AddField("Source", "lease_until", models.FloatField(null=True)),
    ]
