"""The engines against brute force: the promise that the whole service rests on."""

import numpy as np
import pytest

from app.core.budget import StoppedBy
from app.core.facts import Engine, Explained, Guarantee, LevelFinished
from tests.support.brute_force import Case, is_monotone, minimal_sets
from tests.support.networks import Network, at_least, random_case
from tests.support.scale import scaled
from tests.support.searching import Run, scores_of
from tests.support.seeds import Seeds

CHUNK = 100


def seeds(chunk: int, offset: int) -> Seeds:
    return Seeds(CHUNK, offset + chunk * CHUNK)


def in_order(answers: list[frozenset[int]]) -> list[frozenset[int]]:
    return sorted(answers, key=lambda answer: (len(answer), sorted(answer)))


def assert_antichain(answers: list[frozenset[int]]) -> None:
    assert len(set(answers)) == len(answers)
    assert not any(one < other for one in answers for other in answers)


@pytest.mark.parametrize("chunk", range(scaled(4)))
def test_lattice_equals_brute_force_for_any_model(chunk: int):
    not_monotone = 0
    for seed in seeds(chunk, 0):
        case, network = random_case(seed)
        run = Run(case, network, "lattice")
        truth = minimal_sets(case)
        assert set(run.answers) == truth, seed
        assert run.answers == in_order(run.answers), seed
        assert run.finished.complete, seed
        assert run.finished.complete_up_to == len(run.problem.moves), seed
        assert run.finished.guarantee is Guarantee.EXACT
        not_monotone += not is_monotone(case)
    assert not_monotone > CHUNK / 3


@pytest.mark.parametrize("chunk", range(scaled(2)))
def test_cemsp_equals_brute_force_for_monotone_models(chunk: int):
    for seed in seeds(chunk, 10_000):
        case, network = random_case(seed, monotone=True)
        assert is_monotone(case), seed
        run = Run(case, network, "cemsp")
        assert set(run.answers) == minimal_sets(case), seed
        assert run.finished.stopped_by is None, seed
        assert_antichain(run.answers)


@pytest.mark.parametrize("chunk", range(scaled(1)))
def test_cemsp_never_sends_a_wrong_answer_whatever_the_model(chunk: int):
    for seed in seeds(chunk, 20_000):
        case, network = random_case(seed)
        run = Run(case, network, "cemsp")
        assert set(run.answers) <= minimal_sets(case), seed
        assert_antichain(run.answers)
        if run.finished.guarantee is Guarantee.EXACT:
            assert set(run.answers) == minimal_sets(case), seed


@pytest.mark.parametrize("chunk", range(scaled(1)))
def test_auto_is_right_as_far_as_it_says(chunk: int):
    handed_over = 0
    for seed in seeds(chunk, 30_000):
        monotone = seed % 2 == 0
        case, network = random_case(seed, monotone=monotone)
        run = Run(case, network, "auto", rows=1 + 4 * len(case.values))
        truth = minimal_sets(case)
        up_to = run.finished.complete_up_to
        assert set(run.answers) <= truth, seed
        assert {answer for answer in truth if len(answer) <= up_to} <= set(run.answers), seed
        if run.finished.complete or (monotone and run.finished.stopped_by is None):
            assert set(run.answers) == truth, seed
        handed_over += run.finished.engine is Engine.AUTO
    assert handed_over > 0


@pytest.mark.parametrize("engine", ["lattice", "cemsp", "auto"])
def test_a_budget_of_rows_stops_the_search_and_says_how_far_it_is_complete(engine: str):
    stopped = 0
    for seed in Seeds(scaled(60), 40_000):
        case, network = random_case(seed)
        truth = minimal_sets(case)
        run = Run(case, network, engine, rows=1 + seed % 60)
        finished = run.finished
        assert run.rows <= 1 + seed % 60
        assert set(run.answers) <= truth, seed
        assert {answer for answer in truth if len(answer) <= finished.complete_up_to} <= set(run.answers), seed
        assert finished.stopped_by in (None, StoppedBy.MAX_MODEL_ROWS)
        stopped += finished.stopped_by is not None
    assert stopped > 0


def test_a_stopped_lattice_is_complete_up_to_the_last_level_that_fits():
    """Nothing is found, so the rows needed for each size are known: 1, 4, 6, 4, 1."""
    case, network = everything_fails(4)
    for rows, size in [(1, 0), (4, 0), (5, 1), (10, 1), (11, 2), (14, 2), (15, 3), (16, 4)]:
        finished = Run(case, network, "lattice", rows=rows).finished
        assert finished.complete_up_to == size
        assert finished.complete == (size == 4)


def test_a_lattice_that_is_stopped_inside_a_level_sends_what_it_verified():
    """With one row a call, two single changes are judged before the rows run out: both are answers."""
    case, network = any_one_suffices(4)
    run = Run(case, network, "lattice", rows=3)
    assert run.answers == [frozenset({0}), frozenset({1})]
    assert run.finished.complete_up_to == 0
    assert run.finished.stopped_by is StoppedBy.MAX_MODEL_ROWS


@pytest.mark.parametrize("engine", ["lattice", "cemsp", "auto"])
@pytest.mark.parametrize("wanted", [1, 2, 5])
def test_no_more_answers_are_sent_than_wanted(engine: str, wanted: int):
    for seed in Seeds(scaled(20), 50_000):
        case, network = random_case(seed)
        truth = minimal_sets(case)
        run = Run(case, network, engine, answers=wanted)
        finished = run.finished
        assert len(run.answers) <= wanted
        assert set(run.answers) <= truth
        assert {answer for answer in truth if len(answer) <= finished.complete_up_to} <= set(run.answers), seed
        if finished.stopped_by is not None:
            assert finished.stopped_by is StoppedBy.MAX_COUNTERFACTUALS
            assert len(run.answers) == wanted
        if engine == "lattice":
            assert run.answers == in_order(list(truth))[:wanted], seed


def test_cheaper_answers_of_one_size_come_first():
    for seed in Seeds(scaled(30), 60_000):
        case, network = random_case(seed)
        weights = {i: float(1 + (seed * 7 + i * 5) % 4) for i in range(len(case.values))}
        run = Run(case, network, "lattice", weights=weights)
        keys = [(len(answer), sum(weights[i] for i in answer), sorted(answer)) for answer in run.answers]
        assert set(run.answers) == minimal_sets(case)
        assert keys == sorted(keys)
        assert [found.cost for found in run.found] == [cost for _, cost, _ in keys]


def test_permuting_the_features_permutes_the_answer_and_nothing_else():
    for seed in Seeds(scaled(30), 70_000):
        case, network = random_case(seed)
        order = (
            list(range(len(case.values)))[::-1]
            if seed % 2
            else sorted(range(len(case.values)), key=lambda i: i * 7 % 5)
        )
        plain, turned = (
            Run(case, network, "lattice"),
            Run(permuted(case, network, order), network_of(network, order), "lattice"),
        )
        back = [frozenset(order[i] for i in answer) for answer in turned.answers]
        assert set(back) == set(plain.answers), seed
        scores = dict(zip(plain.answers, scores_of(plain), strict=True))
        assert dict(zip(back, scores_of(turned), strict=True)) == scores
        assert turned.finished == plain.finished
        assert turned.rows == plain.rows


def test_permuting_the_features_changes_no_answer_of_the_solver_where_the_model_is_monotone():
    for seed in Seeds(scaled(20), 75_000):
        case, network = random_case(seed, monotone=True)
        order = list(range(len(case.values)))[::-1]
        turned = Run(permuted(case, network, order), network_of(network, order), "cemsp")
        back = {frozenset(order[i] for i in answer) for answer in turned.answers}
        assert back == set(Run(case, network, "cemsp").answers), seed


def test_the_same_question_gets_the_same_facts():
    for seed in Seeds(scaled(20), 80_000):
        for engine in ("lattice", "cemsp", "auto"):
            case, network = random_case(seed)
            one, other = (Run(case, network, engine, rows=200) for _ in range(2))
            assert one.facts == other.facts


def test_the_cheapest_answers_are_sent_where_not_all_are_wanted():
    for seed in Seeds(scaled(30), 65_000):
        case, network = random_case(seed)
        weights = {i: float(1 + (seed * 3 + i * 5) % 4) for i in range(len(case.values))}
        truth = sorted(minimal_sets(case), key=lambda s: (len(s), sum(weights[i] for i in s), sorted(s)))
        run = Run(case, network, "lattice", weights=weights, answers=2)
        assert run.answers == truth[:2], seed


def test_a_level_is_left_early_when_enough_is_found():
    """All of one weight: two of a hundred single changes are wanted, and one row is judged at a time."""
    case, network = any_one_suffices(100)
    assert Run(case, network, "lattice", answers=2).rows == 3


def test_the_lattice_takes_a_level_that_fits_exactly():
    """Five rows: the person and four single changes; one less, and the solver is asked."""
    case, network = everything_fails(4)
    assert Run(case, network, "auto", rows=5).finished.complete_up_to == 1
    assert Run(case, network, "auto", rows=4).finished.complete_up_to == 0


def test_the_solver_is_asked_once_for_each_maximal_failure_and_less_than_once_for_each_answer():
    """Any five of ten: 252 minimal answers, 210 maximal failing sets, and the question that finds nothing left."""
    case, network = at_least(5, of=10)
    run = Run(case, network, "cemsp")
    assert len(run.answers) == 252
    assert 210 + 1 < run.search.solver.checks < 252 + 210 + 1


def test_an_answer_that_was_paid_for_is_sent():
    """The solver's first seed is a single change that suffices: one row for the person, one for the seed."""
    case, network = any_one_suffices(1)
    assert Run(case, network, "cemsp", rows=2).answers == [frozenset({0})]


def test_levels_are_told_of_as_they_finish():
    case, network = everything_fails(4)
    levels = [fact.size for fact in Run(case, network, "lattice").facts if isinstance(fact, LevelFinished)]
    assert levels == [1, 2, 3, 4]


@pytest.mark.parametrize("engine", ["lattice", "cemsp", "auto"])
def test_nothing_movable_is_a_complete_and_exact_answer(engine: str):
    case, network = everything_fails(3)
    case = Case(**{**vars(case), "immutable": (0, 1, 2)})
    finished = Run(case, network, engine).finished
    assert finished.complete
    assert finished.complete_up_to == 0
    assert finished.guarantee is Guarantee.EXACT


def test_more_moves_than_a_machine_word_has_bits():
    """70 movable features of which any two, but none alone, suffice: 2,415 answers."""
    case, network = at_least(2, of=70)
    run = Run(case, network, "lattice")
    assert len(set(run.answers)) == 70 * 69 // 2
    assert run.finished.complete


def test_auto_hands_over_to_the_solver_where_the_lattice_would_not_fit():
    """Any 11 of 12: the lattice would need nearly all 4,096 rows, of which there are 2,000."""
    case, network = at_least(11, of=12)
    run = Run(case, network, "auto", rows=30_000)
    assert run.finished.engine is Engine.LATTICE
    run = Run(case, network, "auto", rows=2_000)
    assert run.finished.engine is Engine.AUTO
    assert 0 < run.finished.complete_up_to < 11


def any_one_suffices(width: int) -> tuple[Case, Network]:
    case, network = at_least(1, of=width)
    network.batch_rows = 1
    return case, network


@pytest.mark.parametrize("batch_rows", [4, 4096])
def test_of_several_subsets_that_come_as_close_the_smallest_is_told(batch_rows: int):
    """{0} alone and {1, 2} together reach -1, which is not enough, and so do all larger sets of these."""
    case, _ = everything_fails(3)
    first = np.array([[1, 0, 1], [0, 1, 1], [0, 1, 1]], dtype=float)
    tied = Network(first, np.array([0.0, -1.0, -2.0]), np.array([2.0, 2.0, -2.0]), -3.0, batch_rows)
    run = Run(case, tied, "lattice")
    (explained,) = [fact for fact in run.facts if isinstance(fact, Explained)]
    assert explained.best.moves == (0,)


def everything_fails(width: int) -> tuple[Case, Network]:
    return at_least(width + 1, of=width)


def network_of(network: Network, order: list[int]) -> Network:
    return Network(network.first[order], network.first_bias, network.second, network.second_bias, network.batch_rows)


def permuted(case: Case, network: Network, order: list[int]) -> Case:
    place = {old: new for new, old in enumerate(order)}
    return Case(
        values=[case.values[i] for i in order],
        ranges=[case.ranges[i] for i in order],
        favourable=network_of(network, order).favours,
        guides={place[i]: guide for i, guide in case.guides.items()},
        move_to={place[i]: policy for i, policy in case.move_to.items()},
        whole=frozenset(place[i] for i in case.whole),
        immutable=tuple(place[i] for i in case.immutable),
        directions={place[i]: way for i, way in case.directions.items()},
        max_step={place[i]: step for i, step in case.max_step.items()},
        max_changes=case.max_changes,
    )
