"""How much one client may have under way at once, so that no client alone keeps the others out or waiting.

A client is a key, or an address where keys are off.
"""

from asyncio import Semaphore
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from app.asking.refusals import TooManyAtOnce


class Shares:
    """The requests of each client that are under way in one process.

    A request counts from its head to the last byte of its answer, and so before its body has arrived.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._under_way: dict[str, int] = {}

    @contextmanager
    def one_more(self, client: str, most: int | None = None) -> Iterator[None]:
        """Count one more while it lasts; `TooManyAtOnce` where the client has `most`, or as many as any client may."""
        most = most or self._most
        if (count := self._under_way.get(client, 0)) >= most:
            raise TooManyAtOnce(most)
        self._under_way[client] = count + 1
        try:
            yield
        finally:
            self._under_way[client] -= 1
            # Clients come and go.
            if not self._under_way[client]:
                del self._under_way[client]


class Lanes:
    """Each client's way to the threads: `most` pieces of its work take turns there, and its others wait for them.

    So a request waits for its own client's, and for a turn of no more than `most` pieces of each other client.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # Each lives as long as somebody is in it.
        self._lanes: WeakValueDictionary[str, Semaphore] = WeakValueDictionary()

    def of(self, client: str) -> Semaphore:
        """The client's lane, to be in with `async with`; not twice at once."""
        lane = self._lanes.get(client)
        if lane is None:
            lane = self._lanes[client] = Semaphore(self._most)
        return lane
