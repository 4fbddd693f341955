"""What the routes of the records share: the store, and what a key may see of it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Depends, Request

from app.adapters.records.record import Feedback, Record
from app.adapters.records.store import Store, StoreLost
from app.api.around.access import key_of
from app.asking.refusals import (
    FieldError,
    InvalidRequest,
    NotAllowed,
    RecordErased,
    RecordsOff,
    RecordsUnavailable,
    UnknownRecord,
)
from app.asking.schemas import check_subject
from app.recording.recorder import Recorder


def recorder_of(request: Request) -> Recorder:
    """What keeps the records; `RecordsOff` if nothing does."""
    found = request.app.state.recorder
    if found is None:
        raise RecordsOff
    assert isinstance(found, Recorder)
    return found


async def store(request: Request) -> Store:
    return recorder_of(request).store


TheStore = Annotated[Store, Depends(store)]


@contextmanager
def reached() -> Iterator[None]:
    """What the store does, or `RecordsUnavailable`."""
    try:
        yield
    except StoreLost:
        raise RecordsUnavailable from None


def permitted_record(store: Store, name: str, request: Request) -> Record:
    """The record, if it is there and the key is for its model."""
    with reached():
        found = store.find(name)
    if found is None:
        raise UnknownRecord
    check_model(found.model, request)
    return found


def check_model(model: str, request: Request) -> None:
    key = key_of(request)
    if key is not None and not key.may_use(model):
        raise NotAllowed("model")


def check_plan(record: Record, plan: int) -> None:
    """`InvalidRequest` unless the answer had so many plans; `RecordErased` if nobody can know any more."""
    if record.personal is None:
        raise RecordErased
    sent = json.loads(record.sealed)["answer"]["sent"]
    if plan > sent:
        reason = f"must be the rank of a plan: the answer had {sent}" if sent else "names a plan; the answer had none"
        raise InvalidRequest([FieldError("plan", reason)])


def keep_feedback(store: Store, given: Feedback) -> Feedback:
    """What is kept of it; `RecordErased` if the record was erased a moment ago."""
    with reached():
        kept = store.give_feedback(given)
    if kept is None:
        raise RecordErased
    return kept


def checked(subject: str) -> str:
    """The subject, or `InvalidRequest`."""
    try:
        return check_subject(subject)
    except ValueError as error:
        raise InvalidRequest([FieldError("subject", str(error))]) from None
