"""The thread that writes records, with real stores."""

from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.adapters.records.opening import store_at
from app.adapters.records.record import Begun
from app.adapters.records.sealing import flaws_of_chain
from app.adapters.records.store import Store, StoreLost
from app.recording.writer import Job, Writer
from tests.support.records import new_record
from tests.support.waiting import PATIENCE, eventually

MANY = 2**30


def ids(store: Store) -> list[str]:
    return [record.id for record in store.all()]


def test_what_it_is_given_is_written_in_order(address: str):
    records = [new_record() for _ in range(600)]
    counted: Counter[str] = Counter()
    with closing(store_at(address)) as store:
        writer = Writer(store, MANY)
        writer.count = lambda result, count: counted.update({result: count})
        for record in records:
            writer.put(Job(record, 0))
        writer.close(PATIENCE)
        assert ids(store) == [record.id for record in records]
        assert list(flaws_of_chain(store.all(), store.chain())) == []
    assert counted == {"written": 600}


def test_there_is_room_for_so_many_bytes(tmp_path: Path):
    with closing(store_at(f"sqlite:///{tmp_path}/r.db")) as store:
        writer = Writer(store, 100)
        # One record has room, however much it weighs.
        assert writer.reserve(1000)
        assert not writer.reserve(1)
        writer.put(Job(new_record(), 1000))
        eventually(lambda: writer.reserve(60))
        assert writer.reserve(40)
        assert not writer.reserve(1)
        writer.release(60)
        assert writer.reserve(60)
        writer.close(PATIENCE)


def test_what_somebody_waited_for_in_vain_is_not_written_later(address: str):
    given_up, kept = (Job(new_record(), 10, is_awaited=True) for _ in range(2))
    given_up.written.cancel()
    with closing(store_at(address)) as store:
        writer = Writer(store, 20)
        assert writer.reserve(20)
        writer.put(given_up)
        writer.put(kept)
        kept.written.result(PATIENCE)
        writer.close(PATIENCE)
        assert ids(store) == [kept.what.id]
        # Its room was given back.
        assert writer.reserve(20)


def test_a_record_that_the_store_refuses_takes_no_other_along(address: str):
    good = [new_record() for _ in range(3)]
    # No database takes a lone half of a character.
    bad = replace(new_record(), key="\ud800")
    counted: Counter[str] = Counter()
    with closing(store_at(address)) as store:
        store.prepare()
        writer = Writer(store, MANY)
        writer.count = lambda result, count: counted.update({result: count})
        for record in (good[0], bad, *good[1:]):
            writer.put(Job(record, 0))
        writer.close(PATIENCE)
        assert ids(store) == [record.id for record in good]
    assert counted == {"written": 3, "lost": 1}


def test_it_waits_for_a_store_that_is_lost(tmp_path: Path):
    folder = tmp_path / "later"
    record, begun = new_record(), Begun("ab" * 16, 1, "hcv")
    with closing(store_at(f"sqlite:///{folder}/r.db")) as store:
        writer = Writer(store, MANY)
        writer.put(Job(record, 0))
        waited_for = Job(begun, 0, is_awaited=True)
        writer.put(waited_for)
        # What somebody waits for is not written later: they are refused.
        with pytest.raises(StoreLost):
            waited_for.written.result(PATIENCE)
        assert writer.is_failing
        folder.mkdir()
        eventually(lambda: not writer.is_failing)
        assert ids(store) == [record.id]
        assert store.find_begun(begun.id) is None
        writer.close(PATIENCE)


def test_a_table_that_is_away_loses_no_record(address: str):
    """Nor does a right that was withdrawn: to PostgreSQL both are a mistake in the statement."""
    record = new_record()
    with closing(store_at(address)) as store:
        store.prepare()
        with store.writing() as session:
            session.execute("ALTER TABLE personal RENAME TO away")
        writer = Writer(store, MANY)
        writer.put(Job(record, 0))
        eventually(lambda: writer.is_failing)
        with store.writing() as session:
            session.execute("ALTER TABLE away RENAME TO personal")
        eventually(lambda: not writer.is_failing)
        assert ids(store) == [record.id]
        writer.close(PATIENCE)


def test_what_cannot_be_written_before_the_end_is_lost_and_counted(tmp_path: Path):
    counted: Counter[str] = Counter()
    with closing(store_at(f"sqlite:///{tmp_path}/never/r.db")) as store:
        writer = Writer(store, MANY)
        writer.count = lambda result, count: counted.update({result: count})
        for _ in range(3):
            writer.put(Job(new_record(), 0))
        eventually(lambda: writer.is_failing)
        writer.close(0)
        eventually(lambda: counted == {"lost": 3})


def test_old_records_are_purged_by_the_service(address: str):
    with closing(store_at(address)) as store:
        store.prepare()
        store.append([new_record(at=1000)])
        writer = Writer(store, MANY, days=1)
        now = new_record(at=4_000_000_000_000)
        writer.put(Job(now, 0))
        eventually(lambda: ids(store) == [now.id])
        writer.close(PATIENCE)
        assert list(flaws_of_chain(store.all(), store.chain())) == []
