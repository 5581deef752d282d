"""Documents of a library by the words in them.

An index of stems (`migrations/0002_search`) is filled by a job (`index_some`), a batch of documents at a time; a
document number is never used again, so entries of documents that are gone do no harm until they are swept. All words of
a query must be in the document, in any form and order; the page then shows where.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from django.db import connection, transaction

from doublet.progress import Progress
from doublet.text.reduce import Reducer, reducer
from doublet.web.store import store

JOB = "search_index"
BATCH = 200
AT_ONCE = 200  #: documents that are indexed while somebody waits
MOST = 500  #: documents that a search finds at most
SNIPPET = 160  #: characters around the first word
MOST_WORDS = 10  #: of a query
LONGEST = 40  #: letters of a word in the index
_WORD = re.compile(r"\w+")


@functools.cache
def _reduce() -> Reducer:
    return reducer("stem")


def _by_word(text: str) -> dict[str, str]:
    """The stem of each distinct word in lower case."""
    words = list(dict.fromkeys(_WORD.findall(text.lower())))
    return dict(zip(words, _reduce()([word[:LONGEST].replace("ё", "е") for word in words]), strict=True))


def stems(text: str) -> list[str]:
    """The distinct stems of a text."""
    return list(dict.fromkeys(_by_word(text).values()))


def missing(library: int, documents: int) -> int:
    """How many documents of a library are not in the index yet."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM web_searchable WHERE library = %s", [library])
        return max(0, documents - int(cursor.fetchone()[0]))


def index_some(library: int, progress: Progress, most: int | None = None) -> int:
    """Index documents of a library that are not in the index; gives how many. Can be begun again at any moment."""
    done, after = 0, 0
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM web_searchable WHERE library = %s AND document NOT IN "
            "(SELECT id FROM doublet_document WHERE library_id = %s)",
            [library, library],
        )
    while most is None or done < most:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT d.id FROM doublet_document d LEFT JOIN web_searchable s ON s.document = d.id "
                "WHERE d.library_id = %s AND d.id > %s AND s.document IS NULL ORDER BY d.id LIMIT %s",
                [library, after, BATCH],
            )
            numbers = [row[0] for row in cursor.fetchall()]
        if not numbers:
            break
        texts = store().documents.texts(numbers)
        rows = [(number, " ".join(stems(texts.get(number, "")))) for number in numbers]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO web_searchable (document, library) VALUES (%s, %s) ON CONFLICT (document) DO NOTHING",
                [(number, library) for number in numbers],
            )
            if connection.vendor == "sqlite":
                cursor.executemany("INSERT INTO web_search (rowid, words) VALUES (%s, %s)", rows)
            else:
                cursor.executemany(
                    "INSERT INTO web_search (document, words) VALUES (%s, array_to_tsvector(%s::text[])) "
                    "ON CONFLICT (document) DO NOTHING",
                    [(number, text.split(" ")) for number, text in rows if text],
                )
        done, after = done + len(numbers), numbers[-1]
        progress.step("indexing_words", done, None, "documents")
    return done


def find(library: int, query: str) -> list[int]:
    """Numbers of documents that have all words of the query, the newest first."""
    wanted = stems(query)[:MOST_WORDS]
    if not wanted:
        return []
    if connection.vendor == "sqlite":
        matched = "SELECT rowid FROM web_search WHERE web_search MATCH %s"
        value: object = " AND ".join(f'"{word}"' for word in wanted)
    else:
        matched = "SELECT document FROM web_search WHERE words @@ %s::tsquery"
        value = " & ".join(f"'{word}'" for word in wanted)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id FROM doublet_document WHERE library_id = %s AND id IN ({matched}) "
            "ORDER BY id DESC LIMIT %s",
            [library, value, MOST],
        )
        return [row[0] for row in cursor.fetchall()]


def snippet(text: str, query: str) -> list[tuple[str, bool]]:
    """The place of the first word of the query, in pieces; True marks what was looked for."""
    wanted = set(stems(query))
    known = _by_word(text)
    hits = [match for match in _WORD.finditer(text) if known.get(match.group().lower()) in wanted]
    if not hits:
        return []
    start = max(0, hits[0].start() - SNIPPET // 2)
    end = min(len(text), hits[0].end() + SNIPPET)
    return _pieces(text, start, end, hits)


def _pieces(text: str, start: int, end: int, hits: Sequence[re.Match[str]]) -> list[tuple[str, bool]]:
    out, at = [("… " if start else "", False)], start
    for hit in hits:
        if hit.end() > end:
            break
        out += [(text[at : hit.start()], False), (hit.group(), True)]
        at = hit.end()
    return [*out, (text[at:end], False), (" …" if end < len(text) else "", False)]
