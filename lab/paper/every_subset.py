"""The answers of a small problem from the definition: every subset is scored, whatever the model."""

from functools import cached_property

import numpy as np

from lab.paper.questions.posing import Posed, all_subsets
from lab.paper.questions.row_judge import RowJudge


class EverySubset:
    """Which subsets the model favours; number k is the subset of the bits of k."""

    def __init__(self, posed: Posed, judge: RowJudge) -> None:
        self._columns = list(posed.targets)
        scores = judge.scores(posed.rows(all_subsets(len(self._columns))))
        self._favourable = scores[:, 1] > scores[:, 0]

    @cached_property
    def monotone(self) -> bool:
        """Whether one more change never hurts."""
        favourable = np.flatnonzero(self._favourable)
        return all(bool(self._favourable[favourable | (1 << bit)].all()) for bit in range(len(self._columns)))

    @cached_property
    def minimal(self) -> set[frozenset[int]]:
        """The favourable subsets that have no favourable proper subset, by their columns."""
        holds_favourable = self._favourable.copy()
        for bit in range(len(self._columns)):
            pairs = holds_favourable.reshape(-1, 2, 1 << bit)
            pairs[:, 1] |= pairs[:, 0]
        minimal = self._favourable.copy()
        numbers = np.arange(len(minimal))
        for bit in range(len(self._columns)):
            larger = (numbers >> bit) & 1 == 1
            minimal[larger] &= ~holds_favourable[numbers[larger] ^ (1 << bit)]
        return {self._named(number) for number in np.flatnonzero(minimal).tolist()}

    def _named(self, number: int) -> frozenset[int]:
        return frozenset(column for bit, column in enumerate(self._columns) if number >> bit & 1)
