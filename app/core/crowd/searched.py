"""The lattices of many people with equally many moves, judged together: the subsets of many in one call of the model.

As in `whole_lattice`, a subset goes by its number: one bit a move, the first move highest.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.crowd.posed import Places
from app.core.favourable import Bools, Favourable, Floats
from app.core.search.verdict import Verdict
from app.core.subsets.dense_frontier import table

Score = Callable[[NDArray[Any]], Floats]

# The most rows of a call. More are no faster, and take memory.
MOST_ROWS = 8_192


@dataclass(frozen=True, slots=True)
class PeopleBatch:
    """People with equally many moves: their rows for the model, unchanged and with every move made.

    `columns` are the columns that each move changes, padded to the same number by repeating the first.
    `feasible` flags the allowed subsets of each person, at least one each; None if all are allowed.
    """

    rows: NDArray[Any]
    changed: NDArray[Any]
    columns: Places
    feasible: Bools | None

    @property
    def moves(self) -> int:
        return int(self.columns.shape[1])

    def part(self, people: slice) -> "PeopleBatch":
        feasible = None if self.feasible is None else self.feasible[people]
        return PeopleBatch(self.rows[people], self.changed[people], self.columns[people], feasible)


class JudgedPeople(NamedTuple):
    """For some people and every subset in the order of sizes: whether it is feasible and favourable, and its score."""

    flags: Bools
    scores: Floats
    # What the model said of the subsets asked about, and which of those each subset is.
    verdict: Verdict
    rows: Places


class Hits(NamedTuple):
    """Minimal answers, person by person, in the order of sizes: whose, which subset, and what the model then says."""

    people: Places
    numbers: Places
    scores: Floats
    labels: NDArray[np.intp]

    def of(self, chosen: Bools) -> "Hits":
        return Hits(self.people[chosen], self.numbers[chosen], self.scores[chosen], self.labels[chosen])


def judge(batch: PeopleBatch, score: Score, favourable: Favourable) -> Iterator[tuple[slice, JudgedPeople]]:
    """Judge every feasible subset of everyone. Yields slices of the people with their verdicts, one per model call."""
    subsets = 2**batch.moves
    at_once = max(1, MOST_ROWS // subsets)
    order = table(batch.moves).numbers
    for start in range(0, len(batch.rows), at_once):
        people = slice(start, min(start + at_once, len(batch.rows)))
        part = batch.part(people)
        asked = None if part.feasible is None else part.feasible.ravel()
        rows = every_row(part)
        verdict = Verdict.of(in_calls(rows if asked is None else rows[asked], score), favourable)
        shape = (len(part.rows), subsets)
        flags = _spread(verdict.favourable, asked, False).reshape(shape)
        scores = _spread(verdict.score, asked, np.nan).reshape(shape)
        rows_of_all = _spread(np.arange(len(verdict)), asked, -1).reshape(shape)
        yield people, JudgedPeople(flags[:, order], scores[:, order], verdict, rows_of_all[:, order])


def in_calls(rows: NDArray[Any], score: Score) -> Floats:
    """Score any number of rows, at least one, in calls of at most `MOST_ROWS`."""
    parts = [score(rows[start : start + MOST_ROWS]) for start in range(0, len(rows), MOST_ROWS)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _spread(said: NDArray[Any], asked: Bools | None, otherwise: Any) -> NDArray[Any]:
    """Spread what was said about the judged subsets over all subsets."""
    if asked is None:
        return said
    everywhere = np.full(len(asked), otherwise, dtype=said.dtype)
    everywhere[asked] = said
    return everywhere


def every_row(batch: PeopleBatch) -> NDArray[Any]:
    """The rows r(x, S) of all subsets by number, person after person: with every move there are twice as many."""
    people, width = batch.rows.shape
    subsets = 2**batch.moves
    rows = np.empty((people, subsets, width), dtype=batch.rows.dtype)
    rows[:, 0] = batch.rows
    each = np.arange(people)[:, None]
    done = 1
    for move in range(batch.moves - 1, -1, -1):
        rows[:, done : 2 * done] = rows[:, :done]
        copies = np.arange(done, 2 * done)[None, :]
        for column in batch.columns[:, move].T:
            rows[each, copies, column[:, None]] = batch.changed[np.arange(people), column][:, None]
        done *= 2
    return rows.reshape(people * subsets, width)


def minimal(flags: Bools, moves: int) -> Bools:
    """Those of everybody's subsets, in the order of sizes, that contain no other one."""
    order = table(moves).numbers
    by_number = np.empty((2**moves, len(flags)), dtype=np.bool_)
    # A row for each subset: all people are then worked on side by side.
    by_number[order] = flags.T
    closed, larger = by_number.copy(), np.zeros_like(by_number)
    for place in range(moves):
        shape = (2 ** (moves - 1 - place), 2, 2**place, len(flags))
        without, within = closed.reshape(shape)[:, 0], closed.reshape(shape)[:, 1]
        # Of the subsets that lack moves, the last one lacking decides: every smaller answer is seen once.
        larger.reshape(shape)[:, 1] |= without
        within |= without
    return (by_number & ~larger)[order].T


def hits(judged: JudgedPeople, moves: int) -> Hits:
    """The minimal answers of everybody."""
    people, places = np.nonzero(minimal(judged.flags, moves))
    return Hits(
        people,
        table(moves).numbers[places].astype(np.intp),
        judged.scores[people, places],
        judged.verdict.labels(judged.rows[people, places]),
    )


def closest(judged: JudgedPeople, favourable: Favourable, moves: int) -> tuple[Places, Floats]:
    """For each person the closest subset and its score; of equally close ones the smallest, then the first.

    The score is NaN if no subset has a finite one.
    """
    merits = np.where(np.isfinite(judged.scores), favourable.merit(judged.scores), -np.inf)
    places = merits.argmax(axis=1)
    return table(moves).numbers[places].astype(np.intp), judged.scores[np.arange(len(places)), places]
