"""How many of the people lie outside of a registry's ranges, by feature and group, and what that says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.adapters.rules.registries import KnownFeature, Registry
from app.cohorts.report.counting.intervals import Interval, Part, wilson
from app.core.favourable import Bools, Floats
from app.core.ranges import Condition, Equals, NormalRange
from app.onboarding.failures import Unfit
from app.onboarding.learning.groups import Grouping
from app.onboarding.reading.columns import Column
from app.onboarding.reading.table import Table

# The rule of EP28-A3c: of 20 people at most 2 outside; up to 4, ask 20 more; 5 or more, the range does not hold.
SAMPLE, FINE, AGAIN = 20, 2, 4
MOST_OUTSIDE = FINE / SAMPLE
# Conventional units to SI: creatinine, glucose, cholesterol, triglycerides, bilirubin, urate, calcium, urea; decimals.
FACTORS = (88.4, 18.0, 38.67, 88.57, 17.1, 59.48, 4.0, 2.8, 10.0, 100.0, 1000.0)
# Another unit explains much: nearly everybody is outside as it is, and few would be in that unit.
MOSTLY, FEW = 0.5, 0.25


@dataclass(frozen=True, slots=True)
class Verified:
    """One feature in one group: how many lie outside, of the first 20 too, and what that says."""

    feature: str
    group: str
    outside: Part
    share: Interval | None
    first_outside: int | None
    verdict: str


def verify(registry: Registry, table: Table, reference: Bools, groupings: Sequence[Grouping]) -> list[Verified]:
    """Every feature of the registry that the table has, for everybody and for each group; `Unfit` if it has none."""
    found = [
        verified
        for name, known in registry.features.items()
        if known.ranges and name in table.columns
        for verified in _feature(name, known, table, reference, groupings)
    ]
    if not found:
        raise Unfit(f"the table has no column of the registry's features: {', '.join(registry.features)}")
    return found


def not_verified(registry: Registry, table: Table) -> list[str]:
    """The features of the registry that nothing is said of, each with the reason."""
    reasons = {
        name: "a category" if not known.ranges else None if name in table.columns else "no column of this name"
        for name, known in registry.features.items()
    }
    return [f"{name}: {reason}" for name, reason in reasons.items() if reason is not None]


def _feature(
    name: str, known: KnownFeature, table: Table, reference: Bools, groupings: Sequence[Grouping]
) -> Iterator[Verified]:
    column = table.columns[name]
    if not column.is_number:
        yield Verified(name, "everybody", Part(0, 0), None, None, f"{column.not_numbers}")
        return
    values = column.numbers
    low, high = _limits(known, table)
    measured = reference & np.isfinite(values)
    asked = measured & ~np.isnan(low)
    if reason := _never(column, low[asked], high[asked], measured):
        yield Verified(name, "everybody", Part(0, 0), None, None, reason)
        return
    yield _verified(name, "everybody", values, (low, high), asked)
    for grouping in groupings:
        for part in grouping.parts:
            label = f"{grouping.key} {_told(part.condition)}"
            yield _verified(name, label, values, (low, high), asked & part.people)


def _never(column: Column, low: Floats, high: Floats, measured: Bools) -> str | None:
    """Why nobody could be moved into range, whatever their values are."""
    if measured.any() and not len(low):
        return "no range holds for any of these people: nobody could be moved into one"
    if len(low) and column.is_whole and bool(np.all(np.ceil(low) > np.floor(high))):
        return "all values are whole, and the range holds no whole number: nobody could be moved into it"
    return None


def _limits(known: KnownFeature, table: Table) -> tuple[Floats, Floats]:
    """The limits that hold for each person; NaN where no range does."""
    low, high = np.full(table.kept, np.nan), np.full(table.kept, np.nan)
    for entry in reversed(known.ranges):
        people = _people(entry.when, table)
        low[people] = -np.inf if entry.normal.low is None else entry.normal.low
        high[people] = np.inf if entry.normal.high is None else entry.normal.high
    return low, high


def _people(when: Mapping[str, Condition], table: Table) -> Bools:
    """For whom all these conditions hold; for nobody where the table lacks a column."""
    holds = [
        _holds(condition, table.columns[key]) if key in table.columns else np.zeros(table.kept, dtype=np.bool_)
        for key, condition in when.items()
    ]
    return np.logical_and.reduce(holds) if holds else np.ones(table.kept, dtype=np.bool_)


def _holds(condition: Condition, column: Column) -> Bools:
    if isinstance(condition, Equals):
        value = condition.value
        return column.are(str(value).lower() if isinstance(value, bool) else str(value))
    assert isinstance(condition, NormalRange)
    low = -np.inf if condition.low is None else condition.low
    high = np.inf if condition.high is None else condition.high
    return np.asarray((column.numbers >= low) & (column.numbers <= high))


def _verified(name: str, group: str, values: Floats, limits: tuple[Floats, Floats], people: Bools) -> Verified:
    low, high = limits
    beyond = ((values < low) | (values > high))[people]
    outside = Part(int(beyond.sum()), len(beyond))
    if outside.of < SAMPLE:
        return Verified(name, group, outside, None, None, f"too few people: {SAMPLE} are needed")
    share, first = wilson(outside), int(beyond[:SAMPLE].sum())
    return Verified(name, group, outside, share, first, _verdict(values[people], low[people], high[people], share))


def _verdict(values: Floats, low: Floats, high: Floats, share: Interval) -> str:
    if factor := other_unit(values, low, high):
        return f"another unit? {_turned(factor)}, most would be inside"
    if share.value == 1:
        return "nobody is inside: whoever is moved into it gets a value that none of them has"
    if share.low > MOST_OUTSIDE:
        return "does not fit: more than 10 % are outside"
    if share.high <= MOST_OUTSIDE:
        return "fits"
    return "not clear: ask more people"


def _turned(factor: float) -> str:
    return f"Multiplied by {factor:g}" if factor > 1 else f"Divided by {1 / factor:g}"


def other_unit(values: Floats, low: Floats, high: Floats) -> float | None:
    """The factor that would bring most people inside, if most are outside as they are."""

    def outside(factor: float) -> float:
        return float(np.mean((values * factor < low) | (values * factor > high)))

    # Into a range that is open on one side, or begins at 0, any factor would bring people that is large enough.
    if outside(1.0) <= MOSTLY or not np.all((low > 0) & np.isfinite(high)):
        return None
    best = min((factor for each in FACTORS for factor in (each, 1 / each)), key=outside)
    return best if outside(best) <= FEW else None


def rule_of_20(first_outside: int | None) -> str:
    """What the rule says of the first 20 people."""
    if first_outside is None:
        return "-"
    said = "holds" if first_outside <= FINE else "ask 20 more" if first_outside <= AGAIN else "does not hold"
    return f"{first_outside} of {SAMPLE}: {said}"


def _told(condition: Condition) -> str:
    if isinstance(condition, Equals):
        return str(condition.value)
    assert isinstance(condition, NormalRange)
    if condition.low is None:
        return f"up to {condition.high:g}"
    return f"from {condition.low:g}" if condition.high is None else f"{condition.low:g} to {condition.high:g}"
