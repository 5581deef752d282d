"""The command line in Russian: help of every command and option, results, notes, errors; who decides the language."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import click
import pytest

from doublet.cli import language
from doublet.cli.exits import guarded
from doublet.cli.help import option_name, told
from doublet.cli.root import root
from doublet.reports.wording import wording


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    language.use("en")


def commands(command: click.Command = root, path: str = "") -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from commands(found, f"{path} {name}".strip())


def test_every_command_and_option_has_help_in_both_languages() -> None:
    language.use("ru")
    missing = []
    for path, command in commands():
        if not command.help or not told(path):
            missing.append(path)
        missing += [
            f"{path} {option_name(param)}"
            for param in command.params
            if isinstance(param, click.Option) and not (param.help and told(path, option_name(param)))
        ]
    assert not missing, missing


def test_no_help_for_what_there_is_not() -> None:
    known = {""}
    for path, command in commands():
        known.add(path)
        for param in (*command.params, *command.get_params(click.Context(command))):
            if isinstance(param, click.Option):
                known |= {option_name(param), f"{path} {option_name(param)}"}
    assert set(wording("ru").tables.HELP) <= known


@pytest.mark.parametrize(
    ("arguments", "environment", "spoken"),
    [
        ([], {}, "en"),
        ([], {"LANG": "ru_RU.UTF-8"}, "ru"),
        ([], {"LC_ALL": "C", "LANG": "ru_RU.UTF-8"}, "en"),
        ([], {"DOUBLET_LANGUAGE": "ru", "LANG": "en_GB.UTF-8"}, "ru"),
        (["compare", "--language", "en"], {"DOUBLET_LANGUAGE": "ru"}, "en"),
        (["--language=ru", "compare"], {}, "ru"),
        (["compare", "--", "--language", "ru"], {}, "en"),
        (["--language", "de"], {"LANG": "ru_RU"}, "en"),
    ],
)
def test_who_decides(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    environment: dict[str, str],
    spoken: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert language.find(arguments, environment) == spoken


def test_the_settings_file_decides(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "doublet.toml").write_text('language = "ru"\n')
    monkeypatch.chdir(tmp_path)
    assert language.find([], {"LANG": "en_GB.UTF-8"}) == "ru"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = guarded(["--language", "ru", *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_results_and_notes(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "Один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать."
    (tmp_path / "a.txt").write_text(words)
    (tmp_path / "b.txt").write_text(words)
    code, out, _ = run(capsys, "compare", str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    assert (code, "Совпадают дословно: сходство 1,000" in out) == (0, True)
    assert "100\u00a0% есть в B" in out
    (tmp_path / "b.txt").write_text("")
    _, out, _ = run(capsys, "compare", str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    assert "Примечание: в тексте B нет слов" in out
    code, out, _ = run(
        capsys, "compare", str(tmp_path / "a.txt"), str(tmp_path / "a.txt"), "--format", "json"
    )
    assert json.loads(out)["reason"] == {
        "code": "all_words_equal",
        "values": {},
        "message": "all words are equal",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "gone.txt", "gone.txt"], "нет такого файла или папки: «gone.txt»"),
        (["compare", "a"], "не указано: B"),
        (["chek"], "команды «chek» нет, может быть, «check»?"),
        (["dedupe", "--methd", "x"], "параметра --methd нет, может быть, --method?"),
        (["dedupe", "x", "--threshold", "7"], "--threshold равно '7': нужна доля, например 0.8 или 80%"),
        (["methods", "minhsh"], "метода «minhsh» нет, может быть, «minhash»?"),
    ],
)
def test_errors(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert code in (2, 4)
    assert (out, message in err) == ("", True), err


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "library", "add", "--help")
    assert "Вызов: doublet library add" in out
    assert "Показать эту справку и выйти." in out
    assert "[по умолчанию: 10]" in " ".join(out.split())
    _, out, _ = run(capsys, "check", "--help")
    assert "без документов, на которые указывают только характерные основы слов" in " ".join(out.split())
    assert guarded(["library", "--help"]) == 0
    assert "Commands:" in capsys.readouterr().out


def test_a_library(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "a.txt"
    text.write_text("Лодки стояли во льду до марта, и никто в деревне об этом не жалел.", encoding="utf-8")
    common = ["--database", str(tmp_path / "l.db"), "--language", "ru"]
    for line in (["create", "one"], ["add", "one", str(text)]):
        assert guarded(["library", *line, *common]) == 0
    capsys.readouterr()
    for line, said in (
        (["list"], "документы"),
        (["show", "one"], "записи: сохранено"),
        (["show", "one"], "закончен"),
        (["documents", "one"], "название"),
        (["verify"], "Всё в порядке: one."),
    ):
        assert guarded(["library", *line, *common]) == 0
        assert said in capsys.readouterr().out


def test_methods(capsys: pytest.CaptureFixture[str]) -> None:
    from doublet.signatures import methods

    known = {info.name for info in methods()}
    assert set(wording("ru").tables.METHODS) == known
    _, out, _ = run(capsys, "methods")
    assert "Параметры метода" in out and "Сравнивает все цепочки слов" in out
    _, out, _ = run(capsys, "methods", "minhash")
    assert "Наименьшее, что должно быть в тексте" in out and "Параметры" in out
