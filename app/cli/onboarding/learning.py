"""What `flipset ranges learn` does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.adapters.catalog import load_catalog
from app.adapters.files.names import counted, listed, suggestion
from app.adapters.files.snapshots import Snapshot
from app.adapters.graphs.features import ModelFeature
from app.adapters.rules.registries import load_registry
from app.onboarding.drafting.files import check_free, write_file
from app.onboarding.drafting.names import check_name
from app.onboarding.drafting.registry_toml import Learned, registry_toml
from app.onboarding.failures import Unfit
from app.onboarding.ranges import Wanted, learn_ranges
from app.onboarding.reading.columns import Column
from app.onboarding.reading.outcomes import read_outcomes
from app.onboarding.reading.table import Table, about, read_table
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of the command that say whose ranges are learned, and where they go."""

    name: str
    people: Path
    form: str | None
    outcome: str | None
    favourable: Sequence[str]
    model: str | None
    features: Sequence[str]
    force: bool


def learn_registry(settings: Settings, asked: Asked, wanted: Wanted) -> None:
    """Learn ranges from people, check the registry that they make, and write it."""
    check_name(asked.name)
    file = settings.normal_ranges_dir / f"{asked.name}.toml"
    check_free({file: "registry"}, asked.force)
    features = _features_of(settings, asked)
    table = read_table(asked.people, asked.form)
    outcomes = read_outcomes(table, asked.outcome, asked.favourable)
    columns = _columns(table, features, asked)
    units = {feature.name: feature.unit for feature in features or ()}
    learned = learn_ranges(asked.name, table, columns, outcomes, replace(wanted, units=units))
    text = registry_toml(learned)
    check_registry(file, text)
    write_file(file, text)
    _tell(learned, table, file)


def check_registry(file: Path, text: str) -> None:
    """Read the text as the service would; `BrokenFiles` if it is not a registry."""
    load_registry(file, Snapshot(file.parent, file.parent, {file: text.encode()}, {}, (), (file,)))


def _features_of(settings: Settings, asked: Asked) -> Sequence[ModelFeature] | None:
    """The features of the served model; None if there is none and none was asked for."""
    name = asked.model or asked.name
    if asked.model is None and not (settings.models_dir / name / "model.toml").exists():
        return None
    models = load_catalog(settings.models_dir, settings.normal_ranges_dir).models
    if name not in models:
        raise Unfit(f"--model {name}: is not a served model; {suggestion(name, models)}")
    return models[name].features


def _columns(table: Table, features: Sequence[ModelFeature] | None, asked: Asked) -> Mapping[str, Column]:
    """The columns whose ranges are learned, by feature."""
    if asked.features:
        return {name: table.column(name, "--features") for name in asked.features}
    if features is None:
        others = {name: column for name, column in table.columns.items() if name != asked.outcome}
        # Report cells that look like numbers and cannot be read; leave words alone.
        numbers = {name: column for name, column in others.items() if column.is_number or column.is_spoilt}
        if not numbers:
            raise Unfit(f"{asked.people}: has no column of numbers")
        return numbers
    found = {each.name: table.columns[each.name] for each in features if each.name in table.columns}
    if not found:
        names = listed([each.name for each in features])
        raise Unfit(f"{asked.people}: has no column of the model's features, which are {names}")
    return {each.name: found[each.name] for each in features if each.name in found and each.type != "category"}


def _tell(learned: Learned, table: Table, file: Path) -> None:
    print(f"{about(table)}; {learned.people:,} people to learn from: {learned.group}.")
    for feature in learned.features:
        found = f"{counted(len(feature.ranges), 'range')}" if feature.ranges else "no range"
        notes = "; ".join(note.removeprefix("no range: ") for note in feature.notes)
        print(f"  {feature.name}: {found}{f' ({notes})' if notes else ''}")
    print(f"Wrote {file}. Look at it, then run: flipset validate")
