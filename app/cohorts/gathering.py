"""What became of the people of a chunk, gathered in any order and told in theirs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.adapters.models import Model
from app.cohorts.cells import Rows
from app.cohorts.chunks import Chunk
from app.cohorts.columns import Columns
from app.cohorts.one_by_one import Refused, Told
from app.cohorts.tables import CHANGE, Schemas, Solved
from app.core.favourable import Favourable
from app.core.many_posed import Places, Values

TEXTS = ("outcome", "stopped_by", "guarantee", "engine", "reason")
LISTS = ("best_changes", "in_the_way")


class Answered(NamedTuple):
    """Answers of several people: whose, how costly, what the model says, and the features that change, by position.

    Each row of `changed` holds as many positions as there are changes, and is filled up with -1.
    """

    people: Places
    costs: NDArray[np.float64]
    scores: NDArray[Any]
    labels: Places
    changed: Places

    def of(self, order: Places) -> "Answered":
        costs, scores, labels = self.costs[order], self.scores[order], self.labels[order]
        return Answered(self.people[order], costs, scores, labels, self.changed[order])


@dataclass(frozen=True, slots=True)
class Sources:
    """A chunk taken apart, and what its values and their targets are."""

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
        """What each person is called: as the input says, or else by the number of the row."""
        numbers = pa.array(self.numbers).cast(pa.string())
        named = self.named()
        return numbers if named is None else pc.coalesce(named, numbers)

    def named(self) -> pa.Array | None:
        """What the input calls each person, if it does."""
        return self.carried(self.columns.person, pa.string())

    def carried(self, column: str | None, kind: pa.DataType) -> pa.Array | None:
        cells = None if column is None else self.rows.cells.get(column)
        return None if cells is None else cells.carried(kind)


class Gathering:
    """One place for each person of a chunk."""

    def __init__(self, sources: Sources, schemas: Schemas, favourable: Favourable) -> None:
        count = sources.chunk.rows
        self._sources = sources
        self._schemas = schemas
        self._favourable = favourable
        self._score_type = schemas.people.field("score").type
        score = self._score_type.to_pandas_dtype()
        self._refused: dict[int, Refused] = {}
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
        self._refused[person] = refused

    def decide(self, people: Places, outcome: str, scores: NDArray[Any], labels: Places, moves: Places) -> None:
        """What became of people whose search came to its end by itself and missed nothing."""
        self._scores[people], self._labels[people], self._up_to[people] = scores, labels, moves
        for name, text in (("outcome", outcome), ("guarantee", "exact"), ("engine", "lattice")):
            self._texts[name][people] = text

    def add(self, answers: Answered) -> None:
        """Answers of people who have been decided on, each person's in one piece and in their order."""
        self._answers.append(answers)
        people, first, counts = np.unique(answers.people, return_index=True, return_counts=True)
        self._counts[people] = counts
        self._fewest[people] = (answers.changed[first] >= 0).sum(axis=1)
        # The best of each, and of several as good the first.
        order = np.lexsort((-self._favourable.merit(answers.scores), answers.people))
        self._best[people] = answers.scores[order[np.unique(answers.people[order], return_index=True)[1]]]

    def closest(self, person: int, score: Any, changed: Sequence[str]) -> None:
        """No set of changes turns the decision; this one comes closest."""
        self._texts["reason"][person] = "ranges"
        self._best[person] = score
        self._lists["best_changes"][person] = list(changed)

    def in_the_way(self, person: int, groups: Sequence[Sequence[str]]) -> None:
        """Giving up any of these groups of constraints opens a way."""
        self._texts["reason"][person] = "constraints"
        self._lists["in_the_way"][person] = [list(group) for group in groups]

    def tell(self, person: int, told: Told) -> None:
        """What the service said of one person."""
        summary, prediction, model = told.summary, told.start["prediction"], self._sources.model
        one = np.array([person])
        self.decide(one, summary["outcome"], prediction["score"], _label(prediction, model), summary["complete_up_to"])
        self._complete[person] = summary["complete"]
        for name in ("stopped_by", "guarantee", "engine"):
            self._texts[name][person] = summary[name]
        if told.answers:
            self._take_values(person, told.answers)
            self.add(_answered(person, told.answers, model, self._scores.dtype))
        if (why := summary["no_recourse"]) is None:
            return
        if why["relax"]:
            self.in_the_way(person, [way["items"] for way in why["relax"]])
        else:
            best = why["best"]
            self.closest(person, best["prediction"]["score"], [change["feature"] for change in best["changes"]])
            self._texts["reason"][person] = why["reason"]

    def _take_values(self, person: int, answers: Sequence[Mapping[str, Any]]) -> None:
        """The service read the values itself, and chose the targets: what it says of them holds."""
        for change in (change for answer in answers for change in answer["changes"]):
            position = self._sources.model.positions[change["feature"]]
            feature = self._sources.model.features[position]
            self._sources.values[person, position] = feature.read(change["from"])
            self._sources.targets[person, position] = feature.read(change["to"])

    def solved(self) -> Solved:
        """The tables, person by person."""
        persons = self._sources.persons()
        kept = np.ones(self._sources.chunk.rows, dtype=np.bool_)
        kept[list(self._refused)] = False
        return Solved(
            self._people(persons, np.flatnonzero(kept)), self._counterfactuals(persons), self._rejects(persons)
        )

    def _people(self, persons: pa.Array, people: Places) -> pa.Table:
        sources, schema = self._sources, self._schemas.people
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
            **{name: pa.array(lists, schema.field(name).type) for name, lists in self._lists.items()},
        }
        for name, column in sources.columns.kept.items():
            kind = schema.field(name).type
            carried = sources.carried(column, kind)
            columns[name] = pa.nulls(sources.chunk.rows, kind) if carried is None else carried
        table = pa.table([columns[name] for name in schema.names], schema.names)
        return table.take(people).cast(schema) if len(people) < len(table) else table.cast(schema)

    def _counterfactuals(self, persons: pa.Array) -> pa.Table:
        schema = self._schemas.counterfactuals
        if not self._answers:
            return schema.empty_table()
        answers = _together(self._answers)
        ranks = np.arange(len(answers.people)) - np.searchsorted(answers.people, answers.people) + 1
        columns = [
            pa.array(self._sources.numbers[answers.people]),
            persons.take(pa.array(answers.people)),
            pa.array(ranks.astype(np.int32)),
            self._changes(answers),
            pa.array(answers.costs),
            pa.array(answers.scores),
            self._label_names(answers.labels),
        ]
        return pa.table(columns, schema.names).cast(schema)

    def _changes(self, answers: Answered) -> pa.Array:
        made = answers.changed >= 0
        whose, features = np.nonzero(made)[0], answers.changed[made]
        people, model = answers.people[whose], self._sources.model
        names = pa.array([feature.name for feature in model.features], pa.string())
        before, after = self._sources.values[people, features], self._sources.targets[people, features]
        categorical = np.array([feature.type == "category" for feature in model.features])[features]
        columns = [
            names.take(pa.array(features)),
            pa.array(before, mask=categorical),
            pa.array(after, mask=categorical),
            self._categories(before, features, categorical),
            self._categories(after, features, categorical),
        ]
        offsets = np.concatenate([[0], np.cumsum(made.sum(axis=1))]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.StructArray.from_arrays(columns, fields=list(CHANGE)))

    def _categories(self, values: Values, features: Places, categorical: Any) -> pa.Array:
        """The names of categories; nothing where a value is a number."""
        if not categorical.any():
            return pa.nulls(len(values), pa.string())
        known = self._sources.model.features
        return pa.array(
            [
                str(known[feature].categories[int(value)]) if named else None
                for value, feature, named in zip(values.tolist(), features.tolist(), categorical.tolist(), strict=True)
            ],
            pa.string(),
        )

    def _label_names(self, labels: Places) -> pa.Array:
        """No class, which a regression gives, has no name."""
        names = pa.array([*self._sources.model.classes, None], pa.string())
        return names.take(pa.array(np.where(labels < 0, len(names) - 1, labels)))

    def _rejects(self, persons: pa.Array) -> pa.Table:
        chunk, schema = self._sources.chunk, self._schemas.rejects
        # Where the input names people and this one could not be read, no number stands in: it may be another's name.
        named = self._sources.named()
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
            for person, refused in sorted(self._refused.items())
        ]
        numbers, lines, who, fields, reasons = zip(*rows, *lost, strict=True) if rows or lost else [()] * 5
        files = [chunk.file] * len(numbers)
        columns = (numbers, files, lines, who, fields, reasons)
        return pa.table(
            [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)], schema=schema
        )


def _label(prediction: Mapping[str, Any], model: Model) -> Any:
    return -1 if prediction["label"] is None else model.classes.index(prediction["label"])


def _answered(person: int, answers: Sequence[Mapping[str, Any]], model: Model, score: np.dtype[Any]) -> Answered:
    """Answers as the service writes them."""
    widest = max(len(answer["changes"]) for answer in answers)
    changed = np.full((len(answers), widest), -1, dtype=np.intp)
    for place, answer in enumerate(answers):
        positions = [model.positions[change["feature"]] for change in answer["changes"]]
        changed[place, : len(positions)] = positions
    predictions = [answer["prediction"] for answer in answers]
    return Answered(
        np.full(len(answers), person),
        np.array([answer["cost"] for answer in answers], dtype=np.float64),
        np.array([prediction["score"] for prediction in predictions], dtype=score),
        np.array([_label(prediction, model) for prediction in predictions]),
        changed,
    )


def _together(parts: Sequence[Answered]) -> Answered:
    """All answers, person after person."""
    widest = max(part.changed.shape[1] for part in parts)
    changed = [
        np.pad(part.changed, ((0, 0), (0, widest - part.changed.shape[1])), constant_values=-1) for part in parts
    ]
    together = Answered(
        np.concatenate([part.people for part in parts]),
        np.concatenate([part.costs for part in parts]),
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate(changed),
    )
    return together.of(np.argsort(together.people, kind="stable"))
