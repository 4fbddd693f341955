"""What every method of the comparison is asked, and what it answers. All values are in standardised units."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lab.paper.questions.network import Network, Row, Rows


@dataclass(frozen=True)
class Spread:
    """Each feature over the whole data set: its extremes, and its median absolute deviation from the median."""

    lowest: Row
    highest: Row
    deviations: Row


@dataclass(frozen=True)
class Question:
    """One person whom the network refuses.

    `targets` are the movable features with the values that they would be moved to. `count` is how many counterfactuals
    are wanted; a method ends with what it has after about `seconds` of the processor's time, so that a busy machine
    changes no answer. The same `seed` gives the same answer.
    """

    network: Network
    instance: Row
    targets: Mapping[int, float]
    count: int
    spread: Spread
    seed: int
    seconds: float

    @property
    def prototype(self) -> Row:
        """The person with every movable feature at its target: r(x, N0)."""
        moved = self.instance.copy()
        moved[list(self.targets)] = list(self.targets.values())
        return moved


# Counterfactuals, a row each: at most as many as were wanted, and not all of them need turn the decision.
Method = Callable[[Question], Rows]


def no_rows(question: Question) -> Rows:
    """The answer of a method that has found nothing."""
    return np.empty((0, len(question.instance)))
