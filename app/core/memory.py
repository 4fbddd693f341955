"""The memory of searches: each counts its own bytes, and all searches of a process share one pool."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

# The default limit of one search.
MOST_BYTES = 128 * 2**20
# Memory below this is used again by the next search; more than that is worth giving back to the system.
WORTH_GIVING_BACK = 8 * 2**20


@dataclass(frozen=True, slots=True)
class Waiting:
    """Other searches hold the memory that this one needs: it must wait for them."""


class Memory:
    """The memory of a single search, at most `most` bytes, not shared with others."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self.held = 0

    def hold(self, wanted: int) -> bool:
        """Hold `wanted` bytes from now on, but no more than `most`; False if they are not free yet."""
        self.held = wanted
        return True

    def give_back(self) -> None:
        """Hold nothing any more."""
        self.held = 0


class Pool:
    """The memory of all searches of a process: never more than `total` bytes, nor than `each` if that is more.

    The searches of one client get half of it. The pool reserves, for the first search that finds no room, all that one
    search may hold. So one search can always continue, and waiting searches never wait for each other.

    The pool calls `freed` when a search has given back a lot, possibly during garbage collection: it must take no lock.
    """

    def __init__(self, total: int, each: int, freed: Callable[[], None] = lambda: None) -> None:
        self.each = each
        self._most = max(0, total - each)
        self._freed = freed
        self._held = Counter[str]()
        self._first: PooledMemory | None = None
        self._returned = deque[PooledMemory]()
        self._lock = Lock()

    @property
    def held(self) -> int:
        """Bytes that all searches hold together."""
        return self._held.total() + (0 if self._first is None else self._first.held)

    def of_one(self, client: str) -> "PooledMemory":
        """The memory of one search of a client."""
        return PooledMemory(self, client)

    def hold(self, memory: "PooledMemory", wanted: int) -> bool:
        with self._lock:
            self._settle()
            has_room = self._find_room(memory, wanted)
        self._settle_if_free()
        return has_room

    def _find_room(self, memory: "PooledMemory", wanted: int) -> bool:
        among_all = 0 if memory is self._first else memory.held
        if self._fits(memory.client, wanted - among_all):
            self._held[memory.client] += wanted - among_all
            self._first = None if memory is self._first else self._first
        elif self._first is None:
            self._held[memory.client] -= among_all
            self._first = memory
        elif memory is not self._first:
            return False
        memory.held, memory.peak = wanted, max(memory.peak, wanted)
        return True

    def _fits(self, client: str, more: int) -> bool:
        room = min(self._most - self._held.total(), self._most // 2 - self._held[client])
        return more <= max(room, 0)

    def take_back(self, memory: "PooledMemory") -> None:
        """Never waits: the garbage collector may end a search in the middle of any other use of the pool."""
        self._returned.append(memory)
        self._settle_if_free()

    def _settle_if_free(self) -> None:
        """Count what was given back, unless another call is using the pool, which then does it."""
        while self._returned and self._lock.acquire(blocking=False):
            try:
                self._settle()
            finally:
                self._lock.release()

    def _settle(self) -> None:
        while self._returned:
            memory = self._returned.popleft()
            if memory is self._first:
                self._first = None
            else:
                self._held[memory.client] -= memory.held
            if not self._held[memory.client]:
                # Clients come and go.
                del self._held[memory.client]
            if memory.peak >= WORTH_GIVING_BACK:
                self._freed()
            memory.held = memory.peak = 0


class PooledMemory(Memory):
    """The memory of one search among others."""

    def __init__(self, pool: Pool, client: str) -> None:
        super().__init__(pool.each)
        self.client = client
        # The most that it has held.
        self.peak = 0
        self._pool = pool

    def hold(self, wanted: int) -> bool:
        return self._pool.hold(self, wanted)

    def give_back(self) -> None:
        if self.peak:
            self._pool.take_back(self)
