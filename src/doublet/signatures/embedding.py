"""An embedding model of the user's own, given by its path (M14). Nothing is ever downloaded.

Two kinds of models are understood: a folder of sentence-transformers, and a file ``.onnx`` with its ``tokenizer.json``
beside it. The libraries that run them are not installed with Doublet. Any object with the method `embed` will do as
well: a plug-in is one class.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from doublet.errors import ConfigError

F32 = NDArray[np.float32]

LONGEST = 256  #: tokens of a sentence that an ONNX model is given
BATCH = 32


class Embedder(Protocol):
    """Sentences → a row of numbers for each; sentences that mean the same have rows that point the same way."""

    def embed(self, sentences: Sequence[str]) -> F32: ...


def load_embedder(path: str | Path) -> Embedder:
    """The model at *path*. Raises `ConfigError` when there is none, or when the library that runs it is missing."""
    place = Path(path)
    if place.is_dir() and (place / "modules.json").is_file():
        return _SentenceTransformer(place)
    files = sorted(place.rglob("*.onnx")) if place.is_dir() else [place]
    if len(files) == 1 and files[0].suffix == ".onnx" and files[0].is_file():
        return _Onnx(files[0])
    raise ConfigError(
        f"{place} is no embedding model: give a folder of sentence-transformers (with modules.json), or a file .onnx "
        "with tokenizer.json beside it. Models are not downloaded",
        path=str(place),
    )


def _library(name: str, install: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"this embedding model needs the library {install}, which is not installed: pip install {install}",
            package=install,
        ) from error


class _SentenceTransformer:
    def __init__(self, folder: Path) -> None:
        library = _library("sentence_transformers", "sentence-transformers")
        self._model = library.SentenceTransformer(str(folder), local_files_only=True)

    def embed(self, sentences: Sequence[str]) -> F32:
        return np.asarray(
            self._model.encode(list(sentences), batch_size=BATCH, show_progress_bar=False), np.float32
        )


class _Onnx:
    """Means of the last layer over the tokens that count."""

    def __init__(self, file: Path) -> None:
        runtime = _library("onnxruntime", "onnxruntime")
        tokenizers = _library("tokenizers", "tokenizers")
        words = next(
            (
                folder / "tokenizer.json"
                for folder in (file.parent, file.parent.parent)
                if (folder / "tokenizer.json").is_file()
            ),
            None,
        )
        if words is None:
            raise ConfigError(
                f"{file} has no tokenizer.json beside it: put the one of the same model there", path=str(file)
            )
        self._session = runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        self._wanted = {one.name for one in self._session.get_inputs()}
        self._tokenizer = tokenizers.Tokenizer.from_file(str(words))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.enable_padding()

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
            out = self._session.run(
                None, {name: value for name, value in given.items() if name in self._wanted}
            )[0]
            if out.ndim == 3:
                weight = mask[:, :, None].astype(np.float32)
                out = (out * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1.0)
            rows.append(np.asarray(out, np.float32))
        return np.concatenate(rows) if rows else np.zeros((0, 0), np.float32)
