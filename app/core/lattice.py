"""The lattice engine: every subset of size 1, 2, ... that contains no answer, in batches. Exact for any model."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core import dense_frontier
from app.core.budget import Budget, Stopped, StoppedBy
from app.core.dense_frontier import DenseFrontier
from app.core.facts import Fact, Found, LevelFinished, Working
from app.core.favourable import Bools
from app.core.formula import all_of, holds, only_forbids
from app.core.frontier import Frontier
from app.core.masks import Masks, as_members, as_truths
from app.core.oracle import Oracle, Verdict
from app.core.problem import Problem
from app.core.sparse_frontier import SparseFrontier

# When the time is over, what has been verified is still told of, but not for longer than this.
GRACE_SECONDS = 0.05
# So many answers are unpacked at a time.
UNPACKED = 4096


@dataclass(slots=True)
class Explored:
    """How far the lattice came: all sizes up to `size`, the answers among them, and what ended it."""

    size: int
    answers: list[Masks] = field(default_factory=list)
    exhausted: bool = False
    stopped_by: StoppedBy | None = None


def frontier_over(moves: int) -> Frontier:
    """The frontier at the empty subset."""
    return DenseFrontier(moves) if moves <= dense_frontier.MOST_MOVES else SparseFrontier(moves)


def explore(
    problem: Problem, oracle: Oracle, budget: Budget, fits: Callable[[int], bool] = lambda rows: True
) -> Generator[Fact, None, Explored]:
    """Work through the levels; the empty subset is known not to be an answer.

    Ends when nothing is left, when the budget is spent, or before a level of so many rows that `fits` refuses it.
    """
    explored = Explored(size=0)
    frontier = frontier_over(len(problem.moves))
    while frontier.size < problem.largest and frontier.most_next():
        if not budget.wants_answers():
            explored.stopped_by = StoppedBy.MAX_COUNTERFACTUALS
            return explored
        if not fits(frontier.most_next()):
            return explored
        scan = _Scan(problem, oracle, budget)
        try:
            yield from _scanned(scan, frontier, budget, last=frontier.size + 1 == problem.largest)
        except Stopped as stopped:
            explored.stopped_by = stopped.by
        yield from sent(scan.answers(), explored, budget)
        if explored.stopped_by is not None:
            return explored
        explored.answers += scan.hits
        explored.size += 1
        yield LevelFinished(explored.size)
        if explored.size == problem.largest:
            break
        frontier.rise()
    explored.exhausted = True
    return explored


def sent(answers: Iterator[Found], explored: Explored, budget: Budget) -> Iterator[Found]:
    """The answers of a level, as many as are wanted and as there is time for: waiting for the reader costs time too."""
    over: float | None = None
    for answer in answers:
        if not budget.wants_answers():
            explored.stopped_by = explored.stopped_by or StoppedBy.MAX_COUNTERFACTUALS
            return
        late = budget.time_over()
        if late is not None:
            # It is the time, and not the number of answers, that keeps the others back.
            explored.stopped_by = late if explored.stopped_by is not StoppedBy.MAX_MODEL_ROWS else explored.stopped_by
            over = budget.clock() if over is None else over
            if budget.clock() > over + GRACE_SECONDS:
                return
        budget.take_answer()
        yield answer


def _scanned(scan: "_Scan", frontier: Frontier, budget: Budget, last: bool) -> Iterator[Working]:
    for chunk in frontier.chunks():
        # Where most subsets are closed, calls of the model are far apart.
        budget.check()
        closed = yield from scan.judged(chunk.masks)
        if not last:
            frontier.settle(chunk, closed)


class _Scan:
    """What one level has shown so far. Every hit is minimal, because all smaller sizes are done."""

    def __init__(self, problem: Problem, oracle: Oracle, budget: Budget) -> None:
        self._moves = len(problem.moves)
        self._oracle = oracle
        self._budget = budget
        self._weights = [move.weight for move in problem.moves]
        self._forbidding = [conjunct for conjunct in problem.conjuncts if only_forbids(conjunct)]
        self._others = [conjunct for conjunct in problem.conjuncts if not only_forbids(conjunct)]
        self._open = 0
        self._count = 0
        self.hits: list[Masks] = []
        self._scores: list[NDArray[Any]] = []
        self._labels: list[NDArray[np.intp]] = []

    def judged(self, masks: Masks) -> Generator[Working, None, Bools]:
        """Judge the feasible ones among these subsets; which of all are closed, since no further change is of use."""
        if not (self._forbidding or self._others):
            return (yield from self._hit(masks))
        truths = as_truths(masks, self._moves)
        closed = ~holds(all_of(*self._forbidding), truths)
        feasible = holds(all_of(*self._others), truths) & ~closed
        self._set_aside(len(masks) - int(np.count_nonzero(feasible | closed)))
        closed[feasible] = yield from self._hit(masks[feasible])
        return closed

    def _set_aside(self, infeasible: int) -> None:
        """Subsets that another change may make feasible."""
        self._open += infeasible
        # They cost no row of the model, but they must be remembered: that is limited alike.
        if self._open > self._budget.most_rows:
            raise Stopped(StoppedBy.MAX_MODEL_ROWS)

    def _hit(self, masks: Masks) -> Generator[Working, None, Bools]:
        """Which of these subsets are favourable."""
        hit = np.zeros(len(masks), dtype=np.bool_)
        start = 0
        while start < len(masks):
            if self._has_enough():
                raise Stopped(StoppedBy.MAX_COUNTERFACTUALS)
            batch = masks[start : start + self._oracle.batch_rows]
            verdict = self._oracle.judge(batch)
            hit[start : start + len(verdict)] = verdict.favourable
            self._keep(batch, verdict)
            start += len(verdict)
            yield Working()
        return hit

    def _keep(self, batch: Masks, verdict: Verdict) -> None:
        rows = np.flatnonzero(verdict.favourable)
        if len(rows):
            self.hits.append(batch[rows])
            self._scores.append(verdict.score[rows])
            self._labels.append(verdict.labels(rows))
            self._count += len(rows)

    def _has_enough(self) -> bool:
        """Whether the answers that are wanted are known already: not if a cheaper one may still come."""
        left = self._budget.answers_left
        return left is not None and self._count >= left and len(set(self._weights)) == 1

    def answers(self) -> Iterator[Found]:
        """What was found, in the order that it is sent in."""
        if not self._count:
            return iter(())
        members = Unpacked(np.concatenate(self.hits), self._moves)
        scores, labels = np.concatenate(self._scores), np.concatenate(self._labels)
        return cheapest_first(self._weights, members, scores, labels, self._budget)


class Unpacked:
    """The moves of subsets of one size, unpacked as they are asked for."""

    def __init__(self, masks: Masks, moves: int) -> None:
        self._masks = masks
        self._moves = moves

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        for start in range(0, len(self._masks), UNPACKED):
            yield from map(tuple, as_members(self._masks[start : start + UNPACKED], self._moves).tolist())

    def in_order(self, order: NDArray[np.intp]) -> "Unpacked":
        return Unpacked(self._masks[order], self._moves)


def cheapest_first(
    weights: Sequence[float], hits: Unpacked, scores: NDArray[Any], labels: NDArray[np.intp], budget: Budget
) -> Iterator[Found]:
    """The answers of one size: the cheapest first, then in the order of their positions, in which they come."""
    if len(set(weights)) == 1:
        costs = None
    else:
        costs = _costs(weights, hits, budget)
        order = np.argsort(costs, kind="stable")
        hits, scores, labels, costs = hits.in_order(order), scores[order], labels[order], costs[order]
    for place, (moves, score, label) in enumerate(zip(hits, scores, labels, strict=False)):
        cost = fsum(weights[: len(moves)]) if costs is None else float(costs[place])
        yield Found(moves, cost, score, int(label))


def _costs(weights: Sequence[float], hits: Unpacked, budget: Budget) -> NDArray[np.float64]:
    """The cost of each hit; of the first ones only, where the time is over before all are known."""
    costs: list[float] = []
    for moves in hits:
        # fsum rounds once, so that the cost does not depend on the order of the features.
        costs.append(fsum([weights[move] for move in moves]))
        if not len(costs) % UNPACKED and budget.time_over() is not None:
            break
    return np.array(costs)
