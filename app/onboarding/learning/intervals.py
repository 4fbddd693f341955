"""The reference interval of one feature in one group of people."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from app.core.favourable import Floats
from app.onboarding.learning.box_cox import fit_box_cox
from app.onboarding.learning.order_statistics import Limit, percentile
from app.onboarding.learning.outliers import OUTER_FENCE, are_outliers
from app.onboarding.learning.partitions import FEWEST
from app.onboarding.learning.robust import TooManyAlike, robust_limits

# From here on percentiles are taken as they are.
ENOUGH = 120


class Method(StrEnum):
    """How limits were found."""

    NONPARAMETRIC = "nonparametric"
    ROBUST = "robust"
    ROBUST_BOX_COX = "robust after a Box-Cox transform"


class Sides(StrEnum):
    """Which limits an interval has."""

    TWO = "two"
    LOW = "low"
    HIGH = "high"


# The share of people below each limit.
SHARES = {Sides.TWO: (0.025, 0.975), Sides.LOW: (0.05,), Sides.HIGH: (0.95,)}


@dataclass(frozen=True, slots=True)
class Interval:
    """A reference interval: its limits, how many people it rests on, and how many outliers were left out."""

    low: Limit | None
    high: Limit | None
    method: Method
    people: int
    outliers: int


class NoInterval(Exception):
    """There is no interval; the text says why."""


def reference_interval(values: Floats, sides: Sides | None = None, fence: float = OUTER_FENCE) -> Interval:
    """The interval that holds the middle 95 % of these people, or the lower or upper 95 %; `NoInterval`.

    Without `sides` it has two limits, or one if nobody at all lies beyond the other, or can: below 0.
    """
    if len(values) < FEWEST:
        raise NoInterval(f"only {len(values)} people have a value; at least {FEWEST} are needed")
    if np.ptp(values) == 0:
        raise NoInterval("everybody has the same value")
    kept = values[~are_outliers(values, fit_box_cox(values), fence)]
    if np.ptp(kept) == 0:
        raise NoInterval("nearly everybody has the same value")
    left_out, ordered = len(values) - len(kept), np.sort(kept)
    if sides is not None:
        return _interval(ordered, sides, left_out)
    both = _interval(ordered, Sides.TWO, left_out)
    assert both.low is not None
    assert both.high is not None
    if len(ordered) < ENOUGH:
        # The robust method knows nothing of a floor.
        return _interval(ordered, Sides.HIGH, left_out) if ordered[0] >= 0 >= both.low.value else both
    at_floor, at_ceiling = both.low.value <= ordered[0], both.high.value >= ordered[-1]
    if at_floor == at_ceiling:
        return both
    return _interval(ordered, Sides.HIGH if at_floor else Sides.LOW, left_out)


def _interval(ordered: Floats, sides: Sides, left_out: int) -> Interval:
    shares = SHARES[sides]
    if len(ordered) >= ENOUGH:
        method, limits = Method.NONPARAMETRIC, [percentile(ordered, share) for share in shares]
    else:
        method, limits = _robust(ordered, shares)
    low = None if sides is Sides.HIGH else limits[0]
    high = None if sides is Sides.LOW else limits[-1]
    return Interval(low, high, method, len(ordered), left_out)


def _robust(ordered: Floats, shares: tuple[float, ...]) -> tuple[Method, list[Limit]]:
    transform = fit_box_cox(ordered)
    try:
        if transform.is_needless:
            return Method.ROBUST, robust_limits(ordered, shares)
        limits = robust_limits(transform.there(ordered), shares)
    except TooManyAlike:
        raise NoInterval("more than half of the people have the same value") from None
    # Beyond what the transform can come back from, a limit is not known.
    back = [Limit(*map(float, transform.back(np.array(limit)))) for limit in limits]
    if not all(np.isfinite(limit.value) for limit in back):
        raise NoInterval("too few people for values so skewed")
    return Method.ROBUST_BOX_COX, back
