"""Text that nobody sees is not part of the text, and is reported with its place (T5)."""

from __future__ import annotations

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "integration"))
from formats_hostile import ODF, TYPES, WORDS, docx, lines_of, odt, paragraph, pdf, scanned_pdf, zipped

from doublet.errors import Scanned
from doublet.text.read import ReadDocument, hidden_summary, read_document

TRICK = "words that nobody can see in this document"
pytestmark = pytest.mark.covers("T5")


def only(found: ReadDocument, reason: str) -> None:
    """The trick was found, once, for this reason, and is not in the text."""
    assert "nobody can see" not in found.text
    assert " ".join(found.text.split()).startswith("The boats were locked")
    assert [str(item.reason) for item in found.hidden] == [reason]
    assert " ".join(found.hidden[0].text.split()) == TRICK
    assert found.disguise.alarm
    assert found.disguise.findings[0].words == 8
    assert "not part of the text" in str(hidden_summary(found))


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ("<w:vanish/>", "hidden"),
        ('<w:vanish w:val="true"/>', "hidden"),
        ('<w:color w:val="FFFFFF"/>', "white"),
        ('<w:color w:val="fdfdfd"/>', "white"),
        ('<w:sz w:val="2"/>', "tiny"),
        ('<w:sz w:val="3"/>', "tiny"),
    ],
)
def test_docx(properties: str, reason: str) -> None:
    body = paragraph(WORDS) + paragraph(TRICK, f"<w:rPr>{properties}</w:rPr>") + paragraph("The end.")
    found = read_document(docx(body), name="essay.docx")
    only(found, reason)
    assert found.hidden[0].place.paragraph == 2
    assert found.text.endswith("The end.")


@pytest.mark.parametrize(
    "properties",
    [
        '<w:vanish w:val="false"/>',
        '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="000080"/>',
        '<w:color w:val="FFFFFF"/><w:highlight w:val="black"/>',
        '<w:color w:val="auto"/>',
        '<w:sz w:val="16"/>',
        '<w:sz w:val="6"/>',
        '<w:color w:val="CCCCCC"/>',
    ],
)
def test_docx_that_hides_nothing(properties: str) -> None:
    found = read_document(docx(paragraph(WORDS) + paragraph(TRICK, f"<w:rPr>{properties}</w:rPr>")))
    assert TRICK in found.text
    assert not found.hidden


def test_docx_of_three_points_is_small_and_seen() -> None:
    body = paragraph(WORDS) + paragraph(TRICK, '<w:rPr><w:sz w:val="6"/></w:rPr>')
    body += paragraph("The end.", '<w:rPr><w:vanish w:val="false"/></w:rPr>')  # so that runs are looked at
    assert not read_document(docx(body), name="essay.docx").hidden


def test_docx_white_in_a_dark_cell_is_seen() -> None:
    cell = '<w:tc><w:tcPr><w:shd w:val="clear" w:fill="1F497D"/></w:tcPr>'
    white = paragraph(TRICK, "<w:rPr><w:color w:val='FFFFFF'/></w:rPr>")
    row = f"<w:tbl><w:tr>{cell}{white}</w:tc></w:tr></w:tbl>"
    assert TRICK in read_document(docx(row)).text


def test_docx_by_its_style() -> None:
    styles = (
        '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:style w:styleId="base"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:styleId="ghost"><w:basedOn w:val="base"/></w:style></w:styles>'
    )
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="s" '
        'Type="http://x/styles" Target="styles.xml"/></Relationships>'
    )
    body = paragraph(WORDS) + paragraph(TRICK, '<w:rPr><w:rStyle w:val="ghost"/></w:rPr>')
    data = docx(body, **{"word/styles.xml": styles, "word/_rels/document.xml.rels": rels})
    only(read_document(data), "hidden")


def test_a_hidden_run_inside_a_sentence_has_its_place() -> None:
    run = '<w:r><w:rPr><w:vanish/></w:rPr><w:t xml:space="preserve">secret </w:t></w:r>'
    body = f'<w:p><w:r><w:t xml:space="preserve">Before </w:t></w:r>{run}<w:r><w:t>after.</w:t></w:r></w:p>'
    found = read_document(docx(body))
    assert found.text == "Before after."
    assert found.hidden[0].place.span == (7, 7)
    assert not found.disguise.alarm  # one word is a leftover


@pytest.mark.parametrize(
    ("style", "reason"),
    [
        ('text:display="none"', "hidden"),
        ('fo:color="#ffffff"', "white"),
        ('fo:font-size="1.5pt"', "tiny"),
        ('fo:font-size="3pt"', ""),
    ],
)
def test_odt(style: str, reason: str) -> None:
    names = (
        'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
        'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
    )
    content = (
        f"<office:document-content {ODF} {names}><office:automatic-styles>"
        f'<style:style style:name="T1"><style:text-properties {style}/></style:style></office:automatic-styles>'
        f"<office:body><office:text><text:p>{WORDS}</text:p>"
        f'<text:p><text:span text:style-name="T1">{TRICK}</text:span></text:p></office:text></office:body>'
        "</office:document-content>"
    )
    found = read_document(odt(content))
    if reason:
        only(found, reason)
    else:
        assert not found.hidden


@pytest.mark.parametrize(
    ("look", "reason"),
    [
        (rb"\v", "hidden"),
        (rb"\cf1", "white"),
        (rb"\cf2", ""),
        (rb"\fs2", "tiny"),
        (rb"\fs3", "tiny"),
        (rb"\fs6", ""),
    ],
)
def test_rtf(look: bytes, reason: str) -> None:
    head = rb"{\rtf1\ansi{\colortbl;\red255\green255\blue255;\red204\green204\blue204;}"
    data = head + WORDS.encode() + rb"\par{" + look + b" " + TRICK.encode() + rb"}\par The end.}"
    found = read_document(data)
    if reason:
        only(found, reason)
    else:
        assert not found.hidden


@pytest.mark.parametrize(
    ("before", "reason"),
    [("1 1 1 rg", "white"), ("3 Tr", "covered"), ("/F1 0.5 Tf", "tiny")],
)
def test_pdf(before: str, reason: str) -> None:
    shown = " ".join(f"({line}) Tj 0 -16 Td" for line in (WORDS[:60], WORDS[60:]))
    content = f"BT /F1 12 Tf 60 760 Td {shown} ET BT /F1 12 Tf {before} 60 600 Td ({TRICK}) Tj ET"
    found = read_document(pdf(content.encode()))
    only(found, reason)
    assert found.hidden[0].place.page == 1


def test_pdf_outside_the_page() -> None:
    content = lines_of(WORDS) + f" BT /F1 12 Tf 60 -300 Td ({TRICK}) Tj ET".encode()
    only(read_document(pdf(content)), "outside")


def test_pdf_white_on_a_dark_ground_is_seen() -> None:
    ground = "0 0 0.5 rg 0 590 595 40 re f 1 1 1 rg"
    content = lines_of(WORDS) + f" {ground} BT /F1 12 Tf 60 600 Td ({TRICK}) Tj ET".encode()
    assert TRICK in read_document(pdf(content)).text


def test_pdf_text_under_the_picture_of_a_scan_is_its_text() -> None:
    import zlib

    image = zlib.compress(b"\xc8" * 64 * 64)
    stream = (
        b"<< /Type /XObject /Subtype /Image /Width 64 /Height 64 /ColorSpace /DeviceGray /BitsPerComponent 8 "
        b"/Filter /FlateDecode /Length %d >> stream\n" % len(image) + image + b"\nendstream"
    )
    content = b"q 595 0 0 842 0 0 cm /Im Do Q " + lines_of(WORDS, before="").replace(b"BT", b"BT 3 Tr", 1)
    found = read_document(pdf(content, extra={6: stream}, page=b"/XObject << /Im 6 0 R >>"))
    assert found.text.startswith("The boats")
    assert not found.hidden


def test_pdf_of_pictures_is_scanned_until_somebody_recognises_them() -> None:
    with pytest.raises(Scanned, match="pictures"):
        read_document(scanned_pdf())
    found = read_document(
        scanned_pdf(), recognise=lambda _, pages: dict.fromkeys(pages, "seen\nby a machine")
    )
    assert found.text == "seen by a machine"
    assert "recognised" in str(found.notes[0])


@pytest.mark.parametrize(
    ("attribute", "reason"),
    [
        ('style="display:none"', "hidden"),
        ('style="color:red; visibility: hidden"', "hidden"),
        ("hidden", "hidden"),
        ('class="ghost"', "hidden"),
        ('style="font-size:0"', "tiny"),
        ('style="color:#fff"', "white"),
        ('style="position:absolute;left:-9999px"', "outside"),
    ],
)
@pytest.mark.parametrize("frame", [True, False])
def test_html(attribute: str, reason: str, frame: bool) -> None:
    page = (
        f"<html><head><style>.ghost {{ display: none }} p.x {{color: red}}</style></head><body><p>{WORDS * 3}</p>"
        f"<p {attribute}>{TRICK}</p><p>{WORDS * 3}</p></body></html>"
    )
    found = read_document(page.encode(), frame=frame)
    assert TRICK not in found.text
    assert [(str(item.reason), item.text) for item in found.hidden] == [(reason, TRICK)]
    assert found.disguise.alarm == (reason != "hidden")  # pages hide their machinery so


@pytest.mark.parametrize(
    "attribute", ['style="color:#fff;background:#000"', 'style="font-size:10px"', 'style="font-size:0.9em"']
)
def test_html_that_hides_nothing(attribute: str) -> None:
    page = f"<html><body><p>{WORDS}</p><p {attribute}>{TRICK}</p></body></html>"
    found = read_document(page.encode(), frame=False)
    assert TRICK in found.text
    assert not found.hidden


def test_html_with_control_characters() -> None:
    page = b"<html><body><p>" + WORDS.encode() + b"</p><i hidden>no</i> \x01tail\x08 words</body></html>"
    assert "tail words" in read_document(page, frame=False).text
    assert (
        "tail words"
        in read_document(page.replace(b"tail", b"\x01\x02\x00\x03" * 3 + b"tail"), frame=False).text
    )


def test_a_page_in_white_is_a_design_and_no_trick() -> None:
    page = (
        f'<html><body><p style="color:#fff">{WORDS * 3}</p><p style="color:white">{TRICK}</p></body></html>'
    )
    found = read_document(page.encode())
    assert TRICK in found.text
    assert not found.hidden


A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"
WHITE = '<a:rPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill></a:rPr>'


def shape(text: str, look: str = "", *, properties: str = "", name: str = "", style: str = "") -> str:
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="x" {name}/><p:nvPr/></p:nvSpPr><p:spPr>{properties}</p:spPr>{style}'
        f"<p:txBody><a:p><a:r>{look}<a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def pptx(shapes: str, *, background: str = "", master: str = "", theme: str = "", map: str = "") -> bytes:
    spaces = f'xmlns:a="{A}" xmlns:p="{P}" xmlns:r="{R}"'
    behind = f"<p:bg>{background}</p:bg>" if background else ""

    def linked(*links: tuple[str, str]) -> str:
        rows = "".join(
            f'<Relationship Id="r{n}" Type="{R}/{k}" Target="{t}"/>' for n, (k, t) in enumerate(links)
        )
        return f'<Relationships xmlns="{LINKS}">{rows}</Relationships>'

    return zipped(
        {
            "[Content_Types].xml": TYPES,
            "_rels/.rels": linked(("officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f'<p:presentation {spaces}><p:sldIdLst><p:sldId r:id="r0"/></p:sldIdLst>'
            '<p:sldSz cx="9144000" cy="6858000"/></p:presentation>',
            "ppt/_rels/presentation.xml.rels": linked(("slide", "slides/slide1.xml")),
            "ppt/slides/slide1.xml": f"<p:sld {spaces}><p:cSld>{behind}<p:spTree>{shapes}</p:spTree></p:cSld></p:sld>",
            "ppt/slides/_rels/slide1.xml.rels": linked(("slideLayout", "../slideLayouts/l.xml")),
            "ppt/slideLayouts/l.xml": f"<p:sldLayout {spaces}><p:cSld><p:spTree/></p:cSld></p:sldLayout>",
            "ppt/slideLayouts/_rels/l.xml.rels": linked(("slideMaster", "../slideMasters/m.xml")),
            "ppt/slideMasters/m.xml": f"<p:sldMaster {spaces}><p:cSld><p:bg><p:bgRef idx='1001'>"
            f"<a:schemeClr val='bg1'/></p:bgRef></p:bg><p:spTree>{master}</p:spTree></p:cSld>{map}</p:sldMaster>",
            "ppt/slideMasters/_rels/m.xml.rels": linked(("theme", "../theme/t.xml")),
            "ppt/theme/t.xml": f"<a:theme {spaces}><a:themeElements><a:clrScheme name='x'>"
            f"{theme or '<a:lt1><a:sysClr val=`window` lastClr=`FFFFFF`/></a:lt1>'.replace('`', chr(34))}"
            "</a:clrScheme></a:themeElements></a:theme>",
        }
    )


FRAME = '<a:xfrm><a:off x="{}" y="{}"/><a:ext cx="900000" cy="300000"/></a:xfrm>'


@pytest.mark.parametrize(
    ("hidden", "reason"),
    [
        (shape(TRICK, WHITE), "white"),
        (shape(TRICK, '<a:rPr><a:solidFill><a:schemeClr val="bg1"/></a:solidFill></a:rPr>'), "white"),
        (shape(TRICK, '<a:rPr><a:solidFill><a:prstClr val="white"/></a:solidFill></a:rPr>'), "white"),
        (shape(TRICK, "<a:rPr><a:noFill/></a:rPr>"), "hidden"),
        (shape(TRICK, name='hidden="1"'), "hidden"),
        (shape(TRICK, '<a:rPr sz="100"/>'), "tiny"),
        (shape(TRICK, '<a:rPr sz="150"/>'), "tiny"),
        (shape(TRICK, properties=FRAME.format(-900000, 0)), "outside"),
        (shape(TRICK, properties=FRAME.format(0, 6858000)), "outside"),
    ],
)
def test_pptx(hidden: str, reason: str) -> None:
    found = read_document(pptx(shape(WORDS) + hidden + shape("The end.")))
    only(found, reason)
    assert found.hidden[0].place.page == 1
    assert found.text.endswith("The end.")


def test_pptx_of_three_points_is_small_and_seen() -> None:
    assert not read_document(pptx(shape(WORDS) + shape(TRICK, '<a:rPr sz="300"/>'))).hidden


def test_pptx_inside_a_paragraph() -> None:
    runs = f"<a:r><a:t>{WORDS}</a:t></a:r><a:r>{WHITE}<a:t>{TRICK}</a:t></a:r><a:r><a:t> The end.</a:t></a:r>"
    found = read_document(pptx(f"<p:sp><p:spPr/><p:txBody><a:p>{runs}</a:p></p:txBody></p:sp>"))
    only(found, "white")


DARK = '<a:solidFill><a:srgbClr val="000080"/></a:solidFill>'


@pytest.mark.parametrize(
    "document",
    [
        pptx(shape(WORDS) + shape(TRICK, WHITE), background=f"<p:bgPr>{DARK}</p:bgPr>"),
        pptx(shape(WORDS) + shape(TRICK, WHITE), background="<p:bgPr><a:gradFill/></p:bgPr>"),
        pptx(shape(WORDS) + shape(TRICK, WHITE, properties=DARK)),
        pptx(shape(WORDS) + shape(TRICK, WHITE, style='<p:style><a:fillRef idx="1"/></p:style>')),
        pptx(shape(WORDS) + shape(TRICK, WHITE) + "<p:pic/>"),
        pptx(shape(WORDS) + shape(TRICK, WHITE), master=shape("", properties=DARK)),
        pptx(shape(WORDS) + shape(TRICK, WHITE), map='<p:clrMap bg1="dk1" tx1="lt1"/>'),
        pptx(shape(WORDS) + shape(TRICK, '<a:rPr sz="800"/>')),
        pptx(shape(WORDS) + shape(TRICK, properties=FRAME.format(-100000, 0))),
        pptx(
            shape(WORDS) + shape(TRICK, '<a:rPr><a:solidFill><a:srgbClr val="C0C0C0"/></a:solidFill></a:rPr>')
        ),
        pptx(shape(WORDS) + shape(TRICK, "<a:rPr><a:ln/><a:noFill/></a:rPr>")),
    ],
)
def test_pptx_that_hides_nothing(document: bytes) -> None:
    found = read_document(document)
    assert TRICK in found.text
    assert not found.hidden
