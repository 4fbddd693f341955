"""The stock app in a process of its own, run by the same uvicorn as Flipset."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.live_server import ROOT, reserved_port
from tests.support.waiting import PATIENCE, eventually


@contextmanager
def stock_server(model: Path) -> Iterator[str]:
    """Its address. It writes a line for each request, as Flipset does."""
    with reserved_port() as port:
        app = ["lab.benchmarks.requests.stock_app:create_app", "--factory", "--port", str(port), "--no-server-header"]
        process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", *app, "--access-log"],
            cwd=ROOT,
            env={**os.environ, "BENCH_MODEL": str(model)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            eventually(lambda: _is_ready(process, url))
            yield url
        finally:
            process.kill()
            process.wait()


def _is_ready(process: subprocess.Popen[bytes], url: str) -> bool:
    if process.poll() is not None:
        raise RuntimeError("the stock app did not start")
    try:
        return httpx.get(f"{url}/readyz", timeout=PATIENCE).status_code == 200
    except httpx.TransportError:
        return False
