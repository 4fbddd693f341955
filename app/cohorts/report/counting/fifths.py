"""The four-fifths rule: the share of a group with the favourable decision, over the largest share of any group."""

from collections.abc import Sequence
from typing import NamedTuple

from app.cohorts.report.counting.comparisons import FEW, group_name
from app.cohorts.report.counting.intervals import Interval, Part, koopman
from app.cohorts.report.counting.people import GroupTally
from app.cohorts.report.wording import JOINED, percent, ratio, ratios

FOUR_FIFTHS = 0.8


class Ratio(NamedTuple):
    """A group beside the one with the largest share; there is no ratio where that share is nought."""

    column: str
    name: str
    favourable: Part
    most: Part
    most_name: str
    ratio: Interval | None

    @property
    def few(self) -> bool:
        return min(self.favourable.of, self.most.of) < FEW

    @property
    def is_under(self) -> bool:
        return self.ratio is not None and self.ratio.value < FOUR_FIFTHS

    @property
    def clear(self) -> bool:
        """The whole interval is on one side."""
        return self.ratio is not None and (self.ratio.high < FOUR_FIFTHS or self.ratio.low >= FOUR_FIFTHS)

    def sentence(self) -> str:
        """A ratio that is under four fifths, in words."""
        assert self.ratio is not None
        share, most = percent(self.favourable.share), percent(self.most.share)
        return (
            f"{share} of the group “{self.name}” ({self.column}) have the favourable decision, {most} of "
            f"“{self.most_name}”: {ratio(self.ratio.value)} times that share (95{JOINED}% interval "
            f"{ratios(self.ratio)}), under four fifths."
        )


def ratios_of(tally: GroupTally) -> list[Ratio]:
    """Every group but the one with the largest share, which must have enough people unless none has."""
    parts = {place: _favourable(tally, place) for place in tally.groups()}
    named = [place for place in parts if tally.grouping.labels[place] is not None]
    enough = [place for place in named if parts[place].of >= FEW] or named
    if not enough:
        return []
    most = max(enough, key=lambda place: parts[place].share)
    names = {place: group_name(tally.grouping.labels[place]) for place in parts}
    return [
        Ratio(tally.grouping.column, names[place], part, parts[most], names[most], _ratio(part, parts[most]))
        for place, part in parts.items()
        if place != most
    ]


def those_under(found: Sequence[Ratio]) -> list[Ratio]:
    """The groups that fall short clearly, and are not small."""
    return [one for one in found if one.is_under and one.clear and not one.few]


def _favourable(tally: GroupTally, place: int) -> Part:
    counts = tally.outcomes(place)
    return Part(counts.already_favourable, counts.people)


def _ratio(one: Part, most: Part) -> Interval | None:
    return koopman(one, most) if most.some else None
