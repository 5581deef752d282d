"""``doublet library documents``, ``document`` and ``statistics``: look at what a library holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doublet import config
from doublet.cli import remote
from doublet.cli.base import (
    Command,
    common_options,
    format_option,
    quiet_option,
    settings_options,
    use_colour,
    write_bytes,
    write_text,
)
from doublet.cli.language import words
from doublet.cli.progress import shown
from doublet.cli.rows import write_rows
from doublet.errors import UsageError

if TYPE_CHECKING:
    from doublet.client import Client
    from doublet.jobs.library_statistics import FrequentWord, LibraryPart

NAME = click.argument("name", metavar="NAME")


@click.command(
    "documents",
    cls=Command,
    example="""\
doublet library documents theses --limit 20
doublet library documents theses --like ivanov""",
    help="""List the documents of the library NAME in the order in which they came; with --like, find those whose id,
    title, address or source fits.""",
)
@NAME
@click.option(
    "--like",
    metavar="PATTERN",
    help="Only documents whose id, title, address or source fits: * is anything; without * a part of it is enough.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="So many at most.")
@settings_options("database")
@format_option("table", "json", "jsonl", "csv")
@common_options
def documents(
    *, name: str, like: str | None, limit: int | None, form: str, config_file: Path | None, **flags: Any
) -> None:
    from doublet.cli.library import heads, open_store
    from doublet.reports.json_report import json_document, json_line
    from doublet.reports.tables import plain_rows
    from doublet.reports.terminal import harmless, table

    with open_store(config.resolve(flags, file=config_file)) as store:
        found = (
            store.documents.all(name, limit=limit)
            if like is None
            else store.documents.find(name, like, limit=limit)
        )
        if form == "jsonl":
            write_bytes(json_line(one.to_dict()) + b"\n" for one in found)
        elif form == "csv":
            columns = ["id", "title", "words", "added", "changed", "time", "source", "address"]
            write_bytes(plain_rows(columns, ([getattr(one, key) for key in columns] for one in found)))
        elif form == "json":
            write_bytes([json_document({"format": 1, "documents": [one.to_dict() for one in found]})])
        else:
            rows = [
                [harmless(one.id), harmless(one.title), words().number(one.words), one.added] for one in found
            ]
            write_text(
                table(rows, header=heads("id", "title", "words", "added"))
                if rows
                else words()("library_no_documents") + "\n"
            )


@click.command(
    "document",
    cls=Command,
    example="""\
doublet library document theses ivanov-2023.txt
doublet library document theses ivanov-2023.txt --text > ivanov.txt""",
    help="""Show the document ID of the library NAME: its title, address and times, how long it is, which sources gave
    it, and how it begins. With --text, print its whole text and nothing else.""",
)
@NAME
@click.argument("id", metavar="ID")
@click.option("--text", "whole", is_flag=True, help="Print the whole text, as it was given.")
@settings_options("database")
@format_option("table", "json")
@common_options
def document(*, name: str, id: str, whole: bool, form: str, config_file: Path | None, **flags: Any) -> None:
    from doublet.cli.library import open_store
    from doublet.errors import nearest
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import harmless, harmless_lines, table

    with open_store(config.resolve(flags, file=config_file)) as store:
        info = store.libraries.get(name)
        found = store.documents.get(name, id)
        if found is None:
            some = [one.id for one in store.documents.find(name, id, limit=20)]
            raise UsageError(
                "library_has_no_document", name=name, id=id, nearest=nearest(id, some) or (some or [""])[0]
            )
        text = store.documents.texts([found.number]).get(found.number, "")
        numbers = set(store.sources.of_document(info.number, id))
        sources = [one for one in store.sources.all(info.number) if one.number in numbers]
    if whole and form == "table":
        write_bytes([text.encode("utf-8", "replace")])
        return
    if form == "json":
        told: dict[str, Any] = {"format": 1, **found.to_dict()}
        told["sources"] = [{"number": one.number, "address": one.address} for one in sources]
        write_bytes([json_document(told | {"text": text})])
        return
    say = words()
    rows = [
        [say.name("head", head), harmless(str(value))]
        for head, value in (
            ("id", found.id),
            ("title", found.title),
            ("address", found.address),
            ("time", found.time),
            ("author", found.source),
            ("words", say.number(found.words)),
            ("characters", say.number(found.characters)),
            ("added", found.added),
            ("changed", found.changed),
            *(("source", f"{one.number}: {one.address}") for one in sources),
        )
        if value
    ]
    write_text(table(rows))
    write_text(
        "\n" + harmless_lines(text[:BEGINNING]).rstrip() + ("…" if len(text) > BEGINNING else "") + "\n"
    )


BEGINNING = 600  #: characters of a document that are shown


@click.command(
    "statistics",
    cls=Command,
    example="""\
doublet library statistics theses --top 30
doublet library statistics theses --by year""",
    help="""Count the documents and words of the library NAME. Without --by: the words that most documents have, each
    with all its forms and without stop words. With --by: the documents of each folder, source, language or year; the
    numbers add up to the library.""",
)
@NAME
@click.option(
    "--by",
    type=click.Choice(["folder", "source", "language", "year"]),
    help="Count by folder (of a page: site and path), by source, by language, or by the year of the document's time.",
)
@click.option(
    "--top", type=click.IntRange(0), metavar="N", help="So many rows.  [default: 20 words; with --by all]"
)
@settings_options("database")
@format_option("table", "json", "jsonl", "csv")
@quiet_option
@common_options
def statistics(
    *,
    name: str,
    by: str | None,
    top: int | None,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> None:
    from doublet.cli.library import open_store
    from doublet.jobs.library_statistics import count_parts, frequent_words

    resolved = config.resolve(flags, file=config_file)
    server = remote.client_here()
    if server is not None:
        parts, documents, tokens, distinct, found = _counted_there(server, name, by, top)
    else:
        with (
            open_store(resolved) as store,
            shown(quiet=quiet, colour=use_colour(resolved.settings.colour, sys.stderr)) as progress,
        ):
            if by is not None:
                parts = count_parts(store, name, by, progress=progress)
            else:
                collection = store.libraries.statistics(name)
                documents, tokens, distinct = collection.documents, collection.words, len(collection)
                found = frequent_words(store, name, 20 if top is None else top)
    if by is not None:
        _show_parts(parts, by, top, form)
        return
    columns = ("word", "stem", "df", "cf")
    say = words()
    facts = {"documents": documents, "words": tokens, "distinct_words": distinct}
    if form == "json":
        _json({"format": 1, **facts, "top": [one.to_dict() for one in found]})
    elif form != "table":
        write_rows(form, columns, (list(one.to_dict().values()) for one in found))
    else:
        write_text(say("statistics_words", **facts) + "\n")
        rows = [
            [
                one.word,
                say.number(one.df),
                say.percent(one.df / max(1, documents)),
                say.number(one.cf),
            ]
            for one in found
        ]
        _table(rows, "word", "documents", "of_all", "times")


def _counted_there(
    server: Client, name: str, by: str | None, top: int | None
) -> tuple[list[LibraryPart], int, int, int, list[FrequentWord]]:
    """The same numbers, counted by a service."""
    from doublet.jobs.library_statistics import FrequentWord, LibraryPart

    with server:
        result = remote.finished(server, server.count_library(name)).result
    parts = [LibraryPart(**one) for one in result[by]] if by is not None else []
    most = 20 if top is None else top
    if by is None and most > len(result["top"]) and result["distinct_words"] > len(result["top"]):
        raise UsageError("server_tells_fewer", most=len(result["top"]))
    listed = [FrequentWord(**one) for one in result["top"][:most]]
    return parts, result["documents"], result["words"], result["distinct_words"], listed


def _show_parts(parts: list[LibraryPart], by: str, top: int | None, form: str) -> None:
    """Numbers of documents and words; what is beyond *top* is one row, so that they still add up."""
    from doublet.jobs.library_statistics import LibraryPart

    say = words()
    shown_parts = parts if top is None else parts[:top]
    rest = parts[len(shown_parts) :]
    documents, tokens = sum(part.documents for part in parts), sum(part.words for part in parts)
    if form == "json":
        told = [part.to_dict() for part in shown_parts]
        left = LibraryPart("", sum(part.documents for part in rest), sum(part.words for part in rest))
        more = (
            {"rest": {"parts": len(rest), "documents": left.documents, "words": left.words}} if rest else {}
        )
        _json({"format": 1, "by": by, "documents": documents, "words": tokens, "parts": told, **more})
        return
    if form != "table":
        write_rows(form, (by, "documents", "words"), ([p.name, p.documents, p.words] for p in shown_parts))
        return
    lines = [(_part_name(part.name, by), part.documents, part.words) for part in shown_parts]
    if rest:
        told_rest = say("statistics_rest", number=len(rest))
        lines.append((told_rest, sum(part.documents for part in rest), sum(part.words for part in rest)))
    lines.append((say("statistics_all"), documents, tokens))
    rows = [
        [name, say.number(many), say.percent(many / max(1, documents)), say.number(length)]
        for name, many, length in lines
    ]
    _table(rows, by, "documents", "of_all", "words")


def _part_name(name: str, by: str) -> str:
    from doublet.reports.terminal import harmless

    if not name:
        return words()("statistics_unknown")
    return words().name("language", name) if by == "language" else harmless(name)


def _table(rows: list[list[str]], *columns: str) -> None:
    from doublet.cli.library import heads
    from doublet.reports.terminal import table

    if rows:
        write_text(table(rows, header=heads(*columns)))


def _json(facts: dict[str, Any]) -> None:
    from doublet.reports.json_report import json_document

    write_bytes([json_document(facts)])
