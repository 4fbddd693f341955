"""A store of records: the same plain SQL for every database, which only has to open transactions."""

import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from app.adapters.records.record import Begun, Chain, Feedback, NewRecord, Personal, Record
from app.adapters.records.schema import MIGRATIONS, NEWEST
from app.adapters.records.sealing import sealed, sha256

Row = tuple[Any, ...]

_COLUMNS = (
    "r.id, r.seq, r.at, r.key_id, r.model, r.outcome, r.terms, r.sealed, r.hash, r.erased_at, "
    "p.subject, p.salt, p.request, p.start, p.plans, p.summary, p.answer_sha256, p.plans_sha256"
)
_SELECT = f"SELECT {_COLUMNS} FROM records r LEFT JOIN personal p ON p.record_id = r.id"  # noqa: S608  # all ours
_GIVE = """
INSERT INTO feedback VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (record_id, plan, outcome) DO UPDATE SET reason = excluded.reason RETURNING *
"""
_TO_SEAL = 10
# Anything else is no record's, and may hold what no database takes.
ID = re.compile(r"[0-9a-f]{32}")
# Read together; a reader of all records holds no transaction in between.
PAGE = 500
DAY_MS = 86_400_000


class StoreLost(Exception):
    """The store cannot be reached or written to at the moment. It may come back."""


class UnknownSchema(Exception):
    """The store was made by a newer version of Flipset."""


class Session(Protocol):
    """One transaction. Questions marks stand for values."""

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement; the rows that it returns."""
        ...

    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """Run one statement for each row; how many rows were concerned."""
        ...


class Store(ABC):
    """Records in a database. Everything may raise `StoreLost`; then nothing was changed, or all of it."""

    # Where it is, without a password.
    address: str

    @abstractmethod
    def writing(self) -> AbstractContextManager[Session]:
        """A transaction that may write, alone or together with others."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Session]:
        """A transaction that sees one state of the store."""

    @abstractmethod
    def alone(self, session: Session) -> None:
        """Wait until no other transaction changes the tables or the chain; it ends with the transaction."""

    @abstractmethod
    def wipe(self) -> None:
        """Leave nothing of deleted rows behind, as far as the database can."""

    @abstractmethod
    def empty_log(self) -> None:
        """The quick part of it, for what is purged every hour."""

    @abstractmethod
    def close(self) -> None:
        """End all connections."""

    def prepare(self) -> None:
        """Make the tables, or bring them up to date; `UnknownSchema` if they are newer than this."""
        with self.writing() as session:
            self.alone(session)
            session.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
            found = session.execute("SELECT version FROM schema_version")
            version = found[0][0] if found else 0
            if version > NEWEST:
                raise UnknownSchema(f"its tables are of version {version}; this Flipset knows up to {NEWEST}")
            for statements in MIGRATIONS[version:]:
                for statement in statements.split(";"):
                    session.execute(statement)
            if version < NEWEST:
                session.execute("DELETE FROM schema_version")
                session.execute("INSERT INTO schema_version VALUES (?)", [NEWEST])

    def append(self, records: Sequence[NewRecord], begun: Sequence[Begun] = (), again: bool = False) -> None:
        """Write records at the end of the chain, all or none; and that answers have begun.

        `again`: some may have been written before, when the store was lost in the middle.
        """
        with self.writing() as session:
            if records:
                self.alone(session)
                _append(session, _missing(session, records) if again else records)
                session.execute_many("DELETE FROM begun WHERE id = ?", [(record.id,) for record in records])
            new = [(each.id, each.at, each.model) for each in begun]
            if new:
                session.execute_many("INSERT INTO begun VALUES (?, ?, ?) ON CONFLICT DO NOTHING", new)

    def find(self, name: str) -> Record | None:
        if not ID.fullmatch(name):
            return None
        with self.reading() as session:
            rows = session.execute(f"{_SELECT} WHERE r.id = ?", [name])
        return _record(rows[0]) if rows else None

    def find_begun(self, name: str) -> Begun | None:
        if not ID.fullmatch(name):
            return None
        with self.reading() as session:
            rows = session.execute("SELECT id, at, model FROM begun WHERE id = ?", [name])
        return Begun(*rows[0]) if rows else None

    def of_subject(self, subject: str, most: int, after: int = 0) -> list[Record]:
        """The records of one subject, the oldest first, behind the one of that number."""
        where = "WHERE p.subject = ? AND r.seq > ? ORDER BY r.seq LIMIT ?"
        with self.reading() as session:
            return [_record(row) for row in session.execute(f"{_SELECT} {where}", [subject, after, most])]

    def all(self, after: int = 0) -> Iterator[Record]:
        """Every record in the order of the chain, read page by page."""
        while True:
            with self.reading() as session:
                rows = session.execute(f"{_SELECT} WHERE r.seq > ? ORDER BY r.seq LIMIT ?", [after, PAGE])
            yield from map(_record, rows)
            if len(rows) < PAGE:
                return
            after = rows[-1][1]

    def give_feedback(self, given: Feedback) -> Feedback | None:
        """Keep what became of a plan, once: the same again changes nothing but the reason. What is kept then.

        None, and nothing is kept, if the record is erased by now.
        """
        values = [given.record_id, given.plan, given.outcome, given.reason, given.at, given.key]
        with self.writing() as session:
            self.alone(session)
            if not session.execute("SELECT 1 FROM personal WHERE record_id = ?", [given.record_id]):
                return None
            [row] = session.execute(_GIVE, values)
        return Feedback(*row)

    def feedback_on(self, name: str) -> list[Feedback]:
        """What became of the plans of one record, in the order in which it was told."""
        with self.reading() as session:
            rows = session.execute("SELECT * FROM feedback WHERE record_id = ? ORDER BY at, plan, outcome", [name])
        return [Feedback(*row) for row in rows]

    def chain(self) -> Chain:
        with self.reading() as session:
            return Chain(*session.execute("SELECT first_seq, first_hash, last_seq, last_hash FROM chain")[0])

    def erase(self, subject: str, now: int | None = None) -> int:
        """Delete all that is personal of a subject; the number of records it was in. Nothing of it stays behind."""
        moment = time.time_ns() // 1_000_000 if now is None else now
        with self.writing() as session:
            self.alone(session)
            rows = session.execute("SELECT record_id FROM personal WHERE subject = ?", [subject])
            _forget(session, rows)
            session.execute_many("UPDATE records SET erased_at = ? WHERE id = ?", [(moment, row[0]) for row in rows])
        # Even if there was nothing: the last time, the wiping may have failed.
        self.wipe()
        return len(rows)

    def purge(self, before: int, now: int | None = None) -> int:
        """Delete the oldest records up to the first that is not older than this; the chain then begins there."""
        moment = time.time_ns() // 1_000_000 if now is None else now
        with self.writing() as session:
            self.alone(session)
            # One of a day to come was written while the clock was wrong: it is as old as what came after it.
            young = [before, moment + DAY_MS]
            kept = session.execute("SELECT MIN(seq) FROM records WHERE at BETWEEN ? AND ?", young)[0][0]
            old = [kept or 2**62, before]
            last = session.execute("SELECT MAX(seq) FROM records WHERE seq < ? AND at < ?", old)[0][0]
            session.execute("DELETE FROM begun WHERE at < ?", [before])
            if last is None:
                return 0
            rows = session.execute("SELECT id FROM records WHERE seq <= ?", [last])
            [(hash_,)] = session.execute("SELECT hash FROM records WHERE seq = ?", [last])
            session.execute("UPDATE chain SET first_seq = ?, first_hash = ?", [last, hash_])
            _forget(session, rows)
            session.execute("DELETE FROM records WHERE seq <= ?", [last])
        self.empty_log()
        return len(rows)


def _missing(session: Session, records: Sequence[NewRecord]) -> list[NewRecord]:
    return [record for record in records if not session.execute("SELECT 1 FROM records WHERE id = ?", [record.id])]


def _append(session: Session, records: Sequence[NewRecord]) -> None:
    [(last, previous)] = session.execute("SELECT last_seq, last_hash FROM chain")
    rows = []
    for seq, new in enumerate(records, start=last + 1):
        text = sealed(new, seq, previous)
        previous = sha256(text)
        rows.append((new.id, seq, new.at, new.key, new.model, new.outcome, new.terms, text, previous, None))
    if not rows:
        return
    session.execute_many("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    session.execute_many("INSERT INTO personal VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [_personal(new) for new in records])
    session.execute("UPDATE chain SET last_seq = ?, last_hash = ?", [rows[-1][1], previous])


def _personal(new: NewRecord) -> Row:
    held = new.personal
    plans = json.dumps(held.plans)
    texts = held.subject, held.salt, held.request, held.start, plans, held.summary
    return new.id, *texts, held.answer_sha256, held.plans_sha256


def _forget(session: Session, rows: Iterable[Row]) -> None:
    ids = [(row[0],) for row in rows]
    session.execute_many("DELETE FROM personal WHERE record_id = ?", ids)
    session.execute_many("DELETE FROM feedback WHERE record_id = ?", ids)


def _record(row: Row) -> Record:
    name, seq, at, key, model, outcome, terms, sealed_text, hash_, erased_at = row[:_TO_SEAL]
    subject, salt, request, start, plans, summary, answer, before = row[_TO_SEAL:]
    personal = None
    if salt is not None:
        personal = Personal(subject, salt, request, start, tuple(json.loads(plans)), summary, answer, before)
    return Record(name, seq, at, key, model, outcome, terms, sealed_text, hash_, erased_at, personal)
