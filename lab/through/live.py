"""A real server while it searches through a network at 30 movable features: deadlines, `/livez`, and memory.

`python -m lab.through.live` asks for some refused people one after the other, with a deadline of ten seconds, and asks
for `/livez` fifty times a second meanwhile. It tells how late answers end, how long `/livez` took, and by how much the
memory of the server's processes grew.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from os import environ
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from lab.through.models import TRAINED, breast_cancer, write
from lab.through.people import people

DEADLINE_MS = 10_000
PAUSE = 0.02
PORT = 8765


@contextmanager
def server(models: Path) -> Iterator[tuple[httpx.Client, int]]:
    """A server with its settings as they come, and the number of its first process."""
    settings = {"MODELS_DIR": models, "NORMAL_RANGES_DIR": models, "PORT": PORT, "LOG_LEVEL": "warning"}
    environment = {**environ, **{f"FLIPSET_{name}": str(value) for name, value in settings.items()}}
    flipset = str(Path(sys.executable).with_name("flipset"))
    process = subprocess.Popen([flipset, "serve"], env=environment)  # noqa: S603  # a command of ours
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{PORT}", timeout=60) as client:
            while not _is_ready(client):
                time.sleep(0.1)
            yield client, process.pid
    finally:
        process.terminate()
        process.wait()


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def processes(first: int) -> list[int]:
    """A process and all that it has started."""
    found = [first]
    for each in found:
        children = Path(f"/proc/{each}/task/{each}/children").read_text().split()
        found += map(int, children)
    return found


def megabytes(first: int, what: str) -> float:
    lines = [line for each in processes(first) for line in Path(f"/proc/{each}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{what}:")) / 1024


class Livez:
    """Asks for `/livez` again and again, on a connection of its own."""

    def __init__(self) -> None:
        self.took: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> "Livez":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{PORT}", timeout=60) as client:
            while not self._over.wait(PAUSE):
                start = time.perf_counter()
                client.get("/livez")
                self.took.append(1000 * (time.perf_counter() - start))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.through.live")
    parser.add_argument("--people", type=int, default=5)
    parser.add_argument("--kind", default="network", choices=TRAINED)
    chosen = parser.parse_args()
    data = breast_cancer()
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / chosen.kind, data, TRAINED[chosen.kind](data))
        with server(Path(folder)) as (client, first):
            path = f"/v1/models/{chosen.kind}/counterfactuals"
            bodies = [body for _, body in islice(people(data), chosen.people)]
            client.post(path, json={**bodies[0], "limits": {"deadline_ms": 100}})
            before = megabytes(first, "VmRSS")
            with Livez() as idle:
                time.sleep(DEADLINE_MS / 1000)
            with Livez() as livez:
                told = [_asked(client, path, body) for body in bodies]
            grew = megabytes(first, "VmHWM") - before
    print(f"/livez while nothing is searched: {_in_words(idle.took)}; while searches run: {_in_words(livez.took)}")
    print(f"late by {max(late for _, late in told):.0f} ms at the most; memory grew by {grew:.0f} MB at the most")


def _in_words(took: list[float]) -> str:
    took = sorted(took)
    most = took[int(0.99 * len(took))]
    return f"{median(took):.1f} ms in the median, {most:.0f} for 99 %, {took[-1]:.0f} at the most"


def _asked(client: httpx.Client, path: str, body: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """The summary, and by how many milliseconds the answer's end came later than the deadline."""
    start = time.perf_counter()
    with client.stream("POST", path, json={**body, "limits": {"deadline_ms": DEADLINE_MS}}) as answer:
        for line in answer.iter_lines():
            last = line
    late = 1000 * (time.perf_counter() - start) - DEADLINE_MS
    summary = json.loads(last)
    told = {key: summary.get(key) for key in ("complete", "complete_up_to", "stopped_by", "guarantee", "count")}
    print(told, summary["elapsed_ms"], f"late {late:.0f} ms", flush=True)
    return summary, late


if __name__ == "__main__":
    main()
