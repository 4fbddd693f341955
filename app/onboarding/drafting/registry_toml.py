"""A registry of learned ranges as TOML, with comments that say what was learned from whom."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.adapters.files.numbers import number_text
from app.adapters.files.toml_files import comment, quoted
from app.core.ranges import Condition, Equals, NormalRange
from app.onboarding.learning.features import LearnedFeature, LearnedRange
from app.onboarding.reading.table import Table

GUIDELINE = "CLSI EP28-A3c"
BARE = re.compile("[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned, and from whom: the title, the day, the reference group in words, and every feature."""

    title: str
    day: str
    table: Table
    group: str
    people: int
    is_policy: bool
    features: Sequence[LearnedFeature]
    # The unit of each feature, where the model gives one.
    units: Mapping[str, str | None]
    move_to: str | None
    # Proposals that a person may take in: lines of comments.
    proposals: Sequence[str] = ()

    @property
    def known(self) -> list[LearnedFeature]:
        return [feature for feature in self.features if feature.ranges]

    @property
    def keys(self) -> set[str]:
        """The columns that decide which range holds."""
        return {key for feature in self.features for entry in feature.ranges for key in entry.when}


def registry_toml(learned: Learned) -> str:
    lines = [
        *_head(learned),
        "",
        *(line for feature in learned.known for line in _feature(feature, learned)),
        *_unknown(learned),
        *map(comment, learned.proposals),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _head(learned: Learned) -> Iterator[str]:
    if learned.is_policy:
        yield "# Limits learned from decisions: the value at which the share of the refused turns."
        yield "# They say how it was decided, not how it should be. Set them to your own policy."
    else:
        yield f"# Reference intervals learned from a table of people, by the rules of {GUIDELINE}."
        yield "# Look at the reference group first: is everybody in it well, and are they your people?"
    yield ""
    yield f"title = {quoted(learned.title)}"
    yield f"version = {quoted(learned.day)}"
    yield f"source = {quoted(_source(learned))}"
    yield ""
    yield "[learned]"
    yield f"day = {quoted(learned.day)}"
    yield f"method = {quoted(_method(learned))}"
    yield f"group = {quoted(learned.group)}"
    yield f"people = {learned.people}"
    yield f"rows = {learned.table.rows}"
    yield f"sha256 = {quoted(learned.table.digest)}   # of the table"


def _source(learned: Learned) -> str:
    if learned.is_policy:
        return f"learned from {learned.people:,} decisions, favourable where {learned.group}"
    return f"learned from {learned.people:,} people: {learned.group}"


def _method(learned: Learned) -> str:
    if learned.is_policy:
        return "the cut with the greatest chi-square"
    return f"{GUIDELINE}: percentiles from 120 people on, else the robust method of Horn and Pesce"


def _feature(feature: LearnedFeature, learned: Learned) -> Iterator[str]:
    yield from map(comment, feature.notes)
    yield f"[features.{toml_key(feature.name)}]"
    unit = learned.units.get(feature.name)
    if unit is not None:
        yield f"unit = {quoted(unit)}"
    yield f"move_to = {quoted(_move_to(feature, learned.move_to))}"
    yield "ranges = ["
    yield from (f"  {_range(entry)}," for entry in feature.ranges)
    yield "]"
    yield ""


def _move_to(feature: LearnedFeature, asked: str | None) -> str:
    """The middle where every range has one: the edge of a range is far from a typical value."""
    has_middle = all(entry.low is not None and entry.high is not None for entry in feature.ranges)
    return asked if asked == "nearest" or (asked and has_middle) else "midpoint" if has_middle else "nearest"


def _range(entry: LearnedRange) -> str:
    when = f"when = {{ {', '.join(_condition(*pair) for pair in entry.when.items())} }}" if entry.when else None
    low = None if entry.low is None else f"low = {number_text(entry.low)}"
    high = None if entry.high is None else f"high = {number_text(entry.high)}"
    return f"{{ {', '.join(filter(None, (when, low, high, f'source = {quoted(entry.source)}')))} }}"


def _condition(key: str, condition: Condition) -> str:
    if isinstance(condition, Equals):
        value = condition.value
        said = quoted(value) if isinstance(value, str) else number_text(value)
    else:
        assert isinstance(condition, NormalRange)
        ends = {"low": condition.low, "high": condition.high}
        said = f"{{ {', '.join(f'{name} = {number_text(end)}' for name, end in ends.items() if end is not None)} }}"
    return f"{toml_key(key)} = {said}"


def _unknown(learned: Learned) -> Iterator[str]:
    """The features that nobody is told to change, and why."""
    lacking = [feature for feature in learned.features if not feature.ranges]
    if lacking:
        yield "# Without a range, so nobody is told to change them:"
        yield from (comment(f"{feature.name}: {'; '.join(feature.notes)}") for feature in lacking)
        yield ""


def toml_key(name: str) -> str:
    """A key of TOML, in quotes where it needs them."""
    return name if BARE.fullmatch(name) else quoted(name)
