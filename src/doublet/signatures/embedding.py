"""An embedding model of the user's own, given by its path (M14). Nothing is ever downloaded.

Two kinds of models are understood: a folder of sentence-transformers, and a file ``.onnx`` with its ``tokenizer.json``
beside it. The libraries that run them are not installed with Doublet. Any object with the method `embed` will do as
well: a plug-in is one class.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from doublet.errors import ConfigError, wrong_type

F32 = NDArray[np.float32]

LONGEST = 256  #: tokens of a sentence that an ONNX model is given
BATCH = 32


@runtime_checkable
class Embedder(Protocol):
    """Sentences → a row of numbers for each; sentences that mean the same have rows that point the same way."""

    def embed(self, sentences: Sequence[str]) -> F32: ...


@runtime_checkable
class NamedEmbedder(Protocol):
    """A model that says what it is called, for the report."""

    @property
    def name(self) -> str: ...


def embedder_name(embedder: Embedder | None) -> str | None:
    """What a report calls a model: its name, or that of its class."""
    if embedder is None:
        return None
    return embedder.name if isinstance(embedder, NamedEmbedder) else type(embedder).__qualname__


def require_embedder(embedder: object) -> None:
    """Raise `InvalidParameter` for what is neither None nor a model."""
    if embedder is not None and not isinstance(embedder, Embedder):
        raise wrong_type("embedder", embedder, "wanted_embedder")


def load_embedder(path: str | Path) -> Embedder:
    """The model at *path*. A folder of sentence-transformers that holds its ONNX file too runs without that library.

    Raises `ConfigError` when there is no model, when it cannot be used, or when the library that runs it is missing.
    """
    if not isinstance(path, str | os.PathLike):
        raise wrong_type("path", path, "wanted_model_path")
    place = Path(path)
    try:
        folder = place.is_dir()
    except OSError:  # no file can have so long a name
        folder = False
    files = sorted(place.rglob("*.onnx")) if folder else [place]
    ours = folder and (place / "modules.json").is_file()
    if ours and (not files or importlib.util.find_spec("sentence_transformers") is not None):
        return _SentenceTransformer(place)
    if len(files) > 1:
        plain = [
            file for file in files if file.name == "model.onnx"
        ]  # beside it: the same, smaller or faster
        if len(plain) != 1:
            raise ConfigError("several_models", path=str(place), file=str(files[0]))
        files = plain
    if files and files[0].suffix == ".onnx" and files[0].is_file():
        return _Onnx(files[0])
    raise ConfigError(
        "not_a_model",
        path=str(place),
    )


def unit_rows(embedder: Embedder, sentences: Sequence[str]) -> F32:
    """Vectors of length 1, so that products are cosines. Raises `ConfigError` when the model gives something else."""
    rows = np.asarray(embedder.embed(sentences), np.float32)
    if rows.ndim != 2 or len(rows) != len(sentences) or not np.isfinite(rows).all():
        raise ConfigError("wrong_vectors", shape="x".join(map(str, rows.shape)), sentences=len(sentences))
    out: F32 = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
    return out


def _library(name: str, install: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(
            "model_needs_library",
            package=install,
        ) from error


def _beside(file: Path, name: str) -> Path | None:
    """A file of the model: in its folder, or in the one above (onnx/model.onnx)."""
    places = (folder / name for folder in (file.parent, file.parent.parent))
    return next((place for place in places if place.is_file()), None)


class _SentenceTransformer:
    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        library = _library("sentence_transformers", "sentence-transformers")
        try:
            self._model = library.SentenceTransformer(str(folder), local_files_only=True)
        except Exception as error:
            raise ConfigError("model_unusable_st", why=error, path=str(folder)) from error

    def embed(self, sentences: Sequence[str]) -> F32:
        return np.asarray(
            self._model.encode(list(sentences), batch_size=BATCH, show_progress_bar=False), np.float32
        )


class _Onnx:
    """Vectors of sentences where the model gives them; else made of those of their tokens as the model's folder says
    (1_Pooling/config.json), which is the mean of those that count where it says nothing."""

    def __init__(self, file: Path) -> None:
        self.name = file.name
        runtime = _library("onnxruntime", "onnxruntime")
        tokenizers = _library("tokenizers", "tokenizers")
        words = _beside(file, "tokenizer.json")
        if words is None:
            raise ConfigError("no_tokenizer", path=str(file))
        try:
            options = runtime.SessionOptions()
            options.log_severity_level = 3  # errors alone: the rest is about how the model was made
            self._session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
            self._tokenizer = tokenizers.Tokenizer.from_file(str(words))
        except Exception as error:  # both libraries raise what they like
            raise ConfigError("model_unusable", why=error, path=str(file)) from error
        self._wanted = [one.name for one in self._session.get_inputs()]
        if not {"input_ids"} <= set(self._wanted) <= {"input_ids", "attention_mask", "token_type_ids"}:
            raise ConfigError(
                "not_a_sentence_model",
                wanted=list(self._wanted),
                path=str(file),
            )
        names = [one.name for one in self._session.get_outputs()]
        whole = "sentence_embedding" in names
        self._output = "sentence_embedding" if whole else names[0]
        self._pooling = "" if whole else _pooling(file)
        limit, padding = self._tokenizer.truncation, self._tokenizer.padding
        self._tokenizer.enable_truncation(min(LONGEST, limit["max_length"]) if limit else LONGEST)
        self._tokenizer.enable_padding(
            **({"pad_id": padding["pad_id"], "pad_token": padding["pad_token"]} if padding else {})
        )

    def embed(self, sentences: Sequence[str]) -> F32:
        rows = []
        for start in range(0, len(sentences), BATCH):
            coded = self._tokenizer.encode_batch(list(sentences[start : start + BATCH]))
            mask = np.array([one.attention_mask for one in coded], np.int64)
            given = {
                "input_ids": np.array([one.ids for one in coded], np.int64),
                "attention_mask": mask,
                "token_type_ids": np.array([one.type_ids for one in coded], np.int64),
            }
            (out,) = self._session.run([self._output], {name: given[name] for name in self._wanted})
            rows.append(_pool(np.asarray(out, np.float32), mask, self._pooling))
        return np.concatenate(rows) if rows else np.zeros((0, 0), np.float32)


def _pooling(file: Path) -> str:
    """How vectors of tokens become one of the sentence: mean, cls or max."""
    told = _beside(file, "1_Pooling/config.json")
    if told is None:
        return "mean"
    try:
        settings = json.loads(told.read_text(encoding="utf-8"))
        ways = [
            name for name, value in settings.items() if name.startswith("pooling_mode_") and value is True
        ]
    except (OSError, ValueError, AttributeError) as error:
        raise ConfigError("cannot_be_read", why=error, path=str(told)) from error
    known = {
        "pooling_mode_mean_tokens": "mean",
        "pooling_mode_cls_token": "cls",
        "pooling_mode_max_tokens": "max",
    }
    if len(ways) == 1 and ways[0] in known:
        return known[ways[0]]
    raise ConfigError("pooling_not_known", path=str(told), ways=ways, known=list(known))


def _pool(vectors: F32, mask: NDArray[np.int64], way: str) -> F32:
    if vectors.ndim == 2:
        return vectors
    if way == "cls":
        return vectors[:, 0]
    there = mask[:, :, None] > 0
    if way == "max":
        highest: F32 = np.where(there, vectors, np.float32(-np.inf)).max(axis=1)
        return np.where(np.isfinite(highest), highest, np.float32(0))
    mean: F32 = np.where(there, vectors, np.float32(0)).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return mean.astype(np.float32)
