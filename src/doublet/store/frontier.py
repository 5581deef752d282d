"""The frontier of the robot: one row for each address that a crawl knows, and the hosts that take turns.

A page is *new* until it was fetched and read, and its links and its document were written, all in one transaction; then
it has one of the other states, with a reason. While a robot has a page in its hands the row does not change: what it
holds is told by its lease of the host and by its spool, and a killed robot leaves nothing to clear up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from doublet.crawl.protocol import Link, PageRow
from doublet.store import leases
from doublet.store.connection import Database
from doublet.store.names import escape, name_hash, unescape

#: By their numbers in the database. The first two are waiting; the others say what became of the address.
STATES = (
    "new",
    "again",  # known, and to be asked for once more
    "stored",
    "walked",  # its links were taken; it is not a document
    "duplicate",
    "alias",  # leads to another address: redirect, canonical link, another spelling
    "refused",
    "missing",
    "soft_404",
    "wall",
    "too_short",
    "failed",
    "too_large",
    "unreadable",
    "trap",
    "removed",
)
NUMBER = {state: number for number, state in enumerate(STATES)}
WAITING = 2  # states below are waiting
ROWS_TOGETHER = 200
HOSTS_LEASE_S = leases.LEASE_S


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a page. *next_try* and *interval_s*: when it is to be asked for again."""

    number: int
    state: str
    reason: str = ""
    attempts: int = 0
    interval_s: int | None = None
    next_try: int | None = None
    pattern: int | None = None


@dataclass(frozen=True, slots=True)
class LoggedPage:
    """A line of the log (L6)."""

    address: str
    state: str
    reason: str
    depth: int
    pattern: int
    attempts: int
    parent: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "address": self.address,
            "state": self.state,
            "reason": self.reason,
            "depth": self.depth,
            "pattern": self.pattern,
            "attempts": self.attempts,
            "parent": self.parent,
        }


@dataclass(slots=True)
class Batch:
    """What one step of a crawl changes in the frontier."""

    ended: list[Ended] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    places: dict[int, str] = field(default_factory=dict)  #: host → IP number
    ready: dict[int, float] = field(
        default_factory=dict
    )  #: host → seconds from now until it may be asked again
    closed: list[tuple[int, str, str]] = field(default_factory=list)  #: hash of a key, state, reason


class Frontier:
    """The room of the robot. Everything that changes rows is called inside a transaction, or opens one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._now = leases.NOW[database.vendor]
        self._hosts: dict[str, int] = {}

    # Hosts

    def host_numbers(self, origins: Iterable[str]) -> dict[str, int]:
        """Numbers of hosts; those that are not known yet are made. Inside a transaction."""
        wanted = sorted(set(origins) - self._hosts.keys())
        if wanted:
            self._database.many(
                "INSERT INTO doublet_host (origin, place, next_at, owner) VALUES (%s, '', 0, '') "
                "ON CONFLICT (origin) DO NOTHING",
                [(escape(origin),) for origin in wanted],
            )
            for number, origin in self._database.among(
                "SELECT id, origin FROM doublet_host WHERE origin IN", [escape(one) for one in wanted], []
            ):
                self._hosts[unescape(origin)] = number
        return self._hosts

    def take_hosts(self, source: int, owner: str, *, limit: int = 1_000) -> list[tuple[int, str, float]]:
        """Lease hosts of a source that have pages waiting and that no other robot has, nor another host of the same
        machine. Gives number, origin and seconds until each may be asked."""
        skip = " FOR UPDATE SKIP LOCKED" if self._database.vendor == "postgresql" else ""
        free = f"(h.owner = '' OR h.owner = %s OR h.lease_until IS NULL OR h.lease_until < {self._now})"
        with self._database.writing():
            self._one_at_a_time()
            self._forget_the_dead(owner)
            rows = self._database.rows(
                "SELECT h.id, h.origin, (SELECT max(m.next_at) FROM doublet_host m WHERE m.id = h.id OR (h.place <> '' "
                f"AND m.place = h.place)) - {self._now} FROM doublet_host h WHERE {free} AND EXISTS (SELECT 1 "
                "FROM doublet_page p WHERE "
                "p.source_id = %s AND p.host_id = h.id AND p.state < 2) AND NOT EXISTS (SELECT 1 FROM doublet_host o "
                "WHERE o.place = h.place AND h.place <> '' AND o.id <> h.id AND o.owner <> '' AND o.owner <> %s "
                f"AND o.lease_until >= {self._now}) ORDER BY h.id LIMIT %s{skip}",
                [owner, source, owner, limit],
            )
            self._database.many(
                f"UPDATE doublet_host SET owner = %s, lease_until = {self._now} + %s WHERE id = %s",
                [(owner, HOSTS_LEASE_S, row[0]) for row in rows],
            )
        return [(number, unescape(origin), max(0.0, float(wait))) for number, origin, wait in rows]

    def settle(self, host: int, place: str, owner: str) -> float | None:
        """Write down the IP number of a leased host. Gives the seconds until that machine may be asked; None, and the
        lease is given back, when another robot has a host of the same machine."""
        with self._database.writing():
            self._one_at_a_time()
            return self._settle(host, place, owner)

    def _settle(self, host: int, place: str, owner: str) -> float | None:
        self._database.rows("UPDATE doublet_host SET place = %s WHERE id = %s", [place, host])
        taken, ready = self._database.rows(
            f"SELECT sum(CASE WHEN owner <> '' AND owner <> %s AND lease_until >= {self._now} THEN 1 ELSE 0 END), "
            f"max(next_at) - {self._now} FROM doublet_host WHERE place = %s",
            [owner, place],
        )[0]
        if not taken:
            return max(0.0, float(ready))
        self._database.rows(
            "UPDATE doublet_host SET owner = '', lease_until = NULL WHERE id = %s AND owner = %s",
            [host, owner],
        )
        return None

    def lease(self, origin: str, place: str, owner: str) -> bool:
        """Lease one host before anything of it is known. False when another robot has it, or its machine."""
        with self._database.writing():
            self._one_at_a_time()
            self._forget_the_dead(owner)
            number = self.host_numbers([origin])[origin]
            free = self._database.rows(
                f"UPDATE doublet_host SET owner = %s, lease_until = {self._now} + %s WHERE id = %s AND (owner = '' OR "
                f"owner = %s OR lease_until IS NULL OR lease_until < {self._now}) RETURNING id",
                [owner, HOSTS_LEASE_S, number, owner],
            )
            return bool(free) and (not place or self._settle(number, place, owner) is not None)

    def _forget_the_dead(self, owner: str) -> None:
        """Robots whose processes are gone do not keep anybody waiting."""
        for number, other in self._database.rows(
            f"SELECT id, owner FROM doublet_host WHERE owner <> '' AND owner <> %s AND lease_until >= {self._now}",
            [owner],
        ):
            if leases.is_gone(other):
                self._database.rows("UPDATE doublet_host SET owner = '' WHERE id = %s", [number])

    def _one_at_a_time(self) -> None:
        """Two robots must not each take a host of one machine in the same moment."""
        if self._database.vendor == "postgresql":
            self._database.rows("LOCK TABLE doublet_host IN SHARE ROW EXCLUSIVE MODE")

    def renew(self, owner: str) -> None:
        """All leases of a robot hold on."""
        with self._database.writing():
            self._database.rows(
                f"UPDATE doublet_host SET lease_until = {self._now} + %s WHERE owner = %s",
                [HOSTS_LEASE_S, owner],
            )

    def release(self, owner: str) -> None:
        with self._database.writing():
            self._database.rows(
                "UPDATE doublet_host SET owner = '', lease_until = NULL WHERE owner = %s", [owner]
            )

    def held_by_others(self, source: int, owner: str) -> list[str]:
        """Origins with pages of the source that another robot has now."""
        with self._database.guard():
            rows = self._database.rows(
                f"SELECT h.origin FROM doublet_host h WHERE h.owner <> '' AND h.owner <> %s AND h.lease_until >= "
                f"{self._now} AND EXISTS (SELECT 1 FROM doublet_page p WHERE p.source_id = %s AND p.host_id = h.id "
                "AND p.state < 2)",
                [owner, source],
            )
        return [unescape(row[0]) for row in rows]

    # Pages

    def waiting(self, source: int, host: int, many: int, *, again: bool) -> list[PageRow]:
        """The next pages of a host, those with the lowest priority number first. *again*: known ones instead of new
        ones."""
        with self._database.guard():
            rows = self._database.rows(
                "SELECT priority, id, target, depth, attempts, pattern, interval_s, hash FROM doublet_page "
                f"WHERE source_id = %s AND host_id = %s AND state = {int(again)} ORDER BY priority LIMIT %s",
                [source, host, many],
            )
        return [
            PageRow(n, host, unescape(target), depth, attempts, pattern, again, interval, key)
            for _, n, target, depth, attempts, pattern, interval, key in sorted(rows)
        ]

    def pages(self, source: int, hashes: Sequence[int]) -> dict[int, PageRow]:
        """Rows by the hashes of their keys."""
        with self._database.guard():
            rows = self._database.among(
                "SELECT id, host_id, target, depth, attempts, pattern, state, interval_s, hash FROM doublet_page "
                "WHERE source_id = %s AND hash IN",
                list(hashes),
                [source],
            )
        return {
            key: PageRow(n, host, unescape(target), depth, attempts, pattern, state == 1, interval, key)
            for n, host, target, depth, attempts, pattern, state, interval, key in rows
        }

    def still_waiting(self, numbers: Sequence[int]) -> dict[int, PageRow]:
        """Those of the pages that were not ended yet."""
        with self._database.guard():
            rows = self._database.among(
                "SELECT id, host_id, target, depth, attempts, pattern, state, interval_s, hash FROM doublet_page "
                "WHERE state < 2 AND id IN",
                list(numbers),
                [],
            )
        return {
            n: PageRow(n, host, unescape(target), depth, attempts, pattern, state == 1, interval, key)
            for n, host, target, depth, attempts, pattern, state, interval, key in rows
        }

    def apply(self, source: int, batch: Batch) -> int:
        """Write a batch down, inside a transaction. Gives how many addresses are new."""
        database = self._database
        fresh = self.add(source, batch.links)
        if batch.ended:
            rows = [
                (
                    NUMBER[one.state],
                    escape(one.reason),
                    one.attempts,
                    one.interval_s,
                    one.next_try,
                    one.number,
                )
                for one in batch.ended
            ]
            if database.vendor == "postgresql":
                columns = list(zip(*rows, strict=True))
                database.rows(
                    "UPDATE doublet_page p SET state = v.s, reason = v.r, attempts = v.a, interval_s = v.i, "
                    "next_try = v.t FROM unnest(%s::smallint[], %s::text[], %s::smallint[], %s::int[], %s::bigint[], "
                    "%s::bigint[]) AS v(s, r, a, i, t, n) WHERE p.id = v.n",
                    [list(column) for column in columns],
                )
            else:
                database.many(
                    "UPDATE doublet_page SET state = %s, reason = %s, attempts = %s, interval_s = %s, next_try = %s "
                    "WHERE id = %s",
                    rows,
                )
        if batch.closed:
            database.many(
                "UPDATE doublet_page SET state = %s, reason = %s WHERE source_id = %s AND hash = %s",
                [(NUMBER[state], escape(reason), source, key) for key, state, reason in batch.closed],
            )
        database.many(
            f"UPDATE doublet_host SET next_at = {self._now} + %s WHERE id = %s",
            [(seconds, host) for host, seconds in batch.ready.items()],
        )
        database.many(
            "UPDATE doublet_host SET place = %s WHERE id = %s AND place <> %s",
            [(place, host, place) for host, place in batch.places.items()],
        )
        return fresh

    def add(self, source: int, links: Iterable[Link]) -> int:
        """Make addresses known; those that are already stay as they are. Gives how many are new. In a transaction."""
        once = {name_hash(link.key): link for link in reversed(list(links))}
        if not once:
            return 0
        hosts = self.host_numbers({link.origin for link in once.values()})
        rows = [
            (
                *(
                    source,
                    key,
                    hosts[link.origin],
                    0,
                    link.priority,
                    min(link.depth, 32_000),
                    0,
                    link.pattern,
                ),
                *(link.parent, escape(link.target)),
            )
            for key, link in once.items()
        ]
        names = "source_id, hash, host_id, state, priority, depth, attempts, pattern, parent, target"
        if self._database.vendor == "postgresql":
            kinds = "bigint bigint bigint smallint smallint smallint smallint smallint bigint text".split()
            marks = ", ".join(f"%s::{kind}[]" for kind in kinds)
            found = self._database.rows(
                f"INSERT INTO doublet_page ({names}, reason) SELECT v.*, '' FROM unnest({marks}) AS v(s, h, o, t, p, "
                "d, a, m, q, g) WHERE NOT EXISTS (SELECT 1 FROM doublet_page k WHERE k.source_id = v.s AND "
                "k.hash = v.h) ON CONFLICT (source_id, hash) DO NOTHING RETURNING 1",
                [list(column) for column in zip(*rows, strict=True)],
            )
            return len(found)
        before = self._database.rows("SELECT total_changes()")[0][0]
        mark = f"({', '.join(['%s'] * 10)}, '')"
        for start in range(0, len(rows), ROWS_TOGETHER):
            part = rows[start : start + ROWS_TOGETHER]
            self._database.rows(
                f"INSERT OR IGNORE INTO doublet_page ({names}, reason) VALUES {', '.join([mark] * len(part))}",
                [value for row in part for value in row],
            )
        return int(self._database.rows("SELECT total_changes()")[0][0] - before)

    def ask_again(
        self,
        source: int,
        *,
        due_at: int | None = None,
        states: Sequence[str] = (
            "stored",
            "walked",
            "failed",
            "refused",
            "duplicate",
            "too_short",
            "removed",
        ),
        depth: int | None = None,
        limit: int | None = None,
    ) -> int:
        """Let known pages be asked for once more: those that are due, or those so many links from the front page.
        Gives how many."""
        where = f"source_id = %s AND state IN ({', '.join(str(NUMBER[one]) for one in states)})"
        values: list[Any] = [source]
        if due_at is not None:
            where += " AND next_try <= %s"
            values.append(due_at)
        if depth is not None:
            where += " AND depth = %s"
            values.append(depth)
        if limit is not None:
            where = f"id IN (SELECT id FROM doublet_page WHERE {where} ORDER BY next_try, id LIMIT %s)"
            values.append(limit)
        with self._database.writing():
            found = self._database.rows(
                f"UPDATE doublet_page SET state = 1, attempts = 0, priority = 9 WHERE {where} RETURNING id",
                values,
            )
        return len(found)

    def try_again(self, source: int, hashes: Sequence[int]) -> None:
        """Let addresses that had no page be asked for once more."""
        with self._database.writing():
            self._database.many(
                "UPDATE doublet_page SET state = 1, attempts = 0 WHERE source_id = %s AND hash = %s AND state IN "
                f"({NUMBER['missing']}, {NUMBER['soft_404']})",
                [(source, key) for key in hashes],
            )

    def changed_since(self, source: int, moments: Mapping[int, int]) -> None:
        """Let pages be asked for again that changed after they were last fetched: hash of the key → when."""
        with self._database.writing():
            self._database.many(
                f"UPDATE doublet_page SET state = 1, attempts = 0, priority = 9 WHERE source_id = %s AND hash = %s "
                f"AND state IN ({NUMBER['stored']}, {NUMBER['duplicate']}) AND next_try - interval_s < %s",
                [(source, key, moment) for key, moment in moments.items()],
            )

    def ends(self, source: int, hashes: Sequence[int]) -> dict[int, str]:
        """What became of addresses, by the hashes of their keys; those that wait or are not known are left out."""
        with self._database.guard():
            rows = self._database.among(
                "SELECT hash, state FROM doublet_page WHERE source_id = %s AND state > 1 AND hash IN",
                list(hashes),
                [source],
            )
        return {key: STATES[state] for key, state in rows}

    # Figures

    def counts(self, source: int) -> Counter[str]:
        """How many addresses are in each state."""
        with self._database.guard():
            rows = self._database.rows(
                "SELECT state, count(*) FROM doublet_page WHERE source_id = %s GROUP BY state", [source]
            )
        return Counter({STATES[state]: many for state, many in rows})

    def open_count(self, source: int) -> int:
        with self._database.guard():
            rows = self._database.rows(
                "SELECT count(*) FROM doublet_page WHERE source_id = %s AND state < 2", [source]
            )
        return int(rows[0][0])

    def due(self, source: int, now: int) -> int:
        """How many pages should be asked for again by now."""
        with self._database.guard():
            rows = self._database.rows(
                "SELECT count(*) FROM doublet_page WHERE source_id = %s AND next_try <= %s", [source, now]
            )
        return int(rows[0][0])

    def due_libraries(self, now: int) -> list[str]:
        """Names of libraries with sites of which pages should be asked for again by now."""
        with self._database.guard():
            rows = self._database.rows(
                "SELECT DISTINCT l.name FROM doublet_source s JOIN doublet_library l ON l.id = s.library_id "
                "WHERE s.kind = 'crawl' AND EXISTS (SELECT 1 FROM doublet_page p WHERE p.source_id = s.id "
                "AND p.next_try <= %s) ORDER BY l.name",
                [now],
            )
        return [unescape(row[0]) for row in rows]

    def picture(self, source: int) -> list[tuple[int, int, str, int]]:
        """(depth, pattern, state, how many): what was found how far from the front page."""
        with self._database.guard():
            rows = self._database.rows(
                "SELECT depth, pattern, state, count(*) FROM doublet_page WHERE source_id = %s "
                "GROUP BY depth, pattern, state ORDER BY depth, pattern, state",
                [source],
            )
        return [(depth, pattern, STATES[state], many) for depth, pattern, state, many in rows]

    def reasons(self, source: int, examples: int = 3) -> list[tuple[str, str, int, list[str]]]:
        """(state, reason, how many, examples) of addresses that gave no document, the most frequent first."""
        with self._database.guard():
            rows = self._database.rows(
                "SELECT state, reason, count(*), min(id), max(id) FROM doublet_page WHERE source_id = %s AND state > 3 "
                "GROUP BY state, reason ORDER BY count(*) DESC, state, reason LIMIT 200",
                [source],
            )
            out = []
            for state, reason, many, _, _ in rows:
                shown = self._database.rows(
                    "SELECT h.origin, p.target FROM doublet_page p JOIN doublet_host h ON h.id = p.host_id "
                    "WHERE p.source_id = %s AND p.state = %s AND p.reason = %s ORDER BY p.id LIMIT %s",
                    [source, state, reason, examples],
                )
                addresses = [unescape(origin) + unescape(target) for origin, target in shown]
                out.append((STATES[state], unescape(reason), int(many), addresses))
        return out

    def log(
        self, source: int, *, states: Sequence[str] = (), after: int = 0, limit: int = 1_000
    ) -> tuple[list[LoggedPage], int]:
        """Addresses in the order in which they were met, some at a time, and where the next part begins (0: none)."""
        where = "p.source_id = %s AND p.id > %s"
        if states:
            where += f" AND p.state IN ({', '.join(str(NUMBER[one]) for one in states)})"
        with self._database.guard():
            rows = self._database.rows(
                "SELECT p.id, h.origin, p.target, p.state, p.reason, p.depth, p.pattern, p.attempts, g.origin, "
                "q.target FROM doublet_page p JOIN doublet_host h ON h.id = p.host_id LEFT JOIN doublet_page q ON "
                f"q.id = p.parent LEFT JOIN doublet_host g ON g.id = q.host_id WHERE {where} ORDER BY p.id LIMIT %s",
                [source, after, limit],
            )
        found = [
            LoggedPage(
                unescape(origin) + unescape(target),
                STATES[state],
                unescape(reason),
                depth,
                pattern,
                attempts,
                unescape(above) + unescape(over) if above else "",
            )
            for _, origin, target, state, reason, depth, pattern, attempts, above, over in rows
        ]
        return found, rows[-1][0] if len(rows) == limit else 0
