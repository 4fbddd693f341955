"""What /openapi.json says of the records. `app/recording/telling.py` makes what is sent."""

from datetime import datetime
from typing import Any

from pydantic import Field

from app.api.describing.shared import Described
from app.asking.schemas import Became, WhyDeclined


class FeedbackKept(Described):
    """What became of a plan, as it is kept."""

    record: str = Field(description="the id of the record")
    plan: int = Field(description="the rank of the plan")
    outcome: Became
    reason: WhyDeclined | None
    at: datetime = Field(description="when it was told first")


class RecordDetails(Described):
    """One record: what the answer rested on, and what it said. What is personal is null once it was erased."""

    id: str
    state: str = Field(description="kept, erased, or unfinished: the answer began, and its end was not recorded")
    at: datetime = Field(description="when the request came")
    model: str
    seq: int | None = Field(description="its place in the chain")
    hash: str | None = Field(description="its hash, which the next record is chained to")
    outcome: str | None = Field(description="as in the summary; cut if its reader left, error if the search broke down")
    sealed: dict[str, Any] | None = Field(
        description="what the hash covers: versions, digests, and salted digests of what is personal"
    )
    terms: dict[str, Any] | None = Field(description="the limits as applied, and the rules of the key")
    subject: str | None
    salt: str | None = Field(description="what the salted digests are made with")
    request: dict[str, Any] | None = Field(description="the request as it was sent")
    start: dict[str, Any] | None = Field(description="the first line of the answer")
    plans: list[dict[str, Any]] | None = Field(description="its first plans")
    summary: dict[str, Any] | None = Field(description="its last line, without times")
    erased_at: datetime | None
    feedback: list[FeedbackKept] = Field(description="what became of its plans")


class RecordList(Described):
    """The records of one subject, the oldest first."""

    records: list[RecordDetails]
    after: int | None = Field(description="ask again with this to see more; null: that was all")


class ReplayDifference(Described):
    """Where a replayed answer differs."""

    where: str = Field(description="the place in the answer, such as summary.count")
    what: str


class ReplayResult(Described):
    """Whether the same question still gets the same answer."""

    same: bool | None = Field(description="null if the question could not be asked again")
    differences: list[ReplayDifference]
    compared: str | None = Field(
        description="answer: all but times and counts of rows; plans: those sent before time ran out; null: nothing"
    )


class Receipt(Described):
    """What proves a record, as canonical JSON: keep every byte of it."""

    receipt: str = Field(description="a JWS in its compact form, signed with Ed25519")
    salt: str | None = Field(description="what the salted digests are made with; null once it was erased")


class ReceiptKey(Described):
    """A public key, as a JWK (RFC 8037)."""

    alg: str
    crv: str
    kid: str = Field(description="its thumbprint (RFC 7638)")
    kty: str
    use: str
    x: str


class KeySet(Described):
    """The keys that receipts are checked with, those of former years included."""

    keys: list[ReceiptKey]


class Erasure(Described):
    """What was erased."""

    records: int = Field(description="records whose values were erased")
