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
PRINTS = {"ru.jsonl.xz": "970ed85f6964c145", "en.jsonl.xz": "c58fcf9f689b27ba"}
#: first letters of the digest of two changed texts, made without a thesaurus
PINNED = {
    "ru synonyms-60": "51dcc20568fc",
    "ru synonyms-40": "e595f9d023f1",
    "ru synonyms-20": "de9649e3cbdb",
    "ru synonyms-5": "11c0eb6eab41",
    "ru processed-60": "62a66a21ccd4",
    "ru processed-40": "5b47f5e2f6de",
    "ru processed-20": "e9afe3012d82",
    "ru processed-5": "c3dea3c9c6cf",
    "ru paragraphs-moved": "2bb3c945458a",
    "ru sentences-moved": "e76c9b29f2fe",
    "ru sentences-moved-20": "7edfafbe1bf8",
    "ru look-alikes": "36f1dbad57b5",
    "ru deletion-20": "52fba0c5ba2e",
    "ru insertion-20": "c7dbf623b639",
    "ru ocr-noise": "dde33615493e",
    "ru word-order": "849d2e01b038",
    "ru tense-number": "162c1a07fccf",
    "ru splice": "bcde521dab58",
    "ru summary-30": "5beaae3d6661",
    "ru rewriting": "459a7dcbe0c7",
    "en synonyms-60": "2c6f2297cea7",
    "en synonyms-40": "43a6ee819f74",
    "en synonyms-20": "98a7ad7cbd9b",
    "en synonyms-5": "c323b95f1c57",
    "en processed-60": "2847743759bc",
    "en processed-40": "5f4c5606f627",
    "en processed-20": "ffbef0d6f10a",
    "en processed-5": "8b3ba1ad9d5c",
    "en paragraphs-moved": "0ffe75b6f606",
    "en sentences-moved": "2339ab2ae679",
    "en sentences-moved-20": "def29b740093",
    "en look-alikes": "46912f02b814",
    "en deletion-20": "990b3b39245e",
    "en insertion-20": "3f8118286840",
    "en ocr-noise": "87118cbb79a3",
    "en word-order": "3a3252024a54",
    "en tense-number": "f29f956347de",
    "en splice": "d5ddc21c7d48",
    "en summary-30": "70d96e8dd69d",
    "en rewriting": "89f9b30e6f6e",
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
