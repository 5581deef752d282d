"""The index of words by which documents of libraries are found: FTS5 in SQLite, a tsvector in PostgreSQL.

It holds stems and no text. *web_searchable* says which documents are in it.
"""

from typing import Any

from django.db import migrations

SQLITE = (
    "CREATE VIRTUAL TABLE web_search USING fts5(words, content='', detail=none, tokenize='unicode61')",
    "CREATE TABLE web_searchable (document integer PRIMARY KEY, library integer NOT NULL)",
    "CREATE INDEX web_searchable_library ON web_searchable (library)",
)
POSTGRESQL = (
    "CREATE TABLE web_search (document bigint PRIMARY KEY, words tsvector NOT NULL)",
    "CREATE INDEX web_search_words ON web_search USING gin (words)",
    "CREATE TABLE web_searchable (document bigint PRIMARY KEY, library bigint NOT NULL)",
    "CREATE INDEX web_searchable_library ON web_searchable (library)",
)


def make(apps: Any, editor: Any) -> None:
    for sql in SQLITE if editor.connection.vendor == "sqlite" else POSTGRESQL:
        editor.execute(sql)


def drop(apps: Any, editor: Any) -> None:
    editor.execute("DROP TABLE web_search")
    editor.execute("DROP TABLE web_searchable")


class Migration(migrations.Migration):
    dependencies = [("pages", "0001_initial")]

    operations = [migrations.RunPython(make, drop)]
