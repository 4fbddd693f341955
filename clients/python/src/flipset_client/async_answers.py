"""The same for `async for`: an answer on its way, and the request that leads to it."""

from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from types import TracebackType
from typing import TypeVar, overload

import httpx

from flipset_client.answers import AnswerSoFar
from flipset_client.errors import FlipsetError
from flipset_client.lines import Counterfactual, Line
from flipset_client.whole import Columns, Frame, WholeAnswer

T = TypeVar("T")


class AsyncAnswer(AnswerSoFar):
    """Plans as they are found, from `AsyncClient.counterfactuals`. Use it in `async with`, or read it to its end.

    Iterating may raise `AnswerFailed`, `CutStream` or `TimedOut`. The plans that came before are right.
    """

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(response)
        self._pieces = response.aiter_bytes()

    async def _opened(self) -> "AsyncAnswer":
        try:
            self._check_form()
            self._begin(await self._next_line())
        except FlipsetError:
            await self.close()
            raise
        return self

    def __aiter__(self) -> AsyncIterator[Counterfactual]:
        return self

    async def __anext__(self) -> Counterfactual:
        while (line := await self._next_line()) is not None:
            if isinstance(line, Counterfactual):
                self._given += 1
                return line
        raise StopAsyncIteration

    async def lines(self) -> AsyncIterator[Line]:
        """Every line as it comes: start, plans, progress and summary."""
        yield self.start
        while (line := await self._next_line()) is not None:
            self._given += isinstance(line, Counterfactual)
            yield line

    async def read(self) -> WholeAnswer:
        """Read all plans, and keep them."""
        if self._whole is not None:
            return self._whole
        self._check_untouched()
        return self._keep([plan async for plan in self])

    @overload
    async def to_frame(self) -> Frame: ...

    @overload
    async def to_frame(self, make: Callable[[Columns], T]) -> T: ...

    async def to_frame(self, make: Callable[[Columns], object] | None = None) -> object:
        """Read all plans into a data frame, one row each: of pandas or polars, or as `make` makes it."""
        whole = await self.read()
        return whole.to_frame(make) if make else whole.to_frame()

    async def close(self) -> None:
        """Stop reading. If the search is under way, the service ends it."""
        self._incoming.stop()
        await self._response.aclose()

    async def __aenter__(self) -> "AsyncAnswer":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _next_line(self) -> Line | None:
        while self._incoming.is_waiting:
            await self._receive()
        return self._incoming.take()

    async def _receive(self) -> None:
        try:
            self._incoming.feed(await anext(self._pieces, None))
        except httpx.RequestError as error:
            self._incoming.fail(error)


class Asking:
    """A request for counterfactuals: `await` it for the answer, or use it in an `async with` block."""

    def __init__(self, response: Coroutine[object, object, httpx.Response]) -> None:
        self._response = response
        self._answer: AsyncAnswer | None = None

    def __await__(self) -> Generator[object, object, AsyncAnswer]:
        return self._asked().__await__()

    async def __aenter__(self) -> AsyncAnswer:
        self._answer = await self
        return self._answer

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._answer is not None:
            await self._answer.close()

    async def _asked(self) -> AsyncAnswer:
        return await AsyncAnswer(await self._response)._opened()
