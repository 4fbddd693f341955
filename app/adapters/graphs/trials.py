"""Trials: a child process first loads and warms up the models, within limits of time and memory.

One child tries them all. If a model crashes it, the flaw names that model, and another child tries the rest.
"""

import os
import resource
import signal
import time
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.snapshots import Snapshot
from app.adapters.machine.core_dumps import leave_no_core_dump

# A child that has not begun by then will not do so any more.
START_SECONDS = 60
# How a child ends that ran out of memory and could still say so.
OUT_OF_MEMORY = 70


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """What a model may take while it is loaded and warmed up, and how many features it may have."""

    seconds: int
    memory_mb: int
    features: int


def try_out(snapshot: Snapshot, limits: TrialLimits) -> tuple[Flaw, ...]:
    """Load the files in a child process, and return what is wrong with them."""
    fatal: list[Flaw] = []
    left_out: list[Path] = []
    while True:
        trial = _Trial(snapshot, limits, left_out)
        flaws = trial.flaws()
        if flaws is not None:
            return (*fatal, *flaws)
        if trial.folder is None:
            return (*fatal, Flaw(snapshot.models_dir, "", f"could not be tried: {trial.end}"))
        fatal.append(Flaw(trial.folder / "model.onnx", "", trial.end))
        left_out.append(trial.folder)


class _Trial:
    """One child at work."""

    def __init__(self, snapshot: Snapshot, limits: TrialLimits, left_out: list[Path]) -> None:
        self._limits = limits
        # The model that it is at, and what ended it there.
        self.folder: Path | None = None
        self.end = ""
        context = get_context("spawn")
        self._reports, told = context.Pipe(duplex=False)
        self._child = context.Process(target=_load_all, args=(told, snapshot, limits, tuple(left_out)), daemon=True)
        self._child.start()
        told.close()

    def flaws(self) -> tuple[Flaw, ...] | None:
        """What the child found, or None if it did not get to its end."""
        try:
            while self._reports.poll(START_SECONDS if self.folder is None else self._limits.seconds):
                report = self._reports.recv()
                if not isinstance(report, Path):
                    flaws: tuple[Flaw, ...] = report
                    return flaws
                self.folder = report
            self.end = _too_long(self._limits)
        except EOFError:
            self._child.join()
            self.end = _end_of(self._child.exitcode, self._limits)
        finally:
            self._child.kill()
            self._child.join()
            self._child.close()
            self._reports.close()
        return None


def _end_of(code: int | None, limits: TrialLimits) -> str:
    if code == OUT_OF_MEMORY:
        return f"needs more than {limits.memory_mb} MB of memory to load (FLIPSET_MODEL_MEMORY_MB)"
    if code == -signal.SIGXCPU:
        return _too_long(limits)
    how = signal.Signals(-code).name if code is not None and code < 0 else f"exit status {code}"
    return f"crashed the process that loaded it ({how}), perhaps out of memory (FLIPSET_MODEL_MEMORY_MB)"


def _too_long(limits: TrialLimits) -> str:
    return f"did not load and answer within {limits.seconds} s (FLIPSET_MODEL_LOAD_SECONDS)"


def _load_all(told: Connection, snapshot: Snapshot, limits: TrialLimits, left_out: tuple[Path, ...]) -> None:
    """In the child: load everything; send the folder of each model before it is loaded, and the flaws at the end."""
    # Imported here: only the child needs to load models.
    from app.adapters.catalog import catalog_of, check_features  # noqa: PLC0415

    leave_no_core_dump()
    # Ctrl+C reaches all processes of a terminal; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def before_each(folder: Path) -> None:
        told.send(folder)
        _limit(limits)

    flaws: Any = ()
    try:
        check_features(catalog_of(snapshot, left_out=left_out, before_each=before_each), limits.features)
    except BrokenFiles as error:
        flaws = error.flaws
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    told.send(flaws)


def _limit(limits: TrialLimits) -> None:
    """Limit memory and processor time from here on; what the runtime and earlier models already use does not count."""
    # If the parent is gone, the limit of processor time still ends it.
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (_lowered(int(time.process_time()) + limits.seconds + 1, most), most))
    statm = Path("/proc/self/statm")
    if statm.exists():
        taken = int(statm.read_text().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_lowered(taken + limits.memory_mb * 2**20, most), most))


def _lowered(wanted: int, most: int) -> int:
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most)
