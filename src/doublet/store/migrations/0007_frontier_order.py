"""The index of pages that wait: by state before priority, so that new and known pages are each found at once, and
without their numbers, so that PostgreSQL keeps equal entries together."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("doublet_store", "0006_reports")]

    operations: ClassVar = [
        migrations.RemoveIndex("page", "doublet_page_open"),
        migrations.AddIndex(
            "page",
            models.Index(
                fields=["source", "host", "state", "priority"],
                name="doublet_page_open",
                condition=models.Q(state__lt=2),
            ),
        ),
    ]
