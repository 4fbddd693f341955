"""What the clients are tried against: a service that is made up, and the real one."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from flipset_client import Client

from app.adapters.records.receipts import new_key
from tests.clients.kinds import Awaiting, Local, Waiting
from tests.clients.made_up import MadeUpService, served_on_a_port
from tests.live import endless
from tests.support.live_server import ROOT, LiveServer, live_server, reserved_port

KINDS: dict[str, type[Waiting]] = {"sync": Waiting, "async": Awaiting, "local": Local}
Connect = Callable[..., Waiting]


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def made_up(kind: str) -> Iterator[Any]:
    """A made-up service for each kind: where it is, or itself."""
    app = MadeUpService()
    if kind == "local":
        yield app
    else:
        with served_on_a_port(app) as url:
            yield url


@pytest.fixture
def connect(kind: str, made_up: Any) -> Iterator[Connect]:
    """Connect a client of the kind to the made-up service."""
    with ExitStack() as open_ones:

        def connected(**options: Any) -> Waiting:
            client = KINDS[kind](made_up, **options)
            open_ones.callback(client.close)
            return client

        yield connected


@pytest.fixture
def lost(kind: str) -> Iterator[Waiting]:
    """A client of a service that is not there."""

    async def dying(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            raise ConnectionError
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()

    with reserved_port() as port:
        client = KINDS[kind](dying if kind == "local" else f"http://127.0.0.1:{port}", retries=0)
        yield client
        client.close()


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped models and ranges, and a search without end."""
    folder = endless.write_endless(tmp_path_factory.mktemp("served"))
    shutil.copytree(ROOT / "models", folder / "models", dirs_exist_ok=True)
    shutil.copytree(ROOT / "normal_ranges", folder / "ranges", dirs_exist_ok=True)
    new_key(folder / "keys")
    return folder


def settings_of(folder: Path, store: str) -> dict[str, str]:
    """A search may last, a record is kept before its answer is sent, and receipts are signed."""
    kept = {"records": f"sqlite:///{folder}/{store}.db", "records_required": "true"}
    return {**endless.SETTINGS, **kept, "receipt_keys": str(folder / "keys")}


@pytest.fixture(scope="package")
def real_server(folder: Path) -> Iterator[LiveServer]:
    with live_server(folder / "models", folder / "ranges", **settings_of(folder, "served")) as running:
        yield running


@pytest.fixture(scope="module")
def real(kind: str, folder: Path, real_server: LiveServer) -> Iterator[Waiting]:
    """A client of the kind, connected to the real service."""
    client = KINDS[kind](real_server.url) if kind != "local" else _local(folder)
    yield client
    client.close()


def _local(folder: Path) -> Waiting:
    """As users make it."""
    client = Local.__new__(Local)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings_of(folder, "local").items():
            patch.setenv(f"FLIPSET_{name.upper()}", value)
        client.client = Client.local(folder / "models", folder / "ranges")
    client.url, client.http = "http://local", client.client._http
    return client
