"""An answer on its way: plans as they are found. Closing it cancels the search."""

from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TypeVar, overload

import httpx

from flipset_client.errors import FlipsetError, StillSearching, Unexpected
from flipset_client.incoming import Incoming
from flipset_client.lines import Counterfactual, Line, Progress, Start, Summary
from flipset_client.whole import Columns, Frame, WholeAnswer, html_of

T = TypeVar("T")
# So many plans a notebook shows of an answer that is still on its way.
MOST_SHOWN = 20


class AnswerSoFar:
    """What an answer knows, however it is read."""

    start: Start

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._incoming = Incoming()
        # Plans that were read to be shown, and are still to be given out.
        self._shown: deque[Counterfactual] = deque()
        self._given = 0
        self._whole: WholeAnswer | None = None

    @property
    def request_id(self) -> str:
        """Names this request in the log of the service."""
        return str(self._response.headers.get("X-Request-ID", ""))

    @property
    def progress(self) -> Progress | None:
        """How far the search was when it last said so."""
        return self._incoming.progress

    @property
    def summary(self) -> Summary:
        """What was found, and whether that is all; `StillSearching` until the last plan has been read."""
        if self._incoming.summary is None:
            raise StillSearching
        return self._incoming.summary

    def _check_form(self) -> None:
        """A proxy may answer in place of the service, such as with a page to log in."""
        if not self._response.headers.get("Content-Type", "").startswith("application/x-ndjson"):
            raise Unexpected(self._response.status_code)

    def _begin(self, first: Line | None) -> None:
        if not isinstance(first, Start):
            raise Unexpected(self._response.status_code)
        self.start = first

    def _check_untouched(self) -> None:
        if self._given:
            raise ValueError("some plans have been taken already: keep them yourself, or read the answer as a whole")

    def _keep(self, plans: list[Counterfactual]) -> WholeAnswer:
        self._whole = WholeAnswer(self.start, (*self._shown, *plans), self.summary)
        return self._whole

    def _repr_html_(self) -> str:
        if self._whole is not None:
            return self._whole._repr_html_()
        return html_of(self.start, list(self._shown), self._incoming.summary, self._given)


class Answer(AnswerSoFar):
    """Plans as they are found, from `Client.counterfactuals`. Use it in a `with` block, or read it to its end.

    Iterating may raise `AnswerFailed`, `CutStream` or `TimedOut`. The plans that came before are right.
    """

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(response)
        self._pieces = response.iter_bytes()
        try:
            self._check_form()
            self._begin(self._next_line())
        except FlipsetError:
            self.close()
            raise

    def __iter__(self) -> Iterator[Counterfactual]:
        return self

    def __next__(self) -> Counterfactual:
        plan = self._shown.popleft() if self._shown else self._next_plan()
        if plan is None:
            raise StopIteration
        self._given += 1
        return plan

    def lines(self) -> Iterator[Line]:
        """Every line as it comes: start, plans, progress and summary."""
        yield self.start
        while line := self._shown.popleft() if self._shown else self._next_line():
            self._given += isinstance(line, Counterfactual)
            yield line

    def read(self) -> WholeAnswer:
        """Read all plans, and keep them."""
        if self._whole is not None:
            return self._whole
        self._check_untouched()
        return self._keep(list(iter(self._next_plan, None)))

    @overload
    def to_frame(self) -> Frame: ...

    @overload
    def to_frame(self, make: Callable[[Columns], T]) -> T: ...

    def to_frame(self, make: Callable[[Columns], object] | None = None) -> object:
        """Read all plans into a data frame, one row each: of pandas or polars, or as `make` makes it."""
        return self.read().to_frame(make) if make else self.read().to_frame()

    def close(self) -> None:
        """Stop reading. If the search is under way, the service ends it."""
        self._incoming.stop()
        self._response.close()

    def __enter__(self) -> "Answer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _next_plan(self) -> Counterfactual | None:
        while (line := self._next_line()) is not None:
            if isinstance(line, Counterfactual):
                return line
        return None

    def _next_line(self) -> Line | None:
        while self._incoming.is_waiting:
            self._receive()
        return self._incoming.take()

    def _receive(self) -> None:
        try:
            self._incoming.feed(next(self._pieces, None))
        except httpx.RequestError as error:
            self._incoming.fail(error)

    def _repr_html_(self) -> str:
        while len(self._shown) < MOST_SHOWN and not self._given and (plan := self._next_plan()):
            self._shown.append(plan)
        return super()._repr_html_()
