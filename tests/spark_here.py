"""The steps of the jobs on Spark, run in this process: blobs go from step to step through lists, in an order of chance.

What Spark itself does is tested in test_spark_dedupe.py and test_spark_cluster.py.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from doublet.spark import exchange


class Session:
    """Stands for a session where only the steps are run."""

    class _Conf:
        def set(self, name: str, value: str) -> None:
            pass

    class _Context:
        defaultParallelism = 2  # noqa: N815 - Spark's name

    conf = _Conf()
    sparkContext = _Context()  # noqa: N815


class Sent(list[tuple[int, bytes]]):
    def union(self, other: Sent) -> Sent:
        return Sent([*self, *other])


def session(patch: pytest.MonkeyPatch, seed: int = 1) -> Any:
    """A session whose steps run here; what is sent arrives in an order of chance."""
    rng = random.Random(seed)

    def begin(spark: Any, tasks: int, work: exchange.Begin) -> Sent:
        return Sent(sent for task in range(tasks) for sent in work(task))

    def then(frame: Sent, partitions: int, work: exchange.Then) -> Sent:
        numbers = {slot: place for place, slot in enumerate(exchange.slots(partitions))}
        received: list[list[bytes]] = [[] for _ in numbers]
        for slot, blob in frame:
            received[numbers[slot]].append(blob)
        out = Sent()
        for place, blobs in enumerate(received):
            rng.shuffle(blobs)
            out += work(place, iter(blobs))
        return out

    patch.setattr(exchange, "begin", begin)
    patch.setattr(exchange, "then", then)
    patch.setattr(exchange, "answers", lambda frame: [json.loads(blob) for _, blob in frame])
    return Session()
