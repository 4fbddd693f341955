"""Serving the app on its port: in this process, or in several that this one looks after."""

import gc
import os
import signal
import sys
from functools import partial
from multiprocessing import parent_process
from threading import Thread
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from app.adapters.catalog import load_catalog
from app.adapters.flaws import BrokenFiles
from app.api.service import Service
from app.main import create_app
from app.settings import Settings

# A worker that gives no sign of life for so long is replaced; one that loads large models is still alive.
HEALTHCHECK_SECONDS = 60


def serve(settings: Settings) -> None:
    """Serve until a signal comes; `BrokenFiles` if something cannot be served."""
    if settings.workers == 1:
        uvicorn.Server(_config(settings, partial(_made_ready, create_app(settings)))).run()
        return
    # Looked at once before any worker starts, so that what is wrong is told once.
    load_catalog(settings.models_dir, settings.normal_ranges_dir)
    config = _config(settings, partial(_worker_app, settings))
    Multiprocess(config, sockets=[config.bind_socket()]).run()


def _config(settings: Settings, make_app: "partial[FastAPI]") -> uvicorn.Config:
    return uvicorn.Config(
        make_app,
        # uvicorn then makes the app in the process that serves it, once it listens to signals.
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        timeout_graceful_shutdown=settings.grace_seconds,
        timeout_worker_healthcheck=HEALTHCHECK_SECONDS,
        server_header=False,
    )


def _worker_app(settings: Settings) -> FastAPI:
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        return _made_ready(create_app(settings))
    except BrokenFiles as error:
        # The files have changed since the parent looked; another try would not mend them.
        print(f"Flipset cannot start:\n{error}", file=sys.stderr)
        sys.exit(STARTUP_FAILURE)


def _end_with_parent() -> None:
    """A worker whose parent was killed would keep the port for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _made_ready(app: FastAPI) -> FastAPI:
    """Have the answers under way end as soon as a signal comes, each with its last line: uvicorn waits for them."""
    # What was made up to here stays for good: the collector need not look through it again while somebody waits.
    gc.collect()
    gc.freeze()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, partial(_stop_first, app.state.service, signal.getsignal(number)))
    return app


def _stop_first(service: Service, handle: Any, number: int, frame: FrameType | None) -> None:
    service.stop()
    # What uvicorn has set by the time that it makes the app.
    handle(number, frame)
