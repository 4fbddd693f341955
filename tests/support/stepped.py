"""Features with steps, computed from the definition in the plainest way: every choice of steps, one row at a time.

Written from the definition alone and without the code under test, so that the two can be held against each other.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np

from app.adapters.graphs.features import ModelFeature
from app.adapters.rules.arithmetic import parse_arithmetic
from app.adapters.rules.constraints import ConstraintsEntry, read_constraints
from app.adapters.rules.formulas import FormulaLimits
from app.core.budget import Budget, Limits, StopFlag
from app.core.constraints import Item
from app.core.facts import Answers, Engine, Finished, Found
from app.core.findings import Feature
from app.core.problem import Problem, pose
from app.core.ranges import Allowed, MoveTo, NormalRange, Policy
from app.core.search.engines import Search
from app.core.search.no_way_out import ViewOf
from app.core.search.oracle import Oracle, Scorer
from app.core.steps.search import StepSearch
from tests.support.brute_force import Case, is_abnormal, target_of
from tests.support.constrained import with_constraints
from tests.support.networks import Network
from tests.support.searching import FAVOURABLE, items_of

# How far each feature goes: 0 where it does not change. Of `any_of`, which of its values.
Choice = tuple[int, ...]


@dataclass(frozen=True)
class StepCase:
    """A person, constraints and all, and where features may stop."""

    case: Case
    steps: dict[int, tuple[float, ...]] = field(default_factory=dict)
    evenly: dict[int, int] = field(default_factory=dict)
    any_of: dict[int, tuple[float, ...]] = field(default_factory=dict)
    weights: dict[int, float] = field(default_factory=dict)
    # Each as text, and what it says of the changed row.
    relations: tuple[tuple[str, Callable[[list[float]], bool]], ...] = ()
    # Causes with amounts: cause, effect, factor, and whether the effect may move although it is immutable.
    shifts: tuple[tuple[int, int, float, bool], ...] = ()
    # Features that are computed: as text, and from the row.
    derived: dict[int, tuple[str, Callable[[list[float]], float]]] = field(default_factory=dict)

    @property
    def follows(self) -> set[int]:
        return {*self.derived, *(effect for _, effect, _, _ in self.shifts)}

    @cached_property
    def paths(self) -> list[tuple[float, ...]]:
        """The values that each feature may stop at, whatever the constraints say."""
        return [_path(self, i) for i in range(len(self.case.values))]

    @cached_property
    def reachable(self) -> list[tuple[float, ...]]:
        return _reachable(self)


def _path(case: StepCase, i: int) -> tuple[float, ...]:
    target, value = None if i in case.derived else target_of(case.case, i), case.case.values[i]
    if target is None:
        return ()
    if i in case.any_of:
        return case.any_of[i]
    if i in case.case.allowed and i in case.steps:
        steps = case.steps[i]
        return steps[steps.index(value) + 1 :] if value in steps else steps
    if i in case.evenly:
        count = case.evenly[i]
        # Told in 12 digits.
        between = [float(f"{value + (target - value) * place / count:.12g}") for place in range(1, count)]
    else:
        between = list(case.steps.get(i, ()))
        target = between.pop() if between else target
    if i in case.case.whole:
        between = [float(np.floor(step + 0.5)) for step in between]
    unique = [step for place, step in enumerate(between) if step not in between[:place]]
    return (*(step for step in unique if min(value, target) < step < max(value, target)), target)


def reachable(case: StepCase) -> list[tuple[float, ...]]:
    return case.reachable


def _reachable(case: StepCase) -> list[tuple[float, ...]]:
    """Those that the constraints on one feature leave: each step is judged by itself."""
    given = case.case
    found = []
    for i, path in enumerate(case.paths):
        value = given.values[i]
        kept = [
            step
            for step in path
            if step != value
            and i not in given.immutable
            and not (given.directions.get(i) == "increase" and step < value)
            and not (given.directions.get(i) == "decrease" and step > value)
            and not (i in given.max_step and abs(step - value) > given.max_step[i] * (1 + 1e-9))
        ]
        found.append(tuple(kept))
    return found


def own_row(case: StepCase, choice: Choice) -> list[float]:
    """Where each feature is by its own change."""
    ways = reachable(case)
    pairs = enumerate(zip(case.case.values, choice, strict=True))
    return [ways[i][step - 1] if step else value for i, (value, step) in pairs]


def row_of(case: StepCase, choice: Choice) -> list[float]:
    own, before = own_row(case, choice), case.case.values
    row = list(own)
    # As often as there are features: then the longest chain of causes has come to its end.
    for _ in range(len(case.shifts)):
        for effect in {effect for _, effect, _, _ in case.shifts}:
            moved = [factor * (row[c] - before[c]) for c, e, factor, _ in case.shifts if e == effect]
            if not choice[effect] and any(moved):
                value = before[effect] + sum(moved)
                row[effect] = float(round(value)) if effect in case.case.whole else float(f"{value:.12g}")
            else:
                row[effect] = own[effect]
    for i, (_, computed) in case.derived.items():
        row[i] = _computed(case.case, i, computed, row)
    return row


def _computed(case: Case, i: int, computed: Callable[[list[float]], float], row: list[float]) -> float:
    return float(round(computed(row))) if i in case.whole else computed(row)


def goes_nowhere_farther(case: StepCase, one: Choice, other: Choice) -> bool:
    return all(a in (0, b) if i in case.any_of else a <= b for i, (a, b) in enumerate(zip(one, other, strict=True)))


def is_feasible(case: StepCase, choice: Choice) -> bool:
    given, changed = case.case, frozenset(i for i, step in enumerate(choice) if step)
    lengths = [len(path) for path in case.paths]
    row = row_of(case, choice)

    def normal_after(i: int) -> bool:
        if i in case.follows and i not in changed:
            low, high = given.ranges[i] or (None, None)
            if low is None and high is None:
                return not is_abnormal(given, i)
            return (low is None or row[i] >= low) and (high is None or row[i] <= high)
        if not is_abnormal(given, i):
            return True
        return choice[i] > 0 if i in case.any_of else choice[i] > 0 and choice[i] == lengths[i]

    if not _goes_together(given, changed, normal_after):
        return False
    if not all(_may_follow(case, i, row) for i in case.follows - changed):
        return False
    if not all(says(row) for _, says in case.relations):
        return False
    return all(written.says(changed) for written in given.formulas)


def _goes_together(given: Case, changed: frozenset[int], normal_after: Callable[[int], bool]) -> bool:
    """Whether a set of changes keeps to the constraints that speak of several features, or of its size."""
    if given.max_changes is not None and len(changed) > given.max_changes:
        return False
    if any(cause in changed and not all(map(normal_after, effects)) for cause, effects in given.causal):
        return False
    for group in given.correlated:
        abnormal = [i for i in group if is_abnormal(given, i)]
        if 0 < sum(i in changed for i in abnormal) < len(abnormal):
            return False
    if any(sum(i in changed for i in group) > 1 for group in given.exclusive):
        return False
    return all(map(normal_after, given.required))


def _may_follow(case: StepCase, i: int, row: list[float]) -> bool:
    """Whether the constraints on one feature leave it where it has been moved by others."""
    given, value = case.case, case.case.values[i]
    if row[i] == value:
        return True
    if i in given.immutable and (
        i in case.derived or any(e == i and not free and row[c] != given.values[c] for c, e, _, free in case.shifts)
    ):
        return False
    if i in given.directions and (row[i] > value) != (given.directions[i] == "increase"):
        return False
    return i not in given.max_step or abs(row[i] - value) <= given.max_step[i] * (1 + 1e-9)


def feasible_choices(case: StepCase) -> list[Choice]:
    ways = reachable(case)
    return [choice for choice in product(*(range(len(way) + 1) for way in ways)) if is_feasible(case, choice)]


def minimal_choices(case: StepCase) -> set[Choice]:
    """Every feasible and favourable choice for which no other such choice goes nowhere farther."""
    good = [choice for choice in feasible_choices(case) if case.case.favourable(row_of(case, choice))]
    found: list[Choice] = []
    for choice in sorted(good, key=sum):
        if not any(goes_nowhere_farther(case, smaller, choice) for smaller in found):
            found.append(choice)
    return set(found)


def cost_of(case: StepCase, choice: Choice) -> float:
    """Weight times step over steps; a value of `any_of` is one step of one."""
    total = Fraction(0)
    for i, step in enumerate(choice):
        if step:
            weight = Fraction(repr(float(case.weights.get(i, 1))))
            total += weight if i in case.any_of else weight * step / len(case.paths[i])
    return float(total)


def in_order(case: StepCase, choices: Sequence[Choice]) -> list[Choice]:
    def key(choice: Choice) -> tuple[object, ...]:
        changed = [i for i, step in enumerate(choice) if step]
        return len(changed), cost_of(case, choice), changed, [choice[i] for i in changed]

    return sorted(choices, key=key)


def stepped_case(
    seed: int, *, feasible: bool = True, choices: int = 3_000, follows: bool = False
) -> tuple[StepCase, Network]:
    """A person whom a random network refuses, with 1 to 4 values to move to for each feature.

    If `follows`, some features move along with others, or are computed from them.
    """
    for attempt in range(1_000):
        rng = np.random.default_rng((seed, attempt))
        case, network = _drawn(rng)
        if follows:
            case, network = _with_following(rng, case, network)
        if rng.random() < 0.8:
            given = with_constraints(rng, case.case)
            of_categories = set(case.case.allowed)
            ways = {i: way for i, way in given.directions.items() if i not in of_categories}
            lengths = {i: step for i, step in given.max_step.items() if i not in of_categories}
            case = replace(case, case=replace(given, directions=ways, max_step=lengths))
        if rng.random() < 0.4:
            numbers = [i for i in range(len(case.case.values)) if i not in case.case.allowed]
            drawn = [_random_relation(rng, numbers) for _ in range(int(rng.integers(1, 3))) if numbers]
            case = replace(case, relations=tuple(drawn))
        if follows and not case.follows:
            continue
        total = np.prod([len(way) + 1 for way in reachable(case)])
        if 2 <= total <= choices and (not feasible or feasible_choices(case)):
            return case, network
    raise AssertionError(f"no problem for seed {seed}")


COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": lambda a, b: a <= b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    ">": lambda a, b: a > b,
    "==": lambda a, b: a == b,
}


def _random_relation(rng: np.random.Generator, numbers: list[int]) -> tuple[str, Callable[[list[float]], bool]]:
    """Two sums of up to two features and a number."""
    sign = str(rng.choice(list(COMPARE), p=[0.35, 0.1, 0.35, 0.1, 0.1]))
    sides = []
    for _ in range(2):
        terms = [(int(rng.integers(1, 4)), int(i)) for i in rng.choice(numbers, int(rng.integers(0, 3)))]
        sides.append((terms, int(rng.integers(0, 9))))
    if not any(terms for terms, _ in sides):
        return _random_relation(rng, numbers)

    def text(terms: list[tuple[int, int]], number: int) -> str:
        return " + ".join([*(f"{factor} * f{i}" for factor, i in terms), str(number)])

    def value(row: list[float], terms: list[tuple[int, int]], number: int) -> float:
        return sum(factor * row[i] for factor, i in terms) + number

    return (
        f"{text(*sides[0])} {sign} {text(*sides[1])}",
        lambda row: COMPARE[sign](value(row, *sides[0]), value(row, *sides[1])),
    )


def _with_following(rng: np.random.Generator, case: StepCase, network: Network) -> tuple[StepCase, Network]:
    """The same with causes that move others along, and with features that are computed."""
    given = case.case
    numbers = [i for i in range(len(given.values)) if i not in given.allowed]
    order = [int(i) for i in rng.permutation(numbers)]
    pairs = [(c, e) for place, c in enumerate(order) for e in order[place + 1 :]]
    shifts = []
    if pairs and rng.random() < 0.75:
        for place in rng.choice(len(pairs), min(len(pairs), int(rng.integers(1, 5))), replace=False):
            factor = float(rng.choice([1.0, -1.0, 2.0, 0.5, -0.25]))
            shifts.append((*pairs[place], factor, bool(rng.random() < 0.5)))
    values, ranges, whole, derived = list(given.values), list(given.ranges), set(given.whole), {}
    for _ in range(int(rng.integers(0 if shifts else 1, 3)) if numbers else 0):
        parts = [*numbers, *derived]
        a, b = (int(parts[place]) for place in rng.integers(0, len(parts), 2))
        number, kind, at = int(rng.integers(1, 5)), int(rng.integers(0, 5)), len(values)
        text, computed = _random_arithmetic(kind, a, b, number)
        if kind == 4:
            whole.add(at)
        derived[at] = text, computed
        values.append(0.0)
        values[at] = float(round(computed(values))) if at in whole else computed(values)
        low = values[at] + float(rng.integers(-4, 5))
        ranges.append(None if rng.random() < 0.4 else (low, low + float(rng.integers(0, 6))))
    grown = replace(given, values=values, ranges=ranges, whole=frozenset(whole))
    first = np.vstack([network.first, rng.integers(-3, 4, (len(derived), network.first.shape[1]))])
    larger = replace(network, first=first, second_bias=0.0)
    larger.second_bias = -float(larger.value(np.array(values))) - float(rng.integers(0, 12))
    return replace(case, case=replace(grown, favourable=larger.favours), shifts=tuple(shifts), derived=derived), larger


def _random_arithmetic(kind: int, a: int, b: int, number: int) -> tuple[str, Callable[[list[float]], float]]:
    """Arithmetic that is exact in binary, or is rounded to a whole number."""
    return [
        (f"f{a} + {number} * f{b}", lambda row: row[a] + number * row[b]),
        (f"(f{a} - f{b}) / 2", lambda row: (row[a] - row[b]) / 2),
        (f"f{a} * f{b} / 4", lambda row: row[a] * row[b] / 4),
        (f"-(f{a} + {number}) * 0.5 - f{b}", lambda row: -(row[a] + number) * 0.5 - row[b]),
        (f"100 * f{a} / (f{b} * f{b} + {number})", lambda row: 100 * row[a] / (row[b] * row[b] + number)),
    ][kind]


def _drawn(rng: np.random.Generator) -> tuple[StepCase, Network]:
    width = int(rng.integers(1, 8))
    values: list[float] = []
    ranges: list[tuple[float | None, float | None] | None] = []
    steps: dict[int, tuple[float, ...]] = {}
    evenly: dict[int, int] = {}
    any_of: dict[int, tuple[float, ...]] = {}
    allowed: dict[int, tuple[float, ...]] = {}
    whole = frozenset(i for i in range(width) if rng.random() < 0.3)
    for i in range(width):
        kind, count = int(rng.integers(0, 6)), int(rng.integers(1, 5))
        if kind <= 1:
            # A category of five: in order, or any of several.
            order = [float(code) for code in rng.permutation(5)]
            values.append(order[0] if rng.random() < 0.8 else order[1])
            ranges.append(None)
            listed = tuple(order[1 : 1 + count])
            if kind == 0:
                steps[i], allowed[i] = listed, (listed[-1],)
            else:
                any_of[i] = allowed[i] = listed
            continue
        value, way = float(rng.integers(-6, 7)), int(rng.choice([-1, 1]))
        values.append(value)
        end = value + way * float(rng.integers(1, 6))
        two_sided = (end, end + 4) if way > 0 else (end - 4, end)
        ranges.append(two_sided if rng.random() < 0.5 else (end, None) if way > 0 else (None, end))
        if kind == 2:
            evenly[i] = count
        elif kind < 5:
            # Some lie behind the value, or on it, or beyond the end.
            drawn = sorted({value + way * float(step) / 2 for step in rng.integers(-2, 12, count)}, reverse=way < 0)
            drawn = [step for step in drawn if (step - end) * way < 0]
            last = end + way * float(rng.integers(0, 4))
            steps[i] = (*drawn, float(last))
    whole = whole - set(allowed)
    for i in whole & set(steps):
        steps[i] = tuple(dict.fromkeys(float(np.floor(step + 0.5)) for step in steps[i]))
    case = Case(values, ranges, lambda row: False, allowed=allowed, whole=whole)
    hidden = 6
    network = Network(
        rng.integers(-3, 4, (width, hidden)).astype(float),
        rng.integers(-6, 7, hidden).astype(float),
        rng.integers(-3, 4, hidden).astype(float),
        0.0,
    )
    network.second_bias = -float(network.value(np.array(values))) - float(rng.integers(0, 12))
    network.batch_rows = int(rng.choice([1, 5, 64, 16_384]))
    weights = {i: float(rng.choice([0.5, 1.0, 2.0, 0.3])) for i in range(width) if rng.random() < 0.3}
    drawn_case = StepCase(replace(case, favourable=network.favours), steps, evenly, any_of, weights)
    return drawn_case, network


def pose_steps(case: StepCase) -> Problem:
    """The problem, through the code under test."""
    given = case.case
    features = []
    for i, value in enumerate(given.values):
        known = given.ranges[i]
        normal: NormalRange | Allowed | None = None if known is None else NormalRange(*known)
        if i in given.allowed:
            normal = Allowed(given.allowed[i])
        move_to = MoveTo()
        if i in case.steps:
            move_to = MoveTo(Policy.STEPS, steps=case.steps[i])
        elif i in case.evenly:
            move_to = MoveTo(Policy.STEPS, count=case.evenly[i])
        elif i in case.any_of:
            move_to = MoveTo(Policy.ANY_OF, steps=case.any_of[i])
        features.append(Feature(value, normal, move_to, given.guides.get(i), i in given.whole, case.weights.get(i, 1)))
        if i in case.derived:
            names = {f"f{place}": place for place in range(len(given.values))}
            features[i] = features[i]._replace(derived=parse_arithmetic(case.derived[i][0], names, ()))
    return pose(tuple(features), (*items_of(given), *_relation_items(case), *_shift_items(case)))


def _shift_items(case: StepCase) -> tuple[Item, ...]:
    causal = [
        {"cause": f"f{c}", "effects": [{"feature": f"f{e}", "change": factor, "even_if_immutable": free}]}
        for c, e, factor, free in case.shifts
    ]
    named = [ModelFeature(f"f{i}", None, None, "number") for i in range(len(case.case.values))]
    items, mistakes = read_constraints(ConstraintsEntry.model_validate({"causal": causal}), named, FormulaLimits())
    assert not mistakes
    return items


def _relation_items(case: StepCase) -> tuple[Item, ...]:
    entry = ConstraintsEntry(relations=[text for text, _ in case.relations])
    named = [ModelFeature(f"f{i}", None, None, "number") for i in range(len(case.case.values))]
    items, mistakes = read_constraints(entry, named, FormulaLimits())
    assert not mistakes
    return items


class StepRun:
    """One search over steps, and what came of it in the words of the definition."""

    def __init__(
        self,
        case: StepCase,
        scorer: Scorer,
        engine: str,
        *,
        rows: int = 10**9,
        answers: int | None = None,
        view: ViewOf | None = None,
    ) -> None:
        self.case = case
        self.problem = pose_steps(case)
        clock = time.perf_counter
        budget = Budget(Limits(rows, 600.0, answers), clock, clock(), StopFlag())
        given = scorer, FAVOURABLE, self.problem.instance, self.problem.moves, budget
        self.oracle = Oracle(*given, following=self.problem.following)
        kind = Search if self.problem.ladder is None else StepSearch
        self.search = kind(self.problem, self.oracle, budget, view)
        self.already = bool(self.search.judge_instance(together=True).favourable[0])
        self.facts = list(self.search.facts(Engine(engine)))
        self.found: list[Found] = [found for fact in self.facts if isinstance(fact, Answers) for found in fact]

    @property
    def finished(self) -> Finished:
        last = self.facts[-1]
        assert isinstance(last, Finished)
        return last

    @property
    def choices(self) -> list[Choice]:
        """The answers as choices, in the order that they came; by the values that features end at."""
        ways = reachable(self.case)
        found = []
        for answer in self.found:
            choice = [0] * len(ways)
            for index in answer.moves:
                move = self.problem.moves[index]
                assert choice[move.position] == 0, "one end for each feature"
                choice[move.position] = ways[move.position].index(move.target) + 1
            found.append(tuple(choice))
        return found
