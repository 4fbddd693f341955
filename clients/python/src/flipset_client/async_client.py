"""The client for programs that await."""

from collections.abc import Callable, Coroutine
from functools import wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

import httpx

from flipset_client import asking
from flipset_client.asking import Call, Question
from flipset_client.async_answers import Asking
from flipset_client.exchanges import Patience, Service
from flipset_client.steps import run_async

T = TypeVar("T")
P = ParamSpec("P")


def _awaits(build: Callable[P, Call[T]]) -> "Callable[Concatenate[AsyncClient, P], Coroutine[object, object, T]]":
    """A method that makes a call, and returns what comes of it."""

    @wraps(build)
    async def method(self: "AsyncClient", /, *arguments: P.args, **named: P.kwargs) -> T:
        return await run_async(self._service.call(build(*arguments, **named)), self._http)

    return method


def _streams(build: Callable[P, Question]) -> "Callable[Concatenate[AsyncClient, P], Asking]":
    """A method that asks a question, and returns an answer on its way."""

    @wraps(build)
    def method(self: "AsyncClient", /, *arguments: P.args, **named: P.kwargs) -> Asking:
        return Asking(run_async(self._service.ask(build(*arguments, **named)), self._http))

    return method


class AsyncClient:
    """`Client` for asyncio: the same arguments, methods and errors. Use it in an `async with` block, or close it."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        longest_wait: float = 30.0,
        language: str | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._service = Service(url, key, timeout, Patience(retries, longest_wait), language)
        self._http = http or httpx.AsyncClient(verify=self._service.needs_certificates)

    models = _awaits(asking.models)
    model = _awaits(asking.model)
    examples = _awaits(asking.examples)
    normal_ranges = _awaits(asking.normal_ranges)
    prediction = _awaits(asking.prediction)
    predictions = _awaits(asking.predictions)
    subsets = _awaits(asking.posed(asking.question, asking.subsets))
    reasons = _awaits(asking.posed(asking.question, asking.reasons))
    record = _awaits(asking.record)
    records = _awaits(asking.records)
    receipt = _awaits(asking.receipt)
    replay = _awaits(asking.replay)
    feedback = _awaits(asking.feedback)
    erase = _awaits(asking.erase)
    counterfactuals = _streams(asking.question)

    async def close(self) -> None:
        """End all connections. Searches that are under way for this client end too."""
        await self._http.aclose()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
