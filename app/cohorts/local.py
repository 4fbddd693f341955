"""Processes on this machine that answer chunks. One that dies is replaced, and its chunks are answered again."""

import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

import pyarrow as pa

from app.cohorts.failures import SolverFailed
from app.cohorts.job import ChunkSolver
from app.cohorts.reading.chunks import Chunk
from app.cohorts.tables import Solved

# A process gets its next chunk before it has finished one.
AHEAD = 2
# A chunk that has crashed this many processes is halved, until the row is found.
MOST_DEATHS = 3
# In place of a chunk's number: the process has loaded the model and waits for chunks.
READY = -1
STARTING = "starting a process that answers"
DEADLY = "this row crashed its process several times"


class _Failure(NamedTuple):
    """What a process sends if it failed. It omits the text of the exception, which may quote a value."""

    kind: str
    frames: str

    @classmethod
    def of(cls, error: Exception) -> "_Failure":
        return cls(type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))

    def raised(self, doing: str) -> SolverFailed:
        return SolverFailed(f"{self.kind}, while {doing}:\n{self.frames}")


def _work(connection: Connection, make: Callable[[], ChunkSolver]) -> None:
    """In the child: answer chunks until the parent closes the connection."""
    # Ctrl-C reaches all processes; the parent decides what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_cpu_count(1)
    given: SimpleQueue[tuple[int, Chunk] | None] = SimpleQueue()
    # A thread receives chunks while others are answered: otherwise both sides might wait for the other to read.
    Thread(target=_take_in, args=(connection, given), daemon=True).start()
    with suppress(BrokenPipeError, ConnectionResetError):
        try:
            solver = make()
        except Exception as error:  # noqa: BLE001  # whatever it is, the parent gets it
            connection.send((READY, _Failure.of(error)))
            return
        connection.send((READY, None))
        while (task := given.get()) is not None:
            number, chunk = task
            connection.send((number, _solved(solver, chunk)))


def _take_in(connection: Connection, given: "SimpleQueue[tuple[int, Chunk] | None]") -> None:
    try:
        with suppress(EOFError, OSError):
            while True:
                given.put(connection.recv())
    finally:
        given.put(None)


def _solved(solver: ChunkSolver, chunk: Chunk) -> Solved | _Failure:
    try:
        return solver.solve(chunk)
    except Exception as error:  # noqa: BLE001  # whatever it is, the parent gets it
        return _Failure.of(error)


def _checked(said: Solved | _Failure, chunk: Chunk) -> Solved:
    if isinstance(said, _Failure):
        last = chunk.first + chunk.rows - 1
        raise said.raised(f"answering for rows {chunk.first} to {last}, {chunk.file}")
    return said


@dataclass
class _Worker:
    """A process, the connection to it, and whether it is ready."""

    process: ForkServerProcess
    connection: Connection
    ready: bool = False
    # Its chunks by number, in the order of giving.
    given: dict[int, Chunk] = field(default_factory=dict)

    def give(self, number: int, chunk: Chunk) -> None:
        self.given[number] = chunk
        # `_collect` notices a dead process.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send((number, chunk))

    def mark_ready(self, failure: _Failure | None) -> None:
        """It has loaded the model; `SolverFailed` if it sent a failure instead."""
        if failure is not None:
            raise failure.raised(STARTING)
        self.ready = True

    def end(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join()


class LocalWorkers:
    """`count` processes that answer chunks, each with a solver that it makes for itself."""

    def __init__(self, make: Callable[[], ChunkSolver], count: int) -> None:
        self._make = make
        self._context = get_context("forkserver")
        # Imported once by the fork server, not by each process.
        self._context.set_forkserver_preload(["app.cohorts.solving.solver"])
        self._workers = [self._started() for _ in range(count)]
        self._deaths: dict[int, int] = {}
        self._false_starts = 0

    def _started(self) -> _Worker:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(there, self._make), daemon=True)
        process.start()
        there.close()
        return _Worker(process, here)

    def solve(self, chunks: Iterable[Chunk]) -> Iterator[Solved]:
        """The result of each chunk, in order."""
        tasks, ready = enumerate(chunks), dict[int, Solved]()
        back: deque[tuple[int, Chunk]] = deque()
        told = 0
        while True:
            while told in ready:
                yield ready.pop(told)
                told += 1
            self._hand_out(back, tasks, len(ready))
            if not any(worker.given for worker in self._workers):
                return
            self._collect(ready, back)

    def _hand_out(self, back: deque[tuple[int, Chunk]], tasks: Iterator[tuple[int, Chunk]], ready: int) -> None:
        """Keep all workers busy, but not so far ahead of the slowest that finished results fill the memory."""
        room = 2 * AHEAD * len(self._workers) - ready - sum(len(worker.given) for worker in self._workers)
        while room > 0 and (worker := self._least_busy()) is not None:
            task = back.popleft() if back else next(tasks, None)
            if task is None:
                return
            worker.give(*task)
            room -= 1

    def _least_busy(self) -> _Worker | None:
        worker = min(self._workers, key=lambda each: len(each.given))
        return worker if len(worker.given) < AHEAD else None

    def _collect(self, ready: dict[int, Solved], back: deque[tuple[int, Chunk]]) -> None:
        """Wait until a worker finishes a chunk or dies; the chunks of dead workers go to `back`."""
        by_connection = {worker.connection: worker for worker in self._workers}
        for connection in wait(list(by_connection)):
            worker = by_connection[connection]  # type: ignore[index]  # wait gives back what it was given
            try:
                number, said = worker.connection.recv()
            except (EOFError, OSError):
                for number, chunk in self._bury(worker):
                    if self._deaths.get(number, 0) < MOST_DEATHS:
                        back.append((number, chunk))
                    else:
                        ready[number] = self._carefully(chunk)
                continue
            if number == READY:
                worker.mark_ready(said)
            else:
                ready[number] = _checked(said, worker.given.pop(number))

    def _bury(self, worker: _Worker) -> list[tuple[int, Chunk]]:
        """Replace a dead worker, and return its chunks. If one of them crashed it, it was the first."""
        worker.end()
        if not worker.ready:
            self._false_starts += 1
            if self._false_starts >= MOST_DEATHS:
                raise SolverFailed(f"{STARTING} ended with {worker.process.exitcode}, {MOST_DEATHS} times")
        elif worker.given:
            number = next(iter(worker.given))
            self._deaths[number] = self._deaths.get(number, 0) + 1
        self._workers[self._workers.index(worker)] = self._started()
        return list(worker.given.items())

    def _carefully(self, chunk: Chunk) -> Solved:
        """Answer a chunk that crashes processes: by halves, down to the row that crashes them."""
        worker = self._started()
        try:
            worker.mark_ready(worker.connection.recv()[1])
            worker.give(0, chunk)
            return _checked(worker.connection.recv()[1], chunk)
        except (EOFError, OSError):
            if not worker.ready:
                raise SolverFailed(f"{STARTING} ended with {worker.process.exitcode}") from None
            if chunk.rows <= 1:
                return self._make().reject(chunk, DEADLY)
            middle = chunk.rows // 2
            halves = [self._carefully(chunk.part(0, middle)), self._carefully(chunk.part(middle, chunk.rows))]
            return Solved(*(pa.concat_tables(pair) for pair in zip(*halves, strict=True)))
        finally:
            worker.end()

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
