"""Registries of normal ranges: one TOML file each."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from app.adapters.files.fields import ConditionField, IfMissingField, MissingEntry, MoveToField, NoiseEntry, NoiseField
from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.names import suggestion
from app.adapters.files.numbers import Weight
from app.adapters.files.snapshots import Snapshot
from app.adapters.files.toml_files import Entry, Finite, read_toml
from app.adapters.rules.constraints import ConstraintsEntry
from app.core.ranges import ConditionalRange, IfMissing, MoveTo, NormalRange, Policy


class RangeEntry(Entry):
    """One normal range, and the conditions under which it applies."""

    low: Finite | None = None
    high: Finite | None = None
    when: dict[str, ConditionField] = {}
    source: str | None = None

    def normal(self) -> NormalRange:
        return NormalRange(self.low, self.high)


class ReasonEntry(Entry):
    """How a notice states the feature as a reason for a decision, by which code, and where these words are from."""

    text: str = Field(min_length=1)
    code: str | None = Field(default=None, min_length=1)
    source: str | None = None


class FeatureEntry(Entry):
    """What a registry says about one feature."""

    unit: str | None = None
    move_to: MoveToField = MoveTo()
    ranges: list[RangeEntry] = []
    allowed: list[str | Finite] = []
    if_missing: IfMissingField | None = None
    noise: NoiseField | None = None
    reason: ReasonEntry | None = None

    @model_validator(mode="before")
    @classmethod
    def _has_its_ranges_in_a_list(cls, entry: Any) -> Any:
        """An end of a range beside `ranges` instead of inside is the likeliest mistake in a registry."""
        ends = [key for key in ("low", "high", "when") if isinstance(entry, dict) and key in entry]
        if ends:
            raise ValueError(f"{ends[0]} belongs into a range: write ranges = [{{ {ends[0]} = ... }}]")
        return entry

    @model_validator(mode="after")
    def _knows_one_thing(self) -> "FeatureEntry":
        if bool(self.ranges) == bool(self.allowed):
            raise ValueError("needs either ranges or, for a category, allowed values")
        return self


class RegistryEntry(Entry):
    """A file of `normal_ranges/`."""

    title: str
    version: str
    source: str | None = None
    features: dict[str, FeatureEntry] = Field(min_length=1)
    constraints: ConstraintsEntry = ConstraintsEntry()
    weights: dict[str, Weight] = {}
    # How `flipset ranges learn` found the ranges: for people, nothing is done with it.
    learned: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class KnownFeature:
    """The unit, the ranges and the target of one feature."""

    unit: str | None
    move_to: MoveTo
    ranges: tuple[ConditionalRange, ...]
    allowed: tuple[str | float, ...] = ()
    if_missing: MissingEntry | None = None
    noise: NoiseEntry | None = None
    reason: ReasonEntry | None = None


@dataclass(frozen=True, slots=True)
class Registry:
    """Normal ranges by the feature's name."""

    name: str
    title: str
    version: str
    source: str | None
    features: Mapping[str, KnownFeature]
    constraints: ConstraintsEntry
    file: Path
    sha256: str
    # How hard changes are, where a request does not say.
    weights: Mapping[str, float] = field(default_factory=dict)


def load_registry(file: Path, snapshot: Snapshot) -> Registry:
    """Read one registry; `BrokenFiles` with all its flaws."""
    entry = read_toml(file, snapshot.read(file), RegistryEntry)
    flaws = [flaw for name, feature in entry.features.items() for flaw in _flaws(file, name, feature)]
    unknown = [name for name in entry.weights if name not in entry.features]
    flaws += [
        Flaw(file, f"weights.{name}", f"is no feature of it; {suggestion(name, entry.features)}") for name in unknown
    ]
    if flaws:
        raise BrokenFiles(flaws)
    features = {name: _known(feature) for name, feature in entry.features.items()}
    sha256 = hashlib.sha256(snapshot.read(file)).hexdigest()
    said = entry.title, entry.version, entry.source, features, entry.constraints
    return Registry(file.stem, *said, file, sha256, entry.weights)


def _flaws(file: Path, name: str, feature: FeatureEntry) -> Iterator[Flaw]:
    for index, entry in enumerate(feature.ranges):
        if flaw := entry.normal().flaw():
            yield Flaw(file, f"features.{name}.ranges[{index}]", flaw)
        elif flaw := feature.move_to.flaw(entry.normal()):
            yield Flaw(file, f"features.{name}.move_to", f"{flaw} (ranges[{index}])")
        elif feature.if_missing and (flaw := _missing_flaw(feature.if_missing, entry.normal(), feature.move_to)):
            yield Flaw(file, f"features.{name}.if_missing", f"{flaw} (ranges[{index}])")
        if any(not before.when for before in feature.ranges[:index]):
            yield Flaw(
                file, f"features.{name}.ranges[{index}]", "is never reached: an earlier range applies to everyone"
            )
    yield from _several_flaws(file, name, feature)
    if feature.allowed and feature.if_missing and feature.if_missing.value not in (None, *feature.allowed):
        yield Flaw(file, f"features.{name}.if_missing", "value is not one of the allowed values")


def _several_flaws(file: Path, name: str, feature: FeatureEntry) -> Iterator[Flaw]:
    """Steps that do not suit a number, or a category; whether they suit the model is for it to say."""
    move_to = feature.move_to
    if feature.allowed and (flaw := flaw_of_ways(move_to, feature.allowed)):
        yield Flaw(file, f"features.{name}.move_to", flaw)


def flaw_of_ways(move_to: MoveTo, allowed: Sequence[str | float]) -> str | None:
    """Why this choice does not suit a category with these allowed values, if it does not."""
    if move_to.policy is Policy.STEPS and not move_to.steps:
        return "steps of a category must be a list of its values"
    if move_to.policy is Policy.STEPS and move_to.steps[-1] not in allowed:
        return "the last step must be one of the allowed values"
    if move_to.policy is Policy.ANY_OF and not set(move_to.steps) <= set(allowed):
        return "any_of must name allowed values"
    return None


def _known(feature: FeatureEntry) -> KnownFeature:
    ranges = tuple(ConditionalRange(entry.normal(), entry.when, entry.source) for entry in feature.ranges)
    return KnownFeature(
        feature.unit,
        feature.move_to,
        ranges,
        tuple(feature.allowed),
        feature.if_missing,
        feature.noise,
        feature.reason,
    )


def _missing_flaw(entry: MissingEntry, normal: NormalRange, move_to: MoveTo) -> str | None:
    if isinstance(entry.value, str):
        return "value must be a number, like the ends of the range"
    return IfMissing(entry.value).flaw(normal, move_to)
