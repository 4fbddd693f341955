"""A worker follows its parent's orders, or makes room for another."""

import signal
import threading
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing import Pipe
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from app.adapters.catalog import catalog_of
from app.adapters.files.snapshots import take_snapshot
from app.adapters.reloads import Attempt, Reloads, Served
from app.answering.service import Service
from app.processes.worker import _follow
from app.settings import Settings
from tests.support import graphs
from tests.support.live_server import PATIENCE
from tests.support.networks import Network
from tests.support.waiting import eventually


@pytest.fixture
def served(tmp_path: Path) -> Served:
    for name in ("m", "n"):
        network = Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5)
        graphs.write_network(tmp_path / f"models/{name}/model.onnx", network)
        graphs.write_model_toml(tmp_path / f"models/{name}", ["a", "b"])
    (tmp_path / "ranges").mkdir()
    return Served(take_snapshot(tmp_path / "models", tmp_path / "ranges"), datetime.now(UTC))


def follow(service: Service, *orders: Served) -> None:
    """Have the orders followed, until there are no more."""
    theirs, ours = Pipe(duplex=False)
    thread = threading.Thread(target=_follow, args=(theirs, service))
    thread.start()
    for order in orders:
        ours.send(order)
    ours.close()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_what_has_not_changed_is_not_loaded_again(served: Served, tmp_path: Path):
    service = Service(Settings(), catalog_of(served.snapshot), served.since)
    before = dict(service.catalog.models)
    graphs.write_model_toml(tmp_path / "models/n", ["a", "b"], version='"2"')
    later = Served(take_snapshot(tmp_path / "models", tmp_path / "ranges"), datetime.now(UTC))
    follow(service, later)
    assert service.catalog.models["m"] is before["m"]
    assert (service.catalog.models["n"].version, before["n"].version) == ("2", "1")
    assert service.in_use.since == later.since


def test_an_attempt_that_was_refused_changes_nothing_else(served: Served):
    service = Service(Settings(), catalog_of(served.snapshot), served.since)
    loaded = service.in_use
    reloads = Reloads().then(Attempt(datetime.now(UTC), ()))
    follow(service, replace(served, reloads=reloads))
    assert service.in_use is loaded
    assert service.reloads == reloads


def test_a_worker_that_cannot_follow_asks_itself_to_stop(served: Served, tmp_path: Path):
    """As a stop from outside would: its answers end with their last lines, and the parent starts another."""
    service = Service(Settings(), catalog_of(served.snapshot), served.since)
    loaded = service.in_use
    (tmp_path / "models/n/model.onnx").write_bytes(b"not a graph")
    broken = Served(take_snapshot(tmp_path / "models", tmp_path / "ranges"), datetime.now(UTC))
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    usual = signal.signal(signal.SIGTERM, note)
    try:
        follow(service, broken)
        eventually(lambda: asked)
    finally:
        signal.signal(signal.SIGTERM, usual)
    assert asked == [signal.SIGTERM]
    assert service.in_use is loaded
