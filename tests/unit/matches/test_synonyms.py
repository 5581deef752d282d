"""With a thesaurus reworded sentences are seen through synonyms: the same in every place that compares or checks."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import doublet
from doublet.cli import run
from doublet.jobs.check_class import check_class
from doublet.jobs.check_many import against_documents
from doublet.jobs.dedupe.documents import opened
from doublet.progress import Progress
from doublet.signatures.thesaurus import find_thesaurus
from doublet.sources.works import WorkFile

pytestmark = pytest.mark.covers("M14", "K2")

#: four synonyms for each of six sentences
PAIRS = [
    tuple(pair.split("/"))
    for pair in """врач/доктор пациент/больной лекарство/препарат болезнь/недуг
    дорога/путь деревня/село буря/шторм лошадь/скакун ночлег/приют рассказ/повествование битва/сражение враг/неприятель
    моряк/матрос огонь/пламя лес/чаща зверь/животное учитель/педагог ошибка/промах закон/правило суд/трибунал
    хозяин/владелец двор/усадьба дождь/ливень забор/ограда""".split()
]
NAMES = ["Калязин", "Скнятино", "Макаров", "Тихомиров", "Весьегонск", "Кашин"]
SOURCE, REWORDED = (
    " ".join(
        "{}: {}, {}, {} и {}.".format(
            NAMES[n], *(PAIRS[4 * n + (step * i + side) % 4][side] for i in range(4))
        )
        for n in range(6)
    )
    for side, step in ((0, 1), (1, 3))
)
OWN = " ".join(
    f"Мы с братом чинили сарай номер {n} и красили его крышу краской сорта {n * 7}." for n in range(6)
)
WORK, ORIGINAL = f"{OWN} {REWORDED}", f"{SOURCE} Весной река вышла из берегов и затопила луга."


@pytest.fixture
def thesaurus(tmp_path: Path) -> str:
    lines = ["UTF-8"]
    for one, other in PAIRS:
        lines += [f"{one}|1", f"(синоним)|{other}", f"{other}|1", f"(синоним)|{one}"]
    path = tmp_path / "synonyms.dat"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_compare(thesaurus: str) -> None:
    assert not doublet.compare(WORK, ORIGINAL).fragments
    told = doublet.compare(WORK, ORIGINAL, thesaurus=thesaurus).fragments
    assert "недуг" in " ".join(WORK[one.a.start : one.a.end] for one in told)
    assert all(one.a.start >= len(OWN) for one in told)


def test_checks(thesaurus: str, tmp_path: Path) -> None:
    documents = [("source", ORIGINAL)]
    assert doublet.check(WORK, documents).share == 0.0
    found = doublet.check(WORK, documents, thesaurus=thesaurus)
    assert found.share > 0.1
    content = find_thesaurus(thesaurus)
    assert content is not None
    assert (found.parameters["thesaurus"], found.parameters["thesaurus_content"]) == (
        thesaurus,
        content.fingerprint,
    )
    with doublet.open_library(tmp_path / "library.db") as library:
        library.add(documents)
        assert library.check(WORK).share == 0.0
        stored = library.check(WORK, thesaurus=thesaurus)
    assert stored.share == found.share
    assert [one.fragments for one in stored.sources] == [one.fragments for one in found.sources]


def test_works_among_themselves(thesaurus: str) -> None:
    works = [
        WorkFile("anna", data=ORIGINAL.encode(), title="anna"),
        WorkFile("boris", data=WORK.encode(), title="boris"),
    ]
    with opened([("other", "Совсем другой текст о звёздах и телескопах.")]) as source:
        plain = check_class(works, against_documents(source))
        found = check_class(works, against_documents(source, thesaurus=thesaurus))
    assert not plain.among.pairs
    assert {(one.a, one.b) for one in found.among.pairs} == {("anna", "boris"), ("boris", "anna")}


def test_the_command_line(
    thesaurus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("work.txt").write_text(WORK, encoding="utf-8")
    Path("source.txt").write_text(ORIGINAL, encoding="utf-8")
    Path("doublet.toml").write_text(f'thesaurus = "{Path(thesaurus).name}"\n', encoding="utf-8")

    def share(*more: str) -> float:
        assert (
            run(["check", "work.txt", "--against", "source.txt", "--format", "json", "--quiet", *more]) == 0
        )
        return float(json.loads(capsys.readouterr().out)["share"])

    with_it = share()
    assert with_it > 0.1
    Path("doublet.toml").unlink()
    assert share() == 0.0
    assert share("--thesaurus", Path(thesaurus).name) == with_it


def test_a_thesaurus_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(doublet.DoubletError, match="cannot be read"):
        doublet.check(WORK, [("source", ORIGINAL)], thesaurus=str(tmp_path / "none.dat"))


def test_the_service_uses_that_of_the_installation(thesaurus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from doublet.web import checkers

    found: list[dict[str, object]] = []
    monkeypatch.setattr(checkers, "settings", SimpleNamespace(DOUBLET=None))
    monkeypatch.setattr(checkers, "program_settings", lambda _: SimpleNamespace(thesaurus=thesaurus))
    monkeypatch.setattr(checkers, "store", lambda: None)
    monkeypatch.setattr(checkers, "check_library", lambda *_, **options: found.append(options))
    assert checkers.compare(WORK, ORIGINAL).fragments
    checkers.check(WORK, Progress(), method="auto")
    assert (found[0]["method"], found[0]["thesaurus"]) == ("auto", thesaurus)
