"""Relations between values: read, compiled and judged, against the row itself."""

from itertools import product

import numpy as np
import pytest

from app.adapters.rules.formulas import BadFormula, FormulaLimits
from app.adapters.rules.relations import parse_relation
from app.core.formula import all_of, holds
from app.core.problem import Move
from app.core.relations.compiling import compiled
from app.core.relations.relation import Sign, Term
from app.core.search.conflicts import find_conflict
from app.core.steps.ladder import Ladder
from app.core.turns import run_through
from tests.support.scale import scaled
from tests.support.searching import Budget, Limits, StopFlag
from tests.support.seeds import Seeds
from tests.support.stepped import feasible_choices, pose_steps, stepped_case

POSITIONS = {"ALT": 0, "AST": 1, "gamma GT": 2, "smoker": 3}


def read(text: str):
    return parse_relation(text, POSITIONS, {"smoker"}, FormulaLimits())


def test_a_relation_is_read_term_by_term():
    relation = read('-ALT + 2 * AST - 0.5 >= "gamma GT" * 3')
    assert relation.left == (Term(-1.0, 0), Term(2.0, 1), Term(-0.5))
    assert (relation.sign, relation.right) == (Sign.AT_LEAST, (Term(3.0, 2),))
    assert relation.features == (0, 1, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ALT <= ASD", "line 1, column 8: 'ASD' is not a feature; did you mean 'AST'?"),
        ("ALT <= smoker", "line 1, column 8: 'smoker' is a category; a relation compares numbers"),
        ("ALT = 3", "line 1, column 5: expected one of <=, <, >=, > and ==; found '='"),
        ("3 <= 4", "names no feature"),
        ("ALT <=", "line 1, column 7: expected a number or a feature; found the end"),
        ("ALT * AST <= 3", "line 1, column 7: expected a number; found 'AST'"),
        ("ALT <= 3 4", "line 1, column 10: expected an operator or the end; found '4'"),
        (
            "ALT / AST <= 3",
            "line 1, column 5: expected one of <=, <, >=, > and ==; found '/'; "
            "a relation is linear: a number times a feature, and sums of such",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, message: str):
    with pytest.raises(BadFormula) as error:
        read(text)
    assert str(error.value) == message


def test_the_formula_of_a_relation_says_what_the_relation_says_of_every_row():
    for seed in Seeds(scaled(60)):
        rng = np.random.default_rng(seed)
        values = [float(value) for value in rng.integers(-5, 6, 3)]
        moves = []
        for position in range(3):
            targets = [float(target) for target in rng.integers(-5, 6, int(rng.integers(0, 4)))]
            steps = 1 if rng.random() < 0.3 else len(targets)
            numbered = enumerate(targets, start=1)
            moves += [Move(position, target, 1, step if steps > 1 else 1, steps) for step, target in numbered]
        if not moves:
            continue
        factors = rng.integers(-3, 4, 3).tolist()
        relation = read(f'{abs(factors[0])} * ALT + 0.1 * AST <= {abs(factors[1])} * "gamma GT" + 0.3')
        ladder, formula = Ladder(moves), compiled(relation, moves, values)
        truths = np.array(list(product([False, True], repeat=len(moves))))
        for row in truths[holds(all_of(*ladder.rules), truths)]:
            after = list(values)
            for place in ladder.farthest(np.flatnonzero(row).tolist()):
                after[moves[place].position] = moves[place].target
            left = abs(factors[0]) * after[0] + 0.1 * after[1]
            assert holds(formula, row[None])[0] == (left <= abs(factors[1]) * after[2] + 0.3), seed


def test_what_is_missing_breaks_no_relation():
    assert read("ALT <= AST").holds(lambda position: [float("nan"), 1.0][position])


def test_relations_that_nothing_can_meet_are_a_conflict():
    found = 0
    for seed in Seeds(scaled(40), first=5_000):
        case, _ = stepped_case(seed, feasible=False)
        problem = pose_steps(case)
        conflict = run_through(find_conflict(problem, Budget(Limits(0, 60.0), lambda: 0.0, 0.0, StopFlag())))
        assert conflict.settled
        assert bool(conflict.items) == (not feasible_choices(case)), seed
        found += bool(conflict.items)
    assert found
