"""More moves than brute force over the rows can judge: against all subsets added up independently, and by hand."""

from math import comb
from typing import Any

import numpy as np
import pytest

from app.core.budget import StoppedBy
from app.core.facts import Engine, LevelFinished, ProvedBy
from app.core.favourable import FavourableInterval
from app.core.through.searches import dense
from tests.support.brute_force import Case
from tests.support.searching import Run
from tests.support.sums import Addend, TableModel


def ask(model: TableModel, moves: int, low: float, engine: str = "through", rows: int = 10**9, **case: Any) -> Run:
    """A person whose features are all 0 and may all become 1; a value of at least `low` is favourable."""
    person = Case([0.0] * moves, [(1.0, None)] * moves, lambda row: False, **case)
    return Run(
        person, model, engine, favourable=FavourableInterval(low, None), view=model.view(person.values), rows=rows
    )


def random_tables(seed: int, moves: int, count: int) -> TableModel:
    rng = np.random.default_rng(seed)
    addends = []
    for _ in range(count):
        features = tuple(int(i) for i in rng.permutation(moves)[: int(rng.integers(1, 5))])
        values = rng.integers(-8, 9, (2 ** len(features), 1)) / 8
        addends.append(Addend(features, (0.5,) * len(features), values))
    return TableModel(addends, np.zeros(1))


def all_sums(model: TableModel, moves: int) -> np.ndarray:
    """The value of every subset by its number, move 0 lowest; eighths, so that they are exact."""
    numbers = np.arange(2**moves)
    total = np.zeros(len(numbers))
    for addend in model.addends:
        place = np.zeros(len(numbers), dtype=np.intp)
        for feature in addend.features:
            place = 2 * place + (numbers >> feature & 1)
        total += addend.values[place, 0]
    return total


def minimal_numbers(favourable: np.ndarray, moves: int) -> set[int]:
    above = favourable.copy()
    for bit in range(moves):
        pairs = above.reshape(-1, 2, 1 << bit)
        pairs[:, 1] |= pairs[:, 0]
    larger = np.zeros_like(above)
    for bit in range(moves):
        larger.reshape(-1, 2, 1 << bit)[:, 1] |= above.reshape(-1, 2, 1 << bit)[:, 0]
    return set(np.flatnonzero(favourable & ~larger).tolist())


@pytest.mark.parametrize("way", ["all subsets at once", "branch and bound"])
@pytest.mark.parametrize(("seed", "moves"), [(1, 16), (2, 18), pytest.param(3, 24, marks=pytest.mark.slow)])
def test_every_answer_of_many_moves_is_found(monkeypatch: pytest.MonkeyPatch, way: str, seed: int, moves: int):
    monkeypatch.setattr(dense, "MOST_MOVES", 24 if way == "all subsets at once" else 0)
    model = random_tables(seed, moves, 60)
    sums = all_sums(model, moves)
    low = float(sums[0] + 0.6 * (sums.max() - sums[0]))
    run = ask(model, moves, low)
    found = {sum(1 << move for move in each.moves) for each in run.found}
    expected = minimal_numbers(sums >= low, moves)
    assert (len(run.found), found) == (len(expected), expected)
    assert run.finished.complete
    assert [len(each.moves) for each in run.found] == sorted(len(each.moves) for each in run.found)


def linear(gains: list[float]) -> TableModel:
    return TableModel([Addend((i,), (0.5,), np.array([[0.0], [gain]])) for i, gain in enumerate(gains)], np.zeros(1))


def test_any_three_of_seventy_suffice_and_all_come_in_order():
    """A subset of seventy moves is two words. Three gains reach the threshold exactly: the model is asked."""
    run = ask(linear([1.0] * 70), 70, 3.0)
    assert len(run.found) == comb(70, 3)
    assert [each.moves for each in run.found] == sorted(each.moves for each in run.found)
    assert (run.finished.complete, run.finished.complete_up_to) == (True, 70)


def test_a_linear_model_with_too_many_answers_says_up_to_which_size_it_has_them_all():
    gains = [1.0 + 0.01 * place for place in range(150)]
    run = ask(linear(gains), 150, 7.0, rows=30_000)
    assert run.finished.stopped_by is StoppedBy.MAX_MODEL_ROWS
    settled = run.finished.complete_up_to
    assert LevelFinished(settled) in run.facts
    of_settled = [each.moves for each in run.found if len(each.moves) <= settled]
    assert of_settled == [each for each in of_settled if sum(gains[move] for move in each) > 7 - 1e-4]
    for each in run.found[::100]:
        own = sorted(gains[move] for move in each.moves)
        # In float32 a sum that is 7 may be a little more or less.
        assert sum(own[1:]) < 7 + 1e-4 < sum(own) + 2e-4


def test_moves_that_no_table_depends_on_are_named_as_inert_unless_a_constraint_needs_them():
    model = linear([1.0, 1.0])
    free = ask(model, 14, 2.0)
    assert free.finished.proof is not None
    assert (free.finished.proof.by, free.finished.proof.inert) == (ProvedBy.TREES, tuple(range(2, 14)))
    bound = ask(model, 14, 2.0, causal=[(0, (5,))])
    assert [each.moves for each in bound.found] == [(0, 1, 5)]
    assert bound.finished.proof is not None
    assert 5 not in bound.finished.proof.inert


def test_auto_sees_through_only_where_one_call_does_not_judge_all_subsets():
    small, large = ask(linear([1.0] * 4), 4, 2.0, "auto"), ask(linear([1.0] * 11), 11, 2.0, "auto")
    assert (small.finished.engine, large.finished.engine) == (Engine.LATTICE, Engine.THROUGH)
    assert small.finished.proof is not None
    assert small.finished.proof.by is ProvedBy.ROWS
    assert (large.rows, len(large.found)) == (56, 55)
