"""What KServe's clients send."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.adapters.graphs.features import as_sent
from app.adapters.graphs.models import Model
from app.asking.parsing import check_body
from app.asking.refusals import FieldError, InvalidRequest
from app.asking.schemas import CounterfactualsRequest, PredictionsRequest

# Their searches share one deadline.
MOST_EXPLAINED = 32


class V1Request(BaseModel):
    """Instances, each an object or a list of values in the order of the features; all else as in our own requests."""

    model_config = ConfigDict(extra="allow", frozen=True)

    instances: list[Any] = Field(min_length=1)

    def explanations(self, model: Model) -> Iterator[tuple[CounterfactualsRequest, str]]:
        """A request for counterfactuals for each instance, and the same as JSON."""
        if len(self.instances) > MOST_EXPLAINED:
            raise InvalidRequest([FieldError("instances", f"are more than {MOST_EXPLAINED}; send fewer per request")])
        if "instance" in (self.model_extra or {}):
            raise InvalidRequest([FieldError("instance", "stands beside instances; send only these")])
        for place, instance in enumerate(_by_name(self.instances, model)):
            body = {**(self.model_extra or {}), "instance": instance}
            try:
                yield check_body(body, CounterfactualsRequest), _as_json(body)
            except InvalidRequest as refused:
                raise named(refused, place) from None

    def predictions(self, model: Model) -> PredictionsRequest:
        body = {**(self.model_extra or {}), "instances": _by_name(self.instances, model)}
        return check_body(body, PredictionsRequest)


class Tensor(BaseModel):
    """A tensor of a request."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Any]


class Output(BaseModel):
    """An output that is asked for."""

    name: str


class V2Request(BaseModel):
    """A request for inference. Parameters are passed over."""

    id: str | None = None
    inputs: list[Tensor] = Field(min_length=1)
    outputs: list[Output] | None = None


def named(refused: InvalidRequest, place: int) -> InvalidRequest:
    """The same, with the fields of this instance among all."""
    return InvalidRequest(
        [
            FieldError(f"instances[{place}]{error.field.removeprefix('instance')}", error.message, error.place)
            if error.field.partition(".")[0] == "instance"
            else error
            for error in refused.errors
        ]
    )


def _as_json(value: Any) -> str:
    """A value as it was sent: numbers with their own digits."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{as_sent(key)}:{_as_json(part)}' for key, part in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_as_json, value))}]"
    return json.dumps(value) if isinstance(value, bool) else as_sent(value)


def _by_name(instances: list[Any], model: Model) -> list[Any]:
    names = list(model.sent)
    for place, instance in enumerate(instances):
        if isinstance(instance, list) and len(instance) != len(names):
            reason = f"must hold {len(names)} values, one for each feature in the model's order"
            raise InvalidRequest([FieldError(f"instances[{place}]", reason)])
    return [dict(zip(names, each, strict=True)) if isinstance(each, list) else each for each in instances]
