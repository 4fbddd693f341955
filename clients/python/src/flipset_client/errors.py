"""Everything that can go wrong, as one small tree.

FlipsetError
├── Refused             the service said no before the answer began; `problem` says why
│   ├── InvalidRequest  the request must change; `fields` says what and how
│   ├── NotAllowed      there is no key, or it does not allow this
│   ├── NotFound        there is no such model, registry, record or path
│   ├── Erased          what the record held of a person was erased
│   ├── Busy            the service is full or stopping, or you ask too often; `retry_after` says when to come back
│   └── Unexpected      anything else, such as a defect of the service or the page of a proxy
├── AnswerFailed        the answer broke down after it had begun; `problem` says why
├── CutStream           the answer ended without its last line
├── TimedOut            the service was silent for longer than `timeout`
├── Unreachable         there is no connection to the service
└── StillSearching      you asked for the summary before the last plan

No message quotes a value of an instance.
"""

from flipset_client.lines import Problem, ProblemField


class FlipsetError(Exception):
    """Whatever this client raises. An error can cross to another process: it is made again from its arguments."""

    # Whether the same request may succeed a little later.
    is_passing = False
    # How many seconds the service asks to wait.
    retry_after: float | None = None


class Refused(FlipsetError):
    """The service refused a request. `problem` is None if it gave no reason."""

    def __init__(self, status: int, problem: Problem | None = None, retry_after: float | None = None) -> None:
        super().__init__(status, problem, retry_after)
        self.status = status
        self.problem = problem
        self.retry_after = retry_after

    def __str__(self) -> str:
        return _told(self.problem) if self.problem else _untold(self.status)

    @property
    def kind(self) -> str:
        """The kind of problem, such as `unknown-model`; empty if the service gave no reason."""
        return self.problem.kind if self.problem else ""

    @property
    def fields(self) -> tuple[ProblemField, ...]:
        """The fields that were refused, and how to fix each."""
        return self.problem.errors if self.problem else ()


class InvalidRequest(Refused):
    """The request must change."""


class NotAllowed(Refused):
    """There is no key, or it does not allow this."""


class NotFound(Refused):
    """There is no such model, registry, record or path."""


class Erased(Refused):
    """What the record held of a person was erased."""


class Busy(Refused):
    """The service is full or stopping, or you ask too often."""

    is_passing = True


class Unexpected(Refused):
    """An answer that no healthy service gives."""


class AnswerFailed(FlipsetError):
    """The answer broke down after it had begun; the plans that came before it are right."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return _told(self.problem)


class CutStream(FlipsetError):
    """The answer ended without its last line; the plans that came are right, but others may be missing."""

    def __init__(self, why: str = "It has no last line.") -> None:
        super().__init__(why)

    def __str__(self) -> str:
        return f"The answer was cut off. {self.args[0]}"


class TimedOut(FlipsetError):
    """The service was silent for too long."""

    def __str__(self) -> str:
        return "The service was silent for longer than the client's timeout."


class Unreachable(FlipsetError):
    """There is no connection to the service, or it was lost before the answer began."""

    is_passing = True

    def __init__(self, why: str) -> None:
        super().__init__(why)

    def __str__(self) -> str:
        return f"The service cannot be reached. {self.args[0]}"


class StillSearching(FlipsetError):
    """The summary is the last line, and it has not been read."""

    def __str__(self) -> str:
        return "The summary comes after the last plan: read all plans first."


_BY_STATUS: dict[int, type[Refused]] = {
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    410: Erased,
    429: Busy,
    503: Busy,
}


def refusal(status: int, problem: Problem | None, retry_after: float | None) -> Refused:
    """The error that fits a status."""
    usual = InvalidRequest if 400 <= status < 500 else Unexpected
    return _BY_STATUS.get(status, usual)(status, problem, retry_after)


def _untold(status: int) -> str:
    if status < 300:
        return "The service sent something that this client cannot read."
    return f"The service answered with status {status} and no reason."


def _told(problem: Problem) -> str:
    fields = [f"{error.field}: {error.message}" for error in problem.errors]
    return "\n  ".join([f"{problem.title}.", *fields]) if fields else problem.detail or problem.title
