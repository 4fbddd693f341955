"""What the model says about subsets, and which of them comes closest to a favourable decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from app.core.facts import Best
from app.core.favourable import Bools, Favourable, Floats
from app.core.problem import Move
from app.core.subsets.costs import Costs
from app.core.subsets.masks import Masks, as_truths, sizes


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the model says about subsets: of those asked about, as many from the front as the budget allowed."""

    favourable: Bools
    score: Floats
    outputs: Floats
    target: Favourable
    # What the model itself decides, where more is asked of a favourable subset.
    decided: Bools | None = None

    @classmethod
    def of(cls, outputs: Floats, target: Favourable) -> "Verdict":
        score = target.score(outputs)
        favourable = target.holds(outputs, score)
        if not (isfinite(score.max()) and isfinite(score.min())):
            # An infinite score is no basis for a recommendation.
            favourable &= np.isfinite(score)
        return cls(favourable, score, outputs, target)

    @property
    def label(self) -> NDArray[np.intp]:
        """The class that each row is given."""
        return self.labels(slice(None))

    def labels(self, rows: NDArray[np.intp] | slice) -> NDArray[np.intp]:
        """The labels of some rows; computed on demand, because few are sent."""
        decided = self.favourable if self.decided is None else self.decided
        return self.target.labels(self.outputs[rows], decided[rows])

    def labels_of_favourable(self, rows: Sequence[int]) -> list[int]:
        """The same for rows that are favourable."""
        only = self.target.only_label
        return self.labels(np.array(rows, dtype=np.intp)).tolist() if only is None else [only] * len(rows)

    def row(self, row: int) -> "Verdict":
        """The verdict on one row, in memory of its own."""
        only = slice(row, row + 1)
        decided = None if self.decided is None else self.decided[only].copy()
        favourable, score, outputs = self.favourable[only].copy(), self.score[only].copy(), self.outputs[only].copy()
        return Verdict(favourable, score, outputs, self.target, decided)

    def label_of(self, row: int) -> int:
        return int(self.labels(slice(row, row + 1))[0])

    def __len__(self) -> int:
        return len(self.favourable)


class Leader:
    """The best subset seen so far, with its verdict."""

    def __init__(self) -> None:
        self.merit = -inf
        self._mask: Masks | None = None
        self._verdict: Verdict | None = None

    def follow(self, masks: Masks, verdict: Verdict, merits: Floats) -> None:
        if merits.max() < self.merit or merits.max() == -inf:
            return
        row = _first(masks, np.flatnonzero(merits == merits.max()))
        if merits[row] > self.merit or self._comes_after(masks[row : row + 1]):
            self.merit = float(merits[row])
            self._mask, self._verdict = masks[row : row + 1].copy(), verdict.row(row)

    def _comes_after(self, mask: Masks) -> bool:
        """Whether an equally good subset is smaller than this one, or comes first by its positions."""
        if self._mask is None or mask.ndim > 1:
            return False
        both = np.concatenate([self._mask, mask])
        return _first(both, np.arange(2)) == 1

    def best(self, moves: Sequence[Move]) -> Best | None:
        if self._mask is None or self._verdict is None:
            return None
        made = tuple(np.flatnonzero(as_truths(self._mask, len(moves))[0]).tolist())
        cost = Costs([move.weight for move in moves]).of(made)
        return Best(made, cost, self.merit, self._verdict.score[0], self._verdict.label_of(0))


def _first(masks: Masks, rows: NDArray[np.intp]) -> int:
    """Of several equally good rows: the smallest subset, then the first by its positions.

    Beyond one word, subsets are asked about in that order anyway.
    """
    if len(rows) > 1 and masks.ndim == 1:
        tied = masks[rows]
        return int(rows[np.lexsort((~tied, sizes(tied)))[0]])
    return int(rows[0])
