"""A model file asked through ONNX Runtime alone, without any code of the service."""

from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray


class RowJudge:
    """A model of two classes, one score each; favourable where the second wins. One thread, like the service."""

    def __init__(self, file: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        self._input = self._session.get_inputs()[0].name
        # A graph may also offer the label, which is no score.
        self._output = next(offer.name for offer in self._session.get_outputs() if offer.type == "tensor(float)")

    def __call__(self, row: NDArray[np.float32]) -> bool:
        """Judge one row."""
        scores = self.scores(row[np.newaxis])
        return bool(scores[0, 1] > scores[0, 0])

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Score rows together, in one call."""
        (scores,) = self._session.run([self._output], {self._input: rows})
        found: NDArray[np.float32] = scores
        return found
