"""Reports that are kept: read back by another process, found by their titles, deleted."""

from __future__ import annotations

import time

import pytest

from another_process import ask
from doublet.errors import InvalidParameter, UnknownReport
from doublet.store.database import Store
from library_databases import VENDORS, new_address

ANSWER = {"format": 1, "share": 0.25, "text": "Ёж \x00 \ud800 😀", "sources": [{"id": "a"}] * 50}


@pytest.mark.parametrize("vendor", VENDORS)
def test_it_works(vendor: str) -> None:
    address = new_address(vendor)
    with Store(address) as store:
        first = store.reports.add(ANSWER, title="Дипломная работа Ивановой \x00", share=0.25)
        second = store.reports.add({"format": 1}, kind="compare", title="100%_sure!", state="running")
        assert (first.kind, first.state, first.share) == ("check", "ready", 0.25)
        assert store.reports.data(first.number) == ANSWER
        with pytest.raises(InvalidParameter):
            store.reports.add({"what": object()})
        with pytest.raises(InvalidParameter):
            store.reports.add({"share": float("nan")})
        changed = store.reports.change(second.number, data={"format": 2}, state="ready", share=1.0)
        assert (changed.state, changed.share, changed.title) == ("ready", 1.0, "100%_sure!")
    assert ask("report", address, "", number=first.number) == [first.to_dict(), ANSWER]
    assert ask("report", address, "", number=second.number) == [changed.to_dict(), {"format": 2}]


@pytest.mark.parametrize("vendor", VENDORS)
def test_finding_and_deleting(vendor: str) -> None:
    with Store(new_address(vendor)) as store:
        room = store.reports
        made = [room.add({}, title=f"Работа {n} по физике").number for n in range(5)]
        other = room.add({}, kind="compare", title="100%_sure!").number
        assert [one.number for one in room.find()] == [other, *reversed(made)]
        assert [one.number for one in room.find("ФИЗИК", limit=2)] == [made[4], made[3]]
        assert [one.number for one in room.find("физик", before=made[3], limit=2)] == [made[2], made[1]]
        assert [one.number for one in room.find("0%_S")] == [other]
        assert room.find("%%") == []
        assert [one.number for one in room.find(kind="compare")] == [other]
        assert room.find(state="running") == []
        assert [one.number for one in room.find("работа", numbers=[made[1], other])] == [made[1]]
        assert room.delete([made[0], made[1], 999_999]) == 2
        with pytest.raises(UnknownReport):
            room.get(made[0])
        with pytest.raises(UnknownReport):
            room.data(made[0])
        assert room.delete_before(time.time() - 60) == 0
        assert room.delete_before(time.time() + 60) == 4
        assert room.find() == []
