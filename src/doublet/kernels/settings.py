"""Settings of kernels that have many: one value, which both sides read by name."""

from __future__ import annotations

from dataclasses import dataclass

from doublet.errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class PassageOptions:
    """Settings of the kernel `passages`. Chosen on one half of the PAN 2013 corpus (`benchmarks/passages.py`).

    Weights are natural logarithms, so a word of one sentence in a hundred weighs 4.6; lengths are characters.
    """

    gap: float = 250  #: seeds further apart than this belong to different passages
    cosine: float = 0.36  #: of two sentences that make a seed
    dice: float = 0.33
    loss: float = 0.48  #: of the weight of all words in a passage, taken from its worth
    bonus: float = 7  #: for a border on the end of a sentence
    reach: float = 120  #: words that a border may move at once
    moves: float = 12
    cap: float = 6  #: the most that one word may weigh
    weak_mass: float = 20  #: weight of the words on both sides that makes a find worth telling …
    weak_length: float = 60  #: … when both sides have so many characters
    strong_mass: float = 45  #: the same for a passage that counts
    strong_length: float = 130  #: of its shorter side …
    strong_longer: float = 220  #: … and of the longer one, whichever that is: both texts are asked the same
    summary_rise: float = 20  #: 0 looks for no summaries
    summed: float = 0  #: 1 looks for places of a that b sums up, too
    summary_fall: float = 25
    summary_share: float = 0.65  #: of its words, by weight, that stand in the source …
    summary_above: float = 0.3  #: … and how much more that is than of the rest of the text
    summary_words: float = 30  #: different telling words of a summary in the source
    summary_shortest: float = 400
    summary_longest: float = 1000
    summary_times: float = 3  #: how much longer the place in the source is
    strong_worth: float = 25  #: mass times density of a passage that counts …
    sentence_worth: float = 55  #: … and of one that is as long as its sentences are
    summary_level: float = 0.7  #: share of words in the source that a summary is expected to have
    summary_left: float = 0.28  #: as `summary_above`, of the words that no passage explains …
    summary_left_mass: float = 20  #: … and what that must weigh
    next_sentence: float = 0.28  #: likeness of next sentences that are taken in; 0 takes none
    summary_evidence: float = (
        0.62  #: words above the rest and twice the phrases above twice those of the rest
    )

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not 0 <= getattr(self, name) <= 1e6:
                raise InvalidParameter("wanted_number", name=name, value=getattr(self, name), low=0, high=1e6)


@dataclass(frozen=True, slots=True)
class FrameOptions:
    """Settings of the kernel `block_signs`: what of a page counts as text, and what calls itself frame and is.

    The weights of the signs were learned with the first four. Half and twice *most* take .002 from the F1 of pages that
    are not articles, and twice .003 from that of articles (tune part of the labelled pages); the last two change
    nothing there, and are for pages of a line or two.
    """

    running: float = (
        8  #: words from which a block counts as text of its element; shorter ones count by *short*
    )
    short: float = 0.3
    centre: float = 0.8  #: of the text of a page: the deepest element that holds so much of it is its centre
    around: float = 30  #: words: the first element around a block with so much other text is where it belongs
    most: float = 0.4  #: of the words: what holds more than that is not frame, whatever it is called
    beside_comments: float = 60  #: words outside: comments may be longer than the article
    beside_footer: float = 10  #: words outside, links and all: then a footer is one, however long it is
