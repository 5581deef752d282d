"""Does everything agree with the documents? And if not, make it from them again.

The texts are the ground: checked by their hash. Keys, bags, postings, statistics, counters and signatures all follow
from them, so all of these can be made again; only a damaged text cannot.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import Cancelled, StoreDamaged
from doublet.index import passage_keys
from doublet.model import Note
from doublet.progress import Progress
from doublet.store import postings, segments, stems, words
from doublet.store.database import Store
from doublet.store.entries import take_entries
from doublet.store.pace import Pace
from doublet.store.rebuild import rebuild
from doublet.store.texts import text_hash
from doublet.store.values import Finding

I64 = NDArray[np.int64]
BATCH = 2_000  #: documents that are looked at together
STEP = 200  #: documents that are mended in one transaction
NOT_MENDED = ("pages", "texts")  #: nothing is left to mend them from
PART = 50_000  #: postings that are looked at together
_FACTORS = [np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93)]


def verify(
    store: Store,
    libraries: Sequence[str] | None = None,
    *,
    repair: bool = False,
    progress: Progress | None = None,
) -> list[Finding]:
    """What is wrong, of each kind one finding; an empty list when all is well.

    The postings of all libraries are one index: they are always checked together. Everything is read as it was at one
    moment, and writers go on meanwhile. With *repair* everything that follows from the texts is made again where it is
    wrong, in short steps: nobody waits for long.
    """
    progress = progress or Progress()
    with store.database.guard():
        if libraries is None:
            libraries = [info.name for info in store.libraries.all()]
    check = _look(store, libraries, progress)
    if not repair or not check.findings:
        return check.findings
    again: list[Finding] = []
    with store.writer.lock:
        if check.remake:
            for library, numbers in check.remake.items():
                _remake(store, library, numbers, check.going_on)
            # The rest is judged by the keys and words that were made here; the index, too.
            again = [replace(one, repaired=True) for one in check.findings if one.kind == "keys"]
            check = _look(store, libraries, progress)
        for mend in check.mend:
            mend()
    return again + [replace(one, repaired=one.kind not in NOT_MENDED) for one in check.findings]


def _look(store: Store, libraries: Sequence[str], progress: Progress) -> _Check:
    with store.database.reading():
        check = _Check(store, progress)
        check.everything(libraries)
    return check


class _Check:
    """What is wrong at one moment, and how to mend it: each step for itself, and by what it changes, so that writers go
    on meanwhile."""

    def __init__(self, store: Store, progress: Progress) -> None:
        self.store = store
        self.database = store.database
        self.progress = progress
        self.findings: list[Finding] = []
        self.mend: list[Callable[[], None]] = []
        self.remake: dict[int, list[int]] = {}  # library → documents

    def everything(self, names: Sequence[str]) -> None:
        self.pages()
        for name in names:
            self.library(name)
        self.postings()
        self.key_postings()

    def going_on(self, done: int = 0, unit: str = "documents") -> None:
        """Told between any two steps that take long: whoever wants it to stop waits for one of them."""
        self.progress.step("verifying_index", done, None, unit)

    def found(
        self, library: str, kind: str, count: int, message: Note, mend: Callable[[], None] | None = None
    ) -> None:
        self.findings.append(Finding(library, kind, count, message))
        if mend is not None:
            self.mend.append(mend)

    def pages(self) -> None:
        if self.database.vendor != "sqlite":
            return
        rows = [row[0] for row in self.database.rows("PRAGMA quick_check(20)")]
        wrong = [text for text in rows if text != "ok"]
        if wrong:
            self.found("", "pages", len(wrong), Note("file_is_damaged", wrong=wrong[0]))

    # One library

    def library(self, name: str) -> None:
        info = self.store.libraries.get(name)
        total = _Totals()
        parts: list[words.CountChange] = []
        bad_texts: list[int] = []
        remake: list[int] = []
        last = 0
        own_column = self.database.by_number(info.number, "d.library_id")
        while True:
            rows = self.database.rows(
                "SELECT d.id, d.hash, d.words, d.size_bytes, c.version, c.dictionary, c.text, c.keys, c.bag, "
                "c.stems FROM doublet_document d LEFT JOIN doublet_content c ON c.document_id = d.id "
                f"WHERE {own_column} = %s AND d.id > %s ORDER BY d.id LIMIT %s",
                [info.number, last, BATCH],
            )
            if not rows:
                break
            last = rows[-1][0]
            good, texts = self._texts(rows, bad_texts)
            keys = passage_keys.make_keys(texts)
            packed = [
                postings.pack_keys(keys.values[int(a) : int(b)])
                for a, b in zip(keys.offsets[:-1], keys.offsets[1:], strict=True)
            ]
            fresh, filed, part = self._bags(texts)
            parts.append(part)
            if len(parts) > 16:
                parts = [words.sum_changes(parts)]
            for row, own, bag, stemmed in zip(good, packed, fresh, filed, strict=True):
                if (
                    row[4] != passage_keys.VERSION
                    or (bytes(row[7]), bytes(row[8])) != (own, bag)
                    or (row[9] is not None and bytes(row[9]) != stemmed)  # without: made when it is asked for
                ):
                    remake.append(row[0])
            for row in good:
                total.documents += 1
                total.words += row[2]
                total.size_bytes += row[3]
            self.progress.step("verifying", total.documents, info.documents, "documents")
        if bad_texts:
            self.found(
                name,
                "texts",
                len(bad_texts),
                Note("texts_damaged"),
            )
        if remake:
            self.found(name, "keys", len(remake), Note("keys_disagree"))
            self.remake[info.number] = remake
        self._counters(name, info.number, total)
        self.going_on()
        self._statistics(name, info.number, words.sum_changes(parts), bool(bad_texts))
        self._signatures(name, info.number)

    def _texts(self, rows: Sequence[Any], bad: list[int]) -> tuple[list[Any], list[str]]:
        good, texts = [], []
        for row in rows:
            try:
                if row[6] is None:
                    raise StoreDamaged("text_damaged")
                data = self.store.writer.packer.unpack_bytes(row[5], row[6])
                if text_hash(data) != bytes(row[1]):
                    raise StoreDamaged("text_damaged")
                texts.append(data.decode("utf-8", "surrogatepass"))
                good.append(row)
            except (StoreDamaged, UnicodeDecodeError):
                bad.append(row[0])
        return good, texts

    def _bags(self, texts: Sequence[str]) -> tuple[list[bytes], list[bytes], words.CountChange]:
        """Bags, where their stems are filed, and what they add to the statistics."""
        found = words.read_words(texts)
        numbers = self._word_numbers(found)
        bags, part, rows = words.pack_bags(found, numbers)
        return bags, stems.pack(found, numbers, rows).packed, part

    def _word_numbers(self, found: words.Words) -> I64:
        """Numbers of words as the database has them. Missing ones get numbers that no word has."""
        rows = self.database.among(
            "SELECT hash, id FROM doublet_word WHERE hash IN", found.hashes.view(np.int64).tolist()
        )
        top = self.database.row("SELECT coalesce(max(id), 0) FROM doublet_word")
        assert top is not None
        known = dict(rows)
        own = [
            known.get(value, top[0] + 1 + i) for i, value in enumerate(found.hashes.view(np.int64).tolist())
        ]
        out = np.zeros(int(found.used[-1]) + 1 if len(found.used) else 0, np.int64)
        out[found.used] = own
        return out

    def _counters(self, name: str, library: int, total: _Totals) -> None:
        row = self.database.row(
            "SELECT documents, words, size_bytes FROM doublet_library WHERE id = %s", [library]
        )
        right = (total.documents, total.words, total.size_bytes)
        if row is None or tuple(row) == right:
            return
        wrong = [good - there for good, there in zip(right, row, strict=True)]

        def mend() -> None:
            with self.database.writing():
                self.database.rows(
                    "UPDATE doublet_library SET documents = documents + %s, words = words + %s, "
                    "size_bytes = size_bytes + %s WHERE id = %s",
                    [*wrong, library],
                )

        self.found(name, "counters", 1, Note("counts_disagree", row=row[0], right=right[0]), mend)

    def _statistics(self, name: str, library: int, right: words.CountChange, unsure: bool) -> None:
        stored, damaged = words.read_changes(self.database, library)
        wrong = words.sum_changes([right, stored.negative()])
        if unsure or not (damaged or wrong.documents or len(wrong.words)):
            return

        def mend() -> None:
            with self.database.writing():
                if self.database.vendor == "postgresql":
                    self.database.take_turn(library)
                self.database.many(
                    "DELETE FROM doublet_statistics WHERE id = %s", [(number,) for number in damaged]
                )
                words.add_change(self.database, library, wrong)

        self.found(name, "statistics", 1, Note("statistics_disagree"), mend)

    def _signatures(self, name: str, library: int) -> None:
        """Every recipe that follows the library has an entry for each document and no other."""
        missing = extra = 0
        wrong: list[tuple[int, list[str]]] = []
        unusable: list[int] = []
        recipes = self.database.rows(
            "SELECT id, follows FROM doublet_recipe WHERE library_id = %s ORDER BY id", [library]
        )
        for recipe, follows in recipes:
            self.going_on()
            if not self.store.signatures.usable(recipe):
                unusable.append(recipe)
                continue
            stray = self.database.rows(
                "SELECT e.name FROM doublet_entry e LEFT JOIN doublet_document d ON d.library_id = %s "
                "AND d.name_hash = e.name_hash WHERE e.recipe_id = %s AND d.id IS NULL",
                [library, recipe],
            )
            absent = self.database.row(
                "SELECT count(*) FROM doublet_document d LEFT JOIN doublet_entry e ON e.recipe_id = %s "
                "AND e.name_hash = d.name_hash WHERE d.library_id = %s AND e.id IS NULL",
                [recipe, library],
            )
            extra += len(stray)
            lacking = absent[0] if absent and follows else 0
            missing += lacking
            if stray or lacking:
                wrong.append((recipe, [row[0] for row in stray]))
        if unusable:
            self.found(
                name,
                "signatures",
                len(unusable),
                Note("recipes_unusable", count=len(unusable)),
                lambda: self._drop(unusable),
            )
        if missing or extra:
            note = Note("signatures_disagree", missing=missing, extra=extra)
            self.found(name, "signatures", missing + extra, note, lambda: self._mend_signatures(wrong))

    def _drop(self, recipes: Sequence[int]) -> None:
        for recipe in recipes:
            self.store.signatures.drop(recipe)

    def _mend_signatures(self, wrong: Sequence[tuple[int, list[str]]]) -> None:
        for recipe, stray in wrong:
            self.going_on()
            with self.database.writing():  # it is filled up when it is built next
                self.database.rows("UPDATE doublet_recipe SET follows = %s WHERE id = %s", [False, recipe])
            for start in range(0, len(stray), STEP):
                with self.database.writing():
                    take_entries(self.database, recipe, stray[start : start + STEP])

    # The index as a whole

    def postings(self) -> None:
        right, stored = self._expected(), self._filed()
        unfinished = bool(self.database.row("SELECT 1 FROM doublet_rebuild LIMIT 1"))
        if stored == right and not unfinished:
            return
        lost = abs(stored.count - right.count) if stored else right.count
        note = Note("rebuild_unfinished") if stored == right else Note("index_disagrees")

        def step(done: int) -> None:
            self.progress.step("indexing", done, None, "documents")

        self.found("", "index", max(1, lost), note, lambda: rebuild(self.database, step))

    def _expected(self) -> Postings:
        """What should be filed of passages and stems."""
        out = Postings()
        self._expect_stems(out)
        last = done = 0
        while True:
            self.going_on(done)
            rows = self.database.rows(
                "SELECT document_id, keys FROM doublet_content WHERE document_id > %s ORDER BY document_id LIMIT %s",
                [last, 20_000],
            )
            if not rows:
                return out
            last = rows[-1][0]
            done += len(rows)
            values = postings.unpack_keys(b"".join(bytes(row[1]) for row in rows)).astype(np.int64)
            sizes = [len(row[1]) // postings.KEY_BYTES for row in rows]
            out.add(values, np.repeat(np.array([row[0] for row in rows], np.int64), sizes))

    def _expect_stems(self, out: Postings) -> None:
        last = done = 0
        while True:
            self.going_on(done)
            rows = self.database.rows(
                "SELECT document_id, bag, stems FROM doublet_content WHERE document_id > %s AND stems IS NOT NULL "
                "ORDER BY document_id LIMIT %s",
                [last, BATCH],
            )
            if not rows:
                return
            last = rows[-1][0]
            done += len(rows)
            with contextlib.suppress(StoreDamaged):  # its keys disagree, which was found before
                pairs = stems.unpack(
                    [row[0] for row in rows], *([bytes(row[n]) for row in rows] for n in (1, 2))
                )
                out.add(pairs.keys.astype(np.int64), pairs.values)

    def _stored(self, table: str, bits: int) -> Postings | None:
        """What is in a table of FTS5; None when it cannot be read."""
        out = Postings()
        look = f"temp.{table}_look"
        try:
            self.database.rows(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS {look} USING fts5vocab('main', '{table}', 'instance')"
            )
            cursor = self.database.raw.execute(f"SELECT term, doc FROM {look}")
            while rows := cursor.fetchmany(PART):
                self.going_on(out.count, "keys")
                terms, documents = zip(*rows, strict=True)
                out.add(read_keys(terms, bits), np.array(documents, np.int64))
        except Cancelled:
            raise
        except Exception as error:
            if "malformed" not in str(error).lower() and "corrupt" not in str(error).lower():
                raise
            return None
        finally:
            with contextlib.suppress(Exception):
                self.database.rows(f"DROP TABLE IF EXISTS {look}")
        return out

    def _filed(self) -> Postings | None:
        out = Postings()
        try:
            for records in segments.everything(self.database):
                self.going_on(out.count, "keys")
                for removed in (0, 1):
                    own = records.some(records.documents & np.uint64(1) == removed)
                    numbers = (own.documents >> np.uint64(1)).astype(np.int64)
                    out.add(own.keys.astype(np.int64), numbers, -1 if removed else 1)
        except StoreDamaged:
            return None
        return out

    def key_postings(self) -> None:
        """The index of whole-document keys: as many postings as the entries have keys, and readable."""
        row = self.database.row("SELECT coalesce(sum(length(keys)), 0) FROM doublet_entry")
        expected = (row[0] if row else 0) // 8
        if self.database.vendor == "postgresql":
            there = self.database.row("SELECT count(*) FROM doublet_key")
            stored = there[0] if there else 0
        else:
            found = self._stored("doublet_key", 64 + 25)
            stored = found.count if found is not None else -1
        if stored != expected:
            self.found("", "key index", 1, Note("signature_index_disagrees"), self._mend_key_index)

    def _mend_key_index(self) -> None:
        """All signatures go; they are made again when they are asked for."""
        with self.database.writing():
            self.database.rows("UPDATE doublet_recipe SET follows = %s", [False])
        pace = Pace(STEP, most=20_000)
        while True:
            self.going_on()
            with pace.step(self.database) as size, self.database.writing():
                rows = self.database.rows("SELECT id FROM doublet_entry ORDER BY id LIMIT %s", [size])
                self.database.many("DELETE FROM doublet_entry WHERE id = %s", rows)
                if not rows:
                    if self.database.vendor == "sqlite":
                        self.database.rows("INSERT INTO doublet_key (doublet_key) VALUES ('delete-all')")
                    else:
                        self.database.rows("TRUNCATE doublet_key")
                    return


def _remake(store: Store, library: int, numbers: Sequence[int], step: Callable[[int], None]) -> None:
    """Keys and bags from the texts, which never change under a number. The index follows as a whole."""
    database = store.database
    word_numbers = words.WordNumbers(database)
    for start in range(0, len(numbers), STEP):
        step(start)
        some = list(numbers[start : start + STEP])
        texts = store.documents.texts(some)
        some = [number for number in some if number in texts]
        keys = passage_keys.make_keys([texts[number] for number in some])
        found = words.read_words([texts[number] for number in some])
        cuts = keys.offsets.astype(np.int64).tolist()
        packed = [postings.pack_keys(keys.values[a:b]) for a, b in pairwise(cuts)]
        word_numbers.make_ahead(found)
        with database.writing():
            if database.vendor == "postgresql":
                database.take_turn(library)
            by_id = word_numbers.numbers(found)
            bags, _, rows = words.pack_bags(found, by_id)
            filed = stems.pack(found, by_id, rows).packed
            database.many(
                "UPDATE doublet_content SET version = %s, keys = %s, bag = %s, stems = %s WHERE document_id = %s",
                [
                    (passage_keys.VERSION, *made, number)
                    for *made, number in zip(packed, bags, filed, some, strict=True)
                ],
            )
        word_numbers.keep()


@dataclass(slots=True)
class Postings:
    """What a table of postings holds, told by its size and a sum over all (key, document): equal for equal tables in
    any order, and without holding them."""

    count: int = 0
    sum: int = 0

    def add(self, keys: I64, documents: I64, sign: int = 1) -> None:
        mixed = (keys.view(np.uint64) * _FACTORS[0]) ^ (documents.view(np.uint64) * _FACTORS[1])
        mixed ^= mixed >> np.uint64(32)
        mixed *= _FACTORS[2]
        mixed ^= mixed >> np.uint64(29)
        self.count += sign * len(keys)
        self.sum = (self.sum + sign * int(mixed.sum(dtype=np.uint64))) & ((1 << 64) - 1)


class _Totals:
    documents = 0
    words = 0
    size_bytes = 0


def read_keys(terms: Sequence[str], bits: int) -> I64:
    """The numbers that `postings.spell_keys` spelt; of longer ones (with a prefix) the last 60 bits."""
    letters = -(-bits // 5)
    if not terms:
        return np.zeros(0, np.int64)
    raw = np.frombuffer("".join(terms).encode("ascii"), np.uint8)
    if len(raw) != letters * len(terms):
        return np.zeros(0, np.int64)
    digits = np.where(raw >= ord("a"), raw - ord("a"), raw - ord("0") + 26).astype(np.int64)
    grid = digits.reshape(len(terms), letters)[:, -12:]
    out = np.zeros(len(terms), np.int64)
    for column in range(grid.shape[1]):
        out = (out << 5) | grid[:, column]
    return out
