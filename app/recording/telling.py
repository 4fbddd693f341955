"""A record as JSON. What was sent stands in it as it was sent, digit for digit."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from app.adapters.records.record import Begun, Feedback, Personal, Record

NOTHING_PERSONAL = '"subject":null,"salt":null,"request":null,"start":null,"plans":null,"summary":null'


def record_json(record: Record, feedback: Sequence[Feedback] = ()) -> str:
    """The record in one line, with all that is left of it, and what became of its plans."""
    held = record.personal
    facts = {
        "id": record.id,
        "state": "erased" if held is None else "kept",
        "at": moment(record.at),
        "model": record.model,
        "seq": record.seq,
        "hash": record.hash,
        "outcome": record.outcome,
        "erased_at": None if record.erased_at is None else moment(record.erased_at),
    }
    personal = NOTHING_PERSONAL if held is None else _personal(held)
    return (
        f'{json.dumps(facts)[:-1]}, "sealed":{record.sealed},"terms":{record.terms},{personal},{_feedback(feedback)}}}'
    )


def begun_json(begun: Begun) -> str:
    unknown: dict[str, Any] = dict.fromkeys(("seq", "hash", "outcome", "erased_at", "sealed", "terms"))
    facts = {"id": begun.id, "state": "unfinished", "at": moment(begun.at), "model": begun.model, **unknown}
    return f"{json.dumps(facts)[:-1]},{NOTHING_PERSONAL},{_feedback(())}}}"


def feedback_json(feedback: Feedback) -> dict[str, Any]:
    told = {"plan": feedback.plan, "outcome": feedback.outcome, "reason": feedback.reason}
    return {"record": feedback.record_id, **told, "at": moment(feedback.at)}


def _feedback(given: Sequence[Feedback]) -> str:
    return f'"feedback":{json.dumps([feedback_json(each) for each in given])}'


def moment(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


def _personal(held: Personal) -> str:
    # Between the parts of JSON a line end is as good as a space, and a string holds none.
    request = held.request.replace("\r", " ").replace("\n", " ")
    return (
        f'"subject":{json.dumps(held.subject)},"salt":"{held.salt}","request":{request},"start":{held.start},'
        f'"plans":[{",".join(held.plans)}],"summary":{held.summary or "null"}'
    )
