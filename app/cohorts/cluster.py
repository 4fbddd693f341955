"""Ray: actors that hold the model answer for chunks, on this machine or on a cluster; Ray replaces those that die."""

import logging
import os
import pickle
import re
import socket
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

# Nothing is told to Ray's makers. Read when Ray is imported, and by the processes that it starts.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
# It warns of every actor whose job is in the object store, which is where the job is to be.
os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")

import ray
import ray.data
from ray.exceptions import RayError
from ray.util.annotations import RayDeprecationWarning

from app.cohorts.chunks import Chunk
from app.cohorts.failures import NoCluster, SolverFailed
from app.cohorts.job import Job
from app.cohorts.solving import Solver
from app.cohorts.tables import Solved

# The only column of what travels: a chunk on the way there, what became of it on the way back.
CONTENT = "content"
# An actor that dies costs a retry; a row of which every actor dies must not do so for ever.
MOST_RETRIES = 10
# So many chunks are in the object store at the most; then the actors are started anew, which takes some seconds.
WINDOW = 800
PROBE_SECONDS = 10


class SolvingActor:
    """Holds the model, which has come with the job."""

    def __init__(self, job: bytes) -> None:
        pa.set_cpu_count(1)
        self._solver = Solver(pickle.loads(job))  # noqa: S301  # it comes from the driver of this very run

    def __call__(self, table: pa.Table) -> pa.Table:
        chunks = map(pickle.loads, table[CONTENT].to_pylist())
        return _parcel(self._solver.solve(chunk) for chunk in chunks)


def _parcel(contents: Iterable[Chunk | Solved]) -> pa.Table:
    return pa.table({CONTENT: pa.array(list(map(pickle.dumps, contents)), pa.large_binary())})


class RayWorkers:
    """So many actors. Without an address, Ray is started on this machine, and ended with the run."""

    def __init__(self, job: Job, count: int, address: str | None) -> None:
        here: dict[str, Any] = {"num_cpus": count, "include_dashboard": False} if address is None else {}
        _probe(address)
        # Without a runtime environment of its own: what the actors import is installed where they run.
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **here)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise NoCluster(f"Ray does not answer at {address or 'this machine'}: {error}") from None
        self._job = pickle.dumps(job)
        self._count = count
        # There is no other way yet to limit retries than the one that it warns of.
        warnings.simplefilter("ignore", RayDeprecationWarning)
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        # What goes wrong is told by us, without the texts of exceptions.
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)

    def solve(self, chunks: Iterable[Chunk]) -> Iterator[Solved]:
        """What becomes of each chunk, in their order. The people travel with the job: no node needs their files."""
        remaining = iter(chunks)
        while window := list(islice(remaining, WINDOW)):
            yield from self._solved(window)

    def _solved(self, chunks: Sequence[Chunk]) -> Iterator[Solved]:
        sent: list[Any] = [ray.put(_parcel([chunk])) for chunk in chunks]
        answered = ray.data.from_arrow_refs(sent).map_batches(
            SolvingActor,
            fn_constructor_args=[self._job],
            batch_size=None,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=self._count),
            num_cpus=1,
            ray_remote_args_fn=lambda: {"max_restarts": -1, "max_task_retries": MOST_RETRIES},
        )
        try:
            batches: Iterable[Any] = answered.iter_batches(batch_size=None, batch_format="pyarrow")
            for batch in batches:
                yield from map(pickle.loads, batch[CONTENT].to_pylist())
        except RayError as error:
            # The text of what went wrong inside may quote a value.
            raise SolverFailed(f"{type(error).__name__}; --engine local finds the row that does it") from None

    def close(self) -> None:
        ray.shutdown()


def _probe(address: str | None) -> None:
    """Ray itself would try for minutes before it says that nobody is there."""
    found = re.fullmatch(r"([^:/]+|\[[^]]+\]):([0-9]+)", address or "")
    if found is None:
        return
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2])), PROBE_SECONDS).close()
    except OSError as error:
        raise NoCluster(f"Ray does not answer at {address}: {error.strerror or 'nobody is there'}") from None
