"""From a fitted scikit-learn model to the files under `models/`."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.base import ClassifierMixin

PROJECT = Path(__file__).resolve().parents[2]
MODELS = PROJECT / "models"
FIGURES_HEADER = "[training.figures]\n"

# Fixed, so that a newer converter does not silently write a newer file.
OPSETS = {"": 18, "ai.onnx.ml": 3}


def write_model(name: str, model: ClassifierMixin, width: int) -> None:
    """Write `models/<name>/model.onnx`."""
    (MODELS / name / "model.onnx").write_bytes(graph_of(name, model, width))


def graph_of(name: str, model: ClassifierMixin, width: int) -> bytes:
    """Convert a model to ONNX: one float32 input, plain label and probability outputs."""
    graph = to_onnx(
        model,
        name=name,
        initial_types=[("features", FloatTensorType([None, width]))],
        options={"zipmap": False},
        target_opset=OPSETS,
    )
    # The converter lists the operator sets in an order that changes from run to run.
    graph.opset_import.sort(key=lambda opset: opset.domain)
    return bytes(graph.SerializeToString(deterministic=True))


def record(name: str, figures: Mapping[str, int | float]) -> None:
    """Print the figures, and rewrite the sha256 line and the figures at the end of `model.toml`."""
    lines = [f"{key} = {round(value, 4)}\n" for key, value in figures.items()]
    print("".join(lines), end="")
    description = MODELS / name / "model.toml"
    digest = hashlib.sha256((MODELS / name / "model.onnx").read_bytes()).hexdigest()
    above, header, _ = description.read_text("utf-8").partition(FIGURES_HEADER)
    above = re.sub(r'^sha256 = ".*"$', f'sha256 = "{digest}"', above, count=1, flags=re.MULTILINE)
    description.write_text(above + header + "".join(lines), "utf-8")
