"""Tuned numbers of PDF, encodings, titles, disguise and sentences, from both sides: one that is halved or doubled
changes an answer here."""

from __future__ import annotations

import pathlib
import sys
import types
import zlib
from typing import Any

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "integration"))
from formats_hostile import ODF, WORDS, docx, lines_of, odt, paragraph, pdf

from doublet.text import disguise, encoding
from doublet.text.disguise import find_disguise
from doublet.text.formats import pdf as reader
from doublet.text.language import language_of
from doublet.text.paragraphs import paragraphs
from doublet.text.read import read_document
from doublet.text.reduce import reducer, roots
from doublet.text.sentences import sentences
from doublet.text.titles import sensible

TRICK = "words that nobody can see in this document"


def split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


def shown_in_pdf(before: str, *, extra: dict[int, bytes] | None = None, page: bytes = b"") -> bool:
    content = lines_of(WORDS) + f" BT /F1 12 Tf {before} 60 600 Td ({TRICK}) Tj ET".encode()
    return TRICK in " ".join(read_document(pdf(content, extra=extra, page=page)).text.split())


@pytest.mark.covers("T5")
def test_text_of_a_point_and_a_half_is_tiny() -> None:
    assert not shown_in_pdf("/F1 1.4 Tf")
    assert shown_in_pdf("/F1 1.6 Tf")


@pytest.mark.covers("T5")
def test_nearly_white_text_is_white() -> None:
    assert not shown_in_pdf(f"{241 / 255:.4f} g")
    assert shown_in_pdf(f"{238 / 255:.4f} g")


@pytest.mark.covers("T5")
@pytest.mark.parametrize(("levels", "seen_through"), [(4, True), (5, False)])
def test_hidden_text_is_looked_for_in_four_forms_inside_each_other(levels: int, seen_through: bool) -> None:
    extra = {}
    for level in range(1, levels + 1):
        last = level == levels
        drawn = f"BT /F1 12 Tf 1 g 60 600 Td ({TRICK}) Tj ET" if last else "/X Do"
        inner = "" if last else f"/XObject << /X {6 + level} 0 R >>"
        head = (
            f"<< /Type /XObject /Subtype /Form /BBox [0 0 595 842] /Length {len(drawn)} "
            f"/Resources << /Font << /F1 5 0 R >> {inner} >> >> stream\n"
        )
        extra[5 + level] = f"{head}{drawn}\nendstream".encode()
    found = read_document(pdf(lines_of(WORDS) + b" /X Do", extra=extra, page=b"/XObject << /X 6 0 R >>"))
    assert bool(found.hidden) is seen_through


@pytest.mark.covers("T5")
@pytest.mark.parametrize(("share", "scanned"), [(0.45, True), (0.35, False)])
def test_a_large_picture_is_the_page(share: float, scanned: bool) -> None:
    image = zlib.compress(b"\xc8" * 64 * 64)
    stream = (
        b"<< /Type /XObject /Subtype /Image /Width 64 /Height 64 /ColorSpace /DeviceGray /BitsPerComponent 8 "
        b"/Filter /FlateDecode /Length %d >> stream\n" % len(image) + image + b"\nendstream"
    )
    picture = f"q 595 0 0 {842 * share:.0f} 0 0 cm /Im Do Q ".encode()
    hidden = f" BT 3 Tr /F1 12 Tf 60 100 Td ({TRICK}) Tj ET".encode()
    data = pdf(picture + lines_of(WORDS) + hidden, extra={6: stream}, page=b"/XObject << /Im 6 0 R >>")
    assert bool(read_document(data).hidden) is not scanned


def frame_of(pages: int, heads: int, height: float) -> int:
    """Of so many pages, so many with the same line at a height (1 is the top): how many of those lines stay."""
    made: list[Any] = []
    for number in range(pages):
        lines = [
            types.SimpleNamespace(text=f"body {n} of {number} {'x' * n}", top=400.0 - 10 * n)
            for n in range(8)
        ]
        text = (
            "The same line of words"
            if number < heads
            else f"Line {'abcdefghijklmnopqrstuvwxyz'[number]} alone"
        )
        lines.append(types.SimpleNamespace(text=text, top=1000.0 * height))
        made.append(types.SimpleNamespace(lines=lines, height=1000.0))
    reader._drop_frame(made)
    return sum(line.text.startswith("The same") for page in made for line in page.lines)


@pytest.mark.covers("T3")
def test_running_heads_are_near_the_edge_and_on_a_third_of_the_pages() -> None:
    assert frame_of(4, 4, 0.89) == 0
    assert frame_of(4, 4, 0.85) == 4
    assert frame_of(20, 7, 0.95) == 0
    assert frame_of(20, 6, 0.95) == 6


@pytest.mark.covers("T3")
def test_columns_have_eight_lines() -> None:
    for count, columns in ((8, True), (7, False)):
        lines: list[Any] = [
            types.SimpleNamespace(left=left, right=left + 200.0, text="four words in each")
            for left in (50.0, 300.0)
            for _ in range(count)
        ]
        assert reader._are_columns(lines, 275.0) is columns


@pytest.mark.covers("T1")
def test_a_declaration_is_looked_for_in_the_first_kilobytes() -> None:
    meta = b'<meta charset="koi8-r">'
    assert encoding.declared_encoding(b" " * 4_000 + meta) == "koi8-r"
    assert encoding.declared_encoding(b" " * 4_200 + meta) == ""


@pytest.mark.covers("T3")
def test_a_title_is_no_paragraph() -> None:
    assert sensible("слово " * 48 + "конец")
    assert not sensible("слово " * 51 + "конец")


@pytest.mark.covers("T4")
def test_numbers_and_times_do_not_end_a_sentence() -> None:
    assert split("Приложение 12. Снег лежит.") == ["Приложение 12. Снег лежит."]
    long = "10.10.10.10.10.10.10.10.10."
    assert split(f"{long} Снег лежит.") == [long, "Снег лежит."]
    when = "Только в нижегородской губернии 1812–1813 гг. Наполеон начал поход."
    assert split(when) == [when]
    longer = "Начиная с нижегородского землевладельческого 12 сентября 1812 г."
    assert split(f"{longer} Наполеон начал поход.") == [longer, "Наполеон начал поход."]


@pytest.mark.covers("T5")
def test_marks_on_one_letter() -> None:
    assert disguise._count_marks("аби\u0306" + "\u0336" * 7 + "в") == 7  # й and seven more
    assert disguise._count_marks("аби\u0306" + "\u0336" * 8 + "в") == 9  # no letter any more


@pytest.mark.covers("T5")
def test_letters_of_two_alphabets_apart_are_a_formula_while_they_are_few() -> None:
    assert disguise._is_formula("x и y в z и t")
    assert not disguise._is_formula("x и y в z и t в")


@pytest.mark.covers("T5")
@pytest.mark.parametrize(("apart", "alarm"), [(9, True), (12, False)])
def test_ten_disguised_words_in_a_passage_are_enough(apart: int, alarm: bool) -> None:
    """One word in so many has a Latin letter; the text is long, so that its share decides nothing."""
    words = [f"слово{'абвгдежзик'[n % 10]}{'клмнопрсту'[n // 10 % 10]}" for n in range(4_000)]
    for place in range(10):
        words[apart * place] = words[apart * place].replace("о", "o", 1)
    assert find_disguise(" ".join(words)).alarm is alarm


@pytest.mark.covers("T5")
def test_nine_disguised_words_in_a_passage_are_not() -> None:
    words = [f"слово{'абвгдежзик'[n % 10]}{'клмнопрсту'[n // 10 % 10]}" for n in range(4_000)]
    for place in range(9):
        words[place] = words[place].replace("о", "o", 1)
    assert not find_disguise(" ".join(words)).alarm


@pytest.mark.covers("T5")
@pytest.mark.parametrize(("misplaced", "alarm"), [(8, False), (12, True)])
def test_soft_hyphens_are_typesetting_while_few_are_misplaced(misplaced: int, alarm: bool) -> None:
    letters = "абвгдежзик"
    words = [f"сло\u00adво{letters[n % 10]}{'клмн'[n // 10 % 4]}" for n in range(30)]
    words += [f"с\u00adлово{letters[n % 10]}" for n in range(misplaced)]
    assert find_disguise(" ".join(words)).alarm is alarm


@pytest.mark.covers("T5")
@pytest.mark.parametrize(("headings", "alarm"), [(11, False), (15, True)])
def test_capitals_set_apart_are_headings_while_they_are_few(headings: int, alarm: bool) -> None:
    capitals = (
        "ГОРОД СНЕГА ПОЛЯНА ДОРОГА ЗИМА РЕКА БЕРЕГ ЛЕСНОЙ КРАЙ СОЛНЦЕ ВЕТЕР МОРОЗ ТРОПА ОЗЕРО ХОЛМЫ".split()
    )
    plain = [f"слово{'абвгдежзик'[n % 10]}{'клмнопрсту'[n // 10]}" for n in range(100)]
    text = ". ".join(" ".join(word) for word in capitals[:headings]) + ". " + " ".join(plain)
    assert find_disguise(text).alarm is alarm


@pytest.mark.covers("T5")
@pytest.mark.parametrize(("apart", "honest"), [(35, True), (45, False)])
def test_a_look_alike_near_a_transcription_is_honest(apart: int, honest: bool) -> None:
    text = f"ˈprɛslɪ {'и' * (apart - 9)} слoвами дальше"
    assert (find_disguise(text).findings == ()) is honest


# Language, roots and lines


@pytest.mark.parametrize(("stop_words", "language"), [(8, "latin"), (18, "en")])
def test_english_has_stop_words(stop_words: int, language: str) -> None:
    """Of a hundred words."""
    assert language_of("the " * stop_words + "xylofon " * (100 - stop_words)) == language


def test_a_root_has_five_letters() -> None:
    assert roots(reducer("stem")(["решение", "решённый", "переписывание", "дом"])) == [
        "решен",
        "решен",
        "переп",
        "дом",
    ]


def test_lines_of_a_hundred_characters_are_wrapped_and_equal_ones_go_on() -> None:
    line = ("слово " * 20).strip()
    assert len(line) == 119
    assert len(paragraphs(f"{line}\n{line}\n{line}")) == 1
    assert len(paragraphs(f"{line}\nСлово {line[6:]}\nСлово {line[6:]}")) == 1


def test_a_line_of_four_fifths_of_the_width_is_not_short() -> None:
    long, shorter = "а" * 49 + " " + "б" * 50, "в" * 40 + " " + "г" * 41
    assert len(paragraphs(f"{long}\n{shorter}\nМы {long[3:]}")) == 1
    assert len(paragraphs(f"{long}\n{shorter[:60]}\nМы {long[3:]}")) == 2


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@pytest.mark.parametrize(("before", "title"), [(45, "A title on its page"), (90, "")])
def test_a_title_is_among_the_first_sixty_paragraphs(before: int, title: str) -> None:
    styles = f'<w:styles xmlns:w="{W}"><w:style w:styleId="t"><w:name w:val="Title"/></w:style></w:styles>'
    links = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="s" '
        'Type="http://x/styles" Target="styles.xml"/></Relationships>'
    )
    named = '<w:p><w:pPr><w:pStyle w:val="t"/></w:pPr><w:r><w:t>A title on its page</w:t></w:r></w:p>'
    body = paragraph("A line of some words.") * before + named
    data = docx(body, **{"word/styles.xml": styles, "word/_rels/document.xml.rels": links})
    assert read_document(data, name="x.docx").title == title
    text = "<text:p>A line of some words.</text:p>" * before
    text += '<text:p text:style-name="Title">A title on its page</text:p>'
    content = f"<office:document-content {ODF}><office:body><office:text>{text}</office:text></office:body>"
    assert read_document(odt(f"{content}</office:document-content>"), name="x.odt").title == title


def titled(before: str, depth: int) -> str:
    """The title found for a document in which it lies so many elements deep, behind others of its level."""
    around = [f"part{level}" for level in range(1, depth)]
    opened, closed = "".join(f"<{name}>" for name in around), "".join(f"</{name}>" for name in around[::-1])
    data = (
        f"<?xml version='1.0'?><all>{opened}{before}<title>Snow</title>{closed}<p>Words of a text.</p></all>"
    )
    return read_document(data.encode(), name="one.xml").title


@pytest.mark.covers("T3")
def test_a_title_is_looked_for_in_five_levels_and_in_fifty_elements_of_each() -> None:
    assert [titled("", depth) for depth in (1, 5, 6)] == ["Snow", "Snow", ""]
    assert [titled("<date/>" * count, 2) for count in (49, 50)] == ["Snow", ""]
