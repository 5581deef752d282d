"""M7 to M10, M12 and M13 on cases small enough to work out by hand."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest

from doublet.errors import SignatureDamaged, SignatureError, SignatureTooNew
from doublet.model import Measures, Signature
from doublet.signatures import CollectionStatistics, Method, PivotWords, gather_statistics, method
from doublet.signatures.imatch import IMatch, middle_words
from doublet.signatures.pivot import PivotParameters
from doublet.signatures.tfidf import bm25_weights
from doublet.signatures.tfridf import tfridf_weights
from doublet.text.tokens import Canon

PLAIN = {"stop_words": False, "min_letters": 1, "reduce": "none"}


def signed(by: Method, text: str) -> Signature:
    signature = by.sign(text)
    assert signature is not None
    return signature


def compared(by: Method, a: str, b: str) -> Measures:
    return by.compare(signed(by, a), signed(by, b))


def crc(words: str) -> int:
    return zlib.crc32(words.encode())


@pytest.mark.covers("M7")
class TestLongSent:
    LONG = "Смотритель каждые четыре часа поднимался по винтовой лестнице и записывал в журнал ветер и волну."
    OTHER = "Башню сложили из серого гранита, который ломали тут же, недалеко от воды."
    SHORT = "Маяк стоит на мысе."

    def test_it_works(self) -> None:
        made = method("longsent")
        a = f"{self.SHORT} {self.LONG} {self.OTHER}"
        b = f"Совсем другое начало. {self.LONG} Коротко. {self.OTHER} Конец."
        assert compared(made, a, b) == Measures(1.0, None, True)
        assert signed(made, a).size == 15 + 12

    def test_order_of_sentences_does_not_matter(self) -> None:
        made = method("longsent")
        assert compared(made, f"{self.LONG} {self.OTHER}", f"{self.OTHER} {self.SHORT} {self.LONG}").similar

    def test_a_changed_long_sentence(self) -> None:
        made = method("longsent")
        changed = self.LONG.replace("журнал", "тетрадь")
        assert compared(made, f"{self.LONG} {self.OTHER}", f"{changed} {self.OTHER}") == Measures(
            0.0, None, False
        )

    def test_a_sentence_that_stands_twice_counts_once(self) -> None:
        made = method("longsent")
        assert compared(made, f"{self.LONG} {self.OTHER}", f"{self.LONG} {self.LONG} {self.OTHER}").similar

    def test_one_sentence(self) -> None:
        made = method("longsent")
        assert signed(made, self.LONG).size == 15
        assert not compared(made, self.LONG, f"{self.LONG} {self.OTHER}").similar

    @pytest.mark.parametrize(("words", "enough"), [(5, False), (6, True)])
    def test_too_little(self, words: int, enough: bool) -> None:
        text = " ".join(["Слово", *(f"слово{n}" for n in range(1, words))]) + "."
        assert (method("longsent").sign(text) is not None) == enough

    def test_number_of_sentences(self) -> None:
        one = method("longsent", sentences=1)
        assert compared(one, f"{self.LONG} {self.OTHER}", f"{self.LONG} {self.SHORT}").similar

    def test_sentences_of_equal_length(self) -> None:
        made = method("longsent", sentences=1)
        a, b = "Первый второй третий четвёртый пятый шестой.", "Один два три четыре пять шесть."
        assert compared(made, f"{a} {b}", f"{b} {a}").similar

    def test_texts_around_an_empty_one_stay_apart(self) -> None:
        made = method("longsent")
        many = made.sign_texts([self.LONG, "", "—", self.OTHER])
        assert many[1] is None
        assert many[2] is None
        assert many[0] is not None
        assert many[0].values.tolist() == signed(made, self.LONG).values.tolist()


@pytest.mark.covers("M8")
class TestTF:
    def test_it_works(self) -> None:
        made = method("tf", words=2, **PLAIN)
        signature = signed(made, "маяк волна маяк волна берег маяк")
        assert int(signature.values[0]) == crc("волна маяк")
        assert signature.size == 6

    def test_of_equals_the_first_in_the_alphabet(self) -> None:
        made = method("tf", words=2, **PLAIN)
        assert int(signed(made, "яма дом берег").values[0]) == crc("берег дом")

    def test_six_words_of_stems_without_small_words(self) -> None:
        signature = signed(
            method("tf"), "Маяки и маяк, на волне у волны: берег, камень, ветер, журнал, ёлка, он"
        )
        # волн and маяк twice, the others once: of these the first four of the alphabet
        assert int(signature.values[0]) == crc("берег ветер волн елк журна маяк")

    @pytest.mark.parametrize(
        ("text", "enough"), [("раз два три четыре пять", False), ("раз два три четыре пять шесть", True)]
    )
    def test_too_little(self, text: str, enough: bool) -> None:
        assert (method("tf", **PLAIN).sign(text) is not None) == enough

    def test_measures(self) -> None:
        made = method("tf", words=3, **PLAIN)
        # берег, волна, маяк and берег, ветер, маяк: two of four words
        assert compared(made, "маяк волна берег", "маяк ветер берег") == Measures(0.5, None, False)

    def test_a_collision_of_the_checksum_is_no_match(self) -> None:
        made = method("tf", words=2, **PLAIN)
        a, b = signed(made, "маяк волна"), signed(made, "дом берег")
        b = Signature(b.recipe, np.concatenate([a.values[:1], b.values[1:]]), b.size)
        assert made.keys(a).tolist() == made.keys(b).tolist()
        assert not made.compare(a, b).similar


DOCUMENTS = [
    "маяк маяк маяк волна дом",
    "волна дом берег ветер",
    "дом ветер ветер камень",
    "дом книга книга книга книга",
]


def counted(documents: list[str] = DOCUMENTS) -> CollectionStatistics:
    out = CollectionStatistics(Canon())
    out.add_texts(documents)
    return out


@pytest.mark.covers("M9")
class TestTFIDF:
    def test_it_works(self) -> None:
        made = method("tfidf", statistics=counted(), words=2)
        # маяк 3/5·log 4, волна 1/5·log 2, дом 0
        assert int(signed(made, DOCUMENTS[0]).values[0]) == crc("волна маяк")

    def test_unknown_words_are_not_chosen(self) -> None:
        made = method("tfidf", statistics=counted(), words=2)
        assert int(signed(made, DOCUMENTS[0] + " фонарь фонарь фонарь").values[0]) == crc("волна маяк")
        assert made.sign("фонарь лампа стекло маяк") is None

    def test_bm25_by_hand(self) -> None:
        statistics = counted()
        rarity = statistics.idf(["маяк"])
        weight = bm25_weights(np.array([3.0]), np.array([5.0]), statistics.mean_words, rarity)
        mean = 18 / 4
        assert statistics.mean_words == mean
        expected = math.log(4) * 3 * 3.0 / (3 + 2.0 * (1 - 0.75 + 0.75 * 5 / mean))
        assert weight[0] == pytest.approx(expected)

    def test_bm25_evens_out_repeats(self) -> None:
        """TF-IDF takes the word that is repeated; BM25 with k1 = 0 looks at rarity alone."""
        text = "ветер ветер ветер ветер ветер камень маяк"
        plain = method("tfidf", statistics=counted(), words=1)
        flat = method("tfidf", statistics=counted(), words=1, weighting="bm25", k1=0)
        assert int(signed(plain, text).values[0]) == crc("ветер")
        assert int(signed(flat, text).values[0]) == crc("камень")

    def test_an_empty_collection(self) -> None:
        for weighting in ("tfidf", "bm25"):
            made = method("tfidf", statistics=CollectionStatistics(Canon()), words=1, weighting=weighting)
            assert made.sign("маяк волна") is None

    def test_later_changes_of_the_collection_do_not_reach_the_method(self) -> None:
        statistics = counted()
        made = method("tfidf", statistics=statistics, words=2)
        before = signed(made, DOCUMENTS[1])
        statistics.add_texts(["волна"] * 50)
        assert signed(made, DOCUMENTS[1]).values.tolist() == before.values.tolist()
        assert made.recipe.statistics == counted().fingerprint()
        assert method("tfidf", statistics=statistics, words=2).recipe != made.recipe


@pytest.mark.covers("M10")
class TestTFRIDF:
    def test_the_formulas(self) -> None:
        weight = tfridf_weights(np.array([3.0]), np.array([4.0]), np.array([2]), np.array([7]), 10)
        tf = 0.5 + 0.5 * 3 / 4
        idf = -math.log(2 / 10)
        p_idf = -math.log(1 - math.exp(-7 / 10))
        assert weight[0] == pytest.approx(tf * (idf - p_idf), rel=1e-12)

    def test_a_word_that_stands_once_weighs_nothing(self) -> None:
        one = np.array([1.0])
        assert abs(tfridf_weights(one, one, np.array([1]), np.array([1]), 1_000_000)[0]) < 1e-6

    def test_unknown_and_everywhere(self) -> None:
        weights = tfridf_weights(np.ones(2), np.ones(2), np.array([0, 10]), np.array([0, 10_000_000]), 10)
        assert weights[0] == 0.0
        assert weights[1] == pytest.approx(0.0, abs=1e-9)

    def test_it_works(self) -> None:
        made = method("tfridf", statistics=counted(), words=2)
        # RIDF of маяк (df 1, cf 3) is far above that of волна (df 2, cf 2) and дом (df 4, cf 4).
        weights = {
            word: tfridf_weights(np.array([tf]), np.array([3.0]), np.array([df]), np.array([cf]), 4)[0]
            for word, tf, df, cf in (("маяк", 3.0, 1, 3), ("волна", 1.0, 2, 2), ("дом", 1.0, 4, 4))
        }
        heaviest = " ".join(sorted(sorted(weights, key=lambda word: (-weights[word], word))[:2]))
        assert int(signed(made, DOCUMENTS[0]).values[0]) == crc(heaviest)
        assert "маяк" in heaviest

    def test_the_method_uses_the_same_weights(self) -> None:
        statistics = counted()
        words = ["ветер", "камень", "дом"]
        bulk = tfridf_weights(
            np.array([2.0, 1, 1]), np.full(3, 2.0), statistics.df(words), statistics.cf(words), 4
        )
        order = [words[i] for i in np.lexsort((np.array(words), -np.round(bulk, 10)))]
        for count in (1, 2, 3):
            made = method("tfridf", statistics=statistics, words=count)
            assert int(signed(made, DOCUMENTS[2]).values[0]) == crc(" ".join(sorted(order[:count])))

    def test_stable_when_frame_words_are_everywhere(self) -> None:
        pages = [f"меню вход поиск {words}" for words in DOCUMENTS]
        made = method("tfridf", statistics=counted(pages), words=1)
        assert int(signed(made, pages[0]).values[0]) == crc("маяк")


@pytest.mark.covers("M12")
class TestIMatch:
    def test_the_lexicon(self) -> None:
        statistics = counted()
        # log₂(4/df): маяк, берег, камень, книга 2; волна, ветер 1; дом 0. Mean 10/7 = 1.43
        assert middle_words(statistics, 0.5) == {"волна", "ветер"}
        assert middle_words(statistics, 0.8) == {"маяк", "берег", "камень", "книга", "волна", "ветер"}
        assert middle_words(statistics, 2.0) == set(statistics.counts())
        assert middle_words(CollectionStatistics(), 2.0) == frozenset()

    def test_a_word_exactly_at_the_edge_is_in(self) -> None:
        statistics = CollectionStatistics(Canon())
        statistics.add_texts(["г б", "б"])  # log₂: 1 and 0, mean 0.5
        assert middle_words(statistics, 0.5) == {"г", "б"}
        assert middle_words(statistics, 0.49) == frozenset()

    def test_it_works(self) -> None:
        made = method("imatch", statistics=counted(), min_words=2)
        assert compared(made, DOCUMENTS[1], "Ветер, волна, берег!") == Measures(1.0, None, True)
        assert signed(made, DOCUMENTS[1]).size == 3
        assert len(signed(made, DOCUMENTS[1]).values) == 11

    def test_common_and_unknown_words_do_no_harm(self) -> None:
        made = method("imatch", statistics=counted(), min_words=2)
        assert compared(made, DOCUMENTS[1], "ветер дом дом волна фонарь берег").resemblance == 1.0

    def test_a_changed_word_is_forgiven_where_it_was_left_out(self) -> None:
        words = [f"слово{n}" for n in range(12)]
        statistics = CollectionStatistics(Canon())
        statistics.add_texts([" ".join(words), " ".join(words), *words])
        made = method("imatch", statistics=statistics, lexicons=20, idf_width=100)
        plain = method("imatch", statistics=statistics, lexicons=0, idf_width=100)
        a, b = " ".join(words), " ".join(words[1:])
        assert not compared(plain, a, b).similar
        measures = compared(made, a, b)
        assert measures.similar
        assert 0.1 < measures.resemblance < 0.7  # about a third of the lexicons have no word 0

    def test_each_lexicon_leaves_out_its_own_third(self) -> None:
        made = IMatch(method("imatch", statistics=counted()).parameters, counted())
        hashes = np.arange(1, 20_001, dtype=np.uint64)
        assert made.kept(hashes, 0).all()
        first, second = made.kept(hashes, 1), made.kept(hashes, 2)
        assert first.mean() == pytest.approx(0.67, abs=0.02)
        assert (first & second).mean() == pytest.approx(0.67**2, abs=0.02)

    def test_too_little(self) -> None:
        made = method("imatch", statistics=counted(), min_words=3)
        assert made.sign("волна ветер дом дом") is None
        assert made.sign("волна ветер берег") is not None

    def test_lexicons_in_which_too_little_is_left_have_no_hash(self) -> None:
        made = method("imatch", statistics=counted(), min_words=3)
        signature = signed(made, "волна ветер берег")
        assert int(signature.values[0]) != 0
        assert (signature.values == 0).any()
        assert len(made.keys(signature)) == np.count_nonzero(signature.values)

    def test_missing_hashes_do_not_agree(self) -> None:
        made = method("imatch", statistics=counted(), min_words=3)
        assert not compared(made, "волна ветер берег", "маяк книга камень").similar


def chosen(texts: list[str], **settings: int) -> PivotWords:
    words = gather_statistics("pivot", texts, **PLAIN, **settings)
    assert isinstance(words, PivotWords)
    return words


@pytest.mark.covers("M13")
class TestPivot:
    def test_it_works(self) -> None:
        texts = [
            "маяк маяк маяк маяк волна берег",
            "маяк маяк маяк маяк ветер",
            "книга книга книга стол",
            "книга книга лампа",
        ]
        words = chosen(texts, depth=1)
        # Two words that fill their documents cover all four.
        assert set(words.words) == {"книга", "маяк"}
        made = method("pivot", statistics=words, min_pivots=1)
        assert compared(made, texts[0], texts[1]) == Measures(1.0, None, True)
        assert compared(made, texts[0], texts[2]) == Measures(0.0, None, False)

    def test_a_rare_use_of_a_word_does_not_count(self) -> None:
        texts = ["маяк маяк маяк волна", "маяк маяк берег", "книга " * 10 + "маяк", "книга книга стол"]
        made = method("pivot", statistics=chosen(texts, depth=1), min_pivots=1)
        assert compared(made, texts[2], texts[3]).similar  # маяк stands in one of them, but seldom

    def test_a_threshold_lies_where_few_documents_are(self) -> None:
        """Half of the documents use the word most, half at a tenth: the threshold is far from both."""
        texts = [f"маяк маяк маяк маяк маяк маяк маяк маяк маяк маяк слово{n}" for n in range(10)]
        texts += [f"{'книга ' * 10} маяк другое{n}" for n in range(10)]
        words = chosen(texts, depth=1)
        step = int(words.steps[words.words.index("маяк")])
        assert 0.1 * 40 + 2 <= step <= 40 - 2

    def test_every_document_is_covered_so_often(self) -> None:
        texts = [" ".join(f"слово{(n * k) % 31}" for k in range(1, 9)) for n in range(1, 30)]
        for depth in (1, 3):
            made = method("pivot", statistics=chosen(texts, depth=depth), min_pivots=1)
            assert all(signed(made, text).size >= depth for text in texts)

    def test_at_most_so_many_words(self) -> None:
        texts = [f"слово{n} слово{n + 1} общее{n % 3}" for n in range(50)]
        assert len(chosen(texts, pivots=5)) == 5

    def test_few_words_cover_much(self) -> None:
        texts = [f"общее общее слово{n}" for n in range(50)]
        assert chosen(texts, depth=1).words == ("общее",)

    def test_exact_copies_and_order_make_no_difference(self) -> None:
        texts = [" ".join(f"слово{(n * k) % 31}" for k in range(1, 9)) for n in range(1, 40)]
        one, two = chosen(texts), chosen([*reversed(texts), *texts])
        assert one.fingerprint() == two.fingerprint()

    def test_a_sample_does_not_depend_on_the_order(self) -> None:
        texts = [" ".join(f"слово{(n * k) % 97}" for k in range(1, 9)) for n in range(1, 90)]
        one, two = chosen(texts, sample=20), chosen(texts[::-1], sample=20)
        assert one.fingerprint() == two.fingerprint()
        assert one.fingerprint() != chosen(texts).fingerprint()

    def test_an_empty_collection(self) -> None:
        words = chosen([])
        assert len(words) == 0
        assert method("pivot", statistics=words).sign("маяк волна") is None
        assert len(chosen(["", "—"])) == 0

    def test_resemblance_is_the_share_of_common_bits(self) -> None:
        texts = ["маяк волна", "волна берег", "берег маяк"]
        made = method("pivot", statistics=chosen(texts, depth=2), min_pivots=1)
        assert compared(made, "маяк волна", "волна берег") == Measures(1 / 3, None, False)

    def test_more_than_64_words(self) -> None:
        texts = [f"слово{n}" for n in range(200)]
        made = method("pivot", statistics=chosen(texts), min_pivots=1)
        signatures = [signed(made, text) for text in texts]
        assert len(signatures[0].values) == 4
        assert len({tuple(s.values.tolist()) for s in signatures}) == 200
        assert signed(made, " ".join(texts)).size == 200

    def test_too_little(self) -> None:
        texts = ["маяк волна берег", "ветер камень"]
        made = method("pivot", statistics=chosen(texts), min_pivots=3)
        assert made.sign(texts[0]) is not None
        assert made.sign(texts[1]) is None

    def test_bytes_and_back(self) -> None:
        words = chosen(["маяк волна берег", "ветер камень"])
        back = PivotWords.from_bytes(words.to_bytes())
        assert back.fingerprint() == words.fingerprint()
        assert back.words == words.words
        assert method("pivot", statistics=back).recipe == method("pivot", statistics=words).recipe

    def test_damaged_and_too_new_bytes(self) -> None:
        data = chosen(["маяк волна берег"]).to_bytes()
        with pytest.raises(SignatureDamaged, match="list of pivot words"):
            PivotWords.from_bytes(data[:-9] + data[-8:])
        with pytest.raises(SignatureTooNew):
            PivotWords.from_bytes(data[:4] + b"\xff\x00" + data[6:])
        with pytest.raises(SignatureError):
            PivotWords.from_bytes(b"")

    def test_parameters_of_the_choice_are_no_part_of_the_recipe(self) -> None:
        names = {name for name, _ in PivotParameters().signing()}
        assert names == {"extra_stop_words", "min_letters", "min_pivots", "reduce", "stop_words"}
