"""The lattice engine: every subset of size 1, 2, ... that contains no answer, in batches. Exact for any model."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Fact, Found, LevelFinished, Working
from app.core.formula import all_of, holds, only_forbids
from app.core.oracle import Oracle, Verdict
from app.core.problem import Problem
from app.core.subsets import CHUNK, Level, Members, as_truths, in_batches

# When the time is over, what has been verified is still told of, but not for longer than this.
GRACE_SECONDS = 0.05


@dataclass(slots=True)
class Explored:
    """How far the lattice came: all sizes up to `size`, the answers among them, and what ended it."""

    size: int
    answers: list[Members] = field(default_factory=list)
    exhausted: bool = False
    stopped_by: StoppedBy | None = None


def explore(
    problem: Problem, oracle: Oracle, budget: Budget, fits: Callable[[int], bool] = lambda rows: True
) -> Generator[Fact, None, Explored]:
    """Work through the levels; the empty subset is known not to be an answer.

    Ends when nothing is left, when the budget is spent, or before a level of so many rows that `fits` refuses it.
    """
    explored = Explored(size=0)
    level = Level.root(len(problem.moves))
    while level.size < problem.largest and level.extensions:
        if not budget.wants_answers():
            explored.stopped_by = StoppedBy.MAX_COUNTERFACTUALS
            return explored
        if not fits(level.extensions):
            return explored
        scan = _Scan(problem, level)
        try:
            yield from _scanned(scan, level, oracle, budget)
        except Stopped as stopped:
            explored.stopped_by = stopped.by
        yield from sent(scan.answers(budget), explored, budget)
        if explored.stopped_by is not None:
            return explored
        explored.answers.append(scan.hits())
        level = Level(len(problem.moves), scan.misses())
        explored.size = level.size
        yield LevelFinished(level.size)
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


def _scanned(scan: "_Scan", level: Level, oracle: Oracle, budget: Budget) -> Iterator[Fact]:
    for batch in in_batches(_feasible(level.candidates(), scan, budget), oracle.batch_rows):
        while len(batch):
            if scan.has_enough(budget):
                raise Stopped(StoppedBy.MAX_COUNTERFACTUALS)
            verdict = oracle.judge(as_truths(batch, scan.moves))
            scan.add(batch[: len(verdict)], verdict)
            batch = batch[len(verdict) :]
            yield Working()


def _feasible(chunks: Iterator[Members], scan: "_Scan", budget: Budget) -> Iterator[Members]:
    """The subsets to judge. Looks at the clock too: where most subsets are closed, batches are far apart."""
    for chunk in chunks:
        budget.check()
        yield scan.feasible(chunk, budget)


class _Scan:
    """What one level has shown so far. Every hit is minimal, because all smaller sizes are done."""

    def __init__(self, problem: Problem, level: Level) -> None:
        self.moves = len(problem.moves)
        self._weights = [move.weight for move in problem.moves]
        self._uniform = len(set(self._weights)) == 1
        self._hits = [level.none_larger()]
        self._misses = [level.none_larger()]
        self._scores: list[NDArray[Any]] = []
        self._labels: list[NDArray[np.intp]] = []
        self._count = 0
        self._forbidding = [conjunct for conjunct in problem.conjuncts if only_forbids(conjunct)]
        self._others = [conjunct for conjunct in problem.conjuncts if not only_forbids(conjunct)]
        self._in_order = True
        self._open = 0

    def feasible(self, chunk: Members, budget: Budget) -> Members:
        """Drop what no further change can mend, set aside what one may, and return the feasible subsets."""
        if self._forbidding:
            chunk = chunk[holds(all_of(*self._forbidding), as_truths(chunk, self.moves))]
        if self._others:
            feasible = holds(all_of(*self._others), as_truths(chunk, self.moves))
            self._set_aside(chunk[~feasible], budget)
            chunk = chunk[feasible]
        return chunk

    def _set_aside(self, infeasible: Members, budget: Budget) -> None:
        self._misses.append(infeasible)
        self._in_order = self._in_order and not len(infeasible)
        self._open += len(infeasible)
        # They cost no row of the model, but they must be remembered: that is limited alike.
        if self._open > budget.most_rows:
            raise Stopped(StoppedBy.MAX_MODEL_ROWS)

    def add(self, batch: Members, verdict: Verdict) -> None:
        hit = verdict.favourable
        self._misses.append(batch[~hit])
        if hit.any():
            self._hits.append(batch[hit])
            self._scores.append(verdict.score[hit])
            self._labels.append(verdict.label[hit])
            self._count += int(hit.sum())

    def has_enough(self, budget: Budget) -> bool:
        """Whether the answers that are wanted are known already: not if a cheaper one may still come."""
        return self._uniform and budget.answers_left is not None and self._count >= budget.answers_left

    def hits(self) -> Members:
        return np.concatenate(self._hits)

    def misses(self) -> Members:
        """The subsets that are still open, in lexicographic order."""
        misses = np.concatenate(self._misses)
        return misses if self._in_order else misses[np.lexsort(misses.T[::-1])]

    def answers(self, budget: Budget) -> Iterator[Found]:
        """What was found, in the order that it is sent in."""
        if not self._count:
            return iter(())
        scores, labels = np.concatenate(self._scores), np.concatenate(self._labels)
        return cheapest_first(self._weights, self.hits(), scores, labels, budget)


def cheapest_first(
    weights: Sequence[float], hits: Members, scores: NDArray[Any], labels: NDArray[np.intp], budget: Budget
) -> Iterator[Found]:
    """The answers of one size: the cheapest first, then in the order of their positions, in which they come."""
    if len(set(weights)) == 1:
        costs = [fsum(weights[: hits.shape[1]])] * len(hits)
        order: Sequence[int] = range(len(hits))
    else:
        costs = _costs(weights, hits, budget)
        order = sorted(range(len(costs)), key=costs.__getitem__)
    for index in order:
        yield Found(tuple(hits[index].tolist()), costs[index], scores[index], int(labels[index]))


def _costs(weights: Sequence[float], hits: Members, budget: Budget) -> list[float]:
    """The cost of each hit; of the first ones only, where the time is over before all are known."""
    costs: list[float] = []
    for start in range(0, len(hits), CHUNK):
        # fsum rounds once, so that the cost does not depend on the order of the features.
        costs += [fsum(weights[move] for move in hit) for hit in hits[start : start + CHUNK].tolist()]
        if budget.time_over() is not None:
            break
    return costs
