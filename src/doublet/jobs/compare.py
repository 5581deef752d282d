"""Compare two texts: measures, fragments on both sides, tricks that were undone (K1, K2).

The methods "auto" (M15) and "meaning" (M14) look for reworded passages too; every other one shows passages of equal
words alone. The rules are in `matches.compare`; here the texts are read, once, and the method is made.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from doublet.errors import require_number
from doublet.jobs.read import TextInput, take_text
from doublet.matches.align import ALIGN_NAMES, AlignOptions
from doublet.matches.compare import ALIKE, compare_read
from doublet.model import Comparison, Disguise, Note
from doublet.progress import Progress
from doublet.signatures import Statistics, gather_statistics, method_class, parameters_of, require_parameters
from doublet.signatures import method as make_method
from doublet.signatures.embedding import Embedder, embedder_name, require_embedder
from doublet.text.tokens import TokenBatch, read_words

AUTO = "auto"


def compare(
    text_a: TextInput,
    text_b: TextInput,
    *,
    method: str = AUTO,
    threshold: float | None = None,
    statistics: Statistics | None = None,
    embedder: Embedder | None = None,
    alike: float = ALIKE,
    progress: Progress | None = None,
    **parameters: Any,
) -> Comparison:
    """What two texts have in common. Each is a text (``str``), a file (``Path``), the content of a file (``bytes``),
    a `WebAddress`, or what `read_document` gave.

    The methods "auto" and "meaning" see through rewording; with any other the passages are those of equal words alone.
    What is reworded but too short to be sure of is in *possible* and counts nowhere; where the texts as wholes are
    reworded copies and what counts tells little of them, that settles it, and those places count. *threshold* is
    where the method calls texts similar; the *reason* of the answer says why it does or does not. *parameters* are
    those of the method, and seed_words, max_gap_words and min_words for the fragments (a method that has a
    min_words itself gets it). Methods that weigh words by a collection take its *statistics*; without them the two
    texts are all they know. An *embedder* is a model of your own (`doublet.load_embedder`): sentences that no
    passage tells and whose vectors have a cosine of *alike* or more are *possible* too. Raises `UnknownMethod`,
    `InvalidParameter`.
    """
    progress = Progress.of(progress)
    a, b = take_text("text_a", text_a), take_text("text_b", text_b)
    require_number("alike", alike, 0, 1)
    require_embedder(embedder)
    own = parameters_of(method)
    options = AlignOptions(
        **{name: parameters.pop(name) for name in ALIGN_NAMES if name in parameters and name not in own}
    )
    notes: list[Note] = []
    if threshold is not None:
        parameters["threshold"] = threshold
    require_parameters(method, parameters)
    texts = (a.text, b.text)
    words = read_words(texts)
    chosen = make_method(
        method, statistics or _pair_statistics(method, words, parameters, notes), **parameters
    )
    result = compare_read(
        texts,
        words,
        chosen,
        options,
        embedder=embedder,
        alike=alike,
        notes=notes,
        parameters={
            **asdict(options),
            **vars(chosen.parameters),
            "alike": alike,
            "embedder": embedder_name(embedder),
        },
        progress=progress,
    )
    return replace(
        result,
        disguise_a=Disguise((*result.disguise_a.findings, *a.hidden)),
        disguise_b=Disguise((*result.disguise_b.findings, *b.hidden)),
    )


def _pair_statistics(
    name: str, words: TokenBatch, parameters: dict[str, Any], notes: list[Note]
) -> Statistics | None:
    if not method_class(name).needs_statistics:
        return None
    known = {key: value for key, value in parameters.items() if key != "threshold"}
    made = gather_statistics(name, words, **known)
    if made is not None:
        notes.append(Note("poor_statistics", method=name))
    return made
