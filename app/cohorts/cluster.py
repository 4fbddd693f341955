"""Ray: actors that hold the model, on this machine or on a cluster; Ray replaces those that die."""

import logging
import os
import pickle
import re
import socket
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

# No usage statistics for Ray's makers. Ray reads this at its import, and in the processes that it starts.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
# Ray would warn of every actor whose job is in the object store, where we put it on purpose.
os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")

import ray
import ray.data
from ray.exceptions import RayError
from ray.util.annotations import RayDeprecationWarning

from app.adapters.machine.core_dumps import leave_no_core_dump
from app.cohorts.failures import NoCluster, SolverFailed
from app.cohorts.job import ChunkSolver
from app.cohorts.partitions import PartitionWriter
from app.cohorts.reading.chunks import Chunk
from app.cohorts.tables import Solved

# The only column of the tables that travel: a chunk or the number of a partition there, its result back.
CONTENT = "content"
# An actor that dies costs a retry. A row that crashes every actor must not be retried for ever.
MOST_RETRIES = 10
# Most chunks in the object store. After that the actors restart, which takes some seconds.
WINDOW = 800
PROBE_SECONDS = 10


class Actor:
    """Does one kind of work on whatever comes. The model comes with what makes the worker."""

    def __init__(self, make: bytes, work: str) -> None:
        # Ray starts this process, on another machine perhaps: the command's own limit does not reach it.
        leave_no_core_dump()
        pa.set_cpu_count(1)
        worker = pickle.loads(make)()  # noqa: S301  # it comes from the driver of this very run
        self._work: Callable[[Any], Any] = getattr(worker, work)

    def __call__(self, table: pa.Table) -> pa.Table:
        return _parcel(map(self._work, map(pickle.loads, table[CONTENT].to_pylist())))


def _parcel(contents: Iterable[Any]) -> pa.Table:
    return pa.table({CONTENT: pa.array(list(map(pickle.dumps, contents)), pa.large_binary())})


class RayWorkers:
    """`count` actors. Without an address, Ray starts on this machine and ends with the run."""

    def __init__(self, make: Callable[[], ChunkSolver | PartitionWriter], count: int, address: str | None) -> None:
        here: dict[str, Any] = {"num_cpus": count, "include_dashboard": False} if address is None else {}
        _probe(address)
        # Without a runtime environment of its own: what the actors import is installed where they run.
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **here)
        except Exception as error:  # noqa: BLE001  # Ray raises this very class if it does not start in half a minute
            raise NoCluster(f"Ray does not answer at {address or 'this machine'}: {error}") from None
        self._make = pickle.dumps(make)
        self._count = count
        # There is no other way to limit retries yet than this deprecated one.
        warnings.simplefilter("ignore", RayDeprecationWarning)
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        # We report errors ourselves, without the texts of exceptions.
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)

    def solve(self, chunks: Iterable[Chunk]) -> Iterator[Solved]:
        """The result of each chunk, in order. The rows travel to the actors: no node needs the files."""
        return self._done("solve", chunks)

    def write(self, partitions: Iterable[int]) -> Iterator[int]:
        """Have the actors read, answer and write these partitions: the rows of each. No row travels."""
        return self._done("write", partitions)

    def _done(self, work: str, items: Iterable[Any]) -> Iterator[Any]:
        remaining = iter(items)
        while window := list(islice(remaining, WINDOW)):
            yield from self._worked(work, window)

    def _worked(self, work: str, items: Sequence[Any]) -> Iterator[Any]:
        sent: list[Any] = [ray.put(_parcel([item])) for item in items]
        answered = ray.data.from_arrow_refs(sent).map_batches(
            Actor,
            fn_constructor_args=[self._make, work],
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
            # The text of the error may quote a value.
            raise SolverFailed(f"{type(error).__name__}; run with --engine local to find the row") from None

    def close(self) -> None:
        ray.shutdown()


def _probe(address: str | None) -> None:
    """Check that the address can be reached: Ray itself would try for minutes. `NoCluster` if not."""
    found = re.fullmatch(r"([^:/]+|\[[^]]+\]):([0-9]+)", address or "")
    if found is None:
        return
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2])), PROBE_SECONDS).close()
    except OSError as error:
        raise NoCluster(f"Ray does not answer at {address}: {error.strerror or 'no connection'}") from None
