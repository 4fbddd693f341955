"""The client for programs that wait."""

from collections.abc import Callable
from functools import wraps
from os import PathLike
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

import httpx

from flipset_client import asking
from flipset_client.answers import Answer
from flipset_client.asking import Call, Question
from flipset_client.exchanges import Patience, Service
from flipset_client.steps import Steps, run

T = TypeVar("T")
P = ParamSpec("P")


def _waits(build: Callable[P, Call[T]]) -> "Callable[Concatenate[Client, P], T]":
    """A method that makes a call, and returns what comes of it."""

    @wraps(build)
    def method(self: "Client", /, *arguments: P.args, **named: P.kwargs) -> T:
        return self._run(self._service.call(build(*arguments, **named)))

    return method


def _streams(build: Callable[P, Question]) -> "Callable[Concatenate[Client, P], Answer]":
    """A method that asks a question, and returns an answer on its way."""

    @wraps(build)
    def method(self: "Client", /, *arguments: P.args, **named: P.kwargs) -> Answer:
        return Answer(self._run(self._service.ask(build(*arguments, **named))))

    return method


class Client:
    """Asks a Flipset service. Threads may share one. Use it in a `with` block, or close it.

    Args:
        url: where the service is, such as `http://127.0.0.1:8000`.
        key: the key, if the service uses keys.
        timeout: how many seconds the service may be silent. It speaks at least every 10 seconds.
        retries: how often to ask again before an answer begins: if the service is busy or cannot be reached.
        longest_wait: how many seconds to wait for that in all. If the service asks for more, the client gives up.
        language: what sentences and titles are in, such as `de` or `es-MX`. Without it they are English.
        http: an `httpx.Client` of your own, for proxies and certificates. It is closed with this one.

    Every method may raise `Refused` (and its kinds `InvalidRequest`, `NotAllowed`, `NotFound`, `Erased`, `Busy`,
    `Unexpected`), `TimedOut` or `Unreachable`.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        longest_wait: float = 30.0,
        language: str | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        self._service = Service(url, key, timeout, Patience(retries, longest_wait), language)
        self._http = http or httpx.Client(verify=self._service.needs_certificates)

    @classmethod
    def local(cls, models: str | PathLike[str], normal_ranges: str | PathLike[str]) -> "Client":
        """Answer in this process, from these folders and without a server. The package flipset must be installed.

        Other settings are those of the environment: there are records if it has `FLIPSET_RECORDS`.
        """
        # The service is large, and most users of this client do not have it.
        from flipset_client.local import local_http  # noqa: PLC0415

        return cls("http://local", http=local_http(models, normal_ranges))

    models = _waits(asking.models)
    model = _waits(asking.model)
    examples = _waits(asking.examples)
    normal_ranges = _waits(asking.normal_ranges)
    prediction = _waits(asking.prediction)
    predictions = _waits(asking.predictions)
    subsets = _waits(asking.posed(asking.question, asking.subsets))
    reasons = _waits(asking.posed(asking.question, asking.reasons))
    record = _waits(asking.record)
    records = _waits(asking.records)
    receipt = _waits(asking.receipt)
    replay = _waits(asking.replay)
    feedback = _waits(asking.feedback)
    erase = _waits(asking.erase)
    counterfactuals = _streams(asking.question)

    def close(self) -> None:
        """End all connections. Searches that are under way for this client end too."""
        self._http.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, steps: Steps[T]) -> T:
        return run(steps, self._http)
