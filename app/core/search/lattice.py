"""The lattice engine: every subset of size 1, 2, ... that contains no answer, in batches. Exact for any model."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Answers, Fact, LevelFinished, Moment, Working
from app.core.favourable import Bools
from app.core.formula import all_of, only_forbids
from app.core.memory import Waiting
from app.core.problem import Problem
from app.core.search.oracle import Oracle
from app.core.search.sieve import Sieve
from app.core.search.verdict import Verdict
from app.core.subsets import dense_frontier, packed_frontier
from app.core.subsets.costs import Costs
from app.core.subsets.dense_frontier import DenseFrontier
from app.core.subsets.frontier import Frontier, SubsetChunk
from app.core.subsets.masks import Masks, as_members
from app.core.subsets.packed_frontier import PackedFrontier
from app.core.subsets.sparse_frontier import SparseFrontier

# After the deadline, verified answers are still sent, for no longer than this.
GRACE_SECONDS = 0.05
# How many answers are unpacked at once, and how many are sent between two looks at the clock.
UNPACKED = 4096
BLOCK = 64
# Bytes that a hit takes besides when all of a level are put together, and when they are sorted by their costs.
A_HIT_IN_ROW = 8
A_HIT_IN_ORDER = 40


@dataclass(slots=True)
class Explored:
    """How far the lattice got: all sizes up to `size`, the answers among them, and what stopped it."""

    size: int
    answers: list[Masks] = field(default_factory=list)
    exhausted: bool = False
    stopped_by: StoppedBy | None = None

    @property
    def held(self) -> int:
        """Bytes of the answers."""
        return sum(masks.nbytes for masks in self.answers)


def frontier_over(moves: int) -> Frontier:
    """The frontier at the empty subset."""
    return DenseFrontier(moves) if moves <= dense_frontier.MOST_MOVES else SparseFrontier(moves)


def risen(frontier: Frontier, moves: int, closed: Sequence[Masks]) -> Frontier | None:
    """The frontier one size up, given the `closed` subsets; None if it would take too much memory."""
    if not frontier.is_full:
        frontier.rise()
        return frontier
    if moves > packed_frontier.MOST_MOVES:
        return None
    assert isinstance(frontier, SparseFrontier), "no other kind grows"
    return PackedFrontier(moves, frontier.size + 1, closed, frontier.most_after())


def remembered(frontier: Frontier, others: int, oracle: Oracle, budget: Budget) -> Iterator[Waiting]:
    """Hold the bytes of the frontier and `others`; if that is too much, forget the frontier's next size."""
    if frontier.held + others > budget.memory.most:
        frontier.forget_next()
    yield from budget.remember(frontier.held + others, besides=oracle.held)


def explore(
    problem: Problem,
    oracle: Oracle,
    budget: Budget,
    fits: Callable[[int], bool] = lambda rows: True,
    frontier: Frontier | None = None,
    scans: "type[Scan] | None" = None,
) -> Generator[Fact, None, Explored]:
    """Work through the levels; the empty subset is known not to be an answer.

    Ends when nothing is left, when the budget is spent, or before a level that needs too much memory or that `fits`
    refuses because of its rows. A `frontier` of its own may leave out subsets that are known to be unfavourable;
    `scans` puts the answers of a level in an order of its own.
    """
    frontier = frontier_over(len(problem.moves)) if frontier is None else frontier
    explored = Explored(frontier.size)
    while frontier.size < problem.max_size and frontier.most_next():
        if not budget.wants_answers():
            explored.stopped_by = StoppedBy.MAX_COUNTERFACTUALS
            return explored
        if not fits(frontier.most_next()):
            return explored
        scan = (scans or Scan)(problem, oracle, budget, frontier.is_ordered)
        try:
            yield from scan.all_of(frontier, explored.held, last=frontier.size + 1 == problem.max_size)
        except Stopped as stopped:
            explored.stopped_by = stopped.by
        yield from sent(scan.answers(), explored, budget)
        if explored.stopped_by is not None:
            return explored
        explored.answers += scan.hits
        explored.size += 1
        yield LevelFinished(explored.size)
        if explored.size == problem.max_size:
            break
        larger = risen(frontier, len(problem.moves), explored.answers)
        if larger is None:
            return explored
        frontier = larger
    explored.exhausted = True
    return explored


def sent(blocks: Iterator[Answers], explored: Explored, budget: Budget) -> Iterator[Answers]:
    """The answers of a level, as many as the budget allows; waiting for the reader takes time too."""
    over: float | None = None
    for block in blocks:
        taken = budget.take_answers(len(block))
        if not taken:
            explored.stopped_by = explored.stopped_by or StoppedBy.MAX_COUNTERFACTUALS
            return
        late = budget.time_over()
        if late is not None:
            # The deadline, not the number of answers, cuts off the others.
            explored.stopped_by = late if explored.stopped_by is not StoppedBy.MAX_MODEL_ROWS else explored.stopped_by
            over = budget.clock() if over is None else over
            if budget.clock() > over + GRACE_SECONDS:
                return
        yield block if taken == len(block) else block.first(taken)
        if taken < len(block):
            explored.stopped_by = explored.stopped_by or StoppedBy.MAX_COUNTERFACTUALS
            return


class Scan:
    """The hits of one level so far. Every hit is minimal, because all smaller sizes are done."""

    def __init__(self, problem: Problem, oracle: Oracle, budget: Budget, is_ordered: bool) -> None:
        self._moves = len(problem.moves)
        self._is_ordered = is_ordered
        self._oracle = oracle
        self._budget = budget
        self._costs = Costs([move.weight for move in problem.moves])
        forbidding = [conjunct for conjunct in problem.conjuncts if only_forbids(conjunct)]
        others = [conjunct for conjunct in problem.conjuncts if not only_forbids(conjunct)]
        self._constrained = bool(problem.conjuncts)
        self._sieve = Sieve([all_of(*forbidding), all_of(*others)], self._moves, budget)
        self._open = 0
        self._count = 0
        self.hits: list[Masks] = []
        self._scores: list[NDArray[Any]] = []
        self._labels: list[NDArray[np.int32]] = []

    def all_of(self, frontier: Frontier, others: int, last: bool) -> Iterator[Moment]:
        """Judge the whole level, while `others` bytes are held. The `last` level is not kept."""
        for chunk in frontier.chunks():
            # Where most subsets are closed, calls of the model are far apart.
            self._budget.check()
            yield from remembered(frontier, others + self.held, self._oracle, self._budget)
            closed = yield from self.judged(chunk)
            if not len(closed):
                yield Working()
            if not last:
                frontier.settle(chunk, closed)

    def judged(self, chunk: SubsetChunk) -> Generator[Working, None, Bools]:
        """Judge the feasible subsets; returns which subsets are closed, because no superset can be an answer."""
        if not self._constrained:
            return (yield from self._hit(chunk))
        allowed, met = yield from self._sieve.of_masks(chunk.masks)
        closed: Bools = ~allowed
        feasible = met & allowed
        self._set_aside(len(closed) - int(np.count_nonzero(feasible | closed)))
        closed[feasible] = yield from self._hit(chunk.part(feasible))
        return closed

    def _set_aside(self, infeasible: int) -> None:
        """Subsets that another change may make feasible."""
        self._open += infeasible
        # They cost no model rows, but they must be remembered, so the same limit applies.
        if self._open > self._budget.most_rows:
            raise Stopped(StoppedBy.MAX_MODEL_ROWS)

    def _hit(self, chunk: SubsetChunk) -> Generator[Working, None, Bools]:
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
            self._labels.append(verdict.labels(rows).astype(np.int32))
            self._count += len(rows)

    def _has_enough(self) -> bool:
        """Whether all wanted answers are known; not if a cheaper one may still come."""
        left = self._budget.answers_left
        return left is not None and self._count >= left and self._costs.uniform and self._is_ordered

    @property
    def held(self) -> int:
        """Bytes that it takes to keep what was found, and to put that in order."""
        if not self._count:
            return 0
        a_hit = self.hits[0][:1].nbytes + self._scores[0].itemsize + self._labels[0].itemsize
        return self._count * (a_hit + (A_HIT_IN_ROW if self._costs.uniform else A_HIT_IN_ORDER))

    def answers(self) -> Iterator[Answers]:
        """What was found, in the order that it is sent in."""
        if not self._count:
            return
        # One after the other, so that there is never more than one of them twice.
        self.hits, self._scores, self._labels = _joined(self.hits), _joined(self._scores), _joined(self._labels)
        (hits,), (scores,), (labels,) = self.hits, self._scores, self._labels
        costs = None
        if not self._is_ordered:
            order = np.argsort(~hits, kind="stable")
            hits, scores, labels = hits[order], scores[order], labels[order]
        if not self._costs.uniform:
            costs = self._costs_of(hits)
            # The cheapest first, then in the order of their positions, in which they come.
            order = np.argsort(costs, kind="stable")
            hits, scores, labels, costs = hits[order], scores[order], labels[order], costs[order]
        rows = 0
        for moves in unpacked(hits, self._moves):
            part = slice(rows, rows + len(moves))
            own = [self._costs.of(moves[0])] * len(moves) if costs is None else costs[part].tolist()
            yield Answers(moves, own, list(scores[part]), labels[part].tolist())
            rows += len(moves)

    def _costs_of(self, hits: Masks) -> NDArray[np.float64]:
        """The cost of each hit; only of the first ones if the deadline comes first."""
        costs = []
        for start in range(0, len(hits), UNPACKED):
            costs.append(self._costs.of_rows(as_members(hits[start : start + UNPACKED], self._moves)))
            if self._budget.time_over() is not None:
                break
        return np.concatenate(costs)


def _joined(parts: list[NDArray[Any]]) -> list[NDArray[Any]]:
    return [np.concatenate(parts)]


def unpacked(masks: Masks, moves: int) -> Iterator[list[tuple[int, ...]]]:
    """The moves of subsets of one size, some subsets at a time."""
    for start in range(0, len(masks), UNPACKED):
        members = list(zip(*as_members(masks[start : start + UNPACKED], moves).T.tolist(), strict=True))
        yield from (members[place : place + BLOCK] for place in range(0, len(members), BLOCK))
