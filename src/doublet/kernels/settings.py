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
    summed: bool = False  #: looks for places of a that b sums up, too
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
    # Chosen on the summaries of PAN's sources, each as a text of its own (part "tune" of "retrieval" in
    # benchmarks/unseen.py). No passage of a text without borrowing has more than 1.00.
    summary_alone: float = 1.03  #: words and twice the phrases of a text that has no rest to be above
    # Chosen on the made essays of "tune" ("own sentences" in benchmarks/unseen.py): a source of which sentences were
    # taken one by one seemed to sum the essay up. Own sentences that `compare` flags (ru and en of "tune", then of
    # "choose") and plagdet of its strong passages on PAN: as it is .066, .044, .050, .031 and .957, .960; summary_rest
    # halved .066, .079, .132, .031 and .957, .959, doubled .038, .044, .050, .031 and .955, .960; summary_beside halved
    # .081, .044, .081, .031 and .956, .960, doubled .038, .044, .050, .031 and .957, .960 (then a summary beside a copy
    # is lost).
    summary_rest: float = (
        3  #: how much heavier the rest of the text is, so that a summary can stand out from it
    )
    summary_beside: float = (
        1.5  #: times the weight of passages beside it is what no passage explains of a summary
    )

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not 0 <= getattr(self, name) <= 1e6:
                raise InvalidParameter("wanted_number", name=name, value=getattr(self, name), low=0, high=1e6)


@dataclass(frozen=True, slots=True)
class FrameOptions:
    """Settings of the kernel `block_signs`: what of a page counts as text, and what calls itself frame and is.

    The trees that weigh the signs were learned with the first five. Learned again with half of *most*, articles gain
    .001 of F1 (give or take .0014), news and pages of other kinds lose .002; with twice of it pages of other kinds lose
    .005, without it articles lose .002 and documentation .006 (labelled pages, each judged by trees that had not seen
    its site). The last two changed nothing there, and are for pages of a line or two.
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
