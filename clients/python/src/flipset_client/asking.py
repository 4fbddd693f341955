"""What can be asked of the service: every method of a client, as data. Nothing here sends anything."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, Literal, ParamSpec, TypeVar, cast
from urllib.parse import quote, urlencode

from flipset_client.lines import Json, Value
from flipset_client.reading import read
from flipset_client.served import (
    Erasure,
    Example,
    FeedbackKept,
    ModelDetails,
    ModelListing,
    Reasons,
    Receipt,
    RecordDetails,
    RecordList,
    RegistryDetails,
    ReplayResult,
    SeveralPredictions,
    SinglePrediction,
    Subsets,
)

T = TypeVar("T")
P = ParamSpec("P")
Instance = Mapping[str, Value]
Context = Mapping[str, "str | float | bool"]


class _Default(Enum):
    DEFAULT = "the model's own"


# Where None means something else, as it does for `registry`.
DEFAULT: Final = _Default.DEFAULT


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request that is answered in one piece: where it goes, what it says, and how its answer is read."""

    path: str
    read: Callable[[object], T]
    body: Mapping[str, Json] | None = None
    # POST if there is a body, otherwise GET, unless this says something else.
    method: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A person and what an answer must satisfy, for one model."""

    model: str
    body: Mapping[str, Json]

    @property
    def path(self) -> str:
        return _path("v1/models", self.model, "counterfactuals")


def models() -> Call[tuple[ModelListing, ...]]:
    """The models that you may use."""
    return Call("v1/models", lambda content: _each(ModelListing, content, "models"))


def model(name: str) -> Call[ModelDetails]:
    """One model: features, units, ranges, classes, versions."""
    return Call(_path("v1/models", name), lambda content: read(ModelDetails, content))


def examples(model: str) -> Call[tuple[Example, ...]]:
    """Example requests that come with a model: `flipset.counterfactuals(model, example)`."""
    return Call(_path("v1/models", model, "examples"), lambda content: _each(Example, content, "examples"))


def normal_ranges(registry: str) -> Call[RegistryDetails]:
    """One registry of normal ranges."""
    return Call(_path("v1/normal-ranges", registry), lambda content: read(RegistryDetails, content))


def prediction(
    model: str, instance: Instance, *, context: Context | None = None, target: Mapping[str, Json] | None = None
) -> Call[SinglePrediction]:
    """What the model says of one instance."""
    body = _given({}, instance=instance, context=context, target=target)
    return Call(_path("v1/models", model, "predictions"), lambda content: read(SinglePrediction, content), body)


def predictions(
    model: str,
    instances: Sequence[Instance],
    *,
    context: Context | None = None,
    target: Mapping[str, Json] | None = None,
) -> Call[SeveralPredictions]:
    """What the model says of several instances, in their order."""
    body = _given({}, instances=instances, context=context, target=target)
    return Call(_path("v1/models", model, "predictions"), lambda content: read(SeveralPredictions, content), body)


def question(  # noqa: PLR0913  # one keyword for each thing that can be asked for
    model: str,
    instance: Instance | Example,
    *,
    context: Context | None = None,
    registry: str | Literal[_Default.DEFAULT] | None = DEFAULT,
    target: Mapping[str, Json] | None = None,
    normal_ranges: Mapping[str, Mapping[str, Json]] | None = None,
    guide: Instance | None = None,
    weights: Mapping[str, float] | None = None,
    constraints: Mapping[str, Json] | None = None,
    immutable: Sequence[str] | None = None,
    directions: Mapping[str, str] | None = None,
    max_step: Mapping[str, float] | None = None,
    causal: Sequence[Mapping[str, Json]] | None = None,
    correlated: Sequence[Sequence[str]] | None = None,
    exclusive: Sequence[Sequence[str]] | None = None,
    required: Sequence[str] | None = None,
    max_changes: int | None = None,
    formulas: Sequence[str] | None = None,
    relations: Sequence[str] | None = None,
    robustness: Mapping[str, Json] | None = None,
    least: bool | None = None,
    record: Mapping[str, str | None] | None = None,
    limits: Mapping[str, Json] | None = None,
    engine: str | None = None,
    max_counterfactuals: int | None = None,
    deadline_ms: int | None = None,
    max_model_rows: int | None = None,
    **more: Json,
) -> Question:
    """Ask for every minimal set of changes that turns the decision about `instance`, or about the one of an example.

    Constraints and limits are keywords of their own, or keys of `constraints` and `limits`; a keyword wins. `registry`
    is the model's own unless you name another; None means no ranges. `record={"subject": ...}` keeps a record, with the
    id `start.record`. Any other keyword becomes a key of the request. docs/http.md says what each means.
    """
    known = {**(instance.request if isinstance(instance, Example) else {}), **more}
    rules = _given(
        _inside(known, "constraints") if constraints is None else constraints,
        immutable=immutable,
        directions=directions,
        max_step=max_step,
        causal=causal,
        correlated=correlated,
        exclusive=exclusive,
        required=required,
        max_changes=max_changes,
        formulas=formulas,
        relations=relations,
    )
    costs = _given(
        _inside(known, "limits") if limits is None else limits,
        engine=engine,
        max_counterfactuals=max_counterfactuals,
        deadline_ms=deadline_ms,
        max_model_rows=max_model_rows,
    )
    asked = _given(
        known,
        instance=None if isinstance(instance, Example) else instance,
        context=context,
        target=target,
        normal_ranges=normal_ranges,
        guide=guide,
        weights=weights,
        constraints=None if constraints is None and not rules else rules,
        robustness=robustness,
        least=least,
        record=record,
        limits=None if limits is None and not costs else costs,
    )
    return Question(model, asked if registry is DEFAULT else {**asked, "registry": registry})


def subsets(question: Question) -> Call[Subsets]:
    """All subsets of at most 10 movable features, with the model's score of each."""
    path = _path("v1/models", question.model, "subsets")
    return Call(path, lambda content: read(Subsets, content), question.body)


def reasons(question: Question) -> Call[Reasons]:
    """What the decision rests on: at most four reasons. Constraints are set aside."""
    path = _path("v1/models", question.model, "reasons")
    return Call(path, lambda content: read(Reasons, content), question.body)


def record(record: str) -> Call[RecordDetails]:
    """One record, by the id in `start.record`. It is there a moment after the last line of its answer."""
    return Call(_path("v1/records", record), lambda content: read(RecordDetails, content))


def records(subject: str, *, after: int | None = None) -> Call[RecordList]:
    """The records of a subject, the oldest first, 100 at a time: `after` is the one of the last list."""
    query = {"subject": subject} if after is None else {"subject": subject, "after": str(after)}
    return Call(f"v1/records?{urlencode(query)}", lambda content: read(RecordList, content))


def receipt(record: str) -> Call[Receipt]:
    """A signed receipt of one record: `flipset verify` checks it without the service."""
    return Call(_path("v1/records", record, "receipt"), lambda content: read(Receipt, content))


def replay(record: str) -> Call[ReplayResult]:
    """Ask a recorded question again, and compare the answers. `Erased` if the question is no longer known."""
    return Call(_path("v1/records", record, "replay"), lambda content: read(ReplayResult, content), method="POST")


def feedback(record: str, *, plan: int, outcome: str, reason: str | None = None) -> Call[FeedbackKept]:
    """Say what became of the plan of this rank: accepted, declined (with a reason), tried, achieved or failed."""
    body = _given({}, plan=plan, outcome=outcome, reason=reason)
    return Call(_path("v1/records", record, "feedback"), lambda content: read(FeedbackKept, content), body)


def erase(subject: str) -> Call[Erasure]:
    """Erase what is personal in all records of a subject."""
    return Call(_path("v1/subjects", subject), lambda content: read(Erasure, content), method="DELETE")


def posed(build: Callable[P, Question], then: Callable[[Question], T]) -> Callable[P, T]:
    """What is asked with the arguments of a question."""

    def asked(*arguments: P.args, **named: P.kwargs) -> T:
        return then(build(*arguments, **named))

    asked.__doc__ = then.__doc__
    return asked


def encoded(body: Mapping[str, Json]) -> bytes:
    """The body of a request. A scalar of NumPy is written as what it is, a row of a pandas frame as an object."""
    return json.dumps(body, default=_plain).encode()


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    # A scalar of NumPy has no dimension, a Series of pandas has one, and a frame, which is no row, has two.
    method = {0: "item", 1: "to_dict"}.get(getattr(value, "ndim", -1), "")
    if callable(plain := getattr(value, method, None)):
        return plain()
    raise TypeError(f"a request cannot hold a {type(value).__name__}")


def _given(known: Mapping[str, Json], **entries: object) -> dict[str, Json]:
    return {**known, **{name: cast("Json", entry) for name, entry in entries.items() if entry is not None}}


def _inside(known: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    return cast("Mapping[str, Json]", known.get(name) or {})


def _each(kind: type[T], content: object, key: str) -> tuple[T, ...]:
    if not isinstance(content, dict) or not isinstance(content.get(key), list):
        raise ValueError(f"there is no list of {key}")
    return tuple([read(kind, entry) for entry in content[key]])


def _path(*parts: str) -> str:
    first, *names = parts
    return "/".join([first, *(quote(name, safe="") for name in names)])
