"""What is told of plans, against the definition: every draw, every other model and every larger set, one by one."""

from collections import Counter

from app.core.budget import Budget, Limits, StopFlag
from app.core.robust.certificates import Certificates
from app.core.robust.holding import Trials
from app.core.robust.telling import Teller, lattice_of
from app.core.search.oracle import ModelCost, Oracle
from tests.core.robust.problems import DRAWS, Asked, asked, measured
from tests.support.brute_force import changed, feasible_sets, movable
from tests.support.scale import scaled
from tests.support.searching import FAVOURABLE, pose_case
from tests.support.seeds import Seeds

PLANS = 12


def test_what_is_told_of_plans_is_so():
    seen: Counter[str] = Counter()
    for seed in Seeds(scaled(25), first=420_000):
        problem = asked(seed)
        posed, allowed = pose_case(problem.case), feasible_sets(problem.case)
        indices = {move.position: index for index, move in enumerate(posed.moves)}
        plans = [subset for subset in sorted(allowed, key=sorted) if subset and subset <= indices.keys()][:PLANS]
        if not plans:
            continue
        budget = Budget(Limits(10**9, 600.0), lambda: 0.0, 0.0, StopFlag())
        given = problem.network, FAVOURABLE, posed.instance, posed.moves
        trials = Trials(*given, problem.conditions, budget, ModelCost())
        certificates = None if trials.noisy is None else Certificates(trials, trials.noisy, None)
        lattice = lattice_of(posed, Oracle(*given, budget), budget)
        moves = [tuple(sorted(indices[place] for place in subset)) for subset in plans]
        told = Teller(trials, certificates).tell(moves, len(posed.moves), lattice)
        assert told is not None
        for subset, stability in zip(plans, told, strict=True):
            row = changed(problem.case, subset, movable(problem.case))
            noisy = problem.conditions.noisy
            favoured = [problem.network.favours(measured(row, noisy, draw)) for draw in range(DRAWS)]
            assert stability.passed == (sum(favoured) if noisy else 0), seed
            breaking = stability.certificate.breaking
            if breaking is not None:
                shown = [breaking.measured.get(place, value) for place, value in enumerate(row)]
                assert not problem.network.favours(shown), seed
                seen["shown"] += 1
            said = [other.favourable for other in stability.others]
            assert said == [other.favours(row) for other in problem.others], seed
            further = first_that_breaks(problem, allowed, subset)
            undone = stability.breaks_with
            assert (undone is None) == (further is None), seed
            if undone is not None:
                assert {posed.moves[move].position for move in undone} == further, seed
            seen["undone" if undone else "lasting"] += 1
            seen["some"] += 0 < stability.passed < DRAWS
    assert min(seen["shown"], seen["undone"], seen["lasting"], seen["some"]) > 0


def first_that_breaks(problem: Asked, allowed: list[frozenset[int]], subset: frozenset[int]) -> set[int] | None:
    """What the smallest feasible set that contains this one and is not favourable adds, the first by its positions."""
    targets = movable(problem.case)
    larger = sorted((each for each in allowed if each >= subset), key=lambda each: (len(each), sorted(each)))
    broken = (each for each in larger if not problem.network.favours(changed(problem.case, each, targets)))
    first = next(broken, None)
    return None if first is None else set(first - subset)
