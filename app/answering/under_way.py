"""The requests that a process has taken on: how many at once, and how to stop each."""

from collections.abc import Callable
from dataclasses import dataclass, field

from app.asking.callers import ANYONE, Caller
from app.asking.refusals import Busy, Stopping
from app.core.budget import StopFlag


@dataclass(frozen=True, slots=True, eq=False)
class Admitted:
    """A request that was taken on: when it came in, from which client, who asks, and the flag that stops it."""

    arrived: float
    client: str = ""
    caller: Caller = ANYONE
    stop: StopFlag = field(default_factory=StopFlag)


class Place:
    """A request is under way while this lasts. Not a generator, as such things usually are: every request has one."""

    __slots__ = ("_admitted", "_under_way")

    def __init__(self, under_way: "UnderWay", admitted: Admitted) -> None:
        self._under_way = under_way
        self._admitted = admitted

    def __enter__(self) -> Admitted:
        self._under_way.add(self._admitted)
        return self._admitted

    def __exit__(self, *error: object) -> None:
        self._under_way.end(self._admitted)


class UnderWay:
    """The requests that have not ended. `watch` receives their number whenever it changes."""

    def __init__(self, most: int, watch: Callable[[int], None]) -> None:
        self._most = most
        self._watch = watch
        self._admitted: set[Admitted] = set()
        self.stopping = False

    def check_room(self) -> None:
        """`Busy` where there are as many as may be."""
        if len(self._admitted) >= self._most:
            raise Busy

    def add(self, admitted: Admitted) -> None:
        if self.stopping:
            raise Stopping
        self._admitted.add(admitted)
        self._watch(len(self._admitted))

    def end(self, admitted: Admitted) -> None:
        """Raise its flag, which ends what it has begun, and leave its place to others."""
        admitted.stop.hoist()
        self._admitted.discard(admitted)
        self._watch(len(self._admitted))

    def stop(self) -> None:
        """Take on nothing new, and have everything under way end."""
        self.stopping = True
        for admitted in list(self._admitted):
            admitted.stop.hoist()
