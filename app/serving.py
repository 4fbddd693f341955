"""Serving the app on its port: in workers that this process looks after, and hands the files that they serve.

This process loads no model itself, and imports nothing that could: it must not fall with them.
"""

import socket
import sys
from contextlib import nullcontext
from functools import partial
from ipaddress import ip_address
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import uvicorn

from app.adapters.flaws import BrokenFiles, Flaw
from app.adapters.key_file import read_keys
from app.api.logs import log_config
from app.api.shared import Shared
from app.api.slots import shared_folder
from app.heap import keep_few_arenas
from app.protocol import BoundedProtocol
from app.settings import Settings
from app.supervising import Supervisor

if TYPE_CHECKING:
    from fastapi import FastAPI

# A worker that gives no sign of life for so long is replaced; one that loads large models is still alive.
HEALTHCHECK_SECONDS = 60


class OpenToAll(Exception):
    """Others could reach the service, and nobody has said who may ask, or that everyone may."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"Others can reach {host or 'all addresses'}, and there are no keys. Either make one, "
            "`flipset keys add --file keys.toml`, and set FLIPSET_KEYS_FILE=keys.toml; "
            "or let everyone ask, with FLIPSET_ALLOW_ANONYMOUS=true."
        )


def serve(settings: Settings) -> None:
    """Serve until a signal comes; `BrokenFiles` if something cannot be served, `OpenToAll` if nobody guards it."""
    _check_access(settings)
    keep_few_arenas()
    # One worker alone counts in its own memory.
    with shared_folder() if settings.workers > 1 else nullcontext() as folder:
        Supervisor(settings, uvicorn_config(settings), partial(worker_app, Shared(folder=folder))).run()


def uvicorn_config(settings: Settings, app: Any = "app.worker:make_app") -> uvicorn.Config:
    """How uvicorn serves; each worker gets its own app, made in the process that serves it."""
    return uvicorn.Config(
        app,
        factory=True,
        http=BoundedProtocol,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        timeout_graceful_shutdown=settings.grace_seconds,
        timeout_worker_healthcheck=HEALTHCHECK_SECONDS,
        server_header=False,
        # Anyone could write such a header; without this uvicorn would believe those of its own machine.
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        log_config=log_config(settings),
        # Ours instead: uvicorn's holds paths and query strings as they were sent, and the addresses of the clients.
        access_log=False,
        # There is nothing to upgrade to, and so nothing that the keys do not guard.
        ws="none",
    )


def worker_app(shared: Shared, settings: Settings, orders: Connection) -> "FastAPI":
    """In a worker: the app, once there is something to serve."""
    keep_few_arenas()
    # Imported here: only a worker needs it.
    from app.worker import make_app  # noqa: PLC0415

    try:
        return make_app(settings, orders, shared)
    except EOFError:
        # The parent is gone, or has found nothing that it could have served.
        sys.exit(0)


def _check_access(settings: Settings) -> None:
    if settings.keys_file is not None:
        if not read_keys(settings.keys_file):
            raise BrokenFiles([Flaw(settings.keys_file, "", "holds no key; make one with: flipset keys add")])
    elif not settings.allow_anonymous and not _is_loopback(settings.host):
        raise OpenToAll(settings.host)


def _is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there; a name must mean nothing else."""
    try:
        found = socket.getaddrinfo(host or None, None, flags=socket.AI_PASSIVE)
    except OSError:
        # uvicorn will say that there is no such address.
        return False
    return all(ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in found)
