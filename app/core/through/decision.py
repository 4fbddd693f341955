"""What bounds on a model's outputs say of its decision: favourable for sure, not favourable for sure, or neither."""

from typing import Any, NamedTuple

import numpy as np

from app.core.favourable import Bools, Favourable, FavourableClasses, FavourableInterval, Floats
from app.core.through.view import Numbers


class Decided(NamedTuple):
    """Which rows are surely favourable, and which are surely not. Only the model knows about the others."""

    yes: Bools
    no: Bools


def decided(favourable: Favourable, low: Numbers, high: Numbers, dtype: np.dtype[Any]) -> Decided:
    """Compare as the model's own type does. Rounding keeps the order, so rounded bounds hold for outputs of that type.

    Bounds that are not finite decide nothing.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        least, most = low.astype(dtype), high.astype(dtype)
        known = (np.isfinite(least) & np.isfinite(most)).all(axis=1)
        yes, no = _compared(favourable, least, most)
    return Decided(yes & known, no & known)


def _compared(favourable: Favourable, least: Floats, most: Floats) -> Decided:
    match favourable:
        case FavourableInterval(low, high):
            return _inside(least[:, 0], most[:, 0], low, high)
        case FavourableClasses(threshold=None):
            return _ahead(favourable, least, most)
        case FavourableClasses(threshold=threshold):
            reached = least.dtype.type(threshold)
            lowest, highest = favourable.score(least), favourable.score(most)
            finite = np.isfinite(lowest) & np.isfinite(highest)
            return Decided((lowest >= reached) & finite, (highest < reached) & finite)


def _inside(least: Floats, most: Floats, low: float | None, high: float | None) -> Decided:
    yes, no = np.ones(len(least), dtype=np.bool_), np.zeros(len(least), dtype=np.bool_)
    if low is not None:
        end = least.dtype.type(low)
        yes, no = yes & (least >= end), no | (most < end)
    if high is not None:
        end = least.dtype.type(high)
        yes, no = yes & (most <= end), no | (least > end)
    return Decided(yes, no)


def _ahead(favourable: FavourableClasses, least: Floats, most: Floats) -> Decided:
    """Which side has the best class. A tie is decided only where one side is named first altogether."""
    classes, others = list(favourable.classes), list(favourable.others)
    behind, ahead = least[:, classes].max(axis=1), most[:, classes].max(axis=1)
    rival_behind, rival_ahead = least[:, others].max(axis=1), most[:, others].max(axis=1)
    yes = behind >= rival_ahead if max(classes) < min(others) else behind > rival_ahead
    no = ahead <= rival_behind if max(others) < min(classes) else ahead < rival_behind
    return Decided(yes, no)


def merits(favourable: Favourable, low: Numbers, high: Numbers, dtype: np.dtype[Any]) -> tuple[Numbers, Numbers]:
    """Bounds on how close outputs come to a favourable decision; infinite where the outputs are not known."""
    with np.errstate(over="ignore", invalid="ignore"):
        least, most = favourable.score(low.astype(dtype)), favourable.score(high.astype(dtype))
        ends = favourable.merit(least).astype(np.float64), favourable.merit(most).astype(np.float64)
    lower, upper = np.minimum(*ends), np.maximum(*ends)
    if isinstance(favourable, FavourableInterval):
        # Between two values outside, on both sides of the interval, there may be one inside.
        _, no = _inside(least, most, favourable.low, favourable.high)
        upper = np.where(no, upper, 0.0)
    known = np.isfinite(least) & np.isfinite(most)
    return np.where(known, lower, -np.inf), np.where(known, upper, np.inf)
