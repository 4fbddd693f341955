"""How many requests one client may have under way at once, so that no client alone keeps the others out.

A client is a key, or an address where keys are off.
"""

from collections.abc import Iterator
from contextlib import contextmanager

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
