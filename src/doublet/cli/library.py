"""``doublet library``: make libraries, put documents in, look at them, take documents out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from doublet import config
from doublet.cli import (
    library_add,
    library_backup,
    library_crawl,
    library_duplicates,
    library_look,
    library_remove,
    remote,
)
from doublet.cli.base import (
    PATH,
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
from doublet.cli.exits import SOME_FAILED
from doublet.cli.help import Group
from doublet.cli.language import words
from doublet.cli.later import later_option, put
from doublet.cli.progress import shown
from doublet.cli.rows import write_rows
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.config import Resolved
    from doublet.store.database import Store
    from doublet.store.values import Finding, LibraryInfo

EXAMPLE = """\
doublet library create theses
doublet library add theses theses-2023/ theses-2024.jsonl
doublet library add news https://example.org/feed.xml --create
doublet library crawl stories https://example.org/ --only post --create
doublet check essay.txt --library theses"""


class LibraryGroup(Group):
    example = EXAMPLE


@click.group(cls=LibraryGroup, help="Keep documents in libraries, to check against again and again.")
def command() -> None:
    pass


def open_store(resolved: Resolved, *, create: bool = False) -> Store:
    """The store of the settings. The file of the user's own folder is made when it is first asked for."""
    from doublet.store.database import Store

    server = remote.client_here()
    if server is not None:
        return cast("Store", remote.RemoteStore(server))
    remote.require_local("library")
    address = resolved.settings.database or config.default_database()
    return Store(address, create=create or resolved.settings.database is None)


def database_options(function: Callable[..., Any]) -> Callable[..., Any]:
    return settings_options("database")(function)


NAME = click.argument("name", metavar="NAME")

command.add_command(library_look.documents)
command.add_command(library_look.document)
command.add_command(library_look.statistics)
command.add_command(library_duplicates.duplicates)
command.add_command(library_remove.remove)
command.add_command(library_remove.rename)
command.add_command(library_backup.backup)
command.add_command(library_backup.restore)
command.add_command(library_add.add)
command.add_command(library_add.update)
command.add_command(library_add.add_list)
command.add_command(library_crawl.crawl)
command.add_command(library_crawl.refresh)
command.add_command(library_crawl.pages)


@command.command(
    "create",
    cls=Command,
    example='doublet library create theses --note "Faculty of history, from 2019 on"',
    help="Make a new, empty library called NAME.",
)
@NAME
@click.option("--address", default="", metavar="TEXT", help="Where its documents come from, for people.")
@click.option("--note", default="", metavar="TEXT", help="What it holds, for people.")
@database_options
@quiet_option
@common_options
def create(
    *, name: str, address: str, note: str, quiet: bool, config_file: Path | None, **flags: Any
) -> None:
    with open_store(config.resolve(flags, file=config_file), create=True) as store:
        store.libraries.create(name, address=address, note=note)
        say(Note("library_made", name=name, database=store.database.shown), quiet=quiet)


@command.command("list", cls=Command, example="doublet library list", help="List the libraries.")
@database_options
@format_option("table", "json", "jsonl", "csv")
@common_options
def list_(*, form: str, config_file: Path | None, **flags: Any) -> None:
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import table

    resolved = config.resolve(flags, file=config_file)
    with open_store(resolved) as store:
        told = [info.to_dict() for info in store.libraries.all()]
    if form == "json":
        write_bytes([json_document({"format": 1, "libraries": told})])
    elif form != "table":
        columns = ("name", "documents", "words", "size_bytes", "created", "changed", "address", "note")
        write_rows(form, columns, ([one[key] for key in columns] for one in told))
    elif not told:
        write_text(words()("library_list_empty") + "\n")
    else:
        number = words().number
        rows = [
            [i["name"], number(i["documents"]), number(i["words"]), i["changed"], i["note"] or i["address"]]
            for i in told
        ]
        write_text(table(rows, header=heads("library", "documents", "words", "changed", "note")))


@command.command(
    "show",
    cls=Command,
    example="doublet library show theses",
    help="""Show what is known about the library NAME: how much is in it, when it changed, how the records that were
    handed in ended, and where its documents come from.""",
)
@NAME
@database_options
@format_option("table", "json")
@common_options
def show(*, name: str, form: str, config_file: Path | None, **flags: Any) -> None:
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import table

    say = words()
    with open_store(config.resolve(flags, file=config_file)) as store:
        info = store.libraries.get(name)
        sources = store.sources.all(info.number)
        place = store.database.shown
    if form == "json":
        told = [source.to_dict() for source in sources]
        write_bytes([json_document({"format": 1, **info.to_dict(), "sources": told, "database": place})])
        return
    rows = [
        ["library", info.name],
        ["documents", say.number(info.documents)],
        ["words", say.number(info.words)],
        ["text", say.size(info.size_bytes)],
        ["created", info.created],
        ["changed", info.changed],
        *([["address", info.address]] if info.address else []),
        *([["note", info.note]] if info.note else []),
        ["database", place],
    ]
    told_rows = [[say.name("head", head), value] for head, value in rows]
    told_rows[-1:-1] = [
        [say("library_records", state=state), say.number(many)]
        for state, many in sorted(info.outcomes.items())
    ]
    write_text(table(told_rows))
    if sources:
        lines = [
            [
                *(str(one.number), one.kind, one.address, say.number(one.documents), one.ended or one.began),
                ", ".join(
                    [
                        say.name("source_state", one.status),
                        *(
                            say("library_state", state=state, number=many)
                            for state, many in sorted(one.outcomes.items())
                        ),
                    ]
                ),
            ]
            for one in sources
        ]
        write_text("\n")
        write_text(
            table(lines, header=heads("source", "kind", "address", "documents", "last_walk", "how_it_ended"))
        )
        for one in sources:
            if one.message:
                write_text(say("library_source_message", number=one.number, message=one.message) + "\n")


@command.command(
    "export",
    cls=Command,
    example="doublet library export theses --out theses.jsonl.gz",
    help="""Write all documents of the library NAME as JSON lines, with their texts as they were given. What was
    written can be added to another library.""",
)
@NAME
@click.option(
    "--out",
    type=PATH,
    default=Path("-"),
    metavar="FILE",
    help="Where to; .gz and .zst pack it.",
)
@database_options
@quiet_option
@common_options
def export(*, name: str, out: Path, quiet: bool, config_file: Path | None, **flags: Any) -> None:
    from doublet.jobs.library_export import export_lines
    from doublet.reports.output import open_output

    def write(lines: Iterable[bytes]) -> int:
        with open_output(out) as stream:
            return sum(some.count(b"\n") for some in lines if stream.write(some))

    server = remote.client_here()
    if server is not None:
        with server:
            server.library(name)  # before a file is begun
            done = write(server.export_library(name))
    else:
        with open_store(config.resolve(flags, file=config_file)) as store:
            store.libraries.get(name)
            done = write(export_lines(store, name))
    say(Note("library_written", documents=done), quiet=quiet)


@command.command(
    "verify",
    cls=Command,
    example="doublet library verify\ndoublet library verify theses --repair",
    help="""Check that index, statistics and signatures agree with the documents of the libraries NAME... (or of all).
    With --repair they are made again from the documents where they do not. Exits with 3 when something is wrong and was
    not mended.""",
)
@click.argument("names", metavar="[NAME...]", nargs=-1)
@click.option("--repair", is_flag=True, help="Mend what can be made from the documents again.")
@later_option
@database_options
@format_option("table", "json")
@quiet_option
@common_options
def verify(
    *,
    names: tuple[str, ...],
    repair: bool,
    later: bool,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    from doublet.store.values import Finding
    from doublet.store.verify import verify as look

    server = remote.client_here()
    if server is not None:
        with server:
            job = server.verify(names, repair=repair)
            if later:
                remote.tell_number(job, form=form, quiet=quiet)
                return None
            found = [Finding.from_dict(one) for one in remote.finished(server, job).result["findings"]]
            return _tell_findings(found, list(names) or [one["name"] for one in server.libraries()], form)
    resolved = config.resolve(flags, file=config_file)
    if later:
        with open_store(resolved) as store:
            wanted = [store.libraries.get(name).name for name in names] or None
            put(store, "verify", {"libraries": wanted, "repair": repair}, form=form, quiet=quiet)
        return None
    with (
        open_store(resolved) as store,
        shown(quiet=quiet, colour=use_colour(resolved.settings.colour, sys.stderr)) as progress,
    ):
        infos: list[LibraryInfo] = [store.libraries.get(name) for name in names] or store.libraries.all()
        findings = look(store, [info.name for info in infos], repair=repair, progress=progress)
    return _tell_findings(findings, [info.name for info in infos], form)


def _tell_findings(findings: list[Finding], names: list[str], form: str) -> int | None:
    from doublet.reports.json_report import json_document

    if form == "json":
        write_bytes([json_document({"format": 1, "findings": [one.to_dict() for one in findings]})])
    else:
        write_text("".join(_told(findings)) or words()("library_all_well", libraries=names) + "\n")
    return SOME_FAILED if any(not one.repaired for one in findings) else None


def heads(*names: str) -> list[str]:
    """Headings of columns in the language of this run."""
    return [words().name("head", name) for name in names]


def _told(findings: list[Any]) -> Iterator[str]:
    for one in findings:
        code = "library_finding_mended" if one.repaired else "library_finding"
        told = words()(code, library=one.library, kind=one.kind, message=one.message, number=one.count)
        yield told + "\n"
