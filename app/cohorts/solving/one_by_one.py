"""One person at a time, through the service: rows that are not plain, and searches with many moves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.adapters.graphs.onnx import ModelFailed
from app.adapters.predictors.failures import PredictorUnavailable
from app.answering.events import Counterfactual, Failed, Finished, Started
from app.answering.in_use import ModelInUse
from app.answering.service import Service
from app.asking.flawed import in_a_file
from app.asking.parsing import check_body
from app.asking.refusals import RequestError, told
from app.asking.schemas import CounterfactualsRequest


class Refused(Exception):
    """The service refuses to answer for a person: the fields that are wrong, and why."""

    def __init__(self, fields: Sequence[str], reason: str) -> None:
        super().__init__(reason)
        self.fields = list(fields)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Told:
    """What the service tells of a person."""

    started: Started
    answers: Sequence[Counterfactual]
    finished: Finished


def ask(service: Service, chosen: ModelInUse, body: Mapping[str, Any]) -> Told:
    """The whole answer to one request, or `Refused`; `PredictorUnavailable` ends the run, for nobody is to blame."""
    try:
        with service.answering(check_body(body, CounterfactualsRequest), chosen) as answer:
            events = [event for event in answer.events() if event is not None]
    except (RequestError, ModelFailed) as error:
        raise _refused(error) from None
    started, last = events[0], events[-1]
    if isinstance(last, Failed) and isinstance(last.error, PredictorUnavailable):
        raise last.error
    if isinstance(last, Failed):
        raise _refused(last.error)
    assert isinstance(started, Started)
    assert isinstance(last, Finished)
    return Told(started, [event for event in events if isinstance(event, Counterfactual)], last)


def _refused(error: Exception) -> Refused:
    detail, errors = told(error)
    fields = [each.field.removeprefix("instance.") for each in errors]
    reasons = [f"{field}: {in_a_file(each.message)}" for field, each in zip(fields, errors, strict=True)]
    return Refused(fields, "; ".join(reasons) or detail)
