"""``doublet library add``, ``update`` and ``add-list``: documents from folders, files and the web into libraries."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doublet import config
from doublet.addresses import WebAddress, is_address
from doublet.cli import remote
from doublet.cli.base import (
    Command,
    common_options,
    format_option,
    quiet_option,
    say,
    settings_options,
    use_colour,
    write_bytes,
    write_text,
)
from doublet.cli.exits import NOTHING_DONE, SOME_FAILED
from doublet.cli.language import words
from doublet.cli.later import later_option, put
from doublet.cli.progress import shown
from doublet.cli.web import ask_for_contact, fetching, web_options
from doublet.errors import DoubletError, InvalidParameter, UsageError
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.client import Client
    from doublet.jobs.add_list import Listed, ListResult
    from doublet.jobs.add_source import Filled, Filling
    from doublet.store.values import JobInfo

KINDS = ("auto", "folder", "file", "sitemap", "feed", "oai", "wiki", "page", "list")
_FIELDS = {"id_field": "id", "text_field": "text", "title_field": "title", "address_field": "address"}


def filling_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How to fill, for all three commands."""
    options = (
        click.option(
            "--limit", type=click.IntRange(1), metavar="N", help="Fetch and read so many documents at most."
        ),
        click.option(
            "--again", is_flag=True, help="Fetch and read everything again, whatever is known of it."
        ),
        click.option(
            "--keep-duplicates/--skip-duplicates",
            "keep_duplicates",
            default=None,
            help="Whether to store a document with the same words as another one of the library. [default: skip for "
            "pages, feeds and sitemaps; keep for everything else]",
        ),
        click.option(
            "--keep-gone", is_flag=True, help="Leave documents in the library that are gone at the source."
        ),
        click.option("--ocr", is_flag=True, help="Recognise the text of scanned PDF pages with Tesseract."),
        click.option(
            "--strict", is_flag=True, help="Exit with 3 when a document could not be fetched or read."
        ),
        click.option("--every", is_flag=True, help="In the JSON, give the state of every document."),
    )
    for option in reversed(options):
        function = option(function)
    return settings_options("min_words", "database")(function)


def filling_of(settings: config.Settings, flags: dict[str, Any]) -> Filling:
    """Takes its own options out of *flags*; the rest are settings."""
    from doublet.jobs.add_source import Filling

    names = ("limit", "again", "keep_duplicates", "keep_gone", "ocr", "every")
    if flags.get("ocr"):
        from doublet.sources.ocr import require

        require()
    return Filling(min_words=settings.min_words, **{name: flags[name] for name in names})


_OWN = ("limit", "again", "keep_duplicates", "keep_gone", "ocr", "every", "strict")


def split(flags: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Own options, and flags that are settings."""
    own = {name: flags.pop(name) for name in _OWN}
    return own, flags


@click.command(
    "add",
    cls=Command,
    example="""\
doublet library add theses theses-2024/ --create
doublet library add theses theses.jsonl --id-field url
doublet library add news https://example.org/feed.xml
doublet library add papers https://repository.example.org/oai --set theses --from 2024-01-01""",
    help="""Put the documents of each SOURCE into the library NAME: a folder or a file (any format that can be read, an
    archive, a WARC file, a table of JSON lines, JSON, CSV or Parquet), standard input (-), or an address on the web: a
    site with a sitemap, a feed, an OAI-PMH repository, a MediaWiki, a page. Doublet finds out what it is, unless --kind
    says it.
    New documents are stored, changed ones replaced, equal ones left alone; those that are gone from a folder are
    removed. A command that was stopped can be run again: it goes on where it was.""",
)
@click.argument("name", metavar="NAME")
@click.argument("inputs", metavar="SOURCE...", nargs=-1, required=True)
@click.option("--create", "make", is_flag=True, help="Make the library when it is not there.")
@click.option(
    "--kind", type=click.Choice(KINDS), default="auto", show_default=True, help="What kind of source it is."
)
@click.option(
    "--only", multiple=True, metavar="TEXT", help="Sitemaps and feeds: only addresses with this in them."
)
@click.option(
    "--unlisted",
    type=click.Choice(["check", "keep", "remove"]),
    help="Sitemaps: of pages that leave them, keep what is still there (check), keep all, or remove them.",
)
@click.option(
    "--set", "sets", multiple=True, metavar="SET", help="OAI-PMH: only this set; repeat it for more."
)
@click.option("--from", "since", metavar="DATE", help="OAI-PMH: only records changed on or after this day.")
@click.option("--until", metavar="DATE", help="OAI-PMH: only records changed on or before this day.")
@click.option("--records-only", is_flag=True, help="OAI-PMH: only the records themselves, no full texts.")
@click.option("--category", metavar="TITLE", help="MediaWiki: only pages of this category.")
@click.option(
    "--depth", type=click.IntRange(0), metavar="N", help="MediaWiki: subcategories so many levels down."
)
@click.option("--search", metavar="TEXT", help="MediaWiki: only pages that a search for this finds.")
@click.option(
    "--title", "titles", multiple=True, metavar="TITLE", help="MediaWiki: only this page; repeat it."
)
@click.option(
    "--whole-page",
    is_flag=True,
    help="Of web pages, read menus, footers and comments too; updates of this source do the same.",
)
@click.option("--id-field", default="id", show_default=True, help="Field of a record with its id.")
@click.option("--text-field", default="text", show_default=True, help="Field of a record with its text.")
@click.option("--time-field", metavar="FIELD", help="Field of a record with its time.")
@click.option("--source-field", metavar="FIELD", help="Field of a record with its source or author.")
@click.option("--title-field", default="title", show_default=True, help="Field of a record with its title.")
@click.option(
    "--address-field", default="address", show_default=True, help="Field of a record with its address."
)
@filling_options
@web_options
@later_option
@format_option("table", "json")
@quiet_option
@common_options
def add(
    *,
    name: str,
    inputs: tuple[str, ...],
    make: bool,
    kind: str,
    later: bool,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    from doublet.cli.library import open_store

    server = remote.client_here()
    if server is not None:
        remote.refuse_others("name", "inputs", "make", "kind", "later", "form", "quiet")
        with server:
            begun = remote.add(server, name, inputs, kind, make=make)
            if later:
                for job in begun:
                    remote.tell_number(job, form=form, quiet=quiet)
                return None
            return _tell_jobs([remote.job_info(server.wait_job(int(job["number"]))) for job in begun], form)
    whole = {"whole_page": True} if flags.pop("whole_page") else {}
    options = _source_options(flags)
    own, rest = split(flags)
    resolved = config.resolve(rest, file=config_file)
    settings = resolved.settings
    filling = filling_of(settings, own)
    if kind == "list":
        raise UsageError("use_add_list")
    local = {key: value for key, value in options.items() if key in (*_FIELDS, "time_field", "source_field")}
    web = {key: value for key, value in options.items() if key not in local}
    if whole and "-" in inputs:
        raise UsageError("whole_page_standard_input")
    if any(map(is_address, inputs)):
        ask_for_contact(settings, quiet=quiet)
    done: list[Filled] = []
    failed: list[tuple[str, DoubletError]] = []
    with open_store(resolved, create=make) as store:
        if make and name not in {info.name for info in store.libraries.all()}:
            store.libraries.create(name)
        store.libraries.get(name)
        if later:
            for given in dict.fromkeys(inputs):
                if given == "-":
                    raise UsageError("later_standard_input")
                is_web = is_address(given) or kind not in ("auto", "folder", "file")
                work: dict[str, Any] = {
                    "library": name,
                    "address": given if is_web else str(Path(given).absolute()),
                }
                # The ids of a file's documents begin with its name as it was given here.
                file = {} if is_web or not Path(given).is_file() else {"prefix": given}
                work |= {
                    "kind": kind,
                    "options": (web if is_web else local | file) | whole,
                    "filling": _kept(filling),
                }
                put(store, "fill", work, form=form, quiet=quiet)
            return None
        with (
            shown(quiet=quiet, colour=use_colour(settings.colour, sys.stderr)) as progress,
            fetching(settings, progress) as fetcher,
        ):
            from doublet.jobs.fill_sources import NotFilled, StandardInput, fill_sources

            sources = [
                StandardInput() if given == "-" else WebAddress(given) if is_address(given) else Path(given)
                for given in dict.fromkeys(inputs)
            ]
            if web and kind in ("auto", "folder", "file"):
                for given in inputs:
                    if not is_address(given):
                        raise InvalidParameter("option_for_web", given=given, web=_flag(next(iter(web))))
            for found in fill_sources(
                store,
                name,
                sources,
                kind=kind,
                local_options=local,
                web_options=web,
                reading=whole,
                fetcher=fetcher,
                filling=filling,
                progress=progress,
            ):
                if not isinstance(found, NotFilled):
                    done.append(found)
                elif len(inputs) == 1:
                    raise found.error
                else:
                    failed.append((found.address, found.error))
        documents = store.libraries.get(name).documents
    return _finish(name, done, failed, documents, form=form, strict=own["strict"], quiet=quiet)


def _tell_jobs(jobs: list[JobInfo], form: str) -> int | None:
    """What came of work that a service did."""
    from doublet.reports.json_report import json_document
    from doublet.reports.queue_terminal import job_table

    if form == "json":
        told = [{**job.to_dict(), "result": job.result} for job in jobs]
        write_bytes([json_document({"format": 1, "jobs": told})])
    else:
        write_text("\n".join(job_table(job, language=words().language) for job in jobs))
    failed = [job for job in jobs if job.state != "done"]
    return (NOTHING_DONE if len(failed) == len(jobs) else SOME_FAILED) if failed else None


@click.command(
    "update",
    cls=Command,
    example="doublet library update theses\ndoublet library update",
    help="""Walk all sources of the libraries NAME... (or of all libraries) again: fetch what is new or changed, remove
    what is gone. `doublet library show NAME` lists the sources.""",
)
@click.argument("names", metavar="[NAME...]", nargs=-1)
@click.option(
    "--source", "numbers", type=int, multiple=True, metavar="N", help="Only the source with this number."
)
@filling_options
@web_options
@later_option
@format_option("table", "json")
@quiet_option
@common_options
def update(
    *,
    names: tuple[str, ...],
    numbers: tuple[int, ...],
    later: bool,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    from doublet.cli.library import open_store
    from doublet.jobs.add_source import is_web_kind
    from doublet.jobs.fill_sources import NotFilled, update_libraries

    server = remote.client_here()
    if server is not None:
        remote.refuse_others("names", "numbers", "later", "form", "quiet", *_OWN, "min_words")
        with server:
            return _update_there(server, names, numbers, flags, later=later, form=form, quiet=quiet)
    own, rest = split(flags)
    resolved = config.resolve(rest, file=config_file)
    settings = resolved.settings
    filling = filling_of(settings, own)
    results: list[Filled] = []
    failed: list[tuple[str, DoubletError]] = []
    with (
        open_store(resolved) as store,
        shown(quiet=quiet, colour=use_colour(settings.colour, sys.stderr)) as progress,
        fetching(settings, progress) as fetcher,
    ):
        wanted = [store.libraries.get(name).name for name in names] or [
            info.name for info in store.libraries.all()
        ]
        sources = {name: store.sources.all(store.libraries.get(name).number) for name in wanted}
        if not any(sources.values()):
            raise UsageError("no_sources_to_update", wanted=", ".join(wanted) or Note("the_database"))
        unknown = set(numbers) - {info.number for infos in sources.values() for info in infos}
        if unknown:
            raise UsageError("no_such_source", unknown=min(unknown))
        if later:
            for name in wanted:
                own_numbers = [info.number for info in sources[name] if not numbers or info.number in numbers]
                if own_numbers:
                    work = {"library": name, "sources": own_numbers, "filling": _kept(filling)}
                    put(store, "fill", work, form=form, quiet=quiet)
            return None
        if any(is_web_kind(info.kind) for infos in sources.values() for info in infos):
            ask_for_contact(settings, quiet=quiet)
        for found in update_libraries(
            store, wanted, fetcher=fetcher, filling=filling, progress=progress, sources=numbers or None
        ):
            if isinstance(found, NotFilled):
                failed.append((found.address, found.error))
                say(Note("said_of", name=found.library, what=found.error.note))
                continue
            results.append(found)
            if form == "table":
                _show(found, quiet=quiet)
    return _updated(results, failed, form, strict=own["strict"])


def _updated(
    results: list[Filled], failed: list[tuple[str, DoubletError]], form: str, *, strict: bool
) -> int | None:
    from doublet.reports.json_report import json_document

    if form == "json":
        errors = [{"address": address, **error.to_dict()} for address, error in failed]
        write_bytes(
            [json_document({"format": 1, "sources": [r.to_dict() for r in results], "errors": errors})]
        )
    return _code(results, failed, strict=strict)


def _update_there(
    server: Client,
    names: tuple[str, ...],
    numbers: tuple[int, ...],
    flags: dict[str, Any],
    *,
    later: bool,
    form: str,
    quiet: bool,
) -> int | None:
    """The same walks by a service."""
    from doublet.jobs.add_source import Filled

    wanted = list(names) or [one["name"] for one in server.libraries()]
    there = {name: [int(one["number"]) for one in server.sources(name)] for name in wanted}
    if not any(there.values()):
        raise UsageError("no_sources_to_update", wanted=", ".join(wanted) or server.server)
    unknown = set(numbers) - {number for some in there.values() for number in some}
    if unknown:
        raise UsageError("no_such_source", unknown=min(unknown))
    filling = {name: flags[name] for name in (*_OWN, "min_words") if name != "strict" and flags[name]}
    begun = []
    for name, some in there.items():
        chosen = [number for number in some if not numbers or number in numbers]
        if chosen:
            begun.append((name, server.update(name, sources=chosen if numbers else (), **filling)))
    if later:
        for _, job in begun:
            remote.tell_number(job, form=form, quiet=quiet)
        return None
    results: list[Filled] = []
    failed: list[tuple[str, DoubletError]] = []
    for name, job in begun:
        ended = remote.job_info(server.wait_job(int(job["number"])))
        if ended.state != "done":
            failed.append((name, remote.not_done(server, ended)))
        for row in ended.result["sources"] if ended.state == "done" else ():
            if "error" in row:
                failed.append((row["address"], remote.refused(server, row["error"]["message"])))
                continue
            results.append(Filled.from_dict(row))
            if form == "table":
                _show(results[-1], quiet=quiet)
    for given, error in failed:
        say(Note("said_of", name=given, what=error.note))
    return _updated(results, failed, form, strict=bool(flags["strict"]))


@click.command(
    "add-list",
    cls=Command,
    example="""\
doublet library add-list repositories.csv
doublet library add-list feeds.opml --fill""",
    help="""Make a library of each entry of the list FILE: a table with a column of addresses (as exported from a
    registry of repositories; a column of OAI-PMH addresses counts before one of home pages), an OPML file of feeds, or
    addresses, one a line. Each address is asked what it is. `doublet library update` then fills the libraries; --fill
    does so at once.""",
)
@click.argument("file", metavar="FILE")
@click.option("--fill", is_flag=True, help="Fill the libraries at once.")
@click.option("--prefix", default="", metavar="TEXT", help="Put this before the names of the libraries.")
@filling_options
@web_options
@format_option("table", "json")
@quiet_option
@common_options
def add_list(
    *,
    file: str,
    fill: bool,
    prefix: str,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    from doublet.cli.library import open_store
    from doublet.jobs.add_list import ListResult
    from doublet.jobs.add_list import add_list as add_all

    server = remote.client_here()
    if server is not None:
        remote.refuse_others("file", "fill", "prefix", "form", "quiet")
        with server:
            job = server.add_list(Path(file), prefix=prefix, fill=fill)
            listed = ListResult.from_dict(remote.finished(server, job).result)
        return _tell_list(listed, form, fill=fill, strict=False, quiet=quiet)
    own, rest = split(flags)
    resolved = config.resolve(rest, file=config_file)
    settings = resolved.settings
    filling = filling_of(settings, own)
    ask_for_contact(settings, quiet=quiet)
    with (
        open_store(resolved, create=True) as store,
        shown(quiet=quiet, colour=use_colour(settings.colour, sys.stderr)) as progress,
        fetching(settings, progress) as fetcher,
    ):
        listed = add_all(
            store, file, fetcher=fetcher, prefix=prefix, filling=filling if fill else None, progress=progress
        )
    return _tell_list(listed, form, fill=fill, strict=own["strict"], quiet=quiet)


def _tell_list(listed: ListResult, form: str, *, fill: bool, strict: bool, quiet: bool) -> int | None:
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import table

    for note in listed.notes:
        say(note, quiet=quiet)
    if form == "json":
        write_bytes([json_document(listed.to_dict())])
    else:
        rows = [
            [row.name, row.kind or "-", row.address, row.error or _became(row, filled=fill)]
            for row in listed.rows
        ]
        heads = ("library", "kind", "address", "how_it_ended")
        write_text(table(rows, header=[words().name("head", one) for one in heads]))
        made = "lists_made" if fill or not listed.made else "lists_made_empty"
        write_text(f"{words()(made, libraries=listed.made)}\n")
    bad = sum(1 for row in listed.rows if row.error)
    if bad and bad == len(listed.rows):
        return NOTHING_DONE
    problems = bad or any(row.filled is not None and row.filled.problems for row in listed.rows)
    return SOME_FAILED if bad or (strict and problems) else None


def _kept(filling: Filling) -> dict[str, Any]:
    """How to fill, as a job remembers it."""
    return dataclasses.asdict(filling)


def _source_options(flags: dict[str, Any]) -> dict[str, Any]:
    """What was asked of the source, by the names that sources use; what was not asked is left out."""
    out: dict[str, Any] = {}
    for key in ("only", "sets", "titles"):
        value = flags.pop(key)
        if value:
            out[key] = list(value)
    for key in ("since", "until", "category", "search", "depth", "unlisted", "time_field", "source_field"):
        value = flags.pop(key)
        if value is not None:
            out[key] = value
    if flags.pop("records_only"):
        out["full_text"] = False
    for key, usual in _FIELDS.items():
        value = flags.pop(key)
        if value != usual:
            out[key] = value
    return out


def _flag(option: str) -> str:
    return {"sets": "set", "since": "from", "titles": "title", "full_text": "records-only"}.get(
        option, option
    )


def _finish(
    name: str,
    done: list[Filled],
    failed: list[tuple[str, DoubletError]],
    documents: int,
    *,
    form: str,
    strict: bool,
    quiet: bool,
) -> int | None:
    from doublet.reports.json_report import json_document

    if form == "json":
        total: Counter[str] = sum((filled.counts for filled in done), Counter())
        facts: dict[str, Any] = {"format": 1, "library": name, "documents": documents}
        facts |= {state: total[state] for state in ("stored", "changed", "unchanged")}
        facts |= {"counts": dict(sorted((+total).items()))}
        facts |= {"outcomes": [row.to_dict() for filled in done for row in filled.outcomes]}
        facts |= {"sources": [filled.to_dict() for filled in done]}
        facts |= {"errors": [{"address": given, **error.to_dict()} for given, error in failed]}
        write_bytes([json_document(facts)])
    else:
        for filled in done:
            _show(filled, quiet=quiet, several=len(done) > 1)
        write_text(f"{words()('library_has', name=name, documents=documents)}\n")
    for given, error in failed:
        told = words().say(error.note)
        say(told if given in told else f"{given}: {told}")
    return _code(done, failed, strict=strict)


def _became(row: Listed, *, filled: bool) -> str:
    if filled and row.filled is not None:
        counts = row.filled.counts.most_common()
        told = [words()("library_state", state=state, number=many) for state, many in counts]
        return ", ".join(told) or words()("list_empty")
    return words()("list_made" if row.made else "list_was_there")


def _show(filled: Filled, *, quiet: bool, several: bool = True) -> None:
    """The summary of one source on standard output, and what to look at on standard error."""
    from doublet.reports.terminal import outcomes, table

    if several:
        write_text(f"{filled.library}, {filled.kind} {filled.address}\n")
    order = ["stored", "changed", "unchanged", "duplicate", "unlisted", "gone", "removed", "too_short"]
    states = [*order, *sorted(set(filled.counts) - set(order))]
    rows = [
        [f"  {words().name('record', state)}", words().number(filled.counts[state])]
        for state in states
        if filled.counts[state]
    ]
    write_text(table(rows) if rows else f"  {words()('nothing_new')}\n")
    for note in filled.notes:
        say(note, quiet=quiet)
    told = outcomes(filled.outcomes, language=words().language).rstrip("\n")
    if told:
        say(told, quiet=quiet)
    if filled.counts["too_short"]:
        say(Note("take_short_texts"), quiet=quiet)
    if filled.message:
        say(Note("broken_off", address=filled.address, why=filled.message))


def _code(done: list[Filled], failed: list[tuple[str, DoubletError]], *, strict: bool) -> int | None:
    problems = sum(filled.problems for filled in done)
    good = sum(filled.good for filled in done)
    if (problems or failed) and not good:
        return NOTHING_DONE
    if failed or any(filled.message for filled in done) or (strict and problems):
        return SOME_FAILED
    return None
