"""Certificates of plans of the shipped models, against the models: random measurements, and the one that is shown."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from lab.benchmarks.requests.asking import Asker
from tests.support.live_server import ROOT
from tests.support.scale import scaled
from tests.support.seeds import Seeds

# More of them, as long as no plan was certified, or none refuted.
PEOPLE, MOST_PEOPLE = 6, 120
# Measurements of each plan that is certified.
POINTS = 20_000
AT_ONCE = 50_000
# Errors of the first features of each model that are numbers, beside the registry's own.
NOISE = {
    "hcv": [None, {"relative": 0.03}],
    "thyroid": [None, {"relative": 0.02}],
    "mortgage": [{"relative": 0.01}, {"relative": 0.1}],
    "synthetic": [{"sd": 0.01}, {"sd": 0.1}],
}
DEVIATIONS = 3


@pytest.fixture(scope="module")
def asker() -> Asker:
    return Asker(ROOT / "models", ROOT / "normal_ranges")


def questions(model: str) -> Iterator[dict[str, Any]]:
    """The shipped examples with every measurement a little different, and errors of several sizes."""
    examples = [json.loads(file.read_text()) for file in sorted((ROOT / "models" / model / "examples").glob("*.json"))]
    for seed in Seeds(MOST_PEOPLE, first=410_000):
        rng = np.random.default_rng(seed)
        request = examples[seed % len(examples)]
        instance = {
            name: value if value == int(value) and abs(value) < 10 else float(value * np.exp(rng.normal(0, 0.1)))
            for name, value in request["instance"].items()
        }
        for noise in NOISE[model]:
            errors = "registry" if noise is None else dict.fromkeys(list(instance)[:4], noise)
            yield {**request, "instance": instance, "robustness": {"noise": errors}}


class Plan:
    """A plan of an answer, and all that may be measured of it."""

    def __init__(self, asker: Asker, model: str, noise: dict[str, dict[str, float]], plan: dict[str, Any]) -> None:
        self.told = plan["stability"]
        self._model = asker.model(model)
        self._values = [plan["instance"][feature.name] for feature in self._model.features]
        self._reach = {}
        for position, feature in enumerate(self._model.features):
            if (said := noise.get(feature.name)) is not None:
                value = self._values[position]
                far = DEVIATIONS * (said["sd"] if "sd" in said else said["relative"] * abs(value))
                self._reach[position] = value - far, value + far

    def points(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Random measurements; of a quarter every value lies at one of its ends."""
        scorer = self._model.scorer
        row = [cell for place, value in enumerate(self._values) for cell in scorer.cells(place, self._coded(place))]
        rows = np.tile(np.array(row, dtype=scorer.dtype), (count, 1))
        for position, (low, high) in self._reach.items():
            share = rng.random(count)
            share[: count // 4] = np.rint(share[: count // 4])
            found = np.clip(low + share * (high - low), low, high)
            rows[:, scorer.columns(position)[0]] = np.rint(found) if self._model.features[position].whole else found
        return rows

    def _coded(self, place: int) -> float:
        feature, value = self._model.features[place], self._values[place]
        return float(feature.categories.index(value)) if feature.type == "category" else float(value)

    def favours(self, rows: np.ndarray) -> np.ndarray:
        outputs, favourable = self._model.scorer(rows), self._model.favourable
        return favourable.holds(outputs, favourable.score(outputs))

    def shown(self) -> np.ndarray:
        """The row of the measurement that is shown."""
        (row,) = self.points(1, np.random.default_rng(0))
        names = {feature.name: place for place, feature in enumerate(self._model.features)}
        assert {names[name] for name in self.told["counterexample"]["measured"]} == set(self._reach)
        for name, value in self.told["counterexample"]["measured"].items():
            low, high = self._reach[names[name]]
            whole = self._model.features[names[name]].whole
            assert (np.rint(low) if whole else low) <= value <= (np.rint(high) if whole else high)
            row[self._model.scorer.columns(names[name])[0]] = value
        return row[None]


@pytest.mark.parametrize("model", NOISE)
def test_no_measurement_breaks_a_certified_plan_and_the_one_shown_breaks_the_other(asker: Asker, model: str):
    """Each within three standard deviations."""
    seen: Counter[str] = Counter()
    for asked, body in enumerate(questions(model)):
        if asked >= PEOPLE * len(NOISE[model]) and seen["True"] and seen["False"]:
            break
        plans: list[dict[str, Any]] = []
        start = asker.ask(model, json.dumps(body).encode(), lambda line, plans=plans: plans.append(json.loads(line)))
        for told in plans:
            plan, rng = Plan(asker, model, start.start["robustness"]["noise"], told), np.random.default_rng(len(plans))
            certified = told["stability"]["certified"]
            seen[str(certified)] += 1
            if certified:
                for first in range(0, scaled(POINTS), AT_ONCE):
                    assert plan.favours(plan.points(min(AT_ONCE, scaled(POINTS) - first), rng)).all()
            elif certified is False:
                assert not plan.favours(plan.shown()).any()
    print(model, dict(seen))  # noqa: T201  # `pytest -rP` shows how many
    assert seen["True"]
    assert seen["False"]
