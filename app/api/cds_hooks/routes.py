"""The paths of CDS Hooks. The standard describes them, so they are not in our document."""

import time
from contextlib import ExitStack
from functools import partial
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from app.adapters.records.record import Feedback
from app.adapters.records.store import Store
from app.answering.in_use import ModelInUse
from app.api.around.access import key_of
from app.api.bodies import ParsedRequest, StrictRoute, in_a_thread, read_further
from app.api.cds_hooks.clients import HookRoute
from app.api.dependencies import TheModel, TheService, permitted, service_of
from app.api.languages import in_language, language_of
from app.api.problems import problem
from app.api.records.reaching import check_plan, keep_feedback, permitted_record, recorder_of
from app.api.responding import admitted_of, in_turns
from app.asking.callers import Caller
from app.asking.refusals import DataMissing, FieldError, InvalidRequest, UnknownRecord
from app.asking.schemas import Became, LimitsBody, WhyDeclined
from app.clinic import hooks
from app.clinic.cards import MOST_PLANS, cards_of
from app.clinic.plans import first_plans
from app.clinic.reading import FromBundle, read_bundle
from app.observing.observed_requests import observed_request
from app.recording.recorder import Recorder
from app.writing.forms import JsonLines
from app.writing.lines import Presenter

# A person waits for the chart to open: a card that took longer would not be shown.
LIMITS = LimitsBody(deadline_ms=400)

discovery = APIRouter(route_class=StrictRoute, include_in_schema=False)
services = APIRouter(route_class=HookRoute, prefix="/cds-services", include_in_schema=False)


@discovery.get("/cds-services")
def discover(service: TheService, request: Request, response: Response) -> dict[str, Any]:
    """The models that take Observations, as services."""
    catalog = service.catalog
    language = language_of(request, catalog)
    in_language(response, language)
    models = permitted(catalog, key_of(request)).values()
    return {"services": [hooks.service_of(model, language) for model in models if hooks.is_offered(model)]}


@services.post("/{model}")
async def call(model: TheModel, body: hooks.HookRequest, request: Request) -> Response:
    assert isinstance(request, ParsedRequest)
    service = service_of(request)
    bundle = await read_further(request, service, partial(_read, body, model, request))
    asked, language = bundle.request.model_copy(update={"limits": LIMITS}), language_of(request, model.catalog)
    with ExitStack() as life:
        admitted = life.enter_context(service.admit(admitted_of(request, model)))
        answer = await in_turns(request, service.posing(asked, model, admitted), service)
        observed_request().answer = answer
        recorder: Recorder | None = request.app.state.recorder
        if recorder is None:
            plans = await in_turns(request, first_plans(answer, MOST_PLANS), service)
            return in_language(JSONResponse(cards_of(plans, service.settings.public_url, None, language)), language)
        # A card can get feedback, so every card has its record.
        recording = recorder.begin(bundle.text, None, key_of(request))
        life.callback(recording.close)
        form = recording.over(JsonLines(), answer, service, language)
        present = Presenter(answer.question, form, problem, language).text
        plans = await in_turns(request, first_plans(answer, MOST_PLANS, present), service)
        await recording.settle()
        # Feedback is on the first plan.
        name = str(UUID(recording.id)) if recording.id is not None and plans.first else None
        cards = cards_of(plans, service.settings.public_url, name, language)
        return in_language(JSONResponse(cards, headers=recording.headers), language)


@services.post("/{model}/feedback")
async def give_feedback(model: TheModel, body: hooks.FeedbackRequest, request: Request) -> Response:
    store = recorder_of(request).store
    for given in body.feedback:
        keep = partial(_keep, store, given, model.model.name, request)
        await in_a_thread(request, service_of(request), keep)
    return Response(status_code=200)


def _keep(store: Store, given: hooks.CardFeedback, model: str, request: Request) -> None:
    """Take down what became of a card: of its first plan, as the records have it."""
    record = permitted_record(store, given.card.hex, request)
    if record.model != model:
        raise UnknownRecord
    check_plan(record, 1)
    is_declined = given.outcome == "overridden"
    outcome, reason = (Became.DECLINED, WhyDeclined.OTHER) if is_declined else (Became.ACCEPTED, None)
    key, now = key_of(request), time.time_ns() // 1_000_000
    keep_feedback(store, Feedback(record.id, 1, outcome, reason, now, None if key is None else key.id))


def _read(body: hooks.HookRequest, chosen: ModelInUse, request: Request) -> FromBundle:
    """What was sent beforehand, read for the model; whatever it lacks is missing, as the standard has it."""
    caller = Caller.of(key_of(request), chosen.model.name)
    try:
        return read_bundle(hooks.prefetched(body), chosen, caller)
    except InvalidRequest as error:
        places = [(hooks.in_prefetch(each.field), hooks.in_prefetch(each.message)) for each in error.errors]
        raise DataMissing([FieldError(*place) for place in places]) from None
