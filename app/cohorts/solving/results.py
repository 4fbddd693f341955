"""The results for the people of a chunk: collected in any order, returned as tables in the order of the input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.adapters.graphs.models import Model
from app.cohorts.reading.cells import Rows
from app.cohorts.reading.chunks import Chunk
from app.cohorts.reading.columns import Columns
from app.cohorts.solving.answers import Answered, answers_of, together
from app.cohorts.solving.one_by_one import Refused, Told
from app.cohorts.tables import CHANGE, Schemas, Solved
from app.core.crowd.posed import Places, Values
from app.core.facts import Explained, Reason
from app.core.favourable import Favourable
from app.core.problem import Problem
from app.writing.lines import MOST_RELAXATIONS

TEXTS = ("outcome", "stopped_by", "guarantee", "engine", "reason")
LISTS = ("best_changes", "in_the_way", "reasons")


@dataclass(frozen=True, slots=True)
class Sources:
    """A chunk, split into columns, with its values and their targets."""

    chunk: Chunk
    rows: Rows
    model: Model
    columns: Columns
    values: Values
    targets: Values

    @property
    def numbers(self) -> NDArray[np.int64]:
        return np.arange(self.chunk.first, self.chunk.first + self.chunk.rows)

    def persons(self) -> pa.Array:
        """The name of each person: from the input, or the number of the row."""
        numbers = pa.array(self.numbers).cast(pa.string())
        named = self.named()
        return numbers if named is None else pc.coalesce(named, numbers)

    def named(self) -> pa.Array | None:
        """The names in the input, if it has a column for them."""
        return self.carried(self.columns.person, pa.string())

    def carried(self, column: str | None, kind: pa.DataType) -> pa.Array | None:
        cells = None if column is None else self.rows.cells.get(column)
        return None if cells is None else cells.carried(kind)


class ChunkResults:
    """Collects what happens to each person of a chunk: an outcome with answers, or a refusal. `solved` makes tables."""

    def __init__(self, sources: Sources, schemas: Schemas, favourable: Favourable) -> None:
        count = sources.chunk.rows
        self.sources = sources
        self._schemas = schemas
        self._favourable = favourable
        self._score_type = schemas.people.field("score").type
        score = self._score_type.to_pandas_dtype()
        self.refused: dict[int, Refused] = {}
        self._labels = np.full(count, -1, dtype=np.intp)
        self._scores = np.zeros(count, dtype=score)
        self._counts = np.zeros(count, dtype=np.int64)
        self._fewest = np.zeros(count, dtype=np.int32)
        self._best = np.full(count, np.nan, dtype=score)
        self._complete = np.ones(count, dtype=np.bool_)
        self._up_to = np.zeros(count, dtype=np.int32)
        self._texts = {name: np.full(count, None, dtype=object) for name in TEXTS}
        self._lists: dict[str, list[Any]] = {name: [None] * count for name in LISTS}
        self._answers: list[Answered] = []

    def refuse(self, person: int, refused: Refused) -> None:
        self.refused[person] = refused

    def decide(self, people: Places, outcome: str, scores: NDArray[Any], labels: Places, moves: Places) -> None:
        """Set the outcome of people whose search was complete and exact."""
        self._scores[people], self._labels[people], self._up_to[people] = scores, labels, moves
        for name, text in (("outcome", outcome), ("guarantee", "exact"), ("engine", "lattice")):
            self._texts[name][people] = text

    def add(self, answers: Answered) -> None:
        """Add answers of people whose outcome is set; each person's answers come together and in order."""
        self._answers.append(answers)
        people, first, counts = np.unique(answers.people, return_index=True, return_counts=True)
        self._counts[people] = counts
        self._fewest[people] = (answers.changed[first] >= 0).sum(axis=1)
        # The best of each, and of several as good the first.
        order = np.lexsort((-self._favourable.merit(answers.scores), answers.people))
        self._best[people] = answers.scores[order[np.unique(answers.people[order], return_index=True)[1]]]

    def closest(self, person: int, score: Any, changed: Sequence[str]) -> None:
        """Set the closest allowed set of changes of a person without an answer."""
        self._best[person] = score
        self._lists["best_changes"][person] = list(changed)

    def give_reason(self, people: Places, reason: Reason) -> None:
        """Set why these people have no answer."""
        self._texts["reason"][people] = reason

    def in_the_way(self, person: int, groups: Sequence[Sequence[str]]) -> None:
        """Set the groups of constraints; giving up any one group opens an answer."""
        self._texts["reason"][person] = Reason.CONSTRAINTS
        self._lists["in_the_way"][person] = [list(group) for group in groups]

    def refused_by_the_model(self) -> list[int]:
        """Everyone with an outcome but the favourable one."""
        outcomes = self._texts["outcome"]
        kinds = [None if person in self.refused else outcome for person, outcome in enumerate(outcomes)]
        return [person for person, kind in enumerate(kinds) if kind not in (None, "already_favourable")]

    def give_reasons(self, reasons: Mapping[int, list[str] | None]) -> None:
        """Set the reasons for the decisions about these people; None where they are not known."""
        for person, names in reasons.items():
            self._lists["reasons"][person] = names

    def tell(self, person: int, told: Told) -> None:
        """What the service said of one person."""
        summary, explained = told.finished.summary, told.finished.explained
        prediction, one = told.started.prediction, np.array([person])
        self.decide(one, summary.outcome, prediction.score, prediction.label, np.array([summary.complete_up_to]))
        self._complete[person] = summary.complete
        for name in ("stopped_by", "guarantee", "engine"):
            self._texts[name][person] = getattr(summary, name)
        self._take_values(person, told)
        if told.answers:
            answered = answers_of(person, told, self._scores.dtype)
            self.add(answered)
            # The request may ask for another order than by size.
            self._fewest[person] = (answered.changed >= 0).sum(axis=1).min()
        if explained is not None:
            self._explain(person, explained, told.started.question.problem)

    def _explain(self, person: int, explained: Explained, problem: Problem) -> None:
        if explained.best is not None:
            features = self.sources.model.features
            changed = [features[problem.candidates[move].position].name for move in explained.best.moves]
            self.closest(person, explained.best.score, changed)
        if explained.reason is Reason.CONSTRAINTS:
            shown = explained.explanation.relaxations[:MOST_RELAXATIONS]
            self.in_the_way(person, [[problem.items[item].path for item in way.items] for way in shown])
        elif explained.reason is not None:
            self.give_reason(np.array([person]), explained.reason)

    def _take_values(self, person: int, told: Told) -> None:
        """The service read the values itself: what it says of them holds."""
        self.sources.values[person] = told.started.question.problem.instance

    def answers(self) -> Answered | None:
        """All answers, person after person; None if there are none."""
        return together(self._answers) if self._answers else None

    def solved(self) -> Solved:
        """The tables, person by person."""
        persons = self.sources.persons()
        kept = np.ones(self.sources.chunk.rows, dtype=np.bool_)
        kept[list(self.refused)] = False
        return Solved(
            self._people(persons, np.flatnonzero(kept)), self._counterfactuals(persons), self._rejects(persons)
        )

    def _people(self, persons: pa.Array, people: Places) -> pa.Table:
        sources, schema = self.sources, self._schemas.people
        columns: dict[str, pa.Array] = {
            "row": pa.array(sources.numbers),
            "person": persons,
            "label": self._label_names(self._labels),
            "score": pa.array(self._scores),
            "count": pa.array(self._counts),
            "fewest_changes": pa.array(self._fewest, mask=self._fewest == 0),
            "best_score": pa.array(self._best, mask=np.isnan(self._best)),
            "complete": pa.array(self._complete),
            "complete_up_to": pa.array(self._up_to),
            **{name: pa.array(texts, pa.string()) for name, texts in self._texts.items()},
            **{
                name: pa.array(lists, schema.field(name).type)
                for name, lists in self._lists.items()
                if name in schema.names
            },
        }
        for name, column in sources.columns.kept.items():
            kind = schema.field(name).type
            carried = sources.carried(column, kind)
            columns[name] = pa.nulls(sources.chunk.rows, kind) if carried is None else carried
        table = pa.table([columns[name] for name in schema.names], schema.names)
        return table.take(people).cast(schema) if len(people) < len(table) else table.cast(schema)

    def _counterfactuals(self, persons: pa.Array) -> pa.Table:
        schema = self._schemas.counterfactuals
        answers = self.answers()
        if answers is None:
            return schema.empty_table()
        ranks = np.arange(len(answers.people)) - np.searchsorted(answers.people, answers.people) + 1
        columns = [
            pa.array(self.sources.numbers[answers.people]),
            persons.take(pa.array(answers.people)),
            pa.array(ranks.astype(np.int32)),
            self._changes(answers),
            pa.array(answers.costs),
            pa.array(answers.scores),
            self._label_names(answers.labels),
        ]
        if "stability" in schema.names:
            columns.append(pa.array(answers.shares, mask=np.isnan(answers.shares)))
        return pa.table(columns, schema.names).cast(schema)

    def _changes(self, answers: Answered) -> pa.Array:
        made = answers.changed >= 0
        whose, features = np.nonzero(made)[0], answers.changed[made]
        people, model = answers.people[whose], self.sources.model
        names = pa.array([feature.name for feature in model.features], pa.string())
        before, ends = self.sources.values[people, features], answers.ends[made]
        after = np.where(np.isnan(ends), self.sources.targets[people, features], ends)
        categorical = np.array([feature.type == "category" for feature in model.features])[features]
        columns = [
            names.take(pa.array(features)),
            pa.array(before, mask=categorical | np.isnan(before)),
            pa.array(after, mask=categorical),
            self._categories(before, features, categorical),
            self._categories(after, features, categorical),
        ]
        offsets = np.concatenate([[0], np.cumsum(made.sum(axis=1))]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.StructArray.from_arrays(columns, fields=list(CHANGE)))

    def _categories(self, values: Values, features: Places, categorical: Any) -> pa.Array:
        """The names of categories; null if a value is a number or missing."""
        if not categorical.any():
            return pa.nulls(len(values), pa.string())
        known = self.sources.model.features
        return pa.array(
            [
                str(known[feature].categories[int(value)]) if named and not isnan(value) else None
                for value, feature, named in zip(values.tolist(), features.tolist(), categorical.tolist(), strict=True)
            ],
            pa.string(),
        )

    def _label_names(self, labels: Places) -> pa.Array:
        """The names of labels; null for a regression."""
        names = pa.array([*self.sources.model.classes, None], pa.string())
        return names.take(pa.array(np.where(labels < 0, len(names) - 1, labels)))

    def _rejects(self, persons: pa.Array) -> pa.Table:
        chunk, schema = self.sources.chunk, self._schemas.rejects
        # If the input has names but this one could not be read, leave it empty: the row number may be another's name.
        named = self.sources.named()
        named = persons if named is None else named
        lost: list[Any] = [] if chunk.lost is None else [(None, None, None, [], chunk.lost)]
        rows = [
            (
                chunk.first + person,
                None if chunk.lines is None else int(chunk.lines[person]),
                named[person].as_py(),
                refused.fields,
                refused.reason,
            )
            for person, refused in sorted(self.refused.items())
        ]
        numbers, lines, who, fields, reasons = zip(*rows, *lost, strict=True) if rows or lost else [()] * 5
        files = [chunk.file] * len(numbers)
        columns = (numbers, files, lines, who, fields, reasons)
        return pa.table(
            [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)], schema=schema
        )
