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
from app.core.facts import Answers, Fact, LevelFinished, Working
from app.core.favourable import Bools
from app.core.formula import all_of, holds, only_forbids
from app.core.frontier import Chunk, Frontier
from app.core.masks import Masks, as_members, as_truths
from app.core.oracle import Oracle, Verdict
from app.core.problem import Problem
from app.core.sparse_frontier import SparseFrontier

# When the time is over, what has been verified is still told of, but not for longer than this.
GRACE_SECONDS = 0.05
# So many answers are unpacked at a time, and so many told of between two looks at the clock.
UNPACKED = 4096
BLOCK = 64


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


def sent(blocks: Iterator[Answers], explored: Explored, budget: Budget) -> Iterator[Answers]:
    """The answers of a level, as many as are wanted and as there is time for: waiting for the reader costs time too."""
    over: float | None = None
    for block in blocks:
        taken = budget.take_answers(len(block))
        if not taken:
            explored.stopped_by = explored.stopped_by or StoppedBy.MAX_COUNTERFACTUALS
            return
        late = budget.time_over()
        if late is not None:
            # It is the time, and not the number of answers, that keeps the others back.
            explored.stopped_by = late if explored.stopped_by is not StoppedBy.MAX_MODEL_ROWS else explored.stopped_by
            over = budget.clock() if over is None else over
            if budget.clock() > over + GRACE_SECONDS:
                return
        yield block if taken == len(block) else block.first(taken)
        if taken < len(block):
            explored.stopped_by = explored.stopped_by or StoppedBy.MAX_COUNTERFACTUALS
            return


def _scanned(scan: "_Scan", frontier: Frontier, budget: Budget, last: bool) -> Iterator[Working]:
    for chunk in frontier.chunks():
        # Where most subsets are closed, calls of the model are far apart.
        budget.check()
        closed = yield from scan.judged(chunk)
        if not last:
            frontier.settle(chunk, closed)


class _Scan:
    """What one level has shown so far. Every hit is minimal, because all smaller sizes are done."""

    def __init__(self, problem: Problem, oracle: Oracle, budget: Budget) -> None:
        self._moves = len(problem.moves)
        self._oracle = oracle
        self._budget = budget
        self._weights = [move.weight for move in problem.moves]
        self._uniform = len(set(self._weights)) == 1
        self._forbidding = [conjunct for conjunct in problem.conjuncts if only_forbids(conjunct)]
        self._others = [conjunct for conjunct in problem.conjuncts if not only_forbids(conjunct)]
        self._open = 0
        self._count = 0
        self.hits: list[Masks] = []
        self._scores: list[NDArray[Any]] = []
        self._labels: list[NDArray[np.intp]] = []

    def judged(self, chunk: Chunk) -> Generator[Working, None, Bools]:
        """Judge the feasible ones among these subsets; which of all are closed, since no further change is of use."""
        if not (self._forbidding or self._others):
            return (yield from self._hit(chunk))
        truths = as_truths(chunk.masks, self._moves)
        closed = ~holds(all_of(*self._forbidding), truths)
        feasible = holds(all_of(*self._others), truths) & ~closed
        self._set_aside(len(closed) - int(np.count_nonzero(feasible | closed)))
        closed[feasible] = yield from self._hit(chunk.part(feasible))
        return closed

    def _set_aside(self, infeasible: int) -> None:
        """Subsets that another change may make feasible."""
        self._open += infeasible
        # They cost no row of the model, but they must be remembered: that is limited alike.
        if self._open > self._budget.most_rows:
            raise Stopped(StoppedBy.MAX_MODEL_ROWS)

    def _hit(self, chunk: Chunk) -> Generator[Working, None, Bools]:
        """Which of these subsets are favourable."""
        hit = np.zeros(len(chunk.masks), dtype=np.bool_)
        start = 0
        while start < len(hit):
            if self._has_enough():
                raise Stopped(StoppedBy.MAX_COUNTERFACTUALS)
            batch = chunk.part(slice(start, start + self._oracle.batch_rows))
            verdict = self._oracle.judge_chunk(batch)
            hit[start : start + len(verdict)] = verdict.favourable
            self._keep(batch.masks, verdict)
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
        return left is not None and self._count >= left and self._uniform

    def answers(self) -> Iterator[Answers]:
        """What was found, in the order that it is sent in."""
        if not self._count:
            return
        hits, scores, labels = np.concatenate(self.hits), np.concatenate(self._scores), np.concatenate(self._labels)
        costs = None
        if not self._uniform:
            costs = _costs(self._weights, unpacked(hits, self._moves), self._budget)
            # The cheapest first, then in the order of their positions, in which they come.
            order = np.argsort(costs, kind="stable")
            hits, scores, labels, costs = hits[order], scores[order], labels[order], costs[order]
        rows = 0
        for moves in unpacked(hits, self._moves):
            part = slice(rows, rows + len(moves))
            own = [fsum(self._weights[: len(moves[0])])] * len(moves) if costs is None else costs[part].tolist()
            yield Answers(moves, own, list(scores[part]), labels[part].tolist())
            rows += len(moves)


def unpacked(masks: Masks, moves: int) -> Iterator[list[tuple[int, ...]]]:
    """The moves of subsets of one size, some subsets at a time."""
    for start in range(0, len(masks), UNPACKED):
        members = list(zip(*as_members(masks[start : start + UNPACKED], moves).T.tolist(), strict=True))
        yield from (members[place : place + BLOCK] for place in range(0, len(members), BLOCK))


def _costs(weights: Sequence[float], hits: Iterator[list[tuple[int, ...]]], budget: Budget) -> NDArray[np.float64]:
    """The cost of each hit; of the first ones only, where the time is over before all are known."""
    costs: list[float] = []
    for block in hits:
        # fsum rounds once, so that the cost does not depend on the order of the features.
        costs += [fsum([weights[move] for move in moves]) for moves in block]
        if budget.time_over() is not None:
            break
    return np.array(costs)
