"""Request bodies, read strictly: JSON by its content type, no key twice, no nesting without end."""

import json
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, cast

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from app.adapters.names import LONGEST_NAME
from app.adapters.numbers import SentNumber, sent_number
from app.api.errors import (
    BodyTooLong,
    FieldError,
    InvalidRequest,
    MalformedJson,
    UnsupportedMediaType,
    invalid,
    is_expected,
    log_unexpected,
    problem_response,
)

# Python refuses to turn longer ones into whole numbers; none of them is a number that a model could read.
LONGEST_WHOLE_NUMBER = 400

# Of more mistakes pydantic makes so long a list that nobody else comes to work meanwhile, threads or not.
MOST_NAMED = 2_000

# A longer body is parsed and checked in a thread.
MOST_BYTES = 16 * 1024


class StrictRoute(APIRoute):
    """A route whose body is parsed by us before FastAPI sees it, and whose surprises stay inside."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        # Every body here is described by a class.
        schema = None if self.body_field is None else cast(type[BaseModel], self.body_field.field_info.annotation)

        async def strict(request: Request) -> Response:
            try:
                return await handle(request if schema is None else await _with_parsed_body(request, schema))
            except ClientDisconnect:
                # Nobody is left to answer, and nothing went wrong.
                return Response(status_code=400)
            except Exception as error:
                if is_expected(error):
                    raise
                log_unexpected(error)
                return problem_response(error)

        return strict


class ParsedRequest(Request):
    """A request that knows its JSON already, when its body was there, and how long that was."""

    content: bytes
    parsed: Any
    arrived: float
    size: int

    async def body(self) -> bytes:
        return self.content

    async def json(self) -> Any:
        return self.parsed


async def _with_parsed_body(request: Request, schema: type[BaseModel]) -> ParsedRequest:
    content_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if content_type != "application/json" and not (
        content_type.startswith("application/") and content_type.endswith("+json")
    ):
        raise UnsupportedMediaType
    parsed = ParsedRequest(request.scope, request.receive)
    body = parsed.content = await _read(request, request.app.state.service.settings.max_body_bytes)
    parsed.arrived, parsed.size = time.perf_counter(), len(body)
    # The others need not wait while a long one is parsed; FastAPI takes as it is what has been checked already.
    parsed.parsed = parse_json(body) if len(body) <= MOST_BYTES else await run_in_threadpool(_checked, body, schema)
    return parsed


async def _read(request: Request, most: int) -> bytes:
    """The body, as long as it is not too long: the rest is neither kept nor waited for."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > most:
        raise BodyTooLong(most)
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise BodyTooLong(most)
    return bytes(body)


def _checked(body: bytes, schema: type[BaseModel]) -> BaseModel:
    try:
        return schema.model_validate(parse_json(body))
    except ValidationError as error:
        count = error.error_count()
        if count > MOST_NAMED:
            reason = f"holds {count:,} mistakes, too many to name; send a part of it to see what is wrong"
            raise InvalidRequest([FieldError("body", reason)]) from None
        raise invalid(error.errors(include_url=False, include_input=False)) from None


def parse_json(body: bytes) -> Any:
    """Parse JSON, keeping each number's own digits; `MalformedJson` says where it goes wrong."""
    if not body:
        raise MalformedJson("The body is empty. Send the request as JSON.")
    try:
        return _DECODER.decode(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise MalformedJson("The body is not UTF-8 text.") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise MalformedJson(f"The body is not valid JSON: {error.msg} at {where}.") from None
    except RecursionError:
        raise MalformedJson("The body is nested too deeply.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        twice = _first_repeated(name for name, _ in pairs)
        raise MalformedJson(f"The key {twice[:LONGEST_NAME]!r} stands twice in one object.", twice[:LONGEST_NAME])
    return entries


def _first_repeated(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    raise AssertionError("no name is repeated")


def _whole_number(text: str) -> float:
    # Python knows no negative nought among its whole numbers.
    return SentNumber(text) if len(text) > LONGEST_WHOLE_NUMBER or text == "-0" else int(text)


# json.loads would make one anew for each body.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=sent_number, parse_int=_whole_number)
