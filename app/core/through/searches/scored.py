"""The model has the last word: what the view proposes is scored, put in order and sent."""

from collections.abc import Callable, Generator, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Answers, Fact, Moment, Working
from app.core.favourable import Bools
from app.core.problem import Problem
from app.core.search.lattice import UNPACKED, Explored, sent, unpacked
from app.core.search.oracle import Oracle
from app.core.search.verdict import Verdict
from app.core.subsets.costs import Costs
from app.core.subsets.masks import Indices, Masks, as_members
from app.core.through.searches.alike import Alike
from app.core.through.view import Ways

WaysToLeaves = Callable[[], Ways] | None
# So many sets are asked about one by one: quicker than finding out which of them are alike.
FEW = 8_192
# So many sets are compared with each other at a time.
COMPARED = 2**16


class Contradicted(Exception):
    """The model decides otherwise than was proved from its graph, so nothing that was proved from it may be used."""


class Sender:
    """Scores the proposed answers of a level, all of one size, and sends those that the model favours."""

    def __init__(
        self, problem: Problem, oracle: Oracle, budget: Budget, explored: Explored, ways: WaysToLeaves = None
    ) -> None:
        self._moves = len(problem.moves)
        self._ways = ways
        self._oracle = oracle
        self._budget = budget
        self._explored = explored
        self._costs = Costs([move.weight for move in problem.moves])

    @property
    def streams(self) -> bool:
        """Whether sets of one size are sent in the order of their positions alone."""
        return self._costs.uniform

    def sent(self, masks: Masks, sure: Bools) -> Generator[Fact, None, Bools]:
        """Returns which of them are favourable; `explored` says so if the budget ended first.

        The view is sure of some of them; of the others only the model knows. Raises `Contradicted`.
        """
        favourable = np.zeros(len(masks), dtype=np.bool_)
        start = 0
        try:
            order = yield from self._order(masks)
            if self._ways is not None and np.count_nonzero(~sure) > FEW:
                order = order[(yield from self._open(masks, sure))[order]]
            while start < len(order) and self._explored.stopped_by is None:
                rows = order[start : start + self._most_at_once()]
                verdict = self._oracle.judge(masks[rows])
                rows = rows[: len(verdict)]
                if not verdict.favourable[sure[rows]].all():
                    raise Contradicted
                favourable[rows] = verdict.favourable
                yield from sent(self._answers(masks[rows], verdict), self._explored, self._budget)
                yield Working()
                start += len(verdict)
        except Stopped as stopped:
            self._explored.stopped_by = stopped.by
        return favourable

    @property
    def held(self) -> int:
        """Bytes of what is known of sets that are alike."""
        return self._alike.held if "_alike" in vars(self) else 0

    @cached_property
    def _alike(self) -> Alike:
        assert self._ways is not None
        return Alike(self._ways(), self._moves, self._budget.check)

    def _open(self, masks: Masks, sure: Bools) -> Generator[Moment, None, Bools]:
        """All sets but those that the model does not favour; it is asked about one of all that are alike.

        Only of what is not sure. The first by their positions are asked about, because the closest is told.
        """
        doubtful = np.flatnonzero(~sure)
        doubtful = doubtful[np.lexsort(_positions(masks[doubtful]))]
        others = self._budget.memory.held - self.held
        still = sure.copy()
        for start in range(0, len(doubtful), COMPARED):
            self._budget.check()
            some = doubtful[start : start + COMPARED]
            still[some] = yield from self._favours(masks[some])
            yield from self._budget.remember(others + self.held)
        return still

    def _favours(self, masks: Masks) -> Generator[Moment, None, Bools]:
        """Which of these sets the model favours. What it does not favour is remembered."""
        firsts, like = self._alike.firsts(masks)
        favours = np.zeros(len(firsts), dtype=np.bool_)
        unknown = np.flatnonzero(~self._alike.refused(masks[firsts]))
        unknown = unknown[np.argsort(firsts[unknown])]
        asked = masks[firsts[unknown]]
        done = 0
        for _, verdict in self._oracle.judge_all(asked):
            favours[unknown[done : done + len(verdict)]] = verdict.favourable
            done += len(verdict)
            yield Working()
        self._alike.refuse(asked[~favours[unknown]])
        return favours[like]

    def _most_at_once(self) -> int:
        """There is no need to score many more than may be sent."""
        left = self._budget.answers_left
        return self._oracle.batch_rows if left is None else min(self._oracle.batch_rows, left + 1)

    def _order(self, masks: Masks) -> Generator[Working, None, Indices]:
        """The cheapest first, then by their positions, compared as lists."""
        keys = _positions(masks)
        if not self.streams:
            costs = np.empty(len(masks))
            for start in range(0, len(masks), UNPACKED):
                self._budget.check()
                part = slice(start, start + UNPACKED)
                costs[part] = self._costs.of_rows(as_members(masks[part], self._moves))
                yield Working()
            keys.append(costs)
        return np.lexsort(keys)

    def _answers(self, masks: Masks, verdict: Verdict) -> Iterator[Answers]:
        hits = np.flatnonzero(verdict.favourable)
        labels = verdict.labels_of_favourable(hits.tolist())
        scores = list(verdict.score[hits])
        done = 0
        for moves in unpacked(masks[hits], self._moves):
            part = slice(done, done + len(moves))
            yield Answers(moves, self._costs_of(moves), scores[part], labels[part])
            done += len(moves)

    def _costs_of(self, moves: list[tuple[int, ...]]) -> list[float]:
        if self.streams:
            return [self._costs.of(moves[0])] * len(moves)
        return [self._costs.of(each) for each in moves]


def _positions(masks: Masks) -> list[NDArray[Any]]:
    """What puts sets of one size in the order of their positions, the last key first."""
    return [~masks] if masks.ndim == 1 else list(~masks.T[::-1])


def stopped(explored: Explored, by: StoppedBy) -> Explored:
    """The search ends here, with what it has."""
    explored.stopped_by = by
    return explored
