"""The open connections of one process: their limits, and which one is closed to make room for another."""

import logging
import resource
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address, ip_network
from typing import Protocol

from app.api.addresses import origin_of

# Files that are not for connections that are served: the page, a reload, and connections that are refused. Where a
# process may open few, a quarter of them.
SPARE_FILES = 32
# At most this many refused connections get a response at once. More are closed without one.
MOST_TOLD = 16
# If there is no room, a client that has been silent for this long gives way to another.
SILENT_SECONDS = 1.0
# How often the log says that there is no room.
QUIET_SECONDS = 60.0

logger = logging.getLogger("flipset.connections")


class Full(StrEnum):
    """The limit that was reached."""

    ALL = "all"
    ADDRESS = "address"
    FILES = "files"


REASONS = {
    Full.ALL: "FLIPSET_MAX_CONNECTIONS are open",
    Full.ADDRESS: "FLIPSET_MAX_CONNECTIONS_PER_ADDRESS are open from one address",
    Full.FILES: "this process may open no more files (ulimit -n)",
}


class Connection(Protocol):
    """A connection, as far as it matters here."""

    def waits_since(self) -> float | None:
        """When it began to wait for its client, on the clock of the event loop; None while it works on a request."""

    def give_way(self) -> None:
        """Close at once, whatever is in progress."""


class Counts(Protocol):
    """Counts what happens to connections."""

    def connected(self, count: int) -> None:
        """`count` connections are open."""

    def full(self, limit: str, result: str) -> None:
        """A limit was reached: the new connection was `refused`, or another one `gave_way`."""

    def unread(self) -> None:
        """A connection was closed because its client did not read."""


class Uncounted:
    """Counts nothing."""

    def connected(self, count: int) -> None: ...
    def full(self, limit: str, result: str) -> None: ...
    def unread(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The most connections of a process, and of one address: half of them by default.

    Only the first applies to `proxies`, which connect for many people: addresses, networks, or `*` for everyone.
    """

    most: int = 1_000
    most_per_address: int | None = None
    proxies: tuple[str, ...] = ()


class Connections:
    """The connections that are being served."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._proxies = tuple(ip_network(proxy) for proxy in limits.proxies if proxy != "*")
        self._open: defaultdict[str, set[Connection]] = defaultdict(set)
        self._refused: set[Connection] = set()
        self._told: dict[Full, float] = {}
        self.count = 0

    def admit(self, connection: Connection, address: str, file: int, now: float, counts: Counts) -> Full | None:
        """Accept the connection, if need be in place of a silent one; otherwise return the limit that was reached.

        `file` is its descriptor. The kernel assigns the lowest free number, so it tells how many files are open.
        """
        origin = origin_of(address)
        full = self._full(origin, address, file)
        if full is not None:
            makes_room = self._make_room([origin] if full is Full.ADDRESS else list(self._open), now)
            self._tell(full, now)
            counts.full(full, "gave_way" if makes_room else "refused")
            if not makes_room:
                return full
        self._open[origin].add(connection)
        self.count += 1
        counts.connected(self.count)
        return None

    def leave(self, connection: Connection, address: str, counts: Counts) -> None:
        """The connection has ended, or was refused."""
        self._refused.discard(connection)
        self._take_out(connection, origin_of(address))
        counts.connected(self.count)

    def may_be_told(self, connection: Connection) -> bool:
        """Whether a refused connection may stay open until it has its response."""
        if len(self._refused) >= MOST_TOLD:
            return False
        self._refused.add(connection)
        return True

    def _full(self, origin: str, address: str, file: int) -> Full | None:
        allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        files = allowed - min(SPARE_FILES, allowed // 4)
        most = self._limits.most_per_address or max(1, min(self._limits.most, files) // 2)
        if len(self._open.get(origin, ())) >= most and not self._is_proxy(address):
            return Full.ADDRESS
        if self.count >= self._limits.most:
            return Full.ALL
        return Full.FILES if file >= files else None

    def _is_proxy(self, address: str) -> bool:
        if "*" in self._limits.proxies or not address:
            return True
        client = ip_address(address)
        return any(client in network for network in self._proxies)

    def _make_room(self, origins: Iterable[str], now: float) -> bool:
        """Close the connection that has waited longest for its client, if that is long enough."""
        waiting = [
            (since, origin, connection)
            for origin in origins
            for connection in self._open.get(origin, ())
            if (since := connection.waits_since()) is not None and now - since >= SILENT_SECONDS
        ]
        if not waiting:
            return False
        _, origin, connection = min(waiting, key=lambda entry: entry[0])
        self._take_out(connection, origin)
        connection.give_way()
        return True

    def _take_out(self, connection: Connection, origin: str) -> None:
        if connection in self._open.get(origin, ()):
            self._open[origin].remove(connection)
            self.count -= 1
            if not self._open[origin]:
                del self._open[origin]

    def _tell(self, full: Full, now: float) -> None:
        if now - self._told.get(full, -QUIET_SECONDS) >= QUIET_SECONDS:
            self._told[full] = now
            logger.warning(
                "There is no room for more connections: %s. Silent clients give way, others are refused.", REASONS[full]
            )
