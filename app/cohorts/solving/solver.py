"""Answers for the people of a chunk: plain rows in batches, all others one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from app.adapters.catalog import catalog_of
from app.adapters.graphs.onnx import ModelFailed
from app.answering.in_use import ModelInUse
from app.answering.service import Service
from app.asking.callers import ANYONE
from app.asking.parsing import check_body
from app.asking.posing.terms import Terms, read_terms
from app.asking.ranges import choose_range
from app.asking.reading import Errors
from app.asking.robustness import read_robustness
from app.asking.schemas import CounterfactualsRequest
from app.cohorts.job import Job
from app.cohorts.reading.cells import Rows, rows_of
from app.cohorts.reading.chunks import Chunk
from app.cohorts.solving.batch_solver import BatchSolver, People
from app.cohorts.solving.one_by_one import Refused, ask
from app.cohorts.solving.range_groups import RangeGroup, RangeGroups
from app.cohorts.solving.reasons import Reasoner
from app.cohorts.solving.results import ChunkResults, Sources
from app.cohorts.solving.values import read_values, words_of
from app.cohorts.tables import Schemas, Solved, schemas
from app.core.constraints import Causal
from app.core.crowd.posed import Places
from app.core.facts import Engine
from app.core.findings import SEVERAL
from app.core.relations.relation import Relation


class Solver:
    """Answers chunks with the model of a job; one for each process of a run."""

    def __init__(self, job: Job) -> None:
        self._job = job
        # Stability is reported only on request.
        settings = job.settings.model_copy(update={"stability_plans": 0})
        self._service = Service(settings, catalog_of(job.snapshot))
        self._chosen = self._service.model(job.model)
        self._model = self._chosen.model
        self.terms = terms_of(self._service, self._chosen, job.request)
        self.schemas: Schemas = schemas_of(self.terms, job.kept, reasons=job.reasons)
        self._range_groups = RangeGroups(self.terms, job.columns)
        self._words = words_of(self.terms, job.columns)
        request = self.terms.request
        limits = request.limits
        together = limits.engine not in (Engine.CEMSP, Engine.THROUGH) and limits.deadline_ms is None
        together = together and request.robustness is None and not _takes_steps(self.terms)
        self._batch = BatchSolver(self.terms, self._service.limits(limits)) if together else None
        self._reasoner = Reasoner(self._service, self._chosen, self.terms, together=together) if job.reasons else None

    def solve(self, chunk: Chunk) -> Solved:
        """The tables with the results of everyone in a chunk."""
        return self.results(chunk).solved()

    def results(self, chunk: Chunk) -> ChunkResults:
        """The results of everyone in a chunk, before they are tables."""
        columns = self._job.columns
        rows = rows_of(chunk, columns.wanted, self._words)
        values, plain = read_values(rows, self._model, columns)
        targets = np.full_like(values, np.nan)
        groups: list[RangeGroup] = []
        which = np.full(rows.count, -1, dtype=np.intp)
        for group, them in self._range_groups.grouped(rows, values, np.flatnonzero(plain)):
            targets[them] = group.table.targets(values[them])
            which[them] = len(groups)
            groups.append(group)
        which[np.isinf(targets).any(axis=1)] = -1
        sources = Sources(chunk, rows, self._model, columns, values, targets)
        results = self._answered(sources, groups, which)
        if self._reasoner is not None:
            self._reason(self._reasoner, results, groups, which)
        return results

    def _reason(self, reasoner: Reasoner, results: ChunkResults, groups: Sequence[RangeGroup], which: Places) -> None:
        """Add the reasons for the decisions about all whom the model refused."""
        sources, refused = results.sources, results.refused_by_the_model()
        plain = np.array([place for place in refused if which[place] >= 0], dtype=np.intp)
        people = People(plain, groups, which[plain], sources.values[plain], sources.targets[plain])
        nothing = ChunkResults(sources, self.schemas, self.terms.favourable)
        found = reasoner.together(people, nothing)
        results.give_reasons(
            {
                place: found[place] if place in found else reasoner.alone(self._body(sources.rows, place))
                for place in refused
            }
        )

    def reject(self, chunk: Chunk, reason: str) -> Solved:
        """Reject all rows of a chunk for this reason."""
        rows = rows_of(chunk, self._job.columns.wanted, self._words)
        nothing = np.full((rows.count, len(self._model.features)), np.nan)
        sources = Sources(chunk, rows, self._model, self._job.columns, nothing, nothing)
        results = ChunkResults(sources, self.schemas, self.terms.favourable)
        for person in range(rows.count):
            results.refuse(person, Refused([], rows.flaws.get(person, reason)))
        return results.solved()

    def _answered(self, sources: Sources, groups: Sequence[RangeGroup], which: Places) -> ChunkResults:
        """Answer people with a group together as far as possible, and all others one by one."""
        results = ChunkResults(sources, self.schemas, self.terms.favourable)
        together = np.flatnonzero(which >= 0)
        alone = np.ones(len(which), dtype=np.bool_)
        if self._batch is not None:
            people = People(together, groups, which[together], sources.values[together], sources.targets[together])
            try:
                handed_back = self._batch.answer(people, results)
            except ModelFailed:
                # One row may be the cause: discard the results, and answer everyone alone.
                results = ChunkResults(sources, self.schemas, self.terms.favourable)
            else:
                alone[together] = False
                alone[handed_back] = True
        for person in np.flatnonzero(alone).tolist():
            self._alone(sources, person, results)
        return results

    def _alone(self, sources: Sources, person: int, results: ChunkResults) -> None:
        rows = sources.rows
        try:
            if person in rows.flaws:
                raise Refused([], rows.flaws[person])
            told = ask(self._service, self._chosen, self._body(rows, person))
        except Refused as refused:
            results.refuse(person, refused)
        else:
            results.tell(person, told)

    def _body(self, rows: Rows, person: int) -> Mapping[str, Any]:
        """The request that a front-end would send for this person."""
        absent = rows.absent.get(person, frozenset())
        instance = {
            name: rows.cells[column].value(person)
            for name, column in self._job.columns.features.items()
            if column in rows.cells and column not in absent
        }
        return {**self._job.request, "instance": instance, "context": self._range_groups.context(rows, person)}


def schemas_of(terms: Terms, kept: Sequence[pa.Field] = (), *, reasons: bool = False) -> Schemas:
    """The columns of a run with this request for everybody; stability only on request."""
    stability = terms.request.robustness is not None
    return schemas(terms.model.scorer.score_dtype, kept, stability=stability, reasons=reasons)


def _takes_steps(terms: Terms) -> bool:
    """Whether what is allowed depends on values, or a feature may have several to move to: the service sees to that.

    So it does to values that follow from others.
    """
    own = [body.move_to for body in terms.request.normal_ranges.values() if body.move_to is not None]
    known = [chosen.move_to for choices in terms.prepared.ranges for chosen in choices]
    relates = any(isinstance(item.statement, Relation) for item in terms.items)
    follows = any(isinstance(item.statement, Causal) and item.statement.shifts for item in terms.items)
    if relates or follows or terms.model.derived:
        return True
    return any(move_to.policy in SEVERAL for move_to in (*own, *known))


def terms_of(service: Service, chosen: ModelInUse, request: Mapping[str, Any]) -> Terms:
    """What is asked of everybody, or `InvalidRequest` with all that is wrong with it."""
    asked = check_body({**request, "instance": {}}, CounterfactualsRequest)
    errors, model = Errors(), chosen.model
    terms = read_terms(asked, model, chosen.prepared, service.formula_limits, errors)
    for name, own in asked.normal_ranges.items():
        if name in model.positions and own.is_range:
            # The request's own ranges apply to everyone: report their mistakes once.
            place = model.positions[name]
            choose_range(model.features[place], own, terms.prepared.ranges[place], {}, errors)
    if asked.robustness is not None:
        nobody = (0.0,) * len(model.features)
        read_robustness(asked.robustness, terms.prepared, nobody, chosen.catalog, ANYONE, errors)
    errors.raise_any()
    return terms
