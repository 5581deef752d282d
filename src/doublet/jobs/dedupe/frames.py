"""Web pages without the frame of their site: a source that is read once, counted, and then gone through without it.

Lines are counted by folder (and in all folders above it, up to the input or the host) when it is read first. What is
read waits, compressed, in a temporary file: no document is read twice, and later rounds are quicker. Inputs without
pages are handed through. The rule itself is `doublet.text.site_frame`; a count depends neither on the order of
the pages nor on the number of workers. Why it is done so: docs/decisions/0066-frames-of-sites.md.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from doublet.crawl.keys import page_key
from doublet.jobs.dedupe.keyed_rows import KeyedRows
from doublet.jobs.dedupe.reading import in_order
from doublet.model import Note
from doublet.progress import Progress
from doublet.signatures.mixing import mix
from doublet.sources.open import Inputs
from doublet.sources.pages import inputs_with_pages
from doublet.sources.records import (
    MAX_BATCH_BYTES,
    MAX_BATCH_RECORDS,
    PageBatch,
    ParsedBatch,
    RawBatch,
)
from doublet.text.page_forms import form_rows, without_forms, words_of_forms
from doublet.text.site_frame import (
    COMMON_PAGES,
    CROWD,
    FRAME_SHARE,
    I64,
    LEAST_PAGES,
    PART_PAGES,
    U64,
    Mask,
    PageLines,
    cut_lines,
    few_own_lines,
    least_with_line,
    lines_of,
    own_text,
)

if TYPE_CHECKING:
    from doublet.reports.output import Together

FEW_PAGES = 5  #: of a folder, where the user asks for frames
TITLE_WORDS = 20  #: of the longest line that counts as the title of a page
LEVELS = 24  #: of folders; what lies deeper counts in the folder there

#: columns of a counted line
_KEY, _FOLDER, _PAGES, _WORDS, _FIRST = range(5)


def folders_of(id: str) -> list[str]:
    """The folders that a page is in, the nearest first: by its path, or by its address up to the host."""
    scheme, mark, rest = id.partition("://")
    if not mark:
        scheme, rest = "", id
    path = rest.split("?", 1)[0].split("#", 1)[0].rstrip("/") if mark else rest
    parts = path.split("/")[:-1]
    lowest = 1 if mark else 0  # of an address the host alone; of a path also the input as a whole
    if mark and not parts:
        parts = [path]
    deepest = min(len(parts), LEVELS)
    return [scheme + mark + "/".join(parts[:size]) for size in range(deepest, lowest - 1, -1)]


@dataclass(frozen=True, slots=True)
class SiteLines:
    """Keys of lines as those of their folders (`in_folders`), sorted."""

    frame: U64  #: of every folder with many pages
    common: U64  #: of the nearest folder of a page that has many
    firsts: U64  #: of each common line the page with the lowest number that has it
    pages: U64  #: of each common line: how many pages of the folder have it
    titles: U64  #: that two pages of the nearest folder have, or more
    #: of each folder: whether that is most of its useful content; pages without a title of their own are copies there
    frame_is_most: Mask
    common_is_most: Mask  #: likewise


class Counted:
    """How many pages of each folder have each line: counted in the nearest folder, then in those above it."""

    def __init__(self, folder: str | None) -> None:
        self._rows = KeyedRows(5, folder)  # of lines on one page each
        self._numbers: dict[str, int] = {}
        self._above: list[int] = []  # of each folder the number of the one that it is in, -1 of the highest
        self._pages: list[int] = []  # in it, and when all are counted also below it
        self._words: list[int] = []  # of their useful content

    def add(self, id: str, page: PageLines) -> int:
        """Count a page in the nearest of its folders; gives the number of that."""
        number = self._number_of(folders_of(id))
        counted = page.keys != 0
        keys, places = np.unique(page.keys[counted], return_inverse=True)
        rows = np.ones((len(keys), 5), np.uint64)
        rows[:, _KEY], rows[:, _FOLDER] = keys, number
        rows[:, _WORDS] = np.bincount(places, (page.words * page.useful)[counted], len(keys))
        rows[:, _FIRST] = page_number(id)
        self._pages[number] += 1
        self._words[number] += int(page.words[page.useful].sum())
        self._rows.add(rows)
        if page.title:  # a line without words and without a first page
            self._rows.add(np.array([[page.title, number, 1, 0, 0]], np.uint64))
        return number

    def _number_of(self, folders: Sequence[str]) -> int:
        known = self._numbers.get(folders[0])
        if known is not None:
            return known
        above = -1
        for name in reversed(folders):
            number = self._numbers.setdefault(name, len(self._above))
            if number == len(self._above):
                self._above.append(above)
                self._pages.append(0)
                self._words.append(0)
            above = number
        return above

    def find(self, least_pages: int) -> SiteLines:
        """Which lines are frame, and which are common. To be asked once, when all pages were counted."""
        direct = list(self._pages)
        for number in range(
            len(self._above) - 1, -1, -1
        ):  # a folder has a higher number than the one that it is in
            if self._above[number] >= 0:
                self._pages[self._above[number]] += self._pages[number]
                self._words[self._above[number]] += self._words[number]
        least = np.array(
            [least_with_line(pages) if pages >= least_pages else 1 << 60 for pages in self._pages]
        )
        common = np.full(len(self._pages), 1 << 60)
        for number in np.flatnonzero(direct).tolist():
            common[self.large_folders(number, least_pages)[:1]] = COMMON_PAGES
        depths = np.zeros(len(self._above), np.int64)
        for number, upper in enumerate(self._above):
            depths[number] = depths[upper] + 1 if upper >= 0 else 0
        frame, shared = _SharedLines(least), _SharedLines(common)
        titles = _SharedLines(np.where(common < 1 << 60, 2, common))
        fewest = min(COMMON_PAGES, least_with_line(least_pages))
        for rows in self._rows.by_keys():
            _, places, pages = np.unique(rows[:, _KEY], return_inverse=True, return_counts=True)
            is_title = rows[:, _FIRST] == 0
            some = rows[(pages[places] >= fewest) & ~is_title]  # the others are neither
            for lines in self._climb(some, depths) if len(some) else ():
                frame.add(lines)
                shared.add(lines)
            some = rows[(pages[places] > 1) & is_title]
            for lines in self._climb(some, depths) if len(some) else ():
                titles.add(lines)
        most = FRAME_SHARE * np.array(self._words)
        return SiteLines(
            frame.give()[0], *shared.give(), titles.give()[0], frame.words > most, shared.words > most
        )

    def _climb(self, rows: U64, depths: I64) -> Iterator[U64]:
        """Lines with the pages of their folder that have them, then with those of the folders above it."""
        above = np.array(self._above, np.int64)
        lines = rows
        for depth in range(int(depths.max(initial=0)), -1, -1):
            here = depths[lines[:, _FOLDER].astype(np.int64)] == depth
            sums = _sum_up(lines[here])
            yield sums
            upper = above[sums[:, _FOLDER].astype(np.int64)]
            sums = sums[upper >= 0]
            sums[:, _FOLDER] = upper[upper >= 0].astype(np.uint64)
            lines = np.concatenate([lines[~here], sums])

    def large_folders(self, number: int, least_pages: int) -> list[int]:
        """A folder and those above it, if they have so many pages."""
        out = []
        while number >= 0:
            if self._pages[number] >= least_pages:
                out.append(number)
            number = self._above[number]
        return out

    def close(self) -> None:
        """Give back what the lines take."""
        self._rows.close()


class _SharedLines:
    """Lines that at least so many pages of their folder have, with their useful words."""

    def __init__(self, least: I64) -> None:
        self._least = least
        self._keys: list[U64] = [np.zeros(0, np.uint64)]
        self._firsts: list[U64] = [np.zeros(0, np.uint64)]
        self._pages: list[U64] = [np.zeros(0, np.uint64)]
        self.words = np.zeros(len(least))  #: of each folder

    def add(self, lines: U64) -> None:
        homes = lines[:, _FOLDER].astype(np.int64)
        enough = lines[:, _PAGES].astype(np.int64) >= self._least[homes]
        lines, homes = lines[enough], homes[enough]
        self._keys.append(in_folders(lines[:, _KEY], lines[:, _FOLDER]))
        self._firsts.append(lines[:, _FIRST].copy())
        self._pages.append(lines[:, _PAGES].copy())
        self.words += np.bincount(homes, lines[:, _WORDS], len(self.words))

    def give(self) -> tuple[U64, U64, U64]:
        """Their keys as those of their folders, sorted, the first page of each, and how many pages have it."""
        keys = np.concatenate(self._keys)
        order = np.argsort(keys)
        return keys[order], np.concatenate(self._firsts)[order], np.concatenate(self._pages)[order]


def _sum_up(lines: U64) -> U64:
    """A row for each key and folder, with the pages and words of all, and the lowest of their first pages."""
    order = np.lexsort((lines[:, _FOLDER], lines[:, _KEY]))
    lines = lines[order]
    new = np.ones(len(lines), np.bool_)
    new[1:] = (lines[1:, _KEY] != lines[:-1, _KEY]) | (lines[1:, _FOLDER] != lines[:-1, _FOLDER])
    firsts = np.flatnonzero(new)
    if not len(firsts):
        return lines
    out = lines[firsts]
    out[:, _PAGES:_FIRST] = np.add.reduceat(lines[:, _PAGES:_FIRST], firsts, axis=0)
    out[:, _FIRST] = np.minimum.reduceat(lines[:, _FIRST], firsts)
    return out


def in_folders(keys: U64, folders: U64) -> U64:
    """The keys of lines as those of folders: the same line has another key in each."""
    return keys ^ mix(folders + np.uint64(1))


def page_number(id: str) -> int:
    """A number for a page that is the same in every run and on every mirror: from the name of its file, or of its
    folder where that is an index, and what the address asks for (`viewtopic.php?t=1`). Never 0."""
    path, mark, query = page_key(id).partition("?")
    parts = path.rstrip("/").split("/")
    name = "/".join(parts[-2:] if parts[-1].startswith("index.") else parts[-1:]) + mark + query
    return int.from_bytes(blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()) | 1


def _places(keys: U64, folder: int, known: U64) -> I64:
    """Where the lines of a page are among those that are *known* of a folder, -1: they are not."""
    if not len(known):
        return np.full(len(keys), -1)
    sought = in_folders(keys, np.array([folder], np.uint64))
    places = np.minimum(np.searchsorted(known, sought), len(known) - 1)
    return np.where((known[places] == sought) & (keys != 0), places, -1)


@dataclass(slots=True)
class _Waiting:
    """A batch that was read, as it lies in the file."""

    parsed: ParsedBatch
    pages: dict[int, tuple[PageLines, int]]  #: without their lines, with the number of their folder

    def lines(self, index: int) -> list[str]:
        """The lines of a page."""
        return cut_lines(self.parsed.texts[index], self.parsed.left_out[index] or ())[0]


@dataclass(slots=True)
class _Place:
    """Where a batch lies in the file, and what a source says of it."""

    at: int
    size: int
    first: int  #: position of the first record in its input
    count: int
    size_bytes: int
    consumed_bytes: int


@dataclass(slots=True)
class _InputBatch:
    """A batch of an input with pages, as it is read first."""

    number: int  #: of its input
    done: int  #: bytes of the inputs before
    batch: RawBatch

    @property
    def size_bytes(self) -> int:
        return self.batch.size_bytes


@dataclass(slots=True)
class FramelessBatch:
    """Some records of an input with pages, as they are compared."""

    first: int
    count: int
    size_bytes: int
    consumed_bytes: int
    read: Callable[[], ParsedBatch]

    def parse(self) -> ParsedBatch:
        return self.read()


@dataclass(slots=True)
class WithoutFrames:
    """Inputs whose pages come without the frame of their site. A `RecordSource`; close it to remove what waits."""

    source: Inputs
    paged: Sequence[int]  #: numbers of the inputs that hold pages
    least_pages: int
    workers: int
    folder: str | None
    progress: Progress
    _found: SiteLines | None = None
    _counted: Counted | None = None
    _forms: U64 = field(default_factory=lambda: np.zeros(0, np.uint64))  #: keys of words of forms, sorted
    _file: IO[bytes] | None = None
    _waiting: dict[int, list[_Place]] = field(default_factory=dict)  #: by the number of the input
    _firsts: dict[int, int] = field(default_factory=dict)  #: position of the first record of these inputs
    _without: dict[int, int] = field(
        default_factory=dict
    )  #: pages that lost lines, by the place of their batch
    _lines: set[int] = field(default_factory=set)  #: keys of the lines that were left out

    def prepare(self) -> None:
        """Read all pages once. Raises `SourceError`, and `OSError` when the file cannot be written."""
        counted = self._counted = Counted(self.folder)
        self._file = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115 - closed by `close`
        total = sum(self.source.parts[number].size_bytes for number in self.paged)
        self._waiting = {number: [] for number in self.paged}
        try:
            with closing(in_order(self._input_batches(), _read_pages, self.workers)) as found:
                for one, parsed in found:
                    self._waiting[one.number].append(self._put(one.batch, parsed, counted))
                    done = one.done + one.batch.consumed_bytes
                    self.progress.step("counting", done, total, "bytes")
            self._file.flush()
            self._found = counted.find(self.least_pages)
        finally:
            counted.close()
        self._forms = self._find_forms(counted)

    def _find_forms(self, counted: Counted) -> U64:
        """The keys of the words that belong to forms, sorted."""
        rows = KeyedRows(2, self.folder)
        try:
            for place in chain.from_iterable(self._waiting.values()):
                waiting = self._load(place)
                for index, (page, folder) in waiting.pages.items():
                    large = counted.large_folders(folder, self.least_pages)
                    few = few_own_lines(page, *self._marked(page, folder)) if large else ()
                    if len(few):
                        lines = waiting.lines(index)
                        rows.add(form_rows(large[0], [lines[at] for at in few]))
            found = [words_of_forms(some) for some in rows.by_keys() if len(some)]
        finally:
            rows.close()
        return np.sort(np.concatenate([np.zeros(0, np.uint64), *found]))

    def _input_batches(self) -> Iterator[_InputBatch]:
        """The batches of all inputs with pages."""
        done = 0
        for number in self.paged:
            part = self.source.parts[number]
            self.source.check_unchanged(part)
            for batch in part.batches(0, 0, MAX_BATCH_RECORDS, MAX_BATCH_BYTES):
                yield _InputBatch(number, done, batch)
            self.source.check_unchanged(part)
            done += part.size_bytes

    def _put(self, batch: RawBatch, parsed: ParsedBatch, counted: Counted) -> _Place:
        assert self._file is not None
        pages: dict[int, tuple[PageLines, int]] = {}
        for index, left_out in enumerate(parsed.left_out):
            if left_out is not None:
                page = lines_of(parsed.texts[index], left_out, parsed.titles[index] if parsed.titles else "")
                pages[index] = replace(page, lines=[]), counted.add(parsed.ids[index], page)
        packed = zlib.compress(pickle.dumps(_Waiting(parsed, pages), pickle.HIGHEST_PROTOCOL), 1)
        at = self._file.tell()
        self._file.write(packed)
        return _Place(at, len(packed), batch.first, batch.count, batch.size_bytes, batch.consumed_bytes)

    @property
    def total_bytes(self) -> int:
        return self.source.total_bytes

    @property
    def notes(self) -> list[Note]:
        return self.source.notes

    def told(self) -> list[Note]:
        """What was left out, when all batches were read."""
        pages = sum(self._without.values())
        return [Note("frames_left_out", lines=len(self._lines), pages=pages)] if pages else []

    def batches(
        self, max_records: int = MAX_BATCH_RECORDS, max_bytes: int = MAX_BATCH_BYTES
    ) -> Iterator[Any]:
        first = done = 0
        for number, part in enumerate(self.source.parts):
            if number not in self._waiting:
                self.source.check_unchanged(part)
                for batch in part.batches(first, done, max_records, max_bytes):
                    yield batch
                    first = batch.first + batch.count
                self.source.check_unchanged(part)
            else:
                self._firsts[number] = first
                for place in self._waiting[number]:
                    yield self._batch(place, first, done)
                first += sum(place.count for place in self._waiting[number])
            done += part.size_bytes

    def _batch(self, place: _Place, first: int, done: int) -> FramelessBatch:
        return FramelessBatch(
            first + place.first,
            place.count,
            place.size_bytes,
            done + place.consumed_bytes,
            lambda: self._read(place, first),
        )

    def _load(self, place: _Place) -> _Waiting:
        """A batch as it was read. From any thread."""
        assert self._file is not None
        packed = os.pread(self._file.fileno(), place.size, place.at)
        # Nobody else has this file: it has no name, and all of it was written above.
        waiting: _Waiting = pickle.loads(zlib.decompress(packed))
        return waiting

    def _read(self, place: _Place, first: int) -> ParsedBatch:
        """The records of a batch without frames. From any thread."""
        waiting = self._load(place)
        texts = waiting.parsed.texts
        without = 0
        for index, (page, folder) in waiting.pages.items():
            frame, firsts, named = self._marked(page, folder)
            few = few_own_lines(page, frame, firsts, named).tolist() if len(self._forms) else []
            if not frame.any() and not firsts.any() and not few:
                continue
            lines = waiting.lines(index)
            own = self._filled_in([lines[at] for at in few], folder)
            if own is None and (frame.any() or firsts.any()):
                own = own_text(replace(page, lines=lines), frame, firsts, named)
            if own is not None:
                texts[index] = own
                without += bool(frame.any())
                self._lines.update(page.keys[frame].tolist())
        self._without[place.at] = without
        return replace(waiting.parsed, positions=[first + one for one in waiting.parsed.positions])

    def titles_at(self, positions: AbstractSet[int]) -> Iterator[tuple[int, str]]:
        """The pages at some positions with their titles, empty if nothing can be one. Of a page without a title that is
        its own it is the first line of several words that is, unless that is a paragraph. To be asked when all batches
        were read once."""
        for position, waiting, index in self._pages_at(positions):
            yield position, self._titled(waiting, index)[0]

    def pages_at(self, positions: AbstractSet[int]) -> Iterator[tuple[int, str, list[str], U64]]:
        """The pages at some positions with what they say below their titles, and all lines that are not frame, with
        their keys."""
        for position, waiting, index in self._pages_at(positions):
            page, _ = waiting.pages[index]
            _, heading, frame = self._titled(waiting, index)
            text, lines = waiting.parsed.texts[index], waiting.lines(index)
            if heading >= 0:
                useful = page.useful.copy()
                useful[heading] = False
                text = "\n".join(lines[at] for at in np.flatnonzero(useful))
            counted = np.flatnonzero(~frame & (page.keys != 0))
            yield position, text, [lines[at] for at in counted.tolist()], page.keys[counted]

    def _pages_at(self, positions: AbstractSet[int]) -> Iterator[tuple[int, _Waiting, int]]:
        for number, places in self._waiting.items():
            first = self._firsts[number]
            for place in places:
                low = first + place.first
                if positions.isdisjoint(range(low, low + place.count)):
                    continue
                waiting = self._load(place)
                for index in waiting.pages:
                    position = first + waiting.parsed.positions[index]
                    if position in positions:
                        yield position, waiting, index

    def _titled(self, waiting: _Waiting, index: int) -> tuple[str, int, Mask]:
        """The title of one page, which of its lines that is, or -1, and which are frame."""
        assert self._counted is not None
        page, folder = waiting.pages[index]
        frame, common, named = self._marked(page, folder)
        if named:
            return waiting.parsed.titles[index], -1, frame
        own = np.flatnonzero(~frame & (common == 0) & (page.keys != 0) & (page.words > 1))
        large = self._counted.large_folders(folder, self.least_pages)
        if not large or not len(own) or page.words[own[0]] > TITLE_WORDS:
            return "", -1, frame
        return waiting.lines(index)[own[0]], int(own[0]), frame

    def _filled_in(self, lines: list[str], folder: int) -> str | None:
        """What a page of few words fills forms in with; None: it has none."""
        assert self._counted is not None
        large = self._counted.large_folders(folder, self.least_pages)
        told = without_forms(lines, large[0], self._forms) if large else lines
        return None if told == lines else "\n".join(told)

    def _marked(self, page: PageLines, folder: int) -> tuple[Mask, U64, bool]:
        """Which lines of a page are frame in its folder or in one above it; of those that are common in the nearest the
        first page that has them or `CROWD`, 0 of the others; and whether it has a title of its own there."""
        assert self._counted is not None
        assert self._found is not None
        found = self._found
        frame = np.zeros(len(page.keys), np.bool_)
        firsts = np.zeros(len(page.keys), np.uint64)
        large = self._counted.large_folders(folder, self.least_pages)
        if not large:
            return frame, firsts, False
        title = np.array([page.title], np.uint64)
        named = bool(page.title and _places(title, large[0], found.titles)[0] < 0)
        for number in large:
            if named or not found.frame_is_most[number]:
                frame |= _places(page.keys, number, found.frame) >= 0
        if named or not found.common_is_most[large[0]]:
            places = _places(page.keys, large[0], found.common)
            common = places >= 0
            crowd = found.pages[places[common]] >= PART_PAGES
            firsts[common] = np.where(crowd, CROWD, found.firsts[places[common]])
            if named:
                frame[common] |= crowd
        return frame, firsts, named

    def check_kept(self, out: Path) -> None:
        self.source.check_kept(out)

    def reads(self, path: Path) -> bool:
        return self.source.reads(path)

    def digests(self, positions: U64) -> U64:
        return self.source.digests(positions)

    def write_kept(self, out: Path, keep: Callable[[int], bool], together: Together | None = None) -> int:
        return self.source.write_kept(out, keep, together)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _read_pages(one: _InputBatch) -> Iterator[tuple[_InputBatch, ParsedBatch]]:
    batch = one.batch
    yield one, batch.parse_pages() if isinstance(batch, PageBatch) else batch.parse()


def without_frames(
    source: Inputs, asked: bool, workers: int, folder: str | None, progress: Progress
) -> WithoutFrames | None:
    """*source* without the frames of its sites; None when it has too few pages: `LEAST_PAGES`, or a few where the user
    *asked* for it. Raises `SourceError`, `OSError`."""
    least = FEW_PAGES if asked else LEAST_PAGES
    paged = inputs_with_pages(source.parts, least)
    if not paged:
        return None
    out = WithoutFrames(source, paged, least, workers, folder, progress)
    try:
        out.prepare()
    except BaseException:
        out.close()
        raise
    return out
