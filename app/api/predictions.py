"""What the model says of one instance or of several."""

import time
from typing import Any

import numpy as np
from pydantic import BaseModel

from app.adapters.models import Model
from app.adapters.runs import Runs
from app.api.errors import NO_SCORE, FieldError, InvalidRequest
from app.api.exchanges import exchange
from app.api.json_pieces import encoded, model_identity, prediction_json, target_json
from app.api.reading import Errors, read_instance
from app.api.schemas import PredictionsRequest
from app.api.targets import read_target
from app.core.oracle import Verdict, encoded_row


class ModelIdentity(BaseModel):
    """Which model it was, to the last bit."""

    name: str
    version: str
    sha256: str


class Prediction(BaseModel):
    """The decision, and the score of the favourable side."""

    label: str | None
    score: float
    favourable: bool


class SinglePrediction(BaseModel):
    """What the model says of one instance."""

    model: ModelIdentity
    target: dict[str, Any]
    prediction: Prediction


class SeveralPredictions(BaseModel):
    """What the model says of several instances, in their order."""

    model: ModelIdentity
    target: dict[str, Any]
    predictions: list[Prediction]


def predict(request: PredictionsRequest, model: Model, runs: Runs | None = None) -> str:
    """Score the instances as a request for counterfactuals would; the JSON of one of the above."""
    errors = Errors()
    favourable = read_target(request.target, model, errors)
    instances = (
        {"instance": request.instance}
        if request.instance is not None
        else {f"instances[{index}]": instance for index, instance in enumerate(request.instances or [])}
    )
    rows = [read_instance(instance, model, field, errors) for field, instance in instances.items()]
    errors.raise_any()
    verdict = Verdict.of(_outputs(rows, model, runs), favourable)
    lost = np.flatnonzero(~np.isfinite(verdict.score))
    if len(lost):
        fields = list(instances)
        raise InvalidRequest([FieldError(fields[index], NO_SCORE) for index in lost])
    labels = tuple(map(encoded, model.classes or (None,)))
    predictions = [
        prediction_json(labels[verdict.label[index]], verdict.score[index], bool(verdict.favourable[index]))
        for index in range(len(rows))
    ]
    said = (
        f'"prediction":{predictions[0]}' if request.instance is not None else f'"predictions":[{",".join(predictions)}]'
    )
    target = target_json(favourable, model.classes)
    return f'{{"model":{encoded(model_identity(model))},"target":{encoded(target)},{said}}}'


def _outputs(rows: list[tuple[float, ...]], model: Model, runs: Runs | None) -> Any:
    scorer = model.scorer if runs is None else model.scorer.within(runs)
    matrix = np.array([encoded_row(scorer, row) for row in rows], dtype=scorer.dtype)
    batch, began = scorer.batch_rows, time.perf_counter()
    outputs = [scorer(matrix[start : start + batch]) for start in range(0, len(matrix), batch)]
    seen = exchange()
    seen.model_rows, seen.model_seconds = len(matrix), time.perf_counter() - began
    return np.concatenate(outputs)
