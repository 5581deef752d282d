"""Embedding models given by their path: real ones, tiny (tests/golden/embedding), run by the real libraries.

Of sentence-transformers only the call is tested, against a stand-in: the library needs torch, hundreds of megabytes.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import socket
import sys
import types

import numpy as np
import pytest

import doublet
from doublet import load_embedder, same_story
from doublet.cli import run
from doublet.errors import ConfigError, InvalidParameter
from doublet.signatures.embedding import BATCH, LONGEST, unit_rows

MODELS = pathlib.Path(__file__).resolve().parents[2] / "golden" / "embedding"
NAMES = ("tokens", "both", "sentences")
FIRE, BLAZE, BRIDGE = "Fire at the mill", "A blaze in the factory", "The bridge over the river was opened"

pytest.importorskip("onnxruntime", reason="the library that runs models is not installed")
pytest.importorskip("tokenizers", reason="the library that cuts sentences for models is not installed")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a model must never ask the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.covers("M14")
@pytest.mark.parametrize("name", NAMES)
def test_it_works(name: str) -> None:
    rows = load_embedder(MODELS / f"{name}.onnx").embed([FIRE, BLAZE, BRIDGE])
    assert (rows.shape, rows.dtype) == ((3, 8), np.float32)
    assert cosine(rows[0], rows[1]) > 0.95
    assert cosine(rows[0], rows[2]) < 0.6


def test_all_ways_of_making_one_vector_agree() -> None:
    tokens, both, sentences = (load_embedder(MODELS / f"{name}.onnx").embed([FIRE, BRIDGE]) for name in NAMES)
    assert np.allclose(tokens, sentences, atol=1e-6)
    assert both.tolist() == sentences.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_has_one_vector_whatever_stands_beside_it(name: str) -> None:
    model = load_embedder(MODELS / f"{name}.onnx")
    alone = model.embed([FIRE])[0]
    many = model.embed([FIRE, *[BRIDGE + " and the town" * 9] * BATCH, FIRE])
    assert np.allclose(many[0], alone, atol=1e-6)
    assert np.allclose(many[-1], alone, atol=1e-6)
    assert len(many) == BATCH + 2


def test_no_sentences_and_very_long_ones() -> None:
    model = load_embedder(MODELS / "tokens.onnx")
    assert model.embed([]).size == 0
    long, cut = model.embed(["fire " * 5000, "fire " * (LONGEST - 1)])
    assert np.allclose(long, cut, atol=1e-6)
    assert model.embed(["", "неизвестное слово"]).shape == (2, 8)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder of sentence-transformers with an ONNX file in it."""
    (tmp_path / "onnx").mkdir()
    shutil.copy(MODELS / "tokens.onnx", tmp_path / "onnx" / "model.onnx")
    shutil.copy(MODELS / "tokenizer.json", tmp_path)
    (tmp_path / "modules.json").write_text("[]")
    return tmp_path


def pool_by(folder: pathlib.Path, **ways: bool) -> None:
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 8, **ways}))


def test_a_folder_with_an_onnx_file_runs_without_sentence_transformers(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    rows = load_embedder(folder).embed([FIRE, BLAZE])
    assert cosine(*rows) > 0.95
    pool_by(folder, pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
    first = load_embedder(folder).embed([FIRE, BRIDGE])
    assert np.allclose(first, 0.1)  # the vector of the first token, the same in every sentence
    pool_by(folder, pooling_mode_max_tokens=True)
    fire, both = load_embedder(folder).embed(["fire", "fire [UNK] fire"])
    assert np.allclose(np.maximum(fire, 0), both, atol=1e-6)


@pytest.mark.parametrize(
    "ways",
    [{"pooling_mode_lasttoken": True}, {}, {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}],
)
def test_ways_that_are_not_known_are_refused(
    folder: pathlib.Path, ways: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    pool_by(folder, **ways)
    with pytest.raises(ConfigError, match="known are pooling_mode_mean_tokens"):
        load_embedder(folder)


def test_several_files_in_a_folder(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    shutil.copy(MODELS / "tokens.onnx", folder / "onnx" / "model_quantized.onnx")
    assert load_embedder(folder).embed([FIRE]).shape == (1, 8)
    (folder / "onnx" / "model.onnx").rename(folder / "onnx" / "model_fast.onnx")
    with pytest.raises(ConfigError, match="name the file of one"):
        load_embedder(folder)


def test_what_is_no_model(tmp_path: pathlib.Path) -> None:
    shutil.copy(MODELS / "tokens.onnx", tmp_path)
    with pytest.raises(ConfigError, match=r"no tokenizer\.json beside it"):
        load_embedder(tmp_path / "tokens.onnx")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigError, match="cannot be used as a model"):
        load_embedder(tmp_path / "tokens.onnx")
    shutil.copy(MODELS / "tokenizer.json", tmp_path)
    (tmp_path / "tokens.onnx").write_bytes(b"not a model")
    with pytest.raises(ConfigError, match="cannot be used as a model"):
        load_embedder(tmp_path)


@pytest.mark.parametrize("rows", [np.zeros(3), np.zeros((2, 4)), np.full((3, 4), np.nan)])
def test_a_plug_in_that_gives_something_else(rows: np.ndarray) -> None:
    class Wrong:
        def embed(self, sentences):
            return rows

    with pytest.raises(ConfigError, match="a row of numbers for each"):
        unit_rows(Wrong(), ["a", "b", "c"])


@pytest.mark.covers("M14")
def test_sentences_that_the_model_finds_alike_are_possible_and_in_no_share() -> None:
    model = load_embedder(MODELS / "both.onnx")
    a = "The fire at the mill was on monday. Nobody was hurt in the town. Short one."
    b = "None was injured in the city. A blaze in the factory on понедельник. The bridge was opened to a city."
    plain = doublet.compare(a, b)
    assert (plain.share, plain.possible) == (0.0, ())
    result = doublet.compare(a, b, embedder=model)
    told = [(a[p.a.start : p.a.end], b[p.b.start : p.b.end]) for p in result.possible]
    assert told == [
        ("The fire at the mill was on monday", "A blaze in the factory on понедельник"),
        ("Nobody was hurt in the town", "None was injured in the city"),
    ]
    assert [p.id for p in result.possible] == ["p1", "p2"]
    assert all("the model finds" in str(p.reason) and p.strength == "weak" for p in result.possible)
    assert (result.share, result.share_b, result.similar) == (0.0, 0.0, False)
    assert doublet.compare(a, b, embedder=model, alike=1.0).possible == ()
    assert doublet.compare("", b, embedder=model).possible == ()
    assert doublet.compare(a, "", embedder=model).possible == ()
    assert doublet.compare(a, a, embedder=model).possible == ()  # passages tell it already
    with pytest.raises(InvalidParameter, match="alike is 2"):
        doublet.compare(a, b, embedder=model, alike=2)


def test_the_same_story_by_a_model() -> None:
    model = load_embedder(MODELS / "both.onnx")
    found = same_story(FIRE, BLAZE, embedder=model)
    assert found.vectors == pytest.approx(1.0, abs=0.05)
    assert not same_story(FIRE, BLAZE).same
    assert found.same


def test_the_command_takes_a_model(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("The fire at the mill was on monday.")
    other.write_text("A blaze in the factory on понедельник.")
    model = str(MODELS / "both.onnx")
    assert run(["compare", str(one), str(other), "--model", model, "--same-story", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "Perhaps reworded: 1 place, not counted in any share" in out
    assert "the model finds the sentences alike: 1.00" in out or "alike: 0.9" in out
    assert "The same story: " in out
    arguments = ["compare", str(one), str(other), "--model", model, "--same-story", "--format", "json"]
    assert run([*arguments, "--method", "meaning"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["same_story"]["vectors"] > 0.9
    assert len(told["possible"]) == 1
    assert run(["compare", str(one), str(other), "--model", str(tmp_path)]) == 2
    assert "Models are not downloaded" in capsys.readouterr().err


class StandIn:
    """Takes the place of sentence_transformers.SentenceTransformer and remembers how it was called."""

    made: tuple[str, dict[str, object]]

    def __init__(self, path: str, **options: object) -> None:
        if "broken" in path:
            raise OSError("no weights there")
        StandIn.made = (path, options)

    def encode(self, sentences: list[str], *, batch_size: int, show_progress_bar: bool) -> list[list[float]]:
        assert isinstance(sentences, list)
        assert not show_progress_bar
        return [[float(len(sentence)), 1.0] for sentence in sentences]


def test_sentence_transformers_are_asked_for_local_files_alone(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = types.ModuleType("sentence_transformers")
    library.__spec__ = types.SimpleNamespace()  # type: ignore[assignment]
    library.SentenceTransformer = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    rows = load_embedder(folder).embed(("a", "bc"))
    assert rows.tolist() == [[1.0, 1.0], [2.0, 1.0]]
    assert StandIn.made == (str(folder), {"local_files_only": True})
    broken = folder / "broken"
    broken.mkdir()
    (broken / "modules.json").write_text("[]")
    with pytest.raises(ConfigError, match="no weights there"):
        load_embedder(broken)
