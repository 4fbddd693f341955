"""What those who run the service see: metrics, logs, request ids. Real servers."""

import os
import pty
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.live import endless
from tests.live.asking import PATH, PERSON, ask, workers_of
from tests.support.live_server import FLIPSET, PATIENCE, ROOT, LiveServer, live_server, reserved_port
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return endless.write_endless(tmp_path_factory.mktemp("endless"))


@pytest.fixture
def alone() -> Iterator[LiveServer]:
    """A server that nobody else asks."""
    with live_server() as running:
        yield running


def figures(client: httpx.Client) -> dict[str, float]:
    """Every sample, by its name and labels."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    samples = [sample for family in families for sample in family.samples]
    return {
        f"{sample.name}{{{','.join(f'{name}={value}' for name, value in sorted(sample.labels.items()))}}}": sample.value
        for sample in samples
    }


def total(counted: dict[str, float], name: str) -> float:
    return sum(value for key, value in counted.items() if key.startswith(f"{name}{{"))


def request_line(server: LiveServer, request_id: str) -> dict[str, Any]:
    """The line of that request; it is written after the last byte is sent."""

    def found() -> list[dict[str, Any]]:
        return [
            line
            for line in server.lines()
            if line.get("request_id") == request_id and line["logger"] == "flipset.requests"
        ]

    (line,) = eventually(found)
    return line


def test_every_name_has_the_prefix(alone: LiveServer):
    with alone.client() as client:
        ask(client, {"instance": PERSON})
        response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    names = {family.name for family in text_string_to_metric_families(response.text)}
    assert all(name.startswith("flipset_") for name in names)
    assert {
        "flipset_connections",
        "flipset_connections_full",
        "flipset_unread",
        "flipset_log_lines_dropped",
        "flipset_reloads",
        "flipset_requests",
        "flipset_request_seconds",
        "flipset_searches",
        "flipset_search_seconds",
        "flipset_time_to_first_answer_seconds",
        "flipset_counterfactuals",
        "flipset_model_rows",
        "flipset_model_seconds",
        "flipset_searches_in_flight",
        "flipset_searches_waited",
        "flipset_requests_in_flight",
        "flipset_refused",
        "flipset_disconnected",
        "flipset_build_info",
        "flipset_model_info",
        "flipset_proofs",
        "flipset_records",
        "flipset_record_events",
    } == names


def test_each_kind_of_answer_is_counted_once(alone: LiveServer):
    with alone.client() as client:
        ask(client, {"instance": PERSON})
        ask(client, {"instance": PERSON}, accept="application/json")
        ask(client, {"instance": {}})
        ask(client, {"instance": PERSON}, model="nobody-s")
        client.post("/v1/models/synthetic/predictions", json={"instances": [PERSON] * 5})
        client.post("/v1/models/synthetic/subsets", json={"instance": PERSON})
        client.get("/a/path/of/my/own")
        client.request("BREW", "/livez")
        # They may be counted after their last byte.
        alone.whole_log()
        counted = figures(client)
    route = "/v1/models/{model}/counterfactuals"
    assert counted[f"flipset_requests_total{{method=POST,route={route},status=200}}"] == 2
    assert counted[f"flipset_requests_total{{method=POST,route={route},status=422}}"] == 1
    assert counted[f"flipset_requests_total{{method=POST,route={route},status=404}}"] == 1
    assert counted["flipset_requests_total{method=GET,route=other,status=404}"] == 1
    assert counted[f"flipset_request_seconds_count{{route={route}}}"] == 4
    searches = "flipset_searches_total{engine=lattice,model=synthetic,outcome=found,stopped_by=none}"
    assert (counted[searches], total(counted, "flipset_searches_total")) == (2, 2)
    assert counted["flipset_counterfactuals_total{model=synthetic}"] == 6
    assert counted["flipset_model_rows_total{model=synthetic}"] == 2 * 16 + 5 + 16
    assert counted["flipset_requests_total{method=POST,route=/v1/models/{model}/subsets,status=200}"] == 1
    assert counted["flipset_refused_total{reason=unknown-model}"] == 1
    assert counted["flipset_refused_total{reason=invalid-request}"] == 1
    assert counted["flipset_searches_in_flight{}"] == 0
    assert counted["flipset_requests_in_flight{}"] == 1
    assert not any("/a/path" in key or "nobody" in key or "BREW" in key for key in counted)


@pytest.mark.slow
def test_a_client_that_leaves_is_counted_and_logged(folder: Path):
    with live_server(folder / "models", folder / "ranges", **endless.SETTINGS) as server, server.client() as client:
        asked = {"json": endless.request(), "headers": {"X-Request-ID": "left-early"}}
        with server.client() as other, other.stream("POST", endless.PATH, **asked) as response:
            # Kept: a reader that is thrown away closes its connection.
            pieces = response.iter_raw()
            next(pieces)
            assert figures(client)["flipset_searches_in_flight{}"] == 1
        eventually(lambda: figures(client)["flipset_searches_in_flight{}"] == 0)
        line = request_line(server, "left-early")
        counted = figures(client)
    assert counted["flipset_disconnected_total{}"] == 1
    unfinished = "flipset_searches_total{engine=cemsp,model=endless,outcome=unfinished,stopped_by=none}"
    assert (counted[unfinished], total(counted, "flipset_searches_total")) == (1, 1)
    assert (line["disconnected"], line["outcome"], line["model"]) == (True, "unfinished", "endless")


@pytest.mark.slow
def test_workers_count_together_and_a_dead_one_holds_nothing_in_flight(folder: Path):
    with live_server(folder / "models", folder / "ranges", workers="2", **endless.SETTINGS) as server:
        for _ in range(20):
            # Each on a connection of its own, so that both workers get some.
            with server.client() as client:
                assert client.get("/livez").status_code == 200
        # They tell of it after the last byte.
        eventually(lambda: _counted(server, "flipset_requests_total{method=GET,route=/livez,status=200}") == 20)
        with server.client() as client, client.stream("POST", endless.PATH, json=endless.request()) as response:
            pieces = response.iter_raw()
            next(pieces)
            eventually(lambda: _counted(server, "flipset_searches_in_flight{}") == 1)
            os.kill(_at_work(server), signal.SIGKILL)
            with pytest.raises(httpx.TransportError):
                list(pieces)
        eventually(lambda: _counted(server, "flipset_searches_in_flight{}") == 0)
        eventually(lambda: _counted(server, "flipset_requests_in_flight{}") == 1)
        assert _counted(server, "flipset_requests_total{method=GET,route=/livez,status=200}") == 20
        shared = _shared_folders(server.process.pid)
        assert len(shared) == 1
        server.terminate()
        server.process.wait(timeout=PATIENCE)
        assert not Path(shared.pop()).exists()


def _counted(server: LiveServer, name: str) -> float:
    # The one that is asked may be the one that was killed.
    try:
        with server.client() as client:
            return figures(client).get(name, 0)
    except httpx.TransportError:
        return -1


def _workers(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def _at_work(server: LiveServer) -> int:
    """The worker that has used the most of the processor since."""

    def used(process: int) -> int:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    before = {worker: used(worker) for worker in _workers(server.process.pid)}
    eventually(lambda: any(used(worker) > was + 10 for worker, was in before.items()))
    return max(before, key=lambda worker: used(worker) - before[worker])


def _shared_folders(parent: int) -> set[str]:
    maps = "".join(Path(f"/proc/{worker}/maps").read_text() for worker in _workers(parent))
    return {str(Path(file).parent) for file in re.findall(r"/\S+\.db", maps)}


@pytest.mark.slow
def test_a_harmless_request_id_is_taken_over_and_any_other_replaced(alone: LiveServer):
    def given(sent: str) -> str:
        return client.get("/livez", headers={"X-Request-ID": sent}).headers["x-request-id"]

    with alone.client() as client:
        assert given("order/66:a.b_c~d@e+f=-") == "order/66:a.b_c~d@e+f=-"
        assert given("x" * 128) == "x" * 128
        for harmful in ("x" * 129, "a b", 'a"b', "a\tb", "<a>", ""):
            assert re.fullmatch("[0-9a-f]{32}", given(harmful))
        two = client.get("/livez", headers=[("X-Request-ID", "a"), ("X-Request-ID", "b")])
        assert re.fullmatch("[0-9a-f]{32}", two.headers["x-request-id"])
        assert (
            given("one") != client.get("/livez").headers["x-request-id"] != client.get("/livez").headers["x-request-id"]
        )


@pytest.mark.slow
def test_every_refusal_names_its_request(alone: LiveServer):
    with alone.client() as client:
        for response in (
            client.get("/nowhere"),
            client.delete("/livez"),
            client.post(PATH, content=b"{", headers={"content-type": "application/json"}),
            ask(client, {"instance": {}}),
            ask(client, {"instance": PERSON}, model="none"),
        ):
            assert response.json()["instance"] == f"urn:flipset:request:{response.headers['x-request-id']}"


def test_a_request_is_one_line_of_the_log(alone: LiveServer):
    with alone.client() as client:
        ask_id = ask(client, {"instance": PERSON}).headers["x-request-id"]
        refused_id = ask(client, {"instance": {}}).headers["x-request-id"]
    line = request_line(alone, ask_id)
    expected = {
        "level": "info",
        "message": "request",
        "method": "POST",
        "route": "/v1/models/{model}/counterfactuals",
        "status": 200,
        "model": "synthetic",
        "engine": "lattice",
        "outcome": "found",
        "count": 3,
        "model_rows": 16,
        "stopped_by": None,
    }
    assert {name: line[name] for name in expected} == expected
    assert line["duration_ms"] > 0
    assert line["sent_bytes"] > 1000
    assert "client" not in line
    refused = request_line(alone, refused_id)
    assert (refused["status"], refused["problem"], refused["model"]) == (422, "invalid-request", "synthetic")
    assert alone.logs("Serving on")


@pytest.mark.slow
def test_addresses_of_clients_are_logged_only_where_that_is_asked_for():
    with live_server(log_clients="true") as server, server.client() as client:
        assert request_line(server, client.get("/livez").headers["x-request-id"])["client"] == "127.0.0.1"


@pytest.mark.slow
def test_a_terminal_gets_text():
    leader, follower = pty.openpty()
    with reserved_port() as port:
        environment = {**os.environ, "FLIPSET_PORT": str(port), "FLIPSET_LOG_LEVEL": "info"}
        process = subprocess.Popen([FLIPSET, "serve"], cwd=ROOT, env=environment, stdout=follower, stderr=follower)
        os.close(follower)
        written = ""
        while "Serving on" not in written:
            written += os.read(leader, 65536).decode()
        # That is true as soon as it is said, even if the worker is not ready yet.
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()
        process.terminate()
        process.wait()
    os.close(leader)
    assert f"http://127.0.0.1:{port}" in written
    assert '{"time"' not in written


def test_a_level_that_does_not_exist_is_named():
    done = subprocess.run(
        [FLIPSET, "serve"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "FLIPSET_LOG_LEVEL": "trace"},
    )
    assert done.stderr == "FLIPSET_LOG_LEVEL: must be 'debug', 'info', 'warning' or 'error'\n"


def shared_folder_of(worker: int) -> Path:
    """Where it counts: there it holds a lock."""
    (lock,) = [link for link in map(os.path.realpath, Path(f"/proc/{worker}/fd").iterdir()) if link.endswith(".lock")]
    return Path(lock).parent


@pytest.mark.slow
def test_a_shared_folder_that_vanishes_costs_the_figures_and_nothing_else():
    with live_server(workers="2") as server:
        workers = workers_of(server)
        folder = shared_folder_of(min(workers))
        # What is counted meanwhile may make a file in it.
        shutil.rmtree(folder, ignore_errors=True)
        for _ in range(10):
            page = httpx.get(f"{server.url}/metrics", timeout=PATIENCE)
            assert page.status_code == 200
            assert "flipset_build_info" in page.text
        shutil.rmtree(folder, ignore_errors=True)
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        eventually(lambda: len(set(server.workers()) - workers) == 2)
        with server.client() as client:
            ask(client, {"instance": PERSON})
            eventually(lambda: total(figures(client), "flipset_searches_total") == 1)
        server.terminate()
        server.process.wait(timeout=PATIENCE)
        assert "Traceback" not in server.log.read_text()
    assert not folder.exists()
