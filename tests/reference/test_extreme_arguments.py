"""Arguments that make no sense: native kernels answer as their twins do, or refuse, and never end the process."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from doublet import kernels
from doublet.kernels import reference

native = pytest.importorskip("doublet.kernels.native", reason="the native kernels are not built: make setup")

PROGRAM = Path(__file__).with_name("extremes.py")


def test_the_twins_agree_on_absurd_arguments():
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], capture_output=True, text=True, timeout=400, check=False
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    for one in told:
        assert one["ended"] == 0, f"the process died with {one['ended']} in {one['in hand']}"
        assert not one["differs"], "\n".join(one["differs"])
    tried = {one["kernel"] for one in told}
    expected = {name for name in kernels.__all__ if name[0].islower()} - {"save_memory"}
    assert tried == expected | {"SetStore", "tables"}, done.stderr


def run(steps: str) -> subprocess.CompletedProcess[str]:
    """Run *steps* in a process in which every thread wants a stack of 256 MB."""
    program = "import numpy as np\nfrom doublet.kernels import native\n" + textwrap.dedent(steps)
    command = ["sh", "-c", 'ulimit -s 262144 && exec "$@"', "sh", sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_threads_that_cannot_be_started_are_done_without():
    """A thread needs room for its stack: a limit on the address space refuses it, for root as well."""
    done = run("""
        import resource, threading
        texts = ["one two three four five six seven"] * 64
        expected = native.tokenize(texts)[0].tolist()
        numbers = native.tokenize(texts, None, None, 2)  # what is loaded late is loaded now
        with open("/proc/self/statm") as sizes:
            used = int(sizes.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 100_000_000, resource.RLIM_INFINITY))
        try:
            threading.Thread(target=print).start()
        except RuntimeError:
            pass
        else:
            raise AssertionError("threads can still be started")
        assert native.tokenize(texts, None, None, 64)[0].tolist() == expected
        store = native.SetStore(0, "", 64)
        values, offsets, _, _ = native.shingle_sets(texts, 2, None, 1, 64)
        store.add(values, offsets)
        assert len(store.clean(np.arange(64, dtype=np.uint32), 0.5, 0.0)[0]) == 63
        print("good")
    """)
    assert (done.stdout, done.returncode) == ("good\n", 0), done.stderr


def test_a_closed_store_is_empty_and_can_be_filled_again():
    values, offsets = np.array([5, 6, 7], np.uint64), np.array([0, 2, 3], np.uint64)
    for store in (native.SetStore(), reference.SetStore()):
        store.add(values, offsets)
        store.clean(np.array([1, 0], np.uint32), 0.5, 0.5)
        store.close()
        assert len(store) == 0
        assert store.sizes().tolist() == []
        assert store.contained(0.5).tolist() == []
        assert [len(column) for column in store.clean(np.zeros(0, np.uint32), 0.5, 0.5)] == [0, 0, 0]
        with pytest.raises(IndexError):
            store.get(0)
        with pytest.raises(IndexError):
            store.overlaps(np.array([0], np.uint32), np.array([0], np.uint32))
        store.add(values, offsets)
        assert store.sizes().tolist() == [2, 1]


def test_whoever_hears_of_progress_cannot_change_the_store():
    store = native.SetStore()
    store.add(np.array([5, 6], np.uint64), np.array([0, 1, 2], np.uint64))
    with pytest.raises(RuntimeError, match="at work"):
        store.clean(np.array([0, 1], np.uint32), 0.5, 0.0, lambda *_: store.close())
    assert len(store) == 2


def test_a_bag_with_a_number_of_too_many_bytes_is_damaged():
    ten = np.frombuffer(b"\x01" + b"\x80" * 9 + b"\x00", np.uint8)
    long = np.frombuffer(b"\x01" + b"\x80" * 10 + b"\x00", np.uint8)
    for kernel in (native, reference):
        assert kernel.unpack_bags(ten, np.array([0, len(ten)], np.uint64))[0].tolist() == [0]
        with pytest.raises(ValueError, match="damaged"):
            kernel.unpack_bags(long, np.array([0, len(long)], np.uint64))


def test_values_that_come_twice_are_one():
    values, offsets = np.array([9, 9, 4, 9, 0, 0], np.uint64), np.array([0, 4, 6], np.uint64)
    numbers = np.array([7, 7, 3], np.uint64)
    words = np.array([0, 1, 2, 1], np.uint32)
    for kernel in (native, reference):
        store = kernel.SetStore()
        store.add(values, offsets)
        assert store.sizes().tolist() == [2, 1]
        assert store.overlaps(np.array([1], np.uint32), np.array([1], np.uint32)).tolist() == [1]
        data, ends, df, cf, _ = kernel.pack_bags(words, np.array([0, 4], np.uint64), numbers)
        assert [column.tolist() for column in kernel.unpack_bags(data, ends)] == [[3, 7], [1, 3], [0, 2]]
        assert (df.tolist(), cf.tolist()) == ([1, 1, 1], [1, 2, 1])
        assert kernel.NumberTable().number(np.array([1, 0, 1], np.uint64)).tolist() == [0, 1, 0]
