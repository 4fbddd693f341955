"""One soak: a server, its load, what it held before and after, and the verdict."""

import asyncio
import os
import re
import signal
import statistics
import tempfile
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from lab.soak.clients import Ground, ask_on, expected_answers
from lab.soak.processes import Held, held_by, memory, share_worked, workers_of
from lab.soak.questions import Question, large_questions, small_questions, write_folders
from lab.soak.rude_clients import attack, leave_early, never_read, read_slowly, send_slowly
from lab.soak.tally import Tally
from lab.soak.verdict import leaks
from tests.support.live_server import PATIENCE, LiveServer, live_server

# Idle threads of the server's own pool are given up after this time, when the next one is asked for.
THREADS_REST = 11
SAMPLE_SECONDS = 2
# A busy machine takes a while to clear up after the last client; what was leaked stays.
CLEARING_SECONDS = 120
# So short that clients that never read are given up several times in a run.
WRITE_SECONDS = 5


@dataclass(frozen=True)
class Plan:
    """How long, by how many, and with what besides."""

    seconds: float
    workers: int
    kill: bool
    warm_up: float = 5.0
    quiet: float = THREADS_REST


@dataclass
class Result:
    """What was seen."""

    plan: Plan
    tally: Tally
    before: dict[int, Held] = field(default_factory=dict)
    after: dict[int, Held] = field(default_factory=dict)
    samples: list[tuple[float, float]] = field(default_factory=list)
    quiet_memory: list[float] = field(default_factory=list)
    idle_share: float = 0.0
    in_flight: float | None = None
    back_after: list[float] = field(default_factory=list)
    log_flaws: list[str] = field(default_factory=list)

    def memory_between(self, start: float, end: float) -> float:
        """Megabytes on average between two shares of the whole time."""
        seconds = self.plan.seconds
        within = [held for at, held in self.samples if start * seconds <= at <= end * seconds]
        return statistics.fmean(within) if within else float("nan")


def soak(plan: Plan) -> Result:
    result = Result(plan, Tally())
    with tempfile.TemporaryDirectory() as folder:
        models, ranges = write_folders(Path(folder))
        with live_server(models, ranges, workers=str(plan.workers), write_seconds=str(WRITE_SECONDS)) as server:
            _wait_for_workers(server, plan.workers)
            asyncio.run(_run(server, plan, result))
            _clear_up(server, plan, result)
            result.quiet_memory.append(memory(list(result.after)))
            # All is in the log once the server has ended.
            server.terminate()
            server.process.wait(PATIENCE)
            result.log_flaws = re.findall(r"Traceback.*|unexpected \w+", server.log.read_text())[:5]
    return result


async def _run(server: LiveServer, plan: Plan, result: Result) -> None:
    small, large = small_questions(), large_questions()
    port = int(server.url.rpartition(":")[2])
    expected = await expected_answers(port, [*small, *large])
    # Everything has been used once before it is counted: threads, caches, the model's memory.
    warm = Ground(port, time.monotonic() + plan.warm_up, Tally(), expected, may_be_cut=False)
    await asyncio.gather(*_clients(warm, small, large))
    result.before = await asyncio.to_thread(_quiet, server, plan)
    result.quiet_memory.append(memory(list(result.before)))
    began = time.monotonic()
    ground = Ground(port, began + plan.seconds, result.tally, expected, may_be_cut=plan.kill)
    others = [_sample(server, ground, began, result)] + ([_kill(server, ground, plan, result)] if plan.kill else [])
    await asyncio.gather(*_clients(ground, small, large), *others)


def _clients(ground: Ground, small: list[Question], large: list[Question]) -> list[Coroutine[None, None, None]]:
    """More than two processors can serve, of every kind."""
    return [
        *(ask_on(ground, small, seed) for seed in range(12)),
        *(ask_on(ground, large, 100 + seed, rest=0.2) for seed in range(3)),
        *(leave_early(ground, [*small, *large], 200 + seed) for seed in range(4)),
        *(read_slowly(ground, large, 300 + seed) for seed in range(4)),
        *(send_slowly(ground, small, 400 + seed) for seed in range(8)),
        *(never_read(ground, [*small, *large], 600 + seed) for seed in range(4)),
        *(attack(ground, 500 + seed) for seed in range(3)),
    ]


async def _sample(server: LiveServer, ground: Ground, began: float, result: Result) -> None:
    while ground.goes_on:
        result.samples.append((time.monotonic() - began, memory(workers_of(server.process.pid))))
        await asyncio.sleep(SAMPLE_SECONDS)


async def _kill(server: LiveServer, ground: Ground, plan: Plan, result: Result) -> None:
    """Every now and then one worker dies without a word; how long until there are as many again."""
    rng = Random(9)
    while ground.goes_on:
        await asyncio.sleep(max(2.0, plan.seconds / 10))
        workers = workers_of(server.process.pid)
        if not ground.goes_on or len(workers) < plan.workers:
            continue
        killed, began = rng.choice(workers), time.monotonic()
        os.kill(killed, signal.SIGKILL)
        while time.monotonic() < began + PATIENCE:
            now = workers_of(server.process.pid)
            if killed not in now and len(now) == plan.workers:
                result.back_after.append(time.monotonic() - began)
                break
            await asyncio.sleep(0.05)
        else:
            ground.tally.fail("a worker that was killed did not come back")


def _wait_for_workers(server: LiveServer, count: int) -> None:
    """All of them serve, not only the first that is ready."""
    until = time.monotonic() + PATIENCE
    while server.log.read_text().count("Application startup complete") < count:
        if time.monotonic() > until:
            raise RuntimeError(server.log.read_text())
        time.sleep(0.05)


def _clear_up(server: LiveServer, plan: Plan, result: Result) -> None:
    """Look at what is left, until nothing is that should not be."""
    until = time.monotonic() + CLEARING_SECONDS
    while True:
        result.after = _quiet(server, plan)
        result.idle_share = share_worked(workers_of(server.process.pid))
        result.in_flight = _searches_in_flight(server)
        if not list(leaks(result)) or time.monotonic() > until:
            return


def _quiet(server: LiveServer, plan: Plan) -> dict[int, Held]:
    """What each worker holds once nobody asks any more, and idle threads have been given up."""
    time.sleep(plan.quiet)
    with server.client(headers={"connection": "close"}) as client:
        for _ in range(30 * plan.workers):
            # A path that is answered in a thread.
            client.get("/v1/models")
    time.sleep(0.5)
    return {worker: held_by(worker) for worker in workers_of(server.process.pid)}


def _searches_in_flight(server: LiveServer) -> float | None:
    """What the server itself says, where it does."""
    with server.client() as client:
        answer = client.get("/metrics")
    found = re.findall(r"^flipset_searches_in_flight(?:\{.*\})? (\S+)$", answer.text, flags=re.MULTILINE)
    return sum(map(float, found)) if answer.status_code == 200 and found else None
