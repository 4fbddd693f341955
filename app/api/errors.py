"""Everything that can be refused, and the one table that turns it into an answer.

RequestError
├── MalformedJson          400
├── KeyNeeded              401  there is no key, or none that is accepted
├── NotAllowed             403  the key is not for this model, or not for all where all are told of
├── UnknownModel           404
├── UnknownRegistry        404
├── NotAcceptable          406
├── BodyTooLong            413
├── UnsupportedMediaType   415
├── InvalidRequest         422  the fields that are wrong, and how to mend them
├── ConflictingConstraints 422  a minimal group of items that contradict each other
├── ModelTooSlow           422  not even the instance itself was scored by the deadline
├── RateExceeded           429  the key asks more often than it may
├── Busy                   503  as many answers are under way as may be
└── Stopping               503

From the adapters: ModelFailed, 422. From Starlette: any other path or method, 404 and 405.
No message quotes a value of the instance.
"""

import json
import logging
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import islice
from math import ceil
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app.adapters.flaws import field_path, reason_of
from app.adapters.formulas import Place
from app.adapters.names import LONGEST_NAME, closest
from app.adapters.onnx import ModelFailed
from app.api.exchanges import exchange, under_way

logger = logging.getLogger(__name__)

TYPE = "urn:flipset:problem:"
MOST_ERRORS = 100
COME_BACK = {"Retry-After": "5"}
NO_SCORE = "the model gives no finite score for these values"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field of the request that cannot be accepted, and how to mend it; inside a formula, also where in it."""

    field: str
    message: str
    place: Place | None = None

    def json(self) -> dict[str, str | int]:
        place = {} if self.place is None else self.place._asdict()
        return {"field": self.field, "message": self.message, **place}


class RequestError(Exception):
    """A request that is refused; the text is for the person who sent it, the headers for the client."""

    headers: Mapping[str, str] = {}

    def __init__(self, detail: str = "", errors: Sequence[FieldError] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors)


class MalformedJson(RequestError):
    """The body is not JSON, or not JSON that means one thing."""

    def __init__(self, detail: str, field: str = "body") -> None:
        super().__init__(detail, [FieldError(field, detail)])


class KeyNeeded(RequestError):
    """No key, or one that is not accepted; which of the many reasons it was is not told."""

    headers = {"WWW-Authenticate": 'Bearer realm="flipset"'}

    def __init__(self, *, was_given: bool) -> None:
        how = "Send one in the header Authorization: Bearer <key>."
        super().__init__(f"The key is not accepted. {how}" if was_given else f"A key is needed here. {how}")


class NotAllowed(RequestError):
    """The key is for other models; whether there is such a model is not told. No field: only keys for all may ask."""

    def __init__(self, field: str | None = None) -> None:
        if field is None:
            super().__init__("This tells of all models, and this key is for some. Ask with a key that may use all.")
            return
        detail = f"This key may not use this {field}. GET /v1/models lists the models that it may use."
        super().__init__(detail, [FieldError(field, detail)])


class RateExceeded(RequestError):
    """The key asks more often than it may."""

    def __init__(self, nanoseconds: int) -> None:
        seconds = ceil(nanoseconds / 1e9)
        super().__init__(f"This key has asked as often as it may. Ask again in {seconds} s.")
        self.headers = {"Retry-After": str(seconds)}


class BodyTooLong(RequestError):
    """The body holds more bytes than the server reads."""

    def __init__(self, most: int) -> None:
        detail = f"The body may hold {most:,} bytes at the most. Send less, or in several requests."
        super().__init__(detail, [FieldError("body", detail)])


class UnsupportedMediaType(RequestError):
    """The body does not say that it is JSON."""

    def __init__(self) -> None:
        detail = "Send the body as JSON, with the header Content-Type: application/json."
        super().__init__(detail, [FieldError("Content-Type", detail)])


class NotAcceptable(RequestError):
    """The client accepts no form that the answer comes in."""

    def __init__(self, offered: Iterable[str]) -> None:
        detail = f"The answer comes as one of: {', '.join(offered)}."
        super().__init__(detail, [FieldError("Accept", detail)])


class UnknownModel(RequestError):
    """No model of that name is served."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        detail = f"There is no model {name[:LONGEST_NAME]!r}. {_offer(name, known)}"
        super().__init__(detail, [FieldError("model", detail)])


class UnknownRegistry(RequestError):
    """No registry of that name is served."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        detail = f"There is no registry {name[:LONGEST_NAME]!r}. {_offer(name, known)}"
        super().__init__(detail, [FieldError("registry", detail)])


class InvalidRequest(RequestError):
    """Fields of the request that cannot be accepted."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        first = f"{errors[0].field}: {errors[0].message}"
        first += "" if first.endswith("?") else "."
        several = f"{len(errors)} fields are not as they should be. The first is " if len(errors) > 1 else ""
        super().__init__(f"{several}{first}", errors)


class ConflictingConstraints(RequestError):
    """Constraints that no set of changes can satisfy; the errors are a minimal group of them, in the user's words."""

    def __init__(self, items: Sequence[FieldError]) -> None:
        paths = ", ".join(item.field for item in items)
        super().__init__(f"No set of changes can meet all of these together: {paths}.", items)


class ModelTooSlow(RequestError):
    """The model was still at work on the instance itself when the time was over."""

    def __init__(self) -> None:
        detail = "The model gave no score for these values before the deadline. Check the values, and the model itself."
        super().__init__(detail)


class Busy(RequestError):
    """As many answers are under way as the server takes on at once."""

    headers = COME_BACK

    def __init__(self) -> None:
        super().__init__("The service has as much work as it takes on at once. Ask again in a few seconds.")


class Stopping(RequestError):
    """The server is going down and takes no new work."""

    headers = COME_BACK

    def __init__(self) -> None:
        super().__init__("The service is stopping. Ask again in a few seconds.")


@dataclass(frozen=True, slots=True)
class Kind:
    """What is the same for all errors of one class."""

    status: HTTPStatus
    slug: str
    title: str


TABLE: dict[type[Exception], Kind] = {
    MalformedJson: Kind(HTTPStatus.BAD_REQUEST, "malformed-json", "The body is not valid JSON"),
    KeyNeeded: Kind(HTTPStatus.UNAUTHORIZED, "key-needed", "A key is needed"),
    NotAllowed: Kind(HTTPStatus.FORBIDDEN, "not-allowed", "The key does not allow this"),
    UnknownModel: Kind(HTTPStatus.NOT_FOUND, "unknown-model", "There is no such model"),
    UnknownRegistry: Kind(HTTPStatus.NOT_FOUND, "unknown-registry", "There is no such registry"),
    NotAcceptable: Kind(HTTPStatus.NOT_ACCEPTABLE, "not-acceptable", "No such form of the answer"),
    BodyTooLong: Kind(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body-too-long", "The body is too long"),
    UnsupportedMediaType: Kind(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body must be JSON"),
    InvalidRequest: Kind(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-request", "The request cannot be accepted"),
    ConflictingConstraints: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY, "conflicting-constraints", "The constraints contradict each other"
    ),
    ModelFailed: Kind(HTTPStatus.UNPROCESSABLE_ENTITY, "model-failed", "The model cannot score this"),
    ModelTooSlow: Kind(HTTPStatus.UNPROCESSABLE_ENTITY, "model-too-slow", "The model takes too long for this"),
    RateExceeded: Kind(HTTPStatus.TOO_MANY_REQUESTS, "rate-exceeded", "The key asks too often"),
    Busy: Kind(HTTPStatus.SERVICE_UNAVAILABLE, "busy", "The service is busy"),
    Stopping: Kind(HTTPStatus.SERVICE_UNAVAILABLE, "stopping", "The service is stopping"),
}
UNEXPECTED = Kind(HTTPStatus.INTERNAL_SERVER_ERROR, "unexpected", "Something went wrong on our side")
MODEL_FAILED_DETAIL = "The model broke down on these values. Check that they are plausible, and the model itself."


def problem(error: Exception) -> dict[str, Any]:
    """The error as an RFC 9457 object."""
    kind = TABLE.get(type(error), UNEXPECTED)
    if isinstance(error, RequestError):
        return _problem(kind, error.detail, error.errors)
    if isinstance(error, ModelFailed):
        return _problem(kind, MODEL_FAILED_DETAIL)
    return _problem(kind, "The answer could not be completed. The server's log says where.")


def problem_response(error: Exception) -> Response:
    """The error as a whole answer."""
    return _response(problem(error), error.headers if isinstance(error, RequestError) else None)


def is_expected(error: Exception) -> bool:
    """Whether the error has an answer of its own."""
    return isinstance(error, (*TABLE, RequestValidationError, HTTPException))


def log_unexpected(error: Exception) -> None:
    """Log where it happened, and not what it says: the text of an exception may quote the instance."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("unexpected %s\n%s", type(error).__name__, frames)


def invalid(entries: Iterable[Any]) -> InvalidRequest:
    """What pydantic found wrong, in our words."""
    return InvalidRequest(
        [
            FieldError(field_path([_shortened(step) for step in entry["loc"]]) or "body", reason_of(entry))
            for entry in islice(entries, MOST_ERRORS)
        ]
    )


def install(app: FastAPI) -> None:
    """Give every error that may come up its answer."""
    for known in TABLE:
        app.add_exception_handler(known, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _other)


async def _refused(request: Request, error: Exception) -> Response:
    return problem_response(error)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # FastAPI puts where the value stood, here always the body, before its place.
    return problem_response(invalid({**entry, "loc": entry["loc"][1:]} for entry in error.errors()))


async def _other(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    kind = Kind(status, status.phrase.lower().replace(" ", "-"), status.phrase)
    allowed = (error.headers or {}).get("Allow")
    detail = f"Use {allowed} here." if allowed else "There is no such path. See /docs for those that there are."
    return _response(_problem(kind, detail), error.headers)


def _shortened(step: str | int) -> str | int:
    return step[:LONGEST_NAME] if isinstance(step, str) else step


def _offer(name: str, known: Iterable[str]) -> str:
    served = list(known)
    hint = closest(name, served)
    return f"{hint[:1].upper()}{hint[1:]} Served are: {', '.join(served)}.".lstrip()


def _problem(kind: Kind, detail: str, errors: Sequence[FieldError] = ()) -> dict[str, Any]:
    request = under_way()
    # Of the problem, as the RFC has it, not of the person: what to name when asking those who run the service.
    occurrence = {} if request is None else {"instance": f"urn:flipset:request:{request.request_id}"}
    return {
        "type": f"{TYPE}{kind.slug}",
        "title": kind.title,
        "status": int(kind.status),
        "detail": detail,
        **occurrence,
        "errors": [error.json() for error in errors[:MOST_ERRORS]],
    }


def _response(content: dict[str, Any], headers: Any = None) -> Response:
    exchange().problem = content["type"].removeprefix(TYPE)
    # ASCII only: a key of the request may hold half a character, which no UTF-8 can carry.
    body = json.dumps(content)
    return Response(body, content["status"], headers, media_type="application/problem+json")
