"""Downhill with Adam, many rows at once, on a smooth loss plus an L1 cost whose corner is taken for what it is."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lab.paper.questions.network import Row, Rows

# For each row its loss, and how that changes with each feature.
Smooth = Callable[[Rows], tuple[Row, Rows]]

# As Adam's authors suggest.
_MEAN_DECAY, _SQUARE_DECAY, _TINY = 0.9, 0.999, 1e-8
# A loss that swings passes its own value now and then: it has settled when it stays for so many steps.
_SETTLED_STEPS = 5


@dataclass(frozen=True)
class Pull:
    """An L1 cost of leaving `anchor`: so much for each unit of each feature."""

    anchor: Row
    weights: Row

    def costs(self, rows: Rows) -> Row:
        found: Row = np.abs(rows - self.anchor) @ self.weights
        return found

    def slopes(self, rows: Rows, smooth: Rows) -> Rows:
        """The slopes of both losses; on the anchor the pull gives way only to a stronger slope."""
        away = np.sign(rows - self.anchor)
        held = np.sign(smooth) * np.maximum(np.abs(smooth) - self.weights, 0)
        found: Rows = np.where(away == 0, held, smooth + away * self.weights)
        return found

    def stopped(self, before: Rows, after: Rows) -> Rows:
        """A value that would cross its anchor stops there: past it, the pull is the other way."""
        crossed = (before - self.anchor) * (after - self.anchor) < 0
        return np.where(crossed, self.anchor, after)


@dataclass(frozen=True)
class Pace:
    """At most `steps`, from about `rate` down to nearly nought; fewer once no loss moves by `tolerance`."""

    steps: int
    rate: float
    tolerance: float


def descend(smooth: Smooth, pull: Pull, starts: Rows, pace: Pace, deadline: float) -> Rows:
    """Where the rows end that go downhill from `starts`, or where they are at the deadline."""
    rows = starts
    mean, square = np.zeros_like(rows), np.zeros_like(rows)
    last, settled = np.full(len(rows), np.inf), 0
    for step in range(pace.steps):
        if time.thread_time() >= deadline or settled == _SETTLED_STEPS:
            break
        losses, slopes = smooth(rows)
        losses, slopes = losses + pull.costs(rows), pull.slopes(rows, slopes)
        mean = _MEAN_DECAY * mean + (1 - _MEAN_DECAY) * slopes
        square = _SQUARE_DECAY * square + (1 - _SQUARE_DECAY) * slopes**2
        rate = pace.rate * (1 - step / pace.steps) * _correction(step + 1)
        moved = rows - rate * mean / (np.sqrt(square) + _TINY)
        # A value that the pull holds stays, whatever way it came.
        rows = np.where((rows == pull.anchor) & (slopes == 0), rows, pull.stopped(rows, moved))
        settled = settled + 1 if np.all(np.abs(losses - last) < pace.tolerance) else 0
        last = losses
    return rows


def _correction(step: int) -> float:
    """Both means start from nought: this makes up for it."""
    return float(np.sqrt(1 - _SQUARE_DECAY**step) / (1 - _MEAN_DECAY**step))
