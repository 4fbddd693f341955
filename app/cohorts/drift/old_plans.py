"""The plans of the old version, judged by the new one: as if a person came back with the changes made."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.adapters.graphs.models import Model
from app.adapters.graphs.onnx import ModelFailed
from app.asking.posing.terms import Terms
from app.cohorts.solving.answers import Answered
from app.cohorts.solving.results import Sources
from app.cohorts.solving.values import encoded
from app.core.constraints import Causal
from app.core.crowd.posed import Places, Values
from app.core.favourable import NO_CLASS, Bools
from app.core.following.following import Following
from app.core.search.verdict import Verdict

# Rows that are judged at once: a person may have a thousand plans.
MOST_ROWS = 8_192


class JudgedPlans(NamedTuple):
    """What the new version says of some plans: whether they hold, their scores (NaN: it gave none) and labels."""

    holds: Bools
    scores: NDArray[Any]
    labels: Places


class OldPlans:
    """Judges plans that were found under the terms `old` under the new version's."""

    def __init__(self, old: Terms, new: Terms) -> None:
        self._terms = new
        # Where the new version has each feature of the old one.
        self._places = np.array([new.model.positions[feature.name] for feature in old.model.features])
        # What moved along was part of the plan; what is derived, the new version works out.
        self._shifts = [
            shift for item in old.items if isinstance(item.statement, Causal) for shift in item.statement.shifts
        ]
        self._whole = _whole(old.model)
        self._derived = Following.of((), (), new.model.derived, _whole(new.model))
        self._most = np.array([kind.most for kind in new.model.types])
        self._least = np.array([0 if kind.kind == "b" else -kind.most for kind in new.model.types])

    def judged(self, plans: Answered, old: Sources, new: Sources) -> JudgedPlans:
        """Judge plans of people whom both versions can read."""
        count = len(plans.people)
        score = self._terms.model.scorer.score_dtype
        judged = JudgedPlans(np.zeros(count, np.bool_), np.full(count, np.nan, score), np.full(count, NO_CLASS))
        for start in range(0, count, MOST_ROWS):
            some = np.arange(start, min(start + MOST_ROWS, count))
            values = self._changed(plans.of(some), old, new)
            # NaN is a missing value.
            readable = ~((values < self._least) | (values > self._most)).any(axis=1)
            self._judge(values[readable], some[readable], judged)
        return judged

    def _changed(self, plans: Answered, old: Sources, new: Sources) -> Values:
        """The people as the new version reads them, with the changes of the plans."""
        values, before = new.values[plans.people], old.values[plans.people]
        after = before.copy()
        made = plans.changed >= 0
        rows, features = np.nonzero(made)[0], plans.changed[made]
        ends, targets = plans.ends[made], old.targets[plans.people[rows], features]
        after[rows, features] = np.where(np.isnan(ends), targets, ends)
        values[rows, self._places[features]] = after[rows, features]
        moved = Following.of([*before.T], self._shifts, {}, self._whole).after(lambda place: after[:, place])
        for effect, value in moved.items():
            stays = np.isnan(value) | np.equal(value, after[:, effect])
            values[:, self._places[effect]] = np.where(stays, values[:, self._places[effect]], value)
        for place, value in self._derived.after(lambda place: values[:, place]).items():
            values[:, place] = value
        return values

    def _judge(self, values: Values, places: Places, judged: JudgedPlans) -> None:
        if not len(values):
            return
        model = self._terms.model
        try:
            verdict = Verdict.of(model.scorer(encoded(values, model)), self._terms.favourable)
        except ModelFailed:
            # One row may be the cause: judge each alone. A person on whom the model fails keeps no plan.
            if len(values) > 1:
                for one in range(len(values)):
                    self._judge(values[one : one + 1], places[one : one + 1], judged)
            return
        known = np.isfinite(verdict.score)
        judged.holds[places] = verdict.favourable
        judged.scores[places[known]] = verdict.score[known]
        judged.labels[places[known]] = verdict.label[known]


def _whole(model: Model) -> frozenset[int]:
    return frozenset(place for place, feature in enumerate(model.features) if feature.whole)
