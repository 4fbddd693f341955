"""The progress of a run: a bar in a terminal, a line now and then in a log."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

# Seconds between two lines in a log.
LINE_SECONDS = 10


class Pace:
    """How many rows are answered, and how fast. Rows that an earlier run answered do not count for the pace."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self._own = 0
        self._began = time.monotonic()

    def passed_over(self, rows: int) -> None:
        self.done += rows
        self.tell()

    def answered(self, rows: int) -> None:
        self.done += rows
        self._own += rows
        self.tell()

    def tell(self) -> None:
        """Show the progress; subclasses do."""

    @property
    def words(self) -> str:
        seconds = max(time.monotonic() - self._began, 1e-6)
        rate = self._own / seconds
        left = "" if not rate else f", {_clock(max(self.total - self.done, 0) / rate)} left"
        return f"{rate:,.0f} a second, {_clock(seconds)} so far{left}"


class Lines(Pace):
    """Progress as lines of a log."""

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self._told = time.monotonic()

    def tell(self) -> None:
        if time.monotonic() - self._told >= LINE_SECONDS:
            self._told = time.monotonic()
            print(f"{self.done:,} of {self.total:,} people, {self.words}", file=sys.stderr, flush=True)


class Bar(Pace):
    """Progress as a bar in a terminal."""

    def __init__(self, total: int, progress: Progress) -> None:
        super().__init__(total)
        self._progress = progress
        self._task: TaskID = progress.add_task("people", total=total, words="")

    def tell(self) -> None:
        self._progress.update(self._task, completed=self.done, words=self.words)


@contextmanager
def watching(total: int) -> Iterator[Pace]:
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(total)
        return
    columns = (TextColumn("people"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}"))
    with Progress(*columns, console=console) as progress:
        yield Bar(total, progress)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
