"""From a request to the response: at once where that is sure to be quick, else by the threads that search."""

import asyncio
import time
from collections.abc import Callable, Iterator

from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.adapters.models import Model
from app.api.access import key_of
from app.api.answers import Answer
from app.api.bodies import MOST_BYTES, ParsedRequest
from app.api.errors import FieldError, InvalidRequest
from app.api.exchanges import exchange
from app.api.forms import Form, Line, choose_form
from app.api.reading import check_extents
from app.api.schemas import CounterfactualsRequest, PredictionsRequest
from app.api.service import HeldUp, Service
from app.api.streams import gather, stream
from app.core.budget import StopFlag

# What is counted beforehand takes half of this at the most. Should it take longer, on a busy machine perhaps, the
# answer goes on in a thread.
ON_THE_LOOP_SECONDS = 0.01
# After its deadline a search has ended; a reader has so long to take what is left of the answer.
READING_SECONDS = 10.0


async def respond(request: ParsedRequest, body: CounterfactualsRequest, model: Model, service: Service) -> Response:
    """Pose the question, with all that may be refused, and answer it whole or in a stream."""
    form = choose_form(",".join(request.headers.getlist("accept")))
    stop = service.admit()
    exchange().posing_began = time.perf_counter()
    try:
        try:
            return await _answered(request, body, model, service, stop, form)
        except HeldUp:
            # Begun again, in a thread from the start.
            service.is_slow(model)
            return await _answered(request, body, model, service, stop, form)
    except BaseException:
        service.release(stop)
        raise


async def _answered(
    request: ParsedRequest, body: CounterfactualsRequest, model: Model, service: Service, stop: StopFlag, form: Form
) -> Response:
    seen = exchange()
    answer = await _posed(request, body, model, service, stop)
    seen.posed = time.perf_counter()
    seen.answer = answer
    return answered(answer, form, service)


async def _posed(
    request: ParsedRequest, body: CounterfactualsRequest, model: Model, service: Service, stop: StopFlag
) -> Answer:
    knows_all = _knows_all(request)
    if request.size <= MOST_BYTES and service.poses_promptly(body, model):
        return service.pose(body, model, stop, request.arrived, everybody_waits=True, knows_all=knows_all)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(
        service.searchers, service.pose, body, model, stop, request.arrived, False, knows_all
    )


def _knows_all(request: ParsedRequest) -> bool:
    """Whether whoever asks may hear of all models."""
    key = key_of(request)
    return key is None or key.is_for_all


def answered(answer: Answer, form: Form, service: Service) -> Response:
    """One piece, if the answer is quick; what is not there in time follows in a stream."""
    ready, rest, finished = form.frame(answer.start()), answer.rest(), False
    if answer.is_prompt:
        pieces, finished = gather(rest, form, ON_THE_LOOP_SECONDS)
        ready += pieces
    service.leave_the_loop(answer)
    if finished:
        _end(answer, service)
        return Response(ready.encode(), media_type=form.media_type)
    return _Stream(answer, form, service, ready, rest)


async def respond_with_predictions(
    request: ParsedRequest, body: PredictionsRequest, model: Model, service: Service
) -> Response:
    """Score the instances in a thread."""
    check_extents(body, ("instance", "context"), service.settings.max_features)
    most = service.settings.max_instances
    if len(body.instances or ()) > most:
        raise InvalidRequest([FieldError("instances", f"are more than {most:,}; send fewer at a time")])
    return await _scored(service, lambda stop: service.predict(body, model, stop, request.arrived))


async def respond_with_subsets(
    request: ParsedRequest, body: CounterfactualsRequest, model: Model, service: Service
) -> Response:
    """Score all subsets of the movable features in a thread."""
    knows_all = _knows_all(request)
    return await _scored(service, lambda stop: service.subsets(body, model, stop, request.arrived, knows_all))


async def _scored(service: Service, work: Callable[[StopFlag], str]) -> Response:
    """What is said in one piece, and only when all of it is known; it takes no turns, so it has other threads."""
    stop = service.admit()
    try:
        text = await asyncio.get_running_loop().run_in_executor(service.predictors, work, stop)
    finally:
        service.release(stop)
    return Response(text, media_type="application/json")


class _Stream(StreamingResponse):
    """An answer on its way; when it is sent or the client has left, its search is told to stop."""

    def __init__(self, answer: Answer, form: Form, service: Service, ready: str, rest: Iterator[Line | None]) -> None:
        super().__init__(stream(answer, form, service.searchers, ready, rest), media_type=form.media_type)
        self._answer = answer
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self._answer.seconds_left + READING_SECONDS):
                await super().__call__(scope, receive, send)
        except TimeoutError:
            # Nobody reads: the answer is cut, and its place is free for others.
            exchange().disconnected = True
        finally:
            _end(self._answer, self._service)


def _end(answer: Answer, service: Service) -> None:
    service.end(answer)
    exchange().searched = time.perf_counter()
