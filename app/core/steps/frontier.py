"""Choices of steps by the number of features that they change, and among those by the number of steps.

A choice can only be open if every choice is that goes one step less far in one feature. Each is made from one of
those: the one in which the last of its features goes one step less far, or does not change.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.steps.ladder import Ladder
from app.core.subsets.frontier import CHUNK, SubsetChunk
from app.core.subsets.masks import Masks, as_bytes, as_truths, single


class _Choices(NamedTuple):
    """Some choices: their masks, and the last feature that each changes, by its place on the ladder."""

    masks: Masks
    last: NDArray[np.intp]

    def of(self, chosen: Any) -> "_Choices":
        return _Choices(self.masks[chosen], self.last[chosen])


class StepFrontier:
    """The open choices of one number of changed features; a closed choice closes all that go farther."""

    # Beyond the limit of a search its memory ends the search.
    is_full = False
    is_ordered = False

    def __init__(self, ladder: Ladder) -> None:
        self.size = 0
        self._ladder = ladder
        self._single = single(ladder.moves)
        counts = [rungs.length for rungs in ladder.rungs]
        # For the last feature of a choice: how many moves the features after it have. The last entry is for no feature.
        self._after = np.array([*(sum(counts[place + 1 :]) for place in range(len(counts))), sum(counts)])
        nothing = _Choices(np.zeros_like(self._single[:1]), np.array([-1]))
        # The open choices of this size and of the next, by their number of moves.
        self._open: dict[int, _Choices] = {0: nothing}
        self._larger: dict[int, _Choices] = {}
        self._kept: list[_Choices] = []
        self._sent: _Choices = nothing

    @property
    def held(self) -> int:
        choices = [*self._open.values(), *self._larger.values(), *self._kept]
        return sum(each.masks.nbytes + each.last.nbytes for each in choices)

    def forget_next(self) -> None:
        """There is nothing to forget: what was too much ends the search."""

    def most_next(self) -> int:
        """What is left when its last feature does not change is an open choice of this size."""
        return sum(int(self._after[choices.last].sum()) for choices in self._open.values())

    def chunks(self) -> Iterator[SubsetChunk]:
        moves = min(self._open, default=0)
        while moves <= max((*self._open, *self._larger), default=-1):
            parents = [found[moves] for found in (self._open, self._larger) if moves in found]
            known = np.sort(np.concatenate([_keys(each.masks) for each in parents])) if parents else None
            self._kept = []
            for choices in _gathered(chain(self._with_another(moves), self._a_step_farther(moves))):
                assert known is not None
                self._sent = self._open_among(choices, known)
                yield SubsetChunk(self._sent.masks)
            moves += 1
            if self._kept:
                self._larger[moves] = _joined(self._kept)
        self._kept = []

    def settle(self, chunk: SubsetChunk, closed: Bools) -> None:
        self._kept.append(self._sent.of(~closed))

    def rise(self) -> None:
        self.size += 1
        self._open, self._larger = {moves: each for moves, each in self._larger.items() if len(each.last)}, {}

    def _with_another(self, moves: int) -> Iterator[_Choices]:
        """Choices of this size, each with the first step of a feature after its last."""
        if moves not in self._open:
            return
        for choices in self._pieces(self._open[moves]):
            for place, rungs in enumerate(self._ladder.rungs):
                before = choices.of(choices.last < place)
                for move in rungs.moves if rungs.is_choice else rungs.moves[:1]:
                    if len(before.last):
                        yield _Choices(before.masks | self._single[move], np.full(len(before.last), place))

    def _a_step_farther(self, moves: int) -> Iterator[_Choices]:
        """Choices of the next size, each with its last feature one step farther."""
        if moves not in self._larger:
            return
        for choices in self._pieces(self._larger[moves]):
            truths = as_truths(choices.masks, self._ladder.moves)
            for place, rungs in enumerate(self._ladder.rungs):
                if rungs.is_choice or rungs.length == 1:
                    continue
                at = choices.last == place
                for move in rungs.moves[1:]:
                    here = at & truths[:, move - 1] & ~truths[:, move]
                    if here.any():
                        raised = choices.of(here)
                        yield _Choices(raised.masks | self._single[move], raised.last)

    @staticmethod
    def _pieces(choices: _Choices) -> Iterator[_Choices]:
        for start in range(0, len(choices.last), CHUNK):
            yield choices.of(slice(start, start + CHUNK))

    def _open_among(self, choices: _Choices, known: NDArray[Any]) -> _Choices:
        """Those of which every choice is open that goes one step less far in a feature before the last."""
        still = np.ones(len(choices.last), dtype=np.bool_)
        truths = as_truths(choices.masks, self._ladder.moves)
        for place, rungs in enumerate(self._ladder.rungs):
            for move in rungs.moves:
                top = truths[:, move] & (choices.last != place)
                if not rungs.is_choice and move + 1 in rungs.moves:
                    top &= ~truths[:, move + 1]
                rows = np.flatnonzero(top & still)
                if len(rows):
                    still[rows] = _are_in(_keys(choices.masks[rows] & ~self._single[move]), known)
        return choices if still.all() else choices.of(still)


def _gathered(parts: Iterator[_Choices]) -> Iterator[_Choices]:
    """The same choices, about so many at a time as are made at once."""
    waiting: list[_Choices] = []
    for part in parts:
        waiting.append(part)
        if sum(len(each.last) for each in waiting) >= CHUNK:
            yield _joined(waiting)
            waiting = []
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[_Choices]) -> _Choices:
    return _Choices(np.concatenate([part.masks for part in parts]), np.concatenate([part.last for part in parts]))


def _keys(masks: Masks) -> NDArray[Any]:
    """What sorts and finds masks, of any number of words."""
    return masks if masks.ndim == 1 else as_bytes(masks).view(f"S{8 * masks.shape[1]}")[:, 0]


def _are_in(keys: NDArray[Any], known: NDArray[Any]) -> Bools:
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    found: Bools = known[places] == keys
    return found
