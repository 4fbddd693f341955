"""Tokens that were accepted, so that none is accepted twice, in any process of a service."""

import os
import shutil
from hashlib import sha256
from pathlib import Path

MINUTE = 60


class AcceptedTokens:
    """An empty file for each, in a folder for the minute in which it ends; a folder whose minute is over is removed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "tokens"

    def accept(self, issuer: str, name: str, until: int, now: int) -> bool:
        """Whether it comes for the first time; `until` is when nobody would accept it any more."""
        minute = str(until // MINUTE)
        # Systems clear their folder for what is temporary.
        self._folder.mkdir(parents=True, exist_ok=True)
        self._forget(now)
        digest = sha256(f"{issuer}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()
        if any((other / digest).exists() for other in self._folder.iterdir() if other.name != minute):
            return False
        place = self._folder / minute
        place.mkdir(exist_ok=True)
        try:
            # The system makes it for one process only, however many try at once.
            os.close(os.open(place / digest, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        return True

    def _forget(self, now: int) -> None:
        for minute in self._folder.iterdir():
            if minute.name.isdecimal() and int(minute.name) < now // MINUTE - 1:
                shutil.rmtree(minute, ignore_errors=True)
