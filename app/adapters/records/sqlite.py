"""Records in one file of SQLite, for all processes of one machine."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from app.adapters.records.store import Row, Session, Store, StoreLost

# How long a transaction waits for another's.
BUSY_SECONDS = 10.0
# No mistake of ours: a full disk, a file that cannot be written, a lock that is held too long.
LOST = (sqlite3.OperationalError, sqlite3.DatabaseError)


class SqliteSession:
    """A transaction of SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        return self._connection.execute(statement, values).fetchall()

    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        return self._connection.executemany(statement, rows).rowcount


class SqliteStore(Store):
    """Write-ahead logging: readers and the one writer do not wait for each other."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.address = f"sqlite:///{file}"
        # Kept open: with the last connection SQLite closes the log, which takes as long as many transactions.
        self._writer: sqlite3.Connection | None = None
        self._inode: int | None = None
        self._lock = Lock()

    @contextmanager
    def writing(self) -> Iterator[Session]:
        with self._lock, _translated():
            writer = self._opened()
            writer.execute("BEGIN IMMEDIATE")
            try:
                yield SqliteSession(writer)
                writer.execute("COMMIT")
            except BaseException:
                self._give_up(writer)
                raise

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with _translated(), closing(self._connect()) as connection:
            connection.execute("BEGIN")
            yield SqliteSession(connection)

    def alone(self, session: Session) -> None:
        """Nothing to do: BEGIN IMMEDIATE has waited already."""

    def wipe(self) -> None:
        """Rows are overwritten as they are deleted, but not where they once were: SQLite moves rows from page to page
        and leaves the old copy. Only a file that is written anew holds none. Then the log goes.
        """
        with self._lock, _translated():
            self._opened().execute("VACUUM")
        self.empty_log()

    def empty_log(self) -> None:
        with self._lock, _translated():
            is_busy, *_ = self._opened().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if is_busy:
                raise sqlite3.OperationalError("the log is in use")

    def close(self) -> None:
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def _opened(self) -> sqlite3.Connection:
        """The connection that writes: to the file that is there now, not to one that was moved or deleted meanwhile."""
        if self._writer is not None and _inode(self._file) != self._inode:
            self._writer.close()
            self._writer = None
        if self._writer is None:
            self._writer = self._connect()
            self._inode = _inode(self._file)
        return self._writer

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=32
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _give_up(self, connection: sqlite3.Connection) -> None:
        """A transaction that failed leaves nothing; the next one begins with a new connection."""
        with closing(connection):
            self._writer = None
            if connection.in_transaction:
                connection.rollback()


def _inode(file: Path) -> int | None:
    try:
        return file.stat().st_ino
    except OSError:
        return None


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except LOST as error:
        raise StoreLost(type(error).__name__) from error
