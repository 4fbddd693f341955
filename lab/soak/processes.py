"""What the kernel says of the server's processes: threads, open files, memory, time."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Held:
    """What one process holds."""

    threads: int
    files: int


def workers_of(parent: int) -> list[int]:
    """The processes that serve: children that were spawned, the tracker of shared things aside."""
    try:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except OSError:
        return []
    return [int(child) for child in children if b"spawn_main" in _read(child, "cmdline")]


def _read(process: int | str, what: str) -> bytes:
    try:
        return Path(f"/proc/{process}/{what}").read_bytes()
    except OSError:
        return b""


def held_by(process: int) -> Held:
    threads, files = (list(Path(f"/proc/{process}/{what}").iterdir()) for what in ("task", "fd"))
    return Held(len(threads), len(files))


def memory(processes: list[int]) -> float:
    """Megabytes that they hold together, what they share counted once (PSS)."""
    total = 0
    for process in processes:
        for line in _read(process, "smaps_rollup").splitlines():
            if line.startswith(b"Pss:"):
                total += int(line.split()[1])
    return total / 1024


def seconds_worked(processes: list[int]) -> float:
    """Processor time that they have used, since they started."""
    fields = [_read(process, "stat").rpartition(b")")[2].split() for process in processes]
    return sum(int(entry[11]) + int(entry[12]) for entry in fields if entry) / TICKS


def share_worked(processes: list[int], seconds: float = 2.0) -> float:
    """Which part of a processor they use at the moment."""
    before, began = seconds_worked(processes), time.monotonic()
    time.sleep(seconds)
    return (seconds_worked(processes) - before) / (time.monotonic() - began)
