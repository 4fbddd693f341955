"""What is told of a plan: how often it holds, what other models say of it, and whether improving more undoes it."""

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from app.core.budget import Budget, Stopped
from app.core.problem import Problem
from app.core.robust import more
from app.core.robust.certificates import Certificate, Certificates
from app.core.robust.holding import Drawn, Trials
from app.core.robust.more import KnownLattice
from app.core.search.oracle import Oracle
from app.core.subsets.masks import of_members
from app.core.turns import run_through

# Where there is no noise.
NOTHING = Drawn(0, None)
UNKNOWN = Certificate()


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
    certificate: Certificate = Certificate()

    @property
    def share(self) -> float | None:
        return self.passed / self.draws if self.draws else None


class Teller:
    """Tells the stability of plans, within a budget of its own, so that telling takes nothing from searching."""

    def __init__(self, trials: Trials, certificates: Certificates | None) -> None:
        self._trials = trials
        self._certificates = certificates

    def tell(
        self, plans: Sequence[tuple[int, ...]], moves: int, lattice: KnownLattice | None
    ) -> list[Stability] | None:
        """What is told of these plans; None where the budget does not allow it."""
        trials, certificates = self._trials, self._certificates
        drawn, certified = [NOTHING] * len(plans), [UNKNOWN] * len(plans)
        try:
            if certificates is not None:
                planned = trials.planned(plans)
                drawn = trials.drawn(planned, certificates.within)
            others = self._others(plans, moves)
        except Stopped:
            return None
        if certificates is not None:
            certified = certificates.of(planned, [one.failure for one in drawn])
        breaking = repeat(None) if lattice is None else map(lattice.breaks_with, plans)
        return [
            Stability(one.passed, trials.draws, verdicts, lattice is not None, breaks_with, certificate)
            for one, verdicts, breaks_with, certificate in zip(drawn, others, breaking, certified, strict=False)
        ]

    def _others(self, plans: Sequence[tuple[int, ...]], moves: int) -> Iterator[tuple[OtherVerdict, ...]]:
        """What the other models say of each plan."""
        if not self._trials.others:
            return repeat(())
        masks = of_members(plans, moves)
        verdicts = [self._trials.approved(other, masks) for other in self._trials.others]
        return (
            tuple(OtherVerdict(each.label_of(row), each.score[row], bool(each.favourable[row])) for each in verdicts)
            for row in range(len(plans))
        )


def lattice_of(problem: Problem, oracle: Oracle, budget: Budget) -> KnownLattice | None:
    """What the model says of every feasible subset, asked for the sake of telling; None if that is too much."""
    try:
        return run_through(more.ask(problem, oracle, budget))
    except Stopped:
        return None
