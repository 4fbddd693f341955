"""The rows that the model is asked about, against rows put together cell by cell."""

import numpy as np
import pytest

from app.core.subsets import candidate_rows
from app.core.subsets.candidate_rows import CandidateRows, MoveCells, every_row
from app.core.subsets.masks import of_sets, of_truths
from app.core.subsets.sparse_frontier import SparseFrontier


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
@pytest.mark.parametrize("moves", [0, 1, 9, 10, 11, 40, 70, 300])
@pytest.mark.parametrize("table_bytes", [2**18, 2**8])
def test_a_row_holds_the_targets_of_its_subset_and_else_the_instance(monkeypatch, dtype, moves: int, table_bytes: int):
    """Of every type, with tables for many moves and for few, moves of one column and of several."""
    monkeypatch.setattr(candidate_rows, "TABLE_BYTES", table_bytes)
    rng = np.random.default_rng(moves)
    widths = rng.integers(1, 4, moves)
    columns = rng.permutation(int(widths.sum()) + 5)
    cells, taken = [], 0
    for width in widths:
        cells.append(MoveCells(columns[taken : taken + width].tolist(), rng.integers(-9, 9, width).tolist()))
        taken += width
    instance = rng.integers(-9, 9, len(columns)).astype(dtype)
    truths = rng.random((200, moves)) < 0.5
    rows = CandidateRows(instance, cells).of(of_truths(truths))
    assert rows.dtype == dtype
    for row, chosen in zip(rows, truths, strict=True):
        wanted = instance.copy()
        for move in np.flatnonzero(chosen):
            wanted[list(cells[move].columns)] = cells[move].values
        assert row.tobytes() == wanted.tobytes()


def test_missing_values_and_signed_noughts_keep_their_bits():
    instance = np.array([np.nan, -0.0, 1.0, np.nan], dtype=np.float32)
    rows = CandidateRows(instance, [MoveCells((0,), (2.5,)), MoveCells((1,), (0.0,))]).of(
        of_truths(np.array([[False, False], [True, False], [False, True]]))
    )
    wanted = np.array([instance, [2.5, -0.0, 1.0, np.nan], [np.nan, 0.0, 1.0, np.nan]], dtype=np.float32)
    assert rows.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("width", [1, 2])
def test_rows_that_extend_others_are_the_same_rows(width: int):
    """Two levels of 23 moves, whole chunks and parts of them; moves of one column, and of two."""
    moves = 23
    cells = [MoveCells(range(move * width, (move + 1) * width), [move + 1.0] * width) for move in range(moves)]
    instance = -np.arange(moves * width + 3, dtype=np.float32)
    rows, others = CandidateRows(instance, cells), CandidateRows(instance, cells)
    front = SparseFrontier(moves)
    for _ in range(3):
        for chunk in front.chunks():
            for part in (chunk, chunk.part(slice(5, 17)), chunk.part(chunk.masks % 3 == 0)):
                assert rows.of_chunk(part).tobytes() == others.of(part.masks).tobytes()
            front.settle(chunk, np.arange(len(chunk.masks)) % 4 == 1)
        front.rise()


def test_all_rows_of_few_moves_are_the_same_rows():
    cells = [MoveCells((3,), (1.0,)), MoveCells((0, 1), (2.0, 4.0)), MoveCells((4,), (8.0,))]
    instance = -np.arange(5, dtype=np.float64)
    assert every_row(instance, cells).tobytes() == CandidateRows(instance, cells).of(of_sets(range(8), 3)).tobytes()
