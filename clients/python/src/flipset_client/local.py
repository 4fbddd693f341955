"""The service in this process: its app in a thread of its own, and a transport of httpx that hands requests to it.

The only module that imports the service. Answers stream as they do over a network, at the pace of the reader.
"""

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from concurrent.futures import Future
from os import PathLike
from typing import cast

import httpx

Message = MutableMapping[str, object]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]
# So many pieces of an answer wait for the reader; then the search does.
PIECES = 8
# So long an app that is told to end may take.
GRACE_SECONDS = 5.0


def local_http(models: str | PathLike[str], normal_ranges: str | PathLike[str]) -> httpx.Client:
    """An HTTP client that reaches the service in this process, and nothing else."""
    try:
        from app.main import create_app  # noqa: PLC0415
        from app.settings import Settings  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("Client.local needs the service: install the package flipset beside this one") from error
    settings = Settings(models_dir=models, normal_ranges_dir=normal_ranges, keys_file=None, root_path="")
    return httpx.Client(transport=LocalTransport(create_app(settings)), trust_env=False)


class LocalTransport(httpx.BaseTransport):
    """Hands requests to an ASGI app that runs on an event loop in a thread."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="flipset-local", daemon=True)
        self._thread.start()
        self._under_way: set[Exchange] = set()
        self._life = Exchange(self._loop, ["lifespan.startup"], "lifespan.shutdown")
        self._life.begin(app, {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}})
        self._life.next_message(None)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        timeout = request.extensions.get("timeout", {}).get("read")
        exchange = Exchange(self._loop, ["http.request"], "http.disconnect", request.read())
        self._under_way.add(exchange)
        exchange.begin(self._app, _scope(request)).add_done_callback(lambda _: self._under_way.discard(exchange))
        head = exchange.next_message(timeout)
        headers = cast("list[tuple[bytes, bytes]]", head["headers"])
        return httpx.Response(cast("int", head["status"]), headers=headers, stream=_Body(exchange, timeout))

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        """End what is under way, and then the app."""
        for exchange in [*self._under_way, self._life]:
            await exchange.end()


class Exchange:
    """One request on its way through the app. What the app sends waits here, and so does the news that nobody reads."""

    def __init__(self, loop: asyncio.AbstractEventLoop, first: list[str], last: str, body: bytes = b"") -> None:
        self._loop = loop
        # The types of the messages that the app receives: at once, and when nobody reads any more.
        self._first, self._last = first, last
        self._body = body
        self._sent: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._room = asyncio.Semaphore(PIECES)
        self._left = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def begin(self, app: App, scope: Message) -> "Future[None]":
        return asyncio.run_coroutine_threadsafe(self._through(app, scope), self._loop)

    def next_message(self, timeout: float | None) -> Message:
        """What the app sends next, or an error of httpx where it breaks off or is silent for too long."""
        try:
            message = self._sent.get(timeout=timeout)
        except BaseException as error:  # also Ctrl-C: nobody reads what comes after it
            self.leave()
            if isinstance(error, queue.Empty):
                raise httpx.ReadTimeout("the service is silent") from None
            raise
        if message is None or self._loop.is_closed():
            raise httpx.RemoteProtocolError("the service broke off its answer")
        self._loop.call_soon_threadsafe(self._room.release)
        return message

    def leave(self) -> None:
        """Tell the app that nobody reads any more."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._leave)

    async def end(self) -> None:
        """The same, and wait for the app: it has a moment to tidy up."""
        self._leave()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=GRACE_SECONDS)
            self._task.cancel()

    def _leave(self) -> None:
        self._left.set()
        # Whoever waits for the reader need wait no longer.
        self._room.release()

    async def _through(self, app: App, scope: Message) -> None:
        self._task = cast("asyncio.Task[None]", asyncio.current_task())
        try:
            await app(scope, self._receive, self._send)
        finally:
            self._sent.put(None)

    async def _receive(self) -> Message:
        if self._first:
            return {"type": self._first.pop(), "body": self._body, "more_body": False}
        await self._left.wait()
        return {"type": self._last}

    async def _send(self, message: Message) -> None:
        if not self._left.is_set():
            await self._room.acquire()
            self._sent.put(message)


class _Body(httpx.SyncByteStream):
    """The body of an answer, piece by piece."""

    def __init__(self, exchange: Exchange, timeout: float | None) -> None:
        self._exchange = exchange
        self._timeout = timeout

    def __iter__(self) -> Iterator[bytes]:
        more = True
        while more:
            message = self._exchange.next_message(self._timeout)
            more = bool(message.get("more_body", False))
            yield cast("bytes", message.get("body", b""))

    def close(self) -> None:
        self._exchange.leave()


def _scope(request: httpx.Request) -> Message:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.split(b"?")[0],
        "query_string": request.url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("127.0.0.1", 0),
        "server": (request.url.host, request.url.port),
        "state": {},
    }
