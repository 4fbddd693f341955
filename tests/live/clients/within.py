"""The service in a thread of this process: for tests that choose how it speaks HTTP."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from app.main import create_app
from app.processes import serving
from app.processes.wire.protocol import Door
from app.settings import Settings
from tests.support.live_server import PATIENCE, ROOT
from tests.support.waiting import eventually


@contextmanager
def listening(config: uvicorn.Config) -> Iterator[int]:
    """The port of a server that runs until the end of the block."""
    server, listener = uvicorn.Server(config), config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        eventually(lambda: server.started)
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listener.close()


def config_without_logs(settings: Settings, app: Any) -> uvicorn.Config:
    """How uvicorn serves, but for the log: it would be that of all tests in this process, and go past pytest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "log_config", lambda settings: None)
        return serving.uvicorn_config(settings, app)


@contextmanager
def served(door: Door, **settings: Any) -> Iterator[int]:
    """The whole service, with the shipped models, behind this door; its port."""
    chosen = Settings(models_dir=ROOT / "models", normal_ranges_dir=ROOT / "normal_ranges", log_level="error", port=0)
    chosen = chosen.model_copy(update=settings)
    app = create_app(chosen)
    config = config_without_logs(chosen, lambda: app)
    config.http = door
    with listening(config) as port:
        yield port
