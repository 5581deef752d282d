"""Languages, forms and thesauri: with everything installed, and with nothing."""

from __future__ import annotations

import gzip
import importlib
import random
from pathlib import Path

import pytest

from doublet.errors import ConfigError, InvalidParameter
from doublet.evaluation import changes as making
from doublet.evaluation import russian, thesaurus
from doublet.evaluation.changes import Surroundings
from doublet.evaluation.english import EnglishForms, plural
from doublet.evaluation.russian import RussianForms
from doublet.evaluation.thesaurus import find_thesaurus, load_thesaurus
from doublet.evaluation.words import language_of, like, make_language
from doublet.model import Document

pytestmark = pytest.mark.covers("E1")
TEXT = "Новые документы лежат на столе. Мы читаем документы каждый день и пишем короткие заметки о каждом документе."


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_it_works(tmp_path: Path) -> None:
    found = load_thesaurus(
        write(tmp_path / "a.dat", "UTF-8\nдом|2\n(синоним)|здание|строение|жилой дом\n(антоним)|поле\n")
    )
    assert found.synonyms("дом") == ("здание", "строение")
    assert found.synonyms("поле") == ()
    assert len(found) == 1


def test_damaged_relations_broader_terms_and_expressions_are_left_out(tmp_path: Path) -> None:
    text = "UTF-8\nbig|2\n(adj)|large|little (antonym)|size (generic term)|great (similar term)\n"
    text += "(синоним)а|huge\nbig deal|1\n(n)|x\n"
    found = load_thesaurus(write(tmp_path / "a.dat", text))
    assert found.synonyms("big") == ("great", "huge", "large")
    assert "big deal" not in found.entries


def test_packed_and_other_encodings(tmp_path: Path) -> None:
    body = "KOI8-R\nдом|1\n(син)|здание\n".encode("koi8-r")
    path = tmp_path / "a.dat.gz"
    path.write_bytes(gzip.compress(body))
    assert load_thesaurus(path).synonyms("дом") == ("здание",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("UTF-8\nдом\n", "line 2"),
        ("nonsense\nдом|1\n(x)|y\n", "encoding"),
        ("UTF-8\nдом|1\n(x)|y\nтут что-то ещё\n", "line 4"),
    ],
)
def test_a_file_that_is_no_thesaurus_is_told(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_thesaurus(write(tmp_path / f"{abs(hash(content))}.dat", content))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.dat"):
        load_thesaurus(tmp_path / "none.dat")


def test_halves_share_no_headword_and_lose_none(tmp_path: Path) -> None:
    words = [chr(1072 + i) * 3 + chr(1072 + j) for i in range(20) for j in range(20)]
    whole = load_thesaurus(
        write(tmp_path / "a.dat", "UTF-8\n" + "".join(f"{w}|1\n(син)|здание\n" for w in words))
    )
    first, second = whole.half("first"), whole.half("second")
    assert not set(first.entries) & set(second.entries)
    assert set(first.entries) | set(second.entries) == set(whole.entries)
    assert 120 < len(first) < 280
    assert whole.half("all") is whole


def test_without_a_thesaurus_words_come_from_the_collection_and_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thesaurus, "FOLDERS", ())
    assert find_thesaurus("ru") is None
    made = make_language("ru", [TEXT])
    assert any("no thesaurus" in str(note) for note in made.notes)
    changed = making.apply(making.change("synonyms-60"), Document("a", TEXT), Surroundings(made), seed=1)
    assert changed.counts.get("from_thesaurus", 0) == 0
    assert changed.counts["from_collection"] > 0


def test_without_pymorphy_words_keep_their_form_and_it_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(russian.importlib, "import_module", absent)
    path = write(tmp_path / "a.dat", "UTF-8\nдень|1\n(син)|сутки\n")
    made = make_language("ru", [TEXT], thesaurus=path)
    monkeypatch.setattr(russian.importlib, "import_module", importlib.import_module)
    assert any("pymorphy3" in str(note) for note in made.notes)
    assert made.synonym("День", random.Random(1)) == "Сутки"
    changed = making.apply(making.change("tense-number"), Document("a", TEXT), Surroundings(made), seed=1)
    assert changed.text == TEXT


def test_russian_forms() -> None:
    forms = RussianForms()
    if not forms.full:
        pytest.skip("pymorphy3 is not installed")
    assert forms.agree("большой", "маленькими") == "большими"
    assert forms.agree("бежать", "шла") == "бежала"
    assert forms.agree("дом", "быстро") is None
    assert forms.other_number_or_tense("столы") == "стол"
    assert forms.other_number_or_tense("писал") == "пишет"
    assert forms.form("и") == ""
    assert forms.form("москва") == ""


def test_english_forms() -> None:
    forms = EnglishForms({"use", "apply", "box", "stop", "make", "walk", "file"}.__contains__)
    assert [forms.lemma(w) for w in ("used", "applied", "boxes", "stopping", "making", "unknown")] == [
        *("use", "apply", "box", "stop", "make", "unknown"),
    ]
    assert forms.agree("utilize", "using") == "utilizing"
    assert forms.agree("carry", "applied") == "carried"
    assert forms.agree("run", "stopping") == "running"
    assert (plural("box"), plural("city"), plural("day")) == ("boxes", "cities", "days")
    assert forms.other_number_or_tense("is") == "was"
    assert forms.other_number_or_tense("was") == "is"
    assert forms.other_number_or_tense("files") == "file"
    assert forms.other_number_or_tense("walked") == "walks"


def test_language_and_capitals() -> None:
    assert language_of("кот and пёс и ещё кто-то") == "ru"
    assert language_of("") == "en"
    assert (like("дом", "Стол"), like("дом", "СТОЛ"), like("дом", "стол")) == ("Дом", "ДОМ", "дом")
    with pytest.raises(InvalidParameter):
        make_language("de", [])
