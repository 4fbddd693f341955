"""Groups of people with the same ranges: those for whom every condition of the registry has the same result."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.adapters.graphs.models import Model
from app.asking.posing.standards import Standards, choose_standards, features_of
from app.asking.posing.terms import Terms
from app.asking.reading import Errors, too_large
from app.cohorts.reading.cells import Cells, Rows
from app.cohorts.reading.columns import Columns
from app.core.crowd.posed import Places, RangeTable, Values
from app.core.favourable import Bools
from app.core.ranges import Condition, Equals, NormalRange

Signs = NDArray[np.int8]

# The types of a fact. Rows with an OTHER one go through the service, which refuses them.
NOTHING, NUMBER, TEXT, TRUE, FALSE, OTHER = range(6)


class RangeGroup(NamedTuple):
    """The ranges of one group of people: as the service chose them, and as arrays."""

    standards: Standards
    table: RangeTable


class RangeGroups:
    """Finds the range group of each person. The service chooses the ranges for the first person of each group."""

    def __init__(self, terms: Terms, columns: Columns) -> None:
        self._terms = terms
        self._columns = columns
        self._known: dict[bytes, RangeGroup | None] = {}
        self._conditions = {key: asked.written for key, asked in sorted(terms.prepared.asked.items())}

    def grouped(self, rows: Rows, values: Values, people: Places) -> list[tuple[RangeGroup, Places]]:
        """Each group with its people; omits people whose ranges cannot be chosen."""
        facts = [fact for key in self._conditions for fact in self._facts(key, rows, values)]
        signs = [sign for key, fact in facts for sign in (fact.what, *map(fact.meet, self._conditions[key]))]
        table = np.column_stack([np.zeros(rows.count, dtype=np.int8), *signs])
        for _, fact in facts:
            people = people[fact.what[people] != OTHER]
        keys = np.ascontiguousarray(table[people]).view(f"V{table.shape[1]}")[:, 0]
        unique, first, which = np.unique(keys, return_index=True, return_inverse=True)
        found = [
            (self._group(key.tobytes(), rows, values, int(people[first[place]])), people[which == place])
            for place, key in enumerate(unique)
        ]
        return [(group, them) for group, them in found if group is not None]

    def context(self, rows: Rows, row: int) -> dict[str, Any]:
        """The context of one person, as a request would send it: every fact that a range may need."""
        cells = {key: self._cells(key, rows) for key in self._conditions}
        facts = {key: each.fact(row) for key, each in cells.items() if each is not None}
        return {key: fact for key, fact in facts.items() if fact is not None}

    def unknown_texts(self, rows: Rows) -> Iterator[tuple[str, list[str]]]:
        """Facts with texts that no range names: the key, and the texts that ranges name."""
        for key, conditions in self._conditions.items():
            known = [condition.value for condition in conditions if isinstance(condition, Equals)]
            words = [word for word in known if isinstance(word, str)]
            cells = self._cells(key, rows)
            if cells is None or len(words) < len(conditions):
                continue
            facts = _FactColumn.of(cells, cells.nulls())
            if np.any((facts.what != NOTHING) & ~np.isin(facts.words.astype(str), words)):
                yield key, words

    def _group(self, key: bytes, rows: Rows, values: Values, row: int) -> RangeGroup | None:
        if key not in self._known:
            errors = Errors()
            standards = choose_standards(self._terms, self._known_of(rows, values, row), errors)
            self._known[key] = None if errors.found else self._made(standards)
        return self._known[key]

    def _made(self, standards: Standards) -> RangeGroup:
        model = self._terms.model
        features = features_of(self._terms, standards, [0.0] * len(model.features))
        table = RangeTable.of(features, [len(feature.categories) for feature in model.features])
        return RangeGroup(standards, _without_unsound(table, model))

    def _known_of(self, rows: Rows, values: Values, row: int) -> Mapping[str, Any]:
        """The facts of one person: from the context first, then from the instance."""
        positions = self._terms.model.positions
        own = {
            key: rows.cells[self._columns.features[key]].value(row)
            for key in self._conditions
            if key in positions and not np.isnan(values[row, positions[key]])
        }
        return {**own, **self.context(rows, row)}

    def _facts(self, key: str, rows: Rows, values: Values) -> list[tuple[str, "_FactColumn"]]:
        """The columns that a fact may come from: the context, and the instance."""
        cells, position = self._cells(key, rows), self._terms.model.positions.get(key)
        found = [_FactColumn.none(rows.count) if cells is None else _FactColumn.of(cells, cells.nulls())]
        if position is not None:
            own = rows.cells.get(self._columns.features.get(key, ""))
            missing = np.isnan(values[:, position])
            found.append(_FactColumn.none(rows.count) if own is None else _FactColumn.of(own, missing))
        return [(key, facts) for facts in found]

    def _cells(self, key: str, rows: Rows) -> Cells | None:
        return rows.cells.get(self._columns.context[key]) if key in self._columns.context else None


class _FactColumn(NamedTuple):
    """One fact of many people: its type, and its values as numbers and as texts."""

    what: Signs
    numbers: Values
    words: NDArray[Any]

    @classmethod
    def none(cls, count: int) -> "_FactColumn":
        nothing = np.full(count, np.nan)
        return cls(np.full(count, NOTHING, dtype=np.int8), nothing, nothing)

    @classmethod
    def of(cls, cells: Cells, missing: Bools) -> "_FactColumn":
        numbers, are_numbers = cells.numbers()
        texts, are_texts = cells.texts()
        true, are_truths = cells.truths()
        chosen = [missing, are_numbers & np.isfinite(numbers), are_truths & true, are_truths, are_texts & ~are_numbers]
        what = np.select(chosen, [NOTHING, NUMBER, TRUE, FALSE, TEXT], OTHER).astype(np.int8)
        return cls(what, numbers, np.asarray(texts.to_numpy(zero_copy_only=False), dtype=object))

    def meet(self, condition: Condition) -> Signs:
        """Whether the condition holds, for each person."""
        if isinstance(condition, NormalRange):
            low = -np.inf if condition.low is None else condition.low
            high = np.inf if condition.high is None else condition.high
            met = (self.what == NUMBER) & (self.numbers >= low) & (self.numbers <= high)
        elif isinstance(condition.value, bool):
            met = self.what == (TRUE if condition.value else FALSE)
        elif isinstance(condition.value, str):
            met = (self.what == TEXT) & (self.words == condition.value)
        else:
            met = (self.what == NUMBER) & (self.numbers == condition.value)
        return np.asarray(met, dtype=np.int8)


def _without_unsound(table: RangeTable, model: Model) -> RangeTable:
    """The table with infinity for targets that the model cannot read or that mean a missing value: the service checks
    people with such a target.
    """

    def sound(target: float, position: int) -> float:
        feature = model.features[position]
        known = not np.isnan(target)
        return np.inf if known and (feature.means_missing(target) or too_large(target, position, model)) else target

    def checked(targets: Values) -> Values:
        return np.array([sound(target, position) for position, target in enumerate(targets.tolist())])

    below, above, guides, missing = map(checked, (table.below, table.above, table.guides, table.missing))
    return replace(table, below=below, above=above, guides=guides, missing=missing)
