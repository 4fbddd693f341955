"""Who is held against the same ranges: people who fall on the same side of every condition of the registry."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.adapters.models import Model
from app.api.posing import Standards, Terms, choose_standards, features_of
from app.api.reading import Errors, too_large
from app.cohorts.cells import Cells, Rows
from app.cohorts.columns import Columns
from app.core.favourable import Bools
from app.core.many_posed import Places, Standard, Values
from app.core.ranges import Condition, Equals, NormalRange

Signs = NDArray[np.int8]

# What a fact can be. What is none of these is for the service's own code to refuse.
NOTHING, NUMBER, TEXT, TRUE, FALSE, OTHER = range(6)


class Kind(NamedTuple):
    """What people of one kind are held against, one by one and all together."""

    standards: Standards
    standard: Standard


class Kinds:
    """Finds the kind of each person; whoever comes first of a kind stands for all of it."""

    def __init__(self, terms: Terms, columns: Columns) -> None:
        self._terms = terms
        self._columns = columns
        self._known: dict[bytes, Kind | None] = {}
        self._conditions: dict[str, list[Condition]] = {key: [] for key in sorted(terms.pair.asked)}
        for choices in terms.pair.ranges:
            for entry in choices:
                for key, condition in entry.when.items():
                    if condition not in self._conditions[key]:
                        self._conditions[key].append(condition)

    def sorted_out(self, rows: Rows, values: Values, people: Places) -> list[tuple[Kind, Places]]:
        """Each kind, and which of these people are of it. Whoever is of none is left out."""
        facts = [fact for key in self._conditions for fact in self._facts(key, rows, values)]
        signs = [sign for key, fact in facts for sign in (fact.what, *map(fact.meet, self._conditions[key]))]
        table = np.column_stack([np.zeros(rows.count, dtype=np.int8), *signs])
        for _, fact in facts:
            people = people[fact.what[people] != OTHER]
        keys = np.ascontiguousarray(table[people]).view(f"V{table.shape[1]}")[:, 0]
        unique, first, which = np.unique(keys, return_index=True, return_inverse=True)
        found = [
            (self._kind(key.tobytes(), rows, values, int(people[first[place]])), people[which == place])
            for place, key in enumerate(unique)
        ]
        return [(kind, them) for kind, them in found if kind is not None]

    def context(self, rows: Rows, row: int) -> dict[str, Any]:
        """What a request would say of one person besides the instance: all that a range may ask for."""
        cells = {key: self._cells(key, rows) for key in self._conditions}
        facts = {key: each.fact(row) for key, each in cells.items() if each is not None}
        return {key: fact for key, fact in facts.items() if fact is not None}

    def strangers(self, rows: Rows) -> Iterator[tuple[str, list[str]]]:
        """Facts that are texts, of which some are none that any range asks for: which fact, and what ranges know."""
        for key, conditions in self._conditions.items():
            known = [condition.value for condition in conditions if isinstance(condition, Equals)]
            words = [word for word in known if isinstance(word, str)]
            cells = self._cells(key, rows)
            if cells is None or len(words) < len(conditions):
                continue
            facts = _Facts.of(cells, cells.nulls())
            if np.any((facts.what != NOTHING) & ~np.isin(facts.words.astype(str), words)):
                yield key, words

    def _kind(self, key: bytes, rows: Rows, values: Values, row: int) -> Kind | None:
        if key not in self._known:
            errors = Errors()
            standards = choose_standards(self._terms, self._known_of(rows, values, row), errors)
            self._known[key] = None if errors.found else self._made(standards)
        return self._known[key]

    def _made(self, standards: Standards) -> Kind:
        model = self._terms.model
        features = features_of(self._terms, standards, [0.0] * len(model.features))
        standard = Standard.of(features, [len(feature.categories) for feature in model.features])
        return Kind(standards, _without_unsound(standard, model))

    def _known_of(self, rows: Rows, values: Values, row: int) -> Mapping[str, Any]:
        """What the conditions can look at, of one person: the context first, then the instance."""
        positions = self._terms.model.positions
        own = {
            key: rows.cells[self._columns.features[key]].value(row)
            for key in self._conditions
            if key in positions and not np.isnan(values[row, positions[key]])
        }
        return {**own, **self.context(rows, row)}

    def _facts(self, key: str, rows: Rows, values: Values) -> list[tuple[str, "_Facts"]]:
        """What is said of everybody wherever a fact may stand: in the context, and in the instance."""
        cells, position = self._cells(key, rows), self._terms.model.positions.get(key)
        found = [_Facts.none(rows.count) if cells is None else _Facts.of(cells, cells.nulls())]
        if position is not None:
            own = rows.cells.get(self._columns.features[key])
            missing = np.isnan(values[:, position])
            found.append(_Facts.none(rows.count) if own is None else _Facts.of(own, missing))
        return [(key, facts) for facts in found]

    def _cells(self, key: str, rows: Rows) -> Cells | None:
        return rows.cells.get(self._columns.context[key]) if key in self._columns.context else None


class _Facts(NamedTuple):
    """One fact of many people."""

    what: Signs
    numbers: Values
    words: NDArray[Any]

    @classmethod
    def none(cls, count: int) -> "_Facts":
        nothing = np.full(count, np.nan)
        return cls(np.full(count, NOTHING, dtype=np.int8), nothing, nothing)

    @classmethod
    def of(cls, cells: Cells, missing: Bools) -> "_Facts":
        numbers, are_numbers = cells.numbers()
        texts, are_texts = cells.texts()
        true, are_truths = cells.truths()
        chosen = [missing, are_numbers & np.isfinite(numbers), are_truths & true, are_truths, are_texts & ~are_numbers]
        what = np.select(chosen, [NOTHING, NUMBER, TRUE, FALSE, TEXT], OTHER).astype(np.int8)
        return cls(what, numbers, np.asarray(texts.to_numpy(zero_copy_only=False), dtype=object))

    def meet(self, condition: Condition) -> Signs:
        """For whom the condition holds."""
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


def _without_unsound(standard: Standard, model: Model) -> Standard:
    """Targets that the model cannot read, or that mean a missing value, are infinite: whoever has one is not plain."""

    def sound(target: float, position: int) -> float:
        feature = model.features[position]
        known = not np.isnan(target)
        return np.inf if known and (feature.means_missing(target) or too_large(target, position, model)) else target

    def checked(targets: Values) -> Values:
        return np.array([sound(target, position) for position, target in enumerate(targets.tolist())])

    below, above, guides = map(checked, (standard.below, standard.above, standard.guides))
    return replace(standard, below=below, above=above, guides=guides)
