"""An evaluation that an earlier version wrote still becomes a page, and changes still give the texts they gave.

The files are never written again: a new format adds files. Figures of old reports stay comparable only while the same
seed gives the same texts, so these are pinned too.
"""

from __future__ import annotations

import hashlib
import json
import pathlib

import pytest

from doublet.evaluation import changes as making
from doublet.evaluation.changes import CHANGES, Surroundings
from doublet.evaluation.report import report_page
from doublet.evaluation.sets import TEXTS, bundled
from doublet.evaluation.words import make_language

GOLDEN = pathlib.Path(__file__).parent / "reports" / "evaluation-1.json"

#: of the bundled texts: figures, floors and old reports depend on them
PRINTS = {"ru.jsonl.xz": "76cfc8819df33ff0", "en.jsonl.xz": "1d058208af1145c4"}
#: first letters of the digest of two changed texts, made without a thesaurus
PINNED = {
    "ru synonyms-60": "627d37658928",
    "ru synonyms-40": "572a034f27aa",
    "ru synonyms-20": "f207918d70f3",
    "ru synonyms-5": "6f5713d36ff0",
    "ru processed-60": "52c195c3e37d",
    "ru processed-40": "925ce2c1e7ad",
    "ru processed-20": "825fbe215818",
    "ru processed-5": "9717046ffc67",
    "ru paragraphs-moved": "d41dd874c42f",
    "ru sentences-moved": "8a2b20400bce",
    "ru sentences-moved-20": "45aea457aff1",
    "ru look-alikes": "93a0e218817b",
    "ru deletion-20": "0f34e36ade1f",
    "ru insertion-20": "33416e3f976c",
    "ru ocr-noise": "9e7e8c05e8d7",
    "ru word-order": "f4e04167f06c",
    "ru tense-number": "4ba4bb16f66e",
    "ru splice": "b2acc02a0bbb",
    "ru summary-30": "dfe4f82ebb96",
    "ru rewriting": "1c6777ca99ab",
    "en synonyms-60": "79268ad53534",
    "en synonyms-40": "7a678c1c023f",
    "en synonyms-20": "3caac139c252",
    "en synonyms-5": "eada3d6ba7d9",
    "en processed-60": "9fce6acc507b",
    "en processed-40": "6800ba19335e",
    "en processed-20": "f3927d6e69ad",
    "en processed-5": "1205389eddef",
    "en paragraphs-moved": "5905fa88e950",
    "en sentences-moved": "c2fc6d6733c5",
    "en sentences-moved-20": "909ee1922388",
    "en look-alikes": "f1d555033e2b",
    "en deletion-20": "a2e5f83ecd01",
    "en insertion-20": "680cc04d0705",
    "en ocr-noise": "fc6eff00b328",
    "en word-order": "7bd2de502556",
    "en tense-number": "13a498ad24ff",
    "en splice": "c2b10c4505d8",
    "en summary-30": "f07cefa65405",
    "en rewriting": "31f72b358927",
}


@pytest.mark.covers("E2")
@pytest.mark.parametrize("language", ["en", "ru"])
def test_an_old_evaluation_opens(language: str) -> None:
    shape = json.loads(GOLDEN.read_text(encoding="utf-8"))
    page = report_page(shape, language=language)
    for name in (
        "short",
        "documents",
        "passages",
        "published",
        "curves",
        "clusters",
        "costs",
        "labelled",
        "failures",
    ):
        assert f'<section id="{name}"' in page
    assert "longsent" in page
    assert "golden: a note" in page
    assert "no folder holds its files" in page
    assert ".97 / .53" in page  # the source's own figures


def test_the_bundled_texts_are_what_they_were() -> None:
    assert {n: hashlib.sha256((TEXTS / n).read_bytes()).hexdigest()[:16] for n in PRINTS} == PRINTS
    assert len(bundled("ru").documents) == len(bundled("en").documents) == 160


@pytest.mark.covers("E1")
def test_changes_give_the_texts_they_gave() -> None:
    pytest.importorskip("pymorphy3", reason="pymorphy3 is not installed")
    assert digests() == PINNED


def digests() -> dict[str, str]:
    out = {}
    for language in ("ru", "en"):
        documents = list(bundled(language).documents)[:20]
        made = make_language(language, (d.text for d in documents), use_thesaurus=False)
        around = Surroundings(made, own=documents[15:], others=documents[:15])
        for name in CHANGES:
            changed = making.apply(CHANGES[name], documents[0], around, seed=1)
            key = f"{changed.text}\n{[(o.span, o.source, o.source_span, o.equal) for o in changed.origins]}"
            out[f"{language} {name}"] = hashlib.sha256(key.encode()).hexdigest()[:12]
    return out
