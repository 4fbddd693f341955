"""A SAT solver that reads formulas and works in turns of some milliseconds; between two it looks at the clock."""

from collections.abc import Generator, Iterator, Sequence
from typing import TypeVar

from pysat.solvers import Cadical195

from app.core.budget import Budget
from app.core.facts import Moment, Working
from app.core.formula import Formula
from app.core.memory import Waiting
from app.core.search.clauses import Clause, Clauses, most_clauses

# The solver pauses after this many conflicts: 3 to 5 ms in hard formulas. It holds Python's lock meanwhile, so nothing
# else runs. A fixed number rather than a time: what it proposes next may depend on where it paused.
CONFLICTS_AT_A_TIME = 100
# With many clauses a conflict takes longer: this limits clauses times conflicts.
CLAUSES_TIMES_CONFLICTS = 2_000_000
# A solver gets no more clauses than this, some 200 MB. The default limits on requests allow less.
MOST_CLAUSES = 2_000_000
# What CaDiCaL takes for a clause, measured.
BYTES_A_CLAUSE = 100
BYTES_A_LITERAL = 4
# What CaDiCaL does between two searches counts no conflicts, so nothing limits its time. With chronological
# backtracking it sticks to its guesses about a large count.
PLAIN = {"lucky": 0, "walk": 0, "inprocessing": 0, "chrono": 0}

T = TypeVar("T")


def is_readable(formulas: Sequence[Formula]) -> bool:
    """Whether formulas make so few clauses that a solver can hold them."""
    return sum(map(most_clauses, formulas)) <= MOST_CLAUSES


class Solver:
    """CaDiCaL over m_i: move i is made. Call `read` once, first. Its generators yield between turns."""

    def __init__(self, moves: int, budget: Budget) -> None:
        self._budget = budget
        self._moves = moves
        self._before = 0
        self._conflicts = CONFLICTS_AT_A_TIME
        self._solver = Cadical195()
        # Bytes that the formulas take, and all that was added since.
        self._rules = self._added = 0
        self.checks = 0
        self.seconds = 0.0

    def read(self, formulas: Sequence[Formula]) -> Generator[Moment, None, list[int]]:
        """Add formulas, and return a literal for each. If you assume or add the literal, the formula holds."""
        clauses = Clauses(self._moves)
        if formulas:
            self._solver.configure(PLAIN)
        literals = yield from self._in_turns(clauses.literals(formulas), clauses)
        numbers = [clauses.number(literal) for literal in literals]
        yield from self._in_turns(self._given(clauses), clauses)
        self._before = clauses.number(1) - 1
        self._conflicts = min(CONFLICTS_AT_A_TIME, max(1, CLAUSES_TIMES_CONFLICTS // max(1, clauses.count)))
        for move in range(self._moves):
            # Always true, but makes the move known to the solver.
            self.add([self.made(move), -self.made(move)])
        return numbers

    def made(self, move: int) -> int:
        """The literal of a move."""
        return self._before + move + 1

    def add(self, clause: Clause) -> None:
        self._added += BYTES_A_CLAUSE + BYTES_A_LITERAL * len(clause)
        began = self._budget.clock()
        self._solver.add_clause(clause)
        self.seconds += self._budget.clock() - began

    def prefer_all(self) -> None:
        """Prefer to make every move."""
        self._solver.set_phases(range(self.made(0), self.made(self._moves)))

    def satisfiable(self, *assumed: int) -> Generator[Working, None, bool]:
        """Whether everything that was added can hold together with these literals."""
        while True:
            self._budget.check()
            began = self._budget.clock()
            self._solver.conf_budget(self._conflicts)
            self.checks += 1
            answer = self._solver.solve_limited(assumptions=list(assumed))
            self.seconds += self._budget.clock() - began
            if answer is not None:
                return bool(answer)
            yield Working()

    def remembered(self) -> Iterator[Waiting]:
        """Count the bytes that it holds; `Stopped` if clauses added later exceed the limit of a search."""
        return self._budget.remember(self._added, besides=self._rules)

    def forget(self) -> None:
        """Free the solver; it cannot be used afterwards."""
        self._solver.delete()

    def moves_made(self) -> list[bool]:
        """Whether each move is made in the last solution."""
        return [literal > 0 for literal in self._solver.get_model()[self._before : self._before + self._moves]]

    def core(self) -> set[int]:
        """Some of the assumed literals that cannot hold together."""
        return set(self._solver.get_core() or ())

    def _given(self, clauses: Clauses) -> Generator[None, None, None]:
        for block in clauses.blocks():
            self._solver.append_formula(block)
            yield

    def _in_turns(self, steps: Generator[None, None, T], clauses: Clauses) -> Generator[Moment, None, T]:
        while True:
            self._budget.check()
            self._rules = clauses.count * BYTES_A_CLAUSE
            yield from self.remembered()
            began = self._budget.clock()
            try:
                next(steps)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]  # typeshed does not say what a generator returned
            finally:
                self.seconds += self._budget.clock() - began
            yield Working()
