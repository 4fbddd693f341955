"""Answers in KServe's words: several explanations in one piece."""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from functools import partial
from typing import Any

from fastapi import Response

from app.adapters.locales.language import Language
from app.answering.events import Failed
from app.answering.in_use import ModelInUse
from app.answering.predictions import Predictions
from app.answering.service import Service
from app.answering.under_way import Admitted
from app.api.bodies import ParsedRequest, read_further
from app.api.kserve.schemas import V1Request, V2Request, named
from app.api.kserve.tensors import request_of, response_json
from app.api.languages import in_language, language_of
from app.api.problems import problem
from app.api.records.recording import begin_recording
from app.api.responding import admitted_of, in_one_piece, in_turns
from app.asking.refusals import FieldError, InvalidRequest
from app.asking.schemas import CounterfactualsRequest, PredictionsRequest
from app.core.memory import Waiting
from app.observing.observed_requests import observed_request
from app.recording.recorder import Recording
from app.writing.forms import Form, OneObject
from app.writing.lines import Presenter
from app.writing.whole import prediction_texts

# The text of all explanations of a request, which is held until the last one is there.
MOST_CHARACTERS = 16 * 2**20
TOO_LONG = (
    f"lets the explanations come to more than {MOST_CHARACTERS // 2**20} MB of text; lower it, "
    "or ask /counterfactuals, which sends plans while it finds them"
)


async def explain(request: ParsedRequest, body: V1Request, chosen: ModelInUse, service: Service) -> Response:
    """The whole answer for each instance, one after the other, all by one deadline; each with a record of its own."""
    explanations: list[str] = []
    room = MOST_CHARACTERS
    records: list[str] = []
    language = language_of(request, chosen.catalog)
    with service.admit(admitted_of(request, chosen)) as admitted:
        instances = body.explanations(chosen.model)
        for place in range(len(body.instances)):
            each, sent = await read_further(request, service, partial(next, instances))
            with ExitStack() as life:
                recording = begin_recording(request, each, life, sent)
                try:
                    steps = _explaining(service, each, chosen, admitted, recording, language, room)
                    explanations.append(await in_turns(request, steps, service))
                except InvalidRequest as refused:
                    raise named(refused, place) from None
                room -= len(explanations[-1])
                if recording is not None:
                    await recording.settle()
                    records += [recording.id] if recording.id else []
    headers = {"Flipset-Record": ", ".join(records)} if records else None
    text = f'{{"explanations":[{",".join(explanations)}]}}'
    return in_language(Response(text, headers=headers, media_type="application/json"), language)


def _explaining(  # all that an explanation is made of
    service: Service,
    body: CounterfactualsRequest,
    chosen: ModelInUse,
    admitted: Admitted,
    recording: Recording | None,
    language: Language,
    room: int,
) -> Generator[Any, None, str]:
    answer = yield from service.posing(body, chosen, admitted)
    observed_request().answer = answer
    form: Form = OneObject()
    if recording is not None:
        form = recording.over(form, answer, service, language)
    present = Presenter(answer.question, form, problem, language).text
    pieces = []
    for event in answer.events():
        if isinstance(event, Failed):
            raise event.error
        pieces.append(present(event))
        room -= len(pieces[-1])
        if room < 0:
            raise InvalidRequest([FieldError("limits.max_counterfactuals", TOO_LONG)])
        yield Waiting() if answer.is_waiting else None
    return "".join(pieces).strip()


async def predict(request: ParsedRequest, body: V1Request, chosen: ModelInUse, service: Service) -> Response:
    asked = await read_further(request, service, lambda: body.predictions(chosen.model))

    def write(said: Predictions) -> str:
        return f'{{"predictions":[{",".join(prediction_texts(said))}]}}'

    return await _predicted(request, asked, chosen, service, write)


async def infer(request: ParsedRequest, body: V2Request, chosen: ModelInUse, service: Service) -> Response:
    asked = await read_further(request, service, lambda: request_of(body, chosen.model))
    return await _predicted(request, asked, chosen, service, partial(response_json, body))


async def _predicted(
    request: ParsedRequest,
    asked: PredictionsRequest,
    chosen: ModelInUse,
    service: Service,
    write: Callable[[Predictions], str],
) -> Response:
    most = service.settings.max_instances
    if len(asked.instances or ()) > most:
        raise InvalidRequest([FieldError("instances", f"are more than {most:,}; send fewer per request")])
    with service.admit(admitted_of(request, chosen)) as admitted:
        return await in_one_piece(request, service, service.predicting(asked, chosen, admitted), write)
