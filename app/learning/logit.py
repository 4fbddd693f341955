"""How hard changes are, from what people chose: a conditional logit (McFadden, 1974) over the plans they were offered.

The chance of a plan is proportional to exp(-sum of the hardness of its changes).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.learning.choices import Choice

# The 97.5th percentile of the normal distribution.
Z = 1.959963984540054
# So weak that it only keeps a change that nobody, or everybody, chose from running away.
RIDGE = 1e-3
MOST_STEPS = 100
SMALL = 1e-10


@dataclass(frozen=True, slots=True)
class Hardness:
    """How hard one change is, with its 95 % interval; 0 is no obstacle. `offers` counts its choices."""

    feature: str
    value: float
    low: float
    high: float
    offers: int


def hardness_of(choices: Sequence[Choice]) -> list[Hardness]:
    """The hardness of every change that some plans of a choice had and others did not."""
    differing = [frozenset.union(*choice.plans) - frozenset.intersection(*choice.plans) for choice in choices]
    names = sorted(frozenset[str]().union(*differing))
    tables = [
        np.array([[name in plan for name in names] for plan in choice.plans], dtype=np.float64) for choice in choices
    ]
    chosen = [choice.chosen for choice in choices]
    values, covariance = _fit(tables, chosen, len(names))
    wide = Z * np.sqrt(np.diag(covariance))
    offers = [sum(name in features for features in differing) for name in names]
    return [
        Hardness(name, float(value), float(value - reach), float(value + reach), count)
        for name, value, reach, count in zip(names, values, wide, offers, strict=True)
    ]


def _fit(
    tables: Sequence[NDArray[np.float64]], chosen: Sequence[int], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Newton's method; the likelihood is concave, so there is one maximum."""
    hard = np.zeros(count)
    information = np.eye(count)
    for _ in range(MOST_STEPS):
        gradient, information = _slopes(tables, chosen, hard)
        step = np.linalg.solve(information, gradient)
        # A longer step may overshoot.
        hard += step / max(1.0, float(np.abs(step).max(initial=0.0)))
        if np.abs(step).max(initial=0.0) < SMALL:
            break
    return hard, np.asarray(np.linalg.inv(information), dtype=np.float64)


def _slopes(
    tables: Sequence[NDArray[np.float64]], chosen: Sequence[int], hard: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The gradient and the information of the penalised log likelihood."""
    gradient, information = -RIDGE * hard, RIDGE * np.eye(len(hard))
    for table, choice in zip(tables, chosen, strict=True):
        utility = -(table @ hard)
        weight = np.exp(utility - utility.max())
        weight /= weight.sum()
        mean = weight @ table
        gradient += mean - table[choice]
        around = table - mean
        information += around.T @ (around * weight[:, None])
    return gradient, information
