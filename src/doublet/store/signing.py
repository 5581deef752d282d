"""Signatures of whole documents: kept in step with the library, made for whole libraries in steps.

A recipe that *follows* its library is kept in step with every change. Methods that weigh words by the collection keep
to the statistics of the moment they were signed with; when the library has drifted more than `DRIFT` from it, all its
documents are signed anew under a new recipe.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from doublet.errors import SignaturesNotReady
from doublet.model import Signature
from doublet.signatures import Statistics, method_class
from doublet.signatures import method as make_method
from doublet.signatures.parameters import make
from doublet.signatures.protocol import StoredStatistics
from doublet.signatures.statistics import LEXICAL_CANON, CollectionStatistics
from doublet.store import postings, words
from doublet.store.connection import Database
from doublet.store.entries import Entries, StoreIndex, drop_recipe, signed_entries, take_entries
from doublet.store.names import unescape
from doublet.store.pace import Pace
from doublet.store.word_table import WORKERS, WordTable
from doublet.text.tokens import TokenBatch

Step = Callable[[int, int], None]
Signed = dict[int, dict[str, Signature | None]]  #: recipe → id → signature

#: documents that came or went since the statistics were taken, as a share of those there were then
DRIFT = 0.1
SIGN_BATCH = 2_000  #: documents that are read and signed together
WEIGH_BATCH = 5_000  #: the same where only their words are read


class Signatures:
    """The room of signatures: keeps signatures in step with the documents, and makes them for whole libraries."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.texts_of: Callable[[Sequence[int]], dict[int, str]]  #: gives texts by numbers; set by the store
        self._made: dict[int, StoreIndex] = {}
        self._lock = threading.RLock()

    def following(self, library: int) -> list[int]:
        """Numbers of the recipes that every document of the library is signed by."""
        rows = self._database.rows(
            "SELECT id FROM doublet_recipe WHERE library_id = %s AND follows ORDER BY id", [library]
        )
        return [row[0] for row in rows]

    def sign(self, recipes: Sequence[int], ids: Sequence[str], texts: Sequence[str]) -> Signed:
        """Documents by these recipes, before the transaction in which they are stored: signing takes its time."""
        out: Signed = {}
        for number in recipes:
            index = self._open(number)
            if index is not None and ids:
                out[number] = dict(zip(ids, index.method.sign_texts(texts), strict=True))
        return out

    def follow(self, library: int, ids: Sequence[str], texts: Sequence[str], signed: Signed) -> None:
        """New documents, *signed* before: store their signatures by every recipe that follows the library. Inside a
        transaction. A recipe that has come to follow since is signed by here."""
        for number in self.following(library):
            index = self._open(number)
            if index is None:
                continue
            known = signed.get(number, {})
            new = [place for place, id in enumerate(ids) if id not in known]
            more = index.method.sign_texts([texts[place] for place in new]) if new else []
            known = known | {ids[place]: one for place, one in zip(new, more, strict=True)}
            index.put(ids, [known[id] for id in ids])

    def unfollow(self, library: int, names: Sequence[str]) -> None:
        """Documents (escaped names) that go. Inside a transaction."""
        for (number,) in self._database.rows(
            "SELECT id FROM doublet_recipe WHERE library_id = %s", [library]
        ):
            take_entries(self._database, number, names)

    def _open(self, number: int) -> StoreIndex | None:
        """None when the recipe was dropped meanwhile."""
        if number not in self._made:
            row = self._database.row(
                "SELECT library_id, method, parameters, statistics FROM doublet_recipe WHERE id = %s",
                [number],
            )
            if row is None:
                return None
            library, name, parameters, data = row
            given = _loaded(parameters)
            index = StoreIndex(
                self._database, library, make_method(name, _read_statistics(name, data), **_frozen(given))
            )
            self._remember(index)
            return index
        return self._made[number]

    def usable(self, number: int) -> bool:
        """Whether another process can go on with a recipe: what it knows of the library is read back."""
        row = self._database.row(
            "SELECT method, parameters, statistics FROM doublet_recipe WHERE id = %s", [number]
        )
        if row is None:
            return True
        try:
            make_method(row[0], _read_statistics(row[0], row[2]), **_frozen(_loaded(row[1])))
        except Exception:  # of whatever kind: a method of another package may be part of it
            return False
        return True

    def _remember(self, index: StoreIndex) -> None:
        if not self._database.in_foreign_transaction:  # which may be taken back, and the number given again
            self._made[index.number] = index

    def index(
        self,
        library: int,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        drift: float = DRIFT,
        build: bool = True,
        step: Step | None = None,
    ) -> StoreIndex:
        """The index of a method over a library. With *build* every document is in it, signed anew where that is needed,
        in short steps. Without, nothing is written: the index is that of the last build, which every document since
        was added to; raises `SignaturesNotReady` when there was none."""
        with self._lock:
            return self._index(library, name, dict(parameters or {}), drift, build, step)

    def _index(
        self, library: int, name: str, given: dict[str, Any], drift: float, build: bool, step: Step | None
    ) -> StoreIndex:
        text = json.dumps(given, default=list, sort_keys=True)
        database = self._database
        with database.guard():
            facts = database.row("SELECT changes, documents FROM doublet_library WHERE id = %s", [library])
            assert facts is not None
            changes, documents = facts
            rows = database.rows(
                "SELECT id, parameters, changes, documents, follows FROM doublet_recipe "
                "WHERE library_id = %s AND method = %s ORDER BY id DESC",
                [library, name],
            )
        weighs = method_class(name).needs_statistics
        for number, stored, then, size, follows in rows:
            if json.dumps(_loaded(stored), sort_keys=True) != text or not (build or follows):
                continue
            if build and weighs and abs(changes - then) > drift * max(size, 1):
                continue  # drifted: a new recipe takes its place
            found = self._open(number)
            if found is None:
                continue
            if not follows:
                self._fill(found, step)
            return found
        if not build:
            make(method_class(name).parameters_type, given, method=name)  # a wrong parameter is told first
            raise self._not_ready(library, name, given)
        index = self._begin(library, name, given, changes, documents)
        self._fill(index, step)
        self._drop_older(library, name, text, index.number)
        return index

    def _not_ready(self, library: int, name: str, given: Mapping[str, Any]) -> SignaturesNotReady:
        row = self._database.row("SELECT name FROM doublet_library WHERE id = %s", [library])
        known = unescape(row[0]) if row else ""
        return SignaturesNotReady("signatures_not_ready", library=known, method=name, parameters=dict(given))

    def _begin(
        self, library: int, name: str, given: Mapping[str, Any], changes: int, documents: int
    ) -> StoreIndex:
        statistics = self.statistics(library, name, given)
        data = statistics.to_bytes() if statistics is not None else None
        made = make_method(name, statistics, **given)
        index = StoreIndex(
            self._database,
            library,
            made,
            parameters=given,
            statistics=data,
            changes=changes,
            documents=documents,
        )
        with self._database.writing():  # the same statistics as at some time before are the same recipe
            self._database.rows(
                "UPDATE doublet_recipe SET changes = %s, documents = %s WHERE id = %s",
                [changes, documents, index.number],
            )
        self._remember(index)
        return index

    def statistics(self, library: int, name: str, given: Mapping[str, Any]) -> StoredStatistics | None:
        """What the method has to know about the library now; None for methods that need nothing."""
        kind = method_class(name)
        if not kind.needs_statistics:
            return None
        settings: Any = make(kind.parameters_type, dict(given), method=name)
        counts = kind.statistics_type is not object and issubclass(CollectionStatistics, kind.statistics_type)
        with self._database.reading():  # words that come meanwhile are not in the table of words
            if counts and settings.canon == LEXICAL_CANON:  # they are kept with the library
                part = words.read_statistics(self._database, library)
                return words.collection_statistics(self._database, part)
            return kind.gather(settings, self._batches(library, settings.canon))

    def weigh(self, library: int, name: str, parameters: Mapping[str, Any] | None = None) -> int:
        """Sign every document by the statistics of this moment without storing anything; gives how many could be."""
        given = dict(parameters or {})
        count = 0
        with self._database.reading(), ThreadPoolExecutor(WORKERS) as pool:
            method = make_method(name, self.statistics(library, name, given), **given)
            table = WordTable(self._database)
            table.make_ready(method)
            waiting: deque[Future[int]] = deque()
            for bags in self._all_bags(library):
                waiting.append(pool.submit(table.count, method, bags))
                if len(waiting) > WORKERS:
                    count += waiting.popleft().result()
            count += sum(one.result() for one in waiting)
        return count

    def _all_bags(self, library: int) -> Iterator[list[bytes]]:
        last = 0
        own = self._database.by_number(library, "d.library_id")
        while True:
            rows = self._database.rows(
                "SELECT d.id, c.bag FROM doublet_document d JOIN doublet_content c ON c.document_id = d.id "
                f"WHERE {own} = %s AND d.id > %s ORDER BY d.id LIMIT %s",
                [library, last, WEIGH_BATCH],
            )
            if not rows:
                return
            last = rows[-1][0]
            yield [bytes(row[1]) for row in rows]

    def _batches(self, library: int, canon: Any) -> Iterator[TokenBatch]:
        if canon == LEXICAL_CANON:
            table = WordTable(self._database)
            for numbers in self._database.document_numbers(library, SIGN_BATCH):
                yield table.batch(self._bags(numbers))
            return
        for numbers in self._database.document_numbers(library, SIGN_BATCH):
            texts = self.texts_of(numbers)
            yield canon.tokens([texts[number] for number in numbers if number in texts], words=True)

    def _bags(self, numbers: Sequence[int]) -> list[bytes]:
        found = dict(
            self._database.among("SELECT document_id, bag FROM doublet_content WHERE document_id IN", numbers)
        )
        return [bytes(found[number]) for number in numbers]

    def _fill(self, index: StoreIndex, step: Step | None) -> None:
        """Sign every document that has no entry yet, in steps; then the recipe follows the library.

        Documents are read and signed without holding anybody up; a step stores what is still there. The numbers of
        documents only grow, so nothing is missed: the last step looks for later ones only.
        """
        database, library = self._database, index.library
        total = database.row("SELECT documents FROM doublet_library WHERE id = %s", [library])
        pace = Pace(200, most=WEIGH_BATCH)
        last = done = 0
        with ThreadPoolExecutor(WORKERS) as pool:
            reader = _Unsigned(database, index, self.texts_of, pool)
            while True:
                numbers, parts = reader.after(last)
                if not numbers:
                    with database.writing():
                        if database.vendor == "postgresql":
                            database.take_turn(library)
                        if not reader.any_after(last):
                            database.rows(
                                "UPDATE doublet_recipe SET follows = %s WHERE id = %s", [True, index.number]
                            )
                            return
                    continue
                first = 0
                for entries in parts:
                    start = 0
                    while start < len(entries):
                        with pace.step(database) as size, database.writing():
                            if database.vendor == "postgresql":
                                database.take_turn(library)
                            end = min(start + size, len(entries))
                            self._put(index, numbers[first + start : first + end], entries, start)
                        start = end
                        postings.tidy(database)
                    first += len(entries)
                last = numbers[-1]
                done += len(numbers)
                if step is not None and total:
                    step(done, max(done, total[0]))

    def _put(self, index: StoreIndex, numbers: Sequence[int], entries: Entries, start: int) -> None:
        """Those of the documents that are still there and that nobody else has signed meanwhile. In a transaction."""
        there = {
            row[0]
            for row in self._database.among("SELECT id FROM doublet_document WHERE id IN", list(numbers))
        }
        hashes = [entries.names[start + place][1] for place in range(len(numbers))]
        signed = {
            row[0]
            for row in self._database.among(
                "SELECT name_hash FROM doublet_entry WHERE recipe_id = %s AND name_hash IN",
                hashes,
                [index.number],
            )
        }
        index.put_entries(
            entries.some(
                [
                    start + place
                    for place, number in enumerate(numbers)
                    if number in there and hashes[place] not in signed
                ]
            )
        )

    def _drop_older(self, library: int, name: str, text: str, newest: int) -> None:
        """Signatures of the same settings over older statistics: nothing can be compared with them any more."""
        rows = self._database.rows(
            "SELECT id, parameters FROM doublet_recipe WHERE library_id = %s AND method = %s AND id <> %s",
            [library, name, newest],
        )
        for number, stored in rows:
            if json.dumps(_loaded(stored), sort_keys=True) == text:
                self.drop(number)

    def drop(self, number: int) -> None:
        drop_recipe(self._database, number)
        self._made.pop(number, None)


class _Unsigned:
    """Documents of a library that have no entry in an index yet, signed."""

    def __init__(
        self,
        database: Database,
        index: StoreIndex,
        texts_of: Callable[[Sequence[int]], dict[int, str]],
        pool: ThreadPoolExecutor,
    ) -> None:
        self._database = database
        self._index = index
        self._texts_of = texts_of
        self._pool = pool
        method = index.method
        self._lexical = method.needs_words and method.canon == LEXICAL_CANON
        self._table: WordTable | None = None
        own = database.by_number(index.library, "d.library_id")
        self._rest = (
            "LEFT JOIN doublet_entry e ON e.recipe_id = %s AND e.name_hash = d.name_hash "
            f"WHERE {own} = %s AND d.id > %s AND e.id IS NULL ORDER BY d.id LIMIT %s"
        )

    def any_after(self, last: int) -> bool:
        return bool(
            self._database.rows(
                f"SELECT d.id FROM doublet_document d {self._rest}",
                [self._index.number, self._index.library, last, 1],
            )
        )

    def after(self, last: int) -> tuple[list[int], list[Entries]]:
        """Numbers and entries of the next documents, as they are at one moment."""
        database, method = self._database, self._index.method
        bag, content = (
            (", c.bag", "JOIN doublet_content c ON c.document_id = d.id ") if self._lexical else ("", "")
        )
        with database.reading():
            rows = database.rows(
                f"SELECT d.id, d.name, d.name_hash{bag} FROM doublet_document d {content}{self._rest}",
                [
                    *(self._index.number, self._index.library, last),
                    WEIGH_BATCH if self._lexical else SIGN_BATCH,
                ],
            )
            numbers = [row[0] for row in rows]
            if self._lexical and rows:
                # Others may have added documents with new words since the last step.
                top = database.row("SELECT coalesce(max(id), 0) FROM doublet_word")
                if self._table is None or (top and top[0] >= len(self._table)):
                    self._table = WordTable(database)
                    self._table.make_ready(method)
            elif rows:
                texts = self._texts_of(numbers)
        if not rows:
            return [], []
        if self._table is not None:
            return numbers, self._table.entries(method, rows, self._pool)
        names = [unescape(row[1]) for row in rows]
        signed = method.sign_texts([texts[number] for number in numbers])
        return numbers, [signed_entries(method, names, signed)]


def _read_statistics(name: str, data: bytes | None) -> Statistics | None:
    if data is None:
        return None
    return method_class(name).read_statistics(bytes(data))


def _loaded(stored: Any) -> Any:
    return json.loads(stored) if isinstance(stored, str | bytes) else stored


def _frozen(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
