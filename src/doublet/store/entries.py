"""Signatures of whole documents as the database holds them, and an `Index` over those of one recipe.

Signatures of one recipe over one library stand under one row of ``doublet_recipe``; a key is looked up together with
the number of that row, so signatures of different recipes never meet.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import InvalidParameter, StoreError, UsageError
from doublet.index.protocol import Candidate
from doublet.model import Recipe, Signature
from doublet.signatures import Method
from doublet.signatures.protocol import require_recipe
from doublet.store import postings
from doublet.store.connection import Database, array
from doublet.store.names import escape, name_hash, unescape
from doublet.store.pace import Pace
from doublet.store.weighing import Weighed

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

_NOTHING = -1  # size of an entry that stands for a document with too little in it to sign
_RECIPE_LETTERS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Signatures of several documents, ready to be written."""

    names: list[tuple[str, int]]  #: escaped, with their hashes
    facts: list[tuple[int, bytes]]  #: size and values
    keys: U64
    offsets: I64  #: those of document d are ``[offsets[d]:offsets[d+1]]`` of *keys*

    def __len__(self) -> int:
        return len(self.names)

    def some(self, places: Sequence[int]) -> Entries:
        if len(places) == len(self):
            return self
        own = [self.keys[self.offsets[place] : self.offsets[place + 1]] for place in places]
        return Entries(
            [self.names[place] for place in places],
            [self.facts[place] for place in places],
            np.concatenate(own) if own else self.keys[:0],
            np.concatenate([[0], np.cumsum([len(keys) for keys in own])]).astype(np.int64),
        )


def signed_entries(method: Method, ids: Sequence[str], signatures: Sequence[Signature | None]) -> Entries:
    """None stands for a document with too little in it to sign."""
    keys = [
        np.zeros(0, np.uint64) if signature is None else np.unique(method.keys(signature))
        for signature in signatures
    ]
    return Entries(
        [(escape(id), name_hash(id)) for id in ids],
        [(_NOTHING, b"") if s is None else (s.size, s.values.astype("<u8").tobytes()) for s in signatures],
        np.concatenate(keys) if keys else np.zeros(0, np.uint64),
        np.concatenate([[0], np.cumsum([len(own) for own in keys])]).astype(np.int64),
    )


def weighed_entries(names: Sequence[tuple[str, int]], found: Weighed) -> Entries:
    """Of a method by heaviest words; names are escaped, with their hashes. A document that *found* has no signature
    for has too little in it to sign."""
    facts = [(_NOTHING, b"")] * len(names)
    data = found.values.astype("<u8").tobytes()
    width = 8 * found.values.shape[1]
    places = zip(found.documents.tolist(), found.sizes.tolist(), strict=True)
    for row, (document, size) in enumerate(places):
        facts[document] = (size, data[row * width : (row + 1) * width])
    counts = np.zeros(len(names), np.int64)
    counts[found.documents] = 1
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Entries(list(names), facts, np.ascontiguousarray(found.values[:, 0]), offsets)


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
        self.put_entries(signed_entries(self._method, ids, signatures))

    def put_entries(self, entries: Entries) -> None:
        names, facts, keys, offsets = entries.names, entries.facts, entries.keys, entries.offsets
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
        # Found by their keys. By the entries alone all keys of the recipe would be read, and as an index holds entries
        # last, a condition on the bare column would be tried for each pair of a key and an entry.
        database.rows(
            "DELETE FROM doublet_key WHERE recipe = %s AND key = ANY(%s) AND entry + 0 = ANY(%s)",
            [recipe, array(np.unique(np.concatenate(keys)).view(np.int64).tolist()), array(numbers)],
        )
        database.rows("DELETE FROM doublet_entry WHERE id = ANY(%s)", [numbers])
    return sum(row[2] >= 0 for row in rows)


def drop_recipe(database: Database, recipe: int) -> None:
    """A recipe with all its signatures, in steps. From the first step on nobody uses it any more."""
    with database.writing():
        database.rows("UPDATE doublet_recipe SET follows = %s WHERE id = %s", [False, recipe])
    pace = Pace(500, most=5_000)
    while True:
        with pace.step(database) as size, database.writing():
            rows = database.rows(
                "SELECT name FROM doublet_entry WHERE recipe_id = %s ORDER BY id LIMIT %s", [recipe, size]
            )
            if not rows:
                database.rows("DELETE FROM doublet_recipe WHERE id = %s", [recipe])
                return
            take_entries(database, recipe, [row[0] for row in rows])
        postings.tidy(database)
