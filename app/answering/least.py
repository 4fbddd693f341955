"""How little would do, told of the plans of one answer, in rows that are counted apart from the search's."""

from collections.abc import Iterable, Sequence

import numpy as np

from app.adapters.graphs.runs import Runs
from app.adapters.structures.sums.structure import Structure
from app.asking.posing.question import Question
from app.core.budget import Budget, Limits, Stopped, StoppedBy
from app.core.facts import Found
from app.core.favourable import Bools
from app.core.following.rows import moved_to, write
from app.core.least.numbers import Numbers
from app.core.least.turning import Turn, Way, turns_of
from app.core.problem import Move
from app.core.search.oracle import ModelCost, Oracle
from app.core.subsets.masks import of_members
from app.core.through.view import Kind


class Least:
    """Finds for each changed number of a plan where the decision turns, if the other changes stay."""

    def __init__(self, question: Question, runs: Runs, limits: Limits, budget: Budget) -> None:
        self._question = question
        self._budget = Budget(limits, budget.clock, budget.started, budget.stop)
        self._scorer = question.model.scorer.within(runs)
        problem = question.problem
        given = self._scorer, question.favourable, problem.instance, problem.moves, self._budget
        self._oracle = Oracle(*given, ModelCost(), problem.following)
        structure, features = question.model.structure, question.model.features
        self._hard: Sequence[Iterable[float]] = [()] * len(features)
        if isinstance(structure, Structure) and structure.kind is Kind.TREES:
            self._hard = structure.hard_values(len(features))

    def of(self, found: Found) -> list[Turn | None] | None:
        """What would be enough of each change, None for what is no number; None for all if the budget is spent."""
        problem = self._question.problem
        moves = [problem.moves[index] for index in found.moves]
        ways = [self._way(move.position, move.target) for move in moves]
        known = [place for place, way in enumerate(ways) if way is not None]
        moves_known = [moves[place] for place in known]
        columns = [self._scorer.columns(move.position)[0] for move in moves_known]
        row = self._oracle.rows_of(of_members([found.moves], len(problem.moves)))[:1].copy()

        def judge(values: list[np.ndarray], asked: list[int]) -> list[Bools]:
            rows = np.repeat(row, sum(map(len, values)), axis=0)
            start = 0
            for place, own in zip(asked, values, strict=True):
                part = rows[start : start + len(own)]
                part[:, columns[place]] = own
                self._let_follow(part, moves, moves_known[place].position, own)
                start += len(own)
            favourable = self._favours(rows)
            return np.split(favourable, np.cumsum([len(own) for own in values])[:-1])

        try:
            turns = turns_of([way for way in ways if way is not None], judge)
        except Stopped:
            return None
        said: list[Turn | None] = [None] * len(ways)
        for place, turn in zip(known, turns, strict=True):
            said[place] = turn
        return said

    def _let_follow(self, rows: np.ndarray, moves: Sequence[Move], position: int, values: np.ndarray) -> None:
        """What follows from a plan of which one number has these values instead, as they are told."""
        following = self._question.problem.following
        if following is not None:
            told = np.array([float(str(value)) for value in values])
            moved = {**{move.position: move.target for move in moves}, position: told}
            write(rows, following, moved_to(following, moved), self._scorer)

    def _way(self, position: int, target: float) -> Way | None:
        question = self._question
        feature, value = question.model.features[position], question.problem.instance[position]
        if feature.type == "category" or question.is_missing(position):
            return None
        numbers = Numbers(self._scorer.dtype_at(position), feature.whole)
        low, high = min(value, target), max(value, target)
        return Way(numbers, value, target, [hard for hard in self._hard[position] if low <= hard <= high])

    def _favours(self, rows: np.ndarray) -> Bools:
        most = self._oracle.batch_rows
        parts = []
        for start in range(0, len(rows), most):
            part = rows[start : start + most]
            if self._budget.take_rows(len(part)) < len(part):
                raise Stopped(StoppedBy.MAX_MODEL_ROWS)
            parts.append(self._oracle.judge_rows(part).favourable)
        return np.concatenate(parts)
