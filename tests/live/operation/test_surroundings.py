"""A real server in its surroundings: browsers, proxies, and what its answers say of themselves."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.settings import Settings
from tests.live.asking import PATH, PERSON, lines_of
from tests.live.clients.within import config_without_logs
from tests.support.live_server import LiveServer, live_server

ORIGIN = "https://clinic.example"


@pytest.fixture(scope="module")
def browsed() -> Iterator[LiveServer]:
    with live_server(cors_origins=f"{ORIGIN}, http://localhost:3000", root_path="/care/flipset") as running:
        yield running


@pytest.fixture(scope="module")
def client(browsed: LiveServer) -> Iterator[httpx.Client]:
    with browsed.client() as connected:
        yield connected


def test_a_browser_may_ask_from_the_origins_that_are_named(client: httpx.Client):
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    may = client.options(PATH, headers={"Origin": ORIGIN, **asked})
    assert may.status_code == 200
    assert may.headers["access-control-allow-origin"] == ORIGIN
    answer = client.post(PATH, json={"instance": PERSON}, headers={"Origin": ORIGIN})
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert answer.headers["access-control-expose-headers"] == "Flipset-Record, Retry-After, X-Request-ID"
    for origin in ("https://other.example", f"{ORIGIN}.other.example", "null"):
        assert client.options(PATH, headers={"Origin": origin, **asked}).status_code == 400
        answer = client.post(PATH, json={"instance": PERSON}, headers={"Origin": origin})
        assert "access-control-allow-origin" not in answer.headers


def test_no_origin_is_allowed_by_default(server: LiveServer):
    with server.client() as client:
        answer = client.get("/v1/models", headers={"Origin": ORIGIN})
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("prefix", ["/care/flipset", ""])
def test_paths_work_whether_or_not_the_proxy_takes_the_prefix_off(client: httpx.Client, prefix: str):
    assert lines_of(client.post(f"{prefix}{PATH}", json={"instance": PERSON}))[-1]["outcome"] == "found"
    page = client.get(f"{prefix}/docs").text
    for file in ("swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png"):
        assert f'"/care/flipset/docs/files/{file}"' in page
        assert client.get(f"{prefix}/docs/files/{file}").status_code == 200
    assert "/care/flipset/openapi.json" in page
    assert client.get(f"{prefix}/openapi.json").json()["servers"] == [{"url": "/care/flipset"}]


@pytest.mark.parametrize("prefix", ["/care/flipset", ""])
def test_the_page_names_its_files_from_where_it_is(client: httpx.Client, prefix: str):
    page = client.get(f"{prefix}/").text
    named = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert len(named) > 5
    assert [name for name in named if client.get(f"{prefix}/{name}").status_code != 200] == []


def test_the_prefix_alone_leads_to_the_page(client: httpx.Client):
    # From there, what the page names would be looked for one level too high.
    assert client.get("/care/flipset").headers["location"] == "/care/flipset/"
    assert client.get("/care/flipsets").status_code == 404


def test_no_answer_is_kept_held_back_or_taken_for_something_else(client: httpx.Client):
    answers = [
        client.post(PATH, json={"instance": PERSON}),
        client.post(
            PATH, json={"instance": PERSON, "limits": {"engine": "cemsp"}}, headers={"accept": "text/event-stream"}
        ),
        client.post(PATH, json={"instance": {}}),
        client.post(PATH, content=b"{", headers={"content-type": "application/json"}),
        client.post("/v1/models/synthetic/predictions", json={"instance": PERSON}),
        client.post("/v1/models/synthetic/subsets", json={"instance": PERSON}),
        client.get("/v1/models/nope"),
        client.get("/nope"),
        client.get("/readyz"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 422, 400, 200, 200, 404, 404, 200]
    for answer in answers:
        assert answer.headers.get_list("cache-control") == ["no-store"]
        assert answer.headers.get_list("x-accel-buffering") == ["no"]
        assert answer.headers.get_list("x-content-type-options") == ["nosniff"]


def test_files_that_are_the_same_for_everyone_may_be_kept(client: httpx.Client):
    answer = client.get("/docs/files/swagger-ui.css")
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["x-content-type-options"] == "nosniff"
    again = client.get("/docs/files/swagger-ui.css", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_page_may_load_nothing_but_its_own_files(client: httpx.Client):
    policy = client.get("/").headers["content-security-policy"]
    for part in (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
    ):
        assert part in policy.split("; ")
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("trusted", "seen"), [("", "10.1.2.3"), ("10.0.0.0/8", "203.0.113.7"), ("192.168.0.1", "10.1.2.3")]
)
def test_only_trusted_proxies_are_believed(monkeypatch: pytest.MonkeyPatch, trusted: str, seen: str):
    """What the app sees as the client's address, of a request that comes from 10.1.2.3."""
    monkeypatch.setenv("FLIPSET_TRUSTED_PROXIES", trusted)
    # uvicorn's own variable does not count.
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    scopes: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)

    config = config_without_logs(Settings(), lambda: app)
    config.load()
    scope = {
        "type": "http",
        "client": ("10.1.2.3", 1),
        "headers": [(b"x-forwarded-for", b"203.0.113.7"), (b"x-forwarded-proto", b"https")],
        "scheme": "http",
    }
    asyncio.run(config.loaded_app(scope, None, None))
    assert scopes[0]["client"][0] == seen
