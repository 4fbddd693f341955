"""The answer, computed from the definition in the plainest way: every subset, one row at a time.

Written from the definition alone and without the code under test, so that the two can be held against each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

Range = tuple[float | None, float | None]


@dataclass(frozen=True)
class Case:
    """A person, ranges (None: not known), guides for features without one, and what may not change."""

    values: Sequence[float]
    ranges: Sequence[Range | None]
    favourable: Callable[[list[float]], bool]
    guides: dict[int, float] = field(default_factory=dict)
    immutable: frozenset[int] = frozenset()
    directions: dict[int, str] = field(default_factory=dict)
    max_step: dict[int, float] = field(default_factory=dict)
    max_changes: int | None = None


def target_of(case: Case, i: int) -> float | None:
    """Where an abnormal or guided feature would go: the nearest end of its range, or its guide."""
    value, known = case.values[i], case.ranges[i]
    if known is None:
        return case.guides.get(i)
    low, high = known
    if low is not None and value < low:
        return low
    if high is not None and value > high:
        return high
    return None


def movable(case: Case) -> dict[int, float]:
    """The features that may change, with their targets."""
    targets = {}
    for i, value in enumerate(case.values):
        target = target_of(case, i)
        if target is None or target == value or i in case.immutable:
            continue
        if case.directions.get(i) == "increase" and target < value:
            continue
        if case.directions.get(i) == "decrease" and target > value:
            continue
        if i in case.max_step and abs(target - value) > case.max_step[i] * (1 + 1e-9):
            continue
        targets[i] = target
    return targets


def changed(case: Case, subset: frozenset[int], targets: dict[int, float]) -> list[float]:
    return [targets[i] if i in subset else value for i, value in enumerate(case.values)]


def favourable_sets(case: Case) -> set[frozenset[int]]:
    """Every feasible subset that the model favours."""
    targets = movable(case)
    most = len(targets) if case.max_changes is None else min(case.max_changes, len(targets))
    subsets = (frozenset(subset) for size in range(most + 1) for subset in combinations(targets, size))
    return {subset for subset in subsets if case.favourable(changed(case, subset, targets))}


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
    favourable = favourable_sets(Case(**{**vars(case), "max_changes": None}))
    everything = frozenset(movable(case))
    return all(subset | {i} in favourable for subset in favourable for i in everything - subset)
