"""Differences between addresses that change nothing on a site (R4): http or https, "www.", a slash at the end, and
parameters such as a session number or an order of sorting.

Nothing is asked for in order to learn this: pages that were fetched anyway are compared by their content. A parameter
means nothing when three of its values agreed in each of two places and none ever disagreed; a spelling, when two pairs
agreed. From then on such addresses are one.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

VALUES = 3  # of a parameter that agree in one place
PLACES = 2
MOST_PLACES = 5_000  # remembered; older ones are forgotten first
MOST_DIFFERENCES = 1_000  # that are known to mean something; a site with more makes its parameters up


@dataclass(slots=True)
class Variants:
    """What was learned of one site."""

    void: set[str] = field(default_factory=set)  #: "scheme", "www", "slash", "?name"
    meant: set[str] = field(default_factory=set)  #: differences that did change something
    _seen: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    _agreed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def tell(self, key: str, content: int) -> list[str]:
        """The page of a key has this content. Gives differences that are known to mean nothing from now on."""
        fresh = []
        for difference, place, value in _differences(key):
            if difference in self.void or difference in self.meant:
                continue
            values = self._seen.setdefault((difference, place), {})
            values[value] = content
            if len(self._seen) > MOST_PLACES:
                del self._seen[next(iter(self._seen))]
            if len(set(values.values())) > 1:
                if len(self.meant) < MOST_DIFFERENCES:
                    self.meant.add(difference)
                else:
                    del self._seen[difference, place]
                continue
            if len(values) >= (VALUES if difference.startswith("?") else 2):
                self._agreed[difference].add(place)
                if len(self._agreed[difference]) >= PLACES:
                    self.void.add(difference)
                    fresh.append(difference)
        return fresh

    def plain(self, key: str) -> str:
        """The key without what means nothing."""
        if not self.void:
            return key
        scheme, _, rest = key.partition("://")
        host, slash, target = rest.partition("/")
        path, _, query = target.partition("?")
        if "scheme" in self.void:
            scheme = "http"
        if "www" in self.void:
            host = host.removeprefix("www.")
        if "slash" in self.void:
            path = path.rstrip("/")
        kept = [part for part in query.split("&") if part and f"?{part.partition('=')[0]}" not in self.void]
        return f"{scheme}://{host}{slash}{path}" + (f"?{'&'.join(kept)}" if kept else "")

    def to_dict(self) -> dict[str, Any]:
        return {"void": sorted(self.void), "meant": sorted(self.meant)}

    @staticmethod
    def from_dict(given: dict[str, Any]) -> Variants:
        return Variants(set(given.get("void", ())), set(given.get("meant", ())))


def _differences(key: str) -> list[tuple[str, str, str]]:
    """(difference, address without it, value) for each way in which a key could be spelled differently."""
    scheme, _, rest = key.partition("://")
    host, _, target = rest.partition("/")
    path, mark, query = target.partition("?")
    plain_host = host.removeprefix("www.")
    out = [("scheme", f"{plain_host}/{target}", scheme), ("www", f"{plain_host}/{target}", host)]
    if path:
        out.append(("slash", f"{plain_host}/{path.rstrip('/')}{mark}{query}", "/" * path.endswith("/")))
    parts = [part for part in query.split("&") if part]
    for number, part in enumerate(parts):
        name, _, value = part.partition("=")
        others = "&".join(parts[:number] + parts[number + 1 :])
        out.append((f"?{name}", f"{plain_host}/{path}?{others}", value))
    return out
