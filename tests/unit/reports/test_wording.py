"""Every sentence is there in every language, with the same values; every code in the program has its sentence."""

from __future__ import annotations

import ast
import json
import pathlib
import pickle
import re
from collections.abc import Iterator
from typing import Any

import pytest

import doublet
from doublet import errors
from doublet.errors import Broken, InvalidParameter
from doublet.model import LANGUAGES, Note
from doublet.reports.wording import placeholders, wording

PACKAGE = pathlib.Path(doublet.__file__).parent
ERRORS = {
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)
}
ENGLISH, RUSSIAN = wording("en").tables, wording("ru").tables
WORDS = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")
SAID = re.compile(r"[A-Za-z]{2,}(?: [a-z]{2,}|: |$)")
#: made of parts: the code is put together where it is used
MADE = {"value_text", "value_number", "value_list", "value_object"}


def calls() -> Iterator[tuple[str, int, str, ast.Call]]:
    """Notes and errors made anywhere in the package: file, line, name, call."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in {"Note", "note", *ERRORS} and getattr(node.func, "attr", "") not in ERRORS:
                yield str(path.relative_to(PACKAGE)), node.lineno, name, node


def codes(node: ast.expr) -> Iterator[str]:
    """The codes that an argument can be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from codes(node.body)
        yield from codes(node.orelse)


def test_it_works() -> None:
    assert wording("en").say(Note("passage_row", words=2)) == "2 words in a row are equal"
    assert wording("ru").say(Note("passage_row", words=2)) == "совпадает подряд: 2\u00a0слова"


def test_languages_have_the_same_sentences_and_values() -> None:
    assert set(ENGLISH.MESSAGES) == set(RUSSIAN.MESSAGES)
    for code, sentence in ENGLISH.MESSAGES.items():
        assert placeholders(sentence) == placeholders(RUSSIAN.MESSAGES[code]), code


@pytest.mark.parametrize("tables", [ENGLISH, RUSSIAN], ids=LANGUAGES)
def test_a_code_is_in_one_table(tables: Any) -> None:
    """Else one sentence would hide another."""
    parts = [part for part in vars(tables).values() if hasattr(part, "MESSAGES")]
    assert len(parts) >= 8
    assert sum(len(part.MESSAGES) for part in parts) == len(tables.MESSAGES)


@pytest.mark.parametrize("kind", sorted(set(ENGLISH.NAMES) - {"unit"}))
def test_languages_have_the_same_names(kind: str) -> None:
    assert set(ENGLISH.NAMES[kind]) == set(RUSSIAN.NAMES[kind])


def test_languages_have_the_same_labels_of_the_evaluation() -> None:
    from doublet.reports.wording.en import evaluation_page as english
    from doublet.reports.wording.ru import evaluation_page as russian

    assert (set(english.LABELS), set(english.SETS)) == (set(russian.LABELS), set(russian.SETS))


def test_languages_have_the_same_nouns() -> None:
    assert set(ENGLISH.NOUNS) == {noun for noun in RUSSIAN.NOUNS if "." not in noun}
    assert all(len(forms) == 2 for forms in ENGLISH.NOUNS.values())
    assert all(len(forms) == 3 for forms in RUSSIAN.NOUNS.values())


def test_every_code_has_its_sentence() -> None:
    missing = [
        f"{path}:{line} {code}"
        for path, line, name, call in calls()
        for code in codes(call.args[0])
        if code.isidentifier() and code.islower() and code not in ENGLISH.MESSAGES
    ]
    assert not missing, "\n".join(missing)


def test_nothing_is_said_in_words_where_a_code_belongs() -> None:
    """A sentence in place of a code, or words of one among the values, would reach every reader in English."""
    wrong = []
    for path, line, _, call in calls():
        first, values = call.args[0], {keyword.arg: keyword.value for keyword in call.keywords}
        parts = first.values if isinstance(first, ast.JoinedStr) else [first]
        prose = [code for part in parts for code in codes(part) if code and not code.isidentifier()]
        for key, value in values.items():
            texts = [one.value for one in ast.walk(value) if isinstance(one, ast.Constant)]
            prose += [f"{key}={one}" for one in texts if isinstance(one, str) and WORDS.search(one)]
        wrong += [f"{path}:{line} {one}" for one in prose]
    assert not wrong, "\n".join(wrong)


def test_what_is_said_to_people_is_a_code() -> None:
    """Whatever prints a line for people is handed a note, or what a table made of one: never words of its own."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name not in ("say", "write_text", "echo", "tell_read"):
                continue
            said = node.args[0].values if isinstance(node.args[0], ast.JoinedStr) else codes(node.args[0])
            texts = [one.value if isinstance(one, ast.Constant) else one for one in said]
            wrong += [
                f"{path.relative_to(PACKAGE)}:{node.lineno} {one}"
                for one in texts
                if isinstance(one, str)
                and re.search(r"[A-Za-z]{2,}(?: [a-z]{2,}|: |$)", one)
                and not one.isidentifier()
            ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", sorted(ENGLISH.NAMES))
def test_names_are_asked_for_by_codes(kind: str) -> None:
    """The code of a name is no English phrase: it stands in JSON, in databases and in calls."""
    if kind != "help":  # headings that the library of the command line gives
        assert not [code for code in ENGLISH.NAMES[kind] if re.search(r"\s", code)]


def test_values_of_a_sentence_are_given_where_it_is_made() -> None:
    wrong = []
    for path, line, _, call in calls():
        given = {keyword.arg for keyword in call.keywords}
        for code in codes(call.args[0]):
            wanted = placeholders(ENGLISH.MESSAGES.get(code, ""))
            if None not in given and not wanted <= given:
                wrong.append(f"{path}:{line} {code}: {sorted(wanted - given)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_can_be_said(language: str) -> None:
    """With values of the kind that its template asks for: a slip in a template would show the template itself."""
    import string

    say = wording(language)
    for code, template in say.tables.MESSAGES.items():
        values: dict[str, object] = {}
        for _, name, spec, _ in string.Formatter().parse(template):
            if name:
                number = (
                    spec and not spec.startswith(("?", "name.")) and spec not in ("list", "quoted", "date")
                )
                values[name] = 2 if number else values.get(name, "x")
        assert "{" not in say(code, **values).replace("{shown}", "").replace("{all}", "").replace("{{", ""), (
            code
        )


def test_a_note_is_a_value() -> None:
    note = Note("no_field", field="id", found=Note("fields_found", fields=["a", "b"], more=0))
    assert note == Note("no_field", field="id", found=Note("fields_found", fields=("a", "b"), more=0))
    assert hash(note) == hash(pickle.loads(pickle.dumps(note)))
    assert pickle.loads(pickle.dumps(note)) == note
    assert Note.from_dict(json.loads(json.dumps(note.to_dict()))) == note
    assert Note.from_text(note.to_text()) == note
    assert str(note) == "no field 'id'; found 'a', 'b'"
    with pytest.raises(AttributeError):
        note.code = "other"  # type: ignore[misc]


def test_sentences_of_older_reports_and_databases() -> None:
    assert str(Note.from_dict("block quotation")) == "block quotation"
    assert str(Note.from_text("was taken out by hand")) == "was taken out by hand"
    assert Note.from_text("") is None


def test_codes_of_a_newer_version_are_shown_as_they_are() -> None:
    assert wording("ru").say(Note("of_tomorrow", words=3)) == "of_tomorrow (words = 3)"


def test_an_error_speaks_every_language() -> None:
    error = Broken("rtf_too_deep", depth=1000)
    assert str(error) == "is damaged: its groups are nested over 1,000 deep"
    assert wording("ru").say(error.note) == "повреждён: вложенность групп больше 1\u00a0000"
    assert error.to_dict() == {
        "code": "broken",
        "reason": "rtf_too_deep",
        "message": str(error),
        "details": {"depth": 1000},
    }
    with pytest.raises(InvalidParameter, match="languages are en, ru"):
        wording("de")


@pytest.mark.parametrize(
    ("number", "form"), [(1, "слово"), (2, "слова"), (5, "слов"), (11, "слов"), (21, "слово"), (112, "слов")]
)
def test_russian_plurals(number: int, form: str) -> None:
    assert wording("ru").count(number, "word") == f"{number}\u00a0{form}"


def test_russian_numbers_and_dates() -> None:
    say = wording("ru")
    assert say.percent(0.372) == "37,2\u00a0%"
    assert say.number(1234567.5, 1) == "1\u00a0234\u00a0567,5"
    assert say.size(1_300_000_000) == "1,3 ГБ"
    assert say.date("2026-11-16T05:50:00Z") == "16 ноября 2026, 05:50"
    assert wording("en").date("2026-11-16") == "16 November 2026"


def test_no_error_is_said_in_english_alone() -> None:
    found = []
    for path, line, name, call in calls():
        first = call.args[0]
        prose = isinstance(first, ast.JoinedStr) or any(" " in code for code in codes(first))
        if name in ERRORS and prose:
            found.append(f"{path}:{line}")
    assert not found
