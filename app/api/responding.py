"""From a request to the response: at once where that is sure to be quick, else by the threads that search."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import Executor
from contextlib import ExitStack
from functools import partial
from typing import TypeVar

from fastapi import Request
from fastapi.responses import Response, StreamingResponse
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from app.answering.answer import Answer
from app.answering.in_use import ModelInUse
from app.answering.on_the_loop import (
    MOST_BYTES,
    ON_THE_LOOP_SECONDS,
    LoopHeldUp,
    TurnOnTheLoop,
    can_pose_on_the_loop,
    keep_off_the_loop,
)
from app.answering.service import Service
from app.answering.under_way import Admitted
from app.api.addresses import client_of
from app.api.around.access import key_of
from app.api.bodies import ParsedRequest
from app.api.languages import in_language, language_of
from app.api.problems import problem
from app.api.records.recording import begin_recording
from app.api.streams import FLUSH_SECONDS, WAIT_SECONDS, Present, gather, stream
from app.asking.callers import Caller
from app.asking.reading import check_extents
from app.asking.refusals import FieldError, InvalidRequest
from app.asking.schemas import CounterfactualsRequest, PredictionsRequest
from app.clinic.assessments import MOST_PLANS, risk_assessment
from app.clinic.plans import first_plans
from app.clinic.reading import WithSources
from app.core.facts import Moment
from app.core.memory import Waiting
from app.core.turns import Done, take_turn
from app.observing.observed_requests import observed_request
from app.recording.recorder import Recording
from app.writing.forms import FHIR, Form, JsonLines, choose_form, wants_fhir
from app.writing.json_pieces import encoded
from app.writing.lines import Presenter
from app.writing.reasons import reasons_json
from app.writing.whole import predictions_json, subsets_json

# For so long after the deadline the service waits for its reader; the search itself is not counted.
READING_SECONDS = 10.0


T = TypeVar("T")


async def respond(
    request: ParsedRequest, body: CounterfactualsRequest, chosen: ModelInUse, service: Service
) -> Response:
    """Pose the question, with all that may be refused, and answer it whole or in a stream.

    The life of an answer is one stack: it is admitted, and whatever happens then, it ends and leaves its place. What
    follows in a stream lives on until that is sent.
    """
    accept = ",".join(request.headers.getlist("accept"))
    if wants_fhir(accept):
        return await respond_with_assessment(request, body, chosen, service)
    form = choose_form(accept)
    with ExitStack() as life:
        admitted = life.enter_context(service.admit(admitted_of(request, chosen)))
        observed = observed_request()
        observed.posing_began = time.perf_counter()
        turn = _turn_on_the_loop(request, body, chosen, admitted)
        recording = begin_recording(request, body, life)
        try:
            response = await _answered(request, body, chosen, service, admitted, turn, form, recording)
        except LoopHeldUp:
            keep_off_the_loop(chosen.model)
            # In a new form: one JSON object remembers whether it has an answer already.
            response = await _answered(request, body, chosen, service, admitted, None, choose_form(accept), recording)
        if recording is not None:
            await recording.settle()
            response.headers.update(recording.headers)
        if isinstance(response, AnswerStream):
            response.life = life.pop_all()
        observed.searched = time.perf_counter()
        return response


def _turn_on_the_loop(
    request: ParsedRequest, body: CounterfactualsRequest, chosen: ModelInUse, admitted: Admitted
) -> TurnOnTheLoop | None:
    is_quick = request.size <= MOST_BYTES and can_pose_on_the_loop(body, chosen, admitted.caller)
    return TurnOnTheLoop() if is_quick else None


async def _answered(  # noqa: PLR0913, PLR0917  # all that an answer is made of
    request: ParsedRequest,
    body: CounterfactualsRequest,
    chosen: ModelInUse,
    service: Service,
    admitted: Admitted,
    turn: TurnOnTheLoop | None,
    form: Form,
    recording: Recording | None,
) -> Response:
    if turn is None:
        answer = await in_turns(request, service.posing(body, chosen, admitted), service)
    else:
        answer = service.pose(body, chosen, admitted, turn)
    seen = observed_request()
    seen.posed, seen.answer = time.perf_counter(), answer
    if request.bundle is not None:
        form = WithSources(form, request.bundle)
    language = language_of(request, chosen.catalog)
    if recording is not None:
        form = recording.over(form, answer, service, language)
    present = Presenter(answer.question, form, problem, language).text
    response = answered(answer, present, form.media_type, service.searchers)
    if turn is not None:
        turn.leave()
    return in_language(response, language)


async def in_turns(
    request: Request, steps: Generator[Moment, None, T], service: Service, threads: Executor | None = None
) -> T:
    """What comes of work before the first byte: `threads`, or those that search, do it while the client is there."""
    loop, turn = asyncio.get_running_loop(), (steps, FLUSH_SECONDS, time.perf_counter)
    while not isinstance(done := await loop.run_in_executor(threads or service.searchers, take_turn, *turn), Done):
        if isinstance(done, Waiting):
            await asyncio.sleep(WAIT_SECONDS)
        if await request.is_disconnected():
            raise ClientDisconnect
    return done.result


def admitted_of(request: ParsedRequest, chosen: ModelInUse) -> Admitted:
    return Admitted(request.arrived, client_of(request.scope), Caller.of(key_of(request), chosen.model.name))


def answered(answer: Answer, present: Present, media_type: str, searchers: Executor) -> Response:
    """One piece, if the answer is quick; what is not there in time follows in a stream."""
    events, finished = answer.events(), False
    ready = present(next(events))
    if answer.is_prompt:
        pieces, finished = gather(answer, present, ON_THE_LOOP_SECONDS, events)
        ready += pieces
    if finished:
        return Response(ready.encode(), media_type=media_type)
    return AnswerStream(answer, stream(answer, present, searchers, ready, events), media_type)


async def respond_with_predictions(
    request: ParsedRequest, body: PredictionsRequest, chosen: ModelInUse, service: Service
) -> Response:
    """Score the instances in a thread."""
    check_extents(body, ("instance", "context"), service.settings.max_features)
    most = service.settings.max_instances
    if len(body.instances or ()) > most:
        raise InvalidRequest([FieldError("instances", f"are more than {most:,}; send fewer per request")])
    with service.admit(admitted_of(request, chosen)) as admitted:
        return await in_one_piece(request, service, service.predicting(body, chosen, admitted), predictions_json)


async def respond_with_subsets(
    request: ParsedRequest, body: CounterfactualsRequest, chosen: ModelInUse, service: Service
) -> Response:
    """Score all subsets of the movable features in a thread, once the question is understood."""
    if body.record is not None:
        reason = "is for /counterfactuals and /reasons; nothing is recorded of all subsets, so leave it out"
        raise InvalidRequest([FieldError("record", reason)])
    with service.admit(admitted_of(request, chosen)) as admitted:
        question = await in_turns(request, service.understanding(body, chosen, admitted), service)
        steps = service.scoring_subsets(question, body.limits, admitted)
        return await in_one_piece(request, service, steps, partial(subsets_json, question))


async def respond_with_reasons(
    request: ParsedRequest, body: CounterfactualsRequest, chosen: ModelInUse, service: Service
) -> Response:
    """Search to the end, then say what the decision rests on."""
    with ExitStack() as life:
        admitted = life.enter_context(service.admit(admitted_of(request, chosen)))
        recording = begin_recording(request, body, life)
        found = await in_turns(request, service.reasoning(body, chosen, admitted), service)
        language = language_of(request, chosen.catalog)
        text, headers = reasons_json(found, language), {}
        if recording is not None:
            text, headers = recording.of_reasons(text, found, service, language), recording.headers
            await recording.settle()
        return in_language(Response(text, headers=headers, media_type="application/json"), language)


async def respond_with_assessment(
    request: ParsedRequest, body: CounterfactualsRequest, chosen: ModelInUse, service: Service
) -> Response:
    """Search to the end, then answer with a RiskAssessment."""
    with ExitStack() as life:
        admitted = life.enter_context(service.admit(admitted_of(request, chosen)))
        recording = begin_recording(request, body, life)
        answer = await in_turns(request, service.posing(body, chosen, admitted), service)
        observed_request().answer = answer
        language = language_of(request, chosen.catalog)
        # A record holds the lines, whatever is made of them.
        form = None if recording is None else recording.over(JsonLines(), answer, service, language)
        present = None if form is None else Presenter(answer.question, form, problem, language).text
        plans = await in_turns(request, first_plans(answer, MOST_PLANS, present), service)
        resource = risk_assessment(plans, request.bundle, language)
        response = in_language(Response(encoded(resource), media_type=FHIR), language)
        if recording is not None:
            await recording.settle()
            response.headers.update(recording.headers)
        return response


async def in_one_piece(
    request: ParsedRequest, service: Service, steps: Generator[Moment, None, T], write: Callable[[T], str]
) -> Response:
    """What is said only when all of it is known: its turns are in the client's lane."""

    def writing() -> Generator[Moment, None, str]:
        return write((yield from steps))

    async with service.lanes.of(client_of(request.scope)):
        text = await in_turns(request, writing(), service, service.predictors)
    return Response(text, media_type="application/json")


class AnswerStream(StreamingResponse):
    """An answer on its way; when it is sent or the client has left, its life ends."""

    def __init__(self, answer: Answer, pieces: AsyncIterator[bytes], media_type: str) -> None:
        super().__init__(pieces, media_type=media_type)
        self._answer = answer
        self.life = ExitStack()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.life:
            try:
                await super().__call__(scope, receive, self._patient(send))
            except TimeoutError:
                # Nobody reads: the answer is cut, and its place is free for others.
                observed_request().disconnected = True
            finally:
                observed_request().searched = time.perf_counter()

    def _patient(self, send: Send) -> Send:
        """Send as long as there is time left, or patience: a search that is late is not its reader's fault."""
        patience = READING_SECONDS

        async def sending(message: Message) -> None:
            nonlocal patience
            began, allowed = time.perf_counter(), self._answer.seconds_left + patience
            async with asyncio.timeout(allowed):
                await send(message)
            patience = min(patience, began + allowed - time.perf_counter())

        return sending
