"""Records in PostgreSQL, for the processes of many machines."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg_pool import ConnectionPool

from app.adapters.records.store import Row, Session, Store, StoreLost

# Those who read, and the writer, of one process.
MOST_CONNECTIONS = 4
PATIENCE_SECONDS = 3.0
# Nothing that one record is to blame for: no server, a full disk, a closed connection, a server that only reads since
# another took over, a right that was withdrawn, a table that is gone.
LOST = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.InternalError,
    psycopg.ProgrammingError,
    psycopg.NotSupportedError,
)
# Whoever holds this number's lock may change the tables or the chain.
LOCK = 0x0F11_95E7


class PostgresSession:
    """A transaction of PostgreSQL."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        cursor = self._connection.execute(_marked(statement), values)
        return cursor.fetchall() if cursor.description else []

    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        with self._connection.cursor() as cursor:
            cursor.executemany(_marked(statement), rows)
            return cursor.rowcount


class PostgresStore(Store):
    """A pool of connections, each tried before it is used."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.address = f"postgresql://{parts.hostname or ''}{parts.path}"
        self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
            address,
            min_size=1,
            max_size=MOST_CONNECTIONS,
            timeout=PATIENCE_SECONDS,
            open=False,
            check=ConnectionPool.check_connection,
            kwargs={"connect_timeout": int(PATIENCE_SECONDS), "application_name": "flipset"},
        )

    @contextmanager
    def writing(self) -> Iterator[Session]:
        with _translated():
            self._pool.open()
            with self._pool.connection() as connection:
                yield PostgresSession(connection)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with self.writing() as session:
            session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield session

    def alone(self, session: Session) -> None:
        session.execute("SELECT pg_advisory_xact_lock(?)", [LOCK])

    def wipe(self) -> None:
        """Free the room of deleted rows for others. PostgreSQL's log and backups are for its operators to wipe."""
        with _translated():
            self._pool.open()
            with self._pool.connection() as connection:
                connection.autocommit = True
                connection.execute("VACUUM personal, feedback")
                connection.autocommit = False

    def empty_log(self) -> None:
        """Nothing to do: PostgreSQL wipes its log as it goes."""

    def close(self) -> None:
        self._pool.close()


def _marked(statement: str) -> str:
    return statement.replace("?", "%s")


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except LOST as error:
        raise StoreLost(type(error).__name__) from error
