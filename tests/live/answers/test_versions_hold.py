"""Plans that hold for the next version of a shipped model: the next version says so too, and every server the same."""

import re
from typing import Any

import httpx
import numpy as np
import pytest

from tests.live.asking import ask, lines_of
from tests.support.live_server import live_server
from tests.support.scale import scaled
from tests.support.seeds import Seeds

MODELS = ["hcv", "mortgage"]
PEOPLE = 40
ONE_REQUEST = httpx.Limits(max_keepalive_connections=0)
# Noise of features of each model, beside what a registry says.
NOISE = {"hcv": "registry", "mortgage": {"pirat": {"relative": 0.05}, "lvrat": {"sd": 0.02}}}


def varied(client: httpx.Client, model: str, seed: int) -> dict[str, Any]:
    """One of the shipped examples with every measurement a little different; whole numbers stay as they are."""
    rng = np.random.default_rng(seed)
    examples = client.get(f"/v1/models/{model}/examples").json()["examples"]
    request: dict[str, Any] = examples[int(rng.integers(len(examples)))]["request"]
    instance = {name: varied_value(rng, value) for name, value in request["instance"].items()}
    return {**request, "instance": instance}


def varied_value(rng: np.random.Generator, value: float) -> float:
    is_count = value == int(value) and abs(value) < 10
    return value if is_count else round(float(value * np.exp(rng.normal(0, 0.15))), 3)


def plans_of(client: httpx.Client, model: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    return [line for line in lines_of(ask(client, body, model)) if line["type"] == "counterfactual"]


@pytest.mark.parametrize("model", MODELS)
def test_what_is_said_to_hold_for_the_next_version_is_favourable_there(client: httpx.Client, model: str):
    """Said by the way, and required: the printed row goes to the next version as it stands."""
    following, sent, refused = f"{model}@2", 0, 0
    for seed in Seeds(scaled(PEOPLE), first=370_000):
        body = varied(client, model, seed)
        told = plans_of(client, model, {**body, "robustness": {"models": [following]}})
        asked = {"models": [following], "noise": NOISE[model], "require": 0.6}
        required = plans_of(client, model, {**body, "robustness": asked})
        if not told + required:
            continue
        rows = [plan["instance"] for plan in told + required]
        response = client.post(
            f"/v1/models/{following}/predictions", json={"instances": rows, "context": body.get("context", {})}
        )
        said = response.json()["predictions"]
        verdicts = [plan["stability"]["models"] for plan in told + required]
        assert verdicts == [[{"name": following, **each}] for each in said], seed
        assert all(each["favourable"] for each in said[len(told) :]), seed
        sent += sum(each["favourable"] for each in said)
        refused += sum(not each["favourable"] for each in said)
    assert sent > 0
    assert refused > 0


@pytest.mark.parametrize("model", MODELS)
def test_a_plan_that_holds_needs_no_further_change_there(client: httpx.Client, model: str):
    """Asked for counterfactuals of the printed row, the next version says that it is favourable already."""
    following, sent = f"{model}@2", 0
    for seed in Seeds(scaled(PEOPLE // 4), first=380_000):
        body = varied(client, model, seed)
        for plan in plans_of(client, model, {**body, "robustness": {"models": [following], "require": 1}})[:3]:
            summary = lines_of(ask(client, {**body, "instance": plan["instance"]}, following))[-1]
            assert summary["outcome"] == "already_favourable", seed
            sent += 1
    assert sent > 0


@pytest.mark.slow
def test_the_same_bytes_twice_and_from_one_worker_and_from_two():
    said = []
    for workers in ("1", "2"):
        # A connection for each request, so that every worker gets some.
        with live_server(workers=workers) as server, server.client(limits=ONE_REQUEST) as client:
            bodies = [(model, body) for model in MODELS for body in requests_of(client, model)]
            said += [[without_times(ask(client, body, model).text) for model, body in bodies] for _ in range(2)]
    assert said[0] == said[1] == said[2] == said[3]
    assert sum('"stability":{' in text for text in said[0]) > len(said[0]) / 3


def requests_of(client: httpx.Client, model: str) -> list[dict[str, Any]]:
    following = {"models": [f"{model}@2"], "noise": NOISE[model], "draws": 50}
    kinds = [{}, {"require": 0.6}, {"more": "tell"}, {"require": 0.5, "more": "require"}, {"order": "stability"}]
    people = [varied(client, model, seed) for seed in Seeds(8, first=390_000)]
    return [{**person, "robustness": {**following, **kind}} for person in people for kind in kinds]


def without_times(text: str) -> str:
    return re.sub(r'"elapsed_ms":(\{[^}]*\}|[\d.e-]+)', "", text)
