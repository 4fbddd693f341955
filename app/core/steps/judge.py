"""Grow and Shrink over choices of steps: only closed sets are ever judged."""

from collections.abc import Generator, Iterator
from itertools import islice

import numpy as np

from app.core.budget import Budget
from app.core.facts import Working
from app.core.favourable import Bools
from app.core.problem import Problem
from app.core.search.cemsp import LISTED, SubsetJudge
from app.core.search.oracle import Oracle
from app.core.steps.ladder import Ladder


class StepJudge(SubsetJudge):
    """Adds steps in their order, and takes them back from the last. `settled` counts changed features."""

    def __init__(self, problem: Problem, oracle: Oracle, budget: Budget, settled: int) -> None:
        super().__init__(problem, oracle, budget, settled)
        assert problem.ladder is not None
        self._ladder: Ladder = problem.ladder

    def grow(self, subset: int) -> Generator[Working, None, int]:
        """Take every feature as far as leaves the decision unfavourable, one after the other."""
        for rungs in self._ladder.rungs:
            bits = [self._bits[move] for move in rungs.moves]
            if rungs.is_choice and any(subset & bit for bit in bits):
                continue
            farther: list[int] = []
            for bit in bits:
                if not subset & bit:
                    farther.append(subset | bit if rungs.is_choice else (farther or [subset])[-1] | bit)
            if farther:
                failing = np.flatnonzero(~self._all_favourable(farther))
                # Of a choice any that fails; of steps as many as fail in a row.
                if rungs.is_choice:
                    subset = farther[failing[0]] if len(failing) else subset
                else:
                    count = int(np.count_nonzero(failing == np.arange(len(failing))))
                    subset = farther[count - 1] if count else subset
                yield Working()
        return subset

    def _all_favourable(self, subsets: list[int]) -> Bools:
        judged = np.zeros(0, dtype=np.bool_)
        while len(judged) < len(subsets):
            more = self._are_favourable(subsets[len(judged) : len(judged) + self._oracle.batch_rows])
            judged = np.concatenate([judged, more])
        return judged

    def _orders(self, subset: int, walks: int) -> list[list[int]]:
        """By feature, the last step first."""
        inside = [[move for move in reversed(rungs.moves) if subset & self._bits[move]] for rungs in self._ladder.rungs]
        features = [moves for moves in inside if moves]
        starts = [len(features) * walk // walks for walk in range(walks)]
        return [[move for moves in features[start:] + features[:start] for move in moves] for start in starts]

    def _steps_down(self, subset: int, left: list[int]) -> list[int]:
        """The subset less one, two, ... of the moves, as long as more features change than are settled."""
        found: list[int] = []
        for move in left:
            subset &= ~self._bits[move]
            if self._features(subset) <= self._settled:
                break
            found.append(subset)
        return found

    def _features(self, subset: int) -> int:
        return sum(any(subset & self._bits[move] for move in rungs.moves) for rungs in self._ladder.rungs)

    def _smaller(self, members: list[int]) -> Iterator[Bools]:
        """All choices that go nowhere farther, but for the choice itself; those of the fewest steps first."""
        inside = [[move for move in rungs.moves if move in members] for rungs in self._ladder.rungs]
        features = [moves for moves in inside if moves]
        for steps in range(1, len(members)):
            choices = _of_steps(steps, [len(moves) for moves in features])
            while chunk := list(islice(choices, LISTED)):
                levels = np.array(chunk)
                levels = levels[(levels > 0).sum(axis=1) > self._settled]
                truths = np.zeros((len(levels), len(self._bits)), dtype=np.bool_)
                for place, moves in enumerate(features):
                    truths[:, moves] = levels[:, place, None] > np.arange(len(moves))
                yield truths


def _of_steps(steps: int, most: list[int]) -> Iterator[tuple[int, ...]]:
    """Every way to go so many steps in all, no feature farther than it can."""
    if not most:
        if not steps:
            yield ()
        return
    rest = sum(most[1:])
    for own in range(max(0, steps - rest), min(steps, most[0]) + 1):
        yield from ((own, *others) for others in _of_steps(steps - own, most[1:]))
