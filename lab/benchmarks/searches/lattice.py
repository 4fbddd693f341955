"""The lattice against ONNX Runtime alone: the same rows, built beforehand, in the batch that suits it best.

They come in the same order too, by size: trees are half as slow again on that as on rows that count upwards, and twice
as slow still on rows in no order, because the processor then guesses wrongly where a tree branches.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from lab.benchmarks.figures import Figure
from lab.benchmarks.models import names
from lab.benchmarks.requests.asking import EVERYTHING, request
from lab.benchmarks.workshop import Workshop
from lab.paper.questions.posing import Posed, Rows, Truths, subsets_up_to
from lab.paper.questions.row_judge import RowJudge

BATCHES = (64, 256, 1024, 4096, 16_384, 65_536)
MOST_CHANGES = 4


@dataclass(frozen=True)
class Contest:
    """One model, and the subsets that both sides score."""

    name: str
    title: str
    model: str
    width: int
    asked: float
    subsets: Truths
    constraints: dict[str, Any]
    engine: str = "lattice"


def figures(workshop: Workshop) -> Iterator[Figure]:
    width, wide = workshop.sizes.lattice, workshop.sizes.wide
    every = subsets_up_to(width, width)
    kinds = {"network": f"network {width}-64-64-2", "trees": "150 boosted trees"}
    for kind, title in kinds.items():
        complete = f"lattice, {width} movable, complete, {title}: against ONNX Runtime alone"
        yield _figure(workshop, Contest(kind, complete, f"{kind}-{width}", width, 1.3, every, {}))
    few, limit = subsets_up_to(wide, MOST_CHANGES), {"max_changes": MOST_CHANGES}
    title = f"lattice, {wide} movable, up to {MOST_CHANGES} changes, network {wide}-64-64-2: likewise"
    yield _figure(workshop, Contest("four_changes", title, f"network-{wide}", wide, 1.5, few, limit))


def _figure(workshop: Workshop, contest: Contest) -> Figure:
    ours, alone, details = contested(workshop, contest)
    ratio = ours / details["rows_of_ours"] * details["rows"] / alone
    return Figure(f"lattice.{contest.name}", contest.title, "at most", contest.asked, ratio, "times the time", details)


def contested(workshop: Workshop, contest: Contest) -> tuple[float, float, dict[str, Any]]:
    """How long our search takes, how long ONNX Runtime takes for all rows, and the raw numbers."""
    judge = workshop.judge(contest.model)
    posed = Posed(np.zeros(contest.width, dtype=np.float32), dict.fromkeys(range(contest.width), 1.0))
    rows = posed.rows(contest.subsets)
    batch = _best_batch(judge, rows[: workshop.sizes.tried_rows])
    body = request(
        dict.fromkeys(names(contest.width), 0),
        target={"threshold": highest(judge, rows, batch)},
        constraints=contest.constraints,
        limits={**EVERYTHING, "engine": contest.engine},
    )
    ours, alone = [], []
    for _ in workshop.track(range(workshop.sizes.repeats), f"{contest.engine}: {contest.model}"):
        answered = workshop.asker.ask(contest.model, body)
        if not answered.summary["complete"]:
            raise RuntimeError(f"{contest.model}: stopped by {answered.summary['stopped_by']}")
        ours.append(answered.search)
        alone.append(_seconds(judge, rows, batch))
    details = {
        "rows": len(rows),
        "rows_of_ours": answered.summary["model_rows"],
        "answers": answered.summary["count"],
        "batch_of_onnx_runtime": batch,
        "batches_tried": list(BATCHES),
        "ours_ms": median(ours) * 1000,
        "alone_ms_for_the_rows": median(alone) * 1000,
    }
    return median(ours), median(alone), details


def _best_batch(judge: RowJudge, rows: Rows) -> int:
    rounds = [{batch: _seconds(judge, rows, batch) for batch in BATCHES} for _ in range(3)]
    return min(BATCHES, key=lambda batch: median(each[batch] for each in rounds))


def _seconds(judge: RowJudge, rows: Rows, batch: int) -> float:
    began = perf_counter()
    for start in range(0, len(rows), batch):
        judge.scores(rows[start : start + batch])
    return perf_counter() - began


def highest(judge: RowJudge, rows: Rows, batch: int) -> float:
    """The best score of any subset. Asking for it leaves an answer or two, and hardly a subset unscored."""
    best = max(judge.scores(rows[start : start + batch])[:, 1].max() for start in range(0, len(rows), batch))
    return float(str(best))
