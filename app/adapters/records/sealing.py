"""The chain: each record is sealed with the hash of the one before it.

What is personal goes into it as salted digests. Once the salt is erased, they tell nothing, and the chain is whole.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.adapters.records.record import Chain, NewRecord, Personal, Record

# Since the second, the lines that are kept are under the seal too.
FORMAT = 2
# What the first record of all is chained to.
NOTHING = "0" * 64
# What of a person is under the seal.
SALTED = ("subject", "request", "answer", "plans", "lines")


def canonical(content: Mapping[str, Any]) -> str:
    """The content as RFC 8785 writes it, as long as it holds texts, whole numbers, and keys in ASCII."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def salted(salt: str, text: str | None) -> str | None:
    """A digest that only those who know the salt can compare with anything."""
    return None if text is None else hmac.new(bytes.fromhex(salt), text.encode(), hashlib.sha256).hexdigest()


def salted_digests(personal: Personal) -> dict[str, str | None]:
    # Of a long answer only the first plans are kept, so the digest of all of them does not prove these.
    lines = "\n".join([personal.start, *personal.plans, personal.summary or ""])
    texts = personal.subject, personal.request, personal.answer_sha256, personal.plans_sha256, lines
    return {name: salted(personal.salt, text) for name, text in zip(SALTED, texts, strict=True)}


def sealed(new: NewRecord, seq: int, previous: str) -> str:
    """All that the record's hash covers."""
    return canonical(
        {
            **new.facts,
            "format": FORMAT,
            "id": new.id,
            "seq": seq,
            "at": new.at,
            "key": new.key,
            "outcome": new.outcome,
            "previous": previous,
            "terms": sha256(new.terms),
            "personal": salted_digests(new.personal),
        }
    )


def flaws_of(record: Record) -> Iterator[str]:
    """What was changed in a record since it was sealed."""
    if sha256(record.sealed) != record.hash:
        yield "its hash is not that of what is sealed"
    content = json.loads(record.sealed)
    held = {"id": record.id, "seq": record.seq, "at": record.at, "key": record.key, "outcome": record.outcome}
    held |= {"terms": sha256(record.terms)}
    yield from (f"{name} is not what is sealed" for name, value in held.items() if content[name] != value)
    if content["model"]["name"] != record.model:
        yield "model is not what is sealed"
    if record.personal is not None:
        digests = salted_digests(record.personal)
        found = content["personal"].items()
        yield from (f"{name} is not what is sealed" for name, digest in found if digest != digests[name])
    elif record.erased_at is None:
        yield "what is personal is missing, and was not erased"


def flaws_of_chain(records: Iterable[Record], ends: Chain) -> Iterator[tuple[str, str]]:
    """Every flaw of the chain, with the id of the record it was found at; `records` come in their order."""
    seq, previous, last = ends.first_seq, ends.first_hash, ""
    for record in records:
        if record.seq != seq + 1:
            yield record.id, f"{record.seq - seq - 1} records are missing before it"
        elif json.loads(record.sealed)["previous"] != previous:
            yield record.id, "it does not follow the record before it"
        for flaw in flaws_of(record):
            yield record.id, flaw
        seq, previous, last = record.seq, record.hash, record.id
    if (seq, previous) != (ends.last_seq, ends.last_hash):
        yield last, f"the chain ends here, but its last record is number {ends.last_seq}"
