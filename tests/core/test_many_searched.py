"""Many people at once against each alone: the same targets, the same minimal sets, the same that comes closest."""

from dataclasses import replace

import numpy as np
import pytest

from app.core.many_posed import ManyPosed, Standard, places_of
from app.core.many_searched import Alike, closest, every_row, hits, judge, minimal
from app.core.problem import Feature, pose
from app.core.ranges import MoveTo, NormalRange, Policy
from app.core.relaxing import Obstacles
from app.core.whole_lattice import members
from tests import brute_force
from tests.brute_force import Case, minimal_sets, movable
from tests.constrained import constrained_case
from tests.networks import Network, random_case
from tests.searching import FAVOURABLE, Run, items_of, pose_case

PEOPLE = 30


def everybody(case: Case, seed: int) -> list[Case]:
    """People who are held against the same ranges, each with values of their own."""
    rng = np.random.default_rng(seed)
    return [replace(case, values=[float(v) for v in rng.integers(-6, 7, len(case.values))]) for _ in range(PEOPLE)]


def posed(case: Case, people: list[Case]) -> ManyPosed:
    features = [Feature(0.0, *_known(case, i)) for i in range(len(case.values))]
    values = np.array([person.values for person in people])
    return ManyPosed.of(values, Standard.of(features, [0] * len(features)).targets(values), items_of(case))


@pytest.mark.parametrize("seed", range(200))
def test_everybody_has_the_targets_and_the_moves_that_each_has_alone(seed: int):
    case, _ = constrained_case(seed)
    people = everybody(case, seed)
    together = posed(case, people)
    for person, row in zip(people, range(PEOPLE), strict=True):
        targets = [brute_force.target_of(person, i) for i in range(len(person.values))]
        assert [None if np.isnan(t) else t for t in together.targets[row].tolist()] == targets
        moves = {int(i): together.targets[row, i] for i in np.flatnonzero(together.movable[row])}
        assert moves == movable(person)


@pytest.mark.parametrize("seed", range(200))
def test_people_with_one_pattern_have_the_same_formulas(seed: int):
    case, _ = constrained_case(seed)
    people = everybody(case, seed)
    by_pattern: dict[bytes, list[object]] = {}
    for key, person in zip(posed(case, people).patterns().tolist(), people, strict=True):
        problem = pose_case(person)
        formulas = [problem.formula(item, problem.candidates) for item in problem.items]
        positions = [move.position for move in problem.moves], [move.position for move in problem.candidates]
        by_pattern.setdefault(key, []).append((positions, problem.conjuncts, problem.largest, formulas))
    assert all(each == same[0] for same in by_pattern.values() for each in same)


def alike(network: Network, together: ManyPosed, people: np.ndarray, count: int) -> Alike:
    movable_here = together.movable[people]
    places = places_of(movable_here, count)
    changed = np.where(movable_here, together.targets[people], together.values[people])
    return Alike(together.values[people], changed, places[:, :, None], None)


@pytest.mark.parametrize("seed", range(300))
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


@pytest.mark.parametrize("seed", range(100))
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


@pytest.mark.parametrize("seed", range(150))
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
    made = every_row(Alike(rows, changed, columns, None)).reshape(2, 4, 4)
    assert made[0].tolist() == [[0, 0, 0, 0], [0, 2, 3, 0], [1, 0, 0, 0], [1, 2, 3, 0]]
    assert made[1].tolist() == [[0, 0, 0, 0], [5, 0, 0, 0], [0, 0, 0, 8], [5, 0, 0, 8]]


@pytest.mark.parametrize("seed", range(20))
def test_the_minimal_ones_contain_no_other(seed: int):
    moves = 1 + seed % 6
    flags = np.random.default_rng(seed).random((9, 2**moves)) < 0.3
    subsets = [frozenset(subset) for subset in _in_order(moves)]
    for row, kept in zip(flags, minimal(flags, moves), strict=True):
        chosen = {subset for subset, flag in zip(subsets, row, strict=True) if flag}
        expected = [subset for subset in subsets if subset in chosen and not any(o < subset for o in chosen)]
        assert [subset for subset, flag in zip(subsets, kept, strict=True) if flag] == expected
