"""What is told of a plan: how often it holds, what other models say of it, and whether improving more undoes it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from app.core.budget import Budget, Stopped
from app.core.favourable import Favourable
from app.core.problem import Move, Problem
from app.core.robust import more
from app.core.robust.holding import Conditions, Trials
from app.core.robust.more import KnownLattice
from app.core.search.oracle import ModelCost, Oracle, Scorer
from app.core.subsets.masks import of_members
from app.core.turns import run_through


class OtherVerdict(NamedTuple):
    """What another model says of a plan."""

    label: int
    score: np.floating[Any]
    favourable: bool


class Stability(NamedTuple):
    """Of a plan: in how many draws it is favourable, and what each other model says of it.

    `lattice` is known if it can be said what the model makes of further changes; `breaks_with` are those that undo it.
    """

    passed: int
    draws: int
    others: tuple[OtherVerdict, ...]
    lattice: bool
    breaks_with: tuple[int, ...] | None

    @property
    def share(self) -> float | None:
        return self.passed / self.draws if self.draws else None


class Teller:
    """Tells the stability of plans, within a budget of its own, so that telling takes nothing from searching."""

    def __init__(
        self,
        scorer: Scorer,
        favourable: Favourable,
        instance: tuple[float, ...],
        moves: Sequence[Move],
        conditions: Conditions,
        budget: Budget,
        meter: ModelCost,
    ) -> None:
        self._trials = Trials(scorer, favourable, instance, moves, conditions, budget, meter)
        self.told = 0

    def tell(
        self, plans: Sequence[tuple[int, ...]], moves: int, lattice: KnownLattice | None
    ) -> list[Stability] | None:
        """What is told of these plans; None where the budget does not allow it."""
        masks, trials = of_members(plans, moves), self._trials
        try:
            passed = trials.passed(masks, slice(0, trials.draws)).tolist() if trials.draws else [0] * len(plans)
            verdicts = [trials.approved(other, masks) for other in trials.others]
        except Stopped:
            return None
        self.told += len(plans)
        others = [
            tuple(OtherVerdict(each.label_of(row), each.score[row], bool(each.favourable[row])) for each in verdicts)
            for row in range(len(plans))
        ]
        return [
            Stability(
                passed[row],
                trials.draws,
                others[row],
                lattice is not None,
                None if lattice is None else lattice.breaks_with(plan),
            )
            for row, plan in enumerate(plans)
        ]


def lattice_of(problem: Problem, oracle: Oracle, budget: Budget) -> KnownLattice | None:
    """What the model says of every feasible subset, asked for the sake of telling; None if that is too much."""
    try:
        return run_through(more.ask(problem, oracle, budget))
    except Stopped:
        return None
