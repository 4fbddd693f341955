"""What is refused, over HTTP: one table of statuses and headers, and answers as RFC 9457 has them.

What can be refused is in `app/asking/refusals.py`. From Starlette comes any other path or method: 404 and 405.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app.adapters.graphs.onnx import ModelFailed
from app.adapters.predictors.failures import PredictorUnavailable
from app.asking.flawed import invalid
from app.asking.refusals import (
    BodyTooLong,
    Busy,
    ConflictingConstraints,
    DataMissing,
    FieldError,
    ForbiddenByKey,
    InvalidRequest,
    KeyExpired,
    KeyNeeded,
    MalformedJson,
    ModelTooSlow,
    NoReceipts,
    NotAcceptable,
    NotAllowed,
    OutOfScope,
    RateExceeded,
    RatesUnavailable,
    RecordErased,
    RecordsOff,
    RecordsUnavailable,
    Stopping,
    TokenNeeded,
    TokensUnavailable,
    TooManyAtOnce,
    UnknownModel,
    UnknownRecord,
    UnknownRegistry,
    UnsupportedMediaType,
    told,
)
from app.observing.observed_requests import observed_request, under_way

TYPE = "urn:flipset:problem:"
COME_BACK = {"Retry-After": "5"}


@dataclass(frozen=True, slots=True)
class Kind:
    """What is the same for all errors of one class."""

    status: HTTPStatus
    slug: str
    title: str


TABLE: dict[type[Exception], Kind] = {
    MalformedJson: Kind(HTTPStatus.BAD_REQUEST, "malformed-json", "The body is not valid JSON"),
    KeyNeeded: Kind(HTTPStatus.UNAUTHORIZED, "key-needed", "A key is needed"),
    KeyExpired: Kind(HTTPStatus.UNAUTHORIZED, "key-expired", "The key has expired"),
    TokenNeeded: Kind(HTTPStatus.UNAUTHORIZED, "token-needed", "A token is needed"),
    NotAllowed: Kind(HTTPStatus.FORBIDDEN, "not-allowed", "The key does not allow this"),
    ForbiddenByKey: Kind(HTTPStatus.FORBIDDEN, "forbidden-by-key", "The rules of the key do not allow this"),
    OutOfScope: Kind(HTTPStatus.FORBIDDEN, "out-of-scope", "The key lacks a scope"),
    UnknownModel: Kind(HTTPStatus.NOT_FOUND, "unknown-model", "There is no such model"),
    UnknownRegistry: Kind(HTTPStatus.NOT_FOUND, "unknown-registry", "There is no such registry"),
    UnknownRecord: Kind(HTTPStatus.NOT_FOUND, "unknown-record", "There is no such record"),
    RecordsOff: Kind(HTTPStatus.NOT_FOUND, "records-off", "No records are kept"),
    NoReceipts: Kind(HTTPStatus.NOT_FOUND, "no-receipts", "No receipts are signed"),
    NotAcceptable: Kind(HTTPStatus.NOT_ACCEPTABLE, "not-acceptable", "The answer has no such format"),
    RecordErased: Kind(HTTPStatus.GONE, "record-erased", "The record was erased"),
    DataMissing: Kind(HTTPStatus.PRECONDITION_FAILED, "data-missing", "What a card needs is missing"),
    BodyTooLong: Kind(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body-too-long", "The body is too long"),
    UnsupportedMediaType: Kind(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body must be JSON"),
    InvalidRequest: Kind(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-request", "The request is not valid"),
    ConflictingConstraints: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY, "conflicting-constraints", "The constraints contradict each other"
    ),
    ModelFailed: Kind(HTTPStatus.UNPROCESSABLE_ENTITY, "model-failed", "The model cannot score this"),
    ModelTooSlow: Kind(HTTPStatus.UNPROCESSABLE_ENTITY, "model-too-slow", "The model takes too long for this"),
    RateExceeded: Kind(HTTPStatus.TOO_MANY_REQUESTS, "rate-exceeded", "The key exceeds its rate"),
    RatesUnavailable: Kind(HTTPStatus.SERVICE_UNAVAILABLE, "rates-unavailable", "Rates cannot be counted"),
    TokensUnavailable: Kind(HTTPStatus.SERVICE_UNAVAILABLE, "tokens-unavailable", "Tokens cannot be checked"),
    TooManyAtOnce: Kind(HTTPStatus.TOO_MANY_REQUESTS, "too-many-at-once", "Too many requests at once"),
    Busy: Kind(HTTPStatus.SERVICE_UNAVAILABLE, "busy", "The service is busy"),
    PredictorUnavailable: Kind(
        HTTPStatus.SERVICE_UNAVAILABLE, "predictor-unavailable", "The model's server does not answer"
    ),
    RecordsUnavailable: Kind(HTTPStatus.SERVICE_UNAVAILABLE, "records-unavailable", "The records cannot be reached"),
    Stopping: Kind(HTTPStatus.SERVICE_UNAVAILABLE, "stopping", "The service is stopping"),
}
HEADERS: dict[type[Exception], Mapping[str, str]] = {
    KeyNeeded: {"WWW-Authenticate": 'Bearer realm="flipset"'},
    TokenNeeded: {"WWW-Authenticate": 'Bearer realm="flipset"'},
    KeyExpired: {
        "WWW-Authenticate": 'Bearer realm="flipset", error="invalid_token", error_description="expired"',
    },
    Busy: COME_BACK,
    RatesUnavailable: COME_BACK,
    RecordsUnavailable: COME_BACK,
    Stopping: COME_BACK,
    TokensUnavailable: COME_BACK,
    TooManyAtOnce: COME_BACK,
}
UNEXPECTED = Kind(HTTPStatus.INTERNAL_SERVER_ERROR, "unexpected", "Something went wrong on our side")


def problem(error: Exception) -> dict[str, Any]:
    """The error as an RFC 9457 object."""
    kind = TABLE.get(type(error), UNEXPECTED)
    return _problem(kind, *told(error))


def problem_response(error: Exception) -> Response:
    """The error as a whole answer."""
    return _response(problem(error), _headers(error))


def _headers(error: Exception) -> Mapping[str, str] | None:
    if isinstance(error, RateExceeded | PredictorUnavailable):
        return {"Retry-After": str(error.seconds)}
    return HEADERS.get(type(error))


def is_expected(error: Exception) -> bool:
    """Whether the error has an answer of its own."""
    return isinstance(error, (*TABLE, RequestValidationError, HTTPException))


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
    detail = f"Use {allowed} here." if allowed else "There is no such path. See /docs for all paths."
    return _response(_problem(kind, detail), error.headers)


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
        "errors": [error.json() for error in errors],
    }


def _response(content: dict[str, Any], headers: Any = None) -> Response:
    observed_request().problem = content["type"].removeprefix(TYPE)
    # ASCII only: a key of the request may hold half a character, which no UTF-8 can carry.
    body = json.dumps(content)
    return Response(body, content["status"], headers, media_type="application/problem+json")
