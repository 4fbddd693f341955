"""Categories, one-hot groups and missing values in every combination with constraints, against brute force."""

import json
from collections.abc import Iterator
from dataclasses import replace
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from app.adapters.catalog import load_catalog
from app.api.schemas import CounterfactualsRequest
from app.api.service import Service
from app.settings import Settings
from tests import graphs
from tests.brute_force import Case, feasible_sets, minimal_sets, movable
from tests.constrained import with_constraints
from tests.networks import Network, random_case
from tests.searching import constraints_json

CASES = 60
NAMES = ["red", "green", "blue"]
CODES = [5.0, 7.0, -2.0]
DEFAULT = 1.0
# What the graph itself puts in the place of a value that is not a number.
UNSEEN = 2.0
KINDS = ["number", "number", "coded", "one_hot", "defaulted", "unseen"]


class Typed:
    """A random problem whose features are of every type, and the model that goes with it."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        case, _ = random_case(seed)
        width = min(len(case.values), 8)
        self.kinds = [str(rng.choice(KINDS)) for _ in range(width)]
        self.network = _network(rng, sum(3 if kind == "one_hot" else 1 for kind in self.kinds))
        case = _retyped(rng, case, self.kinds)
        value = float(self.network.value(np.array(self._row(case.values))))
        self.network.second_bias = -value - float(rng.integers(0, 10))
        case = replace(case, favourable=lambda values: self.network.favours(self._row(values)))
        self.case = _typed_constraints(rng, case, self.kinds)

    def _row(self, values: list[float]) -> list[float]:
        """The columns that the graph reads, written out by hand."""
        row: list[float] = []
        for kind, value in zip(self.kinds, values, strict=True):
            if kind == "one_hot":
                row += [float(place == value) for place in range(3)]
            elif kind == "coded":
                row.append(CODES[int(value)])
            elif isnan(value):
                row.append(DEFAULT if kind == "defaulted" else UNSEEN)
            else:
                row.append(value)
        return row

    def write(self, folder: Path, name: str) -> None:
        _write_graph(folder / f"models/{name}/model.onnx", self.network)
        lines = ['title = "A test"', 'version = "1"', f'normal_ranges = "{name}"', "[output]"]
        lines += ['kind = "classification"', 'classes = ["no", "yes"]', 'favourable = ["yes"]']
        for index, kind in enumerate(self.kinds):
            lines += ["[[features]]", f'name = "f{index}"', *_described(kind, index in self.case.whole)]
        (folder / f"models/{name}/model.toml").write_text("\n".join(lines))
        (folder / f"ranges/{name}.toml").write_text("\n".join(['title = "A test"', 'version = "1"', *self._registry()]))

    def _registry(self) -> Iterator[str]:
        for index, known in enumerate(self.case.ranges):
            if index in self.case.allowed:
                allowed = [NAMES[int(code)] for code in self.case.allowed[index]]
                yield f"[features.f{index}]\nallowed = {json.dumps(allowed)}"
            elif known is not None:
                ends = ", ".join(
                    f"{side} = {end}" for side, end in zip(("low", "high"), known, strict=True) if end is not None
                )
                yield f"[features.f{index}]\nranges = [{{ {ends} }}]"
        # A registry knows at least something.
        yield "[features.extra]\nranges = [{ low = 0 }]"

    def request(self) -> dict[str, Any]:
        instance = {f"f{index}": self._sent(index, value) for index, value in enumerate(self.case.values)}
        guide = {f"f{index}": self._sent(index, value) for index, value in self.case.guides.items()}
        return {
            "instance": {**instance, "extra": 1},
            "guide": guide,
            "constraints": constraints_json(self.case),
            "limits": {"engine": "lattice"},
        }

    def _sent(self, index: int, value: float) -> Any:
        if isnan(value):
            return -99 if index % 2 else None
        return NAMES[int(value)] if self.kinds[index] in ("coded", "one_hot") else value


def _network(rng: np.random.Generator, width: int) -> Network:
    first = rng.integers(-3, 4, (width, 5)).astype(float)
    return Network(first, rng.integers(-5, 6, 5).astype(float), rng.integers(-3, 4, 5).astype(float), 0.0)


def _retyped(rng: np.random.Generator, case: Case, kinds: list[str]) -> Case:
    """Some numbers of a case turned into categories, and some taken away."""
    values, ranges, allowed, guides = list(case.values)[: len(kinds)], list(case.ranges)[: len(kinds)], {}, {}
    for index, kind in enumerate(kinds):
        if kind in ("coded", "one_hot"):
            values[index], ranges[index] = float(rng.integers(0, 3)), None
            if rng.random() < 0.8:
                allowed[index] = tuple(float(code) for code in rng.permutation(3)[: int(rng.integers(1, 3))])
            elif rng.random() < 0.5:
                guides[index] = float(rng.integers(0, 3))
        elif kind != "number" and rng.random() < 0.5:
            values[index] = nan
        if kind not in ("coded", "one_hot") and index in case.guides:
            guides[index] = case.guides[index]
    whole = frozenset(i for i in case.whole if i < len(kinds) and kinds[i] == "number")
    return Case(values, ranges, case.favourable, guides, whole=whole, allowed=allowed)


def _typed_constraints(rng: np.random.Generator, case: Case, kinds: list[str]) -> Case:
    """Constraints that can be met, none of them a direction or a step of a category."""
    for _ in range(50):
        tried = with_constraints(rng, case)
        numeric = [i for i, kind in enumerate(kinds) if kind not in ("coded", "one_hot")]
        tried = replace(
            tried,
            directions={i: way for i, way in tried.directions.items() if i in numeric},
            max_step={i: step for i, step in tried.max_step.items() if i in numeric},
        )
        if feasible_sets(tried):
            return tried
    return case


def _write_graph(file: Path, network: Network) -> None:
    """The network behind a layer that puts a number in the place of what is not one; one column more, unused."""
    width = len(network.first)
    weights = {
        "unseen": np.array(UNSEEN),
        "w1": np.vstack([network.first, np.zeros((1, 5))]),
        "b1": network.first_bias,
        "w2": np.stack([-network.second, network.second], axis=1),
        "b2": np.array([-network.second_bias, network.second_bias]),
    }
    nodes = [
        helper.make_node("IsNaN", ["features"], ["absent"]),
        helper.make_node("Where", ["absent", "unseen", "features"], ["seen"]),
        helper.make_node("MatMul", ["seen", "w1"], ["p1"]),
        helper.make_node("Add", ["p1", "b1"], ["a1"]),
        helper.make_node("Relu", ["a1"], ["h1"]),
        helper.make_node("MatMul", ["h1", "w2"], ["p2"]),
        helper.make_node("Add", ["p2", "b2"], ["scores"]),
    ]
    graphs.save(
        file, nodes, {name: value.astype(np.float64) for name, value in weights.items()}, width + 1, TensorProto.DOUBLE
    )


def _described(kind: str, whole: bool) -> list[str]:
    if kind == "coded":
        return ['type = "category"', f"categories = {json.dumps(NAMES)}", f"codes = {CODES}"]
    if kind == "one_hot":
        return ['type = "category"', f"categories = {json.dumps(NAMES)}", "one_hot = true"]
    missing = {
        "defaulted": [f"default = {DEFAULT}", "missing_codes = [-99]"],
        "unseen": ["takes_missing = true", "missing_codes = [-99]"],
    }
    return [*missing.get(kind, []), *(['type = "integer"'] if whole else [])]


@pytest.mark.parametrize("chunk", range(4))
def test_every_type_of_feature_equals_brute_force(tmp_path: Path, chunk: int):
    (tmp_path / "ranges").mkdir()
    typed = {f"m{seed}": Typed(seed) for seed in range(chunk * CASES, (chunk + 1) * CASES)}
    for name, problem in typed.items():
        problem.write(tmp_path, name)
        description = tmp_path / f"models/{name}/model.toml"
        description.write_text(description.read_text() + '\n[[features]]\nname = "extra"\n')
    service = Service(
        settings := Settings(models_dir=tmp_path / "models", normal_ranges_dir=tmp_path / "ranges"),
        load_catalog(settings.models_dir, settings.normal_ranges_dir),
    )
    changed_categories = missing = 0
    for name, problem in typed.items():
        begun = service.answer(CounterfactualsRequest.model_validate(problem.request()), service.model(name))
        lines = [json.loads(begun.start().text), *(json.loads(line.text) for line in begun.rest() if line is not None)]
        answers = [line for line in lines if line["type"] == "counterfactual"]
        sets = {frozenset(int(change["feature"][1:]) for change in line["changes"]) for line in answers}
        assert sets == minimal_sets(problem.case), name
        assert len(sets) == len(answers)
        changed_categories += any(problem.kinds[i] in ("coded", "one_hot") for subset in sets for i in subset)
        missing += any(map(isnan, problem.case.values)) and bool(movable(problem.case))
        _check_marks(problem, lines[0])
    assert changed_categories > 5
    assert missing > 5


def _check_marks(problem: Typed, start: dict[str, Any]) -> None:
    """What was filled in is marked, and nothing that is missing is called abnormal."""
    for index, (kind, value) in enumerate(zip(problem.kinds, problem.case.values, strict=True)):
        feature = start["features"][index]
        if isnan(value):
            assert feature["filled"] == (DEFAULT if kind == "defaulted" else None)
            assert (feature["status"], feature["why_not"]) == ("unknown", "missing")
        else:
            assert feature["filled"] is None
