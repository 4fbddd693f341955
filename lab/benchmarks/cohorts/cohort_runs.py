"""`flipset cohort`, run as a person would run it: how long it takes, and how much memory all its processes hold."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cohorts.processes import descendants
from tests.cohorts.running import environment
from tests.support.live_server import FLIPSET, ROOT

# How often it is looked at how much memory there is in use.
LOOK_SECONDS = 0.05


class RunFailed(Exception):
    """The command did not do what it was asked for; says what it said."""


@dataclass(frozen=True)
class Run:
    """One command; the folder of its answers is emptied before each."""

    model: str
    people: Path
    context: Sequence[str]
    workers: int
    out: Path

    def whole(self, *options: str) -> float:
        """How many seconds the command takes, its start included."""
        self._empty()
        began = time.perf_counter()
        _end(self._started([FLIPSET], *options))
        return time.perf_counter() - began

    def without_start(self) -> float:
        """The same from the moment that its processes have the model, and have answered for somebody."""
        self._empty()
        said = _end(self._started([sys.executable, "-m", "lab.benchmarks.cohorts.timed_cohort"]))
        return float(json.loads(said.splitlines()[-1])["seconds"])

    def watched(self) -> tuple[float, int]:
        """How many seconds the command takes, and the most bytes that it and its processes hold together."""
        self._empty()
        began, most = time.perf_counter(), 0
        process = self._started([FLIPSET])
        while process.poll() is None:
            most = max(most, memory_of([process.pid, *descendants(process.pid)]))
            time.sleep(LOOK_SECONDS)
        seconds = time.perf_counter() - began
        _end(process)
        return seconds, most

    def answers(self) -> Path:
        self.whole()
        return self.out

    def _empty(self) -> None:
        shutil.rmtree(self.out, ignore_errors=True)

    def _started(self, command: Sequence[str], *options: str) -> subprocess.Popen[str]:
        asked = ["cohort", self.model, str(self.people), "--out", str(self.out), "--id", "person"]
        context = ["--context", ",".join(self.context)] if self.context else []
        return subprocess.Popen(
            [*command, *asked, *context, "--workers", str(self.workers), *options],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def _end(process: subprocess.Popen[str]) -> str:
    said, complaints = process.communicate()
    if process.returncode:
        raise RunFailed(complaints[-1000:])
    return said


def memory_of(processes: Sequence[int]) -> int:
    """What these processes hold, in bytes; what several share is counted once among them (Pss)."""
    return sum(map(_share, processes))


def _share(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        # It has ended meanwhile.
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
