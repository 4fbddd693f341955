"""One input after the other, each made from the seed and its own number alone: any of them can be asked again."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from lab.fuzz.bodies import beyond_measure, changed_bytes, changed_structure, constrained
from lab.fuzz.clinic import clinical
from lab.fuzz.values import some_text

ACCEPTED = (
    "*/*", "application/x-ndjson", "application/jsonl", "text/event-stream", "application/json", "", "text/html",
    "*/*;q=0", "a/b;q=x",
    "application/json;q=1e309", "application/json;q=nan", ";;;,,,", "application/*;q=0.1, text/event-stream;q=inf",
    "*/*," * 500,
)  # fmt: skip
CONTENT_TYPES = (
    "application/json", "application/json; charset=utf-16", "application/vnd.x+json", "text/plain", "",
    "application/", "+json",
    "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/json" * 200, "\xff",
)  # fmt: skip
METHODS = ("POST", "GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "BREW")
KINDS = (*["structure"] * 3, *["constraints"] * 3, "bytes", "measure", "head", "path", "clinic")


@dataclass(frozen=True)
class Input:
    """One request as it goes over the wire."""

    number: int
    kind: str
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    query: str = ""


class Examples:
    """The requests that come with the models: what all inputs are made from."""

    def __init__(self, models: Path) -> None:
        files = sorted(models.glob("*/examples/*.json"))
        self._requests: list[tuple[str, dict[str, Any]]] = [
            (file.parent.parent.name, json.loads(file.read_text())) for file in files
        ]

    def one(self, rng: Random) -> tuple[str, dict[str, Any]]:
        return rng.choice(self._requests)


def inputs(examples: Examples, seed: int, numbers: range) -> Iterator[Input]:
    for number in numbers:
        yield make_input(examples, seed, number)


def make_input(examples: Examples, seed: int, number: int) -> Input:
    """The input of that number."""
    rng = Random(f"{seed} {number}")
    kind = rng.choice(KINDS)
    if kind == "clinic":
        path, headers, body = clinical(rng)
        return Input(number, kind, "POST", path, headers, body)
    model, request = examples.one(rng)
    work = "predictions" if kind != "constraints" and rng.random() < 0.25 else "counterfactuals"
    if work == "counterfactuals" and rng.random() < 0.2:
        # The same request, asked for the whole picture, or for reasons.
        work = rng.choice(("subsets", "reasons"))
    if work == "predictions" and rng.random() < 0.8:
        request = {key: value for key, value in request.items() if key in ("instance", "context", "target")}
    method, path = "POST", f"/v1/models/{model}/{work}"
    accept, content_type = rng.choice(ACCEPTED[:5]), "application/json"
    if kind == "head":
        accept, content_type, method = rng.choice(ACCEPTED), rng.choice(CONTENT_TYPES), rng.choice(METHODS)
    elif kind == "path":
        method, path = rng.choice(METHODS[:2]), _path(rng, model)
    headers = (("accept", accept), ("content-type", content_type))
    return Input(number, kind, method, path, headers, _body(rng, kind, request))


def _body(rng: Random, kind: str, request: dict[str, Any]) -> bytes:
    names = list(request["instance"])
    match kind:
        case "constraints":
            return constrained(rng, request, names)
        case "bytes":
            return changed_bytes(rng, request)
        case "measure":
            return beyond_measure(rng, request, names)
    return changed_structure(rng, request, names)


def _path(rng: Random, model: str) -> str:
    """A path that is there, almost there, or not at all."""
    paths = ["/livez", "/readyz", "/openapi.json", "/docs", "/v1/models", "/v1/models/{}", "/v1/models/{}/examples"]
    paths += ["/v1/normal-ranges/{}", "/v1/models/{}/counterfactuals", "/docs/files/{}", "/{}", "/v1//models/{}/"]
    named = rng.choice([model, model, model.upper(), f"{model}@2", "..", "%2e%2e", "a" * 3000, "", some_text(rng)])
    return rng.choice(paths).format(named)
