"""Answers for the people of a chunk: together as far as they are plain, the others one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import ValidationError

from app.adapters.catalog import catalog_of
from app.adapters.models import Model
from app.adapters.onnx import ModelFailed
from app.api.errors import invalid
from app.api.posing import Terms, read_terms
from app.api.ranges import choose_range
from app.api.reading import Errors
from app.api.schemas import CounterfactualsRequest
from app.api.service import Service
from app.cohorts.cells import Rows, rows_of
from app.cohorts.chunks import Chunk
from app.cohorts.crowd import Crowd, People
from app.cohorts.gathering import Gathering, Sources
from app.cohorts.job import Job
from app.cohorts.kinds import Kind, Kinds
from app.cohorts.one_by_one import Refused, ask
from app.cohorts.tables import Schemas, Solved, schemas
from app.cohorts.values import read_values, words_of
from app.core.facts import Engine
from app.core.many_posed import Places


class Solver:
    """Holds the model; one for each process that works on a run."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._service = Service(job.settings, catalog_of(job.snapshot))
        self._model = self._service.model(job.model)
        self.terms = terms_of(self._service, self._model, job.request)
        self.schemas: Schemas = schemas(self._model.scorer.score_dtype, job.kept)
        self._kinds = Kinds(self.terms, job.columns)
        self._words = words_of(self.terms, job.columns)
        limits = self.terms.request.limits
        together = limits.engine is not Engine.CEMSP and limits.deadline_ms is None
        self._crowd = Crowd(self.terms, self._service.limits(limits)) if together else None

    def solve(self, chunk: Chunk) -> Solved:
        """What becomes of everybody in a chunk."""
        columns = self._job.columns
        rows = rows_of(chunk, columns.wanted, self._words)
        values, plain = read_values(rows, self._model, columns)
        targets = np.full_like(values, np.nan)
        kinds: list[Kind] = []
        which = np.full(rows.count, -1, dtype=np.intp)
        for kind, them in self._kinds.sorted_out(rows, values, np.flatnonzero(plain)):
            targets[them] = kind.standard.targets(values[them])
            which[them] = len(kinds)
            kinds.append(kind)
        which[np.isinf(targets).any(axis=1)] = -1
        sources = Sources(chunk, rows, self._model, columns, values, targets)
        return self._answered(sources, kinds, which).solved()

    def reject(self, chunk: Chunk, reason: str) -> Solved:
        """Answer for nobody in a chunk."""
        rows = rows_of(chunk, self._job.columns.wanted, self._words)
        nothing = np.full((rows.count, len(self._model.features)), np.nan)
        sources = Sources(chunk, rows, self._model, self._job.columns, nothing, nothing)
        gathering = Gathering(sources, self.schemas, self.terms.favourable)
        for person in range(rows.count):
            gathering.refuse(person, Refused([], rows.flaws.get(person, reason)))
        return gathering.solved()

    def _answered(self, sources: Sources, kinds: Sequence[Kind], which: Places) -> Gathering:
        """Together as far as it goes: whoever has no kind is not plain, and is asked about alone."""
        gathering = Gathering(sources, self.schemas, self.terms.favourable)
        together = np.flatnonzero(which >= 0)
        alone = np.ones(len(which), dtype=np.bool_)
        if self._crowd is not None:
            people = People(together, kinds, which[together], sources.values[together], sources.targets[together])
            try:
                handed_back = self._crowd.answer(people, gathering)
            except ModelFailed:
                # It need not be everybody's fault: all that was gathered is forgotten, and each answers alone.
                gathering = Gathering(sources, self.schemas, self.terms.favourable)
            else:
                alone[together] = False
                alone[handed_back] = True
        for person in np.flatnonzero(alone).tolist():
            self._alone(sources, person, gathering)
        return gathering

    def _alone(self, sources: Sources, person: int, gathering: Gathering) -> None:
        rows = sources.rows
        try:
            if person in rows.flaws:
                raise Refused([], rows.flaws[person])
            told = ask(self._service, self._model, self._body(rows, person))
        except Refused as refused:
            gathering.refuse(person, refused)
        else:
            gathering.tell(person, told)

    def _body(self, rows: Rows, person: int) -> Mapping[str, Any]:
        """The request that a front-end would send for this person."""
        absent = rows.absent.get(person, frozenset())
        instance = {
            name: rows.cells[column].value(person)
            for name, column in self._job.columns.features.items()
            if column in rows.cells and column not in absent
        }
        return {**self._job.request, "instance": instance, "context": self._kinds.context(rows, person)}


def terms_of(service: Service, model: Model, request: Mapping[str, Any]) -> Terms:
    """What is asked of everybody, or `InvalidRequest` with all that is wrong with it."""
    try:
        asked = CounterfactualsRequest.model_validate({**request, "instance": {}})
    except ValidationError as error:
        raise invalid(error.errors()) from None
    errors = Errors()
    terms = read_terms(asked, model, service.loaded.pairs, service.formula_limits, errors)
    for name, own in asked.normal_ranges.items():
        if name in model.positions:
            # A range of the request's own is everybody's: what is wrong with it need not be told of each.
            place = model.positions[name]
            choose_range(model.features[place], own, terms.pair.ranges[place], {}, errors)
    errors.raise_any()
    return terms
