"""Serving the app on its port, in workers that this process supervises and hands the files to serve.

This process loads no model and imports nothing that could, so that no model can crash it.
"""

import resource
import socket
import sys
from contextlib import ExitStack
from functools import partial
from ipaddress import ip_address
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import uvicorn

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.keys.key_file import read_keys
from app.adapters.keys.key_rates import counts_at
from app.adapters.machine.heap import keep_few_arenas
from app.adapters.machine.shared import Shared
from app.adapters.records.opening import ready_store
from app.observing.logs import log_config
from app.observing.slots import shared_folder
from app.processes.supervising import Supervisor
from app.processes.wire.connections import ConnectionLimits
from app.processes.wire.protocol import Door
from app.processes.wire.transport import Patience
from app.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

# A worker that does not respond for this long is replaced; a worker that loads large models still responds.
HEALTHCHECK_SECONDS = 60
# What the parent keeps open, by itself and for each worker; a worker needs no more before its first connection.
FEWEST_FILES = 48
FILES_A_WORKER = 8


class OpenToAll(Exception):
    """Others can reach the service, but neither keys nor FLIPSET_ALLOW_ANONYMOUS are set."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"Others can reach {host or 'all addresses'}, and there are no keys. Either make a key with "
            "`flipset keys add --file keys.toml` and set FLIPSET_KEYS_FILE=keys.toml, "
            "or allow everyone with FLIPSET_ALLOW_ANONYMOUS=true."
        )


class TooFewFiles(Exception):
    """The system allows this process too few open files to supervise its workers."""


def serve(settings: Settings) -> None:
    """Serve until a signal comes; `BrokenFiles` if something cannot be served, `OpenToAll` if no key protects it."""
    _check_access(settings)
    _check_files(settings.workers)
    _check_records(settings)
    keep_few_arenas()
    config = uvicorn_config(settings)
    with ExitStack() as life:
        # One worker alone counts in its own memory.
        folder = life.enter_context(shared_folder(settings.workers)) if settings.workers > 1 else None
        tokens = folder
        if folder is None and settings.cds_clients_file is not None:
            # Whoever takes its place must know which tokens were used.
            tokens = life.enter_context(shared_folder(0))
        Supervisor(settings, config, partial(worker_app, Shared(folder=folder, tokens=tokens))).run()


def uvicorn_config(settings: Settings, app: Any = "app.processes.worker:make_app") -> uvicorn.Config:
    """The configuration of uvicorn; each worker makes its own app."""
    return uvicorn.Config(
        app,
        factory=True,
        http=_door(settings),  # type: ignore[arg-type]  # it is called like a class
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        timeout_graceful_shutdown=settings.grace_seconds,
        timeout_worker_healthcheck=HEALTHCHECK_SECONDS,
        server_header=False,
        # Anyone could write such a header; without this, uvicorn would trust those from its own machine.
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        log_config=log_config(settings),
        # We write our own: uvicorn's has raw paths, query strings, and the addresses of clients.
        access_log=False,
        # There is nothing to upgrade to, so nothing that bypasses the keys.
        ws="none",
    )


def _door(settings: Settings) -> Door:
    return Door(
        Patience(write=settings.write_seconds),
        ConnectionLimits(settings.max_connections, settings.max_connections_per_address, settings.trusted_proxies),
    )


def worker_app(shared: Shared, settings: Settings, orders: Connection) -> "FastAPI":
    """In a worker: make the app, once the parent has sent something to serve."""
    keep_few_arenas()
    # Imported here: only a worker needs it.
    from app.processes.worker import make_app  # noqa: PLC0415

    try:
        return make_app(settings, orders, shared)
    except EOFError:
        # The parent is gone, or found nothing to serve.
        sys.exit(0)


def _check_access(settings: Settings) -> None:
    if settings.rates is not None:
        counts_at(settings.rates)
    if settings.keys_file is not None:
        if not read_keys(settings.keys_file):
            raise BrokenFiles([Flaw(settings.keys_file, "", "holds no keys; make one with: flipset keys add")])
    elif not settings.allow_anonymous and not _is_loopback(settings.host):
        raise OpenToAll(settings.host)


def _check_records(settings: Settings) -> None:
    """Make the tables, once for all workers; `NoStore` if records cannot be kept where they should be."""
    if settings.records is not None:
        ready_store(settings.records).close()


def _check_files(workers: int) -> None:
    """Check now: later, the only symptom would be workers that do not start."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FEWEST_FILES + FILES_A_WORKER * workers
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        raise TooFewFiles(f"it may open only {allowed} files (ulimit -n), and needs {needed} or more")


def _is_loopback(host: str) -> bool:
    """Whether only this machine can reach this address; a name must resolve to such addresses only."""
    try:
        found = socket.getaddrinfo(host or None, None, flags=socket.AI_PASSIVE)
    except OSError:
        # uvicorn will say that there is no such address.
        return False
    return all(ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in found)
