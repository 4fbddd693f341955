"""Slots for the counters of several processes: a new process continues the counters of the dead one that it replaces.

Files named by process ids would pile up, one set for each worker that ever ran.
"""

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from math import inf
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

# Log filters may match this name: it must stay, wherever the module is.
logger = logging.getLogger("app.api.slots")

# Three files for each process, which start at 64 KB and grow with the number of models.
BYTES_A_PROCESS = 2 * 2**20
# In memory, and writable in a container whose own file system is not.
PREFERRED = Path("/dev/shm")  # noqa: S108  # the folder made in it is this user's alone, and has a name of its own


class NoSharedFolder(Exception):
    """There is no folder for the counters; the text is for the person who starts the service."""


class Slot:
    """The first slot that no living process holds. This process holds it until it ends."""

    def __init__(self, folder: Path) -> None:
        keep(folder)
        for number in count():
            held = _lock(folder / f"{number}.lock")
            if held is not None:
                break
        self._held = held
        self._number = number
        # What the one before was in the middle of is over.
        mark_process_dead(number, str(folder))

    def number(self) -> int:
        return self._number


def clear_dead_slots(folder: Path) -> None:
    """Reset what was in flight in dead processes that are not replaced yet; their counters stay."""
    for file in folder.glob("*.lock"):
        held = _lock(file)
        if held is not None:
            mark_process_dead(file.stem, str(folder))
            os.close(held)


@contextmanager
def shared_folder(processes: int) -> Iterator[Path]:
    """A folder for the counters of this many processes. It is removed when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="flipset-", dir=_roomy(processes * BYTES_A_PROCESS)))
    try:
        yield folder
    finally:
        remove(folder)


def _roomy(needed: int) -> Path:
    """A place with room for the counters. They are memory-mapped files: without room, a process would crash."""
    for place in (PREFERRED, _temporary()):
        if place is None or not (place.is_dir() and os.access(place, os.W_OK)):
            continue
        if _free(place) >= needed:
            return place
        logger.warning("The workers do not count together in %s: less than %d MB are free.", place, needed // 2**20)
    reason = f"several workers need {PREFERRED} or the temporary folder for their counters, and neither can be written"
    raise NoSharedFolder(f"FLIPSET_WORKERS: {reason}, or has {needed // 2**20} MB free")


def _temporary() -> Path | None:
    try:
        return Path(tempfile.gettempdir())
    except OSError:
        return None


def _free(folder: Path) -> float:
    found = os.statvfs(folder)
    # A file system in memory that has no limit has no blocks either.
    return found.f_bavail * found.f_frsize if found.f_blocks else inf


def keep(folder: Path) -> None:
    """Make the folder again if somebody removed it. The counts are lost, nothing else."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _lock(file: Path) -> int | None:
    """Hold the file, unless another process does, or this one already."""
    # Here, because only a service of several processes needs it, and Windows has none of it.
    import fcntl  # noqa: PLC0415

    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return descriptor
    os.close(descriptor)
    return None
