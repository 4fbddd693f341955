"""Commands that a signal stops between two steps."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class Stopped(BaseException):
    """A signal stopped the command; `code` is its exit status."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@contextmanager
def stoppable() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the run between two partitions, as if they were an error."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise Stopped(128 + number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
