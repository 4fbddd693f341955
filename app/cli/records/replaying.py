"""The commands that ask recorded questions again."""

import random
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from app.adapters.files.flaws import BrokenFiles
from app.adapters.records.record import Record
from app.cli.environment import fail, read_settings
from app.cli.records.opening import Address, chain_flaws, opened

Sample = Annotated[str, typer.Option(help="the share of the records to replay, such as 1% or 100%")]


def replay_one(
    name: Annotated[str, typer.Argument(metavar="ID", help="the id of the record")], store: Address = None
) -> None:
    """Ask a recorded question again, of the recorded versions. Ends with 1 unless the answer is the same."""
    with opened(store) as records:
        found = records.find(name)
    if found is None:
        fail("There is no record with this id.")
    with _replaying() as replays:
        said = replays(found)
    if said:
        fail(said)
    print("The answer is the same.")


def audit(sample: Sample = "1%", store: Address = None) -> None:
    """Check the chain, and replay a random sample of the records. Ends with 1 if anything differs."""
    share = _share(sample)
    with opened(store) as records, _replaying() as replays:
        flaws = chain_flaws(records)
        for name, flaw in flaws:
            print(f"{name}: {flaw}", file=sys.stderr)
        count = differing = 0
        for record in records.all():
            # Nothing random here is a secret.
            if record.personal is None or random.random() >= share:  # noqa: S311
                continue
            count += 1
            if said := replays(record):
                differing += 1
                print(f"{record.id}: {said}", file=sys.stderr)
    few = "" if count else ": the sample took none. --sample 100% takes all"
    print(f"{count} replayed, {count - differing} the same{few}")
    if flaws or differing:
        raise typer.Exit(1)


class Replays:
    """Replays records with what is served in the folders of the settings."""

    def __init__(self) -> None:
        from app.adapters.catalog import load_catalog  # noqa: PLC0415  # with it comes the runtime
        from app.answering.service import Service  # noqa: PLC0415
        from app.recording.versions import Versions  # noqa: PLC0415

        settings = read_settings()
        self.service = Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))
        self._versions = Versions(settings.archive)

    def __call__(self, record: Record) -> str:
        """What differs; nothing if the answer is the same."""
        from app.asking.refusals import is_refusal, told  # noqa: PLC0415
        from app.recording.replaying import replay  # noqa: PLC0415

        try:
            done = replay(record, self.service, self._versions)
        except Exception as refusal:
            if not is_refusal(refusal):
                raise
            return f"cannot be asked now: {told(refusal)[0]}"
        return "" if done.same else "; ".join(f"{each.where} {each.what}" for each in done.differences)


@contextmanager
def _replaying() -> Iterator[Replays]:
    try:
        replays = Replays()
    except BrokenFiles as error:
        fail(str(error))
    try:
        yield replays
    finally:
        replays.service.close()


def _share(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)%", text)
    if not found or not 0 < float(found[1]) <= 100:
        fail("--sample: must be a share such as 1% or 100%")
    return float(found[1]) / 100
