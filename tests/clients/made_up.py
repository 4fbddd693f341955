"""A service that is made up: each of its models answers in a way of its own, right or wrong."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from tests.live.clients.within import listening

IDENTITY = {"name": "made-up", "version": "1.0.0", "sha256": "0", "description_sha256": "0"}
UNFAVOURABLE = {"label": "no", "score": 0.25, "favourable": False}
FAVOURABLE = {"label": "yes", "score": 0.75, "favourable": True}
START = {
    "type": "start",
    "model": IDENTITY,
    "normal_ranges": None,
    "prediction": UNFAVOURABLE,
    "target": {"classes": ["yes"], "threshold": None},
    "limits": {"engine": "auto", "max_counterfactuals": None, "deadline_ms": 10000, "max_model_rows": 2000000},
    "unused_context": [],
    "features": [],
    "service": {"name": "flipset", "version": "0.1.0"},
    "rules": [],
}
PROGRESS = {"type": "progress", "complete_up_to": 1, "model_rows": 3, "elapsed_ms": 0.5}
SUMMARY = {
    "type": "summary",
    "outcome": "found",
    "count": 3,
    "complete": True,
    "complete_up_to": 2,
    "stopped_by": None,
    "guarantee": "exact",
    "engine": "lattice",
    "model_rows": 4,
    "model_calls": 1,
    "solver_checks": 0,
    "elapsed_ms": {"total": 1.0, "search": 0.5, "model": 0.25, "solver": 0.0},
    "changed_in": {"a": 3},
    "no_recourse": None,
}
FIELDS = [{"field": "instance.a", "message": "is missing"}, {"field": "target.low", "message": "must be a number"}]
# What others answer in place of the service.
PAGES: dict[str, tuple[int, str, dict[str, str]]] = {
    "proxied": (502, "<h1>Bad gateway</h1>", {}),
    "login": (200, "<h1>Who are you?</h1>", {}),
    "moved": (307, "", {"Location": "/v1/models/plain:elsewhere/counterfactuals"}),
}
PLANS = 3
HOUR = 3600


def plan(rank: int) -> dict[str, Any]:
    change = {"feature": "a", "title": None, "from": rank, "to": 0.5, "unit": None, "direction": "decrease"}
    return {
        "type": "counterfactual",
        "rank": rank,
        "sentence": f"Lower a from {rank} to 0.5.",
        "changes": [change],
        "cost": 1,
        "prediction": FAVOURABLE,
        "instance": {"a": 0.5, "b": "é", "c": None},
    }


def problem(status: int, kind: str, errors: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    told = {
        "type": f"urn:flipset:problem:{kind}",
        "title": "It is refused",
        "status": status,
        "detail": "Try otherwise.",
    }
    return {**told, "errors": errors or []}


def with_future_keys(content: Any) -> Any:
    """The same, with a key in every object that nobody knows yet."""
    if isinstance(content, list):
        return [with_future_keys(entry) for entry in content]
    if not isinstance(content, dict):
        return content
    return {**{name: with_future_keys(entry) for name, entry in content.items()}, "one_day": {"more": [1]}}


def line(content: dict[str, Any]) -> bytes:
    return json.dumps(content).encode() + b"\n"


class Broken(Exception):
    """Ends an answer in the middle, as a process that dies would."""


class MadeUpService:
    """An ASGI app. `GET /asked/{model}` says how often a model was asked, `GET /sent/{model}` how many lines it sent.

    What stands behind a colon tells models of one kind apart. `pausing` goes on after `GET /go/{model}`.
    """

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self._go: dict[str, asyncio.Event] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        body = json.loads((await receive())["body"] or b"null")
        parts = scope["path"].strip("/").split("/")
        match parts:
            case ["go", model]:
                self.go(model).set()
                await _whole(send, 200, True)
            case [("asked" | "sent") as what, model]:
                await _whole(send, 200, getattr(self, what)[model])
            case ["v1", "models", model, "counterfactuals"]:
                self.asked[model] += 1
                await self._answer(model, body, receive, send)
            case ["v1", "records", record, *_]:
                self.asked[record] += 1
                await self._record(record, send)
            case ["v1", "models", "broken"]:
                await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"99")]})
                await send({"type": "http.response.body", "body": b'{"name": ', "more_body": True})
            case ["v1", "models"]:
                await _whole(send, 200, {"animals": []})
            case ["v1", "models", model]:
                await _whole(send, 200, {"name": model})

    def go(self, model: str) -> asyncio.Event:
        # Made on the loop that it is for.
        return self._go.setdefault(model, asyncio.Event())

    async def _record(self, record: str, send: Any) -> None:
        if record == "off":
            await _whole(send, 404, problem(404, "records-off"))
        elif self.asked[record] == 1:
            await _whole(send, 503, problem(503, "records-unavailable"), {"Retry-After": "0"})
        else:
            await _whole(send, 200, with_future_keys({"same": True, "differences": [], "compared": "answer"}))

    async def _answer(self, model: str, body: Any, receive: Any, send: Any) -> None:
        first = self.asked[model] == 1
        match model.partition(":")[0]:
            case "limited" if first:
                await _whole(send, 429, problem(429, "rate-exceeded"), {"Retry-After": "0"})
            case "busy" if first:
                await _whole(send, 503, problem(503, "busy"), {"Retry-After": "0"})
            case "full":
                await _whole(send, 503, problem(503, "busy"), {"Retry-After": "0"})
            case "closed-for-an-hour":
                await _whole(send, 503, problem(503, "stopping"), {"Retry-After": str(HOUR)})
            case "strict":
                await _whole(send, 422, problem(422, "invalid-request", FIELDS))
            case "secret":
                await _whole(send, 403, problem(403, "not-allowed"))
            case "nowhere":
                await _whole(send, 404, problem(404, "unknown-model"))
            case "proxied" | "login" | "moved":
                await _whole(send, *PAGES[model], form="text/html")
            case "silent":
                # Until nobody waits any more.
                await receive()
                self.sent[model] += 1
            case "echo":
                await _whole(send, 422, problem(422, "echo", [{"field": "body", "message": json.dumps(body)}]))
            case _:
                await self._stream(model, receive, send)

    async def _stream(self, model: str, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"application/x-ndjson"), (b"x-request-id", b"made-up-1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            async for piece in self._pieces(model, receive):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                self.sent[model] += piece.count(b"\n")
        except Broken:
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pieces(self, model: str, receive: Any) -> AsyncIterator[bytes]:
        kind, _, count = model.partition(":")[0].partition("-of-")
        if kind == "future":
            lines = [START, plan(1), {"type": "omen"}, plan(2), PROGRESS, plan(3), SUMMARY]
            yield b"".join(line(with_future_keys(each)) for each in lines)
            return
        yield line(START)
        yield line(plan(1))
        match kind:
            case "pausing":
                yield line(PROGRESS)
                await self.go(model).wait()
            case "cut":
                raise Broken
            case "half":
                yield line(plan(2))[:40]
                raise Broken
            case "endless-silence":
                await receive()
                return
            case "strange":
                yield b"null\n"
                return
            case "unfinished":
                return
            case "failing":
                yield line({"type": "error", "problem": problem(500, "unexpected")})
                return
        total = int(count or PLANS)
        for rank in range(2, total + 1, 100):
            yield b"".join(line(plan(each)) for each in range(rank, min(rank + 100, total + 1)))
        yield line(PROGRESS) + line({**SUMMARY, "count": total})


async def _live(receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


async def _whole(
    send: Any, status: int, content: Any, headers: dict[str, str] | None = None, form: str = "application/json"
) -> None:
    body = content if isinstance(content, str) else json.dumps(content)
    named = {"content-type": form, "content-length": str(len(body.encode())), **(headers or {})}
    head = [(name.lower().encode(), value.encode()) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body.encode()})


@contextmanager
def served_on_a_port(app: MadeUpService) -> Iterator[str]:
    """Its address."""
    config = uvicorn.Config(app, port=0, log_level="critical", timeout_graceful_shutdown=1)
    with listening(config) as port:
        yield f"http://127.0.0.1:{port}"
