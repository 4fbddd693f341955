"""The parent's side of a worker: the process, its sign of life, and the way to hand it what it serves."""

import copy
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import SimpleQueue
from socket import socket
from threading import Thread
from typing import Any

import uvicorn
from uvicorn.supervisors.multiprocess import Process

from app.adapters.reloads import Served
from app.settings import Settings

MakeApp = Callable[[Settings, Connection], Any]


class Worker(Process):
    """A process that serves what `hand` gives it."""

    def __init__(self, settings: Settings, config: uvicorn.Config, sockets: list[socket], make_app: MakeApp) -> None:
        self._theirs, self._ours = Pipe(duplex=False)
        own = copy.copy(config)
        own.app = partial(make_app, settings, self._theirs)
        self._orders: SimpleQueue[Served | None] = SimpleQueue()
        self._asked: float | None = None
        self.born = time.monotonic()
        self.is_buried = False
        super().__init__(own, sockets)

    def __getstate__(self) -> dict[str, Any]:
        # What the new process needs.
        ends = {"parent_conn": self.parent_conn, "child_conn": self.child_conn}
        return {"config": self.config, "_server": None, **ends}

    def start(self) -> None:
        super().start()
        # Once only the worker holds its end, each side notices when the other is gone.
        self._theirs.close()
        Thread(target=self._deliver, daemon=True).start()

    def hand(self, served: Served) -> None:
        """Make it serve this as soon as it can. Returns at once."""
        self._orders.put(served)

    def _deliver(self) -> None:
        # In a thread: a worker that is still starting does not read yet.
        with self._ours:
            try:
                while (served := self._orders.get()) is not None:
                    self._ours.send(served)
            except OSError:
                # It has ended; its successor gets the same.
                return

    def is_alive(self, timeout: float = 5) -> bool:
        """Whether it runs, and answered the last ping within `timeout`. Does not wait for an answer."""
        if self.is_buried or not self.process.is_alive():
            return False
        while self.parent_conn.poll():
            self.parent_conn.recv()
            self._asked = None
        if self._asked is None:
            self._asked = time.monotonic()
            self.parent_conn.send(b"ping")
        return time.monotonic() - self._asked < timeout

    def terminate(self) -> None:
        self._orders.put(None)
        super().terminate()

    def kill(self) -> None:
        self._orders.put(None)
        super().kill()
