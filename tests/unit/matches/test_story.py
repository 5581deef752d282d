"""The same story or not, and embedding models that are not there."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from doublet import load_embedder, same_story
from doublet.errors import ConfigError

FIRE = "Fire at the Riga sugar mill. A fire broke out at the sugar mill in Riga on Monday. Nobody was hurt, said Ozols."
AGAIN = "Riga: sugar mill burns. On Monday a blaze hit the sugar mill in Riga; no one was hurt, according to Ozols."
OTHER = "Bridge opens in Tartu. The mayor opened a new bridge over the river on Friday. Thousands came to walk on it."


@pytest.mark.covers("M14")
def test_it_works() -> None:
    assert same_story(FIRE, AGAIN).same
    assert not same_story(FIRE, OTHER).same


def test_order_and_self() -> None:
    there, back = same_story(FIRE, AGAIN), same_story(AGAIN, FIRE)
    assert there.score == pytest.approx(back.score)
    assert same_story(FIRE, FIRE).score == pytest.approx(1.0)
    assert same_story(FIRE, FIRE).sentences == 1.0


@pytest.mark.parametrize("text", ["", "и в на", "...", "word"])
def test_texts_that_tell_nothing(text: str) -> None:
    found = same_story(FIRE, text)
    assert found.score == 0
    assert not found.same
    assert found.to_dict()["vectors"] is None


class Letters:
    """Counts letters: enough to be a model."""

    def embed(self, sentences):
        return np.array(
            [[text.lower().count(letter) for letter in "abcdefghij"] for text in sentences], np.float32
        )


def test_a_model_of_the_user() -> None:
    found = same_story(FIRE, AGAIN, embedder=Letters())
    assert found.vectors is not None
    assert 0 < found.vectors <= 1
    assert same_story("", AGAIN, embedder=Letters()).vectors == 0


def test_no_model_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not an embedding model"):
        load_embedder(tmp_path)
    with pytest.raises(ConfigError, match="not downloaded"):
        load_embedder("some-org/some-model")


@pytest.mark.parametrize(
    ("file", "package"), [("modules.json", "sentence-transformers"), ("model.onnx", "onnxruntime")]
)
def test_a_library_that_is_not_installed(
    tmp_path: Path, file: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).write_text("{}")
    monkeypatch.setitem(sys.modules, package.replace("-", "_"), None)
    with pytest.raises(ConfigError, match=f"pip install {package}"):
        load_embedder(tmp_path)


def test_what_counts_as_the_same_story() -> None:
    """Scores a little above and below the limit."""
    news = "Снег засыпал аэропорт Шереметьево. Рейсы задержаны до вечера. Пассажиры ждут в терминале."
    near = "Шереметьево засыпал снег. Пассажиры рейсов ждут вылета."
    far = "Рейсы в Анталью задержаны до вечера из-за забастовки диспетчеров."
    assert same_story(news, near).same
    assert not same_story(news, far).same


@pytest.mark.covers("M14")
def test_serial_reports_are_told_apart_by_names_and_numbers() -> None:
    report = (
        "Центробанк установил курсы валют на {day}. Официальный курс доллара составил {dollar} рубля, сообщил "
        "регулятор. Курс евро на {day} составил {euro} рубля. Днём раньше торги открылись ростом."
    )
    monday = report.format(day="12 мая", dollar="73,88", euro="79,98")
    assert not same_story(monday, report.format(day="29 июня", dollar="69,51", euro="78,46")).same
    assert same_story(
        monday, "Доллар стоит 73,88 рубля. Такие курсы на 12 мая установил Центробанк, евро 79,98."
    ).same


@pytest.mark.covers("M14")
def test_a_retelling_with_another_opening_is_the_same_story() -> None:
    again = "It was a long night for the town. People watched from their windows. " + AGAIN
    assert same_story(FIRE, again).same
