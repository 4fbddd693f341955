"""The command line of the records: list, show, erase, purge, verify; and the commands of the modules beside it."""

import json
import sys
import time
from collections import deque
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from app.adapters.files.names import counted
from app.adapters.records.record import Record
from app.cli.environment import fail, from_one, read_settings
from app.cli.records.exporting import export
from app.cli.records.learning import learn
from app.cli.records.opening import Address, Model, Subject, chain_flaws, chosen, opened
from app.cli.records.replaying import audit, replay_one
from app.cli.records.verifying import new_key
from app.recording.telling import moment, record_json

records_cli = typer.Typer(
    no_args_is_help=True, help="Look at the records of answers, in the store that FLIPSET_RECORDS names."
)

Id = Annotated[str, typer.Argument(metavar="ID", help="the id of the record: start.record of the answer")]
DAY_MS = 86_400_000


@records_cli.command(name="list")
def list_(
    subject: Subject = None,
    model: Model = None,
    most: Annotated[int, typer.Option(callback=from_one(), help="how many at the most, the newest")] = 50,
    store: Address = None,
) -> None:
    """List the newest records, without anything personal."""
    with opened(store) as records:
        found = deque(chosen(records, subject, model), most)
    table = Table("id", "when", "model", "version", "outcome", "plans", "key", "state", box=None, pad_edge=False)
    for record in found:
        table.add_row(*_row(record))
    Console(width=None if sys.stdout.isatty() else 200).print(table, markup=False)


@records_cli.command()
def show(name: Id, store: Address = None) -> None:
    """Print one record as JSON, with all that it holds."""
    with opened(store) as records:
        found, feedback = records.find(name), records.feedback_on(name)
    if found is None:
        fail("There is no record with this id.")
    print(json.dumps(json.loads(record_json(found, feedback)), indent=2))


@records_cli.command()
def erase(
    subject: Annotated[str, typer.Argument(help="whom the records are about")],
    store: Address = None,
) -> None:
    """Erase all that is known of a subject. The chain of the records stays whole."""
    with opened(store) as records:
        count = records.erase(subject)
    print(f"Erased: {counted(count, 'record')}")


@records_cli.command()
def purge(
    days: Annotated[
        int | None, typer.Option(callback=from_one(), help="how old they must be, instead of FLIPSET_RECORDS_DAYS")
    ] = None,
    store: Address = None,
) -> None:
    """Delete records that are older than so many days."""
    oldest = days or read_settings().records_days
    if oldest is None:
        fail("How old? Set FLIPSET_RECORDS_DAYS, or say it with --days.")
    with opened(store) as records:
        count = records.purge(time.time_ns() // 1_000_000 - oldest * DAY_MS)
    print(f"Purged: {counted(count, 'record')}")


records_cli.command()(export)
records_cli.command(name="replay")(replay_one)
records_cli.command()(new_key)
records_cli.command()(audit)
records_cli.command()(learn)


@records_cli.command()
def verify(
    kept: Annotated[str | None, typer.Option("--hash", help="a last hash that you kept: is its record there?")] = None,
    store: Address = None,
) -> None:
    """Check the chain: that no record was changed, added or taken away since it was written."""
    with opened(store) as records:
        ends, flaws = records.chain(), chain_flaws(records)
        is_there = kept in (None, ends.first_hash) or any(record.hash == kept for record in records.all())
    for name, flaw in flaws:
        print(f"{name}: {flaw}", file=sys.stderr)
    if flaws:
        raise typer.Exit(1)
    if not is_there:
        fail("No record has that hash: the chain was made anew, or the record was purged, with others after it.")
    print(f"The chain is whole: {counted(ends.last_seq - ends.first_seq, 'record')}, the last hash is {ends.last_hash}")


def _row(record: Record) -> tuple[str, ...]:
    sealed = json.loads(record.sealed)
    state = "erased" if record.personal is None else "kept"
    sent, version = str(sealed["answer"]["sent"]), sealed["model"]["version"]
    return record.id, moment(record.at), record.model, version, record.outcome, sent, record.key or "-", state
