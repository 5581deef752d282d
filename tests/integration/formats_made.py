"""One text in every format, made by pandoc and LibreOffice: what the round trip reads back.

The text is written as a small tree here (paragraphs, a list, a table, a quotation, a footnote), so that what a reader
must give back is known word for word. `make` writes all files into a folder, `MAKERS` says
who makes what, and run as a program this writes the table of docs/reference/reading.md.
"""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
LANGUAGES = ("ru", "en")

#: format → (program, name of its writer, suffix of the file)
MAKERS = {
    "html": ("pandoc", "html5", "html"),
    "markdown": ("pandoc", "gfm", "md"),
    "commonmark": ("pandoc", "commonmark_x", "md"),
    "restructuredtext": ("pandoc", "rst", "rst"),
    "wikitext": ("pandoc", "mediawiki", "wiki"),
    "docbook 5": ("pandoc", "docbook5", "xml"),
    "docbook 4": ("pandoc", "docbook4", "xml"),
    "xml (TEI)": ("pandoc", "tei", "xml"),
    "latex": ("pandoc", "latex", "tex"),
    "plain": ("pandoc", "plain", "txt"),
    "docx": ("pandoc", "docx", "docx"),
    "odt": ("pandoc", "odt", "odt"),
    "rtf": ("pandoc", "rtf", "rtf"),
    "epub": ("pandoc", "epub3", "epub"),
    "epub 2": ("pandoc", "epub2", "epub"),
    "fb2": ("pandoc", "fb2", "fb2"),
    "pptx": ("pandoc", "pptx", "pptx"),
    "office docx": ("soffice", "docx:MS Word 2007 XML", "docx"),
    "office odt": ("soffice", "odt", "odt"),
    "office flat odt": ("soffice", "fodt", "fodt"),
    "office rtf": ("soffice", "rtf", "rtf"),
    "office html": ("soffice", "html:HTML (StarWriter):EmbedImages", "html"),
    "office pdf": ("soffice", "pdf", "pdf"),
    "office epub": ("soffice", "epub", "epub"),
    "office docbook": ("soffice", "xml:DocBook File", "xml"),
}
#: the reader that each must be given to
KINDS = {
    "commonmark": "markdown", "docbook 5": "docbook", "docbook 4": "docbook", "xml (TEI)": "xml", "epub 2": "epub",
    "office docx": "docx", "office odt": "odt", "office flat odt": "odt", "office rtf": "rtf", "office html": "html",
    "office pdf": "pdf", "office epub": "epub", "office docbook": "docbook",
}  # fmt: skip


@dataclass(frozen=True)
class Made:
    format: str
    language: str
    path: pathlib.Path
    body: list[str]  #: words of the body in order
    note: list[str]  #: words of the footnote


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def original(language: str) -> tuple[str, list[str], list[str]]:
    """Markdown of the text, the words of its body and those of its footnote."""
    source = (HERE / f"formats_{language}.md").read_text(encoding="utf-8")
    note = re.search(r"^\[\^1\]:(.*)$", source, re.M)
    assert note
    body = source.replace(note.group(), "").replace("[^1]", "")
    body = re.sub(r"^\|[-| ]+\|$", "", body, flags=re.M)
    return source, words(body), words(note.group(1))


def programs() -> list[str]:
    return [name for name in ("pandoc", "soffice") if shutil.which(name)]


def make(folder: pathlib.Path) -> list[Made]:
    """All files in both languages. LibreOffice starts slowly: it gets both at once."""
    made = []
    for language in LANGUAGES:
        source, _, _ = original(language)
        (folder / f"{language}.markdown").write_text(source, encoding="utf-8")
        _pandoc(folder / f"{language}.markdown", "docx", folder / f"{language}.docx", language)
    for number, (name, (program, writer, suffix)) in enumerate(MAKERS.items()):
        target = folder / f"{number:02}"
        target.mkdir()
        if program == "pandoc":
            for language in LANGUAGES:
                _pandoc(folder / f"{language}.markdown", writer, target / f"{language}.{suffix}", language)
        else:
            _office([folder / f"{language}.docx" for language in LANGUAGES], writer, target)
        for language in LANGUAGES:
            _, body, note = original(language)
            made.append(Made(name, language, target / f"{language}.{suffix}", body, note))
    return made


def _pandoc(source: pathlib.Path, writer: str, path: pathlib.Path, language: str) -> None:
    extra = ["--slide-level=2"] if writer == "pptx" else []
    subprocess.run(
        ["pandoc", source, "--from", "markdown", "--to", writer, "--standalone", "--metadata", f"lang={language}",
         "--metadata", "pagetitle=x", *extra, "--output", path],
        check=True, capture_output=True,
    )  # fmt: skip


def _office(sources: list[pathlib.Path], writer: str, target: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(
            ["soffice", f"-env:UserInstallation=file://{work}/profile", "--headless", "--convert-to", writer,
             "--outdir", target, *sources],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip


def agreement(wanted: list[str], found: list[str]) -> float:
    """Share of the words that stand in the same order in both: 2·common / (wanted + found)."""
    from rapidfuzz.distance import LCSseq

    common = LCSseq.similarity(wanted, found)
    return 2 * common / (len(wanted) + len(found)) if wanted or found else 1.0


def best_agreement(made: Made, text: str) -> float:
    """Of the words in the order of the text and with the note at the end: both are right."""
    found = words(text)
    at_the_end = agreement(made.body + made.note, found)
    return max(at_the_end, _note_inside(made, found))


def _note_inside(made: Made, found: list[str]) -> float:
    """The note follows its paragraph."""
    source = (HERE / f"formats_{made.language}.md").read_text(encoding="utf-8")
    before = source[: source.index("\n\n", source.index("[^1]"))]
    at = len(words(before.replace("[^1]", "")))
    return agreement(made.body[:at] + made.note + made.body[at:], found)


PAGE = HERE.parents[1] / "docs" / "reference" / "reading.md"
BEGIN, END = "<!-- round trip: begin -->", "<!-- round trip: end -->"


def table(found: dict[tuple[str, str], float]) -> str:
    """The table of the page: format × language, in percent."""
    lines = ["| format | made by | Russian | English |", "|---|---|---|---|"]
    for name, (program, _, _) in MAKERS.items():
        maker = "pandoc" if program == "pandoc" else "LibreOffice"
        shown = [f"{found[name, language] * 100:.2f}%" for language in LANGUAGES]
        lines.append(f"| {name.removeprefix('office ')} | {maker} | {shown[0]} | {shown[1]} |")
    return "\n".join(lines)


def measure(folder: pathlib.Path) -> dict[tuple[str, str], float]:
    from doublet.text.read import read_document

    found = {}
    for made in make(folder):
        text = read_document(made.path.read_bytes(), name=made.path.name).text
        found[made.format, made.language] = best_agreement(made, text)
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        new = table(measure(pathlib.Path(folder)))
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n{new}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
