"""The keys of a running server: read again when the file changes, without a restart."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

from app.adapters.files.flaws import BrokenFiles
from app.adapters.keys.key import Key, matching
from app.adapters.keys.key_file import exposure, read_keys

# Log filters may match this name: it must stay, wherever the module is.
logger = logging.getLogger("app.adapters.key_ring")

# The file is looked at this often at the most: a revoked key is refused after so long in every process.
LOOK_SECONDS = 1.0


class KeyRing:
    """The keys of one file. If the file becomes broken, the last good keys stay."""

    def __init__(self, file: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._file = file
        self._clock = clock
        self._keys: dict[str, Key] = {}
        # The file as it was when it was last read with success, and what was said of it since.
        self._seen: tuple[int, ...] | None = ()
        self._told = ""
        self._look_at = clock()

    def find(self, text: str) -> Key | None:
        """The key with this text, if there is one; `Expired` if it has expired."""
        if self._clock() >= self._look_at:
            self.look()
        return matching(text, self._keys)

    def look(self) -> None:
        """Read the file again if it has changed, or if the last attempt failed."""
        self._look_at = self._clock() + LOOK_SECONDS
        seen = self._state()
        if seen == self._seen:
            self._told = ""
            return
        try:
            self._keys = read_keys(self._file)
        except BrokenFiles as error:
            self._tell(str(error))
        else:
            self._seen, self._told = seen, ""
            if self._keys:
                logger.info("%d keys read from %s", len(self._keys), self._file)
            else:
                logger.error("%s holds no key: nobody gets in until you make one with flipset keys add", self._file)
            if (exposed := exposure(self._file)) is not None:
                logger.warning("%s", exposed)

    def _tell(self, reason: str) -> None:
        """Log it once, not every second."""
        if reason != self._told:
            self._told = reason
            logger.error("the key file cannot be read, %d keys stay as they were: %s", len(self._keys), reason)

    def _state(self) -> tuple[int, ...] | None:
        try:
            state = self._file.stat()
        except OSError:
            return None
        # The time of the last change of any kind too: the other one can be set at will.
        return state.st_mtime_ns, state.st_ctime_ns, state.st_ino, state.st_size
