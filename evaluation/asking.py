"""One person under one condition, asked of every method."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from evaluation.conditions import Condition
from evaluation.datasets import Values
from evaluation.every_subset import EverySubset
from evaluation.methods import BASELINES, Subset, exact, published
from evaluation.posing import Posed
from evaluation.question import Question
from evaluation.retraining import Trained
from evaluation.seeds import seed_of
from evaluation.study import Study, favours

# No method may take longer for one person.
SECONDS = 5.0


@dataclass(frozen=True)
class Answer:
    """What one method said: counterfactuals in standardised units, and which of them turn the decision."""

    rows: Values
    valid: tuple[bool, ...]
    seconds: float


@dataclass(frozen=True)
class Asked:
    """One person under one condition: the truth by every subset, and the answers.

    `favoured` are those whom the network favours as they are: nobody is asked about them.
    """

    condition: str
    person: int
    instance: Values
    favoured: bool
    monotone: bool
    minimal: tuple[Subset, ...]
    answers: Mapping[str, Answer]


def ask(study: Study, condition: Condition, person: int) -> Asked:
    """Ask every method about one person."""
    trained = study.networks[condition.network]
    values = study.values(condition, person)
    instance = trained.scale.standardised(values)
    if favours(trained, values[np.newaxis])[0]:
        return Asked(condition.name, person, instance, True, True, (), {})
    problem = study.posed(values)
    posed = Posed(values.astype(np.float32), {move.position: move.target for move in problem.moves})
    truth = EverySubset(posed, trained.judge)
    answerer = _Answerer(trained, values, instance, posed.targets)
    answers = {
        "exact": answerer.sets(lambda: exact(trained, study.posed(values))),
        "published": answerer.sets(lambda: published(trained, posed)),
    }
    for name, method in BASELINES.items():
        # Where the ranges show no way out, the others may still show one.
        count = max(len(truth.minimal), 1)
        seed = seed_of(study.recipe.name, condition.name, str(person), name)
        question = Question(trained.network, instance, answerer.targets, count, study.spread, seed, SECONDS)
        answers[name] = answerer.rows(lambda question=question, method=method: method(question))
    minimal = tuple(sorted(truth.minimal, key=lambda subset: (len(subset), sorted(subset))))
    return Asked(condition.name, person, instance, False, truth.monotone, minimal, answers)


class _Answerer:
    """Times a method on one person, and lets the model file judge what it says."""

    def __init__(self, trained: Trained, values: Values, instance: Values, targets: Mapping[int, float]) -> None:
        self._trained = trained
        self._values = values
        self._instance = instance
        places = list(targets)
        moved = values.copy()
        moved[places] = list(targets.values())
        self.targets = dict(zip(places, trained.scale.standardised(moved)[places].tolist(), strict=True))

    def sets(self, method: Callable[[], Iterable[Subset]]) -> Answer:
        began = perf_counter()
        found = list(method())
        seconds = perf_counter() - began
        rows = np.repeat(self._instance[np.newaxis], len(found), axis=0)
        for row, subset in zip(rows, found, strict=True):
            for position in subset:
                row[position] = self.targets[position]
        return Answer(rows, self._judged(rows), seconds)

    def rows(self, method: Callable[[], Values]) -> Answer:
        began = perf_counter()
        rows = method()
        seconds = perf_counter() - began
        return Answer(rows, self._judged(rows), seconds)

    def _judged(self, rows: Values) -> tuple[bool, ...]:
        if not len(rows):
            return ()
        # A value that was left alone is judged as it was measured, to the last digit.
        measured = np.where(rows == self._instance, self._values, self._trained.scale.measured(rows))
        return tuple(favours(self._trained, measured).tolist())
