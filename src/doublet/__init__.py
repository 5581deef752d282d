"""Doublet finds what is said twice: duplicate documents, borrowed passages, repeats inside documentation.

    >>> import doublet
    >>> comparison = doublet.compare("the quick brown fox", "a quick brown fox jumps", shingle_words=2)
    >>> comparison.fragments[0].kind
    'verbatim'

Everything in `__all__` is the public API and is kept; what begins with an underscore may change tomorrow.
Importing the package loads nothing heavy: each name is fetched when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from doublet.addresses import WebAddress
    from doublet.errors import (
        Broken,
        Cancelled,
        ConfigError,
        DoubletError,
        Encrypted,
        FetchFailed,
        IncompatibleSignatures,
        InputNotFound,
        InputUnreadable,
        InvalidParameter,
        LeaseLost,
        LibraryExists,
        MemoryTooSmall,
        NotAllowed,
        NothingRead,
        NothingToSign,
        OutputFailed,
        Oversized,
        PoolBusy,
        ReadFailed,
        RecordInvalid,
        Scanned,
        SignatureDamaged,
        SignatureError,
        SignaturesNotReady,
        SignatureTooNew,
        SiteIsMirror,
        SourceBusy,
        SourceError,
        SpillFailed,
        StoreBusy,
        StoreDamaged,
        StoreError,
        StoreFull,
        StoreTooNew,
        StoreUnreachable,
        TextError,
        TimedOut,
        TooLarge,
        TooSlow,
        UnknownJob,
        UnknownKind,
        UnknownKindOfJob,
        UnknownLibrary,
        UnknownMethod,
        UnknownReport,
        Unreadable,
        UsageError,
        WorkerLost,
        WorkError,
    )
    from doublet.evaluation.advisor import Advice, MarkedPair, advise
    from doublet.evaluation.evaluate import Evaluation, evaluate
    from doublet.jobs.add_source import Filled, Filling
    from doublet.jobs.check import check
    from doublet.jobs.compare import compare
    from doublet.jobs.dedupe import dedupe
    from doublet.jobs.find_repeats import find_repeats
    from doublet.jobs.library import Library, open_library
    from doublet.jobs.read import read_document
    from doublet.jobs.rescore import rescore
    from doublet.matches.story import Story, same_story
    from doublet.model import (
        Check,
        Comparison,
        Deduplication,
        Disguise,
        DisguiseFinding,
        Document,
        Fragment,
        Group,
        LeftOut,
        Measures,
        Member,
        Outcome,
        Pair,
        Recipe,
        Related,
        Signature,
        SourceFragment,
        SourceMatch,
        Span,
        Token,
    )
    from doublet.progress import Event, Progress
    from doublet.repeats.model import RepeatFile, RepeatFragment, RepeatGroup, RepeatOptions, Repeats
    from doublet.signatures import CollectionStatistics, method, methods
    from doublet.signatures.embedding import load_embedder
    from doublet.text.formats.protocol import HiddenText, Place
    from doublet.text.read import ReadDocument

__version__ = "0.1.0"

__all__ = [
    "__version__",
    # what you can ask for
    "check",
    "compare",
    "dedupe",
    "find_repeats",
    "read_document",
    "rescore",
    "evaluate",
    "advise",
    "open_library",
    "Library",
    "method",
    "methods",
    "CollectionStatistics",
    "same_story",
    "load_embedder",
    # what you give and get
    "Document",
    "WebAddress",
    "Comparison",
    "Fragment",
    "Span",
    "Disguise",
    "DisguiseFinding",
    "Check",
    "SourceMatch",
    "SourceFragment",
    "LeftOut",
    "Filling",
    "Filled",
    "Deduplication",
    "Group",
    "Member",
    "Outcome",
    "Pair",
    "Related",
    "Story",
    "Measures",
    "Recipe",
    "Signature",
    "Token",
    "Repeats",
    "RepeatGroup",
    "RepeatFragment",
    "RepeatFile",
    "RepeatOptions",
    "ReadDocument",
    "Place",
    "HiddenText",
    "Evaluation",
    "Advice",
    "MarkedPair",
    # progress
    "Event",
    "Progress",
    # what can go wrong
    "DoubletError",
    "UsageError",
    "UnknownMethod",
    "InvalidParameter",
    "UnknownLibrary",
    "UnknownReport",
    "SignaturesNotReady",
    "LibraryExists",
    "UnknownJob",
    "UnknownKindOfJob",
    "ConfigError",
    "SourceError",
    "InputNotFound",
    "InputUnreadable",
    "RecordInvalid",
    "TooLarge",
    "TooSlow",
    "FetchFailed",
    "NotAllowed",
    "SiteIsMirror",
    "NothingRead",
    "TextError",
    "NothingToSign",
    "Unreadable",
    "UnknownKind",
    "Encrypted",
    "Scanned",
    "Broken",
    "Oversized",
    "ReadFailed",
    "SignatureError",
    "IncompatibleSignatures",
    "SignatureDamaged",
    "SignatureTooNew",
    "StoreError",
    "SpillFailed",
    "MemoryTooSmall",
    "OutputFailed",
    "StoreBusy",
    "StoreTooNew",
    "StoreFull",
    "StoreDamaged",
    "StoreUnreachable",
    "WorkError",
    "SourceBusy",
    "LeaseLost",
    "PoolBusy",
    "WorkerLost",
    "TimedOut",
    "Cancelled",
]

# Where each public name that is not an error or a value type lives.
_HOMES = {
    "WebAddress": "doublet.addresses",
    "check": "doublet.jobs.check",
    "compare": "doublet.jobs.compare",
    "dedupe": "doublet.jobs.dedupe",
    "find_repeats": "doublet.jobs.find_repeats",
    "read_document": "doublet.jobs.read",
    "rescore": "doublet.jobs.rescore",
    "ReadDocument": "doublet.text.read",
    "Place": "doublet.text.formats.protocol",
    "HiddenText": "doublet.text.formats.protocol",
    "evaluate": "doublet.evaluation.evaluate",
    "Evaluation": "doublet.evaluation.evaluate",
    "advise": "doublet.evaluation.advisor",
    "Advice": "doublet.evaluation.advisor",
    "MarkedPair": "doublet.evaluation.advisor",
    "open_library": "doublet.jobs.library",
    "Filling": "doublet.jobs.add_source",
    "Filled": "doublet.jobs.add_source",
    "Library": "doublet.jobs.library",
    "method": "doublet.signatures",
    "methods": "doublet.signatures",
    "CollectionStatistics": "doublet.signatures",
    "same_story": "doublet.matches.story",
    "Story": "doublet.matches.story",
    "load_embedder": "doublet.signatures.embedding",
    **dict.fromkeys(
        ("Repeats", "RepeatGroup", "RepeatFragment", "RepeatFile", "RepeatOptions"), "doublet.repeats.model"
    ),
    "Event": "doublet.progress",
    "Progress": "doublet.progress",
}
_FIRST_MODEL, _FIRST_ERROR = __all__.index("Document"), __all__.index("DoubletError")
_HOMES.update(dict.fromkeys(__all__[_FIRST_ERROR:], "doublet.errors"))
for _name in __all__[_FIRST_MODEL:_FIRST_ERROR]:
    _HOMES.setdefault(_name, "doublet.model")


def _for_notebooks(result: Deduplication) -> str:
    """What a notebook shows of a result."""
    from doublet.reports.notebook import draw_groups

    return draw_groups(result)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'doublet' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public API alone: what was imported for it is nobody's business."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
