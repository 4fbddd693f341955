"""Registries of normal ranges: one TOML file each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, model_validator

from app.adapters.constraints import ConstraintsEntry
from app.adapters.fields import ConditionField, MoveToField
from app.adapters.flaws import BrokenFiles, Flaw
from app.adapters.snapshots import Snapshot
from app.adapters.toml_files import Entry, Finite, read_toml
from app.core.ranges import ConditionalRange, MoveTo, NormalRange


class RangeEntry(Entry):
    """One normal range and those for whom it holds."""

    low: Finite | None = None
    high: Finite | None = None
    when: dict[str, ConditionField] = {}
    source: str | None = None

    def normal(self) -> NormalRange:
        return NormalRange(self.low, self.high)


class FeatureEntry(Entry):
    """What a registry knows of one feature."""

    unit: str | None = None
    move_to: MoveToField = MoveTo()
    ranges: list[RangeEntry] = []
    allowed: list[str | Finite] = []

    @model_validator(mode="after")
    def _knows_one_thing(self) -> "FeatureEntry":
        if bool(self.ranges) == bool(self.allowed):
            raise ValueError("needs ranges or, for a category, allowed values: the one or the other")
        return self


class RegistryEntry(Entry):
    """A file of `normal_ranges/`."""

    title: str
    version: str
    source: str | None = None
    features: dict[str, FeatureEntry] = Field(min_length=1)
    constraints: ConstraintsEntry = ConstraintsEntry()


@dataclass(frozen=True, slots=True)
class KnownFeature:
    """The unit, the ranges and the target of one feature."""

    unit: str | None
    move_to: MoveTo
    ranges: tuple[ConditionalRange, ...]
    allowed: tuple[str | float, ...] = ()


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


def load_registry(file: Path, snapshot: Snapshot) -> Registry:
    """Read one registry; `BrokenFiles` with all its flaws."""
    entry = read_toml(file, snapshot.read(file), RegistryEntry)
    flaws = [flaw for name, feature in entry.features.items() for flaw in _flaws(file, name, feature)]
    if flaws:
        raise BrokenFiles(flaws)
    features = {name: _known(feature) for name, feature in entry.features.items()}
    return Registry(file.stem, entry.title, entry.version, entry.source, features, entry.constraints, file)


def _flaws(file: Path, name: str, feature: FeatureEntry) -> Iterator[Flaw]:
    for index, entry in enumerate(feature.ranges):
        if flaw := entry.normal().flaw():
            yield Flaw(file, f"features.{name}.ranges[{index}]", flaw)
        elif flaw := feature.move_to.flaw(entry.normal()):
            yield Flaw(file, f"features.{name}.move_to", f"{flaw} (ranges[{index}])")
        if any(not before.when for before in feature.ranges[:index]):
            yield Flaw(file, f"features.{name}.ranges[{index}]", "is never reached: one before it holds for all")


def _known(feature: FeatureEntry) -> KnownFeature:
    ranges = tuple(ConditionalRange(entry.normal(), entry.when, entry.source) for entry in feature.ranges)
    return KnownFeature(feature.unit, feature.move_to, ranges, tuple(feature.allowed))
