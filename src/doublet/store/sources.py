"""Sources of a library in the database: where they stand, what they know of their documents, and how far a walk got.

`Sources.store` writes one batch of a walk in one transaction: documents, what the source knows of each, those that are
gone, the counts and the checkpoint. A process that is killed at any moment leaves either all of it or nothing.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from doublet.errors import LeaseLost, SourceBusy
from doublet.model import Note, Outcome
from doublet.store import leases
from doublet.store.connection import Database
from doublet.store.names import escape, from_json, name_hash, to_json, unescape
from doublet.store.pace import Pace
from doublet.store.values import Added, SourceInfo, iso

if TYPE_CHECKING:
    from doublet.store.writing import Prepared, Writer

LOCK_MS = 2_000  #: a batch of a walk takes less; whoever keeps a source longer is not waited for
KEPT_REASON = 2_000  #: characters of a reason
_INFO = (
    "s.id, l.name, s.kind, s.address, s.options, s.state, s.run, s.status, s.message, s.outcomes, s.created_at, "
    "s.began_at, s.ended_at, s.owner"
)


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a library knows of a document of one source. *stored* is False for one that could not be used."""

    version: str
    etag: str
    modified: str
    stored: bool
    state: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """What to remember of a document. *state* is empty for one that is handed over to be stored."""

    id: str
    version: str = ""
    etag: str = ""
    modified: str = ""
    part: str = ""  #: id of the table or archive that it stands in
    state: str = ""  #: "whole" for a table or archive itself
    reason: Note | None = None
    place: str = ""


@dataclass(slots=True)
class WalkBatch:
    """What one step of a walk brings, in the order in which it came."""

    prepared: Prepared
    facts: list[Fact] = field(
        default_factory=list
    )  #: of the documents in *prepared*, and of those not to be used
    unchanged: list[Fact] = field(default_factory=list)
    failed: list[Outcome] = field(default_factory=list)  #: could not be got; nothing is remembered
    gone: list[tuple[str, Note | None]] = field(default_factory=list)  #: id and reason
    state: dict[str, Any] | None = None  #: of the last checkpoint in the batch
    every: bool = False  #: name the documents of unchanged tables and archives too

    def __len__(self) -> int:
        return len(self.facts) + len(self.unchanged) + len(self.failed) + len(self.gone)


@dataclass(slots=True)
class Whole:
    """What is known of the documents in a table or an archive that is the same as last time."""

    stored: int = 0
    names: list[str] = field(default_factory=list)  #: of those that are stored, if they are asked for
    others: list[Outcome] = field(default_factory=list)


class Sources:
    """The room of sources: those of all libraries of a store."""

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer
        self._now = leases.NOW[database.vendor]

    # Sources

    def all(self, library: int) -> list[SourceInfo]:
        """In the order in which they were added."""
        return self._select("s.library_id = %s ORDER BY s.id", [library])

    def get(self, number: int) -> SourceInfo | None:
        found = self._select("s.id = %s", [number])
        return found[0] if found else None

    def _select(self, where: str, parameters: Sequence[Any]) -> list[SourceInfo]:
        with self._database.guard():
            rows = self._database.rows(
                f"SELECT {_INFO} FROM doublet_source s JOIN doublet_library l ON l.id = s.library_id WHERE {where}",
                parameters,
            )
            counts = self._stored([row[0] for row in rows])
        return [_source(row, counts.get(row[0], 0)) for row in rows]

    def _stored(self, sources: Sequence[int]) -> dict[int, int]:
        return {
            number: self._database.rows(
                "SELECT count(*) FROM doublet_origin WHERE source_id = %s AND state = 'stored'", [number]
            )[0][0]
            for number in sources
        }

    def add(self, library: int, kind: str, address: str, options: Mapping[str, Any]) -> SourceInfo:
        """The source of this kind, address and options; made when it is not there yet."""
        key = _key(kind, address, options)
        look = "SELECT id FROM doublet_source WHERE library_id = %s AND key = %s"
        with self._database.writing():
            self._database.rows(
                "INSERT INTO doublet_source (library_id, kind, address, options, key, state, run, status, resumable, "
                "message, outcomes, created_at, owner) VALUES (%s, %s, %s, %s, %s, '{}', 0, 'new', %s, '', '{}', %s, "
                "'') "
                "ON CONFLICT (library_id, key) DO NOTHING",
                [
                    library,
                    kind,
                    escape(address),
                    to_json(dict(options), sort_keys=True),
                    key,
                    False,
                    int(time.time()),
                ],
            )
            found = self._database.row(look, [library, key])
        assert found is not None
        made = self.get(found[0])
        assert made is not None
        return made

    def change(self, number: int, options: Mapping[str, Any]) -> SourceInfo:
        """Give a source other options. Its documents are all read again by the next walk."""
        found = self.get(number)
        assert found is not None
        key = _key(found.kind, found.address, options)
        with self._database.writing():
            self._database.rows(
                "UPDATE doublet_source SET options = %s, key = %s, state = '{}', resumable = %s WHERE id = %s",
                [to_json(dict(options), sort_keys=True), key, False, number],
            )
            self._database.rows(
                "UPDATE doublet_origin SET version = '', etag = '', modified = '' WHERE source_id = %s",
                [number],
            )
        changed = self.get(number)
        assert changed is not None
        return changed

    def forget(self, number: int) -> None:
        """The documents of the source stay, but nothing updates them any more."""
        _empty(self._database, number)
        with self._database.writing():
            self._database.rows("DELETE FROM doublet_page WHERE source_id = %s", [number])
            self._database.rows("DELETE FROM doublet_origin WHERE source_id = %s", [number])
            self._database.rows("DELETE FROM doublet_source WHERE id = %s", [number])

    def remove(self, number: int, step: Callable[[int], None] | None = None) -> int:
        """Forget a source and take its documents out, in steps; gives how many. Documents that another source of the
        library has too stay. Raises `SourceBusy` while it is being walked."""
        with self._database.writing():
            row = self._held(number)
            if row is not None and row[1] is not None and not leases.is_gone(row[0]):
                raise _busy(number, *row)
        found = self._database.row("SELECT library_id FROM doublet_source WHERE id = %s", [number])
        if found is None:
            return 0
        (library,) = found
        gone, pace = 0, Pace(200, most=2_000, least=16)
        with self._writer.lock:
            while True:
                with pace.step(self._database) as size, self._database.writing():
                    self._writer.lock_library(library)
                    rows = self._database.rows(
                        "SELECT name FROM doublet_origin WHERE source_id = %s ORDER BY id LIMIT %s",
                        [number, size],
                    )
                    before = self._documents(library)
                    self._remove(library, number, [unescape(name) for (name,) in rows], keep_facts=False)
                    gone += before - self._documents(library)
                if not rows:
                    break
                self._writer.tidy(library)
                if step is not None:
                    step(gone)
        self.forget(number)
        return gone

    def _documents(self, library: int) -> int:
        found = self._database.row("SELECT documents FROM doublet_library WHERE id = %s", [library])
        return int(found[0]) if found else 0

    def of_document(self, library: int, id: str) -> list[int]:
        """Numbers of the sources that gave a document."""
        with self._database.guard():
            rows = self._database.rows(
                "SELECT s.id FROM doublet_source s JOIN doublet_origin o ON o.source_id = s.id "
                "WHERE s.library_id = %s AND o.name_hash = %s AND o.state = 'stored' ORDER BY s.id",
                [library, name_hash(id)],
            )
        return [number for (number,) in rows]

    def by_document(self, library: int) -> dict[int, int]:
        """The source of each document of a library that came from one, by the hash of its id; of several the first."""
        with self._database.guard():
            rows = self._database.rows(
                "SELECT o.name_hash, min(s.id) FROM doublet_origin o JOIN doublet_source s ON s.id = o.source_id "
                "WHERE s.library_id = %s AND o.state = 'stored' GROUP BY o.name_hash",
                [library],
            )
        return dict(rows)

    # A walk

    def begin(self, number: int) -> SourceInfo:
        """Start a walk, or go on with the one that was broken off after a checkpoint. The source is leased
        to this walk until `end`, or until nothing was heard of it for `leases.LEASE_S` seconds.

        Raises `SourceBusy` while another walk of the same source goes on.
        """
        owner = leases.new_owner()
        with self._database.writing():
            row = self._held(number)
            if row is not None and row[1] is not None and not leases.is_gone(row[0]):
                raise _busy(number, *row)
            self._database.rows(
                "UPDATE doublet_source SET run = CASE WHEN resumable THEN run ELSE run + 1 END, outcomes = CASE WHEN "
                "resumable THEN outcomes ELSE '{}' END, status = 'running', message = '', began_at = %s, "
                f"ended_at = NULL, owner = %s, lease_until = {self._now} + %s WHERE id = %s",
                [int(time.time()), owner, leases.LEASE_S, number],
            )
        found = self.get(number)
        assert found is not None
        return found

    def keep_state(self, source: SourceInfo, state: Mapping[str, Any]) -> None:
        """Replace the state of a source outside of a batch. Raises `LeaseLost`."""
        with self._database.writing():
            self._still_ours(source)
            self._database.rows(
                "UPDATE doublet_source SET state = %s, resumable = %s WHERE id = %s",
                [to_json(dict(state)), True, source.number],
            )

    def _held(self, number: int) -> tuple[Any, ...] | None:
        """Who has the lease of a source, and for how many seconds; nobody else gets it before this transaction ends.
        Raises `SourceBusy` when another process writes and does not finish."""
        sql = (
            f"SELECT owner, CASE WHEN lease_until > {self._now} THEN lease_until - {self._now} END "
            "FROM doublet_source WHERE id = %s"
        )
        found = self._database.row(sql, [number])
        if self._database.vendor == "sqlite" or found is None:  # SQLite has one writer anyway
            return found
        import psycopg

        try:
            self._database.rows(f"SET LOCAL lock_timeout = {LOCK_MS}")
            return self._database.row(f"{sql} FOR UPDATE", [number])
        except psycopg.errors.LockNotAvailable as error:
            raise _busy(number, found[0], found[1] or 1.0) from error

    def renew(self, source: SourceInfo) -> bool:
        """The walk lives: its lease holds on. False when somebody else has taken the source over. For a thread of its
        own, which does not wait for whoever writes in this process."""
        with self._database.writing():
            return self._renew(source)

    def _renew(self, source: SourceInfo) -> bool:
        row = self._database.row(
            f"UPDATE doublet_source SET lease_until = {self._now} + %s WHERE id = %s AND owner = %s RETURNING id",
            [leases.LEASE_S, source.number, source.owner],
        )
        return row is not None

    def _still_ours(self, source: SourceInfo) -> None:
        """Inside the transaction that writes: nothing of a walk that lost its source gets into the library."""
        if not self._renew(source):
            raise LeaseLost("source_lost", address=source.address, source=source.number)

    def end(self, source: SourceInfo, status: str, message: Note | None = None) -> None:
        """A walk is over: done, or broken off (failed, cancelled) and to be taken up from its last checkpoint. One that
        has lost its source has nothing to say."""
        with self._database.writing():
            resumable = "FALSE" if status == "done" else "resumable"
            self._database.rows(
                f"UPDATE doublet_source SET status = %s, message = %s, ended_at = %s, resumable = {resumable}, "
                "owner = '', lease_until = NULL WHERE id = %s AND owner = %s",
                [status, escape(kept_note(message)), int(time.time()), source.number, source.owner],
            )

    def known(self, source: int, id: str) -> Remembered | None:
        with self._database.guard():
            row = self._database.row(
                "SELECT version, etag, modified, state FROM doublet_origin WHERE source_id = %s AND name_hash = %s",
                [source, name_hash(id)],
            )
        return Remembered(unescape(row[0]), unescape(row[1]), row[2], row[3] == "stored") if row else None

    def remembered(self, source: int, hashes: Sequence[int]) -> dict[int, Remembered]:
        """The same for many documents, by the hashes of their ids."""
        with self._database.guard():
            rows = self._database.among(
                "SELECT name_hash, version, etag, modified, state FROM doublet_origin WHERE source_id = %s "
                "AND name_hash IN",
                list(hashes),
                [source],
            )
        return {
            key: Remembered(unescape(version), unescape(etag), modified, state == "stored", state)
            for key, version, etag, modified, state in rows
        }

    def close_thread(self) -> None:
        """Close the connection of a thread that has looked things up and ends."""
        self._database.close()

    def store(
        self,
        library: int,
        source: SourceInfo,
        batch: WalkBatch,
        *,
        keep_duplicates: bool,
        waiting: Callable[[float], None] | None = None,
        smallest: bool = False,
        also: Callable[[Mapping[str, str], Sequence[str]], None] | None = None,
    ) -> tuple[Added, Counter[str]]:
        """Write one batch: all of it or nothing. Gives what became of the documents, with a row for each that was
        not stored, changed or unchanged, and how many ended in each state. Raises `LeaseLost` when the source is walked
        by somebody else meanwhile.

        With *smallest*, of documents with equal words the one with the smallest id stays, in whatever order they come.
        *also* is called inside the transaction with the state of each document of the batch and the ids of documents
        that gave way to a smaller one.
        """
        rows: list[Outcome] = []
        total: Counter[str] = Counter()
        twins: dict[str, tuple[str, int]] = {}
        gave_way: list[str] = []

        def skip() -> frozenset[int]:
            self._still_ours(source)
            if keep_duplicates:
                return frozenset()
            if smallest:
                gave_way.extend(self._give_way(library, source.number, batch.prepared))
            found = self._twins(library, batch.prepared, smallest=smallest)
            for place, twin in found.items():
                twins[batch.prepared.names[place]] = (twin, name_hash(twin))
            return frozenset(found)

        def then(added: Added) -> None:
            # What the writer has seen itself stands in the library's record already.
            counted = Counter(added.states.values()) + Counter(outcome.state for outcome in added.outcomes)
            before = added.unchanged
            rows.extend(self._remember(library, source, batch, added, twins, wholes))
            total.update(counted - Counter(outcome.state for outcome in added.outcomes))
            total.update(unchanged=added.unchanged - before)
            total.update(row.state for row in rows)
            self._count(source.number, total)
            self._writer.count_outcomes(library, dict(total - counted))
            if batch.state is not None:
                self._database.rows(
                    "UPDATE doublet_source SET state = %s, resumable = %s WHERE id = %s",
                    [to_json(batch.state), True, source.number],
                )
            if also is not None:
                also(dict(added.states) | {row.id: row.state for row in rows}, gave_way)

        with self._writer.lock:
            wholes = self._mark_wholes(source, batch)
            added = self._writer.add(library, batch.prepared, waiting, skip=skip, then=then)
        added.outcomes = rows
        return added, +total

    def _count(self, source: int, states: Counter[str]) -> None:
        row = self._database.row("SELECT outcomes FROM doublet_source WHERE id = %s", [source])
        before = Counter(_json(row[0]) if row else {})
        self._database.rows(
            "UPDATE doublet_source SET outcomes = %s WHERE id = %s",
            [json.dumps(before + states, sort_keys=True), source],
        )

    def _remember(
        self,
        library: int,
        source: SourceInfo,
        batch: WalkBatch,
        added: Added,
        twins: Mapping[str, tuple[str, int]],
        wholes: Mapping[str, Whole],
    ) -> list[Outcome]:
        """What the source knows of each document from now on; gives the outcomes of those not in the library."""
        out: list[Outcome] = list(batch.failed)
        own = {outcome.id: outcome for outcome in added.outcomes}
        new: list[tuple[Any, ...]] = []
        left: list[str] = []  # duplicates now, stored under their own id before
        for fact in batch.facts:
            state, reason, twin = fact.state, fact.reason, None
            if fact.id in twins:
                same, twin = twins[fact.id]
                state, reason = (
                    "duplicate",
                    same_words(same),
                )
                left.append(fact.id)
            elif not state and fact.id in added.states:
                state = "stored"
            elif not state:
                outcome = own.get(fact.id)
                state, reason = (
                    (outcome.state, outcome.reason) if outcome else ("failed", Note("was_not_stored"))
                )
            if state not in ("stored", "whole"):
                out.append(
                    Outcome(
                        state,
                        fact.id if fact.id != fact.place else "",
                        fact.place,
                        reason or Note("no_message"),
                    )
                )
            new.append(
                (
                    *(source.number, escape(fact.id), name_hash(fact.id)),
                    name_hash(fact.part) if fact.part else None,
                    *(escape(fact.version), escape(fact.etag), fact.modified, source.run, state),
                    *(escape(kept_note(reason)), twin),
                )
            )
        named = {fact.id for fact in batch.facts}
        out += [outcome for outcome in added.outcomes if outcome.id not in named]
        self._put(new)
        out += self._still(source, batch.unchanged, added, wholes)
        if left:
            self._remove(library, source.number, left, keep_facts=True)
        if batch.gone:
            out += self._gone(library, source.number, batch.gone)
        if batch.failed:
            self._seen(source, [name_hash(outcome.id) for outcome in batch.failed])
        return out

    def _put(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self._database.many(
            "INSERT INTO doublet_origin (source_id, name, name_hash, part, version, etag, modified, run, state, "
            "reason, twin) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (source_id, name_hash) "
            "DO UPDATE SET part = excluded.part, version = excluded.version, etag = excluded.etag, "
            "modified = excluded.modified, run = excluded.run, state = excluded.state, reason = excluded.reason, "
            "twin = excluded.twin",
            rows,
        )

    def _seen(self, source: SourceInfo, hashes: Sequence[int]) -> None:
        self._database.among(
            "UPDATE doublet_origin SET run = %s WHERE source_id = %s AND name_hash IN",
            hashes,
            [source.run, source.number],
        )

    def _still(
        self, source: SourceInfo, facts: Sequence[Fact], added: Added, wholes: Mapping[str, Whole]
    ) -> list[Outcome]:
        """Documents that are the same as last time. One that could not be used then cannot be used now."""
        if not facts:
            return []
        hashes = [name_hash(fact.id) for fact in facts]
        known = {
            row[0]: row[1:]
            for row in self._database.among(
                "SELECT name_hash, state, reason, version, etag, modified FROM doublet_origin WHERE source_id = %s "
                "AND name_hash IN",
                hashes,
                [source.number],
            )
        }
        self._seen(source, list(known))
        out = []
        other: list[tuple[Any, ...]] = []  # facts that are not those of last time
        for key, fact in zip(hashes, facts, strict=True):
            state, kept, *before = known.get(key, ("stored", "", "", "", ""))
            now = [escape(fact.version) or before[0], *before[1:]]
            if fact.etag or fact.modified:
                now[1:] = escape(fact.etag), fact.modified
            if now != before:
                other.append((*now, source.number, key))
            if fact.id in wholes:
                added.unchanged += wholes[fact.id].stored
                added.states |= dict.fromkeys(wholes[fact.id].names, "unchanged")
                out += wholes[fact.id].others
            elif state == "stored":
                added.unchanged += 1
                added.states[fact.id] = "unchanged"
            else:
                reason = Note.from_text(unescape(kept))
                out.append(Outcome(state, fact.id, "", reason or Note("was_not_stored")))
        self._database.many(
            "UPDATE doublet_origin SET version = %s, etag = %s, modified = %s WHERE source_id = %s AND name_hash = %s",
            other,
        )
        return out

    def _mark_wholes(self, source: SourceInfo, batch: WalkBatch) -> dict[str, Whole]:
        """Tables and archives that are the same as last time, and so are all documents in them.

        They may be millions, so they are marked as seen before the batch is written, in steps; a walk that is killed
        meanwhile marks them again.
        """
        if not batch.unchanged:
            return {}
        with self._database.guard():
            rows = self._database.among(
                "SELECT name_hash FROM doublet_origin WHERE source_id = %s AND state = 'whole' AND name_hash IN",
                [name_hash(fact.id) for fact in batch.unchanged],
                [source.number],
            )
        there = {row[0] for row in rows}
        return {
            fact.id: self._mark_whole(source, name_hash(fact.id), every=batch.every)
            for fact in batch.unchanged
            if name_hash(fact.id) in there
        }

    def _mark_whole(self, source: SourceInfo, part: int, *, every: bool) -> Whole:
        whole, last = Whole(), 0
        pace = Pace(1_000, most=20_000)
        while True:
            with pace.step(self._database) as size, self._database.writing():
                self._still_ours(source)
                rows = self._database.rows(
                    "SELECT id, name, state, CASE WHEN state = 'stored' THEN '' ELSE reason END FROM doublet_origin "
                    "WHERE source_id = %s AND part = %s AND id > %s ORDER BY id LIMIT %s",
                    [source.number, part, last, size],
                )
                self._database.many(
                    "UPDATE doublet_origin SET run = %s WHERE id = %s", [(source.run, row[0]) for row in rows]
                )
            if not rows:
                return whole
            last = rows[-1][0]
            for _, name, state, reason in rows:
                if state == "stored":
                    whole.stored += 1
                    whole.names += [unescape(name)] if every else []
                else:
                    known = Note.from_text(unescape(reason)) or Note("no_message")
                    whole.others.append(Outcome(state, unescape(name), "", known))

    # Duplicates

    def _give_way(self, library: int, source: int, batch: Prepared) -> list[str]:
        """Documents of the source that have the words of one in the batch with a smaller id: they are taken out, as if
        that one had come first. Gives their ids."""
        first: dict[tuple[int, int], str] = {}
        for name, row in zip(batch.names, batch.rows, strict=True):
            key = (row[4], row[5])
            first[key] = min(first.get(key, name), name)
        own = set(batch.names)
        leaving: dict[str, tuple[int, str]] = {}
        for fold, size, number, stored in self._database.among(
            "SELECT fold, words, id, name FROM doublet_document WHERE library_id = %s AND fold IN",
            sorted({key[0] for key in first}),
            [library],
        ):
            name, smaller = unescape(stored), first.get((fold, size), "")
            if smaller and smaller < name and name not in own:
                leaving[name] = (number, smaller)
        ours = {
            row[0]
            for row in self._database.among(
                "SELECT name_hash FROM doublet_origin WHERE source_id = %s AND state = 'stored' AND name_hash IN",
                [name_hash(name) for name in leaving],
                [source],
            )
        }
        going = {name: pair for name, pair in leaving.items() if name_hash(name) in ours}
        if going:
            self._writer.take(library, [number for number, _ in going.values()])
            self._database.many(
                "UPDATE doublet_origin SET state = 'duplicate', reason = %s, twin = %s WHERE source_id = %s "
                "AND name_hash = %s",
                [
                    (escape(kept_note(same_words(smaller))), name_hash(smaller), source, name_hash(name))
                    for name, (_, smaller) in going.items()
                ],
            )
        return sorted(going)

    def _twins(self, library: int, batch: Prepared, *, smallest: bool = False) -> dict[int, str]:
        """Places in the batch of documents with exactly the words of another one, with the id of that one."""
        folds = [row[4] for row in batch.rows]
        sizes = [row[5] for row in batch.rows]
        there: dict[tuple[int, int], list[tuple[int, str]]] = {}
        for fold, size, number, name in self._database.among(
            "SELECT fold, words, id, name FROM doublet_document WHERE library_id = %s AND fold IN",
            sorted(set(folds)),
            [library],
        ):
            there.setdefault((fold, size), []).append((number, unescape(name)))
        ids = set(batch.names)
        keys = list(zip(folds, sizes, strict=True))
        # Who has these words when the batch is stored: documents that stay as they are, then the first of the batch.
        has: dict[tuple[int, int], str] = {}
        stays = {
            id
            for id, key in zip(batch.names, keys, strict=True)
            if any(name == id for _, name in there.get(key, ()))
        }
        for key, documents in there.items():
            names = [name for _, name in sorted(documents) if name not in ids or name in stays]
            if names:
                has[key] = names[0]
        out: dict[int, str] = {}
        order = sorted(range(len(keys)), key=batch.names.__getitem__) if smallest else range(len(keys))
        for place in order:
            id, key = batch.names[place], keys[place]
            if id not in stays and has.setdefault(key, id) != id:
                out[place] = has[key]
        return out

    # What is gone

    def unseen(self, source: SourceInfo, size: int = 500) -> Iterator[list[str]]:
        """Ids of documents that earlier walks of the source gave and this one did not, some at a time."""
        last = 0
        while True:
            with self._database.guard():
                rows = self._database.rows(
                    "SELECT id, name FROM doublet_origin WHERE source_id = %s AND run < %s AND id > %s "
                    "ORDER BY id LIMIT %s",
                    [source.number, source.run, last, size],
                )
            if not rows:
                return
            last = rows[-1][0]
            yield [unescape(row[1]) for row in rows]

    def seen(self, source: SourceInfo) -> int:
        """How many documents of the source this walk saw."""
        with self._database.guard():
            return int(
                self._database.rows(
                    "SELECT count(*) FROM doublet_origin WHERE source_id = %s AND run = %s",
                    [source.number, source.run],
                )[0][0]
            )

    def _gone(self, library: int, source: int, gone: Sequence[tuple[str, Note | None]]) -> list[Outcome]:
        stored = set(self._remove(library, source, [id for id, _ in gone], keep_facts=False))
        return [
            Outcome("gone", id, "", reason or Note("left_source"))
            for id, reason in dict(gone).items()
            if id in stored
        ]

    def _remove(self, library: int, source: int, ids: Sequence[str], *, keep_facts: bool) -> list[str]:
        """Take documents out that this source gave and no other one has; gives the ids that were stored from it."""
        hashes = [name_hash(id) for id in ids]
        known = {
            row[0]: (unescape(row[1]), row[2])
            for row in self._database.among(
                "SELECT name_hash, name, state FROM doublet_origin WHERE source_id = %s AND name_hash IN",
                hashes,
                [source],
            )
        }
        elsewhere: set[int] = set()
        for (other,) in self._database.rows(
            "SELECT id FROM doublet_source WHERE library_id = %s AND id <> %s", [library, source]
        ):
            elsewhere |= {
                row[0]
                for row in self._database.among(
                    "SELECT name_hash FROM doublet_origin WHERE source_id = %s AND state = 'stored' AND name_hash IN",
                    list(known),
                    [other],
                )
            }
        if not keep_facts:
            self._database.many(
                "DELETE FROM doublet_origin WHERE source_id = %s AND name_hash = %s",
                [(source, key) for key in known],
            )
        leaving = [key for key in known if key not in elsewhere]
        numbers = self._database.among(
            "SELECT id, name FROM doublet_document WHERE library_id = %s AND name_hash IN", leaving, [library]
        )
        if numbers:
            self._writer.take(library, [row[0] for row in numbers])
            _wake_twins(self._database, library, [unescape(row[1]) for row in numbers])
        return [name for name, state in known.values() if state == "stored"]


def _key(kind: str, address: str, options: Mapping[str, Any]) -> int:
    text = json.dumps(dict(options), sort_keys=True, ensure_ascii=False)
    return name_hash(f"{kind}\n{address}\n{text}")


def forget_sources(database: Database, library: int) -> None:
    """What the sources of a library know of their documents, in steps."""
    for (number,) in database.rows("SELECT id FROM doublet_source WHERE library_id = %s", [library]):
        _empty(database, number)


def _empty(database: Database, source: int) -> None:
    pace = Pace(1_000, most=20_000)
    for table in ("doublet_page", "doublet_origin"):
        while True:
            with pace.step(database) as size, database.writing():
                rows = database.rows(
                    f"SELECT id FROM {table} WHERE source_id = %s ORDER BY id LIMIT %s", [source, size]
                )
                database.many(f"DELETE FROM {table} WHERE id = %s", rows)
            if not rows:
                break


def forget_library(database: Database, library: int) -> None:
    """All sources of a library. Inside a transaction."""
    for table in ("doublet_page", "doublet_origin"):
        database.rows(
            f"DELETE FROM {table} WHERE source_id IN (SELECT id FROM doublet_source WHERE library_id = %s)",
            [library],
        )
    database.rows("DELETE FROM doublet_source WHERE library_id = %s", [library])


def taken_out(database: Database, library: int, names: Sequence[str]) -> None:
    """Documents that a user removed: an update does not bring them back until they change. In a transaction."""
    for number, *_ in database.rows("SELECT id FROM doublet_source WHERE library_id = %s", [library]):
        database.many(
            "UPDATE doublet_origin SET state = 'removed', reason = %s "
            "WHERE source_id = %s AND name_hash = %s AND state = 'stored'",
            [(Note("taken_out").to_text(), number, name_hash(name)) for name in names],
        )
    _wake_twins(database, library, names)


def _wake_twins(database: Database, library: int, names: Sequence[str]) -> None:
    """The documents with the same words as one that goes have to be fetched again: they were not stored."""
    rows = database.among(
        "SELECT o.id FROM doublet_origin o JOIN doublet_source s ON s.id = o.source_id "
        "WHERE s.library_id = %s AND o.twin IN",
        [name_hash(name) for name in names],
        [library],
    )
    database.many(
        "UPDATE doublet_origin SET version = '', etag = '', modified = '', twin = NULL WHERE id = %s",
        [(row[0],) for row in rows],
    )


def same_words(other: str) -> Note:
    """Why a document is not stored: another one has its words."""
    return Note("same_words_as", same=other)


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str | bytes) else value or {}


def _busy(number: int, owner: str, seconds: float) -> SourceBusy:
    host, _, process = leases.shown(owner).partition(":")
    return SourceBusy("source_busy", source=number, host=host, process=process, seconds=math.ceil(seconds))


def _source(row: Sequence[Any], documents: int) -> SourceInfo:
    number, library, kind, address, options, state, run, status, message, outcomes = row[:10]
    created, began, ended, owner = row[10:]
    return SourceInfo(
        number=number,
        library=unescape(library),
        kind=kind,
        address=unescape(address),
        options=from_json(options),
        state=from_json(state),
        run=run,
        status=status,
        message=Note.from_text(unescape(message)),
        outcomes=_json(outcomes),
        documents=documents,
        created=iso(created),
        began=iso(began) if began is not None else "",
        ended=iso(ended) if ended is not None else "",
        owner=owner,
    )


def kept_note(note: Note | None) -> str:
    """A note as the database has it. What is not ours in it may be of any length and is cut; the code stays, so that
    it is said in the language of the reader."""
    if note is None:
        return ""
    text, longest = note.to_text(), KEPT_REASON
    while len(text) > KEPT_REASON and longest > 1:
        longest //= 2
        text = str(_shortened(note, longest).to_text())
    return text if len(text) <= KEPT_REASON else Note(note.code).to_text()


def _shortened(value: Any, longest: int) -> Any:
    """A value of a note with no text over *longest* characters, and lists and tables shortened in proportion."""
    some = max(1, longest // 16)
    if isinstance(value, Note):
        return Note(value.code, **{name: _shortened(one, longest) for name, one in value.values.items()})
    if isinstance(value, Mapping):
        return {name: _shortened(one, longest) for name, one in itertools.islice(value.items(), some)}
    if isinstance(value, tuple):
        return [_shortened(one, longest) for one in value[:some]]
    return f"{value[: longest - 1]}…" if isinstance(value, str) and len(value) > longest else value
