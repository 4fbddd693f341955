"""Why people who share one pattern have no answer: the items that each of their subsets breaks.

It finds what `explaining` finds for one person, by the same rule: giving up some items opens an answer exactly if a
favourable subset breaks no other items.
"""

from functools import cached_property

import numpy as np

from app.core.favourable import Bools
from app.core.formula import holds
from app.core.problem import Problem
from app.core.search.explaining import MOST_KEPT
from app.core.subsets.dense_frontier import table
from app.core.subsets.masks import as_truths


class Obstacles:
    """For every subset of the candidates, in the order of sizes, the items that it breaks."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    @cached_property
    def _groups(self) -> tuple[list[int], np.ndarray]:
        """Each group of items that some subset breaks, as bits; and which of them each subset does."""
        problem, subsets = self._problem, table(len(self._problem.candidates))
        truths = as_truths(subsets.masks(subsets.numbers), len(problem.candidates))
        broken = [~holds(formula, truths) for formula in problem.formulas(problem.candidates)]
        packed = np.packbits(np.column_stack(broken), axis=1, bitorder="little")
        groups, which = np.unique(packed, axis=0, return_inverse=True)
        return [int.from_bytes(group.tobytes(), "little") for group in groups], which.ravel()

    @property
    def few(self) -> bool:
        """Whether there are so few groups that every explanation is sure to be complete."""
        return len(self._groups[0]) < MOST_KEPT

    def in_the_way(self, favourable: Bools) -> list[tuple[int, ...]]:
        """The minimal groups of items that favourable subsets, of all in the order of sizes, break; smallest first."""
        groups, which = self._groups
        broken = [groups[index] for index in np.unique(which[favourable]).tolist()]
        minimal = [items for items in broken if not any(other & items == other != items for other in broken)]
        found = [tuple(place for place in range(items.bit_length()) if items >> place & 1) for items in minimal]
        return sorted(found, key=lambda items: (len(items), items))
