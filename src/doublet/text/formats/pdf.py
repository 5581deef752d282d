"""PDF: lines put together into paragraphs, page by page, with the page of each stretch of text.

Running heads, running feet and page numbers are left out; a footnote follows the paragraph that it interrupts; a
sentence that goes on overleaf goes on in the text; a word cut at the end of a line is joined. Text that is drawn
invisibly, in white on nothing dark, in letters of no size or outside the page is hidden text; under the picture of a
scanned page invisible text is what a program has read there, and counts.

PDFium must not be used from several threads: workers are processes.
"""

from __future__ import annotations

import ctypes
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from doublet.errors import Broken, Encrypted, Scanned
from doublet.text.formats.protocol import Builder, Hints, Reading, needs

try:
    import pypdfium2
    import pypdfium2.raw as pdfium
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise needs("pypdfium2", "pdf") from error

_TINY_POINTS = 1.5
_LIGHT = 240
_INVISIBLE = 3  # text render mode: neither fill nor stroke
_FORM_DEPTH = 4
_CUT = "\ufffe"  # PDFium's sign for a hyphen at the end of a line
_MARGIN = 0.13  # of the height of a page: heads and feet stand there
_PICTURE = 0.4  # of the area of a page: what is larger is the page itself
_REPEATED_SHARE = 0.35
_GUTTER_BLANK = 0.7  # of the height of the letters: a blank between words has a third
_COLUMN_LINES = 8  # fewer lines beside each other are no columns

_PAGE_NUMBER = re.compile(
    r"(?:(?:page|p\.|стр(?:аница|\.)?|с\.)\s*)?[-–—\[( ]*(?:\d{1,4}|[ivxlcdm]{1,7})"
    r"[-–—\]) ]*(?:(?:of|из|/)\s*\d{1,4})?\Z",
    re.I,
)
_SENTENCE_END = re.compile(r"[.!?…:;][)»”\"'’\]]*\Z")
_NOTE_START = re.compile(r"(?:\d{1,3}|[*†‡¹²³⁴-⁹])[).]?\s*\S")
_LIST_START = re.compile(r"(?:[•·▪◦‣–—-]|\(?\d{1,3}[.)]|[a-zа-яё][.)])\s+\S", re.I)
_KEPT_AFTER = frozenset("то либо нибудь таки ка де".split())
_KEPT_BEFORE = frozenset("кое кой".split())
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")


@dataclass(slots=True)
class _Line:
    text: str
    page: int
    left: float
    right: float
    top: float  #: of the first character, from the bottom of the page
    end: float  #: the same of the last one: a line may hold two with a cut word between them
    size: float
    first: float = 0.0  #: size of the first character
    at: int = 0  #: index of the first character in the text of the page
    hidden: list[tuple[int, str, str]] = field(default_factory=list)  #: (where, reason, text)
    notes: list[list[_Line]] = field(default_factory=list)  #: referred to in it


@dataclass(slots=True)
class _Page:
    number: int
    width: float
    height: float
    lines: list[_Line]
    notes: list[list[_Line]] = field(default_factory=list)
    picture: bool = False


def read(data: bytes, hints: Hints) -> Reading:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD or "password" in str(error).lower():
            raise Encrypted("save_without_password") from error
        raise Broken("not_opened_as_pdf", why=error) from error
    try:
        count = len(document)
        if not count:
            raise Broken("no_pages")
        build = Builder(hints.characters)
        build.offer_title(document.get_metadata_value("Title"))
        pages, bad = [], 0
        for index in range(count):
            page = _page(document, index)
            bad += page is None
            pages.append(page or _Page(index + 1, 0, 0, []))
    finally:
        document.close()
    if bad == count:
        raise Broken("no_page_opens")
    if bad:
        build.note("pages_damaged", bad=bad, count=count)
    _pictures(data, pages, hints, build)
    _drop_frame(pages)
    for page in pages:
        _take_notes(page)
    _paragraphs(pages, build)
    return build.done()


def _pictures(data: bytes, pages: list[_Page], hints: Hints, build: Builder) -> None:
    """Pages that are pictures: read by the recogniser, or told."""
    found = [page.number for page in pages if page.picture and not page.lines]
    if not found:
        return
    if hints.picture_pages is not None:
        recognised = hints.picture_pages(data, found)
        for number in found:
            page = pages[number - 1]
            for at, line in enumerate(recognised.get(number, "").splitlines()):
                if not line.strip():
                    continue  # the larger step to the next line ends the paragraph
                page.lines.append(_Line(line, number, 0, page.width, -at * 12.0, -at * 12.0, 10))
        build.note("pages_recognised", found=len(found), pages=len(pages))
        return
    if len(found) == len(pages) or not any(page.lines for page in pages):
        raise Scanned(
            "is_scan",
            pages=len(pages),
        )
    shown = ", ".join(map(str, found[:10])) + (" …" if len(found) > 10 else "")
    build.note("pages_are_pictures", found=len(found), pages=len(pages), shown=shown)


def _page(document: Any, index: int) -> _Page | None:
    raw = pdfium.FPDF_LoadPage(document.raw, index)
    if not raw:
        return None
    try:
        page = _Page(index + 1, pdfium.FPDF_GetPageWidthF(raw), pdfium.FPDF_GetPageHeightF(raw), [])
        text_page = pdfium.FPDFText_LoadPage(raw)
        if not text_page:
            return page
        try:
            suspects, page.picture = _look(raw, page)
            _lines(text_page, page, suspects)
        finally:
            pdfium.FPDFText_ClosePage(text_page)
        return page
    finally:
        pdfium.FPDF_ClosePage(raw)


def _objects(raw: Any, depth: int = 0) -> Iterator[tuple[Any, int, int]]:
    """(object, type, depth) of a page or of a form on it."""
    if depth == 0:
        count, get = pdfium.FPDFPage_CountObjects(raw), pdfium.FPDFPage_GetObject
    else:
        count, get = pdfium.FPDFFormObj_CountObjects(raw), pdfium.FPDFFormObj_GetObject
    for index in range(max(count, 0)):
        item = get(raw, index)
        if not item:
            continue
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _FORM_DEPTH:
            yield from _objects(item, depth + 1)
        else:
            yield item, kind, depth


def _look(raw: Any, page: _Page) -> tuple[dict[int, str], bool]:
    """Text objects that cannot be seen, with the reason, and whether the page is a picture."""
    channels = [ctypes.c_uint() for _ in range(4)]
    red, green, blue, alpha = (ctypes.byref(channel) for channel in channels)
    size = ctypes.c_float()
    size_at = ctypes.byref(size)
    matrix = pdfium.FS_MATRIX()
    suspects: dict[int, str] = {}
    white: list[tuple[int, tuple[float, float, float, float]]] = []
    invisible: list[int] = []
    grounds: list[tuple[float, float, float, float]] = []
    picture = 0.0
    area = page.width * page.height or 1.0
    for item, kind, depth in _objects(raw):
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            address = _address(item)
            if pdfium.FPDFTextObj_GetTextRenderMode(item) == _INVISIBLE:
                invisible.append(address)
                continue
            if pdfium.FPDFTextObj_GetFontSize(item, size_at) and size.value < 4:
                pdfium.FPDFPageObj_GetMatrix(item, matrix)
                scale = max(abs(matrix.a) + abs(matrix.b), abs(matrix.c) + abs(matrix.d))
                if size.value * scale < _TINY_POINTS:
                    suspects[address] = "tiny"
                    continue
            pdfium.FPDFPageObj_GetFillColor(item, red, green, blue, alpha)
            if not channels[3].value:
                suspects[address] = "hidden"
            elif min(channels[0].value, channels[1].value, channels[2].value) >= _LIGHT:
                box = _box(item)
                if not _over(box, grounds):
                    white.append((address, box))
            elif depth == 0:
                box = _box(item)
                if box[2] < 0 or box[3] < 0 or box[0] > page.width or box[1] > page.height:
                    suspects[address] = "outside"
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            box = _box(item)
            picture = max(picture, (box[2] - box[0]) * (box[3] - box[1]) / area)
            grounds.append(box)
        elif kind == pdfium.FPDF_PAGEOBJ_SHADING:
            grounds.append(_box(item))
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            pdfium.FPDFPageObj_GetFillColor(item, red, green, blue, alpha)
            if channels[3].value and min(channels[0].value, channels[1].value, channels[2].value) < _LIGHT:
                grounds.append(_box(item))
    scanned = picture >= _PICTURE
    suspects.update(dict.fromkeys((address for address, _ in white), "white"))
    if not scanned:
        suspects.update(dict.fromkeys(invisible, "covered"))
    return suspects, scanned


def _address(item: Any) -> int:
    return ctypes.cast(item, ctypes.c_void_p).value or 0


def _box(item: Any) -> tuple[float, float, float, float]:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(
        item, ctypes.byref(left), ctypes.byref(bottom), ctypes.byref(right), ctypes.byref(top)
    )
    return left.value, bottom.value, right.value, top.value


def _over(box: tuple[float, float, float, float], grounds: list[tuple[float, float, float, float]]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(left <= x <= right and bottom <= y <= top for left, bottom, right, top in grounds)


def _lines(text_page: Any, page: _Page, suspects: dict[int, str]) -> None:
    count = pdfium.FPDFText_CountChars(text_page)
    if count <= 0:
        return
    buffer = ctypes.create_string_buffer((count + 1) * 2)
    units = pdfium.FPDFText_GetText(text_page, 0, count, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)))
    text = buffer.raw[: max(units - 1, 0) * 2].decode("utf-16-le", "replace")
    plain = len(text) == units - 1
    pieces = []
    at = 0
    for raw in text.split("\n"):
        line = raw.rstrip("\r")
        bare = line.strip()
        if bare:
            pieces.append((bare, at + len(line) - len(line.lstrip())))
        at += len(raw) + 1
    page.lines = _put_together(text_page, page, pieces, plain, text, suspects, 0.0)
    gutter = _gutter(text_page, page.lines)
    if gutter:
        split = [part for piece in pieces for part in _cut_at(text_page, *piece, plain, text, gutter)]
        columns = _put_together(text_page, page, split, plain, text, suspects, gutter)
        if _are_columns(columns, gutter):
            page.lines = _in_columns(columns, gutter)


def _put_together(
    text_page: Any,
    page: _Page,
    pieces: list[tuple[str, int]],
    plain: bool,
    text: str,
    suspects: dict[int, str],
    gutter: float,
) -> list[_Line]:
    """The lines of a page; what stands on one height is one line, but not across the *gutter* between two columns."""
    rect = pdfium.FS_RECTF()
    lines: list[_Line] = []
    for bare, start in pieces:
        found = _line(text_page, page, bare, start, plain, text, rect)
        if suspects:
            _separate(text_page, found, suspects, plain, text)
        apart = gutter and lines and lines[-1].right <= gutter <= found.left
        if apart or not (lines and _continued(lines[-1], found)):
            lines.append(found)
    return lines


def _gutter(text_page: Any, lines: list[_Line]) -> float:
    """Where two columns may part that the file draws line by line across the page; 0 when nothing speaks for it."""
    if len(lines) < _COLUMN_LINES:
        return 0.0
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    wide = [line for line in lines if line.right - line.left > 0.7 * (right - left)]
    if len(wide) < _COLUMN_LINES:
        return 0.0
    middle = (left + right) / 2
    allowed = len(wide) // 5  # titles and the like go over both columns
    for line in wide:
        # Looks through all characters of the page: most pages have their answer after a few lines.
        height = line.top + line.size / 2
        if pdfium.FPDFText_GetCharIndexAtPos(text_page, middle, height, 2.0, line.size / 2) >= 0:
            allowed -= 1
            if allowed < 0:
                return 0.0
    return middle


def _cut_at(
    text_page: Any, bare: str, start: int, plain: bool, text: str, gutter: float
) -> list[tuple[str, int]]:
    """A line in two where a blank, wider than one between words, lies over the gutter."""
    rect = pdfium.FS_RECTF()
    for found in re.finditer(r"\s+", bare):
        before = _index(text_page, start + found.start() - 1, plain, text)
        after = _index(text_page, start + found.end(), plain, text)
        if not pdfium.FPDFText_GetLooseCharBox(text_page, before, rect) or rect.right > gutter:
            continue
        ended = rect.right
        if not pdfium.FPDFText_GetLooseCharBox(text_page, after, rect) or rect.left < gutter:
            continue
        if rect.left - ended >= _GUTTER_BLANK * (rect.top - rect.bottom):
            return [(bare[: found.start()], start), (bare[found.end() :], start + found.end())]
    return [(bare, start)]


def _are_columns(lines: list[_Line], gutter: float) -> bool:
    """Running text on both sides, and not the cells of a table."""
    for side in (
        [line for line in lines if line.right <= gutter],
        [line for line in lines if line.left >= gutter],
    ):
        if len(side) < _COLUMN_LINES:
            return False
        width = max(line.right for line in side) - min(line.left for line in side)
        full = sum(line.right - line.left > 0.75 * width for line in side)
        words = sum(len(line.text.split()) for line in side)
        if 2 * full < len(side) or words < 3 * len(side):
            return False
    return True


def _in_columns(lines: list[_Line], gutter: float) -> list[_Line]:
    """The left column before the right one, between the lines that go over both."""
    out: list[_Line] = []
    left: list[_Line] = []
    right: list[_Line] = []
    for line in lines:
        if line.left < gutter < line.right:
            out += left + right
            left, right = [], []
            out.append(line)
        elif line.right <= gutter:
            left.append(line)
        else:
            right.append(line)
    return out + left + right


def _line(text_page: Any, page: _Page, bare: str, start: int, plain: bool, text: str, rect: Any) -> _Line:
    line = _Line(bare, page.number, 0.0, 0.0, 0.0, 0.0, 0.0, at=start)
    first = _index(text_page, start, plain, text)
    if pdfium.FPDFText_GetLooseCharBox(text_page, first, rect):
        line.left, line.top, line.size = rect.left, rect.bottom, rect.top - rect.bottom
        line.end, line.right, line.first = line.top, rect.right, line.size
    last = _index(text_page, start + len(bare) - 1, plain, text)
    if pdfium.FPDFText_GetLooseCharBox(text_page, last, rect):
        line.right, line.end = rect.right, rect.bottom
    if len(bare) > 8:  # a raised mark at the beginning or the end says nothing about the line
        middle = _index(text_page, start + len(bare) // 2, plain, text)
        if pdfium.FPDFText_GetLooseCharBox(text_page, middle, rect) and rect.top > rect.bottom:
            line.size = rect.top - rect.bottom
    return line


def _continued(line: _Line, more: _Line) -> bool:
    """Put *more* after *line* when it stands on the same line of the page: after a raised mark, in the next cell."""
    size = max(line.size, more.size)
    apart = more.left - line.right
    if abs(line.end - more.top) > 0.6 * size or apart < -0.3 * size or line.hidden or more.hidden:
        return False
    if line.text.endswith(_CUT):
        return False
    blank = "\t" if apart > 1.5 * size else " " if apart > 0.15 * size else ""
    raised = more.size < 0.8 * line.size and len(more.text) <= 3
    line.text = f"{line.text}{blank}{more.text}"
    line.right = more.right
    line.end = line.end if raised else more.end
    line.size = line.size if len(line.text) > 2 * len(more.text) or raised else more.size
    return True


def _index(text_page: Any, at: int, plain: bool, text: str) -> int:
    """The number of a character on the page from its place in the text."""
    unit = at if plain else len(text[:at].encode("utf-16-le")) // 2
    return int(pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, unit))


def _separate(text_page: Any, line: _Line, suspects: dict[int, str], plain: bool, text: str) -> None:
    """Take the characters that cannot be seen out of a line."""
    seen: list[str] = []
    reason_before = ""
    for offset, character in enumerate(line.text):
        index = _index(text_page, line.at + offset, plain, text)
        item = pdfium.FPDFText_GetTextObject(text_page, index) if index >= 0 else None
        reason = suspects.get(_address(item), "") if item else (reason_before if character == " " else "")
        if reason:
            if line.hidden and reason == reason_before:
                where, _, words = line.hidden[-1]
                line.hidden[-1] = (where, reason, words + character)
            else:
                line.hidden.append((len(seen), reason, character))
        else:
            seen.append(character)
        reason_before = reason
    line.text = "".join(seen)


def _drop_frame(pages: list[_Page]) -> None:
    """Running heads and feet, and page numbers: lines at the edge of the page that come again and again."""
    full = [page for page in pages if page.lines]
    if len(full) < 2:
        return
    seen: Counter[str] = Counter()
    edges: list[tuple[_Page, _Line, str]] = []
    for page in full:
        ordered = sorted(page.lines, key=lambda line: -line.top)
        marked = set()
        for line in [*ordered[:3], *ordered[-3:]]:
            high = line.top > page.height * (1 - _MARGIN)
            low = line.top < page.height * _MARGIN
            if (high or low) and id(line) not in marked:
                marked.add(id(line))
                pattern = re.sub(r"\d+", "#", " ".join(line.text.split()).lower())
                key = f"{'head' if high else 'foot'} {pattern}"
                edges.append((page, line, key))
                seen[key] += 1
    numbers = sum(bool(_PAGE_NUMBER.match(line.text.strip())) for _, line, _ in edges)
    least = max(2, round(len(full) * _REPEATED_SHARE))
    for page, line, key in edges:
        repeated = seen[key] >= max(least, 3) or (len(full) == 2 and seen[key] == 2 and len(line.text) < 80)
        if repeated or (numbers >= 2 and _PAGE_NUMBER.match(line.text.strip())):
            page.lines.remove(line)


def _take_notes(page: _Page) -> None:
    """Footnotes: lines at the foot of a page in smaller letters, from one that begins with a mark."""
    if len(page.lines) < 3:
        return
    body = statistics.median(line.size for line in page.lines)
    sizes = Counter(round(line.size, 1) for line in page.lines if line.size > 0)
    if not sizes:
        return
    largest = max(sizes, key=lambda size: sizes[size] * size)
    body = max(body, largest)
    start = len(page.lines)
    while start > 0 and 0 < page.lines[start - 1].size < 0.92 * body:
        start -= 1
    while start < len(page.lines) and not _NOTE_START.match(page.lines[start].text):
        start += 1
    if start == len(page.lines):  # the same size as the body: a raised mark tells a note
        lower = [index for index, line in enumerate(page.lines) if line.top < page.height / 2]
        start = next((index for index in lower if _raised_mark(page.lines[index])), len(page.lines))
        least = page.lines[start].left if start < len(page.lines) else 0.0
        if any(
            line.top > page.lines[start].top or line.left < least - line.size for line in page.lines[start:]
        ):
            return
    if not 0 < start < len(page.lines) or page.lines[start].top > page.lines[start - 1].end:
        return
    for line in page.lines[start:]:
        if _NOTE_START.match(line.text) or not page.notes:
            page.notes.append([line])
        else:
            page.notes[-1].append(line)
    del page.lines[start:]
    _drop_marks(page)


def _raised_mark(line: _Line) -> bool:
    return bool(_NOTE_START.match(line.text)) and 0 < line.first < 0.8 * line.size


def _drop_marks(page: _Page) -> None:
    """The raised numbers of the notes, which stick to words of the body."""
    marks, marked = [], []
    for note in page.notes:
        found = re.match(r"\d{1,3}|[*†‡]", note[0].text)
        if found:
            marks.append(found.group())
            marked.append(note)
            note[0].text = note[0].text[found.end() :].lstrip(" .)")
    wanted = 0
    for line in page.lines:
        while wanted < len(marks):
            pattern = re.compile(
                rf"(?<=[^\W\d_.,:;!?»”)\]]){re.escape(marks[wanted])}(?![\w%])|"
                rf"(?<=[.,:;!?»”)\]]){re.escape(marks[wanted])}(?=\s|\Z)"
            )
            changed = pattern.sub("", line.text, count=1)
            if changed == line.text:
                break
            line.text = changed
            line.notes.append(marked[wanted])
            page.notes = [note for note in page.notes if note is not marked[wanted]]
            wanted += 1


def _paragraphs(pages: list[_Page], build: Builder) -> None:
    words = _Words(pages)
    number = 0
    current: list[_Line] = []
    waiting: list[tuple[list[_Line], int]] = []

    def finish() -> None:
        nonlocal number, current
        if current:
            number += 1
            _write(build, current, number, words)
        waiting[:0] = [(note, line.page) for line in current for note in line.notes]
        current = []
        for note, page in waiting:
            text = _joined([line.text for line in note], words)
            build.add(text, page=page, element="footnote")
        waiting.clear()

    for page in pages:
        gap = _usual_gap(page)
        left = min((line.left for line in page.lines if len(line.text) > 20), default=0.0)
        right = max((line.right for line in page.lines), default=page.width)
        first = True
        for line in page.lines:
            previous = current[-1] if current else None
            if previous is not None and _begins(previous, line, gap, left, right, first):
                finish()
            current.append(line)
            first = False
        waiting += [(note, page.number) for note in page.notes]
        if not current:
            finish()
    finish()


def _usual_gap(page: _Page) -> float:
    gaps = [a.end - b.top for a, b in zip(page.lines, page.lines[1:], strict=False) if 0 < a.end - b.top < 60]
    return statistics.median(gaps) if gaps else 14.0


def _begins(previous: _Line, line: _Line, gap: float, left: float, right: float, first: bool) -> bool:
    """Whether a line begins a paragraph."""
    if not previous.text.strip():
        return False
    start = line.text.lstrip()[:1]
    ended = bool(_SENTENCE_END.search(previous.text.rstrip()))
    other_size = abs(line.size - previous.size) > 0.12 * max(line.size, previous.size)
    if first:  # overleaf
        indented = line.left > left + 0.8 * line.size
        return other_size or not (start.islower() or not ended) or (indented and ended)
    if other_size and min(len(line.text), len(previous.text)) > 2:
        return True
    step = previous.end - line.top
    if step > 1.4 * gap:
        return True
    if step < -gap:  # a new column
        return ended and not start.islower()
    if abs(step) < 0.3 * gap:  # the same line, set apart: a cell of a table
        return False
    if (
        line.left > left + 0.8 * line.size
        and previous.left < line.left - 0.8 * line.size
        and not start.islower()
    ):
        return True
    if _LIST_START.match(line.text) and (ended or previous.right < right - 0.1 * (right - left)):
        return True
    return ended and previous.right < right - 0.12 * (right - left)


class _Words:
    """How the document itself writes words that a line end may have cut."""

    def __init__(self, pages: list[_Page]) -> None:
        self.known: Counter[str] = Counter()
        cut = any(_CUT in line.text or line.text.endswith("-") for page in pages for line in page.lines)
        if cut:
            for page in pages:
                for line in page.lines:
                    self.known.update(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", line.text.lower()))

    def join(self, before: str, after: str) -> str:
        """The two halves as one word, with the hyphen or without."""
        head = re.search(r"[^\W_]*\Z", before)
        tail = re.match(r"[^\W_]*", after)
        a = head.group().lower() if head else ""
        b = tail.group().lower() if tail else ""
        if not a or not b:
            return f"{before}-{after}"
        keep = self.known[f"{a}-{b}"] > self.known[f"{a}{b}"]
        if a in _KEPT_BEFORE or b in _KEPT_AFTER or not after[:1].islower() or a[-1:].isdigit():
            keep = True
        return f"{before}-{after}" if keep else before + after


def _joined(lines: list[str], words: _Words) -> str:
    text = ""
    for line in lines:
        if not text:
            text = line
        elif text.endswith((_CUT, "\u00ad")) or (
            text.endswith("-") and line[:1].islower() and text[-2:-1].isalpha()
        ):
            text = words.join(text[:-1], line)
        else:
            text = f"{text.rstrip()} {line.lstrip()}"
    while _CUT in text:
        before, _, after = text.partition(_CUT)
        text = words.join(before, after.lstrip())
    return text.replace("\u00ad", "")


def _write(build: Builder, lines: list[_Line], number: int, words: _Words) -> None:
    """A paragraph; one that goes on overleaf has a place on each page."""
    groups: list[list[_Line]] = []
    for line in lines:
        if groups and groups[-1][-1].page == line.page:
            groups[-1].append(line)
        else:
            groups.append([line])
    carried = ""
    for index, group in enumerate(groups):
        texts = [line.text for line in group if line.text.strip()]
        text = _joined([carried, *texts] if carried else texts, words)
        carried = ""
        if index + 1 < len(groups) and text.endswith((_CUT, "-", "\u00ad")):
            text, _, carried = text.rpartition(" ")  # the cut word goes whole to the next page
        page = group[0].page
        build.add(text, page=page, paragraph=number, joint=" " if index and texts else "\n\n")
        for line in group:
            for _, reason, hidden in line.hidden:
                build.hide(hidden, reason, page=page, paragraph=number)
    if carried:
        build.add(carried, page=groups[-1][0].page, paragraph=number, joint=" ")
