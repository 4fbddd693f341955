"""One client has no more than its share under way, or in the threads; bodies that have not arrived count."""

import asyncio
import json
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.types import ASGIApp

from app.adapters.graphs.scorer import ModelScorer
from app.adapters.keys.key import new_key
from app.adapters.keys.key_file import editing
from app.answering.service import Service
from app.answering.shares import Shares
from app.answering.under_way import Admitted
from app.api import responding
from app.api.addresses import client_of
from app.api.bodies import in_a_thread
from app.asking.refusals import TooManyAtOnce
from app.core.turns import Done
from app.main import create_app
from app.settings import Settings
from tests.support.live_server import ROOT
from tests.support.waiting import PATIENCE

BODY = json.dumps({"instance": {"A": -0.8, "B": -0.3, "C": -1.1, "D": 0.2}}).encode()
FOLDERS = {"models_dir": ROOT / "models", "normal_ranges_dir": ROOT / "normal_ranges"}


def test_a_client_has_no_more_than_its_share_until_one_ends():
    shares = Shares(2)
    with ExitStack() as both:
        for _ in range(2):
            both.enter_context(shares.one_more("one"))
        with pytest.raises(TooManyAtOnce), shares.one_more("one"):
            pass
        with shares.one_more("other"):
            pass
    with shares.one_more("one"), shares.one_more("one"):
        pass


@pytest.mark.parametrize("own", [1, 3])
def test_a_number_of_its_own_takes_the_place_of_everybodys(own: int):
    shares = Shares(2)
    with ExitStack() as all_of_them:
        for _ in range(own):
            all_of_them.enter_context(shares.one_more("one", own))
        with pytest.raises(TooManyAtOnce, match=f"in progress: {own}"), shares.one_more("one", own):
            pass


@pytest.mark.parametrize(
    ("one", "other", "are_one"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        # As a server that listens on :: sees those of IPv4.
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        # As a proxy may forward it.
        ("no:address", "neither:is this", False),
    ],
)
def test_a_client_without_a_key_is_an_address_or_its_network(one: str, other: str, are_one: bool):
    clients = {client_of({"type": "http", "client": (address, 1)}) for address in (one, other)}
    assert len(clients) == (1 if are_one else 2)


def test_a_client_with_a_key_is_its_key():
    assert client_of({"type": "http", "client": ("192.0.2.1", 1), "state": {"key_id": "ward"}}) == "ward"


@pytest.mark.parametrize(("most", "share"), [(100, 50), (3, 1), (1, 1)])
def test_half_of_all_is_one_clients_share_if_nothing_is_said(most: int, share: int):
    app = create_app(Settings(max_searches=most, **FOLDERS))
    with ExitStack() as stack:
        for _ in range(share):
            stack.enter_context(app.state.service.shares.one_more("one"))
        with pytest.raises(TooManyAtOnce), app.state.service.shares.one_more("one"):
            pass


class Sender:
    """A client that sends half of its body, and the rest when it is told to; or leaves."""

    def __init__(self, app: ASGIApp, address: str = "192.0.2.1", key: str = "") -> None:
        self._app = app
        self._scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/models/synthetic/counterfactuals",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json"), (b"authorization", f"Bearer {key}".encode())],
            "client": (address, 1),
        }
        self._messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._asked_for_more = asyncio.Event()
        self.sent: list[dict[str, Any]] = []
        self._messages.put_nowait({"type": "http.request", "body": BODY[:20], "more_body": True})

    async def begin(self) -> asyncio.Task[None]:
        """Send the first half; the service waits for the rest, or has refused already."""
        answering = asyncio.create_task(self._app(self._scope, self._receive, self._send))
        more = asyncio.create_task(self._asked_for_more.wait())
        await asyncio.wait([answering, more], return_when=asyncio.FIRST_COMPLETED)
        more.cancel()
        return answering

    async def ask(self) -> int:
        """Send all of it, and read the answer."""
        answering = await self.begin()
        self._messages.put_nowait({"type": "http.request", "body": BODY[20:]})
        await answering
        return int(self.sent[0]["status"])

    def leave(self) -> None:
        self._messages.put_nowait({"type": "http.disconnect"})

    async def _receive(self) -> dict[str, Any]:
        if self._messages.empty():
            self._asked_for_more.set()
        return await self._messages.get()

    async def _send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)


def test_a_body_that_has_not_arrived_counts_until_its_client_leaves():
    async def run() -> None:
        app = create_app(Settings(max_searches_per_client=2, **FOLDERS))
        slow = [Sender(app), Sender(app)]
        waiting = [await sender.begin() for sender in slow]
        refused = Sender(app)
        assert await refused.ask() == 429
        start, body = refused.sent[0], json.loads(refused.sent[1]["body"])
        assert (b"retry-after", b"5") in start["headers"]
        assert body["type"] == "urn:flipset:problem:too-many-at-once"
        assert "Requests that you are still sending count" in body["detail"]
        assert await Sender(app, "192.0.2.2").ask() == 200
        slow[0].leave()
        await waiting[0]
        assert await Sender(app).ask() == 200
        slow[1].leave()
        await waiting[1]

    asyncio.run(run())


def test_a_key_may_have_a_share_of_its_own(tmp_path: Path):
    file = tmp_path / "keys.toml"
    with editing(file) as keys:
        texts = {}
        for name, searches in (("usual", None), ("more", 2)):
            key, texts[name] = new_key(name, None, None, "")
            keys[name] = replace(key, searches=searches)

    async def run() -> None:
        app = create_app(Settings(keys_file=file, max_searches_per_client=1, **FOLDERS))
        waiting: list[asyncio.Task[None]] = []
        for name, share in (("usual", 1), ("more", 2)):
            # All from one address: where there are keys, it does not matter.
            slow = [Sender(app, key=texts[name]) for _ in range(share)]
            waiting += [await sender.begin() for sender in slow]
            assert await Sender(app, "192.0.2.2", texts[name]).ask() == 429
        assert not any(task.done() for task in waiting)

    asyncio.run(run())


def test_a_search_holds_memory_for_its_client(monkeypatch: pytest.MonkeyPatch):
    admitted = []
    admit = Service.admit

    def noted(self: Service, request: Admitted) -> Any:
        admitted.append(request.client)
        return admit(self, request)

    monkeypatch.setattr(Service, "admit", noted)

    async def run() -> None:
        app = create_app(Settings(**FOLDERS))
        for address in ("192.0.2.1", "192.0.2.2"):
            assert await Sender(app, address).ask() == 200

    asyncio.run(run())
    assert admitted == ["192.0.2.1", "192.0.2.2"]


# Each of several batches, of whatever door.
PERSON = json.loads(BODY)["instance"]
PREDICTIONS, SEVERAL = "/v1/models/synthetic/predictions", {"instances": [PERSON] * 5}
TENSOR = {"name": "all", "shape": [5, 4], "datatype": "FP64", "data": list(PERSON.values()) * 5}


def one_step(steps: Generator[Any, None, Any], *_: Any) -> Done[Any] | None:
    """The shortest turn there is."""
    try:
        next(steps)
    except StopIteration as done:
        return Done(done.value)
    return None


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (PREDICTIONS, SEVERAL),
        ("/v1/models/synthetic:predict", SEVERAL),
        ("/v2/models/synthetic/infer", {"inputs": [TENSOR]}),
        ("/v1/models/synthetic/subsets", {"instance": PERSON}),
    ],
)
def test_who_asks_for_much_in_one_piece_keeps_nobody_else_waiting(
    monkeypatch: pytest.MonkeyPatch, path: str, body: dict[str, Any]
):
    """In the only thread there is, another client's prediction comes before the first of four long ones has ended."""
    app = create_app(Settings(search_threads=1, **FOLDERS))
    service: Service = app.state.service
    score, admit, is_there, has_begun = ModelScorer.__call__, Service.admit, Event(), Event()

    def wait_for_the_other(self: ModelScorer, rows: Any) -> Any:
        has_begun.set()
        assert is_there.wait(PATIENCE)
        return score(self, rows)

    def noted(self: Service, request: Admitted) -> Any:
        if request.client == "192.0.2.2":
            is_there.set()
        else:
            under_way.append(request)
        return admit(self, request)

    under_way: list[Admitted] = []
    ended: list[str] = []
    service.model("synthetic").model.scorer.batch_rows = 1
    monkeypatch.setattr(ModelScorer, "__call__", wait_for_the_other)
    monkeypatch.setattr(Service, "admit", noted)
    monkeypatch.setattr(responding, "take_turn", one_step)

    async def ask(address: str, path: str, body: dict[str, Any]) -> None:
        transport = httpx.ASGITransport(app, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://here", timeout=PATIENCE) as client:
            assert (await client.post(path, json=body)).status_code == 200
        ended.append(address)

    async def run() -> None:
        greedy = [asyncio.create_task(ask("192.0.2.1", path, body)) for _ in range(4)]
        while len(under_way) < 4 or not has_begun.is_set():
            await asyncio.sleep(0)
        await asyncio.gather(ask("192.0.2.2", PREDICTIONS, {"instance": PERSON}), *greedy)

    asyncio.run(run())
    assert ended == ["192.0.2.2"] + ["192.0.2.1"] * 4


def test_what_takes_no_turns_waits_for_the_clients_own():
    """Long Bundles are read in a piece: the other's comes after the one that is being read."""
    app = create_app(Settings(search_threads=1, **FOLDERS))
    is_there, done = Event(), []

    def work(client: str) -> None:
        assert is_there.wait(PATIENCE)
        done.append(client)

    async def read(client: str) -> None:
        request = Request({"type": "http", "client": (client, 1)})
        await in_a_thread(request, app.state.service, partial(work, client))

    async def run() -> None:
        tasks = [asyncio.create_task(read(client)) for client in ("192.0.2.1",) * 3 + ("192.0.2.2",)]
        # All of them have begun, and are in their lanes.
        await asyncio.sleep(0)
        is_there.set()
        await asyncio.gather(*tasks)

    asyncio.run(run())
    assert done == ["192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.1"]
