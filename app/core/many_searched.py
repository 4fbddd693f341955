"""The lattices of many people with equally many moves, judged together: the subsets of many in one call of the model.

As in `whole_lattice`, a subset goes by its number: one bit a move, the first move highest.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.dense_frontier import table
from app.core.favourable import Bools, Favourable, Floats
from app.core.many_posed import Places
from app.core.oracle import Verdict

Score = Callable[[NDArray[Any]], Floats]

# The most rows of a call. More are no faster, and take memory.
MOST_ROWS = 8_192


@dataclass(frozen=True, slots=True)
class Alike:
    """People with equally many moves: their rows as the model reads them, as they are and with every move made.

    `columns` are those that each move takes with it, the same number for all: a move of fewer names its first again.
    `feasible` says which subsets are allowed to whom; None where all are.
    """

    rows: NDArray[Any]
    changed: NDArray[Any]
    columns: Places
    feasible: Bools | None

    @property
    def moves(self) -> int:
        return int(self.columns.shape[1])

    def part(self, people: slice) -> "Alike":
        feasible = None if self.feasible is None else self.feasible[people]
        return Alike(self.rows[people], self.changed[people], self.columns[people], feasible)


class Judged(NamedTuple):
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


def judge(alike: Alike, score: Score, favourable: Favourable) -> Iterator[tuple[slice, Judged]]:
    """Judge every feasible subset of everybody, as many people at a time as a call takes: who, and what of them."""
    subsets = 2**alike.moves
    at_once = max(1, MOST_ROWS // subsets)
    order = table(alike.moves).numbers
    for start in range(0, len(alike.rows), at_once):
        people = slice(start, min(start + at_once, len(alike.rows)))
        part = alike.part(people)
        asked = None if part.feasible is None else part.feasible.ravel()
        rows = every_row(part)
        verdict = Verdict.of(in_calls(rows if asked is None else rows[asked], score), favourable)
        shape = (len(part.rows), subsets)
        flags = _spread(verdict.favourable, asked, False).reshape(shape)
        scores = _spread(verdict.score, asked, np.nan).reshape(shape)
        rows_of_all = _spread(np.arange(len(verdict)), asked, -1).reshape(shape)
        yield people, Judged(flags[:, order], scores[:, order], verdict, rows_of_all[:, order])


def in_calls(rows: NDArray[Any], score: Score) -> Floats:
    """What the model says of any number of rows, at least one."""
    parts = [score(rows[start : start + MOST_ROWS]) for start in range(0, len(rows), MOST_ROWS)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _spread(said: NDArray[Any], asked: Bools | None, otherwise: Any) -> NDArray[Any]:
    """What was said of the subsets asked about, among all of them."""
    if asked is None:
        return said
    everywhere = np.full(len(asked), otherwise, dtype=said.dtype)
    everywhere[asked] = said
    return everywhere


def every_row(alike: Alike) -> NDArray[Any]:
    """The rows r(x, S) of all subsets by number, person after person: with every move there are twice as many."""
    people, width = alike.rows.shape
    subsets = 2**alike.moves
    rows = np.empty((people, subsets, width), dtype=alike.rows.dtype)
    rows[:, 0] = alike.rows
    each = np.arange(people)[:, None]
    done = 1
    for move in range(alike.moves - 1, -1, -1):
        rows[:, done : 2 * done] = rows[:, :done]
        copies = np.arange(done, 2 * done)[None, :]
        for column in alike.columns[:, move].T:
            rows[each, copies, column[:, None]] = alike.changed[np.arange(people), column][:, None]
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


def hits(judged: Judged, moves: int) -> Hits:
    """The minimal answers of everybody."""
    people, places = np.nonzero(minimal(judged.flags, moves))
    return Hits(
        people,
        table(moves).numbers[places].astype(np.intp),
        judged.scores[people, places],
        judged.verdict.labels(judged.rows[people, places]),
    )


def closest(judged: Judged, favourable: Favourable, moves: int) -> tuple[Places, Floats]:
    """Everybody's subset that comes closest, the smallest and then the first of several as good; and its score."""
    merits = np.where(np.isfinite(judged.scores), favourable.merit(judged.scores), -np.inf)
    places = merits.argmax(axis=1)
    return table(moves).numbers[places].astype(np.intp), judged.scores[np.arange(len(places)), places]
