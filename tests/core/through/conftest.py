"""The ways of searching through sums, each of them whatever the number of moves."""

from collections.abc import Iterator

import pytest

from app.core.budget import Stopped, StoppedBy
from app.core.facts import Moment
from app.core.through.searches import dense
from app.core.through.searches.branching import Branching, Nodes


def full(search: Branching, level: Nodes, others: int, left: int) -> Iterator[Moment]:
    """There is no memory for the next size."""
    raise Stopped(StoppedBy.MAX_MODEL_ROWS)


@pytest.fixture(params=["all subsets at once", "branch and bound", "branch and bound without memory"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param != "all subsets at once":
        monkeypatch.setattr(dense, "suits", lambda margin, moves: False)
    if request.param == "branch and bound without memory":
        monkeypatch.setattr(Branching, "_extend", full)
    return request.param
