"""A model that lives elsewhere, in the place of a graph: rows go out, scores come back."""

import json
import logging
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.feeds import SCORES, Offer, UnusableGraph, feeds_of, fixed_batch
from app.adapters.graphs.onnx import STEADY_BATCH, ModelFailed, UnloadableGraph, padded
from app.adapters.graphs.runs import Runs
from app.adapters.graphs.scorer import are_shares
from app.adapters.predictors.connection import Call, Connection, Reply
from app.adapters.predictors.entry import PredictorEntry
from app.adapters.predictors.failures import PredictorUnavailable, UntrustedReply
from app.adapters.predictors.tensors import Scores, as_body, offer_of, offers_of, scores_of
from app.core.favourable import Floats

logger = logging.getLogger("app.adapters.predictors")

BINARY = "binary_tensor_data"
# What a server says of rows that the model does not take.
ROWS_REFUSED = frozenset((400, 422))
# A call may take so long beyond what one row takes: it can be cancelled, so the search need not check its clock.
BATCH_SECONDS = 0.25
WHY_OPAQUE = "the model lives elsewhere, and its predictor shows nothing but scores"


class Predictor:
    """Stands where a graph does. Scores come only from replies that fit the question; all else is an error."""

    def __init__(
        self, entry: PredictorEntry, url: str, folder: Path, features: Sequence[ModelFeature], tensor: str | None
    ) -> None:
        self._entry = entry
        self._name = folder.name
        self._path = entry.path(folder)
        self._connection = Connection(entry, url, folder)
        described = self._described()
        inputs = self._inputs(described, features)
        self._binary = self._takes_bytes()
        self._check_missing(features)
        self.feeds = feeds_of(inputs, features)
        self.inputs = tuple(offer.name for offer in inputs)
        self.output = _output(described, tensor)
        self._most = entry.batch
        self._batch = self._fixed = fixed_batch(inputs)
        self._version = entry.version
        # Columns and type of the scores, as they were when it was tried.
        self._kind: tuple[int, np.dtype[Any]] | None = None
        # Whether the scores of each row added up to 1 then.
        self._has_shares = False
        alone = self.feeds[0] if len(self.feeds) == 1 and not self.feeds[0].texts else None
        self.dtype = np.dtype(np.float64 if alone is None or alone.dtype is np.bool_ else alone.dtype)

    def dtype_of(self, column: int) -> np.dtype[Any]:
        """The type that the predictor reads a column in."""
        feed = next(feed for feed in self.feeds if feed.columns.start <= column < feed.columns.stop)
        return self.dtype if feed.texts else np.dtype(feed.dtype)

    def runs(self, rows: int) -> int:
        return math.ceil(rows / (self._batch or self._most))

    def run(self, rows: NDArray[Any], runs: Runs | None = None) -> Floats:
        """The scores of these rows; `PredictorUnavailable`, `ModelFailed` or `Interrupted` where there are none."""
        size = self._batch or self._most
        parts = [rows[start : start + size] for start in range(0, len(rows), size)]
        sent = parts if self._batch is None else [padded(part, size) for part in parts]
        calls = [
            Call(f"{self._path}/infer", as_body(self.feeds, part, self.output, self._binary), len(part))
            for part in sent
        ]
        try:
            replies = self._connection.all(calls, runs)
            scores = [self._scores(reply, call.rows) for reply, call in zip(replies, calls, strict=True)]
        except PredictorUnavailable as error:
            logger.warning("The predictor of %s %s", self._name, error)
            raise
        return np.concatenate([each.matrix[: len(part)] for each, part in zip(scores, parts, strict=True)])

    def labels(self, rows: NDArray[Any]) -> list[str]:
        """None: only scores are asked for."""
        return []

    def settle_batch(self, rows: NDArray[Any]) -> None:
        """Find a way to ask in which the scores of a row do not depend on its neighbours.

        Any number of rows at a time, if that will do; else always the same number; else each row alone.
        """
        for batch in (None, min(STEADY_BATCH, self._most), 1) if self._fixed is None else ():
            self._batch = batch
            if self._is_steady(rows):
                break
        self._has_shares = are_shares(self.run(rows))

    def run_rows_alone(self) -> None:
        if self._fixed is None:
            self._batch = 1

    def batch_rows(self, seconds: Callable[[int], float]) -> int:
        """The rows that the search asks about together: as many calls at a time as there may be."""
        most = self._entry.in_flight * (self._batch or self._most)
        rows, one = 1, seconds(1)
        while 4 * rows <= most and 4 * (seconds(rows) - one) <= BATCH_SECONDS:
            rows *= 4
        return rows

    def prompt_rows(self, seconds: Callable[[int], float]) -> int:
        """None: nobody else should wait for another server."""
        return 0

    def rows_together(self) -> int:
        """So many rows cost little more than one: most of it is the way there and back."""
        return self._batch or self._most

    def _is_steady(self, rows: NDArray[Any]) -> bool:
        together = self.run(rows)
        if self.run(rows[::-1].copy())[::-1].tobytes() != together.tobytes():
            return False
        for size, until in ((1, 8), (7, 70), (61, len(rows))):
            parts = [self.run(rows[start : min(start + size, until)]) for start in range(0, until, size)]
            if np.concatenate(parts).tobytes() != together[:until].tobytes():
                return False
        return True

    def _scores(self, reply: Reply, rows: int) -> Scores:
        if reply.status in ROWS_REFUSED:
            raise ModelFailed(f"the predictor refused the rows with status {reply.status}")
        if reply.status != 200:
            raise PredictorUnavailable(f"answered with status {reply.status}")
        try:
            scores = scores_of(reply.content, reply.headers, rows, self.output)
        except UntrustedReply as error:
            raise PredictorUnavailable(f"cannot be trusted: its reply {error}") from None
        self._version = self._version or scores.version
        if scores.version not in (None, self._version):
            # Rows of two versions must never meet in one answer, and no trial has seen the other one.
            raise PredictorUnavailable("serves another version than the one that was tried; reload to serve that")
        kind = (scores.matrix.shape[1], scores.matrix.dtype)
        self._kind = self._kind or kind
        if kind != self._kind:
            # One score for two classes would be read as that of the second.
            raise PredictorUnavailable("gives scores of another shape or type than when it was tried; reload to try it")
        if self._has_shares and not are_shares(scores.matrix[~np.isnan(scores.matrix).any(axis=1)]):
            raise PredictorUnavailable("gives scores that are no probabilities any more; reload to try it")
        return scores

    def _described(self) -> dict[str, Any]:
        """What the server says of the model; nothing where it says nothing that helps."""
        reply = self._connection.get(self._path)
        if reply.status == 404:
            raise UnusableGraph("predictor.model", f"the predictor has no {self._path.removeprefix('/v2/')}")
        if reply.status in (401, 403):
            raise UnusableGraph("predictor.key_file", f"the predictor does not accept it: status {reply.status}")
        if reply.status != 200:
            raise PredictorUnavailable(f"answered with status {reply.status}")
        return _object(reply)

    def _inputs(self, described: dict[str, Any], features: Sequence[ModelFeature]) -> list[Offer]:
        offers = offers_of(described, "inputs")
        entry, width = self._entry, sum(feature.width for feature in features)
        if entry.input is not None:
            return [offer_of({"name": entry.input, "datatype": entry.datatype, "shape": [-1, width]})]
        if not offers:
            raise UnusableGraph("predictor.input", "the predictor does not describe its inputs: give the tensor's name")
        return offers

    def _takes_bytes(self) -> bool:
        if self._entry.tensors != "auto":
            return self._entry.tensors == "binary"
        extensions = _object(self._connection.get("/v2")).get("extensions")
        return isinstance(extensions, list) and BINARY in extensions

    def _check_missing(self, features: Sequence[ModelFeature]) -> None:
        lacking = [place for place, feature in enumerate(features) if feature.sees_missing]
        if lacking and not self._binary:
            reason = "the predictor takes tensors in JSON only, which has no NaN; give a default"
            raise UnusableGraph(f"features[{lacking[0]}].takes_missing", reason)


def _output(described: dict[str, Any], tensor: str | None) -> str | None:
    """The output that holds the scores, as far as the server describes its outputs."""
    usable = [offer.name for offer in offers_of(described, "outputs") if offer.type in SCORES]
    if not usable or tensor in usable:
        return tensor
    if tensor is None and len(usable) == 1:
        return usable[0]
    what = "say which output holds the scores" if tensor is None else f"the predictor has no output {tensor!r}"
    raise UnusableGraph("output.tensor", f"{what}; it offers {', '.join(usable)}")


def _object(reply: Reply) -> dict[str, Any]:
    try:
        found = json.loads(reply.content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UnloadableGraph("the predictor does not speak the Open Inference Protocol, version 2")
    return found
