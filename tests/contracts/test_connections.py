"""Whose connection it is: each opened store has its own, and so has each process."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from doublet.store.database import Store
from library_databases import VENDORS, new_address


@pytest.mark.parametrize("vendor", VENDORS)
def test_closing_one_store_leaves_the_other_open(vendor: str) -> None:
    address = new_address(vendor)
    with Store(address) as one:
        one.libraries.create("x")
        with one.database.writing():
            one.libraries.create("y")
            with Store(address) as other:
                assert [info.name for info in other.libraries.all()] == ["x"]
            assert [info.name for info in one.libraries.all()] == ["x", "y"]
    with Store(address) as again:
        assert [info.name for info in again.libraries.all()] == ["x", "y"]


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_opened_store_survives_the_end_of_a_request(vendor: str) -> None:
    from django.db import close_old_connections

    with Store(new_address(vendor)) as store:
        raw = store.database.raw
        close_old_connections()
        assert store.database.raw is raw


def _in_the_child(store: Store, parent: int, answers: multiprocessing.SimpleQueue[object]) -> None:
    connection = store.database.raw
    store.libraries.create("from the child")
    answers.put((os.getpid() != parent, id(connection), [info.name for info in store.libraries.all()]))


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_forked_child_opens_its_own(vendor: str) -> None:
    with Store(new_address(vendor)) as store:
        store.libraries.create("before")
        raw = store.database.raw
        forked = multiprocessing.get_context("fork")
        answers = forked.SimpleQueue()
        child = forked.Process(target=_in_the_child, args=(store, os.getpid(), answers))
        child.start()
        child.join(60)
        assert child.exitcode == 0
        another, connection, names = answers.get()
        assert another
        assert connection != id(raw)
        assert names == ["before", "from the child"]
        # The parent's connection is sound, and the same.
        assert store.database.raw is raw
        assert [info.name for info in store.libraries.all()] == names
        store.libraries.create("after")
