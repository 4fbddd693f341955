"""Whether a plan holds for every measurement within reach: proved, or broken by a row that the model itself refuses."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Favourable
from app.core.robust.reach import Rows
from app.core.search.verdict import Verdict
from app.core.subsets.masks import Indices
from app.core.through.decision import decided
from app.core.through.over import SeenOver
from app.core.through.view import Unseen

# So many boxes are looked at for one plan, and for all plans of an answer.
MOST_BOXES = 1_000
MOST_IN_ALL = 20_000
# Boxes that are bounded together.
AT_ONCE = 128

Judge = Callable[[Rows], Verdict]


class Certified(NamedTuple):
    """Of each plan: whether it is proved to hold, and a row that breaks it, if one is known."""

    proved: list[bool]
    breaking: list[Rows | None]


class Boxes(NamedTuple):
    """Boxes of rows, and the plan that each belongs to."""

    plan: Indices
    low: Rows
    high: Rows

    def of(self, some: NDArray[Any] | slice) -> "Boxes":
        return Boxes(self.plan[some], self.low[some], self.high[some])

    def and_also(self, others: "Boxes") -> "Boxes":
        plan, low, high = (np.concatenate(pair) for pair in zip(self, others, strict=True))
        return Boxes(plan, low, high)

    def middles(self, whole: Sequence[int]) -> Rows:
        """A row in the middle of each; whole numbers where only those may be measured."""
        middles: Rows = np.clip(self.low / 2 + self.high / 2, self.low, self.high).astype(self.low.dtype)
        middles[:, whole] = np.floor(middles[:, whole])
        return middles


class Certifier:
    """Proves what can be proved of one person's plans; `judge` asks the model."""

    def __init__(self, judge: Judge, favourable: Favourable, seen: SeenOver | None, whole: frozenset[int]) -> None:
        self._judge = judge
        self._favourable = favourable
        self._seen = seen
        self._whole = sorted(whole)
        self._left = MOST_IN_ALL

    def certify(self, low: Rows, high: Rows) -> Certified:
        """What is known of plans, given the least and the largest cells of each."""
        found = Certified([False] * len(low), [None] * len(low))
        boxes = Boxes(np.arange(len(low)), low, high)
        self._try_corners(boxes, found)
        if self._seen is not None:
            boxes = boxes.of(_open(boxes, found))
            with suppress(Unseen):
                self._prove(self._seen, boxes, found)
        return found

    def _try_corners(self, boxes: Boxes, found: Certified) -> None:
        """Ask about the two corners of each box where the score should be lowest and highest.

        Column by column the model tells at which end its score is lower. If it weighs every column by itself, as a
        linear model does, these are the worst corners.
        """
        noisy = np.flatnonzero((boxes.low < boxes.high).any(axis=0))
        lowest = boxes.middles(self._whole)
        highest = lowest.copy()
        if len(noisy):
            ends = np.repeat(lowest[:, None], 2 * len(noisy), axis=1)
            for place, column in enumerate(noisy.tolist()):
                ends[:, 2 * place, column], ends[:, 2 * place + 1, column] = boxes.low[:, column], boxes.high[:, column]
            scores = self._judge(ends.reshape(-1, ends.shape[2])).score.reshape(len(ends), -1, 2)
            falls = scores[:, :, 1] < scores[:, :, 0]
            lowest[:, noisy] = np.where(falls, boxes.high[:, noisy], boxes.low[:, noisy])
            highest[:, noisy] = np.where(falls, boxes.low[:, noisy], boxes.high[:, noisy])
        for rows in (lowest, highest):
            self._ask(boxes.plan, rows, found)

    def _ask(self, plans: Indices, rows: Rows, found: Certified) -> Verdict:
        verdict = self._judge(rows)
        for place in np.flatnonzero(~verdict.favourable).tolist():
            if found.breaking[plans[place]] is None:
                found.breaking[plans[place]] = rows[place].copy()
        return verdict

    def _prove(self, seen: SeenOver, boxes: Boxes, found: Certified) -> None:
        """Part boxes until each is surely favourable; of a plan that takes too many, nothing is known."""
        counts = np.zeros(len(found.proved), dtype=np.intp)
        given_up: set[int] = set()
        asked = boxes.plan.tolist()
        while len(boxes.plan) and self._left > 0:
            some, boxes = boxes.of(slice(0, AT_ONCE)), boxes.of(slice(AT_ONCE, None))
            self._left -= len(some.plan)
            counts += np.bincount(some.plan, minlength=len(counts))
            boxes = boxes.and_also(self._parted(seen, some, found))
            given_up |= set(np.flatnonzero(counts > MOST_BOXES).tolist())
            settled = [found.breaking[plan] is not None or plan in given_up for plan in range(len(counts))]
            boxes = boxes.of(~np.array(settled, dtype=np.bool_)[boxes.plan])
        unknown = given_up | set(boxes.plan.tolist())
        for plan in asked:
            found.proved[plan] = found.breaking[plan] is None and plan not in unknown

    def _parted(self, seen: SeenOver, boxes: Boxes, found: Certified) -> Boxes:
        """The parts of those boxes that are not surely favourable, and in which the model was not found to refuse."""
        bounded = seen.over(boxes.low, boxes.high, self._favourable)
        rows = boxes.middles(self._whole)
        verdict = self._ask(boxes.plan, rows, found)
        said = decided(self._favourable, bounded.low, bounded.high, verdict.outputs.dtype)
        # Where all rows have the same outputs, the model has told of all.
        left = np.flatnonzero(~said.yes & verdict.favourable & (bounded.column >= 0))
        column = bounded.column[left]
        at = np.arange(len(left)), column
        return self._halves(boxes.of(left), at, rows[left, column], bounded.last[left])

    def _halves(self, boxes: Boxes, at: tuple[Indices, Indices], middle: Rows, last: Rows) -> Boxes:
        """Part each box in one column: after `last` where that lies within it, or else in the middle."""
        low, high = boxes.low[at], boxes.high[at]
        # A part must not be the whole.
        last = np.where(last < high, np.maximum(last, low), np.where(middle < high, middle, low)).astype(low.dtype)
        whole = np.isin(at[1], self._whole)
        last[whole] = np.floor(last[whole])
        after = last + 1
        if low.dtype.kind == "f":
            after[~whole] = np.nextafter(last[~whole], np.inf, dtype=low.dtype)
        lower, upper = boxes.high.copy(), boxes.low.copy()
        lower[at], upper[at] = last, after
        return Boxes(boxes.plan, boxes.low, lower).and_also(Boxes(boxes.plan, upper, boxes.high))


def _open(boxes: Boxes, found: Certified) -> NDArray[np.bool_]:
    return np.array([found.breaking[plan] is None for plan in boxes.plan.tolist()], dtype=np.bool_)
