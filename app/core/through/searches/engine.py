"""The engine that sees through the model: every minimal answer, proved from what was read in the graph."""

from collections.abc import Generator
from dataclasses import dataclass, field

from app.core.budget import Budget
from app.core.facts import Fact
from app.core.problem import Problem
from app.core.search.lattice import Explored
from app.core.search.oracle import Oracle
from app.core.through.margins import Line, Margin, Space, margin_of
from app.core.through.searches import covers, dense
from app.core.through.searches.branching import Branching, by_influence, named
from app.core.through.searches.covers import Covers
from app.core.through.searches.dense import Dense
from app.core.through.searches.scored import Contradicted, WaysToLeaves
from app.core.through.view import View


@dataclass(slots=True)
class Seen:
    """How far the search came, how many sets it looked at, and the moves that no answer can need."""

    explored: Explored = field(default_factory=lambda: Explored(size=0))
    nodes: int = 0
    inert: tuple[int, ...] = ()


def explore(problem: Problem, oracle: Oracle, budget: Budget, view: View) -> Generator[Fact, None, Seen]:
    """Search all sizes; the empty set is known to be unfavourable. Raises `Contradicted`."""
    assert oracle.outputs_dtype is not None, "the instance was judged"
    margin = margin_of(view, oracle.favourable, oracle.outputs_dtype)
    if margin is None:
        raise Contradicted
    seen = Seen()
    needed = _needed(problem, margin)
    seen.inert = tuple(move for move in range(len(problem.moves)) if move not in needed)
    search = _search(problem, margin, sorted(needed), budget, view.sums.ways)
    try:
        yield from search.explore(oracle, seen.explored)
    finally:
        seen.nodes = search.nodes
    return seen


def _search(
    problem: Problem, margin: Line | Space, needed: list[int], budget: Budget, ways: WaysToLeaves
) -> Covers | Dense | Branching:
    """The way that suits the model and the number of moves."""
    gains = covers.gains_of(problem, margin)
    if gains is not None and isinstance(margin, Line):
        return Covers(problem, margin, gains, budget)
    if dense.suits(margin, len(needed)):
        return Dense(problem, margin, needed, budget, ways)
    return Branching(problem, margin, by_influence(margin, needed), budget, ways)


def _needed(problem: Problem, margin: Margin) -> set[int]:
    """The moves that some table depends on, and those that the constraints name."""
    moves = {move for table in margin.tables for move in table.moves}
    return moves.union(*map(named, problem.conjuncts))
