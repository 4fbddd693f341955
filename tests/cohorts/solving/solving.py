"""A solver on people given as rows, without processes and folders."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from app.adapters.catalog import catalog_of
from app.adapters.files.snapshots import take_snapshot
from app.cohorts.amounts import MOST_COUNTERFACTUALS
from app.cohorts.job import Job, settings_for_a_run
from app.cohorts.reading.chunks import CellFormat, Chunk
from app.cohorts.reading.columns import read_columns
from app.cohorts.solving.solver import Solver
from app.cohorts.tables import Solved
from app.settings import Settings


def job(
    model: str,
    models: Path,
    ranges: Path,
    request: Mapping[str, Any] | None = None,
    context: Sequence[str] = (),
    most: int = MOST_COUNTERFACTUALS,
    *,
    reasons: bool = False,
) -> Job:
    snapshot = take_snapshot(models, ranges)
    columns = read_columns(catalog_of(snapshot).models[model], {}, context, (), None)
    kept = tuple(pa.field(name, pa.string()) for name in columns.kept)
    return Job(snapshot, settings_for_a_run(Settings(), most), model, request or {}, columns, kept, reasons)


def solved(job: Job, table: pa.Table, *, alone: bool = False, form: CellFormat = CellFormat.TYPED) -> Solved:
    """What becomes of the rows of a table; `alone`: of each by the service's own code."""
    solver = Solver(job)
    if alone:
        solver._batch = None
        if solver._reasoner is not None:
            solver._reasoner._batch = None
    return solver.solve(Chunk("people", form, len(table), table))
