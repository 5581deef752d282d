"""What a library holds: documents counted by folder, source, language or year, and words as people write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from doublet.progress import Progress
from doublet.signatures.statistics import LEXICAL_CANON
from doublet.store.database import Store
from doublet.store.names import name_hash
from doublet.store.values import StoredDocument
from doublet.text.language import language_of
from doublet.text.tokens import Vocabulary, read_words

KINDS = ("folder", "source", "language", "year")
READ_AT_ONCE = 200
# Texts read to learn how the most frequent words are written: they stand in nearly every document.
SAMPLE_DOCUMENTS = 400


@dataclass(frozen=True, slots=True)
class LibraryPart:
    """Documents of a library that have something in common. *name* is empty where it is not known."""

    name: str
    documents: int
    words: int

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "documents": self.documents, "words": self.words}


@dataclass(frozen=True, slots=True)
class FrequentWord:
    """A word in the form in which it is written most often; *df* and *cf* count all its forms."""

    word: str
    stem: str
    df: int  #: documents with it
    cf: int  #: times in all of them

    def to_dict(self) -> dict[str, Any]:
        return {"word": self.word, "stem": self.stem, "df": self.df, "cf": self.cf}


def count_parts(
    store: Store, library: str, by: str, *, progress: Progress | None = None
) -> list[LibraryPart]:
    """Documents and words of a library by *by*, one of `KINDS`. Every document is counted once: the parts add up to the
    library. Years are in their order, the rest by the number of documents."""
    progress = Progress.of(progress)
    info = store.libraries.get(library)
    documents: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for done, (one, name) in enumerate(_named(store, library, by), start=1):
        documents[name] += 1
        words[name] += one.words
        if done % READ_AT_ONCE == 0:
            progress.step("looking_up", done, max(done, info.documents), "documents")
    parts = [LibraryPart(name, many, words[name]) for name, many in documents.items()]
    if by == "year":
        return sorted(parts, key=lambda part: (part.name == "", part.name))
    return sorted(parts, key=lambda part: (-part.documents, part.name == "", part.name))


def _named(store: Store, library: str, by: str) -> Iterator[tuple[StoredDocument, str]]:
    """Each document with the name of its part."""
    if by == "language":
        for batch in store.documents.batches(library, READ_AT_ONCE):
            for one, text in batch:
                yield one, language_of(text)
    elif by == "source":
        number = store.libraries.get(library).number
        addresses = {one.number: one.address for one in store.sources.all(number)}
        given = store.sources.by_document(number)
        for one in store.documents.all(library):
            yield one, addresses.get(given.get(name_hash(one.id), 0), "")
    else:
        name = folder_of if by == "folder" else year_of
        for one in store.documents.all(library):
            yield one, name(one)


def folder_of(document: StoredDocument) -> str:
    """The folder of a file, or the site and path of a page; empty for a document that stands in none."""
    name = document.id
    if "://" in name:
        parts = urlsplit(name)
        return f"{parts.netloc}{parts.path.rpartition('/')[0]}/"
    folder = name.rpartition("/")[0]
    return f"{folder}/" if folder else ""


def year_of(document: StoredDocument) -> str:
    """The year of a document's own time (not of when it was added), if it has one."""
    year = document.time[:4]
    return year if len(year) == 4 and year.isdecimal() else ""


def frequent_words(store: Store, library: str, top: int) -> list[FrequentWord]:
    """The words that most documents of a library have, without stop words, written as in its documents."""
    counts = store.libraries.statistics(library).counts()
    first = sorted(counts.items(), key=lambda item: (-item[1][0], -item[1][1], item[0]))[:top]
    forms = _forms(store, library, [stem for stem, _ in first])
    return [FrequentWord(forms.get(stem, stem), stem, df, cf) for stem, (df, cf) in first]


def _forms(store: Store, library: str, stems: Sequence[str]) -> dict[str, str]:
    """How each stem is written most often in some of the documents, evenly spread."""
    numbers = [
        one.number
        for place, one in enumerate(store.documents.all(library))
        if place % max(1, store.libraries.get(library).documents // SAMPLE_DOCUMENTS) == 0
    ]
    words = Vocabulary()
    times = np.zeros(0, np.int64)
    for start in range(0, len(numbers), READ_AT_ONCE):
        texts = store.documents.texts(numbers[start : start + READ_AT_ONCE])
        ids = read_words([texts[number] for number in sorted(texts)], words).ids
        times = np.bincount(ids, minlength=len(words.words)) + np.pad(
            times, (0, len(words.words) - len(times))
        )
    reduced = words.reduced(LEXICAL_CANON.reduce)
    best: dict[str, tuple[int, str]] = {}
    wanted = set(stems)
    for word, number, many in zip(words.words, reduced.numbers.values.tolist(), times.tolist(), strict=True):
        stem = reduced.words[number]
        if stem in wanted and (stem not in best or (-many, word) < best[stem]):
            best[stem] = (-many, word)
    return {stem: word for stem, (_, word) in best.items()}
