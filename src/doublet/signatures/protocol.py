"""What a method is: text → signature, two signatures → measures, signature → keys for an index.

A method is one file with one class. Ours and those of other packages come through the same door
(`doublet.signatures` and the entry point group ``doublet.methods``). `BaseMethod` does what all methods
share; a method need not use it as long as it fits `Method`. The methods themselves are explained in
docs/explanation/methods.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from doublet.errors import IncompatibleSignatures, InvalidParameter
from doublet.kernels.data import HASH_VERSION, TEXT_VERSION
from doublet.model import Measures, Note, Recipe, Signature
from doublet.signatures.parameters import Parameters, WordParameters
from doublet.text.stopwords import STOP_WORDS_VERSION
from doublet.text.tokens import Canon, TokenBatch

U64 = NDArray[np.uint64]
P = TypeVar("P", bound=WordParameters)


class Statistics(Protocol):
    """What a method knows about a collection. Words in it were made with `canon`."""

    @property
    def canon(self) -> Canon: ...

    @property
    def fixed(self) -> Mapping[str, Any]:
        """Parameters that a method must have to go with these statistics (how words are made, at least)."""
        ...

    def fingerprint(self) -> str:
        """The same for the same content, whatever the order in which it came."""
        ...


class StoredStatistics(Statistics, Protocol):
    """Statistics that can be kept; the class of their method reads them back (`MethodClass.read_statistics`)."""

    def to_bytes(self) -> bytes: ...


class Limit(NamedTuple):
    """What a walk through a collection may take while statistics are gathered: memory, and a folder for the rest."""

    memory_bytes: int
    folder: str | None = None


class Method(Protocol):
    """One way to tell whether two texts are alike. Never changes after it was made; safe to share between
    threads."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def shows_fragments(self) -> bool: ...
    @property
    def needs_statistics(self) -> bool: ...
    @property
    def parameters(self) -> Any: ...
    @property
    def recipe(self) -> Recipe: ...
    @property
    def canon(self) -> Canon: ...
    @property
    def needs_words(self) -> bool:
        """True when `sign_many` needs a batch that knows the spelling of its words (``words=True``)."""
        ...

    @property
    def threshold(self) -> float | None:
        """The resemblance from which on texts are similar, for a method that estimates resemblance: the exact value
        may then decide in its place. None for a method that judges in another way."""
        ...

    @property
    def key_settings(self) -> tuple[tuple[str, Any], ...]:
        """What `keys` depends on besides the recipe. An index that stores keys keeps this next to them."""
        ...

    def tokens(self, texts: Sequence[str], *, threads: int = 1) -> TokenBatch:
        """The batch that `sign_many` wants."""
        ...

    def sign(self, text: str) -> Signature | None:
        """Signature of one text; None when there is too little in it to sign."""
        ...

    def sign_texts(self, texts: Sequence[str], *, threads: int = 1) -> list[Signature | None]:
        """Signatures of many texts at once, straight from the text: the quickest way."""
        ...

    def sign_many(self, batch: TokenBatch, texts: Sequence[str]) -> list[Signature | None]:
        """Signatures of many texts whose words are at hand already (made by `tokens`)."""
        ...

    def compare(self, a: Signature, b: Signature) -> Measures:
        """Raises `IncompatibleSignatures` unless both were made with this method's recipe."""
        ...

    def keys(self, signature: Signature) -> U64:
        """Texts that this method may call similar share a key: always, or with the chance that its page
        names."""
        ...

    def key_rows(self, signatures: Sequence[Signature]) -> U64 | None:
        """Keys of many signatures at once, a row of equally many for each; None: they have to be made one by one."""
        ...

    def alike_rows(self, left: U64, right: U64) -> NDArray[np.bool_] | None:
        """Which pairs of signatures are similar, as `compare` says of each; a row of values for each, or one row on
        the left for all on the right. None: ask `compare`."""
        ...


class MethodClass(Protocol):
    """The class of a method: what is known before parameters are chosen, and how to make one."""

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    minimum: ClassVar[str]
    shows_fragments: ClassVar[bool]
    needs_statistics: ClassVar[bool]
    statistics_type: ClassVar[type]  #: what a method that needs statistics takes
    parameters_type: ClassVar[type[Parameters]]

    def __call__(self, parameters: Any, statistics: Any = None) -> Method: ...

    def gather(self, parameters: Any, batches: Iterable[TokenBatch]) -> StoredStatistics | None:
        """What the method has to know about a collection; None when it needs nothing."""
        ...

    def gather_within(
        self, parameters: Any, batches: Iterable[TokenBatch], within: Limit
    ) -> Statistics | None:
        """The same within a limit of memory."""
        ...

    def read_statistics(self, data: bytes) -> Statistics:
        """What `gather` gave, from its bytes."""
        ...


class BaseMethod(Generic[P]):
    """What all methods share. A method sets the class attributes and writes `_sign_batch`, `_compare` and
    `_keys`."""

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]  #: what it is good for, in one or two plain sentences
    minimum: ClassVar[str]  #: the least that a text must hold to get a signature, in words
    shows_fragments: ClassVar[bool] = False
    needs_statistics: ClassVar[bool] = False
    statistics_type: ClassVar[type] = object
    parameters_type: ClassVar[type[Parameters]]

    @classmethod
    def gather(cls, parameters: Any, batches: Iterable[TokenBatch]) -> StoredStatistics | None:  # noqa: ARG003 - for those who need some
        return None

    @classmethod
    def gather_within(
        cls,
        parameters: Any,
        batches: Iterable[TokenBatch],
        within: Limit,  # noqa: ARG003 - for those who can
    ) -> Statistics | None:
        return cls.gather(parameters, batches)

    @classmethod
    def read_statistics(cls, data: bytes) -> Statistics:
        raise NotImplementedError(f"{cls.name} keeps no statistics, and there are {len(data)} bytes of them")

    def __init__(self, parameters: P, statistics: Statistics | None = None) -> None:
        self.parameters = parameters
        self.canon = parameters.canon
        self.needs_words = self.needs_statistics
        signing = parameters.signing()
        if self.canon.stop_words:
            signing = tuple(sorted((*signing, ("stop_words_version", STOP_WORDS_VERSION))))
        self.recipe = Recipe(
            method=self.name,
            parameters=signing,
            text_version=TEXT_VERSION,
            hash_version=HASH_VERSION,
            statistics=statistics.fingerprint() if statistics is not None else "",
        )

    @property
    def threshold(self) -> float | None:
        return None

    @property
    def key_settings(self) -> tuple[tuple[str, Any], ...]:
        return ()

    def tokens(self, texts: Sequence[str], *, threads: int = 1) -> TokenBatch:
        return self.canon.tokens(texts, words=self.needs_words, threads=threads)

    def sign(self, text: str) -> Signature | None:
        return self.sign_texts([text])[0]

    def sign_texts(self, texts: Sequence[str], *, threads: int = 1) -> list[Signature | None]:
        return self.sign_many(self.tokens(texts, threads=threads), texts)

    def sign_many(self, batch: TokenBatch, texts: Sequence[str]) -> list[Signature | None]:
        require_together(batch, texts)
        return self._sign_batch(batch)

    def sign_read(self, words: TokenBatch, texts: Sequence[str]) -> list[Signature | None]:
        """Signatures of texts whose words were read for other purposes too: all of them, by `read_words`."""
        return self.sign_many(self.canon.of(words), texts)

    def _sign_batch(self, batch: TokenBatch) -> list[Signature | None]:
        raise NotImplementedError

    def compare(self, a: Signature, b: Signature) -> Measures:
        require_recipe(self.recipe, a)
        require_recipe(self.recipe, b)
        return self._compare(a, b)

    def keys(self, signature: Signature) -> U64:
        require_recipe(self.recipe, signature)
        return self._keys(signature)

    def key_rows(self, signatures: Sequence[Signature]) -> U64 | None:  # noqa: ARG002 - for those who can
        return None

    def alike_rows(self, left: U64, right: U64) -> NDArray[np.bool_] | None:  # noqa: ARG002 - for those who can
        return None

    def _compare(self, a: Signature, b: Signature) -> Measures:
        raise NotImplementedError

    def _keys(self, signature: Signature) -> U64:
        raise NotImplementedError


def require_together(batch: TokenBatch, texts: Sequence[str]) -> None:
    """Raises `InvalidParameter` unless there are words of as many texts as there are texts."""
    if len(batch) != len(texts):
        raise InvalidParameter(
            "texts_and_words_differ",
            batch=len(batch),
            texts=len(texts),
            name="texts",
        )


def differences(a: Recipe, b: Recipe) -> list[Note]:
    """What two recipes differ in: ``shingle_words 4 and 5``."""
    if a.method != b.method:
        return [Note("differ_in_method", a=a.method, b=b.method)]
    left, right, unset = dict(a.parameters), dict(b.parameters), Note("value_not_set")
    out = [
        Note("differ_in_parameter", name=name, a=left.get(name, unset), b=right.get(name, unset))
        for name in sorted({*left, *right})
        if left.get(name) != right.get(name)
    ]
    if a.text_version != b.text_version:
        out.append(Note("differ_in_text_version", a=a.text_version, b=b.text_version))
    if a.hash_version != b.hash_version:
        out.append(Note("differ_in_hash_version", a=a.hash_version, b=b.hash_version))
    if a.statistics != b.statistics:
        out.append(Note("differ_in_statistics", a=a.statistics or unset, b=b.statistics or unset))
    return out


def require_recipe(recipe: Recipe, signature: Signature) -> None:
    """Raises `IncompatibleSignatures` that names what differs, unless *signature* was made with *recipe*."""
    if signature.recipe is recipe or signature.recipe == recipe:
        return
    differs = differences(recipe, signature.recipe)
    raise IncompatibleSignatures(
        "different_recipes",
        expected=recipe.to_dict(),
        found=signature.recipe.to_dict(),
        differs=differs,
    )
