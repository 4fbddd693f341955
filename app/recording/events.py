"""Tells an address of every record that was written: CloudEvents 1.0, one POST each, as JSON in structured mode.

An event holds what the record seals, so nothing personal; and with it the hash that the chain can be checked by.
"""

import json
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING

from app.adapters.predictors.key_file import KeyFile
from app.adapters.records.record import Record
from app.adapters.records.store import Store, StoreLost

if TYPE_CHECKING:
    import httpx

logger = logging.getLogger("flipset.records")

# Records that wait to be told; those that come on top are dropped.
MOST_WAITING = 10_000
# Between two attempts: half a second at first, each time twice as long.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
MOST_ATTEMPTS = 10
# Of one attempt, each time that something is waited for; and what is read of a reply.
PATIENCE_SECONDS = 10.0
MOST_BYTES = 65_536
# A refusal that may pass; every other one is for good.
PASSING = (408, 425, 429)


def _nobody(result: str) -> None:
    """No one counts."""


class Events:
    """Sends events in a thread of its own, in the order in which the records were written by this process.

    What cannot be sent is tried again, then dropped. `count` receives `sent` or `dropped` for each.
    """

    def __init__(self, store: Store, url: str, source: str, key_file: Path | None = None) -> None:
        # Imported here: few need it.
        import httpx  # noqa: PLC0415

        self._failures = (httpx.TransportError, OSError, ValueError)
        # Neither proxies of the environment nor redirects: events go to the address of the settings, and nowhere else.
        self._client = httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False, follow_redirects=False)
        self._store, self._url, self._source = store, url, source
        self._key = None if key_file is None else KeyFile(key_file)
        self.count: Callable[[str], None] = _nobody
        self._names: Queue[str | None] = Queue(MOST_WAITING)
        self._ended = Event()
        self._is_failing = False
        self._thread = Thread(target=self._work, name="record events", daemon=True)
        self._thread.start()

    def put(self, names: Sequence[str]) -> None:
        """These records were written. Never waits."""
        for name in names:
            try:
                self._names.put_nowait(name)
            except Full:
                self.count("dropped")

    def close(self, seconds: float) -> None:
        """Send what waits, for so long; the rest is dropped."""
        try:
            self._names.put(None, timeout=seconds)
            self._thread.join(seconds)
        except Full:
            pass
        self._ended.set()

    def _work(self) -> None:
        with self._client:
            while (name := self._names.get()) is not None:
                self.count("sent" if self._send(name) else "dropped")

    def _send(self, name: str) -> bool:
        pause = FIRST_PAUSE
        for _ in range(MOST_ATTEMPTS):
            if self._ended.is_set():
                return False
            try:
                record = self._store.find(name)
                # One that was purged meanwhile is no news.
                status = 410 if record is None else self._post(event_json(record, self._source))
            except (StoreLost, *self._failures) as error:
                self._note(type(error).__name__)
            else:
                if status < 300:
                    self._is_failing = False
                    return True
                self._note(f"status {status}")
                if status < 500 and status not in PASSING:
                    return False
            self._ended.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        return False

    def _post(self, event: str) -> int:
        headers = {"Content-Type": "application/cloudevents+json; charset=utf-8"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key.read()}"
        with self._client.stream("POST", self._url, content=event.encode(), headers=headers) as response:
            _read(response)
            return response.status_code

    def _note(self, failure: str) -> None:
        if not self._is_failing:
            logger.warning("events of records cannot be sent, and are tried again: %s", failure)
        self._is_failing = True


def _read(response: "httpx.Response") -> None:
    """To its end, so that the connection can be used again, unless that is too far."""
    length = 0
    for piece in response.iter_raw():
        length += len(piece)
        if length > MOST_BYTES:
            return


def event_json(record: Record, source: str) -> str:
    """The event of one record. It is the same whenever it is sent: a receiver knows doubles by their id."""
    about = {
        "specversion": "1.0",
        "type": "flipset.record.written",
        "source": source,
        "id": record.id,
        "time": datetime.fromtimestamp(record.at / 1000, UTC).isoformat(timespec="milliseconds"),
        "datacontenttype": "application/json",
    }
    return f'{json.dumps(about)[:-1]},"data":{{"hash":"{record.hash}","sealed":{record.sealed}}}}}'
