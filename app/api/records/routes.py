"""The paths of the records. All but one are plain functions: the store may keep them waiting, and a thread can wait."""

import time
from contextlib import closing
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from app.adapters.records.record import Feedback
from app.api.addresses import client_of
from app.api.around.access import key_of
from app.api.bodies import StrictRoute
from app.api.dependencies import TheService, check_is_for_all, check_scope
from app.api.openapi import FEEDBACK, RECORDS, REPLAY
from app.api.records.described import Erasure, FeedbackKept, KeySet, Receipt, RecordDetails, RecordList, ReplayResult
from app.api.records.reaching import (
    TheStore,
    check_model,
    check_plan,
    checked,
    keep_feedback,
    permitted_record,
    reached,
    recorder_of,
)
from app.api.responding import in_turns
from app.asking.refusals import NoReceipts, UnknownRecord
from app.asking.schemas import FeedbackBody
from app.recording.replaying import replaying
from app.recording.telling import begun_json, feedback_json, record_json

# Of a list, in one answer.
MOST = 100

records = APIRouter(route_class=StrictRoute, prefix="/v1", tags=["records"], responses=RECORDS)
public = APIRouter(route_class=StrictRoute, tags=["records"])
Id = Annotated[str, Path(alias="id", description="the id that the answer came with: start.record")]


@records.get("/records", summary="The records of one subject", response_model=RecordList)
def list_records(
    store: TheStore,
    request: Request,
    subject: Annotated[str, Query(description="whom the records are about")] = "",
    after: Annotated[int, Query(description="behind the record of this seq", ge=0, le=2**53)] = 0,
) -> Response:
    check_scope(request, "read")
    key = key_of(request)
    with reached():
        found = store.of_subject(checked(subject), MOST + 1, after)
    shown = [record for record in found[:MOST] if key is None or key.may_use(record.model)]
    more = found[MOST - 1].seq if len(found) > MOST else "null"
    with reached():
        told = [record_json(record, store.feedback_on(record.id)) for record in shown]
    return _json(f'{{"records":[{",".join(told)}],"after":{more}}}')


@records.get("/records/{id}", summary="One record", response_model=RecordDetails)
def show_record(store: TheStore, name: Id, request: Request) -> Response:
    check_scope(request, "read")
    try:
        found = permitted_record(store, name, request)
        with reached():
            return _json(record_json(found, store.feedback_on(name)))
    except UnknownRecord:
        with reached():
            begun = store.find_begun(name)
        if begun is None:
            raise
    check_model(begun.model, request)
    return _json(begun_json(begun))


@records.get("/records/{id}/receipt", summary="A signed receipt of one record", response_model=Receipt)
def receipt_of(name: Id, request: Request) -> Response:
    check_scope(request, "read")
    recorder = recorder_of(request)
    if recorder.receipts is None:
        raise NoReceipts
    return _json(recorder.receipts.receipt(permitted_record(recorder.store, name, request)))


@public.get("/.well-known/flipset-keys", summary="The public keys of receipts", responses=RECORDS)
def receipt_keys(request: Request) -> KeySet:
    recorder = recorder_of(request)
    if recorder.receipts is None:
        raise NoReceipts
    return KeySet.model_validate(recorder.receipts.jwks())


@records.post("/records/{id}/replay", summary="Ask the same question again, and compare", responses=REPLAY)
async def replay_record(name: Id, service: TheService, request: Request) -> ReplayResult:
    """A search like any other: it counts with its client's others, and takes turns with everybody's."""
    check_scope(request, "read")
    recorder, client, key = recorder_of(request), client_of(request.scope), key_of(request)
    with service.shares.one_more(client, None if key is None else key.searches):
        record = await run_in_threadpool(permitted_record, recorder.store, name, request)
        with closing(replaying(record, service, recorder.versions, client)) as steps:
            done = await in_turns(request, steps, service)
    return ReplayResult.model_validate(done.json())


@records.post("/records/{id}/feedback", summary="Say what became of a plan", responses=FEEDBACK)
def give_feedback(store: TheStore, name: Id, body: FeedbackBody, request: Request) -> FeedbackKept:
    check_scope(request, "feedback")
    record, key = permitted_record(store, name, request), key_of(request)
    check_plan(record, body.plan)
    now = time.time_ns() // 1_000_000
    given = Feedback(name, body.plan, body.outcome, body.reason, now, None if key is None else key.id)
    return FeedbackKept.model_validate(feedback_json(keep_feedback(store, given)))


@records.delete("/subjects/{subject}", summary="Erase all that is known of a subject")
def erase_subject(store: TheStore, subject: Annotated[str, Path()], request: Request) -> Erasure:
    check_scope(request, "erase")
    check_is_for_all(request)
    with reached():
        return Erasure(records=store.erase(checked(subject)))


def _json(text: str) -> Response:
    return Response(text, media_type="application/json")
