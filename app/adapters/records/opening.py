"""From the address of a store to the store."""

from importlib.util import find_spec
from pathlib import Path

from app.adapters.machine.optional_groups import how_to_install
from app.adapters.records.sqlite import SqliteStore
from app.adapters.records.store import Store, StoreLost, UnknownSchema

SQLITE = "sqlite:///"
POSTGRES = ("postgresql://", "postgres://")


class NoStore(Exception):
    """The records cannot be kept where they should be; the text says why, without a password."""


def check_address(address: str) -> str:
    """`ValueError` unless it is the address of a store."""
    if not address.startswith((SQLITE, *POSTGRES)) or address == SQLITE:
        raise ValueError("must look like sqlite:///records.db or postgresql://user:password@host/database")
    return address


def check_postgres(address: str) -> str:
    """`ValueError` unless it is the address of a database of PostgreSQL."""
    if not address.startswith(POSTGRES):
        raise ValueError("must look like postgresql://user:password@host/database")
    return address


def store_at(address: str) -> Store:
    """The store at an address. It connects when it is used; `NoStore` if a package is missing."""
    if address.startswith(SQLITE):
        return SqliteStore(Path(address.removeprefix(SQLITE)))
    if find_spec("psycopg") is None or find_spec("psycopg_pool") is None:
        raise NoStore(f"FLIPSET_RECORDS: PostgreSQL needs more packages: {how_to_install('records-postgres')}")
    # Imported here: few need it.
    from app.adapters.records.postgres import PostgresStore  # noqa: PLC0415

    return PostgresStore(address)


def ready_store(address: str) -> Store:
    """The same, with its tables up to date; `NoStore` if it cannot be used."""
    store = store_at(address)
    try:
        store.prepare()
    except (StoreLost, UnknownSchema) as error:
        store.close()
        why = error if isinstance(error, UnknownSchema) else "cannot be reached or written to"
        raise NoStore(f"FLIPSET_RECORDS: {store.address}: {why}") from None
    return store
