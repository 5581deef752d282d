"""``doublet library remove`` and ``rename``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doublet import config
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
)
from doublet.cli.exits import NOTHING_DONE, SOME_FAILED
from doublet.cli.language import words
from doublet.cli.later import later_option, put
from doublet.cli.progress import shown
from doublet.errors import UsageError
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.progress import Progress
    from doublet.store.database import Store
    from doublet.store.values import LibraryInfo


@click.command(
    "rename",
    cls=Command,
    example="doublet library rename drafts theses-2025",
    help="Give the library NAME the name NEW. Reports that were made before keep the old name.",
)
@click.argument("name", metavar="NAME")
@click.argument("new", metavar="NEW")
@settings_options("database")
@quiet_option
@common_options
def rename(*, name: str, new: str, quiet: bool, config_file: Path | None, **flags: Any) -> None:
    from doublet.cli.library import open_store

    with open_store(config.resolve(flags, file=config_file)) as store:
        store.libraries.rename(name, new)
    say(Note("library_renamed", name=name, new=new), quiet=quiet)


@click.command(
    "remove",
    cls=Command,
    example="""\
doublet library remove theses --document ivanov-2023.txt
doublet library remove theses --like '2019/*' --yes
doublet library remove news --source 3 --with-documents --yes
doublet library remove theses --duplicates reviewed.csv --yes
doublet library remove drafts --all --yes""",
    help="""Take documents out of the library NAME, or remove it with everything in it. With --duplicates,
    remove the documents that a reviewed list names as duplicates, each only while the one that is kept for it is still
    there.""",
)
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "--document", "ids", multiple=True, metavar="ID", help="Id of a document to take out; repeat it."
)
@click.option(
    "--like",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Documents whose id, title, address or source fits: * is anything; "
    "without * a part of it is enough; repeat it.",
)
@click.option(
    "--source",
    "sources",
    type=int,
    multiple=True,
    metavar="N",
    help="Forget the source with this number (`doublet library show` has it): its documents stay and are no longer "
    "updated.",
)
@click.option(
    "--with-documents",
    is_flag=True,
    help="With --source: remove its documents too, except those that another source has.",
)
@click.option(
    "--duplicates",
    type=PATH,
    metavar="LIST",
    help="The duplicates of a reviewed list, as `doublet library duplicates --groups` or its page wrote it.",
)
@click.option("--all", "everything", is_flag=True, help="The whole library.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@later_option
@settings_options("database")
@format_option("table", "json")
@quiet_option
@common_options
def remove(
    *,
    name: str | None,
    ids: tuple[str, ...],
    patterns: tuple[str, ...],
    sources: tuple[int, ...],
    with_documents: bool,
    duplicates: Path | None,
    everything: bool,
    yes: bool,
    later: bool,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    from doublet.cli.library import open_store

    some = bool(ids or patterns or sources)
    if duplicates is not None and (some or everything):
        raise UsageError("remove_list_alone")
    if duplicates is None and some == everything:
        raise UsageError("say_what_to_remove")
    if name is None and duplicates is None:
        raise UsageError("remove_needs_name")
    if with_documents and not sources:
        raise UsageError("documents_need_source")
    if later and not everything:
        raise UsageError("later_whole_library")
    resolved = config.resolve(flags, file=config_file)
    with open_store(resolved) as store:
        if everything and later:
            info = store.libraries.get(str(name))
            if not _sure(Note("library_sure_all", name=name, documents=info.documents), yes=yes):
                return _nothing(quiet)
            put(store, "delete", {"library": name}, form=form, quiet=quiet)
            return None
        with shown(quiet=quiet, colour=use_colour(resolved.settings.colour, sys.stderr)) as progress:
            if duplicates is not None:
                return _reviewed(store, name, duplicates, progress, yes=yes, form=form, quiet=quiet)
            info = store.libraries.get(str(name))
            if everything:
                return _whole(store, info, progress, yes=yes, form=form, quiet=quiet)
            return _some(
                store,
                info,
                ids,
                patterns,
                sources if with_documents else (),
                () if with_documents else sources,
                progress,
                yes=yes,
                form=form,
                quiet=quiet,
            )


def _whole(
    store: Store, info: LibraryInfo, progress: Progress, *, yes: bool, form: str, quiet: bool
) -> int | None:
    if not _sure(Note("library_sure_all", name=info.name, documents=info.documents), yes=yes):
        return _nothing(quiet)
    gone = store.libraries.delete(
        info.name, lambda done, total: progress.step("removing", done, total, "documents")
    )
    _answer(form, {"library": info.name, "documents": gone})
    say(Note("library_removed_whole", name=info.name, documents=gone), quiet=quiet or form == "json")
    return None


def _some(
    store: Store,
    info: LibraryInfo,
    ids: tuple[str, ...],
    patterns: tuple[str, ...],
    emptied: tuple[int, ...],
    forgotten: tuple[int, ...],
    progress: Progress,
    *,
    yes: bool,
    form: str,
    quiet: bool,
) -> int | None:
    known = {source.number: source for source in store.sources.all(info.number)}
    for number in (*emptied, *forgotten):
        if number not in known:
            raise UsageError("library_has_no_source", name=info.name, number=number)
    found = {like: [one.id for one in store.documents.find(info.name, like)] for like in patterns}
    wanted = list(dict.fromkeys([*ids, *(id for those in found.values() for id in those)]))
    many = len(wanted) + sum(known[number].documents for number in emptied)
    asked = bool(patterns or emptied)  # what was named one by one needs no question
    if asked and many and not _sure(Note("library_sure_some", name=info.name, documents=many), yes=yes):
        return _nothing(quiet)
    told = quiet or form == "json"
    for number in forgotten:
        store.sources.forget(number)
        say(Note("library_source_forgotten", name=info.name, address=known[number].address), quiet=told)
    gone = 0
    for number in emptied:
        before = gone
        gone += store.sources.remove(
            number,
            lambda done, before=before: progress.step("removing", before + done, many, "documents"),  # type: ignore[misc]
        )
        values = {"name": info.name, "address": known[number].address, "documents": gone - before}
        say(Note("library_removed_source", **values), quiet=told)
    there = set(store.documents.remove(info.name, wanted)) if wanted else set()
    missing = [id for id in ids if id not in there]
    empty = [like for like, those in found.items() if not those]
    if wanted:
        say(Note("library_removed_documents", name=info.name, documents=len(there)), quiet=told)
    for id in missing:
        say(Note("library_has_no_document", name=info.name, id=id, nearest=""))
    for like in empty:
        say(Note("library_nothing_like", name=info.name, like=like))
    _answer(
        form,
        {
            "library": info.name,
            "documents": gone + len(there),
            "removed": sorted(there),
            "missing": missing,
            "forgotten": [*forgotten, *emptied],
        },
    )
    if not missing and not empty:
        return None
    return SOME_FAILED if there or emptied or forgotten else NOTHING_DONE


def _reviewed(
    store: Store, name: str | None, path: Path, progress: Progress, *, yes: bool, form: str, quiet: bool
) -> int | None:
    from doublet.jobs.tend_library import read_duplicates, remove_duplicates
    from doublet.reports.terminal import harmless

    rows = read_duplicates(path)
    if name is not None:
        store.libraries.get(name)
    if rows and not _sure(Note("library_sure_list", documents=len(rows)), yes=yes):
        return _nothing(quiet)
    found = remove_duplicates(store, rows, library=name, progress=progress)
    if form == "json":
        write_bytes([_json(found.to_dict())])
    else:
        for row in found.outcomes:
            say(f"{harmless(row.id)}: {words().say(row.reason)}")
        values = {"documents": len(found.removed), "left": len(found.outcomes)}
        say(Note("library_list_removed", **values), quiet=quiet)
    if not found.outcomes:
        return None
    return SOME_FAILED if found.removed else NOTHING_DONE


def _nothing(quiet: bool) -> int:
    say(Note("library_nothing_removed"), quiet=quiet)
    return NOTHING_DONE


def _answer(form: str, facts: dict[str, Any]) -> None:
    if form == "json":
        write_bytes([_json({"format": 1, **facts})])


def _json(facts: dict[str, Any]) -> bytes:
    from doublet.reports.json_report import json_document

    return json_document(facts)


def _sure(question: Note, *, yes: bool) -> bool:
    """Whether the user wants it. Raises `UsageError` where nobody can be asked."""
    if yes:
        return True
    from doublet.reports.terminal import harmless_lines

    told = words().say(question)
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("confirm_with_yes", question=told)
    return click.confirm(harmless_lines(told), err=True)
