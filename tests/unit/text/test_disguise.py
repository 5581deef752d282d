"""Tricks are reported with counts and places (T5); honest writing raises no alarm."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest

import doublet
from doublet.model import Disguise, DisguiseFinding
from doublet.text.disguise import _invisible_runs, find_disguise, find_disguise_in
from doublet.text.tokens import Canon

RUSSIAN = (
    "Поиск нечётких дубликатов нужен там, где один и тот же текст хранится много раз с небольшими отличиями. "
    "Каждый документ разбивается на слова, слова собираются в цепочки, и для каждой цепочки считается число. "
    "Документы, у которых много общих чисел, сравниваются подробно, и человеку показывают совпавшие места. "
    "Поэтому опечатки, перестановки абзацев и замена отдельных слов не мешают найти источник заимствования."
)
ENGLISH = (
    "Near duplicates are found by cutting every document into words and words into short overlapping chains. "
    "Each chain becomes a number, and two documents that share many numbers are compared more carefully. "
    "A reader then sees both places side by side and can decide whether the passage was really borrowed. "
    "Small slips, moved paragraphs and single changed words therefore do not keep us from the source."
)
TO_LATIN = str.maketrans("асеорхуАВЕКМНОРСТХ", "aceopxyABEKMHOPCTX")
SMALL_CAPITALS = str.maketrans("abcdeghijklmnoprstuvwyz", "ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ")
BOLD = {ord("a") + i: 0x1D41A + i for i in range(26)}
CIRCLED = {ord("a") + i: 0x24D0 + i for i in range(26)}
SQUARED = {ord("a") + i: 0x1F130 + i for i in range(26)}
BLACK_CIRCLED = {ord("a") + i: 0x1F150 + i for i in range(26)}
BLACK_SQUARED = {ord("a") + i: 0x1F170 + i for i in range(26)}
PARENTHESIZED = {ord("a") + i: 0x249C + i for i in range(26)}
RAISED = str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
FULL_WIDTH = {ord("a") + i: 0xFF41 + i for i in range(26)}
TO_CYRILLIC = str.maketrans("aceopxyABEKMHOPCTX", "асеорхуАВЕКМНОРСТХ")
TO_GREEK = str.maketrans("aeiknoptuvwxyABEHIKMNOPTXYZ", "αεικηορτυνωχγΑΒΕΗΙΚΜΝΟΡΤΧΥΖ")
RUSSIAN_TO_GREEK = str.maketrans("акопртухфАВЕКМНОРТУХГПФ", "ακοπρτγχφΑΒΕΚΜΝΟΡΤΥΧΓΠΦ".replace("Ν", "Η"))
TO_CHEROKEE = str.maketrans("ABCDEGHJKLMPRSTVWYZ", "ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᎩᏃ")
TO_LISU = str.maketrans("ABCDEFGHIJKLMNOPRSTUVWXYZ", "ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ")


def finding(result: Disguise, kind: str) -> DisguiseFinding:
    (found,) = [f for f in result.findings if f.kind == kind]
    return found


def folded(text: str) -> list[int]:
    hashes: list[int] = Canon().tokens([text]).hashes.tolist()
    return hashes


def every(text: str, step: int, change: str) -> str:
    """Every *step*-th letter that stands inside a word gets *change* after it."""
    out = []
    for i, char in enumerate(text):
        inside = char.isalpha() and text[i + 1 : i + 2].isalpha()
        out.append(char + change if inside and i % step == 0 else char)
    return "".join(out)


def spaced(text: str) -> str:
    """Every third long word with its letters apart, where no word of one letter stands beside it."""
    words = text.split(" ")
    for i in range(1, len(words) - 1, 3):
        if len(words[i]) > 4 and words[i].isalpha() and len(words[i - 1]) > 1 and len(words[i + 1]) > 1:
            words[i] = " ".join(words[i])
    return " ".join(words)


def test_it_works() -> None:
    text = "Это oбычный тeкст с пoдменой букв."
    result = find_disguise(text)
    found = finding(result, "lookalike")
    assert result.alarm
    assert found.words == 3
    assert found.characters == 3
    assert [text[s:e] for s, e in found.spans] == ["oбычный", "тeкст", "пoдменой"]
    assert result.to_dict()["characters"] == 3


@pytest.mark.parametrize(
    "text", ["", " ", "...", "а", "Обычный текст.", "Plain text.", "😀", "\x00", "\ud800"]
)
def test_nothing_to_report(text: str) -> None:
    assert find_disguise(text) == Disguise()


TRICKS = {
    "all look-alikes, Russian": (RUSSIAN, RUSSIAN.translate(TO_LATIN), "lookalike"),
    "all look-alikes, English": (ENGLISH, ENGLISH.translate(TO_CYRILLIC), "lookalike"),
    "one letter, Russian": (RUSSIAN, RUSSIAN.replace("о", "o"), "lookalike"),
    "one letter, English": (ENGLISH, ENGLISH.replace("e", "е"), "lookalike"),
    "Greek letters": (ENGLISH, ENGLISH.replace("o", "ο"), "lookalike"),
    "phonetic letters": (ENGLISH, ENGLISH.replace("a", "ɑ").replace("g", "ɡ"), "styled"),
    "small capitals": (RUSSIAN, RUSSIAN.replace("о", "ᴏ"), "lookalike"),
    "zero-width space": (RUSSIAN, every(RUSSIAN, 5, "\u200b"), "invisible"),
    "zero-width joiner": (ENGLISH, every(ENGLISH, 5, "\u200d"), "invisible"),
    "word joiner": (ENGLISH, every(ENGLISH, 7, "\u2060"), "invisible"),
    "soft hyphens anywhere": (RUSSIAN, every(RUSSIAN, 5, "\u00ad"), "invisible"),
    "soft hyphens anywhere, English": (ENGLISH, every(ENGLISH, 5, "\u00ad"), "invisible"),
    "letters apart": (RUSSIAN, spaced(RUSSIAN), "spaced"),
    "letters apart, English": (ENGLISH, spaced(ENGLISH), "spaced"),
    "accents anywhere": (RUSSIAN, every(RUSSIAN, 5, "\u0301"), "marks"),
    "accents anywhere, English": (ENGLISH, every(ENGLISH, 5, "\u0301"), "marks"),
    "strike-through": (ENGLISH, every(ENGLISH, 1, "\u0336"), "marks"),
    "several marks on a letter": (RUSSIAN, every(RUSSIAN, 9, "\u0301\u0323\u0330"), "marks"),
    "small capitals, English": (ENGLISH, ENGLISH.lower().translate(SMALL_CAPITALS), "styled"),
    "bold letters": (
        ENGLISH,
        "".join(chr(0x1D41A + ord(c) - 97) if "a" <= c <= "z" else c for c in ENGLISH),
        "styled",
    ),
    "variation selectors": (ENGLISH, every(ENGLISH, 5, "\ufe00"), "invisible"),
    "variation selectors, Russian": (RUSSIAN, every(RUSSIAN, 5, "\U000e0101"), "invisible"),
    "circled letters": (ENGLISH, ENGLISH.lower().translate(CIRCLED), "styled"),
    "squared letters": (ENGLISH, ENGLISH.lower().translate(SQUARED), "styled"),
    "white letters in black circles": (ENGLISH, ENGLISH.lower().translate(BLACK_CIRCLED), "styled"),
    "white letters in black squares": (ENGLISH, ENGLISH.lower().translate(BLACK_SQUARED), "styled"),
    "parenthesized letters": (ENGLISH, ENGLISH.lower().translate(PARENTHESIZED), "styled"),
    "raised letters": (ENGLISH, ENGLISH.lower().translate(RAISED), "styled"),
    "Roman numerals for letters": (
        ENGLISH,
        ENGLISH.translate(str.maketrans("ivxlcdm", "ⅰⅴⅹⅼⅽⅾⅿ")),
        "styled",
    ),
    "script letters": (ENGLISH, ENGLISH.translate(str.maketrans("egolh", "ℯℊℴℓℎ")), "styled"),
    "Greek letters in Russian": (RUSSIAN, RUSSIAN.translate(str.maketrans("Порх", "Πορχ")), "lookalike"),
    "Greek letters of all kinds": (ENGLISH, ENGLISH.translate(str.maketrans("uyk", "υγκ")), "lookalike"),
    "Armenian letters": (ENGLISH, ENGLISH.translate(str.maketrans("onhug", "օոհսց")), "lookalike"),
    "Cherokee small letters": (ENGLISH, ENGLISH.translate(str.maketrans("ervz", "ꭼꭱꮩꮓ")), "lookalike"),
    "all in Greek": (ENGLISH, ENGLISH.translate(TO_GREEK), "lookalike"),
    "all in Greek, capitals": (ENGLISH.upper(), ENGLISH.upper().translate(TO_GREEK), "lookalike"),
    "all in Greek, Russian": (RUSSIAN, RUSSIAN.translate(RUSSIAN_TO_GREEK), "lookalike"),
    "all in Greek, Russian capitals": (
        RUSSIAN.upper(),
        RUSSIAN.upper().translate(RUSSIAN_TO_GREEK),
        "lookalike",
    ),
    "all in Cherokee, capitals": (ENGLISH.upper(), ENGLISH.upper().translate(TO_CHEROKEE), "lookalike"),
    "all in Cherokee and Greek": (
        ENGLISH.upper(),
        ENGLISH.upper().translate(TO_CHEROKEE).translate(TO_GREEK),
        "lookalike",
    ),
    "all in Lisu, no letter left": (ENGLISH.upper(), ENGLISH.upper().translate(TO_LISU), "lookalike"),
    "Hebrew letters": (ENGLISH, ENGLISH.replace("o", "ס"), "lookalike"),
    "Deseret letters": (ENGLISH, ENGLISH.translate(str.maketrans("oc", "𐐬𐐽")), "lookalike"),
    "tags": (ENGLISH, every(ENGLISH, 5, "\U000e0061"), "invisible"),
    "musical beams": (RUSSIAN, every(RUSSIAN, 5, "\U0001d173"), "invisible"),
    "Mongolian selectors": (RUSSIAN, every(RUSSIAN, 5, "\u180b"), "invisible"),
    "full-width letters": (
        ENGLISH,
        "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in ENGLISH),
        "styled",
    ),
}


@pytest.mark.covers("T5")
@pytest.mark.parametrize(("text", "hidden", "kind"), TRICKS.values(), ids=TRICKS)
def test_a_trick_is_undone_and_raises_the_alarm(text: str, hidden: str, kind: str) -> None:
    assert folded(hidden) == folded(text)
    result = find_disguise(hidden)
    found = finding(result, kind)
    assert found.alarm
    assert [f.kind for f in result.findings if f.alarm] == [kind]
    assert all(start < end <= len(hidden) for start, end in found.spans)
    assert list(found.spans) == sorted(set(found.spans))
    changed = len(hidden) - len(text) or sum(a != b for a, b in zip(text, hidden, strict=True))
    assert found.characters == pytest.approx(changed, rel=0.05)


@pytest.mark.covers("T5")
def test_letters_apart_throughout_with_wider_gaps_between_words() -> None:
    text = "Каждый документ разбивается на слова, и для каждой цепочки слов считается своё число."
    hidden = "  ".join(" ".join(word) for word in text.split())
    assert folded(hidden.replace(" ,", ",").replace(" .", ".")) == folded(text)
    assert finding(find_disguise(hidden), "spaced").alarm


# A single letter that is a twin in both cases is written in Latin, here as everywhere.
SET_APART = {
    "one word": ("вот п р и м е р текста", "вот пример текста"),
    "three letters are three words": ("вот д о м", "вот д o м"),
    "three letters after such a word": ("п р и м е р  д о м  в  н ё м", "пример дом в нем"),
    "up to the next whole word": ("п р и м е р вот д о м", "пример вот д o м"),
    "thin blanks inside, common ones between": (
        "п\u2009р\u2009и\u2009м\u2009е\u2009р д\u2009о\u2009м",
        "пример дом",
    ),
    "with twins": ("п р и м e p", "пример"),
    "all twins": ("слово р о с а", "слово роса"),
    "two alphabets": ("вот а w и h это", "вот a w и h это"),
    "numbers stay apart": ("1 2 3 4 5", "1 2 3 4 5"),
    "other alphabets stay apart": ("你 好 世 界", "你 好 世 界"),
    "two blanks part": ("п  р  и  м  е  р", "п p и м e p"),
}


@pytest.mark.covers("T5")
@pytest.mark.parametrize(("text", "expected"), SET_APART.values(), ids=SET_APART)
def test_letters_set_apart(text: str, expected: str) -> None:
    assert Canon().tokens([text], words=True).words(0) == expected.split()


# A word made of look-alikes of a third alphabet alone: turned where its neighbours say what it is.
FOREIGN_WORDS = {
    "English, at the start": ("ΤΗΕ quick dog", "the quick dog"),
    "English, at the end": ("one quick ΑΤΟΜ", "one quick atom"),
    "Russian": ("жёлтый κοτ спит", "желтый кот спит"),
    "letters of Cyrillic alone": ("жёлтый ποποκ спит", "желтый попок спит"),
    "between two alphabets, with a letter of one alone": ("good ποπ кот жил", "good поп кот жил"),
    "Cherokee": ("we ᎪᎡᎬ here", "we are here"),
    "a Cherokee letter alone": ("Ꭺ dog barks", "a dog barks"),
    "Coptic": ("one ⲥⲟⲛ dog", "one con dog"),
    "zero-width characters inside": ("the Τ\u200bΗ\u200bΕ dog", "the the dog"),
    "marks that are not Greek": ("the Τ\u0336Η\u0336Ε dog", "the the dog"),
    "with a digit": ("model ΑΤΗ7 sold", "model ath7 sold"),
    "with an underline": ("the ΑΤ_ΗΑ dog", "the at_ha dog"),
    "letters set apart": ("the dog Τ Η Ε Ν ran", "the dog then ran"),
    "two alphabets mixed": ("the ΑᎢΗ dog", "the ath dog"),
    "a single letter where others were swapped": ("ηοω thατ's α dοg", "now that s a dog"),
    "two letters where others were swapped": ("wε gο το thε dοgs", "we go to the dogs"),
    "Latin between Russian words: і is no Russian letter": ("стандарт ΙΕΕΕ жив", "стандарт ieee жив"),
    "a Russian word behind a capital": ("дοлго жил Ηα дαче", "долго жил на даче"),
    "Chinese near by says nothing about Cherokee": ("we ᎪᎡᎬ here 大家都是人", "we are here 大家都是人"),
    # Left as they are.
    "one word is the whole text": ("ΤΗΕ", "τηε"),
    "only words without anchors": ("Το νερο και το κρασι", "το νερο και το κρασι"),
    "no twin for each letter": ("the quick ΑΓΑΠΗ dog", "the quick αγαπη dog"),
    "an angle": ("the angle α of rays", "the angle α of rays"),
    "an angle, Russian": ("угол α между лучами", "угол α между лучами"),
    "two letters of a formula": ("the phase ωτ of waves", "the phase ωτ of waves"),
    "a letter with a digit": ("the test χ2 and ρ0 fail", "the test χ2 and ρ0 fail"),
    "Greek accents": ("the word κατά means down", "the word κατα means down"),
    "Greek accents taken apart": ("the word κατα\u0301 means down", "the word κατα means down"),
    "breathings": ("the word ἀτε means so", "the word ατε means so"),
    "Greek inside English": ("as in λόγος και τα νερα or so", "as in λογοσ και τα νερα or so"),
    "fraternities": ("houses ΤΚΕ and ΣΑΕΔ here", "houses τκε and σαεδ here"),
    "Cherokee inside English": ("they say ᏣᎳᎩ ᎪᎡᎬ here", "they say ᏣᎳᎩ ᎪᎡᎬ here"),
    "a Hebrew letter": ("the letter ס is round", "the letter ס is round"),
    "an Arabic letter": ("the letter ه is round", "the letter ه is round"),
}


@pytest.mark.covers("T5")
@pytest.mark.parametrize(("text", "expected"), FOREIGN_WORDS.values(), ids=FOREIGN_WORDS)
def test_words_of_look_alikes_of_a_third_alphabet_alone(text: str, expected: str) -> None:
    assert Canon().tokens([text], words=True).words(0) == expected.split()


@pytest.mark.covers("T4", "T5")
@pytest.mark.parametrize(
    "text", ["Раздел {} для всех", "ЭТО РАЗДЕЛ {} ДЛЯ ВСЕХ", "The part {} for all", "{}"]
)
@pytest.mark.parametrize(
    "word", ["NOTE", "Zoo", "CAN", "BZ2", "cave", "CNN", "ave", "BOXNAME", "XIX", "API", "MIX", "KOI8"]
)
def test_a_latin_word_that_cannot_be_russian_is_one_word_everywhere(text: str, word: str) -> None:
    """N, Z and v have twins in Greek and none in Cyrillic; the twin of I is no Russian letter."""
    at = text.split(" ").index("{}")
    ways = [word, word.upper(), word.translate(TO_CYRILLIC), word.upper().translate(TO_CYRILLIC)]
    assert {folded(text.format(way))[at] for way in ways} == set(folded(word.lower()))


def test_words_turned_whole_are_enough_for_an_alarm() -> None:
    text = "You may go into that house, but not yet: you may put out the lights, and keep two of them."
    hidden = re.sub(r"\b(into|not|yet|out|put|keep|two)\b", lambda m: m[0].translate(TO_GREEK), text)
    assert folded(hidden) == folded(text)
    found = finding(find_disguise(hidden), "lookalike")
    assert (found.alarm, found.words) == (True, 7)


def test_a_turned_word_that_every_text_has_is_told_and_others_only_with_it() -> None:
    assert finding(find_disguise("She is ΝΟΤ the one for this job"), "lookalike").words == 1
    assert find_disguise("The walls say ΤΕΧΝΗ, ΚΑΤΑ, ΝΕΡΟ and ΑΡΕΤΗ in large letters") == Disguise()


def test_several_tricks_at_once() -> None:
    words = RUSSIAN.split(" ")
    words[0:12] = [w.translate(TO_LATIN) for w in words[0:12]]
    words[20:32] = [every(w, 2, "\u200b") for w in words[20:32]]
    result = find_disguise(" ".join(words))
    assert [f.kind for f in result.findings if f.alarm] == ["lookalike", "invisible"]


HONEST = {
    "science in Russian and English": (
        "Алгоритм написан на C++ и использует числа IEEE-754 двойной точности. По оси x-координата, по оси "
        "y-координата; частота 3 МГц (3 MHz), мощность 5 kВт, длина 10 μm. Пусть А и B — множества, а x ∈ A, "
        "тогда P(x) = α·x + β. Авторы А. С. Иванов и J. R. R. Smith взяли Wi-Fi, 3D-модель, web-сайт и IPv6. "
        "Под ёлки положили CD-диски. См. SQL-запрос и ГОСТ Р ИСО 12207. Число π ≈ 3,14; Δt = t2 − t1."
    ),
    "glued words": "IPадрес и МассивX, SQLзапрос, USBкабель, неDataItem, ПАКЕТX, ДзенYouTube, ОбъектDate",
    "names with underlines": "foo_старая, ось_x, a_б, класс_A, Используя_наклон_по_оси_x, var_а, с_p, е_o",
    "Roman numerals typed with Cyrillic letters": "В ХIХ и ХХI веках, после ХVIII, как и в XIXв, ХIV и ХV",
    "codes": "А1C2В3, К2B5, Т34M1, С7A9 и АВ12CE",
    "units": "5 kВт, 10 kПа, 3 MГц, 7 мкM, 2 kОм",
    "stress marks": "Э́лвис Ааро́н Пре́сли роди́лся в большо́м до́ме, и о́коло него́ всегда́ бы́ли лю́ди",
    "stress marks as Latin letters": "бóльшую часть, чтó было, большáя, самогó, бóльших, вéсти, пóтом",
    "Unicode taken apart": unicodedata.normalize(
        "NFD", RUSSIAN + " ещё её йод Нью-Йорк café naïve über їжак"
    ),
    "French taken apart": unicodedata.normalize(
        "NFD", "Les élèves étaient déjà allés à la forêt où naît la mer"
    ),
    "Vietnamese taken apart": unicodedata.normalize(
        "NFD", "Tất cả mọi người sinh ra đều được tự do và bình đẳng"
    ),
    "formulas": (
        "x̄ и ȳ — средние, v⃗ — вектор, 𝑥 + 𝑦 = 𝑧, 𝑓(𝑥) = sin 𝑥, 𝑎𝑏 > 0, где 𝐴 и 𝐵 — матрицы, 𝑙𝑜𝑔 и 𝑠𝑖𝑛"
    ),
    "letters of formulas in a row": (
        "точки a b c d и вершины A B C D, где x и y и z, а w и h в этом случае, i j k, причём Δ E Δ t"
    ),
    "phonetic transcription": (
        "Elvis [ˈɛlvɪs ˈɑːrən ˈprɛsli], dog [dɒɡ], rich [rɪtʃ], Greek [ɡriːk], big [bɪɡ], ɪt ɪz ðɪs wʌn"
    ),
    "emoji": "Семья 👨\u200d👩\u200d👧 и 👩🏽\u200d🚀, ❤️\u200d🔥, флаг 🏴\U000e0067\U000e0062\U000e007f",
    "emoji with variation selectors": (
        "Погода ☀️ сегодня ‼️ отличная ❤️, шаги 1️⃣2️⃣3️⃣ и 4️⃣5️⃣, 6️⃣7️⃣ готовы ✅️, ↔️ Ⓜ️ Киевская, "
        "группа крови 🅰️ или 🅱️, парковка 🅿️, ℹ️ справка, 葛\U000e0100城, ⓒ 2020, ™️ и ©️"
    ),
    "chemistry": (
        "Реакцию вели при pH 7.4 в Tris-HCl (50 мМ) с 2 мМ MgCl2 и ZnSO4·7H2O; выход CH3COOC2H5 — 87 %, H2O2 не было. "
        "Соединения 3a–3d получены из α-аминокислот, β-лактамы и γ-лактоны выделены на SiO2. ЯМР ¹H (CDCl3, δ, м.д.)"
    ),
    "mathematics": (
        "Пусть f: ℝⁿ → ℝ, а ε > 0 и δ = δ(ε) таковы, что |f(x) − f(y)| < ε. Тогда ∑ᵢ aᵢxᵢ ≤ λ·max|xᵢ|, х — вектор, "
        "ξ, η и ζ из N(μ, σ²), θ̂ несмещённая, t-критерий, χ²-тест, а-частицы, β-распад, π-мезон, Δ-метод, ρ(X,Y)"
    ),
    "medicine": (
        "Ген BRCA1, белок p53, SARS-CoV-2, ВИЧ-1, HLA-B27, T-клетки и В-лимфоциты (B-лимфоциты), витамин C и "
        "витамин С, гепатит В и С, E. coli, S. aureus, IgG, ИФН-γ, ФНО-α, TNF-α, мРНК, N-ацетил, о-ксилол, рН крови"
    ),
    "geometry": (
        "Точки A, B, C на окружности; треугольник ABC, угол ВАС равен 60°, вершина А, отрезок СН — высота, "
        "точка М — середина ВС, MN ∥ AC, S = a·h/2. В классах 5«А», 7б, 9В и 11-С, группа ИВТ-21"
    ),
    "designations": (
        "С-400 и С-300ПМУ2, Т-72Б3, Су-57, МиГ-29К, Ка-52, АК-47, КамАЗ-5320; ВТО, СССР, США, РАН, МВФ, ВСЕ, ТАСС, "
        "НАТО, АО «РТК», ООО «ВЕКТОР-М», ГОСТ Р 7.0.5-2008, «МТСбанк», «Х5 Group», X5 Retail, АвтоВАЗ, КиноПоиск HD"
    ),
    "addresses": (
        "ivan.petrov@mail.ru, иван@почта.рф, @ivan_petrov_98, www.пример.рф/help?id=ОТ-12, "
        "http://xn--e1afmkfd.xn--p1ai/путь/к/файлу.html, ftp://host/РФ_2020_rev3.zip, C:\\Users\\Иван\\отчёт_v2.docx"
    ),
    "programming": (
        "C++ и C#, USB-кабель, HTTP-запрос, PHP-скрипт, iPhone'ом, Git'а, Docker'е, VPN-ом, UNIXподобных; "
        "def среднее(x): return sum(x)/len(x); имя_файла = os.path.join(a, b); SELECT имя FROM таблица WHERE id=5"
    ),
    "initials": (
        "A. B. Ivanov, E. H. Sidorov, Т. М. Васильев, K. O. Orlov (А. Б. Иванов, Е. Х. Сидоров, K. O. Орлов), "
        "H. G. Wells, А. С. Пушкин, Р. Х., т. е. и т. д.; А и Б сидели на трубе; УДК 519.2"
    ),
    "labels of electricians": (
        "Ток Iвых и напряжение Uвх, Pном, Tмакс, Vср, Kу, Hср, Eкин, Fтр, Qмакс, Rн, Cэ; скорость vмакс, xмакс, yмин, "
        "tсв, pнас, aср; масса mв, работа Aтр, Mизг, Bост, Tпл, Pкр, Cр, Eп, Kп, Nдоп при 20 °C"
    ),
    "units of two alphabets": "5 mкм, 3 Bт, 7 Aч, 2 kВт·ч, 4 мkА, 8 кB, 6 мA, 9 mА, 1 MОм и 12 kПа за 3 cек",
    "angles and sides": (
        "∠BАС, АB = CД, отрезок AВ, BС, ВCD и СDE; у = kх + b, где bх и ах, хi, Хi, yх, АBС, КLM подобны MКL"
    ),
    "names of firms": "Euroсеть, VKонтакте, iСлон, eКнига, СберBank, Тинькoff Банк, «АльфаStrakh», OZONмаркет",
    "names of a platform": (
        "HTTPСоединение, ЧтениеXML, ЗаписьJSON, COMОбъект, XMLСтрока, XMLТип, OLEОбъект, WSПрокси, FTPСоединение, "
        "ТаблицаHTML, ФайлCSV, ПолеHTMLДокумента, ПолучитьCOMОбъект, HTMLТекст, COMСоединитель, ZIPАрхив"
    ),
    "sizes": "10х20х30 мм, 10x20 cm, 1920х1080, 4х4, 3xНДС, 2хUSB, 2xRAM, 4хHDMI, 8хSATA, 6xКМОП, 2хPCI",
    "the old spelling, typed with a Latin i": (
        "Мiръ, Россiя, исторiя, бiблiотека, изданiе, Императорскiй Университетъ, сiя, житiе, мнѣнiе, третiй томъ"
    ),
    "Greek letters beside others": (
        "sinα, cosβ, tgα, kα, αx, ωt, sinωt, λmax, σT, αs, ρgh, τxy, εab, Rα, Kα, Lβ, Hγ, αвх, μср, ηмакс, ΔHисп, πr"
    ),
    "Greek letters in formulas": (
        "The angle α, the density ρ, χ² = 3.1, viscosity η, ratio κ, times τ and ν, ΔT, Σ, ωτ, αν, κτ, αε, ρν, τρ; "
        "пусть α — угол, ρ — плотность, χ² — критерий, η — вязкость, ΔТ, Σ, ωτ, ατ, κτ, ρα, χα, ορ, αρ"
    ),
    "fraternities": "Members of ΑΒΓ, ΤΚΕ, ΑΤΟ, ΚΑ, ΑΧΑ and ΑΚΑ met; ΑΖ, ΖΒΤ and ΑΟΤ did not come, nor did ΧΗ and ΚΚΚ",
    "Greek words in English": (
        "The noun τέχνη (art), the adverb κατά, the words νερό and πατέρα, ἀρετή and ἔργον; ΤΕΧΝΗ, ΚΑΤΑ, ΝΕΡΟ, ΑΡΕΤΗ"
    ),
    "Greek inside English": (
        "It begins: Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια, το νερό και το κακό. That is all."
    ),
    "Greek in capitals": "ΤΟ ΝΕΡΟ ΚΑΙ ΤΟ ΚΡΑΣΙ, Η ΤΙΜΗ ΚΑΙ ΤΟ ΚΑΚΟ, ΟΛΟΙ ΟΙ ΑΝΘΡΩΠΟΙ ΕΙΝΑΙ ΕΛΕΥΘΕΡΟΙ ΚΑΙ ΙΣΟΙ",
    "other alphabets inside English and Russian": (
        "Cherokee ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎠᎴ ᎪᎡᎬ, Coptic ⲡⲛⲟⲩⲧⲉ ⲟⲩⲟϩ ⲛⲉⲙ ⲥⲟⲛ, Hebrew ס and סס; армянские ու, հավասար, օր, սոս"
    ),
    "indices": "aᵢxᵢ, aᵢⱼ, Rᵢⱼₖₗ, xₘₐₓ, yₘᵢₙ, tₙ, 1ˢᵗ, 2ⁿᵈ, Mᵐᵉ, nº, eⁱˣ, Nₐ, pₖₐ, vₘₐₓ, xⁿ, λₘₐₓ, Tₘᵢₙ",
    "Roman numerals as one letter": "Ⅰ, Ⅱ, Ⅲ и Ⅳ; главы ⅩⅩⅩⅤ, ⅩⅬⅤ, ⅭⅩⅩⅩ, ⅯⅯⅩⅩ и ⅬⅩⅩⅩ, пункты ⅰ, ⅱ, ⅲ, ⅹⅹⅹⅴ",
    "letters with strokes": "Łódź, Ørsted, Đorđe, Ħamrun, Şişli, Bøk, smørrebrød, żółć, łąka, Đặng, ƒ(x), ħω, Þór",
    "Macedonian": "Ѓорѓи има ќебе, ѕвезда и ѕид; сѐ е јасно, ѝ реков, нѐ виде; ѕверот, Ѕидарски, њива, љубов, џамија",
    "Mongolian": "Үйлчилгээ үзүүлэх, өвөл, зүүн, түүх, дүүрэг, хүн бүр төрөхдөө эрх чөлөөтэй, үүр, үе, Үе үе, ус",
    "Belarusian": "Усе людзі нараджаюцца свабоднымі і роўнымі ў сваёй годнасці і правах, яны маюць розум і сумленне",
    "Azerbaijani": "Bütün insanlar ləyaqət və hüquqlarına görə azad və bərabər doğulurlar, şəhər, gözəl, əlifba, Bakı",
    "words with digits": (
        "mp3, h264, i18n, l10n, x86_64, utf8mb4, log4j, neo4j, base64, md5sum, b2b, Б2Б, co2, СО2, p53, covid19, "
        "6летний и 3этажный, методы3, системы6, Поле3Имя, f0e1d0cafe, 0xdeadbeef, a0b1c0d1, sha1sum, vec3d, 4К"
    ),
    "Sanskrit with accents": "agním īḷe puróhitaṁ r̥tvíjam ratnadhā́tamam, r̥ṣí, kr̥ṣṇá, mr̥tyú, pitr̥bhyas, vr̥trá, pr̥thivī́",
    "Lithuanian with accents": "gim̃sta, są́žinė, var̃das, gal̃vą, dar̃bas, kal̃ba, tur̃tas, žẽmė, pir̃štas, vil̃kas",
    "Serbian with accents": "све̑т, во̀да, рука̄, гра̑д, но̀га, зе́мља, вр̂т, пр̏ст, ср̏це, тр̂г, кр̂в, смр̂т, др̏во, жр̏тва, го̏дӣна̄",
    "Guarani": "Mayma yvypóra ou ko yvy ári; g̃uarã, mbohag̃ua, og̃uahẽ, tog̃a, rag̃e, hag̃uaicha, iñapytyʼỹre ha eteĩcha",
    "Yoruba": "Gbogbo ènìyàn ni a bí ní òmìnira; iyì àti ẹ̀tọ́ kọ̀ọ̀kan sì dọ́gba. Wọ́n ní ẹ̀bùn ti làákàyè àti ti ẹ̀rí-ọkàn",
    "Indo-European roots": "*ḱm̥tóm, *wĺ̥kʷos, *septḿ̥, *n̥dʰér, *dʰéǵʰōm, *h₁éḱwos, *ph₂tḗr, *mr̥tós, *ḱr̥d, *dn̥ǵʰwéh₂s",
    "negation in logic": "A̅B̅ + C̅D̅E̅ + X̅Y̅Z̅ = A̅B̅C̅, xy̅ + x̅y, a̅b̅, AB̅, x̂ᵢ, X̄ₙ, σ̂², θ̂ₙ",
    "Sanskrit in Latin letters": "Mahābhārata, Kṛṣṇa, Rāmāyaṇa, saṃsāra, jñāna, Ṛgveda, nirvāṇa, duḥkha, śūnyatā",
    "Cherokee": "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎠᎴ ᎾᏍᎩ ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ ᎠᎴ ᎤᏂᎶᏱ",
    "Coptic": "ⲡⲛⲟⲩⲧⲉ ⲟⲩⲟϩ ⲛⲉⲙ ⲥⲉⲣⲉ ⲡϣⲏⲣⲉ ⲙⲡⲛⲟⲩⲧⲉ ⲧⲏⲣⲟⲩ",
    "Armenian": "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով օր",
    "Georgian": "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით",
    "Arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق هو ههه",
    "Bulgarian": "България е член на ЕС. Ъгълът е прав, аз съм тук, а той е там; ѝ е казано, че ѝ вярвам. А1, XX в.",
    "headings with letters apart": f"А Н Н О Т А Ц И Я\n\n{RUSSIAN}\n\nП О С Т А Н О В И Л:\n\n{RUSSIAN}",
    "Ukrainian": "Усі люди народжуються вільними і рівними у своїй гідності та правах, мають розум і совість",
    "Serbian": "Сва људска бића рађају се слободна и једнака у достојанству. Јесен је, ја јој кажем",
    "Kazakh": "Барлық адамдар тумысынан азат және қадір-қасиеті мен құқықтары тең болып келеді, һәм әділ",
    "Turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar: akıl, ışık ılık, kırmızı",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα",
    "Persian": "می\u200cخواهم کتاب\u200cها را بخوانم و نمی\u200cتوانم آن\u200cها را پیدا کنم",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में स्वतन्त्रता क्\u200dया है",
    "Thai": "มนุษย์\u200bทั้งหลาย\u200bเกิด\u200bมา\u200bมี\u200bอิสระ\u200bและ\u200bเสมอ\u200bภาค\u200bกัน",
    "Hebrew with points and directions": "\u202bשָׁלוֹם עֲלֵיכֶם\u202c hello \u200eabc\u200e שלום",
    "Chinese with full-width letters": "使用ＡＢＣＤ公司的ＷＩＦＩ和ＵＳＢＣ接口，ＨＴＭＬ５以及ＪＡＶＡ",
    "Chinese with blanks": "我 们 大 家 都 是 人 你 好 世 界",
    "Church Slavonic": "Бг҃ъ гл҃ет, ст҃ый хрⷭ҇то́съ, оц҃ъ и҆ сн҃ъ, млⷭ҇ть бж҃їѧ, дх҃ъ",
    "long names that may break": "get\u200bElement\u200bById, ground_\u200bcolor, add\u200bEvent",
    "stray characters between words": "\ufeffТекст \u200bс лишними\u200b знаками \u200b тут,\u200b да. " * 5,
    "a slip of the keyboard": RUSSIAN + " Пoсле этого cледующий пoсле.",
    "one slip many times": RUSSIAN + " Pусский" * 40,
}


@pytest.mark.covers("T5")
@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_honest_writing_raises_no_alarm(text: str) -> None:
    result = find_disguise(text)
    assert not result.alarm, result.to_dict()


QUIET = (
    "science in Russian and English",
    "glued words",
    "names with underlines",
    "Roman numerals typed with Cyrillic letters",
    "stress marks",
    "Unicode taken apart",
    "phonetic transcription",
    "emoji",
    "emoji with variation selectors",
    "chemistry",
    "mathematics",
    "medicine",
    "geometry",
    "designations",
    "addresses",
    "programming",
    "initials",
    "labels of electricians",
    "units of two alphabets",
    "angles and sides",
    "names of firms",
    "names of a platform",
    "sizes",
    "the old spelling, typed with a Latin i",
    "Greek letters beside others",
    "Greek letters in formulas",
    "fraternities",
    "Greek words in English",
    "Greek inside English",
    "Greek in capitals",
    "other alphabets inside English and Russian",
    "indices",
    "Roman numerals as one letter",
    "letters with strokes",
    "Macedonian",
    "Mongolian",
    "Belarusian",
    "Azerbaijani",
    "words with digits",
    "Sanskrit with accents",
    "Lithuanian with accents",
    "Serbian with accents",
    "Guarani",
    "Yoruba",
    "negation in logic",
    "Sanskrit in Latin letters",
    "Cherokee",
    "Coptic",
    "Armenian",
    "Georgian",
    "Arabic",
    "Bulgarian",
    "Serbian",
    "Turkish",
    "Persian",
)


@pytest.mark.parametrize("name", QUIET)
def test_honest_writing_is_not_even_mentioned(name: str) -> None:
    assert find_disguise(HONEST[name]) == Disguise()


# Soft hyphens

TYPESET = (
    "По\u00adиск не\u00adчёт\u00adких дуб\u00adли\u00adка\u00adтов ну\u00adжен там, где один и тот же текст "
    "хра\u00adнит\u00adся мно\u00adго раз с не\u00adболь\u00adши\u00adми от\u00adли\u00adчи\u00adями. "
    "Each doc\u00adu\u00adment is di\u00advid\u00aded in\u00adto over\u00adlap\u00adping se\u00adquences. "
)


@pytest.mark.covers("T5")
def test_typeset_soft_hyphens_are_told_without_an_alarm() -> None:
    found = finding(find_disguise(TYPESET * 20), "invisible")
    assert not found.alarm
    assert found.characters == TYPESET.count("\u00ad") * 20
    assert folded(TYPESET) == folded(TYPESET.replace("\u00ad", ""))


def test_a_few_misplaced_soft_hyphens_in_typeset_text_are_slips() -> None:
    assert not find_disguise(TYPESET * 20 + "п\u00adоиск текст\u00adа дубликат\u00adы").alarm


# Thresholds of the alarm


def test_two_words_are_no_alarm_three_are() -> None:
    assert not find_disguise("Один oбычный тeкст.").alarm
    assert find_disguise("Один oбычный тeкст и пoдмена.").alarm


def test_exactly_at_the_threshold_of_one_percent() -> None:
    rest = [f"слово{chr(0x430 + i // 30)}{chr(0x430 + i % 30)}" for i in range(297)]
    bad = ["oбычный", "тeкст", "пoдмена"]
    assert find_disguise(" ".join(bad + rest)).alarm  # 3 of 300
    assert not find_disguise(" ".join([*bad, *rest, "ещё"])).alarm  # 3 of 301


def test_numbers_are_no_words_of_the_share() -> None:
    assert find_disguise("oбычный тeкст пoдмена " + "1 " * 1000).alarm


def test_a_swapped_passage_inside_a_long_honest_text() -> None:
    passage = RUSSIAN[:200].translate(TO_LATIN)
    long = f"{RUSSIAN} " * 100
    assert find_disguise(f"{long}\n{passage}\n{long}").alarm
    spread = f"\n{long}\n".join(passage.split()[:10])
    assert not find_disguise(spread).alarm


def test_words_of_look_alikes_alone_are_counted_once_the_alarm_is_raised() -> None:
    text = "oса и oбычный тeкст пoдмена cop"
    found = finding(find_disguise(text), "lookalike")
    assert [text[s:e] for s, e in found.spans] == ["oса", "oбычный", "тeкст", "пoдмена", "cop"]
    assert found.characters == 7


def test_invisible_characters_outside_of_words_are_told() -> None:
    found = finding(find_disguise("Текст \u200b\u200bи ещё\u2060, конец"), "invisible")
    assert (found.words, found.characters, found.alarm) == (0, 3, False)
    assert [tuple(span) for span in found.spans] == [(6, 8), (13, 14)]


def test_one_text_of_a_batch() -> None:
    texts = ["Один oбычный тeкст и пoдмена.", "", RUSSIAN]
    batch = Canon().tokens(texts)
    assert [find_disguise_in(text, batch, i) for i, text in enumerate(texts)] == [
        find_disguise(t) for t in texts
    ]
    assert find_disguise_in(texts[0], batch, 0).alarm


def test_places_above_the_basic_plane() -> None:
    text = "😀😀 oбычный"
    assert finding(find_disguise(text), "lookalike").spans == ((3, 10),)


def test_no_quadratic_time() -> None:
    size = 20_000
    hostile = [
        "\u200b" * size,
        "a\u200b" * size,
        "a \u200b " * size,
        "а" + "\u0301" * size,
        "а\u0301" * size,
        "oб " * size,
        "oб" * size,
        "o б " * size,
        "ɪ" * size,
        "a_б" * size,
        "\ud800oб" * size,
        "𝐚" * size,
    ]
    for text in hostile:
        began = time.perf_counter()
        result = find_disguise(text)
        assert time.perf_counter() - began < 10, text[:10]
        assert all(e <= len(text) for f in result.findings for _, e in f.spans)


@pytest.mark.covers("T5")
@pytest.mark.parametrize(
    ("text", "letters"),
    [(RUSSIAN, "оО"), (RUSSIAN, "зЗ"), (RUSSIAN, "бБ"), (ENGLISH, "oO")],
    ids=["0 for о", "3 for з", "6 for б", "0 for o"],
)
def test_digits_for_letters_are_told(text: str, letters: str) -> None:
    digit = {"о": "0", "з": "3", "б": "6", "o": "0"}[letters[0]]
    hidden = text.translate({ord(letter): digit for letter in letters})
    found = finding(find_disguise(hidden), "digits")
    assert found.alarm
    assert all(digit in hidden[start:end] for start, end in found.spans)
    # At the ends of words and in short ones they may be honest.
    assert 0.3 * hidden.count(digit) <= found.characters <= hidden.count(digit)


@pytest.mark.covers("T5")
@pytest.mark.parametrize(
    "blank", ["\u2003", "\u2007", "\u200a", "\u205f", "\u2800", "\u3000", "\u2003\u2003"]
)
@pytest.mark.parametrize("text", [RUSSIAN, ENGLISH], ids=["Russian", "English"])
def test_blanks_that_no_keyboard_has_raise_the_alarm(text: str, blank: str) -> None:
    hidden = text.replace(" ", blank)
    found = finding(find_disguise(hidden), "blanks")
    assert found.alarm
    assert all(hidden[start - 1] == blank[0] for start, _ in found.spans)
    assert doublet.compare(hidden, text).share == 1.0


@pytest.mark.covers("T5")
@pytest.mark.parametrize(
    "honest",
    [
        RUSSIAN.replace(" ", "\u00a0"),
        RUSSIAN.replace(" ", "\u202f"),
        "Он прожил 12\u2009000 дней, 5\u2009% из них у моря. А.\u2009С.\u2009Пушкин\u2009— поэт. " * 20,
        "雪は\u3000静かに ABC\u3000DEF 降る。" * 20,
        RUSSIAN + " Одно\u2003слово.",
    ],
    ids=["do not break", "narrow", "thin", "Japanese", "once"],
)
def test_blanks_of_typesetting_are_honest(honest: str) -> None:
    assert not any(one.kind == "blanks" and one.alarm for one in find_disguise(honest).findings)


@pytest.mark.covers("T5")
@pytest.mark.parametrize("way", ["the whole text", "word by word"])
def test_words_written_backwards_behind_a_direction_sign_raise_the_alarm(way: str) -> None:
    turned = {
        "the whole text": f"\u202e{RUSSIAN[::-1]}\u202c",
        "word by word": " ".join(f"\u202e{word[::-1]}\u202c" for word in RUSSIAN.split()),
    }[way]
    found = finding(find_disguise(turned), "turned")
    assert found.alarm
    words = [turned[start:end][::-1] for start, end in found.spans if end - start > 1]
    longer = re.findall(r"\w{2,}", RUSSIAN)
    assert words == (longer[::-1] if way == "the whole text" else longer)
    assert found.characters == pytest.approx(sum(map(str.isalpha, RUSSIAN)), rel=0.03)
    assert not find_disguise(f"{RUSSIAN} \u202e!\u202c שלום עליכם \u202eabc\u202c").alarm


@pytest.mark.covers("T5")
def test_labels_are_counted_once_the_alarm_is_raised() -> None:
    text = f"{RUSSIAN.translate(TO_LATIN)} Ток Iвых и Uвх."
    words = [text[start:end] for start, end in finding(find_disguise(text), "lookalike").spans]
    assert {"Iвых", "Uвх"} <= set(words)


def test_invisible_characters_are_looked_for_in_ranges() -> None:
    """Thousands of single characters in one class would be tried one after the other, at every place."""
    assert len(_invisible_runs().pattern) < 500
    text = " ".join(f"при\u200bмер{number}" for number in range(1000))
    assert finding(find_disguise(text), "invisible").words == 1000


def test_dashes_of_another_code_page_part_words() -> None:
    """A dash of windows-1252 read as Latin-1, or cut to its last byte, is a control character: it parts words."""
    assert folded("one\x97two don\x92t it\x19s one\x14two") == folded("one—two don’t it’s one—two")
