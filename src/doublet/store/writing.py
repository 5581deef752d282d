"""Documents in and out of a library, each batch in one transaction: text, index, statistics, signatures, counters.

`prepare` does all that needs no database and may run in another thread; `add` and `remove` write.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import UsageError
from doublet.index import passage_keys
from doublet.model import Document, Note, Outcome
from doublet.store import postings, segments, stems, words
from doublet.store.connection import Database, array
from doublet.store.names import escape, name_hash
from doublet.store.pace import Pace
from doublet.store.signing import Signatures, Signed
from doublet.store.texts import Packer, encode, text_hash
from doublet.store.values import Added
from doublet.text.tokens import WordMemory

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Waiting = Callable[[float], None]

LONGEST_TEXT = (1 << 31) - 1  #: characters
#: characters that are stored in one transaction of `add_in_steps`: at first, at least, at most
ADD_AT_FIRST, ADD_AT_LEAST, ADD_AT_MOST = 1_000_000, 1_000_000, 3_000_000
EACH_CHARACTERS = 500  #: what a document costs besides its text, in characters
REMOVE_BATCH = 100  #: documents that are taken out in the first transaction of `remove_in_steps`


@dataclass(slots=True, eq=False)
class Prepared:
    """A batch that is ready to be written: parallel lists, one entry for each document that has words."""

    names: list[str]
    hashes: list[bytes]
    rows: list[tuple[Any, ...]]  #: title, address, time, source, fold, words, characters, size
    dictionaries: list[int]
    blobs: list[bytes]
    keys: U64
    key_offsets: list[int]
    words: words.Words
    texts: list[str]
    outcomes: list[Outcome]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def cost(self) -> int:
        """What it takes to store them, in characters."""
        return sum(row[6] + EACH_CHARACTERS for row in self.rows)

    def part(self, start: int, end: int) -> Prepared:
        """Some of the documents; what became of those that cannot be stored goes with the first."""
        if start == 0 and end >= len(self):
            return self
        end = min(end, len(self))
        own = slice(start, end)
        first = self.key_offsets[start]
        return Prepared(
            names=self.names[own],
            hashes=self.hashes[own],
            rows=self.rows[own],
            dictionaries=self.dictionaries[own],
            blobs=self.blobs[own],
            keys=self.keys[first : self.key_offsets[end]],
            key_offsets=[cut - first for cut in self.key_offsets[start : end + 1]],
            words=self.words.between(start, end),
            texts=self.texts[own],
            outcomes=self.outcomes if start == 0 else [],
        )


def prepare(documents: Sequence[Document], packer: Packer, memory: WordMemory) -> Prepared:
    """Everything about these documents that needs no database. May run in any thread."""
    outcomes: list[Outcome] = []
    seen: set[str] = set()
    good: list[Document] = []
    for document in documents:
        if document.id in seen:
            outcomes.append(
                Outcome(
                    "duplicate_id",
                    document.id,
                    "",
                    Note("id_twice", id=document.id),
                )
            )
        elif len(document.text) > LONGEST_TEXT:
            outcomes.append(Outcome("too_large", document.id, "", Note("text_too_long")))
        else:
            seen.add(document.id)
            good.append(document)
    texts = [document.text for document in good]
    batch, lexical = words.plain_and_words(texts, memory)
    counts = np.diff(batch.offsets).tolist()
    if not all(counts):
        for document, count in zip(good, counts, strict=True):
            if not count:
                outcomes.append(Outcome("empty", document.id, "", Note("no_words")))
        good = [document for document, count in zip(good, counts, strict=True) if count]
        texts = [document.text for document in good]
        batch, lexical = words.plain_and_words(texts, memory)
    keys = passage_keys.make_keys(texts, batch)
    data = [encode(text) for text in texts]
    dictionaries, blobs = packer.pack(texts, data)
    facts = zip(good, keys.folds.view(np.int64).tolist(), keys.words.tolist(), data, strict=True)
    return Prepared(
        names=[document.id for document in good],
        hashes=[text_hash(raw) for raw in data],
        rows=[
            (
                *map(escape, (d.title, d.address, d.time, d.source)),
                fold,
                count,
                len(d.text),
                len(raw),
            )
            for d, fold, count, raw in facts
        ],
        dictionaries=dictionaries,
        blobs=blobs,
        keys=keys.values,
        key_offsets=keys.offsets.astype(np.int64).tolist(),
        words=lexical,
        texts=texts,
        outcomes=outcomes,
    )


def stored_pairs(rows: Sequence[tuple[int, Any, Any, Any]]) -> postings.Pairs:
    """What is filed of documents, from what is stored of them: number, keys, bag and stems."""
    keys = postings.unpack_keys(b"".join(bytes(row[1]) for row in rows))
    offsets = np.cumsum([0, *(len(row[1]) // postings.KEY_BYTES for row in rows)]).tolist()
    filed = [row for row in rows if row[3] is not None]
    return postings.Pairs.of_keys([row[0] for row in rows], keys, offsets) + stems.unpack(
        [row[0] for row in filed], [bytes(row[2]) for row in filed], [bytes(row[3]) for row in filed]
    )


class Writer:
    """Writes to one database. Not safe for use from several threads at once; several processes may."""

    def __init__(self, database: Database, packer: Packer, signatures: Signatures) -> None:
        self._database = database
        self.packer = packer
        self._signatures = signatures
        self.lock = threading.RLock()  #: of whoever calls `add`, `remove` or `take`: one thread at a time
        self._words = words.WordNumbers(database)
        self._signed: Signed = {}  # of the batch at hand
        self._stored_dictionaries: list[int] = []  # by the transaction at hand
        self.adding = Pace(ADD_AT_FIRST, most=ADD_AT_MOST, least=ADD_AT_LEAST)
        self._removing = Pace(REMOVE_BATCH, most=4 * REMOVE_BATCH, least=16)

    def add_in_steps(self, library: int, batch: Prepared, waiting: Waiting | None = None) -> Added:
        """As `add`, some documents at a time: each step is stored as a whole, and nobody waits for long."""
        start, out = 0, Added()
        costs = np.cumsum([0, *(row[6] + EACH_CHARACTERS for row in batch.rows)])
        while True:
            end = int(np.searchsorted(costs, costs[start] + self.adding.size, side="right")) - 1
            if costs[-1] - costs[start] <= 1.5 * self.adding.size:  # no small rest
                end = len(batch)
            part = batch.part(start, max(end, start + 1))
            found = self.add(library, part, waiting)
            out += found
            out.states |= found.states
            start += max(1, len(part))
            if start >= len(batch):
                return out

    def remove_in_steps(
        self, library: int, numbers: Sequence[int], also: Callable[[Sequence[int]], None] | None = None
    ) -> None:
        """Take documents out, some at a time; *also* is called with their numbers inside each transaction."""
        start = 0
        while start < len(numbers):
            with self._removing.step(self._database) as size:
                some = numbers[start : start + size]
                with self._database.writing():
                    self.remove(library, some)
                    if also is not None:
                        also(some)
            self.tidy(library)
            start += len(some)

    def add(
        self,
        library: int,
        batch: Prepared,
        waiting: Waiting | None = None,
        *,
        skip: Callable[[], frozenset[int]] | None = None,
        then: Callable[[Added], None] | None = None,
    ) -> Added:
        """New documents are stored, changed ones replaced, equal ones left alone. All of the batch or nothing.

        *skip* names places in the batch that are not to be stored after all, *then* does what belongs to the same step;
        both are called inside the transaction.
        """
        with self.adding.step(self._database, batch.cost):
            added = self._store(library, batch, waiting, skip, then)
        self.tidy(library)
        return added

    def _store(
        self,
        library: int,
        batch: Prepared,
        waiting: Waiting | None = None,
        skip: Callable[[], frozenset[int]] | None = None,
        then: Callable[[Added], None] | None = None,
    ) -> Added:
        self._stored_dictionaries = []
        self._signed = self._sign_ahead(library, batch)
        try:
            with self._database.guard():
                self._words.make_ahead(batch.words)
            with self._database.writing(waiting):
                self.lock_library(library, waiting)
                added = self._add(library, batch, skip() if skip is not None else frozenset())
                if then is not None:
                    then(added)
        except BaseException:
            self._words.forget()
            raise
        if self._database.in_transaction:  # part of a larger step, which may still be taken back
            self._words.forget()
            return added
        self._words.keep()
        for number in self._stored_dictionaries:  # not all: texts packed meanwhile may have brought more
            self.packer.new.pop(number, None)
        return added

    def _sign_ahead(self, library: int, batch: Prepared) -> Signed:
        """Signatures of those documents that look new or changed."""
        with self._database.guard():
            recipes = self._signatures.following(library)
            if not recipes:
                return {}
            same = {
                (row[0], bytes(row[1]))
                for row in self._database.among(
                    "SELECT name_hash, hash FROM doublet_document WHERE library_id = %s AND name_hash IN",
                    [name_hash(name) for name in batch.names],
                    [library],
                )
            }
            new = [
                place
                for place, (name, hash) in enumerate(zip(batch.names, batch.hashes, strict=True))
                if (name_hash(name), hash) not in same
            ]
            return self._signatures.sign(
                recipes, [batch.names[place] for place in new], [batch.texts[place] for place in new]
            )

    def tidy(self, library: int) -> None:
        """Keep the index of passages and the statistics in shape. After a transaction; not inside one, which it would
        make long."""
        if not self._database.in_transaction:
            words.merge_changes(self._database, library)
            postings.tidy(self._database)
            segments.tidy(self._database)

    def _add(self, library: int, batch: Prepared, skip: frozenset[int]) -> Added:
        database = self._database
        added = Added(outcomes=list(batch.outcomes))
        hashes = [name_hash(name) for name in batch.names]
        known = {
            row[0]: row[1:]
            for row in database.among(
                "SELECT name_hash, id, hash, name, title, address, time, source, added_at FROM doublet_document "
                "WHERE library_id = %s AND name_hash IN",
                hashes,
                [library],
            )
        }
        now = int(time.time())
        fresh: list[int] = []
        replaced: list[int] = []
        born: dict[int, int] = {}
        for i, (name, key) in enumerate(zip(batch.names, hashes, strict=True)):
            if i in skip:
                continue
            there = known.get(key)
            if there is None:
                fresh.append(i)
                added.stored += 1
                added.states[name] = "stored"
                continue
            number, old_hash, old_name, *old_facts, added_at = there
            if old_name != escape(name):
                raise UsageError(
                    "same_hash",
                    old_name=old_name,
                    id=name,
                )
            if bytes(old_hash) == batch.hashes[i]:
                added.unchanged += 1
                added.states[name] = "unchanged"
                if tuple(old_facts) != batch.rows[i][:4]:
                    database.rows(
                        "UPDATE doublet_document SET title = %s, address = %s, time = %s, source = %s, "
                        "changed_at = %s WHERE id = %s",
                        [*batch.rows[i][:4], now, number],
                    )
                continue
            replaced.append(number)
            born[i] = added_at
            fresh.append(i)
            added.changed += 1
            added.states[name] = "changed"
        if replaced:
            self._remove(library, replaced)
        if fresh:
            self._insert(library, batch, fresh, hashes, now, born)
        self._count_outcomes(library, added)
        return added

    def _insert(
        self,
        library: int,
        batch: Prepared,
        fresh: list[int],
        hashes: list[int],
        now: int,
        born: dict[int, int],
    ) -> None:
        database = self._database
        self._store_dictionaries()
        numbers = self._new_numbers(len(fresh))
        everything = len(fresh) == len(batch.names)
        database.copy(
            "doublet_document",
            (
                *(
                    "id",
                    "library_id",
                    "name",
                    "name_hash",
                    "hash",
                    "title",
                    "address",
                    "time",
                    "source",
                    "fold",
                ),
                *("words", "characters", "size_bytes", "added_at", "changed_at"),
            ),
            [
                (
                    *(number, library, escape(batch.names[i]), hashes[i], batch.hashes[i], *batch.rows[i]),
                    *(born.get(i, now), now),
                )
                for number, i in zip(numbers, fresh, strict=True)
            ],
        )
        lexical = batch.words if everything else batch.words.some(fresh)
        word_numbers = self._words.numbers(lexical)
        bags, part, rows = words.pack_bags(lexical, word_numbers)
        filed = stems.pack(lexical, word_numbers, rows)
        keys, cuts = batch.keys, batch.key_offsets
        if not everything:
            own = [keys[cuts[i] : cuts[i + 1]] for i in fresh]
            keys, cuts = np.concatenate(own), list(itertools.accumulate(map(len, own), initial=0))
        packed = postings.pack_keys(keys)
        ends = [postings.KEY_BYTES * cut for cut in cuts]
        database.copy(
            "doublet_content",
            ("document_id", "version", "dictionary", "text", "keys", "bag", "stems"),
            [
                (
                    *(number, passage_keys.VERSION, batch.dictionaries[i], batch.blobs[i]),
                    *(packed[ends[row] : ends[row + 1]], bags[row], filed.packed[row]),
                )
                for row, (number, i) in enumerate(zip(numbers, fresh, strict=True))
            ],
        )
        # Those of stems are sorted already: what is sorted stays so when it comes first.
        both = stems.pairs(numbers, filed) + postings.Pairs.of_keys(numbers, keys, cuts)
        postings.add(database, library, both)
        words.add_change(database, library, part)
        database.rows(
            "UPDATE doublet_library SET documents = documents + %s, words = words + %s, "
            "size_bytes = size_bytes + %s, changes = changes + %s, changed_at = %s WHERE id = %s",
            [
                *(len(fresh), sum(batch.rows[i][5] for i in fresh), sum(batch.rows[i][7] for i in fresh)),
                *(len(fresh), now, library),
            ],
        )
        self._signatures.follow(
            library, [batch.names[i] for i in fresh], [batch.texts[i] for i in fresh], self._signed
        )

    def remove(self, library: int, numbers: Sequence[int], waiting: Waiting | None = None) -> None:
        """Take documents out, by their numbers; those that are not there any more are left alone."""
        with self._database.writing(waiting):
            self.lock_library(library, waiting)
            self._remove(library, numbers)

    def take(self, library: int, numbers: Sequence[int]) -> None:
        """As `remove`, inside a transaction."""
        self._remove(library, numbers)

    def _remove(self, library: int, numbers: Sequence[int]) -> None:
        database = self._database
        found = database.among(
            "SELECT c.document_id, c.keys, c.bag, d.name, d.words, d.size_bytes, c.stems FROM doublet_content c "
            "JOIN doublet_document d ON d.id = c.document_id WHERE d.library_id = %s AND c.document_id IN",
            list(numbers),
            [library],
        )
        if not found:
            return
        there = [row[0] for row in found]
        postings.remove(database, stored_pairs([(row[0], row[1], row[2], row[6]) for row in found]))
        rows, counts, offsets = words.unpack_bags([bytes(row[2]) for row in found])
        words.add_change(database, library, words.change_of(rows, counts, offsets).negative())
        self._signatures.unfollow(library, [row[3] for row in found])
        for table, column in (("doublet_content", "document_id"), ("doublet_document", "id")):
            if database.vendor == "sqlite":
                database.many(f"DELETE FROM {table} WHERE {column} = %s", [(number,) for number in there])
            else:
                database.rows(f"DELETE FROM {table} WHERE {column} = ANY(%s)", [array(there)])
        database.rows(
            "UPDATE doublet_library SET documents = documents - %s, words = words - %s, "
            "size_bytes = size_bytes - %s, changes = changes + %s, changed_at = %s WHERE id = %s",
            [
                *(len(found), sum(row[4] for row in found), sum(row[5] for row in found)),
                *(len(found), int(time.time()), library),
            ],
        )

    def lock_library(self, library: int, waiting: Waiting | None = None) -> None:
        """Writers to one library take turns. SQLite has one writer anyway."""
        if self._database.vendor == "postgresql":
            self._database.take_turn(library, waiting)
        if self._database.row("SELECT 1 FROM doublet_library WHERE id = %s", [library]) is None:
            raise UsageError("library_deleted")

    def _new_numbers(self, count: int) -> list[int]:
        if self._database.vendor == "sqlite":
            found = self._database.row("SELECT seq FROM sqlite_sequence WHERE name = 'doublet_document'")
            first = (found[0] if found else 0) + 1
            return list(range(first, first + count))
        rows = self._database.rows(
            "SELECT nextval(pg_get_serial_sequence('doublet_document', 'id')) FROM generate_series(1, %s)",
            [count],
        )
        return [row[0] for row in rows]

    def _store_dictionaries(self) -> None:
        """Those that texts were packed with so far; other threads go on packing."""
        new = list(self.packer.new.items())
        self._stored_dictionaries = [number for number, _ in new]
        for number, (kind, data) in new:
            self._database.rows(
                "INSERT INTO doublet_dictionary (id, kind, data) VALUES (%s, %s, %s) ON CONFLICT (id) DO NOTHING",
                [number, kind, data],
            )

    def _count_outcomes(self, library: int, added: Added) -> None:
        counts = {"stored": added.stored, "changed": added.changed, "unchanged": added.unchanged}
        for outcome in added.outcomes:
            counts[outcome.state] = counts.get(outcome.state, 0) + 1
        self.count_outcomes(library, counts)

    def count_outcomes(self, library: int, counts: dict[str, int]) -> None:
        """Add to the library's record of how things ended. Inside a transaction."""
        found = self._database.row("SELECT outcomes FROM doublet_library WHERE id = %s", [library])
        before: Any = found[0] if found else {}
        total = dict(json.loads(before) if isinstance(before, str | bytes) else before or {})
        for state, count in counts.items():
            if count:
                total[state] = total.get(state, 0) + count
        self._database.rows(
            "UPDATE doublet_library SET outcomes = %s WHERE id = %s",
            [json.dumps(total, sort_keys=True), library],
        )
