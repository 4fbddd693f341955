"""The map of what a search has not explored yet: a solver that proposes seeds and learns what to leave out."""

from collections.abc import Generator, Sequence

from app.core.budget import Budget
from app.core.facts import Moment
from app.core.formula import Changed, Count, Formula
from app.core.problem import Problem
from app.core.search.solver import Solver, is_readable


def suits(problem: Problem) -> bool:
    """Whether what the problem asks of subsets, their sizes included, makes so few clauses that a map can hold them."""
    count = len(problem.moves)
    return is_readable([*problem.conjuncts, _sizes(count, 1, count - 1)])


class SeedMap:
    """One solver over the moves of a problem."""

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self._problem = problem
        self.solver = Solver(len(problem.moves), budget)

    def read_rules(self, larger_than: int) -> Generator[Moment, None, None]:
        """What holds for every seed: the conjuncts of the problem, and the sizes that are left."""
        solver = self.solver
        for literal in (yield from solver.read(rules_for(self._problem, larger_than))):
            solver.add([literal])
        # A large seed leads to an answer by shrinking, and where it fails there is little left to grow.
        solver.prefer_all()

    def propose(self) -> Generator[Moment, None, int | None]:
        """A subset that nothing has ruled out yet, one bit a move, the first highest; None when there is none left."""
        yield from self.solver.remembered()
        if not (yield from self.solver.satisfiable()):
            return None
        subset = 0
        for made in self.solver.moves_made():
            subset = subset << 1 | made
        return subset

    def block_up(self, moves: Sequence[int]) -> None:
        """Rule out the subset and every superset of it: they contain an answer."""
        made = self.solver.made
        self.solver.add([-made(move) for move in moves])

    def block_down(self, moves_outside: Sequence[int]) -> None:
        """Rule out a subset, by the moves outside it, and every subset of it: a monotone model favours none of them."""
        made = self.solver.made
        self.solver.add([made(move) for move in moves_outside])


def rules_for(problem: Problem, larger_than: int) -> list[Formula]:
    """What a seed satisfies: it changes more features than this, and breaks no rule."""
    if problem.ladder is not None:
        sizes = [Count(larger_than + 1, problem.movable, problem.ladder.changed())] if larger_than else []
        return [*problem.conjuncts, *sizes]
    moves = len(problem.moves)
    if larger_than or problem.max_size < moves:
        return [*problem.conjuncts, _sizes(moves, larger_than + 1, problem.max_size)]
    return list(problem.conjuncts)


def _sizes(moves: int, low: int, high: int) -> Formula:
    return Count(low, high, tuple(Changed(move) for move in range(moves)))
