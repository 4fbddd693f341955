"""Each group against all others of its column: is there a difference in the share without recourse?"""

from collections.abc import Sequence
from typing import NamedTuple

from app.cohorts.report.counting.intervals import Interval, newcombe
from app.cohorts.report.counting.people import GroupTally, Outcomes
from app.cohorts.report.wording import JOINED, percent, points

# Of fewer a share says little, whatever its interval.
FEW = 30


class Comparison(NamedTuple):
    """A group, all others, and the difference; None if either side has nobody."""

    column: str
    label: str | None
    group: Outcomes
    others: Outcomes
    difference: Interval | None

    @property
    def few(self) -> bool:
        return min(self.group.refused, self.others.refused) < FEW

    @property
    def clear(self) -> bool:
        return self.difference is not None and self.difference.excludes_nought

    @property
    def name(self) -> str:
        return group_name(self.label)

    @property
    def has_unknown(self) -> bool:
        return bool(self.group.unknown or self.others.unknown)

    def bounds(self) -> tuple[float, float]:
        """The least and the greatest difference among all refused, whatever is true of the unknown ones."""
        (one_low, one_high), (other_low, other_high) = _bounds(self.group), _bounds(self.others)
        return one_low - other_high, one_high - other_low

    def is_settled(self) -> bool:
        """The unknown ones could not reverse the difference, whatever is true of them."""
        low, high = self.bounds()
        return low > 0 or high < 0

    def sentence(self) -> str:
        """The difference in words."""
        if self.difference is None:
            return f"Of the group “{self.name}” ({self.column}) there is nobody to compare."
        known = " with a known outcome" if self.has_unknown else ""
        one, other = percent(self.group.without.share), percent(self.others.without.share)
        cautions = [f" Few people: fewer than {FEW} refused on one side."] if self.few else []
        if self.clear and not self.is_settled():
            cautions.append(" People with an unknown outcome could change this.")
        return (
            f"Of the refused{known}, {one} of the group “{self.name}” ({self.column}) have no way out, {other} of all "
            f"others: {_more(self.difference)}.{''.join(cautions)}"
        )


def compare(tally: GroupTally) -> list[Comparison]:
    everyone = tally.everyone()
    found = []
    for place in tally.groups():
        group = tally.outcomes(place)
        others = everyone.others(group)
        one, other = group.without, others.without
        difference = newcombe(one, other) if one.of and other.of else None
        found.append(Comparison(tally.grouping.column, tally.grouping.labels[place], group, others, difference))
    return found


def different_ones(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Between two groups there is one comparison, seen from either side: that of the group which fares worse."""
    held = [one for one in comparisons if one.difference is not None]
    if len(held) != 2:
        return held
    return sorted(held, key=lambda one: -one.difference.value if one.difference else 0.0)[:1]


def group_name(label: str | None) -> str:
    if label is None:
        return "not given"
    return label or "(empty)"


def _bounds(group: Outcomes) -> tuple[float, float]:
    return group.no_recourse / group.refused, (group.no_recourse + group.unknown) / group.refused


def _more(difference: Interval) -> str:
    value, low, high = difference
    ninety_five = f"95{JOINED}% interval"
    if low > 0 or high < 0:
        nearer, farther = sorted((abs(low), abs(high)))
        return f"{_directed(value)} ({ninety_five} {points(nearer)} to {points(farther)})"
    reaching = f"from {points(low)} fewer to {points(high)} more"
    unclear = ", which is not clear" if value else ""
    return f"{_directed(value)}{unclear} ({ninety_five} {reaching})"


def _directed(value: float) -> str:
    if not value:
        return "no difference"
    size = points(value)
    return f"{size} {'point' if size == '1.0' else 'points'} {'more' if value > 0 else 'fewer'}"
