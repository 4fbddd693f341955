"""The stores: the same tests on SQLite and on PostgreSQL."""

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from random import Random

import pytest

from app.adapters.records.opening import NoStore, ready_store, store_at
from app.adapters.records.record import Begun, Feedback
from app.adapters.records.schema import NEWEST
from app.adapters.records.sealing import flaws_of_chain
from app.adapters.records.store import Store, StoreLost, UnknownSchema
from tests.support.postgres import Postgres
from tests.support.records import new_record
from tests.support.scale import scaled
from tests.support.seeds import Seeds
from tests.support.waiting import eventually

DAY_MS = 86_400_000
# A store as the first version of the tables had it.
FIRST = Path(__file__).with_name("first_version.sql")


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    with closing(ready_store(address)) as made:
        yield made


def flaws(store: Store) -> list[tuple[str, str]]:
    return list(flaws_of_chain(store.all(), store.chain()))


def test_a_record_comes_back_as_it_was_written(store: Store):
    new = new_record(request='{"instance":{"name":"Zoë \U0001f600","x":1.10}}')
    store.append([new])
    found = store.find(new.id)
    assert found is not None
    assert found.personal == new.personal
    assert (found.id, found.at, found.model, found.outcome, found.terms) == (
        new.id,
        new.at,
        new.model,
        new.outcome,
        new.terms,
    )
    assert store.find("no such id") is None


def test_records_of_a_subject_come_in_their_order_and_page_by_page(store: Store):
    own, others = [new_record("p-1") for _ in range(5)], [new_record("p-2") for _ in range(3)]
    store.append([*own[:2], *others, *own[2:]])
    first = store.of_subject("p-1", 3)
    assert [record.id for record in first] == [new.id for new in own[:3]]
    assert [record.id for record in store.of_subject("p-1", 3, first[-1].seq)] == [new.id for new in own[3:]]
    assert [record.seq for record in store.all()] == list(range(1, 9))


def test_the_chain_shows_what_was_changed_or_taken_away(store: Store):
    store.append([new_record() for _ in range(4)])
    store.append([new_record()])
    assert flaws(store) == []
    ids = [record.id for record in store.all()]
    with store.writing() as session:
        session.execute("UPDATE personal SET request = ? WHERE record_id = ?", ["{}", ids[1]])
        session.execute("UPDATE records SET outcome = ? WHERE id = ?", ["no_recourse", ids[2]])
        session.execute("DELETE FROM records WHERE id = ?", [ids[4]])
        session.execute("DELETE FROM personal WHERE record_id = ?", [ids[3]])
    assert {name for name, _ in flaws(store)} == {ids[1], ids[2], ids[3]}
    assert (ids[3], "the chain ends here, but its last record is number 5") in flaws(store)


@pytest.mark.parametrize("column", ["subject", "salt", "request", "start", "plans", "summary"])
def test_whatever_is_changed_of_what_is_personal_is_shown(store: Store, column: str):
    new = new_record()
    store.append([new])
    changed = {"salt": "00" * 32, "plans": '["{\\"rank\\":2}"]'}.get(column, "p-2")
    with store.writing() as session:
        session.execute(f"UPDATE personal SET {column} = ?", [changed])  # noqa: S608  # all ours
    assert {name for name, _ in flaws(store)} == {new.id}


def test_what_became_of_a_plan_is_not_kept_of_an_erased_record(store: Store):
    """It may have been looked up before the erasure."""
    new = new_record("p-1")
    store.append([new])
    given = Feedback(new.id, 1, "tried", None, 5)
    assert store.give_feedback(given) == given
    store.erase("p-1")
    assert store.give_feedback(given) is None
    assert store.feedback_on(new.id) == []


def test_erasing_a_subject_leaves_the_chain_whole(store: Store):
    kept = new_record("p-2")
    store.append([new_record("p-1"), kept, new_record("p-1")])
    assert store.erase("p-1") == 2
    assert store.erase("p-1") == 0
    assert store.of_subject("p-1", 10) == []
    assert [record.personal is None for record in store.all()] == [True, False, True]
    assert flaws(store) == []


def test_purging_takes_the_oldest_and_the_chain_begins_later(store: Store):
    records = [new_record(at=day * DAY_MS) for day in range(6)]
    store.append(records)
    assert store.purge(4 * DAY_MS) == 4
    assert [record.id for record in store.all()] == [new.id for new in records[4:]]
    assert flaws(store) == []
    assert store.purge(4 * DAY_MS) == 0
    assert store.purge(100 * DAY_MS) == 2
    assert flaws(store) == []
    store.append([new_record()])
    assert [record.seq for record in store.all()] == [7]
    assert flaws(store) == []


def test_a_clock_that_ran_ahead_keeps_no_old_record_and_costs_no_young_one(store: Store):
    """What comes after a record is younger, whatever the clock said."""
    days = (1, 500, 2, 0, 99, 700)
    store.append([new_record(at=day * DAY_MS) for day in days])
    assert store.purge(70 * DAY_MS, now=100 * DAY_MS) == 4
    assert [record.at // DAY_MS for record in store.all()] == [99, 700]
    # The newest may have been written before the clock was put right: nothing says that it is old.
    assert store.purge(170 * DAY_MS, now=200 * DAY_MS) == 1
    assert [record.at // DAY_MS for record in store.all()] == [700]
    assert flaws(store) == []


def test_a_batch_is_written_whole_or_not_at_all(store: Store):
    twice = new_record()
    with pytest.raises(Exception, match=r"(?i)unique"):
        store.append([new_record(), twice, twice])
    assert list(store.all()) == []
    assert flaws(store) == []


def test_what_was_written_before_the_connection_was_lost_is_not_written_twice(store: Store):
    first, second = new_record(), new_record()
    store.append([first])
    store.append([first, second], again=True)
    assert [record.id for record in store.all()] == [first.id, second.id]
    assert flaws(store) == []


def test_an_answer_that_has_begun_is_noted_until_its_record_is_there(store: Store):
    new = new_record()
    begun = Begun(new.id, new.at, new.model)
    store.append([], [begun])
    assert store.find_begun(new.id) == begun
    store.append([new])
    assert store.find_begun(new.id) is None


def test_several_writers_make_one_chain(address: str):
    ready_store(address).close()
    count = scaled(40)

    def write(_: int) -> None:
        with closing(store_at(address)) as own:
            for _ in range(count):
                own.append([new_record(), new_record()])

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(write, range(3)))
    with closing(store_at(address)) as store:
        assert len(list(store.all())) == 6 * count
        assert flaws(store) == []


def test_several_processes_may_make_the_tables_at_once(new_address: Callable[[], str]):
    address = new_address()
    with ThreadPoolExecutor(6) as threads:
        for made in threads.map(ready_store, repeat(address, 6)):
            made.close()
    with closing(ready_store(address)) as store:
        assert flaws(store) == []


def test_a_store_of_a_newer_version_is_refused(store: Store, address: str):
    with store.writing() as session:
        session.execute("UPDATE schema_version SET version = 99")
    with pytest.raises(UnknownSchema, match="version 99"):
        store.prepare()
    with pytest.raises(NoStore, match="version 99"):
        ready_store(address)


def test_a_store_of_the_first_version_is_brought_up_to_date(new_address: Callable[[], str]):
    address = new_address()
    with closing(store_at(address)) as old, old.writing() as session:
        for statement in FIRST.read_text().split(";\n"):
            session.execute(statement)
    with closing(ready_store(address)) as store:
        assert [record.id for record in store.all()] == ["0" * 31 + "1", "0" * 31 + "2"]
        assert flaws(store) == []
        store.give_feedback(Feedback("0" * 31 + "1", 1, "accepted", None, 5))
        store.append([new_record()])
        assert flaws(store) == []
        with store.reading() as session:
            assert session.execute("SELECT version FROM schema_version") == [(NEWEST,)]


def test_nothing_of_an_erased_subject_is_left_in_the_files(tmp_path: Path):
    mark = "wilhelmina-of-the-lake"
    with closing(ready_store(f"sqlite:///{tmp_path}/records.db")) as store:
        marked = [
            new_record(f"{mark}-1", request=f'{{"instance":{{"a":"{mark * 500}"}}}}', start=mark) for _ in range(9)
        ]
        plain = new_record(request='{"instance":{"a":"somebody-else"}}')
        store.append([*marked, plain])
        files = list(tmp_path.iterdir())
        assert any(mark.encode() in file.read_bytes() for file in files)
        store.erase(f"{mark}-1")
        for file in tmp_path.iterdir():
            assert mark.encode() not in file.read_bytes(), file
        assert any(b"somebody-else" in file.read_bytes() for file in tmp_path.iterdir())
        assert flaws(store) == []


def test_an_erasure_reaches_old_copies_of_rows_that_were_moved(tmp_path: Path):
    """SQLite moves rows from page to page as their neighbours are deleted, and overwrites only the last copy."""
    for seed in Seeds(scaled(8)):
        rng, folder = Random(seed), tmp_path / str(seed)  # noqa: S311  # no secret
        folder.mkdir()
        marks = [f"<person {number}>" for number in range(3)]
        with closing(ready_store(f"sqlite:///{folder}/records.db")) as store:
            people = [rng.choice(marks) for _ in range(120)]
            store.append([new_record(mark, request=f'["{mark * rng.choice([1, 5, 20, 60])}"]') for mark in people])
            for erased, mark in enumerate(marks, start=1):
                store.erase(mark)
                left = b"".join(file.read_bytes() for file in folder.iterdir())
                assert [mark for mark in marks[:erased] if mark.encode() in left] == [], seed


def test_nothing_of_an_erased_subject_is_left_in_a_dump(database_server: Postgres):
    mark, address = "wilhelmina-of-the-lake", database_server.new_database()
    with closing(ready_store(address)) as store:
        store.append([new_record(mark, request=f'{{"instance":{{"a":"{mark}"}}}}'), new_record("somebody-else")])
        assert mark.encode() in database_server.dump(address)
        store.erase(mark)
        dumped = database_server.dump(address)
        assert mark.encode() not in dumped
        assert b"somebody-else" in dumped


def is_kept(store: Store) -> bool:
    """Whether one more record can be written; if not, nothing is."""
    try:
        store.append([new_record()])
    except StoreLost:
        return False
    return True


def test_a_server_that_is_gone_is_lost_and_comes_back(database_server: Postgres):
    with closing(ready_store(database_server.new_database())) as store:
        store.append([new_record()])
        database_server.kill()
        with pytest.raises(StoreLost):
            store.append([new_record()])
        database_server.start()
        # On a busy machine it takes longer to recover than the store waits.
        eventually(lambda: is_kept(store))
        assert len(list(store.all())) == 2
        assert flaws(store) == []


def test_a_full_disk_is_lost_and_nothing_is_half_written(tmp_path: Path):
    with closing(ready_store(f"sqlite:///{tmp_path}/records.db")) as store:
        store.append([new_record()])
        with store.writing() as session:
            [(pages,)] = session.execute("PRAGMA page_count")
            session.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreLost):
            store.append([new_record(request=f'{{"a":"{"x" * 100_000}"}}')])
        assert len(list(store.all())) == 1
        assert flaws(store) == []
        store.append([replace(new_record(), model="hcv")])
        assert len(list(store.all())) == 2


def test_a_file_that_is_no_database_is_lost(tmp_path: Path):
    file = tmp_path / "records.db"
    file.write_bytes(b"not a database" * 1000)
    with pytest.raises(NoStore, match="cannot be reached or written to"):
        ready_store(f"sqlite:///{file}")
    with pytest.raises(NoStore):
        ready_store(f"sqlite:///{tmp_path}/no/such/folder/records.db")
    assert sqlite3.sqlite_version_info >= (3, 35)
