"""The lattice engine: every subset of size 1, 2, ... that contains no answer, in batches. Exact for any model."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Fact, Found, LevelFinished, Working
from app.core.oracle import Oracle, Verdict
from app.core.problem import Problem
from app.core.subsets import Level, Members, as_truths, in_batches


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
        for answer in scan.answers():
            if not budget.wants_answers():
                explored.stopped_by = explored.stopped_by or StoppedBy.MAX_COUNTERFACTUALS
                break
            budget.take_answer()
            yield answer
        if explored.stopped_by is not None:
            return explored
        explored.answers.append(scan.hits())
        level = Level(len(problem.moves), scan.misses())
        explored.size = level.size
        yield LevelFinished(level.size)
    explored.exhausted = True
    return explored


def _scanned(scan: "_Scan", level: Level, oracle: Oracle, budget: Budget) -> Iterator[Fact]:
    for batch in in_batches(_checked(level.candidates(), budget), oracle.batch_rows):
        while len(batch):
            if scan.has_enough(budget):
                raise Stopped(StoppedBy.MAX_COUNTERFACTUALS)
            verdict = oracle.judge(as_truths(batch, scan.moves))
            scan.add(batch[: len(verdict)], verdict)
            batch = batch[len(verdict) :]
            yield Working()


def _checked(chunks: Iterator[Members], budget: Budget) -> Iterator[Members]:
    """Look at the clock between chunks: where most subsets are closed, batches are far apart."""
    for chunk in chunks:
        budget.check()
        yield chunk


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
        return np.concatenate(self._misses)

    def answers(self) -> Iterator[Found]:
        """What was found: the cheapest first, then in the order of their positions."""
        if not self._count:
            return
        hits, scores, labels = self.hits(), np.concatenate(self._scores), np.concatenate(self._labels)
        # fsum rounds once, so that the cost does not depend on the order of the features.
        costs = [fsum(self._weights[move] for move in hit) for hit in hits.tolist()]
        for index in sorted(range(len(costs)), key=costs.__getitem__):
            yield Found(tuple(hits[index].tolist()), costs[index], scores[index], int(labels[index]))
