"""Answers many people at once: posed in arrays, with the subsets of many people in one call of the model."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.asking.posing.terms import Terms
from app.cohorts.solving.answers import Answered
from app.cohorts.solving.patterns import Pattern
from app.cohorts.solving.range_groups import RangeGroup
from app.cohorts.solving.results import ChunkResults
from app.cohorts.solving.values import encoded
from app.core.budget import Limits
from app.core.crowd.posed import ManyPosed, Places, Values, places_of
from app.core.crowd.searched import Hits, JudgedPeople, PeopleBatch, closest, hits, in_calls, judge
from app.core.facts import Reason
from app.core.favourable import Bools
from app.core.search.verdict import Verdict
from app.core.search.whole_lattice import MOST_AT_ONCE, members
from app.core.subsets.costs import Costs
from app.writing.lines import MOST_RELAXATIONS

# Most patterns in the cache. Beyond that it is cleared.
MOST_PATTERNS = 4_000


class People(NamedTuple):
    """Some people of a chunk: their places in it, the range group of each, their values and targets."""

    places: Places
    groups: Sequence[RangeGroup]
    which: Places
    values: Values
    targets: Values


class Decided(NamedTuple):
    """People who were posed and judged without changes; with their patterns, if there are constraints."""

    people: People
    posed: ManyPosed
    rows: NDArray[Any]
    verdict: Verdict
    patterns: Sequence[Pattern] | None

    def tell(self, chosen: Places, outcome: str, results: ChunkResults) -> None:
        moves = self.posed.movable[chosen].sum(axis=1)
        labels = self.verdict.labels(chosen)
        results.decide(self.people.places[chosen], outcome, self.verdict.score[chosen], labels, moves)


class Piece(NamedTuple):
    """People with equally many possible changes: these changes, and the verdicts on all their subsets."""

    people: Places
    places: Places
    judged: JudgedPeople

    @property
    def moves(self) -> int:
        return int(self.places.shape[1])

    def positions(self, person: int, number: int) -> list[int]:
        """The features that a subset changes."""
        return [int(self.places[person, move]) for move in members(self.moves)[number]]


class BatchSolver:
    """Answers many people at once, with the same results as one by one."""

    def __init__(self, terms: Terms, limits: Limits) -> None:
        self._terms = terms
        self._limits = limits
        self._patterns: dict[bytes, Pattern] = {}
        features, scorer = terms.model.features, terms.model.scorer
        self._names = [feature.name for feature in features]
        weights = [terms.weights.get(name, 1) for name in self._names]
        self._uniform = len(set(weights)) <= 1
        # The last weight is for the padding of rows of changes.
        self._costs = Costs([*weights, 0])
        columns = [scorer.columns(place) for place in range(len(features))]
        widest = max(map(len, columns))
        # Padded to equal length by repeating the first column.
        self._columns = np.array([(*each, *each[:1] * (widest - len(each))) for each in columns])

    def answer(self, people: People, results: ChunkResults) -> Places:
        """Answer these people into `results`. Returns the places of those who must be answered one by one."""
        if not len(people.places):
            return people.places
        decided = self._decided(people)
        verdict, patterns = decided.verdict, decided.patterns
        alone = ~np.isfinite(verdict.score) | self._take_long(decided)
        if patterns is not None:
            # Contradicting constraints are refused, whatever the decision.
            alone |= [pattern.contradicts for pattern in patterns]
        decided.tell(np.flatnonzero(verdict.favourable & ~alone), "already_favourable", results)
        refused = np.flatnonzero(~verdict.favourable & ~alone)
        free = np.ones(len(refused), dtype=np.bool_)
        if patterns is not None:
            free[:] = [patterns[person].unconstrained for person in refused.tolist()]
        for piece in self._judged(decided, refused[free], decided.posed.movable):
            lost = self._tell_answers(decided, piece, alone, results)
            results.give_reason(people.places[piece.people[lost]], Reason.RANGES)
        without = [
            piece.people[self._tell_answers(decided, piece, alone, results)]
            for piece in self._judged(decided, refused[~free], decided.posed.movable, feasible=True)
        ]
        for piece in self._judged(decided, np.concatenate([refused[:0], *without]), decided.posed.candidates):
            self._tell_obstacles(decided, piece, alone, results)
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
                self._patterns[key] = Pattern(self._terms, people.groups[people.which[person]], values)
            found.append(self._patterns[key])
        return found

    def _take_long(self, decided: Decided) -> Bools:
        """Who has too many candidates to judge all their subsets at once, if that may be needed."""
        most = min(MOST_AT_ONCE, (self._limits.max_model_rows // 2).bit_length() - 1)
        many: Bools = decided.posed.candidates.sum(axis=1) > most
        return many if decided.patterns is not None else many & ~decided.verdict.favourable

    def _judged(self, decided: Decided, people: Places, changes: Bools, feasible: bool = False) -> Iterator[Piece]:
        """The verdicts on every subset of these changes, for each of these people."""
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
            batch = PeopleBatch(decided.rows[them], encoded(moved, terms.model), self._columns[places], allowed)
            for who, judged in judge(batch, terms.model.scorer, terms.favourable):
                yield Piece(them[who], places[who], judged)

    def _tell_answers(self, decided: Decided, piece: Piece, alone: Bools, results: ChunkResults) -> Places:
        """Add everyone's answers to `results`; returns who has none. People with too many are marked in `alone`."""
        found = hits(piece.judged, piece.moves)
        counts = np.bincount(found.people, minlength=len(piece.people))
        most = self._limits.max_counterfactuals
        if most is not None and counts.max(initial=0) >= most:
            alone[piece.people[counts >= most]] = True
            found = found.of(counts[found.people] < most)
        self._check(decided, piece, found)
        if len(found.people):
            decided.tell(piece.people[np.unique(found.people)], "found", results)
            results.add(self._answered(decided, piece, found))
        lost = np.flatnonzero(counts == 0)
        decided.tell(piece.people[lost], "no_recourse", results)
        self._tell_closest(decided, piece, lost, results)
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
        ends, shares = np.full(changed.shape, np.nan), np.full(len(changed), np.nan)
        answers = Answered(places, self._costs.of_rows(changed), found.scores, found.labels, changed, ends, shares)
        if self._uniform:
            return answers
        # The cheapest of a size first, then in the order of their positions, in which they come.
        order = np.lexsort((answers.costs, (changed >= 0).sum(axis=1), places))
        return answers.of(order)

    def _tell_closest(self, decided: Decided, piece: Piece, lost: Places, results: ChunkResults) -> None:
        """Add the closest allowed subset of each of these people to `results`."""
        if not len(lost):
            return
        numbers, scores = closest(piece.judged, self._terms.favourable, piece.moves)
        for person in lost.tolist():
            if np.isfinite(scores[person]):
                names = [self._names[place] for place in piece.positions(person, int(numbers[person]))]
                results.closest(int(decided.people.places[piece.people[person]]), scores[person], names)

    def _tell_obstacles(self, decided: Decided, piece: Piece, alone: Bools, results: ChunkResults) -> None:
        """Add why each person has no answer: constraints, or the ranges if no subset at all is favourable."""
        assert decided.patterns is not None
        for place, person in enumerate(piece.people.tolist()):
            pattern = decided.patterns[person]
            groups = pattern.obstacles.in_the_way(piece.judged.flags[place])
            if not pattern.obstacles.few:
                alone[person] = True
            elif groups:
                paths = [pattern.item_paths(group) for group in groups[:MOST_RELAXATIONS]]
                results.in_the_way(int(decided.people.places[person]), paths)
            else:
                results.give_reason(decided.people.places[[person]], Reason.RANGES)


@cache
def _padded_members(moves: int) -> Places:
    """The moves of every subset by number, padded with -1."""
    return np.array([(*each, *(-1,) * (moves - len(each))) for each in members(moves)], dtype=np.intp).reshape(
        -1, moves
    )
