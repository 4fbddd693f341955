"""Missing values that could be provided, in every mix with constraints, against brute force."""

from math import nan

import pytest

from app.core.checking import obeys
from app.core.constraints import Directed, Direction, Immutable, Item, MaxStep, Statement
from app.core.facts import Guarantee
from app.core.findings import Feature, Finding, WhyNot
from app.core.problem import pose
from app.core.ranges import Allowed, IfMissing, MoveTo, NormalRange, Policy, Status
from tests.support.brute_force import minimal_sets, movable
from tests.support.gaps import gapped_case
from tests.support.scale import scaled
from tests.support.searching import Run, pose_case
from tests.support.seeds import Seeds

OWN = IfMissing()
INCOME = Feature(nan, NormalRange(100.0, None), if_missing=OWN)


def finding(feature: Feature, *statements: Statement) -> Finding:
    return pose((feature,), tuple(Item("", statement) for statement in statements)).findings[0]


def test_a_missing_value_stays_missing_unless_somebody_says_what_it_would_become():
    found = finding(Feature(nan, NormalRange(100.0, None)))
    assert (found.status, found.target, found.why_not) == (Status.UNKNOWN, None, WhyNot.MISSING)


@pytest.mark.parametrize(
    ("feature", "target"),
    [
        (INCOME, 100.0),
        (Feature(nan, NormalRange(None, 3.5), if_missing=OWN, whole=True), 3.0),
        (Feature(nan, NormalRange(2.0, 4.0), if_missing=IfMissing(2.5)), 2.5),
        (Feature(nan, NormalRange(2.0, 4.0), MoveTo(Policy.MIDPOINT), if_missing=OWN), 3.0),
        (Feature(nan, NormalRange(2.0, 4.0), MoveTo(Policy.MARGIN, 1.0), if_missing=OWN), 3.0),
        (Feature(nan, NormalRange(2.0, 4.0), MoveTo(Policy.VALUE, 3.5), if_missing=OWN), 3.5),
        (Feature(nan, NormalRange(2.0, 2.0), if_missing=OWN), 2.0),
        (Feature(nan, NormalRange(2.0, None), MoveTo(Policy.MARGIN, 0.5), if_missing=OWN), 2.5),
        (Feature(nan, Allowed((2.0, 0.0)), if_missing=OWN), 2.0),
        (Feature(nan, Allowed((2.0, 0.0)), if_missing=IfMissing(0.0)), 0.0),
        (Feature(nan, guide=7.0, if_missing=OWN), 7.0),
        (Feature(nan, if_missing=IfMissing(0.0)), 0.0),
    ],
)
def test_a_missing_value_becomes_what_is_said(feature: Feature, target: float):
    found = finding(feature)
    assert (found.status, found.target, found.movable) == (Status.UNKNOWN, target, True)


def test_where_nothing_leads_there_is_nowhere_to_go():
    """Two ends leave open which is nearest; without a range or a guide there is no target at all."""
    for feature in (Feature(nan, NormalRange(2.0, 4.0), if_missing=OWN), Feature(nan, if_missing=OWN)):
        assert finding(feature).why_not is WhyNot.MISSING


def test_what_is_said_of_a_missing_value_is_nothing_to_one_that_is_there():
    assert finding(INCOME._replace(value=120.0)).why_not is WhyNot.NORMAL
    assert finding(INCOME._replace(value=90.0, if_missing=IfMissing(150.0))).target == 100.0


@pytest.mark.parametrize(
    ("statement", "why_not"),
    [
        (Immutable(0), WhyNot.IMMUTABLE),
        (Directed(0, Direction.INCREASE), WhyNot.DIRECTION),
        (Directed(0, Direction.DECREASE), WhyNot.DIRECTION),
        (MaxStep(0, 1e9), WhyNot.MAX_STEP),
    ],
)
def test_a_move_from_nothing_keeps_to_no_direction_and_no_step(statement: Statement, why_not: WhyNot):
    assert finding(INCOME, statement).why_not is why_not
    assert not obeys(frozenset({0}), statement, pose((INCOME,), ()).states)


def test_missing_values_that_may_move_equal_brute_force():
    provided = 0
    for seed in Seeds(scaled(400), 700_000):
        case, network = gapped_case(seed)
        run = Run(case, network, "lattice")
        assert {move.position: move.target for move in run.problem.moves} == movable(case), seed
        assert run.answers == sorted(minimal_sets(case), key=lambda answer: (len(answer), sorted(answer))), seed
        assert run.finished.complete
        provided += any(case.values[i] != case.values[i] for answer in run.answers for i in answer)
    assert provided > 20


def test_no_engine_sends_a_wrong_answer_where_values_are_missing():
    for seed in Seeds(scaled(100), 710_000):
        case, network = gapped_case(seed)
        truth = minimal_sets(case)
        for engine in ("cemsp", "auto"):
            run = Run(case, network, engine, rows=60 if engine == "auto" else 10**9)
            assert set(run.answers) <= truth, seed
            assert {one for one in truth if len(one) <= run.finished.complete_up_to} <= set(run.answers), seed
            if run.finished.complete and run.finished.guarantee is Guarantee.EXACT:
                assert set(run.answers) == truth, seed


def test_the_second_reading_agrees_where_values_are_missing():
    for seed in Seeds(scaled(100), 720_000):
        case, _ = gapped_case(seed)
        problem = pose_case(case)
        may = set(movable(case))
        for move in problem.candidates:
            alone = frozenset({move.position})
            forbidding = [item for item in problem.items if isinstance(item.statement, Immutable | Directed | MaxStep)]
            kept = all(obeys(alone, item.statement, problem.states) for item in forbidding)
            assert kept == (move.position in may), seed
