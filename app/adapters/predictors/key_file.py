"""The key that a predictor asks for: the content of a file, which may change while the service runs."""

from pathlib import Path


class KeyFile:
    """Reads a file again whenever it has changed, as the tokens of a cluster do every hour."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._changed = -1
        self._key = ""

    def read(self) -> str:
        """The key; `OSError` or `ValueError` where there is none."""
        changed = self._file.stat().st_mtime_ns
        if changed != self._changed:
            key = self._file.read_text(encoding="ascii").strip()
            if not key or not key.isprintable():
                raise ValueError("holds no key on one line")
            self._key, self._changed = key, changed
        return self._key
