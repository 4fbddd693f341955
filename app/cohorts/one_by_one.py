"""One person at a time, by the service's own code: whoever is not plain, and whoever takes more than a few moves."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from app.adapters.models import Model
from app.adapters.onnx import ModelFailed
from app.api.errors import RequestError, invalid, problem
from app.api.schemas import CounterfactualsRequest
from app.api.service import Service

# In a file nothing stands in quotes that could be left out.
QUOTES = ": send it without quotes"


class Refused(Exception):
    """A person whom the service would refuse to answer for: the fields that are wrong, and why."""

    def __init__(self, fields: Sequence[str], reason: str) -> None:
        super().__init__(reason)
        self.fields = list(fields)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Told:
    """What the service tells of a person, as its lines have it."""

    start: Mapping[str, Any]
    answers: Sequence[Mapping[str, Any]]
    summary: Mapping[str, Any]


def ask(service: Service, model: Model, body: Mapping[str, Any]) -> Told:
    """The whole answer to one request, or `Refused`."""
    try:
        request = CounterfactualsRequest.model_validate(body)
        answer = service.answer(request, model)
    except ValidationError as error:
        raise _refused(problem(invalid(error.errors()))) from None
    except (RequestError, ModelFailed) as error:
        raise _refused(problem(error)) from None
    try:
        lines = [json.loads(line.text) for line in (answer.start(), *answer.rest()) if line is not None]
    finally:
        service.end(answer)
    if lines[-1]["type"] == "error":
        raise _refused(lines[-1]["problem"])
    return Told(lines[0], [line for line in lines if line["type"] == "counterfactual"], lines[-1])


def _refused(said: Mapping[str, Any]) -> Refused:
    errors = [
        (error["field"].removeprefix("instance."), error["message"].replace(QUOTES, "")) for error in said["errors"]
    ]
    reason = "; ".join(f"{field}: {message}" for field, message in errors)
    return Refused([field for field, _ in errors], reason or said["detail"])
