"""What has come of an answer so far: bytes in, lines out. It reads nothing itself, and keeps no line that was taken."""

from collections import deque

import httpx

from flipset_client.errors import AnswerFailed, CutStream, Unexpected
from flipset_client.exchanges import failure_midway
from flipset_client.lines import Line, Problem, Progress, Summary
from flipset_client.reading import read_line


class Incoming:
    """The lines that have arrived and were not taken, and the latest of each kind that stands alone."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._rest = b""
        # Whether all that will ever come has come, and whether nobody wants the rest.
        self.ended = self._stopped = False
        self.progress: Progress | None = None
        self.summary: Summary | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether there is nothing to take, but may be something to come."""
        return not self._lines and not self.ended

    def feed(self, piece: bytes | None) -> None:
        """Take in what has arrived; None if that was all."""
        if piece is None:
            piece, self.ended = b"\n", True
        *lines, self._rest = (self._rest + piece).split(b"\n")
        self._lines += [line for line in lines if line.strip()]

    def fail(self, error: httpx.RequestError) -> None:
        """Nothing more will come. After the last line that is no loss."""
        self.ended = True
        if self.summary is None:
            raise failure_midway(error) from error

    def stop(self) -> None:
        """Forget what was not taken."""
        self._lines.clear()
        self.ended = self._stopped = True

    def take(self) -> Line | None:
        """The next line; None if the last one has been taken."""
        while self._lines:
            line = self._read(self._lines.popleft())
            if isinstance(line, Problem):
                raise AnswerFailed(line)
            if line is not None:
                return self._noted(line)
        if self.ended and self.summary is None and not self._stopped:
            raise CutStream
        return None

    def _read(self, text: bytes) -> Line | Problem | None:
        try:
            return read_line(text)
        except (ValueError, KeyError, TypeError) as error:
            # The last piece of a stream that was cut is half a line.
            raise CutStream if self.ended and not self._lines else Unexpected(200) from error

    def _noted(self, line: Line) -> Line:
        if isinstance(line, Progress):
            self.progress = line
        elif isinstance(line, Summary):
            self.summary = line
        return line
