"""The map of what a search has not yet explored: a solver that proposes seeds and is told what to leave out."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress

import z3
from pysat.solvers import Cadical195

from app.core.budget import Budget
from app.core.clauses import Clause, clauses
from app.core.facts import Working
from app.core.formula import Changed, Count
from app.core.problem import Problem

# The solver looks up after so many conflicts: 3 to 5 ms in hard formulas. It keeps Python's lock meanwhile, so nobody
# else gets a word in. A fixed number, and no time: what it proposes next may depend on where it looked up.
CONFLICTS_AT_A_TIME = 100


class SeedMap:
    """One solver over m_i: move i is made. Z3 turns the formulas into clauses, CaDiCaL finds what satisfies them."""

    def __init__(self, problem: Problem, budget: Budget, larger_than: int) -> None:
        self._budget = budget
        self._moves = len(problem.moves)
        self.checks = 0
        self.seconds = 0.0
        with self._at_work():
            self._solver = Cadical195(bootstrap_with=self._rules(problem, larger_than))
            # A large seed leads to an answer by shrinking, and where it fails there is little left to grow.
            self._solver.set_phases(range(1, self._moves + 1))

    def _rules(self, problem: Problem, larger_than: int) -> list[Clause]:
        """What holds for every seed: the conjuncts of the problem, and the sizes that are left."""
        every = [[move + 1, -move - 1] for move in range(self._moves)]
        formulas = list(problem.conjuncts)
        if larger_than or problem.largest < self._moves:
            moves = tuple(Changed(move) for move in range(self._moves))
            formulas.append(Count(larger_than + 1, problem.largest, moves))
        if not formulas:
            return every
        context = z3.Context()
        self._budget.stop.also(lambda: _interrupt(context))
        return every + clauses(formulas, self._moves, context)

    def propose(self) -> Generator[Working, None, int | None]:
        """A subset that nothing has ruled out yet, one bit a move, the first highest; None when there is none left."""
        while True:
            self._budget.check()
            with self._at_work():
                self._solver.conf_budget(CONFLICTS_AT_A_TIME)
                self.checks += 1
                satisfiable = self._solver.solve_limited()
            if satisfiable is not None:
                return self._read() if satisfiable else None
            yield Working()

    def block_up(self, moves: Sequence[int]) -> None:
        """Rule out the subset and every superset of it: they contain an answer."""
        with self._at_work():
            self._solver.add_clause([-move - 1 for move in moves])

    def block_down(self, moves_outside: Sequence[int]) -> None:
        """Rule out a subset, by the moves outside it, and every subset of it: a monotone model favours none of them."""
        with self._at_work():
            self._solver.add_clause([move + 1 for move in moves_outside])

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Count the time, and take an interrupt, which may hit any call of Z3, for what it is."""
        began = self._budget.clock()
        try:
            yield
        except z3.Z3Exception:
            self._budget.check()
            raise
        finally:
            self.seconds += self._budget.clock() - began

    def _read(self) -> int:
        subset = 0
        for literal in self._solver.get_model()[: self._moves]:
            subset = subset << 1 | (literal > 0)
        return subset


def _interrupt(context: z3.Context) -> None:
    # Z3 complains of an interrupt that finds nothing to interrupt.
    with suppress(z3.Z3Exception):
        context.interrupt()
