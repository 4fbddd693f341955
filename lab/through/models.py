"""Models of breast cancer data, as their libraries export them, in the folders that the service reads."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import onnxmltools
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

KINDS = ("logistic", "xgboost", "lightgbm", "forest")


class Data:
    """Rows of float32 values, and which of them are benign."""

    def __init__(self, rows: np.ndarray, favourable: np.ndarray, names: list[str]) -> None:
        self.rows = rows.astype(np.float32)
        self.favourable = favourable
        self.names = names

    @property
    def guide(self) -> dict[str, float]:
        """The medians of those who are well."""
        medians = np.median(self.rows[self.favourable == 1], axis=0)
        return dict(zip(self.names, map(float, medians), strict=True))


def breast_cancer() -> Data:
    data = load_breast_cancer()
    return Data(data.data, data.target, [name.replace(" ", "_") for name in data.feature_names])


def serve(folder: Path, data: Data, kinds: tuple[str, ...] = KINDS) -> None:
    """Train the models, and write them where a service finds them."""
    for kind in kinds:
        write(folder / kind, data, TRAINED[kind](data))


def write(place: Path, data: Data, content: bytes) -> None:
    """A model in a folder of its own, described."""
    place.mkdir(parents=True)
    (place / "model.onnx").write_bytes(content)
    features = "\n".join(f'[[features]]\nname = "{name}"' for name in data.names)
    (place / "model.toml").write_text(
        f'title = "{place.name}"\nversion = "1"\n[output]\nkind = "classification"\ntensor = "probabilities"\n'
        f'classes = ["ill", "well"]\nfavourable = ["well"]\n{features}\n'
    )


def _logistic(data: Data) -> bytes:
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2_000)).fit(data.rows, data.favourable)
    return _by_skl2onnx(model, data)


def _forest(data: Data) -> bytes:
    model = RandomForestClassifier(200, random_state=0).fit(data.rows, data.favourable)
    return _by_skl2onnx(model, data)


def network(data: Data) -> bytes:
    """Two hidden layers of 64 units."""
    layers = MLPClassifier((64, 64), random_state=0, max_iter=300)
    return _by_skl2onnx(make_pipeline(StandardScaler(), layers).fit(data.rows, data.favourable), data)


def _by_skl2onnx(model: Any, data: Data) -> bytes:
    graph = to_onnx(model, data.rows[:1], options={id(model): {"zipmap": False}})
    return bytes(graph.SerializeToString())


def _xgboost(data: Data) -> bytes:
    model = xgboost.XGBClassifier(n_estimators=200, max_depth=4, learning_rate=0.1, random_state=0)
    model.fit(data.rows, data.favourable)
    graph = onnxmltools.convert_xgboost(
        model, initial_types=[("features", FloatTensorType([None, data.rows.shape[1]]))]
    )
    return bytes(graph.SerializeToString())


def _lightgbm(data: Data) -> bytes:
    model = lightgbm.LGBMClassifier(n_estimators=300, random_state=0, verbose=-1).fit(data.rows, data.favourable)
    graph = onnxmltools.convert_lightgbm(
        model, initial_types=[("features", FloatTensorType([None, data.rows.shape[1]]))], zipmap=False
    )
    return bytes(graph.SerializeToString())


TRAINED: dict[str, Callable[[Data], bytes]] = {
    "logistic": _logistic,
    "xgboost": _xgboost,
    "lightgbm": _lightgbm,
    "forest": _forest,
    "network": network,
}
