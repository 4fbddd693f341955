"""A real server on the loopback address, in a process of its own."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).parent.parent
FLIPSET = str(Path(sys.executable).with_name("flipset"))
PATIENCE = 60


@dataclass
class LiveServer:
    """Where it listens, the process behind it, and what it wrote."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def client(self, **options) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=PATIENCE, **options)

    def workers(self) -> list[int]:
        """The processes that have begun to serve so far, those that have ended included."""
        return [int(number) for number in re.findall(r"Started server process \[(\d+)\]", self.log.read_text())]

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)


@contextmanager
def live_server(
    models: Path = ROOT / "models",
    normal_ranges: Path = ROOT / "normal_ranges",
    *,
    environment: Mapping[str, str] | None = None,
    first: str = "",
    **settings: str,
) -> Iterator[LiveServer]:
    """Start `flipset serve`, wait until it is ready, and end it afterwards.

    `first` is Python code that each of its processes runs before anything else.
    """
    port = free_port()
    environment = {
        **os.environ,
        **(environment or {}),
        "FLIPSET_MODELS_DIR": str(models),
        "FLIPSET_NORMAL_RANGES_DIR": str(normal_ranges),
        "FLIPSET_PORT": str(port),
        **{f"FLIPSET_{name.upper()}": value for name, value in settings.items()},
    }
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        (Path(folder) / "sitecustomize.py").write_text(first, encoding="utf-8")
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (folder, environment.get("PYTHONPATH"))))
        with log.open("wb") as output:
            process = subprocess.Popen([FLIPSET, "serve"], cwd=ROOT, env=environment, stdout=output, stderr=output)
        try:
            server = LiveServer(f"http://127.0.0.1:{port}", process, log)
            _wait_until_ready(server)
            yield server
        finally:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(server: LiveServer) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if server.process.poll() is not None:
            raise AssertionError(f"the server did not start:\n{server.log.read_text()}")
        try:
            if httpx.get(f"{server.url}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the server did not become ready")
