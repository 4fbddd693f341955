"""A request as a series of steps. A generator says what to do next; `run` does it, or `run_async` does.

What decides is written once, here and in the modules that use this one. Only the steps themselves come in two colours.
"""

import asyncio
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import httpx

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request, and come back with the head of the response."""

    request: httpx.Request

    def now(self, http: httpx.Client) -> httpx.Response:
        return http.send(self.request, stream=True)

    async def later(self, http: httpx.AsyncClient) -> httpx.Response:
        return await http.send(self.request, stream=True)


@dataclass(frozen=True, slots=True)
class ReadAll:
    """Read the whole body of a response."""

    response: httpx.Response

    def now(self, http: httpx.Client) -> bytes:
        return self.response.read()

    async def later(self, http: httpx.AsyncClient) -> bytes:
        return await self.response.aread()


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing for so many seconds."""

    seconds: float

    def now(self, http: httpx.Client) -> None:
        time.sleep(self.seconds)

    async def later(self, http: httpx.AsyncClient) -> None:
        await asyncio.sleep(self.seconds)


Step: TypeAlias = Send | ReadAll | Wait
Steps = Generator[Step, object, T]


def run(steps: Steps[T], http: httpx.Client) -> T:
    """Do the steps one after the other; what fails on the wire is raised inside the generator."""
    try:
        step = next(steps)
        while True:
            try:
                reply = step.now(http)
            except httpx.RequestError as error:  # noqa: PERF203  # a step takes far longer
                step = steps.throw(error)
            else:
                step = steps.send(reply)
    except StopIteration as ended:
        result: T = ended.value
        return result


async def run_async(steps: Steps[T], http: httpx.AsyncClient) -> T:
    """The same, without holding up the event loop."""
    try:
        step = next(steps)
        while True:
            try:
                reply = await step.later(http)
            except httpx.RequestError as error:  # noqa: PERF203  # a step takes far longer
                step = steps.throw(error)
            else:
                step = steps.send(reply)
    except StopIteration as ended:
        result: T = ended.value
        return result


def send(request: httpx.Request) -> Steps[httpx.Response]:
    response = yield Send(request)
    assert isinstance(response, httpx.Response)
    return response


def read_all(response: httpx.Response) -> Steps[bytes]:
    body = yield ReadAll(response)
    assert isinstance(body, bytes)
    return body
