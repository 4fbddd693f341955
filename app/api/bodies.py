"""Request bodies as they arrive: JSON by its content type, no longer than is read, parsed before FastAPI sees them."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from anyio import CapacityLimiter, to_thread
from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.datastructures import State
from starlette.requests import ClientDisconnect

from app.answering.on_the_loop import MOST_BYTES
from app.answering.service import Service
from app.api.addresses import client_of
from app.api.problems import is_expected, problem_response
from app.asking.parsing import MOST_ENTRIES, B, read_body
from app.asking.refusals import BodyTooLong, UnsupportedMediaType
from app.asking.schemas import CounterfactualsRequest
from app.clinic.reading import FromBundle
from app.clinic.resources import Bundle
from app.observing.unexpected import log_unexpected

# A body of this type is a Bundle, where a request for counterfactuals is expected.
FHIR = "application/fhir+json"
Handler = Callable[[Request], Coroutine[Any, Any, Response]]
T = TypeVar("T")


class StrictRoute(APIRoute):
    """A route whose body is parsed by us before FastAPI sees it, and whose surprises stay inside."""

    def get_route_handler(self) -> Handler:
        handle = self.get_inner_handler()
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

    def get_inner_handler(self) -> Handler:
        """What answers a request whose body is parsed."""
        return super().get_route_handler()


class ParsedRequest(Request):
    """A request that knows its JSON already, when its body was there, and how long that was."""

    content: bytes
    parsed: Any
    arrived: float
    size: int
    # What the body was read from, where it was a Bundle.
    bundle: FromBundle | None = None

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
    if content_type == FHIR and schema is CounterfactualsRequest:
        schema = Bundle
    parsed = ParsedRequest(request.scope, request.receive)
    body = parsed.content = await _read(request, request.app.state.service.settings.max_body_bytes)
    parsed.arrived, parsed.size = time.perf_counter(), len(body)
    # FastAPI takes as it is what has been checked already. The others need not wait while a long one is parsed.
    is_short = len(body) <= MOST_BYTES
    parsed.parsed = read_body(body, schema) if is_short else await _read_alone(body, schema, request.app.state)
    return parsed


async def read_further(request: ParsedRequest, service: Service, reading: Callable[[], T]) -> T:
    """What is made of a body once it is known for what model; a thread does it where the body is long."""
    return reading() if request.size <= MOST_BYTES else await in_a_thread(request, service, reading)


async def in_a_thread(request: Request, service: Service, work: Callable[[], T]) -> T:
    """What cannot be done in turns; of one client no more at once than there are threads."""
    async with service.lanes.of(client_of(request.scope)):
        return await asyncio.get_running_loop().run_in_executor(service.predictors, work)


async def _read_alone(body: bytes, schema: type[B], state: State) -> B:
    """One long body after the other: several at once would take turns at Python's lock, and everybody would wait."""
    if not hasattr(state, "reading"):
        state.reading = CapacityLimiter(1)
    settings = state.service.settings
    most = max(MOST_ENTRIES, settings.max_instances, settings.max_features)
    return await to_thread.run_sync(read_body, body, schema, most, limiter=state.reading)


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
