"""What kind of document is it? Told from the content first, from the declared type and the name second (T1).

Formats with a signature of their own (PDF, RTF, zip packages, XML, HTML) are told from it alone. Markup that is plain
text to the eye (Markdown, wiki markup, reStructuredText, LaTeX) is told from its content when the signs are strong,
else from the declared type, else from the name; and what shows no sign at all is plain text.
"""

from __future__ import annotations

import io
import re
import zipfile

from doublet.errors import Broken, Encrypted, UnknownKind
from doublet.model import Note
from doublet.text.damaged import DAMAGED
from doublet.text.encoding import SAMPLE_BYTES, binary_kind

ARCHIVES = ("zip", "tar", "warc")  #: kinds that hold documents; `doublet.sources` takes them apart

_SUFFIXES = {
    "txt": "plain", "text": "plain", "log": "plain", "html": "html", "htm": "html", "xhtml": "html", "xht": "html",
    "shtml": "html", "php": "html", "asp": "html", "aspx": "html", "jsp": "html", "pdf": "pdf", "docx": "docx",
    "docm": "docx", "dotx": "docx", "odt": "odt", "ott": "odt", "fodt": "odt", "odp": "odp", "rtf": "rtf",
    "epub": "epub", "fb2": "fb2", "pptx": "pptx", "pptm": "pptx", "ppsx": "pptx", "md": "markdown",
    "markdown": "markdown", "mkd": "markdown", "mdown": "markdown", "rst": "restructuredtext",
    "rest": "restructuredtext", "wiki": "wikitext", "mediawiki": "wikitext", "wikitext": "wikitext", "mw": "wikitext",
    "dbk": "docbook", "docbook": "docbook", "dita": "dita", "ditamap": "dita", "xml": "xml", "tex": "latex",
    "latex": "latex", "ltx": "latex", "zip": "zip", "tar": "tar", "tgz": "tar", "warc": "warc",
    "eml": "mail", "mht": "mail", "mhtml": "mail", "mbox": "mail", "ipynb": "notebook",
}  # fmt: skip
_TYPES = {
    "text/html": "html", "application/xhtml+xml": "html", "application/pdf": "pdf", "text/markdown": "markdown",
    "text/x-markdown": "markdown", "text/x-rst": "restructuredtext", "text/prs.fallenstein.rst": "restructuredtext",
    "application/x-tex": "latex", "text/x-tex": "latex", "application/x-latex": "latex", "text/x-wiki": "wikitext",
    "text/xml": "xml", "application/xml": "xml", "application/docbook+xml": "docbook", "application/rtf": "rtf",
    "text/rtf": "rtf", "application/dita+xml": "dita", "text/plain": "plain", "message/rfc822": "mail",
    "application/mbox": "mail", "multipart/related": "mail", "application/x-ipynb+json": "notebook",
}  # fmt: skip
_ODF = "application/vnd.oasis.opendocument."
_FOREIGN = (
    ("Index/Document.iwa", "apple_pages"),
    ("xl/", "excel"),
    ("Payload/", "phone_application"),
    ("AndroidManifest.xml", "phone_application"),
    ("META-INF/MANIFEST.MF", "java_archive"),
)
#: what to do with a file of a kind that cannot be read, as the code of a message
_ADVICE = {
    "djvu": "advice_djvu",
    "rar": "advice_archive",
    "7z": "advice_archive",
    "kindle": "advice_kindle",
    "spreadsheet": "advice_sheets",
    "excel": "advice_sheets",
    "old_excel": "advice_sheets",
    "apple_pages": "advice_pages",
    "doc": "advice_doc",
    "ppt": "advice_ppt",
    "outlook": "advice_msg",
    "old_office": "advice_office",
}
_MARKS = frozenset({"html", "plain"})
_ASIDE = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)", re.S)
_ROOT = re.compile(r"<(?!\?|!)([A-Za-z_][\w.:-]*)")
_HTML = re.compile(
    r"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]|"
    r"<(?:div|table|p|span|font|center|h[1-6]|ul|br|a\s+href)\b[^<>]*>",
    re.I,
)
_DOCBOOK_ROOTS = frozenset(
    "article book chapter section sect1 part set refentry appendix preface reference glossary".split()
)
_DITA_ROOTS = frozenset("dita topic concept task reference map bookmap glossentry troubleshooting".split())

_LATEX = re.compile(r"\\documentclass\b|\\documentstyle\b|\\begin\s*\{document\}")
_LATEX_WEAK = re.compile(
    r"\\(?:section|subsection|chapter|emph|textbf|cite|label|begin|item|footnote)\b\*?[\[{ ]"
)
_WIKI = re.compile(
    r"^={2,6}[^=\n].*?={2,6}[ \t]*$|\[\[[^\[\]\n]+\]\]|^\{\||^\|-|'''[^'\n]+'''|\{\{[^{}]+\}\}|<ref[ >/]",
    re.M,
)
_MARKDOWN = re.compile(
    r"^#{1,6}[ \t]+\S|^(?:```|~~~)|\[[^\[\]\n]+\]\([^()\s]+(?:\s+\"[^\"]*\")?\)|^\s{0,3}>[ \t]\S|\*\*[^*\n]+\*\*|"
    r"^\|?[ \t]*:?-{3,}:?[ \t]*\|",
    re.M,
)
_RST = re.compile(
    r"^\.\.[ \t]+(?:[\w:-]+::|_[^:\n]+:|\[)|:(?<![\w:-]:)[a-z][\w:-]*:`[^`\n]+`|`[^`<>\n]+\s<[^`<>\n]+>`_|"
    r"^[^\s\n][^\n]*\n([=\-~^\"'#*+])\1{3,}[ \t]*$|::[ \t]*$",
    re.M,
)
_HEADERS = re.compile(r"(?:From [^\n]*\n)?((?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){3,})\r?\n")
_HEADER = re.compile(r"^([A-Za-z][A-Za-z0-9-]*):", re.M)
_MAIL_HEADERS = frozenset({"mime-version", "message-id", "received", "return-path", "date"})
_NOTEBOOK = re.compile(r"\{\s*\"(?:cells|metadata|nbformat)\"")
_STRONG = 4  # so many signs, and one to every so many lines, outweigh the name of a file
_LINES_PER_SIGN = 12


_QUOTING = (
    "markdown",
    "restructuredtext",
    "wikitext",
    "docbook",
    "dita",
    "xml",
    "latex",
    "html",
    "notebook",
    "mail",
)
_BEFORE = b"\xef\xbb\xbf\x00 \t\r\n"


def tell(data: bytes, *, name: str = "", declared_type: str = "") -> str:
    """A kind of `formats.READERS` or of `ARCHIVES`.

    Raises `UnknownKind` for what is no document that Doublet reads, `Encrypted` and `Broken` where the first
    look already shows it.
    """
    head = data[:SAMPLE_BYTES]
    if not data.strip(b"\x00 \t\r\n"):
        return "plain" if not data.strip() else _unknown("zero_bytes")
    # Something may stand before the signature, whatever the name; but a page of documentation may quote it.
    if head.lstrip(_BEFORE).startswith(b"%PDF-") or (
        b"%PDF-" in head[:1024] and by_name(name) not in _QUOTING
    ):
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _package(data, by_name(name))
    if head.lstrip()[:5] == b"{\\rtf":
        return "rtf"
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _old_office(data, name)
    if head.startswith(b"WARC/"):
        return "warc"
    if head[257:262] == b"ustar":
        return "tar"
    foreign = "kindle" if head[60:68] == b"BOOKMOBI" else binary_kind(head)
    if foreign == "binary" and _is_damaged_page(head):
        return "html"
    if foreign:
        if by_name(name) in ("docx", "odt", "pdf", "epub", "rtf", "pptx", "odp") and foreign == "binary":
            raise Broken("name_disagrees", name=_base(name))
        return _unknown(foreign)
    return _tell_text(head, name, declared_type)


def _is_damaged_page(head: bytes) -> bool:
    """A page with a few control characters in it, which browsers do not mind."""
    start = head[:4096].decode("latin-1")
    return start.lstrip("\xef\xbb\xbf \t\r\n").startswith("<") and len(_HTML.findall(start)) >= 2


def by_name(name: str) -> str:
    """The kind that a name speaks of, or nothing."""
    base = _base(name).lower()
    if base.endswith(".fb2.zip"):
        return "fb2"
    return _SUFFIXES.get(base.rpartition(".")[2], "") if "." in base else ""


def by_type(declared_type: str) -> str:
    return _TYPES.get(declared_type.split(";", 1)[0].strip().lower(), "")


def _unknown(what: str) -> str:
    raise UnknownKind("kind_not_read", kind=what, advice=Note(_ADVICE.get(what, "advice_none")))


def _base(name: str) -> str:
    return name.replace("\\", "/").split("?", 1)[0].rstrip("/").rpartition("/")[2]


def _package(data: bytes, named: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            names = package.namelist()
            mimetype = ""
            if "mimetype" in names and package.getinfo("mimetype").file_size < 200:
                mimetype = package.read("mimetype").decode("ascii", "replace").strip()
    except DAMAGED as error:
        raise Broken("archive_not_opened", why=error) from error
    known = set(names)
    if mimetype.startswith("application/epub") or "META-INF/container.xml" in known:
        return "epub"
    if mimetype.startswith(_ODF) or ("content.xml" in known and "META-INF/manifest.xml" in known):
        what = mimetype.removeprefix(_ODF)
        if what.startswith("presentation"):
            return "odp"
        if what.startswith("spreadsheet"):
            return _unknown("spreadsheet")
        return "odt"
    if "[Content_Types].xml" in known:
        for folder, kind in (("word/", "docx"), ("ppt/", "pptx")):
            if any(name.startswith(folder) for name in names):
                return kind
    for sign, what in _FOREIGN:
        if any(name.startswith(sign) for name in names):
            return _unknown(what)
    if named in ("docx", "odt", "epub", "pptx", "odp"):
        raise Broken("parts_not_there")
    if len(names) == 1 and names[0].lower().endswith(".fb2"):
        return "fb2"
    return "zip"


# The stream that holds the document, its usual suffix, and what it is.
_OLD_OFFICE = (
    ("WordDocument", "doc", "doc"),
    ("PowerPoint Document", "ppt", "ppt"),
    ("Workbook", "xls", "old_excel"),
    ("__properties_version1.0", "msg", "outlook"),
)


def _old_office(data: bytes, name: str) -> str:
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise Encrypted("save_without_password")
    suffix = _base(name).rpartition(".")[2].lower()
    for stream, _, what in _OLD_OFFICE:
        if stream.encode("utf-16-le") in data:
            return _unknown(what)
    for _, usual, what in _OLD_OFFICE:
        if suffix == usual:
            return _unknown(what)
    return _unknown("old_office")


def _tell_text(head: bytes, name: str, declared_type: str) -> str:
    text = _readable(head)
    start = text.lstrip("\ufeff \t\r\n")
    declared, named = by_type(declared_type), by_name(name)
    if start.startswith("<"):
        kind = _tell_markup(start, declared, named)
        if kind:
            return kind
    if _is_mail(start):
        return "mail"
    if _NOTEBOOK.match(start) and (named == "notebook" or '"cell_type"' in start):
        return "notebook"
    own = {"markdown": _MARKDOWN, "restructuredtext": _RST, "wikitext": _WIKI}.get(named)
    if _LATEX.search(text) and not (own and own.search(text)):  # which would only speak of LaTeX
        return "latex"
    if named in _MARKS and declared in ("", "plain", "html") and len(_HTML.findall(text[:8192])) >= 3:
        return "html"
    scores = {
        "wikitext": len(_WIKI.findall(text)),
        "markdown": len(_MARKDOWN.findall(text)),
        "restructuredtext": len(_RST.findall(text)),
        "latex": len(_LATEX_WEAK.findall(text)),
    }
    hint = declared if declared not in ("", "plain", "html", "xml") else named
    if hint in scores:
        rival = max(scores, key=lambda kind: scores[kind])
        wrong = scores[hint] == 0 and scores[rival] >= 3 * _STRONG
        return rival if wrong and rival != "markdown" else hint
    best = max(scores, key=lambda kind: scores[kind])
    lines = text.count("\n") + 1
    second = sorted(scores.values())[-2]
    if scores[best] >= max(_STRONG, lines / _LINES_PER_SIGN) and scores[best] >= 2 * second:
        return best
    if (declared or named) == "html" and _HTML.search(text):
        return "html"
    return "plain"


def _is_mail(start: str) -> bool:
    """Headers of a message, as no other text has them: a sender, and what only mail programs write."""
    found = _HEADERS.match(start)
    if not found:
        return False
    names = {name.lower() for name in _HEADER.findall(found.group(1))}
    return "from" in names and bool(names & _MAIL_HEADERS)


def _tell_markup(start: str, declared: str, named: str) -> str:
    """XML and HTML, which begin with an angle bracket."""
    opening = start[:4096].lower()
    root = _ROOT.search(_ASIDE.sub(" ", start))
    tag = root.group(1) if root else ""
    bare = tag.rpartition(":")[2]
    if bare == "FictionBook":
        return "fb2"
    if "<!doctype html" in opening or bare.lower() == "html":
        return "html"
    if tag == "office:document":
        return "odt"
    if "docbook" in opening and bare in _DOCBOOK_ROOTS:
        return "docbook"
    if "dita" in opening and bare in _DITA_ROOTS:
        return "dita"
    if start.startswith("<?xml"):
        if named in ("docbook", "dita", "fb2"):
            return named
        if bare in _DOCBOOK_ROOTS - _DITA_ROOTS:
            return "docbook"
        return "dita" if bare in ("concept", "dita", "bookmap") else "xml"
    if bare in ("article", "book", "chapter", "sect1", "refentry") and re.search(r"<para[\s>]", start):
        return "docbook"
    if len(_HTML.findall(start[:8192])) >= 1 and (
        named not in ("xml", "markdown", "wikitext", "restructuredtext")
    ):
        return "html"
    if named in ("xml", "docbook", "dita"):
        return named
    if declared in ("html", "xml"):
        return declared
    return ""


def _readable(head: bytes) -> str:
    """ASCII is enough to tell markup, whatever the encoding of the words."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", "replace")
    if head[1:2] == b"\x00" or head[:1] == b"\x00":
        return head.replace(b"\x00", b"").decode("latin-1")
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError:
        return head.decode("latin-1")
