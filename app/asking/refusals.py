"""Everything that can be refused, as data: what it was, in words for those who asked, and the fields to mend.

RequestError
├── MalformedJson
├── KeyNeeded               there is no key, or none that is accepted
├── KeyExpired              the key was accepted once
├── TokenNeeded             a client of CDS Hooks has not proved who it is
├── NotAllowed              the key does not cover this model, or not all of those a page lists
├── ForbiddenByKey          the key's own rules do not allow what the request asks for
├── UnknownModel
├── UnknownRegistry
├── UnknownRecord           there is no such record, or not any more
├── RecordErased            what the record held of a person was erased
├── RecordsOff              no records are kept here
├── NoReceipts              no key is there to sign receipts
├── OutOfScope              the key is not for this kind of request
├── NotAcceptable
├── BodyTooLong
├── UnsupportedMediaType
├── DataMissing             what a card needs was not sent beforehand
├── InvalidRequest          the fields that are wrong, and how to mend them
├── ConflictingConstraints  a minimal group of items that contradict each other
├── ModelTooSlow            not even the instance itself was scored by the deadline
├── RateExceeded            the key asks more often than it may
├── RatesUnavailable        the database that counts rates cannot be reached, and nobody may ask without
├── TokensUnavailable       where used tokens are noted cannot be written to
├── TooManyAtOnce           the client has as many requests under way as it may
├── Busy                    as many answers are under way as allowed
├── RecordsUnavailable      the store of the records cannot be reached or written to
└── Stopping

From the adapters: ModelFailed, PredictorUnavailable. What each is over HTTP: `app/api/problems.py`.
No message quotes a value of the instance.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from app.adapters.files.names import LONGEST_NAME, closest, ended
from app.adapters.graphs.onnx import ModelFailed
from app.adapters.predictors.failures import PredictorUnavailable
from app.adapters.rules.formulas import Place

MOST_ERRORS = 100
# Where somebody with a key for some models finds those models, and their registries.
WHAT_IT_MAY_USE = {
    "model": "GET /v1/models lists the models that it may use.",
    "registry": "GET /v1/models/{model} lists the registries that fit a model that it may use.",
}
NO_SCORE = "the model gives no finite score for these values"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field of the request that cannot be accepted, and how to mend it; inside a formula, also where in it."""

    field: str
    message: str
    place: Place | None = None

    def json(self) -> dict[str, str | int]:
        place = {} if self.place is None else self.place._asdict()
        return {"field": self.field, "message": self.message, **place}


class RequestError(Exception):
    """A request that is refused; the text is for the person who sent it."""

    def __init__(self, detail: str = "", errors: Sequence[FieldError] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors)


class MalformedJson(RequestError):
    """The body is not JSON, or not JSON that means one thing."""

    def __init__(self, detail: str, field: str = "body") -> None:
        super().__init__(detail, [FieldError(field, detail)])


class KeyNeeded(RequestError):
    """No key, or one that is not accepted; which of the many reasons it was is not told."""

    def __init__(self, *, was_given: bool) -> None:
        how = "Send one in the header Authorization: Bearer <key>."
        super().__init__(f"The key is not accepted. {how}" if was_given else f"A key is needed here. {how}")


class KeyExpired(RequestError):
    """The key is right, and its time is over: told only to those who hold it."""

    def __init__(self) -> None:
        super().__init__("This key has expired or was replaced. Ask your operator for a new one.")


class TokenNeeded(RequestError):
    """The client has not proved who it is."""


class TokensUnavailable(RequestError):
    """Nobody can tell whether the token was used before."""

    def __init__(self) -> None:
        super().__init__("The service cannot tell whether the token was used before. Try again in a few seconds.")


class NotAllowed(RequestError):
    """The key is for other models; whether there is such a model is not told. No field: only keys for all may ask."""

    def __init__(self, field: str | None = None) -> None:
        if field is None:
            super().__init__("This path covers all models. Use a key for all models.")
            return
        detail = f"This key may not use this {field}. {WHAT_IT_MAY_USE[field]}"
        super().__init__(detail, [FieldError(field, detail)])


class RateExceeded(RequestError):
    """The key asks more often than it may."""

    def __init__(self, nanoseconds: int) -> None:
        seconds = ceil(nanoseconds / 1e9)
        super().__init__(f"This key has used up its rate. Try again in {seconds} s.")
        self.seconds = seconds


class RatesUnavailable(RequestError):
    """The rates of keys cannot be counted, and the service lets nobody in uncounted."""

    def __init__(self) -> None:
        super().__init__("The service cannot count the requests of your key. Try again in a few seconds.")


class TooManyAtOnce(RequestError):
    """The client has as many requests under way as one client may."""

    def __init__(self, most: int) -> None:
        reason = (
            f"You have reached your limit of requests in progress: {most}. Requests that you are still sending count"
        )
        super().__init__(f"{reason}. Wait until one has ended, then try again.")


class BodyTooLong(RequestError):
    """The body holds more bytes than the server reads."""

    def __init__(self, most: int) -> None:
        detail = f"The body is longer than {most:,} bytes. Send less, or split the request."
        super().__init__(detail, [FieldError("body", detail)])


class UnsupportedMediaType(RequestError):
    """The body does not say that it is JSON."""

    def __init__(self) -> None:
        detail = "Send the body as JSON, with the header Content-Type: application/json."
        super().__init__(detail, [FieldError("Content-Type", detail)])


class NotAcceptable(RequestError):
    """The client accepts no form that the answer comes in."""

    def __init__(self, offered: Iterable[str]) -> None:
        detail = f"Accept one of these formats: {', '.join(offered)}."
        super().__init__(detail, [FieldError("Accept", detail)])


class UnknownModel(RequestError):
    """No model of that name is served."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        detail = f"There is no model {name[:LONGEST_NAME]!r}. {_offer(name, known)}"
        super().__init__(detail, [FieldError("model", detail)])


class UnknownRegistry(RequestError):
    """No registry of that name is served."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        detail = f"There is no registry {name[:LONGEST_NAME]!r}. {_offer(name, known)}"
        super().__init__(detail, [FieldError("registry", detail)])


class UnknownRecord(RequestError):
    """There is no record of that id."""

    def __init__(self) -> None:
        detail = "There is no record with this id. It may have been purged, or its answer may be under way."
        super().__init__(detail, [FieldError("id", detail)])


class RecordErased(RequestError):
    """Nothing is left of the record but what proves that it was there."""

    def __init__(self) -> None:
        super().__init__("The values of this record were erased. Only its digests are left.")


class RecordsOff(RequestError):
    """The service keeps no records."""

    def __init__(self) -> None:
        super().__init__("This service keeps no records. Its operator can set FLIPSET_RECORDS.")


class NoReceipts(RequestError):
    """The service has no key to sign receipts."""

    def __init__(self) -> None:
        super().__init__("This service signs no receipts. Its operator can set FLIPSET_RECEIPT_KEYS.")


class OutOfScope(RequestError):
    """The key is for other kinds of requests."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"This key lacks the scope {scope!r}. Ask your operator for a key that has it.")


class InvalidRequest(RequestError):
    """Fields of the request that cannot be accepted."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        several = f"{len(errors)} fields are wrong. The first is " if len(errors) > 1 else ""
        super().__init__(f"{several}{errors[0].field}: {ended(errors[0].message)}", errors)


class DataMissing(InvalidRequest):
    """What a card needs was not sent beforehand, or cannot be used."""


class ForbiddenByKey(InvalidRequest):
    """Fields of the request that could be accepted, but not with this key."""


class ConflictingConstraints(RequestError):
    """Constraints that no set of changes can satisfy; the errors are a group of them, in the user's words."""

    def __init__(self, items: Sequence[FieldError], minimal: bool = True) -> None:
        paths = ", ".join(item.field for item in items)
        group = f"all of these together: {paths}" if len(items) > 1 else f"{paths}: {items[0].message}"
        rest = "" if minimal else " There was not enough time to make this group minimal."
        super().__init__(f"No set of changes can satisfy {group}.{rest}", items)


class ModelTooSlow(RequestError):
    """The model was still at work on the instance itself when the time was over."""

    def __init__(self) -> None:
        detail = "The model gave no score for these values before the deadline. Check the values and the model."
        super().__init__(detail)


class Busy(RequestError):
    """As many answers are under way as the server takes on at once."""

    def __init__(self) -> None:
        super().__init__("The service is busy. Try again in a few seconds.")


class RecordsUnavailable(RequestError):
    """The store of the records is needed, and cannot be reached or written to."""

    def __init__(self) -> None:
        super().__init__("The store of the records does not respond. Try again in a few seconds.")


class Stopping(RequestError):
    """The server is going down and takes no new work."""

    def __init__(self) -> None:
        super().__init__("The service is stopping. Try again in a few seconds.")


UNAVAILABLE_DETAIL = "The server that runs this model does not answer as it should. Try again in a few seconds."
MODEL_FAILED_DETAIL = "The model failed on these values. Check that they are plausible, and check the model."


def is_refusal(error: Exception) -> bool:
    """Whether it is the request, or the model, that cannot be answered: anything else went wrong on our side."""
    return isinstance(error, RequestError | ModelFailed | PredictorUnavailable)


def told(error: Exception) -> tuple[str, Sequence[FieldError]]:
    """An error in one sentence, and field by field."""
    if isinstance(error, RequestError):
        return error.detail, error.errors[:MOST_ERRORS]
    if isinstance(error, ModelFailed):
        return MODEL_FAILED_DETAIL, ()
    if isinstance(error, PredictorUnavailable):
        return UNAVAILABLE_DETAIL, ()
    return "The answer could not be completed. The server's log says more.", ()


def _offer(name: str, known: Iterable[str]) -> str:
    served = list(known)
    hint = closest(name, served)
    return f"{hint[:1].upper()}{hint[1:]} Available: {', '.join(served)}.".lstrip()
