"""People for the hepatitis model: real patients, slightly jittered, or drawn from a fit to them.

The data are not part of the project; the fit is, in `hcv_patients.json`. `python -m lab.benchmarks.people DIR` makes it
again from the file `hcv.csv` (UCI 571) in that folder.
"""

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FIT = Path(__file__).with_name("hcv_patients.json")
FEATURES = ["ALB", "ALP", "ALT", "AST", "BIL", "CHE", "CHOL", "CREA", "GGT", "PROT"]
# How far a value is moved at random, as a share of it.
JITTER = 0.02

Person = dict[str, float]
Values = NDArray[np.float64]


def people(data: Path | None) -> Iterator[Person]:
    """People without end, the same ones every time."""
    rng = np.random.default_rng(571)
    draw = _jittered(read_patients(data), rng) if data else _drawn(rng)
    for values in draw:
        # Two decimals, like the laboratory's.
        yield dict(zip(FEATURES, np.round(values, 2).tolist(), strict=True))


def read_patients(data: Path) -> Values:
    """The patients among the donors; a missing value is the mean of its column, as in the training of the model."""
    with (data / "hcv.csv").open(newline="", encoding="utf-8") as file:
        entries = list(csv.DictReader(file))
    cells = [[np.nan if entry[name] == "NA" else float(entry[name]) for name in FEATURES] for entry in entries]
    rows = np.array(cells)
    rows = np.where(np.isnan(rows), np.nanmean(rows, axis=0), rows)
    patients: Values = rows[[not entry["Category"].startswith("0") for entry in entries]]
    return patients


def _jittered(patients: Values, rng: np.random.Generator) -> Iterator[Values]:
    while True:
        for patient in rng.permutation(patients):
            yield patient * np.exp(rng.normal(0, JITTER, len(FEATURES)))


def _drawn(rng: np.random.Generator) -> Iterator[Values]:
    fit = json.loads(FIT.read_text(encoding="utf-8"))
    while True:
        yield np.exp(rng.multivariate_normal(fit["mean_of_logs"], fit["covariance_of_logs"]))


def write_fit(data: Path) -> None:
    logs = np.log(read_patients(data))
    fit = {
        "source": "Means and covariances of the logarithms of the patients' values (hepatitis, fibrosis, cirrhosis) in "
        "HCV data, UCI Machine Learning Repository 571, Lichtinghagen, Klawonn, Hoffmann, CC BY 4.0",
        "patients": len(logs),
        "features": FEATURES,
        "mean_of_logs": np.round(logs.mean(axis=0), 5).tolist(),
        "covariance_of_logs": np.round(np.cov(logs, rowvar=False), 5).tolist(),
    }
    FIT.write_text(json.dumps(fit, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_fit(Path(sys.argv[1]))
