"""The search of the CEMSP paper (section 4.2), as it is published: the yardstick of the benchmarks.

One row for each question to the model, Z3 through its everyday interface, Grow and Shrink one feature at a time, and no
second look at whether an answer is minimal. It is right only where the model is monotone, as the paper assumes.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import z3
from numpy.typing import NDArray

Row = NDArray[np.float32]
Subset = frozenset[int]
# Whether the model's answer to one row is favourable: f(row) == 1.
Judge = Callable[[Row], bool]


class PublishedCemsp:
    """One person: the model, x as a row, and the columns that may move (N0) with the values they move to.

    What Z3 proposes depends on all that its `context` has been used for; in a new one it is always the same.
    """

    def __init__(
        self, favourable: Judge, instance: Row, targets: Mapping[int, float], context: z3.Context | None = None
    ) -> None:
        self._favourable = favourable
        self._instance = instance
        self._targets = targets
        self._context = context or z3.main_ctx()

    def answers(self) -> Iterator[Subset]:
        """Algorithm 3: each answer as the columns that change. The caller may stop whenever it has seen enough."""
        solver = z3.Solver(ctx=self._context)
        made = {column: z3.Bool(f"m{column}", self._context) for column in self._targets}
        while (subset := _mask(solver, made)) is not None:
            if self._turns(subset):
                minimal = self._shrunk(subset)
                yield minimal
                solver.add(z3.Or([z3.Not(made[column]) for column in minimal], self._context))
            else:
                maximal = self._grown(subset)
                solver.add(z3.Or([made[column] for column in made if column not in maximal], self._context))

    def _grown(self, subset: Subset) -> Subset:
        """Algorithm 1: add every feature that leaves the answer unfavourable."""
        for column in self._targets:
            if column not in subset and not self._turns(subset | {column}):
                subset |= {column}
        return subset

    def _shrunk(self, subset: Subset) -> Subset:
        """Algorithm 2: take out every feature that is not needed."""
        for column in sorted(subset):
            if self._turns(subset - {column}):
                subset -= {column}
        return subset

    def _turns(self, subset: Subset) -> bool:
        """Whether f(r(x, A)) is favourable."""
        row = self._instance.copy()
        for column in subset:
            row[column] = self._targets[column]
        return self._favourable(row)


def _mask(solver: z3.Solver, made: Mapping[int, z3.BoolRef]) -> Subset | None:
    """The paper's getMask: a subset that nothing has ruled out, or None."""
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    # A variable that the solver leaves open has no value: the feature then stays as it is.
    return frozenset(column for column, variable in made.items() if z3.is_true(model[variable]))
