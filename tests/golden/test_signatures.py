"""Pinned signatures: stored ones must stay good, so an accidental change of results fails here.

``DOUBLET_PIN=1 python -m pytest tests/golden/test_signatures.py`` writes the pins anew, after a change that
was meant.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib
from typing import Any

import pytest

from doublet.kernels.data import HASH_VERSION, TEXT_VERSION
from doublet.signatures import METHODS, Method, from_bytes, gather_statistics, method, to_bytes

HERE = pathlib.Path(__file__).resolve().parent
PINS = HERE / "signatures.json"
NAMES = ("ru", "en", "mixed")
TEXTS = {name: (HERE / "texts" / f"{name}.txt").read_text(encoding="utf-8") for name in NAMES}
COLLECTION = [*TEXTS.values(), *(part for text in TEXTS.values() for part in text.split("\n\n"))]

#: what is pinned: every method as it comes, and the options that go another way through the code
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in METHODS},
    "shingles of characters": ("shingles", {"shingle_chars": 9}),
    "shingles of stems": ("shingles", {"reduce": "stem", "stop_words": True, "min_letters": 3}),
    "minhash, another seed": ("minhash", {"seed": 2, "functions": 9}),
    "simhash of 32 bits": ("simhash", {"bits": 32, "shingle_words": 3}),
    "bm25": ("tfidf", {"weighting": "bm25"}),
}
MESSAGE = """
The signature of a pinned text has changed ({case}, text {text!r}).
If this was not meant, the change is a bug: signatures that users have stored would no longer match.
If it was meant: raise TEXT_VERSION (another canonical form) or HASH_VERSION (other hashes or methods) in
src/doublet/kernels/data.py, or STOP_WORDS_VERSION in src/doublet/text/stopwords.py, say under "Results" of
the changelog what has to be computed again, and write the pins anew with DOUBLET_PIN=1.
"""


@functools.cache
def made(case: str) -> Method:
    name, settings = CASES[case]
    return method(name, statistics=gather_statistics(name, COLLECTION, **settings), **settings)


def now(case: str, text: str) -> dict[str, Any]:
    signature = made(case).sign(TEXTS[text])
    assert signature is not None
    values = [f"{value:016x}" for value in signature.values.tolist()]
    if len(values) > 20:  # long ones by their number, their beginning and a hash of all
        whole = hashlib.blake2b("".join(values).encode(), digest_size=16).hexdigest()
        values = [str(len(values)), *values[:3], whole]
    return {
        "values": " ".join(values),
        "size": signature.size,
        "keys": len(made(case).keys(signature)),
        "statistics": signature.recipe.statistics,
    }


@functools.cache
def pins() -> dict[str, Any]:
    if os.environ.get("DOUBLET_PIN"):
        fresh = {
            "text_version": TEXT_VERSION,
            "hash_version": HASH_VERSION,
            "signatures": {case: {text: now(case, text) for text in NAMES} for case in CASES},
            "stored": {case: to_bytes(made(case).sign(TEXTS["en"])).hex() for case in ("minhash", "imatch")},  # type: ignore[arg-type]
        }
        PINS.write_text(json.dumps(fresh, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    loaded: dict[str, Any] = json.loads(PINS.read_text(encoding="utf-8"))
    return loaded


@pytest.mark.parametrize("text", NAMES)
@pytest.mark.parametrize("case", CASES)
def test_signatures_have_not_changed(case: str, text: str) -> None:
    assert (pins()["text_version"], pins()["hash_version"]) == (TEXT_VERSION, HASH_VERSION), (
        "a version was raised: write the pins anew with DOUBLET_PIN=1"
    )
    assert now(case, text) == pins()["signatures"][case][text], MESSAGE.format(case=case, text=text)


@pytest.mark.parametrize("case", ["minhash", "imatch"])
def test_signatures_stored_by_this_version_open(case: str) -> None:
    stored = from_bytes(bytes.fromhex(pins()["stored"][case]))
    fresh = made(case).sign(TEXTS["en"])
    assert fresh is not None
    assert made(case).compare(stored, fresh).resemblance == 1.0


def test_every_method_is_pinned() -> None:
    assert set(METHODS) <= set(pins()["signatures"])
