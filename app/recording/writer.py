"""The thread that writes records: nobody who waits for an answer waits for it."""

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread

from app.adapters.records.record import Begun, NewRecord
from app.adapters.records.store import Store, StoreLost, UnknownSchema

logger = logging.getLogger("flipset.records")

# Written in one transaction at the most.
MOST_TOGETHER = 256
# Where nobody waits, others may join: a transaction costs as much for several.
GATHER_SECONDS = 0.02
# Between two attempts to write to a store that is lost.
RETRY_SECONDS = 0.5
# How often records are purged that are old enough.
PURGE_SECONDS = 3600.0


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A record to write, or the note that an answer has begun; `written` is set when it is in the store.

    If somebody waits for it, it is written at once or not at all.
    """

    what: NewRecord | Begun
    weight: int
    is_awaited: bool = False
    written: "Future[None]" = field(default_factory=Future)


def _nobody(result: str, count: int) -> None:
    """No one counts."""


def _told_nobody(names: Sequence[str]) -> None:
    """No one listens."""


class Writer:
    """Writes what it is given in the order in which it comes, and tries again as long as the store is lost.

    What waits to be written weighs at most so many bytes: `reserve` says whether there is room for one more.
    `count` receives how many records were `written` or `lost`.
    """

    def __init__(self, store: Store, most_bytes: int, days: int | None = None) -> None:
        self._store = store
        self._most = most_bytes
        self._days = days
        self.count: Callable[[str, int], None] = _nobody
        # Told the ids of records that were written.
        self.tell: Callable[[Sequence[str]], None] = _told_nobody
        self._held = 0
        self._lock = Lock()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._ended = Event()
        self._is_ready = False
        # Whether the last attempt to write has failed.
        self.is_failing = False
        self._thread = Thread(target=self._work, name="records", daemon=True)
        self._thread.start()

    def reserve(self, weight: int) -> bool:
        """Keep room for a record of that weight; it is given back when that is written, or by `release`."""
        with self._lock:
            if self._held and self._held + weight > self._most:
                return False
            self._held += weight
            return True

    def release(self, weight: int) -> None:
        with self._lock:
            self._held -= weight

    def put(self, job: Job) -> None:
        self._jobs.put(job)

    def close(self, seconds: float) -> None:
        """Write what has come so far, for so long."""
        self._jobs.put(None)
        self._thread.join(seconds)
        self._ended.set()

    def _work(self) -> None:
        purged = -PURGE_SECONDS
        while True:
            jobs, is_last = self._next_jobs()
            if jobs:
                self._write(jobs)
            if is_last:
                return
            if self._days is not None and time.monotonic() - purged >= PURGE_SECONDS and not self.is_failing:
                purged = time.monotonic()
                self._purge(self._days)

    def _next_jobs(self) -> tuple[list[Job], bool]:
        """All that waits, after waiting for the first; and whether it is the last."""
        jobs: list[Job] = []
        try:
            job = self._jobs.get(timeout=PURGE_SECONDS if self._is_ready else RETRY_SECONDS)
            if job is not None and not job.is_awaited:
                self._ended.wait(GATHER_SECONDS)
            while job is not None:
                jobs.append(job)
                if len(jobs) == MOST_TOGETHER:
                    return jobs, False
                job = self._jobs.get_nowait()
        except Empty:
            self._attempt([])
            return jobs, False
        return jobs, True

    def _write(self, jobs: Sequence[Job]) -> None:
        again = False
        while not self._attempt(jobs, again):
            jobs, failed = _apart(jobs)
            self._lose(failed)
            if not jobs:
                return
            if self._ended.wait(RETRY_SECONDS):
                self._give_up(jobs)
                return
            again = True

    def _attempt(self, jobs: Sequence[Job], again: bool = False) -> bool:
        """Whether they are settled: written, or refused for good, one by one."""
        try:
            if not self._is_ready:
                self._store.prepare()
                self._is_ready = True
            self._append(self._wanted(jobs), again)
        except (StoreLost, UnknownSchema) as error:
            self._note_failure(error)
            return False
        if self.is_failing:
            logger.warning("records are written again")
            self.is_failing = False
        return True

    def _wanted(self, jobs: Sequence[Job]) -> list[Job]:
        """Without those that somebody has waited for in vain: their requests were refused."""
        given_up = {job for job in jobs if job.written.cancelled()}
        self._lose([*given_up])
        return [job for job in jobs if job not in given_up]

    def _append(self, jobs: Sequence[Job], again: bool) -> None:
        if not jobs:
            return
        begun = [job.what for job in jobs if isinstance(job.what, Begun)]
        records = [job.what for job in jobs if isinstance(job.what, NewRecord)]
        try:
            self._store.append(records, begun, again)
        except StoreLost:
            raise
        except Exception as error:  # noqa: BLE001  # whatever the database has against one of them, the others go on
            if len(jobs) > 1:
                for job in jobs:
                    self._append([job], again)
                return
            # Its text may quote a value.
            logger.error("a record cannot be written: %s", type(error).__name__)  # noqa: TRY400  # no stack
            self._lose(jobs)
        else:
            for job in jobs:
                _tell(job, None)
            self._settle(jobs, "written")
            self.tell([record.id for record in records])

    def _lose(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            _tell(job, StoreLost())
        self._settle(jobs, "lost")

    def _settle(self, jobs: Sequence[Job], result: str) -> None:
        for job in jobs:
            self.release(job.weight)
        if records := sum(isinstance(job.what, NewRecord) for job in jobs):
            self.count(result, records)

    def _give_up(self, jobs: Sequence[Job]) -> None:
        while (job := self._waiting()) is not None:
            jobs = [*jobs, job]
        lost = [job for job in jobs if isinstance(job.what, NewRecord)]
        logger.error("records are lost: the store did not come back", extra={"facts": {"lost": len(lost)}})
        self._lose(jobs)

    def _waiting(self) -> Job | None:
        try:
            return self._jobs.get_nowait()
        except Empty:
            return None

    def _note_failure(self, error: Exception) -> None:
        if not self.is_failing:
            cause = type(error.__cause__ or error).__name__
            logger.error("records cannot be written, and wait: %s", cause)
        self.is_failing = True
        self._is_ready = False

    def _purge(self, days: int) -> None:
        try:
            purged = self._store.purge(time.time_ns() // 1_000_000 - days * 86_400_000)
        except StoreLost as error:
            self._note_failure(error)
            return
        if purged:
            logger.info("records were purged", extra={"facts": {"purged": purged}})


def _apart(jobs: Sequence[Job]) -> tuple[list[Job], list[Job]]:
    """Those that can wait for the store, and those that somebody waits for."""
    return [job for job in jobs if not job.is_awaited], [job for job in jobs if job.is_awaited]


def _tell(job: Job, error: StoreLost | None) -> None:
    """The caller that waits for it may have left."""
    with suppress(InvalidStateError):
        if error is None:
            job.written.set_result(None)
        else:
            job.written.set_exception(error)
