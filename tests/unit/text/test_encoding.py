"""Bytes become text in the encoding they were written in; what is no text says what it is."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.errors import Unreadable
from doublet.reports.wording import wording
from doublet.text.encoding import DAMAGED, binary_kind, decode, detect

RUSSIAN = (
    "Ранним утром рыбак вышел к реке и увидел на том берегу огонь. Он не удивился: так бывало каждую осень, "
    "когда пастухи возвращались с дальних лугов. Вода стояла высоко, и лодка качалась у самых ступеней."
)
UKRAINIAN = "Рано-вранці рибалка вийшов до річки й побачив на тому березі вогонь. Їхній човен ще не відплив."


@pytest.mark.parametrize(
    "encoding", ["windows-1251", "koi8-r", "cp866", "iso8859-5", "mac-cyrillic", "utf-8"]
)
def test_it_works(encoding: str) -> None:
    assert decode(RUSSIAN.encode(encoding)) == (RUSSIAN, encoding)


@pytest.mark.parametrize("encoding", ["windows-1251", "koi8-r", "cp866"])
@pytest.mark.parametrize(
    "text", [RUSSIAN.upper(), "Привет, мир!", "Глава 1. IEEE-754 и числа с плавающей точкой"]
)
def test_capitals_short_and_mixed_texts(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == (text, encoding)


def test_ukrainian_in_windows_1251() -> None:
    assert decode(UKRAINIAN.encode("windows-1251")) == (UKRAINIAN, "windows-1251")


@pytest.mark.parametrize("text", ["Le café où l'été dure", "“Quoted” — with dashes", "Müller und Söhne"])
def test_western_texts_are_not_taken_for_russian(text: str) -> None:
    assert decode(text.encode("windows-1252")) == (text, "windows-1252")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [RUSSIAN, "plain English words, nothing else"])
def test_wide_encodings_with_and_without_a_mark(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding))[0] == text


def test_letters_set_apart_by_blanks_are_not_utf_16() -> None:
    text = "a b c d e f g h i j k l"
    assert decode(text.encode()) == (text, "utf-8")


@given(st.text())
def test_every_text_without_control_characters_survives_as_utf8(text: str) -> None:
    clean = "".join(c for c in text if c.isprintable() or c in "\n\t")
    data = clean.encode("utf-8", "replace")
    if not data.startswith((codecs.BOM_UTF8, b"GIF8", b"Rar!", b"PAR1", b"%PDF-", b"{\\rtf")):
        assert decode(data)[0] == data.decode()


def test_empty() -> None:
    assert decode(b"") == ("", "utf-8")


def test_a_few_damaged_bytes_do_not_make_utf8_something_else() -> None:
    data = (RUSSIAN * 10).encode()
    text, encoding = decode(data[:501] + b"\xff" + data[502:])
    assert encoding == DAMAGED
    assert "�" in text
    assert text.count("рыбак") == 10


def test_a_character_cut_by_the_end_of_the_sample_is_no_damage() -> None:
    sample = RUSSIAN.encode()[:101]
    assert detect(sample) == "utf-8"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "PDF"),
        (b"PK\x03\x04\x14\x00", "ZIP"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\x7fELF\x02\x01", "program"),
        (bytes(range(256)) * 4, "binary"),
        (b"some\x00text", "binary"),
    ],
)
def test_what_is_no_text_says_what_it_is(data: bytes, kind: str) -> None:
    with pytest.raises(Unreadable, match=kind):
        decode(data)
    assert kind in wording("en").name("file", binary_kind(data))


def test_bytes_of_an_unknown_encoding_ask_for_utf8() -> None:
    with pytest.raises(Unreadable, match="UTF-8"):
        decode("これは日本語の文章です。漢字とかなが混ざっています。".encode("shift_jis"))
