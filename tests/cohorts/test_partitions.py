"""Workers that read and write partitions themselves: what they see is what one reader would have handed them."""

from collections.abc import Iterator, Sequence
from itertools import count, groupby
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("upath", reason="the packages of the group cluster are not installed")

from app.cohorts.answers_folder import AnswersFolder
from app.cohorts.partitions import Partitioned, PartitionWriter, write_all
from app.cohorts.places import UnknownPlace, place
from app.cohorts.reading.chunks import Chunk
from app.cohorts.reading.columns import Columns
from app.cohorts.reading.people_files import rows_in
from app.cohorts.running import Input, run
from app.cohorts.tables import REJECTS, Schemas, Solved
from tests.support.scale import scaled
from tests.support.seeds import Seeds

SCHEMAS = Schemas(pa.schema([("row", pa.int64()), ("a", pa.float64())]), pa.schema([("row", pa.int64())]), REJECTS)
NUMBERS = count()


class Copying:
    """A solver that answers with the row itself."""

    def solve(self, chunk: Chunk) -> Solved:
        read = [place for place in range(chunk.rows) if place not in chunk.flaws]
        rows = pa.array([chunk.first + place for place in read], pa.int64())
        values = chunk.table["a"].take(pa.array(read, pa.int64())) if read else pa.array([], pa.float64())
        people = pa.table({"row": rows, "a": values}, SCHEMAS.people)
        lost = [None] if chunk.lost else []
        rejected = [*(chunk.first + place for place in chunk.flaws), *lost]
        reasons = [*chunk.flaws.values(), *([chunk.lost] if chunk.lost else [])]
        empty = [None] * len(rejected)
        rejects = pa.table(
            [rejected, [chunk.file] * len(rejected), empty, empty, [[]] * len(rejected), reasons], schema=REJECTS
        )
        return Solved(people, SCHEMAS.counterfactuals.empty_table(), rejects)

    def reject(self, chunk: Chunk, reason: str) -> Solved:
        raise AssertionError(reason)


class OneByOne:
    """A cluster of one worker, in this process; or the workers of a run that reads everything in order."""

    def __init__(self, writer: PartitionWriter | None = None) -> None:
        self._writer = writer

    def write(self, partitions: Sequence[int]) -> Iterator[int]:
        assert self._writer is not None
        # Whoever is free takes one: they may come in any order.
        return map(self._writer.write, reversed(partitions))

    def solve(self, chunks: Iterator[Chunk]) -> Iterator[Solved]:
        return map(Copying().solve, chunks)

    def close(self) -> None:
        """Nothing to end."""


class Counting:
    """A watcher that adds up."""

    def __init__(self) -> None:
        self.rows = 0

    def passed_over(self, rows: int) -> None:
        self.rows += rows

    answered = passed_over


def people_of(folder: Path, random: np.random.Generator, partition_rows: int) -> Input:
    """Some Parquet files with row groups of odd sizes; a few are empty, cut off or damaged."""
    folder.mkdir()
    numbers = count()
    for file in range(int(random.integers(1, 5))):
        rows = int(random.choice((0, 3, partition_rows, random.integers(1, 41))))
        table = pa.table({"a": pa.array([float(next(numbers)) for _ in range(rows)], pa.float64())})
        path = folder / f"{file}.parquet"
        pq.write_table(
            table, path, row_group_size=int(random.integers(1, 13)), write_page_checksum=True, compression=None
        )
        content = bytearray(path.read_bytes())
        if random.random() < 0.2:
            path.write_bytes(content[: len(content) // 2])
        elif rows and random.random() < 0.2:
            content[40] ^= 255
            path.write_bytes(content)
    files = tuple(sorted(folder.iterdir()))
    return Input(files, None, Columns({"a": "a"}, {}, {}, None), partition_rows, int(random.choice((2, 5, 100))))


def partitioned(people: Input) -> Partitioned:
    return Partitioned(people, tuple(rows_in(file, None) for file in people.files))


def read_by(chunks: Iterator[Chunk]) -> list[tuple[object, ...]]:
    """What there is of every row, however it was cut into chunks."""
    return [
        (chunk.first + row, chunk.file, chunk.flaws.get(row) or chunk.table["a"][row].as_py(), None)
        for chunk in chunks
        for row in range(chunk.rows)
    ]


@pytest.mark.parametrize("seed", Seeds(scaled(40), 26_500))
def test_a_partition_holds_what_one_reader_finds_in_it(tmp_path: Path, seed: int):
    random = np.random.default_rng(seed)
    people = people_of(tmp_path / "people", random, int(random.choice((1, 4, 10, 25))))
    whole = partitioned(people)
    in_order = list(people.chunks())
    for number, group in groupby(in_order, key=people.partition):
        expected, found = list(group), list(whole.chunks(number))
        assert read_by(iter(found)) == read_by(iter(expected))
        assert [(c.first, c.lost) for c in found if c.lost] == [(c.first, c.lost) for c in expected if c.lost]
        assert number in whole.numbers()
    assert sum(len(list(whole.chunks(number))) > 0 for number in whole.numbers()) == len(
        {people.partition(chunk) for chunk in in_order}
    )


@pytest.mark.parametrize("kind", ["folder", "store"])
@pytest.mark.parametrize("seed", Seeds(scaled(10), 26_700))
def test_the_same_files_are_written_however_and_wherever(tmp_path: Path, seed: int, kind: str):
    people = people_of(tmp_path / "people", np.random.default_rng(seed), 10)
    alone = AnswersFolder(tmp_path / "alone", SCHEMAS)
    with alone.claimed():
        assert not alone.begin({"asked": 1})
        run(people, OneByOne(), alone, Counting())
    out = tmp_path / "shared" if kind == "folder" else place(f"memory://answers-{next(NUMBERS)}")
    shared, whole = AnswersFolder(out, SCHEMAS), partitioned(people)
    for _ in range(2):
        with shared.claimed():
            # The second time, everything is there: what is there is passed over.
            assert not shared.begin({"asked": 1})
            watcher = Counting()
            write_all(whole, OneByOne(PartitionWriter(Copying, whole, shared)), shared, watcher)
    for table in ("people", "counterfactuals", "rejects"):
        written = [{file.name: file.read_bytes() for file in folder.files(table)} for folder in (alone, shared)]
        assert written[0] == written[1]
    # What a worker had begun to write when it died.
    if kind == "folder":
        (out / "people" / "part-00000.parquet.0badcafe.unfinished").write_bytes(b"PAR1")
    facts = [folder.finish({"asked": 1}, lambda people: {}) for folder in (alone, shared)]
    assert facts[0] == facts[1] == shared.record()
    assert shared.begin({"asked": 1})
    assert not [*out.glob("**/*.unfinished")]


def test_files_of_a_store_are_read_as_those_of_a_folder(tmp_path: Path):
    here = people_of(tmp_path / "people", np.random.default_rng(3), 10)
    store = place(f"memory://people-{next(NUMBERS)}")
    for file in here.files:
        (store / file.name).write_bytes(file.read_bytes())
    there = Input(tuple(store / file.name for file in here.files), None, here.columns, 10, here.chunk_rows)
    assert read_by(there.chunks()) == read_by(here.chunks())
    assert read_by(partitioned(there).chunks(1)) == read_by(partitioned(here).chunks(1))


def test_an_address_that_nothing_reaches_is_refused():
    with pytest.raises(UnknownPlace, match=r"^nowhere://x: cannot be used: "):
        place("nowhere://x")
    assert place("file:///register/people") == place("/register/people") == Path("/register/people")
