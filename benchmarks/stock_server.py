"""The stock app in a process of its own, run by the same uvicorn as Flipset."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.live_server import PATIENCE, ROOT, free_port


@contextmanager
def stock_server(model: Path, *, logs_requests: bool) -> Iterator[str]:
    """Its address. It writes a line for each request if Flipset does."""
    port = free_port()
    log = "--access-log" if logs_requests else "--no-access-log"
    app = ["benchmarks.stock_app:create_app", "--factory", "--port", str(port), "--no-server-header", log]
    process = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", *app],
        cwd=ROOT,
        env={**os.environ, "BENCH_MODEL": str(model)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_ready(process, url)
        yield url
    finally:
        process.kill()
        process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise RuntimeError("the stock app did not start")
