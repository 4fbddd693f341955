"""Random people before models that a search sees through, with all that a request may ask for."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from app.core.favourable import Favourable, FavourableClasses, FavourableInterval
from tests.support.brute_force import Case, changed, feasible_sets, minimal_sets, movable
from tests.support.constrained import with_constraints
from tests.support.networks import random_case
from tests.support.searching import Run
from tests.support.sums import TableModel, random_model


@dataclass
class Person:
    """A case, the model, and what is favourable."""

    case: Case
    model: TableModel
    favourable: Favourable
    weights: dict[int, float]

    def score(self, subset: frozenset[int]) -> np.floating:
        targets = movable(self.case)
        outputs = self.model(np.array([changed(self.case, subset, targets)]))
        return self.favourable.score(outputs)[0]

    def run(self, engine: str, **options) -> Run:
        view = self.model.view(self.case.values)
        return Run(
            self.case, self.model, engine, favourable=self.favourable, weights=self.weights, view=view, **options
        )

    def expected(self) -> list[frozenset[int]]:
        """Every minimal answer by the definition, in the order of sending."""
        return sorted(minimal_sets(self.case), key=lambda answer: (len(answer), self.cost(answer), sorted(answer)))

    def cost(self, answer: frozenset[int]) -> float:
        # Weights are quarters: their sums are exact.
        return sum(self.weights.get(i, 1) for i in answer)


def random_person(seed: int, *, constrained: bool) -> Person:
    """Refused by a random model with one value, two classes or three; every kind of decision."""
    for attempt in range(1_000):
        rng = np.random.default_rng((seed, attempt))
        case, _ = random_case(seed * 1_000 + attempt)
        case = with_constraints(rng, replace(case, max_changes=None)) if constrained else case
        person = _before_a_model(rng, case)
        if person is not None:
            return person
    raise AssertionError(f"no person for seed {seed}")


def _before_a_model(rng: np.random.Generator, case: Case) -> Person | None:
    targets = movable(case)
    if not 1 <= len(targets) <= 12 or not feasible_sets(case):
        return None
    kind = str(rng.choice(["value", "sigmoid", "two", "two that mirror", "three"]))
    forms = {"value": 1, "sigmoid": 1, "two": 2, "two that mirror": 2, "three": 3}[kind]
    model = random_model(rng, case.values, targets, forms)
    if kind == "two that mirror":
        for addend in model.addends:
            addend.values[:, 1] = -addend.values[:, 0]
    model.kind = "sigmoid" if kind == "sigmoid" else "classes"
    model.batch_rows = int(rng.choice([1, 5, 64, 16_384]))
    scores = _scores(model, case, targets)
    favourable = _decision(rng, kind, scores)

    def favours(row: list[float]) -> bool:
        outputs = model(np.array([row]))
        return bool(favourable.holds(outputs, favourable.score(outputs))[0])

    if favours(list(case.values)):
        return None
    weights = {i: float(rng.integers(1, 9)) / 4 for i in targets} if rng.random() < 0.4 else {}
    return Person(replace(case, favourable=favours), model, favourable, weights)


def _scores(model: TableModel, case: Case, targets: dict[int, float]) -> np.ndarray:
    """What the model says of some subsets, to choose thresholds among."""
    rows = [list(case.values)]
    for size in (1, 2, len(targets)):
        rows += [changed(case, frozenset(subset), targets) for subset in combinations(targets, size)]
    return model(np.array(rows))


def _decision(rng: np.random.Generator, kind: str, scores: np.ndarray) -> Favourable:
    """Thresholds are scores that the model reaches exactly, mostly."""
    one = float(rng.choice(scores[:, -1]))
    if kind == "value":
        low, high = sorted([one, float(rng.choice(scores[:, 0]))])
        return [FavourableInterval(low, None), FavourableInterval(None, high), FavourableInterval(low, high)][
            int(rng.integers(0, 3))
        ]
    if kind == "three":
        sides = [((0,), (1, 2)), ((0, 2), (1,)), ((2,), (0, 1)), ((1, 2), (0,))]
        classes, others = sides[int(rng.integers(0, 4))]
        return FavourableClasses(classes, others, one if rng.random() < 0.4 else None)
    classes, others = ((1,), (0,)) if rng.random() < 0.5 else ((0,), (1,))
    column = classes[0]
    return FavourableClasses(classes, others, float(rng.choice(scores[:, column])) if rng.random() < 0.5 else None)
