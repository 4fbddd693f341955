"""The supervisor: it tries files before they are served, hands all workers the same, and replaces workers that end."""

import logging
import time
from dataclasses import replace
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOL_SOCKET, socket
from threading import Thread
from typing import NamedTuple

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.snapshots import Snapshot, take_snapshot
from app.adapters.files.versions import doubtful
from app.adapters.graphs.trials import TrialLimits, try_out
from app.adapters.reloads import Attempt, Served
from app.processes.worker_process import MakeApp, Worker
from app.settings import Settings

logger = logging.getLogger("uvicorn.error")

# How often the parent checks for signals, finished trials and dead workers.
TICK_SECONDS = 0.1
# A worker that must stop gets its grace, and this long to clean up.
CLEARING_SECONDS = 5

# After a worker with a shorter life, the next one starts with a delay.
SHORT_LIFE_SECONDS = 5.0
LONGEST_DELAY_SECONDS = 30.0


def _bound(host: str, port: int) -> socket:
    """A socket bound to the port, before any worker starts; they all listen on it."""
    taken = socket(AF_INET6 if ":" in host else AF_INET)
    taken.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
    except OSError as error:
        raise SystemExit(f"Flipset cannot listen on {host}, port {port}: {error.strerror}") from None
    taken.set_inheritable(True)
    return taken


class _Tried(NamedTuple):
    """The result of a trial: the files, their flaws, and warnings."""

    snapshot: Snapshot | None
    flaws: tuple[Flaw, ...]
    warnings: tuple[Flaw, ...] = ()


class Supervisor(Multiprocess):
    """The parent. It never loads a model, so that no model can crash it."""

    processes: list[Worker]  # type: ignore[assignment]  # uvicorn fills it with its own, we with ours

    def __init__(self, settings: Settings, config: uvicorn.Config, make_app: MakeApp) -> None:
        self._settings = settings
        self._make_app = make_app
        self._served: Served | None = None
        self._trials: SimpleQueue[_Tried] = SimpleQueue()
        self._trying = False
        self._asked_again = False
        self._flaws: tuple[Flaw, ...] = ()
        self._failed = False
        self._first: list[Worker] = []
        self._delay = 0.0
        self._not_before = 0.0
        # Before the port is bound: a missing folder is reported at once.
        first = self._take_snapshot()
        super().__init__(config, [_bound(settings.host, settings.port)])
        self._try_out(first)

    def run(self) -> None:
        """Serve until a signal comes; `BrokenFiles` if there is nothing to serve."""
        try:
            # The workers get ready while the models are tried.
            self.init_processes()
            while not self.should_exit.wait(TICK_SECONDS):
                self.handle_signals()
                self._conclude()
                self.keep_subprocess_alive()
        finally:
            # However this ends, no worker is left without a parent.
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
        try:
            for _ in range(self.processes_num):
                self.processes.append(self._started())
            self._first = list(self.processes)
        except OSError as error:
            raise SystemExit(f"Flipset cannot start a worker: {error.strerror}") from None

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
                self.processes[place] = self._another() or worker

    def _another(self) -> Worker | None:
        """Start one more worker; None if the machine has no room for it now."""
        try:
            return self._started()
        except OSError as error:
            self._delay = _longer(self._delay)
            self._not_before = time.monotonic() + self._delay
            logger.error("A worker could not be started (%s).", error.strerror)  # noqa: TRY400  # no stack
            return None

    def _bury(self, worker: Worker) -> None:
        """Clean up a worker that has ended; after a short life the next one waits, longer each time."""
        worker.kill()
        worker.join()
        worker.is_buried = True
        now = time.monotonic()
        short = now - worker.born < SHORT_LIFE_SECONDS
        if worker.exitcode == STARTUP_FAILURE and worker in self._first:
            # Nobody has served yet, and another start would not help.
            logger.error("Worker [%s] failed to start, stopping.", worker.pid)
            self._failed = True
            self.should_exit.set()
            return
        self._delay = _longer(self._delay) if short else 0.0
        self._not_before = now + self._delay
        logger.warning("Worker [%s] ended (exit code %s); another takes its place.", worker.pid, worker.exitcode)

    def handle_hup(self) -> None:
        logger.info("Received SIGHUP, reading models and registries anew.")
        if self._trying:
            # The trial in progress may not have the newest files.
            self._asked_again = True
            return
        try:
            self._try_out(self._take_snapshot())
        except BrokenFiles as error:
            self._trials.put(_Tried(None, error.flaws))
        except Exception as error:  # noqa: BLE001  # whatever it is: keep serving
            self._trials.put(_Tried(None, self._unreadable(error)))

    def _unreadable(self, error: Exception) -> tuple[Flaw, ...]:
        return (Flaw(self._settings.models_dir, "", f"could not be read ({type(error).__name__})"),)

    def handle_ttin(self) -> None:
        if self._settings.workers == 1:
            # A single worker counts in its own memory, and shares no folder of counters.
            logger.warning("Received SIGTTIN, and FLIPSET_WORKERS is 1: there will be no more.")
            return
        worker = self._another()
        if worker is not None:
            self.processes_num += 1
            self.processes.append(worker)

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
        most = settings.model_file_mb * 2**20
        folders = settings.models_dir, settings.normal_ranges_dir
        return take_snapshot(*folders, most, settings.predictor_url, settings.locales_dir)

    def _try_out(self, snapshot: Snapshot) -> None:
        limits = trial_limits(self._settings)
        served = None if self._served is None else self._served.snapshot
        self._trying = True

        def try_and_tell() -> None:
            try:
                tried = _Tried(snapshot, try_out(snapshot, limits), doubtful(snapshot, served))
            except BrokenFiles as error:
                tried = _Tried(snapshot, error.flaws)
            except Exception as error:  # noqa: BLE001  # a trial that is never concluded would be the last one
                tried = _Tried(snapshot, self._unreadable(error))
            self._trials.put(tried)

        # In a thread, so that the parent keeps supervising and handling signals.
        Thread(target=try_and_tell, daemon=True).start()

    def _conclude(self) -> None:
        """If a trial has finished: serve the new files, or keep the current ones."""
        try:
            tried = self._trials.get_nowait()
        except Empty:
            return
        self._trying = False
        now = datetime.now(UTC)
        if self._served is None:
            self._begin(tried, now)
        else:
            attempt = Attempt(now, tried.flaws, tried.warnings)
            self._served = replace(self._served, reloads=self._served.reloads.then(attempt))
            if tried.snapshot is not None and not tried.flaws:
                self._served = replace(self._served, snapshot=tried.snapshot, since=now)
            self._tell(tried)
        if self._served is not None:
            for worker in self.processes:
                worker.hand(self._served)
        if self._asked_again:
            self._asked_again = False
            self.handle_hup()

    def _begin(self, tried: _Tried, now: datetime) -> None:
        if tried.flaws or tried.snapshot is None:
            self._flaws = tried.flaws
            self.should_exit.set()
        else:
            self._served = Served(tried.snapshot, now)
            _warn(tried.warnings)
            # Who comes before a worker is ready waits for it, and is not refused.
            self.sockets[0].listen(self.config.backlog)
            host, port = self.sockets[0].getsockname()[:2]
            logger.info("Serving on http://%s:%d (Press CTRL+C to quit)", f"[{host}]" if ":" in host else host, port)

    def _tell(self, tried: _Tried) -> None:
        if tried.flaws:
            reasons = "\n".join(map(str, tried.flaws))
            logger.error("What was read anew cannot be served, and all stays as it was:\n%s", reasons)
        else:
            logger.info("Models and registries were read anew.")
            _warn(tried.warnings)


def _longer(delay: float) -> float:
    return min(max(2 * delay, 1.0), LONGEST_DELAY_SECONDS)


def _warn(warnings: tuple[Flaw, ...]) -> None:
    for warning in warnings:
        logger.warning("%s", warning)


def trial_limits(settings: Settings) -> TrialLimits:
    """The limits of a trial, from the settings."""
    return TrialLimits(settings.model_load_seconds, settings.model_memory_mb, settings.max_features)
