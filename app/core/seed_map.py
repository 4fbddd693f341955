"""The map of what a search has not yet explored: a Z3 solver that proposes seeds and is told what to leave out."""

import math
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import reduce

import z3

from app.core.budget import Budget
from app.core.facts import Working
from app.core.formula import Changed, Constant, Count, Formula, Not, Odd
from app.core.problem import Problem

Subset = frozenset[int]


# The first look of a search at its clock while the solver is at work; later ones come after twice the time.
FIRST_SLICE_SECONDS = 0.1


class SeedMap:
    """One solver in a context of its own, over m_i: move i is made."""

    def __init__(self, problem: Problem, budget: Budget, larger_than: int) -> None:
        self._budget = budget
        self.checks = 0
        self.seconds = 0.0
        with self._at_work():
            context = z3.Context()
            self._made = [z3.Bool(f"m{index}", context) for index in range(len(problem.moves))]
            self._solver = z3.SolverFor("QF_FD", ctx=context)
            counted = [(made, 1) for made in self._made]
            self._solver.add(z3.PbGe(counted, larger_than + 1), z3.PbLe(counted, problem.largest))
            self._solver.add(*(term(conjunct, self._made, context) for conjunct in problem.conjuncts))
            one, nought = z3.BitVecVal(1, 1, context), z3.BitVecVal(0, 1, context)
            # One term holds the whole assignment: reading it is one call, not one a move. The last bit only pads.
            self._word = z3.Concat(*(z3.If(made, one, nought) for made in self._made), nought)
        budget.stop.also(lambda: _interrupt(context))

    def propose(self) -> Generator[Working, None, Subset | None]:
        """A subset that nothing has ruled out yet; None when there is none left."""
        slice_seconds = FIRST_SLICE_SECONDS
        while True:
            self._budget.check()
            with self._at_work():
                answer = self._check(slice_seconds)
                if answer == z3.unsat:
                    return None
                if answer == z3.sat:
                    return self._read()
            slice_seconds *= 2
            yield Working()

    def block_up(self, subset: Subset) -> None:
        """Rule out the subset and every superset of it: they contain an answer."""
        with self._at_work():
            self._solver.add(z3.Or(*(z3.Not(self._made[index]) for index in sorted(subset))))

    def block_down(self, subset: Subset) -> None:
        """Rule out the subset and every subset of it: for a monotone model none of them is favourable."""
        outside = [made for index, made in enumerate(self._made) if index not in subset]
        with self._at_work():
            self._solver.add(z3.Or(*outside) if outside else z3.BoolVal(False, self._solver.ctx))

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

    def _check(self, most_seconds: float) -> z3.CheckSatResult:
        seconds = min(self._budget.seconds_left(), most_seconds)
        self._solver.set("timeout", max(1, math.ceil(seconds * 1000)))
        self.checks += 1
        return self._solver.check()

    def _read(self) -> Subset:
        word = self._solver.model().eval(self._word, model_completion=True).as_long()
        count = len(self._made)
        return frozenset(index for index in range(count) if word >> (count - index) & 1)


def _interrupt(context: z3.Context) -> None:
    # Z3 complains of an interrupt that finds nothing to interrupt.
    with suppress(z3.Z3Exception):
        context.interrupt()


def term(formula: Formula, made: Sequence[z3.BoolRef], context: z3.Context) -> z3.BoolRef:
    """A formula as Z3 reads it."""
    match formula:
        case Constant(value):
            return z3.BoolVal(value, context)
        case Changed(position):
            return made[position]
        case Not(part):
            return z3.Not(term(part, made, context))
        case Odd(parts):
            first, *others = (term(part, made, context) for part in parts)
            return reduce(z3.Xor, others, first)
        case Count(low, high, parts):
            counted = [(term(part, made, context), 1) for part in parts]
            return z3.And(z3.PbGe(counted, low), z3.PbLe(counted, high))


def warm_up() -> None:
    """Z3 loads and starts on its first use, which no request should wait for."""
    context = z3.Context()
    solver = z3.SolverFor("QF_FD", ctx=context)
    solver.add(z3.Bool("m", context))
    solver.check()
