"""Every subset of the movable features as one JSON object, for those who draw it."""

import time

import numpy as np

from app.adapters.runs import Runs
from app.api.errors import NO_SCORE, FieldError, InvalidRequest
from app.api.exchanges import exchange
from app.api.json_pieces import encoded, target_json
from app.api.posing import Question
from app.core.budget import Budget, Limits, StopFlag
from app.core.oracle import Oracle
from app.core.subsets import MOST_SHOWN, Subset, every_subset


def subsets_json(question: Question, seconds: float, started: float, stop: StopFlag, runs: Runs) -> str:
    """Have all subsets scored in so many seconds from the start; `Stopped` where that does not suffice."""
    problem = question.problem
    _check_moves(len(problem.moves))
    budget = Budget(Limits(2**MOST_SHOWN, seconds), time.perf_counter, started, stop)
    scorer = question.model.scorer.within(runs)
    oracle = Oracle(scorer, question.favourable, problem.instance, problem.moves, budget)
    try:
        subsets = every_subset(problem, oracle)
    finally:
        # What was scored is counted, also where it was not all.
        seen = exchange()
        seen.model_rows, seen.model_seconds = oracle.meter.rows, oracle.meter.seconds
    if not np.isfinite(subsets[0].score):
        raise InvalidRequest([FieldError("instance", NO_SCORE)])
    return _written(question, subsets)


def _check_moves(count: int) -> None:
    if count > MOST_SHOWN:
        reason = f"leaves {count} features movable, and at most {MOST_SHOWN} are shown: name {count - MOST_SHOWN} more"
        raise InvalidRequest([FieldError("constraints.immutable", reason)])


def _written(question: Question, subsets: list[Subset]) -> str:
    names = [encoded(question.model.features[move.position].name) for move in question.problem.moves]
    target = encoded(target_json(question.favourable, question.model.classes))
    return (
        f'{{"model":{question.pair.wording.identity},"normal_ranges":{question.pair.text},"target":{target},'
        f'"features":[{",".join(names)}],"subsets":[{",".join([_subset(subset, names) for subset in subsets])}]}}'
    )


def _subset(subset: Subset, names: list[str]) -> str:
    # The shortest decimal that is this score in its own type, as in a prediction.
    score = str(subset.score) if np.isfinite(subset.score) else "null"
    return (
        f'{{"features":[{",".join([names[move] for move in subset.moves])}],"score":{score},'
        f'"favourable":{encoded(subset.favourable)},"allowed":{encoded(subset.allowed)},"role":{encoded(subset.role)}}}'
    )
