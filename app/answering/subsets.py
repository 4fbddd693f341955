"""Every subset of the movable features, for those who draw it."""

import time
from collections.abc import Generator

import numpy as np

from app.adapters.graphs.runs import Runs
from app.answering.holding import oracle_of
from app.asking.posing.question import Question
from app.asking.refusals import NO_SCORE, FieldError, InvalidRequest
from app.asking.robustness import Robustness
from app.core.budget import Budget, Limits, StopFlag
from app.core.facts import Moment
from app.core.robust.asked import More
from app.core.search.all_subsets import MOST_SHOWN, Subset, every_subset
from app.core.search.oracle import ModelCost
from app.observing.observed_requests import observed_request


def scoring_subsets(
    question: Question, seconds: float, started: float, stop: StopFlag, runs: Runs
) -> Generator[Moment, None, list[Subset]]:
    """In turns, have all subsets scored in so many seconds from the start; `Stopped` where that does not suffice."""
    problem = question.problem
    _check_moves(len(problem.moves))
    if problem.ladder is not None:
        reason = "has features with steps; the picture of all subsets is for features with one target each"
        raise InvalidRequest([FieldError("normal_ranges", reason)])
    budget = Budget(Limits(_most_rows(question.robustness), seconds), time.perf_counter, started, stop)
    oracle = oracle_of(question, question.model.scorer.within(runs), runs, budget, ModelCost())
    lasting = question.robustness is not None and question.robustness.more is More.REQUIRE
    try:
        subsets = yield from every_subset(problem, oracle, lasting=lasting)
    finally:
        # What was scored is counted, also where it was not all.
        seen = observed_request()
        seen.model_rows, seen.model_seconds = oracle.meter.rows, oracle.meter.seconds
    if not np.isfinite(subsets[0].score):
        raise InvalidRequest([FieldError("instance", NO_SCORE)])
    return subsets


def _most_rows(robustness: Robustness | None) -> int:
    """As many as all subsets may need: the time alone decides."""
    if robustness is None or not robustness.is_required:
        return 1 << MOST_SHOWN
    return (1 << MOST_SHOWN) * (1 + robustness.conditions.draws + len(robustness.models))


def _check_moves(count: int) -> None:
    if count > MOST_SHOWN:
        reason = f"leaves {count} features movable; at most {MOST_SHOWN} can be shown: name {count - MOST_SHOWN} more"
        raise InvalidRequest([FieldError("constraints.immutable", reason)])
