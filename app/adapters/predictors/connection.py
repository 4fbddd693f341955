"""HTTP to one predictor: kept alive, several calls at a time, each with its timeout, tried again where that may help.

The calls live on an event loop in a thread of their own, so that any thread can cancel them.
"""

import asyncio
import os
import ssl
import weakref
from collections.abc import Sequence
from concurrent.futures import CancelledError
from functools import cache
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from app.adapters.graphs.runs import Runs
from app.adapters.predictors.breaker import Breaker
from app.adapters.predictors.entry import PredictorEntry
from app.adapters.predictors.failures import PredictorUnavailable
from app.adapters.predictors.key_file import KeyFile
from app.adapters.predictors.tensors import JSON_LENGTH, Body
from app.core.budget import Interrupted

if TYPE_CHECKING:
    import httpx

# What a server says that may be over in a moment.
PASSING = frozenset((429, 502, 503, 504))
BACK_OFF_SECONDS = 0.05
# No reply holds more: the scores of a row, and what stands around them.
MOST_BYTES_A_ROW = 4096
MOST_BYTES_BESIDES = 2**20


class Call(NamedTuple):
    """One call: a question if it has a body, and the rows that it is about."""

    path: str
    body: Body | None = None
    rows: int = 0


class Reply(NamedTuple):
    """What the server said."""

    status: int
    headers: "httpx.Headers"
    content: bytes


class _Failed(Exception):
    """A call that failed at last; the text says how."""


class Connection:
    """Calls to one predictor. `PredictorUnavailable` where it does not answer, `Interrupted` where it was ended."""

    def __init__(self, entry: PredictorEntry, url: str, folder: Path) -> None:
        # Imported here: only models that live elsewhere need it.
        import httpx  # noqa: PLC0415

        self._httpx = httpx
        self._entry, self._url = entry, url
        self._key = None if entry.key_file is None else KeyFile(folder / entry.key_file)
        context = ssl.create_default_context()
        if entry.ca_file is not None:
            context.load_verify_locations(folder / entry.ca_file)
        # Neither proxies of the environment nor redirects: rows go to the address in the file, and nowhere else.
        limits = httpx.Limits(max_connections=entry.in_flight, max_keepalive_connections=entry.in_flight)
        self._transport = httpx.AsyncHTTPTransport(verify=context, limits=limits)
        self._places = asyncio.Semaphore(entry.in_flight)
        self._breaker = Breaker()
        self._loop = _loop(os.getpid())
        weakref.finalize(self, _close, self._loop, self._transport)

    def get(self, path: str) -> Reply:
        return self.all([Call(path)])[0]

    def all(self, calls: Sequence[Call], runs: Runs | None = None) -> list[Reply]:
        """The replies to these calls, in their order."""
        if runs is not None and runs.are_ended:
            raise Interrupted
        self._breaker.check()
        future = asyncio.run_coroutine_threadsafe(self._all(calls), self._loop)
        if runs is not None:
            runs.ends_with(future.cancel)
        try:
            replies = future.result()
        except CancelledError:
            raise Interrupted from None
        except _Failed as failed:
            self._breaker.failed()
            raise PredictorUnavailable(str(failed)) from None
        self._breaker.succeeded()
        return replies

    async def _all(self, calls: Sequence[Call]) -> list[Reply]:
        if len(calls) == 1:
            return [await self._tried(calls[0])]
        tasks = [asyncio.ensure_future(self._tried(call)) for call in calls]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _tried(self, call: Call) -> Reply:
        """A call, tried again where that may help: to score rows twice does no harm."""
        async with self._places:
            for left in range(self._entry.retries, -1, -1):
                try:
                    async with asyncio.timeout(self._entry.timeout):
                        reply = await self._sent(call)
                except TimeoutError:
                    # To ask a slow server again would make it slower.
                    raise _Failed(f"did not answer within {self._entry.timeout:g} s") from None
                except (self._httpx.TransportError, OSError, ValueError) as error:
                    failure = f"cannot be reached ({type(error).__name__})"
                else:
                    if reply.status not in PASSING:
                        return reply
                    failure = f"answered with status {reply.status}"
                if left:
                    await asyncio.sleep(BACK_OFF_SECONDS * 4 ** (self._entry.retries - left))
        raise _Failed(failure)

    async def _sent(self, call: Call) -> Reply:
        method, content = ("GET", None) if call.body is None else ("POST", call.body.content)
        request = self._httpx.Request(method, self._url + call.path, headers=self._headers(call), content=content)
        response = await self._transport.handle_async_request(request)
        try:
            return Reply(response.status_code, response.headers, await _read(response, call.rows))
        finally:
            await response.aclose()

    def _headers(self, call: Call) -> dict[str, str]:
        headers = {"accept-encoding": "identity"}
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key.read()}"
        if call.body is not None and call.body.json_length is None:
            headers["content-type"] = "application/json"
        elif call.body is not None:
            headers |= {"content-type": "application/octet-stream", JSON_LENGTH: str(call.body.json_length)}
        return headers


async def _read(response: "httpx.Response", rows: int) -> bytes:
    most = MOST_BYTES_BESIDES + rows * MOST_BYTES_A_ROW
    content = bytearray()
    async for piece in response.aiter_raw():
        content += piece
        if len(content) > most:
            raise _Failed("answered with more bytes than scores can take")
    return bytes(content)


@cache
def _loop(process: int) -> asyncio.AbstractEventLoop:
    """The event loop of all calls of a process; a process that was forked has none of its parent's threads."""
    loop = _new_loop()
    Thread(target=loop.run_forever, name="predictors", daemon=True).start()
    return loop


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        # A call takes a quarter less on it.
        import uvloop  # noqa: PLC0415
    except ModuleNotFoundError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _close(loop: asyncio.AbstractEventLoop, transport: Any) -> None:
    asyncio.run_coroutine_threadsafe(transport.aclose(), loop)
