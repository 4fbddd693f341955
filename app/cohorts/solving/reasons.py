"""The reasons for the decisions about a chunk of people, as /reasons has them: every rule set aside, and counted."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from app.adapters.graphs.onnx import ModelFailed
from app.adapters.predictors.failures import PredictorUnavailable
from app.answering.in_use import ModelInUse
from app.answering.reasons import Outcome
from app.answering.service import Service
from app.answering.under_way import Admitted
from app.asking.parsing import check_body
from app.asking.posing.terms import Terms
from app.asking.refusals import RequestError
from app.asking.schemas import CounterfactualsRequest
from app.cohorts.solving.answers import Answered
from app.cohorts.solving.batch_solver import BatchSolver, People
from app.cohorts.solving.results import ChunkResults
from app.core.crowd.posed import Places
from app.core.turns import run_through
from app.writing.reasons import MOST_REASONS

# Names of features, ranked; None where it is not proved that every minimal set was found.
Ranked = list[str] | None


class Reasoner:
    """Finds the reasons for the decisions about people whom the model refused."""

    def __init__(self, service: Service, chosen: ModelInUse, terms: Terms, *, together: bool) -> None:
        self._service = service
        self._chosen = chosen
        self._names = [feature.name for feature in terms.model.features]
        limits = service.limits(terms.request.limits)._replace(max_counterfactuals=None)
        self._batch = BatchSolver(terms.without_rules(), limits) if together else None

    def together(self, people: People, nothing: ChunkResults) -> dict[int, Ranked]:
        """The reasons of those who can be answered together, by place; `nothing` takes what else comes of it."""
        if self._batch is None or not len(people.places):
            return {}
        try:
            left = set(self._batch.answer(people, nothing).tolist())
        except ModelFailed:
            return {}
        found: dict[int, Ranked] = {place: [] for place in people.places.tolist() if place not in left}
        answers = nothing.answers()
        return found if answers is None else found | self._ranked(answers, found)

    def alone(self, body: Mapping[str, Any]) -> Ranked:
        """The reasons of one person, by the service's own code; None also where the model broke down."""
        try:
            request = check_body(body, CounterfactualsRequest)
            with self._service.admit(Admitted(time.perf_counter())) as admitted:
                reasons = run_through(self._service.reasoning(request, self._chosen, admitted))
        except PredictorUnavailable:
            raise
        except (RequestError, ModelFailed):
            return None
        if reasons.outcome is Outcome.UNKNOWN:
            return None
        return [self._names[reason.position] for reason in reasons.ranked[:MOST_REASONS]]

    def _ranked(self, answers: Answered, whose: Mapping[int, Ranked]) -> dict[int, Ranked]:
        """By the rule of /reasons: in more sets before in fewer, then the smallest set, then the model's order."""
        width = len(self._names)
        sizes = (answers.changed >= 0).sum(axis=1)
        held = answers.changed >= 0
        keys = np.repeat(answers.people, sizes) * width + answers.changed[held]
        order = np.argsort(keys, kind="stable")
        pairs, first, counts = np.unique(keys[order], return_index=True, return_counts=True)
        smallest = np.minimum.reduceat(np.repeat(sizes, sizes)[order], first)
        people, features = np.divmod(pairs, width)
        ranked = np.lexsort((features, smallest, -counts, people))
        return {place: names for place, names in self._listed(people[ranked], features[ranked]) if place in whose}

    def _listed(self, people: Places, features: Places) -> list[tuple[int, Ranked]]:
        whose, first = np.unique(people, return_index=True)
        parts = np.split(features, first[1:])
        return [
            (place, [self._names[feature] for feature in part[:MOST_REASONS].tolist()])
            for place, part in zip(whose.tolist(), parts, strict=True)
        ]
