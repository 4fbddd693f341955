"""Processes on this machine that answer for chunks; one that dies is replaced, and what it had is answered again."""

import signal
import traceback
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

import pyarrow as pa

from app.cohorts.chunks import Chunk
from app.cohorts.failures import SolverFailed
from app.cohorts.job import Job
from app.cohorts.solving import Solver
from app.cohorts.tables import Solved

# A process has the next chunk before it is done with one.
AHEAD = 2
# A chunk with which so many processes have died is cut in two, until it is known whose row it is.
MOST_DEATHS = 3
# In the place of a chunk's number: the process has loaded the model, and waits for chunks.
READY = -1
STARTING = "starting a process that answers"
DEADLY = "the process that answered for this row died of it, several times"


class _Failure(NamedTuple):
    """What a process sends where it has no answer; the text of an exception may quote a value, and is left out."""

    kind: str
    frames: str

    @classmethod
    def of(cls, error: Exception) -> "_Failure":
        return cls(type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))

    def raised(self, doing: str) -> SolverFailed:
        return SolverFailed(f"{self.kind}, while {doing}:\n{self.frames}")


def _work(connection: Connection, job: Job) -> None:
    """Answer for chunks until nobody sends any more."""
    # Ctrl-C reaches everybody; the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_cpu_count(1)
    given: SimpleQueue[tuple[int, Chunk] | None] = SimpleQueue()
    # Taken in while others are answered: else either side might wait for the other to read.
    Thread(target=_take_in, args=(connection, given), daemon=True).start()
    with suppress(BrokenPipeError, ConnectionResetError):
        try:
            solver = Solver(job)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is told to the parent
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


def _solved(solver: Solver, chunk: Chunk) -> Solved | _Failure:
    try:
        return solver.solve(chunk)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is told to the parent
        return _Failure.of(error)


def _checked(said: Solved | _Failure, chunk: Chunk) -> Solved:
    if isinstance(said, _Failure):
        last = chunk.first + chunk.rows - 1
        raise said.raised(f"answering for rows {chunk.first} to {last}, {chunk.file}")
    return said


@dataclass
class _Worker:
    """A process, the way to it, and whether it has begun to answer."""

    process: ForkServerProcess
    connection: Connection
    ready: bool = False
    # The chunks that it has, by number, in the order that it was given them.
    given: dict[int, Chunk] = field(default_factory=dict)

    def give(self, number: int, chunk: Chunk) -> None:
        self.given[number] = chunk
        # One that is dead is noticed where its answer is waited for.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send((number, chunk))

    def is_ready(self, failure: _Failure | None) -> None:
        if failure is not None:
            raise failure.raised(STARTING)
        self.ready = True

    def end(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join()


class LocalWorkers:
    """So many processes."""

    def __init__(self, job: Job, count: int) -> None:
        self._job = job
        self._context = get_context("forkserver")
        # Imported once, and not by each process that is started.
        self._context.set_forkserver_preload(["app.cohorts.solving"])
        self._workers = [self._started() for _ in range(count)]
        self._deaths: dict[int, int] = {}
        self._false_starts = 0

    def _started(self) -> _Worker:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(there, self._job), daemon=True)
        process.start()
        there.close()
        return _Worker(process, here)

    def solve(self, chunks: Iterable[Chunk]) -> Iterator[Solved]:
        """What becomes of each chunk, in their order."""
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
        """Keep everybody busy, but not so far ahead of the slowest that all that is ready fills the memory."""
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
        """Wait for whoever is done, or dead; what the dead had comes back."""
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
                worker.is_ready(said)
            else:
                ready[number] = _checked(said, worker.given.pop(number))

    def _bury(self, worker: _Worker) -> list[tuple[int, Chunk]]:
        """Put a new process in the place of a dead one. If it died of any of its chunks, then of the first."""
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
        """Answer for a chunk of which processes die: for its halves, down to the row that no process survives."""
        worker = self._started()
        try:
            worker.is_ready(worker.connection.recv()[1])
            worker.give(0, chunk)
            return _checked(worker.connection.recv()[1], chunk)
        except (EOFError, OSError):
            if not worker.ready:
                raise SolverFailed(f"{STARTING} ended with {worker.process.exitcode}") from None
            if chunk.rows <= 1:
                return Solver(self._job).reject(chunk, DEADLY)
            middle = chunk.rows // 2
            halves = [self._carefully(chunk.part(0, middle)), self._carefully(chunk.part(middle, chunk.rows))]
            return Solved(*(pa.concat_tables(pair) for pair in zip(*halves, strict=True)))
        finally:
            worker.end()

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
