"""Formulas as clauses, against the formulas themselves on every subset; and how many clauses they take."""

from collections.abc import Sequence

import numpy as np
import pytest
from pysat.solvers import Cadical195

from app.adapters.rules.formulas import FormulaLimits
from app.core.formula import Changed, Constant, Count, Formula, Not, Odd, all_of, holds
from app.core.search.clauses import PAUSE, Clauses, most_clauses
from app.core.search.solver import MOST_CLAUSES
from app.core.turns import run_through
from tests.support.scale import scaled
from tests.support.seeds import Seeds

MOVES = 6
# Counts in counts, and names that come twice: Z3's clauses had other solutions than the formulas.
ONCE_WRONG = (557, 606, 706, 912, 2031, 2134, 2454, 2534)


class Read:
    """Formulas as a solver reads them."""

    def __init__(self, formulas: Sequence[Formula], moves: int) -> None:
        self.written = Clauses(moves)
        literals = run_through(self.written.literals(formulas))
        self.solver = Cadical195()
        for block in self.written.blocks():
            self.solver.append_formula(block)
        for literal in literals:
            self.solver.add_clause([self.written.number(literal)])

    def allows(self, subset: np.ndarray) -> bool:
        assumed = [self.written.number(move + 1 if made else -move - 1) for move, made in enumerate(subset)]
        return bool(self.solver.solve(assumptions=assumed))


def some_formula(rng: np.random.Generator, depth: int) -> Formula:
    if depth == 0:
        return Changed(int(rng.integers(0, MOVES)))
    parts = tuple(some_formula(rng, depth - 1) for _ in range(int(rng.integers(1, 5))))
    match int(rng.integers(0, 4)):
        case 0:
            return Not(parts[0])
        case 1:
            return Odd(parts)
        case 2:
            return Constant(bool(rng.integers(0, 2)))
    low = int(rng.integers(0, len(parts) + 1))
    return Count(low, int(rng.integers(low, len(parts) + 1)), parts)


def some_count(rng: np.random.Generator, depth: int) -> Formula:
    """A count of counts, of names that mostly come more than once."""
    if depth == 0 or rng.random() < 0.2:
        return Changed(int(rng.integers(0, MOVES)))
    parts = tuple(some_count(rng, depth - 1) for _ in range(int(rng.integers(2, 7))))
    if rng.random() < 0.2:
        return Not(Odd(parts))
    low = int(rng.integers(0, len(parts) + 1))
    return Count(low, int(rng.integers(low, len(parts) + 1)), parts)


def every_subset(moves: int) -> np.ndarray:
    return (np.arange(2**moves)[:, None] >> np.arange(moves) & 1).astype(np.bool_)


def check(formulas: Sequence[Formula], subsets: np.ndarray) -> None:
    wanted = np.all([holds(formula, subsets) for formula in formulas], axis=0)
    read = Read(formulas, subsets.shape[1])
    assert [read.allows(subset) for subset in subsets] == wanted.tolist()
    assert read.written.count <= sum(map(most_clauses, formulas))


@pytest.mark.parametrize("seed", ONCE_WRONG)
def test_clauses_that_were_wrong_are_right(seed: int):
    check_mixed(seed)


def check_mixed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    formulas = [some_formula(rng, int(rng.integers(1, 4))) for _ in range(int(rng.integers(1, 4)))]
    check(formulas, every_subset(MOVES))


def test_the_clauses_have_exactly_the_solutions_of_the_formulas():
    for seed in Seeds(scaled(200)):
        check_mixed(seed)


def test_counts_of_counts_have_exactly_the_solutions_of_the_formulas():
    for seed in Seeds(scaled(200), first=10_000):
        rng = np.random.default_rng(seed)
        check([some_count(rng, 3)], every_subset(MOVES))


@pytest.mark.parametrize("parts", range(1, 8))
def test_every_count_is_right_and_so_is_its_opposite(parts: int):
    names = tuple(Changed(move) for move in range(parts))
    for low in range(parts + 1):
        for high in range(low, parts + 1):
            check([Count(low, high, names)], every_subset(parts))
            check([Not(Count(low, high, names))], every_subset(parts))


def test_a_large_count_is_right_at_its_bounds():
    """So large that halves are merged in odd and even places."""
    for seed in Seeds(scaled(25), first=20_000):
        rng = np.random.default_rng(seed)
        moves = int(rng.integers(20, 150))
        low = int(rng.integers(0, moves + 1))
        high = int(rng.integers(low, moves + 1))
        names = rng.integers(0, moves, moves) if rng.random() < 0.5 else np.arange(moves)
        formula = Count(low, high, tuple(Changed(int(name)) for name in names))
        sizes = np.clip([low - 1, low, low + 1, high - 1, high, high + 1], 0, moves)
        subsets = np.array([rng.permutation(moves) < size for size in sizes for _ in range(3)])
        check([formula if rng.random() < 0.5 else Not(formula)], subsets)


@pytest.mark.parametrize("parts", [5, 12, 40, 200])
def test_a_count_that_is_reached_decides_the_other_parts(parts: int):
    """Without a guess of the solver's: as many as may hold are made, and all others follow."""
    most = parts // 3
    read = Read([Count(0, most, tuple(Changed(move) for move in range(parts)))], parts)
    made = [read.written.number(move + 1) for move in range(most)]
    others = {-read.written.number(move + 1) for move in range(most, parts)}
    possible, decided = read.solver.propagate(assumptions=made)
    assert possible
    assert others <= set(decided)


def test_the_number_of_clauses_grows_hardly_faster_than_the_number_of_parts():
    """Of 990 pairs exactly 495: Z3 made gigabytes of that."""
    parts = tuple(all_of(Changed(2 * pair % 60), Changed((2 * pair + 1) % 60)) for pair in range(990))
    assert Read([Count(495, 495, parts)], 60).written.count < 150_000
    thousand = tuple(Changed(move) for move in range(1_000))
    assert Read([Count(0, 500, thousand)], 1_000).written.count < 75_000
    assert Read([Count(0, 5, thousand)], 1_000).written.count < 15_000


def test_whatever_a_request_may_ask_is_few_enough_for_a_solver():
    """By the limits as they are: one count of all that may be named, and of all features twice more."""
    names, features = (
        tuple(Changed(0) for _ in range(FormulaLimits().literals)),
        tuple(Changed(0) for _ in range(1_000)),
    )
    halves = [Count(len(parts) // 2, len(parts) // 2, parts) for parts in (names, features, features)]
    assert sum(map(most_clauses, halves)) <= MOST_CLAUSES


def test_the_work_pauses_again_and_again():
    """Nobody waits for more than a few milliseconds: neither the clock nor another request."""
    clauses = Clauses(1_000)
    names = tuple(Changed(move) for move in range(1_000))
    counts = [0]
    counts += [clauses.count for _ in clauses.literals([Count(500, 500, names), Odd(names), all_of(*names)])]
    counts.append(clauses.count)
    assert clauses.count > 100_000
    assert max(np.diff(counts)) < 2 * PAUSE + 4 * len(names)
    assert max(len(list(block)) for block in clauses.blocks()) <= PAUSE
