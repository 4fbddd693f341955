"""One person's counterfactuals under different constraints, as tables: like the paper's figure 7."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NONE = "none"


@dataclass(frozen=True)
class UseCaseFeature:
    """One feature in its own unit; a side of the range may be open, and without a target it stays as it is."""

    title: str
    unit: str
    value: float
    low: float | None
    high: float | None
    target: float | None


@dataclass(frozen=True)
class Situation:
    """What is asked for, in words, and each counterfactual as its changes: the feature's title and its new value."""

    words: str
    counterfactuals: tuple[Mapping[str, float], ...]


@dataclass(frozen=True)
class UseCase:
    """One person, the score as they are, and what they could do in each situation."""

    name: str
    score: float
    features: tuple[UseCaseFeature, ...]
    situations: tuple[Situation, ...]


def use_case_lines(use_case: UseCase) -> list[str]:
    """The person's values, ranges and targets, then a table for each situation with the changed cells in bold."""
    lines = _person(use_case.features)
    for situation in use_case.situations:
        lines += ["", *_situation(situation, use_case.features)]
    return [*lines, "", _rests_on(use_case)]


def _person(features: Sequence[UseCaseFeature]) -> list[str]:
    heading = ["", *(f"{one.title}, {one.unit}" if one.unit else one.title for one in features)]
    rows = [
        ["value", *(_shown(one.value) for one in features)],
        ["normal range", *(_range(one.low, one.high) for one in features)],
        ["would be moved to", *(NONE if one.target is None else _shown(one.target) for one in features)],
    ]
    return [_row(heading), _rule(len(heading)), *map(_row, rows)]


def _situation(situation: Situation, features: Sequence[UseCaseFeature]) -> list[str]:
    found = situation.counterfactuals
    if unknown := {title for one in found for title in one} - {one.title for one in features}:
        raise ValueError(f"changes of features that the person does not have: {', '.join(sorted(unknown))}")
    if not found:
        return [f"**{situation.words}**: no counterfactual."]
    count = "1 counterfactual" if len(found) == 1 else f"{len(found)} counterfactuals"
    heading = ["", *(one.title for one in features)]
    rows = [[str(place), *(_cell(one, changes) for one in features)] for place, changes in enumerate(found, start=1)]
    return [f"**{situation.words}**: {count}.", "", _row(heading), _rule(len(heading)), *map(_row, rows)]


def _cell(feature: UseCaseFeature, changes: Mapping[str, float]) -> str:
    if feature.title not in changes:
        return _shown(feature.value)
    return f"**{_shown(changes[feature.title])}**"


def _rests_on(use_case: UseCase) -> str:
    return (
        f"This is {use_case.name}, whom the model gives a score of {_shown(use_case.score)}. A row is one minimal set "
        "of changes, with the changed values in bold; every such set is listed. The tables show what constraints do to "
        "the answers of one person, and say nothing about how often they do so."
    )


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return NONE
    if low is None or high is None:
        return f"at most {_shown(high)}" if high is not None else f"at least {_shown(low or 0.0)}"
    return f"{_shown(low)} to {_shown(high)}"


def _shown(value: float) -> str:
    return f"{value:.6g}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(columns: int) -> str:
    return "|" + "---|" * columns
