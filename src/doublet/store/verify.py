"""Does everything agree with the documents? And if not, make it from them again.

The texts are the ground: checked by their hash. Keys, bags, postings, statistics, counters and signatures all follow
from them, so all of these can be made again; only a damaged text cannot.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import StoreDamaged
from doublet.index import passage_keys
from doublet.model import Note
from doublet.progress import Progress
from doublet.store import postings, segments, words
from doublet.store.database import Store
from doublet.store.entries import take_entries
from doublet.store.texts import text_hash
from doublet.store.values import Finding

I64 = NDArray[np.int64]
BATCH = 2_000
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
    wrong; only then, and only if something is, writers wait until it is done.
    """
    progress = progress or Progress()
    with store.database.reading():
        names = [info.name for info in store.libraries.all()] if libraries is None else list(libraries)
        check = _Check(store, False, progress)
        check.everything(names)
    if not repair or not check.findings:
        return check.findings
    # Nobody may write meanwhile, or a document would be seen without its postings.
    check = _Check(store, True, progress)
    with store.writer.lock, store.database.writing():
        if store.database.vendor == "postgresql":
            for info in store.libraries.all():
                store.database.take_turn(info.number)
            segments.hold(store.database)
        check.everything(names)
    return check.findings


class _Check:
    def __init__(self, store: Store, repair: bool, progress: Progress) -> None:
        self.store = store
        self.database = store.database
        self.repair = repair
        self.progress = progress
        self.findings: list[Finding] = []

    def everything(self, names: Sequence[str]) -> None:
        self.pages()
        for name in names:
            self.library(name)
        self.postings()
        self.key_postings()

    def found(self, library: str, kind: str, count: int, message: Note, *, mended: bool) -> None:
        self.findings.append(Finding(library, kind, count, message, mended and self.repair))

    def pages(self) -> None:
        if self.database.vendor != "sqlite":
            return
        rows = [row[0] for row in self.database.rows("PRAGMA quick_check(20)")]
        wrong = [text for text in rows if text != "ok"]
        if wrong:
            self.found("", "pages", len(wrong), Note("file_is_damaged", wrong=wrong[0]), mended=False)

    # One library

    def library(self, name: str) -> None:
        info = self.store.libraries.get(name)
        total = _Totals()
        parts: list[words.Part] = []
        bad_texts: list[int] = []
        remake: list[int] = []
        last = 0
        own_column = self.database.walking(info.number, "d.library_id")
        while True:
            rows = self.database.rows(
                "SELECT d.id, d.hash, d.words, d.size_bytes, c.version, c.dictionary, c.text, c.keys, c.bag "
                "FROM doublet_document d LEFT JOIN doublet_content c ON c.document_id = d.id "
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
            fresh, part = self._bags(texts)
            parts.append(part)
            if len(parts) > 16:
                parts = [words.sum_parts(parts)]
            for row, own, bag in zip(good, packed, fresh, strict=True):
                if row[4] != passage_keys.VERSION or bytes(row[7]) != own or bytes(row[8]) != bag:
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
                mended=False,
            )
        if remake:
            self.found(name, "keys", len(remake), Note("keys_disagree"), mended=True)
            if self.repair:
                self._remake(remake)
        self._counters(name, info.number, total)
        self._statistics(name, info.number, words.sum_parts(parts), bool(bad_texts))
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

    def _bags(self, texts: Sequence[str]) -> tuple[list[bytes], words.Part]:
        found = words.read_words(texts)
        return words.pack_bags(found, self._word_numbers(found))

    def _word_numbers(self, found: words.Words) -> I64:
        """Numbers of words as the database has them. Missing ones are made when repairing, else are new ones."""
        if self.repair:
            with self.store.writer.lock, self.database.writing():
                return words.WordNumbers(self.database).numbers(found)
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

    def _remake(self, numbers: Sequence[int]) -> None:
        """Keys and bags from the texts; the postings are then made again as a whole."""
        for start in range(0, len(numbers), BATCH):
            some = list(numbers[start : start + BATCH])
            texts = self.store.documents.texts(some)
            keys = passage_keys.make_keys([texts[number] for number in some])
            bags, _ = self._bags([texts[number] for number in some])
            rows = [
                (
                    *(
                        passage_keys.VERSION,
                        postings.pack_keys(keys.values[int(keys.offsets[i]) : int(keys.offsets[i + 1])]),
                    ),
                    *(bags[i], number),
                )
                for i, number in enumerate(some)
            ]
            with self.store.writer.lock, self.database.writing():
                self.database.many(
                    "UPDATE doublet_content SET version = %s, keys = %s, bag = %s WHERE document_id = %s",
                    rows,
                )

    def _counters(self, name: str, library: int, total: _Totals) -> None:
        row = self.database.row(
            "SELECT documents, words, size_bytes FROM doublet_library WHERE id = %s", [library]
        )
        right = (total.documents, total.words, total.size_bytes)
        if row is not None and tuple(row) != right:
            self.found(
                name,
                "counters",
                1,
                Note("counts_disagree", row=row[0], right=right[0]),
                mended=True,
            )
            if self.repair:
                with self.store.writer.lock, self.database.writing():
                    self.database.rows(
                        "UPDATE doublet_library SET documents = %s, words = %s, size_bytes = %s WHERE id = %s",
                        [*right, library],
                    )

    def _statistics(self, name: str, library: int, right: words.Part, unsure: bool) -> None:
        try:
            stored = words.read_statistics(self.database, library)
            columns = ((stored.words, right.words), (stored.df, right.df), (stored.cf, right.cf))
            same = stored.documents == right.documents and all(np.array_equal(a, b) for a, b in columns)
        except StoreDamaged:
            same = False
        if not same and not unsure:
            self.found(name, "statistics", 1, Note("statistics_disagree"), mended=True)
            if self.repair:
                with self.store.writer.lock, self.database.writing():
                    words.replace_parts(self.database, library, right)

    def _signatures(self, name: str, library: int) -> None:
        """Every recipe that follows the library has an entry for each document and no other."""
        missing = extra = 0
        recipes = self.database.rows(
            "SELECT id, follows FROM doublet_recipe WHERE library_id = %s", [library]
        )
        for recipe, follows in recipes:
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
            if self.repair and (stray or lacking):
                with self.store.writer.lock, self.database.writing():
                    take_entries(self.database, recipe, [row[0] for row in stray])
                    # It will be filled up when it is used next.
                    self.database.rows(
                        "UPDATE doublet_recipe SET follows = %s WHERE id = %s", [False, recipe]
                    )
        if missing or extra:
            self.found(
                name,
                "signatures",
                missing + extra,
                Note("signatures_disagree", missing=missing, extra=extra),
                mended=True,
            )

    # The index as a whole

    def postings(self) -> None:
        right = self._expected()
        stored = self._stored("doublet_posting", passage_keys.KEY_BITS)
        if stored != right:
            lost = abs(stored.count - right.count) if stored else right.count
            self.found("", "index", max(1, lost), Note("index_disagrees"), mended=True)
            if self.repair:
                self._rebuild()

    def _expected(self) -> Postings:
        out = Postings()
        last = 0
        while True:
            rows = self.database.rows(
                "SELECT document_id, keys FROM doublet_content WHERE document_id > %s ORDER BY document_id LIMIT %s",
                [last, 20_000],
            )
            if not rows:
                return out
            last = rows[-1][0]
            keys = postings.unpack_keys(b"".join(bytes(row[1]) for row in rows)).astype(np.int64)
            sizes = [len(row[1]) // postings.KEY_BYTES for row in rows]
            out.add(keys, np.repeat(np.array([row[0] for row in rows], np.int64), sizes))

    def _stored(self, table: str, bits: int) -> Postings | None:
        """What stands in a table of postings; None when it cannot be read."""
        out = Postings()
        if self.database.vendor == "postgresql":
            try:
                for records in segments.everything(self.database):
                    for removed in (0, 1):
                        own = records.some(records.documents & np.uint64(1) == removed)
                        numbers = (own.documents >> np.uint64(1)).astype(np.int64)
                        out.add(own.keys.astype(np.int64), numbers, -1 if removed else 1)
            except StoreDamaged:
                return None
            return out
        look = f"temp.{table}_look"
        try:
            self.database.rows(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS {look} USING fts5vocab('main', '{table}', 'instance')"
            )
            cursor = self.database.raw.execute(f"SELECT term, doc FROM {look}")
            while rows := cursor.fetchmany(PART):
                terms, documents = zip(*rows, strict=True)
                out.add(read_keys(terms, bits), np.array(documents, np.int64))
        except Exception as error:
            if "malformed" not in str(error).lower() and "corrupt" not in str(error).lower():
                raise
            return None
        finally:
            with contextlib.suppress(Exception):
                self.database.rows(f"DROP TABLE IF EXISTS {look}")
        return out

    def _rebuild(self) -> None:
        """The whole index from the stored keys, in one transaction."""
        with self.store.writer.lock, self.database.writing():
            if self.database.vendor == "sqlite":
                self.database.rows("INSERT INTO doublet_posting (doublet_posting) VALUES ('delete-all')")
            else:
                segments.clear(self.database)
            last = 0
            while True:
                rows = self.database.rows(
                    "SELECT c.document_id, c.keys, d.library_id FROM doublet_content c "
                    "JOIN doublet_document d ON d.id = c.document_id WHERE c.document_id > %s "
                    "ORDER BY c.document_id LIMIT %s",
                    [last, BATCH],
                )
                if not rows:
                    return
                last = rows[-1][0]
                values = postings.unpack_keys(b"".join(bytes(row[1]) for row in rows))
                sizes = [len(row[1]) // postings.KEY_BYTES for row in rows]
                offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64).tolist()
                numbers, homes = [row[0] for row in rows], [row[2] for row in rows]
                postings.add_postings(self.database, homes, numbers, values, offsets)

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
            self.found("", "key index", 1, Note("signature_index_disagrees"), mended=True)
            if self.repair:
                with self.store.writer.lock, self.database.writing():
                    if self.database.vendor == "sqlite":
                        self.database.rows("INSERT INTO doublet_key (doublet_key) VALUES ('delete-all')")
                    else:
                        self.database.rows("TRUNCATE doublet_key")
                    # Signed again when they are used next.
                    self.database.rows("DELETE FROM doublet_entry")
                    self.database.rows("UPDATE doublet_recipe SET follows = %s", [False])


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
