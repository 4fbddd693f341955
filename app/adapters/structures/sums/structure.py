"""What is understood of a model, and the model as one person sees it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.adapters.graphs.feeds import Feed
from app.adapters.structures.linking import Taken
from app.adapters.structures.preparing import Cut
from app.adapters.structures.sums.boxes import Parting, check_straight, weighed_over
from app.adapters.structures.sums.ensembles import MEMBER
from app.adapters.structures.sums.planning import Form, Plan, planned
from app.adapters.structures.sums.spans import TreeSpans
from app.adapters.structures.sums.specialising import Ways, tables_of, truths_of, ways_of
from app.adapters.structures.values import Columns
from app.adapters.structures.walking import Trees
from app.core.favourable import Bools, Favourable, FavourableClasses
from app.core.subsets.candidate_rows import MoveCells
from app.core.through.links import MOST, Bounds, Link
from app.core.through.over import Bounded, Rows
from app.core.through.view import Kind, Numbers, Sums, Table, Unseen

# What adding tables in float64 may lose, as a share of the sum of absolute values: more than a million roundings.
OWN_ROUNDING = 2.0**-32


@dataclass(frozen=True, slots=True)
class SumsView:
    """A model as one person sees it: sums of tables, and the link from sums to outputs."""

    kind: Kind
    sums: Sums
    rising: tuple[bool, ...] | None
    link: Link
    taken: tuple[Form, ...]
    # What the runtime may lose in each element that the link takes.
    losses: tuple[Numbers, ...]

    def outputs(self, low: Numbers, high: Numbers) -> Bounds:
        """Bounds on the model's outputs, from bounds on the forms."""
        pairs = zip(self.taken, self.losses, strict=True)
        return self.link.bounds([self._read(form, loss, low, high) for form, loss in pairs])

    @staticmethod
    def _read(form: Form, loss: Numbers, low: Numbers, high: Numbers) -> Bounds:
        one = low[:, form.places] * form.factors + form.offsets
        other = high[:, form.places] * form.factors + form.offsets
        least, most = np.minimum(one, other), np.maximum(one, other)
        return least - loss, most + loss


class Structure:
    """A model that is seen through: what a person's view is made from.

    `owners` has the feature of each column of a row; `columns` are the tensors that are added up, or that trees read.
    """

    def __init__(
        self,
        feeds: Sequence[Feed],
        owners: NDArray[np.intp],
        cut: Cut,
        columns: Mapping[str, Columns],
        trees: Mapping[str, Trees],
        taken: Sequence[Taken],
        link: Link,
    ) -> None:
        self._feeds = tuple(feeds)
        self._owners = owners
        self._cut = cut
        self._features = {name: _features(each) for name, each in columns.items()}
        self._trees = dict(trees)
        self._sizes = {name: each.ensemble.sizes for name, each in trees.items()}
        self._taken = tuple(taken)
        # Columns with a weight anywhere, though weights may cancel: rounding leaves something of them.
        self._used = {name: _used(name, taken) for name in columns}
        self._link = link
        self._plans: dict[int, Plan] = {}
        self._spans: dict[tuple[str, int], TreeSpans] = {}
        self.kind = Kind.TREES if trees else Kind.LINEAR
        self.why: str | None = None

    def view(self, row: NDArray[Any], moves: Sequence[MoveCells], favourable: Favourable) -> SumsView:
        """The model as a person sees it whose row this is and who may make these moves; or `Unseen`."""
        plan = self._plan(favourable)
        depths = _depths(moves)
        held = self._values(row, moves, depths)
        made_by = np.full((self._owners.max() + 2, max(depths, default=1)), -1)
        owners = [self._owners[move.columns[0]] for move in moves]
        made_by[owners, np.array(depths, dtype=np.intp) - 1] = np.arange(len(moves))
        constant, sizes = np.zeros(plan.count), dict(self._sizes)
        tables: list[Table] = []
        ways: list[Ways] = []
        for name, weights in plan.weights.items():
            if name in self._trees:
                columns = self._trees[name].columns
                owned = made_by[self._features[columns]]
                ways.append(ways_of(self._trees[name].ensemble, held[columns], owned, len(moves)))
                leaves = self._trees[name].ensemble.leaves[ways[-1].leaves]
                found = tables_of(ways[-1], leaves @ weights, len(moves))
            else:
                sizes[name] = np.abs(held[name]).max(axis=0)
                found = _weighed(weights, held[name], made_by[self._features[name]], self._used[name], len(moves))
            constant += found[0]
            tables.extend(found[1])
        losses = tuple(_loss(taken, form, sizes) for taken, form in zip(self._taken, plan.taken, strict=True))
        only_trees = len(ways) == len(plan.weights)
        sums = Sums(constant, tuple(tables), partial(truths_of, ways, len(moves)) if only_trees else None)
        return SumsView(self.kind, sums, plan.rising, self._link, plan.taken, losses)

    def over(self, low: Rows, high: Rows, favourable: Favourable) -> Bounded:
        """The model over boxes of rows; `Unseen` if it bends a feature that differs within a box."""
        check_straight(self._owners, self._cut.bent, low, high)
        plan, least, most = self._plan(favourable), *self._ends(low, high)
        parting, sizes = Parting(self._owners, low), dict(self._sizes)
        forms = np.zeros((2, len(low), plan.count))
        for name, weights in plan.weights.items():
            if name in self._trees:
                columns, spans = self._trees[name].columns, self._spans_of(name, favourable, weights)
                span = spans.over(least[columns], most[columns])
                forms += np.stack([span.low, span.high])
                parting.at_tests(span.test, self._features[columns], is_cell=self._cut.hands_through(columns))
            else:
                added, sizes[name] = weighed_over(weights, least[name], most[name])
                forms += added.sum(axis=3)
                parting.by_weight((added[1] - added[0]).max(axis=1), self._features[name])
        losses = tuple(_loss(taken, form, sizes) for taken, form in zip(self._taken, plan.taken, strict=True))
        view = SumsView(self.kind, Sums(forms[0, 0], ()), plan.rising, self._link, plan.taken, losses)
        return Bounded(*view.outputs(*forms), *parting.found())

    def _ends(self, low: Rows, high: Rows) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
        """The least and the most that the runtime makes of the columns, for each box."""
        made = [self._cut.run({feed.name: feed.tensor(rows) for feed in self._feeds}) for rows in (low, high)]
        one, other = ({name: tensor.reshape(len(low), -1) for name, tensor in each.items()} for each in made)
        least, most = ({name: side(one[name], other[name]) for name in one} for side in (np.minimum, np.maximum))
        return least, most

    def _spans_of(self, name: str, favourable: Favourable, weights: Numbers) -> TreeSpans:
        key = name, _first(favourable)
        if key not in self._spans:
            self._spans[key] = TreeSpans(self._trees[name].ensemble, weights)
        return self._spans[key]

    def hard_values(self, features: int) -> list[NDArray[Any]]:
        """For each feature the values at which a tree asks about it, if it reads the feature as it is."""
        hard: list[list[NDArray[Any]]] = [[] for _ in range(features)]
        for trees in self._trees.values():
            owners = self._features[trees.columns][trees.ensemble.columns]
            for feature in np.unique(owners[owners >= 0]).tolist():
                splits = trees.ensemble.splits[owners == feature]
                hard[feature].append(splits[np.isfinite(splits)])
            asked = owners[trees.ensemble.modes == MEMBER].tolist()
            for feature, members in zip(asked, trees.ensemble.members, strict=True):
                if feature >= 0:
                    hard[feature].append(members)
        return [np.concatenate([np.zeros(0), *each]) for each in hard]

    def _values(self, row: NDArray[Any], moves: Sequence[MoveCells], depths: Sequence[int]) -> dict[str, NDArray[Any]]:
        """What the runtime makes of the columns: as they are, with the first move of every feature made, and so on."""
        rows = np.repeat(row[None], max(depths, default=1) + 1, axis=0)
        for move, depth in zip(moves, depths, strict=True):
            rows[depth:, list(move.columns)] = move.values
        made = self._cut.run({feed.name: feed.tensor(rows) for feed in self._feeds})
        return {name: tensor.reshape(len(rows), -1) for name, tensor in made.items()}

    def _plan(self, favourable: Favourable) -> Plan:
        """The forms for a target: with a softmax, differences to the first favourable class."""
        first = _first(favourable)
        if first not in self._plans:
            self._plans[first] = planned(self._taken, first, self._link)
        return self._plans[first]


def _first(favourable: Favourable) -> int:
    """The first favourable class; of a regression its only number."""
    return favourable.classes[0] if isinstance(favourable, FavourableClasses) else 0


def _features(columns: Columns) -> NDArray[np.intp]:
    """The feature of each column; the last of all, which is none, where it depends on nothing."""
    return np.array([int(need).bit_length() - 1 for need in columns.needs.ravel()], dtype=np.intp)


def _depths(moves: Sequence[MoveCells]) -> list[int]:
    """The how-manieth move of its feature each one is; a further move leads on from the one before it."""
    seen: Counter[int] = Counter()
    depths = []
    for move in moves:
        seen[move.columns[0]] += 1
        depths.append(seen[move.columns[0]])
    return depths


def _used(name: str, taken: Sequence[Taken]) -> Bools:
    terms = [each.sum.terms[name] for each in taken if name in each.sum.terms]
    used: Bools = np.any([term.sizes.any(axis=1) for term in terms], axis=0)
    return used


def _weighed(
    weights: Numbers, held: NDArray[Any], moves: NDArray[np.intp], used: Bools, count: int
) -> tuple[Numbers, list[Table]]:
    """A linear model: what every move adds."""
    values = held.astype(np.float64)
    # Linear operators read float64 as float32, and a missing value times nought is missing.
    if not (np.abs(held) < MOST).all():
        raise Unseen("a value is missing, or too large, where the model adds values up")
    steps, matters = np.zeros((count + 1, weights.shape[1])), np.zeros(count + 1, dtype=np.bool_)
    for depth, (before, after) in enumerate(pairwise(values)):
        np.add.at(steps, moves[:, depth], (after - before)[:, None] * weights)
        matters[moves[used & (before != after), depth]] = True
    made = np.flatnonzero(matters[:count]).tolist()
    return values[0] @ weights, [
        Table((place,), np.stack([np.zeros_like(steps[place]), steps[place]])) for place in made
    ]


def _loss(taken: Taken, form: Form, sizes: Mapping[str, Numbers]) -> Numbers:
    """What the runtime may lose in each element of a sum, and what we may lose ourselves."""
    held = taken.sum
    size = held.bias_size + sum(sizes[name] @ term.sizes for name, term in held.terms.items())
    if not held.bias_peak + sum(sizes[name] @ term.peaks for name, term in held.terms.items()) < MOST:
        raise Unseen("the sums may become too large for the model's numbers")
    share = held.rounding / (1 - held.rounding) + OWN_ROUNDING
    loss: Numbers = share * size + 2.0**-100
    if form.bases is not None:
        loss = loss + loss[form.bases]
    return loss
