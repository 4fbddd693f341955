"""ONNX Runtime: one session a model, one thread a session. Reads graphs as the exporters write them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from app.adapters.features import ModelFeature, placed
from app.adapters.runs import Runs
from app.core.budget import Interrupted
from app.core.favourable import Floats

NUMBERS = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}
TEXT = "tensor(string)"
SCORES = ("tensor(float)", "tensor(double)")
# What scikit-learn's and LightGBM's exporters write unless zipmap is off: a dictionary for each row.
MAPPED_SCORES = ("seq(map(int64,tensor(float)))", "seq(map(string,tensor(float)))")

# Where scores depend on how many rows are run together, it is always this many.
STEADY_BATCH = 64


class UnloadableGraph(Exception):
    """The file is not a graph that ONNX Runtime can load."""


class UnusableGraph(Exception):
    """The graph is not one that Flipset can serve: the field of `model.toml` it concerns, and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class ModelFailed(Exception):
    """The model broke down on rows that looked right. Its text says nothing of the rows.

    `reason` is what ONNX Runtime said, which may quote them: only for rows of our own making, when a model is loaded.
    """

    def __init__(self, what: str, reason: str = "") -> None:
        super().__init__(what)
        self.reason = reason or what


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


def open_session(content: bytes) -> onnxruntime.InferenceSession:
    """Load a graph."""
    options = onnxruntime.SessionOptions()
    # With more threads the scores of some models depend on the size of the batch.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # The runtime's own format is checked less than ONNX is.
    options.add_session_config_entry("session.load_model_format", "ONNX")
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001  # its errors have no common base
        raise UnloadableGraph(f"ONNX Runtime cannot load it: {plainly(str(error))}") from None


# What the runtime says of graphs that are not to be served, and what there is to say to their owners.
PLAIN_WORDS = {
    r"model_path must not be empty|xternal data": "its weights are in another file; "
    "export it with its weights inside the one file",
    r"Fatal error: (\S+?)\(-?\d+\) is not a registered function/op": "it uses the operator {0}, "
    "which is not one of the runtime's; custom operators are not served",
    r"No Op registered for (\S+)": "it uses the operator {0}, which the runtime does not have",
    r"No opset import for domain '(.*?)'": "it uses operators of the domain {0!r} that it does not declare",
    r"Failed to allocate memory|bad_alloc|bad allocation": "it needs more memory than it may take "
    "(FLIPSET_MODEL_MEMORY_MB)",
}


def plainly(text: str) -> str:
    """What ONNX Runtime said, in plain words where we know them."""
    for pattern, words in PLAIN_WORDS.items():
        if found := re.search(pattern, text):
            return words.format(*found.groups())
    return text.strip()


@dataclass(frozen=True, slots=True)
class _Feed:
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


class OnnxGraph:
    """A loaded graph: which columns go into which input, and which output holds the scores."""

    def __init__(
        self, content: bytes, features: Sequence[ModelFeature], tensor: str | None, classes: Sequence[str]
    ) -> None:
        self._classes = tuple(classes)
        self._session = open_session(content)
        inputs = [Offer.of(argument) for argument in self._session.get_inputs()]
        self._feeds = _feeds(inputs, features)
        self._batch = _fixed_batch(inputs)
        self._takes_any = self._batch is None
        self._output = _score_output([Offer.of(argument) for argument in self._session.get_outputs()], tensor)
        alone = self._feeds[0] if len(self._feeds) == 1 and not self._feeds[0].texts else None
        # One matrix is made in the graph's own type; what goes into several inputs is sorted out from float64.
        self.dtype = np.dtype(np.float64 if alone is None or alone.dtype is np.bool_ else alone.dtype)

    def dtype_of(self, column: int) -> np.dtype[Any]:
        """The type that the graph reads a column in."""
        feed = next(feed for feed in self._feeds if feed.columns.start <= column < feed.columns.stop)
        # Texts go in by their place, which any type can hold.
        return self.dtype if feed.texts else np.dtype(feed.dtype)

    def runs(self, rows: int) -> int:
        return 1 if self._batch is None else math.ceil(rows / self._batch)

    def run(self, rows: NDArray[Any], runs: Runs | None = None) -> Floats:
        """The scores of these rows, as a matrix with a row for each; `Interrupted` if the runs are ended before."""
        if self._batch is None:
            # A row alone may go another way through the matrices than a row among others, and differ in its last bits.
            return self._run(_padded(rows, max(len(rows), 2)), runs)[: len(rows)]
        parts = [rows[start : start + self._batch] for start in range(0, len(rows), self._batch)]
        return np.concatenate([self._run(_padded(part, self._batch), runs)[: len(part)] for part in parts])

    def settle_batch(self, rows: NDArray[Any]) -> None:
        """Find a way to run the graph in which the scores of a row do not depend on its neighbours.

        Any number of rows at a time, if that will do; else always the same number; else each row alone.
        """
        for batch in (None, STEADY_BATCH, 1) if self._takes_any else ():
            self._batch = batch
            if self._is_steady(rows):
                return

    def run_rows_alone(self) -> None:
        if self._takes_any:
            self._batch = 1

    def _is_steady(self, rows: NDArray[Any]) -> bool:
        together = self.run(rows)
        if self.run(rows[::-1].copy())[::-1].tobytes() != together.tobytes():
            return False
        sizes = (1, 2, 3, 7, 16, 61) if self._batch is None else (1, STEADY_BATCH - 1)
        for size in sizes:
            parts = [self.run(rows[start : start + size]) for start in range(0, len(rows), size)]
            if np.concatenate(parts).tobytes() != together.tobytes():
                return False
        return True

    def _run(self, rows: NDArray[Any], runs: Runs | None) -> Floats:
        options = None if runs is None else runs.options
        try:
            (scores,) = self._session.run(
                [self._output], {feed.name: feed.tensor(rows) for feed in self._feeds}, options
            )
        except Exception as error:  # noqa: BLE001  # its errors have no common base; their text may quote the rows
            if runs is not None and runs.are_ended:
                raise Interrupted from None
            raise ModelFailed(type(error).__name__, str(error)) from None
        matrix = _from_maps(scores, self._classes) if isinstance(scores, list) else np.asarray(scores)
        if matrix.ndim == 0 or len(matrix) != len(rows):
            raise ModelFailed("the graph does not give a score for each row")
        return matrix.reshape(len(rows), -1)


def _padded(rows: NDArray[Any], count: int) -> NDArray[Any]:
    """The last row again where rows are lacking."""
    return rows if len(rows) == count else np.concatenate([rows, np.repeat(rows[-1:], count - len(rows), axis=0)])


def _from_maps(scores: list[dict[Any, float]], classes: tuple[str, ...]) -> Floats:
    """Dictionaries by class: by its name; or, where the graph only numbers the classes, in the order of the numbers."""
    by_name = {str(key): key for key in scores[0]}
    if set(by_name) == set(classes):
        keys = [by_name[name] for name in classes]
    elif any(isinstance(key, str) for key in scores[0]):
        raise UnusableGraph("output.classes", f"the graph names its classes {', '.join(sorted(by_name))}")
    else:
        keys = sorted(scores[0])
    return np.array([[row[key] for key in keys] for row in scores], dtype=np.float32)


def _fixed_batch(inputs: Sequence[Offer]) -> int | None:
    sizes = {offer.shape[0] for offer in inputs if offer.shape}
    if len(sizes) > 1:
        raise UnusableGraph("features", "the graph's inputs have different batch sizes")
    return next(iter(sizes), None)


def _feeds(inputs: Sequence[Offer], features: Sequence[ModelFeature]) -> tuple[_Feed, ...]:
    """Sort the columns into the inputs: by name where every input is called like a feature, else in order."""
    places = placed(features)
    by_name = {feature.name: columns for feature, columns in zip(features, places, strict=True)}
    total = sum(feature.width for feature in features)
    by_order = {feature.name: position for position, feature in enumerate(features)}
    if len(inputs) > 1 and {offer.name for offer in inputs} == set(by_name):
        spans = [slice(by_name[offer.name][0], by_name[offer.name][-1] + 1) for offer in inputs]
    else:
        for position, offer in enumerate(inputs):
            if len(inputs) > 1 and by_order.get(offer.name, position) != position:
                reason = f"only some features are called like the graph's inputs, and {offer.name!r} stands elsewhere"
                raise UnusableGraph("features", f"{reason}: the inputs are {_described(inputs)}")
        spans = _in_order(inputs, total)
    return tuple(_feed(offer, span, features, places) for offer, span in zip(inputs, spans, strict=True))


def _in_order(inputs: Sequence[Offer], total: int) -> list[slice]:
    if any(len(offer.shape) not in (1, 2) for offer in inputs):
        raise UnusableGraph("features", f"the graph reads {_described(inputs)}; needed are tables: [rows, columns]")
    widths = [offer.shape[1] if len(offer.shape) == 2 else 1 for offer in inputs]
    if len(inputs) == 1 and widths[0] is None:
        widths = [total]
    if None in widths or sum(width or 0 for width in widths) != total:
        wanted = "an unknown number of" if None in widths else sum(width or 0 for width in widths)
        raise UnusableGraph("features", f"the graph reads {wanted} columns ({_described(inputs)}), {total} are named")
    starts = np.cumsum([0, *widths])
    return [slice(int(start), int(stop)) for start, stop in pairwise(starts)]


def _feed(offer: Offer, span: slice, features: Sequence[ModelFeature], places: Sequence[tuple[int, ...]]) -> _Feed:
    inside = [
        (place, feature)
        for place, feature in enumerate(features)
        if places[place][0] >= span.start and places[place][-1] < span.stop
    ]
    flat = len(offer.shape) == 1
    if offer.type == TEXT:
        for place, feature in inside:
            if not feature.texts or feature.sees_missing:
                reason = f"the graph reads text in input {offer.name!r}: needed is a category of texts, never missing"
                raise UnusableGraph(f"features[{place}]", reason)
        texts = tuple(np.array(feature.texts, dtype=object) for _, feature in inside)
        return _Feed(offer.name, span, object, flat, texts)
    if offer.type not in NUMBERS:
        known = ", ".join((*NUMBERS, TEXT))
        raise UnusableGraph("features", f"the graph reads {offer.type} in input {offer.name!r}; known are {known}")
    for place, feature in inside:
        if feature.texts:
            reason = f"the graph reads numbers in input {offer.name!r}: give codes, or one_hot = true"
            raise UnusableGraph(f"features[{place}]", reason)
        if feature.sees_missing and offer.type not in SCORES:
            raise UnusableGraph(f"features[{place}].takes_missing", f"the graph reads {offer.type}, which has no NaN")
    return _Feed(offer.name, span, NUMBERS[offer.type], flat)


def _described(inputs: Sequence[Offer]) -> str:
    return ", ".join(f"{offer.name} {offer.type} {[side or 'any' for side in offer.shape]}" for offer in inputs)


def _score_output(outputs: Sequence[Offer], tensor: str | None) -> str:
    usable = [offer.name for offer in outputs if offer.type in (*SCORES, *MAPPED_SCORES)]
    if tensor is None and len(usable) == 1:
        return usable[0]
    if tensor is not None and tensor in usable:
        return tensor
    offer = ", ".join(usable) or "no tensor of floating-point numbers"
    what = "say which output holds the scores" if tensor is None else f"the graph has no output {tensor!r}"
    raise UnusableGraph("output.tensor", f"{what}; it offers {offer}")
