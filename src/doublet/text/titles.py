"""Titles of documents: what a document says of itself, when that says something.

Programs fill the title of a document with the name of a file, of a template or of themselves. Such a title is worse
than none, because whoever reads a list takes it for the title: `sensible` gives it up. It also repairs what old Russian
programs wrote: letters of windows-1251 that were taken for those of Western Europe.
"""

from __future__ import annotations

import re

LONGEST = 300  #: characters; what is longer is a paragraph that somebody marked as a title
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNWANTED = re.compile(
    "[\x00-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ud800-\udfff\ue000-\uf8ff\ufffe]"
)
# Names that a program gave, with the number that it put behind them: "Document1", "Слайд 1", "Без имени 2".
_NO_TITLES = re.compile(
    r"""(?:
      untitled|unknown|unknown\ title|unnamed|no\ title|not\ titled|title|document\ title|presentation\ title
    | insert\ title(?:\ here)?
    | (?:new\ |untitled\ |microsoft\ |word\ |pdf\ |html\ |test\ )*(?:document|presentation|page|file|text)
    | doc|docs|file|copy|draft|slide|sheet|layout|default|index|home|home\ page|homepage|main(?:\ page)?
    | welcome|front\ page
    | powerpoint|powerpoint\ presentation|microsoft\ (?:word|powerpoint|office|publisher)|(?:libre|open)office\S*
    | full\ page\ photo|print|scan|scanned\ document|image|picture|adobe\ \S+.*|google\ docs?|latex\ with\ \S+
    | неизвестно|неизвестный|без\ (?:имени|названия|заголовка)|безымянный|безымянная|нет\ (?:названия|заголовка)
    | название|заголовок
    | (?:заголовок|название|текст|образец)\ (?:слайда|документа|презентации|заголовка)
    | (?:новый\ |текстовый\ )*(?:документ|текст|файл)(?:\ microsoft\ (?:office\ )?word)?|новая\ (?:страница|презентация)
    | презентация|презентация\ (?:microsoft\ )?powerpoint|слайд|лист|книга|страница|стр|макет|копия|черновик
    | главная(?:\ страница)?|начало|добро\ пожаловать|скан|изображение|рисунок
    )[\s._#№()-]*\d*""",
    re.I | re.X,
)
# The first heading of a document that has no title: parts that every document has.
_NO_HEADINGS = re.compile(
    r"(?:contents|table of contents|introduction|abstract|preface|foreword|summary|overview|chapter|part|section|"
    r"appendix|references|bibliography|acknowledge?ments?|list of \w+|readme|changelog|license|"
    r"содержание|оглавление|введение|аннотация|реферат|предисловие|глава|часть|раздел|параграф|приложение|заключение|"
    r"список \w+(?: \w+)?|литература|резюме|от автора)[\s.:]*(?:[\divxlc]+\b.*|(?-i:[A-ZА-Я])\b.*|"
    r"(?:перв|втор|трет|четв[её]рт|пят|последн)\w+|one|two|three|first|second|third)?",
    re.I,
)
_PROGRAM = re.compile(
    r"\A(?:microsoft\s+(?:office\s+)?\w+|openoffice\S*|libreoffice\S*|adobe\s+\w+)\s+[-–—]\s+", re.I
)
_FILE = re.compile(
    r"(?:\S.*)?\.(?:docx?|docm|dotx?|dotm|dot|odt|ott|rtf|txt|pdf|pptx?|pps|odp|xlsx?|xls|html?|tex|dvi|ps|eps|indd|qxd|"
    r"pmd|pm\d|p65|fm|wpd|cdr|ai|tiff?|jpe?g|png|bmp|djvu?|md|xml|fb2|epub|tmp|bak)(?:\s*[\[(]\S*[\])])?",
    re.I,
)
_PATH = re.compile(r"\A(?:[A-Za-z]:[\\/]|\\\\|/\w+/|~/|file:|https?://|www\.)")
_NUMBER = re.compile(r"\A(?:pii|doi|isbn|issn|udc|удк|id|no)\b\s*[:#.]?\s*[\w./()-]*\d[\w./()-]*\Z", re.I)
_CODE = re.compile(r"\A[0-9a-f{}()-]{16,}\Z|\A[\w-]*\d[\w-]*\Z", re.I)
_WESTERN = re.compile("[À-ÿ]")
_CYRILLIC = re.compile("[А-Яа-яЁё]")


def sensible(title: str, *, heading: bool = False) -> str:
    """*title* in one line, or nothing when it is no title. A *heading* of the text must also be no part of one."""
    title = " ".join(_UNWANTED.sub(" ", title).split())
    title = _repaired(_PROGRAM.sub("", title)).strip(" .·•|*_#")
    if not _WORD.search(title) or len(title) > LONGEST:
        return ""
    if title.count("?") + title.count("\ufffd") > len(title) / 4:
        return ""  # letters that an encoding did not have
    for no in (_NO_TITLES, _FILE, *((_NO_HEADINGS,) if heading else ())):
        if no.fullmatch(title):
            return ""
    if _PATH.match(title) or _NUMBER.match(title) or _CODE.match(title):
        return ""
    return title


def _repaired(title: str) -> str:
    """Ìåòîäû àíàëèçà → Методы анализа."""
    western = len(_WESTERN.findall(title))
    if western < 4 or western * 10 < 6 * sum(map(str.isalpha, title)):
        return title
    try:
        cyrillic = title.encode("cp1252").decode("cp1251")
    except UnicodeError:
        return title
    return cyrillic if len(_CYRILLIC.findall(cyrillic)) >= western * 0.9 else title
