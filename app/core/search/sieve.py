"""Which of many subsets satisfy formulas: some at a time, so that a long formula does not block other searches."""

from collections.abc import Callable, Generator, Sequence

import numpy as np

from app.core.budget import Budget
from app.core.facts import Working
from app.core.favourable import Bools
from app.core.formula import Formula, extent, holds
from app.core.subsets.masks import Masks, as_truths

# How many truth values are computed between two looks at the clock: 5 to 20 ms.
AT_A_TIME = 2**22


class Sieve:
    """Formulas over so many moves. What they say of subsets is a row of truth values for each formula."""

    def __init__(self, formulas: Sequence[Formula], moves: int, budget: Budget) -> None:
        self._formulas = formulas
        self._moves = moves
        self._budget = budget
        self._rows = max(1, AT_A_TIME // max(1, moves + sum(map(extent, formulas))))

    def of_masks(self, masks: Masks) -> Generator[Working, None, Bools]:
        return self._satisfied(len(masks), lambda rows: as_truths(masks[rows], self._moves))

    def of_truths(self, subsets: Bools) -> Generator[Working, None, Bools]:
        return self._satisfied(len(subsets), lambda rows: subsets[rows])

    def _satisfied(self, count: int, subsets: Callable[[slice], Bools]) -> Generator[Working, None, Bools]:
        satisfied = np.empty((len(self._formulas), count), dtype=np.bool_)
        for start in range(0, count, self._rows):
            if start:
                self._budget.check()
                yield Working()
            rows = slice(start, start + self._rows)
            truths = subsets(rows)
            for index, formula in enumerate(self._formulas):
                satisfied[index, rows] = holds(formula, truths)
        return satisfied
