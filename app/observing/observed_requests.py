"""A request and its response as operators may see them: no value, no prediction, no key, no raw path."""

from contextvars import ContextVar
from dataclasses import dataclass
from re import compile as pattern
from secrets import token_hex
from typing import Any, Protocol

# What a log, a header and a URN can all hold as it is.
HARMLESS = pattern(rb"[A-Za-z0-9._~:@/+=-]{1,128}")
HEADER = b"x-request-id"


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """What an answer has come to, in figures."""

    engine: str
    outcome: str
    stopped_by: str | None
    count: int
    model_rows: int
    model_seconds: float
    search_seconds: float
    first_answer_seconds: float | None
    waited_for_memory: bool = False
    # What its proof rests on, if it has one.
    proved_by: str | None = None


class HasFigures(Protocol):
    """An answer, finished or not."""

    def figures(self) -> SearchFigures:
        """What it has come to so far."""
        ...


@dataclass(slots=True, eq=False)
class ObservedRequest:
    """One request with its response. Times are of the performance counter."""

    request_id: str
    method: str = ""
    route: str = "other"
    began: float = 0.0
    ended: float = 0.0
    # None until the first byte is on its way.
    status: int | None = None
    sent_bytes: int = 0
    complete: bool = False
    disconnected: bool = False
    # The last part of the type of the problem that was sent.
    problem: str | None = None
    key_id: str | None = None
    client: str | None = None
    trace_id: str | None = None
    model: str | None = None
    # Rows that were scored outside of a search, and the time that took.
    model_rows: int = 0
    model_seconds: float = 0.0
    posing_began: float | None = None
    posed: float | None = None
    searched: float | None = None
    answer: HasFigures | None = None
    # What it came to, once it has ended.
    figures: SearchFigures | None = None

    @property
    def seconds(self) -> float:
        return self.ended - self.began


_current: ContextVar[ObservedRequest | None] = ContextVar("observed", default=None)
enter = _current.set
leave = _current.reset


def under_way() -> ObservedRequest | None:
    """The request that this code works for, if any; a thread inherits it from the code that starts its work."""
    return _current.get()


def observed_request() -> ObservedRequest:
    """The same, or a stand-in that nobody reads if there is none, as on the command line."""
    return _current.get() or ObservedRequest("")


def request_id(headers: Any) -> str:
    """The id in the request's headers if there is exactly one and it is harmless; otherwise a new one."""
    sent = [value for name, value in headers if name == HEADER]
    if len(sent) == 1 and HARMLESS.fullmatch(sent[0]):
        return str(sent[0].decode("ascii"))
    return token_hex(16)
