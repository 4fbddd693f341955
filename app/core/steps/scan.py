"""The answers of one number of changed features, in the order that they are sent in."""

from collections.abc import Iterator

import numpy as np

from app.core.budget import Budget
from app.core.facts import Answers
from app.core.favourable import Bools
from app.core.problem import Problem
from app.core.search.lattice import BLOCK, Scan
from app.core.search.oracle import Oracle
from app.core.steps.ladder import Ladder
from app.core.subsets.masks import Indices, as_truths


class StepScan(Scan):
    """The cheapest first; then by the positions of the changed features, compared as a list; then by their steps."""

    def __init__(self, problem: Problem, oracle: Oracle, budget: Budget, is_ordered: bool) -> None:
        super().__init__(problem, oracle, budget, is_ordered)
        assert problem.ladder is not None
        self._ladder = problem.ladder

    def answers(self) -> Iterator[Answers]:
        if not self._count:
            return
        hits, scores, labels = (np.concatenate(parts) for parts in (self.hits, self._scores, self._labels))
        truths = as_truths(hits, self._moves)
        costs = self._costs.of_truths(truths)
        order = in_order(self._ladder, truths, costs)
        for start in range(0, len(order), BLOCK):
            rows = order[start : start + BLOCK]
            moves = [tuple(np.flatnonzero(row).tolist()) for row in truths[rows]]
            yield Answers(moves, costs[rows].tolist(), list(scores[rows]), labels[rows].tolist())


def in_order(ladder: Ladder, truths: Bools, costs: np.ndarray) -> Indices:
    """Choices of equally many features: by cost, then by positions, then by steps."""
    levels = ladder.levels(truths)
    # The last key counts most.
    return np.lexsort((*levels.T[::-1], *(levels == 0).T[::-1], costs))
