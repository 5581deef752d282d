"""``doublet library crawl``, ``refresh`` and ``pages``: whole sites into libraries, and what became of each address."""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
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
    say,
    settings_options,
    use_colour,
    write_bytes,
    write_text,
)
from doublet.cli.exits import NOTHING_DONE
from doublet.cli.language import words
from doublet.cli.later import later_option, put
from doublet.cli.progress import shown
from doublet.cli.rows import write_rows
from doublet.cli.web import fetching, web_options
from doublet.errors import InvalidParameter, UsageError

if TYPE_CHECKING:
    from doublet.crawl.plan import Plan
    from doublet.jobs.crawl import Crawled
    from doublet.store.database import Store
    from doublet.store.values import SourceInfo


@click.command(
    "crawl",
    cls=Command,
    example="""\
doublet library crawl stories https://example.org/ --only post --preview
doublet library crawl stories https://example.org/ --only post --create
doublet library crawl papers https://example.org/ https://example.org/item?id=27 https://example.org/item?id=514
doublet library crawl stories https://example.org/ --pattern '/post/{number}/' --range 1-5000""",
    help="""Index the site at ADDRESS into the library NAME. Say with --only which text addresses of documents have in
    them, or name some documents after ADDRESS (or with --example). The pattern of addresses is found out: numbers are
    counted out, other sites are walked from link to link. --preview shows the plan, its size and how long it takes. A
    crawl that was stopped goes on when the same command is run again; a site that is known is looked through for what
    is new.""",
)
@click.argument("name", metavar="NAME")
@click.argument("address", metavar="ADDRESS")
@click.argument("more", metavar="[EXAMPLE]...", nargs=-1)
@click.option(
    "--only", multiple=True, metavar="TEXT", help="Text that addresses of documents contain; repeat it."
)
@click.option(
    "--example",
    "examples",
    multiple=True,
    metavar="ADDRESS",
    help="Address of a document; repeat it for other kinds.",
)
@click.option(
    "--skip", multiple=True, metavar="TEXT", help="Leave addresses with this text alone; repeat it."
)
@click.option(
    "--subdomains",
    is_flag=True,
    help="Take the hosts below that of ADDRESS too: blog.example.org belongs to example.org.",
)
@click.option(
    "--pattern",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Pattern of addresses of documents, such as /post/{number}/, instead of the one that would be found out.",
)
@click.option(
    "--range",
    "numbers",
    metavar="FROM-TO",
    help="Count the numbers of the pattern out from here to there, and take no others.",
)
@click.option("--preview", is_flag=True, help="Show what would be done, and store nothing.")
@click.option("--look-again", is_flag=True, help="Find the pattern of a known site out again.")
@click.option("--create", "make", is_flag=True, help="Make the library when it is not there.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Fetch so many pages at most, for now.")
@click.option(
    "--warc",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Keep the pages as they came, in WARC files in this folder.",
)
@later_option
@settings_options("min_words", "database")
@web_options
@format_option("table", "json")
@quiet_option
@common_options
def crawl(
    *,
    name: str,
    address: str,
    more: tuple[str, ...],
    only: tuple[str, ...],
    examples: tuple[str, ...],
    skip: tuple[str, ...],
    subdomains: bool,
    patterns: tuple[str, ...],
    numbers: str | None,
    preview: bool,
    look_again: bool,
    make: bool,
    limit: int | None,
    warc: Path | None,
    later: bool,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    from doublet.cli.library import open_store
    from doublet.crawl.plan import Plan
    from doublet.jobs.crawl import Crawled, Crawling, Wish, crawl_library
    from doublet.jobs.crawl import preview as look_only

    span = _range(numbers)
    examples = (*more, *examples)
    wish = Wish(only, examples, skip, tuple(map(_pattern, patterns)), span, subdomains)
    asked = {
        "only": only,
        "examples": examples,
        "skip": skip,
        "subdomains": subdomains,
        "patterns": patterns,
        "numbers": span,
    }
    server = remote.client_here()
    if server is not None:
        remote.refuse_others(
            *("name", "address", "more", "preview", "make", "limit", "later", "form", "quiet"),
            *("only", "examples", "skip", "subdomains", "patterns", "numbers"),
        )
        with server:
            if preview:
                plan = Plan.from_dict(remote.finished(server, server.preview_site(address, **asked)).result)
                _tell_plan(plan, form)
                return None
            if make:
                remote.make_library(server, name)
            job = server.crawl(name, address, limit=limit, **asked)
            if later:
                remote.tell_number(job, form=form, quiet=quiet)
                return None
            made = Crawled.from_dict(remote.finished(server, job).result)
            return _tell_crawled(made, int(server.library(name)["documents"]), form)
    resolved = config.resolve(flags, file=config_file)
    settings = resolved.settings
    colour = use_colour(settings.colour, sys.stderr)
    if preview:
        with shown(quiet=quiet, colour=colour) as progress, fetching(settings, progress) as fetcher:
            plan = look_only(address, fetcher=fetcher, wish=wish, progress=progress)
        _tell_plan(plan, form)
        return None
    with open_store(resolved, create=make) as store:
        if make and name not in {info.name for info in store.libraries.all()}:
            store.libraries.create(name)
        store.libraries.get(name)
        if later:
            parameters = {
                "library": name,
                "address": address,
                **asked,
                "limit": limit,
                "warc": str(warc) if warc else None,
            }
            put(
                store,
                "crawl",
                {key: value for key, value in parameters.items() if value},
                form=form,
                quiet=quiet,
            )
            return None
        crawling = Crawling(limit=limit, min_words=settings.min_words, warc=warc, look_again=look_again)
        with shown(quiet=quiet, colour=colour) as progress, fetching(settings, progress) as fetcher:
            made = crawl_library(
                store, name, address, fetcher=fetcher, wish=wish, crawling=crawling, progress=progress
            )
        documents = store.libraries.get(name).documents
    return _tell_crawled(made, documents, form)


def _tell_plan(plan: Plan, form: str) -> None:
    from doublet.reports.json_report import json_document

    if form == "json":
        write_bytes([json_document({"format": 1, **plan.to_dict()})])
    else:
        _show_plan(plan)


def _tell_crawled(made: Crawled, documents: int, form: str) -> int | None:
    from doublet.reports.json_report import json_document

    if form == "json":
        write_bytes([json_document(made.to_dict())])
    else:
        _show_crawled(made, documents)
    return NOTHING_DONE if not documents else None


@click.command(
    "refresh",
    cls=Command,
    example="doublet library refresh stories\ndoublet library refresh stories --all --limit 1000",
    help="""Ask again for the pages of the crawled sites of the library NAME that are due, and for the front pages,
    sitemaps and feeds. A page that changed is due again sooner, one that did not, later.""",
)
@click.argument("name", metavar="NAME")
@click.option("--all", "everything", is_flag=True, help="Ask for all pages, whether they are due or not.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Fetch so many pages at most, for now.")
@later_option
@settings_options("min_words", "database")
@web_options
@format_option("table", "json")
@quiet_option
@common_options
def refresh(
    *,
    name: str,
    everything: bool,
    limit: int | None,
    later: bool,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> None:
    from doublet.cli.library import open_store
    from doublet.jobs.crawl import Crawled, Crawling, refresh_library

    server = remote.client_here()
    if server is not None:
        remote.refuse_others("name", "everything", "limit", "later", "form", "quiet")
        with server:
            job = server.refresh(name, everything=everything, limit=limit)
            if later:
                remote.tell_number(job, form=form, quiet=quiet)
                return
            made = [Crawled.from_dict(one) for one in remote.finished(server, job).result["sites"]]
            _tell_refreshed(made, int(server.library(name)["documents"]), form)
        return
    resolved = config.resolve(flags, file=config_file)
    settings = resolved.settings
    with open_store(resolved) as store:
        if later:
            parameters = {"library": name, "limit": limit, "everything": everything}
            put(
                store,
                "refresh",
                {key: value for key, value in parameters.items() if value},
                form=form,
                quiet=quiet,
            )
            return
        colour = use_colour(settings.colour, sys.stderr)
        with shown(quiet=quiet, colour=colour) as progress, fetching(settings, progress) as fetcher:
            crawling = Crawling(limit=limit, min_words=settings.min_words)
            made = refresh_library(
                store, name, fetcher=fetcher, crawling=crawling, progress=progress, everything=everything
            )
        documents = store.libraries.get(name).documents
    _tell_refreshed(made, documents, form)


def _tell_refreshed(made: list[Crawled], documents: int, form: str) -> None:
    from doublet.reports.json_report import json_document

    if form == "json":
        write_bytes([json_document({"format": 1, "sites": [one.to_dict() for one in made]})])
    else:
        for one in made:
            _show_crawled(one, documents)


@click.command(
    "pages",
    cls=Command,
    example="doublet library pages stories\ndoublet library pages stories --state failed --log --format csv",
    help="""What became of the addresses that the robot met on the sites of the library NAME: how many in each state,
    errors by kind with examples, links that were not followed, and what was found how far from the front page.
    --log lists every address.""",
)
@click.argument("name", metavar="NAME")
@click.option("--log", "every", is_flag=True, help="List the addresses, with what became of each and why.")
@click.option(
    "--state", "states", multiple=True, metavar="STATE", help="Only addresses in this state; repeat it."
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="So many lines of the log at most.")
@settings_options("database")
@format_option("table", "json", "jsonl", "csv")
@common_options
def pages(
    *,
    name: str,
    every: bool,
    states: tuple[str, ...],
    limit: int | None,
    form: str,
    config_file: Path | None,
    **flags: Any,
) -> None:
    from doublet.cli.library import open_store
    from doublet.jobs.crawl import site_pages
    from doublet.store.frontier import STATES

    for state in states:
        if state not in STATES:
            raise InvalidParameter("crawl_unknown_page_state", state=state, known=list(STATES))
    server = remote.client_here()
    if server is not None:
        with server:
            if every or states:
                _write_log(itertools.islice(server.page_log(name, states), limit), form)
                return
            told = server.pages(name)
        if not told:
            raise UsageError("crawl_no_site", library=name)
        _write_sites(told, form)
        return
    with open_store(config.resolve(flags, file=config_file)) as store:
        sources = [one for one in store.sources.all(store.libraries.get(name).number) if one.kind == "crawl"]
        if not sources:
            raise UsageError("crawl_no_site", library=name)
        if every or states:
            _write_log(_log(store, sources, states, limit), form)
            return
        told = [site_pages(store, one) for one in sources]
    _write_sites(told, form)


def _write_sites(told: list[dict[str, Any]], form: str) -> None:
    from doublet.reports.json_report import json_document

    if form != "table":
        write_bytes([json_document({"format": 1, "sites": told})])
        return
    for one in told:
        _show_statistics(one)


_COLUMNS = ("address", "state", "reason", "depth", "pattern", "attempts", "parent")


def _write_log(rows: Iterator[dict[str, Any]], form: str) -> None:
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import table

    if form == "json":
        write_bytes([json_document({"format": 1, "pages": list(rows)})])
    elif form == "table":
        tell = words()
        lines = [
            [
                row["address"],
                tell.name("page_state", row["state"]),
                tell.name("page_reason", row["reason"]),
                tell.number(row["depth"]),
            ]
            for row in rows
        ]
        header = [tell.name("head", name) for name in ("address", "state", "reason", "depth")]
        write_text(table(lines, header=header))
    else:
        write_rows(form, _COLUMNS, ([row[name] for name in _COLUMNS] for row in rows))


def _log(
    store: Store, sources: list[SourceInfo], states: tuple[str, ...], limit: int | None
) -> Iterator[dict[str, Any]]:
    left = limit
    for source in sources:
        after = 0
        while left is None or left > 0:
            found, after = store.frontier.log(
                source.number, states=states, after=after, limit=min(left or 1_000, 1_000)
            )
            for page in found:
                yield page.to_dict()
            if left is not None:
                left -= len(found)
            if not after:
                break


def _show_statistics(told: dict[str, Any]) -> None:
    from doublet.reports.terminal import table

    tell = words()
    write_text(f"{told['address']}\n")
    rows = [
        [tell.name("page_state", state), tell.number(many)] for state, many in sorted(told["states"].items())
    ]
    write_text(table(rows, header=[tell("pages_title"), ""]))
    if told["reasons"]:
        lines = [
            [
                tell.name("page_state", one["state"]),
                tell.name("page_reason", one["reason"]),
                tell.number(one["pages"]),
                one["examples"][0] if one["examples"] else "",
            ]
            for one in told["reasons"]
        ]
        header = ["pages_without_document", "pages_why", "pages_title", "pages_example"]
        write_text("\n" + table(lines, header=[tell(code) for code in header]))
    if told["dropped"]:
        lines = [
            [
                tell.name("page_reason", one["reason"]),
                tell.number(one["links"]),
                one["examples"][0] if one["examples"] else "",
            ]
            for one in told["dropped"]
        ]
        header = ["pages_not_followed", "pages_links", "pages_example"]
        write_text("\n" + table(lines, header=[tell(code) for code in header]))
    by_depth: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for one in told["picture"]:
        by_depth[one["depth"], one["pattern"]][one["state"]] += one["pages"]
    lines = [
        [
            str(depth),
            pattern or "-",
            tell.number(counts["stored"]),
            tell.number(counts.total() - counts["stored"]),
        ]
        for (depth, pattern), counts in sorted(by_depth.items())
    ]
    header = ["pages_depth", "plan_pattern", "plan_documents", "pages_other"]
    write_text("\n" + table(lines, header=[tell(code) for code in header]))


def _show_plan(plan: Plan) -> None:
    from doublet.reports.terminal import table

    tell = words()
    rows = [
        [tell("plan_site"), tell("plan_hosts_below", site=plan.address) if plan.subdomains else plan.address]
    ]
    for place, pattern in enumerate(plan.patterns):
        counted = place in plan.counted
        numbers = "plan_numbers" if plan.numbers is None else "plan_range"
        how = tell(numbers, low=pattern.low, high=pattern.high) if counted else tell("plan_links")
        rows.append([tell("plan_documents"), f"{pattern.text} ({how})"])
        rows += [["", example] for example in pattern.examples[:3]]
    if not plan.patterns:
        rows.append([tell("plan_documents"), tell("plan_every_page")])
    rows += [
        [tell("plan_left_alone"), f"{one.text} ({tell.name('page_reason', why)})"]
        for one, why in plan.skipped
    ]
    lists = len(plan.sitemaps) + len(plan.feeds)
    rows.append([tell("plan_lists"), tell("plan_lists_told", lists=lists, documents=plan.listed)])
    if plan.holes_tried:
        told = tell("plan_holes_told", share=plan.holes, tried=plan.holes_tried)
        rows.append([tell("plan_holes"), told])
    rows.append([tell("plan_missing"), "404" if plan.answers_missing else tell("plan_says_so")])
    known = plan.documents is not None
    rows.append(
        [tell("plan_about_documents"), tell.number(plan.documents or 0) if known else tell("plan_not_known")]
    )
    if plan.requests is not None:
        rows.append([tell("plan_about_requests"), tell.number(plan.requests)])
    if plan.seconds is not None:
        rows.append([tell("plan_takes"), tell("plan_takes_told", time=plan.seconds, delay=plan.delay_s)])
    looked = tell("plan_looked_told", pages=plan.looked_at, probes=plan.probes)
    rows.append([tell("plan_looked"), looked])
    write_text(table(rows))


def _show_crawled(made: Crawled, documents: int) -> None:
    from doublet.reports.terminal import table

    tell = words()
    rows = [[tell("plan_site"), made.address]]
    rows += [[tell("plan_documents"), pattern.text] for pattern in made.plan.patterns]
    rows += [
        [tell("crawled_fetched"), tell.number(made.fetched)],
        [tell("crawled_stored"), tell.number(made.stored)],
        [tell("crawled_changed"), tell.number(made.changed)],
        [tell("crawled_unchanged"), tell.number(made.unchanged)],
    ]
    rows += [
        [tell.name("page_state", state), tell.number(many)]
        for state, many in sorted(made.states.items())
        if many and state not in ("stored", "new", "again")
    ]
    rows.append([tell("crawled_waiting"), tell.number(made.waiting)])
    rows.append([tell("crawled_now", library=made.library), tell.number(documents)])
    write_text(table(rows))
    for note in made.notes:
        say(tell.say(note))


def _range(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+)\s*[-–:]\s*(\d+)\s*", text)
    if not found or int(found.group(1)) > int(found.group(2)):
        raise InvalidParameter("crawl_wrong_range", range=text, name="range")
    return int(found.group(1)), int(found.group(2))


def _pattern(text: str) -> Any:
    from doublet.crawl.patterns import read_pattern

    try:
        return read_pattern(text)
    except ValueError as error:
        raise InvalidParameter("crawl_wrong_pattern", pattern=text, why=error, name="pattern") from None
