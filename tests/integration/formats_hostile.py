"""Broken and hostile documents, made here byte by byte: what each must end as when a folder of them is read.

`corpus` gives name → (bytes, states that are right). ``read`` means that the text is read; ``empty`` that there is none.
SECRET stands in a file outside; the address of a listening server is in many of them: neither may be reached.
"""

from __future__ import annotations

import base64
import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable

SECRET = "canary-7f3a91-outside"
WORDS = "The boats were locked in the ice until March, and nobody in the village minded it much. "
STRANGER = "Снег в городе занимает место, которое летом принадлежит людям. "

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
RELS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
    ' Target="word/document.xml"/></Relationships>'
)
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="book.opf"/></rootfiles></container>'
)
MAIL = (
    b"From: a@b\nMIME-Version: 1.0\nDate: x\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
)
ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)


def zipped(parts: dict[str, str | bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as package:
        for name, content in parts.items():
            package.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()


def docx(body: str, *, before: str = "", **more: str | bytes) -> bytes:
    document = f'<?xml version="1.0"?>{before}<w:document {W}><w:body>{body}</w:body></w:document>'
    return zipped({"[Content_Types].xml": TYPES, "_rels/.rels": RELS, "word/document.xml": document, **more})


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:r>{properties}<w:t>{text}</w:t></w:r></w:p>"


def odt(content: str, manifest: str = "<m/>") -> bytes:
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": content,
            "META-INF/manifest.xml": manifest,
        }
    )


def epub(
    parts: dict[str, str | bytes], *, href: str = "one.xhtml", spine: str = '<itemref idref="one"/>'
) -> bytes:
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        f'<item id="one" href="{href}" media-type="application/xhtml+xml"/></manifest><spine>{spine}</spine></package>'
    )
    return zipped(
        {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "book.opf": opf, **parts}
    )


def pdf(
    content: bytes, *, extra: dict[int, bytes] | None = None, page: bytes = b"", trailer: bytes = b""
) -> bytes:
    """A PDF of one page with Helvetica; *content* is its stream, packed."""
    packed = zlib.compress(content)
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> " + page + b" >> >>",
        4: b"<< /Length %d /Filter /FlateDecode >> stream\n" % len(packed) + packed + b"\nendstream",
        5: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        **(extra or {}),
    }
    return pdf_of(objects, trailer)


def pdf_of(objects: dict[int, bytes], trailer: bytes = b"") -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = {}
    for number, body in sorted(objects.items()):
        places[number] = len(out)
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    size = max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n"
    out += b"trailer << /Size %d /Root 1 0 R " % size + trailer + b" >>\nstartxref\n%d\n%%%%EOF\n" % start
    return bytes(out)


def lines_of(text: str, *, before: str = "", size: int = 12) -> bytes:
    words = text.split()
    rows = [" ".join(words[at : at + 10]) for at in range(0, len(words), 10)]
    shown = " ".join(f"({row}) Tj 0 -16 Td" for row in rows)
    return f"{before} BT /F1 {size} Tf 60 760 Td {shown} ET".encode("latin-1", "replace")


def scanned_pdf() -> bytes:
    image = zlib.compress(b"\xc8" * 64 * 64)
    stream = (
        b"<< /Type /XObject /Subtype /Image /Width 64 /Height 64 /ColorSpace /DeviceGray /BitsPerComponent 8 "
        b"/Filter /FlateDecode /Length %d >> stream\n" % len(image) + image + b"\nendstream"
    )
    return pdf(b"q 595 0 0 842 0 0 cm /Im Do Q", extra={6: stream}, page=b"/XObject << /Im 6 0 R >>")


def form_in_itself() -> bytes:
    """Four copies of itself in each of its copies."""
    content = b"/X Do " * 4 + b"BT /F1 9 Tf 9 9 Td (a b c) Tj ET"
    form = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 500 500] /Resources << /XObject << /X 6 0 R >> "
        b"/Font << /F1 5 0 R >> >> /Length %d >> stream\n" % len(content) + content + b"\nendstream"
    )
    return pdf(b"/X Do", extra={6: form}, page=b"/XObject << /X 6 0 R >>")


def encrypted_pdf() -> bytes:
    key = bytes(range(32)).hex().encode()
    extra = {6: b"<< /Filter /Standard /V 1 /R 2 /O <" + key + b"> /U <" + key + b"> /P -44 >>"}
    return pdf(lines_of(WORDS), extra=extra, trailer=b"/Encrypt 6 0 R /ID [<00> <00>]")


def bomb(size: int) -> bytes:
    """A zip member that says nothing and unpacks to *size* bytes."""
    return zipped({"a.txt": b"0" * size})


def tarred(add: Callable[[tarfile.TarFile], None]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as package:
        data = (WORDS * 3).encode()
        info = tarfile.TarInfo("good.txt")
        info.size = len(data)
        package.addfile(info, io.BytesIO(data))
        add(package)
    return out.getvalue()


def tar_entry(name: str, kind: bytes, target: str = "") -> bytes:
    def add(package: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        package.addfile(info)

    return tarred(add)


def linked_zip(target: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        info = zipfile.ZipInfo("link.txt")
        info.create_system, info.external_attr = 3, 0o120777 << 16
        package.writestr(info, target)
    return out.getvalue()


def protected(data: bytes) -> bytes:
    """The same zip with the sign of encryption on every member."""
    out = bytearray(data)
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = out.find(magic)
        while at >= 0:
            out[at + offset] |= 1
            at = out.find(magic, at + 4)
    return bytes(out)


def damaged(data: bytes) -> bytes:
    """The same zip with other bytes in the middle of its first member."""
    out = bytearray(data)
    at = data.find(b"PK\x01\x02") // 2
    out[at : at + 8] = b"\xff" * 8
    return bytes(out)


def nested_zip(depth: int) -> bytes:
    data = zipped({"deep.txt": WORDS * 3})
    for _ in range(depth):
        data = zipped({"inner.zip": data})
    return data


def laughs(root: str, name: str = "lol") -> str:
    levels = "".join(
        f'<!ENTITY {name}{n} "{"".join(f"&{name}{n - 1};" for _ in range(10))}">' for n in range(1, 10)
    )
    return f'<?xml version="1.0"?><!DOCTYPE {root} [<!ENTITY {name}0 "ha ha">{levels}]>'


def warc(body: bytes, *, length: int | None = None, encoding: str = "") -> bytes:
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
    head += f"Content-Encoding: {encoding}\r\n\r\n" if encoding else "\r\n"
    block = head.encode() + body
    size = len(block) if length is None else length
    return (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/page\r\n"
        b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n"
        % size
        + block
        + b"\r\n\r\n"
    )


def corpus(secret_path: str, address: str) -> dict[str, tuple[bytes, set[str]]]:
    """Name → (bytes, the states that are right)."""
    text = WORDS * 4
    outside = f'<!ENTITY x SYSTEM "file://{secret_path}">'
    remote = f'<!ENTITY x SYSTEM "{address}/entity">'
    page = f"<html><body><p>{text}</p></body></html>"
    good = docx(paragraph(text))
    big = 20_000_000  # over the limit that the test sets
    cases: dict[str, tuple[bytes, set[str]]] = {
        # nothing, or not a document
        "empty.txt": (b"", {"empty"}),
        "empty.docx": (b"", {"empty"}),
        "empty.pdf": (b"", {"empty"}),
        "blank.html": (b" \n\t \n", {"empty"}),
        "zeros.txt": (b"\x00" * 5000, {"unknown_kind"}),
        "picture.txt": (b"\x89PNG\r\n\x1a\n" + b"\x00" * 100, {"unknown_kind"}),
        "picture.docx": (b"\xff\xd8\xff\xe0" + bytes(range(256)), {"unknown_kind"}),
        "program.pdf": (b"\x7fELF\x02\x01\x01" + bytes(500), {"unknown_kind"}),
        "noise.docx": (bytes((i * 7919 + i // 3) % 256 for i in range(5000)), {"broken", "unknown_kind"}),
        "old.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), {"unknown_kind"}),
        "packed.7z": (b"7z\xbc\xaf\x27\x1c" + bytes(200), {"unknown_kind"}),
        "packed.rar": (b"Rar!\x1a\x07\x00" + bytes(200), {"unknown_kind"}),
        "sheet.xlsx": (zipped({"[Content_Types].xml": TYPES, "xl/workbook.xml": "<x/>"}), {"unknown_kind"}),
        # another suffix than the content
        "really-docx.pdf": (good, {"read"}),
        "really-pdf.docx": (pdf(lines_of(text)), {"read"}),
        "really-html.txt": (f"<!DOCTYPE html>{page}".encode(), {"read"}),
        "really-rtf.doc": (rb"{\rtf1\ansi " + text.encode() + b"}", {"read"}),
        "no-suffix": (good, {"read"}),
        # PDF
        "cut.pdf": (pdf(lines_of(text))[:300], {"broken"}),
        "head-only.pdf": (b"%PDF-1.7\n", {"broken"}),
        "garbage.pdf": (b"%PDF-1.4\n" + b"garbage " * 500, {"broken"}),
        "password.pdf": (encrypted_pdf(), {"encrypted"}),
        "scan.pdf": (scanned_pdf(), {"scanned"}),
        "no-pages.pdf": (pdf_of({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [] /Count 0 >>"}), {"broken"}),
        "packed-twice.pdf": (pdf(zlib.compress(lines_of(text))), {"nothing_read"}),
        "form-in-itself.pdf": (form_in_itself(), {"failed"}),
        "page-loop.pdf": (pdf_of({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"}), {"broken", "failed"}),
        "flate-bomb.pdf": (pdf(b" " * 200_000_000), {"failed", "nothing_read", "broken", "too_large"}),
        "many-objects.pdf": (pdf(b"BT /F1 9 Tf 9 9 Td " + b"(a b) Tj " * 1_500_000 + b"ET"), {"failed", "read", "too_large"}),
        "calls-home.pdf": (pdf(lines_of(text), trailer=b"/Info << /A (" + address.encode() + b") >>"), {"read"}),
        # DOCX
        "cut.docx": (good[: len(good) // 2], {"broken"}),
        "damaged.docx": (damaged(docx(paragraph(text * 40))), {"broken"}),
        "password.docx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le") * 2, {"encrypted"}),
        "zip-password.docx": (protected(good), {"encrypted", "broken"}),
        "no-body.docx": (zipped({"[Content_Types].xml": TYPES, "word/styles.xml": "<x/>"}), {"broken"}),
        "bad-xml.docx": (docx("<w:p><w:r>"), {"broken"}),
        "any-zip.docx": (zipped({"a.txt": text}), {"broken"}),
        "bomb.docx": (docx(paragraph("0" * big)), {"too_large"}),
        "laughs.docx": (docx(paragraph("&lol9;"), before=laughs("w:document").split("?>", 1)[1]), {"broken"}),
        "outside.docx": (docx(paragraph(f"{text}&x;"), before=f"<!DOCTYPE w:document [{outside}]>"), {"read", "broken"}),
        "remote.docx": (docx(paragraph(f"{text}&x;"), before=f'<!DOCTYPE w:document SYSTEM "{address}/dtd" [{remote}]>'), {"read", "broken"}),
        "deep.docx": (docx("<w:tbl><w:tr><w:tc>" * 20_000), {"broken"}),
        "many-parts.docx": (docx(paragraph(text), **{f"word/p{i}.xml": "" for i in range(51_000)}), {"too_large"}),
        "far-target.docx": (zipped({"[Content_Types].xml": TYPES, "word/x": "", "_rels/.rels": RELS.replace("word/document.xml", "../../../.." + secret_path)}), {"broken"}),
        # ODT, EPUB, FB2, PPTX
        "password.odt": (odt("x", '<m:manifest xmlns:m="urn:m"><m:encryption-data/></m:manifest>'), {"encrypted"}),
        "no-content.odt": (zipped({"mimetype": "application/vnd.oasis.opendocument.text"}), {"broken"}),
        "bad-xml.odt": (odt("<office:document"), {"broken"}),
        "laughs.odt": (odt(laughs("office:document-content") + f"<office:document-content {ODF}><office:body><text:p>&lol9;</text:p></office:body></office:document-content>"), {"broken"}),
        "drm.epub": (epub({"one.xhtml": page, "META-INF/encryption.xml": '<e xmlns:n="n"><n:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></e>'}), {"encrypted"}),
        "no-spine.epub": (epub({"one.xhtml": page}, spine=""), {"broken"}),
        "outside.epub": (epub({}, href="../../../../.." + secret_path), {"nothing_read", "broken"}),
        "no-container.epub": (zipped({"mimetype": "application/epub+zip"}), {"broken"}),
        "cut.fb2": (f'<?xml version="1.0"?><FictionBook><body><p>{text}'.encode(), {"broken"}),
        "outside.fb2": (f'<?xml version="1.0"?><!DOCTYPE FictionBook [{outside}]><FictionBook><body><p>{text}&x;</p></body></FictionBook>'.encode(), {"read", "broken"}),
        "no-slides.pptx": (zipped({"[Content_Types].xml": TYPES, "ppt/x.xml": "<x/>"}), {"broken"}),
        # pages and XML
        "broken-base64.eml": (MAIL + b"=====!!!!" + base64.b64encode(text.encode())[3:-2], {"nothing_read"}),
        "deep.html": (b"<div>" * 300_000 + text.encode(), {"broken"}),
        "unclosed.html": (b"<html><body>" + b"<font>" * 1_500 + text.encode(), {"read"}),
        "tables.html": (b"<html><body>" + b"<table><tr><td>" * 2_000 + text.encode(), {"broken"}),
        "attribute.html": (b"<html><body><p title='" + b"x" * 12_000_000 + b"'>" + text.encode(), {"read"}),
        "attributes.html": (b"<html><body><p " + b" ".join(b"a%d=1" % i for i in range(300_000)) + b">" + text.encode(), {"read"}),
        "utf-7.html": (f'<html><head><meta charset="utf-7"></head><body><p>{text}+AGE-</p>'.encode(), {"read"}),
        "punycode.html": (f'<html><head><meta charset="punycode"></head><body><p>{text * 100}</p>'.encode(), {"read"}),
        "script.html": (b"<html><script>" + b"var a = 1;" * 2000 + b"</script></html>", {"nothing_read"}),
        "angles.html": (b"<html><body><p>" + text.encode() + b"<" * 500_000, {"read"}),
        "nulls.html": (f"<html><body><p>{text}".encode() + b"\x00" * 40, {"read", "unknown_kind"}),
        "refresh.html": (f'<html><head><meta http-equiv="refresh" content="0;url={address}/next"><link rel="stylesheet" href="{address}/css"></head><body><img src="{address}/i.png"><p>{text}</p></body></html>'.encode(), {"read"}),
        "lying-charset.html": (f'<html><head><meta charset="utf-8"></head><body><p>{STRANGER * 4}</p></body></html>'.encode("windows-1251"), {"read"}),
        "laughs.xml": ((laughs("a") + "<a>&lol9;</a>").encode(), {"broken"}),
        "quadratic.xml": (f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "{"y" * 50_000}">]><a>{"&x;" * 20_000}</a>'.encode(), {"broken", "too_large"}),
        "outside.xml": (f'<?xml version="1.0"?><!DOCTYPE a [{outside}]><a><b>{text}&x;</b></a>'.encode(), {"read", "broken"}),
        "remote.xml": (f'<?xml version="1.0"?><!DOCTYPE a SYSTEM "{address}/a.dtd" [<!ENTITY % p SYSTEM "{address}/p"> %p;]><a><b>{text}</b></a>'.encode(), {"read", "broken"}),
        "include.xml": (f'<?xml version="1.0"?><a xmlns:i="http://www.w3.org/2001/XInclude"><b>{text}</b><i:include href="file://{secret_path}" parse="text"/></a>'.encode(), {"read"}),
        "cut.xml": (f'<?xml version="1.0"?><a><b>{text}'.encode(), {"broken"}),
        "deep.xml": (b'<?xml version="1.0"?>' + b"<a>" * 100_000, {"broken"}),
        # markup
        "deep.rtf": (b"{\\rtf1 " + b"{" * 100_000 + text.encode(), {"broken"}),
        "cut.rtf": (rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}", {"broken", "empty"}),
        "object.rtf": (rb"{\rtf1{\object\objdata 0105000002000000" + b"41" * 2000 + b"}" + text.encode() + b"}", {"read"}),
        "input.tex": (f"\\documentclass{{article}}\\begin{{document}}{text}\\input{{{secret_path}}}\\end{{document}}".encode(), {"read"}),
        "deep.tex": (b"\\documentclass{article}\\begin{document}" + text.encode() + b"\\emph{" * 50_000, {"read", "broken"}),
        "include.rst": (f"Title\n=====\n\n.. include:: {secret_path}\n\n.. raw:: html\n   :file: {secret_path}\n\n{text}".encode(), {"read"}),
        "deep.md": (b"# Title\n\n" + b"> " * 20_000 + text.encode() + b"\n\n" + b"[" * 20_000 + b"\n\n# End\n", {"read", "failed", "broken"}),
        "deep.wiki": (b"== Title ==\n" + text.encode() + b"{{a|" * 50_000 + b"[[b|" * 50_000, {"read", "failed"}),
        # archives; the states are those of their members
        "traversal.zip": (zipped({"../../evil.txt": text, "good.txt": text}), {"refused", "read"}),
        "absolute.zip": (zipped({"/etc/evil.txt": text, "good.txt": text}), {"refused", "read"}),
        "backslash.zip": (zipped({"..\\evil.txt": text}), {"refused"}),
        "link.zip": (linked_zip(secret_path), {"refused"}),
        "password.zip": (protected(zipped({"a.txt": text})), {"encrypted"}),
        "damaged.zip": (damaged(zipped({"a.txt": text * 50})), {"broken"}),
        "bomb.zip": (bomb(big), {"too_large"}),
        "nested.zip": (nested_zip(6), {"refused"}),
        "cut.zip": (zipped({"a.txt": text})[:60], {"broken"}),
        "link.tar": (tar_entry("link.txt", tarfile.SYMTYPE, secret_path), {"refused", "read"}),
        "hard-link.tar": (tar_entry("link.txt", tarfile.LNKTYPE, secret_path), {"refused", "read"}),
        "device.tar": (tar_entry("disk", tarfile.CHRTYPE), {"refused", "read"}),
        "traversal.tar": (tar_entry("../../evil.txt", tarfile.REGTYPE), {"refused", "read"}),
        "cut.tar": (tar_entry("x", tarfile.SYMTYPE, "y")[:900], {"broken", "read"}),
        "cut.txt.gz": (gzip.compress(text.encode() * 500)[:-60], {"unreadable"}),
        "bomb.txt.gz": (gzip.compress(b"0" * big), {"too_large"}),
        # WARC
        "cut.warc": (warc(page.encode())[:-200], {"broken"}),
        "no-length.warc": (b"WARC/1.0\r\nWARC-Type: response\r\n\r\n" + page.encode(), {"broken"}),
        "long.warc": (warc(page.encode(), length=1 << 60), {"too_large"}),
        "bomb.warc": (warc(gzip.compress(b"0" * big), encoding="gzip"), {"too_large"}),
        "good.warc": (warc(page.encode()) + warc(gzip.compress(page.encode()), encoding="gzip"), {"read"}),
    }  # fmt: skip
    return cases
