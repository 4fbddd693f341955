"""Two versions of a random model, and the people whom both judge."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from app.cohorts.drift.solver import DriftSolver
from app.cohorts.reading.chunks import CellFormat, Chunk
from app.cohorts.tables import Solved
from tests.cohorts.solving.solving import job
from tests.support.brute_force import Case
from tests.support.case_files import request_of, write_model
from tests.support.constrained import constrained_case
from tests.support.gaps import gapped_case
from tests.support.networks import Network


class Versions(NamedTuple):
    """A case for each version: the same person and request, another model, other ranges."""

    old: Case
    new: Case

    def people(self, count: int, seed: int, gaps: float) -> list["Versions"]:
        """People who have about half of their values from the case: these are mostly abnormal."""
        rng = np.random.default_rng(seed)
        values = rng.integers(-6, 7, (count, len(self.old.values))).astype(float)
        values = np.where(rng.random(values.shape) < 0.5, self.old.values, values)
        values[rng.random(values.shape) < gaps] = np.nan
        return [Versions(*(replace(case, values=person.tolist()) for case in self)) for person in values]


def write_versions(folder: Path, seed: int, *, gaps: bool) -> Versions:
    """The models `old` and `new`: retrained a little, its features in another order, some ranges moved."""
    rng = np.random.default_rng((seed, 7))
    case, network = gapped_case(seed) if gaps else constrained_case(seed)
    moved = replace(case, ranges=[_moved(rng, case, i) for i in range(len(case.values))])
    (folder / "ranges").mkdir()
    order = rng.permutation(len(case.values)).tolist()
    return Versions(
        write_model(folder, "mold", case, network, gaps=gaps),
        write_model(folder, "mnew", moved, _retrained(rng, network), gaps=gaps, order=order),
    )


def _moved(rng: np.random.Generator, case: Case, i: int) -> tuple[float | None, float | None] | None:
    known = case.ranges[i]
    if known is None or i in case.move_to or i in case.if_missing or rng.random() < 0.7:
        return known
    low, high = known
    return None if low is None else low + 1, None if high is None else high + 1


def _retrained(rng: np.random.Generator, network: Network) -> Network:
    noise = rng.integers(-1, 2, network.first.shape) * (rng.random(network.first.shape) < 0.4)
    bias = network.second_bias + float(rng.integers(-9, 12))
    return replace(network, first=network.first + noise, second_bias=bias)


def compared(
    folder: Path,
    table: pa.Table,
    request: Mapping[str, Any] | None = None,
    models: tuple[str, str] = ("mold", "mnew"),
    *,
    alone: bool = False,
    context: tuple[str, ...] = (),
) -> Solved:
    """What becomes of the rows of a table; `alone`: of each by the service's own code."""
    both = [job(model, folder / "models", folder / "ranges", request, context) for model in models]
    solver = DriftSolver(*both)
    if alone:
        solver._old._batch = solver._new._batch = None
    return solver.solve(Chunk("people", CellFormat.TYPED, len(table), table))


def asked(case: Case) -> dict[str, Any]:
    return {name: value for name, value in request_of(case).items() if name != "instance"}


def as_table(people: list[Versions]) -> pa.Table:
    values = np.array([person.old.values for person in people])
    # What is not a number is null there.
    return pa.table({f"f{place}": pa.array(values[:, place], from_pandas=True) for place in range(values.shape[1])})
