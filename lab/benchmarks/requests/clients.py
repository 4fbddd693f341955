"""What a client costs: for each plan, over reading the bytes of the stream and doing nothing with them.

In processor time of the reader: on the clock, what it costs would hide behind the service that it waits for.
"""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import process_time

import httpx

from lab.benchmarks.figures import Figure, agreed, milliseconds
from lab.benchmarks.models import names
from lab.benchmarks.requests.asking import PLENTY_OF_TIME
from lab.benchmarks.workshop import Workshop
from tests.support.live_server import PATIENCE, live_server

ALLOWED_MICROSECONDS = 50
IN_NODE = Path(__file__).parents[3] / "clients" / "typescript" / "test" / "timed.js"


def figures(workshop: Workshop) -> Iterator[Figure]:
    width, rounds = workshop.sizes.many_answers, workshop.sizes.repeats
    model, instance = f"five-of-{width}", dict.fromkeys(names(width), 0)
    with live_server(workshop.models, workshop.ranges, **PLENTY_OF_TIME) as server:
        sides = _sides(server.url, model, instance)
        times: dict[str, list[float]] = {name: [] for name in sides}
        plans = sides["python"]()
        agreed(plans == sides["python_async"]() > 0, "clients: both get the same number of plans")
        for _ in workshop.track(range(rounds), "clients"):
            for name, read in sides.items():
                began = process_time()
                read()
                times[name].append(process_time() - began)
        for name in ("python", "python_async"):
            yield _figure(name, times["bytes"], times[name], plans)
        if node := shutil.which("node"):
            asked = [node, str(IN_NODE), server.url, model, json.dumps(instance), str(rounds)]
            told = json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)
            agreed(told["plans"] == plans, "clients: TypeScript gets the same number of plans")
            yield _figure("typescript", told["bytes"], told["client"], plans)


def _figure(name: str, reading: list[float], client: list[float], plans: int) -> Figure:
    cost = (median(client) - median(reading)) / plans * 1e6
    details = {"bytes_ms": milliseconds(reading), "client_ms": milliseconds(client), "plans": plans}
    title = f"a plan in the client {name.replace('_', ', ')}, over reading its bytes"
    return Figure(f"clients.{name}", title, "at most", ALLOWED_MICROSECONDS, cost, "microseconds", details)


def _sides(url: str, model: str, instance: dict[str, int]) -> dict[str, Callable[[], int]]:
    """What reads an answer to its end, and says how much came."""
    # Here, so that every other group can be measured where the client is not installed.
    from flipset_client import AsyncClient, Client  # noqa: PLC0415

    http, client = httpx.Client(base_url=url, timeout=PATIENCE), Client(url)

    def reading() -> int:
        with http.stream("POST", f"/v1/models/{model}/counterfactuals", json={"instance": instance}) as response:
            return sum(len(piece) for piece in response.iter_bytes())

    def waiting() -> int:
        return sum(1 for _ in client.counterfactuals(model, instance))

    async def awaited() -> int:
        async with AsyncClient(url) as flipset, flipset.counterfactuals(model, instance) as answer:
            return len([True async for _ in answer])

    return {"bytes": reading, "python": waiting, "python_async": lambda: asyncio.run(awaited())}
