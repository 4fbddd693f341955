"""ONNX Runtime alone, with rows that are there already: processes that score a part each, at the same time."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from queue import Empty
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.paper.questions.row_judge import RowJudge
from tests.support.live_server import ROOT

Rows = NDArray[Any]
# Where each call begins, and the last one ends.
Calls = NDArray[np.int64]
Told = tuple[int, str, float]

BATCHES = (1_024, 4_096, 16_384)
ONE_BY_ONE = "a person"
PATIENCE = 600


def calls_of(rows: int, rows_of_a_person: NDArray[np.int64]) -> dict[str, Calls]:
    """How the rows can be shared out among calls: so many at a time, or the rows of a person."""
    plans = {str(batch): np.append(np.arange(0, rows, batch), rows) for batch in BATCHES}
    return {**plans, ONE_BY_ONE: np.concatenate([[0], np.cumsum(rows_of_a_person)])}


def seconds_alone(model: str, rows: Rows, plans: Mapping[str, Calls], processes: int, rounds: int) -> dict[str, float]:
    """How long it takes by each plan until the last process is done: the median of the rounds."""
    context = get_context("spawn")
    barrier, told = context.Barrier(processes), context.Queue()
    shares = [{name: share(calls, processes)[place] for name, calls in plans.items()} for place in range(processes)]
    started = [
        context.Process(target=_score, args=(model, rows, mine, rounds, barrier, told), daemon=True) for mine in shares
    ]
    for process in started:
        process.start()
    found: list[Told] = []
    while len(found) < processes * rounds * len(plans):
        if any(process.exitcode for process in started):
            raise RuntimeError(f"a process that scores rows of {model} has died")
        with suppress(Empty):
            found.append(told.get(timeout=1))
    for process in started:
        process.join()
    return {name: median(_slowest(found, name, each) for each in range(rounds)) for name in plans}


def _slowest(found: Sequence[Told], plan: str, round_: int) -> float:
    return max(seconds for each, name, seconds in found if (each, name) == (round_, plan))


def share(calls: Calls, parts: int) -> list[Calls]:
    """As many rows for each part as whole calls allow."""
    ends = [int(np.searchsorted(calls, calls[-1] * part / parts)) for part in range(parts + 1)]
    return [calls[start : stop + 1] for start, stop in pairwise(ends)]


def _score(
    model: str, rows: Rows, plans: Mapping[str, Calls], rounds: int, barrier: Barrier, told: "Queue[Told]"
) -> None:
    judge = RowJudge(ROOT / "models" / model / "model.onnx")
    judge.scores(rows[:64])
    for each in range(rounds):
        for name, calls in plans.items():
            bounds = calls.tolist()
            barrier.wait(PATIENCE)
            began = perf_counter()
            for start, stop in pairwise(bounds):
                judge.scores(rows[start:stop])
            told.put((each, name, perf_counter() - began))
