"""By how much the server's memory grows: at its peak, over what it holds after a first small request."""

import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from lab.benchmarks.figures import Figure, agreed
from lab.benchmarks.models import names
from lab.benchmarks.requests.asking import EVERYTHING, PLENTY_OF_TIME, request
from lab.benchmarks.requests.request_rates import COUNTERFACTUALS, PERSON
from lab.benchmarks.workshop import Workshop
from lab.paper.questions.row_judge import RowJudge
from tests.support.live_server import PATIENCE, LiveServer, live_server

# The slow reader rests so often while it reads.
RESTS = 100


def figures(workshop: Workshop) -> Iterator[Figure]:
    sizes = workshop.sizes
    zeros = dict.fromkeys(names(sizes.wide), 0)
    slow = request(zeros, limits={**EVERYTHING, "max_counterfactuals": sizes.slow_answers})
    for _ in workshop.track(range(1), "memory: a slow reader"):
        growth, summary = _grown(workshop, f"five-of-{sizes.wide}", slow, sizes.slow_answers)
    agreed(summary["count"] == sizes.slow_answers, "memory: the slow reader gets every answer")
    title = f"memory, {sizes.slow_answers:,} counterfactuals to a slow reader: growth"
    yield Figure("memory.slow_reader", title, "at most", 60, growth, "MB", _details(summary))

    # Hardly an answer is found, and so hardly a subset of up to so many changes is spared.
    model = f"network-{sizes.wide}"
    target = {"threshold": _hard_to_reach(workshop.judge(model), sizes.wide, sizes.most_changes)}
    many = request(zeros, target=target, constraints={"max_changes": sizes.most_changes}, limits=EVERYTHING)
    for _ in workshop.track(range(1), "memory: many subsets"):
        growth, summary = _grown(workshop, model, many, None)
    agreed(summary["complete"] and summary["count"] > 0, "memory: the search ends by itself, with an answer")
    title = f"memory, {sizes.wide} movable, up to {sizes.most_changes} changes: growth"
    yield Figure("memory.many_subsets", title, "at most", 200, growth, "MB", _details(summary))


def _hard_to_reach(judge: RowJudge, width: int, changes: int) -> float:
    """The score after so many changes, each the best next one: few others come as high, but one does."""
    row = np.zeros(width, dtype=np.float32)
    for _ in range(changes):
        rows = np.maximum(row, np.eye(width, dtype=np.float32))
        row = rows[np.argmax(judge.scores(rows)[:, 1])]
    return float(str(judge.scores(row[np.newaxis])[0, 1]))


def _details(summary: dict[str, Any]) -> dict[str, Any]:
    return {key: summary[key] for key in ("count", "model_rows", "elapsed_ms")}


def _grown(workshop: Workshop, model: str, body: bytes, slow_answers: int | None) -> tuple[float, dict[str, Any]]:
    """The growth in megabytes, and the summary of the answer; a fresh server for each."""
    with live_server(workshop.models, workshop.ranges, **PLENTY_OF_TIME) as server:
        headers = {"Content-Type": "application/json"}
        with server.client() as client:
            client.post(COUNTERFACTUALS, content=PERSON.read_bytes(), headers=headers).raise_for_status()
        _forget_peak(server)
        before = _peak(server)
        rest = workshop.sizes.slow_seconds / RESTS if slow_answers else 0.0
        summary = _read(server, model, body, rest_after=(slow_answers or RESTS) // RESTS, rest=rest)
        return _peak(server) - before, summary


def _read(server: LiveServer, model: str, body: bytes, *, rest_after: int, rest: float) -> dict[str, Any]:
    """Read line by line to the end, with a rest now and then. What is not read stays with the server."""
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(server.url).port, timeout=PATIENCE)
    headers = {"Content-Type": "application/json", "Accept": "application/x-ndjson"}
    connection.request("POST", f"/v1/models/{model}/counterfactuals", body, headers)
    last = b""
    for number, line in enumerate(connection.getresponse()):
        last = line
        if number % rest_after == 0:
            time.sleep(rest)
    connection.close()
    summary: dict[str, Any] = json.loads(last)
    agreed(summary["type"] == "summary", "memory: the answer is read to its end")
    return summary


def _forget_peak(server: LiveServer) -> None:
    """Have the kernel count the peak from now on: what loading took is not what answering takes."""
    (Path("/proc") / str(server.workers()[-1]) / "clear_refs").write_text("5")


def _peak(server: LiveServer) -> float:
    """The most that the process has held in memory, in megabytes."""
    status = (Path("/proc") / str(server.workers()[-1]) / "status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024
