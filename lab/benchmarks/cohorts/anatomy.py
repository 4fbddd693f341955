"""A run over a register in this very process: which rows it scores, and where its processor time goes."""

import pickle
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from app.adapters.catalog import catalog_of
from app.adapters.files.snapshots import take_snapshot
from app.adapters.graphs.onnx import OnnxGraph
from app.cohorts.amounts import MOST_COUNTERFACTUALS
from app.cohorts.answers_folder import AnswersFolder
from app.cohorts.job import Job, only, settings_for_a_run
from app.cohorts.reading.chunks import Chunk
from app.cohorts.reading.columns import read_columns
from app.cohorts.running import Input, run
from app.cohorts.solving.solver import Solver
from app.cohorts.tables import Solved
from app.settings import Settings
from tests.support.live_server import ROOT

Rows = NDArray[Any]


@dataclass(frozen=True)
class Anatomy:
    """What was scored, how many of the rows a request for each person would need, and seconds of the processor."""

    rows: Rows
    rows_of_a_person: NDArray[np.int64]
    seconds: dict[str, float]

    @property
    def people(self) -> int:
        return len(self.rows_of_a_person)


def anatomy(model: str, people: Path, context: Sequence[str], folder: Path) -> Anatomy:
    """Twice: rows are recorded in one run, and the other one is timed."""
    given, solver = _prepared(model, people, context)
    rows: list[Rows] = []
    with _watched_model(rows.append):
        _run_here(given, solver, folder)
    needed = _rows_of_a_person(folder)
    with _watched_model() as in_the_model:
        spent = _run_here(given, solver, folder)
    inside = in_the_model.total()
    seconds = {
        "reading": spent["reading"],
        "model": inside,
        "rest_of_the_search": spent["search"] - inside,
        "sending_between_processes": spent["sending"],
        "writing": spent["whole"] - spent["reading"] - spent["search"] - spent["sending"],
    }
    return Anatomy(np.concatenate(rows), needed, seconds)


def _prepared(model: str, people: Path, context: Sequence[str]) -> tuple[Input, Solver]:
    snapshot = take_snapshot(ROOT / "models", ROOT / "normal_ranges")
    snapshot = only(snapshot, model, {file.stem for file in snapshot.registries})
    columns = read_columns(catalog_of(snapshot).models[model], {}, context, (), "person")
    given = Input((people,), None, columns)
    settings = settings_for_a_run(Settings(), MOST_COUNTERFACTUALS)
    return given, Solver(Job(snapshot, settings, model, {}, columns, given.kept_fields()))


def _run_here(given: Input, solver: Solver, folder: Path) -> Counter[str]:
    """Seconds of the processor for the parts of a run, and for the whole of it."""
    shutil.rmtree(folder, ignore_errors=True)
    here, written = _Here(solver), AnswersFolder(folder, solver.schemas)
    with written.claimed():
        written.begin({})
        began = process_time()
        run(given, here, written, _Nobody())
        here.spent["whole"] = process_time() - began
    return here.spent


class _Here:
    """Answers in this process; what would be sent to another one and back is packed and unpacked all the same."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self.spent: Counter[str] = Counter()

    def solve(self, chunks: Iterable[Chunk]) -> Iterator[Solved]:
        waiting = iter(chunks)
        while (chunk := self._timed("reading", lambda: next(waiting, None))) is not None:
            sent = self._timed("sending", lambda chunk=chunk: pickle.loads(pickle.dumps(chunk)))  # noqa: S301
            solved = self._timed("search", lambda sent=sent: self._solver.solve(sent))
            yield self._timed("sending", lambda solved=solved: pickle.loads(pickle.dumps(solved)))  # noqa: S301

    def close(self) -> None:
        """Nothing is open."""

    def _timed(self, part: str, what: Callable[[], Any]) -> Any:
        began = process_time()
        done = what()
        self.spent[part] += process_time() - began
        return done


class _Nobody:
    def passed_over(self, rows: int) -> None:
        """Nobody waits."""

    answered = passed_over


@contextmanager
def _watched_model(record: Callable[[Rows], Any] = lambda rows: None) -> Iterator[Counter[str]]:
    """Every call of any model is counted, and its rows are handed on."""
    run, spent = OnnxGraph.run, Counter[str]()

    def watched(self: OnnxGraph, rows: Rows, *rest: Any) -> Any:
        record(rows)
        began = process_time()
        scores = run(self, rows, *rest)
        spent["model"] += process_time() - began
        return scores

    OnnxGraph.run = watched  # type: ignore[method-assign]  # put back below
    try:
        yield spent
    finally:
        OnnxGraph.run = run  # type: ignore[method-assign]


def _rows_of_a_person(answers: Path) -> NDArray[np.int64]:
    """The service scores who is favourable once, and of everybody else all subsets of what can change."""
    people = pq.read_table(answers / "people", columns=["outcome", "complete_up_to"])
    moves = np.asarray(people["complete_up_to"], dtype=np.int64)
    favourable = np.asarray(people["outcome"]) == "already_favourable"
    return np.where(favourable, 1, 2**moves)
