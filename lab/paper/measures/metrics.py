"""The measures of the comparison: section 5 of the paper. A row is a counterfactual, in standardised units."""

from collections.abc import Collection

import numpy as np

from lab.paper.questions.network import Row, Rows

Features = frozenset[int]


def inconsistency(first_rows: Rows, second_rows: Rows) -> float | None:
    """The larger of the two mean nearest L2 distances, H(C, C'); None if one side is empty."""
    if len(first_rows) == 0 or len(second_rows) == 0:
        return None
    distances = np.linalg.norm(first_rows[:, np.newaxis] - second_rows[np.newaxis], axis=2)
    return float(max(distances.min(axis=1).mean(), distances.min(axis=0).mean()))


def aps(instance: Row, rows: Rows, data_rows: Rows) -> float | None:
    """Mean absolute percentile shift over features and rows, from 0 to 1; None without rows.

    The percentile of a value is the share of the data's values of that feature that are at most as large.
    """
    if len(rows) == 0:
        return None
    ordered = np.sort(data_rows, axis=0)
    columns = zip(ordered.T, instance, rows.T, strict=True)
    shifts = [np.abs(_percentiles(column, moved) - _percentiles(column, [value])) for column, value, moved in columns]
    return float(np.mean(shifts))


def sparsity(instance: Row, rows: Rows) -> float | None:
    """The share of values that are just those of the instance, without any rounding; None without rows."""
    return float((rows == instance).mean()) if len(rows) else None


def diversity(rows: Rows, deviations: Row) -> float | None:
    """The mean L1/MAD between two rows; None with fewer than two.

    As in Mothilal et al.: each feature's difference over its median absolute deviation, the sum over the features
    divided by their number.
    """
    if np.any(deviations <= 0):
        raise ValueError("a feature with no median absolute deviation has no L1/MAD")
    differences = _pairwise(rows)
    return float((differences / deviations).mean()) if len(differences) else None


def c_diversity(rows: Rows) -> float | None:
    """The mean share of features in which two rows differ; None with fewer than two."""
    differences = _pairwise(rows)
    return float((differences != 0).mean()) if len(differences) else None


def changed(instance: Row, row: Row) -> Features:
    """The positions at which the row is not just the instance."""
    return frozenset(np.flatnonzero(row != instance).tolist())


def minimal_found(true_sets: Collection[Features], returned_sets: Collection[Features]) -> float | None:
    """The share of the true minimal sets that are among the returned; None if there are none to find."""
    wanted = set(true_sets)
    return len(wanted & set(returned_sets)) / len(wanted) if wanted else None


def returned_minimal(true_sets: Collection[Features], returned_sets: Collection[Features]) -> float | None:
    """The share of the returned counterfactuals whose changes are a true minimal set; None if nothing was returned.

    `returned_sets` holds one set for each counterfactual: two with the same changes count twice.
    """
    true = set(true_sets)
    return sum(changes in true for changes in returned_sets) / len(returned_sets) if returned_sets else None


def _percentiles(ordered: Row, values: Row | list[float]) -> Row:
    return np.searchsorted(ordered, values, side="right") / len(ordered)


def _pairwise(rows: Rows) -> Rows:
    """The absolute differences of all pairs, a row for each pair."""
    first, second = np.triu_indices(len(rows), k=1)
    differences: Rows = np.abs(rows[first] - rows[second])
    return differences
