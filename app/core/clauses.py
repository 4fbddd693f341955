"""Formulas as Z3 reads them, and as clauses for a solver that reads nothing else."""

from collections.abc import Sequence
from functools import reduce

import z3

from app.core.formula import Changed, Constant, Count, Formula, Not, Odd

# A clause is met by any one of its literals: the number of a variable, negative where it must be false.
Clause = list[int]


def term(formula: Formula, made: Sequence[z3.BoolRef], context: z3.Context) -> z3.BoolRef:
    """A formula as Z3 reads it, over m_i: move i is made."""
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


def variables(moves: int, context: z3.Context) -> list[z3.BoolRef]:
    return [z3.Bool(f"m{index}", context) for index in range(moves)]


def clauses(formulas: Sequence[Formula], moves: int, context: z3.Context) -> list[Clause]:
    """The same in clauses: move i is variable i + 1, and whatever else it takes has higher numbers."""
    goal = z3.Goal(ctx=context)
    goal.add(*(term(formula, variables(moves, context), context) for formula in formulas))
    steps = [z3.Tactic(name, context) for name in ("simplify", "card2bv", "tseitin-cnf")]
    (converted,) = z3.Then(*steps, ctx=context)(goal)
    if converted.inconsistent():
        return [[]]
    return _renumbered(converted.dimacs(), moves)


def _renumbered(dimacs: str, moves: int) -> list[Clause]:
    """Z3 numbers the variables as they come, and lists at the end which is which."""
    lines = [line.split() for line in dimacs.splitlines()]
    names = {int(parts[1]): parts[2] for parts in lines if parts[0] == "c"}
    own = {number: int(name[1:]) + 1 for number, name in names.items() if _is_move(name)}
    others = sorted(set(names) - set(own))
    numbers = own | {number: moves + 1 + place for place, number in enumerate(others)}
    return [
        [numbers[abs(literal)] * (1 if literal > 0 else -1) for literal in map(int, parts[:-1])]
        for parts in lines
        if parts[0] not in ("c", "p")
    ]


def _is_move(name: str) -> bool:
    return name[0] == "m" and name[1:].isdigit()


def warm_up() -> None:
    """Z3 loads and starts on its first use, which no request should wait for."""
    clauses([Count(1, 2, (Changed(0), Changed(1), Changed(2)))], 3, z3.Context())
