"""Small models of many kinds, trained here and exported the way their users export them.

Each comes with the original library's own prediction, against which the served one is held.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
import onnxmltools
import pandas as pd
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType as Floats
from skl2onnx import convert_sklearn, to_onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

Person = dict[str, Any]
NAMES = ["a", "b", "c", "d"]
JOBS = ["baker", "clerk", "smith"]
NUMBERS = "\n".join(f'[[features]]\nname = "{name}"' for name in NAMES)
WHOLE_NUMBERS = NUMBERS.replace('"\n[[', '"\ntype = "integer"\n[[') + '\ntype = "integer"'
TWO_CLASSES = '[output]\nkind = "classification"\nclasses = ["no", "yes"]\nfavourable = ["yes"]\n'


@dataclass(frozen=True)
class Kind:
    """A trained model: its graph, its description, and what its own library says of a person."""

    graph: bytes
    description: str
    # The score of the favourable side, and how far the decision is from turning.
    judge: Callable[[Person], tuple[float, float]]


def numbers(count: int, seed: int = 0) -> np.ndarray:
    """Multiples of 1/64: float32 holds them exactly, so that no split of a tree falls otherwise there."""
    return np.random.default_rng(seed).integers(-256, 257, (count, 4)) / 64


def label(rows: np.ndarray) -> np.ndarray:
    """A rule that is not monotone, with some noise."""
    noise = np.random.default_rng(1).normal(0, 0.3, len(rows))
    return (rows[:, 0] + rows[:, 1] * rows[:, 2] / 2 - np.abs(rows[:, 3]) + noise < 0.3).astype(int)


ROWS = numbers(600)
LABELS = label(ROWS)


def matrix(person: Person) -> np.ndarray:
    return np.array([[person[name] for name in NAMES]])


def by_probability(model: Any, row: Callable[[Person], Any] = matrix) -> Callable[[Person], tuple[float, float]]:
    """Two classes without a threshold: the second must win."""

    def judge(person: Person) -> tuple[float, float]:
        score = float(model.predict_proba(row(person))[0, 1])
        return score, score - 0.5

    return judge


def sklearn_kind(model: Any, input_type: Any = FloatTensorType, batch: int | None = None, **options: Any) -> Kind:
    model.fit(ROWS, LABELS)
    graph = convert_sklearn(model, initial_types=[("features", input_type([batch, 4]))], options={id(model): options})
    return Kind(graph.SerializeToString(), TWO_CLASSES + NUMBERS, by_probability(model))


def mlp() -> Kind:
    return sklearn_kind(
        make_pipeline(StandardScaler(), MLPClassifier((8,), max_iter=400, random_state=0)), zipmap=False
    )


def mlp_one_row_at_a_time() -> Kind:
    return sklearn_kind(MLPClassifier((8,), max_iter=400, random_state=1), batch=1, zipmap=False)


def logistic_regression_in_float64() -> Kind:
    return sklearn_kind(LogisticRegression(), DoubleTensorType, zipmap=False)


def random_forest() -> Kind:
    return sklearn_kind(RandomForestClassifier(20, max_depth=4, random_state=0), zipmap=False)


def gradient_boosting_with_zipmap() -> Kind:
    return sklearn_kind(GradientBoostingClassifier(n_estimators=20, random_state=0))


def calibrated() -> Kind:
    return sklearn_kind(CalibratedClassifierCV(LogisticRegression(), cv=3), zipmap=False)


def forest_of_whole_numbers() -> Kind:
    rows = np.random.default_rng(2).integers(-4, 5, (600, 4))
    model = RandomForestClassifier(10, max_depth=4, random_state=0).fit(rows, label(rows.astype(float)))
    graph = to_onnx(
        model, initial_types=[("features", Int64TensorType([None, 4]))], options={id(model): {"zipmap": False}}
    )
    return Kind(graph.SerializeToString(), TWO_CLASSES + WHOLE_NUMBERS, by_probability(model))


def named_classes_with_zipmap() -> Kind:
    """Class names that do not stand in the order of the alphabet."""
    model = LogisticRegression().fit(ROWS, np.where(LABELS == 1, "granted", "waived"))
    graph = convert_sklearn(model, initial_types=[("features", FloatTensorType([None, 4]))])
    description = TWO_CLASSES.replace('["no", "yes"]', '["waived", "granted"]').replace('["yes"]', '["granted"]')

    def judge(person: Person) -> tuple[float, float]:
        score = float(model.predict_proba(matrix(person))[0, list(model.classes_).index("granted")])
        return score, score - 0.5

    return Kind(graph.SerializeToString(), description + NUMBERS, judge)


def pipeline_with_texts() -> Kind:
    """One input for each column, two of them texts."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {"a": ROWS[:, 0], "b": ROWS[:, 1], "job": rng.choice(JOBS, 600), "smoker": rng.choice(["no", "yes"], 600)}
    )
    target = (table["a"] - (table["smoker"] == "yes") * 2 + (table["job"] == "baker") + ROWS[:, 3] / 4 > 0).astype(int)
    columns = ColumnTransformer([("n", StandardScaler(), ["a", "b"]), ("t", OneHotEncoder(), ["job", "smoker"])])
    model = make_pipeline(columns, LogisticRegression()).fit(table, target)
    types = [(name, FloatTensorType([None, 1])) for name in "ab"] + [
        (name, StringTensorType([None, 1])) for name in ("job", "smoker")
    ]
    graph = convert_sklearn(model, initial_types=types, options={id(model): {"zipmap": False}})
    features = (
        '[[features]]\nname = "a"\n[[features]]\nname = "b"\n'
        f'[[features]]\nname = "job"\ntype = "category"\ncategories = {JOBS}\n'
        '[[features]]\nname = "smoker"\ntype = "category"\ncategories = ["no", "yes"]\n'
    )
    return Kind(graph.SerializeToString(), TWO_CLASSES + features, by_probability(model, lambda p: pd.DataFrame([p])))


def one_hot_group() -> Kind:
    """Three columns that are one feature."""
    rng = np.random.default_rng(4)
    jobs = rng.integers(0, 3, 600)
    rows = np.column_stack([ROWS[:, :2], np.eye(3)[jobs]])
    model = LogisticRegression().fit(rows, (ROWS[:, 0] + (jobs == 1) * 2 + ROWS[:, 3] / 4 > 0.5).astype(int))
    graph = convert_sklearn(
        model, initial_types=[("features", FloatTensorType([None, 5]))], options={id(model): {"zipmap": False}}
    )
    features = (
        '[[features]]\nname = "a"\n[[features]]\nname = "b"\n'
        f'[[features]]\nname = "job"\ntype = "category"\none_hot = true\ncategories = {JOBS}\n'
    )

    def row(person: Person) -> np.ndarray:
        return np.array([[person["a"], person["b"], *(float(job == person["job"]) for job in JOBS)]])

    return Kind(graph.SerializeToString(), TWO_CLASSES + features, by_probability(model, row))


def table_with_gaps() -> pd.DataFrame:
    """Two numbers and two categories, of which some are missing."""
    rng = np.random.default_rng(6)
    jobs = pd.Series(rng.choice(JOBS, 600)).mask(rng.random(600) < 0.2)
    smoker = pd.Series(rng.choice(["no", "yes"], 600)).mask(rng.random(600) < 0.2)
    return pd.DataFrame({"job": jobs, "a": ROWS[:, 0], "smoker": smoker, "b": ROWS[:, 1]})


def encoded_kind(encode: Callable[[pd.DataFrame], np.ndarray], said: str) -> Kind:
    """A model that reads what an encoder of others makes of two categories; `said` is what our description says."""
    table = table_with_gaps()
    points = table["a"] - (table["smoker"] == "yes") * 2 + (table["job"] == "baker") * 2 - table["job"].isna()
    rows = encode(table)
    model = LogisticRegression().fit(rows, (points + ROWS[:, 3] / 4 > 0).astype(int))
    types = [("features", FloatTensorType([None, rows.shape[1]]))]
    graph = convert_sklearn(model, initial_types=types, options={id(model): {"zipmap": False}})
    category = f'type = "category"\none_hot = true\nmissing_codes = [-9]\n{said}\n'
    features = (
        f'[[features]]\nname = "job"\n{category}categories = {JOBS}\n[[features]]\nname = "a"\n'
        f'[[features]]\nname = "smoker"\n{category}categories = ["no", "yes"]\n[[features]]\nname = "b"\n'
    )

    def row(person: Person) -> np.ndarray:
        known = {name: None if value == -9 else value for name, value in person.items()}
        return encode(pd.DataFrame([known]).astype(table.dtypes))

    return Kind(graph.SerializeToString(), TWO_CLASSES + features, by_probability(model, row))


def dummies_of_pandas(drop_first: bool = False) -> Kind:
    def encode(table: pd.DataFrame) -> np.ndarray:
        """Category by category, so that a table of one row has all columns too."""
        typed = table.assign(
            job=pd.Categorical(table["job"], JOBS), smoker=pd.Categorical(table["smoker"], ["no", "yes"])
        )
        parts = [
            pd.get_dummies(typed[["job"]], drop_first=drop_first),
            typed[["a"]],
            pd.get_dummies(typed[["smoker"]], drop_first=drop_first),
            typed[["b"]],
        ]
        return np.hstack([part.to_numpy(dtype=float) for part in parts])

    return encoded_kind(encode, 'missing = "zeros"' + ("\ndrop_first = true" if drop_first else ""))


def dummies_of_pandas_without_the_first() -> Kind:
    return dummies_of_pandas(drop_first=True)


def encoder_that_ignores_the_unknown(drop: str | None = None) -> Kind:
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, drop=drop)
    steps = {"job": encoder, "a": "passthrough", "smoker": clone(encoder), "b": "passthrough"}
    columns = ColumnTransformer([(name, step, [name]) for name, step in steps.items()]).fit(table_with_gaps().dropna())
    return encoded_kind(columns.transform, 'missing = "zeros"' + ("\ndrop_first = true" if drop else ""))


def encoder_that_drops_the_first() -> Kind:
    return encoder_that_ignores_the_unknown(drop="first")


def xgboost_that_takes_missing_values() -> Kind:
    rows = np.where(np.random.default_rng(5).random(ROWS.shape) < 0.1, np.nan, ROWS)
    model = xgboost.XGBClassifier(n_estimators=15, max_depth=3).fit(rows, LABELS)
    graph = onnxmltools.convert_xgboost(model, initial_types=[("features", Floats([None, 4]))])
    features = NUMBERS.replace('name = "d"', 'name = "d"\ntakes_missing = true\nmissing_codes = [-9]')

    def row(person: Person) -> np.ndarray:
        return np.array([[np.nan if person[name] in (None, -9) else person[name] for name in NAMES]])

    return Kind(graph.SerializeToString(), TWO_CLASSES + features, by_probability(model, row))


def lightgbm_with_zipmap() -> Kind:
    model = lightgbm.LGBMClassifier(n_estimators=15, max_depth=3, verbose=-1).fit(ROWS, LABELS)
    graph = onnxmltools.convert_lightgbm(model, initial_types=[("features", Floats([None, 4]))])
    return Kind(graph.SerializeToString(), TWO_CLASSES + NUMBERS, by_probability(model))


def three_classes_with_a_joint_threshold() -> Kind:
    labels = np.array(["bad", "fair", "good"])[LABELS + (ROWS[:, 1] > 1)]
    model = LogisticRegression().fit(ROWS, labels)
    options = {id(model): {"zipmap": False, "raw_scores": True}}
    graph = convert_sklearn(model, initial_types=[("features", FloatTensorType([None, 4]))], options=options)
    output = (
        '[output]\nkind = "classification"\nactivation = "softmax"\nclasses = ["bad", "fair", "good"]\n'
        'favourable = ["fair", "good"]\nthreshold = 0.7\n'
    )

    def judge(person: Person) -> tuple[float, float]:
        score = float(model.predict_proba(matrix(person))[0, 1:].sum())
        return score, score - 0.7

    return Kind(graph.SerializeToString(), output + NUMBERS, judge)


def regression() -> Kind:
    return _regression(LinearRegression())


def forest_regression() -> Kind:
    return _regression(RandomForestRegressor(10, max_depth=4, random_state=0))


def _regression(model: Any) -> Kind:
    model.fit(ROWS, 2 * ROWS[:, 0] - ROWS[:, 1] + ROWS[:, 2] ** 2 / 4)
    graph = convert_sklearn(model, initial_types=[("features", FloatTensorType([None, 4]))])
    output = '[output]\nkind = "regression"\nfavourable = { low = -1.0, high = 2.0 }\n'

    def judge(person: Person) -> tuple[float, float]:
        value = float(model.predict(matrix(person))[0])
        return value, min(value + 1.0, 2.0 - value)

    return Kind(graph.SerializeToString(), output + NUMBERS, judge)


def torch_with_one_logit() -> Kind:
    # Only .ci/run installs it: it is large.
    import torch  # noqa: PLC0415

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    rows, labels = torch.tensor(ROWS, dtype=torch.float32), torch.tensor(LABELS, dtype=torch.float32)
    for _ in range(150):
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model(rows)[:, 0], labels).backward()
        optimizer.step()
    file = io.BytesIO()
    axes = {"features": {0: "rows"}, "logit": {0: "rows"}}
    torch.onnx.export(
        model, (rows[:1],), file, input_names=["features"], output_names=["logit"], dynamic_axes=axes, dynamo=False
    )

    def judge(person: Person) -> tuple[float, float]:
        with torch.no_grad():
            score = float(torch.sigmoid(model(torch.tensor(matrix(person), dtype=torch.float32)))[0, 0])
        return score, score - 0.5

    return Kind(file.getvalue(), TWO_CLASSES + 'activation = "sigmoid"\n' + NUMBERS, judge)


KINDS: list[Callable[[], Kind]] = [
    mlp,
    mlp_one_row_at_a_time,
    logistic_regression_in_float64,
    random_forest,
    gradient_boosting_with_zipmap,
    calibrated,
    forest_of_whole_numbers,
    named_classes_with_zipmap,
    pipeline_with_texts,
    one_hot_group,
    dummies_of_pandas,
    dummies_of_pandas_without_the_first,
    encoder_that_ignores_the_unknown,
    encoder_that_drops_the_first,
    xgboost_that_takes_missing_values,
    lightgbm_with_zipmap,
    three_classes_with_a_joint_threshold,
    regression,
    forest_regression,
    torch_with_one_logit,
]
