"""Learning the ranges of many features from a table of people, and the registry that they make."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from app.adapters.files.names import suggestion
from app.adapters.files.toml_files import quoted
from app.onboarding.drafting.registry_toml import Learned, toml_key
from app.onboarding.failures import Unfit
from app.onboarding.learning.features import LearnedFeature, Rules, learn_feature
from app.onboarding.learning.groups import read_groupings
from app.onboarding.learning.intervals import Sides
from app.onboarding.learning.outliers import OUTER_FENCE
from app.onboarding.learning.rounding import percent
from app.onboarding.reading.columns import Column
from app.onboarding.reading.outcomes import Outcomes
from app.onboarding.reading.table import Table

FIXED = "no range: it is to stay as it is"
# What most people mean by these names nobody can change.
UNCHANGEABLE = re.compile(r"(?i)(?<![a-z])(age|sex|gender|race|ethnicity|birth|born)(?![a-z])")
STAYS = "look: can anybody change it? If not, take it out, or learn again with --fixed {name}"
# Squares of larger numbers overflow.
TOO_LARGE = 1e100


@dataclass(frozen=True, slots=True)
class Wanted:
    """How the ranges are to be learned, as options say it."""

    by: Sequence[str] = ()
    upper: Sequence[str] = ()
    lower: Sequence[str] = ()
    # Features that nobody should be told to change.
    fixed: Sequence[str] = ()
    fence: float = OUTER_FENCE
    is_policy: bool = False
    move_to: str | None = None
    units: Mapping[str, str | None] = field(default_factory=dict)


def learn_ranges(
    title: str, table: Table, columns: Mapping[str, Column], outcomes: Outcomes, wanted: Wanted
) -> Learned:
    """The ranges of these columns by the feature of each; `Unfit` if none can be learned."""
    rules = _rules(table, columns, outcomes, wanted)
    keys = {grouping.key for grouping in rules.groupings}
    features = [
        LearnedFeature(name, (), (FIXED,)) if name in wanted.fixed else _learned(name, column, outcomes, rules)
        for name, column in columns.items()
        if column.name not in keys
    ]
    if not any(feature.ranges for feature in features):
        raise Unfit(f"no range can be learned: {_first_reason(features)}")
    return Learned(
        title=title,
        day=today(),
        table=table,
        group=outcomes.group,
        people=int((outcomes.accepted | outcomes.refused if wanted.is_policy else outcomes.accepted).sum()),
        is_policy=wanted.is_policy,
        features=features,
        units=wanted.units,
        move_to=wanted.move_to,
        proposals=[line for name, column in columns.items() for line in _proposed(name, column, outcomes, wanted)],
    )


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def _rules(table: Table, columns: Mapping[str, Column], outcomes: Outcomes, wanted: Wanted) -> Rules:
    if wanted.is_policy and outcomes.column is None:
        raise Unfit("--policy needs --outcome and --favourable: it looks for where the share of the refused turns")
    if wanted.is_policy and (wanted.by or wanted.upper or wanted.lower):
        raise Unfit("--policy finds one limit for everybody: take --by, --upper and --lower away")
    if both := {*wanted.upper} & {*wanted.lower}:
        raise Unfit(f"--upper and --lower both name {min(both)}; without either it has two sides")
    for option, names in (("--upper", wanted.upper), ("--lower", wanted.lower), ("--fixed", wanted.fixed)):
        if unknown := [name for name in names if name not in columns]:
            raise Unfit(f"{option} {unknown[0]}: is not a feature; {suggestion(unknown[0], columns)}")
    sides = {**dict.fromkeys(wanted.upper, Sides.HIGH), **dict.fromkeys(wanted.lower, Sides.LOW)}
    return Rules(read_groupings(wanted.by, table), sides, wanted.fence, wanted.is_policy)


def _learned(name: str, column: Column, outcomes: Outcomes, rules: Rules) -> LearnedFeature:
    if column.not_numbers is not None:
        return LearnedFeature(name, (), (f"no range: it {column.not_numbers}",))
    if max(abs(column.least), abs(column.most)) > TOO_LARGE:
        return LearnedFeature(name, (), (f"no range: it holds values beyond {TOO_LARGE:g}",))
    if column.is_counter:
        return LearnedFeature(name, (), ("no range: it looks like a row number",))
    learned = learn_feature(column, outcomes.accepted, outcomes.refused, rules)
    doubt = (STAYS.format(name=name),) if learned.ranges and UNCHANGEABLE.search(name) else ()
    return LearnedFeature(name, learned.ranges, (*learned.notes, *doubt))


def _first_reason(features: Iterable[LearnedFeature]) -> str:
    return next((f"{feature.name}: {feature.notes[0].removeprefix('no range: ')}" for feature in features), "no column")


def _proposed(name: str, column: Column, outcomes: Outcomes, wanted: Wanted) -> list[str]:
    """For lenders: the shares refused by category, and a line to take in."""
    if not wanted.is_policy or not column.is_text or column.is_free_text:
        return []
    shares = {word: _share(column, word, outcomes) for word in sorted(column.words)}
    known = {word: share for word, share in shares.items() if share is not None}
    if len(known) < 2:
        return []
    least = min(known, key=lambda word: known[word])
    told = ", ".join(f"{word} {percent(share)}" for word, share in known.items())
    return [
        f"{name} is a category. Refused: {told}. If it may change, allow some of its values:",
        f"[features.{toml_key(name)}]",
        f"allowed = [{quoted(least)}]",
        "",
    ]


def _share(column: Column, word: str, outcomes: Outcomes) -> float | None:
    people = column.are(word)
    refused, all_ = int((people & outcomes.refused).sum()), int((people & (outcomes.refused | outcomes.accepted)).sum())
    return refused / all_ if all_ else None
