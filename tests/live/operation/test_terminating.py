"""A model that is quick when it is tried, and never returns for certain values: it holds nobody up, and is ended."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.live import endless
from tests.live.asking import end_with_the_server, lines_of, refused, with_a_deadline
from tests.support import graphs, hostile_graphs
from tests.support.live_server import PATIENCE, LiveServer, live_server
from tests.support.networks import Network
from tests.support.waiting import eventually

# How often the model goes round, and what it judges by.
NAMES = ["rounds", "f1", "f2", "f3", "f4"]
PATH = "/v1/models/spin/counterfactuals"
SUBSETS = "/v1/models/spin/subsets"
ENDLESS = hostile_graphs.ENDLESS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model, whose rounds are normal where they never end; and a harmless one beside it."""
    folder = tmp_path_factory.mktemp("spin")
    hostile_graphs.write_model(folder, "spin", hostile_graphs.that_counts_as_told(len(NAMES)), NAMES, registry="spin")
    ranges = {"rounds": f"{{ low = {ENDLESS} }}", **dict.fromkeys(NAMES[1:], "{ low = 1 }")}
    graphs.write_registry(folder / "ranges/spin.toml", ranges)
    graphs.write_network(folder / "models/fine/model.onnx", Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5))
    graphs.write_model_toml(folder / "models/fine", ["a", "b"])
    return folder


@pytest.fixture
def spin(folder: Path) -> Iterator[LiveServer]:
    with live_server(folder / "models", folder / "ranges", search_threads="1", **endless.SETTINGS) as running:
        yield running


def request(engine: str = "auto", rounds: float = 0, deadline_ms: int = 1_000) -> dict[str, Any]:
    """The model is quick on the instance, and never returns once the rounds are changed."""
    instance = {**dict.fromkeys(NAMES, 0), "rounds": rounds}
    return {"instance": instance, "limits": {"engine": engine, "deadline_ms": deadline_ms}}


def is_answered(client: httpx.Client) -> None:
    """The harmless model, by the threads that search and by others."""
    assert client.post("/v1/models/fine/predictions", json={"instance": {"a": 1, "b": 1}}).status_code == 200
    lines = lines_of(client.post("/v1/models/fine/counterfactuals", json={"instance": {"a": 1, "b": 1}}))
    assert lines[-1]["outcome"] == "already_favourable"


@pytest.mark.parametrize(
    "engine", ["auto", *(pytest.param(engine, marks=pytest.mark.slow) for engine in ("lattice", "cemsp"))]
)
def test_a_run_past_the_deadline_is_ended_and_the_summary_says_so(spin: LiveServer, engine: str):
    """Twice: the first time it was thought to be quick."""
    with spin.client() as client:
        for _ in range(2):
            lines = lines_of(with_a_deadline(lambda ms: client.post(PATH, json=request(engine, deadline_ms=ms))))
            assert lines[0]["type"] == "start"
            assert (lines[-1]["type"], lines[-1]["stopped_by"]) == ("summary", "deadline")
            assert lines[-1]["complete"] is False
        is_answered(client)
        # Without the rounds, every answer is found: any three of four.
        harmless = {**request(engine, deadline_ms=endless.HOUR_MS), "constraints": {"immutable": ["rounds"]}}
        summary = lines_of(client.post(PATH, json=harmless))[-1]
        assert (summary["count"], summary["stopped_by"]) == (4, None)


@pytest.mark.slow
def test_where_the_instance_itself_is_never_scored_the_request_is_refused(spin: LiveServer):
    with spin.client() as client:
        for _ in range(2):
            response = with_a_deadline(
                lambda ms: client.post(PATH, json=request(rounds=2 * ENDLESS, deadline_ms=ms)), 422
            )
            assert "model-too-slow" in response.json()["type"]
            assert refused(response, 422) == {}
        is_answered(client)


@pytest.mark.slow
def test_a_prediction_that_never_returns_is_refused(folder: Path):
    with (
        live_server(folder / "models", folder / "ranges", default_deadline_ms="1000") as server,
        server.client() as client,
    ):
        spun = request(rounds=ENDLESS)["instance"]
        one = predicted(client, {"instance": spun})
        assert "model-too-slow" in one.json()["type"]
        several = predicted(client, {"instances": [spun] * 2})
        assert refused(several, 422) == {"instances": "take longer than 1 s; send fewer per request"}


def predicted(client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    """Asked again where the machine was too busy to begin within the second that there is."""

    def begun() -> httpx.Response | None:
        response = client.post("/v1/models/spin/predictions", json=body)
        return None if response.status_code == 503 else response

    return eventually(begun)


@pytest.mark.slow
def test_subsets_of_which_one_never_returns_are_refused(spin: LiveServer):
    with spin.client() as client:
        response = with_a_deadline(lambda ms: client.post(SUBSETS, json=request(deadline_ms=ms)), 422)
        assert list(refused(response, 422)) == ["limits.deadline_ms"]
        is_answered(client)


@pytest.mark.slow
def test_subsets_under_way_at_a_stop_are_refused(spin: LiveServer):
    """Where nothing has been sent yet, it can still be said when to come back."""
    with spin.client() as client, spin.client() as other, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.post, SUBSETS, json=request(deadline_ms=endless.HOUR_MS))
        eventually(lambda: "flipset_searches_in_flight 1" in other.get("/metrics").text)
        spin.terminate()
        response = asked.result(timeout=PATIENCE)
        assert refused(response, 503) == {}
        assert response.json()["type"].endswith("stopping")


@pytest.mark.slow
def test_others_are_answered_while_it_spins(spin: LiveServer):
    """The only thread that searches is taken; what needs none is answered."""
    body = request(deadline_ms=endless.HOUR_MS)
    with spin.client() as client, spin.client() as other, client.stream("POST", PATH, json=body) as response:
        # Kept: a reader that is thrown away closes its connection.
        lines = response.iter_lines()
        assert json.loads(next(lines))["type"] == "start"
        assert other.get("/readyz").status_code == 200
        is_answered(other)


@pytest.mark.slow
def test_a_client_that_leaves_ends_the_run(folder: Path):
    """Its place and its thread are free again, long before the deadline."""
    limits = {"search_threads": "1", "max_searches": "1", **endless.SETTINGS}
    with live_server(folder / "models", folder / "ranges", **limits) as server, server.client() as client:
        with client.stream("POST", PATH, json=request(deadline_ms=endless.HOUR_MS)) as response:
            # Kept: a reader that is thrown away closes its connection.
            lines = response.iter_lines()
            assert json.loads(next(lines))["type"] == "start"
        fine = {"instance": {"a": 1, "b": 1}}
        eventually(lambda: client.post("/v1/models/fine/counterfactuals", json=fine).status_code == 200)
        # It needs the only thread that searches.
        harmless = {**request("cemsp", deadline_ms=endless.HOUR_MS), "constraints": {"immutable": ["rounds"]}}
        assert lines_of(client.post(PATH, json=harmless))[-1]["stopped_by"] is None


def test_a_stop_ends_the_run_with_a_last_line(spin: LiveServer):
    with spin.client() as client:
        end_with_the_server(client, PATH, request(deadline_ms=endless.HOUR_MS), spin)
        spin.process.wait(timeout=PATIENCE)
        assert "Traceback" not in spin.log.read_text()
