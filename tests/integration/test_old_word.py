"""Old Word documents are read through LibreOffice, and say what to do where there is none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import doublet
from doublet.sources import old_word

TEXT = "The boats were locked in the ice until March, and nobody in the village minded it much."


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    office = old_word.program()
    if office is None:
        pytest.skip("LibreOffice is not installed")
    folder = tmp_path_factory.mktemp("doc")
    (folder / "boats.txt").write_text(TEXT, "utf-8")
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [office, profile, "--headless", "--convert-to", "doc:MS Word 97", "--outdir", str(folder)]
    subprocess.run([*command, str(folder / "boats.txt")], check=True, capture_output=True, timeout=120)
    return folder / "boats.doc"


def test_it_works(document: Path) -> None:
    assert old_word.is_old_word(document.read_bytes())
    assert doublet.read_document(document).text.strip() == TEXT


def test_without_libreoffice(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_word, "program", lambda: None)
    with pytest.raises(doublet.InputUnreadable, match=r"save it as \.docx"):
        doublet.read_document(document)


def test_damaged(document: Path) -> None:
    data = document.read_bytes()
    with pytest.raises(doublet.InputUnreadable):
        doublet.read_document(data[:512] + "WordDocument".encode("utf-16-le") + bytes(200))
