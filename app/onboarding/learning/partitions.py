"""Whether groups of people need ranges of their own: the test of Harris and Boyd, as EP28-A3c has it."""

from collections.abc import Sequence
from itertools import combinations
from math import sqrt

import numpy as np

from app.core.favourable import Floats
from app.onboarding.learning.box_cox import fit_box_cox

# Fewer people say too little about a group.
FEWEST = 20
# Of two groups of 120; larger groups show smaller differences, which matter no more.
CRITICAL = 3.0
ENOUGH = 120
# Spreads that differ by more need ranges of their own, wherever the middles are.
MOST_RATIO = 1.5


def differ(groups: Sequence[Floats]) -> bool:
    """Whether any two of these groups need ranges of their own; those of too few people are not asked."""
    asked = [group for group in groups if len(group) >= FEWEST]
    if len(asked) < 2:
        return False
    transform = fit_box_cox(np.concatenate(asked))
    moved = [transform.there(group) for group in asked]
    return any(_two_differ(one, other) for one, other in combinations(moved, 2))


def _two_differ(one: Floats, other: Floats) -> bool:
    spreads = sorted((float(one.std(ddof=1)), float(other.std(ddof=1))))
    if spreads[0] == 0:
        return bool(spreads[1] > 0 or one[0] != other[0])
    error = sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
    z = abs(float(one.mean() - other.mean())) / error
    return z > CRITICAL * sqrt((len(one) + len(other)) / (2 * ENOUGH)) or spreads[1] > MOST_RATIO * spreads[0]
