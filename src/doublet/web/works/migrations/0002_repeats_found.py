"""All that a search for repeats found, beside its page, so that programs can make any report of it."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("works", "0001_initial")]
    operations: ClassVar = [migrations.AddField("repeatssearch", "found", models.BinaryField(null=True))]
