"""What `flipset ranges verify` does."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from app.adapters.files.names import suggestion
from app.adapters.files.snapshots import take_snapshot
from app.adapters.rules.registries import load_registry
from app.onboarding.drafting.files import write_file
from app.onboarding.failures import Unfit
from app.onboarding.learning.groups import read_groupings
from app.onboarding.reading.outcomes import read_outcomes
from app.onboarding.reading.table import about, read_table
from app.onboarding.verifying.counting import Verified, not_verified, rule_of_20, verify
from app.onboarding.verifying.page import page
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of the command."""

    registry: str
    people: Path
    form: str | None
    outcome: str | None
    favourable: Sequence[str]
    by: Sequence[str]
    out: Path | None


def verify_registry(settings: Settings, asked: Asked) -> None:
    """Count who lies outside of the ranges, print it, and write the page if one is asked for."""
    snapshot = take_snapshot(settings.models_dir, settings.normal_ranges_dir)
    files = {file.stem: file for file in snapshot.registries}
    if asked.registry not in files:
        raise Unfit(f"{asked.registry}: is not a registry; {suggestion(asked.registry, files)}")
    registry = load_registry(files[asked.registry], snapshot)
    table = read_table(asked.people, asked.form)
    outcomes = read_outcomes(table, asked.outcome, asked.favourable)
    found = verify(registry, table, outcomes.accepted, read_groupings(asked.by, table))
    print(f"{about(table)}; reference group: {outcomes.group}.")
    Console().print(_table(found))
    lacking = not_verified(registry, table)
    print("\n".join(f"Not verified: {line}" for line in lacking), end="\n" if lacking else "")
    if asked.out is not None:
        write_file(asked.out, page(registry, about(table), outcomes.group, found, lacking))
        print(asked.out)


def _table(found: Sequence[Verified]) -> Shown:
    shown = Shown("feature", "group", "people", "outside", "95 % interval", "first 20", "verdict", box=None)
    for each in found:
        share = "-" if each.share is None else f"{each.share.value:.1%}"
        reach = "-" if each.share is None else f"{each.share.low:.1%} to {each.share.high:.1%}"
        cells = (each.feature, each.group, f"{each.outside.of:,}", share, reach, rule_of_20(each.first_outside))
        shown.add_row(*map(Text, (*cells, each.verdict)))
    return shown
