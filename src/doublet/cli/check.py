"""``doublet check``: what of a text stands in other documents, and where."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doublet import config
from doublet.addresses import WebAddress, is_address
from doublet.cli import remote
from doublet.cli.base import (
    PATH,
    Command,
    by_flag,
    check_names,
    common_options,
    format_option,
    quiet_option,
    say,
    settings_options,
    use_colour,
    was_given,
    width,
    write_bytes,
    write_text,
)
from doublet.cli.compare import read_document, read_limit, tell_read
from doublet.cli.exits import NOTHING_DONE, OVER_THE_LIMIT, SOME_FAILED
from doublet.cli.language import words
from doublet.cli.later import later_option, put
from doublet.cli.progress import shown
from doublet.cli.web import fetching, web_options
from doublet.errors import UsageError
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.jobs.check_many import CheckedDocument, Checker
    from doublet.jobs.read import TextInput
    from doublet.model import Check

EXAMPLE = """\
doublet check essay.txt --against library.jsonl
doublet check essay.txt --library theses --leave-out quotations,bibliography
doublet check essays/ --library theses --library articles --fail-above 30% --format json
doublet check essay.txt --library theses --format html --out essay.html
doublet check https://example.org/article --library theses
doublet check works/ --library theses --among --out reports/"""


@click.command(
    cls=Command,
    example=EXAMPLE,
    help="""Check each TEXT (a file, a folder of texts, an address on the web, or - for standard input) against
    libraries or documents: how much of it is in them, which of them explain it best, and every passage with its
    place on both sides. Without --library and --against all libraries are checked.""",
)
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@click.option(
    "--library",
    "libraries",
    multiple=True,
    metavar="NAME",
    help="Library to check against; repeat it for more.",
)
@click.option(
    "--against",
    multiple=True,
    callback=check_names,
    metavar="INPUT",
    help="JSON lines, CSV, Parquet or a folder of texts to check against instead; may be given again.",
)
@click.option(
    "--method",
    "method",
    metavar="NAME",
    help="With libraries: auto, passages (auto without the documents that only telling stems lead to), or a method of "
    "`doublet methods`. [default: auto]",
)
@click.option(
    "--leave-out",
    multiple=True,
    metavar="KIND",
    help="Do not count quotations, bibliography, common (wording of many documents) or own (earlier versions); repeat "
    "it, or give several with commas.",
)
@click.option(
    "--own",
    multiple=True,
    metavar="PATTERN",
    help="Ids or sources of own earlier versions, which do not count; * stands for anything.",
)
@click.option(
    "--among",
    is_flag=True,
    help="The texts are works of a class: compare them with each other too. With --out FOLDER: all reports, with an "
    "overview (index.html, index.csv, index.json).",
)
@click.option(
    "--title",
    default="",
    metavar="TEXT",
    help="Title of the work, for the page and the PDF. [default: what the document calls itself]",
)
@click.option("--author", default="", metavar="NAME", help="Author of the work, for the page and the PDF.")
@click.option("--reviewer", default="", metavar="NAME", help="Who checks the work, for the page and the PDF.")
@click.option("--ocr", is_flag=True, help="Read scanned pages with Tesseract, where it is installed (slow).")
@click.option("--whole-page", is_flag=True, help="Of web pages, read menus, footers and comments too.")
@settings_options("shingle_words", "thesaurus", "database")
@web_options
@click.option("--min-share", metavar="SHARE", help="Leave out sources that cover less of the text, as 1%.")
@click.option(
    "--fail-above",
    metavar="SHARE",
    help="Exit with 1 when more than this share of the text was found, as 30%.",
)
@click.option("--id-field", default="id", show_default=True, help="Field of a record with its id.")
@click.option("--text-field", default="text", show_default=True, help="Field of a record with its text.")
@format_option("table", "json", "jsonl", "csv", "html", "pdf")
@click.option(
    "--out",
    type=PATH,
    metavar="FILE",
    help="Write to this file instead of standard output (- is standard output); pages and PDFs of several texts go to "
    "a folder, which is made if it is not there. Without --format the name decides: report.html, report.pdf.",
)
@click.option(
    "--no-build",
    is_flag=True,
    help="With --method: do not sign the documents of the libraries first when they are not signed by it yet.",
)
@later_option
@quiet_option
@common_options
def command(
    *,
    texts: tuple[str, ...],
    later: bool,
    no_build: bool,
    libraries: tuple[str, ...],
    against: tuple[str, ...],
    method: str | None,
    leave_out: tuple[str, ...],
    own: tuple[str, ...],
    among: bool,
    ocr: bool,
    whole_page: bool,
    title: str,
    author: str,
    reviewer: str,
    min_share: str | None,
    fail_above: str | None,
    id_field: str,
    text_field: str,
    form: str,
    out: Path | None,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    from doublet.jobs.check_many import check_many
    from doublet.jobs.class_folder import check_report_file
    from doublet.matches.readable import readable
    from doublet.model import CHECK_FORMAT
    from doublet.reports.check_terminal import check_report
    from doublet.reports.json_report import json_document, json_line
    from doublet.reports.output import format_suffix
    from doublet.reports.tables import plain_rows
    from doublet.reports.terminal import outcomes

    flags |= {"leave_out": ",".join(leave_out) or None, "own": list(own) or None}
    resolved = config.resolve(flags, file=config_file)
    if out is not None and not was_given("form"):
        form = FORMS.get(format_suffix(out), form)
    limit = read_limit(fail_above)
    least = read_limit(min_share, "--min-share") or 0.0
    kinds, own = list(resolved.settings.leave_out), resolved.settings.own
    if own and "own" not in kinds:
        kinds.append("own")
    thesaurus = resolved.settings.thesaurus
    if thesaurus and thesaurus != "auto":
        thesaurus = str(Path(thesaurus).absolute())  # a worker may stand in another folder
    synonyms = {"thesaurus": thesaurus} if thesaurus else {}
    if against and (libraries or method):
        raise UsageError("only_for_libraries")
    server = remote.client() if not against else None
    if server is not None:
        by_hand = by_flag(resolved, "thesaurus")
        for option, there in (
            ("--later", later),
            ("--no-build", no_build),
            ("--min-share", min_share),
            ("--thesaurus", by_hand),
        ):
            if there:
                raise UsageError("not_with_server", option=option)
    elif against:
        remote.require_local("--against")
    if later:
        from doublet.cli.library import open_store

        if against or "-" in texts or form not in (("table", "html", "pdf") if among else ("table", "json")):
            raise UsageError("later_check")
        asked: dict[str, Any] = {"leave_out": kinds, "own": list(own), "min_share": least, **synonyms}
        work: dict[str, Any] = {"libraries": list(libraries) or None, "ocr": ocr, "whole_page": whole_page}
        work |= {"options": asked | ({"method": method} if method else {})}
        if among:
            from doublet.cli.check_class import class_out, class_title

            folder = class_out(texts, form, out)
            if folder is None:
                raise UsageError("later_class_needs_folder")
            work |= {"works": [str(Path(text).absolute()) for text in texts], "title": class_title(texts)}
            work |= {"form": "pdf" if form == "pdf" else "html", "language": words().language}
            work |= {"reviewer": reviewer, "limit": limit}
            out = folder
        else:
            work["documents"] = list(_later(texts))
        work |= {"out": str(out.absolute())} if out is not None else {}
        with open_store(resolved) as store:
            put(store, "check_class" if among else "check", work, form=form, quiet=quiet)
        return None
    if ocr:
        from doublet.sources.ocr import require

        require()
    options: dict[str, Any] = {"min_share": least, "leave_out": kinds, "own": own, **synonyms}
    if not against:
        options |= {"method": method} if method else {}
        options["build"] = not no_build
    colour = use_colour(resolved.settings.colour)
    if among:
        from doublet.cli.check_class import run_class
        from doublet.jobs.check_class import leave_out_of_class

        options["leave_out"] = leave_out_of_class(kinds)
        with (
            shown(quiet=quiet, colour=use_colour(resolved.settings.colour, sys.stderr)) as progress,
            _checker(
                *(resolved, against, libraries, quiet, options),
                alone=True,
                id_field=id_field,
                text_field=text_field,
            ) as checker,
        ):
            return run_class(
                texts,
                checker,
                form=form,
                out=out,
                ocr=ocr,
                whole_page=whole_page,
                limit=limit,
                quiet=quiet,
                progress=progress,
                reviewer=reviewer,
            )
    documents = list(_documents(texts, quiet))
    targets = _targets([name for name, _ in documents], form, out)
    printed = form == "table" and out in (None, Path("-"))
    checked: list[CheckedDocument] = []
    with (
        shown(quiet=quiet, colour=use_colour(resolved.settings.colour, sys.stderr)) as progress,
        fetching(resolved.settings, progress) as fetcher,
        _checker(
            resolved,
            against,
            libraries,
            quiet,
            {**options, "progress": progress},
            id_field=id_field,
            text_field=text_field,
        ) as checker,
    ):
        for one in check_many(
            documents,
            checker,
            fetcher=fetcher,
            ocr=ocr,
            whole_page=whole_page,
            on_read=lambda name, given: tell_read(name, given.read, quiet),
        ):
            if one.error is not None and len(documents) == 1:
                raise one.error
            if one.error is not None:
                named = isinstance(one.error.details.get("path"), str)
                say(one.error.note if named else Note("file_note", file=one.name, note=one.error.note))
            elif printed and one.check is not None:
                write_text(
                    check_report(
                        one.check,
                        one.text,
                        name=one.name,
                        width=width(),
                        colour=colour,
                        language=words().language,
                    )
                )
            checked.append(one)
    results = [(one.name, one.text, one.check) for one in checked if one.check is not None]
    unread = [one.outcome for one in checked if one.outcome is not None]
    found = [result for _, _, result in results]
    if form == "json":
        dicts = [result.to_dict() for result in found]
        several: dict[str, Any] = {"format": CHECK_FORMAT, "checks": dicts}
        if unread:
            several["outcomes"] = [outcome.to_dict() for outcome in unread]
        _write(out, json_document(dicts[0] if len(documents) == 1 else several))
    elif form == "jsonl":
        lines = [result.to_dict() for result in found]
        lines += [{"format": CHECK_FORMAT, "outcome": outcome.to_dict()} for outcome in unread]
        _write(out, b"".join(json_line(line) + b"\n" for line in lines))
    elif form == "csv":
        _write(out, b"".join(plain_rows(FRAGMENT_COLUMNS, _fragment_rows(results))))
    elif form == "table" and not printed:
        _write(
            out,
            "\n".join(
                check_report(r, t, name=label, language=words().language) for label, t, r in results
            ).encode(),
        )
    for target, one in zip(targets, checked, strict=False):
        if one.check is None:
            continue
        name = Path(one.name).name
        if isinstance(checker, remote.RemoteChecker) and form in ("html", "pdf"):
            _write(target, checker.page(one.text, form, words().language))
        else:
            about = {"name": name, "author": author, "reviewer": reviewer, "limit": limit}
            about |= {"work_title": title or one.title, "language": words().language}
            _write(target, check_report_file(form, one.check, one.text, **about))
    failed = bool(unread)
    for result in found:
        if result.outcomes and not quiet:
            say(outcomes(result.outcomes, language=words().language).rstrip("\n"))
        failed = failed or bool(result.outcomes)
    over = [(label, result) for label, _, result in results if limit is not None and result.share > limit]
    for label, result in over:
        what = Note("this_text") if len(results) == 1 else label
        say(Note("over_limit", share=result.share, what=what, limit=limit), quiet=quiet)
    unjudged = [label for label, _, result in results if limit is not None and not readable(result)]
    for label in unjudged:
        say(Note("not_judged", what=Note("this_text") if len(results) == 1 else label))
    if over:
        return OVER_THE_LIMIT
    if unjudged and len(unjudged) == len(results):
        return NOTHING_DONE
    failed = failed or bool(unjudged)
    if not any(result.documents for result in found):
        # A script that asks for the exit code alone must not take this for a clean text.
        if found:
            say(
                Note("nothing_was_checked"),
                quiet=quiet or printed,  # where it is a note
            )
        return NOTHING_DONE
    return SOME_FAILED if failed else None


def _later(texts: Iterable[str]) -> Iterator[dict[str, str]]:
    """Documents as a job remembers them: the worker may run in another folder."""
    from doublet.jobs.check_many import list_files

    for text in texts:
        if is_address(text):
            yield {"address": text}
        else:
            yield from (
                {"path": str(path.absolute()), "name": str(path)} for path in list_files([Path(text)])
            )


#: what the name of a file says about its format
FORMS = {".html": "html", ".htm": "html", ".pdf": "pdf", ".json": "json", ".jsonl": "jsonl", ".csv": "csv"}
FRAGMENT_COLUMNS = (
    *("text", "library", "source", "title", "id", "a_start", "a_end", "b_start", "b_end"),
    *("kind", "score", "words", "strength"),
)


def _fragment_rows(results: list[tuple[str, str, Check]]) -> Iterator[tuple[Any, ...]]:
    """A row for each fragment of each text."""
    for label, _, result in results:
        for source in result.sources:
            for part in source.fragments:
                yield (
                    *(label, source.library, source.id, source.title, part.id, *part.a, *part.b),
                    *(part.kind, part.score, part.words, part.strength),
                )


def _targets(names: list[str], form: str, out: Path | None) -> list[Path]:
    """Where the page or PDF of each text goes, looked at before the work; nothing for other formats."""
    from doublet.jobs.class_folder import make_folder
    from doublet.reports.output import check_output, format_suffix

    if form not in ("html", "pdf"):
        if out is not None:
            check_output(out)
        return []
    if out is None or (form == "pdf" and out == Path("-")):
        raise UsageError("format_needs_file", form=form)
    if form == "pdf":
        from doublet.jobs.check_pdf import find_browser

        find_browser()
    if out != Path("-") and len(names) > 1 and not out.exists() and format_suffix(out) not in FORMS:
        make_folder(out)
    if out != Path("-") and out.is_dir():
        targets: list[Path] = []
        taken: set[str] = set()
        for name in names:
            stem = "stdin" if name == words()("standard_input") else Path(name).name
            place, number = f"{stem}.{form}", 2
            while place.casefold() in taken:
                place, number = f"{stem}-{number}.{form}", number + 1
            taken.add(place.casefold())
            targets.append(out / place)
    elif len(names) == 1:
        targets = [out]
    else:
        raise UsageError("reports_need_folder", names=len(names))
    for target in targets:
        check_output(target)
    return targets


def _write(out: Path | None, content: bytes) -> None:
    if out is None or out == Path("-"):
        write_bytes([content])
        return
    from doublet.reports.output import open_output

    with open_output(out) as stream:
        stream.write(content)


def _documents(texts: Iterable[str], quiet: bool) -> Iterator[tuple[str, TextInput]]:
    """What was named, as the job takes it: files of folders and archives one by one, addresses, and standard input."""
    from doublet.jobs.read import FileContent
    from doublet.sources.works import list_works

    for text in texts:
        if text == "-":
            yield words()("standard_input"), read_document("-", quiet)
        elif is_address(text):
            yield text, WebAddress(text)
        else:
            for one in list_works([Path(text)]):
                if one.path is not None:
                    yield str(one.path), one.path
                else:
                    yield f"{text}/{one.name}", FileContent(one.name, one.data)


@contextlib.contextmanager
def _checker(
    resolved: config.Resolved,
    against: tuple[str, ...],
    libraries: tuple[str, ...],
    quiet: bool,
    options: dict[str, Any],
    *,
    alone: bool = False,
    **fields: str,
) -> Iterator[Checker]:
    """What checks a text: against files, or against libraries. *alone*: no libraries are no mistake."""
    from doublet.jobs.check_many import against_documents, against_libraries

    server = remote.client() if not against else None
    if server is not None:
        with server:
            yield remote.RemoteChecker(server, libraries, options)
        return
    if against:
        from doublet.sources.open import open_source

        size = resolved.settings.shingle_words
        more: dict[str, Any] = {"shingle_words": size} if size else {}
        with open_source(against, title_field="title", address_field="address", **fields) as source:  # type: ignore[arg-type]
            for note in source.notes:
                say(note, quiet=quiet)
            yield against_documents(source, **options, **more)
        return
    from doublet.cli.library import open_store

    with open_store(resolved) as store:
        if not libraries and not alone and not store.libraries.all():
            raise UsageError("nothing_to_check_against")
        yield against_libraries(store, libraries or None, **options)
