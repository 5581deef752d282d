"""The numbers that a text says, in digits or in Russian or English words: 12 000, 12 тысяч, twelve thousand, двое.

Each is told with its place and in one spelling, so that the same number is the same string. Digits that belong to a
name (Бе-200, М-5, A321) are no number. One (один, one) is mostly none either: it is left out unless a word follows that
it counts (one million). A number that a word marks as rounded (свыше трёхсот, nearly 50, двадцать с лишним) keeps this
mark, and agrees with those that it may be rounded from. So do tens, dozens and halves (шесть десятков, half a million),
which are always rounded. Linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from functools import cached_property, lru_cache
from typing import NamedTuple

_DIGITS = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,:]\d+)*"
_PIECE = re.compile(rf"(?P<digits>{_DIGITS})|(?P<word>[^\W\d_]+)")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:[.,]\d{3})+")
_APART = re.compile(r"[ \t\r\n\u00a0\u202f-]*")  # what may lie between the words of one number
_LONGEST = 15  #: digits; what is longer is the number of an account, and no word multiplies it


class Number(NamedTuple):
    start: int
    end: int
    value: str
    mark: str = ""  #: of a number that stands for others: ABOVE (more than), BELOW (nearly) or ABOUT


ABOVE, BELOW, ABOUT = "+", "-", "~"
_ROUNDINGS = ((ABOVE, ROUND_FLOOR), (BELOW, ROUND_CEILING), (ABOUT, ROUND_HALF_UP))
#: Digits that a rounded number may have. With half or twice as many no pair of news in matches/story.py changes sides.
ROUND_DIGITS = 3


class Said:
    """The numbers of one text, to be asked whether they agree with a number of another."""

    def __init__(self, some: Iterable[Number]) -> None:
        self._all = list(some)
        self._values = {number.value for number in self._all}
        self._marked = {number.mark + number.value for number in self._all if number.mark}

    @cached_property
    def _rounded(self) -> set[str]:
        return {key for value in self._values for key in _roundings(value)}

    def agrees(self, number: Number) -> str | None:
        """The same value; or the one that is marked here and may be rounded from it; or its own, where it is marked and
        may be rounded from one that is here. None: there is no such number."""
        if number.value in self._values or (number.mark and number.mark + number.value in self._rounded):
            return number.value
        if self._marked:
            return next((key[1:] for key in _roundings(number.value) if key in self._marked), None)
        return None


def _words() -> dict[str, Decimal]:
    out: dict[str, Decimal] = {}

    def add(value: int | Decimal, words: str) -> None:
        out.update(dict.fromkeys(words.split(), Decimal(value)))

    english = (
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen"
    )
    for value, word in enumerate(english.split(), 2):
        add(value, word)
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2):
        add(10 * value, word)
    for value, word in enumerate("third fourth fifth sixth seventh eighth ninth tenth".split(), 3):
        add(value, word)
    add(1, "one один одна одну одного одной")
    add(2, "два две двух двум двумя двое двоих двоим двоими")
    add(
        3,
        "три трех трем тремя трое троих троим троими третий третьего третьему третьем третья третьей третью",
    )
    add(4, "четыре четырех четырем четырьмя четверо четверых четверым четверыми")
    add(8, "восемь восьми восемью восьмеро восьмерых восьмерым")
    for value, stem in ((5, "пят"), (6, "шест"), (7, "сем"), (9, "девят"), (10, "десят")):
        add(value, " ".join(stem + end for end in ("ь", "и", "еро", "ерых", "ерым")))
    add(5, "пятью")
    add(6, "шестью")
    for value, stem in (
        (4, "четверт"),
        (5, "пят"),
        (6, "шест"),
        (7, "седьм"),
        (8, "восьм"),
        (9, "девят"),
        (10, "десят"),
    ):
        add(value, " ".join(stem + end for end in ("ого", "ому", "ом", "ая", "ую", "ой", "ый")))
    teens = "один две три четыр пят шест сем восем девят"
    for value, stem in enumerate(teens.split(), 11):
        add(value, " ".join(f"{stem}надцат{end}" for end in ("ь", "и", "ью")))
    for value, stem in ((20, "двадцат"), (30, "тридцат")):
        add(value, f"{stem}ь {stem}и {stem}ью")
    add(40, "сорок сорока")
    for value, stem in ((5, "пят"), (6, "шест"), (7, "сем")):
        add(10 * value, f"{stem}ьдесят {stem}идесяти")
        add(100 * value, f"{stem}ьсот {stem}исот")
    add(80, "восемьдесят восьмидесяти")
    add(90, "девяносто девяноста")
    add(100, "сто ста")
    add(200, "двести двухсот двумстам двумястами")
    add(300, "триста трехсот тремстам тремястами")
    add(400, "четыреста четырехсот четыремстам четырьмястами")
    add(Decimal("1.5"), "полтора полторы полутора")
    add(800, "восемьсот восьмисот")
    add(900, "девятьсот девятисот")
    add(6, "полдюжины")
    add(50, "полсотни")
    add(150, "полтораста")
    add(500, "полтысячи")
    add(500_000, "полмиллиона")
    add(500_000_000, "полмиллиарда")
    return out


_WORDS = _words()
#: One of what only rounded numbers are told in. Several of them (шесть десятков, two dozen) are rounded as well.
_ROUND = frozenset(
    "dozen десяток десятка десятке дюжина дюжину дюжине сотня сотню "
    "полдюжины полсотни полтораста полтысячи полмиллиона полмиллиарда".split()
)
_MANY = frozenset("hundreds dozens thousands millions billions trillions дюжины дюжин сотен тысяч".split())
_BEGINS = {word[:3] for word in _WORDS}
_COUNTED = re.compile(
    r"(двадцати|тридцати|сорока|(?:пят|шест|сем|восьм)идесяти|девяноста)?([а-я]*?)"
    r"(?:летн|месячн|дневн|недельн|часов|этаж[нк]|тонн|метров|процентн|местн)[а-я]{1,4}"
)
_HALF = Decimal("0.5")
_AND = ("and", "с")
_AND_HALF = re.compile(r"(?:and a half|с половиной)\b", re.I)
_HALF_A = re.compile(r"half a(?= (?:dozen|hundred|thousand|million|billion|trillion)\b)", re.I)
_MORE = ("с", "и", "or", "odd")
_AND_MORE = re.compile(r"(?:с лишним|с небольшим|и более|or more|odd)\b", re.I)
_ONE = 1
_MOST = 10**13
_SCALES = (
    (re.compile(r"hundreds?|сотн(?:я|и|ю|ей|ям|ями|ях)|сотен"), 100),
    (re.compile(r"dozens?|дюжин\w?"), 12),
    (re.compile(r"десят(?:ок|ка|ков|ками|кам|ках|ке|ком|ку)"), 10),
    (re.compile(r"thousands?|тыс|тысяч\w{0,3}"), 1000),
    (re.compile(r"millions?|mln|млн|миллион\w{0,3}"), 10**6),
    (re.compile(r"billions?|bn|млрд|миллиард\w{0,3}"), 10**9),
    (re.compile(r"trillions?|трлн|триллион\w{0,3}"), 10**12),
)


def numbers(text: str) -> Iterator[Number]:
    """All numbers of *text*, in order."""
    start = end = -1
    total = part = Decimal(0)  # what is finished by a scale, and what is still to be multiplied
    room = 0  #: a further word has to be smaller to belong to the same number
    above = _MOST  #: and a further scale than this
    words = 0
    after = ""  #: the mark that the words of the number make

    def done() -> Iterator[Number]:
        if start >= 0 and not (words == 1 and total + part == _ONE):
            yield Number(start, end, _plain(total + part), _mark(text, start) or after)

    for piece in _PIECE.finditer(text):
        if piece.start() < end:
            continue  # it was read with what is before
        if start >= 0 and not _APART.fullmatch(text, end, piece.start()):
            yield from done()
            start = -1
        if piece["digits"]:
            if start >= 0:
                yield from done()
                start = -1
            if _of_a_name(text, piece.start()):
                continue
            value = _read(piece["digits"])
            if isinstance(value, str):
                yield Number(piece.start(), piece.end(), value)
                continue
            start, end, total, part, room, words = piece.start(), piece.end(), Decimal(0), value, 0, 0
            above, after = _MOST, ""
            continue
        word = piece["word"].lower().replace("ё", "е")
        scale = _scale(word) if start >= 0 else 0
        # Scales go down: two million three hundred thousand. After anything else another number begins.
        # Of dozens there may be hundreds, too, but not "a hundred and two dozens".
        if not part or (part >= 100 and (scale == 100 or (scale < 100 and part % 100))) or scale >= above:
            scale = 0
        if scale:
            if scale <= 100:
                part, room = part * scale, 100 if scale == 100 else 0
            else:
                total, part, above, room = total + part * scale, Decimal(0), scale, scale
            end, words = piece.end(), 2
            if scale < 100 or word.startswith("сот"):
                after = after or ABOUT
        elif word in _WORDS:
            value = _WORDS[word]
            if start >= 0 and value < room:
                part, end, words = part + value, piece.end(), 2
            else:
                if start >= 0:
                    yield from done()
                start, end, total, part, words = piece.start(), piece.end(), Decimal(0), value, 1
                above, after = _MOST, ABOUT if word in _ROUND else ""
            room = _room(value)
        elif part and start >= 0 and word in _AND and (half := _AND_HALF.match(text, piece.start())):
            part, end, words = part + _HALF, half.end(), 2
        elif start >= 0 and word in _MORE and (more := _AND_MORE.match(text, piece.start())):
            end, words, after = more.end(), 2, ABOVE
        elif word == "and" and start >= 0 and room == 100:
            end = piece.end()
        else:
            if start >= 0:
                yield from done()
                start = -1
            if word[:3] in _BEGINS and (counted := _COUNTED.fullmatch(word)):
                said = [part for part in counted.groups() if part]
                if said and all(part in _WORDS for part in said):
                    yield Number(
                        piece.start(), piece.end(), _plain(sum(map(_WORDS.__getitem__, said), Decimal(0)))
                    )
                    continue
            if word == "half" and (half := _HALF_A.match(text, piece.start())):
                start, end, total, part, room, words = piece.start(), half.end(), Decimal(0), _HALF, 0, 2
                above, after = _MOST, ABOUT
                continue
            # A scale alone is a number where it is marked: over a thousand, почти миллион.
            scale = _scale(word)
            after = ABOUT if word in _ROUND else ""
            if scale and word not in _MANY and (after or _mark(text, piece.start())):
                start, end, words = piece.start(), piece.end(), 2
                total, part = (Decimal(scale), Decimal(0)) if scale >= 1000 else (Decimal(0), Decimal(scale))
                above, room = (scale, scale) if scale >= 1000 else (_MOST, 100)
    yield from done()


_MARKS = re.compile(
    r"(?<!\w)(?:"
    r"(?P<above>более|больше|свыше|выше|не (?:менее|меньше)|превы[сш]\w+|more than|over|above|at least|exceed\w*"
    r"|(?:no|not) (?:less|fewer) than)"
    r"|(?P<below>почти|без малого|менее|меньше|не (?:более|больше)|nearly|almost|close to|under|(?:less|fewer) than"
    r"|(?:no|not) more than|at most)"
    r"|(?P<about>около|примерно|порядка|приблизительно|about|around|some|roughly|approximately|~))"
    r"(?:\s+чем)?(?:\s+(?:на|в|до|by|to|an?|the))?\s?[$€£]?\Z",
    re.I,
)
_MARK = {"above": ABOVE, "below": BELOW, "about": ABOUT}
_BEFORE = 32  #: characters before a number in which its mark is looked for


def _mark(text: str, start: int) -> str:
    found = _MARKS.search(text, max(0, start - _BEFORE), start)
    return _MARK[found.lastgroup or ""] if found else ""


@lru_cache(maxsize=4096)
def _roundings(value: str) -> tuple[str, ...]:
    """What it may be rounded to, with the mark that says how: the more digits, the earlier."""
    digits = value.replace(".", "", 1).strip("0")
    if not digits.isdecimal() or len(digits) > _LONGEST:
        return ()
    exact = Decimal(value)
    out = []
    for kept in range(min(len(digits) - 1, ROUND_DIGITS), 0, -1):
        unit = Decimal(1).scaleb(exact.adjusted() - kept + 1)
        out += [mark + _plain((exact / unit).to_integral_value(way) * unit) for mark, way in _ROUNDINGS]
    return tuple(out)


def _room(value: Decimal) -> int:
    """How small a word has to be that goes on after this one: twenty nine, сто двадцать девять."""
    if value >= 100:
        return 100
    return 10 if value >= 20 else 0


@lru_cache(maxsize=4096)
def _scale(word: str) -> int:
    return next((value for pattern, value in _SCALES if pattern.fullmatch(word)), 0)


def _of_a_name(text: str, place: int) -> bool:
    """Бе-200, A321: letters right before the digits, or with nothing but a hyphen between."""
    before = text[max(0, place - 2) : place]
    return bool(re.search(r"[^\W\d_]-?\Z|_\Z", before))


def _read(digits: str) -> Decimal | str:
    """3:1 and long numbers stay as they are."""
    joined = re.sub(r"\s", "", digits)
    if _THOUSANDS.fullmatch(joined):
        joined = re.sub("[.,]", "", joined)
    joined = joined.replace(",", ".")
    if ":" in joined or joined.count(".") > 1 or len(joined) > _LONGEST:
        return joined
    return Decimal(joined)


def _plain(value: Decimal) -> str:
    return format(value.normalize(), "f")
