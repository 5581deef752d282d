"""Text → sentences (T7), for Russian and English: abbreviations, initials, numbers, quotations, dialogue.

A sentence never goes over the end of a paragraph (doublet.text.paragraphs), so blank lines, headings and list
items end it; a line that was merely wrapped does not. Inside a paragraph every full stop, question or
exclamation mark and ellipsis is judged by the word before it and by what comes after it. Spans are half-open
in the original text, sorted and disjoint; together they hold every character that is not blank. Linear time.
"""

from __future__ import annotations

import re

from doublet.model import Span
from doublet.text.paragraphs import paragraphs

_MARK = re.compile(r"[.!?…‼⁇⁈⁉。！？｡]+(?:[»”’\"')\]}]|\[[0-9]{1,3}\]|[⁰¹²³⁴-⁹])*")
_ALWAYS = frozenset("。！？｡")  # these need no blank after them
_LOOK_BACK = 24
_BEFORE = re.compile(
    r"(?:(?<!\w)([^\W\d_])\.[ \t\u00a0\u202f]?|(?<![\w=/&@#]))([^\W\d_](?:[^\W_]|[-’'](?=\w))*)$"
)
_AFTER = re.compile(r"[\s«„“”\"'‘(\[{*>_—–-]*")
_WORD = re.compile(r"[^\W_]+")
_NOT_BLANK = re.compile(r"\S")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_NUMBERING = re.compile(r"[\s(\[«\"]*(?:[0-9]{1,3}(?:\.[0-9]{1,3})*|[IVXLCІХС]{1,6}|[^\W\d_])$")
_CAPTION = re.compile(
    r"(?:рис|рисунок|табл|таблица|глава|гл|раздел|часть|статья|пункт|схема|пример|приложение|листинг|формула|том|"
    r"fig|figure|table|chapter|section|part|appendix|listing|example|step|шаг|этап|лекция|тема|урок|lecture|unit)"
    r"\.?\s*(?:№\s*)?(?:[0-9]{1,3}(?:\.[0-9]{1,3})*|[IVXLCІХС]{1,6}|[^\W\d_])$",
    re.IGNORECASE,
)

# «В 1812 г. Наполеон …»: when it was is not yet a sentence.
_WHEN = re.compile(
    r"\W*(?:(?:лишь|ещё|еще|уже|только|именно|но|а|и)\s+)?"
    r"(?:(?:в|во|к|с|до|после|около|на|летом|зимой|весной|осенью|начиная\s+с)\s+(?:[а-яё]+\s+){0,2}|[0-9]{1,2}\s+[а-яё]+\s+)"
    r"(?:[0-9]{1,2}\s+[а-яё]+\s+)?"
    r"(?:[0-9]{3,4}(?:\s?[–—-]\s?[0-9]{2,4})?|[IVXІХ]+(?:\s?[–—-]\s?[IVXІХ]+)?)\s*(?:гг?|вв?)",
    re.IGNORECASE,
)
_WHEN_LENGTH = 60


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# After these something always follows: a name, a title, an example.
_NEVER_LAST = _words(
    """
    адм акад алл англ бульв букв вост вып ген гл гор гос гр греч д-р дер дир доц др-греч зав зам зап
    засл изд илл им инж исп итал канд кап каф кн корп лат лейт макс маш мин-во мл наб назв напр нач нем
    оз ок орг отв отд пер пл полк пос пр-т преп прим прол проф ред респ рис род рр рук рус с-т св сев см
    собр соч сост соц ср ст стр табл тел тов тт указ ул ум урож фр франц цит чл член-корр шт-кв экв юж
    яз г-н г-жа гр-н capt cf col cmdr dr drs e.g ed eds esp fr gen gov hon i.e lt maj messrs mlle mme mr
    mrs ms mt pres prof rep rev sen sgt st viz vs
    """
)
# Only before a number: «No. 5», but "He said no. Then he left."
_BEFORE_NUMBER = _words(
    """
    no nos p pp vol vols ch chap sec art fig figs eq eqs table pt para jan feb mar apr jun jul aug sep
    sept oct nov dec п пп абз разд ч чч с сс т кн д кв корп оф каб янв фев февр мар апр авг сен сент окт
    ноя нояб дек № ст эт
    """
)
# These may end a sentence or not; with a capital letter after them they do.
_MAY_BE_LAST = _words(
    """
    гг вв др пр проч руб коп тыс млн млрд трлн чел экз сек час мин шт долл ед etc approx
    """
)
# The same, but names follow them as well: only a word that begins sentences tells.
_NAME_MAY_FOLLOW = _words("al bros co corp inc jr ltd sr ltda gmbh plc dept univ")
_SINGLE = frozenset("вгдклмопрстчф")  # г. Москва, р. Волга, о. Сахалин; but «как я.», "the value of x."
_PAIRS_NEVER_LAST = _words(
    "те тк тн то тч тж тс ео ср eg ie cf мн эн пн фн юн хн бн гн вн"
)  # т. е., т. к., т. ч., к. т. н.
_PAIRS_MAY_BE_LAST = _words("тд тп нэ тд ам рм am pm bc ad вч")

_STARTERS = _words(
    """
    а без в во вот все всё вы да для до его ее её если же за здесь и из или их к как когда который кроме
    кто куда ли мы на не несмотря нет ни но о об однако он она они оно от очень перед по под позже пока
    после потом поэтому при про с сегодня сейчас со так также такая такие такой такое там тем теперь то
    тогда только тот тут ты у уже хотя чего чем через что чтобы эта эти это этот я a about after all
    also although an and another are as at because before being both but by can do during each even
    every few for from had has have he her here his how however i if in instead is it its many most my
    no not now of on once one only or our perhaps she since so some such than that the their then there
    therefore these they this those though through thus to today under until was we were what when where
    whether which while who why with yet you your
    """
)


# Letters of two alphabets that look alike: what is swapped must not hide an abbreviation («cм.» with a Latin c).
_LATIN = "acekopxyABCEHKMOPTXYISJisj"
_CYRILLIC = "асекорхуАВСЕНКМОРТХУІЅЈіѕј"
_TO_CYRILLIC = str.maketrans(_LATIN, _CYRILLIC)
_TO_LATIN = str.maketrans(_CYRILLIC, _LATIN)
_ONLY_CYRILLIC = re.compile("[бвгджзийлмнптфцчшщъыьэюяёБГДЖЗИЙЛПФЦЧШЩЪЫЬЭЮЯЁ]")
_ONLY_LATIN = re.compile("[bdfglmnqrtuvwzDFGLNQRUVWZ]")
_WITH_LATIN = re.compile(r"(?<![^\W\d_])[^\W\d_]*[A-Za-z][^\W\d_]*")
_WITH_CYRILLIC = re.compile(r"(?<![^\W\d_])[^\W\d_]*[\u0400-\u04ff][^\W\d_]*")


def sentences(text: str) -> list[Span]:
    """Sentences of *text*; an empty or blank text has none. Without any mark each paragraph is one."""
    out: list[Span] = []
    for paragraph in paragraphs(text):
        if text.isascii():
            _split(text, paragraph, out)
            continue
        found: list[Span] = []
        plain = _without_twins(text[paragraph.start : paragraph.end])
        _split(plain, Span(0, len(plain)), found)
        out += [Span(span.start + paragraph.start, span.end + paragraph.start) for span in found]
    return out


def _without_twins(paragraph: str) -> str:
    """The same paragraph, every character in its place, with swapped letters as the words around them want them."""
    if _ONLY_CYRILLIC.search(paragraph):
        return _WITH_LATIN.sub(lambda word: _swapped(word[0], _TO_CYRILLIC, _ONLY_LATIN), paragraph)
    if _ONLY_LATIN.search(paragraph):
        return _WITH_CYRILLIC.sub(lambda word: _swapped(word[0], _TO_LATIN, _ONLY_CYRILLIC), paragraph)
    return paragraph


def _swapped(word: str, letters: dict[int, int], other: re.Pattern[str]) -> str:
    """*word* in the other alphabet, unless a letter of it belongs to its own alone."""
    return word if other.search(word) else word.translate(letters)


def _split(text: str, paragraph: Span, out: list[Span]) -> None:
    start, stop = paragraph
    has_word = False
    looked = start
    caseless: bool | None = None
    for mark in _MARK.finditer(text, start, stop):
        has_word = has_word or _LETTER_OR_DIGIT.search(text, looked, mark.start()) is not None
        looked = mark.end()
        if not has_word or mark.end() == stop:
            continue
        after = _AFTER.match(text, mark.end(), stop)
        next_at = after.end() if after else mark.end()
        next_char = text[next_at : next_at + 1] if next_at < stop else ""
        if next_char.islower():
            if caseless is None:
                body = text[paragraph.start : stop]
                caseless = body == body.lower()
            if not caseless:
                continue
        if _ends(text, start, mark, next_at, stop):
            out.append(Span(start, mark.end()))
            begin = _NOT_BLANK.search(text, mark.end(), stop)
            if begin is None:
                return
            start = looked = begin.start()
            has_word = False
    out.append(Span(start, stop))


def _ends(text: str, start: int, mark: re.Match[str], next_at: int, stop: int) -> bool:
    """Whether the sentence that began at *start* ends with *mark*, given that no small letter follows."""
    at, end = mark.span()
    signs = mark[0].rstrip("»”’\"')]}⁰¹²³⁴⁵⁶⁷⁸⁹")
    if mark[0][0] in _ALWAYS:
        return True
    next_char = text[next_at : next_at + 1] if next_at < stop else ""
    word_after = _WORD.match(text, next_at, min(stop, next_at + _LOOK_BACK))
    if not text[end].isspace() and not _lacks_blank(text, at, end):
        return False
    if next_char in ".!?…" and next_char:
        return False  # ". . ."
    if next_char and next_char in ",;:":
        return False
    if text[at - 1 : at] in ("(", "[") and mark[0][-1:] in (")", "]"):
        return False  # (!), (?), [...]
    if signs[:1] in "!?‼⁇⁈⁉":
        return not (text[at - 1 : at].isdigit() and not next_char.isalnum())  # 5! = 120
    if len(signs) > 1 or signs == "…":
        return not next_char.isdigit()
    if _is_numbering(text, start, at) or _is_when(text, start, at):
        return False
    before = _BEFORE.search(text[max(start, at - _LOOK_BACK) : at])
    if before is None:
        return True
    starter = (
        word_after is not None
        and word_after[0].lower() in _STARTERS
        and text[word_after.end() : word_after.end() + 1] != "."
    )
    return _word_ends(text, at, before, next_char, starter)


def _lacks_blank(text: str, at: int, end: int) -> bool:
    """«конец.Начало»: a Russian sentence whose blank was forgotten; not «config.Name», not «г.Москва»."""
    two_before, two_after = text[max(0, at - 2) : at], text[end : end + 2]
    return (
        len(two_before) == len(two_after) == 2
        and all("а" <= c <= "я" or c == "ё" for c in two_before.lower())
        and two_before[1].islower()
        and "А" <= two_after[0] <= "Я"
        and ("а" <= two_after[1] <= "я" or two_after[1] == " ")
    )


def _is_numbering(text: str, start: int, at: int) -> bool:
    """«1.», «IV.», «б.» at the beginning, or «Рис. 3.»: the sentence has not begun yet."""
    if at - start > _LOOK_BACK:
        return False
    head = text[start:at]
    return _NUMBERING.fullmatch(head) is not None or _CAPTION.fullmatch(head) is not None


def _is_when(text: str, start: int, at: int) -> bool:
    """«В 1812 г.», «К концу XIX в.» and nothing else: the sentence has only begun."""
    return (
        text[at - 1] in "гв" and at - start <= _WHEN_LENGTH and _WHEN.fullmatch(text, start, at) is not None
    )


def _word_ends(text: str, at: int, before: re.Match[str], next_char: str, starter: bool) -> bool:
    """Whether a full stop after the word of *before* ends the sentence."""
    word, letter = before[2], before[1]
    low = word.lower()
    goes_on = next_char.isdigit() or next_char.islower()
    if len(word) == 1:
        if letter is not None and letter.islower() and word.islower():
            pair = letter + word
            may_end = pair not in _PAIRS_NEVER_LAST and (pair in _PAIRS_MAY_BE_LAST or starter)
            return may_end and not goes_on
        if word.islower():
            may_end = word not in _SINGLE or _number_stands_before(text, at - 1)
            return may_end and not goes_on
        return starter or text[at - 2 : at - 1] == "°"  # an initial, the last letter of U.S., or degrees
    if (low == "см" and _number_stands_before(text, at - 2)) or (
        low == "ст" and text[max(0, at - 7) : at - 2].endswith("рт. ")
    ):
        return not goes_on  # units, not «смотри» and «станция»
    if low in _NEVER_LAST:
        return False
    if low in _BEFORE_NUMBER and (next_char.isdigit() or next_char == "№"):
        return False
    if low in _MAY_BE_LAST:
        return not goes_on
    if low in _NAME_MAY_FOLLOW:
        return starter
    return True


def _number_stands_before(text: str, at: int) -> bool:
    """«1990 г.», «XIX в.», «5 м.»"""
    head = text[max(0, at - 8) : at].rstrip()
    return bool(head) and (head[-1].isdigit() or head[-1] in "IVXLCМХІ%")
