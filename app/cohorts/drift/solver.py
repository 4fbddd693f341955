"""Answers for the people of a chunk with both versions of a model, and compares the answers."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from app.cohorts.drift.kinds import kind_of
from app.cohorts.drift.old_plans import JudgedPlans, OldPlans
from app.cohorts.drift.tables import BY_VERSION, drift_schemas
from app.cohorts.job import Job
from app.cohorts.reading.chunks import Chunk
from app.cohorts.solving.one_by_one import Refused
from app.cohorts.solving.results import ChunkResults
from app.cohorts.solving.solver import Solver
from app.cohorts.tables import Schemas, Solved
from app.core.crowd.posed import Places
from app.core.favourable import Bools

VERSIONS = ("old", "new")


class DriftSolver:
    """Compares two versions of a model on chunks; one for each process of a run."""

    def __init__(self, old: Job, new: Job) -> None:
        self._names = (old.model, new.model)
        self._old, self._new = Solver(old), Solver(new)
        self._plans = OldPlans(self._old.terms, self._new.terms)
        self.schemas: Schemas = drift_schemas(self._old.schemas, self._new.schemas, old.kept)

    def solve(self, chunk: Chunk) -> Solved:
        """The tables with the comparison for everyone in a chunk. A row that one version rejects is rejected."""
        old, new = self._old.results(chunk), self._new.results(chunk)
        for person, refused in [*self._refusals(old, new)]:
            old.refuse(person, refused)
            new.refuse(person, refused)
        before, after = old.solved(), new.solved()
        plans, judged = self._judged(old, new, before.counterfactuals)
        rows = plans["row"].to_numpy()[~judged.holds]
        return Solved(self._people(before.people, after.people, rows), self._of_plans(plans, judged), before.rejects)

    def reject(self, chunk: Chunk, reason: str) -> Solved:
        """Reject all rows of a chunk for this reason."""
        rejects = self._old.reject(chunk, reason).rejects
        return Solved(self.schemas.people.empty_table(), self.schemas.counterfactuals.empty_table(), rejects)

    def _refusals(self, old: ChunkResults, new: ChunkResults) -> Iterator[tuple[int, Refused]]:
        """Why each row is rejected, with the name of the version if only one of them says so."""
        for person in sorted({*old.refused, *new.refused}):
            said = [each.refused.get(person) for each in (old, new)]
            reasons = {name: each.reason for name, each in zip(self._names, said, strict=True) if each is not None}
            if len(reasons) == len(said) and len(set(reasons.values())) == 1:
                continue
            fields = dict.fromkeys(field for each in said if each is not None for field in each.fields)
            yield person, Refused([*fields], "; ".join(f"{name}: {reason}" for name, reason in reasons.items()))

    def _judged(self, old: ChunkResults, new: ChunkResults, plans: pa.Table) -> tuple[pa.Table, JudgedPlans]:
        """The plans of everyone whom both versions can read, with what the new version says of them."""
        answers = old.answers()
        if answers is None:
            nothing = np.zeros(0, dtype=np.intp)
            return plans, JudgedPlans(nothing.astype(np.bool_), nothing.astype(np.float64), nothing)
        readable: Bools = ~np.isin(answers.people, list(old.refused))
        judged = self._plans.judged(answers.of(np.flatnonzero(readable)), old.sources, new.sources)
        return plans.filter(pa.array(readable)), judged

    def _people(self, old: pa.Table, new: pa.Table, broken: Places) -> pa.Table:
        schema = self.schemas.people
        kinds = map(kind_of, old["outcome"].to_pylist(), new["outcome"].to_pylist())
        rows = old["row"].to_numpy()
        columns = {
            **{name: old[name] for name in schema.names if name in old.schema.names},
            "kind": pa.array(kinds, pa.string()),
            "broken": pa.array(np.searchsorted(broken, rows, "right") - np.searchsorted(broken, rows, "left")),
        }
        for version, table in zip(VERSIONS, (old, new), strict=True):
            columns |= {f"{version}_{name}": table[name] for name in BY_VERSION}
        return pa.table([columns[name] for name in schema.names], schema.names).cast(schema)

    def _of_plans(self, plans: pa.Table, judged: JudgedPlans) -> pa.Table:
        schema = self.schemas.counterfactuals
        classes = pa.array([*self._new.terms.model.classes, None], pa.string())
        columns = {
            **{name: plans[name] for name in schema.names if name in plans.schema.names},
            "old_label": plans["label"],
            "old_score": plans["score"],
            "holds": pa.array(judged.holds),
            "new_label": classes.take(pa.array(np.where(judged.labels < 0, len(classes) - 1, judged.labels))),
            "new_score": pa.array(judged.scores, mask=np.isnan(judged.scores)),
        }
        return pa.table([columns[name] for name in schema.names], schema.names).cast(schema)
