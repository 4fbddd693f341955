"""What is kept of an answer: what is nobody's in particular, and what is personal, apart from each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# How an answer can end that has no outcome of its own: its reader left, or the search broke down.
CUT = "cut"
ERROR = "error"


@dataclass(frozen=True, slots=True)
class Personal:
    """All that is about a person. An erasure deletes it, salt included."""

    subject: str | None
    # What the digests of this record are made with: without it, nobody can guess values and compare.
    salt: str
    # The body as it was sent, and the lines of the answer: the first, the first few plans, and the last.
    request: str
    start: str
    plans: tuple[str, ...]
    summary: str | None
    # Of the whole answer, without salt: see `app/recording/lines.py`.
    answer_sha256: str
    # The same without the last line: all that an answer which ran out of time can be held against.
    plans_sha256: str


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record on its way to the store. `facts` become part of the chain; `terms` is what else the answer rested on."""

    id: str
    at: int
    key: str | None
    model: str
    outcome: str
    facts: Mapping[str, Any]
    terms: str
    personal: Personal


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it is stored. `sealed` is canonical JSON, and `hash` its digest; `at` is in milliseconds."""

    id: str
    seq: int
    at: int
    key: str | None
    model: str
    outcome: str
    terms: str
    sealed: str
    hash: str
    erased_at: int | None
    personal: Personal | None


@dataclass(frozen=True, slots=True)
class Begun:
    """An answer whose first byte may have left, and whose record is not complete yet."""

    id: str
    at: int
    model: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """What became of a plan of a recorded answer; `at` is in milliseconds."""

    record_id: str
    # Its rank in the answer.
    plan: int
    outcome: str
    reason: str | None
    at: int
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """Both ends of the chain: the record before the first that is still there, and the last."""

    first_seq: int
    first_hash: str
    last_seq: int
    last_hash: str
