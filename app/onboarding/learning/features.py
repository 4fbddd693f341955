"""The ranges of every feature: for groups that differ each its own, then one for everybody else."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.adapters.files.names import listed
from app.core.favourable import Bools, Floats
from app.core.ranges import Condition
from app.onboarding.learning.groups import Grouping, crossed
from app.onboarding.learning.intervals import Interval, NoInterval, Sides, reference_interval
from app.onboarding.learning.order_statistics import Limit
from app.onboarding.learning.outliers import OUTER_FENCE
from app.onboarding.learning.partitions import differ
from app.onboarding.learning.policies import turning_point
from app.onboarding.learning.rounding import Rounding, percent
from app.onboarding.reading.columns import Column


@dataclass(frozen=True, slots=True)
class Rules:
    """How ranges are learned: the groups that may differ, forced sides by feature, and how far out an outlier is."""

    groupings: Sequence[Grouping] = ()
    sides: Mapping[str, Sides] = field(default_factory=dict)
    fence: float = OUTER_FENCE
    is_policy: bool = False


@dataclass(frozen=True, slots=True)
class LearnedRange:
    """A range, for whom it holds, and what it rests on."""

    when: Mapping[str, Condition]
    low: float | None
    high: float | None
    source: str


@dataclass(frozen=True, slots=True)
class LearnedFeature:
    """The ranges of a feature, and what a person should know of them; without ranges, `notes` say why."""

    name: str
    ranges: tuple[LearnedRange, ...]
    notes: tuple[str, ...]


def learn_feature(column: Column, reference: Bools, refused: Bools, rules: Rules) -> LearnedFeature:
    """What the people of the reference group, or the refused and the others, say of one column of numbers."""
    if rules.is_policy:
        return _policy(column, reference, refused)
    known = np.isfinite(column.numbers) & reference
    sides = rules.sides.get(column.name)
    try:
        everybody = reference_interval(column.numbers[known], sides, rules.fence)
    except NoInterval as error:
        return LearnedFeature(column.name, (), (f"no range: {error}",))
    kept = [by for by in rules.groupings if differ([column.numbers[known & part.people] for part in by.parts])]
    rounding = Rounding.of(column.numbers[known])
    ranges, notes = [], [*_about_groups(rules.groupings, kept), *_about(everybody)]
    for group in crossed(kept):
        try:
            interval = reference_interval(column.numbers[known & group.people], sides, rules.fence)
        except NoInterval as error:
            notes.append(f"no range for {told_when(group.when)}: {error}")
        else:
            ranges.append(_range(group.when, interval, rounding))
    return LearnedFeature(column.name, (*ranges, _range({}, everybody, rounding)), tuple(notes))


def _about_groups(asked: Sequence[Grouping], kept: Sequence[Grouping]) -> Iterator[str]:
    if kept:
        yield f"by {listed([by.key for by in kept])}: these groups differ"
    if alike := [by.key for by in asked if by not in kept]:
        yield f"not by {listed(alike)}: these groups hardly differ (Harris and Boyd)"


def _about(interval: Interval) -> Iterator[str]:
    if interval.outliers:
        yield f"left out {interval.outliers:,} of {interval.people + interval.outliers:,} people as outliers"
    if interval.low is None or interval.high is None:
        yield "one-sided: the limit leaves out 5 %"


def _range(when: Mapping[str, Condition], interval: Interval, rounding: Rounding) -> LearnedRange:
    sides = (("low", interval.low), ("high", interval.high))
    ends = ", ".join(f"{name} {_limit_interval(limit, rounding)}" for name, limit in sides if limit is not None)
    source = f"{interval.method}, n = {interval.people:,}, 90 % confidence: {ends}"
    low, high = (None if limit is None else rounding(limit.value) for _, limit in sides)
    return LearnedRange(when, low, high, source)


def _limit_interval(limit: Limit, rounding: Rounding) -> str:
    low, high = ("open" if end is None or not np.isfinite(end) else rounding.text(end) for end in limit[1:])
    return f"{low} to {high}"


def _policy(column: Column, accepted: Bools, refused: Bools) -> LearnedFeature:
    known = np.isfinite(column.numbers) & (accepted | refused)
    values: Floats = column.numbers[known]
    point = turning_point(values, refused[known]) if len(values) else None
    if point is None:
        return LearnedFeature(column.name, (), ("no range: the share of the refused turns nowhere",))
    told = (
        f"refused: {percent(point.inside.share)} of {point.inside.people:,} inside, "
        f"{percent(point.outside.share)} of {point.outside.people:,} outside"
    )
    low, high = (None, point.value) if point.is_high else (point.value, None)
    return LearnedFeature(column.name, (LearnedRange({}, low, high, told),), (told,))


def told_when(when: Mapping[str, Condition]) -> str:
    """For whom a range holds, for a comment."""
    return ", ".join(f"{key} {_told(condition)}" for key, condition in when.items())


def _told(condition: Condition) -> str:
    low, high = getattr(condition, "low", None), getattr(condition, "high", None)
    if low is None and high is None:
        return str(getattr(condition, "value", ""))
    return f"from {low:g}" if high is None else f"up to {high:g}" if low is None else f"{low:g} to {high:g}"
