"""One exchange with the service: a request, asked again while that makes sense, and its answer or its refusal."""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from math import isinf
from typing import TypeVar
from urllib.parse import urlsplit

import httpx

from flipset_client.asking import Call, Question, encoded
from flipset_client.errors import CutStream, FlipsetError, TimedOut, Unexpected, Unreachable, refusal
from flipset_client.lines import Problem
from flipset_client.reading import read
from flipset_client.steps import Steps, Wait, read_all, send

T = TypeVar("T")
# Without word from the service: half a second, then twice as long each time.
FIRST_WAIT = 0.5


@dataclass(frozen=True, slots=True)
class Patience:
    """How often to ask again before the first byte of an answer, and how many seconds to wait in all."""

    retries: int
    longest_wait: float

    def wait(self, failure: FlipsetError, attempt: int, waited: float) -> float | None:
        """How long to wait before asking again; None to give up."""
        seconds = failure.retry_after if failure.retry_after is not None else FIRST_WAIT * 2**attempt
        may_ask = failure.is_passing and attempt < self.retries and waited + seconds <= self.longest_wait
        return seconds if may_ask else None


@dataclass(frozen=True, slots=True)
class Service:
    """Where the service is, and how to speak to it."""

    url: str
    key: str | None = field(repr=False)
    timeout: float
    patience: Patience
    language: str | None = None

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise ValueError("the address of the service begins with http:// or https://")
        # What refuses such a header later would quote it.
        if self.key is not None and not re.fullmatch("[!-~]+", self.key):
            raise ValueError("the key holds a character that no key has, such as a line end, or nothing at all")
        if self.language is not None and not re.fullmatch("[A-Za-z0-9*,;=. -]+", self.language):
            raise ValueError("the language is not one such as `de` or `es-MX`")

    @property
    def needs_certificates(self) -> bool:
        """Whether to load them, which takes a while: only https needs any, and no redirect is followed."""
        return urlsplit(self.url).scheme == "https"

    def call(self, call: Call[T]) -> Steps[T]:
        """Ask for something that is answered in one piece."""
        response = yield from self._exchange(
            self._request(call.path, None if call.body is None else encoded(call.body), method=call.method)
        )
        try:
            return call.read(json.loads((yield from read_all(response))))
        except httpx.RequestError as error:
            raise failure_midway(error) from error
        except ValueError as error:
            raise Unexpected(response.status_code) from error

    def ask(self, question: Question) -> Steps[httpx.Response]:
        """Ask for counterfactuals; the body of the response is on its way."""
        # A proxy that compressed the stream would hold lines back.
        headers = {"Accept": "application/x-ndjson", "Accept-Encoding": "identity"}
        return (yield from self._exchange(self._request(question.path, encoded(question.body), headers)))

    def _request(
        self, path: str, body: bytes | None, headers: dict[str, str] | None = None, method: str | None = None
    ) -> httpx.Request:
        return httpx.Request(
            method or ("GET" if body is None else "POST"),
            f"{self.url.rstrip('/')}/{path}",
            headers={
                "Accept": "application/json",
                "User-Agent": "flipset-client",
                **({} if body is None else {"Content-Type": "application/json"}),
                **({} if self.language is None else {"Accept-Language": self.language}),
                **({} if self.key is None else {"Authorization": f"Bearer {self.key}"}),
                **(headers or {}),
            },
            content=body,
            # Waiting for a connection of one's own is not the service's silence.
            extensions={"timeout": httpx.Timeout(None if isinf(self.timeout) else self.timeout, pool=None).as_dict()},
        )

    def _exchange(self, request: httpx.Request) -> Steps[httpx.Response]:
        """The response, once the service has taken the request on. Nothing is asked again after that."""
        attempt, waited = 0, 0.0
        while True:
            try:
                response = yield from send(request)
                if response.is_success:
                    return response
                failure: FlipsetError = _refused(response, (yield from read_all(response)))
            except httpx.RequestError as error:
                failure = _failed(error)
            seconds = self.patience.wait(failure, attempt, waited)
            if seconds is None:
                raise failure
            yield Wait(seconds)
            attempt, waited = attempt + 1, waited + seconds


def failure_midway(error: httpx.RequestError) -> FlipsetError:
    """What went wrong after an answer had begun."""
    return TimedOut() if isinstance(error, httpx.TimeoutException) else CutStream(_why(error))


def _failed(error: httpx.RequestError) -> FlipsetError:
    """What went wrong before an answer began. Who cannot connect in time has nobody to wait for."""
    if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
        return TimedOut()
    return Unreachable(_why(error))


def _why(error: httpx.RequestError) -> str:
    return f"{str(error) or type(error).__name__}."


def _refused(response: httpx.Response, body: bytes) -> FlipsetError:
    try:
        problem = read(Problem, json.loads(body))
    except ValueError:
        problem = None
    return refusal(response.status_code, problem, retry_after(response.headers.get("Retry-After")))


def retry_after(header: str | None) -> float | None:
    """The seconds that the header asks to wait: it holds a number, or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
