"""A worker: serves what its parent hands it, until a signal comes or the parent is gone."""

import gc
import logging
import os
import signal
import sys
from functools import partial
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from threading import Thread
from types import FrameType
from typing import Any

from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE

from app.adapters.catalog import catalog_of
from app.adapters.files.flaws import BrokenFiles
from app.adapters.machine.shared import Shared
from app.adapters.reloads import Served
from app.answering.service import Service
from app.main import create_app
from app.observing.slots import remove
from app.recording.archiving import archive
from app.settings import Settings

logger = logging.getLogger("uvicorn.error")


def make_app(settings: Settings, orders: Connection, shared: Shared) -> FastAPI:
    """Wait for what to serve, and make the app for it; `EOFError` if nothing comes."""
    # A closing terminal signals all processes; the parent decides what to do.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    Thread(target=_end_with_parent, args=(shared,), daemon=True).start()
    served: Served = orders.recv()
    try:
        app = create_app(settings, served, shared)
    except BrokenFiles as error:
        # The parent has tried the same files, so another start would not help.
        print(f"Flipset cannot start:\n{error}", file=sys.stderr)
        sys.exit(STARTUP_FAILURE)
    _stay()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, partial(_stop_first, app.state.service, signal.getsignal(number)))
    Thread(target=_follow, args=(orders, app.state.service), daemon=True).start()
    return app


def _follow(orders: Connection, service: Service) -> None:
    """In a thread: serve what comes later. A worker that cannot load it ends, and the parent starts a new one."""
    try:
        while True:
            _switch(orders.recv(), service)
    except EOFError:
        # The parent is gone, or wants this worker to end.
        return
    except Exception as error:  # noqa: BLE001  # whatever it is: two workers that serve different models must not be
        reason = str(error) if isinstance(error, BrokenFiles) else type(error).__name__
        logger.error("This worker cannot load what the others serve, and ends: %s", reason)  # noqa: TRY400  # no stack
        os.kill(os.getpid(), signal.SIGTERM)


def _switch(served: Served, service: Service) -> None:
    if served.since != service.in_use.since:
        archive(served.snapshot, service.settings)
        service.switch(catalog_of(served.snapshot, kept=service.catalog.models), served.since)
        _stay()
    service.reloads = served.reloads


def _stay() -> None:
    """Exclude all objects made so far from garbage collection, which would delay requests."""
    gc.collect()
    gc.freeze()


def _end_with_parent(shared: Shared) -> None:
    """End this worker if its parent is killed; otherwise it would keep the port for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        for folder in shared.folders:
            remove(folder)
        os.kill(os.getpid(), signal.SIGTERM)


def _stop_first(service: Service, handle: Any, number: int, frame: FrameType | None) -> None:
    """At a signal, end the answers in progress first, each with its last line: uvicorn waits for them."""
    service.stop()
    # The handlers that uvicorn set before it made the app.
    handle(number, frame)
