"""Looking after the workers: what they serve is tried first, all get the same, and one that ends is replaced."""

import copy
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOL_SOCKET, socket
from threading import Thread
from typing import Any

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from app.adapters.flaws import BrokenFiles, Flaw
from app.adapters.snapshots import Snapshot, take_snapshot
from app.adapters.trials import TrialLimits, try_out
from app.api.reloads import Attempt, Served
from app.settings import Settings

logger = logging.getLogger("uvicorn.error")

# How often the parent looks for signals, for a trial that is over, and for workers that are gone.
TICK_SECONDS = 0.1
# A worker that is told to stop gets its grace, and so long to clear up.
CLEARING_SECONDS = 5

# One that does not live so long is followed by the next only after a while.
SHORT_LIFE_SECONDS = 5.0
LONGEST_DELAY_SECONDS = 30.0

MakeApp = Callable[[Settings, Connection], Any]


def _bound(host: str, port: int) -> socket:
    """The port, taken before any worker starts; they all listen on it."""
    taken = socket(AF_INET6 if ":" in host else AF_INET)
    taken.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
    except OSError as error:
        raise SystemExit(f"Flipset cannot listen on {host}, port {port}: {error.strerror}") from None
    taken.set_inheritable(True)
    return taken


class Worker(Process):
    """A process that serves, and the way to hand it what it serves."""

    def __init__(self, settings: Settings, config: uvicorn.Config, sockets: list[socket], make_app: MakeApp) -> None:
        self._theirs, self._ours = Pipe(duplex=False)
        own = copy.copy(config)
        own.app = partial(make_app, settings, self._theirs)
        self._orders: SimpleQueue[Served | None] = SimpleQueue()
        self._asked: float | None = None
        self.born = time.monotonic()
        self.is_buried = False
        super().__init__(own, sockets)

    def __getstate__(self) -> dict[str, Any]:
        # What the other side needs of it.
        ends = {"parent_conn": self.parent_conn, "child_conn": self.child_conn}
        return {"config": self.config, "_server": None, **ends}

    def start(self) -> None:
        super().start()
        # Once only the worker holds its end, each learns when the other is gone.
        self._theirs.close()
        Thread(target=self._deliver, daemon=True).start()

    def hand(self, served: Served) -> None:
        """Have it serve this as soon as it can."""
        self._orders.put(served)

    def _deliver(self) -> None:
        # In a thread: a worker that is still starting takes nothing yet.
        with self._ours:
            try:
                while (served := self._orders.get()) is not None:
                    self._ours.send(served)
            except OSError:
                # It has ended; another one gets the same.
                return

    def is_alive(self, timeout: float = 5) -> bool:
        """Whether it runs, and has answered within this time. Nobody waits for its answer here."""
        if self.is_buried or not self.process.is_alive():
            return False
        while self.parent_conn.poll():
            self.parent_conn.recv()
            self._asked = None
        if self._asked is None:
            self._asked = time.monotonic()
            self.parent_conn.send(b"ping")
        return time.monotonic() - self._asked < timeout

    def terminate(self) -> None:
        self._orders.put(None)
        super().terminate()

    def kill(self) -> None:
        self._orders.put(None)
        super().kill()


class Supervisor(Multiprocess):
    """The parent. It never loads a model itself, so that none can take it down."""

    processes: list[Worker]  # type: ignore[assignment]  # uvicorn fills it with its own, we with ours

    def __init__(self, settings: Settings, config: uvicorn.Config, make_app: MakeApp) -> None:
        self._settings = settings
        self._make_app = make_app
        self._served: Served | None = None
        self._trials: SimpleQueue[tuple[Snapshot | None, tuple[Flaw, ...]]] = SimpleQueue()
        self._trying = False
        self._asked_again = False
        self._flaws: tuple[Flaw, ...] = ()
        self._failed = False
        self._begun = time.monotonic()
        self._delay = 0.0
        self._not_before = 0.0
        # Looked at before the port is taken: a missing folder is told at once.
        first = self._take_snapshot()
        super().__init__(config, [_bound(settings.host, settings.port)])
        self._try_out(first)

    def run(self) -> None:
        """Until a signal comes; `BrokenFiles` if there is nothing to serve."""
        # The workers get ready while the models are tried.
        self.init_processes()
        try:
            while not self.should_exit.wait(TICK_SECONDS):
                self.handle_signals()
                self._conclude()
                self.keep_subprocess_alive()
        finally:
            # However this ends: nobody is left behind whom nobody looks after.
            self._end_all()
        if self._flaws:
            raise BrokenFiles(self._flaws)
        if self._failed:
            raise SystemExit(STARTUP_FAILURE)

    def _end_all(self) -> None:
        if self._flaws:
            for worker in self.processes:
                worker.kill()
            return
        self.terminate_all()
        self.join_all()

    def init_processes(self) -> None:
        self.processes = [self._started() for _ in range(self.processes_num)]

    def _started(self) -> Worker:
        worker = Worker(self._settings, self.config, self.sockets, self._make_app)
        if self._served is not None:
            worker.hand(self._served)
        worker.start()
        return worker

    def keep_subprocess_alive(self) -> None:
        for place, worker in enumerate(self.processes):
            if self.should_exit.is_set() or worker.is_alive(self.config.timeout_worker_healthcheck):
                continue
            if not worker.is_buried:
                self._bury(worker)
            if not self.should_exit.is_set() and time.monotonic() >= self._not_before:
                self.processes[place] = self._started()

    def _bury(self, worker: Worker) -> None:
        """Clear away one that has ended; where it did not live long, the next one has to wait, longer each time."""
        worker.kill()
        worker.join()
        worker.is_buried = True
        now = time.monotonic()
        short = now - worker.born < SHORT_LIFE_SECONDS
        if worker.exitcode == STARTUP_FAILURE and now - self._begun < SHORT_LIFE_SECONDS:
            logger.error("Worker [%s] failed to start, stopping.", worker.pid)
            self._failed = True
            self.should_exit.set()
            return
        self._delay = min(max(2 * self._delay, 1.0), LONGEST_DELAY_SECONDS) if short else 0.0
        self._not_before = now + self._delay
        logger.warning("Worker [%s] ended (exit code %s); another takes its place.", worker.pid, worker.exitcode)

    def handle_hup(self) -> None:
        logger.info("Received SIGHUP, reading models and registries anew.")
        if self._trying:
            # What is tried now may be older than what was meant.
            self._asked_again = True
            return
        try:
            self._try_out(self._take_snapshot())
        except BrokenFiles as error:
            self._trials.put((None, error.flaws))
        except Exception as error:  # noqa: BLE001  # whatever it is: what is served goes on
            self._trials.put((None, self._unreadable(error)))

    def _unreadable(self, error: Exception) -> tuple[Flaw, ...]:
        return (Flaw(self._settings.models_dir, "", f"could not be read ({type(error).__name__})"),)

    def handle_ttin(self) -> None:
        if self._settings.workers == 1:
            # One alone counts in its own memory, and has nowhere to count together with another.
            logger.warning("Received SIGTTIN, and FLIPSET_WORKERS is 1: there will be no more.")
            return
        self.processes_num += 1
        self.processes.append(self._started())

    def join_all(self) -> None:
        until = time.monotonic() + self._settings.grace_seconds + CLEARING_SECONDS
        for worker in self.processes:
            worker.process.join(max(0.0, until - time.monotonic()))
            if worker.process.is_alive():
                logger.error("Worker [%s] does not end, and is killed.", worker.pid)
                worker.process.kill()
                worker.process.join()

    def _take_snapshot(self) -> Snapshot:
        settings = self._settings
        return take_snapshot(settings.models_dir, settings.normal_ranges_dir, settings.model_file_mb * 2**20)

    def _try_out(self, snapshot: Snapshot) -> None:
        limits = trial_limits(self._settings)
        self._trying = True

        def try_and_tell() -> None:
            try:
                flaws = try_out(snapshot, limits)
            except Exception as error:  # noqa: BLE001  # a trial that is never concluded would be the last one
                flaws = self._unreadable(error)
            self._trials.put((snapshot, flaws))

        # In a thread: workers are looked after, and signals heard, meanwhile.
        Thread(target=try_and_tell, daemon=True).start()

    def _conclude(self) -> None:
        """If a trial is over: serve what was tried from now on, or go on with what there is."""
        try:
            snapshot, flaws = self._trials.get_nowait()
        except Empty:
            return
        self._trying = False
        now = datetime.now(UTC)
        if self._served is None:
            self._begin(snapshot, flaws, now)
        else:
            self._served = replace(self._served, reloads=self._served.reloads.then(Attempt(now, flaws)))
            if snapshot is not None and not flaws:
                self._served = replace(self._served, snapshot=snapshot, since=now)
            self._tell(flaws)
        if self._served is not None:
            for worker in self.processes:
                worker.hand(self._served)
        if self._asked_again:
            self._asked_again = False
            self.handle_hup()

    def _begin(self, snapshot: Snapshot | None, flaws: tuple[Flaw, ...], now: datetime) -> None:
        if flaws or snapshot is None:
            self._flaws = flaws
            self.should_exit.set()
        else:
            self._served = Served(snapshot, now)
            host, port = self.sockets[0].getsockname()[:2]
            logger.info("Serving on http://%s:%d (Press CTRL+C to quit)", f"[{host}]" if ":" in host else host, port)

    def _tell(self, flaws: tuple[Flaw, ...]) -> None:
        if flaws:
            reasons = "\n".join(map(str, flaws))
            logger.error("What was read anew cannot be served, and all stays as it was:\n%s", reasons)
        else:
            logger.info("Models and registries were read anew.")


def trial_limits(settings: Settings) -> TrialLimits:
    """What the settings allow a model."""
    return TrialLimits(settings.model_load_seconds, settings.model_memory_mb, settings.max_features)
