"""Signatures of whole documents in the database, and an `Index` over them for every method.

Signatures of one recipe over one library stand under one row of ``doublet_recipe``; a key is looked up together with
the number of that row, so signatures of different recipes never meet. A recipe that *follows* its library is kept in
step with every change. Methods that weigh words by the collection keep to the statistics of the moment they were signed
with; when the library has drifted more than `DRIFT` from it, all its documents are signed anew under a new recipe.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import InvalidParameter, StoreError, UsageError
from doublet.index.protocol import Candidate
from doublet.model import Recipe, Signature
from doublet.signatures import Method, Statistics, method_class
from doublet.signatures import method as make_method
from doublet.signatures.parameters import make
from doublet.signatures.protocol import StoredStatistics, require_recipe
from doublet.signatures.statistics import LEXICAL_CANON, CollectionStatistics
from doublet.signatures.weighted import HeaviestWords
from doublet.store import postings, words
from doublet.store.connection import Database, array
from doublet.store.names import escape, name_hash, unescape
from doublet.store.weighing import Lexicon, Weighed, sign_bags, weigh_bags
from doublet.text.tokens import TokenBatch

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Step = Callable[[int, int], None]

DRIFT = (
    0.1  #: documents that came or went since the statistics were taken, as a share of those there were then
)
SIGN_BATCH = 2_000  #: documents that are signed in one transaction
WEIGH_BATCH = 5_000  #: the same where only their words are read
WORKERS = 2  #: threads that weigh
_NOTHING = -1  # size of an entry that stands for a document with too little in it to sign
_RECIPE_LETTERS = 5


class StoreIndex:
    """Keys of the signatures of *method* over one library. An `Index`."""

    def __init__(
        self,
        database: Database,
        library: int,
        method: Method,
        *,
        parameters: Mapping[str, Any] | None = None,
        statistics: bytes | None = None,
        changes: int = 0,
        documents: int = 0,
    ) -> None:
        self._database = database
        self._method = method
        self.library = library
        text = json.dumps(
            {"recipe": method.recipe.to_dict(), "settings": method.key_settings}, sort_keys=True, default=str
        )
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        look = "SELECT id FROM doublet_recipe WHERE library_id = %s AND digest = %s"
        with database.guard():
            found = database.row(look, [library, digest])
        if found is None:
            with database.writing():
                found = database.row(look, [library, digest])
                if found is None:
                    database.rows(
                        "INSERT INTO doublet_recipe (library_id, digest, method, recipe, settings, parameters, "
                        "statistics, changes, documents, follows) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) "
                        "ON CONFLICT (library_id, digest) DO NOTHING",
                        [
                            *(library, digest, method.name, json.dumps(method.recipe.to_dict(), default=str)),
                            json.dumps(method.key_settings, default=str),
                            json.dumps(dict(parameters or {}), default=list, sort_keys=True),
                            *(statistics, changes, documents, False),
                        ],
                    )
                    found = database.row(look, [library, digest])
        assert found is not None
        self.number: int = found[0]

    @property
    def recipe(self) -> Recipe:
        return self._method.recipe

    @property
    def method(self) -> Method:
        return self._method

    def __len__(self) -> int:
        with self._database.guard():
            found = self._database.row(
                "SELECT count(*) FROM doublet_entry WHERE recipe_id = %s AND size >= 0", [self.number]
            )
        return int(found[0]) if found else 0

    def __contains__(self, id: object) -> bool:
        if not isinstance(id, str):
            return False
        with self._database.guard():
            return (
                self._database.row(
                    "SELECT 1 FROM doublet_entry WHERE recipe_id = %s AND name_hash = %s AND size >= 0",
                    [self.number, name_hash(id)],
                )
                is not None
            )

    def add(self, id: str, signature: Signature) -> None:
        self.add_many([(id, signature)])

    def add_many(self, documents: Iterable[tuple[str, Signature]]) -> None:
        new: dict[str, Signature] = {}
        for id, signature in documents:
            if id in new:
                raise UsageError("already_in_index", id=id)
            require_recipe(self.recipe, signature)
            new[id] = signature
        with self._database.writing():
            there = self._database.among(
                "SELECT name FROM doublet_entry WHERE recipe_id = %s AND name_hash IN",
                [name_hash(id) for id in new],
                [self.number],
            )
            if there:
                id = unescape(there[0][0])
                raise UsageError("already_in_index", id=id)
            self.put(list(new), list(new.values()))

    def remove(self, id: str) -> bool:
        with self._database.writing():
            return self.take([escape(id)]) > 0

    def replace(self, id: str, signature: Signature) -> None:
        require_recipe(self.recipe, signature)
        with self._database.writing():
            self.take([escape(id)])
            self.put([id], [signature])

    def candidates(self, signature: Signature, limit: int | None = None) -> list[Candidate]:
        if limit is not None and limit < 1:
            raise InvalidParameter("limit_range", name="limit", value=limit)
        require_recipe(self.recipe, signature)
        keys = np.unique(self._method.keys(signature))
        with self._database.reading():
            entries = find_entries(self._database, self.number, keys)
            numbers, hits = np.unique(entries, return_counts=True)
            names = dict(
                self._database.among("SELECT id, name FROM doublet_entry WHERE id IN", numbers.tolist())
            )
        found = [
            Candidate(unescape(names[number]), count)
            for number, count in zip(numbers.tolist(), hits.tolist(), strict=True)
        ]
        found.sort(key=lambda candidate: (-candidate.hits, candidate.id))
        return found[:limit]

    def signatures(self, ids: Sequence[str]) -> dict[str, Signature]:
        """Stored signatures of these documents; those that have none are left out."""
        with self._database.guard():
            rows = self._database.among(
                'SELECT name, size, "values" FROM doublet_entry WHERE recipe_id = %s AND name_hash IN',
                [name_hash(id) for id in ids],
                [self.number],
            )
        return {
            unescape(name): Signature(
                self.recipe, np.frombuffer(bytes(values), "<u8").astype(np.uint64), size
            )
            for name, size, values in rows
            if size >= 0
        }

    # Inside a transaction of the caller

    def put(self, ids: Sequence[str], signatures: Sequence[Signature | None]) -> None:
        """New entries; None stands for a document with too little in it to sign."""
        keys = [
            np.zeros(0, np.uint64) if signature is None else np.unique(self._method.keys(signature))
            for signature in signatures
        ]
        self._put(
            [(escape(id), name_hash(id)) for id in ids],
            [
                (_NOTHING, b"") if s is None else (s.size, s.values.astype("<u8").tobytes())
                for s in signatures
            ],
            np.concatenate(keys) if keys else np.zeros(0, np.uint64),
            np.concatenate([[0], np.cumsum([len(own) for own in keys])]).astype(np.int64),
        )

    def put_weighed(self, names: Sequence[tuple[str, int]], found: Weighed) -> None:
        """New entries of a method by heaviest words; names are escaped, with their hashes. A document that *found*
        has no signature for has too little in it to sign."""
        facts = [(_NOTHING, b"")] * len(names)
        data = found.values.astype("<u8").tobytes()
        width = 8 * found.values.shape[1]
        places = zip(found.documents.tolist(), found.sizes.tolist(), strict=True)
        for row, (document, size) in enumerate(places):
            facts[document] = (size, data[row * width : (row + 1) * width])
        counts = np.zeros(len(names), np.int64)
        counts[found.documents] = 1
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._put(names, facts, np.ascontiguousarray(found.values[:, 0]), offsets)

    def _put(
        self, names: Sequence[tuple[str, int]], facts: Sequence[tuple[int, bytes]], keys: U64, offsets: I64
    ) -> None:
        if not names:
            return
        database = self._database
        count = len(names)
        if database.vendor == "sqlite":
            top = database.row("SELECT seq FROM sqlite_sequence WHERE name = 'doublet_entry'")
            first = (top[0] if top else 0) + 1
            numbers = list(range(first, first + count))
        else:
            numbers = [
                row[0]
                for row in database.rows(
                    "SELECT nextval(pg_get_serial_sequence('doublet_entry', 'id')) FROM generate_series(1, %s)",
                    [count],
                )
            ]
        data = keys.astype("<u8").tobytes()
        ends = (8 * offsets).tolist()
        database.copy(
            "doublet_entry",
            ("id", "recipe_id", "name", "name_hash", "size", '"values"', "keys"),
            [
                (number, self.number, *name, *fact, data[start:end])
                for number, name, fact, (start, end) in zip(
                    numbers, names, facts, pairwise(ends), strict=True
                )
            ],
        )
        if database.vendor == "sqlite":
            spelt = postings.spell_keys(keys, offsets.tolist(), 64, prefix_of(self.number))
            database.copy("doublet_key", ("rowid", "k"), zip(numbers, spelt, strict=True))
        else:
            owners = np.repeat(np.array(numbers, np.int64), np.diff(offsets))
            same = np.full(len(keys), self.number, np.int64)
            postings.copy_pairs(
                database, "doublet_key", ("recipe", "key", "entry"), same, keys.view(np.int64), owners
            )

    def take(self, names: Sequence[str]) -> int:
        """Remove entries by their (escaped) names; gives how many of them stood for a signature."""
        return take_entries(self._database, self.number, names)


def prefix_of(recipe: int) -> bytes:
    if recipe >= 1 << (5 * _RECIPE_LETTERS):
        raise StoreError("too_many_recipes")
    return postings.spell_keys(np.array([recipe], np.uint64), [0, 1], 5 * _RECIPE_LETTERS)[0].strip().encode()


def find_entries(database: Database, recipe: int, keys: U64) -> I64:
    """Numbers of entries that have the keys, once for each key that they have."""
    if database.vendor == "sqlite":
        cursor = database.raw.cursor()
        found: list[int] = []
        for token in postings.spell_keys(keys, range(len(keys) + 1), 64, prefix_of(recipe)):
            found += [
                row[0]
                for row in cursor.execute("SELECT rowid FROM doublet_key WHERE doublet_key MATCH ?", (token,))
            ]
        return np.array(found, np.int64)
    rows = database.rows(
        "SELECT entry FROM doublet_key WHERE recipe = %s AND key = ANY(%s)",
        [recipe, array(keys.view(np.int64).tolist())],
    )
    return np.array(rows, np.int64).reshape(-1)


def take_entries(database: Database, recipe: int, names: Sequence[str] | None) -> int:
    """Remove entries of a recipe: those with these names, or all."""
    if names is None:
        rows = database.rows("SELECT id, keys, size FROM doublet_entry WHERE recipe_id = %s", [recipe])
    else:
        rows = database.among(
            "SELECT id, keys, size FROM doublet_entry WHERE recipe_id = %s AND name_hash IN",
            [name_hash(unescape(name)) for name in names],
            [recipe],
        )
    if not rows:
        return 0
    numbers = [row[0] for row in rows]
    keys = [np.frombuffer(bytes(row[1]), "<u8").astype(np.uint64) for row in rows]
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in keys])]).astype(np.int64)
    if database.vendor == "sqlite":
        spelt = postings.spell_keys(np.concatenate(keys), offsets.tolist(), 64, prefix_of(recipe))
        database.raw.executemany(
            "INSERT INTO doublet_key (doublet_key, rowid, k) VALUES ('delete', ?, ?)",
            zip(numbers, spelt, strict=True),
        )
        database.many("DELETE FROM doublet_entry WHERE id = %s", [(number,) for number in numbers])
    else:
        database.rows("DELETE FROM doublet_key WHERE recipe = %s AND entry = ANY(%s)", [recipe, numbers])
        database.rows("DELETE FROM doublet_entry WHERE id = ANY(%s)", [numbers])
    return sum(row[2] >= 0 for row in rows)


class Signatures:
    """The room of signatures: keeps signatures in step with the documents, and makes them for whole libraries."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.texts_of: Callable[[Sequence[int]], dict[int, str]]  #: gives texts by numbers; set by the store
        self._made: dict[int, StoreIndex] = {}
        self._lock = threading.RLock()

    def follow(self, library: int, ids: Sequence[str], texts: Sequence[str]) -> None:
        """New documents: sign them by every recipe that follows the library. Inside a transaction."""
        rows = self._database.rows(
            "SELECT id FROM doublet_recipe WHERE library_id = %s AND follows", [library]
        )
        for (number,) in rows:
            index = self._open(number)
            index.put(ids, index.method.sign_texts(texts))

    def unfollow(self, library: int, names: Sequence[str]) -> None:
        """Documents (escaped names) that go. Inside a transaction."""
        for (number,) in self._database.rows(
            "SELECT id FROM doublet_recipe WHERE library_id = %s", [library]
        ):
            take_entries(self._database, number, names)

    def _open(self, number: int) -> StoreIndex:
        if number not in self._made:
            row = self._database.row(
                "SELECT library_id, method, parameters, statistics FROM doublet_recipe WHERE id = %s",
                [number],
            )
            assert row is not None
            library, name, parameters, data = row
            given = json.loads(parameters) if isinstance(parameters, str | bytes) else parameters
            index = StoreIndex(
                self._database, library, make_method(name, _read_statistics(name, data), **_frozen(given))
            )
            self._remember(index)
            return index
        return self._made[number]

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
        step: Step | None = None,
    ) -> StoreIndex:
        """The index of a method over a library with every document in it, signed anew where that is needed."""
        with self._lock:
            return self._index(library, name, dict(parameters or {}), drift, step)

    def _index(
        self, library: int, name: str, given: dict[str, Any], drift: float, step: Step | None
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
            same = json.dumps(_loaded(stored), sort_keys=True) == text
            if not same:
                continue
            if weighs and abs(changes - then) > drift * max(size, 1):
                continue  # drifted: a new recipe takes its place
            index = self._open(number)
            if not follows:
                self._fill(index, step)
            return index
        index = self._begin(library, name, given, changes, documents)
        self._fill(index, step)
        self._drop_older(library, name, text, index.number)
        return index

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
        own = self._database.walking(library, "d.library_id")
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
        """Sign every document that has no entry yet; then the recipe follows the library."""
        database = self._database
        method, library = index.method, index.library
        lexical = method.needs_words and method.canon == LEXICAL_CANON
        table: WordTable | None = None
        done = 0
        missing = (
            f"SELECT d.id, d.name, d.name_hash{', c.bag' if lexical else ''} FROM doublet_document d "
            f"{'JOIN doublet_content c ON c.document_id = d.id' if lexical else ''} "
            "LEFT JOIN doublet_entry e ON e.recipe_id = %s AND e.name_hash = d.name_hash "
            f"WHERE {database.walking(library, 'd.library_id')} = %s AND d.id > %s AND e.id IS NULL "
            "ORDER BY d.id LIMIT %s"
        )
        last = 0
        total = database.row("SELECT documents FROM doublet_library WHERE id = %s", [library])
        with ThreadPoolExecutor(WORKERS) as pool:
            while True:
                with database.writing():
                    if database.vendor == "postgresql":
                        database.take_turn(library)
                    rows = database.rows(
                        missing, [index.number, library, last, WEIGH_BATCH if lexical else SIGN_BATCH]
                    )
                    if not rows:
                        if last:
                            last = 0
                            continue  # look once more from the beginning: others may have added
                        database.rows(
                            "UPDATE doublet_recipe SET follows = %s WHERE id = %s", [True, index.number]
                        )
                        return
                    if lexical:
                        # Others may have added documents with new words since the last step.
                        top = database.row("SELECT coalesce(max(id), 0) FROM doublet_word")
                        if table is None or (top and top[0] >= len(table)):
                            table = WordTable(database)
                            table.make_ready(method)
                        table.put(index, rows, pool)
                    else:
                        numbers, names = [row[0] for row in rows], [unescape(row[1]) for row in rows]
                        texts = self.texts_of(numbers)
                        index.put(names, method.sign_texts([texts[number] for number in numbers]))
                    last = rows[-1][0]
                done += len(rows)
                if step is not None and total:
                    step(done, max(done, total[0]))

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
        with self._database.writing():
            take_entries(self._database, number, None)
            self._database.rows("DELETE FROM doublet_recipe WHERE id = %s", [number])
        self._made.pop(number, None)


class WordTable:
    """Spelling and hash of every word by its number, to turn bags back into batches that methods can sign."""

    def __init__(self, database: Database) -> None:
        rows = database.rows("SELECT id, fold, word FROM doublet_word ORDER BY id")
        size = (rows[-1][0] if rows else 0) + 1
        hashes = np.zeros(size, np.int64)
        spelt = [""] * size
        if rows:
            numbers, values, found = zip(*rows, strict=True)
            hashes[list(numbers)] = values
            for number, word in zip(numbers, found, strict=True):
                spelt[number] = word
        self._hashes: U64 = hashes.view(np.uint64)
        self._words = spelt
        self._lexicon: Lexicon | None = None

    def __len__(self) -> int:
        """One more than the highest number of a word."""
        return len(self._words)

    @property
    def lexicon(self) -> Lexicon:
        if self._lexicon is None:
            self._lexicon = Lexicon(self._words, self._hashes)
        return self._lexicon

    def make_ready(self, method: Method) -> None:
        """What several threads will need, made once."""
        statistics = getattr(method, "statistics", None)
        if isinstance(method, HeaviestWords) and isinstance(statistics, CollectionStatistics):
            statistics.df(self.lexicon.spelt)

    def count(self, method: Method, bags: Sequence[bytes]) -> int:
        """How many of these documents have a signature."""
        if isinstance(method, HeaviestWords):
            return len(weigh_bags(method, bags, self.lexicon).documents)
        return sum(one is not None for one in self.sign(method, bags))

    def put(self, index: StoreIndex, rows: Sequence[tuple[Any, ...]], pool: ThreadPoolExecutor) -> None:
        """Sign documents (number, name, hash of the name, bag) and store their entries, one part of them being signed
        while another is written. Inside a transaction."""
        method = index.method
        if not isinstance(method, HeaviestWords):
            signed = self.sign(method, [bytes(row[3]) for row in rows])
            index.put([unescape(row[1]) for row in rows], signed)
            return
        size = -(-len(rows) // (2 * WORKERS))
        parts = [rows[start : start + size] for start in range(0, len(rows), size)]
        lexicon = self.lexicon
        work = [pool.submit(weigh_bags, method, [bytes(row[3]) for row in part], lexicon) for part in parts]
        for part, found in zip(parts, work, strict=True):
            index.put_weighed([row[1:3] for row in part], found.result())

    def sign(self, method: Method, bags: Sequence[bytes]) -> list[Signature | None]:
        """Signatures by a method that reads nothing but words, whatever their order."""
        if isinstance(method, HeaviestWords):
            return sign_bags(method, bags, self.lexicon)
        return method.sign_many(self.batch(bags), [""] * len(bags))

    def batch(self, bags: Sequence[bytes]) -> TokenBatch:
        """Words of the bags; each as often as it stands in its document, in no order of the text."""
        numbers, counts, offsets = words.unpack_bags(bags)
        ids = np.repeat(numbers, counts)
        ends = np.concatenate([[0], np.cumsum(counts)])[offsets.astype(np.int64)].astype(np.uint64)
        nothing = np.zeros(len(ids), np.uint32)
        return TokenBatch(
            self._hashes[ids],
            nothing,
            nothing,
            nothing.astype(np.uint8),
            ends,
            ids.astype(np.uint32),
            self._words,
        )


def _read_statistics(name: str, data: bytes | None) -> Statistics | None:
    if data is None:
        return None
    return method_class(name).read_statistics(bytes(data))


def _loaded(stored: Any) -> Any:
    return json.loads(stored) if isinstance(stored, str | bytes) else stored


def _frozen(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
