"""Branch and bound by size: sets of moves in a fixed order, each extended by later moves only.

All sets of one size are in hand before any of the next, so a feasible favourable set that contains no answer so far is
minimal. A set is dropped if it contains an answer, if no completion can be favourable, or if none can be feasible.

Where memory ends, no size is in hand any more: each further one is reached from the root again, by the sets that few
enough further moves can complete.
"""

from collections.abc import Generator, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Fact, LevelFinished, Moment, Working
from app.core.favourable import Bools
from app.core.formula import Changed, Formula, all_of, extent, holds, substituted
from app.core.problem import Problem
from app.core.search.lattice import Explored
from app.core.search.oracle import Oracle
from app.core.subsets.masks import Indices, Masks, as_bytes, as_truths, of_truths, single
from app.core.through.margins import Margin
from app.core.through.searches.bounds import Bounds
from app.core.through.searches.known import KnownAnswers
from app.core.through.searches.partial import Partial, left_open
from app.core.through.searches.reach import Reach
from app.core.through.searches.scored import Sender, WaysToLeaves
from app.core.through.view import Numbers, Table

# Sets that are extended together; and sets with one more move each that are made together where memory has ended.
CHUNK = 8192
DEEPENED = 2**17
# Truth values that are worked out between two looks at the clock.
AT_A_TIME = 2**21


class Nodes(NamedTuple):
    """Sets in hand: their moves in the order of deciding, the last one, bounds on completions, and their numbers."""

    masks: Masks
    last: NDArray[np.int16]
    bounds: Numbers
    values: Numbers

    def part(self, rows: slice | Bools | Indices) -> "Nodes":
        return Nodes(self.masks[rows], self.last[rows], self.bounds[rows], self.values[rows])

    @property
    def held(self) -> int:
        return sum(array.nbytes for array in self)


def joined(parts: Sequence[Nodes]) -> Nodes:
    return Nodes(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


class Branching:
    """Searches the subsets of the moves in `order`, which has first what decides most."""

    def __init__(
        self, problem: Problem, margin: Margin, order: Sequence[int], budget: Budget, ways: WaysToLeaves = None
    ) -> None:
        self._problem = problem
        self._ways = ways
        self._margin = margin
        self._order = list(order)
        self._budget = budget
        place = {move: index for index, move in enumerate(order)}
        self._tables = [_renamed(table, place) for table in margin.tables]
        self._bounds = Bounds(margin, self._tables, len(order))
        self._rules = [substituted(each, lambda move: Changed(place[move])) for each in problem.conjuncts]
        self._known = KnownAnswers()
        self._larger: list[Nodes] = []
        self._proposed: list[tuple[Nodes, Bools]] = []
        self._held = 0
        self._leads_on = False
        self.nodes = 0

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self._margin, self._tables, len(self._order))

    def explore(self, oracle: Oracle, explored: Explored) -> Generator[Fact, None, None]:
        """Yields the answers level by level; `explored` says how far it came."""
        sender = Sender(self._problem, oracle, self._budget, explored, self._ways)
        level, in_hand = self._root() if self._order else None, True
        while level is not None and explored.size < self._problem.max_size:
            if not self._budget.wants_answers():
                explored.stopped_by = StoppedBy.MAX_COUNTERFACTUALS
                return
            try:
                if in_hand:
                    yield from self._extend(level, sender.held, left=self._problem.max_size - explored.size - 1)
                else:
                    yield from self._deepen(level, sender.held, size=explored.size + 1)
            except Stopped as stopped:
                if in_hand and stopped.by is StoppedBy.MAX_MODEL_ROWS:
                    level, in_hand = self._root(), False
                    self._forget()
                    continue
                explored.stopped_by = stopped.by
            yield from self._settle(sender)
            if explored.stopped_by is not None:
                return
            explored.size += 1
            yield LevelFinished(explored.size)
            if in_hand:
                level = joined(self._larger) if self._larger else None
            elif not self._leads_on:
                level = None
            self._forget()
        explored.exhausted = True

    def _forget(self) -> None:
        self._larger, self._proposed, self._held = [], [], 0

    def _root(self) -> Nodes:
        moves = len(self._order)
        none = np.zeros_like(single(moves)[:1])
        bounds, values = self._bounds.start_bounds[None], self._bounds.start_values[None]
        return Nodes(none, np.array([-1], dtype=np.int16), bounds, values)

    def _extend(self, level: Nodes, others: int, left: int) -> Iterator[Moment]:
        """Make all sets of the next size that may lead to an answer with at most `left` moves more.

        `others` are bytes that are held besides.
        """
        for start in range(0, len(level.last), CHUNK):
            # What is made is held once more when it is put together.
            yield from self._budget.remember(level.held + 2 * self._held + self._known.held + others)
            for children in self._children(level.part(slice(start, start + CHUNK))):
                children, feasible = yield from self._open(children, left)
                if len(children.last):
                    self._keep(self._propose(children, feasible), left)

    def _deepen(self, root: Nodes, others: int, size: int) -> Iterator[Moment]:
        """Propose all sets of this size that may be answers; notes whether a larger one may be."""
        self._leads_on = False
        at_once = max(1, DEEPENED // len(self._order))
        waiting = [(size, root)]
        while waiting:
            held = sum(nodes.held for _, nodes in waiting)
            yield from self._budget.remember(held + 2 * self._held + self._known.held + others)
            left, nodes = waiting.pop()
            if len(nodes.last) > at_once:
                waiting.append((left, nodes.part(slice(at_once, None))))
            larger = []
            for children in self._children(nodes.part(slice(at_once))):
                children, feasible = yield from self._open(children, left - 1)
                if left == 1:
                    self._propose(children, feasible)
                elif len(children.last):
                    larger.append(children)
            if larger:
                waiting.append((left - 1, joined(larger)))

    def _children(self, nodes: Nodes) -> Iterator[Nodes]:
        """The sets with one move more, one later move after the other; a set goes on while a completion is possible."""
        order = np.argsort(nodes.last, kind="stable")
        nodes = nodes.part(order)
        moves, sides = len(self._order), self._bounds.sides
        places = self._bounds.places(as_bytes(nodes.masks))
        starts = np.searchsorted(nodes.last, np.arange(-1, moves + 1))
        bounds = nodes.bounds
        rows = np.zeros(0, dtype=np.intp)
        for move in range(moves):
            rows = np.concatenate([rows, np.arange(starts[move], starts[move + 1])])
            if not len(rows):
                continue
            before, values = bounds[rows], nodes.values[rows]
            self.nodes += len(rows)
            changes = self._bounds.decide(move, places, rows)
            made = before
            if changes is not None:
                made = before + changes[:, sides : 2 * sides]
                values = values + changes[:, 2 * sides : 2 * sides + self._bounds.forms]
                before = before + changes[:, :sides]
                bounds[rows] = before
            kept = np.flatnonzero(self._margin.possible(made))
            masks = nodes.masks[rows[kept]] | single(moves)[move]
            yield Nodes(masks, np.full(len(kept), move, dtype=np.int16), made[kept], values[kept])
            if changes is not None:
                rows = rows[self._margin.possible(before)]

    def _open(self, children: Nodes, left: int) -> Generator[Working, None, tuple[Nodes, Bools | None]]:
        """Of sets with the same last move those that at most `left` moves more may complete, and which are feasible."""
        self._budget.check()
        yield Working()
        if not len(children.last):
            return children, None
        move = int(children.last[0])
        children = self._within_reach(children, left)
        contains = self._known.within(as_bytes(children.masks), move)
        children = children.part(~contains) if contains.any() else children
        if not self._rules or not len(children.last):
            return children, None
        return (yield from self._obeying(children, move))

    def _within_reach(self, children: Nodes, left: int) -> Nodes:
        first = int(children.last[0]) + 1
        if left >= len(self._order) - first:
            return children
        possible = self._margin.possible(np.minimum(children.bounds, self._reach.bounds(children.values, first, left)))
        self._leads_on |= not possible.all()
        return children.part(possible)

    def _propose(self, children: Nodes, feasible: Bools | None) -> Nodes:
        """Sort out sets that may be favourable: proposed answers. Returns the others."""
        yes, maybe = self._margin.sorted_out(children.values)
        proposed = yes | maybe if feasible is None else (yes | maybe) & feasible
        self._leads_on |= not (proposed & yes).all()
        if not proposed.any():
            return children
        self._proposed.append((children.part(proposed), yes[proposed]))
        self._held += self._proposed[-1][0].held
        return children.part(~proposed)

    def _keep(self, others: Nodes, left: int) -> None:
        """Keep sets that further moves may complete."""
        if left and len(others.last) and int(others.last[0]) + 1 < len(self._order):
            self._larger.append(others)
            self._held += others.held

    def _obeying(self, children: Nodes, move: int) -> Generator[Working, None, tuple[Nodes, Bools]]:
        """The sets of which a completion may be feasible, and which of them are feasible as they are."""
        moves = len(self._order)
        rule = all_of(*self._rules)
        step = max(1, AT_A_TIME // (extent(rule) + moves))
        kept, feasible = [], []
        for start in range(0, len(children.last), step):
            made = as_truths(children.masks[start : start + step], moves)
            may = made.copy()
            may[:, move + 1 :] = True
            open_still = left_open(rule, Partial(made, may)).hold
            kept.append(open_still)
            feasible.append(holds(rule, made[open_still]))
            self._budget.check()
            yield Working()
        return children.part(np.concatenate(kept)), np.concatenate(feasible)

    def _settle(self, sender: Sender) -> Generator[Fact, None, None]:
        """Have the proposed sets scored and sent. What the model does not favour is extended further."""
        if not self._proposed:
            return
        nodes = joined([nodes for nodes, _ in self._proposed])
        sure = np.concatenate([sure for _, sure in self._proposed])
        self._proposed = []
        favourable = yield from sender.sent(self._as_asked(nodes.masks), sure)
        answers = nodes.part(favourable)
        for move in np.unique(answers.last).tolist():
            self._known.add(as_bytes(answers.masks[answers.last == move]), move)
        rest = nodes.part(~favourable & (nodes.last + 1 < len(self._order)))
        if len(rest.last):
            self._larger.append(rest)

    def _as_asked(self, masks: Masks) -> Masks:
        """The same sets by the problem's own indices."""
        made = np.zeros((len(masks), len(self._problem.moves)), dtype=np.bool_)
        made[:, self._order] = as_truths(masks, len(self._order))
        return of_truths(made)


def _renamed(table: Table, place: dict[int, int]) -> Table:
    """The table over the places of its moves, in their order."""
    places = [place[move] for move in table.moves]
    axes = np.argsort(places)
    forms = table.values.shape[1]
    values = table.values.reshape(*[2] * len(places), forms).transpose(*axes.tolist(), len(places))
    return Table(tuple(sorted(places)), values.reshape(-1, forms))


def by_influence(margin: Margin, moves: Sequence[int]) -> list[int]:
    """The moves, first those that change most; of equals the first."""
    influence = dict.fromkeys(moves, 0.0)
    for table in margin.tables:
        forms = table.values.shape[1]
        for place, move in enumerate(table.moves):
            pairs = table.values.reshape(2**place, 2, -1, forms)
            influence[move] += float(np.abs(pairs[:, 1] - pairs[:, 0]).mean())
    return sorted(moves, key=lambda move: (-influence[move], move))


def named(formula: Formula) -> set[int]:
    """The moves that a formula speaks of."""
    found: set[int] = set()

    def note(move: int) -> Formula:
        found.add(move)
        return Changed(move)

    substituted(formula, note)
    return found
