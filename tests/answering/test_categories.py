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
from app.answering.service import Service
from app.settings import Settings
from tests.support import graphs
from tests.support.answers import lines_of
from tests.support.brute_force import Case, feasible_sets, minimal_sets, missing_target, movable, target_of
from tests.support.constrained import with_constraints
from tests.support.networks import Network, random_case
from tests.support.scale import scaled
from tests.support.searching import constraints_json
from tests.support.seeds import Seeds

CASES = 60
NAMES = ["red", "green", "blue"]
CODES = [5.0, 7.0, -2.0]
DEFAULT = 1.0
# What the graph itself puts in the place of a value that is not a number.
UNSEEN = 2.0
KINDS = ["number", "number", "coded", "one_hot", "zeros", "dropped", "defaulted", "unseen"]
# One column a category; `zeros` and `dropped` may be missing, and the first category of `dropped` has no column.
GROUPS = {"one_hot": (0, 1, 2), "zeros": (0, 1, 2), "dropped": (1, 2)}
CATEGORIES = ("coded", *GROUPS)


class Typed:
    """A random problem whose features are of every type, and the model that goes with it."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        case, _ = random_case(seed)
        width = min(len(case.values), 8)
        self.kinds = [str(rng.choice(KINDS)) for _ in range(width)]
        self.network = _network(rng, sum(len(GROUPS.get(kind, (0,))) for kind in self.kinds))
        case = _retyped(rng, case, self.kinds)
        case = replace(case, if_missing=_provided(rng, case, self.kinds))
        value = float(self.network.value(np.array(self._row(case.values))))
        self.network.second_bias = -value - float(rng.integers(0, 10))
        case = replace(case, favourable=lambda values: self.network.favours(self._row(values)))
        self.case = _typed_constraints(rng, case, self.kinds)

    def _row(self, values: list[float]) -> list[float]:
        """The columns that the graph reads, written out by hand."""
        row: list[float] = []
        for kind, value in zip(self.kinds, values, strict=True):
            if kind in GROUPS:
                # Noughts where it is missing: no place equals what is not a number.
                row += [float(place == value) for place in GROUPS[kind]]
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
                yield from self._said_by_the_registry(index)
            elif known is not None:
                ends = ", ".join(
                    f"{side} = {end}" for side, end in zip(("low", "high"), known, strict=True) if end is not None
                )
                yield f"[features.f{index}]\nranges = [{{ {ends} }}]"
                yield from self._said_by_the_registry(index)
        # A registry knows at least something.
        yield "[features.extra]\nranges = [{ low = 0 }]"

    def _said_by_the_registry(self, index: int) -> Iterator[str]:
        """What a missing value would become, of every second feature; of the others the request says it."""
        if index in self.case.if_missing and index % 2:
            said = self.case.if_missing[index]
            value = said if isinstance(said, str) else json.dumps(self._sent(index, said))
            yield f'if_missing = "{value}"' if isinstance(said, str) else f"if_missing = {{ value = {value} }}"

    def _said_by_the_request(self) -> dict[str, Any]:
        case = self.case
        rangeless = [i for i in case.if_missing if case.ranges[i] is None and i not in case.allowed]
        return {
            f"f{i}": {"if_missing": said if isinstance(said, str) else {"value": self._sent(i, said)}}
            for i, said in case.if_missing.items()
            if not i % 2 or i in rangeless
        }

    def request(self) -> dict[str, Any]:
        instance = {f"f{index}": self._sent(index, value) for index, value in enumerate(self.case.values)}
        guide = {f"f{index}": self._sent(index, value) for index, value in self.case.guides.items()}
        return {
            "instance": {**instance, "extra": 1},
            "guide": guide,
            "normal_ranges": self._said_by_the_request(),
            "constraints": constraints_json(self.case),
            "limits": {"engine": "lattice"},
        }

    def _sent(self, index: int, value: float) -> Any:
        if isnan(value):
            return -99 if index % 2 else None
        return NAMES[int(value)] if self.kinds[index] in CATEGORIES else value


def _network(rng: np.random.Generator, width: int) -> Network:
    first = rng.integers(-3, 4, (width, 5)).astype(float)
    return Network(first, rng.integers(-5, 6, 5).astype(float), rng.integers(-3, 4, 5).astype(float), 0.0)


def _retyped(rng: np.random.Generator, case: Case, kinds: list[str]) -> Case:
    """Some numbers of a case turned into categories, and some taken away."""
    values, ranges, allowed, guides = list(case.values)[: len(kinds)], list(case.ranges)[: len(kinds)], {}, {}
    for index, kind in enumerate(kinds):
        if kind in CATEGORIES:
            values[index], ranges[index] = float(rng.integers(0, 3)), None
            if rng.random() < 0.8:
                allowed[index] = tuple(float(code) for code in rng.permutation(3)[: int(rng.integers(1, 3))])
            elif rng.random() < 0.5:
                guides[index] = float(rng.integers(0, 3))
        if kind not in ("number", "coded", "one_hot") and rng.random() < 0.5:
            values[index] = nan
        if kind not in CATEGORIES and index in case.guides:
            guides[index] = case.guides[index]
    whole = frozenset(i for i in case.whole if i < len(kinds) and kinds[i] == "number")
    return Case(values, ranges, case.favourable, guides, whole=whole, allowed=allowed)


def _provided(rng: np.random.Generator, case: Case, kinds: list[str]) -> dict[int, float | str]:
    """For some of the missing values what they would become."""
    said: dict[int, float | str] = {}
    for i, value in enumerate(case.values):
        if not isnan(value) or rng.random() < 0.4:
            continue
        if rng.random() < 0.5 and missing_target(replace(case, if_missing={i: "target"}), i) is not None:
            said[i] = "target"
        elif kinds[i] in CATEGORIES:
            said[i] = float(rng.choice(case.allowed.get(i, (0.0, 1.0, 2.0))))
        else:
            low, high = case.ranges[i] or (-3.0, 3.0)
            said[i] = high if low is None else low if high is None else float(rng.choice([low, high, (low + high) / 2]))
    return said


def _typed_constraints(rng: np.random.Generator, case: Case, kinds: list[str]) -> Case:
    """Constraints that can be met, none of them a direction or a step of a category."""
    for _ in range(50):
        tried = with_constraints(rng, case)
        numeric = [i for i, kind in enumerate(kinds) if kind not in CATEGORIES]
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
    if kind in GROUPS:
        missing = [] if kind == "one_hot" else ['missing = "zeros"', "missing_codes = [-99]"]
        dropped = ["drop_first = true"] if kind == "dropped" else []
        return ['type = "category"', f"categories = {json.dumps(NAMES)}", "one_hot = true", *missing, *dropped]
    missing = {
        "defaulted": [f"default = {DEFAULT}", "missing_codes = [-99]"],
        "unseen": ["takes_missing = true", "missing_codes = [-99]"],
    }
    return [*missing.get(kind, []), *(['type = "integer"'] if whole else [])]


@pytest.mark.parametrize("chunk", range(scaled(1)))
def test_every_type_of_feature_equals_brute_force(tmp_path: Path, chunk: int):
    (tmp_path / "ranges").mkdir()
    typed = {f"m{seed}": Typed(seed) for seed in Seeds(CASES, chunk * CASES)}
    for name, problem in typed.items():
        problem.write(tmp_path, name)
        description = tmp_path / f"models/{name}/model.toml"
        description.write_text(description.read_text() + '\n[[features]]\nname = "extra"\n')
    service = Service(
        settings := Settings(models_dir=tmp_path / "models", normal_ranges_dir=tmp_path / "ranges"),
        load_catalog(settings.models_dir, settings.normal_ranges_dir),
    )
    changed_categories = missing = provided = 0
    for name, problem in typed.items():
        lines = lines_of(service, problem.request(), name)
        answers = [line for line in lines if line["type"] == "counterfactual"]
        sets = {frozenset(int(change["feature"][1:]) for change in line["changes"]) for line in answers}
        assert sets == minimal_sets(problem.case), name
        assert len(sets) == len(answers)
        changed_categories += any(problem.kinds[i] in CATEGORIES for subset in sets for i in subset)
        provided += any(change["from"] is None for line in answers for change in line["changes"])
        missing += any(map(isnan, problem.case.values)) and bool(movable(problem.case))
        _check_marks(problem, lines[0])
    assert changed_categories > 5
    assert missing > 5
    assert provided > 5


def _check_marks(problem: Typed, start: dict[str, Any]) -> None:
    """What was filled in is marked, and nothing that is missing is called abnormal."""
    for index, (kind, value) in enumerate(zip(problem.kinds, problem.case.values, strict=True)):
        feature = start["features"][index]
        if isnan(value):
            assert feature["filled"] == (DEFAULT if kind == "defaulted" else None)
            assert feature["status"] == "unknown"
            assert (feature["why_not"] == "missing") == (target_of(problem.case, index) is None)
            assert ("hint" in feature) == (feature["why_not"] == "missing")
        else:
            assert feature["filled"] is None
