"""What is put to the test: a method with its parameters and the measure that decides, as a user writes it.

shingles                        the method with its defaults
shingles:shingle_words=3        with parameters
shingles@containment            decides by the share of the changed text that stands in the other
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from doublet.errors import UsageError
from doublet.signatures import MethodInfo, methods

MEASURES = ("resemblance", "containment")


@dataclass(frozen=True)
class Spec:
    """*label* is what tables show: the text it was made from."""

    label: str
    method: str
    parameters: tuple[tuple[str, Any], ...] = ()
    measure: str = "resemblance"
    info: MethodInfo = field(repr=False, compare=False, kw_only=True)

    @property
    def has_threshold(self) -> bool:
        return self.knows("threshold")

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.parameters)

    def knows(self, name: str) -> bool:
        return any(parameter.name == name for parameter in self.info.parameters)

    def with_parameters(self, label: str | None = None, **more: Any) -> Spec:
        """The same with further parameters; those that the method does not have are left out."""
        known = {name: value for name, value in more.items() if self.knows(name)}
        merged = tuple(sorted({**self.options, **known}.items()))
        return replace(self, label=label or self.label, parameters=merged)


def known_methods() -> dict[str, MethodInfo]:
    return {info.name: info for info in methods()}


def read_spec(text: str) -> Spec:
    """Raises `UsageError` and `UnknownMethod`; values are read as the parameter's type."""
    from doublet.errors import UnknownMethod

    known = known_methods()
    head, _, tail = text.partition(":")
    name, at, measure = head.strip().partition("@")
    if name not in known:
        raise UnknownMethod(name, list(known))
    if at and measure not in MEASURES:
        raise UsageError("measure_wrong", text=text, measures=" or ".join(MEASURES), measure=measure)
    info = known[name]
    defaults = {parameter.name: parameter.default for parameter in info.parameters}
    given: dict[str, Any] = {}
    for part in tail.split(";") if tail else ():
        key, equals, value = part.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or key not in defaults:
            raise UsageError("spec_form", text=text, name=name, defaults=sorted(defaults))
        given[key] = _value(value.strip(), defaults[key])
    return Spec(text, name, tuple(sorted(given.items())), measure or "resemblance", info=info)


def _value(text: str, default: Any) -> Any:
    if isinstance(default, bool):
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(
            text.lower(), text
        )
    if isinstance(default, tuple):
        return tuple(part for part in text.split(",") if part)
    try:
        if isinstance(default, int):
            return int(text)
        if isinstance(default, float):
            return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        pass
    return text
