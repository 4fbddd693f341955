"""Many people at once against each alone: the same targets, the same minimal sets, the same that comes closest."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from app.core.crowd import searched
from app.core.crowd.posed import ManyPosed, RangeTable, places_of
from app.core.crowd.relaxing import Obstacles
from app.core.crowd.searched import Hits, PeopleBatch, closest, every_row, hits, judge, minimal
from app.core.findings import Feature
from app.core.problem import pose
from app.core.ranges import Allowed, IfMissing, MoveTo, NormalRange, Policy
from app.core.search.whole_lattice import members
from tests.support import brute_force
from tests.support.brute_force import Case, minimal_sets, movable
from tests.support.constrained import constrained_case
from tests.support.networks import Network, random_case
from tests.support.scale import scaled
from tests.support.searching import FAVOURABLE, Run, items_of, pose_case
from tests.support.seeds import Seeds

PEOPLE = 30


def everybody(case: Case, seed: int) -> list[Case]:
    """People who are held against the same ranges, each with values of their own."""
    rng = np.random.default_rng(seed)
    return [replace(case, values=[float(v) for v in rng.integers(-6, 7, len(case.values))]) for _ in range(PEOPLE)]


def posed(case: Case, people: list[Case]) -> ManyPosed:
    features = [Feature(0.0, *_known(case, i)) for i in range(len(case.values))]
    values = np.array([person.values for person in people])
    return ManyPosed.of(values, RangeTable.of(features, [0] * len(features)).targets(values), items_of(case))


@pytest.mark.parametrize("seed", Seeds(scaled(40)))
def test_everybody_has_the_targets_and_the_moves_that_each_has_alone(seed: int):
    case, _ = constrained_case(seed)
    people = everybody(case, seed)
    together = posed(case, people)
    for person, row in zip(people, range(PEOPLE), strict=True):
        targets = [brute_force.target_of(person, i) for i in range(len(person.values))]
        assert [None if np.isnan(t) else t for t in together.targets[row].tolist()] == targets
        moves = {int(i): together.targets[row, i] for i in np.flatnonzero(together.movable[row])}
        assert moves == movable(person)


@pytest.mark.parametrize("seed", Seeds(scaled(40)))
def test_people_with_one_pattern_have_the_same_formulas(seed: int):
    case, _ = constrained_case(seed)
    people = everybody(case, seed)
    by_pattern: dict[bytes, list[object]] = {}
    for key, person in zip(posed(case, people).patterns().tolist(), people, strict=True):
        problem = pose_case(person)
        formulas = problem.formulas(problem.candidates)
        positions = [move.position for move in problem.moves], [move.position for move in problem.candidates]
        by_pattern.setdefault(key, []).append((positions, problem.conjuncts, problem.max_size, formulas))
    assert all(each == same[0] for same in by_pattern.values() for each in same)


def alike(network: Network, together: ManyPosed, people: np.ndarray, count: int) -> PeopleBatch:
    movable_here = together.movable[people]
    places = places_of(movable_here, count)
    changed = np.where(movable_here, together.targets[people], together.values[people])
    return PeopleBatch(together.values[people], changed, places[:, :, None], None)


@pytest.mark.parametrize("seed", Seeds(scaled(60)))
def test_everybody_gets_the_answers_that_brute_force_finds_for_each(seed: int):
    case, network = random_case(seed)
    people = everybody(case, seed)
    together = posed(case, people)
    counts = together.movable.sum(axis=1)
    found: dict[int, list[tuple[int, ...]]] = {row: [] for row in range(PEOPLE)}
    for count in np.unique(counts).tolist():
        them = np.flatnonzero(counts == count)
        group = alike(network, together, them, count)
        places = places_of(together.movable[them], count)
        for who, judged in judge(group, network, FAVOURABLE):
            for person, number in zip(*hits(judged, count)[:2], strict=True):
                moves = members(count)[number]
                found[int(them[who][person])].append(tuple(int(places[who][person, move]) for move in moves))
    for row, person in enumerate(people):
        if not person.favourable(list(person.values)):
            expected = sorted(map(sorted, minimal_sets(replace(person, **NO_RULES))), key=lambda s: (len(s), s))
            assert [list(answer) for answer in found[row]] == expected


# What random cases restrict is part of being movable; nothing else stands in the way here.
NO_RULES = {"max_changes": None, "causal": (), "correlated": (), "exclusive": (), "required": (), "formulas": ()}


@pytest.mark.parametrize("seed", Seeds(scaled(20)))
def test_what_comes_closest_is_what_the_search_of_one_person_finds(seed: int):
    case, network = random_case(seed)
    case = replace(case, **NO_RULES)
    people = [person for person in everybody(case, seed) if not person.favourable(list(person.values))]
    together = posed(case, people) if people else None
    for row, person in enumerate(people):
        run = Run(person, network, "lattice")
        if run.found or together is None:
            continue
        count = len(run.problem.moves)
        [(_, judged)] = judge(alike(network, together, np.array([row]), count), network, FAVOURABLE)
        numbers, scores = closest(judged, FAVOURABLE, count)
        best = run.oracle.best
        assert (members(count)[int(numbers[0])], float(scores[0])) == (best.moves, float(best.score))


@pytest.mark.parametrize("seed", Seeds(scaled(30)))
def test_what_stands_in_the_way_is_what_the_search_of_one_person_finds(seed: int):
    case, network = constrained_case(seed)
    for person in everybody(case, seed)[:8]:
        if person.favourable(list(person.values)) or not brute_force.feasible_sets(person):
            continue
        run = Run(person, network, "lattice")
        explained = [fact.explanation for fact in run.facts if hasattr(fact, "explanation")]
        if not explained:
            continue
        problem = pose(
            tuple(Feature(value, *_known(case, i)) for i, value in enumerate(person.values)), run.problem.items
        )
        flags = np.array([_favours(network, problem, number) for number in _in_order(len(problem.candidates))])
        ways = [relaxation.items for relaxation in explained[0].relaxations]
        assert Obstacles(problem).in_the_way(flags) == ways


def _known(case: Case, i: int) -> tuple[object, ...]:
    normal = None if case.ranges[i] is None else NormalRange(*case.ranges[i])
    move_to = MoveTo(Policy(case.move_to[i][0]), case.move_to[i][1]) if i in case.move_to else MoveTo()
    return normal, move_to, case.guides.get(i), i in case.whole


def _in_order(count: int) -> list[tuple[int, ...]]:
    return sorted(members(count), key=lambda subset: (len(subset), subset))


def _favours(network: Network, problem, subset: tuple[int, ...]) -> bool:
    row = list(problem.instance)
    for index in subset:
        row[problem.candidates[index].position] = problem.candidates[index].target
    return network.favours(row)


def test_the_rows_of_all_subsets_hold_the_targets_of_their_moves():
    """Two people, one with a move that takes two columns along."""
    rows, changed = np.zeros((2, 4)), np.arange(1.0, 9.0).reshape(2, 4)
    columns = np.array([[[0, 0], [1, 2]], [[3, 3], [0, 0]]])
    made = every_row(PeopleBatch(rows, changed, columns, None)).reshape(2, 4, 4)
    assert made[0].tolist() == [[0, 0, 0, 0], [0, 2, 3, 0], [1, 0, 0, 0], [1, 2, 3, 0]]
    assert made[1].tolist() == [[0, 0, 0, 0], [5, 0, 0, 0], [0, 0, 0, 8], [5, 0, 0, 8]]


@pytest.mark.parametrize("seed", Seeds(20))
def test_the_minimal_ones_contain_no_other(seed: int):
    moves = 1 + seed % 6
    flags = np.random.default_rng(seed).random((9, 2**moves)) < 0.3
    subsets = [frozenset(subset) for subset in _in_order(moves)]
    for row, kept in zip(flags, minimal(flags, moves), strict=True):
        chosen = {subset for subset, flag in zip(subsets, row, strict=True) if flag}
        expected = [subset for subset in subsets if subset in chosen and not any(o < subset for o in chosen)]
        assert [subset for subset, flag in zip(subsets, kept, strict=True) if flag] == expected


@pytest.mark.parametrize("seed", Seeds(scaled(40), first=1_000))
def test_everybody_gets_the_answers_that_the_rules_allow_to_each(monkeypatch: pytest.MonkeyPatch, seed: int):
    """Several people a call and several calls; only what is feasible is asked about."""
    monkeypatch.setattr(searched, "MOST_ROWS", 100)
    case, network = constrained_case(seed)
    people = [person for person in everybody(case, seed) if brute_force.feasible_sets(person)]
    together, asked = posed(case, people), []
    counts = together.movable.sum(axis=1)
    for count in np.unique(counts).tolist():
        them = np.flatnonzero(counts == count)
        places = places_of(together.movable[them], count)
        subsets = [[frozenset(row[list(subset)].tolist()) for subset in members(count)] for row in places]
        feasible = np.array(
            [[brute_force.is_feasible(people[who], one) for one in own] for who, own in zip(them, subsets, strict=True)]
        )
        group = replace(alike(network, together, them, count), feasible=feasible)

        def counted(rows: np.ndarray) -> np.ndarray:
            asked.append(len(rows))
            return network(rows)

        answers: list[list[frozenset[int]]] = [[] for _ in them]
        for who, judged in judge(group, counted, FAVOURABLE):
            found = hits(judged, count)
            hold_hits_to_the_truth(network, group.part(who), found)
            for person, number in zip(found.people, found.numbers, strict=True):
                answers[who.start + person].append(subsets[who.start + person][number])
        for who, own in zip(them, answers, strict=True):
            person = people[who]
            if not (person.favourable(list(person.values)) and brute_force.is_feasible(person, frozenset())):
                assert own == sorted(minimal_sets(person), key=lambda one: (len(one), sorted(one)))
        assert sum(asked) == feasible.sum()
        assert max(asked, default=0) <= 100
        asked.clear()


def hold_hits_to_the_truth(network: Network, group: PeopleBatch, found: Hits) -> None:
    """The score and the label of each are what the model says of its row; a part of them is that part."""
    rows = every_row(group).reshape(len(group.rows), 2**group.moves, -1)[found.people, found.numbers]
    assert found.scores.tolist() == network.value(rows).tolist()
    assert set(found.labels.tolist()) <= {1}
    some = np.arange(len(found.people)) % 2 == 1
    part = found.of(some)
    assert [column.tolist() for column in part] == [column[some].tolist() for column in found]


CATEGORY = Feature(0.0, Allowed((2.0, 0.0)))
PROVIDED = Feature(0.0, Allowed((1.0,)), if_missing=IfMissing())
NUMBER = Feature(0.0, NormalRange(None, 5.0), if_missing=IfMissing(4.0))


def test_a_category_moves_to_the_first_that_is_allowed():
    """The same as of each person alone; also where a value is missing, and where it would be provided."""
    features, categories = [CATEGORY, PROVIDED, NUMBER], [4, 3, 0]
    codes = [[0.0, 1.0, 2.0, 3.0, np.nan], [0.0, 1.0, 2.0, np.nan], [4.0, 6.0, np.nan]]
    values = np.array(list(product(*codes)))
    targets = RangeTable.of(features, categories).targets(values)
    for row, told in zip(values.tolist(), targets.tolist(), strict=True):
        alone = pose(tuple(feature._replace(value=value) for feature, value in zip(features, row, strict=True)), ())
        assert [None if np.isnan(target) else target for target in told] == [one.target for one in alone.findings]


def test_a_category_whose_values_are_all_known_is_told_apart_too():
    targets = RangeTable.of([CATEGORY], [4]).targets(np.array([[0.0], [1.0], [2.0], [3.0]]))
    assert np.array_equal(targets[:, 0], [np.nan, 2.0, np.nan, 2.0], equal_nan=True)
