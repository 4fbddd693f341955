"""What `flipset init` does."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from app.asking.parsing import check_body
from app.asking.schemas import CounterfactualsRequest
from app.cli.terminal import show
from app.onboarding.drafting.drafts import Draft, Request, draft_model
from app.onboarding.drafting.files import check_free, drop, put_back, write_file, write_folder
from app.onboarding.drafting.names import check_name
from app.onboarding.failures import Unfit
from app.onboarding.ranges import Wanted
from app.onboarding.reading.outcomes import read_outcomes
from app.onboarding.reading.table import about, read_table
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Source:
    """The people, and what became of them."""

    people: Path
    form: str | None
    outcome: str
    favourable: Sequence[str]


def initialise(settings: Settings, asked: Request, source: Source, wanted: Wanted, force: bool) -> None:
    """Draft a model, check it, write it, and show one answer."""
    check_name(asked.name)
    folder, registry = settings.models_dir / asked.name, settings.normal_ranges_dir / f"{asked.name}.toml"
    check_free({folder: "model", registry: "registry"}, force)
    table = read_table(source.people, source.form)
    outcomes = read_outcomes(table, source.outcome, source.favourable)
    draft = draft_model(settings, asked, table, outcomes, wanted)
    _write(draft, folder, registry)
    print(f"{about(table)}. The columns were matched {draft.how}.")
    for note in draft.notes:
        print(note)
    print(f"Wrote {folder}: {', '.join(draft.files)}\nWrote {registry}\n")
    _show(draft, asked.name)
    print(_next(asked.name, folder, registry, source.people))


def _write(draft: Draft, folder: Path, registry: Path) -> None:
    """Both or neither."""
    before = write_folder(folder, draft.files)
    try:
        write_file(registry, draft.registry)
    except Unfit:
        put_back(folder, before)
        raise
    drop(before)


def _show(draft: Draft, model: str) -> None:
    print(f"One answer, for the made-up person in examples/{draft.shown}.json:\n")
    request = check_body(draft.examples[draft.shown], CounterfactualsRequest)
    with draft.service.answering(request, draft.service.model(model)) as answer:
        show([event for event in answer.events() if event is not None], Console())


def _next(name: str, folder: Path, registry: Path, people: Path) -> str:
    return f"""
What to do next:
  1. Read {folder / "model.toml"} and {registry}: what was guessed says so. Give titles and units.
  2. flipset validate
  3. flipset compare {name} {people} --score COLUMN    if the table has your trainer's own scores
  4. flipset serve, then open http://127.0.0.1:8000/"""
