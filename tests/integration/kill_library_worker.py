"""Changes a library step by step until it is killed; prints the number of each step that it was told is stored.

What each step does follows from its number alone, so that the test can tell what must be in the library.
"""

from __future__ import annotations

import random
import sys

WORDS = "снег город река мост башня вода лодка зима лес поле дорога камень north harbour winter stone boat".split()
STEPS = ("add", "add", "remove", "add", "sign")


def text_of(number: int, version: int) -> str:
    luck = random.Random(f"{number}/{version}")
    return " ".join(luck.choices(WORDS, k=luck.randrange(5, 120))) + f" {number} {version}"


def change(step: int, state: dict[str, str]) -> tuple[str, dict[str, str], list[str]]:
    """Kind of a step, documents that it adds or changes, ids that it removes; given what was there before."""
    luck = random.Random(step)
    kind = STEPS[step % len(STEPS)]
    if kind == "add":
        numbers = luck.sample(range(400), 40)
        return kind, {f"d{n}": text_of(n, luck.randrange(3)) for n in numbers}, []
    if kind == "remove":
        return kind, {}, luck.sample(sorted(state), min(len(state), 15))
    return kind, {}, []


def after(step: int, state: dict[str, str]) -> dict[str, str]:
    """What the library holds after the step."""
    _, added, removed = change(step, state)
    return {id: text for id, text in {**state, **added}.items() if id not in removed}


def main(address: str, first: int) -> None:
    from doublet.model import Document
    from doublet.store.database import Store

    state: dict[str, str] = {}
    for step in range(first):
        state = after(step, state)
    store = Store(address)
    print("ready", flush=True)
    for step in range(first, 1_000_000):
        kind, added, removed = change(step, state)
        if kind == "add":
            store.documents.add("x", [Document(id, text) for id, text in added.items()])
        elif kind == "remove":
            store.documents.remove("x", removed)
        else:
            store.signatures.index(store.libraries.get("x").number, "tfridf", drift=0.01)
        state = after(step, state)
        print(step, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
