"""The command line against a real site: add, update, check, lists. What a user would type."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from doublet.cli.exits import guarded as run

OPTIONS = ["--allow-private", "--fetch-delay-s", "0", "--fetch-timeout-s", "3"]


@pytest.fixture(autouse=True)
def own_database(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOUBLET_DATABASE", str(tmp_path / "libraries.db"))
    monkeypatch.chdir(tmp_path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert run([*arguments, "--format", "json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.shared
@pytest.mark.covers("L7", "L6", "K1", "T2")
def test_a_site_with_a_sitemap(site: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "library", "add", "site", f"{site}/", "--create", "--every", *OPTIONS)
    (source,) = found["sources"]
    documents = source["documents"]
    assert source["kind"] == "sitemap"
    assert documents[f"{site}/dup/near0.html"] == "stored"
    assert sum(documents[f"{site}/dup/copy{number}.html"] == "stored" for number in range(5)) <= 1
    assert documents[f"{site}/odd/empty.html"] == "empty"
    assert documents[f"{site}/links/noindex.html"] == "refused"
    assert documents[f"{site}/links/xrobots.html"] == "refused"
    assert f"{site}/private/secret.html" not in documents
    assert sum(found["counts"].values()) == len(documents)
    shown = answer(capsys, "library", "show", "site")
    assert shown["sources"][0]["status"] == "done"
    assert shown["sources"][0]["documents"] == shown["documents"] == found["stored"]
    # Every spelling of one text is read: one of them is stored, the others have its words.
    texts = [d["id"] for d in answer(capsys, "library", "documents", "site")["documents"]]
    assert any("/enc/" in id for id in texts)
    checked = answer(capsys, "check", f"{site}/enc/header-koi8r/koi8r.html", "--library", "site", *OPTIONS)
    assert checked["share"] == 1.0
    assert answer(capsys, "text", f"{site}/enc/meta/cp1251.html", *OPTIONS)["encoding"] == "cp1251"
    again = answer(capsys, "library", "update", "site", *OPTIONS)
    assert not again["sources"][0]["counts"].get("stored")


@pytest.mark.shared
@pytest.mark.covers("L9")
def test_a_list(site: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "list.csv").write_text(
        f"Name,URL,OAI-PMH Base URL\nСайт,{site}/,\nСтраница,{site}/cond/static.html,\nНет,{site}/status/404,\n",
        "utf-8",
    )
    found = answer(capsys, "library", "add-list", "list.csv", *OPTIONS, code=3)
    assert [(row["name"], row["kind"], row["made"]) for row in found["libraries"]] == [
        ("Сайт", "sitemap", True),
        ("Страница", "page", True),
        ("Нет", "", False),
    ]
    updated = answer(capsys, "library", "update", "Страница", *OPTIONS)
    assert updated["sources"][0]["counts"] == {"stored": 1}
    again = answer(capsys, "library", "update", "Страница", *OPTIONS)
    assert again["sources"][0]["counts"] == {"unchanged": 1}
    answer(capsys, "library", "add-list", "list.csv", *OPTIONS, code=3)  # nothing is made twice
    assert len(answer(capsys, "library", "list")["libraries"]) == 2


@pytest.mark.shared
@pytest.mark.covers("R10")
def test_words_for_what_goes_wrong(site: str, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        (["text", f"{site}/"], 4, "--allow-private"),
        (["check", f"{site}/", "--against", __file__], 4, "--allow-private"),
        (["library", "add", "x", f"{site}/", "--create"], 4, "--allow-private"),
        (["text", f"{site}/status/404", *OPTIONS], 4, "404"),
        (["text", f"{site}/private/secret.html", *OPTIONS], 4, "robots"),
        (["library", "add", "x", f"{site}/cond/static.html", "--category", "Y", *OPTIONS], 2, "category"),
        (["library", "add", "x", "folder", "--set", "Y"], 2, "--set"),
        (["library", "add", "x", f"{site}/", "--kind", "list"], 2, "add-list"),
        (["library", "update", "x"], 2, "no sources"),
        (["library", "add-list", "nothing.csv"], 4, "nothing.csv"),
    ]
    for arguments, code, words in cases:
        capsys.readouterr()
        assert run(arguments) == code, arguments
        assert words in capsys.readouterr().err, arguments
