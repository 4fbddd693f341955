"""The search through a network: levels of the lattice, of which only those subsets are asked about that may succeed."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.core.budget import Budget, Stopped
from app.core.facts import Best, Fact, Moment, Proof, ProvedBy, Working
from app.core.favourable import Bools, Favourable, FavourableClasses, FavourableInterval, Floats
from app.core.formula import all_of, holds, only_forbids
from app.core.problem import Problem
from app.core.search import lattice
from app.core.search.lattice import Explored
from app.core.search.oracle import Oracle
from app.core.subsets.masks import WORD, Masks, as_truths, single
from app.core.through.networks.frontier import PossibleSubsets
from app.core.through.networks.margins import SIGMOID_OFF, SOFTMAX_OFF, Margins, margins_of
from app.core.through.networks.network import Ending
from app.core.through.networks.order import by_influence
from app.core.through.networks.rounding import UNIT
from app.core.through.networks.signs import Signs, signs_of
from app.core.through.networks.view import NetworkView

# With more moves there are too many nodes: then only the whole is bounded, and signs are looked for.
MOST_MOVES = 36


@dataclass(frozen=True, slots=True)
class NetworkSearch:
    """What a network proves about one problem; None where no limit on its sums follows from the decision."""

    problem: Problem
    oracle: Oracle
    budget: Budget
    view: NetworkView
    margins: Margins
    signs: Signs

    @classmethod
    def of(cls, problem: Problem, oracle: Oracle, budget: Budget, view: NetworkView) -> "NetworkSearch | None":
        margins = _margins(view, oracle.favourable, oracle)
        if margins is None or len(problem.moves) > WORD:
            return None
        return cls(problem, oracle, budget, view, margins, signs_of(view.person, margins))

    @property
    def useless(self) -> tuple[int, ...]:
        """The moves that no answer can need: without constraints, those that change nothing.

        Where there are too many moves to bound nodes, and the solver searches, also those that only lower the margins:
        it looks whether a failing set is a close call, in which the last function may favour a set with lower margins.
        """
        if self.problem.conjuncts:
            return ()
        solved = self.is_rising and not self.suits
        return tuple(np.flatnonzero(self.signs.falling if solved else self._inert).tolist())

    @property
    def _inert(self) -> Bools:
        """The moves that change nothing."""
        return np.logical_and(self.signs.falling, self.signs.rising) & (not self.problem.conjuncts)

    @property
    def is_rising(self) -> bool:
        """Whether the decision is monotone: no move that an answer may need ever lowers the margins."""
        needed = self.signs.rising if self.problem.conjuncts else self.signs.rising | self.signs.falling
        return bool(needed.all())

    def is_turned_by_all(self) -> bool:
        """Whether all moves together turn the decision: then there is something to list, and not only to rule out."""
        every = np.bitwise_or.reduce(single(len(self.problem.moves)), keepdims=True)
        try:
            return bool(self.oracle.judge(every).favourable[0])
        except Stopped:
            return False

    def is_surely_unfavourable(self, outputs: Floats) -> bool:
        """Whether outputs are so far from favourable that no error of the last function of the network matters."""
        favourable, off = self.oracle.favourable, self._off(outputs.dtype)
        if isinstance(favourable, FavourableInterval):
            moved = [outputs - off, outputs, outputs + off]
        else:
            raised = outputs.copy()
            raised[:, list(favourable.classes)] += off
            raised[:, list(favourable.others)] -= off
            moved = [raised]
        return not any(bool(favourable.holds(each, favourable.score(each))[0]) for each in moved)

    def _off(self, dtype: np.dtype[Any]) -> Any:
        network = self.view.network
        most = {Ending.NONE: 0.0, Ending.SOFTMAX: SOFTMAX_OFF + 4.0 * len(network.layers[-1].affine.bias)}
        return dtype.type(2 * most.get(network.ending, float(SIGMOID_OFF)) * UNIT[network.dtype])

    def proof(self, nodes: int) -> Proof:
        return Proof(ProvedBy.NETWORK, nodes, self.useless)

    @property
    def suits(self) -> bool:
        """Whether there are few enough moves to bound nodes."""
        return int(np.count_nonzero(~self._inert)) <= MOST_MOVES

    def frontier(self, margins: Margins | None = None) -> PossibleSubsets:
        margins = self.margins if margins is None else margins
        order = by_influence(self.view.person, margins)
        kept = order[~np.isin(order, self.useless)]
        return PossibleSubsets(self.view.person, margins, kept, _allowed(self.problem))

    def explore(self, frontier: PossibleSubsets, fits: Callable[[int], bool]) -> Generator[Fact, None, Explored]:
        return lattice.explore(self.problem, self.oracle, self.budget, fits, frontier)

    def find_best(self) -> Generator[Moment, None, bool]:
        """Have the oracle asked about every subset that may come as close as any; whether that was all of them.

        Without constraints only, and where there is no answer.
        """
        # Subsets of one size come in no order.
        self.oracle.compares_ties = True
        try:
            yield from self._climb()
            best = self.oracle.best
            if best is None or not self.suits:
                return False
            margins = _margins(self.view, _as_close(self.oracle.favourable, best), self.oracle)
            if margins is None:
                return False
            yield from self._ask_all(self.frontier(margins))
        except Stopped:
            return False
        return True

    def _climb(self) -> Generator[Moment, None, None]:
        """From the instance on, make or take back one move at a time, as long as that brings it closer."""
        moves = single(len(self.problem.moves))
        here, merit = np.zeros(1, dtype=np.uint64), -np.inf
        while True:
            verdict = self.oracle.judge(here ^ moves)
            merits = self.oracle.favourable.merit(verdict.score)
            yield Working()
            if not merits.max() > merit:
                return
            here, merit = here ^ moves[int(merits.argmax())], merits.max()

    def _ask_all(self, frontier: PossibleSubsets) -> Generator[Moment, None, None]:
        while frontier.most_next():
            for chunk in frontier.chunks():
                self.budget.check()
                yield from self.budget.remember(frontier.held, besides=self.oracle.held)
                for _ in self.oracle.judge_all(chunk.masks):
                    yield Working()
                yield Working()
            frontier.rise()


def _margins(view: NetworkView, favourable: Favourable, oracle: Oracle) -> Margins | None:
    assert oracle.outputs_dtype is not None, "the instance was judged"
    return margins_of(favourable, view.network, oracle.outputs_dtype, view.person.lost, view.largest)


def _as_close(favourable: Favourable, best: Best) -> Favourable:
    """What would have to be favourable for every subset that comes as close as the best."""
    if isinstance(favourable, FavourableClasses):
        return replace(favourable, threshold=float(best.score))
    short = -float(best.merit) * (1 + 1e-6)
    low = None if favourable.low is None else favourable.low - short
    return FavourableInterval(low, None if favourable.high is None else favourable.high + short)


def _allowed(problem: Problem) -> Callable[[Masks], Bools] | None:
    """Which subsets break no rule that further moves can only break more."""
    forbidding = [conjunct for conjunct in problem.conjuncts if only_forbids(conjunct)]
    if not forbidding:
        return None
    rule, moves = all_of(*forbidding), len(problem.moves)
    return lambda masks: holds(rule, as_truths(masks, moves))


def kept(problem: Problem, useless: Sequence[int]) -> Problem:
    """The problem without some of its moves."""
    moves = tuple(move for place, move in enumerate(problem.moves) if place not in useless)
    return replace(problem, moves=moves, max_size=min(problem.max_size, len(moves)))
