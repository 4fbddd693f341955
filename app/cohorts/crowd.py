"""Everybody who is plain, answered together: posed in arrays, the subsets of many in one call of the model."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.api.lines import MOST_RELAXATIONS
from app.api.posing import Terms
from app.cohorts.gathering import Answered, Gathering
from app.cohorts.kinds import Kind
from app.cohorts.patterns import Pattern
from app.cohorts.values import encoded
from app.core.budget import Limits
from app.core.favourable import Bools
from app.core.many_posed import ManyPosed, Places, Values, places_of
from app.core.many_searched import Alike, Hits, Judged, closest, hits, in_calls, judge
from app.core.oracle import Verdict
from app.core.whole_lattice import MOST_AT_ONCE, members

# When so many patterns are known they are forgotten: nobody may ever come again who has one of them.
MOST_PATTERNS = 4_000


class People(NamedTuple):
    """Some people of a chunk: their places there, the kind that each is of, their values, and where those would go."""

    places: Places
    kinds: Sequence[Kind]
    which: Places
    values: Values
    targets: Values


class Decided(NamedTuple):
    """The same people, posed and judged as they are; with their patterns, where there are constraints."""

    people: People
    posed: ManyPosed
    rows: NDArray[Any]
    verdict: Verdict
    patterns: Sequence[Pattern] | None

    def tell(self, chosen: Places, outcome: str, gathering: Gathering) -> None:
        moves = self.posed.movable[chosen].sum(axis=1)
        labels = self.verdict.labels(chosen)
        gathering.decide(self.people.places[chosen], outcome, self.verdict.score[chosen], labels, moves)


class Piece(NamedTuple):
    """Some people with equally many changes to choose from: what these are, and what the model says of all subsets."""

    people: Places
    places: Places
    judged: Judged

    @property
    def moves(self) -> int:
        return int(self.places.shape[1])

    def positions(self, person: int, number: int) -> list[int]:
        """The features that a subset changes."""
        return [int(self.places[person, move]) for move in members(self.moves)[number]]


class Closest(NamedTuple):
    """The changes that come closest to turning a decision, by position, and what the model then says."""

    positions: list[int]
    score: Any
    merit: float


class Crowd:
    """Answers for many at once."""

    def __init__(self, terms: Terms, limits: Limits) -> None:
        self._terms = terms
        self._limits = limits
        self._patterns: dict[bytes, Pattern] = {}
        features, scorer = terms.model.features, terms.model.scorer
        self._names = [feature.name for feature in features]
        self._weights = [float(terms.request.weights.get(name, 1)) for name in self._names]
        self._uniform = len(set(self._weights)) == 1
        columns = [scorer.columns(place) for place in range(len(features))]
        widest = max(map(len, columns))
        # A move of fewer columns names its first again.
        self._columns = np.array([(*each, *each[:1] * (widest - len(each))) for each in columns])

    def answer(self, people: People, gathering: Gathering) -> Places:
        """Answer for these people as far as it can be done together; the places of those who are to be asked alone."""
        if not len(people.places):
            return people.places
        decided = self._decided(people)
        verdict, patterns = decided.verdict, decided.patterns
        alone = ~np.isfinite(verdict.score) | self._take_long(decided)
        if patterns is not None:
            # What contradicts itself is refused, whatever the decision is.
            alone |= [pattern.contradicts for pattern in patterns]
        decided.tell(np.flatnonzero(verdict.favourable & ~alone), "already_favourable", gathering)
        refused = np.flatnonzero(~verdict.favourable & ~alone)
        free = np.ones(len(refused), dtype=np.bool_)
        if patterns is not None:
            free[:] = [patterns[person].unconstrained for person in refused.tolist()]
        for piece in self._judged(decided, refused[free], decided.posed.movable):
            lost = self._tell_answers(decided, piece, alone, gathering)
            for person, nearest in self._closest(piece, lost).items():
                self._tell_closest(decided, person, nearest, gathering)
        within: dict[int, Closest] = {}
        for piece in self._judged(decided, refused[~free], decided.posed.movable, feasible=True):
            within |= self._closest(piece, self._tell_answers(decided, piece, alone, gathering))
        for piece in self._judged(decided, np.array(list(within), dtype=np.intp), decided.posed.candidates):
            self._tell_obstacles(decided, piece, within, alone, gathering)
        return people.places[alone]

    def _decided(self, people: People) -> Decided:
        terms = self._terms
        posed = ManyPosed.of(people.values, people.targets, terms.items)
        rows = encoded(people.values, terms.model)
        verdict = Verdict.of(in_calls(rows, terms.model.scorer), terms.favourable)
        return Decided(people, posed, rows, verdict, self._patterns_of(people, posed) if terms.items else None)

    def _patterns_of(self, people: People, posed: ManyPosed) -> list[Pattern]:
        found = []
        for person, key in enumerate(posed.patterns().tolist()):
            if key not in self._patterns:
                if len(self._patterns) >= MOST_PATTERNS:
                    self._patterns.clear()
                values = people.values[person].tolist()
                self._patterns[key] = Pattern(self._terms, people.kinds[people.which[person]], values)
            found.append(self._patterns[key])
        return found

    def _take_long(self, decided: Decided) -> Bools:
        """Who has so many candidates that not all of their subsets can be judged at once; if they need to be."""
        most = min(MOST_AT_ONCE, (self._limits.max_model_rows // 2).bit_length() - 1)
        many: Bools = decided.posed.candidates.sum(axis=1) > most
        return many if decided.patterns is not None else many & ~decided.verdict.favourable

    def _judged(self, decided: Decided, people: Places, changes: Bools, feasible: bool = False) -> Iterator[Piece]:
        """What the model says of every subset of these changes, for each of these people."""
        terms, posed = self._terms, decided.posed
        counts = changes[people].sum(axis=1)
        for count in np.unique(counts).tolist():
            them = people[counts == count]
            places = places_of(changes[them], count)
            moved = np.where(changes[them], posed.targets[them], posed.values[them])
            allowed = None
            if feasible:
                assert decided.patterns is not None
                allowed = np.array([decided.patterns[person].feasible for person in them.tolist()])
            alike = Alike(decided.rows[them], encoded(moved, terms.model), self._columns[places], allowed)
            for who, judged in judge(alike, terms.model.scorer, terms.favourable):
                yield Piece(them[who], places[who], judged)

    def _tell_answers(self, decided: Decided, piece: Piece, alone: Bools, gathering: Gathering) -> Places:
        """Tell of everybody's answers; who has none. Who has more than are asked for is to be asked about alone."""
        found = hits(piece.judged, piece.moves)
        counts = np.bincount(found.people, minlength=len(piece.people))
        most = self._limits.max_counterfactuals
        if most is not None and counts.max(initial=0) >= most:
            alone[piece.people[counts >= most]] = True
            found = found.of(counts[found.people] < most)
        self._check(decided, piece, found)
        if len(found.people):
            decided.tell(piece.people[np.unique(found.people)], "found", gathering)
            gathering.add(self._answered(decided, piece, found))
        lost = np.flatnonzero(counts == 0)
        decided.tell(piece.people[lost], "no_recourse", gathering)
        return lost

    def _check(self, decided: Decided, piece: Piece, found: Hits) -> None:
        if decided.patterns is not None:
            for person in np.unique(found.people):
                decided.patterns[piece.people[person]].check(found.numbers[found.people == person])

    def _answered(self, decided: Decided, piece: Piece, found: Hits) -> Answered:
        moves = _padded_members(piece.moves)[found.numbers]
        positions = np.take_along_axis(piece.places[found.people], np.maximum(moves, 0), axis=1)
        changed = np.where(moves >= 0, positions, -1)
        places = decided.people.places[piece.people[found.people]]
        answers = Answered(places, self._costs(changed), found.scores, found.labels, changed)
        if self._uniform:
            return answers
        # The cheapest of a size first, then in the order of their positions, in which they come.
        order = np.lexsort((answers.costs, (changed >= 0).sum(axis=1), places))
        return answers.of(order)

    def _costs(self, changed: Places) -> NDArray[np.float64]:
        """Fsum rounds once, so that a cost does not depend on the order of the features."""
        if self._uniform:
            sums = np.array([fsum([self._weights[0]] * size) for size in range(changed.shape[1] + 1)])
            return np.asarray(sums[(changed >= 0).sum(axis=1)])
        return np.array([fsum([self._weights[place] for place in row if place >= 0]) for row in changed.tolist()])

    def _closest(self, piece: Piece, lost: Places) -> dict[int, Closest]:
        """What comes closest for each of these people."""
        if not len(lost):
            return {}
        numbers, scores = closest(piece.judged, self._terms.favourable, piece.moves)
        merits = self._terms.favourable.merit(scores)
        return {
            int(piece.people[person]): Closest(
                piece.positions(person, int(numbers[person])), scores[person], float(merits[person])
            )
            for person in lost.tolist()
        }

    def _tell_closest(self, decided: Decided, person: int, nearest: Closest, gathering: Gathering) -> None:
        names = [self._names[place] for place in nearest.positions]
        gathering.closest(int(decided.people.places[person]), nearest.score, names)

    def _tell_obstacles(
        self, decided: Decided, piece: Piece, within: Mapping[int, Closest], alone: Bools, gathering: Gathering
    ) -> None:
        """What stands in everybody's way: constraints, or if no subset at all is favourable, the ranges."""
        assert decided.patterns is not None
        anyhow = self._closest(piece, np.arange(len(piece.people)))
        for place, person in enumerate(piece.people.tolist()):
            pattern = decided.patterns[person]
            groups = pattern.obstacles.in_the_way(piece.judged.flags[place])
            if not pattern.obstacles.few:
                alone[person] = True
            elif groups:
                paths = [pattern.item_paths(group) for group in groups[:MOST_RELAXATIONS]]
                gathering.in_the_way(int(decided.people.places[person]), paths)
            else:
                # What keeps to the rules is told unless something else comes closer.
                nearest = max(within[person], anyhow[person], key=lambda each: each.merit)
                self._tell_closest(decided, person, nearest, gathering)


@cache
def _padded_members(moves: int) -> Places:
    """The moves of every subset by number, filled up with -1."""
    return np.array([(*each, *(-1,) * (moves - len(each))) for each in members(moves)], dtype=np.intp).reshape(
        -1, moves
    )
