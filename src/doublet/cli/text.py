"""``doublet text``: what Doublet reads from a file. The tool for "why was this not found?"."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doublet import config
from doublet.addresses import is_address
from doublet.cli.base import (
    Command,
    common_options,
    format_option,
    is_terminal,
    quiet_option,
    say,
    write_bytes,
    write_text,
)
from doublet.cli.exits import SOME_FAILED
from doublet.cli.language import words
from doublet.cli.web import read_web, web_options
from doublet.errors import DoubletError, InputUnreadable, SourceError, Unreadable
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.sources.workers import ReaderPool
    from doublet.text.read import ReadDocument

EXAMPLE = """\
doublet text essay.docx
doublet text thesis.pdf --places
doublet text page.html --whole-page --format json
doublet text https://example.org/article"""
_WIDEST = 48  # characters of where a place is
_SHOWN = 60  # characters of a place in the list


@click.command(
    cls=Command,
    example=EXAMPLE,
    help="""Print the text that Doublet reads from FILES, which are paths, addresses on the web, or - for standard
    input: HTML, PDF, DOCX, ODT, RTF, EPUB, FB2, PPTX, Markdown, reStructuredText, wiki markup, DocBook, DITA and other
    XML, LaTeX, mail, notebooks or plain text. Text that a reader of the document would not see is no part of it and is
    listed on standard error.""",
)
@click.argument("files", metavar="FILES", nargs=-1, required=True)
@click.option("--places", is_flag=True, help="Say where each part of the text stands: page, paragraph, line.")
@click.option(
    "--as",
    "as_kind",
    metavar="KIND",
    default="",
    help="Read it as this kind, whatever the content and the name say: html, pdf, markdown, plain …",
)
@click.option("--whole-page", is_flag=True, help="Of web pages, read menus, footers and comments too.")
@click.option("--ocr", is_flag=True, help="Recognise the text of scanned PDF pages with Tesseract.")
@web_options
@format_option("table", "json")
@quiet_option
@common_options
def command(
    *,
    files: tuple[str, ...],
    places: bool,
    as_kind: str,
    whole_page: bool,
    ocr: bool,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import harmless, harmless_lines
    from doublet.sources.ocr import require
    from doublet.sources.workers import ReaderPool
    from doublet.text.read import hidden_summary

    if ocr:
        require()
    settings = config.resolve(flags, file=config_file).settings
    failed: list[DoubletError] = []
    results: list[dict[str, Any]] = []
    with ReaderPool(1, ocr=ocr) as pool:
        for name in files:
            label = words()("standard_input") if name == "-" else name
            try:
                if is_address(name):
                    found = read_web(name, settings, pool=pool, as_kind=as_kind, frame=not whole_page)
                else:
                    found = _read(name, pool, as_kind=as_kind, frame=not whole_page)
            except (Unreadable, SourceError) as error:
                if len(files) == 1:
                    if isinstance(error, SourceError):
                        raise
                    raise InputUnreadable(
                        "document_why", label=label, why=error.note, path=name, state=error.state
                    ) from error
                failed.append(error)
                named = isinstance(error.details.get("path"), str)
                say(error.note if named else Note("document_why", label=label, why=error.note))
                continue
            if form == "json":
                results.append({"path": label, **found.to_dict()})
                continue
            if len(files) > 1:
                write_text(f"==> {label}\n")
            text = _listed(found) if places else f"{found.text}\n"
            write_text(harmless_lines(text) if is_terminal(sys.stdout) else text)
            facts = {"kind": found.kind, "encoding": found.encoding, "characters": len(found.text)}
            say(Note("text_line", label=label, **facts), quiet=quiet)
            if found.title:
                say(Note("text_title", label=label, title=harmless(found.title)), quiet=quiet)
            for note in (*found.notes, hidden_summary(found)):
                if note:
                    say(harmless(words()("file_note", file=label, note=note)), quiet=quiet)
            for item in found.hidden:
                about = {"reason": item.reason, "where": item.place.notes(), "text": _short(item.text)}
                say("  " + words()("text_hidden", **about), quiet=quiet)
    if form == "json":
        write_bytes([json_document(results[0] if len(files) == 1 else {"documents": results})])
    return SOME_FAILED if failed else None


def _read(name: str, pool: ReaderPool, *, as_kind: str, frame: bool) -> ReadDocument:
    from doublet.sources.streams import is_folder
    from doublet.sources.texts import read_file, read_standard_input

    if name == "-":
        return read_standard_input(as_kind=as_kind, frame=frame, pool=pool)
    if is_folder(Path(name)):
        raise InputUnreadable("folder_not_file", path=name)
    return read_file(Path(name), label=name, as_kind=as_kind, frame=frame, pool=pool)


def _listed(found: ReadDocument) -> str:
    """Each stretch of the text with its characters and where it came from."""
    lines = []
    labels = [", ".join(map(words().say, place.notes())) for place in found.places]
    width = min(max([28, *map(len, labels)]), _WIDEST)
    for place, label in zip(found.places, labels, strict=True):
        start, end = place.span
        lines.append(f"{start:>8}–{end:<8} {label:<{width}} {_short(found.text[start:end])}\n")
    return "".join(lines)


def _short(text: str) -> str:
    from doublet.reports.terminal import harmless

    line = harmless(text).strip()
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
