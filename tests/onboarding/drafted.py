"""A small graph and a table of people that it was as good as trained on."""

from pathlib import Path

import numpy as np

from tests.support import graphs
from tests.support.networks import Network

NAMES = ("debt", "late", "income")
OPTIONS = ("--outcome", "decision", "--favourable", "approved")


def write_graph(file: Path) -> Path:
    """Approved by points: less debt, fewer late payments, more income. Gives raw scores of denied and approved."""
    network = Network(np.array([[-0.1], [-1.0], [0.05]]), np.array([20.0]), np.ones(1), -17.5)
    file.parent.mkdir(parents=True, exist_ok=True)
    graphs.write_network(file, network)
    return file


def rows(count: int = 400, seed: int = 0) -> list[dict[str, object]]:
    """People, each with what the graph would say, give or take."""
    rng = np.random.default_rng(seed)
    debt, late, income = (
        rng.normal(40, 12, count).round(1),
        rng.poisson(1, count),
        rng.lognormal(4, 0.3, count).round(2),
    )
    points = 20 - 0.1 * debt - late + 0.05 * income - 17.5 + rng.normal(0, 0.3, count)
    regions = np.where(rng.random(count) < 0.5, "north", "south")
    return [
        {"debt": d, "late": int(n), "income": i, "region": str(r), "decision": "approved" if p > 0 else "denied"}
        for d, n, i, r, p in zip(debt.tolist(), late, income.tolist(), regions, points, strict=True)
    ]


def write_people(file: Path, people: list[dict[str, object]]) -> Path:
    lines = [",".join(map(str, people[0])), *(",".join(map(str, person.values())) for person in people)]
    file.write_text("\n".join(lines) + "\n")
    return file
