"""The words of the reports, in one place: names of kinds, states and stages as people read them."""

from __future__ import annotations

from doublet.model import Comparison, Deduplication

#: kinds of fragments (K2)
FRAGMENT_KINDS = {
    "verbatim": "word for word",
    "edited": "edited",
    "reworded": "reworded",
    "moved": "moved",
}

#: reworded places that are too short to be sure of, and are in no share
POSSIBLE = "Perhaps reworded"

#: what is said of two texts as wholes (`verdict`)
VERDICTS = {
    "equal": "Equal word for word",
    "edited": "Edited, one from the other or both from a third",
    "reworded": "Reworded, one from the other or both from a third",
    "similar": "Similar",
    "parts": "Not similar as wholes",
    "different": "Not similar",
}

#: kinds of disguise (T5)
DISGUISES = {
    "lookalike": "letters of another alphabet that look the same",
    "invisible": "invisible characters inside words",
    "spaced": "letters set apart",
    "marks": "marks over letters",
    "styled": "ornamental letters",
    "digits": "digits in place of letters",
    "turned": "words written backwards behind a sign that turns them round",
    "hidden": "text that readers do not see",
}
NOT_UNDONE = ("digits", "turned")  #: kinds that are only told: the text was compared as it stands

#: what became of documents that could not be used as they were: one, several
OUTCOMES = {
    "empty": ("has no words", "have no words"),
    "invalid": ("is not a valid record", "are not valid records"),
    "duplicate_id": ("has an id that was there before", "have ids that were there before"),
    "unreadable": ("could not be read", "could not be read"),
    "unknown_kind": ("is of no kind that can be read", "are of no kind that can be read"),
    "encrypted": ("is protected by a password", "are protected by passwords"),
    "scanned": ("is a scan without text", "are scans without text"),
    "broken": ("is damaged", "are damaged"),
    "nothing_read": ("gave no text although it has content", "gave no text although they have content"),
    "refused": ("was refused", "were refused"),
    "failed": ("could not be fetched or read", "could not be fetched or read"),
    "too_short": ("has too little text", "have too little text"),
    "too_large": ("is too large", "are too large"),
    "duplicate": (
        "has the words of another one and was not stored",
        "have the words of others and were not stored",
    ),
    "gone": ("is gone at the source and was removed", "are gone at the source and were removed"),
    "removed": ("was taken out by hand and stays out", "were taken out by hand and stay out"),
}

#: kinds of pairs that are no duplicates and yet more alike than chance (`Related`)
RELATED = {
    "edited": "are edited copies below the threshold",
    "reworded": "are reworded copies",
    "shared": "share passages and little else",
}

#: states that mean failure; an empty text is an answer
FAILED = (
    *("invalid", "duplicate_id", "unreadable", "too_large"),
    *("unknown_kind", "encrypted", "scanned", "broken", "nothing_read", "refused", "failed"),
)

#: stages of long work, as the progress shows them
LEFT_OUT = {
    "quotations": "quotations",
    "bibliography": "list of references",
    "common": "wording common in the library",
    "own": "own earlier versions",
}
STAGES = {
    "reading": "Reading",
    "reading again": "Reading again",
    "signing": "Signing",
    "aligning": "Finding passages",
    "disguise": "Looking for disguise",
    "joining": "Finding duplicates",
    "tokenising": "Reading words",
    "searching": "Finding repeats",
    "changing": "Changing texts",
    "evaluating": "Testing methods",
    "advising": "Trying methods",
    "storing": "Storing",
    "fetching": "Fetching",
    "waiting": "Waiting for another process",
    "looking up": "Looking up",
    "removing": "Removing",
    "verifying": "Verifying",
    "tidying": "Tidying",
    "checking": "Checking",
    "pairing": "Listing pairs",
    "writing": "Writing",
}


def count(number: int, one: str, several: str | None = None) -> str:
    """ "1 group", "2,400 groups"."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def cleaned(result: Deduplication) -> str:
    """A collection cleaned, in numbers that add up: "7 documents: 4 kept, 2 removed in 1 group, 1 left out (…)"."""
    told = f"{count(result.documents, 'document')}: {len(result.kept):,} kept, {result.removed:,} removed"
    if result.groups:
        told += f" in {count(len(result.groups), 'group')}"
    if result.left_out:
        others = "another document has its id" if result.left_out == 1 else "other documents have their ids"
        told += f", {result.left_out:,} left out ({others})"
    return told


def percent(share: float) -> str:
    """A share for people: "37.2%", and "100%" and "0%" only when it is all or nothing."""
    value = f"{share * 100:.1f}"
    if value == "100.0" and share < 1:
        value = "99.9"
    if value == "0.0" and share > 0:
        return "under 0.1%"
    return value.removesuffix(".0") + "%"


def verdict(result: Comparison) -> str:
    """Key of `VERDICTS`. "parts": they share passages, and are not similar by the method's own rule."""
    if result.similar:
        if result.step == "exact":
            return "equal"
        if result.step != "meaning":
            return "similar"
        reworded = sum(part.words for part in result.fragments if part.kind == "reworded")
        return "reworded" if 2 * reworded > sum(part.words for part in result.fragments) else "edited"
    return "parts" if result.fragments else "different"


def size(number: float) -> str:
    """Bytes for people, in steps of a thousand: "1.3 GB"."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if number < 999.5 or unit == "TB":
            return f"{number:.0f} {unit}" if unit == "bytes" or number >= 99.5 else f"{number:.1f} {unit}"
        number /= 1000
    raise AssertionError("unreachable")


def duration(seconds: float) -> str:
    """ "under a second", "45 s", "3 min 20 s", "2 h 5 min"."""
    whole = round(seconds)
    if whole < 1:
        return "under a second"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
