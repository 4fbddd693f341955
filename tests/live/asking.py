"""Asking a server, and reading what it says."""

import json
from collections.abc import Callable
from typing import Any

import httpx

from app.api.describing.shared import Problem
from tests.support.live_server import LiveServer
from tests.support.waiting import eventually

PERSON = {"A": -0.8, "B": -0.3, "C": -1.1, "D": 0.2}
PATH = "/v1/models/synthetic/counterfactuals"


def ask(client: httpx.Client, body: Any, model: str = "synthetic", accept: str = "*/*") -> httpx.Response:
    return client.post(f"/v1/models/{model}/counterfactuals", json=body, headers={"accept": accept})


def lines_of(response: httpx.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    return [json.loads(line) for line in response.text.splitlines()]


def changed_sets(lines: list[dict[str, Any]]) -> list[set[str]]:
    return [{change["feature"] for change in line["changes"]} for line in lines if line["type"] == "counterfactual"]


def refused(response: httpx.Response, status: int) -> dict[str, str]:
    """The fields that a problem names, with what it says of them."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = Problem.model_validate(response.json())
    assert problem.status == status
    assert problem.detail
    return {error.field: error.message for error in problem.errors}


def end_with_the_server(client: httpx.Client, path: str, request: dict[str, Any], server: LiveServer) -> None:
    """An answer under way when the server is told to stop has a first line, and a last one that says so."""
    with client.stream("POST", path, json=request) as response:
        lines = response.iter_lines()
        first = json.loads(next(lines))
        server.terminate()
        last = json.loads(list(lines)[-1])
    assert first["type"] == "start"
    assert (last["type"], last["stopped_by"]) == ("summary", "shutdown")


def workers_of(server: LiveServer, count: int = 2) -> set[int]:
    """The processes that have started to serve, once there have been so many."""
    eventually(lambda: len(set(server.workers())) == count, server.log.read_text)
    return set(server.workers())


def with_a_deadline(ask: Callable[[int], httpx.Response], status: int = 200) -> httpx.Response:
    """The answer to a request with a short deadline; with a longer one, if the machine is too busy to begin by then."""
    for deadline_ms in (30, 300, 3_000):
        response = ask(deadline_ms)
        if response.status_code == status:
            return response
    return ask(30_000)
