"""check: sources ranked by what they add, no word counted twice."""

from __future__ import annotations

import pytest

from doublet import samples
from doublet.errors import InvalidParameter
from doublet.jobs.check import check
from doublet.model import Document
from doublet.sources.open import open_source

WORK = samples.WORK.read_text("utf-8")


@pytest.mark.covers("K1", "K2", "K3")
def test_the_sample_work():
    with open_source([str(samples.LIBRARY)]) as library:
        result = check(WORK, library)
    assert result.documents == 12
    assert [s.id for s in result.sources[:3]] == ["water-towers", "snow", "springs"]
    assert 0.5 < result.share < 0.7
    assert result.share == pytest.approx(sum(s.added for s in result.sources))
    assert result.disguise.alarm
    kinds = {f.kind for s in result.sources for f in s.fragments}
    assert kinds >= {"verbatim", "edited", "moved"}
    ids = [f.id for s in result.sources for f in s.fragments]
    assert len(ids) == len(set(ids))


@pytest.mark.covers("K3")
def test_two_equal_sources_count_once():
    text = "one source says this in exactly these nine words here " * 2
    result = check(text, [Document("a", text), Document("b", text)])
    assert [(s.id, s.share, s.added) for s in result.sources] == [("a", 1.0, 1.0), ("b", 1.0, 0.0)]
    assert result.share == 1.0


def test_no_duplicates_is_an_answer():
    result = check(
        "nothing of this stands anywhere else at all", [("a", "other words entirely, not one in common")]
    )
    assert (result.share, result.sources) == (0.0, ())


def test_empty_text_and_no_documents():
    assert check("", [("a", "text")]).notes
    assert check("some text", []).documents == 0


def test_fragments_are_numbered_as_the_sources_that_stay():
    words = [f"word{i}" for i in range(100)]
    sources = {"most": (0, 60), "bit": (60, 70), "middle": (27, 69)}
    documents = [(name, " ".join(words[a:b])) for name, (a, b) in sources.items()]
    result = check(" ".join(words), documents, min_share=0.2)
    assert [source.id for source in result.sources] == ["most", "middle"]
    assert [source.fragments[0].id for source in result.sources] == ["s1f1", "s2f1"]


def test_min_share_leaves_small_sources_out():
    long = " ".join(f"word{i}" for i in range(200))
    result = check(long, [("whole", long), ("bit", " ".join(f"word{i}" for i in range(10)))], min_share=0.2)
    assert [s.id for s in result.sources] == ["whole"]


def test_an_unknown_parameter_is_refused():
    with pytest.raises(InvalidParameter, match="seed_words"):
        check("a", [], seeds=3)
