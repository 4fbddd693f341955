"""Partitions that workers read and write themselves, where all of them see the people and the folder of answers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Protocol

from app.cohorts.answers_folder import AnswersFolder, name_of
from app.cohorts.job import ChunkSolver
from app.cohorts.reading.chunks import Chunk, cut, numbered
from app.cohorts.reading.people_files import read_rows, without_values
from app.cohorts.running import Input, Watcher


class Writers(Protocol):
    """Workers that see what is read and where it is written."""

    def write(self, partitions: Sequence[int]) -> Iterator[int]:
        """Write these partitions; the rows of each."""
        ...

    def close(self) -> None:
        """End the workers."""
        ...


@dataclass(frozen=True, slots=True)
class Partitioned:
    """Parquet files of people, by partition. `counts` has the rows of each file; 0 if it cannot be read."""

    people: Input
    counts: tuple[int, ...]

    def numbers(self) -> range:
        """All partitions; the last one may turn out empty if the last file cannot be read."""
        rows, size = sum(self.counts), self.people.partition_rows
        ends_in_doubt = bool(self.counts) and self.counts[-1] == 0
        return range(max(1, rows // size + 1 if ends_in_doubt else -(-rows // size)))

    def chunks(self, partition: int) -> Iterator[Chunk]:
        """What a run that reads everything in order would see of this partition."""
        people, size = self.people, self.people.partition_rows
        rows = range(partition * size, (partition + 1) * size)
        read = takewhile(lambda piece: piece.first - 1 < rows.stop, numbered(self._pieces(rows)))
        pieces = (piece for piece in read if _touches(piece.first - 1, piece.rows, rows))
        return (chunk for chunk in cut(pieces, people.chunk_rows, size) if people.partition(chunk) == partition)

    def _pieces(self, rows: range) -> Iterator[Chunk]:
        wanted = self.people.columns.wanted
        for file, count, end in zip(self.people.files, self.counts, accumulate(self.counts), strict=True):
            first = end - count
            if _touches(first, count, rows):
                yield from read_rows(file, wanted, range(rows.start - first, rows.stop - first))
            else:
                yield without_values(file, count)


def _touches(first: int, count: int, rows: range) -> bool:
    """Whether rows from `first` on are among these; what has no rows is where the next row would be."""
    return first < rows.stop and (rows.start < first + count or (count == 0 and rows.start <= first))


class PartitionWriter:
    """Reads, answers and writes partitions, in one process."""

    def __init__(self, make: Callable[[], ChunkSolver], people: Partitioned, folder: AnswersFolder) -> None:
        self._solver = make()
        self._people = people
        self._folder = folder

    def write(self, partition: int) -> int:
        """Write a partition; how many rows it has."""
        rows, solved = 0, []
        for chunk in self._people.chunks(partition):
            solved.append(self._solver.solve(chunk))
            rows += chunk.rows
        if solved or partition == 0:
            self._folder.write(partition, solved)
        return rows


def write_all(people: Partitioned, writers: Writers, folder: AnswersFolder, watcher: Watcher) -> None:
    """Have the workers write all partitions that are not written yet."""
    done, size = folder.done(), people.people.partition_rows
    left = [number for number in people.numbers() if name_of(number) not in done]
    watcher.passed_over(size * (len(people.numbers()) - len(left)))
    for rows in writers.write(left):
        watcher.answered(rows)
