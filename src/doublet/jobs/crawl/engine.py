"""The second stage of a crawl, "in work" (L3): threads fetch, processes read, and batches are judged and stored.

Each host is asked by one thread at a time, when its turn has come. A fetched answer goes to the spool before anything
else, so that a process that is killed asks for nothing twice. One transaction writes the documents of a batch, what
became of each page, the links, the state of the crawl and the times of the hosts: either all of it or nothing.
"""

from __future__ import annotations

import heapq
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from doublet.addresses import parse_address
from doublet.crawl.judge import MOST_BARREN, Judge, Verdict
from doublet.crawl.keys import page_key
from doublet.crawl.politeness import LONGEST_HOLD_S, PoliteFetcher
from doublet.crawl.protocol import Link, PageRow
from doublet.crawl.refresh import mixed, next_visit
from doublet.crawl.spool import Spool
from doublet.crawl.standing import BANNED, GIVE_UP
from doublet.crawl.survey import Seen
from doublet.crawl.warc import WarcFile
from doublet.errors import Cancelled, DoubletError
from doublet.jobs.crawl.batch import Arrived, CrawlFigures, Host, Step, unread
from doublet.model import Document, Note, Outcome
from doublet.progress import Progress
from doublet.sources.protocol import Answer, Validators
from doublet.sources.workers import ReaderPool
from doublet.store.database import Store
from doublet.store.frontier import Ended
from doublet.store.names import name_hash
from doublet.store.sources import Fact, Remembered, WalkBatch
from doublet.store.values import SourceInfo

THREADS = 16
GATHER_S = 0.02  #: pages are judged some at a time: waking a thread for each cost more than judging it
TELL_S = 0.1
WAIT_TOLD_S = 3.0  #: a wait until the next request that is worth a word
FLUSH_S = 1.0  #: what was fetched is stored after so long at the latest
IN_FLIGHT = 600  #: pages that are fetched and not stored yet
IN_FLIGHT_BYTES = 1 << 26
QUEUED = 256  #: pages of a host in memory
LOW = 64
RANGE_AHEAD = 300  #: numbers that wait to be asked for
RETRIES = 3
RENEW_S = 5.0
ENOUGH_NEW = 10  #: addresses that a crawl of a known site should find before it is content
#: Ends of pages that were to be documents, shown as outcomes of the library.
_OUTCOMES = {
    "wall": "refused",
    "soft_404": "soft_404",
    "trap": "",
    "alias": "",
    "walked": "",
    "missing": "",
    "duplicate": "",
}


class Engine:
    """One crawl of one source, begun and leased by the caller. *owner* holds the hosts that are asked."""

    def __init__(
        self,
        store: Store,
        info: SourceInfo,
        judge: Judge,
        fetcher: PoliteFetcher,
        pool: ReaderPool,
        spool: Spool,
        owner: str,
        *,
        progress: Progress | None = None,
        limit: int | None = None,
        threads: int = THREADS,
        warc: WarcFile | None = None,
        handshakes: bool = False,
        begun: Callable[[], None] | None = None,
    ) -> None:
        self.store = store
        self.info = info
        self.judge = judge
        self.figures = CrawlFigures()
        self.notes: list[Note] = []
        self._library = store.libraries.get(info.library).number
        self._fetcher = fetcher
        self._pool = pool
        self._spool = spool
        self._progress = progress or Progress()
        self._limit = limit
        self._threads = threads
        self._warc = warc
        self._handshakes = handshakes
        self._begun = begun
        self._depth_asked = -1
        self._owner = owner
        self._hosts: dict[int, Host] = {}
        self._heap: list[tuple[float, int]] = []
        self._turn = threading.Condition()
        self._watched = (
            False  # by a thread that waits for the next turn; the others sleep until they are called
        )
        self._stop = threading.Event()
        self._done: queue.SimpleQueue[Arrived | BaseException] = queue.SimpleQueue()
        self._in_hand: dict[int, PageRow] = {}  # rows that were handed out and not written down yet
        self._unjudged: Counter[str] = (
            Counter()
        )  # pages under way, by shape, of those that may belong to a trap
        self._flying = 0
        self._flying_bytes = 0
        self._known: dict[int, Remembered] = {}
        self._batch = Step()
        self._renewed = time.monotonic()
        self._claimed = 0.0
        self._told = 0.0
        self._handed = 0

    # The door

    def run(self, seen: Sequence[Seen] = (), links: Sequence[Link] = ()) -> CrawlFigures:
        """Crawl until nothing is left, or the limit is reached. *seen* are pages that were fetched while looking.

        Raises `Cancelled`, `LeaseLost`, `StoreError`; what was stored stays, and the next run goes on from there.
        """
        threads = [
            threading.Thread(target=self._fetch_loop, name=f"doublet-fetch-{n}", daemon=True)
            for n in range(self._threads)
        ]
        with self.store.database.small_cache(), ThreadPoolExecutor(self._pool.workers + 1) as readers:
            self._readers = readers
            try:
                self._begin(seen, links)
                for thread in threads:
                    thread.start()
                self._loop()
                self._told = 0.0
                self._tell()
            except BaseException:
                self._stop.set()
                self._fetcher.stop()
                raise
            finally:
                self._stop.set()
                with self._turn:
                    self._turn.notify_all()
                for thread in threads:
                    if thread.ident is not None:
                        thread.join(20)
        return self.figures

    def _begin(self, seen: Sequence[Seen], links: Sequence[Link]) -> None:
        source = self.info.number
        own: list[Link] = []
        for one in seen:
            own += self.judge.addresses_of(one)
        with self.store.database.writing():  # the plan, and all addresses that were found with it
            self.figures.found += self.store.frontier.add(source, [*own, *links])
            self.store.sources.keep_state(self.info, self.judge.state() | {"stage": "in_work"})
        if self._begun is not None:
            self._begun()
        self._replay()
        self._take_seen(seen)
        self._flush()

    def _take_seen(self, seen: Sequence[Seen]) -> None:
        own = [link for one in seen for link in self.judge.addresses_of(one)]
        rows = self.store.frontier.pages(self.info.number, [name_hash(link.key) for link in own])
        waiting = self.store.frontier.still_waiting([row.number for row in rows.values()])
        for one in seen:
            links = self.judge.addresses_of(one)
            for place, link in enumerate(links):
                known = rows.get(name_hash(link.key))
                row = waiting.pop(known.number, None) if known is not None else None
                if row is None:
                    continue
                last = place == len(links) - 1
                self._in_hand[row.number] = row
                address = link.origin + link.target
                fetched = Arrived(row, address, one.answer, page=one.page or None)
                if not last:
                    fetched.redirect = one.answer.address
                if fetched.page is None:
                    self._hand_to_reader(fetched)
                else:
                    self._take(fetched)

    def _replay(self) -> None:
        """What an earlier process fetched and did not store."""
        records = list(self._spool.replay())
        waiting = self.store.frontier.still_waiting([record.page for record in records])
        lost = [(record.segment, record.page) for record in records if record.page not in waiting]
        self._spool.done(lost)
        for record in records:
            row = waiting.pop(record.page, None)
            if row is None:
                continue
            facts = record.facts
            answer = Answer(
                facts["address"],
                facts["status"],
                facts["headers"],
                record.body,
                Validators(*facts["validators"]),
                facts["status"] == 304,
            )
            self._in_hand[row.number] = row
            fetched = Arrived(row, facts["address"], answer, facts["redirect"], segment=record.segment)
            self._hand_to_reader(fetched)

    # Threads that fetch

    def _fetch_loop(self) -> None:
        try:
            while not self._stop.is_set():
                taken = self._next_turn()
                if taken is not None:
                    self._fetch(*taken)
        except Cancelled:
            pass
        except BaseException as error:
            self._done.put(error)

    @property
    def _crowded(self) -> bool:
        return self._flying >= IN_FLIGHT or self._flying_bytes >= IN_FLIGHT_BYTES

    def _next_turn(self) -> tuple[Host, PageRow] | None:
        with self._turn:
            while not self._stop.is_set():
                now = time.monotonic()
                crowded = self._crowded
                if self._heap and self._heap[0][0] <= now and not crowded:
                    _, number = heapq.heappop(self._heap)
                    host = self._hosts[number]
                    if not host.rows:
                        host.busy = False
                        continue
                    row = self._pick(host)
                    if row is None:
                        heapq.heappush(self._heap, (now + GATHER_S, number))
                        continue
                    self._flying += 1
                    if self._heap and not self._watched:
                        self._turn.notify()
                    return host, row
                if self._watched:
                    self._turn.wait(1.0)
                    continue
                self._watched = True
                wait = 0.2 if not self._heap or crowded else min(0.5, self._heap[0][0] - now)
                self._turn.wait(max(wait, 0.001))
                self._watched = False
        return None

    def _pick(self, host: Host) -> PageRow | None:
        """The next page of a host. Of pages that may belong to a trap only so many are asked for before the first of
        them are judged; None when all that wait are such."""
        for _ in range(len(host.rows)):
            row = host.rows.popleft()
            shape = self.judge.budgeted(row) if row.pattern < 0 else ""
            if not shape or not self.judge.budget.unproven(shape, self._unjudged[shape]):
                if shape:
                    self._unjudged[shape] += 1
                return row
            host.rows.append(row)
        return None

    def _fetch(self, host: Host, row: PageRow) -> None:
        address = parse_address(host.origin + row.target)
        known = self._known.get(row.hash) if row.again else None
        validators = Validators(known.etag, known.modified) if known is not None and known.stored else None
        attempt = self._fetcher.attempt(address, validators=validators)
        ready = attempt.ready_in_s
        later = attempt.error is not None and "retry_after_s" in attempt.error.details
        if attempt.passing or later:
            status = attempt.error.details.get("status") if attempt.error is not None else 0
            ready = max(ready, host.standing.failed(broken=not status))
        elif attempt.answer is not None:
            # Told here and not when pages are judged: a busy machine judges hundreds of requests later.
            host.standing.answered(attempt.answer.status)
        host.asked_s = attempt.after_s
        nothing = attempt.answer is None and attempt.error is None
        if attempt.asked:
            self.figures.requests += 1
        fetched = Arrived(
            row,
            str(address),
            attempt.answer,
            attempt.redirect,
            attempt.error,
            passing=attempt.passing,
            host_ready_s=ready,
            place=attempt.place,
        )
        if attempt.answer is not None:
            answer = attempt.answer
            facts = {
                "address": str(address),
                "status": answer.status,
                "headers": dict(answer.headers),
                "validators": [answer.validators.etag, answer.validators.modified],
                "redirect": attempt.redirect,
            }
            fetched.segment = self._spool.put(row.number, facts, answer.body).segment
        with self._turn:
            if nothing:
                host.rows.appendleft(row)
                self._judged(row)
            host.ready = time.monotonic() + ready
            if not host.standing.banned:  # else it is asked no more, and left when this answer is judged
                heapq.heappush(self._heap, (host.ready, host.number))
            self._flying -= int(nothing)
            if attempt.answer is not None:
                self._flying_bytes += len(attempt.answer.body)
        if not nothing:
            self._hand_to_reader(fetched)

    def _hand_to_reader(self, fetched: Arrived) -> None:
        answer = fetched.answer
        if answer is None or fetched.redirect or answer.status not in (200, 203) or not answer.body:
            self._done.put(fetched)
            return
        self._readers.submit(self._read, fetched)

    def _read(self, fetched: Arrived) -> None:
        answer = fetched.answer
        assert answer is not None
        try:
            options = {"address": answer.address, "headers": dict(answer.headers)}
            fetched.page = self._pool.parse("page", answer.body, options)
        except DoubletError as error:
            fetched.page = unread(error)
        except BaseException as error:
            self._done.put(error)
            return
        self._done.put(fetched)

    # The thread that judges and stores

    def _loop(self) -> None:
        flushed = time.monotonic()
        while True:
            self._tell()
            if not self._starving():
                time.sleep(GATHER_S)
            try:
                item = self._done.get(timeout=0.05)
                while True:
                    if isinstance(item, BaseException):
                        raise item
                    self._take(item)
                    if self._batch.full:
                        break
                    item = self._done.get_nowait()
            except queue.Empty:
                pass
            self._drop_spent()
            idle = not self._flying and self._done.empty()
            late = time.monotonic() - flushed > FLUSH_S
            if self._batch.full or (len(self._batch) and (late or idle or self._starving())):
                self._flush()
                flushed = time.monotonic()
            self._keep_alive()
            if (
                self._limit is not None
                and self.figures.fetched >= self._limit
                and not self._flying
                and self._done.empty()
            ):
                self._flush()
                return
            open_pages = self._refill()
            idle = not open_pages and not self._flying and self._done.empty() and not len(self._batch)
            if idle and not self._go_on():
                return

    def _starving(self) -> bool:
        """Whether the threads have nothing to do until what was found is written down."""
        with self._turn:
            return not any(host.rows for host in self._hosts.values() if host.given_up is None)

    def _keep_alive(self) -> None:
        if time.monotonic() - self._renewed > RENEW_S:
            self.store.frontier.renew(self._owner)
            self._renewed = time.monotonic()

    def _refill(self) -> int:
        """Hand pages out to the hosts that have few; gives how many are in memory or may still be there."""
        self._count_out()
        now = time.monotonic()
        if now - self._claimed > 1.0 or not self._hosts:
            self._claim()
            self._claimed = now
        total = 0
        for host in list(self._hosts.values()):
            if host.given_up is not None:
                continue
            if len(host.rows) < LOW and not host.exhausted and self._may_hand_out():
                self._fill(host)
            total += len(host.rows)
            with self._turn:
                if host.rows and not host.busy:
                    host.busy = True
                    heapq.heappush(self._heap, (host.ready, host.number))
                    self._turn.notify_all()
        return total

    def _may_hand_out(self) -> bool:
        return self._limit is None or self._handed < self._limit

    def _claim(self) -> None:
        now = time.monotonic()
        for number, origin, wait in self.store.frontier.take_hosts(self.info.number, self._owner):
            host = self._hosts.get(number)
            if host is None:
                # Which machine it is has to be known before it is asked: its other hosts may have another robot.
                place = self._fetcher.place_of(origin)
                ready = self.store.frontier.settle(number, place, self._owner) if place else wait
                if ready is not None:
                    self._hosts[number] = Host(number, origin, now + min(ready, LONGEST_HOLD_S))
            elif host.given_up is None:
                host.exhausted = False

    def _fill(self, host: Host) -> None:
        many = QUEUED + sum(row.host == host.number for row in self._in_hand.values())
        source = self.info.number
        fresh = self.store.frontier.waiting(source, host.number, many, again=False)
        again = self.store.frontier.waiting(source, host.number, many, again=True)
        fresh = [row for row in fresh if row.number not in self._in_hand]
        again = [row for row in again if row.number not in self._in_hand]
        # New pages before old ones, but a quarter of the turns goes to the old, so that they are not forgotten.
        rows = mixed(fresh, again)[:QUEUED]
        if self._limit is not None:
            rows = rows[: max(0, self._limit - self._handed)]
        host.exhausted = not rows
        if again:
            self._known |= self.store.sources.remembered(source, [row.hash for row in again])
        good = []
        for row in rows:
            self._in_hand[row.number] = row
            if self._worth(host, row):
                good.append(row)
        self._handed += len(good)
        with self._turn:
            host.rows.extend(good)

    def _worth(self, host: Host, row: PageRow) -> bool:
        """Whether a page that waits is still worth a request; what became of it is written down when not."""
        if self.judge.spent(row):
            self._end(row, Verdict("trap", "budget"))
            return False
        address = host.origin + row.target
        plain = self.judge.plain(address)
        if not row.again and self.judge.variants.void and name_hash(plain) != row.hash:
            parsed = parse_address(plain)
            if not self.store.frontier.pages(self.info.number, [name_hash(plain)]):
                self._batch.frontier.links.append(
                    Link(plain, parsed.origin, parsed.target, row.depth, row.pattern, 1, row.number)
                )
            self._end(row, Verdict("alias", "spelling"))
            return False
        return True

    def _drop_spent(self) -> None:
        """Pages in memory of a shape whose budget ran out meanwhile are not asked for."""
        if not self.judge.ran_out:
            return
        self.judge.ran_out = False
        dropped: list[PageRow] = []
        with self._turn:
            for host in self._hosts.values():
                spent = {row.number for row in host.rows if self.judge.spent(row)}
                if spent:
                    dropped += [row for row in host.rows if row.number in spent]
                    kept = [row for row in host.rows if row.number not in spent]
                    host.rows.clear()
                    host.rows.extend(kept)
        self._handed -= len(dropped)
        for row in dropped:
            self._end(row, Verdict("trap", "budget"))

    def _count_out(self) -> None:
        if not self.judge.ranges or self.judge.counted_out or not self._may_hand_out():
            return
        waiting = sum(row.pattern in self.judge.ranges for row in self._in_hand.values())
        if waiting < RANGE_AHEAD // 2 and self._batch.counted < RANGE_AHEAD:
            origin = self._origin()
            counted = self.judge.count_out(origin, RANGE_AHEAD)
            asked = [(name_hash(link.key), number, link) for number, link in counted]
            fresh = [one for one in asked if one[0] not in self._batch.asked]
            if fresh:
                hashes = [hashed for hashed, _, _ in fresh]
                ended = self.store.frontier.ends(self.info.number, hashes)
                for hashed, number, link in fresh:
                    if hashed in ended:
                        self.judge.already(link.pattern, number, ended[hashed])
                self._batch.asked |= set(hashes)
                self._batch.counted += len(fresh)
                self._batch.frontier.links += [link for hashed, _, link in fresh if hashed not in ended]

    def _origin(self) -> str:
        return self.judge.plan.origin

    def _go_on(self) -> bool:
        """Nothing is waiting in memory. Whether there is more to do."""
        self._claim()
        if any(not host.exhausted and host.given_up is None for host in self._hosts.values()):
            return True
        given_up = [host for host in self._hosts.values() if host.given_up is not None]
        left = self.store.frontier.open_count(self.info.number)
        if left and not self._may_hand_out():
            return False
        if left and not given_up:
            held = self.store.frontier.held_by_others(self.info.number, self._owner)
            if held:
                self._progress.step(
                    "waiting", self.figures.fetched, None, "pages", Note("host_held", host=held[0])
                )
            self._stop.wait(0.5)
            return True
        if not given_up and not self.judge.counted_out and self._may_hand_out():
            return True
        self.notes += [host.given_up for host in given_up if host.given_up is not None]
        if self.judge.endless:
            self.notes.append(Note("crawl_endless", pages=MOST_BARREN))
        return not given_up and self._handshake()

    def _handshake(self) -> bool:
        """A site whose links are all known (L4): known pages are walked for their links, nearer ones first, until
        enough new addresses are found."""
        if not self._handshakes or self.figures.found >= ENOUGH_NEW or not self._may_hand_out():
            return False
        while self._depth_asked < 20:
            self._depth_asked += 1
            states = (
                ("walked", "stored") if self._depth_asked else ("walked", "stored", "duplicate", "too_short")
            )
            if self.store.frontier.ask_again(
                self.info.number, states=states, depth=self._depth_asked, limit=200
            ):
                return True
        return False

    # What came back

    def _key_of(self, row: PageRow, address: str) -> str:
        """The key under which the page is known: of before, or of after its site was learned."""
        plain = self.judge.plain(address)
        return plain if name_hash(plain) == row.hash else page_key(address)

    def _take(self, fetched: Arrived) -> None:
        row = fetched.row
        host = self._hosts.get(row.host)
        if fetched.host_ready_s:
            self._batch.frontier.ready[row.host] = fetched.host_ready_s
        if fetched.place:
            self._batch.frontier.places[row.host] = fetched.place
        if fetched.passing and row.attempts < RETRIES:
            assert fetched.error is not None
            self._batch.frontier.ended.append(
                Ended(row.number, "again" if row.again else "new", "", row.attempts + 1, row.interval_s)
            )
            self._batch.finished.append(row.number)
            self._handed -= 1
            self._give_up(host, fetched)
            self._free(fetched)
            return
        if fetched.answer is not None:
            self.figures.fetched += 1
            if self._warc is not None and fetched.answer.body:
                answer = fetched.answer
                self._warc.write(answer.address, answer.status, answer.headers, answer.body)
        key = self._key_of(row, fetched.address)
        if fetched.error is not None:
            self._give_up(host, fetched)
        verdict = self.judge.judge(fetched, key)
        self._refusals(host, verdict)
        self._store_later(row, key, fetched, verdict)
        if fetched.segment is not None:
            self._batch.spooled.append((fetched.segment, row.number))
        self._free(fetched)

    def _free(self, fetched: Arrived) -> None:
        if fetched.host_ready_s or fetched.place or fetched.error is not None:
            with self._turn:
                crowded = self._crowded
                self._flying = max(0, self._flying - 1)
                self._judged(fetched.row)
                if fetched.answer is not None:
                    self._flying_bytes = max(0, self._flying_bytes - len(fetched.answer.body))
                if crowded and not self._crowded:
                    self._turn.notify_all()

    def _judged(self, row: PageRow) -> None:
        shape = self.judge.budgeted(row) if row.pattern < 0 else ""
        if self._unjudged[shape] > 1:
            self._unjudged[shape] -= 1
        else:
            self._unjudged.pop(shape, None)

    def _give_up(self, host: Host | None, fetched: Arrived) -> None:
        if host is not None and host.standing.silent and host.given_up is None:
            why = fetched.error.note if fetched.error is not None else None
            self._leave(host, Note("host_given_up", host=host.origin, times=GIVE_UP, why=why))

    def _refusals(self, host: Host | None, verdict: Verdict) -> None:
        if host is None or not host.standing.banned or host.given_up is not None:
            return
        if verdict.state == "refused" and verdict.reason.isdecimal():
            self._leave(host, Note("host_refuses", host=host.origin, times=BANNED, status=verdict.reason))

    def _leave(self, host: Host, why: Note) -> None:
        with self._turn:
            host.given_up = why
            for row in host.rows:
                self._in_hand.pop(row.number, None)
            host.rows.clear()

    def _store_later(self, row: PageRow, key: str, fetched: Arrived, verdict: Verdict) -> None:
        batch = self._batch
        known = self._known.pop(row.hash, None) if row.again else None
        stored = known is not None and known.stored
        answer = fetched.answer
        document = verdict.document
        batch.frontier.links += verdict.links
        validators = answer.validators if answer is not None else Validators()
        version = f"{name_hash(document.text) & (1 << 64) - 1:x}" if document is not None else ""
        fact = Fact(key, version=version, etag=validators.etag, modified=validators.modified)
        if verdict.unchanged:
            verdict.state = "stored" if stored else "walked"
            batch.unchanged.append(fact)
            self._end(row, verdict, changed=False)
            self.figures.unchanged += 1
            return
        if document is not None and known is not None and not stored and known.version == version:
            # It is the same as when it was taken out by hand, or found to be a duplicate.
            verdict.state = "duplicate" if known.state == "duplicate" else "removed"
            batch.unchanged.append(fact)
            self._end(row, verdict, changed=False)
            return
        if document is not None:
            if stored and not self._says_something_new(key, document):
                batch.unchanged.append(fact)
                self._end(row, verdict, changed=False)
                self.figures.unchanged += 1
                return
            self._learn_spelling(key, document)
            batch.documents.append(document)
            batch.characters += len(document.text)
            batch.facts.append(fact)
            batch.of_document[key] = row
            batch.finished.append(row.number)
            return
        if stored and verdict.gone:
            batch.gone.append((key, Note("page_reason", reason=verdict.reason)))
        outcome = _OUTCOMES.get(verdict.state, verdict.state)
        if outcome and row.pattern >= 0:
            batch.failed.append(Outcome(outcome, key, "", Note("page_reason", reason=verdict.reason)))
        self._end(row, verdict, changed=bool(verdict.links) if row.again else None)

    def _says_something_new(self, key: str, document: Document) -> bool:
        numbers = self.store.documents.numbers_of(self._library, [key])
        if key not in numbers:
            return True
        before = self.store.documents.texts([numbers[key]]).get(numbers[key], "")
        return self.judge.noise.is_change(before, document.text)

    def _learn_spelling(self, key: str, document: Document) -> None:
        self.judge.learn(key, name_hash(document.text))

    def _end(self, row: PageRow, verdict: Verdict, *, changed: bool | None = None) -> None:
        """Write down what became of a page, with the next batch."""
        self._batch.frontier.ended.append(self._ended(row, verdict.state, verdict.reason, changed))
        self._batch.finished.append(row.number)
        self.figures.states[verdict.state] += 1

    def _ended(self, row: PageRow, state: str, reason: str, changed: bool | None) -> Ended:
        pause = next_visit(state, reason, row.interval_s, changed=changed)
        next_try = None if pause is None else int(time.time()) + pause
        return Ended(row.number, state, reason, row.attempts, pause, next_try)

    def _flush(self) -> None:
        """Write the batch down, all of it or nothing."""
        batch, self._batch = self._batch, Step()
        if not len(batch) and not batch.frontier.links:
            return
        source = self.info
        walked = WalkBatch(
            self.store.documents.prepare(batch.documents),
            batch.facts,
            batch.unchanged,
            batch.failed,
            batch.gone,
            self.judge.state() | {"stage": "in_work"},
        )
        fresh = 0
        states: dict[str, str] = {}

        def also(told: Any, gave_way: Sequence[str]) -> None:
            nonlocal fresh, states
            states = {key: told.get(key, "failed") for key in batch.of_document}
            for key, row in batch.of_document.items():
                state = states[key]
                changed = state == "changed" if row.again else None
                kept = "stored" if state in ("stored", "changed", "unchanged") else state
                batch.frontier.ended.append(self._ended(row, _STATES.get(kept, kept), "", changed))
            batch.frontier.closed += [(name_hash(key), "duplicate", "") for key in gave_way]
            fresh = self.store.frontier.apply(source.number, batch.frontier)

        self.store.sources.store(
            self._library,
            source,
            walked,
            keep_duplicates=False,
            smallest=True,
            also=also,
            waiting=self._waiting,
        )
        self.figures.found += fresh
        for state in states.values():
            self.figures.states[_STATES.get(state, state)] += 1
            self.figures.stored += state == "stored"
            self.figures.changed += state == "changed"
            self.figures.unchanged += state == "unchanged"
        for number in batch.finished:
            self._in_hand.pop(number, None)
        if fresh:
            for host in self._hosts.values():
                host.exhausted = False
            self._claimed = 0.0
        if any(ended.state in ("new", "again") for ended in batch.frontier.ended):
            for host in self._hosts.values():
                host.exhausted = False
        self._spool.done(batch.spooled)

    def _waiting(self, seconds: float) -> None:
        self._progress.step("waiting", int(seconds), None, "seconds", Note("database_in_use"))

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self._told < TELL_S:
            return
        self._told = now
        figures = self.figures
        total = self.judge.plan.requests
        known = total is not None and total >= figures.fetched
        rate = figures.rate
        left = (total - figures.fetched) / rate if total is not None and known and rate > 0 else None
        told = Note(
            "crawl_figures",
            found=figures.found,
            stored=figures.stored,
            failed=figures.states["failed"] + figures.states["refused"],
            rate=rate,
            left=None if left is None else Note("time_left", seconds=round(left)),
            waits=self._wait_note(now),
        )
        self._progress.step("crawling", figures.fetched, total if known else None, "pages", told)

    def _wait_note(self, now: float) -> Note | None:
        """Why nothing happens, when nothing will for some seconds."""
        with self._turn:
            hosts = [host for host in self._hosts.values() if host.rows and host.given_up is None]
            if self._flying or not hosts:
                return None
            host = min(hosts, key=lambda one: one.ready)
            seconds = host.ready - now
        if seconds < WAIT_TOLD_S:
            return None
        told = {
            "host": host.origin,
            "seconds": round(seconds),
            "until": time.strftime("%H:%M", time.localtime(time.time() + seconds)),
        }
        if host.asked_s:
            return Note("crawl_waits_asked", **told)
        if host.standing.failures:
            return Note("crawl_waits_failed", **told, times=host.standing.failures)
        return Note("crawl_waits_turn", **told)


_STATES = {"changed": "stored", "unchanged": "stored", "empty": "too_short", "duplicate_id": "duplicate"}
