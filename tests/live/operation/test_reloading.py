"""Models and registries that change while it runs: all workers switch, or none does."""

import json
import os
import re
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.api.readiness import Readiness
from tests.live import endless
from tests.live.asking import lines_of, workers_of
from tests.support import graphs, hostile_graphs
from tests.support.live_server import PATIENCE, LiveServer, live_server
from tests.support.networks import Network
from tests.support.waiting import eventually

NAMES = ["a", "b"]
PATH = "/v1/models/m/counterfactuals"
WORKERS = 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that wants both features to be 1, and its registry; and one that nobody touches."""
    write_model(tmp_path, "m", "1", weight=1.0)
    write_model(tmp_path, "untouched", "1", weight=1.0)
    graphs.write_registry(tmp_path / "ranges/r.toml", dict.fromkeys(NAMES, "{ low = 1 }"))
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[LiveServer]:
    with live_server(folder / "models", folder / "ranges", workers=str(WORKERS)) as running:
        yield running


def write_model(folder: Path, name: str, version: str, weight: float) -> None:
    network = Network(np.full((2, 1), weight), np.zeros(1), np.ones(1), -1.5)
    graphs.write_network(folder / f"models/{name}/model.onnx", network)
    graphs.write_model_toml(folder / f"models/{name}", NAMES, registry="r", version=f'"{version}"')


def reload(server: LiveServer) -> None:
    os.kill(server.process.pid, signal.SIGHUP)


def readiness(server: LiveServer) -> dict[str, Any]:
    """What one of the workers says: every connection is a new one."""
    response = httpx.get(f"{server.url}/readyz?verbose=true", timeout=PATIENCE)
    assert response.status_code == 200
    Readiness.model_validate(response.json())
    return response.json()


def all_say(server: LiveServer, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """What they say once that holds for as many answers in a row as leave no doubt about any worker."""

    def agreed() -> dict[str, Any] | None:
        said = [readiness(server) for _ in range(20 * WORKERS)]
        return said[-1] if all(map(holds, said)) else None

    return eventually(agreed, server.log.read_text)


def version_of(said: dict[str, Any], name: str = "m") -> str | None:
    return next((model["version"] for model in said["models"] if model["name"] == name), None)


@pytest.mark.slow
def test_a_server_that_was_not_told_to_reload_says_what_it_serves(server: LiveServer):
    said = readiness(server)
    assert [(model["name"], model["version"]) for model in said["models"]] == [("m", "1"), ("untouched", "1")]
    assert all(re.fullmatch("[0-9a-f]{64}", model["sha256"]) for model in said["models"])
    assert [(registry["name"], registry["version"]) for registry in said["normal_ranges"]] == [("r", "1")]
    assert (said["reloads"], said["last_reload"]) == ({"loaded": 0, "refused": 0}, None)
    with server.client() as client:
        assert client.get("/readyz").json() == {"status": "ready"}
        assert client.get("/readyz?verbose=false").json() == {"status": "ready"}
        assert client.get("/readyz?verbose").json().keys() == said.keys()


def test_a_changed_a_new_and_a_missing_model_are_switched_in_every_worker(server: LiveServer, folder: Path):
    before = readiness(server)
    write_model(folder, "m", "2", weight=2.0)
    write_model(folder, "new", "1", weight=1.0)
    shutil.rmtree(folder / "models/untouched")
    assert version_of(readiness(server)) == "1"
    reload(server)
    after = all_say(server, lambda said: said["reloads"]["loaded"] == 1)
    assert version_of(after) == "2"
    assert [model["name"] for model in after["models"]] == ["m", "new"]
    assert after["since"] > before["since"]
    assert after["reloads"] == {"loaded": 1, "refused": 0}
    assert after["last_reload"] == {"at": after["since"], "result": "loaded", "flaws": [], "warnings": []}
    with server.client() as client:
        lines = lines_of(client.post(PATH, json={"instance": {"a": 0, "b": 0}}))
        assert lines[0]["model"]["version"] == "2"
        # With twice the weight, one of the two suffices.
        assert lines[-1]["count"] == 2
        assert client.post("/v1/models/untouched/counterfactuals", json={"instance": {}}).status_code == 404
        assert client.get("/v1/models/new").json()["version"] == "1"


@pytest.mark.slow
def test_a_changed_registry_is_switched(server: LiveServer, folder: Path):
    graphs.write_registry(folder / "ranges/r.toml", {"a": "{ low = 1 }"})
    reload(server)
    all_say(server, lambda said: said["reloads"]["loaded"] == 1)
    with server.client() as client:
        lines = lines_of(client.post(PATH, json={"instance": {"a": 0, "b": 0}}))
    assert [feature["low"] for feature in lines[0]["features"]] == [1, None]


@pytest.fixture
def server_in_a_hurry(folder: Path) -> Iterator[LiveServer]:
    """It waits for a model that never answers; the others take far less, however busy the machine is."""
    limits = {"workers": str(WORKERS), "model_load_seconds": "30"}
    with live_server(folder / "models", folder / "ranges", **limits) as running:
        yield running


@pytest.mark.slow
def test_a_broken_model_is_refused_by_all_and_the_old_one_goes_on(server_in_a_hurry: LiveServer, folder: Path):
    server = server_in_a_hurry
    write_model(folder, "m", "2", weight=2.0)
    hostile_graphs.write_model(folder, "endless", hostile_graphs.that_counts_to(hostile_graphs.ENDLESS))
    graphs.write_registry(folder / "ranges/r.toml", {"a": "{ low = 2, high = 1 }"})
    reload(server)
    said = all_say(server, lambda said: said["reloads"]["refused"] == 1)
    assert version_of(said) == "1"
    assert said["last_reload"]["result"] == "refused"
    assert said["last_reload"]["flaws"] == [
        {
            "file": str(folder / "models/endless/model.onnx"),
            "field": "",
            "reason": "did not load and answer within 30 s (FLIPSET_MODEL_LOAD_SECONDS)",
        },
        {"file": str(folder / "ranges/r.toml"), "field": "features.a.ranges[0]", "reason": "low is above high"},
    ]
    assert server.logs("features.a.ranges[0]: low is above high")
    with server.client() as client:
        assert 'flipset_reloads_total{result="refused"} 1.0' in client.get("/metrics").text
    # What was mended is taken.
    shutil.rmtree(folder / "models/endless")
    graphs.write_registry(folder / "ranges/r.toml", {"a": "{ low = 1 }"})
    reload(server)
    said = all_say(server, lambda said: said["reloads"] == {"loaded": 1, "refused": 1})
    assert version_of(said) == "2"


@pytest.mark.slow
def test_a_missing_folder_is_refused_too(server: LiveServer, folder: Path):
    (folder / "ranges").rename(folder / "elsewhere")
    reload(server)
    said = all_say(server, lambda said: said["reloads"]["refused"] == 1)
    assert said["last_reload"]["flaws"][0]["file"] == str(folder / "ranges")


@pytest.mark.slow
def test_links_that_lead_in_a_circle_are_refused_and_the_server_can_still_be_stopped(server: LiveServer, folder: Path):
    (folder / "models/circle").mkdir()
    (folder / "models/circle/model.onnx").symlink_to("model.onnx")
    reload(server)
    said = all_say(server, lambda said: said["reloads"]["refused"] == 1)
    assert all(flaw["file"].startswith(str(folder / "models/circle")) for flaw in said["last_reload"]["flaws"])
    server.terminate()
    assert server.process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_a_worker_that_comes_back_serves_what_the_others_do(server: LiveServer, folder: Path):
    """And not what lies in the folder by then, which nobody has tried."""
    first = readiness(server)
    shutil.rmtree(folder / "models")
    for number in workers_of(server, WORKERS):
        os.kill(number, signal.SIGKILL)
    assert all_say(server, lambda said: True) == first


@pytest.mark.slow
def test_an_answer_under_way_ends_as_it_began(tmp_path: Path):
    """While the new model is already served to others."""
    names = [f"f{index}" for index in range(9)]
    folder = graphs.slow_model(tmp_path, names)
    with live_server(folder / "models", folder / "ranges", **endless.SETTINGS) as server, server.client() as client:
        limits = {"engine": "cemsp", "deadline_ms": endless.HOUR_MS}
        request = {"instance": dict.fromkeys(names, 0), "limits": limits}
        expected = [line["type"] for line in lines_of(client.post("/v1/models/slow/counterfactuals", json=request))]
        with client.stream("POST", "/v1/models/slow/counterfactuals", json=request) as response:
            lines = response.iter_lines()
            start = json.loads(next(lines))
            graphs.write_network(
                folder / "models/slow/model.onnx", Network(np.zeros((9, 1)), np.zeros(1), np.ones(1), 1)
            )
            graphs.write_model_toml(folder / "models/slow", names, registry="slow", version='"2"')
            reload(server)
            eventually(lambda: version_of(readiness(server), "slow") == "2")
            rest = [json.loads(line) for line in lines]
        assert start["model"]["version"] == "1"
        assert len([line for line in rest if line["type"] == "counterfactual"]) == expected.count("counterfactual")
        assert (rest[-1]["type"], rest[-1]["stopped_by"]) == ("summary", None)


@pytest.mark.slow
def test_no_request_fails_while_models_are_switched(server: LiveServer, folder: Path):
    answers: set[tuple[str, int]] = set()
    done = threading.Event()

    def ask_on_and_on() -> None:
        with server.client() as client:
            while not done.is_set():
                lines = lines_of(client.post(PATH, json={"instance": {"a": 0, "b": 0}}))
                answers.add((lines[0]["model"]["version"], lines[-1]["count"]))
                assert client.get("/readyz").status_code == 200
                assert client.get("/v1/models/m").status_code == 200

    threads = [threading.Thread(target=ask_on_and_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    for version in range(2, 6):
        write_model(folder, "m", str(version), weight=float(1 + version % 2))
        reload(server)
        all_say(server, lambda said, version=version: version_of(said) == str(version))
    done.set()
    for thread in threads:
        thread.join()
    # Each version with its own answers: one set of two changes, or two sets of one.
    assert answers == {(str(version), 1 + version % 2) for version in range(2, 6)} | {("1", 1)}


@pytest.mark.slow
def test_content_that_changed_under_its_version_is_warned_of(server: LiveServer, folder: Path):
    """The registry and both files of the model change, and their versions do not; the other model stays as it is."""
    with server.client() as client:
        before = lines_of(client.post(PATH, json={"instance": {"a": 0, "b": 0}}))[0]
    graphs.write_registry(folder / "ranges/r.toml", {"a": "{ low = 2 }"})
    write_model(folder, "m", "1", weight=2.0)
    reload(server)
    said = all_say(server, lambda said: said["reloads"]["loaded"] == 1)["last_reload"]
    told = {Path(warning["file"]).relative_to(folder): warning["reason"] for warning in said["warnings"]}
    assert told == {
        Path("models/m/model.toml"): "is '1' as before, but m/model.onnx has changed since it was served; "
        "change the version",
        Path("ranges/r.toml"): "is '1' as before, but r.toml has changed since it was served; change the version",
    }
    assert server.logs("ranges/r.toml: version: is '1' as before, but r.toml has changed")
    with server.client() as client:
        after = lines_of(client.post(PATH, json={"instance": {"a": 0, "b": 0}}))[0]
    for part in ("model", "normal_ranges"):
        assert after[part]["version"] == before[part]["version"]
        assert after[part]["sha256"] != before[part]["sha256"]


@pytest.mark.slow
def test_a_new_version_of_a_changed_file_is_nothing_to_warn_of(server: LiveServer, folder: Path):
    write_model(folder, "m", "2", weight=2.0)
    reload(server)
    said = all_say(server, lambda said: said["reloads"]["loaded"] == 1)
    assert (version_of(said), said["last_reload"]["warnings"]) == ("2", [])
