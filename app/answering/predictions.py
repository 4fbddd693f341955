"""What the model says of one instance or of several."""

import time
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from app.adapters.graphs.models import Model
from app.adapters.graphs.runs import Runs
from app.asking.callers import ANYONE, Caller
from app.asking.policies import permitted_target, policies_of
from app.asking.reading import Errors, read_instance
from app.asking.refusals import NO_SCORE, FieldError, InvalidRequest
from app.asking.schemas import PredictionsRequest
from app.core.facts import Moment
from app.core.search.oracle import encoded_row
from app.core.search.verdict import Verdict
from app.observing.observed_requests import observed_request


class Predictions(NamedTuple):
    """What the model says of each instance, in their order; `is_single` where the request holds one and no list."""

    model: Model
    verdict: Verdict
    is_single: bool


def predicting(
    request: PredictionsRequest, model: Model, runs: Runs, caller: Caller = ANYONE
) -> Generator[Moment, None, Predictions]:
    """Score the instances as a request for counterfactuals would, a batch in each turn."""
    errors = Errors()
    favourable = permitted_target(request.target, model, (*policies_of(model), *caller.policies), errors)
    instances = (
        {"instance": request.instance}
        if request.instance is not None
        else {f"instances[{index}]": instance for index, instance in enumerate(request.instances or [])}
    )
    rows = [read_instance(instance, model, field, errors) for field, instance in instances.items()]
    errors.raise_any()
    verdict = Verdict.of((yield from _scoring(rows, model, runs)), favourable)
    lost = np.flatnonzero(~np.isfinite(verdict.score))
    if len(lost):
        fields = list(instances)
        raise InvalidRequest([FieldError(fields[index], NO_SCORE) for index in lost])
    return Predictions(model, verdict, request.instance is not None)


def _scoring(rows: list[tuple[float, ...]], model: Model, runs: Runs) -> Generator[Moment, None, Any]:
    scorer = model.scorer.within(runs)
    matrix = np.array([encoded_row(scorer, row) for row in rows], dtype=scorer.dtype)
    batch, outputs, seconds = scorer.batch_rows, [], 0.0
    for start in range(0, len(matrix), batch):
        if start:
            yield from runs.between_turns()
        began = time.perf_counter()
        outputs.append(scorer(matrix[start : start + batch]))
        seconds += time.perf_counter() - began
    seen = observed_request()
    seen.model_rows, seen.model_seconds = len(matrix), seconds
    return np.concatenate(outputs)
