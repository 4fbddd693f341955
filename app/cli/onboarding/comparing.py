"""What `flipset compare` does."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import typer

from app.adapters.catalog import catalog_of
from app.adapters.files.names import suggestion
from app.adapters.files.snapshots import take_snapshot
from app.adapters.graphs.models import Model
from app.cohorts.job import only
from app.onboarding.comparing.comparing import Comparison, compare
from app.onboarding.failures import Unfit
from app.onboarding.reading.table import about, read_table
from app.settings import Settings


def compare_scores(
    settings: Settings, name: str, people: Path, form: str | None, score: str, columns: Mapping[str, str]
) -> None:
    """Compare, tell, and end with 1 if anything differs."""
    model = served_model(settings, name)
    if unknown := [feature for feature in columns if feature not in model.positions]:
        raise Unfit(f"--column {unknown[0]}: is not a feature of this model; {suggestion(unknown[0], model.positions)}")
    table = read_table(people, form)
    found = compare(model, table, score, columns)
    print("\n".join([f"{about(table)}; {name} {model.version} compared with {score}.", *_told(found)]))
    if found.equal < found.people:
        raise typer.Exit(1)


def served_model(settings: Settings, name: str) -> Model:
    """One served model, even if others are broken; `Unfit` if none has this name."""
    snapshot = take_snapshot(settings.models_dir, settings.normal_ranges_dir, settings.model_file_mb * 2**20)
    known = [folder.name for folder in snapshot.model_folders]
    if name not in known:
        raise Unfit(f"{name}: is not a model; {suggestion(name, known)}" if known else f"{name}: there is no model yet")
    return catalog_of(only(snapshot, name, {file.stem for file in snapshot.registries})).models[name]


def _told(found: Comparison) -> Iterator[str]:
    if found.left_out:
        yield f"{found.left_out:,} left out: the model does not take their values, or they have no score."
    yield f"Equal for {found.equal:,} of {found.people:,} people ({found.equal / found.people:.1%})."
    if found.equal == found.people:
        yield f"Largest difference {found.largest:.2g}. The served model says what the trainer said."
        return
    yield f"Largest difference {found.largest:.4g}. The first rows that differ:"
    for each in found.first:
        yield f"  row {each.row:,}: served {each.served:.6g}, trainer {each.trained:.6g}"
    yield f"Likely reason: {found.reason or 'not one of those that Flipset knows; is it the same model?'}"
