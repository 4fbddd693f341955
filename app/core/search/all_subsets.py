"""Every subset of few moves with the model's verdict: the whole picture, where a search yields only the answers."""

from collections.abc import Generator
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from app.core.facts import Moment, Working
from app.core.favourable import Bools
from app.core.problem import Problem
from app.core.robust.more import KnownLattice
from app.core.search.oracle import Oracle
from app.core.search.whole_lattice import feasible, members
from app.core.subsets.dense_frontier import as_bits, as_flags, minimal, table

# That makes 1,024 subsets, more than anybody looks at.
MOST_SHOWN = 10


class Role(StrEnum):
    """The role of a subset among the feasible ones."""

    MINIMAL = "minimal"
    MAXIMAL_FAILING = "maximal_failing"


class Subset(NamedTuple):
    """A subset, by the indices of its moves; whether it may be chosen, and what the model says of it."""

    moves: tuple[int, ...]
    score: np.floating[Any]
    favourable: bool
    allowed: bool
    role: Role | None


def every_subset(problem: Problem, oracle: Oracle, *, lasting: bool = False) -> Generator[Moment, None, list[Subset]]:
    """Judge all subsets, feasible or not, by size and then by positions; `Stopped` if the budget ends first.

    In turns, a batch in each. If `lasting`, favourable are those that no further improvement breaks.
    """
    moves = len(problem.moves)
    all_of_them = table(moves)
    verdicts = []
    for _, verdict in oracle.judge_all(all_of_them.masks(all_of_them.numbers)):
        verdicts.append(verdict)
        yield Working()
    scores = np.concatenate([verdict.score for verdict in verdicts])
    favourable = np.empty(2**moves, dtype=np.bool_)
    favourable[all_of_them.numbers] = np.concatenate([verdict.favourable for verdict in verdicts])
    allowed = feasible(problem)
    if lasting:
        favourable &= KnownLattice(moves, allowed, favourable).is_lasting()
    roles = _roles(favourable, allowed, moves)
    return [
        Subset(members(moves)[number], score, bool(favourable[number]), bool(allowed[number]), roles.get(number))
        for number, score in zip(all_of_them.numbers.tolist(), scores, strict=True)
    ]


def _roles(favourable: Bools, allowed: Bools, moves: int) -> dict[int, Role]:
    """The subsets that have a role, by their numbers."""
    failing = _maximal(allowed & ~favourable, moves)
    roles = dict.fromkeys(np.flatnonzero(failing).tolist(), Role.MAXIMAL_FAILING)
    # A favourable instance needs no change.
    if not favourable[0]:
        roles |= dict.fromkeys(np.flatnonzero(_minimal(allowed & favourable, moves)).tolist(), Role.MINIMAL)
    return roles


def _minimal(flags: Bools, moves: int) -> Bools:
    return as_flags(minimal(as_bits(flags), moves), moves)


def _maximal(flags: Bools, moves: int) -> Bools:
    """The maximal subsets: reversed, each subset takes the place of its complement, so supersets become subsets."""
    return _minimal(flags[::-1], moves)[::-1]
