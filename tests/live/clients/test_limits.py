"""How much may be asked of a real server: what is too long, too many or too slow is refused before it costs much."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.settings import Settings
from tests.cli.test_flipset import flipset
from tests.live import endless
from tests.live.asking import PATH, PERSON, ask, refused
from tests.support.live_server import PATIENCE, ROOT, LiveServer, live_server
from tests.support.waiting import eventually

JSON = {"Content-Type": "application/json"}
PREDICTIONS = "/v1/models/synthetic/predictions"
SUBSETS = "/v1/models/synthetic/subsets"


@pytest.fixture(scope="module")
def strict() -> Iterator[LiveServer]:
    with live_server(max_body_bytes="200000", max_features="40", max_instances="20") as running:
        yield running


@pytest.fixture(scope="module")
def client(strict: LiveServer) -> Iterator[httpx.Client]:
    with strict.client() as connected:
        yield connected


def padded(size: int) -> bytes:
    body = json.dumps({"instance": PERSON}).encode()
    return body + b" " * (size - len(body))


@pytest.mark.parametrize("path", [PATH, PREDICTIONS, SUBSETS])
def test_a_body_that_is_too_long_is_refused(client: httpx.Client, path: str):
    assert client.post(path, content=padded(200_000), headers=JSON).status_code == 200
    assert list(refused(client.post(path, content=padded(200_001), headers=JSON), 413)) == ["body"]
    assert refused(client.post(path, content=padded(20_000_000), headers=JSON), 413)
    assert client.post(path, content=padded(100), headers=JSON).status_code == 200


def test_a_body_that_does_not_say_how_long_it_is_is_refused_on_the_way(client: httpx.Client):
    def pieces(count: int) -> Iterator[bytes]:
        yield padded(1000)
        for _ in range(count):
            yield b" " * 1000

    assert client.post(PATH, content=pieces(199), headers=JSON).status_code == 200
    assert refused(client.post(PATH, content=pieces(200), headers=JSON), 413)
    assert refused(client.post(PATH, content=pieces(20_000), headers=JSON), 413)
    assert client.post(PATH, content=padded(100), headers=JSON).status_code == 200


def test_a_body_that_says_that_it_will_be_too_long_is_not_waited_for(strict: LiveServer):
    """Nothing of it is ever sent."""
    host, _, port = strict.url.removeprefix("http://").partition(":")
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_more_instances_than_may_be_are_refused(client: httpx.Client):
    assert client.post(PREDICTIONS, json={"instances": [PERSON] * 20}).status_code == 200
    response = client.post(PREDICTIONS, json={"instances": [PERSON] * 21})
    assert refused(response, 422) == {"instances": "are more than 20; send fewer per request"}


@pytest.mark.parametrize("field", ["instance", "context", "normal_ranges", "guide", "weights"])
def test_an_object_with_too_many_entries_is_refused(client: httpx.Client, field: str):
    values: Any = {"low": 1} if field == "normal_ranges" else 1
    body = {"instance": PERSON, field: {f"k{number}": values for number in range(41)}}
    assert refused(ask(client, body), 422) == {field: "holds more than 40 entries"}
    assert refused(client.post(SUBSETS, json=body), 422) == {field: "holds more than 40 entries"}
    if field in ("instance", "context"):
        assert refused(client.post(PREDICTIONS, json=body), 422) == {field: "holds more than 40 entries"}


@pytest.mark.slow
@pytest.mark.parametrize(("command", "workers"), [("serve", "1"), ("serve", "2"), ("validate", "1")])
def test_a_model_of_more_features_than_may_be_is_not_served(command: str, workers: str):
    done = flipset(command, FLIPSET_MAX_FEATURES="9", FLIPSET_WORKERS=workers)
    assert done.returncode == 1
    assert done.stderr.removeprefix("Flipset cannot start:\n").splitlines() == [
        f"models/{name}/model.toml: features: are 10, but FLIPSET_MAX_FEATURES allows 9"
        for name in ("hcv", "hcv@2", "mortgage", "mortgage@2")
    ]


@pytest.mark.parametrize("path", [PATH, PREDICTIONS, SUBSETS])
def test_a_long_body_is_refused_in_the_same_words_as_a_short_one(client: httpx.Client, path: str):
    """Long ones are checked in a thread."""
    wrong = json.dumps({"instance": {"A": []}, "context": [], "colour": 1}).encode()
    short = client.post(path, content=wrong, headers=JSON)
    long = client.post(path, content=wrong + b" " * 50_000, headers=JSON)
    assert len(refused(short, 422)) == 3
    assert {**short.json(), "instance": None} == {**long.json(), "instance": None}


def test_as_many_instances_as_may_be_fit_into_a_body(server: LiveServer):
    most = Settings.model_fields["max_instances"].default
    with server.client() as client:
        for file in (ROOT / "models").glob("*/examples/several-ways.json"):
            instance = json.loads(file.read_text())["instance"]
            model = file.parent.parent.name
            answer = client.post(f"/v1/models/{model}/predictions", json={"instances": [instance] * most})
            assert (answer.status_code, len(answer.json().get("predictions", ()))) == (200, most)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return endless.write_endless(tmp_path_factory.mktemp("endless"))


@pytest.mark.slow
@pytest.mark.parametrize("work", ["predictions", "subsets"])
def test_one_more_than_may_be_under_way_is_told_when_to_come_back(folder: Path, work: str):
    one = {"instance": endless.INSTANCE}
    with (
        live_server(folder / "models", folder / "ranges", **endless.ONE_AT_A_TIME) as server,
        server.client() as client,
        server.client() as other,
    ):
        with client.stream("POST", endless.PATH, json=endless.request()) as response:
            lines = response.iter_lines()
            next(lines)
            full = other.post(f"/v1/models/endless/{work}", json=one)
            assert refused(full, 503) == {}
            assert int(full.headers["retry-after"]) > 0
        # The reader has left: its place is free as soon as that is noticed.
        eventually(lambda: other.post("/v1/models/endless/predictions", json=one).status_code == 200)
