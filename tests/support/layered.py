"""Random networks of every activation, as ONNX graphs; and people before them, with all that a request may ask for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.onnx import OnnxGraph
from app.adapters.graphs.scorer import ModelScorer
from app.adapters.structures.graph import NotUnderstood
from app.adapters.structures.layers import Layers
from app.adapters.structures.networks import NetworkStructure
from app.adapters.structures.reading import read_network
from app.core.favourable import Favourable, FavourableClasses, FavourableInterval
from app.core.problem import Move
from app.core.subsets.candidate_rows import MoveCells
from app.core.through.networks.view import NetworkView
from tests.support.brute_force import Case, feasible_sets, minimal_sets, movable
from tests.support.constrained import with_constraints
from tests.support.networks import random_case
from tests.support.searching import Run

# Operators, with their attributes and constant inputs.
ACTIVATIONS: dict[str, tuple[str, dict[str, float], tuple[float, ...]]] = {
    "relu": ("Relu", {}, ()),
    "leaky": ("LeakyRelu", {"alpha": 0.3}, ()),
    "elu": ("Elu", {"alpha": 0.7}, ()),
    "softplus": ("Softplus", {}, ()),
    "sigmoid": ("Sigmoid", {}, ()),
    "tanh": ("Tanh", {}, ()),
    "clip": ("Clip", {}, (-0.5, 2.0)),
    "identity": ("Identity", {}, ()),
}
ENDINGS = ("none", "sigmoid", "two_sided", "softmax")


class GraphOf:
    """Builds a graph node by node."""

    def __init__(self, columns: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._columns = columns

    def constant(self, values: np.ndarray) -> str:
        name = f"c{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(values, dtype=np.float32), name))
        return name

    def add(self, operator: str, inputs: Sequence[str], **attributes: object) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def content(self, output: str, width: int, kind: int = TensorProto.FLOAT) -> bytes:
        self.nodes[-1].output[0] = "scores" if output == self.nodes[-1].output[0] else self.nodes[-1].output[0]
        graph = helper.make_graph(
            self.nodes,
            "network",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, self._columns])],
            [helper.make_tensor_value_info("scores", kind, [None, width])],
            self._constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        return model.SerializeToString()


def random_graph(rng: np.random.Generator, columns: int, outputs: int, ending: str) -> bytes:
    """Layers as one exporter or another writes them, perhaps with a scaler before and normalisations between."""
    graph = GraphOf(columns)
    value, width = "x", columns
    if rng.random() < 0.5:
        value = graph.add("Sub", [value, graph.constant(rng.normal(0, 1, columns))])
        value = graph.add("Div", [value, graph.constant(rng.uniform(0.5, 3, columns))])
    for depth in range(int(rng.integers(1, 4))):
        units = int(rng.integers(1, 9))
        value = _layer(graph, rng, value, width, units)
        width = units
        # With nothing but identities it would be a linear model. The identity is the last of them.
        choices = list(ACTIVATIONS) if depth else list(ACTIVATIONS)[:-1]
        operator, attributes, ends = ACTIVATIONS[str(rng.choice(choices))]
        value = graph.add(operator, [value, *map(graph.constant, map(np.array, ends))], **attributes)
    sums = 1 if ending == "two_sided" else outputs
    value = _layer(graph, rng, value, width, sums)
    value, kind = _ended(graph, value, ending), TensorProto.FLOAT
    if ending != "softmax" and rng.random() < 0.3:
        # Computed in float32, and no finer for being written as float64.
        kind = TensorProto.DOUBLE
        value = graph.add("Cast", [value], to=kind)
    return graph.content(value, 2 if ending == "two_sided" else outputs, kind)


def _layer(graph: GraphOf, rng: np.random.Generator, value: str, width: int, units: int) -> str:
    weights, bias = rng.normal(0, 1.2 / np.sqrt(width), (width, units)), rng.normal(0, 1, units)
    if rng.random() < 0.5:
        value = graph.add("Gemm", [value, graph.constant(weights.T), graph.constant(bias)], transB=1)
    else:
        value = graph.add("Add", [graph.add("MatMul", [value, graph.constant(weights)]), graph.constant(bias)])
    if rng.random() < 0.3:
        held = [rng.normal(1, 0.5, units), *rng.normal(0, 1, (2, units)), rng.uniform(0.5, 2, units)]
        value = graph.add("BatchNormalization", [value, *map(graph.constant, held)])
    return value


def _ended(graph: GraphOf, value: str, ending: str) -> str:
    if ending == "softmax":
        return graph.add("Softmax", [value], axis=1)
    if ending in ("sigmoid", "two_sided"):
        value = graph.add("Sigmoid", [value])
    if ending == "two_sided":
        other = graph.add("Sub", [graph.constant(np.ones(1)), value])
        return graph.add("Concat", [other, value], axis=1)
    return graph.add("Identity", [value])


def served(content: bytes, columns: int, outputs: int, *, alone: bool = True) -> tuple[ModelScorer, NetworkStructure]:
    """The scorer of a graph, and what is read in it. If rows go `alone`, their neighbours change nothing."""
    features = tuple(ModelFeature(f"f{place}", None, None, "number") for place in range(columns))
    classes = [f"class {place}" for place in range(outputs)] if outputs > 1 else []
    graph = OnnxGraph(content, features, None, classes)
    scorer = ModelScorer(graph, features, "none", outputs=outputs)
    scorer.warm_up()
    # The runtime's tanh, sigmoid and softplus may differ in the last bit with a row's place in its batch, and ties with
    # a threshold are common in these tests.
    if alone:
        graph.run_rows_alone()
    return scorer, read_network(scorer.served(content, classes), Layers())


@dataclass
class Person:
    """A case before a network, and what is favourable."""

    case: Case
    scorer: ModelScorer
    structure: NetworkStructure
    favourable: Favourable
    weights: dict[int, float]

    def view(self, moves: Sequence[Move]) -> NetworkView:
        row = np.array(self.case.values, dtype=np.float32)
        cells = [MoveCells((move.position,), (float(np.float32(move.target)),)) for move in moves]
        return self.structure.view(row, cells, self.favourable)

    def run(self, engine: str, **options) -> Run:
        options = {"view": self.view if engine == "through" else None, **options}
        return Run(self.case, self.scorer, engine, favourable=self.favourable, weights=self.weights, **options)

    def cost(self, answer: frozenset[int]) -> float:
        # Weights are quarters: their sums are exact.
        return sum(self.weights.get(i, 1) for i in answer)

    def expected(self) -> list[frozenset[int]]:
        """Every minimal answer by the definition, in the order of sending."""
        return sorted(minimal_sets(self.case), key=lambda answer: (len(answer), self.cost(answer), sorted(answer)))


def random_person(seed: int, *, constrained: bool) -> Person:
    """Refused by a random network, with one value, two classes or three; every kind of decision, ties included."""
    for attempt in range(1_000):
        rng = np.random.default_rng((seed, attempt))
        case, _ = random_case(seed * 1_000 + attempt)
        case = with_constraints(rng, replace(case, max_changes=None)) if constrained else case
        person = _before_a_network(rng, case)
        if person is not None:
            return person
    raise AssertionError(f"no person for seed {seed}")


def _before_a_network(rng: np.random.Generator, case: Case) -> Person | None:
    targets = movable(case)
    if not 1 <= len(targets) <= 12 or not feasible_sets(case):
        return None
    ending = str(rng.choice(ENDINGS))
    outputs = (
        2 if ending == "two_sided" else int(rng.integers(1, 4)) if ending != "softmax" else int(rng.integers(2, 4))
    )
    try:
        scorer, structure = served(random_graph(rng, len(case.values), outputs, ending), len(case.values), outputs)
    except NotUnderstood:
        return None
    favourable = _decision(rng, outputs, ending, _scores(scorer, case, targets))
    judged = _judged(scorer, favourable, case, targets)
    if judged[frozenset()]:
        return None
    weights = {i: float(rng.integers(1, 9)) / 4 for i in targets} if rng.random() < 0.4 else {}
    return Person(replace(case, favourable=_by_row(case, targets, judged)), scorer, structure, favourable, weights)


def out_of_reach(person: Person) -> Person | None:
    """The same person with a threshold just above every score; None if what is favourable has none."""
    if not isinstance(person.favourable, FavourableClasses):
        return None
    targets = movable(person.case)
    subsets = [frozenset(each) for size in range(len(targets) + 1) for each in combinations(targets, size)]
    scores = person.favourable.score(person.scorer(_rows(person.case, targets, subsets)))
    above = float(np.nextafter(scores.max(), np.float32(np.inf)))
    return replace(person, favourable=replace(person.favourable, threshold=above))


def rising_person(seed: int) -> Person:
    """Twelve features to be lowered, before a network whose score rises as any of them falls."""
    rng = np.random.default_rng(seed)
    columns = 12
    graph, value, width = GraphOf(columns), "x", columns
    for units, sign in ((6, -1.0), (5, 1.0), (1, 1.0)):
        weights = sign * np.abs(rng.normal(0, 1, (width, units)))
        weights = 2 * weights / np.abs(weights).sum(axis=0)
        held = [graph.constant(weights), graph.constant(rng.normal(3.5 if sign < 0 else -0.2, 0.2, units))]
        value = graph.add("Gemm", [value, *held])
        value = value if units == 1 else graph.add("Relu", [value])
        width = units
    scorer, structure = served(graph.content(_ended(graph, value, "two_sided"), 2), columns, 2)
    values = [float(each) for each in rng.uniform(1, 3, columns).astype(np.float32)]
    case = Case(values, [(None, float(np.float32(each / 2))) for each in values], lambda row: False)
    targets = movable(case)
    scores = scorer(_rows(case, targets, [frozenset(), frozenset(targets)]))[:, 1]
    favourable = FavourableClasses((1,), (0,), float(scores.mean()))
    judged = _judged(scorer, favourable, case, targets)
    return Person(replace(case, favourable=_by_row(case, targets, judged)), scorer, structure, favourable, {})


def saturated_person(seed: int) -> Person | None:
    """Before a network whose scores crowd below 1, in steps of float32, and are written as float64."""
    rng = np.random.default_rng(seed)
    columns = 7
    graph = GraphOf(columns)
    value = graph.add(
        "Gemm", ["x", graph.constant(rng.normal(0, 1, (columns, 5))), graph.constant(rng.normal(0, 1, 5))]
    )
    value = graph.add("Relu", [value])
    value = graph.add("Gemm", [value, graph.constant(rng.normal(0, 2, (5, 1))), graph.constant(np.array([10.0]))])
    value = graph.add("Cast", [_ended(graph, value, "two_sided")], to=TensorProto.DOUBLE)
    scorer, structure = served(graph.content(value, 2, TensorProto.DOUBLE), columns, 2)
    values = [float(np.float32(each)) for each in rng.normal(0, 1, columns)]
    case = Case(values, [(None, float(np.float32(each - abs(rng.normal())))) for each in values], lambda row: False)
    targets = movable(case)
    favourable = FavourableClasses((1,), (0,), float(rng.choice(_scores(scorer, case, targets)[:, 1])))
    judged = _judged(scorer, favourable, case, targets)
    if judged[frozenset()]:
        return None
    return Person(replace(case, favourable=_by_row(case, targets, judged)), scorer, structure, favourable, {})


def _rows(case: Case, targets: dict[int, float], subsets: Sequence[frozenset[int]]) -> np.ndarray:
    rows = [[targets[i] if i in subset else value for i, value in enumerate(case.values)] for subset in subsets]
    return np.array(rows, dtype=np.float32)


def _judged(
    scorer: ModelScorer, favourable: Favourable, case: Case, targets: dict[int, float]
) -> dict[frozenset[int], bool]:
    """What the model says of every subset, feasible or not."""
    subsets = [frozenset(each) for size in range(len(targets) + 1) for each in combinations(targets, size)]
    outputs = scorer(_rows(case, targets, subsets))
    holds = favourable.holds(outputs, favourable.score(outputs)) & np.isfinite(favourable.score(outputs))
    return dict(zip(subsets, holds.tolist(), strict=True))


def _by_row(
    case: Case, targets: dict[int, float], judged: dict[frozenset[int], bool]
) -> Callable[[Sequence[float]], bool]:
    def favours(row: Sequence[float]) -> bool:
        return judged[frozenset(i for i in targets if row[i] != case.values[i])]

    return favours


def _scores(scorer: ModelScorer, case: Case, targets: dict[int, float]) -> np.ndarray:
    """What the model says of some subsets, to choose thresholds among."""
    subsets = [frozenset(each) for size in (0, 1, 2, len(targets)) for each in combinations(targets, size)]
    return scorer(_rows(case, targets, subsets))


def _decision(rng: np.random.Generator, outputs: int, ending: str, scores: np.ndarray) -> Favourable:
    """Thresholds are scores that the model reaches exactly, mostly."""
    one = float(rng.choice(scores[:, -1]))
    if outputs == 1:
        low, high = sorted([one, float(rng.choice(scores[:, 0]))])
        ends = [(low, None), (None, high), (low, high)][int(rng.integers(0, 3))]
        return FavourableInterval(*ends)
    sides = [((0,), (1,)), ((1,), (0,))] if outputs == 2 else [((0,), (1, 2)), ((0, 2), (1,)), ((2,), (0, 1))]
    classes, others = sides[int(rng.integers(0, len(sides)))]
    threshold = float(rng.choice(scores[:, list(classes)].sum(axis=1)))
    asks = rng.random() < 0.5 or ending == "sigmoid"
    return FavourableClasses(classes, others, threshold if asks else None)
