"""Places for the counters of several processes: one that takes the place of a dead one counts on from where it ended.

Files named by process ids would pile up, one set for each worker that ever ran.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

# In memory, and writable in a container whose own file system is not.
PREFERRED = Path("/dev/shm")  # noqa: S108  # the folder made in it is this user's alone, and has a name of its own


class NoSharedFolder(Exception):
    """There is nowhere to write to; the text is for the person who starts the service."""


class Slot:
    """The first place that no living process holds; it is held until this process ends."""

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
    """Forget what was in flight in processes that are dead and not replaced yet; what they counted stays."""
    for file in folder.glob("*.lock"):
        held = _lock(file)
        if held is not None:
            mark_process_dead(file.stem, str(folder))
            os.close(held)


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder for the counters of the processes to come, which goes away with this one."""
    usable = PREFERRED.is_dir() and os.access(PREFERRED, os.W_OK)
    try:
        folder = Path(tempfile.mkdtemp(prefix="flipset-", dir=PREFERRED if usable else None))
    except OSError:
        reason = f"several workers count together in {PREFERRED} or the temporary folder, and neither can be written"
        raise NoSharedFolder(f"FLIPSET_WORKERS: {reason}") from None
    try:
        yield folder
    finally:
        remove(folder)


def keep(folder: Path) -> None:
    """Make the folder again if it has vanished, as when somebody tidies up: what was counted is lost, no more."""
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
