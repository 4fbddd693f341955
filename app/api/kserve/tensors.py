"""From tensors to instances, and from predictions to tensors."""

import json
from collections.abc import Sequence
from math import prod
from typing import Any

from app import __version__
from app.adapters.graphs.models import Model
from app.answering.predictions import Predictions
from app.api.kserve.schemas import Output, Tensor, V2Request
from app.asking.parsing import check_body
from app.asking.refusals import FieldError, InvalidRequest
from app.asking.schemas import PredictionsRequest
from app.writing.json_pieces import encoded

NUMBERS = frozenset(("FP64", "FP32", "FP16", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"))
MOST_SIDES = 8


def server() -> dict[str, Any]:
    """What the server says of itself."""
    return {"name": "flipset", "version": __version__, "extensions": []}


def description(model: Model) -> dict[str, Any]:
    """What a model reads and gives: a tensor for each feature, or one matrix of all."""
    return {
        "name": model.name,
        "versions": [model.version],
        "platform": "flipset",
        "inputs": [
            {"name": feature.name, "datatype": "BYTES" if _is_text(feature.categories) else "FP64", "shape": [-1]}
            for feature in model.features
            if feature.derived is None
        ],
        "outputs": [{"name": name, "datatype": datatype, "shape": [-1]} for name, datatype in _outputs(model).items()],
    }


def _is_text(categories: Sequence[Any]) -> bool:
    return any(isinstance(category, str) for category in categories)


def _outputs(model: Model) -> dict[str, str]:
    score = "FP64" if model.scorer.score_dtype.itemsize == 8 else "FP32"
    labels = {"label": "BYTES"} if model.classes else {}
    return {**labels, "score": score, "favourable": "BOOL"}


def request_of(body: V2Request, model: Model) -> PredictionsRequest:
    """The instances that the tensors hold."""
    names = list(model.sent)
    for place, tensor in enumerate(body.inputs):
        _check(tensor, f"inputs[{place}]")
    if len(body.inputs) == 1 and len(body.inputs[0].shape) == 2:
        columns = _matrix(body.inputs[0], names)
    else:
        columns = _columns(body.inputs, names)
    instances = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return check_body({"instances": instances}, PredictionsRequest)


def _check(tensor: Tensor, field: str) -> None:
    while tensor.data and isinstance(tensor.data[0], list):
        tensor.data = [value for part in tensor.data for value in (part if isinstance(part, list) else [part])]
    if tensor.datatype not in NUMBERS and tensor.datatype != "BYTES":
        raise InvalidRequest([FieldError(f"{field}.datatype", "must be a type of numbers, or BYTES for categories")])
    # Looked at one by one: the product of many large sides would take minutes.
    fits = len(tensor.shape) <= MOST_SIDES and all(1 <= side <= len(tensor.data) for side in tensor.shape)
    if not fits or prod(tensor.shape) != len(tensor.data):
        raise InvalidRequest([FieldError(f"{field}.shape", "must give the number of values in data, at least one")])


def _matrix(tensor: Tensor, names: list[str]) -> dict[str, list[Any]]:
    width = len(names)
    if tensor.shape[1] != width:
        raise InvalidRequest([FieldError("inputs[0].shape", f"must be [rows, {width}]: one column for each feature")])
    return {name: tensor.data[place::width] for place, name in enumerate(names)}


def _columns(tensors: Sequence[Tensor], names: list[str]) -> dict[str, list[Any]]:
    rows, columns = len(tensors[0].data), dict[str, list[Any]]()
    for place, tensor in enumerate(tensors):
        if tensor.name not in names:
            reason = "must be the name of a feature, unless one tensor [rows, features] holds all"
            raise InvalidRequest([FieldError(f"inputs[{place}].name", reason)])
        if len(tensor.data) != rows:
            raise InvalidRequest([FieldError(f"inputs[{place}].shape", "must have as many rows as the others")])
        if tensor.name in columns:
            raise InvalidRequest([FieldError(f"inputs[{place}].name", "is there twice")])
        columns[tensor.name] = tensor.data
    return columns


def response_json(body: V2Request, said: Predictions) -> str:
    """The predictions as tensors, those that were asked for."""
    verdict, model = said.verdict, said.model
    datatypes = _outputs(model)
    wanted = list(datatypes) if body.outputs is None else _wanted(body.outputs, datatypes)
    data = {
        "label": lambda: encoded([model.classes[label] for label in verdict.label.tolist()]),
        "score": lambda: f"[{','.join(map(str, verdict.score))}]",
        "favourable": lambda: json.dumps(verdict.favourable.tolist()),
    }
    tensors = [
        f'{{"name":"{name}","datatype":"{datatypes[name]}","shape":[{len(verdict)}],"data":{data[name]()}}}'
        for name in wanted
    ]
    known = {"model_name": model.name, "model_version": model.version, **({} if body.id is None else {"id": body.id})}
    return f'{encoded(known)[:-1]},"outputs":[{",".join(tensors)}]}}'


def _wanted(outputs: Sequence[Output], known: dict[str, str]) -> list[str]:
    for place, output in enumerate(outputs):
        if output.name not in known:
            raise InvalidRequest([FieldError(f"outputs[{place}].name", f"must be one of: {', '.join(known)}")])
    # Named twice, it is sent once.
    return [*dict.fromkeys(output.name for output in outputs)]
