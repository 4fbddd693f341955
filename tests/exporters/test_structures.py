"""What exporters write is seen through: trees, linear models, and what stands around them."""

import tomllib
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import onnxmltools
import pytest
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType as Floats
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.models import ModelEntry
from app.core.through.view import Kind
from tests.exporters.kinds import KINDS, LABELS, ROWS
from tests.exporters.kinds import Kind as Exported
from tests.exporters.test_kinds import needs
from tests.support.structures import Held, numbers

# Trainers and exporters warn of their own affairs, which are not ours.
pytestmark = pytest.mark.filterwarnings("default")

THREE = LABELS + (ROWS[:, 1] > 1)
SQUARES = ROWS[:, 0] ** 2
NETWORKS = {"mlp", "mlp_one_row_at_a_time", "torch_with_one_logit"}


@pytest.mark.parametrize("made", KINDS, ids=lambda made: str(made.__name__))
def test_every_kind_of_model_that_is_no_network_is_seen_through(made: Callable[[], Exported]):
    needs(made)
    kind = made()
    entry = ModelEntry.model_validate(tomllib.loads('title = "a"\nversion = "1"\n' + kind.description))
    features = tuple(map(ModelFeature.of, entry.features))
    output = entry.output
    held = Held(kind.graph, features, len(output.classes) or 1, output.tensor, output.activation, output.classes)
    if made.__name__ in NETWORKS:
        return
    assert held.structure.kind in (Kind.LINEAR, Kind.TREES), held.structure.why
    rng = np.random.default_rng(0)
    for _ in range(20):
        now, then = ([some_value(feature, rng) for feature in features] for _ in range(2))
        held.check(now, dict(enumerate(then)))


def some_value(feature: ModelFeature, rng: np.random.Generator) -> float:
    if feature.type == "category":
        return float(rng.integers(len(feature.categories)))
    value = float(rng.integers(-256, 257)) / 64
    return float(round(value)) if feature.whole else value


def of_sklearn(model: Any, labels: np.ndarray = LABELS) -> bytes:
    model.fit(ROWS, labels)
    options = {id(model): {"zipmap": False}} if hasattr(model, "predict_proba") else None
    graph = convert_sklearn(model, initial_types=[("x", FloatTensorType([None, 4]))], options=options)
    return bytes(graph.SerializeToString())


def of_boosting(convert: Any, model: Any, labels: np.ndarray = LABELS, **options: Any) -> bytes:
    graph = convert(model.fit(ROWS, labels), initial_types=[("x", Floats([None, 4]))], **options)
    return bytes(graph.SerializeToString())


def lgb(model: Any, labels: np.ndarray = LABELS) -> bytes:
    options = {"zipmap": False} if hasattr(model, "predict_proba") else {}
    return of_boosting(onnxmltools.convert_lightgbm, model, labels, **options)


def xgb(model: Any, labels: np.ndarray = LABELS) -> bytes:
    return of_boosting(onnxmltools.convert_xgboost, model, labels)


def forest(trees: int = 10) -> RandomForestClassifier:
    return RandomForestClassifier(trees, max_depth=4, random_state=0)


MORE: dict[str, tuple[int, Kind, Callable[[], bytes]]] = {
    "a vote of trees and a line": (
        2,
        Kind.TREES,
        lambda: of_sklearn(
            VotingClassifier([("a", forest()), ("b", LogisticRegression())], voting="soft", flatten_transform=False)
        ),
    ),
    "calibrated forest": (2, Kind.TREES, lambda: of_sklearn(CalibratedClassifierCV(forest(), cv=2))),
    "one against the rest": (3, Kind.LINEAR, lambda: of_sklearn(OneVsRestClassifier(LogisticRegression()), THREE)),
    "three classes": (3, Kind.LINEAR, lambda: of_sklearn(LogisticRegression(), THREE)),
    "boosting": (2, Kind.TREES, lambda: of_sklearn(GradientBoostingClassifier(n_estimators=20))),
    "boosting of three classes": (
        3,
        Kind.TREES,
        lambda: of_sklearn(GradientBoostingClassifier(n_estimators=20), THREE),
    ),
    "boosting of numbers": (1, Kind.TREES, lambda: of_sklearn(GradientBoostingRegressor(n_estimators=20), SQUARES)),
    "counts": (1, Kind.LINEAR, lambda: of_sklearn(PoissonRegressor(), SQUARES)),
    "a vote of numbers": (
        1,
        Kind.TREES,
        lambda: of_sklearn(
            VotingRegressor([("a", RandomForestRegressor(3, max_depth=3)), ("b", LinearRegression())]), SQUARES
        ),
    ),
    "stochastic gradient": (2, Kind.LINEAR, lambda: of_sklearn(SGDClassifier(loss="log_loss", random_state=0))),
    "extra trees": (3, Kind.TREES, lambda: of_sklearn(ExtraTreesClassifier(20, max_depth=5, random_state=0), THREE)),
    "one tree": (2, Kind.TREES, lambda: of_sklearn(DecisionTreeClassifier(random_state=0))),
    "gaps filled, then scaled": (
        2,
        Kind.TREES,
        lambda: of_sklearn(make_pipeline(SimpleImputer(), StandardScaler(), forest())),
    ),
    "scaled boosting": (2, Kind.TREES, lambda: of_sklearn(make_pipeline(MinMaxScaler(), forest()))),
    "scaled line": (2, Kind.LINEAR, lambda: of_sklearn(make_pipeline(RobustScaler(), LogisticRegression()))),
    "indicators": (2, Kind.LINEAR, lambda: of_sklearn(make_pipeline(Binarizer(), LogisticRegression()))),
    "columns apart": (
        2,
        Kind.TREES,
        lambda: of_sklearn(
            make_pipeline(
                ColumnTransformer(
                    [("a", StandardScaler(), [0, 2]), ("b", MinMaxScaler(), [1])], remainder="passthrough"
                ),
                forest(),
            )
        ),
    ),
    "LightGBM": (3, Kind.TREES, lambda: lgb(lightgbm.LGBMClassifier(n_estimators=10, verbose=-1), THREE)),
    "LightGBM of numbers": (1, Kind.TREES, lambda: lgb(lightgbm.LGBMRegressor(n_estimators=10, verbose=-1), SQUARES)),
    "XGBoost": (3, Kind.TREES, lambda: xgb(xgboost.XGBClassifier(n_estimators=10), THREE)),
    "XGBoost of numbers": (1, Kind.TREES, lambda: xgb(xgboost.XGBRegressor(n_estimators=10), SQUARES)),
    "XGBoost forest": (2, Kind.TREES, lambda: xgb(xgboost.XGBRFClassifier(n_estimators=10))),
    "bagging": (2, Kind.OPAQUE, lambda: of_sklearn(BaggingClassifier(DecisionTreeClassifier(max_depth=2)))),
}


@pytest.mark.parametrize("name", MORE)
def test_other_models_of_exporters(name: str):
    outputs, kind, made = MORE[name]
    held = Held(made(), numbers(4), outputs, None if outputs == 1 else "probabilities")
    assert held.structure.kind is kind, held.structure.why
    rng = np.random.default_rng(0)
    for now, then in rng.integers(-256, 257, (0 if kind is Kind.OPAQUE else 20, 2, 4)) / 64:
        held.check(now.tolist(), dict(enumerate(then.tolist())))


def test_an_isolation_forest_says_why_it_is_opaque():
    model = IsolationForest(n_estimators=5, random_state=0).fit(ROWS)
    graph = convert_sklearn(
        model, initial_types=[("x", FloatTensorType([None, 4]))], target_opset={"": 17, "ai.onnx.ml": 3}
    )
    held = Held(graph.SerializeToString(), numbers(4), 1, "scores")
    assert (held.structure.kind, held.structure.why) == (Kind.OPAQUE, "it turns a sum into int64")
