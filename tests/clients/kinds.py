"""The Python clients behind one face, so that one suite holds for all of them."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
from flipset_client import AsyncAnswer, AsyncClient, Client, Counterfactual, Line
from flipset_client.local import LocalTransport

from tests.support.waiting import PATIENCE


class Waiting:
    """`Client`, as it is."""

    def __init__(self, url: str, **options: Any) -> None:
        self.url = url
        self.client = self._made(**options)
        self.http = self._beside()

    def _beside(self) -> httpx.Client:
        """For paths of which the clients know nothing. No server here speaks TLS."""
        return httpx.Client(verify=False, timeout=PATIENCE)  # noqa: S501  # there is none to verify

    def _made(self, **options: Any) -> Any:
        return Client(self.url, **options)

    def text(self, path: str) -> str:
        return self.http.get(f"{self.url}/{path}").text

    def get(self, path: str) -> Any:
        return json.loads(self.text(path))

    def call(self, name: str, *arguments: Any, **named: Any) -> Any:
        return getattr(self.client, name)(*arguments, **named)

    def ask(self, model: str, instance: Any = None, **question: Any) -> Any:
        return self.client.counterfactuals(model, {"a": 1} if instance is None else instance, **question)

    def close(self) -> None:
        self.http.close()
        self.client.close()


class Local(Waiting):
    """`Client` over an app in this process; `Client.local` makes such a one for the real service."""

    def __init__(self, app: Any, **options: Any) -> None:
        self._http = httpx.Client(transport=LocalTransport(app), trust_env=False)
        super().__init__("http://local", **options)

    def _made(self, **options: Any) -> Any:
        return Client(self.url, http=self._http, **options)

    def _beside(self) -> httpx.Client:
        return self._http


class Awaiting(Waiting):
    """`AsyncClient`, on an event loop that runs while something is awaited."""

    def __init__(self, url: str, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        super().__init__(url, **options)

    def _made(self, **options: Any) -> Any:
        return AsyncClient(self.url, **options)

    def call(self, name: str, *arguments: Any, **named: Any) -> Any:
        return self._loop.run_until_complete(getattr(self.client, name)(*arguments, **named))

    def ask(self, model: str, instance: Any = None, **question: Any) -> "AwaitedAnswer":
        async def asked() -> AsyncAnswer:
            return await super(Awaiting, self).ask(model, instance, **question)

        return AwaitedAnswer(self._loop, self._loop.run_until_complete(asked()))

    def close(self) -> None:
        self.http.close()
        self._loop.run_until_complete(self.client.close())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


class AwaitedAnswer:
    """An `AsyncAnswer` for those who wait."""

    def __init__(self, loop: asyncio.AbstractEventLoop, answer: AsyncAnswer) -> None:
        self._loop = loop
        self._answer = answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._answer, name)

    def __iter__(self) -> Iterator[Counterfactual]:
        return self

    def __next__(self) -> Counterfactual:
        try:
            return self._loop.run_until_complete(anext(self._answer))
        except StopAsyncIteration:
            raise StopIteration from None

    def lines(self) -> list[Line]:
        async def all_lines() -> list[Line]:
            return [line async for line in self._answer.lines()]

        return self._loop.run_until_complete(all_lines())

    def read(self) -> Any:
        return self._loop.run_until_complete(self._answer.read())

    def to_frame(self, *make: Any) -> Any:
        return self._loop.run_until_complete(self._answer.to_frame(*make))

    def close(self) -> None:
        self._loop.run_until_complete(self._answer.close())
