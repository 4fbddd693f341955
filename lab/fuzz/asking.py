"""Asking the app itself, in this process, by the protocol that a server would use; or a real server."""

import asyncio
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote

import httpx

from lab.fuzz.inputs import Input
from lab.fuzz.judging import Reply

# Far more than any limit of the fuzzed service allows.
PATIENCE = 300


async def ask_app(app: Any, asked: Input) -> Reply:
    """The whole answer; what the app raises is raised here."""
    sent: list[dict[str, Any]] = []
    body = [{"type": "http.request", "body": asked.body, "more_body": False}]
    over = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if not body:
            # The client stays until it has its answer.
            await over.wait()
            return {"type": "http.disconnect"}
        return body.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    await asyncio.wait_for(app(_scope(asked), receive, send), PATIENCE)
    over.set()
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in sent[0]["headers"]}
    return Reply(sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:]))


def _scope(asked: Input) -> dict[str, Any]:
    path = quote(asked.path, safe="/%", errors="replace")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": asked.method,
        "scheme": "http",
        "path": unquote(path, errors="replace"),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": quote(asked.query, safe="=&%", errors="replace").encode(),
        "headers": [(b"host", b"127.0.0.1"), *_encoded(asked.headers)],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }


def ask_server(client: httpx.Client, asked: Input) -> Reply:
    response = client.request(
        asked.method,
        quote(asked.path, safe="/%", errors="replace"),
        params=quote(asked.query, safe="=&%", errors="replace") or None,
        content=asked.body,
        headers=_encoded(asked.headers),
    )
    return Reply(response.status_code, dict(response.headers), response.content)


def _encoded(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in headers]
