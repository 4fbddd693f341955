"""Serving the app on its port: in workers that this process looks after, and hands the files that they serve.

This process loads no model itself, and imports nothing that could: it must not fall with them.
"""

import sys
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import uvicorn

from app.settings import Settings
from app.supervising import Supervisor

if TYPE_CHECKING:
    from fastapi import FastAPI

# A worker that gives no sign of life for so long is replaced; one that loads large models is still alive.
HEALTHCHECK_SECONDS = 60


def serve(settings: Settings) -> None:
    """Serve until a signal comes; `BrokenFiles` if something cannot be served."""
    config = uvicorn.Config(
        # Each worker gets its own, made in the process that serves it.
        "app.worker:make_app",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        timeout_graceful_shutdown=settings.grace_seconds,
        timeout_worker_healthcheck=HEALTHCHECK_SECONDS,
        server_header=False,
    )
    Supervisor(settings, config, worker_app).run()


def worker_app(settings: Settings, orders: Connection) -> "FastAPI":
    """In a worker: the app, once there is something to serve."""
    # Imported here: only a worker needs it.
    from app.worker import make_app  # noqa: PLC0415

    try:
        return make_app(settings, orders)
    except EOFError:
        # The parent is gone, or has found nothing that it could have served.
        sys.exit(0)
