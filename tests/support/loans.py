"""A model with features of every kind: a number, an integer that may be missing, a category, one without a range."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.support import graphs
from tests.support.networks import Network

DESCRIPTION = """
title = "Small loans"
version = "{version}"
normal_ranges = "loans"
[output]
kind = "classification"
classes = ["denied", "approved"]
favourable = ["approved"]
[[features]]
name = "debt"
title = "Debt to income"
unit = "%"
[[features]]
name = "late"
type = "integer"
default = 1
missing_codes = [-9]
[[features]]
name = "home"
title = "Where they live"
short = "home"
type = "category"
categories = ["rents", "owns", "other"]
codes = [0, 2, 1]
[[features]]
name = "years"
[prototype]
years = 5
"""
REGISTRY = """
title = "Loans"
version = "1"
[features.debt]
unit = "%"
ranges = [{ when = { home = "owns" }, high = 40 }, { high = 36.5 }]
[features.late]
ranges = [{ high = 0.5 }]
[features.home]
allowed = ["owns", "other"]
"""
PERSON = {"debt": 48, "late": 3, "home": "rents", "years": 1}


def write_loans(folder: Path, name: str = "loans", version: str = "1.0", order: Sequence[int] = (0, 1, 2, 3)) -> None:
    """Approved by points: 1 for each 10 of debt less, 1 for each late payment less, 3 times the home, 1 a year."""
    weights = np.array([[-0.1], [-1.0], [3.0], [1.0]])[list(order)]
    graphs.write_network(folder / f"models/{name}/model.onnx", Network(weights, np.array([20.0]), np.ones(1), -17.5))
    (folder / f"models/{name}/model.toml").write_text(_in_order(DESCRIPTION.format(version=version), order))
    (folder / "ranges").mkdir(exist_ok=True)
    (folder / "ranges/loans.toml").write_text(REGISTRY)


def _in_order(description: str, order: Sequence[int]) -> str:
    """The description with its features in this order."""
    features, separator, rest = description.partition("[prototype]")
    head, *tables = features.split("[[features]]")
    return "[[features]]".join([head, *(tables[place] for place in order)]) + separator + rest
