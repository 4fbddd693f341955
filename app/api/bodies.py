"""Request bodies, read strictly: JSON by its content type, no key twice, no nesting without end."""

import json
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from app.adapters.names import LONGEST_NAME
from app.adapters.numbers import SentNumber, sent_number
from app.api.errors import (
    MalformedJson,
    UnsupportedMediaType,
    is_expected,
    log_unexpected,
    problem_response,
)

# Python refuses to turn longer ones into whole numbers; none of them is a number that a model could read.
LONGEST_WHOLE_NUMBER = 400

# A longer body is parsed in a thread.
MOST_BYTES = 16 * 1024


class StrictRoute(APIRoute):
    """A route whose body is parsed by us before FastAPI sees it, and whose surprises stay inside."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            try:
                return await handle(request if self.body_field is None else await _with_parsed_body(request))
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

    parsed: Any
    arrived: float
    size: int

    async def json(self) -> Any:
        return self.parsed


async def _with_parsed_body(request: Request) -> ParsedRequest:
    content_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if content_type != "application/json" and not (
        content_type.startswith("application/") and content_type.endswith("+json")
    ):
        raise UnsupportedMediaType
    parsed = ParsedRequest(request.scope, request.receive)
    body = await parsed.body()
    parsed.arrived, parsed.size = time.perf_counter(), len(body)
    # The others need not wait while a long one is parsed.
    parsed.parsed = parse_json(body) if len(body) <= MOST_BYTES else await run_in_threadpool(parse_json, body)
    return parsed


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
