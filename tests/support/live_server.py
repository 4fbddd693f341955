"""A real server on the loopback address, in a process of its own."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import httpx

from tests.support.waiting import PATIENCE, eventually

ROOT = Path(__file__).parents[2]
FLIPSET = str(Path(sys.executable).with_name("flipset"))


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

    def logs(self, text: str) -> bool:
        """Whether the log says so, sooner or later: a thread writes it."""
        return eventually(lambda: text in self.log.read_text(), self.log.read_text)

    def whole_log(self, headers: Mapping[str, str] | None = None) -> str:
        """What it wrote about all requests so far. For one worker: of several, only a stop writes down what all did.

        Each request has its line before it no longer counts as being in flight, and this one comes behind them all.
        """

        def was_idle() -> bool:
            """Whether a request found no other in flight; it is in the log itself by now, with all before it."""
            own = token_hex(16)
            page = client.get("/metrics", headers={**(headers or {}), "X-Request-ID": own})
            assert page.status_code == 200, page.text
            self.logs(f'"request_id":"{own}"')
            return "\nflipset_requests_in_flight 1.0\n" in page.text

        with self.client() as client:
            eventually(was_idle, self.log.read_text)
        return self.log.read_text()

    def lines(self) -> list[dict[str, Any]]:
        """The lines of its log that are written; the last one may be on its way."""
        return [json.loads(line) for line in self.log.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)


@contextmanager
def live_server(
    models: Path = ROOT / "models",
    normal_ranges: Path = ROOT / "normal_ranges",
    *,
    environment: Mapping[str, str] | None = None,
    first: str = "",
    command: Sequence[str] = (FLIPSET, "serve"),
    **settings: str,
) -> Iterator[LiveServer]:
    """Start `flipset serve`, wait until it is ready, and end it afterwards.

    `first` is Python code that each of its processes runs before anything else; `command` is what starts it.
    """
    environment = {
        **os.environ,
        **(environment or {}),
        "FLIPSET_MODELS_DIR": str(models),
        "FLIPSET_NORMAL_RANGES_DIR": str(normal_ranges),
        # However busy the machine is: a test that wants one of these to be over says so itself.
        **dict.fromkeys(("FLIPSET_MODEL_LOAD_SECONDS", "FLIPSET_WRITE_SECONDS"), str(PATIENCE)),
        "FLIPSET_GRACE_SECONDS": str(PATIENCE),
        **{f"FLIPSET_{name.upper()}": value for name, value in settings.items()},
    }
    with tempfile.TemporaryDirectory() as folder, reserved_port() as port:
        environment["FLIPSET_PORT"] = str(port)
        log = Path(folder) / "log"
        (Path(folder) / "sitecustomize.py").write_text(first, encoding="utf-8")
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (folder, environment.get("PYTHONPATH"))))
        with log.open("wb") as output:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
        try:
            server = LiveServer(f"http://127.0.0.1:{port}", process, log)
            _wait_until_ready(server)
            yield server
        finally:
            process.kill()
            process.wait()


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port that nobody else gets meanwhile. Who sets SO_REUSEADDR, as servers do, can bind it besides and listen."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        yield int(holder.getsockname()[1])


def _wait_until_ready(server: LiveServer) -> None:
    def is_ready() -> bool:
        assert server.process.poll() is None, f"the server did not start:\n{server.log.read_text()}"
        try:
            return httpx.get(f"{server.url}/readyz", timeout=PATIENCE).status_code == 200
        except httpx.TransportError:
            return False

    eventually(is_ready, server.log.read_text)
