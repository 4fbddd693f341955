"""An archive of all files that were ever served, each under its SHA-256, so that old answers can be replayed."""

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile

from app.adapters.files.snapshots import LOCK, Snapshot

_DIGEST = re.compile(r"[0-9a-f]{64}")


class NotArchived(Exception):
    """The archive does not hold a file of that digest."""


class Archive:
    """A folder of files by digest. Several processes may write to it at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, snapshot: Snapshot) -> None:
        """Copy the files of all models and registries, but for those that are there already; `OSError` if it cannot."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for content in _answering(snapshot):
            file = self._folder / hashlib.sha256(content).hexdigest()
            if not file.exists():
                self._write(file, content)

    def read(self, digest: str) -> bytes:
        """The file of that digest, or `NotArchived`."""
        if not _DIGEST.fullmatch(digest):
            raise NotArchived(digest)
        try:
            content = (self._folder / digest).read_bytes()
        except OSError:
            raise NotArchived(digest) from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise NotArchived(digest)
        return content

    def _write(self, file: Path, content: bytes) -> None:
        """In one step: a reader never sees half of a file."""
        with NamedTemporaryFile("wb", dir=self._folder, prefix=".", delete=False) as new:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
        Path(new.name).replace(file)


def _answering(snapshot: Snapshot) -> Iterable[bytes]:
    """The files that an answer rests on: no examples."""
    return (
        content
        for file, content in snapshot.contents.items()
        if file.name in ("model.onnx", "model.toml") or (file in snapshot.registries and file.name != LOCK)
    )
