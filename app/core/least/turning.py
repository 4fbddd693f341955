"""Where the decision turns between the value that a feature has and the one that a plan gives it.

Values on the way are asked about, some at a time, and the first favourable one is approached from the side of the
present value. What is found is favourable, and the number next to it is not. If a plan is monotone on the way, that is
the least change that would do; if not, it is the nearest turn among those that were seen.
"""

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np

from app.core.favourable import Bools
from app.core.least.numbers import Numbers

# How many values are asked about at first, and in each round after that.
FIRST = 32
EACH = 15


class Way(NamedTuple):
    """One changed number of a plan: from here to there. `hard` are values where a tree asks about it."""

    numbers: Numbers
    before: float
    after: float
    hard: Sequence[float] = ()


class Turn(NamedTuple):
    """What would be enough, and how often the decision was seen to turn on the way."""

    enough: float
    turns: int


# Whether each of some values of each of these ways (by place) is favourable, the rest of the plan made.
Judge = Callable[[list[np.ndarray], list[int]], list[Bools]]


def turns_of(ways: Sequence[Way], judge: Judge) -> list[Turn]:
    """Where the decision turns on each way; the end of each is favourable."""
    searches = [_search(way) for way in ways]
    asked: dict[int, list[int]] = {place: next(search) for place, search in enumerate(searches)}
    found: dict[int, Turn] = {}
    while asked:
        pending = list(asked)
        said = judge([ways[place].numbers.at(places) for place, places in asked.items()], pending)
        asked = {}
        for place, favourable in zip(pending, said, strict=True):
            try:
                asked[place] = searches[place].send(favourable)
            except StopIteration as done:
                found[place] = done.value
    return [found[place] for place in range(len(ways))]


def _search(way: Way) -> Generator[list[int], Bools, Turn]:
    """Yields the places to ask about, from the present value on; is sent what is favourable of them."""
    start, end = way.numbers.place(way.before), way.numbers.place(way.after)
    places = _spread(start, end, FIRST, [way.numbers.place(value) for value in way.hard])
    favourable = yield [start, *places, end]
    turns = _turns(favourable)
    if favourable[0]:
        return Turn(way.before, turns)
    known = [start, *places, end]
    while True:
        first = int(favourable.argmax())
        low, high = known[first - 1], known[first]
        if abs(high - low) <= 1:
            return Turn(way.after if high == end else way.numbers.shown(high), turns)
        inside = _spread(low, high, EACH)
        said = yield inside
        known, favourable = [low, *inside, high], np.array([False, *said, True])
        # One of them was seen before.
        turns += _turns(favourable) - 1


def _turns(favourable: Bools) -> int:
    return int(np.count_nonzero(favourable[1:] != favourable[:-1]))


def _spread(start: int, end: int, count: int, also: Sequence[int] = ()) -> list[int]:
    """Places between two others, in the order of the way; of those named besides, the neighbours too."""
    way = end - start
    evenly = {start + way * step // (count + 1) for step in range(1, count + 1)}
    near = {place + by for place in also for by in (-1, 0, 1)}
    low, high = min(start, end), max(start, end)
    return sorted((place for place in evenly | near if low < place < high), reverse=way < 0)
