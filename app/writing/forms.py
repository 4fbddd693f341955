"""The forms that an answer comes in, and the choice between them by the header Accept."""

from functools import lru_cache
from typing import Protocol

from app.asking.refusals import NotAcceptable


class Form(Protocol):
    """Frames the lines of one answer: a line is of a kind, such as `start`, and its text is a JSON object."""

    media_type: str

    def frame(self, kind: str, text: str) -> str:
        """The line as it is sent."""
        ...


class JsonLines:
    """One object a line."""

    def __init__(self, media_type: str = "application/x-ndjson") -> None:
        self.media_type = media_type

    def frame(self, kind: str, text: str) -> str:
        return f"{text}\n"


class EventStream:
    """Server-sent events: the same objects, named by their type."""

    media_type = "text/event-stream"

    def frame(self, kind: str, text: str) -> str:
        return f"event: {kind}\ndata: {text}\n\n"


class OneObject:
    """One JSON object that is written piece by piece."""

    media_type = "application/json"

    def __init__(self) -> None:
        self._separator = ""

    def frame(self, kind: str, text: str) -> str:
        match kind:
            case "start":
                return f'{{"start":{text},"counterfactuals":['
            case "counterfactual":
                separator, self._separator = self._separator, ","
                return f"{separator}{text}"
            case "progress":
                # There is no place for it, but white space between two answers shows that the search goes on.
                return "\n"
        return f'],"{kind}":{text}}}\n'


# In the order of preference: what a client gets that accepts anything comes first.
MEDIA_TYPES = ("application/x-ndjson", "application/jsonl", "text/event-stream", "application/json")
# A resource of FHIR in one piece, which is no form of lines.
FHIR = "application/fhir+json"
OFFERED = (*MEDIA_TYPES, FHIR)


def wants_fhir(accept: str) -> bool:
    """Whether the client likes a resource of FHIR best."""
    return _liked_best(accept or "*/*") == FHIR


def choose_form(accept: str | None) -> Form:
    """The form that the client likes best, or `NotAcceptable`."""
    media_type = _liked_best(accept or "*/*")
    if media_type == EventStream.media_type:
        return EventStream()
    if media_type == OneObject.media_type:
        return OneObject()
    return JsonLines(media_type)


@lru_cache(maxsize=64)
def _liked_best(accept: str) -> str:
    """Clients of a kind all send the same header."""
    ranges = [parsed_range(part) for part in accept.split(",")]
    liked = [(_liking(media_type, ranges), -place, media_type) for place, media_type in enumerate(OFFERED)]
    (quality, _), _, media_type = max(liked)
    if quality == 0:
        raise NotAcceptable(OFFERED)
    return media_type


def parsed_range(part: str) -> tuple[str, float]:
    """One of the things that a client accepts, and how much it likes it."""
    media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return media_range, min(max(float(value), 0.0), 1.0)
            except ValueError:
                return media_range, 0.0
    return media_range, 1.0


def _liking(media_type: str, ranges: list[tuple[str, float]]) -> tuple[float, int]:
    """The quality of the most specific range that covers the type, and how specific that is."""
    covering = {media_type: 2, f"{media_type.split('/', maxsplit=1)[0]}/*": 1, "*/*": 0}
    matches = [(covering[name], quality) for name, quality in ranges if name in covering]
    if not matches:
        return 0.0, 0
    specificity, quality = max(matches)
    return quality, specificity
