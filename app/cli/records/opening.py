"""The store that the commands work on, and which of its records."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from app.adapters.records.opening import NoStore, check_address, ready_store
from app.adapters.records.record import Record
from app.adapters.records.sealing import flaws_of_chain
from app.adapters.records.store import Store, StoreLost
from app.cli.environment import fail, read_settings

Address = Annotated[
    str | None, typer.Option("--store", help="the store, instead of FLIPSET_RECORDS", show_default=False)
]

Subject = Annotated[str | None, typer.Option(help="only the records of this subject")]
Model = Annotated[str | None, typer.Option(help="only the records of this model")]


def chosen(store: Store, subject: str | None, model: str | None) -> Iterator[Record]:
    found = store.all() if subject is None else iter(store.of_subject(subject, sys.maxsize))
    return (record for record in found if model in (None, record.model))


def chain_flaws(store: Store) -> list[tuple[str, str]]:
    """What is wrong with the chain, by the id of the record."""
    # Its end first: records that come meanwhile are for the next time.
    ends = store.chain()
    return list(flaws_of_chain((record for record in store.all() if record.seq <= ends.last_seq), ends))


@contextmanager
def opened(address: str | None) -> Iterator[Store]:
    """The store, ready; the command ends with a message if it cannot be used."""
    # What fails is said in one line, not with each attempt of the pool.
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
    found = address or read_settings().records
    if found is None:
        fail("Which store? Set FLIPSET_RECORDS, or name it with --store.")
    try:
        store = ready_store(check_address(found))
    except ValueError as error:
        fail(f"--store: {error}")
    except NoStore as error:
        fail(str(error))
    try:
        yield store
    except StoreLost:
        fail(f"{store.address}: cannot be reached or written to")
    finally:
        store.close()
