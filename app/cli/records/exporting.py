"""The command that hands records on: as JSON lines, or as a Parquet file."""

import json
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from app.adapters.files.names import counted
from app.adapters.machine.optional_groups import how_to_install
from app.adapters.records.record import Feedback, Record
from app.cli.environment import fail
from app.cli.records.opening import Address, Model, Subject, chosen, opened
from app.recording.telling import record_json

# Records in one row group.
PAGE = 1_000
Row = tuple[Record, list[Feedback]]


def export(
    subject: Subject = None,
    model: Model = None,
    parquet: Annotated[Path | None, typer.Option(help="write a Parquet file instead")] = None,
    store: Address = None,
) -> None:
    """Print records as JSON, one a line, with all that they hold."""
    if parquet is not None and find_spec("pyarrow") is None:
        fail(f"--parquet needs one more package: {how_to_install('cohort')}")
    with opened(store) as records:
        rows = ((record, records.feedback_on(record.id)) for record in chosen(records, subject, model))
        if parquet is not None:
            _write(parquet, rows)
            return
        for record, feedback in rows:
            print(record_json(record, feedback))


def _write(file: Path, rows: Iterator[Row]) -> None:
    """Complete, or not there at all."""
    import pyarrow as pa  # noqa: PLC0415  # few need it
    import pyarrow.parquet as pq  # noqa: PLC0415

    moment = pa.timestamp("ms", tz="UTC")
    texts = ("id", "model", "version", "outcome", "key", "hash", "sealed", "terms", *PERSONAL)
    told = pa.struct([("plan", pa.int64()), ("outcome", pa.string()), ("reason", pa.string()), ("at", moment)])
    schema = pa.schema(
        [
            *((name, pa.string()) for name in texts),
            *((name, pa.int64()) for name in ("seq", "sent")),
            *((name, moment) for name in ("at", "erased_at")),
            ("plans", pa.list_(pa.string())),
            ("feedback", pa.list_(told)),
        ]
    )
    part, count = file.with_name(f".{file.name}.part"), 0
    try:
        with part.open("wb") as sink, pq.ParquetWriter(sink, schema) as writer:
            while page := list(islice(rows, PAGE)):
                writer.write_table(pa.Table.from_pylist(list(_entries(page)), schema))
                count += len(page)
        part.replace(file)
    except OSError as error:
        fail(f"{file}: {error.strerror or 'cannot be written'}")
    finally:
        part.unlink(missing_ok=True)
    print(f"Written: {file}, {counted(count, 'record')}")


PERSONAL = ("subject", "salt", "request", "start", "summary")


def _entries(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    for record, feedback in rows:
        sealed, held = json.loads(record.sealed), record.personal
        yield {
            **{name: getattr(record, name) for name in ("id", "seq", "at", "model", "outcome", "key", "hash")},
            **{name: getattr(record, name) for name in ("sealed", "terms", "erased_at")},
            "version": sealed["model"]["version"],
            "sent": sealed["answer"]["sent"],
            **({} if held is None else {name: getattr(held, name) for name in PERSONAL}),
            "plans": None if held is None else held.plans,
            "feedback": [
                {"plan": each.plan, "outcome": each.outcome, "reason": each.reason, "at": each.at} for each in feedback
            ],
        }
