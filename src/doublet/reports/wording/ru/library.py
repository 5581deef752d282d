"""Что говорит `doublet library`, по-русски."""

from __future__ import annotations

MESSAGES: dict[str, str] = {
    "library_renamed": "библиотека {name} теперь называется {new}",
    "library_in_queue": "с библиотекой {name} работает задание {job} очереди: дождитесь его или остановите командой `doublet queue cancel {job}`",
    "library_removed_documents": "из {name} {documents:удалён|удалены|удалено} {documents:document}",
    "library_removed_whole": "библиотека {name} удалена, в ней было {documents:document}",
    "library_removed_source": "источник {address} забыт, из {name} {documents:удалён|удалены|удалено} {documents:document}",
    "library_source_forgotten": "{name} больше не обновляется из {address}",
    "library_nothing_removed": "ничего не удалено",
    "library_has_no_document": "в библиотеке {name} нет документа {id!r}{nearest:?; может быть, %s?|}",
    "library_nothing_like": "в библиотеке {name} нет документа, у которого id, название, адрес или источник подходит под {like!r}",
    "library_sure_all": "Удалить библиотеку {name}, в которой {documents:document}?",
    "library_sure_some": "Удалить {documents:document} из {name}?",
    "library_sure_list": "Удалить {documents:document}, которые в списке названы дубликатами?",
    "documents_need_source": "--with-documents употребляется вместе с --source N",
    "remove_list_alone": "--duplicates берёт весь список: уберите --document, --like, --source и --all",
    "remove_needs_name": "назовите библиотеку, из которой удалять; без имени можно только с --duplicates",
    "list_not_found": "нет списка {path}",
    "list_not_read": "{path} не читается: {why}",
    "list_not_of_duplicates": "{path} не список дубликатов: нужен файл, который записала команда `doublet library duplicates --groups` (.csv, .jsonl, .json) или сохранила её страница",
    "not_in_library": "в библиотеке этого документа уже нет",
    "keeper_missing": "остаётся: документа {keep!r}, который должен был остаться вместо него, нет, или он сам есть в списке",
    "library_list_removed": "{documents:удалён|удалены|удалено} {documents:document}, не {left:тронут|тронуты|тронуто} {left:,}",
    "cleaned_not_listed": ", ещё {not_listed:,} {not_listed:дубликат|дубликата|дубликатов} внутри одной библиотеки, не в списке",
    "statistics_words": "{documents:document} со словами, сосчитано {words:,} слов, разных {distinct_words:,} (все формы слова — одно слово)",
    "statistics_rest": "ещё {number:,}",
    "statistics_all": "всего",
    "statistics_unknown": "(неизвестно)",
}
