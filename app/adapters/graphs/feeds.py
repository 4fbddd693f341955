"""The inputs of a graph, and which columns of a row go into which of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.adapters.graphs.features import ModelFeature, placed

NUMBERS = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}
TEXT = "tensor(string)"
SCORES = ("tensor(float)", "tensor(double)")


class UnusableGraph(Exception):
    """Flipset cannot serve this graph: the field of `model.toml` that it concerns, and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Offer:
    """An input or an output of a graph: its name, its type, and its shape (None where a side is free)."""

    name: str
    type: str
    shape: tuple[int | None, ...]

    @classmethod
    def of(cls, argument: Any) -> "Offer":
        shape = argument.shape if isinstance(argument.shape, list) else []
        return cls(argument.name, argument.type, tuple(side if isinstance(side, int) else None for side in shape))


@dataclass(frozen=True, slots=True)
class Feed:
    """One input of the graph, and the columns of a row that go into it."""

    name: str
    columns: slice
    dtype: Any
    flat: bool
    texts: tuple[NDArray[np.object_], ...] = ()

    def tensor(self, rows: NDArray[Any]) -> NDArray[Any]:
        part = rows[:, self.columns]
        if self.texts:
            part = np.column_stack([texts[part[:, place].astype(np.intp)] for place, texts in enumerate(self.texts)])
        elif part.dtype != self.dtype:
            part = part.astype(self.dtype)
        return part[:, 0] if self.flat else np.ascontiguousarray(part)


def fixed_batch(inputs: Sequence[Offer]) -> int | None:
    sizes = {offer.shape[0] for offer in inputs if offer.shape}
    if len(sizes) > 1:
        raise UnusableGraph("features", "the graph's inputs have different batch sizes")
    return next(iter(sizes), None)


def feeds_of(inputs: Sequence[Offer], features: Sequence[ModelFeature]) -> tuple[Feed, ...]:
    """Assign the columns to the inputs: by name if every input has the name of a feature, otherwise in order."""
    places = placed(features)
    by_name = {feature.name: columns for feature, columns in zip(features, places, strict=True)}
    total = sum(feature.width for feature in features)
    if len(inputs) > 1 and {offer.name for offer in inputs} == set(by_name):
        spans = [slice(by_name[offer.name][0], by_name[offer.name][-1] + 1) for offer in inputs]
    else:
        spans = _in_order(inputs, total)
        for offer, span in zip(inputs, spans, strict=True):
            # A one-hot group may take several inputs, so that it is the columns that have to be in order.
            if len(inputs) > 1 and by_name.get(offer.name, (span.start,))[0] != span.start:
                reason = f"only some features have the names of the graph's inputs, and {offer.name!r} is out of order"
                raise UnusableGraph("features", f"{reason}: the inputs are {_described(inputs)}")
    return tuple(_feed(offer, span, features, places) for offer, span in zip(inputs, spans, strict=True))


def _in_order(inputs: Sequence[Offer], total: int) -> list[slice]:
    if any(len(offer.shape) not in (1, 2) for offer in inputs):
        raise UnusableGraph(
            "features", f"the graph reads {_described(inputs)}; its inputs must be tables: [rows, columns]"
        )
    widths = [offer.shape[1] if len(offer.shape) == 2 else 1 for offer in inputs]
    if len(inputs) == 1 and widths[0] is None:
        widths = [total]
    if None in widths or sum(width or 0 for width in widths) != total:
        wanted = "an unknown number of" if None in widths else sum(width or 0 for width in widths)
        raise UnusableGraph(
            "features", f"the graph reads {wanted} columns ({_described(inputs)}), but the features take {total}"
        )
    starts = np.cumsum([0, *widths])
    return [slice(int(start), int(stop)) for start, stop in pairwise(starts)]


def _feed(offer: Offer, span: slice, features: Sequence[ModelFeature], places: Sequence[tuple[int, ...]]) -> Feed:
    inside = [
        (place, feature)
        for place, feature in enumerate(features)
        if places[place][0] < span.stop and places[place][-1] >= span.start
    ]
    flat = len(offer.shape) == 1
    if offer.type == TEXT:
        for place, feature in inside:
            if not feature.texts or feature.sees_missing:
                reason = f"the graph reads text in input {offer.name!r}: use a category of texts that is never missing"
                raise UnusableGraph(f"features[{place}]", reason)
        texts = tuple(np.array(feature.texts, dtype=object) for _, feature in inside)
        return Feed(offer.name, span, object, flat, texts)
    if offer.type not in NUMBERS:
        known = ", ".join((*NUMBERS, TEXT))
        raise UnusableGraph(
            "features", f"the graph reads {offer.type} in input {offer.name!r}; Flipset supports {known}"
        )
    for place, feature in inside:
        if feature.texts:
            reason = f"the graph reads numbers in input {offer.name!r}: give codes, or one_hot = true"
            raise UnusableGraph(f"features[{place}]", reason)
        if feature.sees_missing and offer.type not in SCORES:
            raise UnusableGraph(f"features[{place}].takes_missing", f"the graph reads {offer.type}, which has no NaN")
    return Feed(offer.name, span, NUMBERS[offer.type], flat)


def _described(inputs: Sequence[Offer]) -> str:
    return ", ".join(f"{offer.name} {offer.type} {[side or 'any' for side in offer.shape]}" for offer in inputs)
