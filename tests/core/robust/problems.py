"""Random problems with noise, other models and constraints, and searches for the plans that hold."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import isnan

import numpy as np

from app.core.budget import Budget, Limits, StopFlag
from app.core.facts import Answers, Engine, Finished
from app.core.robust.holding import Conditions, HoldingOracle, OtherModel
from app.core.robust.noise import Noise, NoisyFeature, standard_errors
from app.core.search.engines import Search
from app.core.turns import run_through
from tests.support.brute_force import Case, Written
from tests.support.constrained import constrained_case
from tests.support.networks import Network
from tests.support.searching import FAVOURABLE, pose_case

DRAWS = 20


@dataclass(frozen=True)
class Asked:
    """A random problem: the conditions as the engines take them, and what they mean for a row."""

    case: Case
    network: Network
    conditions: Conditions
    holds: Callable[[list[float]], bool]
    others: tuple[Network, ...] = ()

    @property
    def has_everything(self) -> bool:
        """Noise and other models; constraints and a share have they all."""
        return bool(self.conditions.noisy and self.conditions.others)


def asked(seed: int, share: float | None = None) -> Asked:
    case, network = constrained_case(seed)
    rng = np.random.default_rng((seed, 19))
    if rng.random() < 0.5:
        # It favours the person as they are, but perhaps not for sure.
        value = float(network.value(np.nan_to_num(np.array(case.values), nan=network.unseen)))
        network = replace(network, second_bias=network.second_bias - value + float(rng.integers(1, 8)))
    noisy = {
        i: NoisyFeature(f"f{i}", Noise(float(rng.uniform(0, 1.5)), bool(rng.random() < 0.5)), i in case.whole)
        for i in range(len(case.values))
        if rng.random() < 0.5
    }
    count = int(rng.integers(0, 3))
    others = [replace(network, second_bias=network.second_bias + float(rng.integers(-4, 3))) for _ in range(count)]
    order = rng.permutation(len(case.values)).tolist()
    places = _places(order)
    named = tuple(OtherModel(f"m{n}", Permuted(other, order), FAVOURABLE, places) for n, other in enumerate(others))
    require = float(rng.choice([0.05, 0.5, 0.9, 0.95, 1.0])) if share is None else share
    conditions = Conditions(noisy, DRAWS, named, require)

    def holds(row: list[float]) -> bool:
        if not network.favours(row) or not all(other.favours(row) for other in others):
            return False
        passed = sum(network.favours(measured(row, noisy, draw)) for draw in range(DRAWS))
        return not noisy or passed / DRAWS >= require

    return Asked(replace(case, favourable=holds), network, conditions, holds, tuple(others))


def measured(row: list[float], noisy: dict[int, NoisyFeature], draw: int) -> list[float]:
    """The row as one draw measures it."""
    found = list(row)
    for i, (name, noise, whole) in noisy.items():
        if isnan(row[i]):
            continue
        sd = noise.amount * abs(row[i]) if noise.is_relative else noise.amount
        found[i] = row[i] + sd * standard_errors(name, DRAWS)[draw]
        found[i] = float(round(found[i])) if whole else found[i]
    return found


def _places(order: list[int]) -> tuple[int, ...]:
    return tuple(order.index(i) for i in range(len(order)))


class Permuted:
    """A network that has its columns in another order."""

    def __init__(self, network: Network, order: list[int]) -> None:
        self._network, self._places = network, list(_places(order))
        self.dtype, self.batch_rows = network.dtype, network.batch_rows

    def columns(self, position: int) -> tuple[int, ...]:
        return (position,)

    def cells(self, position: int, value: float) -> tuple[float, ...]:
        return self._network.cells(position, value)

    def runs(self, rows: int) -> int:
        return 1

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return self._network(rows[:, self._places])


class Run:
    """A search for plans that hold, with the answers as positions of features."""

    def __init__(
        self,
        problem: Asked,
        engine: str,
        kind: type[Search] = Search,
        *,
        rows: int = 10**9,
        together: bool = False,
    ) -> None:
        self.problem = pose_case(problem.case)
        moves, instance = self.problem.moves, self.problem.instance
        budget = Budget(Limits(rows, 600.0), lambda: 0.0, 0.0, StopFlag())
        self.oracle = HoldingOracle(problem.network, FAVOURABLE, instance, moves, budget, problem.conditions)
        search = kind(self.problem, self.oracle, budget)
        self.already = bool(run_through(search.settled(search.judge_instance(together))).favourable[0])
        self.facts = [] if self.already else list(search.facts(Engine(engine)))
        found = [each for fact in self.facts if isinstance(fact, Answers) for each in fact]
        self.answers = [frozenset(moves[index].position for index in each.moves) for each in found]
        self.scores = [float(each.score) for each in found]

    @property
    def finished(self) -> Finished:
        assert isinstance(self.facts[-1], Finished)
        return self.facts[-1]


def turned(problem: Asked, order: list[int]) -> Asked:
    """The same problem with its features in another order: the first one is the one that was at `order[0]`."""
    places, network, conditions = _places(order), problem.network, problem.conditions
    # In the order of their places, as a request has them.
    noisy = {place: conditions.noisy[i] for place, i in enumerate(order) if i in conditions.noisy}
    others = tuple(replace(each, positions=tuple(each.positions[i] for i in order)) for each in conditions.others)
    conditions = replace(conditions, noisy=noisy, others=others)

    def holds(row: list[float]) -> bool:
        return problem.holds([row[place] for place in places])

    case = replace(_turned_case(problem.case, order, places), favourable=holds)
    return Asked(case, replace(network, first=network.first[order]), conditions, holds)


def _turned_case(case: Case, order: list[int], places: tuple[int, ...]) -> Case:
    def moved(group: Iterable[int]) -> tuple[int, ...]:
        return tuple(places[i] for i in group)

    by_feature = ("guides", "move_to", "allowed", "directions", "max_step", "if_missing")
    return replace(
        case,
        values=[case.values[i] for i in order],
        ranges=[case.ranges[i] for i in order],
        whole=frozenset(moved(case.whole)),
        immutable=moved(case.immutable),
        required=moved(case.required),
        causal=[(places[cause], moved(effects)) for cause, effects in case.causal],
        correlated=[moved(group) for group in case.correlated],
        exclusive=[moved(group) for group in case.exclusive],
        formulas=[_turned_formula(each, order, places) for each in case.formulas],
        **{name: {places[i]: said for i, said in getattr(case, name).items()} for name in by_feature},
    )


def _turned_formula(written: Written, order: list[int], places: tuple[int, ...]) -> Written:
    text = re.sub(r"\bf(\d+)\b", lambda name: f"f{places[int(name[1])]}", written.text)
    return Written(text, lambda subset: written.says(frozenset(order[i] for i in subset)))
