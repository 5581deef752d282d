"""The words of the report of a check in English and Russian, with the plurals and numbers of each."""

from __future__ import annotations

import re

from doublet.errors import InvalidParameter
from doublet.reports.wording import DISGUISES, FRAGMENT_KINDS, LEFT_OUT, count, percent

LANGUAGES = ("en", "ru")

_EN = {
    "title": "Check of {name}",
    "document": "the document",
    "skip": "To the document",
    "share": "of {words} stand in other documents",
    "none": "No source was found: nothing of the text stands in the documents that were looked at.",
    "checked": "Checked against {documents}{where}.",
    "in": " in {libraries}",
    "first": "What to look at first",
    "first_source": "Source {number}, {title}: {share} of the text",
    "first_passage": "The longest passage: {words}, {kind}",
    "first_disguise": "Signs of disguise: {what}. The text was compared with them undone.",
    "first_left": "Signs of disguise: {what}. This was not undone: look at the text.",
    "first_nothing": "Nothing needs a look.",
    "failed": "What failed",
    "failed_count": "{documents} could not be used and were not looked at",
    "failed_none": "Nothing failed: all documents were looked at.",
    "more": "and {number} more",
    "not_counted": "Not counted",
    "not_counted_row": "{kind}: {words}; with them the share would be {share}",
    "not_counted_none": "{kind}: none found",
    "not_counted_in": " (in {documents})",
    "not_counted_all": "With all of these counted: {share}",
    "not_counted_tag": "not counted: {reason}",
    "settings": "Settings of the check",
    "notes": "Notes",
    "sources": "Sources",
    "source": "Source {number}",
    "added": "{share} not seen in the sources above",
    "added_none": "nothing that the sources above do not have",
    "like": "resemblance {resemblance}, containment {containment}",
    "library": "library {library}",
    "kinds": "Show kinds",
    "legend": "Kinds of passages",
    "show_source": "Show the passages of source {number}",
    "text": "The document",
    "passages": "All passages, side by side",
    "possible": "Perhaps reworded, not counted",
    "possible_only": "No source",
    "first_possible": "Perhaps reworded, in no share: {places}",
    "possible_about": "Short places that share telling words with a source. They may be chance and are in no share.",
    "passage_here": "In the document",
    "passage_there": "In the source",
    "passage": "Source {number}, {kind}, {words}",
    "equal": "{share} of the words are equal",
    "also": "also in {sources}",
    "beside": "Text of the source",
    "close": "Close",
    "next": "Next passage",
    "previous": "Previous passage",
    "keys": "n and p or the arrows: next and previous; Enter: show the source; Esc: close",
    "nojs": "A click on a passage shows its source. Filters and keys need JavaScript; everything else works without.",
    "no_text": "The text of this source is not in the report.",
    "gap": "… {characters} not shown …",
    "filtered": "{shown} of {all} passages shown",
    "more_passages": "{number} more below",
    "made": "Made by Doublet. This page is one file and loads nothing.",
    "unknown": "the text has no words: there is nothing to check",
}
_RU = {
    "title": "Проверка: {name}",
    "document": "документ",
    "skip": "К документу",
    "share": "из {words} есть в других документах",
    "none": "Источников не найдено: в просмотренных документах ничего из этого текста нет.",
    "checked": "Просмотрено: {documents}{where}.",
    "in": ", библиотеки: {libraries}",
    "first": "На что посмотреть сначала",
    "first_source": "Источник {number}, {title}: {share} текста",
    "first_passage": "Самый длинный фрагмент: {words}, {kind}",
    "first_disguise": "Признаки маскировки: {what}. При сравнении она снята.",
    "first_left": "Признаки маскировки: {what}. Она не снята: посмотрите сам текст.",
    "first_nothing": "Смотреть не на что.",
    "failed": "Что не удалось",
    "failed_count": "Не удалось использовать и не просмотрено: {documents}",
    "failed_none": "Сбоев нет: просмотрены все документы.",
    "more": "и ещё {number}",
    "not_counted": "Не учтено",
    "not_counted_row": "{kind}: {words}; вместе с этим доля была бы {share}",
    "not_counted_none": "{kind}: не найдено",
    "not_counted_in": " (в {documents})",
    "not_counted_all": "Если учесть всё это: {share}",
    "not_counted_tag": "не учтено: {reason}",
    "settings": "Настройки проверки",
    "notes": "Примечания",
    "sources": "Источники",
    "source": "Источник {number}",
    "added": "{share} нет в источниках выше",
    "added_none": "ничего, чего нет в источниках выше",
    "like": "сходство {resemblance}, вложенность {containment}",
    "library": "библиотека {library}",
    "kinds": "Показывать виды",
    "legend": "Виды фрагментов",
    "show_source": "Показывать фрагменты источника {number}",
    "text": "Документ",
    "passages": "Все фрагменты рядом",
    "possible": "Возможно, пересказ; не учтено",
    "possible_only": "Не источник",
    "first_possible": "Возможно, пересказ, в доли не входит: {places}",
    "possible_about": "Короткие места с приметными словами источника. Возможна случайность; в доли они не входят.",
    "passage_here": "В документе",
    "passage_there": "В источнике",
    "passage": "Источник {number}, {kind}, {words}",
    "equal": "совпадает {share} слов",
    "also": "есть и здесь: {sources}",
    "beside": "Текст источника",
    "close": "Закрыть",
    "next": "Следующий фрагмент",
    "previous": "Предыдущий фрагмент",
    "keys": "n и p или стрелки: следующий и предыдущий; Enter: показать источник; Esc: закрыть",
    "nojs": "Щелчок по фрагменту показывает источник. Фильтрам и клавишам нужен JavaScript; прочее работает и так.",
    "no_text": "Текста этого источника в отчёте нет.",
    "gap": "… не показано: {characters} …",
    "filtered": "Показано фрагментов: {shown} из {all}",
    "more_passages": "ещё {number} ниже",
    "made": "Отчёт сделан программой Doublet. Эта страница состоит из одного файла и ничего не загружает.",
    "unknown": "в тексте нет слов: проверять нечего",
}
_RU_KINDS = {
    "verbatim": "дословно",
    "edited": "с правкой",
    "reworded": "пересказ",
    "moved": "переставлено",
}
_RU_LEFT_OUT = {
    "quotations": "цитаты",
    "bibliography": "список литературы",
    "common": "обороты, общие для библиотеки",
    "own": "собственные ранние версии",
}
_DISGUISES = {
    "en": DISGUISES,
    "ru": {
        "lookalike": "похожие буквы другого алфавита",
        "invisible": "невидимые знаки внутри слов",
        "spaced": "слова вразрядку",
        "marks": "значки над буквами",
        "styled": "фигурные буквы",
        "digits": "цифры вместо букв",
        "turned": "слова, написанные задом наперёд за знаком направления письма",
        "hidden": "текст, которого читатель не видит",
    },
}
_NOUNS = {
    "en": {
        "word": ("word", "words", "words"),
        "document": ("document", "documents", "documents"),
        "character": ("character", "characters", "characters"),
        "place": ("place", "places", "places"),
    },
    "ru": {
        "word": ("слово", "слова", "слов"),
        "document": ("документ", "документа", "документов"),
        "character": ("знак", "знака", "знаков"),
        "place": ("место", "места", "мест"),
    },
}
#: what the checks say in English, for Russian readers; what is not here stays as it is
_RU_REASONS = (
    (re.compile(r"block quotation"), "цитата отдельным абзацем"),
    (re.compile(r"quotation between (\S+) and (\S+)"), r"цитата между \1 и \2"),
    (re.compile(r"list of references under “(.*)”", re.DOTALL), r"список литературы под заголовком «\1»"),
    (re.compile(r"(\d+) references in a row"), r"ссылки подряд: \1"),
    (re.compile(r"wording of more than (\d+) documents"), r"оборот, который есть в более чем \1 документах"),
    (re.compile(r"wording of at least (\d+) documents"), r"оборот, документов с ним не меньше \1"),
    (re.compile(r"stands in an own earlier version"), "есть в собственной ранней версии"),
    (re.compile(r"the text has no words: there is nothing to check"), _RU["unknown"]),
    (
        re.compile(r"there are no documents to check against: a share of 0 says nothing"),
        "проверять не по чему, документов нет: доля 0 ни о чём не говорит",
    ),
)


class Words:
    """The wording of one language: ``words("share", words="3 words")``."""

    def __init__(self, language: str) -> None:
        if language not in LANGUAGES:
            raise InvalidParameter(
                f"there is no report in {language!r}: the languages are {', '.join(LANGUAGES)}",
                name="language",
                value=language,
            )
        self.language = language
        self._table = _EN if language == "en" else _RU

    def __call__(self, key: str, **values: object) -> str:
        return self._table[key].format(**values) if values else self._table[key]

    def count(self, number: int, noun: str) -> str:
        """ "2 words", "2 слова", "5 слов"."""
        one, few, many = _NOUNS[self.language][noun]
        if self.language == "en":
            return count(number, one, many)
        tens, last = number % 100, number % 10
        form = many
        if not 11 <= tens <= 14:
            form = one if last == 1 else few if 2 <= last <= 4 else many
        return f"{number:,}".replace(",", "\u00a0") + f"\u00a0{form}"

    def words_of(self, number: int) -> str:
        """ "of 100 words" without its preposition: Russian declines it."""
        if self.language == "en":
            return self.count(number, "word")
        form = "слова" if number % 10 == 1 and number % 100 != 11 else "слов"
        return f"{number:,}".replace(",", "\u00a0") + f"\u00a0{form}"

    def percent(self, share: float) -> str:
        if self.language == "en":
            return percent(share)
        return percent(share).replace("under ", "меньше ").replace(".", ",").replace("%", "\u00a0%")

    def kind(self, kind: str) -> str:
        return (FRAGMENT_KINDS if self.language == "en" else _RU_KINDS).get(kind, kind)

    def left_out(self, kind: str) -> str:
        return (LEFT_OUT if self.language == "en" else _RU_LEFT_OUT).get(kind, kind)

    def disguise(self, kind: str) -> str:
        return _DISGUISES[self.language].get(kind, kind)

    def reason(self, text: str) -> str:
        if self.language == "ru":
            for pattern, told in _RU_REASONS:
                found = pattern.fullmatch(text)
                if found:
                    return found.expand(told)
        return text
