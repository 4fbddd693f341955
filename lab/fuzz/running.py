"""Asks every input, in this process or of a real server, and keeps what went wrong."""

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.adapters.records.opening import ready_store
from app.adapters.records.receipts import new_key
from app.main import create_app
from app.settings import Settings
from lab.fuzz.asking import PATIENCE, ask_app, ask_server
from lab.fuzz.inputs import Examples, Input
from lab.fuzz.judging import judge
from lab.fuzz.records import plain_inputs, record_inputs


@dataclass
class Outcome:
    """What was asked, what came back, and what should not have."""

    asked: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, 0)

    def note(self, asked: Input, status: int, seconds: float) -> None:
        self.asked[asked.kind] += 1
        self.statuses[status] += 1
        self.slowest = max(self.slowest, (seconds, asked.number))

    def fail(self, asked: Input, error: Exception) -> None:
        what = f"{type(error).__name__}: {error}"[:500]
        self.failures.append(f"{asked.number} ({asked.kind}, {asked.method} {asked.path[:60]!r}): {what}")


def fuzz_app(asked: Iterable[Input], models: Path, normal_ranges: Path, **settings: Any) -> Outcome:
    """The app as it is served, but for short deadlines."""
    chosen = Settings(
        models_dir=models, normal_ranges_dir=normal_ranges, default_deadline_ms=1_000, max_deadline_ms=2_000, **settings
    )
    return asyncio.run(_fuzz_app(create_app(chosen), asked))


def fuzz_records(examples: Examples, seed: int, numbers: range, models: Path, normal_ranges: Path) -> Outcome:
    """The paths of the records, of an app that keeps some already."""
    with tempfile.TemporaryDirectory() as folder:
        address, keys = f"sqlite:///{folder}/records.db", Path(folder) / "keys"
        new_key(keys)
        kept = {"records": address, "receipt_keys": keys, "record_all": True}
        fuzz_app(plain_inputs(examples, seed, range(20)), models, normal_ranges, **kept)
        with closing(ready_store(address)) as store:
            ids = [record.id for record in store.all()]
        return fuzz_app(record_inputs(examples, seed, numbers, ids), models, normal_ranges, **kept)


async def _fuzz_app(app, asked: Iterable[Input]) -> Outcome:  # noqa: ANN001  # any ASGI app
    outcome = Outcome()
    for one in asked:
        began = time.perf_counter()
        try:
            reply = await ask_app(app, one)
            judge(one.method, one.path, reply)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is what is looked for
            outcome.fail(one, error)
        else:
            outcome.note(one, reply.status, time.perf_counter() - began)
    app.state.service.close()
    if app.state.recorder is not None:
        app.state.recorder.close()
    return outcome


def fuzz_server(asked: Iterable[Input], url: str) -> Outcome:
    """A server that is running: what it refuses before the app sees it, is seen too."""
    outcome = Outcome()
    with httpx.Client(base_url=url, timeout=PATIENCE) as client:
        for one in asked:
            began = time.perf_counter()
            try:
                reply = ask_server(client, one)
                judge(one.method, one.path, reply)
            except Exception as error:  # noqa: BLE001  # the same
                outcome.fail(one, error)
            else:
                outcome.note(one, reply.status, time.perf_counter() - began)
    return outcome
