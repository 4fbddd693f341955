"""From the answers to the figures. What does not turn the decision counts as not valid, and in no other figure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean

import numpy as np

from lab.paper.conditions import NOISY, PLAIN, RETRAINED, Condition
from lab.paper.measures import metrics
from lab.paper.measures.agreement import compared, total
from lab.paper.measures.means import mean
from lab.paper.methods import BASELINES
from lab.paper.questions.asking import SECONDS, Answer, Asked
from lab.paper.questions.datasets import Values
from lab.paper.results import Agreement, Changes, DataSetResults, MethodResults, Robustness
from lab.paper.study import Study

METHODS = ("exact", "robust", "published", *BASELINES)
Figure = Callable[[Asked, str], float | None]


class Answers:
    """All answers of a data set, by condition and person."""

    def __init__(self, everything: Iterable[Asked]) -> None:
        self._by_place = {(asked.condition, asked.person): asked for asked in everything}
        self.people = sorted({person for _, person in self._by_place})

    def under(self, condition: Condition) -> list[Asked]:
        return [self.of(condition, person) for person in self.people]

    def of(self, condition: Condition, person: int) -> Asked:
        return self._by_place[condition.name, person]


def results(study: Study, asked: Iterable[Asked], refused: Agreement) -> DataSetResults:
    """The figures of a data set; `refused` is what was found for everyone whom its networks refuse."""
    answers = Answers(asked)
    plain = answers.under(PLAIN)
    scorer = _Scorer(study, answers)
    return DataSetResults(
        name=study.recipe.name,
        registry=study.recipe.registry,
        accuracies=study.accuracies,
        people=len(plain),
        without_recourse=sum(not each.minimal for each in plain),
        mean_answers=fmean(len(each.minimal) for each in plain),
        agreement=_agreement(each for condition in RETRAINED for each in answers.under(condition)),
        everyone=refused,
        methods={method: scorer.method(method) for method in METHODS},
    )


class _Scorer:
    """The figures of one method after the other."""

    def __init__(self, study: Study, answers: Answers) -> None:
        self._answers = answers
        rows, deviations = study.standardised, study.spread.deviations
        self._figures: Mapping[str, Figure] = {
            "sparsity": _of_rows(lambda asked, valid: metrics.sparsity(asked.instance, valid)),
            "aps": _of_rows(lambda asked, valid: metrics.aps(asked.instance, valid, rows)),
            "diversity": _of_rows(lambda _, valid: metrics.diversity(valid, deviations)),
            "c_diversity": _of_rows(lambda _, valid: metrics.c_diversity(valid)),
            "valid": _valid,
            "minimal_found": lambda asked, method: metrics.minimal_found(asked.minimal, _sets(asked, method)),
            "returned_minimal": lambda asked, method: metrics.returned_minimal(asked.minimal, _sets(asked, method)),
            "milliseconds": lambda asked, method: asked.answers[method].seconds * 1000,
        }

    def method(self, method: str) -> MethodResults:
        plain = self._answers.under(PLAIN)
        return MethodResults(
            metrics={name: mean([figure(asked, method) for asked in plain]) for name, figure in self._figures.items()},
            changes=self._changes(lambda asked: asked.answers[method]),
            same_seed=self._changes(lambda asked: asked.same_seed.get(method, asked.answers[method])),
            cut_short=sum(
                asked.answers[method].seconds >= SECONDS
                for condition in (*RETRAINED, *NOISY)
                for asked in self._answers.under(condition)
                if asked.answers
            ),
        )

    def _changes(self, answer: Callable[[Asked], Answer]) -> Changes:
        return Changes(
            self._robustness(answer, list(combinations(RETRAINED, 2))),
            {noisy.sigma: self._robustness(answer, [(PLAIN, noisy)]) for noisy in NOISY},
        )

    def _robustness(
        self, answer: Callable[[Asked], Answer], pairs: Sequence[tuple[Condition, Condition]]
    ) -> Robustness:
        """Each person counts once: by the mean of the pairs that are defined."""
        people: list[float | None] = []
        undefined = 0
        for person in self._answers.people:
            sides = [[self._answers.of(condition, person) for condition in pair] for pair in pairs]
            sets = [[_counterfactuals(asked, answer) for asked in pair] for pair in sides]
            distances = [metrics.inconsistency(*both) for both in sets]
            defined = [distance for distance in distances if distance is not None]
            undefined += len(distances) - len(defined)
            people.append(fmean(defined) if defined else None)
        return Robustness(mean(people), len(people) * len(pairs), undefined)


def _of_rows(figure: Callable[[Asked, Values], float | None]) -> Figure:
    """A figure of the counterfactuals; undefined where there is none."""

    def of(asked: Asked, method: str) -> float | None:
        valid = _valid_rows(asked, method)
        return figure(asked, valid) if len(valid) else None

    return of


def _valid(asked: Asked, method: str) -> float | None:
    """Of what a baseline was asked for: what it does not return is not valid either."""
    valid = asked.answers[method].valid
    wanted = asked.wanted if method in BASELINES else len(valid)
    return sum(valid) / wanted if wanted else None


def _valid_rows(asked: Asked, method: str) -> Values:
    return _counterfactuals(asked, lambda asked: asked.answers[method])


def _counterfactuals(asked: Asked, answer: Callable[[Asked], Answer]) -> Values:
    if asked.favoured:
        return np.empty((0, len(asked.instance)))
    found = answer(asked)
    rows: Values = found.rows[list(found.valid)]
    return rows


def _sets(asked: Asked, method: str) -> list[frozenset[int]]:
    """Which features each counterfactual changes."""
    return [metrics.changed(asked.instance, row) for row in _valid_rows(asked, method)]


def _agreement(everything: Iterable[Asked]) -> Agreement:
    return total(
        compared(asked.minimal, _sets(asked, "published"), monotone=asked.monotone)
        for asked in everything
        if not asked.favoured
    )
