"""Who may ask a real server, and how often; with keys that come and go while it runs."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.adapters.keys.key import new_key, rotated
from app.adapters.keys.key_file import editing
from app.adapters.keys.rates import Rate
from tests.live.asking import PATH, PERSON, lines_of, refused, workers_of
from tests.support.live_server import PATIENCE, LiveServer, live_server
from tests.support.waiting import eventually

WRONG = "flipset_all_" + "0" * 64
WORK = ("counterfactuals", "predictions", "subsets")


def add_key(file: Path, name: str, models: tuple[str, ...] | None = None, rate: Rate | None = None) -> dict[str, str]:
    """The header that shows the new key."""
    with editing(file) as keys:
        key, text = new_key(name, models, rate, "")
        keys[key.id] = key
    return {"Authorization": f"Bearer {text}"}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys") / "keys.toml"


@pytest.fixture(scope="module")
def everything(file: Path) -> dict[str, str]:
    return add_key(file, "all")


@pytest.fixture(scope="module")
def little(file: Path) -> dict[str, str]:
    return add_key(file, "little", ("synthetic", "not-served-any-more"))


@pytest.fixture(scope="module")
def guarded(file: Path, everything: dict[str, str], little: dict[str, str]) -> Iterator[LiveServer]:
    with live_server(keys_file=str(file)) as running:
        yield running


@pytest.fixture(scope="module")
def client(guarded: LiveServer) -> Iterator[httpx.Client]:
    with guarded.client() as connected:
        yield connected


def test_who_has_a_key_is_answered(client: httpx.Client, everything: dict[str, str]):
    response = client.post(PATH, json={"instance": PERSON}, headers=everything)
    assert lines_of(response)[-1]["outcome"] == "found"
    lower = {"Authorization": everything["Authorization"].replace("Bearer", "bearer")}
    assert client.get("/v1/models", headers=lower).status_code == 200


@pytest.mark.parametrize(
    "given",
    [
        "",
        "Bearer",
        f"Bearer {WRONG}",
        f"Bearer {WRONG.replace('all', 'nobody')}",
        f"Basic {WRONG}",
        "Bearer flipset",
        "Bearer " + "x" * 5_000,
        WRONG,
    ],
)
def test_who_has_none_is_refused_in_the_same_way(client: httpx.Client, given: str):
    response = client.post(PATH, json={"instance": PERSON}, headers={"Authorization": given})
    assert refused(response, 401) == {}
    assert response.headers["www-authenticate"] == 'Bearer realm="flipset"'
    absent = client.post(PATH, json={"instance": PERSON})
    assert refused(absent, 401) == {}
    assert {**said(response), "detail": ""} == {**said(absent), "detail": ""}
    assert "accepted" in response.json()["detail"] if given else said(response) == said(absent)


def said(response: httpx.Response) -> dict[str, Any]:
    """The problem without the id of the request, which is another one each time."""
    return {name: value for name, value in response.json().items() if name != "instance"}


def test_a_key_of_another_scheme_is_not_accepted(client: httpx.Client, everything: dict[str, str]):
    given = everything["Authorization"].replace("Bearer", "Basic")
    assert client.get("/v1/models", headers={"Authorization": given}).status_code == 401


@pytest.mark.parametrize(
    "path", ["/livez", "/readyz", "/", "/docs", "/docs/files/swagger-ui.css", "/openapi.json", "/web/icon.svg"]
)
def test_what_says_nothing_of_the_models_is_open(client: httpx.Client, path: str):
    assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models",
        "/v1/models/synthetic",
        "/v1/models/synthetic/examples",
        "/v1/normal-ranges/synthetic",
        "/metrics",
        "/readyz?verbose",
        "/readyz?",
        "/no-such-path",
        "//livez",
        "/livez/",
        "/livez/../v1/models",
        "/web",
        "/docs/files",
        "/%76%31/models",
    ],
)
def test_all_else_needs_a_key(guarded: LiveServer, path: str):
    """The path as it is written: a client of this kind would tidy it up."""
    with guarded.client() as client:
        request = client.build_request("GET", "/")
        request.url = request.url.copy_with(raw_path=path.encode())
        status = client.send(request).status_code
    # An empty query is none.
    assert status == (200 if path == "/readyz?" else 401)


def test_health_says_nothing_of_models(client: httpx.Client):
    assert client.get("/readyz").json() == {"status": "ready"}
    assert "synthetic" not in client.get("/openapi.json").text


def test_a_key_for_some_models_is_for_no_others(client: httpx.Client, little: dict[str, str]):
    assert client.get("/v1/models/synthetic", headers=little).status_code == 200
    assert [model["name"] for model in client.get("/v1/models", headers=little).json()["models"]] == ["synthetic"]
    forbidden = [
        client.request(method, f"/v1/models/{name}{path}", json={"instance": PERSON}, headers=little)
        for name in ("hcv", "no-such-model")
        for method, path in (("GET", ""), ("GET", "/examples"), *(("POST", f"/{work}") for work in WORK))
    ]
    assert [list(refused(response, 403)) for response in forbidden] == [["model"]] * 10
    assert all(said(response) == said(forbidden[0]) for response in forbidden)


def test_a_key_learns_of_no_model_that_is_not_on_its_list(client: httpx.Client, little: dict[str, str]):
    gone = client.get("/v1/models/not-served-any-more", headers=little)
    assert "synthetic" in refused(gone, 404)["model"]
    assert "hcv" not in gone.text
    unfit = refused(client.get("/v1/normal-ranges/hcv", headers=little), 403)
    assert unfit["registry"].endswith("GET /v1/models/{model} lists the registries that fit a model that it may use.")
    assert refused(client.get("/v1/normal-ranges/nope", headers=little), 403) == unfit
    assert client.get("/v1/normal-ranges/synthetic", headers=little).status_code == 200


def test_what_tells_of_all_models_is_for_keys_that_may_use_all(
    client: httpx.Client, everything: dict[str, str], little: dict[str, str]
):
    for path in ("/metrics", "/readyz?verbose", "/readyz?verbose=true"):
        response = client.get(path, headers=little)
        assert refused(response, 403) == {}
        assert "hcv" not in response.text
        assert "hcv" in client.get(path, headers=everything).text
    assert client.get("/readyz?verbose=false", headers=little).json() == {"status": "ready"}


def test_a_registry_of_other_models_is_told_as_one_that_does_not_exist(
    client: httpx.Client, everything: dict[str, str], little: dict[str, str]
):
    """Also where the question is posed in a thread, as a long one is."""
    for work, context in product(("counterfactuals", "subsets"), ({}, {"note": "x" * 100_000})):
        path = f"/v1/models/synthetic/{work}"
        there, not_there = (
            client.post(path, json={"instance": {}, "registry": name, "context": context}, headers=little)
            for name in ("hcv", "qqq")
        )
        assert "is not known" in refused(there, 422)["registry"]
        assert said(there) == said(not_there)
        told = client.post(path, json={"instance": {}, "registry": "hcv"}, headers=everything)
        assert "does not fit this model" in refused(told, 422)["registry"]


def test_no_key_stands_in_the_log(guarded: LiveServer, client: httpx.Client, everything: dict[str, str]):
    client.get("/v1/models", headers=everything)
    client.get("/v1/models", headers={"Authorization": f"Bearer {WRONG}"})
    log = guarded.whole_log(everything)
    assert everything["Authorization"].rpartition("_")[2] not in log
    assert WRONG.rpartition("_")[2] not in log


@contextmanager
def only(worker: int, workers: set[int]) -> Iterator[None]:
    """The others of the workers stand still, so that this one answers."""
    others = workers - {worker}
    for other in others:
        os.kill(other, signal.SIGSTOP)
    try:
        yield
    finally:
        for other in others:
            os.kill(other, signal.SIGCONT)


def statuses(server: LiveServer, header: dict[str, str], count: int) -> list[int]:
    return [httpx.get(f"{server.url}/v1/models", headers=header, timeout=PATIENCE).status_code for _ in range(count)]


@pytest.mark.slow
def test_workers_count_the_requests_of_a_key_together(tmp_path: Path):
    file = tmp_path / "keys.toml"
    hasty, other = add_key(file, "hasty", rate=Rate(1, 5)), add_key(file, "other", rate=Rate(1, 1))
    with live_server(keys_file=str(file), workers="2") as server:
        one, two = workers_of(server)
        with only(one, {one, two}):
            assert statuses(server, hasty, 3) == [200] * 3
        with only(two, {one, two}):
            assert statuses(server, hasty, 4) == [200, 200, 429, 429]
            assert statuses(server, other, 1) == [200]
            full = httpx.post(f"{server.url}{PATH}", json={"instance": PERSON}, headers=hasty, timeout=PATIENCE)
        assert refused(full, 429) == {}
        assert 0 < int(full.headers["retry-after"]) <= 60


@pytest.mark.slow
def test_keys_come_and_go_in_every_worker(tmp_path: Path):
    file = tmp_path / "keys.toml"
    first = add_key(file, "first")
    with live_server(keys_file=str(file), workers="2") as server:
        workers = workers_of(server)

        def wait_for(header: dict[str, str], status: int) -> None:
            for worker in workers:
                with only(worker, workers):
                    eventually(lambda: statuses(server, header, 1) == [status])

        wait_for(first, 200)
        second = add_key(file, "second")
        wait_for(second, 200)
        with editing(file) as keys:
            del keys["first"]
        wait_for(first, 401)
        # In one step: an empty file holds no keys, and is not broken.
        (tmp_path / "broken").write_text("[keys")
        (tmp_path / "broken").replace(file)
        refusal = r"1 keys stay as they were: .*keys\.toml: is not valid TOML"

        def is_told_by_all() -> bool:
            assert statuses(server, second, 4) == [200] * 4
            return len(re.findall(refusal, server.log.read_text())) == len(workers)

        eventually(is_told_by_all)


@pytest.mark.slow
def test_a_server_with_keys_can_be_reached_by_others(tmp_path: Path):
    file = tmp_path / "keys.toml"
    header = add_key(file, "a")
    with live_server(keys_file=str(file), host="0.0.0.0") as server:  # noqa: S104  # what is tested
        assert statuses(server, header, 1) == [200]
        assert statuses(server, {}, 1) == [401]


@pytest.mark.slow
def test_a_server_may_be_open_to_all_if_that_is_said():
    with live_server(allow_anonymous="true", host="0.0.0.0") as server:  # noqa: S104  # what is tested
        assert statuses(server, {}, 1) == [200]


@pytest.mark.slow
def test_an_expired_key_is_refused_as_such_and_an_old_secret_for_as_long_as_it_may_be_used(tmp_path: Path):
    """Only whoever holds the secret is told that it was right once."""
    file = tmp_path / "keys.toml"
    headers = {name: add_key(file, name) for name in ("over", "rotated", "late")}
    long_ago, far_off = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
    with editing(file) as keys:
        keys["over"] = replace(keys["over"], expires=long_ago)
        keys["rotated"], new = rotated(keys["rotated"], far_off)
        keys["late"], _ = rotated(keys["late"], long_ago)
    with live_server(keys_file=str(file)) as server, server.client() as client:
        for accepted in (headers["rotated"], {"Authorization": f"Bearer {new}"}):
            assert client.get("/v1/models", headers=accepted).status_code == 200
        for expired in (headers["over"], headers["late"]):
            refusal = client.get("/v1/models", headers=expired)
            assert (refusal.status_code, refusal.json()["type"]) == (401, "urn:flipset:problem:key-expired")
            assert refusal.json()["detail"].startswith("This key has expired or was replaced")
            assert 'error="invalid_token"' in refusal.headers["www-authenticate"]
        wrong = client.get("/v1/models", headers={"Authorization": f"Bearer flipset_over_{'0' * 64}"})
        assert wrong.json()["type"] == "urn:flipset:problem:key-needed"
        assert server.logs('"key_id":"over"')
