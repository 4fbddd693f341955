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
DEADLY = "the process that answered for this row died of it, several times"


class _Failure(NamedTuple):
    """What a process sends where it has no answer; the text of an exception may quote a value, and is left out."""

    kind: str
    frames: str


def _work(connection: Connection, job: Job) -> None:
    """Answer for chunks until nobody sends any more."""
    # Ctrl-C reaches everybody; the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_cpu_count(1)
    given: SimpleQueue[tuple[int, Chunk] | None] = SimpleQueue()
    # Taken in while others are answered: else either side might wait for the other to read.
    Thread(target=_take_in, args=(connection, given), daemon=True).start()
    solver = Solver(job)
    with suppress(BrokenPipeError, ConnectionResetError):
        while (task := given.get()) is not None:
            number, chunk = task
            connection.send((number, _solved(solver, chunk)))


def _take_in(connection: Connection, given: "SimpleQueue[tuple[int, Chunk] | None]") -> None:
    with suppress(EOFError, OSError):
        while True:
            given.put(connection.recv())
    given.put(None)


def _solved(solver: Solver, chunk: Chunk) -> Solved | _Failure:
    try:
        return solver.solve(chunk)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is told to the parent
        return _Failure(type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))


@dataclass
class _Worker:
    process: ForkServerProcess
    connection: Connection
    # The chunks that it has, by number, in the order that it was given them.
    given: dict[int, Chunk] = field(default_factory=dict)

    def give(self, number: int, chunk: Chunk) -> None:
        self.given[number] = chunk
        # One that is dead is noticed where its answer is waited for.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send((number, chunk))

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

    @property
    def process_ids(self) -> list[int]:
        return [worker.process.pid or 0 for worker in self._workers]

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
            except (EOFError, ConnectionResetError):
                for number, chunk in self._bury(worker):
                    if self._deaths[number] < MOST_DEATHS:
                        back.append((number, chunk))
                    else:
                        ready[number] = self._carefully(chunk)
                continue
            chunk = worker.given.pop(number)
            if isinstance(said, _Failure):
                raise SolverFailed(
                    f"{said.kind}, while answering for rows {chunk.first} to {chunk.first + chunk.rows - 1} "
                    f"of {chunk.file}:\n{said.frames}"
                )
            ready[number] = said

    def _bury(self, worker: _Worker) -> list[tuple[int, Chunk]]:
        """Put a new process in the place of a dead one. It had all of its chunks, but it died of the first at most."""
        worker.end()
        self._workers[self._workers.index(worker)] = self._started()
        for number in list(worker.given)[:1]:
            self._deaths[number] = self._deaths.get(number, 0) + 1
        for number in worker.given:
            self._deaths.setdefault(number, 0)
        return list(worker.given.items())

    def _carefully(self, chunk: Chunk) -> Solved:
        """Answer for a chunk of which processes die: for its halves, down to the row that no process survives."""
        worker = self._started()
        try:
            worker.give(0, chunk)
            said = worker.connection.recv()[1]
        except (EOFError, ConnectionResetError):
            if chunk.rows <= 1:
                return Solver(self._job).reject(chunk, DEADLY)
            middle = chunk.rows // 2
            halves = [self._carefully(chunk.part(0, middle)), self._carefully(chunk.part(middle, chunk.rows))]
            return Solved(*(pa.concat_tables(pair) for pair in zip(*halves, strict=True)))
        finally:
            worker.end()
        if isinstance(said, _Failure):
            raise SolverFailed(f"{said.kind}:\n{said.frames}")
        return said  # type: ignore[no-any-return]  # a process sends nothing else

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
