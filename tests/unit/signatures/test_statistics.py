"""M11: collection statistics."""

from __future__ import annotations

import math

import numpy as np
import pytest

from doublet.errors import InvalidParameter, SignatureDamaged, SignatureError, SignatureTooNew
from doublet.signatures import CollectionStatistics, encode
from doublet.signatures import statistics as statistics_module
from doublet.signatures.statistics import count_words
from doublet.text.tokens import Canon

pytestmark = pytest.mark.covers("M11")


def counted(*documents: str) -> CollectionStatistics:
    out = CollectionStatistics(Canon())
    out.add_texts(documents)
    return out


def test_it_works() -> None:
    found = counted("маяк маяк волна", "волна берег")
    assert found.documents == 2
    assert found.words == 5
    assert found.mean_words == 2.5
    assert len(found) == 3
    assert found.counts() == {"берег": (1, 1), "волна": (2, 2), "маяк": (1, 2)}
    assert found.df(["волна", "нет", "маяк"]).tolist() == [2, 0, 1]
    assert found.cf(["волна", "нет", "маяк"]).tolist() == [2, 0, 2]
    assert "маяк" in found
    assert "нет" not in found
    assert 7 not in found
    assert repr(found) == "CollectionStatistics(documents=2, words=5, distinct=3)"


def test_empty() -> None:
    found = CollectionStatistics()
    assert (found.documents, found.words, found.mean_words, len(found)) == (0, 0, 0.0, 0)
    assert found.idf(["маяк"]).tolist() == [0.0]
    assert found.ridf(["маяк"]).tolist() == [0.0]
    assert found.df([]).tolist() == []
    found.add([])
    found.add_texts([])
    assert found == CollectionStatistics()


def test_documents_without_words_do_not_count() -> None:
    found = counted("маяк", "", "—", "волна")
    assert found.documents == 2
    found.remove_texts(["", "маяк"])
    assert found == counted("волна")


def test_the_words_are_those_of_the_canon() -> None:
    found = CollectionStatistics()
    found.add_texts(["Маяки и маяк на мысу, волна волны"])
    assert found.counts() == {"волн": (1, 2), "маяк": (1, 2), "мыс": (1, 1)}


def test_lists_of_words_and_batches_count_alike() -> None:
    one, two = CollectionStatistics(Canon()), counted("маяк маяк волна", "волна берег")
    one.add(["маяк", "маяк", "волна"])
    one.add(["волна", "берег"])
    assert one == two
    one.remove(["маяк", "маяк", "волна"])
    assert one == counted("волна берег")


def test_idf() -> None:
    found = counted("маяк", "маяк", "маяк волна", "берег")
    assert found.idf(["маяк", "волна", "нет"]).tolist() == pytest.approx(
        [math.log(4 / 3), math.log(4), math.log(4)]
    )


def test_ridf() -> None:
    found = counted("маяк маяк маяк", "волна", "волна", "берег")
    assert found.ridf(["маяк"])[0] == pytest.approx(math.log(4) + math.log(1 - math.exp(-3 / 4)))
    assert found.ridf(["волна"])[0] == pytest.approx(math.log(2) + math.log(1 - math.exp(-2 / 4)))
    assert found.ridf(["нет"])[0] == 0.0
    assert found.ridf(["маяк"])[0] > found.ridf(["волна"])[0]


def test_adding_and_removing_leaves_what_was_there() -> None:
    found = counted("маяк маяк волна")
    before = found.to_bytes()
    found.add_texts(["волна берег", "новое слово"])
    found.remove_texts(["новое слово", "волна берег"])
    assert found.to_bytes() == before
    assert len(found) == 2
    assert "берег" not in found
    assert found.ridf(["берег"]).tolist() == [0.0]


@pytest.mark.parametrize(
    "never",
    [
        "берег",  # unknown word
        "волна волна волна",  # more often than there
        "маяк",  # would leave a word without documents
        "маяк маяк маяк волна волна",
    ],
)
def test_what_was_never_added_cannot_be_removed(never: str) -> None:
    found = counted("маяк маяк волна", "волна дом")
    before = found.fingerprint()
    with pytest.raises(InvalidParameter, match=r"was never counted .* exactly as it was added"):
        found.remove_texts([never])
    assert found.fingerprint() == before


def test_more_documents_than_there_are_cannot_be_removed() -> None:
    found = counted("маяк маяк")
    with pytest.raises(InvalidParameter, match="was never counted"):
        found.remove_texts(["маяк", "маяк"])
    with pytest.raises(InvalidParameter, match="was never counted"):
        CollectionStatistics().remove(["маяк"])


def test_a_text_is_not_a_list_of_words() -> None:
    with pytest.raises(InvalidParameter, match="use add_texts"):
        CollectionStatistics().add("маяк")


def test_a_batch_without_spelling() -> None:
    with pytest.raises(InvalidParameter, match="words=True"):
        CollectionStatistics(Canon()).add(Canon().tokens(["маяк"]))


def test_merge() -> None:
    one, two = counted("маяк волна", "дом"), counted("волна волна")
    one.merge(two)
    assert one == counted("волна волна", "дом", "маяк волна")
    assert two == counted("волна волна")
    with pytest.raises(InvalidParameter, match="made differently"):
        one.merge(CollectionStatistics())


def test_merging_with_itself_counts_twice() -> None:
    one = counted("маяк волна")
    one.merge(one)
    assert one == counted("маяк волна", "маяк волна")


def test_the_fingerprint_does_not_depend_on_the_order() -> None:
    one, two = counted("маяк волна", "дом"), counted("дом", "волна маяк")
    assert one.fingerprint() == two.fingerprint()
    assert one == two
    assert counted("маяк волна дом").fingerprint() != one.fingerprint()
    assert one != "statistics"


def test_the_fingerprint_follows_changes() -> None:
    found = counted("маяк")
    before = found.fingerprint()
    found.add(["маяк"])
    assert found.fingerprint() != before


def test_own_stop_words_in_any_order_are_the_same() -> None:
    one = CollectionStatistics(Canon(extra_stop_words=("б", "а")))
    two = CollectionStatistics(Canon(extra_stop_words=("а", "б", "а")))
    assert one == two


def test_a_copy_goes_its_own_way() -> None:
    one = counted("маяк")
    two = one.copy()
    two.add(["волна"])
    assert one == counted("маяк")
    assert two == counted("маяк", "волна")


def test_forgotten_words_take_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics_module, "_KEPT_EMPTY_ROWS", 10)
    found = counted("остаётся")
    for number in range(200):
        found.add([f"слово{number}"])
    for number in range(200):
        found.remove([f"слово{number}"])
    assert found == counted("остаётся")
    assert len(found._rows) <= 22


def test_many_words() -> None:
    found = CollectionStatistics(Canon())
    found.add([f"слово{number}" for number in range(5000)])
    found.add([f"слово{number}" for number in range(4000, 9000)])
    assert len(found) == 9000
    assert int(found.df([f"слово{number}" for number in range(9000)]).sum()) == 10_000


def test_bytes_and_back() -> None:
    found = counted("маяк маяк волна", "ещё слово \U0001d54f")
    back = CollectionStatistics.from_bytes(found.to_bytes())
    assert back == found
    assert back.canon == found.canon
    assert back.counts() == found.counts()
    back.add(["новое"])
    assert back.documents == 3
    assert CollectionStatistics.from_bytes(CollectionStatistics().to_bytes()) == CollectionStatistics()


def test_damaged_bytes() -> None:
    data = counted("маяк").to_bytes()
    for broken in (b"", b"DBLC", data[:-1], data[:30] + b"\x00" + data[31:], b"XXXX" + data[4:]):
        with pytest.raises(SignatureDamaged, match="collection statistics"):
            CollectionStatistics.from_bytes(broken)


def test_bytes_of_a_newer_program() -> None:
    data = counted("маяк").to_bytes()
    with pytest.raises(SignatureTooNew, match="update this one"):
        CollectionStatistics.from_bytes(data[:4] + b"\x02\x00" + data[6:])


def test_words_of_another_canonical_form(monkeypatch: pytest.MonkeyPatch) -> None:
    data = counted("маяк").to_bytes()
    monkeypatch.setattr(encode, "TEXT_VERSION", encode.TEXT_VERSION + 1)
    with pytest.raises(SignatureError, match="count the documents again") as caught:
        CollectionStatistics.from_bytes(data)
    assert not isinstance(caught.value, SignatureDamaged)


def test_other_stop_words_matter_only_where_they_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with_all, without = counted("маяк").to_bytes(), CollectionStatistics().to_bytes()
    monkeypatch.setattr(encode, "STOP_WORDS_VERSION", encode.STOP_WORDS_VERSION + 1)
    assert CollectionStatistics.from_bytes(with_all).documents == 1
    with pytest.raises(SignatureError, match="count the documents again"):
        CollectionStatistics.from_bytes(without)


def test_count_words() -> None:
    rows = count_words(Canon().tokens(["волна маяк волна", "", "маяк"], words=True))
    assert rows.texts.tolist() == [0, 0, 2]
    assert sorted(rows.counts.tolist()) == [1, 1, 2]
    assert rows.offsets.tolist() == [0, 2, 2, 3]
    assert rows.counts.dtype == np.int64
