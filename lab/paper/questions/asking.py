"""One person under one condition, asked of every method."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from lab.paper.conditions import PLAIN, Condition
from lab.paper.every_subset import EverySubset
from lab.paper.methods import BASELINES, Subset, exact, published, robust
from lab.paper.questions.datasets import Values
from lab.paper.questions.question import Method, Question
from lab.paper.questions.seeds import seed_of
from lab.paper.retraining import Trained
from lab.paper.study import Study, favours

# No baseline may take longer for one person, in seconds of the processor's time.
SECONDS = 20.0


@dataclass(frozen=True)
class Answer:
    """What one method said: counterfactuals in standardised units, and which of them turn the decision."""

    rows: Values
    valid: tuple[bool, ...]
    seconds: float


@dataclass(frozen=True)
class Asked:
    """One person under one condition: the truth by every subset, and the answers.

    `favoured` are those whom the network favours as they are: nobody is asked about them. For `answers` chances are
    drawn anew under each condition, for `same_seed` they are the same; those that search sets leave nothing to chance.
    """

    condition: str
    person: int
    instance: Values
    favoured: bool
    monotone: bool
    minimal: tuple[Subset, ...]
    answers: Mapping[str, Answer]
    same_seed: Mapping[str, Answer]

    @property
    def wanted(self) -> int:
        """How many counterfactuals a baseline is asked for; where the ranges show no way out, it may still show one."""
        return max(len(self.minimal), 1)


def ask(study: Study, condition: Condition, person: int) -> Asked:
    """Ask every method about one person."""
    trained = study.networks[condition.network]
    values = study.values(condition, person)
    instance = trained.scale.standardised(values)
    if favours(trained, values[np.newaxis])[0]:
        return Asked(condition.name, person, instance, True, True, (), {}, {})
    truth = EverySubset(study.posed(values), trained.judge)
    minimal = tuple(sorted(truth.minimal, key=lambda subset: (len(subset), sorted(subset))))
    asked = Asked(condition.name, person, instance, False, truth.monotone, minimal, {}, {})
    baselines = _Baselines(study, trained, values, asked.wanted)
    names = (study.recipe.name, str(person))
    same_seed = baselines.answers(*names)
    # One condition may draw what all draw with the same seed; the others draw something else.
    anew = same_seed if condition == PLAIN else baselines.answers(*names, condition.name)
    return replace(asked, answers={**_by_sets(study, condition, values), **anew}, same_seed=same_seed)


def _by_sets(study: Study, condition: Condition, values: Values) -> dict[str, Answer]:
    """Those that search subsets; all are given the problem posed."""
    trained, companions = study.networks[condition.network], study.companions[condition.network]
    problem, posed = study.problem(values), study.posed(values)
    search = published(trained, posed)

    def answer(find: Callable[[], Iterable[Subset]]) -> Answer:
        began = perf_counter()
        found = list(find())
        seconds = perf_counter() - began
        rows = np.array([_moved(values, posed.targets, subset) for subset in found]).reshape(-1, len(values))
        standardised = np.where(rows == values, trained.scale.standardised(values), trained.scale.standardised(rows))
        return Answer(standardised, _judged(trained, rows), seconds)

    return {
        "exact": answer(lambda: exact(trained, problem)),
        "robust": answer(lambda: robust(trained, companions, problem)),
        "published": answer(search.answers),
    }


class _Baselines:
    """The other methods, who see standardised units only."""

    def __init__(self, study: Study, trained: Trained, values: Values, count: int) -> None:
        self._study = study
        self._trained = trained
        self._values = values
        self._instance = trained.scale.standardised(values)
        self._count = count
        targets = study.posed(values).targets
        prototype = trained.scale.standardised(_moved(values, targets, targets))
        self._targets = {position: float(prototype[position]) for position in targets}

    def answers(self, *names: str) -> dict[str, Answer]:
        """What each says, with chances by these names."""
        return {name: self._answer(method, seed_of(*names, name)) for name, method in BASELINES.items()}

    def _answer(self, method: Method, seed: int) -> Answer:
        question = Question(
            self._trained.network, self._instance, self._targets, self._count, self._study.spread, seed, SECONDS
        )
        began = perf_counter()
        rows = method(question)
        seconds = perf_counter() - began
        # A value that was left alone is judged as it was measured, to the last digit.
        measured = np.where(rows == self._instance, self._values, self._trained.scale.measured(rows))
        return Answer(rows, _judged(self._trained, measured), seconds)


def _moved(values: Values, targets: Mapping[int, float], subset: Iterable[int]) -> Values:
    """r(x, S)."""
    moved = values.copy()
    for position in subset:
        moved[position] = targets[position]
    return moved


def _judged(trained: Trained, rows: Values) -> tuple[bool, ...]:
    return tuple(favours(trained, rows).tolist()) if len(rows) else ()
