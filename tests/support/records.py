"""Records that no answer stands behind, for tests of the stores."""

import json
from itertools import count
from typing import Any

from app.adapters.records.record import NewRecord, Personal
from app.recording.lines import Transcript

# The first few are those of a store that is kept as a file.
_numbers = count(16)


def new_record(
    subject: str | None = "p-1", at: int = 1_800_000_000_000, model: str = "hcv", **personal: Any
) -> NewRecord:
    name = f"{next(_numbers):032x}"
    taken = Transcript(20)
    request = personal.pop("request", '{"instance":{"ALT":41.5}}')
    for kind, text in (("start", '{"type":"start"}'), ("counterfactual", '{"rank":1}'), ("summary", '{"count":1}')):
        taken.take(kind, personal.get(kind, text))
    assert taken.last is not None
    return NewRecord(
        id=name,
        at=at,
        key=None,
        model=model,
        outcome="found",
        facts={"model": {"name": model, "version": "1.0.0"}, "answer": {"sent": 1, "stopped_by": None}},
        terms=json.dumps({"limits": {}}),
        personal=Personal(
            subject,
            "5a" * 32,
            request,
            taken.start,
            tuple(taken.plans),
            taken.last[1],
            taken.sha256,
            taken.plans_sha256,
        ),
    )
