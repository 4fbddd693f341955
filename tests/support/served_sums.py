"""Random graphs that can be seen through, served from folders, and random people with random requests."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto

from app.adapters.graphs.models import Model
from app.core.favourable import Favourable, FavourableClasses
from tests.support import random_trees
from tests.support.brute_force import Case, changed, feasible_sets, minimal_sets, movable
from tests.support.constrained import with_constraints
from tests.support.random_trees import MODES, VALUES, Forest
from tests.support.searching import constraints_json

NAMES = ["red", "green", "blue"]
CODES = [0.1, 1.0, -1.0]
# How many columns the graph reads for each kind of feature.
KINDS = {"number": 1, "coded": 1, "one_hot": 3}


@dataclass
class Graph:
    """A graph, the kinds of its features, and what it gives."""

    model: ModelProto
    kinds: list[str]
    outputs: int
    missing: bool

    def write(self, folder: Path, favourable: list[str]) -> None:
        folder.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(self.model.SerializeToString())
        classes = [f"c{place}" for place in range(self.outputs)]
        lines = ['title = "A test"', 'version = "1"', "[output]", 'tensor = "scores"']
        if self.outputs == 1:
            lines += ['kind = "regression"', "favourable = { low = 0.0 }"]
        else:
            lines += ['kind = "classification"', f"classes = {json.dumps(classes)}"]
            lines += [f"favourable = {json.dumps(favourable)}"]
        for index, kind in enumerate(self.kinds):
            lines += ["[[features]]", f'name = "f{index}"', *self._described(kind)]
        (folder / "model.toml").write_text("\n".join(lines))

    def _described(self, kind: str) -> list[str]:
        if kind == "number":
            return ["takes_missing = true"] if self.missing else []
        described = ['type = "category"', f"categories = {json.dumps(NAMES)}"]
        return [*described, "one_hot = true" if kind == "one_hot" else f"codes = {CODES}"]


def random_graph(rng: np.random.Generator) -> Graph:
    kinds = [str(rng.choice(list(KINDS), p=[0.7, 0.15, 0.15])) for _ in range(int(rng.integers(2, 13)))]
    columns = sum(KINDS[kind] for kind in kinds)
    form = str(rng.choice(list(FORMS)))
    outputs, made, missing = FORMS[form]
    return Graph(made(rng, columns), kinds, outputs, missing)


def _trees(rng: np.random.Generator, columns: int, targets: int, **fields: Any) -> Forest:
    modes = MODES if rng.random() < 0.3 else (str(rng.choice(MODES[:4])),)
    forest = Forest(columns, targets, modes=modes, **fields).grow(rng, int(rng.integers(1, 30)), 4)
    # A graph without any weight cannot be written.
    return forest if forest.weights["weights"] else _trees(rng, columns, targets, **fields)


def _classes(rng: np.random.Generator, columns: int, classes: int, post: str, **fields: Any) -> ModelProto:
    """With two classes, only the first has weights, as exporters write them, or each has its own."""
    targets = 1 if classes == 2 and rng.random() < 0.5 else classes
    held = _trees(rng, columns, targets, **fields).attributes("class")
    held |= {"classlabels_int64s": list(range(classes)), "post_transform": post}
    return random_trees.model("TreeEnsembleClassifier", columns, held)


def _votes(rng: np.random.Generator, columns: int) -> ModelProto:
    """A forest: every tree votes for one of two classes, so that half of the votes is common."""
    forest = _trees(rng, columns, 2)
    votes = rng.integers(0, 2, len(forest.weights["weights"]) // 2)
    share = 1 / (1 + max(forest.weights["treeids"]))
    forest.weights["weights"] = [float(np.float32(share * (vote == side))) for vote in votes for side in (0, 1)]
    held = forest.attributes("class") | {"classlabels_int64s": [0, 1], "post_transform": "NONE"}
    return random_trees.model("TreeEnsembleClassifier", columns, held)


def _value(rng: np.random.Generator, columns: int, how: str = "SUM") -> ModelProto:
    held = _trees(rng, columns, 1, missing=True).attributes("target")
    held |= {"n_targets": 1, "aggregate_function": how, "post_transform": "NONE"}
    return random_trees.model("TreeEnsembleRegressor", columns, held)


def _opset_5(rng: np.random.Generator, columns: int) -> ModelProto:
    held = random_trees.opset_5(_trees(rng, columns, 1, missing=True), rng, np.float32, members=True)
    return random_trees.model("TreeEnsemble", columns, held | {"aggregate_function": 1}, opset=5)


def _linear(rng: np.random.Generator, columns: int, classes: int, post: str) -> ModelProto:
    """Weights of few sizes, so that sums tie."""
    weights = rng.choice([-0.5, 0.25, 0.3, 1.0, 0.0], (classes, columns))
    held = {
        "coefficients": weights.ravel().tolist(),
        "intercepts": rng.choice([-1.0, 0.0, 0.5], classes).tolist(),
        "classlabels_ints": list(range(classes)),
        "post_transform": post,
    }
    return _operator("LinearClassifier", columns, held)


def _linear_value(rng: np.random.Generator, columns: int) -> ModelProto:
    weights = rng.choice([-0.5, 0.25, 0.3, 1.0, 0.0], columns)
    return _operator("LinearRegressor", columns, {"coefficients": weights.tolist(), "intercepts": [-1.0]})


def _operator(operator: str, columns: int, held: dict[str, Any]) -> ModelProto:
    return random_trees.model(operator, columns, held, input_type=TensorProto.FLOAT)


FORMS: dict[str, tuple[int, Callable[[np.random.Generator, int], ModelProto], bool]] = {
    "votes": (2, _votes, False),
    "votes again": (2, _votes, False),
    "two classes": (2, lambda rng, columns: _classes(rng, columns, 2, "NONE", positive=True), False),
    "boosting": (2, lambda rng, columns: _classes(rng, columns, 2, "LOGISTIC", missing=True), True),
    "three classes": (3, lambda rng, columns: _classes(rng, columns, 3, "NONE", sparse=True), False),
    "softmax": (3, lambda rng, columns: _classes(rng, columns, 3, "SOFTMAX", missing=True), True),
    "regression": (1, _value, True),
    "average": (1, lambda rng, columns: _value(rng, columns, "AVERAGE"), True),
    "opset 5": (1, _opset_5, True),
    "linear": (2, lambda rng, columns: _linear(rng, columns, 2, "NONE"), False),
    "logistic": (2, lambda rng, columns: _linear(rng, columns, 2, "LOGISTIC"), False),
    "linear value": (1, _linear_value, False),
}


@dataclass
class Asked:
    """One person, what is asked, and the truth by brute force over the rows themselves."""

    case: Case
    body: dict[str, Any]
    weights: dict[int, float]
    judged: dict[tuple[float, ...], tuple[bool, Any]]
    refused: bool

    def truth(self) -> list[tuple[list[str], Any]]:
        """Every minimal answer in its order: the features that change, and the score."""
        targets = movable(self.case)
        found = sorted(minimal_sets(self.case), key=lambda each: (len(each), self._cost(each), sorted(each)))
        return [
            ([f"f{i}" for i in sorted(each)], self.judged[key(changed(self.case, each, targets))][1]) for each in found
        ]

    def _cost(self, answer: frozenset[int]) -> float:
        return sum(self.weights.get(i, 1) for i in answer)


def key(values: list[float]) -> tuple[float, ...]:
    """Values as the key of a table; what is missing equals itself there."""
    return tuple(-99.5 if isnan(value) else value for value in values)


def random_request(rng: np.random.Generator, graph: Graph, model: Model) -> Asked | None:
    """None where nothing can change, or the constraints cannot be met."""
    case = _person(rng, graph)
    case = with_constraints(rng, case) if rng.random() < 0.6 else case
    numeric = [i for i, kind in enumerate(graph.kinds) if kind == "number"]
    case = replace(
        case,
        directions={i: way for i, way in case.directions.items() if i in numeric},
        max_step={i: step for i, step in case.max_step.items() if i in numeric},
    )
    if not movable(case) or not feasible_sets(case):
        return None
    outputs = _outputs(case, model)
    target, favourable = _target(rng, graph, model, np.array(list(outputs.values())))
    judged = {each: _judged(row, favourable) for each, row in outputs.items()}
    case = replace(case, favourable=lambda values: judged[key(values)][0])
    weights = {i: float(rng.integers(1, 9)) / 4 for i in range(len(graph.kinds))} if rng.random() < 0.3 else {}
    return Asked(case, _body(graph, case, target, weights), weights, judged, not case.favourable(list(case.values)))


def _person(rng: np.random.Generator, graph: Graph) -> Case:
    values: list[float] = []
    guides: dict[int, float] = {}
    if_missing: dict[int, float | str] = {}
    for index, kind in enumerate(graph.kinds):
        draw = (lambda: float(rng.choice(VALUES))) if kind == "number" else (lambda: float(rng.integers(0, 3)))
        absent = graph.missing and kind == "number" and rng.random() < 0.15
        values.append(nan if absent else draw())
        if absent and rng.random() < 0.7:
            if_missing[index] = draw()
        elif not absent and rng.random() < 0.9:
            guides[index] = draw()
    return Case(values, [None] * len(values), lambda row: False, guides, if_missing=if_missing)


def _outputs(case: Case, model: Model) -> dict[tuple[float, ...], np.ndarray]:
    """What the runtime says of every row that changes may lead to."""
    targets = movable(case)
    subsets = [frozenset(each) for size in range(len(targets) + 1) for each in combinations(targets, size)]
    rows = [changed(case, subset, targets) for subset in subsets]
    scorer = model.scorer
    cells = [[cell for i, value in enumerate(row) for cell in scorer.cells(i, value)] for row in rows]
    return dict(zip(map(key, rows), scorer(np.array(cells, dtype=scorer.dtype)), strict=True))


def _judged(outputs: np.ndarray, favourable: Favourable) -> tuple[bool, Any]:
    """The decision by its definition, one row at a time; and the score."""
    if not isinstance(favourable, FavourableClasses):
        value = outputs[0]
        above = favourable.low is None or value >= outputs.dtype.type(favourable.low)
        return bool(above and (favourable.high is None or value <= outputs.dtype.type(favourable.high))), value
    score = outputs[favourable.classes[0]]
    for other in favourable.classes[1:]:
        score = score + outputs[other]
    if favourable.threshold is not None:
        return bool(score >= outputs.dtype.type(favourable.threshold)), score
    return int(np.argmax(outputs)) in favourable.classes, score


def _target(
    rng: np.random.Generator, graph: Graph, model: Model, outputs: np.ndarray
) -> tuple[dict[str, Any], Favourable]:
    """The model's own target, or one at a score that the model reaches."""
    usual = model.favourable
    if isinstance(usual, FavourableClasses):
        if rng.random() < 0.5 or graph.model.graph.node[0].op_type == "LinearClassifier":
            return {}, usual
        score = outputs[:, usual.classes[0]]
        for other in usual.classes[1:]:
            score = score + outputs[:, other]
        threshold = float(str(rng.choice(score)))
        if not 0 < threshold < 1:
            return {}, usual
        return {"threshold": threshold}, replace(usual, threshold=threshold)
    low, high = sorted(float(str(each)) for each in rng.choice(outputs[:, 0], 2))
    ends = [{"low": low}, {"high": high}, {"low": low, "high": high}][int(rng.integers(0, 3))]
    return ends, replace(usual, low=ends.get("low"), high=ends.get("high"))


def _body(graph: Graph, case: Case, target: dict[str, Any], weights: dict[int, float]) -> dict[str, Any]:
    def sent(index: int, value: float) -> Any:
        if isnan(value):
            return None
        return value if graph.kinds[index] == "number" else NAMES[int(value)]

    said = {f"f{i}": {"if_missing": {"value": sent(i, float(value))}} for i, value in case.if_missing.items()}
    return {
        "instance": {f"f{i}": sent(i, value) for i, value in enumerate(case.values)},
        "registry": None,
        "guide": {f"f{i}": sent(i, value) for i, value in case.guides.items()},
        "normal_ranges": said,
        "constraints": constraints_json(case),
        "target": target,
        "weights": {f"f{i}": weight for i, weight in weights.items()},
    }
