"""Makes the tiny models of this folder: `python tests/golden/embedding/make.py` (needs the packages onnx, tokenizers).

A few dozen words, each with a vector of eight numbers; synonyms have the same one. Three models: vectors of tokens, of
tokens with the sentence's beside them, and of sentences alone. Small enough to be read by hand in Netron.
"""

from __future__ import annotations

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

HERE = pathlib.Path(__file__).resolve().parent
SYNONYMS = (
    "fire blaze пожар возгорание",
    "mill factory завод фабрика",
    "hurt injured пострадал ранен",
    "nobody none никто",
    "town city город",
    "bridge мост",
    "opened unveiled открыт",
    "monday понедельник",
    "river река реку",
    "the a at in on over was and to of и в на через",
)
SIZE = 8


def vocabulary() -> dict[str, int]:
    words = ["[PAD]", "[UNK]", "[CLS]", *(word for line in SYNONYMS for word in line.split())]
    return {word: number for number, word in enumerate(words)}


def vectors() -> np.ndarray:
    chance = np.random.default_rng(7)
    rows = [np.full(SIZE, 9.0), np.zeros(SIZE), np.full(SIZE, 0.1)]  # padding must never be seen: it is large
    for line in SYNONYMS:
        row = chance.normal(size=SIZE)
        rows += [0.1 * row if "the" in line.split() else row for _ in line.split()]
    return np.array(rows, np.float32)


def tokenizer() -> Tokenizer:
    made = Tokenizer(models.WordLevel(vocabulary(), unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace()])
    made.post_processor = processors.TemplateProcessing("[CLS] $A", special_tokens=[("[CLS]", 2)])
    return made


def model(outputs: tuple[str, ...]) -> onnx.ModelProto:
    """*outputs* of token_embeddings and sentence_embedding."""
    int64, float32 = TensorProto.INT64, TensorProto.FLOAT
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["token_embeddings"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=float32),
        helper.make_node("Unsqueeze", ["mask", "last"], ["weights"]),
        helper.make_node("Mul", ["token_embeddings", "weights"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "second"], ["sums"], keepdims=0),
        helper.make_node("ReduceSum", ["weights", "second"], ["counts"], keepdims=0),
        helper.make_node("Div", ["sums", "counts"], ["sentence_embedding"]),
    ]
    shapes = {"token_embeddings": ["n", "t", SIZE], "sentence_embedding": ["n", SIZE]}
    whole = "sentence_embedding" in outputs
    axes = [
        numpy_helper.from_array(np.array([n], np.int64), name) for name, n in (("last", 2), ("second", 1))
    ]
    graph = helper.make_graph(
        nodes if whole else nodes[:1],
        "tiny",
        [helper.make_tensor_value_info(name, int64, ["n", "t"]) for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info(name, float32, shapes[name]) for name in outputs],
        [numpy_helper.from_array(vectors(), "table"), *(axes if whole else ())],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def main() -> None:
    tokenizer().save(str(HERE / "tokenizer.json"), pretty=False)
    for name, outputs in (
        ("tokens", ("token_embeddings",)),
        ("both", ("token_embeddings", "sentence_embedding")),
        ("sentences", ("sentence_embedding",)),
    ):
        HERE.joinpath(f"{name}.onnx").write_bytes(model(outputs).SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
