"""The words of the evaluation's page, in English and Russian."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "title": ("Evaluation", "Оценка качества"),
    "language": ("Language", "Язык"),
    "lead": (
        "What each method finds when documents were changed on purpose, and what it mistakes for a copy.",
        "Что находит каждый метод, когда документы изменены нарочно, и что он принимает за копию по ошибке.",
    ),
    "contents": ("Contents", "Содержание"),
    "short": ("In short", "Коротко"),
    "short_about": (
        "Mean F1 over all changes, each method by its own rule with its default settings.",
        "Среднее F1 по всем изменениям; каждый метод решает по своему правилу с настройками по умолчанию.",
    ),
    "weakest": ("weakest", "слабее всего"),
    "documents": ("Whole documents", "Документы целиком"),
    "documents_about": (
        "Recall in large print, precision below it. Each changed copy was looked for in the whole library. The stronger "
        "the colour of a cell, the higher the F1. A dash: nothing was found, so there is no precision.",
        "Крупно — полнота, под ней точность. Каждую изменённую копию искали во всей библиотеке. Чем сильнее цвет клетки, "
        "тем выше F1. Прочерк: ничего не найдено, и точности нет.",
    ),
    "rule": ("Decision", "Решение"),
    "own_rule": ("the method's own rule", "собственное правило метода"),
    "threshold_is": ("threshold", "порог"),
    "only_threshold": (
        "Methods without a threshold are not in this table.",
        "Методов без порога в этой таблице нет.",
    ),
    "method": ("method", "метод"),
    "change": ("change", "изменение"),
    "mean": ("mean F1", "среднее F1"),
    "recall": ("recall", "полнота"),
    "precision": ("precision", "точность"),
    "passages": ("Passages", "Фрагменты"),
    "passages_about": (
        "Passages of three sources stand in a text of one's own, changed as the column says; beside them texts that "
        "nothing was taken from. PAN's measures: plagdet in large print; precision, recall and granularity below.",
        "Куски трёх источников вставлены в свой текст и изменены, как сказано над столбцом; рядом тексты, из которых "
        "ничего не взято. Меры PAN: крупно plagdet, ниже точность, полнота и дробность.",
    ),
    "published": ("Beside the source's table", "Рядом с таблицей источника"),
    "published_about": (
        "Threshold 70 %, shingles of 3 words, texts as long as student works. Recall / precision: the source's in grey "
        "above, ours below. In brackets ours by the source's own rule, which calls two texts duplicates when their "
        "Levenshtein similarity is 80 % or more, wherever they came from.",
        "Порог 70 %, шинглы из 3 слов, тексты длиной со студенческую работу. Полнота / точность: серым — источника, "
        "ниже — наши. В скобках наши по правилу самого источника: дубликаты — тексты, схожие по Левенштейну на 80 % и "
        "больше, откуда бы они ни взялись.",
    ),
    "curves": ("Curves", "Кривые"),
    "curve_recall": ("Recall over the threshold", "Полнота в зависимости от порога"),
    "curve_precision": ("Precision over the threshold", "Точность в зависимости от порога"),
    "curve_pairs": ("Pairs found over the threshold", "Число найденных пар в зависимости от порога"),
    "curve_length": (
        "Length of a shingle, synonyms for 20% of the words",
        "Длина шингла, синонимы вместо 20% слов",
    ),
    "curve_width": ("Range of I-Match, sentences moved", "Диапазон I-Match, предложения переставлены"),
    "threshold": ("threshold", "порог"),
    "pairs": ("pairs", "пары"),
    "shingle_words": ("words in a shingle", "слов в шингле"),
    "idf_width": ("width of the range of IDF", "ширина диапазона IDF"),
    "clusters": ("Groups", "Группы"),
    "clusters_about": (
        "Originals and several changed copies of each lie together in one collection. The adjusted Rand index says how "
        "well the groups agree with the truth: 1 the same, 0 chance.",
        "Оригиналы и по нескольку их изменённых копий лежат вместе. Скорректированный индекс Рэнда говорит, насколько "
        "группы совпали с истиной: 1 — совпали, 0 — случайность.",
    ),
    "ari": ("adjusted Rand index", "индекс Рэнда"),
    "groups_true": ("groups in truth", "групп на деле"),
    "groups_found": ("groups", "групп"),
    "in_truth": ("in truth", "на деле"),
    "right_of": ("right pairs of those found", "верных пар из найденных"),
    "yes": ("yes", "да"),
    "no": ("no", "нет"),
    "costs": ("Time and memory", "Время и память"),
    "costs_about": (
        "On this machine, in one thread; other programs ran beside it, so times are no more than a hint.",
        "На этой машине, в одном потоке; рядом работали другие программы, поэтому время лишь примерное.",
    ),
    "signing": ("signing, ms a document", "подпись, мс на документ"),
    "query": ("a query, ms", "запрос, мс"),
    "bytes": ("bytes a document", "байт на документ"),
    "peak": ("memory above the texts, MB", "память сверх текстов, МБ"),
    "compared": ("candidates compared a query", "кандидатов на запрос"),
    "labelled": ("Labelled sets", "Размеченные наборы"),
    "labelled_about": (
        "Real texts that other people have labelled. For pairs the threshold was chosen on other pairs than those that "
        "were decided (five folds).",
        "Настоящие тексты с чужой разметкой. Для пар порог выбран не на тех парах, которые решались (пять частей).",
    ),
    "set": ("set", "набор"),
    "kind": ("kind", "вид"),
    "f1": ("F1", "F1"),
    "auc": ("ROC AUC", "ROC AUC"),
    "own_flagged": ("own sentences flagged", "своих предложений задето"),
    "cases_found": ("found by half", "найдено наполовину"),
    "failures": ("What went wrong", "Что не получилось"),
    "failures_about": (
        "Up to three examples for each method and change, to be read: beginnings of the changed copy and of the "
        "document that was missed or wrongly found.",
        "До трёх примеров на метод и изменение, чтобы прочесть: начало изменённой копии и документа, который не нашёлся "
        "или нашёлся зря.",
    ),
    "no_failures": ("Nothing went wrong.", "Ошибок нет."),
    "missed": ("missed", "не найден"),
    "wrong": ("wrongly found", "найден зря"),
    "copy": ("changed copy", "изменённая копия"),
    "original": ("its original", "её оригинал"),
    "other": ("another document", "другой документ"),
    "settings": ("Settings, data and notes", "Настройки, данные и примечания"),
    "data": ("Data", "Данные"),
    "notes": ("Notes", "Примечания"),
    "skipped": ("Not used", "Не использовано"),
    "library": ("documents in the library", "документов в библиотеке"),
    "changed": ("changed", "изменено"),
    "queries": ("changed copies", "изменённых копий"),
    "siblings": (
        "of them with a sibling that shares a fifth of its text; such documents count neither way",
        "из них с похожим соседом, у которого пятая часть общего текста; такие не считаются ни так, ни этак",
    ),
    "replaced": ("Words replaced", "Заменено слов"),
    "of_all_words": ("of all words", "от всех слов"),
    "from_thesaurus": ("from the thesaurus", "из тезауруса"),
    "from_collection": (
        "drawn from the collection in the same form (harder than synonyms)",
        "из коллекции в той же форме (труднее синонимов)",
    ),
    "interval": ("95 % interval", "95-процентный интервал"),
    "of": ("of", "из"),
    "best": ("best", "лучший"),
    "made_by": ("Made by Doublet", "Сделано программой Doublet"),
    # two methods side by side
    "differ_title": ("Two methods on your documents", "Два метода на ваших документах"),
    "differ_lead": (
        "Pairs that one method calls duplicates and the other does not, both texts side by side.",
        "Пары, которые один метод считает дубликатами, а другой нет; оба текста рядом.",
    ),
    "both": ("both", "оба"),
    "only": ("only", "только"),
    "neither": ("neither: different answers nowhere", "нигде не расходятся"),
    "filter": ("Show", "Показать"),
    "all_pairs": ("all differences", "все расхождения"),
    "score": ("score", "оценка"),
    "not_shown": ("more pairs are in the JSON", "остальные пары — в JSON"),
    "same_answer": (
        "The two methods agree on every pair of these documents.",
        "На этих документах методы согласны во всём.",
    ),
}

SET_NAMES = {
    "bundled-ru": ("Russian, bundled texts", "русские тексты из поставки"),
    "bundled-en": ("English, bundled texts", "английские тексты из поставки"),
}
