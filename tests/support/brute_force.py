"""The answer, computed from the definition in the plainest way: every subset, one row at a time.

Written from the definition alone and without the code under test, so that the two can be held against each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan
from typing import NamedTuple

SEVERAL = ("causal", "correlated", "exclusive", "required", "formulas")

Range = tuple[float | None, float | None]


class Written(NamedTuple):
    """A formula as text, and what it says of a set of changes."""

    text: str
    says: Callable[[frozenset[int]], bool]


@dataclass(frozen=True)
class Case:
    """A person, ranges (None: not known), guides for features without one, and what may not change."""

    values: Sequence[float]
    ranges: Sequence[Range | None]
    favourable: Callable[[list[float]], bool]
    guides: dict[int, float] = field(default_factory=dict)
    move_to: dict[int, tuple[str, float]] = field(default_factory=dict)
    whole: frozenset[int] = frozenset()
    # Categories, by their codes: what is normal. A missing value is not a number.
    allowed: dict[int, tuple[float, ...]] = field(default_factory=dict)
    immutable: tuple[int, ...] = ()
    directions: dict[int, str] = field(default_factory=dict)
    max_step: dict[int, float] = field(default_factory=dict)
    # What a missing value would become: a value, or "target" for where its range or guide leads.
    if_missing: dict[int, float | str] = field(default_factory=dict)
    max_changes: int | None = None
    causal: Sequence[tuple[int, tuple[int, ...]]] = ()
    correlated: Sequence[tuple[int, ...]] = ()
    exclusive: Sequence[tuple[int, ...]] = ()
    required: tuple[int, ...] = ()
    formulas: Sequence[Written] = ()


def target_of(case: Case, i: int) -> float | None:
    """Where an abnormal or guided feature would go: as it is told to, else to the nearest end; or to its guide."""
    if not is_abnormal(case, i):
        return None
    if isnan(case.values[i]):
        return missing_target(case, i)
    if i in case.allowed:
        return case.allowed[i][0]
    known = case.ranges[i]
    if known is None:
        return case.guides[i]
    low, _ = known
    return _end_of(case, i, known, is_low=low is not None and case.values[i] < low)


def missing_target(case: Case, i: int) -> float | None:
    """What a missing value would become: as it is said, or the one target that its range or guide has for all."""
    said, known = case.if_missing.get(i), case.ranges[i]
    if not isinstance(said, str):
        return said
    if i in case.allowed:
        return case.allowed[i][0]
    if known is None:
        return case.guides.get(i)
    ends = {
        _end_of(case, i, known, is_low) for is_low, end in zip((True, False), known, strict=True) if end is not None
    }
    return ends.pop() if len(ends) == 1 else None


def _end_of(case: Case, i: int, known: Range, is_low: bool) -> float:
    low, high = known
    policy, amount = case.move_to.get(i, ("nearest", 0.0))
    target = {
        "nearest": low if is_low else high,
        "margin": low + amount if is_low else (high or 0) - amount,
        "midpoint": ((low or 0) + (high or 0)) / 2,
        "value": amount,
    }[policy]
    return nearest_whole(target, low, high) if i in case.whole else target


def nearest_whole(target: float, low: float | None, high: float | None) -> float:
    """The whole number inside the range that is nearest to the target; of two, the higher."""
    inside = [n for n in range(-60, 61) if (low is None or n >= low) and (high is None or n <= high)]
    return float(min(inside, key=lambda n: (abs(n - target), -n)))


def movable(case: Case) -> dict[int, float]:
    """The features that may change, with their targets."""
    targets = {}
    for i, value in enumerate(case.values):
        target = target_of(case, i)
        if target is None or target == value or i in case.immutable:
            continue
        if isnan(value) and (i in case.directions or i in case.max_step):
            # Nobody knows which way it goes from nothing, nor how far.
            continue
        if case.directions.get(i) == "increase" and target < value:
            continue
        if case.directions.get(i) == "decrease" and target > value:
            continue
        if i in case.max_step and abs(target - value) > case.max_step[i] * (1 + 1e-9):
            continue
        targets[i] = target
    return targets


def is_abnormal(case: Case, i: int) -> bool:
    """Outside its range or not allowed; or without a range and guided. If it is missing: if it could be provided."""
    value, known = case.values[i], case.ranges[i]
    if isnan(value):
        return missing_target(case, i) is not None
    if i in case.allowed:
        return value not in case.allowed[i]
    if known is None:
        return i in case.guides
    low, high = known
    return (low is not None and value < low) or (high is not None and value > high)


def is_feasible(case: Case, subset: frozenset[int]) -> bool:
    """Whether a subset of the movable features keeps to the constraints that speak of several, or of its size."""

    def normal_after(i: int) -> bool:
        return not is_abnormal(case, i) or i in subset

    if case.max_changes is not None and len(subset) > case.max_changes:
        return False
    if any(cause in subset and not all(map(normal_after, effects)) for cause, effects in case.causal):
        return False
    for group in case.correlated:
        abnormal = [i for i in group if is_abnormal(case, i)]
        if 0 < sum(i in subset for i in abnormal) < len(abnormal):
            return False
    if any(sum(i in subset for i in group) > 1 for group in case.exclusive):
        return False
    if not all(map(normal_after, case.required)):
        return False
    return all(written.says(subset) for written in case.formulas)


def changed(case: Case, subset: frozenset[int], targets: dict[int, float]) -> list[float]:
    return [targets[i] if i in subset else value for i, value in enumerate(case.values)]


def favourable_sets(case: Case) -> set[frozenset[int]]:
    """Every feasible subset that the model favours."""
    targets = movable(case)
    return {subset for subset in feasible_sets(case) if case.favourable(changed(case, subset, targets))}


def feasible_sets(case: Case) -> list[frozenset[int]]:
    targets = movable(case)
    subsets = (frozenset(subset) for size in range(len(targets) + 1) for subset in combinations(targets, size))
    return [subset for subset in subsets if is_feasible(case, subset)]


def minimal_sets(case: Case) -> set[frozenset[int]]:
    """Those that have no proper subset among them."""
    return minimal(favourable_sets(case))


def minimal(favourable: set[frozenset[int]]) -> set[frozenset[int]]:
    found: set[frozenset[int]] = set()
    for subset in sorted(favourable, key=len):
        if not any(smaller < subset for smaller in found):
            found.add(subset)
    return found


def is_monotone(case: Case) -> bool:
    """Whether one more change never turns a favourable subset into an unfavourable one."""
    favourable = favourable_sets(replace(case, max_changes=None, **dict.fromkeys(SEVERAL, ())))
    everything = frozenset(movable(case))
    return all(subset | {i} in favourable for subset in favourable for i in everything - subset)
