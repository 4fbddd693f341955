"""Models of many kinds, as exporters write them: the same predictions and the same answers as their own library's."""

import importlib.util
import tomllib
from collections.abc import Callable, Iterator
from itertools import combinations
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.adapters.catalog import load_catalog
from app.adapters.graphs.runs import Runs
from app.answering.predictions import predicting
from app.answering.service import Service
from app.asking.schemas import PredictionsRequest
from app.core.turns import run_through
from app.settings import Settings
from tests.exporters.kinds import JOBS, KINDS, Kind, Person
from tests.support.answers import lines_of

# Trainers and exporters warn of their own affairs, which are not ours.
pytestmark = pytest.mark.filterwarnings("default")

PEOPLE = 40
REGISTRY = {
    "a": "ranges = [{ low = -1, high = 0.5 }]",
    "b": "ranges = [{ high = 1 }]",
    "c": "ranges = [{ low = 0, high = 0 }]",
    "d": 'ranges = [{ low = -0.5, high = 0.5 }]\nmove_to = "midpoint"',
    "job": 'allowed = ["baker", "clerk"]',
    "smoker": 'allowed = ["no"]',
}
# Where float32 may fall on the other side than the library's float64.
NEAR = 1e-4


def needs(make: Callable[[], Kind]) -> None:
    if make.__name__.startswith("torch") and importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed here; .ci/run installs it")


def serve(folder: Path, kind: Kind) -> Service:
    (folder / "models/m").mkdir(parents=True)
    (folder / "ranges").mkdir()
    (folder / "models/m/model.onnx").write_bytes(kind.graph)
    description = f'title = "A test"\nversion = "1"\nnormal_ranges = "r"\n{kind.description}\n'
    (folder / "models/m/model.toml").write_text(description)
    names = [feature["name"] for feature in tomllib.loads(description)["features"]]
    ranges = "\n".join(f"[features.{name}]\n{REGISTRY[name]}" for name in names)
    (folder / "ranges/r.toml").write_text(f'title = "A test"\nversion = "1"\n{ranges}\n')
    settings = Settings(models_dir=folder / "models", normal_ranges_dir=folder / "ranges")
    return Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


def people(service: Service, seed: int = 7) -> Iterator[Person]:
    rng = np.random.default_rng(seed)
    features = service.catalog.models["m"].features
    for _ in range(PEOPLE):
        yield {feature.name: _random_value(rng, feature) for feature in features}


def _random_value(rng: np.random.Generator, feature: Any) -> Any:
    if feature.may_be_missing and rng.random() < 0.3:
        return None if rng.random() < 0.5 else -9
    if feature.type == "category":
        return str(rng.choice(feature.categories))
    return int(rng.integers(-4, 5)) if feature.whole else float(rng.integers(-256, 257) / 64)


def targets(person: Person) -> dict[str, Any]:
    """Where each abnormal value of a person goes, by the registry above."""
    moved: dict[str, Any] = {}
    for name, value in person.items():
        if value is None or value == -9:
            continue
        if name == "a" and not -1 <= value <= 0.5:
            # An integer is rounded into the range.
            high = 0 if isinstance(value, int) else 0.5
            moved[name] = -1 if value < -1 else high
        elif name == "b" and value > 1:
            moved[name] = 1
        elif (name == "c" and value != 0) or (name == "d" and not -0.5 <= value <= 0.5):
            moved[name] = 0
        elif name == "job" and value == JOBS[2]:
            moved[name] = "baker"
        elif name == "smoker" and value == "yes":
            moved[name] = "no"
    return moved


def brute_force(kind: Kind, person: Person) -> tuple[list[set[str]], bool]:
    """The minimal sets by the library's own word, and whether any of them was a close call."""
    moved = targets(person)
    found: list[set[str]] = []
    close = False
    for size in range(len(moved) + 1):
        for names in combinations(moved, size):
            _, margin = kind.judge({**person, **{name: moved[name] for name in names}})
            close = close or abs(margin) < NEAR
            if margin >= 0 and not any(known <= set(names) for known in found):
                found.append(set(names))
    return found, close


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_it_is_served_as_its_own_library_would(make: Callable[[], Kind], tmp_path: Path):
    needs(make)
    kind = make()
    service = serve(tmp_path, kind)
    model = service.catalog.models["m"]
    refused = found = 0
    for person in people(service):
        score, margin = kind.judge(person)
        asked = PredictionsRequest.model_validate({"instance": person})
        said = run_through(predicting(asked, model, Runs(inf))).verdict
        assert said.score[0] == pytest.approx(score, abs=1e-5, rel=1e-5)
        if abs(margin) >= NEAR:
            assert said.favourable[0] == (margin >= 0)
        truth, close = brute_force(kind, person)
        if close or margin >= 0:
            continue
        lines = answer(service, person)
        sets = [{change["feature"] for change in line["changes"]} for line in lines if line["type"] == "counterfactual"]
        assert sorted(map(sorted, sets)) == sorted(map(sorted, truth)), person
        assert lines[-1]["complete"]
        for line in lines:
            if line["type"] == "counterfactual":
                again = answer(service, line["instance"])
                assert again[0]["prediction"] == line["prediction"]
                assert again[-1]["outcome"] == "already_favourable"
        refused += 1
        found += bool(truth)
    assert refused > 5
    assert found > 0


def answer(service: Service, person: Person) -> list[dict[str, Any]]:
    return lines_of(service, {"instance": person}, "m")


def test_a_graph_that_takes_one_row_at_a_time_tells_what_that_costs(tmp_path: Path):
    make = next(make for make in KINDS if make.__name__ == "mlp_one_row_at_a_time")
    service = serve(tmp_path, make())
    summary = next(
        lines[-1]
        for person in people(service)
        if len(lines := answer(service, person)) > 2 and lines[-1]["model_rows"] > 3
    )
    assert summary["model_calls"] == summary["model_rows"]


def test_there_are_many_kinds():
    assert len(KINDS) >= 11
