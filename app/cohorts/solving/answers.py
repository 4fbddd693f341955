"""The answers of several people as arrays, before they are a table."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.cohorts.solving.one_by_one import Told
from app.core.crowd.posed import Places, Values
from app.core.robust.telling import Stability


class Answered(NamedTuple):
    """Answers of several people: whose, their costs, scores and labels, and the positions of the changed features.

    Each row of `changed` is padded with -1. `ends` are the values that these lead to, NaN where that is the target.
    `shares` say in which share of the measurements each holds, NaN where that is not told.
    """

    people: Places
    costs: NDArray[np.float64]
    scores: NDArray[Any]
    labels: Places
    changed: Places
    ends: Values
    shares: Values

    def of(self, order: Places) -> "Answered":
        costs, scores, labels = self.costs[order], self.scores[order], self.labels[order]
        changed, ends, shares = self.changed[order], self.ends[order], self.shares[order]
        return Answered(self.people[order], costs, scores, labels, changed, ends, shares)


def answers_of(person: int, told: Told, score: np.dtype[Any]) -> Answered:
    """Answers as the service finds them."""
    answers, moves = [each.found for each in told.answers], told.started.question.problem.moves
    changed = np.full((len(answers), max(len(found.moves) for found in answers)), -1, dtype=np.intp)
    ends = np.full(changed.shape, np.nan)
    for place, found in enumerate(answers):
        changed[place, : len(found.moves)] = [moves[index].position for index in found.moves]
        ends[place, : len(found.moves)] = [moves[index].target for index in found.moves]
    return Answered(
        np.full(len(answers), person),
        np.array([found.cost for found in answers], dtype=np.float64),
        np.array([found.score for found in answers], dtype=score),
        np.array([found.label for found in answers]),
        changed,
        ends,
        np.array([_share(each.stability) for each in told.answers], dtype=np.float64),
    )


def _share(stability: Stability | None) -> float:
    return np.nan if stability is None or stability.share is None else stability.share


def together(parts: Sequence[Answered]) -> Answered:
    """All answers, person after person."""
    widest = max(part.changed.shape[1] for part in parts)

    def padded(part: Answered) -> Answered:
        missing = widest - part.changed.shape[1]
        changed = np.pad(part.changed, ((0, 0), (0, missing)), constant_values=-1)
        return part._replace(changed=changed, ends=np.pad(part.ends, ((0, 0), (0, missing)), constant_values=np.nan))

    found = Answered(*map(np.concatenate, zip(*map(padded, parts), strict=True)))
    return found.of(np.argsort(found.people, kind="stable"))
