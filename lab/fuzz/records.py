"""Inputs for the paths of the records: ids, subjects and feedback that are right, nearly right, or anything."""

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from lab.fuzz.bodies import changed_bytes, changed_structure
from lab.fuzz.inputs import CONTENT_TYPES, METHODS, Examples, Input
from lab.fuzz.values import some_text

PATHS = (
    ("GET", "/v1/records/{id}"), ("GET", "/v1/records"), ("POST", "/v1/records/{id}/feedback"),
    ("POST", "/v1/records/{id}/feedback"), ("POST", "/v1/records/{id}/replay"), ("GET", "/v1/records/{id}/receipt"),
    ("DELETE", "/v1/subjects/{subject}"), ("POST", "/v1/models/{model}/counterfactuals"),
    ("GET", "/.well-known/flipset-keys"),
)  # fmt: skip
FEEDBACK = {"plan": 1, "outcome": "declined", "reason": "too_costly"}
NAMES = ("plan", "outcome", "reason", "subject", "record")


def plain_inputs(examples: Examples, seed: int, numbers: range) -> Iterator[Input]:
    """Requests as they should be: each leaves a record."""
    headers = (("accept", "*/*"), ("content-type", "application/json"))
    for number in numbers:
        model, request = examples.one(Random(f"plain {seed} {number}"))
        path = f"/v1/models/{model}/counterfactuals"
        yield Input(number, "records", "POST", path, headers, json.dumps(request).encode(), "")


def record_inputs(examples: Examples, seed: int, numbers: range, ids: Sequence[str]) -> Iterator[Input]:
    """One input a number; `ids` are records that are there."""
    for number in numbers:
        yield _input(Random(f"records {seed} {number}"), number, examples, ids)


def _input(rng: Random, number: int, examples: Examples, ids: Sequence[str]) -> Input:
    method, path = rng.choice(PATHS)
    model, request = examples.one(rng)
    path = path.format(id=_id(rng, ids), subject=_subject(rng), model=model)
    content_type = "application/json"
    if rng.random() < 0.1:
        method, content_type = rng.choice(METHODS), rng.choice(CONTENT_TYPES)
    body = _body(rng, {**request, "record": {"subject": _subject(rng)}} if model in path else FEEDBACK)
    headers = (("accept", "*/*"), ("content-type", content_type))
    query = rng.choice(
        ["", f"subject={_subject(rng)}", f"subject={_subject(rng)}&after={_number(rng)}", some_text(rng)]
    )
    return Input(number, "records", method, path, headers, body, query)


def _body(rng: Random, request: dict[str, Any]) -> bytes:
    match rng.randrange(3):
        case 0:
            return json.dumps(request).encode()
        case 1:
            return changed_structure(rng, request, NAMES)
    return changed_bytes(rng, request)


def _id(rng: Random, ids: Sequence[str]) -> str:
    real = rng.choice(ids)
    return rng.choice(
        [real, real, real, real[:-1], real.upper(), "0" * 32, "..", "%00", "", some_text(rng), "a" * 3000]
    )


def _subject(rng: Random) -> str:
    return rng.choice(["p-1", "p-2", "p-1", "p-1'--", "a b", "%00", "", "..", "x" * 129, some_text(rng)])


def _number(rng: Random) -> str:
    return rng.choice(["0", "1", "-1", "9" * 30, "1e3", "x", "", some_text(rng)])
