"""A small ReLU network in plain arrays, with the gradient of its score: what the methods that go downhill need."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float64]
Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Layer:
    """`rows @ weights + biases`."""

    weights: Rows
    biases: Row


@dataclass(frozen=True)
class Network:
    """Two classes, one output: the favourable class's score is its logistic function, and 0.5 the border."""

    layers: Sequence[Layer]

    def scores(self, rows: Rows) -> Row:
        """The score of the favourable class for each row."""
        return _logistic(self._passed(rows)[-1][:, 0])

    def favourable(self, rows: Rows) -> NDArray[np.bool_]:
        return self._passed(rows)[-1][:, 0] > 0

    def slopes(self, rows: Rows) -> tuple[Row, Rows]:
        """The scores, and how each changes with each feature of its row."""
        outputs = self._passed(rows)
        scores = _logistic(outputs[-1][:, 0])
        slopes: Rows = (scores * (1 - scores))[:, np.newaxis]
        for layer, below in zip(reversed(self.layers), [*reversed(outputs[:-1]), None], strict=True):
            slopes = slopes @ layer.weights.T
            if below is not None:
                slopes = slopes * (below > 0)
        return scores, slopes

    def _passed(self, rows: Rows) -> list[Rows]:
        """What comes out of each layer, before the next one cuts it off at nought."""
        outputs = []
        for layer in self.layers:
            outputs.append(rows @ layer.weights + layer.biases)
            rows = np.maximum(outputs[-1], 0)
        return outputs


def _logistic(logits: Row) -> Row:
    # The two halves never overflow, whatever the logit.
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1, small) / (1 + small)
