"""M1 to M6 on cases small enough to work out by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from doublet import kernels
from doublet.kernels.data import MINHASH_PRIME
from doublet.model import Measures, Signature
from doublet.signatures import Method, agreement_probability, curve, method
from doublet.signatures.minhash import band_probability, choose_bands, hash_functions, pack, unpack
from doublet.signatures.mixing import mix, splitmix64
from doublet.signatures.shingled import prefix


def signed(by: Method, text: str) -> Signature:
    signature = by.sign(text)
    assert signature is not None
    return signature


def compared(by: Method, a: str, b: str) -> Measures:
    return by.compare(signed(by, a), signed(by, b))


def numbered(start: int, stop: int) -> str:
    return " ".join(f"w{number}" for number in range(start, stop))


@pytest.mark.covers("M1")
class TestShingles:
    def test_it_works(self) -> None:
        made = method("shingles", shingle_words=2)
        # {aa bb, bb cc, cc dd} and {bb cc, cc dd, dd ee}: two of four in common
        assert compared(made, "aa bb cc dd", "bb cc dd ee") == Measures(0.5, (2 / 3, 2 / 3), True)

    def test_containment_is_not_symmetric(self) -> None:
        made = method("shingles", shingle_words=2)
        measures = compared(made, "bb cc dd", "aa bb cc dd ee ff")
        assert measures.containment == (1.0, 2 / 5)
        assert not measures.similar
        assert compared(
            method("shingles", shingle_words=2, containment=1.0), "bb cc dd", "aa bb cc dd ee ff"
        ).similar
        assert compared(
            method("shingles", shingle_words=2, containment=1.0), "aa bb cc dd ee ff", "bb cc dd"
        ).similar

    def test_exactly_at_the_threshold(self) -> None:
        assert compared(
            method("shingles", shingle_words=2, threshold=0.5), "aa bb cc dd", "bb cc dd ee"
        ).similar
        assert not compared(
            method("shingles", shingle_words=2, threshold=0.51), "aa bb cc dd", "bb cc dd ee"
        ).similar

    def test_repeats_count_once(self) -> None:
        made = method("shingles", shingle_words=1)
        assert signed(made, "aa bb aa bb aa").size == 2

    def test_shorter_than_a_shingle(self) -> None:
        made = method("shingles", shingle_words=4)
        assert signed(made, "a b").size == 1
        assert compared(made, "a b", "A, b!").resemblance == 1.0
        assert compared(made, "a b", "a b c d").resemblance == 0.0  # its first two words are no shingle of it
        assert compared(made, "a b", "b a").resemblance == 0.0

    def test_stop_words_and_stems(self) -> None:
        made = method("shingles", shingle_words=2, stop_words=True, reduce="stem")
        assert compared(made, "договор и поставка товара", "договоры поставки товаров").resemblance == 1.0

    def test_characters(self) -> None:
        made = method("shingles", shingle_chars=3)
        # "ab cd": {"ab ", "b c", " cd"}, "ab ce": {"ab ", "b c", " ce"}
        assert compared(made, "Ab — CD", "ab ce").resemblance == 0.5
        assert signed(made, "ab").size == 1

    def test_characters_of_changed_words(self) -> None:
        made = method("shingles", shingle_chars=3, stop_words=True)
        assert compared(made, "маяк и волна", "маяк волна").resemblance == 1.0
        plain = method("shingles", shingle_chars=3)
        assert compared(plain, "маяк и волна", "маяк волна").resemblance < 1.0

    def test_characters_of_the_canonical_text_are_the_joined_words(self) -> None:
        """Both ways to the characters agree: words left out that do not occur change nothing."""
        text = "Маяк — на мысу; IEEE-754, «ёлки»!"
        one = signed(method("shingles", shingle_chars=4), text)
        two = signed(method("shingles", shingle_chars=4, extra_stop_words=["нетакого"]), text)
        assert one.values.tolist() == two.values.tolist()

    def test_keys_hold_the_prefix(self) -> None:
        made = method("shingles", shingle_words=1, threshold=0.8)
        signature = signed(made, numbered(0, 10))
        assert made.keys(signature).tolist() == signature.values[:3].tolist()  # 10 − 8 + 1
        everything = method("shingles", shingle_words=1, containment=0.8)
        assert len(everything.keys(signature)) == 10


@pytest.mark.parametrize(
    ("size", "threshold", "expected"),
    [(1, 1.0, 1), (1, 0.01, 1), (10, 1.0, 1), (10, 0.5, 6), (30, 0.1, 28), (7, 0.3, 5), (3, 0.001, 3)],
)
def test_prefix(size: int, threshold: float, expected: int) -> None:
    assert len(prefix(np.arange(size, dtype=np.uint64), threshold)) == expected


@pytest.mark.covers("M2")
class TestMultiples:
    def test_it_works(self) -> None:
        made = method("multiples", shingle_words=1, modulus=3)
        every = signed(method("shingles", shingle_words=1), numbered(0, 300))
        sample = signed(made, numbered(0, 300))
        assert sample.values.tolist() == [v for v in every.values.tolist() if v % 3 == 0]
        assert sample.size == 300

    def test_measures_are_of_the_samples(self) -> None:
        made = method("multiples", shingle_words=1, modulus=3)
        a, b = signed(made, numbered(0, 300)), signed(made, numbered(100, 300))
        left, right = set(a.values.tolist()), set(b.values.tolist())
        measures = made.compare(a, b)
        assert measures.resemblance == len(left & right) / len(left | right)
        assert measures.containment == (len(left & right) / len(left), 1.0)
        assert abs(measures.resemblance - 2 / 3) < 0.15

    def test_too_small_a_sample(self) -> None:
        made = method("multiples", shingle_words=1, modulus=3)
        sizes = [
            (
                sum(
                    v % 3 == 0
                    for v in signed(method("shingles", shingle_words=1), numbered(0, n)).values.tolist()
                ),
                n,
            )
            for n in range(1, 40)
        ]
        for found, n in sizes:
            assert (made.sign(numbered(0, n)) is None) == (found < 4)
        assert {found >= 4 for found, _ in sizes} == {True, False}

    def test_modulus_one_keeps_all(self) -> None:
        one = signed(method("multiples", modulus=1), numbered(0, 50))
        assert one.values.tolist() == signed(method("shingles"), numbered(0, 50)).values.tolist()


@pytest.mark.covers("M3")
class TestSmallest:
    def test_it_works(self) -> None:
        made = method("smallest", shingle_words=1, count=10)
        every = signed(method("shingles", shingle_words=1), numbered(0, 100))
        assert signed(made, numbered(0, 100)).values.tolist() == every.values[:10].tolist()
        assert signed(made, numbered(0, 100)).size == 100

    def test_short_texts_are_compared_exactly(self) -> None:
        made, exact = method("smallest", shingle_words=1), method("shingles", shingle_words=1)
        a, b = numbered(0, 60), numbered(20, 90)
        assert compared(made, a, b).resemblance == compared(exact, a, b).resemblance == 40 / 90
        assert compared(made, a, b).containment is None

    def test_the_smallest_of_both_together(self) -> None:
        made = method("smallest", shingle_words=1, count=20)
        a, b = signed(made, numbered(0, 200)), signed(made, numbered(50, 260))
        union = sorted({*a.values.tolist(), *b.values.tolist()})[:20]
        common = set(a.values.tolist()) & set(b.values.tolist())
        assert made.compare(a, b).resemblance == sum(value in common for value in union) / 20

    def test_a_short_text_and_a_long_one(self) -> None:
        made = method("smallest", shingle_words=1, count=160)
        assert compared(made, numbered(0, 5), numbered(0, 5000)).resemblance < 0.05


@pytest.mark.covers("M4")
class TestMinHash:
    def test_it_works(self) -> None:
        measures = compared(method("minhash"), numbered(0, 303), numbered(0, 303))
        assert measures == Measures(1.0, None, True)

    def test_the_estimate_is_near_the_resemblance(self) -> None:
        made = method("minhash", functions=1024, shingle_words=1)
        for shift, truth in ((100, 300 / 500), (20, 380 / 420), (300, 100 / 700)):
            estimate = compared(made, numbered(0, 400), numbered(shift, 400 + shift)).resemblance
            assert abs(estimate - truth) < 4 * math.sqrt(truth * (1 - truth) / 1024)

    def test_the_functions_are_of_our_own_generator(self) -> None:
        # The first numbers of splitmix64 from 1234567 are published with its reference code.
        expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
        assert splitmix64(1234567, 4).tolist() == expected
        factors, terms = hash_functions(1, 1000)
        assert int(factors.min()) >= 1
        assert int(max(factors.max(), terms.max())) < MINHASH_PRIME
        assert len(set(factors.tolist())) > 990

    def test_more_functions_begin_with_the_same(self) -> None:
        assert hash_functions(7, 10)[0].tolist() == hash_functions(7, 20)[0][:10].tolist()

    def test_minima_by_hand(self) -> None:
        made = method("minhash", functions=3, shingle_words=1)
        factors, terms = hash_functions(1, 3)
        every = signed(method("shingles", shingle_words=1), numbered(0, 20)).values.tolist()
        expected = [
            min((int(a) * (v % MINHASH_PRIME) + int(b)) % MINHASH_PRIME for v in every)
            for a, b in zip(factors, terms, strict=True)
        ]
        assert unpack(signed(made, numbered(0, 20)).values, 3).tolist() == expected

    @pytest.mark.parametrize("count", [1, 2, 3, 128])
    def test_packing(self, count: int) -> None:
        table = (splitmix64(3, 5 * count) >> np.uint64(32)).astype(np.uint32).reshape(5, count)
        packed = pack(table)
        assert packed.shape == (5, (count + 1) // 2)
        for row, line in zip(table, packed, strict=True):
            assert unpack(line, count).tolist() == row.tolist()

    @pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.8, 0.9, 1.0])
    def test_bands_keep_the_recall(self, threshold: float) -> None:
        bands, rows = choose_bands(128, threshold, 0.95)
        assert bands * rows <= 128
        assert band_probability(threshold, bands, rows) >= 0.95
        longer = rows + 1
        assert longer > 128 or band_probability(threshold, 128 // longer, longer) < 0.95

    def test_the_documented_bands(self) -> None:
        assert {t: choose_bands(128, t, 0.95) for t in (0.5, 0.7, 0.8, 0.9)} == {
            0.5: (42, 3),
            0.7: (25, 5),
            0.8: (18, 7),
            0.9: (10, 12),
        }

    def test_bands_where_the_recall_cannot_be_kept(self) -> None:
        assert choose_bands(4, 0.1, 0.99) == (4, 1)

    def test_own_bands(self) -> None:
        made = method("minhash", functions=100, bands=7)
        assert len(made.keys(signed(made, numbered(0, 50)))) == 7

    def test_bands_find_what_they_should(self) -> None:
        """Pairs at the threshold share a band about as often as the formula says."""
        made = method("minhash", shingle_words=1, threshold=0.5, functions=64, recall=0.8)
        settings = dict(made.key_settings)
        chance = band_probability(0.5, settings["bands"], settings["rows"])
        found = 0
        for trial in range(200):
            a = " ".join(f"t{trial}x{n}" for n in range(60))
            b = " ".join(f"t{trial}x{n}" for n in range(20, 80))  # 40 of 80 in common
            keys = [set(made.keys(signed(made, text)).tolist()) for text in (a, b)]
            found += bool(keys[0] & keys[1])
        assert abs(found / 200 - chance) < 4 * math.sqrt(chance * (1 - chance) / 200)

    def test_another_seed_is_another_recipe(self) -> None:
        assert method("minhash", seed=2).recipe != method("minhash").recipe


@pytest.mark.covers("M5")
class TestSupershingles:
    def test_it_works(self) -> None:
        text = numbered(0, 400)
        almost = text.replace("w200 ", "")
        for name in ("supershingles", "megashingles"):
            measures = compared(method(name), text, almost)
            assert measures.similar
            assert measures.resemblance > 0.9

    def test_sizes(self) -> None:
        assert len(signed(method("supershingles"), numbered(0, 20)).values) == 6
        assert len(signed(method("megashingles"), numbered(0, 20)).values) == 15
        assert len(signed(method("megashingles", groups=5, required=3), numbered(0, 20)).values) == 10

    def test_keys_of_supershingles_are_the_megashingles(self) -> None:
        supers, megas = method("supershingles"), method("megashingles")
        text = numbered(0, 100)
        assert supers.keys(signed(supers, text)).tolist() == signed(megas, text).values.tolist()

    def test_both_say_the_same(self) -> None:
        """≥ 2 of 6 supershingles agree exactly when ≥ 1 of 15 megashingles does."""
        supers, megas = method("supershingles", shingle_words=1), method("megashingles", shingle_words=1)
        seen = set()
        for shift in range(0, 40, 2):
            a, b = numbered(0, 300), numbered(shift, 300 + shift)
            one, two = compared(supers, a, b), compared(megas, a, b)
            assert one.similar == two.similar
            if one.similar:
                assert one.resemblance == two.resemblance
            seen.add(one.similar)
        assert seen == {True, False}

    def test_the_estimate(self) -> None:
        supers = method("supershingles")
        signature = signed(supers, numbered(0, 100))
        values = signature.values.copy()
        values[:4] += np.uint64(1)
        measures = supers.compare(signature, Signature(signature.recipe, values, signature.size))
        assert measures.similar
        assert measures.resemblance == pytest.approx((2 / 6) ** (1 / 14))
        values[4] += np.uint64(1)
        one_left = supers.compare(signature, Signature(signature.recipe, values, signature.size))
        assert not one_left.similar
        assert (
            method("supershingles", required=1)
            .compare(signature, Signature(signature.recipe, values, 1))
            .similar
        )

    def test_the_formula_of_the_source(self) -> None:
        for p in (0.0, 0.3, 0.8, 0.9, 0.95, 0.99, 1.0):
            q = p**14
            assert agreement_probability(p) == pytest.approx(
                1 - (1 - q) ** 6 - 6 * q * (1 - q) ** 5, abs=1e-12
            )
        assert agreement_probability(0.95) == pytest.approx(0.879, abs=0.001)  # "about 90 %" in the source
        assert agreement_probability(0.95, groups=1, group_size=1, required=1) == pytest.approx(0.95)

    def test_the_curve(self) -> None:
        points = curve()
        assert len(points) == 101
        assert points[0] == (0.0, 0.0)
        assert points[-1] == (1.0, 1.0)
        assert all(a[1] <= b[1] for a, b in pairwise(points))
        assert points[95] == (0.95, agreement_probability(0.95))
        assert len(curve(points=11)) == 11

    def test_bad_settings_of_the_curve(self) -> None:
        from doublet.errors import InvalidParameter

        for ask in (
            lambda: agreement_probability(1.5),
            lambda: agreement_probability(0.5, groups=2, required=3),
            lambda: curve(points=1),
            lambda: curve(groups=0),
        ):
            with pytest.raises(InvalidParameter):
                ask()

    @pytest.mark.parametrize(
        ("resemblance", "groups", "group_size", "required"),
        [(0.95, 6, 14, 2), (0.9, 6, 14, 2), (0.8, 6, 14, 2), (0.8, 8, 4, 3), (0.5, 4, 2, 1)],
    )
    def test_the_formula_against_simulation(
        self, resemblance: float, groups: int, group_size: int, required: int
    ) -> None:
        """Pairs of random sets of a known resemblance, through the kernels that make real signatures."""
        made = method("supershingles", groups=groups, group_size=group_size, required=required)
        trials, union = 400, 400
        common = round(resemblance * union)
        alone = (union - common) // 2
        size = common + alone
        values = splitmix64(11, trials * (common + 2 * alone)).reshape(trials, -1)
        left, right = values[:, :size], np.concatenate([values[:, :common], values[:, size:]], axis=1)
        offsets = np.arange(trials + 1, dtype=np.uint64) * np.uint64(size)
        pairs = zip(
            made.sign_sets(left.reshape(-1), offsets),  # type: ignore[attr-defined]
            made.sign_sets(np.ascontiguousarray(right).reshape(-1), offsets),  # type: ignore[attr-defined]
            strict=True,
        )
        found = sum(made.compare(a, b).similar for a, b in pairs) / trials
        expected = agreement_probability(common / (common + 2 * alone), groups, group_size, required)
        assert abs(found - expected) < 4 * math.sqrt(expected * (1 - expected) / trials) + 0.005


@pytest.mark.covers("M6")
class TestSimHash:
    def test_it_works(self) -> None:
        made = method("simhash")
        assert compared(made, numbered(0, 200), numbered(0, 200)) == Measures(1.0, None, True)
        assert compared(made, numbered(0, 200), numbered(1, 200)).resemblance > 0.9
        assert compared(made, numbered(0, 200), numbered(1000, 1200)).resemblance < 0.4

    def test_majority_by_hand(self) -> None:
        made = method("simhash", stop_words=False)
        words = ["маяк", "волна", "берег", "маяк"]
        hashes = [kernels.tokenize([word], None, None, 1)[0].tolist()[0] for word in words]
        expected = sum(1 << bit for bit in range(64) if sum(h >> bit & 1 for h in hashes) > 2)
        signature = signed(made, " ".join(words))
        assert signature.values.tolist() == [expected]
        assert signature.size == 4

    def test_every_word_once(self) -> None:
        made = method("simhash", repeats=False)
        assert (
            signed(made, "маяк волна берег").values.tolist()
            == signed(made, "маяк маяк маяк волна берег").values.tolist()
        )

    def test_order_of_words_does_not_matter_but_order_of_runs_does(self) -> None:
        a, b = "маяк волна берег камень", "камень берег волна маяк"
        assert compared(method("simhash"), a, b).resemblance == 1.0
        assert compared(method("simhash", shingle_words=2), a, b).resemblance < 1.0

    def test_32_bits(self) -> None:
        long, short = (
            signed(method("simhash"), numbered(0, 99)),
            signed(method("simhash", bits=32), numbered(0, 99)),
        )
        assert int(short.values[0]) == int(long.values[0]) & 0xFFFFFFFF
        assert len(method("simhash", bits=32).keys(short)) == 4

    @pytest.mark.parametrize(("distance", "similar"), [(0, True), (3, True), (4, False)])
    def test_distance(self, distance: int, similar: bool) -> None:
        made = method("simhash")
        a = signed(made, numbered(0, 50))
        b = Signature(a.recipe, a.values ^ np.uint64((1 << distance) - 1), a.size)
        measures = made.compare(a, b)
        assert measures.similar is similar
        assert measures.resemblance == pytest.approx(math.cos(math.pi * distance / 64))

    def test_opposite_bits(self) -> None:
        made = method("simhash")
        a = signed(made, numbered(0, 50))
        assert made.compare(a, Signature(a.recipe, ~a.values, a.size)).resemblance == 0.0

    def test_only_stop_words(self) -> None:
        assert method("simhash").sign("и на the of") is None


def test_mix_is_the_one_of_the_kernels() -> None:
    from doublet.kernels.reference import shingles as reference

    values = np.concatenate([splitmix64(5, 100), np.zeros(1, np.uint64)])
    assert mix(values).tolist() == [reference.mix(value) for value in values.tolist()]
